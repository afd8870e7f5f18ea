//! [`Moments`]: the one interface between the theory and the rules.
//!
//! The responses of a new sample of class c of the target have mean μ_c (a vector of C numbers) and
//! covariance S_c. With label scores y its decision score has mean μ_c·y and variance yᵀ S_c y.
//! Three sources give them: the theory ([`crate::theory`]), the leave-one-out responses of the
//! training samples ([`Moments::leave_one_out`]), and the latter shrunk toward the former
//! ([`Moments::shrunk`]).

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::data::{Cells, Importance};
use crate::numerics::{dense, points};
use crate::words::words;

words! {
    /// Where moments, and forecasts made of them, come from.
    pub enum Provenance("source") {
        /// Random matrix theory for isotropic data
        Isotropic = "isotropic",
        /// Random matrix theory for one variance per class
        Spherical = "spherical",
        /// Random matrix theory for one covariance shape that all classes have in common
        Common = "common" | "pooled",
        /// Random matrix theory for one covariance per class
        General = "general",
        /// Samples of the target that were left out
        LeaveOneOut = "leave-one-out",
        /// Samples of the target that were left out fold by fold, where they are many
        LeaveFoldOut = "leave-fold-out",
        /// Means and covariances of samples of the target that were left out fold by fold, where no row was kept
        FoldMoments = "fold-moments",
    }
}

impl Provenance {
    /// Whether samples that were left out say it, and no theory.
    pub fn is_left_out(self) -> bool {
        matches!(
            self,
            Self::LeaveOneOut | Self::LeaveFoldOut | Self::FoldMoments
        )
    }

    /// Its name in a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Isotropic => "isotropic theory",
            Self::Spherical => "spherical theory",
            Self::Common => "common-covariance theory",
            Self::General => "general-covariance theory",
            Self::LeaveOneOut => "leave-one-out",
            Self::LeaveFoldOut => "leave-fold-out",
            Self::FoldMoments => "moments of folds left out",
        }
    }
}

/// Covariance matrices closer than this (relative to their largest entry) are taken as equal.
const EQUAL_COVARIANCES: f64 = 1e-9;

/// Mean and covariance of the responses of a new sample, for each class of the target.
#[derive(Clone, Debug)]
pub struct Moments {
    /// One row per class of the target, one column per cell (m x C).
    pub mean: Mat<f64>,
    /// One C x C matrix per class.
    pub covariance: Vec<Mat<f64>>,
}

impl Moments {
    /// Empirical moments of (stratified) leave-one-out responses, n_t x C, of known classes; weighted, where samples
    /// have weights.
    ///
    /// The covariance is pooled over the classes; a class without samples has the mean of all.
    pub(crate) fn leave_one_out(
        responses: MatRef<'_, f64>,
        class: &[usize],
        classes: usize,
        importance: &Importance,
    ) -> Self {
        let (means, masses) = class_means(responses, class, classes, importance);
        let mut residuals = residuals(responses, class, &means);
        let freedom = match importance.roots() {
            None => {
                let present = masses.iter().filter(|&&n| n > 0.0).count();
                class.len().saturating_sub(present).max(1) as f64
            }
            Some(roots) => {
                let mut taken = 0.0;
                for (l, &c) in class.iter().enumerate() {
                    taken += importance.of(l).powi(2) / masses[c];
                    residuals.row_mut(l).iter_mut().for_each(|x| *x *= roots[l]);
                }
                let left = masses.iter().sum::<f64>() - taken;
                if left > 0.0 { left } else { 1.0 }
            }
        };
        let mut covariance = dense::times(residuals.transpose(), residuals.as_ref());
        covariance
            .col_iter_mut()
            .for_each(|column| column.iter_mut().for_each(|x| *x /= freedom));
        Self {
            mean: means,
            covariance: vec![covariance; classes],
        }
    }

    /// Whether all classes have the same covariance, but for rounding.
    pub(crate) fn has_equal_covariances(&self) -> bool {
        let Some((first, rest)) = self.covariance.split_first() else {
            return true;
        };
        let tolerance = EQUAL_COVARIANCES * first.norm_max();
        rest.iter().all(|s| {
            (0..s.ncols())
                .all(|j| (0..s.nrows()).all(|i| (s[(i, j)] - first[(i, j)]).abs() <= tolerance))
        })
    }

    /// The same with covariances multiplied by `factor` (`centre_noise`).
    pub fn with_noise(mut self, factor: f64) -> Self {
        for covariance in &mut self.covariance {
            covariance
                .col_iter_mut()
                .for_each(|column| column.iter_mut().for_each(|x| *x *= factor));
        }
        self
    }

    /// Scores zᵀ = φᵀ Y of Gaussian responses of `class` (n x d), one for each row of standard normal
    /// `points` (n x C or wider).
    pub(crate) fn draw(
        &self,
        class: usize,
        label_scores: &Mat<f64>,
        points: &Mat<f64>,
    ) -> Mat<f64> {
        let factor = points::factor(self.covariance[class].as_ref());
        self.draw_by(&factor, class, label_scores, points)
    }

    /// The same for every class; a covariance that all share is factorised once.
    pub(crate) fn draw_all(&self, label_scores: &Mat<f64>, points: &Mat<f64>) -> Vec<Mat<f64>> {
        let shared = (self.has_equal_covariances() && !self.covariance.is_empty())
            .then(|| points::factor(self.covariance[0].as_ref()));
        let of_class = |class: usize| match &shared {
            Some(factor) => self.draw_by(factor, class, label_scores, points),
            None => self.draw(class, label_scores, points),
        };
        (0..self.mean.nrows())
            .into_par_iter()
            .map(of_class)
            .collect()
    }

    fn draw_by(
        &self,
        factor: &Mat<f64>,
        class: usize,
        label_scores: &Mat<f64>,
        points: &Mat<f64>,
    ) -> Mat<f64> {
        let spread = dense::times(factor.transpose(), label_scores.as_ref());
        let mut scores = dense::times(points.as_ref().subcols(0, factor.ncols()), spread.as_ref());
        let mean = dense::times(self.mean.as_ref().subrows(class, 1), label_scores.as_ref());
        for j in 0..scores.ncols() {
            scores
                .col_mut(j)
                .iter_mut()
                .for_each(|z| *z += mean[(0, j)]);
        }
        scores
    }

    /// Mean and variance of the score of label scores `y` for a sample of `class`.
    pub fn score(&self, class: usize, y: &[f64]) -> (f64, f64) {
        let mean = self.mean.row(class).iter().zip(y).map(|(m, y)| m * y).sum();
        let s = &self.covariance[class];
        let variance: f64 = (0..y.len())
            .map(|j| y[j] * (0..y.len()).map(|i| s[(i, j)] * y[i]).sum::<f64>())
            .sum();
        (mean, variance.max(0.0))
    }
}

/// The offset of a score has variance C/n_i, because the task mean it is centred by is an average of
/// n_i rows: errors at a threshold use the variance times 1 + 1/n_i
/// (`docs/2-the-theory.md#finite-size-corrections`).
pub(crate) fn centre_noise(cells: &Cells, target: usize) -> f64 {
    1.0 + 1.0 / cells.samples(target) as f64
}

/// The mean of each class, and its samples' weights.
pub(crate) fn class_means(
    responses: MatRef<'_, f64>,
    class: &[usize],
    classes: usize,
    importance: &Importance,
) -> (Mat<f64>, Vec<f64>) {
    let mut means = Mat::zeros(classes, responses.ncols());
    let mut counts = vec![0.0; classes];
    for (sample, &c) in class.iter().enumerate() {
        let weight = importance.of(sample);
        counts[c] += weight;
        for cell in 0..responses.ncols() {
            means[(c, cell)] += weight * responses[(sample, cell)];
        }
    }
    let total: f64 = counts.iter().sum();
    for cell in 0..responses.ncols() {
        let overall = (0..classes).map(|c| means[(c, cell)]).sum::<f64>() / total.max(1e-300);
        for c in 0..classes {
            means[(c, cell)] = if counts[c] > 0.0 {
                means[(c, cell)] / counts[c]
            } else {
                overall
            };
        }
    }
    (means, counts)
}

pub(crate) fn residuals(responses: MatRef<'_, f64>, class: &[usize], means: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(class.len(), responses.ncols(), |sample, cell| {
        responses[(sample, cell)] - means[(class[sample], cell)]
    })
}
