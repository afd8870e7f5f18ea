//! Inner products of class means, estimated from data without bias
//! (`docs/2-the-theory.md#gram-matrix-of-the-class-means`).
//!
//! The sample means of two cells are farther apart than the true ones by their own noise. The
//! all-sample U-statistic removes exactly that:
//!
//! ```text
//! Ĝ = X̄ X̄ᵀ - C_n diag(tr Σ̂_r / n_r) C_nᵀ,     tr Σ̂_r = tr W_r/(n_r - 1),
//! ```
//!
//! with X̄ the class means less their task's mean and C_n the centring by counts. Its error is
//! O(√p/n): with few samples per class the estimate for two-class tasks is shrunk
//! ([`MeansApart::shrunk_binary`]).

use std::cell::OnceCell;

use faer::Mat;

use crate::data::{Cells, Statistics};
use crate::numerics::{dense, positive_part};

/// Below this many samples in some cell, Gram estimates of two-class tasks are shrunk.
const FEW: usize = 20;

impl Statistics<'_> {
    /// Ĝ: the inner products of the class means, each less its task's mean, of the data divided by `scales`
    /// (C x C), without the bias that the noise of the means gives them.
    pub fn mean_products(&self, scales: &[f64]) -> Mat<f64> {
        MeansApart::new(self, scales).unbiased()
    }
}

/// What inner products of class means are made of: the means, each less its task's, of the data divided by scales.
#[derive(Clone, Debug)]
pub(crate) struct MeansApart {
    cells: Cells,
    /// p x C.
    pub(super) means: Mat<f64>,
    /// What noise adds to their squares, tr Σ̂_r / n_r.
    pub(super) noise: Vec<f64>,
    /// tr W_r.
    within: Vec<f64>,
}

impl MeansApart {
    /// `scales` as in [`Statistics::scales`].
    pub(crate) fn new(statistics: &Statistics<'_>, scales: &[f64]) -> Self {
        let cells = statistics.cells();
        let p = statistics.features();
        let task_means: Vec<Vec<f64>> = (0..cells.tasks().len())
            .map(|task| statistics.task_mean(task))
            .collect();
        let means = Mat::from_fn(p, cells.len(), |feature, cell| {
            let task = cells.task_of(cell);
            (statistics.means()[(feature, cell)] - task_means[task][feature]) / scales[task]
        });
        let traces = traces_of_covariances(statistics, scales).into_iter();
        let noise = traces
            .enumerate()
            .map(|(cell, trace)| trace / cells.worth(cell));
        let within = statistics.within_traces().into_iter().enumerate();
        Self {
            means,
            noise: noise.collect(),
            within: within
                .map(|(cell, trace)| trace / scales[cells.task_of(cell)].powi(2))
                .collect(),
            cells: cells.clone(),
        }
    }

    /// The estimate to use: unbiased, shrunk where samples are few and every task has two classes,
    /// projected to the positive semi-definite matrices.
    pub(crate) fn estimate(&self) -> Mat<f64> {
        let cells = &self.cells;
        let binary = cells.tasks().iter().all(|task| task.classes.len() == 2);
        let few = (0..cells.len()).any(|cell| cells.count(cell) < FEW);
        if binary && few {
            self.shrunk_binary()
        } else {
            positive_part(self.unbiased().as_ref())
        }
    }

    fn unbiased(&self) -> Mat<f64> {
        let Self {
            cells,
            means,
            noise,
            ..
        } = self;
        let mut gram = dense::times(means.transpose(), means.as_ref());
        for task in 0..cells.tasks().len() {
            let range = cells.of_task(task);
            // (C diag(noise) Cᵀ)_rs with C = I - 1 shareᵀ.
            let reach = |cell: usize| cells.share(cell) * noise[cell];
            let whole: f64 = range.clone().map(|q| cells.share(q) * reach(q)).sum();
            for r in range.clone() {
                for s in range.clone() {
                    let own = if r == s { noise[r] } else { 0.0 };
                    gram[(r, s)] -= own - reach(r) - reach(s) + whole;
                }
            }
        }
        gram
    }

    /// A stabilised Gram matrix for two-class tasks with few samples, from the k x k products of the
    /// class differences Δ_i:
    /// (a) |Δ_i|² is pulled toward the precision-weighted mean over tasks, with a prior deviation of
    /// that mean's own size; (b) cross products are multiplied by max(0, 1 - variance/value²);
    /// (c) correlations are clipped to [-1, 1] and the result projected.
    pub(crate) fn shrunk_binary(&self) -> Mat<f64> {
        let cells = &self.cells;
        let k = cells.tasks().len();
        let p = self.means.nrows() as f64;
        let unbiased = self.unbiased();
        let product = |a: usize, b: usize| {
            unbiased[(2 * a, 2 * b)] - unbiased[(2 * a, 2 * b + 1)] - unbiased[(2 * a + 1, 2 * b)]
                + unbiased[(2 * a + 1, 2 * b + 1)]
        };
        let inverse_count: Vec<f64> = (0..k)
            .map(|task| {
                cells
                    .of_task(task)
                    .map(|cell| 1.0 / cells.worth(cell))
                    .sum()
            })
            .collect();
        let variance: Vec<f64> = (0..k)
            .map(|task| {
                let range = cells.of_task(task);
                let within: f64 = self.within[range.clone()].iter().sum();
                let freedom: f64 = range.map(|cell| cells.freedom(cell..cell + 1)).sum();
                within / freedom.max(1.0) / p
            })
            .collect();

        let noise: Vec<f64> = (0..k)
            .map(|i| {
                squared_distance_variance(p, product(i, i).max(0.0), variance[i], inverse_count[i])
                    .max(1e-300)
            })
            .collect();
        let weight: f64 = noise.iter().map(|v| 1.0 / v).sum();
        let common = (0..k)
            .map(|i| product(i, i).max(0.0) / noise[i])
            .sum::<f64>()
            / weight;
        let prior = (common * common).max(1e-300);
        let squared: Vec<f64> = (0..k)
            .map(|i| {
                ((product(i, i) / noise[i] + common / prior) / (1.0 / noise[i] + 1.0 / prior))
                    .max(0.0)
            })
            .collect();
        let shrunk = Mat::from_fn(k, k, |a, b| {
            if a == b {
                return squared[a];
            }
            let (u, v) = (
                variance[a] * inverse_count[a],
                variance[b] * inverse_count[b],
            );
            let noise = p * u * v + squared[a] * v + squared[b] * u;
            let value = product(a, b);
            let kept = value * (1.0 - noise / (value * value).max(1e-300)).max(0.0);
            let limit = (squared[a] * squared[b]).sqrt();
            kept.clamp(-limit, limit)
        });
        let shrunk = positive_part(shrunk.as_ref());
        // μ = ±Δ/2 in each task.
        Mat::from_fn(2 * k, 2 * k, |r, s| {
            let sign = if (r % 2 == 0) == (s % 2 == 0) {
                0.25
            } else {
                -0.25
            };
            sign * shrunk[(r / 2, s / 2)]
        })
    }
}

/// tr Σ̂_r of each cell; a cell of one sample borrows from its task, a task of such cells from all.
pub(super) fn traces_of_covariances(statistics: &Statistics<'_>, scales: &[f64]) -> Vec<f64> {
    let cells = statistics.cells();
    let traces = statistics.within_traces();
    let within = |cell: usize| traces[cell] / scales[cells.task_of(cell)].powi(2);
    let freedom = |cell: usize| cells.freedom(cell..cell + 1);
    let pooled = |range: std::ops::Range<usize>| {
        let total: f64 = range.clone().map(freedom).sum();
        (total > 0.0).then(|| range.map(within).sum::<f64>() / total)
    };
    let of_all = OnceCell::new();
    let trace = |cell: usize| {
        if cells.count(cell) > 1 {
            within(cell) / freedom(cell)
        } else {
            pooled(cells.of_task(cells.task_of(cell)))
                .or_else(|| *of_all.get_or_init(|| pooled(0..cells.len())))
                .unwrap_or(0.0)
        }
    };
    (0..cells.len()).map(trace).collect()
}

/// The variance of the unbiased estimate of |Δ|²: 2 p α² h² + 4 |Δ|² α h, h = 1/n_1 + 1/n_2.
pub(crate) fn squared_distance_variance(
    features: f64,
    squared: f64,
    variance: f64,
    inverse_count: f64,
) -> f64 {
    2.0 * features * (variance * inverse_count).powi(2) + 4.0 * squared * variance * inverse_count
}

/// The Gram matrix with the class means of one task moved apart by `factor` about their centre.
pub(crate) fn with_stretched_task(
    gram: &Mat<f64>,
    cells: &Cells,
    task: usize,
    factor: f64,
) -> Mat<f64> {
    let range = cells.of_task(task);
    // Row operations on the implied means: μ_r → centre + factor (μ_r - centre).
    let weights = Mat::from_fn(cells.len(), cells.len(), |r, s| {
        let own = f64::from(u8::from(r == s));
        if range.contains(&r) && range.contains(&s) {
            factor * own + (1.0 - factor) * cells.share(s)
        } else {
            own
        }
    });
    dense::times(
        dense::times(weights.as_ref(), gram.as_ref()).as_ref(),
        weights.transpose(),
    )
}
