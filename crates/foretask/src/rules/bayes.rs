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

use faer::Mat;

use super::averages::{ClassSpectrum, Whitened, between, shares};
use super::one_hot;
use crate::decision::{Discriminant, Form, Quadratic};
use crate::moments::Moments;
use crate::numerics::dense;

/// The Bayes rule on all responses, or on their scores for given label scores (C x q).
///
/// The class scores are log-posteriors up to a constant per sample. Where nothing varies they are the
/// log-priors.
pub(crate) fn discriminant(
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
            precisions: spectra.iter().map(ClassSpectrum::inverse).collect(),
            means: white.mean,
        }),
        label_scores: white.basis,
    }
}
