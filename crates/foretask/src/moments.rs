//! [`Moments`]: the one interface between the theory and the rules.
//!
//! The responses of a new sample of class c of the target have mean μ_c (a vector of C numbers) and
//! covariance S_c. With label scores y its decision score has mean μ_c·y and variance yᵀ S_c y.
//! Three sources give them: the theory ([`crate::theory`]), the leave-one-out responses of the
//! training samples ([`Moments::leave_one_out`]), and the latter shrunk toward the former
//! ([`Moments::shrunk`]).

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::cells::Cells;
use crate::dense;
use crate::gaussian;

/// Where moments, and forecasts made of them, came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Random matrix theory for isotropic data.
    Isotropic,
    /// Random matrix theory for one variance per class.
    Spherical,
    /// Random matrix theory for one pooled covariance.
    Pooled,
    /// Random matrix theory for one covariance per class.
    General,
    /// Leave-one-out responses of the training samples.
    LeaveOneOut,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Isotropic => "isotropic theory",
            Self::Spherical => "spherical theory",
            Self::Pooled => "pooled-covariance theory",
            Self::General => "general-covariance theory",
            Self::LeaveOneOut => "leave-one-out",
        })
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
    /// Empirical moments of (stratified) leave-one-out responses, n_t x C, of known classes.
    ///
    /// The covariance is pooled over the classes; a class without samples has the mean of all.
    pub fn leave_one_out(responses: MatRef<'_, f64>, class: &[usize], classes: usize) -> Self {
        let (means, counts) = class_means(responses, class, classes);
        let residuals = residuals(responses, class, &means);
        let present = counts.iter().filter(|&&n| n > 0.0).count();
        let freedom = class.len().saturating_sub(present).max(1) as f64;
        let mut covariance = dense::times(residuals.transpose(), residuals.as_ref());
        covariance
            .col_iter_mut()
            .for_each(|column| column.iter_mut().for_each(|x| *x /= freedom));
        Self {
            mean: means,
            covariance: vec![covariance; classes],
        }
    }

    /// Leave-one-out moments shrunk toward those of the theory (THEORY 9.1).
    ///
    /// The covariance goes to a multiple of the theory's by Ledoit and Wolf's rule, in coordinates
    /// where the theory's is the identity; the contrasts between class means go to a multiple of
    /// the theory's by the positive-part James-Stein rule, in the metric of that covariance. If
    /// nothing survives, the theory's contrasts stay.
    pub fn shrunk(responses: MatRef<'_, f64>, class: &[usize], theory: &Moments) -> Self {
        let classes = theory.mean.nrows();
        let cells = responses.ncols();
        let (means, counts) = class_means(responses, class, classes);
        let average = Mat::from_fn(cells, cells, |i, j| {
            theory.covariance.iter().map(|s| s[(i, j)]).sum::<f64>() / classes as f64
        });
        let Some((values, vectors)) = dense::symmetric_eigen(average.as_ref()) else {
            return theory.clone();
        };
        let largest = values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..cells)
            .filter(|&i| values[i] > dense::NULL_SPACE * largest && values[i] > 0.0)
            .collect();
        let d = kept.len();
        if d == 0 {
            return theory.clone();
        }
        let whiten = Mat::from_fn(cells, d, |i, j| {
            vectors[(i, kept[j])] / values[kept[j]].sqrt()
        });
        let colour = Mat::from_fn(cells, d, |i, j| {
            vectors[(i, kept[j])] * values[kept[j]].sqrt()
        });

        // Covariance, in whitened coordinates.
        let residuals = dense::times(
            residuals(responses, class, &means).as_ref(),
            whiten.as_ref(),
        );
        let n = class.len() as f64;
        let freedom = (n - classes as f64).max(1.0);
        let mut sample = dense::times(residuals.transpose(), residuals.as_ref());
        sample
            .col_iter_mut()
            .for_each(|column| column.iter_mut().for_each(|x| *x /= freedom));
        let level = (0..d).map(|i| sample[(i, i)]).sum::<f64>() / d as f64;
        let spread = (0..d)
            .flat_map(|i| (0..d).map(move |j| (i, j)))
            .map(|(i, j)| (sample[(i, j)] - if i == j { level } else { 0.0 }).powi(2))
            .sum::<f64>()
            / d as f64;
        let fourth: f64 = residuals
            .row_iter()
            .map(|e| e.squared_norm_l2().powi(2))
            .sum::<f64>()
            * (n / freedom).powi(2);
        let cross: f64 = {
            let product = dense::times(residuals.as_ref(), sample.as_ref());
            (0..residuals.nrows())
                .map(|l| {
                    (0..d)
                        .map(|i| product[(l, i)] * residuals[(l, i)])
                        .sum::<f64>()
                })
                .sum()
        };
        let noise = (fourth - 2.0 * (n / freedom) * cross + n * sample.squared_norm_l2())
            / (n * n)
            / d as f64;
        let weight = if spread > 0.0 {
            (noise / spread).min(1.0)
        } else {
            1.0
        };
        let blended = Mat::from_fn(d, d, |i, j| {
            (1.0 - weight) * sample[(i, j)] + if i == j { weight * level } else { 0.0 }
        });

        // Contrasts, in the metric of the blended covariance: with L Lᵀ its Cholesky factor, x L⁻ᵀ.
        let Some(factor) = dense::small_cholesky(blended.as_ref()) else {
            return theory.clone();
        };
        let to_metric = |x: MatRef<'_, f64>| {
            let mut white = dense::times(x, whiten.as_ref()).transpose().to_owned();
            dense::solve_lower(factor.L(), white.as_mut());
            white
        };
        let total: f64 = counts.iter().sum();
        let centred = |x: Mat<f64>| {
            let mean: Vec<f64> = (0..d)
                .map(|i| (0..classes).map(|c| counts[c] / total * x[(i, c)]).sum())
                .collect();
            Mat::from_fn(d, classes, |i, c| x[(i, c)] - mean[i])
        };
        let seen = centred(to_metric(means.as_ref()));
        let foretold = centred(to_metric(theory.mean.as_ref()));
        let inner = |a: &Mat<f64>, b: &Mat<f64>| -> f64 {
            (0..classes)
                .map(|c| counts[c] * (0..d).map(|i| a[(i, c)] * b[(i, c)]).sum::<f64>())
                .sum()
        };
        let slope = (inner(&seen, &foretold) / inner(&foretold, &foretold).max(1e-300)).max(0.0);
        let rest = Mat::from_fn(d, classes, |i, c| seen[(i, c)] - slope * foretold[(i, c)]);
        let freedom = ((classes - 1) * d) as f64 - 1.0;
        let allowance = if freedom > 2.0 {
            freedom - 2.0
        } else {
            freedom
        };
        let keep = (1.0 - allowance / inner(&rest, &rest).max(1e-300)).max(0.0);
        let mut contrasts = Mat::from_fn(d, classes, |i, c| {
            slope * foretold[(i, c)] + keep * rest[(i, c)]
        });
        let size = foretold.norm_max();
        if contrasts.norm_max() <= 1e-12 * (1.0 + size) {
            contrasts = foretold;
        }
        let back = dense::times(
            dense::times(colour.as_ref(), factor.L()).as_ref(),
            contrasts.as_ref(),
        );
        let mean = Mat::from_fn(classes, cells, |c, cell| {
            (0..classes)
                .map(|c| counts[c] / total * means[(c, cell)])
                .sum::<f64>()
                + back[(cell, c)]
        });
        let covariance = dense::times(
            dense::times(colour.as_ref(), blended.as_ref()).as_ref(),
            colour.transpose(),
        );
        Self {
            mean,
            covariance: vec![covariance; classes],
        }
    }

    /// Whether all classes have the same covariance, but for rounding.
    pub fn has_equal_covariances(&self) -> bool {
        let Some((first, rest)) = self.covariance.split_first() else {
            return true;
        };
        let tolerance = EQUAL_COVARIANCES * first.norm_max();
        rest.iter().all(|s| {
            (0..s.ncols())
                .all(|j| (0..s.nrows()).all(|i| (s[(i, j)] - first[(i, j)]).abs() <= tolerance))
        })
    }

    /// The same with covariances multiplied by `factor` ([`centre_noise`]).
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
    pub fn draw(&self, class: usize, label_scores: &Mat<f64>, points: &Mat<f64>) -> Mat<f64> {
        let factor = gaussian::factor(self.covariance[class].as_ref());
        self.draw_by(&factor, class, label_scores, points)
    }

    /// The same for every class; a covariance that all share is factorised once.
    pub(crate) fn draw_all(&self, label_scores: &Mat<f64>, points: &Mat<f64>) -> Vec<Mat<f64>> {
        let shared = (self.has_equal_covariances() && !self.covariance.is_empty())
            .then(|| gaussian::factor(self.covariance[0].as_ref()));
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
/// n_i rows: errors at a threshold use the variance times 1 + 1/n_i (THEORY 4.5).
pub fn centre_noise(cells: &Cells, target: usize) -> f64 {
    1.0 + 1.0 / cells.samples(target) as f64
}

fn class_means(
    responses: MatRef<'_, f64>,
    class: &[usize],
    classes: usize,
) -> (Mat<f64>, Vec<f64>) {
    let mut means = Mat::zeros(classes, responses.ncols());
    let mut counts = vec![0.0; classes];
    for (sample, &c) in class.iter().enumerate() {
        counts[c] += 1.0;
        for cell in 0..responses.ncols() {
            means[(c, cell)] += responses[(sample, cell)];
        }
    }
    let total: f64 = counts.iter().sum();
    for cell in 0..responses.ncols() {
        let overall = (0..classes).map(|c| means[(c, cell)]).sum::<f64>() / total.max(1.0);
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

fn residuals(responses: MatRef<'_, f64>, class: &[usize], means: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(class.len(), responses.ncols(), |sample, cell| {
        responses[(sample, cell)] - means[(class[sample], cell)]
    })
}
