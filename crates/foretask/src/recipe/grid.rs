//! The couplings that the default tries.

use crate::solve::Grid;

/// The grid of so many tasks (`docs/3-the-solver.md#the-coupling-grid`). Steps in between cost twice the time and
/// changed no accuracy by more than noise.
pub(crate) fn grid(tasks: usize) -> Grid {
    let alone = vec![0.01, 0.1, 1.0, 10.0, 100.0];
    if tasks == 1 {
        return Grid {
            alone,
            symmetric: Vec::new(),
            asymmetric: Vec::new(),
            shared: Vec::new(),
        };
    }
    Grid {
        alone,
        symmetric: vec![0.0, 0.1, 10.0],
        asymmetric: vec![1.0],
        shared: vec![0.01, 0.1, 1.0, 10.0, 100.0],
    }
}

/// The grid of a rehearsal, which asks how hard a problem is and not for the best rule.
pub(crate) fn coarse_grid(tasks: usize) -> Grid {
    let whole = grid(tasks);
    let few = |of: &[f64]| -> Vec<f64> {
        let inside = of.iter().copied().filter(|g| (0.1..=10.0).contains(g));
        inside.collect()
    };
    Grid {
        alone: few(&whole.alone),
        symmetric: whole.symmetric[..whole.symmetric.len().min(2)].to_vec(),
        asymmetric: Vec::new(),
        shared: few(&whole.shared),
    }
}
