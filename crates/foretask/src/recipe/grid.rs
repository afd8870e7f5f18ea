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
