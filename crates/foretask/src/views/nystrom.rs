//! What a Gaussian kernel gives rows as features, from landmarks that stand for all rows (Nyström's method).
//!
//! With K the kernel between landmarks and K = U diag(v) Uᵀ, the features of a row are k(x, ·) U v^{-1/2}: where
//! every training row is a landmark their inner products are the kernel itself. Rows are taken in the standard view,
//! each task centred and scaled, on all features.
//!
//! Time n L p + L³; memory n L.

use faer::Mat;
use rayon::prelude::*;

use super::kernel::Kernel;
use super::landmarks::{Candidates, EXACT_ROWS};
use crate::data::{RowBlock, Statistics};
use crate::numerics::dense;

/// Fewer rows of sources than this are no landmarks.
const FEWEST_SOURCE_ROWS: usize = 50;
/// More rows than this cost too much.
const MOST_ROWS: usize = 20_000;
/// Directions with less than this share of the largest eigenvalue are dropped.
const FAINTEST: f64 = 1e-9;
/// Rows whose kernel values are computed together.
const KERNEL_PANEL: usize = 128;

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
    let candidates = Candidates::new(standard, &packed, target);
    let width = candidates.width().ok_or(NoKernel::Alike)?;
    let kernel = Kernel::new(candidates.landmarks(width), width);
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
