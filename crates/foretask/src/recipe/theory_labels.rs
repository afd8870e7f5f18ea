//! [`TheoryLabels`]: the label scores of least squared error by the isotropic theory, in closed form at every
//! coupling (`docs/4-when-to-trust-a-forecast.md#families`).
//!
//! With μ_c and S the mean and covariance of the responses of a new sample of class c, π_c its share and
//! μ̄ = Σ π_c μ_c,
//!
//! ```text
//! Y = [ S (1 + 1/n_t) + Σ_c π_c (μ_c - μ̄)(μ_c - μ̄)ᵀ ]⁺ [ π_c (μ_c - μ̄) ]_c        (C x m)
//! ```
//!
//! off the shifts of the tasks' labels, which change nothing. For two classes Y is parallel to S⁺ (μ_1 - μ_2), the
//! label vector of least error. μ and S follow from the inner products of the class means. These are taken from all
//! samples for the model, and without a fold for the samples of that fold: labels that have seen a sample make even
//! noise look twelve points better than it is.
//!
//! For isotropic data the fixed point has one number per task (`docs/2-the-theory.md#the-fixed-point`), and none of
//! it depends on the means: one solution per coupling serves all folds. Time C³ per coupling and fold; memory C².

use std::sync::Arc;

use faer::Mat;

use super::folds::Folds;
use crate::data::{Cells, Coupling, Groups};
use crate::numerics::{dense, positive_part};
use crate::solve::Reduced;

/// More cells than this cost more than the labels are worth.
const MOST_CELLS: usize = 100;
/// Newton steps at most; ten are enough.
const MOST_STEPS: usize = 60;
/// Relative change of τ at which it has converged.
const CONVERGED: f64 = 1e-12;
/// Keeps the normal equations regular where the means say nothing.
const REGULAR: f64 = 1e-9;

/// What all couplings share.
#[derive(Debug)]
pub(crate) struct TheoryLabels {
    means: Arc<Means>,
    cells: Cells,
    /// From all samples.
    whole: MeanProducts,
    /// Without each fold, with the samples that it holds out.
    without: Vec<(Vec<usize>, MeanProducts)>,
}

/// What labels from any part of the target's samples share.
#[derive(Debug)]
struct Means {
    target: usize,
    features: f64,
    /// Within-class variance per feature of each task.
    variances: Vec<f64>,
    /// Of all cells, over √p (r x C).
    of_cells: Mat<f64>,
    /// The target's, over √p (r x n_t).
    rows: Mat<f64>,
    class: Vec<usize>,
    /// What tells the target's samples apart.
    keys: Vec<f64>,
    /// Orthonormal label vectors off the shifts of the tasks, C x (C - k).
    basis: Mat<f64>,
}

/// Label scores at one coupling (C x m).
pub(crate) struct Labelled {
    pub(crate) whole: Mat<f64>,
    /// For the samples of each fold.
    pub(crate) without: Vec<(Vec<usize>, Mat<f64>)>,
}

/// Inner products of the class means about their task's mean, without the bias of their noise, made positive; and
/// the centring that takes a mean from its task's (I - 1 shareᵀ in each task).
#[derive(Debug)]
struct MeanProducts {
    gram: Mat<f64>,
    centring: Mat<f64>,
}

impl TheoryLabels {
    /// None without a source, with a class of one sample, with too many cells, or where samples have weights, of which
    /// the theory knows nothing.
    pub(crate) fn new(
        reduced: &Reduced<'_>,
        target: usize,
        class: &[usize],
        groups: &Groups,
        keys: &[f64],
    ) -> Option<Self> {
        let cells = &reduced.cells;
        let few = has_few(cells, target, class, groups);
        if cells.tasks().len() < 2 || few || cells.len() > MOST_CELLS || cells.are_weighed() {
            return None;
        }
        if keys.len() != class.len() {
            return None;
        }
        let (of_cells, rows) = reduced.means_and_rows(target)?;
        let means = Arc::new(Means {
            target,
            features: reduced.features() as f64,
            variances: reduced.variances().to_vec(),
            of_cells,
            rows,
            class: class.to_vec(),
            keys: keys.to_vec(),
            basis: contrasts(cells),
        });
        let everyone: Vec<usize> = (0..class.len()).collect();
        let whole = means.products(cells, None);
        Some(Self::of_samples(
            means,
            cells.clone(),
            whole,
            &everyone,
            groups,
        ))
    }

    /// The same from some of the target's samples, which `cells` count.
    pub(crate) fn among(&self, cells: &Cells, samples: &[usize], groups: &Groups) -> Option<Self> {
        let class: Vec<usize> = samples.iter().map(|&l| self.means.class[l]).collect();
        if has_few(cells, self.means.target, &class, groups) {
            return None;
        }
        let whole = self.means.products(cells, Some(samples));
        let means = self.means.clone();
        Some(Self::of_samples(
            means,
            cells.clone(),
            whole,
            samples,
            groups,
        ))
    }

    /// `groups` are of the samples, by position among them.
    fn of_samples(
        means: Arc<Means>,
        cells: Cells,
        whole: MeanProducts,
        samples: &[usize],
        groups: &Groups,
    ) -> Self {
        let class: Vec<usize> = samples.iter().map(|&sample| means.class[sample]).collect();
        let keys: Vec<f64> = samples.iter().map(|&sample| means.keys[sample]).collect();
        let folds = Folds::of_labels(&class, cells.of_task(means.target).len(), groups, &keys);
        let without = folds.into_iter().map(|fold| {
            let kept: Vec<usize> = (0..samples.len())
                .filter(|&position| !fold.holds_out(position))
                .map(|position| samples[position])
                .collect();
            (fold.held_out.clone(), means.products(&cells, Some(&kept)))
        });
        Self {
            without: without.collect(),
            whole,
            means,
            cells,
        }
    }

    /// The label scores at a coupling with λ > 0.
    pub(crate) fn at(&self, coupling: &Coupling) -> Labelled {
        self.with(&self.level(&self.cells, coupling))
    }

    /// The theory at a coupling with λ > 0, where the target has the counts of `cells`.
    pub(crate) fn level(&self, cells: &Cells, coupling: &Coupling) -> Level {
        let Means {
            target,
            features,
            variances,
            ..
        } = &*self.means;
        Level::new(cells, *target, *features, variances, coupling)
    }

    /// The label scores, given the theory for the counts of these samples.
    pub(crate) fn with(&self, level: &Level) -> Labelled {
        let labels = |products: &MeanProducts| self.label_scores(level, products);
        let without = self.without.iter();
        Labelled {
            whole: labels(&self.whole),
            without: without
                .map(|(held_out, products)| (held_out.clone(), labels(products)))
                .collect(),
        }
    }

    fn label_scores(&self, level: &Level, products: &MeanProducts) -> Mat<f64> {
        let cells = &self.cells;
        let (c, target) = (cells.len(), self.means.target);
        let range = cells.of_task(target);
        let (n, m) = (cells.samples(target) as f64, range.len());
        let MeanProducts { gram, centring } = products;
        let between = |of: &Mat<f64>, r: usize, s: usize| {
            of[(cells.task_of(r), cells.task_of(s))] * gram[(r, s)]
        };
        let system = Mat::from_fn(c, c, |r, s| {
            f64::from(u8::from(r == s)) + between(&level.resolvent, r, s) * level.delta[s]
        });
        let residual = dense::solve_general(system.as_ref(), centring.as_ref());
        let share = |class: usize| cells.share(range.start + class);
        let response = |class: usize, cell: usize| {
            f64::from(u8::from(range.start + class == cell)) - residual[(range.start + class, cell)]
        };
        let average: Vec<f64> = (0..c)
            .map(|cell| {
                (0..m)
                    .map(|class| share(class) * response(class, cell))
                    .sum()
            })
            .collect();
        let means = Mat::from_fn(m, c, |class, cell| response(class, cell) - average[cell]);
        let means = dense::times(means.as_ref(), self.means.basis.as_ref());
        let inner = Mat::from_fn(c, c, |r, s| {
            let noise = if r == s { level.noise[r] } else { 0.0 };
            noise + level.delta[r] * between(&level.spread, r, s) * level.delta[s]
        });
        let seen = dense::times(residual.as_ref(), self.means.basis.as_ref());
        let half = dense::times(inner.as_ref(), seen.as_ref());
        let covariance = dense::times(seen.transpose(), half.as_ref());
        let weighted = Mat::from_fn(means.ncols(), m, |i, class| {
            means[(class, i)] * share(class)
        });
        let mut normal = dense::times(weighted.as_ref(), means.as_ref());
        normal += &covariance * faer::Scale(1.0 + 1.0 / n);
        let size = normal.nrows();
        let trace: f64 = (0..size).map(|i| normal[(i, i)]).sum();
        for i in 0..size {
            normal[(i, i)] += REGULAR * trace / size as f64 + 1e-12;
        }
        let solved = dense::solve_general(normal.as_ref(), weighted.as_ref());
        dense::times(self.means.basis.as_ref(), solved.as_ref())
    }
}

/// Whether a class of the target has one sample, or is in one group.
fn has_few(cells: &Cells, target: usize, class: &[usize], groups: &Groups) -> bool {
    let found = groups.with_class(class, cells.of_task(target).len());
    found.iter().any(|&count| count < 2)
}

impl Means {
    /// From all samples of the target, or from some.
    fn products(&self, cells: &Cells, kept: Option<&[usize]>) -> MeanProducts {
        let counts = (0..cells.len()).map(|cell| cells.count(cell) as f64);
        let mut counts: Vec<f64> = counts.collect();
        let mut means = self.of_cells.clone();
        let mut variance = self.variances.clone();
        if let Some(kept) = kept {
            let first = cells.of_task(self.target).start;
            let (rows, class) = (&self.rows, &self.class);
            variance[self.target] = refit(&mut means, &mut counts, first, rows, class, kept);
        }
        MeanProducts::new(cells, &means, &counts, &variance, self.features)
    }
}

/// Puts the target's means and counts without some samples in their place; the within-class variance per feature of
/// the others.
fn refit(
    means: &mut Mat<f64>,
    counts: &mut [f64],
    first: usize,
    rows: &Mat<f64>,
    class: &[usize],
    kept: &[usize],
) -> f64 {
    let classes = class.iter().max().map_or(0, |most| most + 1);
    let mut squares = 0.0;
    for c in 0..classes {
        means.col_mut(first + c).fill(0.0);
        counts[first + c] = 0.0;
    }
    for &sample in kept {
        let cell = first + class[sample];
        counts[cell] += 1.0;
        squares += rows.col(sample).squared_norm_l2();
        let mut mean = means.col_mut(cell);
        mean += rows.col(sample);
    }
    let mut freedom = 0.0;
    for cell in first..first + classes {
        let n = counts[cell].max(1.0);
        means.col_mut(cell).iter_mut().for_each(|x| *x /= n);
        squares -= counts[cell] * means.col(cell).squared_norm_l2();
        freedom += n - 1.0;
    }
    squares.max(0.0) / f64::max(freedom, 1.0)
}

impl MeanProducts {
    /// From means over √p (about any centre of their task), counts, and variances per feature by task.
    fn new(cells: &Cells, means: &Mat<f64>, counts: &[f64], variances: &[f64], p: f64) -> Self {
        let c = cells.len();
        let mut centring = Mat::<f64>::identity(c, c);
        for task in 0..cells.tasks().len() {
            let range = cells.of_task(task);
            let total: f64 = counts[range.clone()].iter().sum();
            for r in range.clone() {
                for s in range.clone() {
                    centring[(r, s)] -= counts[s] / total.max(1.0);
                }
            }
        }
        let mut products = dense::times(means.transpose(), means.as_ref());
        for cell in 0..c {
            products[(cell, cell)] -= variances[cells.task_of(cell)] / counts[cell].max(1.0);
        }
        let half = dense::times(centring.as_ref(), products.as_ref());
        let mut gram = positive_part(dense::times(half.as_ref(), centring.transpose()).as_ref());
        gram *= faer::Scale(p);
        Self { gram, centring }
    }
}

/// An orthonormal basis of the label vectors whose sum is zero in each task (Helmert's).
fn contrasts(cells: &Cells) -> Mat<f64> {
    let (c, k) = (cells.len(), cells.tasks().len());
    let mut basis = Mat::zeros(c, c - k);
    let mut column = 0;
    for task in 0..k {
        let range = cells.of_task(task);
        for i in 1..range.len() {
            let unit = 1.0 / ((i * (i + 1)) as f64).sqrt();
            for cell in range.start..range.start + i {
                basis[(cell, column)] = unit;
            }
            basis[(range.start + i, column)] = -(i as f64) * unit;
            column += 1;
        }
    }
    basis
}

/// The isotropic theory at one coupling, as far as it does not depend on the means.
pub(crate) struct Level {
    /// R, k x k.
    resolvent: Mat<f64>,
    /// R diag(coefficients) R, k x k: what the spread of the means is multiplied by.
    spread: Mat<f64>,
    /// δ of each cell.
    delta: Vec<f64>,
    /// The part of the covariance that each cell's noise brings.
    noise: Vec<f64>,
}

impl Level {
    fn new(cells: &Cells, target: usize, p: f64, variances: &[f64], coupling: &Coupling) -> Self {
        let k = cells.tasks().len();
        let tasks = k as f64;
        let kp = tasks * p;
        let freedom: Vec<f64> = (0..k)
            .map(|task| cells.samples(task) as f64 - 1.0)
            .collect();
        let resolvent = |tau: &[f64]| {
            let weight = |i: usize| freedom[i] * variances[i] / (kp * (1.0 + tau[i]));
            let f: Vec<f64> = (0..k)
                .map(|i| 1.0 / (1.0 + coupling.gamma()[i] * weight(i)))
                .collect();
            let head = 1.0 + coupling.lambda() * (0..k).map(|i| f[i] * weight(i)).sum::<f64>();
            Mat::from_fn(k, k, |i, j| {
                let own = if i == j {
                    coupling.gamma()[i] * f[i]
                } else {
                    0.0
                };
                own + coupling.lambda() * f[i] * f[j] / head
            })
        };
        let traces = |r: &Mat<f64>| {
            Mat::from_fn(k, k, |i, j| {
                variances[i] * variances[j] * r[(i, j)].powi(2) / tasks
            })
        };
        let slope = |tau: &[f64], j: usize| freedom[j] / (kp * (1.0 + tau[j]).powi(2));
        let propagate = |r: &Mat<f64>, tau: &[f64]| {
            let traces = traces(r);
            Mat::from_fn(k, k, |i, j| {
                f64::from(u8::from(i == j)) - traces[(i, j)] * slope(tau, j)
            })
        };
        let mut tau: Vec<f64> = (0..k)
            .map(|i| variances[i] * (coupling.gamma()[i] + coupling.lambda()) / tasks)
            .collect();
        for _ in 0..MOST_STEPS {
            let r = resolvent(&tau);
            let off = Mat::from_fn(k, 1, |i, _| variances[i] * r[(i, i)] / tasks - tau[i]);
            let step = dense::solve_general(propagate(&r, &tau).as_ref(), off.as_ref());
            let mut change = 0.0_f64;
            for i in 0..k {
                let next = (tau[i] + step[(i, 0)]).max(0.0);
                change = change.max((next - tau[i]).abs() / next.max(1e-12));
                tau[i] = next;
            }
            if change < CONVERGED {
                break;
            }
        }
        let r = resolvent(&tau);
        let reached = dense::solve_general(propagate(&r, &tau).as_ref(), traces(&r).as_ref());
        let weights: Vec<f64> = (0..k)
            .map(|j| {
                let own = f64::from(u8::from(j == target));
                (reached[(target, j)] * slope(&tau, j) + own) * variances[j]
            })
            .collect();
        let scaled = Mat::from_fn(k, k, |i, j| r[(i, j)] * weights[j]);
        let of_cell = |of: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
            (0..cells.len())
                .map(|cell| of(cells.task_of(cell), cells.count(cell) as f64))
                .collect()
        };
        Self {
            spread: dense::times(scaled.as_ref(), r.as_ref()),
            delta: of_cell(&|task, n| n / (kp * (1.0 + tau[task]))),
            noise: of_cell(&|task, n| {
                reached[(target, task)] * n / (kp * (1.0 + tau[task]).powi(2))
            }),
            resolvent: r,
        }
    }
}
