//! Class means that are averages of the training samples: their own noise, taken out
//! (`docs/2-the-theory.md#noise-of-sample-means`).
//!
//! The average x̄_r of n_r samples has E[x̄ᵀ R x̄] = μᵀ R μ + tr(R Σ_r)/n_r, and tr(R_ii Σ_r) = kp τ_r,
//! tr(R_ia Σ_q R_ai Σ_r) = kp T_qr are known. So
//!
//! ```text
//! H' - C diag(kp τ_r/n_r) Cᵀ,     W'_q - C diag(kp T_qr/n_r) Cᵀ
//! ```
//!
//! are unbiased. Where samples are few they need not be positive. In coordinates where every cell has
//! the same noise, D^{1/2} H' D^{1/2}, the positive part of H' is kept; a contrast of labels that
//! it sees nothing of has no mean weights either, so W' is restricted to the range of that part, and
//! its own positive part is kept.

use faer::Mat;

use super::problem::{Corrections, Problem};
use crate::numerics::{Spectrum, dense, positive_part};

/// How to take the noise out of W'.
#[derive(Clone, Debug)]
pub(super) struct SampleMeans {
    /// kp/n_r; zero for a cell without samples, whose mean is nobody's average.
    weights: Vec<f64>,
    kept: Option<Kept>,
}

/// The range of the positive part of H'.
#[derive(Clone, Debug)]
struct Kept {
    /// D^{1/2}; a cell without samples counts as one.
    scale: Vec<f64>,
    /// Eigenvectors of D^{1/2} H' D^{1/2} with positive eigenvalues.
    basis: Mat<f64>,
}

impl SampleMeans {
    /// Takes the noise out of H', if the means are said to have it.
    pub(super) fn correct(
        problem: &Problem,
        corrections: Corrections,
        tau: &[f64],
        centring: &Mat<f64>,
        alignment: &mut Mat<f64>,
    ) -> Option<Self> {
        let positive = match corrections {
            Corrections::None | Corrections::DegreesOfFreedom => return None,
            Corrections::SampleMeans => true,
            #[cfg(test)]
            Corrections::UnbiasedSampleMeans => false,
        };
        let weight = |&n: &f64| if n > 0.0 { problem.normaliser / n } else { 0.0 };
        let weights: Vec<f64> = problem.counts.iter().map(weight).collect();
        subtract_noise(alignment, centring, &weights, tau);
        let kept = positive.then(|| Kept::of(problem, tau, alignment));
        Some(Self { weights, kept })
    }

    /// Takes the noise out of Σ_s coefficient_s W'_s.
    pub(super) fn correct_spread(
        &self,
        centring: &Mat<f64>,
        traces: &Mat<f64>,
        coefficients: &[f64],
        spread: &mut Mat<f64>,
    ) {
        let noise: Vec<f64> = (0..coefficients.len())
            .map(|r| {
                let terms = coefficients.iter().enumerate();
                terms.map(|(q, weight)| weight * traces[(q, r)]).sum()
            })
            .collect();
        subtract_noise(spread, centring, &self.weights, &noise);
        if let Some(kept) = &self.kept {
            kept.restrict(spread);
        }
    }
}

/// matrix -= C diag(weights · noise) Cᵀ.
fn subtract_noise(matrix: &mut Mat<f64>, centring: &Mat<f64>, weights: &[f64], noise: &[f64]) {
    let scaled = Mat::from_fn(centring.nrows(), centring.ncols(), |r, s| {
        centring[(r, s)] * weights[s] * noise[s]
    });
    *matrix -= dense::times(scaled.as_ref(), centring.transpose());
}

impl Kept {
    /// The range of the positive part of H', which takes the place of H'.
    fn of(problem: &Problem, tau: &[f64], alignment: &mut Mat<f64>) -> Self {
        let c = tau.len();
        let scale: Vec<f64> = (0..c)
            .map(|r| (problem.counts[r].max(1.0) / (problem.normaliser * (1.0 + tau[r]))).sqrt())
            .collect();
        let scaled = Mat::from_fn(c, c, |r, s| {
            scale[r] * 0.5 * (alignment[(r, s)] + alignment[(s, r)]) * scale[s]
        });
        let range = Spectrum::of(scaled.as_ref()).unwrap_or_else(|| Spectrum {
            values: Vec::new(),
            vectors: Mat::zeros(c, 0),
        });
        let values = Mat::from_fn(range.rank(), range.rank(), |i, j| {
            if i == j { range.values[i] } else { 0.0 }
        });
        let kept = Self {
            scale,
            basis: range.vectors,
        };
        *alignment = kept.back(&values);
        kept
    }

    /// The positive part of the restriction to the kept range takes the place of `spread`.
    fn restrict(&self, spread: &mut Mat<f64>) {
        if self.basis.ncols() == 0 {
            spread.fill(0.0);
            return;
        }
        let basis = Mat::from_fn(self.basis.nrows(), self.basis.ncols(), |r, i| {
            self.scale[r] * self.basis[(r, i)]
        });
        let seen = dense::times(
            basis.transpose(),
            dense::times(spread.as_ref(), basis.as_ref()).as_ref(),
        );
        *spread = self.back(&positive_part(seen.as_ref()));
    }

    /// D^{-1/2} Q x Qᵀ D^{-1/2}.
    fn back(&self, x: &Mat<f64>) -> Mat<f64> {
        let basis = Mat::from_fn(self.basis.nrows(), self.basis.ncols(), |r, i| {
            self.basis[(r, i)] / self.scale[r]
        });
        dense::times(
            dense::times(basis.as_ref(), x.as_ref()).as_ref(),
            basis.transpose(),
        )
    }
}
