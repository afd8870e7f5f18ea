//! Averages over classes, and moments in coordinates that make the average covariance the identity.

use faer::{Mat, MatRef};

use crate::moments::Moments;
use crate::numerics::dense;
use crate::numerics::spectrum::Spectrum;

/// The smallest variance a class may have in a direction, in units of the average over classes. The
/// theory's covariances have one null space, so that a class without variance where others have some
/// comes from too few samples or from rounding; this keeps its density finite.
const HAIR: f64 = 1e-6;

/// Weights as shares of their sum; equal ones if the sum is zero.
pub(super) fn shares(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let equal = 1.0 / weights.len() as f64;
    let share = |w: &f64| if total > 0.0 { w / total } else { equal };
    weights.iter().map(share).collect()
}

/// Σ_j share_j S_j.
pub(super) fn average(covariance: &[Mat<f64>], shares: &[f64]) -> Mat<f64> {
    let c = covariance.first().map_or(0, Mat::nrows);
    Mat::from_fn(c, c, |i, j| {
        covariance
            .iter()
            .zip(shares)
            .map(|(s, w)| w * s[(i, j)])
            .sum()
    })
}

/// Σ_j share_j mean_j.
pub(super) fn centre(mean: &Mat<f64>, shares: &[f64]) -> Vec<f64> {
    mean.col_iter()
        .map(|column| column.iter().zip(shares).map(|(x, w)| w * x).sum())
        .collect()
}

/// Yᵀ S Y.
pub(super) fn between(s: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Mat<f64> {
    dense::times(y.transpose(), dense::times(s, y).as_ref())
}

/// Moments in coordinates u = Bᵀ φ in which the average covariance S̄ is the identity.
pub(super) struct Whitened {
    /// B, C x d, where d is the rank of S̄: one less than C for every task.
    pub(super) basis: Mat<f64>,
    /// Bᵀ μ_j, m x d.
    pub(super) mean: Mat<f64>,
}

impl Whitened {
    pub(super) fn new(moments: &Moments, shares: &[f64]) -> Self {
        let average = average(&moments.covariance, shares);
        let range = Spectrum::of(average.as_ref()).unwrap_or_else(|| Spectrum {
            values: Vec::new(),
            vectors: Mat::zeros(average.nrows(), 0),
        });
        let basis = range.columns(|x, value| x * value.powf(-0.5));
        Self {
            mean: dense::times(moments.mean.as_ref(), basis.as_ref()),
            basis,
        }
    }

    /// Bᵀ S_j B of every class, raised to [`HAIR`] where it is smaller.
    pub(super) fn spectra(&self, moments: &Moments) -> Vec<ClassSpectrum> {
        let covariance = moments.covariance.iter();
        covariance
            .map(|s| ClassSpectrum::new(between(s.as_ref(), self.basis.as_ref()).as_ref()))
            .collect()
    }
}

/// A class's covariance in whitened coordinates, by eigenvalues and eigenvectors.
pub(super) struct ClassSpectrum {
    values: Vec<f64>,
    vectors: Mat<f64>,
}

impl ClassSpectrum {
    fn new(s: MatRef<'_, f64>) -> Self {
        let d = s.nrows();
        let (mut values, vectors) =
            dense::symmetric_eigen(s).unwrap_or_else(|| (vec![1.0; d], Mat::identity(d, d)));
        values.iter_mut().for_each(|value| *value = value.max(HAIR));
        Self { values, vectors }
    }

    /// The covariance itself.
    pub(super) fn matrix(&self) -> Mat<f64> {
        dense::times(self.columns_times(|x| x).as_ref(), self.vectors.transpose())
    }

    pub(super) fn inverse(&self) -> Mat<f64> {
        dense::times(
            self.columns_times(f64::recip).as_ref(),
            self.vectors.transpose(),
        )
    }

    pub(super) fn log_determinant(&self) -> f64 {
        self.values.iter().map(|x| x.ln()).sum()
    }

    fn columns_times(&self, of: impl Fn(f64) -> f64) -> Mat<f64> {
        Mat::from_fn(self.vectors.nrows(), self.values.len(), |i, j| {
            self.vectors[(i, j)] * of(self.values[j])
        })
    }
}
