//! One score per class, each class against all others (`docs/5-many-classes.md#one-versus-all`).
//!
//! Score l is meant to be large for samples of class l; the class of the largest is chosen. Scores of
//! different classifiers are comparable only on one scale: they are shifted and scaled so that score l
//! has mean zero and variance one for samples of class l (the paper's "scaled").
//!
//! | rule | label scores of classifier l |
//! |---|---|
//! | [`classical`] | +1 on the cells of class l, -1 elsewhere |
//! | [`minimax`] | the best for the rival that is hardest to tell from l |
//! | [`naive_classical`], `naive_optimal` | those of two classes, l and the union of the others |
//!
//! [`super::one_hot::optimal`] chooses all columns together and is never worse where covariances are equal.

use faer::Mat;

use super::averages::{Whitened, average, between, centre, shares};
use crate::data::Cells;
use crate::decision::{Discriminant, Form};
use crate::moments::Moments;
use crate::numerics::optimise::least_on_simplex;
use crate::numerics::{dense, pseudo_solve};

/// Labels +1 on the cells that stand for class l and -1 on all others, standardised.
pub fn classical(cells: &Cells, target: usize, moments: &Moments) -> Discriminant {
    let columns = signs(cells, target);
    standardised(columns, moments)
}

/// The label scores y of classifier l that maximise min_{j ≠ l} (μ_l - μ_j)·y / √(yᵀ S_j y),
/// standardised.
///
/// The criterion is quasi-concave, so that what is found is the global optimum. In coordinates in
/// which the average covariance is the identity, let Δ_j be the mean differences. Equal covariances:
/// y is the point of the convex hull of the Δ_j nearest to zero. Unequal ones: from there, steps that
/// solve the problem with linearised ratios and the curvature of their weighted sum. Where zero lies
/// in the hull, class l lies among the others, no y has a positive criterion, and classifier l has one number
/// per task, on the cells of class l.
pub fn minimax(moments: &Moments, cells: &Cells, target: usize) -> Discriminant {
    let m = moments.mean.nrows();
    let white = Whitened::new(moments, &vec![1.0 / m as f64; m]);
    let covariance: Option<Vec<Mat<f64>>> = (!moments.has_equal_covariances()).then(|| {
        let spectra = white.spectra(moments);
        spectra.iter().map(|spectrum| spectrum.matrix()).collect()
    });
    let d = white.basis.ncols();
    let columns = (0..m)
        .map(|class| {
            let rivals: Vec<usize> = (0..m).filter(|&j| j != class).collect();
            let differences = Mat::from_fn(d, rivals.len(), |i, j| {
                white.mean[(class, i)] - white.mean[(rivals[j], i)]
            });
            let Some((weights, nearest)) = nearest_point(&differences) else {
                return per_task_labels(moments, cells, target, class);
            };
            let x = match &covariance {
                None => nearest,
                Some(covariance) => {
                    let covariance = rivals.iter().map(|&j| &covariance[j]).collect();
                    Ratios {
                        differences,
                        covariance,
                    }
                    .ascend(nearest, weights)
                }
            };
            let y = dense::times(white.basis.as_ref(), x.as_ref());
            y.col(0).iter().copied().collect()
        })
        .collect();
    standardised(columns, moments)
}

/// The rule of one number per task, standardised.
#[cfg(test)]
pub(crate) fn per_task(moments: &Moments, cells: &Cells, target: usize) -> Discriminant {
    let columns = (0..moments.mean.nrows())
        .map(|class| per_task_labels(moments, cells, target, class))
        .collect();
    standardised(columns, moments)
}

/// Label scores Σ_t θ_t 1{cells of task t that stand for class l}: θ is the Fisher direction of class l
/// against the mean of the others. One number per task needs fewer samples than one per cell.
fn per_task_labels(moments: &Moments, cells: &Cells, target: usize, class: usize) -> Vec<f64> {
    let rest = Rest::new(moments, class, &vec![1.0; moments.mean.nrows()]);
    let s = &moments.covariance[class];
    let covariance = Mat::from_fn(s.nrows(), s.ncols(), |i, j| {
        s[(i, j)] + rest.between[(i, j)]
    });
    let aligned = cells.aligned(target);
    let tasks = cells.tasks().len();
    let family = Mat::from_fn(cells.len(), tasks, |cell, task| {
        let stands = cells.task_of(cell) == task && aligned[cell] == Some(class);
        f64::from(u8::from(stands))
    });
    fisher(&family, &covariance, &rest.difference)
}

/// [`classical`] without shift and scale, as it is often done. Decides as
/// [`super::one_hot::classical`]: the columns are two times its columns less a common one.
pub fn naive_classical(cells: &Cells, target: usize) -> Discriminant {
    let columns = signs(cells, target);
    Discriminant {
        form: Form::Linear {
            offsets: vec![0.0; columns.len()],
        },
        label_scores: matrix(&columns, cells.len()),
    }
}

/// The paper's first extension to many classes: classifier l is the optimal binary one of class l
/// against the union of the others, as if that were one Gaussian class, with one label per task for
/// class l and one for its other cells. The score is shifted to mean zero for class l and not scaled.
///
/// Only the difference of a task's two labels matters, so that the family has one number per task.
pub(crate) fn naive_optimal(
    moments: &Moments,
    priors: &[f64],
    cells: &Cells,
    target: usize,
) -> Discriminant {
    let aligned = cells.aligned(target);
    let tasks = cells.tasks().len();
    let columns: Vec<Vec<f64>> = (0..moments.mean.nrows())
        .map(|class| {
            let rest = Rest::new(moments, class, priors);
            let s = &moments.covariance[class];
            let covariance = Mat::from_fn(s.nrows(), s.ncols(), |i, j| {
                0.5 * (s[(i, j)] + rest.within[(i, j)] + rest.between[(i, j)])
            });
            let family = Mat::from_fn(cells.len(), 2 * tasks, |cell, column| {
                let stands = aligned[cell] == Some(class);
                let own = cells.task_of(cell) == column / 2 && stands == (column % 2 == 0);
                f64::from(u8::from(own))
            });
            fisher(&family, &covariance, &rest.difference)
        })
        .collect();
    let offsets = columns
        .iter()
        .enumerate()
        .map(|(class, y)| -moments.score(class, y).0)
        .collect();
    Discriminant {
        label_scores: matrix(&columns, cells.len()),
        form: Form::Linear { offsets },
    }
}

/// The union of all classes but one.
struct Rest {
    /// μ_l - the weighted mean of the others, C x 1.
    difference: Mat<f64>,
    /// The weighted mean of the others' covariances.
    within: Mat<f64>,
    /// The covariance of the others' means.
    between: Mat<f64>,
}

impl Rest {
    fn new(moments: &Moments, class: usize, weights: &[f64]) -> Self {
        /// Differences of means below this share of the largest mean are rounding.
        const ROUNDING: f64 = 1e-13;
        let mut weights = weights.to_vec();
        weights[class] = 0.0;
        if weights.iter().all(|&weight| weight == 0.0) {
            weights.fill(1.0);
            weights[class] = 0.0;
        }
        let shares = shares(&weights);
        let mean = centre(&moments.mean, &shares);
        let (m, c) = moments.mean.shape();
        // A class amid the others must not be told from them by rounding.
        let rounding = ROUNDING * moments.mean.norm_max();
        let spread = Mat::from_fn(m, c, |j, cell| {
            shares[j].sqrt() * (moments.mean[(j, cell)] - mean[cell])
        });
        Self {
            difference: Mat::from_fn(c, 1, |cell, _| {
                let difference = moments.mean[(class, cell)] - mean[cell];
                if difference.abs() > rounding {
                    difference
                } else {
                    0.0
                }
            }),
            within: average(&moments.covariance, &shares),
            between: dense::times(spread.transpose(), spread.as_ref()),
        }
    }
}

/// E (Eᵀ S E)⁺ Eᵀ v, the best label scores for a mean difference v within the span of E.
fn fisher(family: &Mat<f64>, covariance: &Mat<f64>, difference: &Mat<f64>) -> Vec<f64> {
    let theta = pseudo_solve(
        between(covariance.as_ref(), family.as_ref()).as_ref(),
        dense::times(family.transpose(), difference.as_ref()).as_ref(),
    );
    let y = dense::times(family.as_ref(), theta.as_ref());
    y.col(0).iter().copied().collect()
}

fn signs(cells: &Cells, target: usize) -> Vec<Vec<f64>> {
    let aligned = cells.aligned(target);
    let sign = |stands: bool| if stands { 1.0 } else { -1.0 };
    (0..cells.of_task(target).len())
        .map(|class| aligned.iter().map(|&of| sign(of == Some(class))).collect())
        .collect()
}

fn matrix(columns: &[Vec<f64>], rows: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns.len(), |i, j| columns[j][i])
}

/// Scales column l and chooses its offset so that score l has mean zero and variance one for class l.
fn standardised(mut columns: Vec<Vec<f64>>, moments: &Moments) -> Discriminant {
    let offsets = columns
        .iter_mut()
        .enumerate()
        .map(|(class, y)| {
            let (mean, variance) = moments.score(class, y);
            let scale = if variance > 0.0 {
                variance.sqrt().recip()
            } else {
                1.0
            };
            y.iter_mut().for_each(|y| *y *= scale);
            -mean * scale
        })
        .collect();
    Discriminant {
        label_scores: matrix(&columns, moments.mean.ncols()),
        form: Form::Linear { offsets },
    }
}

/// Zero is taken to lie in the hull below this distance, relative to the farthest point: squared
/// distances are known to rounding, 1e-16 of the largest, and distances to the root of that.
const IN_HULL: f64 = 1e-7;

/// The weights and the point of the convex hull of the columns that is nearest to zero, if zero is
/// not in the hull.
fn nearest_point(columns: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let products = dense::times(columns.transpose(), columns.as_ref());
    let farthest = (0..columns.ncols())
        .map(|j| products[(j, j)])
        .fold(0.0, f64::max);
    let weights = least_on_simplex(&products, &vec![0.0; columns.ncols()]);
    let point = combination(columns, &weights);
    (point.norm_l2() > IN_HULL * farthest.sqrt()).then_some((weights, point))
}

fn combination(columns: &Mat<f64>, weights: &[f64]) -> Mat<f64> {
    Mat::from_fn(columns.nrows(), 1, |i, _| {
        weights
            .iter()
            .enumerate()
            .map(|(j, w)| w * columns[(i, j)])
            .sum()
    })
}

/// The ratios f_j(x) = Δ_j·x / h_j(x) with h_j(x) = √(xᵀ S_j x), whose least is to be largest.
struct Ratios<'a> {
    /// Δ_j, one column each.
    differences: Mat<f64>,
    covariance: Vec<&'a Mat<f64>>,
}

impl Ratios<'_> {
    /// Raises the least ratio from a point of positive ratios.
    ///
    /// At |x| = 1 with least ratio t, the functions ψ_j = (Δ_j·x - t h_j(x))/h_j are concave and
    /// homogeneous, with gradients g_j and ψ_j = g_j·x; a point is better if and only if all its ψ_j are
    /// positive. The step solves max_d min_j (ψ_j + g_j·d) - ½ dᵀ H d, where H is the curvature of
    /// Σ_j w_j ψ_j, whose dual is least on the simplex: ½ |Σ w_j g_j|² in H⁻¹, plus Σ w_j ψ_j.
    /// Since ψ_j(z) ≤ g_j·z everywhere, x is the global optimum where Σ w_j g_j = 0.
    fn ascend(&self, start: Mat<f64>, mut weights: Vec<f64>) -> Mat<f64> {
        const STEPS: usize = 100;
        const HALVINGS: usize = 40;
        /// |Σ w_j g_j|, relative to the least ratio, at which x is optimal; rounding ends it sooner.
        const RESIDUAL: f64 = 1e-12;
        /// Keeps the curvature definite where the weighted covariances are not.
        const PROXIMAL: f64 = 1e-6;

        let d = start.nrows();
        let mut x = normalised(start);
        for _ in 0..STEPS {
            let least = self.least(&x);
            // At x: h_j, S_j x, and from them g_j and H.
            let images: Vec<Mat<f64>> = self
                .covariance
                .iter()
                .map(|s| dense::times(s.as_ref(), x.as_ref()))
                .collect();
            let h: Vec<f64> = images.iter().map(|image| inner(image, &x).sqrt()).collect();
            let gradients = Mat::from_fn(d, h.len(), |i, j| {
                (self.differences[(i, j)] - least * images[j][(i, 0)] / h[j]) / h[j]
            });
            let values: Vec<f64> = (0..h.len())
                .map(|j| (0..d).map(|i| gradients[(i, j)] * x[(i, 0)]).sum())
                .collect();
            // x itself is a null direction of every h_j's curvature; any positive one will do there.
            let mut curvature = Mat::from_fn(d, d, |a, b| least * x[(a, 0)] * x[(b, 0)]);
            (0..d).for_each(|i| curvature[(i, i)] += PROXIMAL * least);
            for j in (0..h.len()).filter(|&j| weights[j] > 0.0) {
                let (s, image, square) = (self.covariance[j], &images[j], h[j] * h[j]);
                let weight = least * weights[j] / square;
                for b in 0..d {
                    let along = image[(b, 0)] / square;
                    for a in b..d {
                        curvature[(a, b)] += weight * (s[(a, b)] - along * image[(a, 0)]);
                    }
                }
            }
            let Some(factor) = dense::small_cholesky(curvature.as_ref()) else {
                return x;
            };
            let mut half = gradients.clone();
            dense::solve_lower(factor.L(), half.as_mut());
            let products = dense::times(half.transpose(), half.as_ref());
            let linear: Vec<f64> = values.iter().map(|value| -value).collect();
            weights = least_on_simplex(&products, &linear);
            let residual = combination(&gradients, &weights).norm_l2();
            let mut step = combination(&half, &weights);
            dense::solve_lower_transposed(factor.L(), step.as_mut());
            let better = (0..HALVINGS).find_map(|halving| {
                let share = 0.5_f64.powi(halving as i32);
                let trial = normalised(Mat::from_fn(d, 1, |i, _| x[(i, 0)] + share * step[(i, 0)]));
                (self.least(&trial) > least).then_some(trial)
            });
            match better {
                Some(better) if residual > RESIDUAL * least => x = better,
                Some(better) => return better,
                None => return x,
            }
        }
        x
    }

    fn least(&self, x: &Mat<f64>) -> f64 {
        (0..self.covariance.len())
            .map(|j| {
                let image = dense::times(self.covariance[j].as_ref(), x.as_ref());
                let along: f64 = (0..x.nrows())
                    .map(|i| self.differences[(i, j)] * x[(i, 0)])
                    .sum();
                along / inner(&image, x).sqrt()
            })
            .fold(f64::INFINITY, f64::min)
    }
}

fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.nrows()).map(|i| a[(i, 0)] * b[(i, 0)]).sum()
}

fn normalised(x: Mat<f64>) -> Mat<f64> {
    let norm = x.norm_l2();
    faer::Scale(1.0 / norm) * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_inside_the_hull_is_seen() {
        let around = faer::mat![[1.0, -1.0, 0.0], [1.0, 1.0, -1.0]];
        assert!(nearest_point(&around).is_none());
        let aside = faer::mat![[1.0, 1.0], [-1.0, 3.0]];
        let (weights, point) = nearest_point(&aside).unwrap();
        assert!((weights[0] - 0.75).abs() < 1e-12);
        assert!((point[(0, 0)] - 1.0).abs() < 1e-12 && point[(1, 0)].abs() < 1e-12);
        assert!(nearest_point(&Mat::zeros(2, 3)).is_none());
    }
}
