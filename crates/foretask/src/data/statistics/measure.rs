//! Statistics of rows: two passes, so that a large mean costs no digits.

use std::sync::Arc;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::{Kept, RowBlock, Second, Statistics};
use crate::data::cells::Cells;
use crate::data::rows::Rows;
use crate::data::tasks::{Tasks, classes_in_order};
use crate::error::{Error, Result};
use crate::numerics::dense;

impl<'a> Statistics<'a> {
    /// The statistics of data in memory; the rows are borrowed, not copied.
    pub fn of(tasks: &Tasks<'a>) -> Self {
        measure(tasks.rows(), tasks.cells(), tasks.order())
    }

    /// The samples of the cells `left` only, whose tasks and classes are `cells`
    /// ([`Cells::restricted`]).
    ///
    /// # Errors
    /// [`Error::RowsNotKept`] if a task loses a class and its rows are not at hand.
    pub(crate) fn restricted(&self, cells: &Cells, left: &[usize]) -> Result<Self> {
        let mut restricted = self.first_order_of(cells.clone(), left);
        for task in 0..cells.tasks().len() {
            let own = &left[cells.of_task(task)];
            let before = self.cells.task_of(own[0]);
            let all = self.cells.of_task(before);
            if own.len() == all.len() {
                restricted.second.push(self.second[before].clone());
                continue;
            }
            let first = |cell: usize| -> usize {
                (all.start..cell).map(|cell| self.cells.count(cell)).sum()
            };
            let samples = own
                .iter()
                .flat_map(|&cell| first(cell)..first(cell) + self.cells.count(cell));
            let rows = self.rows_of(before).ok_or_else(|| Error::RowsNotKept {
                what: "one-versus-one",
                task: cells.tasks()[task].name.clone(),
                instead: "use another rule",
            })?;
            let second = restricted.second_of(task, rows.select(samples));
            restricted.second.push(second);
        }
        Ok(restricted)
    }

    /// What to keep of a task with these rows, once the means are known.
    fn second_of(&self, task: usize, rows: RowBlock<'a>) -> Second<'a> {
        if rows.len() < self.features {
            return Second::Rows(rows);
        }
        Second::Scatter {
            scatter: Arc::new(self.scatter(rows.table(), task, rows.index())),
            rows: Some(rows),
        }
    }

    /// Scatter of a task's rows: each class about its own mean, which loses no digits to a large
    /// distance between classes, plus the part between the classes.
    fn scatter(&self, rows: Rows<'_>, task: usize, index: &[usize]) -> Mat<f64> {
        let p = self.features;
        let first = self.cells.of_task(task).start;
        let means: Vec<Vec<f64>> = self
            .cells
            .of_task(task)
            .map(|cell| self.means.col(cell).iter().copied().collect())
            .collect();
        let class = classes_in_order(&self.cells.tasks()[task]);
        let mut scatter = Mat::zeros(p, p);
        let shift = |sample: usize| means[class[sample]].as_slice();
        rows.for_panels(index, shift, 1.0, |_, panel| {
            dense::add_outer(scatter.as_mut(), panel, 1.0);
        });
        let mean = self.task_mean(task);
        let between = Mat::from_fn(p, means.len(), |feature, class| {
            (self.cells.count(first + class) as f64).sqrt()
                * (means[class][feature] - mean[feature])
        });
        dense::add_outer(scatter.as_mut(), between.as_ref(), 1.0);
        scatter
    }
}

impl<'a> From<&Tasks<'a>> for Statistics<'a> {
    fn from(tasks: &Tasks<'a>) -> Self {
        Self::of(tasks)
    }
}

/// Counts, means and within-class traces; two passes, so that a large mean costs no digits.
fn first_order<'r, 'i>(
    rows: Rows<'_>,
    cells: &Cells,
    rows_of: impl Fn(usize) -> &'i [usize],
) -> Statistics<'r> {
    let p = rows.features();
    let mut means = Mat::zeros(p, cells.len());
    let mut within = vec![0.0; cells.len()];
    for task in 0..cells.tasks().len() {
        let mut index = rows_of(task);
        for cell in cells.of_task(task) {
            let (own, rest) = index.split_at(cells.count(cell));
            index = rest;
            let sum = sum_panels(rows, own, &vec![0.0; p], |panel| {
                panel.col_iter().fold(vec![0.0; p], |mut sum, sample| {
                    sum.iter_mut()
                        .zip(sample.iter())
                        .for_each(|(sum, x)| *sum += x);
                    sum
                })
            });
            let mean: Vec<f64> = sum.iter().map(|sum| sum / own.len() as f64).collect();
            within[cell] = sum_panels(rows, own, &mean, |panel| vec![panel.squared_norm_l2()])[0];
            means
                .col_mut(cell)
                .iter_mut()
                .zip(&mean)
                .for_each(|(to, from)| *to = *from);
        }
    }
    Statistics {
        features: p,
        cells: cells.clone(),
        means,
        within,
        second: Vec::new(),
        kept: Kept::default(),
    }
}

/// Samples in a panel that is only summed: small, so that even a small cell occupies all threads.
const SUMMED: usize = 32;

/// Sums a function of panels of samples: panels in parallel, their results added in order.
fn sum_panels(
    rows: Rows<'_>,
    index: &[usize],
    shift: &[f64],
    of: impl Fn(MatRef<'_, f64>) -> Vec<f64> + Sync,
) -> Vec<f64> {
    let p = rows.features();
    let parts: Vec<Vec<f64>> = index
        .par_chunks(SUMMED)
        .map(|index| {
            let mut panel = Mat::zeros(p, index.len());
            rows.pack(index, 0..p, |_| shift, 1.0, panel.as_mut());
            of(panel.as_ref())
        })
        .collect();
    let length = parts.first().map_or(1, Vec::len);
    parts.iter().fold(vec![0.0; length], |mut sum, part| {
        sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        sum
    })
}

pub(super) fn measure<'i>(rows: Rows<'i>, cells: &Cells, order: &[usize]) -> Statistics<'i> {
    let start = |task: usize| (0..task).map(|i| cells.samples(i)).sum::<usize>();
    let rows_of = |task: usize| &order[start(task)..start(task) + cells.samples(task)];
    let mut statistics = first_order(rows, cells, rows_of);
    for task in 0..cells.tasks().len() {
        let second = statistics.second_of(task, RowBlock::borrowed(rows, rows_of(task)));
        statistics.second.push(second);
    }
    statistics
}
