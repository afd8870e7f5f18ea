//! What training needs of one task: B_i = Z_iᵀ Z_i/N as scatter or as rows, and Z_iᵀ y for the unit labels of
//! its cells. N is the normaliser: kp for one coupling, p along the grid.

use std::sync::Arc;

use faer::{Accum, Mat, MatMut, MatRef};

use crate::data::cells::Cells;
use crate::data::rows::PANEL;
use crate::data::statistics::{RowBlock, Second, Statistics};
use crate::numerics::dense;

/// B_i of one task, ready to be factorised for any γ; clones share the numbers.
#[derive(Clone, Debug)]
pub(crate) enum Block<'a> {
    /// S_i, lower triangle, and 1/(s_i² N).
    Scatter { scatter: Arc<Mat<f64>>, scale: f64 },
    /// The rows it is made of.
    Rows(CentredRows<'a>),
    /// Itself, in coordinates that make it diagonal.
    Diagonal(Arc<Vec<f64>>),
}

/// Rows of a task with what makes Z_i/√N of them.
#[derive(Clone, Debug)]
pub(crate) struct CentredRows<'a> {
    pub(crate) rows: RowBlock<'a>,
    pub(crate) mean: Vec<f64>,
    /// 1/(s_i √N).
    pub(crate) scale: f64,
}

impl CentredRows<'_> {
    /// Z_iᵀ/√N, p x n_i.
    pub(crate) fn pack_all(&self) -> Mat<f64> {
        let (p, n) = (self.mean.len(), self.rows.len());
        let mut panel = Mat::zeros(p, n);
        self.rows
            .pack(0..n, 0..p, &self.mean, self.scale, panel.as_mut());
        panel
    }

    /// Z x/√N, n_i x q, in panels of samples.
    pub(super) fn times(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut result = Mat::zeros(self.rows.len(), x.ncols());
        self.rows
            .for_panels(&self.mean, self.scale, |start, panel| {
                let to = result.as_mut().subrows_mut(start, panel.ncols());
                dense::product(to, Accum::Replace, panel.transpose(), x, 1.0);
            });
        result
    }

    /// weights += strength * Zᵀ a/√N, in panels of samples.
    pub(crate) fn add_weighted(&self, a: MatRef<'_, f64>, strength: f64, weights: &mut Mat<f64>) {
        self.rows
            .for_panels(&self.mean, self.scale, |start, panel| {
                let a = a.subrows(start, panel.ncols());
                dense::product(weights.as_mut(), Accum::Add, panel, a, strength);
            });
    }
}

impl Block<'_> {
    /// sum += weight B_i (lower triangle).
    pub(crate) fn add_to(&self, weight: f64, mut sum: MatMut<'_, f64>) {
        match self {
            Self::Scatter { scatter, scale } => {
                dense::add_lower(sum, scatter.as_ref().as_ref(), weight * scale);
            }
            Self::Rows(rows) => dense::add_outer(sum.as_mut(), rows.pack_all().as_ref(), weight),
            Self::Diagonal(values) => {
                for (i, value) in values.iter().enumerate() {
                    sum[(i, i)] += weight * value;
                }
            }
        }
    }
}

/// B_i of every task, as scatter or as rows.
pub(crate) fn blocks<'a>(
    statistics: Statistics<'a>,
    scales: &[f64],
    normaliser: f64,
) -> Vec<Block<'a>> {
    let means: Vec<Vec<f64>> = (0..scales.len())
        .map(|task| statistics.task_mean(task))
        .collect();
    statistics
        .into_second()
        .into_iter()
        .zip(scales)
        .zip(means)
        .map(|((second, scale), mean)| match second {
            Second::Scatter { scatter, .. } => Block::Scatter {
                scatter,
                scale: 1.0 / (scale * scale * normaliser),
            },
            Second::Rows(rows) => Block::Rows(CentredRows {
                rows,
                mean,
                scale: 1.0 / (scale * normaliser.sqrt()),
            }),
        })
        .collect()
}

/// r_i of a task for its own cells (p x m_i): n_r (x̄_r - x̄_i)/(s_i N). The unit labels of other
/// tasks' cells have r_i = 0.
pub(crate) fn right_hand_side(
    cells: &Cells,
    means: &Mat<f64>,
    scales: &[f64],
    normaliser: f64,
    task: usize,
) -> Mat<f64> {
    let mean = cells.task_mean(means, task);
    let range = cells.of_task(task);
    Mat::from_fn(means.nrows(), range.len(), |feature, class| {
        let cell = range.start + class;
        cells.count(cell) as f64 * (means[(feature, cell)] - mean[feature])
            / (scales[task] * normaliser)
    })
}

pub(crate) fn right_hand_sides(
    cells: &Cells,
    means: &Mat<f64>,
    scales: &[f64],
    normaliser: f64,
) -> Vec<Mat<f64>> {
    (0..cells.tasks().len())
        .map(|task| right_hand_side(cells, means, scales, normaliser, task))
        .collect()
}

/// The Gram matrix Z Zᵀ/N of the rows of all tasks (lower triangle), summed over panels of features
/// so that no second copy of the data exists.
pub(crate) fn gram(rows: &[CentredRows<'_>]) -> Mat<f64> {
    let n: usize = rows.iter().map(|block| block.rows.len()).sum();
    let p = rows.first().map_or(0, |block| block.mean.len());
    let mut gram = Mat::zeros(n, n);
    let mut panel = Mat::zeros(PANEL.min(p), n);
    for first in (0..p).step_by(PANEL) {
        let count = PANEL.min(p - first);
        let mut part = panel.as_mut().subrows_mut(0, count);
        let mut start = 0;
        for block in rows {
            let own = block.rows.len();
            block.rows.pack(
                0..own,
                first..first + count,
                &block.mean,
                block.scale,
                part.as_mut().subcols_mut(start, own),
            );
            start += own;
        }
        dense::add_outer(gram.as_mut(), part.transpose(), 1.0);
    }
    gram
}
