//! What training needs of one task: B_i = Z_iᵀ Z_i/N as scatter or as rows, and Z_iᵀ y for the unit labels of
//! its cells. N is the normaliser: kp for one coupling, p along the grid. Where samples have weights, the rows of Z_i
//! and y are multiplied by their roots (`docs/3-the-solver.md#weights`).

use std::ops::Range;
use std::sync::Arc;

use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::data::{Cells, Importance, PANEL, RowBlock, Second, Statistics, weighed};
use crate::numerics::dense;
use crate::numerics::sparse::Sparse;

/// B_i of one task, ready to be factorised for any γ; clones share the numbers.
#[derive(Clone, Debug)]
pub(crate) enum Block<'a> {
    /// S_i, lower triangle, and 1/(s_i² N).
    Scatter { scatter: Arc<Mat<f64>>, scale: f64 },
    /// The rows it is made of.
    Rows(CentredRows<'a>),
}

/// Rows of a task with what makes Z_i/√N of them.
#[derive(Clone, Debug)]
pub(crate) struct CentredRows<'a> {
    pub(crate) rows: RowBlock<'a>,
    pub(crate) mean: Vec<f64>,
    /// 1/(s_i √N).
    pub(crate) scale: f64,
    /// Whose roots the rows are multiplied by.
    pub(crate) importance: Importance,
}

impl CentredRows<'_> {
    /// Z_iᵀ/√N, p x n_i.
    pub(crate) fn pack_all(&self) -> Mat<f64> {
        let (p, n) = (self.mean.len(), self.rows.len());
        let mut panel = Mat::zeros(p, n);
        self.pack(0..n, 0..p, panel.as_mut());
        panel
    }

    /// Some samples and features of it.
    pub(crate) fn pack(
        &self,
        samples: Range<usize>,
        features: Range<usize>,
        mut panel: MatMut<'_, f64>,
    ) {
        let start = samples.start;
        let to = panel.as_mut();
        self.rows
            .pack(samples, features, &self.mean, self.scale, to);
        if let Some(roots) = self.importance.roots() {
            for (column, root) in panel.col_iter_mut().zip(&roots[start..]) {
                column.iter_mut().for_each(|x| *x *= root);
            }
        }
    }

    /// Calls `each` with panels of samples, in order, and the first sample of each.
    pub(crate) fn for_panels(&self, mut each: impl FnMut(usize, MatRef<'_, f64>)) {
        let rows = &self.rows;
        match self.importance.roots() {
            None => rows.for_panels(&self.mean, self.scale, each),
            Some(roots) => rows.for_panels(&self.mean, self.scale, |start, panel| {
                each(start, weighed(panel, start, roots).as_ref());
            }),
        }
    }

    /// Z x/√N, n_i x q, in panels of samples.
    pub(super) fn times(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut result = Mat::zeros(self.rows.len(), x.ncols());
        self.for_panels(|start, panel| {
            let to = result.as_mut().subrows_mut(start, panel.ncols());
            dense::product(to, Accum::Replace, panel.transpose(), x, 1.0);
        });
        result
    }

    /// weights += strength * Zᵀ a/√N, in panels of samples.
    pub(crate) fn add_weighted(&self, a: MatRef<'_, f64>, strength: f64, weights: &mut Mat<f64>) {
        self.for_panels(|start, panel| {
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
        }
    }
}

/// B_i of every task, as scatter or as rows.
pub(crate) fn blocks<'a>(
    statistics: Statistics<'a>,
    scales: &[f64],
    normaliser: f64,
) -> Vec<Block<'a>> {
    let means: Vec<(Vec<f64>, Importance)> = (0..scales.len())
        .map(|task| (statistics.task_mean(task), statistics.importance_of(task)))
        .collect();
    statistics
        .into_second()
        .into_iter()
        .zip(scales)
        .zip(means)
        .map(|((second, scale), (mean, importance))| match second {
            Second::Scatter { scatter, .. } => Block::Scatter {
                scatter,
                scale: 1.0 / (scale * scale * normaliser),
            },
            Second::Rows(rows) => Block::Rows(CentredRows {
                rows,
                mean,
                scale: 1.0 / (scale * normaliser.sqrt()),
                importance,
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
        cells.mass(cell) * (means[(feature, cell)] - mean[feature]) / (scales[task] * normaliser)
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
    if !rows.is_empty() && rows.iter().all(|block| block.rows.is_sparse()) {
        return sparse_gram(rows);
    }
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
            let to = part.as_mut().subcols_mut(start, own);
            block.pack(0..own, first..first + count, to);
            start += own;
        }
        dense::add_outer(gram.as_mut(), part.transpose(), 1.0);
    }
    gram
}

/// The same of sparse rows, whose products are those of their entries: centring is done after, by
/// (x - μ)ᵀ(x' - μ') = xᵀx' - xᵀμ' - μᵀx' + μᵀμ'.
fn sparse_gram(rows: &[CentredRows<'_>]) -> Mat<f64> {
    let p = rows.first().map_or(0, |block| block.mean.len());
    let mut entries = Sparse::new(p);
    let (mut task, mut factor) = (Vec::new(), Vec::new());
    for (number, block) in rows.iter().enumerate() {
        block.rows.add_entries_to(&mut entries);
        for sample in 0..block.rows.len() {
            task.push(number);
            factor.push(block.scale * block.importance.root(sample));
        }
    }
    let n = entries.rows();
    // xᵀ μ of every row and every mean, and μᵀ μ'.
    let onto: Vec<Vec<f64>> = rows
        .par_iter()
        .map(|block| (0..n).map(|row| entries.dot(row, &block.mean)).collect())
        .collect();
    let means = Mat::from_fn(p, rows.len(), |feature, task| rows[task].mean[feature]);
    let between = dense::times(means.transpose(), means.as_ref());
    let mut gram = entries.outer(&entries.transposed());
    gram.par_col_iter_mut().enumerate().for_each(|(l, column)| {
        let own = task[l];
        for (row, value) in column.iter_mut().enumerate().skip(l) {
            let other = task[row];
            let centred = *value - onto[own][row] - onto[other][l] + between[(other, own)];
            *value = factor[row] * factor[l] * centred;
        }
    });
    gram
}
