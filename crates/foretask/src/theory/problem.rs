//! All that the theory is a function of, beside means and covariances.

use faer::Mat;

use crate::data::{Cells, Coupling};
use crate::error::{Error, Result};

/// Which finite-size corrections to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrections {
    /// The leading order as written in the paper, for comparison.
    None,
    /// Task centring costs one degree of freedom: noise counts are n_r (n_i - 1)/n_i
    /// (`docs/2-the-theory.md#finite-size-corrections`).
    DegreesOfFreedom,
    /// That, and the class means given are averages of the n_r samples, whose own noise is taken out
    /// of H' and W' (`docs/2-the-theory.md#noise-of-sample-means`). Where little is left, what remains may be
    /// negative: the positive
    /// part is kept, so that means and covariances are always possible ones.
    SampleMeans,
    /// The same without the positive part: H' and W' are unbiased, but covariances may be negative.
    #[cfg(test)]
    UnbiasedSampleMeans,
}

/// All that the theory is a function of, beside means and covariances.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) cells: Cells,
    pub(super) coupling: Coupling,
    /// kp.
    pub(super) normaliser: f64,
    /// n_r.
    pub(super) counts: Vec<f64>,
    /// n_r less what centring costs.
    pub(super) noise_counts: Vec<f64>,
}

impl Problem {
    pub(super) fn new(
        cells: &Cells,
        features: usize,
        coupling: &Coupling,
        corrections: Corrections,
    ) -> Result<Self> {
        let k = cells.tasks().len();
        coupling.check(k)?;
        let counts: Vec<f64> = (0..cells.len())
            .map(|cell| cells.count(cell) as f64)
            .collect();
        let noise_counts = (0..cells.len())
            .map(|cell| {
                let n = cells.samples(cells.task_of(cell)) as f64;
                let kept = match corrections {
                    Corrections::None => 1.0,
                    _ => (n - 1.0) / n,
                };
                counts[cell] * kept
            })
            .collect();
        Ok(Self {
            cells: cells.clone(),
            coupling: coupling.clone(),
            normaliser: (k * features) as f64,
            counts,
            noise_counts,
        })
    }

    pub(super) fn tasks(&self) -> usize {
        self.cells.tasks().len()
    }

    /// A factorisation that finite values of reasonable size do not let fail.
    pub(super) fn overflow(&self, task: usize) -> Error {
        Error::Factorisation {
            task: self.cells.tasks()[task].name.clone(),
        }
    }

    /// The δ_r that make up R; zero for τ = ∞.
    pub(super) fn strengths(&self, tau: &[f64]) -> Vec<f64> {
        (0..tau.len())
            .map(|r| self.noise_counts[r] / (self.normaliser * (1.0 + tau[r])))
            .collect()
    }

    /// T diag(d) with d_s = n_s/(kp (1 + τ_s)²).
    pub(super) fn weighted(&self, traces: &Mat<f64>, counts: &[f64], tau: &[f64]) -> Mat<f64> {
        Mat::from_fn(tau.len(), tau.len(), |r, s| {
            traces[(r, s)] * counts[s] / (self.normaliser * (1.0 + tau[s]).powi(2))
        })
    }
}

pub(crate) fn check(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got {
        Ok(())
    } else {
        Err(Error::Shape {
            what,
            expected,
            got,
        })
    }
}

pub(super) fn identity_minus(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| {
        f64::from(u8::from(i == j)) - a[(i, j)]
    })
}

/// C = I - 1 ωᵀ per task, ω the weights normalised to one. With unequal covariances the weights are
/// the δ, not the counts.
pub(super) fn centring(cells: &Cells, weights: &[f64]) -> Mat<f64> {
    let mut centring = Mat::identity(cells.len(), cells.len());
    for task in 0..cells.tasks().len() {
        let range = cells.of_task(task);
        let total: f64 = weights[range.clone()].iter().sum();
        for r in range.clone() {
            for s in range.clone() {
                centring[(r, s)] -= weights[s] / total;
            }
        }
    }
    centring
}
