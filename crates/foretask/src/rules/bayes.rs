//! The posterior of Gaussian responses: no rule errs less where the responses are Gaussian.
//!
//! Responses φ of a sample of class j have the law N(μ_j, S_j); up to a constant per sample
//!
//! ```text
//!  ln P(j | φ) = ln π_j - ½ ln det S_j - ½ (φ - μ_j)ᵀ S_j⁻¹ (φ - μ_j)
//! ```
//!
//! Equal covariances cancel the squares and leave the linear rule [`one_hot::optimal`]. Unequal ones do
//! not; then everything is written in coordinates u = Bᵀ φ in which the average covariance is the
//! identity, and its null space, the shifts of the tasks' labels, is gone.
//!
//! Cost: m + 1 eigenvalue problems of size C.

use faer::{Mat, MatRef};

use super::{Discriminant, Form, Quadratic, one_hot};
use crate::dense;
use crate::moments::Moments;

/// The smallest variance a class may have in a direction, in units of the average over classes. The
/// theory's covariances have one null space, so that a class without variance where others have some
/// comes from too few samples or from rounding; this keeps its density finite.
const HAIR: f64 = 1e-6;

/// The Bayes rule on all responses, or on their scores for given label scores (C x q).
///
/// The class scores are log-posteriors up to a constant per sample. Where nothing varies they are the
/// log-priors.
///
/// ```
/// use faer::mat;
/// use foretask::Moments;
/// use foretask::rules::bayes;
///
/// let moments = Moments {
///     mean: mat![[1.0], [-1.0]],
///     covariance: vec![mat![[1.0]], mat![[1.0]]],
/// };
/// let rule = bayes::discriminant(&moments, &[0.5, 0.5], None);
/// let scores = rule.form.class_scores(&rule.scores(&[0.3]));
/// assert!((scores[0] - scores[1] - 0.6).abs() < 1e-12);
/// ```
pub fn discriminant(
    moments: &Moments,
    priors: &[f64],
    label_scores: Option<&Mat<f64>>,
) -> Discriminant {
    let Some(given) = label_scores else {
        return of_moments(moments, priors);
    };
    let of_scores = Moments {
        mean: dense::times(moments.mean.as_ref(), given.as_ref()),
        covariance: moments
            .covariance
            .iter()
            .map(|s| between(s.as_ref(), given.as_ref()))
            .collect(),
    };
    let rule = of_moments(&of_scores, priors);
    Discriminant {
        label_scores: dense::times(given.as_ref(), rule.label_scores.as_ref()),
        form: rule.form,
    }
}

fn of_moments(moments: &Moments, priors: &[f64]) -> Discriminant {
    if moments.has_equal_covariances() {
        return one_hot::optimal(moments, priors);
    }
    let shares = shares(priors);
    let white = Whitened::new(moments, &shares);
    let spectra = white.spectra(moments);
    let constants = spectra.iter().zip(&shares);
    Discriminant {
        form: Form::Quadratic(Quadratic {
            constants: constants
                .map(|(spectrum, share)| share.ln() - 0.5 * spectrum.log_determinant())
                .collect(),
            precisions: spectra.iter().map(Spectrum::inverse).collect(),
            means: white.mean,
        }),
        label_scores: white.basis,
    }
}

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
    /// S̄ B, C x d; its transpose takes label scores y to the x with B x = y within the range of S̄.
    pub(super) dual: Mat<f64>,
    /// Bᵀ μ_j, m x d.
    pub(super) mean: Mat<f64>,
}

impl Whitened {
    pub(super) fn new(moments: &Moments, shares: &[f64]) -> Self {
        let average = average(&moments.covariance, shares);
        let (values, vectors) =
            dense::symmetric_eigen(average.as_ref()).unwrap_or((Vec::new(), Mat::new()));
        let largest = values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..values.len())
            .filter(|&i| values[i] > dense::NULL_SPACE * largest && values[i] > 0.0)
            .collect();
        let scaled = |power: f64| {
            Mat::from_fn(average.nrows(), kept.len(), |i, j| {
                vectors[(i, kept[j])] * values[kept[j]].powf(power)
            })
        };
        let basis = scaled(-0.5);
        Self {
            mean: dense::times(moments.mean.as_ref(), basis.as_ref()),
            dual: scaled(0.5),
            basis,
        }
    }

    /// Bᵀ S_j B of every class, raised to [`HAIR`] where it is smaller.
    pub(super) fn spectra(&self, moments: &Moments) -> Vec<Spectrum> {
        let covariance = moments.covariance.iter();
        covariance
            .map(|s| Spectrum::new(between(s.as_ref(), self.basis.as_ref()).as_ref()))
            .collect()
    }
}

/// A class's covariance in whitened coordinates, by eigenvalues and eigenvectors.
pub(super) struct Spectrum {
    values: Vec<f64>,
    vectors: Mat<f64>,
}

impl Spectrum {
    fn new(s: MatRef<'_, f64>) -> Self {
        let d = s.nrows();
        let (mut values, vectors) =
            dense::symmetric_eigen(s).unwrap_or_else(|| (vec![1.0; d], Mat::identity(d, d)));
        values.iter_mut().for_each(|value| *value = value.max(HAIR));
        Self { values, vectors }
    }

    /// F with F Fᵀ the covariance.
    pub(super) fn factor(&self) -> Mat<f64> {
        self.columns_times(f64::sqrt)
    }

    /// The covariance itself.
    pub(super) fn matrix(&self) -> Mat<f64> {
        dense::times(self.columns_times(|x| x).as_ref(), self.vectors.transpose())
    }

    fn inverse(&self) -> Mat<f64> {
        dense::times(
            self.columns_times(f64::recip).as_ref(),
            self.vectors.transpose(),
        )
    }

    fn log_determinant(&self) -> f64 {
        self.values.iter().map(|x| x.ln()).sum()
    }

    fn columns_times(&self, of: impl Fn(f64) -> f64) -> Mat<f64> {
        Mat::from_fn(self.vectors.nrows(), self.values.len(), |i, j| {
            self.vectors[(i, j)] * of(self.values[j])
        })
    }
}
