//! Couplings along which one reduction per γ serves every λ.

use crate::data::coupling::Coupling;
use crate::error::Result;

/// A coupling of the grid, per task and per feature: γ = k g, λ = k l in the units of
/// [`Coupling`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GridPoint {
    /// How freely the sources may differ.
    pub(crate) source: f64,
    /// How freely the target may differ.
    pub(crate) target: f64,
    /// How strongly the tasks share.
    pub(crate) shared: f64,
}

impl GridPoint {
    /// Where a coupling lies, as far as it is on a grid: all sources are taken to be as free as the first.
    pub(crate) fn of(coupling: &Coupling, target: usize) -> Self {
        let k = coupling.gamma().len() as f64;
        let mut gammas = coupling.gamma().iter().enumerate();
        let source = gammas.find(|(task, _)| *task != target);
        Self {
            source: source.map_or(0.0, |(_, g)| g / k),
            target: coupling.gamma()[target] / k,
            shared: coupling.lambda() / k,
        }
    }

    /// Whether one weight vector serves all tasks.
    pub(crate) fn is_pooled(self) -> bool {
        self.source == 0.0 && self.target == 0.0
    }

    /// The coupling of k tasks it stands for.
    pub(crate) fn coupling(self, tasks: usize, target: usize) -> Result<Coupling> {
        let k = tasks as f64;
        let gamma = (0..tasks)
            .map(|task| {
                k * if task == target {
                    self.target
                } else {
                    self.source
                }
            })
            .collect();
        Coupling::new(k * self.shared, gamma)
    }
}

/// The couplings that are tried.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// g of the target alone (l = 0).
    pub(crate) alone: Vec<f64>,
    /// g of all tasks alike.
    pub(crate) symmetric: Vec<f64>,
    /// g of the target where the sources have none.
    pub(crate) asymmetric: Vec<f64>,
    /// l of both.
    pub(crate) shared: Vec<f64>,
}

impl Grid {
    /// Every g of the target, once.
    pub(super) fn gammas(&self) -> Vec<f64> {
        let mut gammas = [&self.alone[..], &self.symmetric, &self.asymmetric].concat();
        gammas.sort_by(f64::total_cmp);
        gammas.dedup();
        gammas
    }

    /// All its points.
    pub(crate) fn points(&self) -> Vec<GridPoint> {
        let alone = self.alone.iter().map(|&g| GridPoint {
            source: g,
            target: g,
            shared: 0.0,
        });
        let couplings = |gammas: &[f64], of: fn(f64, f64) -> GridPoint| -> Vec<GridPoint> {
            gammas
                .iter()
                .flat_map(|&g| self.shared.iter().map(move |&l| of(g, l)))
                .collect()
        };
        let symmetric = couplings(&self.symmetric, |g, l| GridPoint {
            source: g,
            target: g,
            shared: l,
        });
        let asymmetric = couplings(&self.asymmetric, |g, l| GridPoint {
            source: 0.0,
            target: g,
            shared: l,
        });
        alone.chain(symmetric).chain(asymmetric).collect()
    }
}
