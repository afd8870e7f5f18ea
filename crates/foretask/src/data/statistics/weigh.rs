//! Sums over rows that have weights (`docs/3-the-solver.md#weights`).

use std::ops::Range;

use faer::{Mat, MatRef};

use super::rows::RowBlock;
use crate::data::importance::Importance;

/// Σ w x of some samples over Σ w.
pub(super) fn mean(
    rows: &RowBlock<'_>,
    samples: Range<usize>,
    importance: &Importance,
) -> Vec<f64> {
    let p = rows.features();
    let total: f64 = samples.clone().map(|sample| importance.of(sample)).sum();
    let zero = vec![0.0; p];
    let sum = summed(rows, samples, &zero, &|sample, x| importance.of(sample) * x);
    sum.iter().map(|sum| sum / total).collect()
}

/// Σ w (x - mean)² of some samples, feature by feature.
pub(super) fn squares(
    rows: &RowBlock<'_>,
    samples: Range<usize>,
    mean: &[f64],
    importance: &Importance,
) -> Vec<f64> {
    summed(rows, samples, mean, &|sample, x| {
        importance.of(sample) * x * x
    })
}

fn summed(
    rows: &RowBlock<'_>,
    samples: Range<usize>,
    shift: &[f64],
    of: &dyn Fn(usize, f64) -> f64,
) -> Vec<f64> {
    let first = samples.start;
    let mut sum = vec![0.0; shift.len()];
    rows.select(samples).for_panels(shift, 1.0, |start, panel| {
        for (l, row) in panel.col_iter().enumerate() {
            let sample = first + start + l;
            let both = sum.iter_mut().zip(row.iter());
            both.for_each(|(sum, x)| *sum += of(sample, *x));
        }
    });
    sum
}

/// Rows, one a column, times the roots of their weights; `start` is the first of them.
pub(crate) fn weighed(panel: MatRef<'_, f64>, start: usize, roots: &[f64]) -> Mat<f64> {
    Mat::from_fn(panel.nrows(), panel.ncols(), |i, l| {
        panel[(i, l)] * roots[start + l]
    })
}
