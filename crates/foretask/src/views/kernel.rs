//! A Gaussian kernel as features: k(x, z) = exp(-|x - z|²/w) between a row and landmarks
//! (`docs/3-the-solver.md#views`).
//!
//! With K the kernel between landmarks and K = U diag(v) Uᵀ, the features of a row are k(x, ·) U v^{-1/2}: where
//! every training row is a landmark their inner products are the kernel itself. Rows are taken in the standard view,
//! each task centred and scaled, on all features.
//!
//! Beyond [`EXACT_ROWS`] rows the landmarks are rows of the sources. Never a part of the target's: those rows would
//! be represented better than new ones, and leave-one-out would judge them too kindly.
//!
//! Time n L p + L³; memory n L.

use faer::{ColRef, Mat, MatRef};
use rayon::prelude::*;

use crate::data::{RowBlock, Statistics};
use crate::numerics::dense;

/// Up to so many rows every row is a landmark.
const EXACT_ROWS: usize = 400;
/// So many rows of the sources beyond.
const LANDMARKS: usize = 250;
/// Fewer rows of sources than this are no landmarks.
const FEWEST_SOURCE_ROWS: usize = 50;
/// More rows than this cost too much.
const MOST_ROWS: usize = 20_000;
/// Directions with less than this share of the largest eigenvalue are dropped.
const FAINTEST: f64 = 1e-9;
/// Rows closer than this (squared) are the same row.
const SAME: f64 = 1e-12;
/// Rows of the target, and rows, that the width is taken from at most.
const WIDTH_FROM: (usize, usize) = (400, 2000);
/// Rows whose kernel values are computed together.
const KERNEL_PANEL: usize = 128;

/// A Gaussian kernel between rows and landmarks: exp(-|z - landmark|²/width).
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    pub(crate) landmarks: Mat<f64>,
    pub(crate) width: f64,
    squares: Vec<f64>,
}

impl Kernel {
    pub(crate) fn new(landmarks: Mat<f64>, width: f64) -> Self {
        let squares = landmarks.col_iter().map(|x| x.squared_norm_l2()).collect();
        Self {
            landmarks,
            width,
            squares,
        }
    }

    /// The landmarks, one a column (p x L).
    pub fn landmarks(&self) -> &Mat<f64> {
        &self.landmarks
    }

    /// The squared distance at which it has fallen to 1/e.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Between some rows, one a column (p x n), and the landmarks (n x L).
    pub(crate) fn values(&self, rows: MatRef<'_, f64>) -> Mat<f64> {
        let mut values = dense::times(rows.transpose(), self.landmarks.as_ref());
        let squares: Vec<f64> = rows.col_iter().map(|x| x.squared_norm_l2()).collect();
        for (landmark, other) in self.squares.iter().enumerate() {
            for (value, own) in values.col_mut(landmark).iter_mut().zip(&squares) {
                let distance = (own + other - 2.0 * *value).max(0.0);
                *value = (-distance / self.width).exp();
            }
        }
        values
    }
}

/// Why there is no kernel for some data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoKernel {
    /// All rows are alike.
    Alike,
    /// Too many rows for them all to be landmarks, and too few of the sources.
    FewSources,
    /// Too many rows altogether.
    Costly,
}

/// A kernel, and how its values become features.
#[derive(Clone, Debug)]
pub(crate) struct KernelFeatures {
    pub(crate) kernel: Kernel,
    /// U v^{-1/2}, L x r.
    pub(crate) basis: Mat<f64>,
}

/// The kernel for a target, and the features it gives the rows of every task; from rows in the standard view.
pub(crate) fn features<'a>(
    standard: &Statistics<'_>,
    rows: &[&RowBlock<'_>],
    target: usize,
) -> Result<(KernelFeatures, Vec<RowBlock<'a>>), NoKernel> {
    let scales = standard.scales();
    let total: usize = rows.iter().map(|block| block.len()).sum();
    let own = rows[target].len();
    if total > MOST_ROWS {
        return Err(NoKernel::Costly);
    }
    if total > EXACT_ROWS && total - own < FEWEST_SOURCE_ROWS {
        return Err(NoKernel::FewSources);
    }
    // One row a column, centred and scaled as training does.
    let packed: Vec<Mat<f64>> = rows
        .iter()
        .enumerate()
        .map(|(task, block)| {
            let mut z = Mat::zeros(block.features(), block.len());
            let mean = standard.task_mean(task);
            let all = (0..block.len(), 0..block.features());
            block.pack(all.0, all.1, &mean, 1.0 / scales[task], z.as_mut());
            z
        })
        .collect();
    let place = |mut row: usize| {
        let mut task = 0;
        while row >= packed[task].ncols() {
            row -= packed[task].ncols();
            task += 1;
        }
        (task, row)
    };
    let column = |(task, row): (usize, usize)| packed[task].col(row);
    let everyone: Vec<_> = spread_over(total, WIDTH_FROM.1)
        .into_iter()
        .map(|row| column(place(row)))
        .collect();
    let width = width(&packed[target], &gather(&everyone)).ok_or(NoKernel::Alike)?;
    let landmarks: Vec<(usize, usize)> = if total <= EXACT_ROWS {
        (0..total).map(place).collect()
    } else {
        let sources: Vec<(usize, usize)> = (0..total)
            .map(place)
            .filter(|(task, _)| *task != target)
            .collect();
        let chosen = spread_over(sources.len(), LANDMARKS);
        chosen.into_iter().map(|row| sources[row]).collect()
    };
    let landmarks: Vec<_> = landmarks.into_iter().map(column).collect();
    let kernel = Kernel::new(gather(&landmarks), width);
    let between = kernel.values(kernel.landmarks.as_ref());
    let (values, vectors) = dense::symmetric_eigen(between.as_ref()).ok_or(NoKernel::Alike)?;
    let largest = values.last().copied().unwrap_or(0.0);
    let kept: Vec<usize> = (0..values.len())
        .filter(|&i| values[i] > FAINTEST * largest)
        .collect();
    let basis = Mat::from_fn(values.len(), kept.len(), |l, i| {
        vectors[(l, kept[i])] / values[kept[i]].sqrt()
    });
    let blocks = packed
        .iter()
        .map(|z| RowBlock::owned(mapped(&kernel, &basis, z), basis.ncols()))
        .collect();
    Ok((KernelFeatures { kernel, basis }, blocks))
}

/// The features of rows (one a column), row after row.
fn mapped(kernel: &Kernel, basis: &Mat<f64>, rows: &Mat<f64>) -> Vec<f64> {
    let starts: Vec<usize> = (0..rows.ncols()).step_by(KERNEL_PANEL).collect();
    let panels: Vec<Mat<f64>> = starts
        .into_par_iter()
        .map(|start| {
            let count = KERNEL_PANEL.min(rows.ncols() - start);
            let values = kernel.values(rows.subcols(start, count));
            dense::times(values.as_ref(), basis.as_ref())
        })
        .collect();
    let mut values = Vec::with_capacity(rows.ncols() * basis.ncols());
    for row in panels.iter().flat_map(|panel| panel.row_iter()) {
        values.extend(row.iter());
    }
    values
}

/// The median of the squared distances between rows of the target and rows of all tasks.
fn width(target: &Mat<f64>, all: &Mat<f64>) -> Option<f64> {
    let chosen: Vec<_> = spread_over(target.ncols(), WIDTH_FROM.0)
        .into_iter()
        .map(|row| target.col(row))
        .collect();
    let target = gather(&chosen);
    let square =
        |of: &Mat<f64>| -> Vec<f64> { of.col_iter().map(|x| x.squared_norm_l2()).collect() };
    let (own, other) = (square(&target), square(all));
    let products = dense::times(target.transpose(), all.as_ref());
    let mut distances: Vec<f64> = Vec::with_capacity(own.len() * other.len());
    for (j, other) in other.iter().enumerate() {
        for (i, own) in own.iter().enumerate() {
            let distance = own + other - 2.0 * products[(i, j)];
            if distance > SAME {
                distances.push(distance);
            }
        }
    }
    if distances.is_empty() {
        return None;
    }
    let (odd, half) = (distances.len() % 2 == 1, distances.len() / 2);
    let (below, &mut upper, _) = distances.select_nth_unstable_by(half, f64::total_cmp);
    if odd {
        return Some(upper);
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(0.5 * (lower + upper))
}

/// At most so many of the first n whole numbers, evenly spread.
fn spread_over(n: usize, most: usize) -> Vec<usize> {
    let chosen = n.min(most);
    (0..chosen).map(|i| i * n / chosen).collect()
}

fn gather(columns: &[ColRef<'_, f64>]) -> Mat<f64> {
    let rows = columns.first().map_or(0, |column| column.nrows());
    Mat::from_fn(rows, columns.len(), |i, j| columns[j][i])
}
