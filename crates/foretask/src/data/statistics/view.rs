//! Statistics of rows that are seen through a map: features or rows multiplied by numbers of their own.

use std::sync::Arc;

use super::{Bounds, RowBlock, Second, Statistics};

impl<'a> Statistics<'a> {
    /// Σ over tasks of the squares of each feature about the task means, over their degrees of freedom; zero where
    /// rounding of the means is all there is.
    pub fn pooled_variances(&self) -> Vec<f64> {
        let cells = &self.cells;
        let tasks = cells.tasks().len();
        let freedom = (0..tasks).map(|task| cells.freedom(cells.of_task(task)));
        let freedom: f64 = freedom.sum();
        let mut squares = vec![0.0; self.features];
        for task in 0..tasks {
            let mean = self.task_mean(task);
            for cell in cells.of_task(task) {
                let n = cells.mass(cell);
                for (feature, sum) in squares.iter_mut().enumerate() {
                    let apart = self.means[(feature, cell)] - mean[feature];
                    *sum += self.within[(feature, cell)] + n * apart * apart;
                }
            }
        }
        let both = squares.iter().zip(self.farthest());
        both.map(|(sum, farthest)| match farthest > 0.0 {
            true => sum / freedom.max(1.0),
            false => 0.0,
        })
        .collect()
    }

    /// The mean square of a task's samples about their class means, in units of these variances: a number that tells
    /// tasks apart whatever their names, the order of rows, units, and where zero is.
    pub(crate) fn spread_in(&self, task: usize, variances: &[f64]) -> f64 {
        let cells = self.cells.of_task(task);
        let of_cell = |cell: usize| {
            let squares = self.within.col(cell).iter().zip(variances);
            let squares = squares.filter(|(_, variance)| **variance > 0.0);
            squares
                .map(|(square, variance)| square / variance)
                .sum::<f64>()
        };
        cells.map(of_cell).sum::<f64>() / self.cells.total(task)
    }

    /// The largest squared distance of each feature from its task's mean.
    pub(crate) fn farthest(&self) -> Vec<f64> {
        let mut farthest = vec![0.0_f64; self.features];
        for (task, bounds) in self.bounds.iter().enumerate() {
            for (feature, mean) in self.task_mean(task).into_iter().enumerate() {
                farthest[feature] = farthest[feature].max(bounds.farthest(feature, mean));
            }
        }
        farthest
    }

    /// The same for features multiplied by a number each; exact, and no row is needed.
    pub(crate) fn with_columns(&self, factors: &Arc<[f64]>) -> Self {
        let mut viewed = self.clone();
        for cell in 0..self.cells.len() {
            for (feature, factor) in factors.iter().enumerate() {
                viewed.means[(feature, cell)] *= factor;
                viewed.within[(feature, cell)] *= factor * factor;
            }
        }
        for Bounds { least, most } in &mut viewed.bounds {
            for (feature, factor) in factors.iter().enumerate() {
                least[feature] *= factor;
                most[feature] *= factor;
            }
        }
        for second in &mut viewed.second {
            *second = match second {
                Second::Rows(rows) => Second::Rows(rows.with_columns(factors)),
                Second::Scatter { scatter, rows, .. } => {
                    let mut scaled = faer::Mat::clone(scatter);
                    for j in 0..scaled.ncols() {
                        let column = scaled.col_mut(j).iter_mut().zip(factors.iter());
                        column.for_each(|(x, factor)| *x *= factor * factors[j]);
                    }
                    Second::Scatter {
                        scatter: Arc::new(scaled),
                        rows: rows.as_ref().map(|rows| rows.with_columns(factors)),
                        // Folds are looked through as they are (`study/folded.rs`).
                        dealt: None,
                    }
                }
            };
        }
        viewed
    }

    /// The rows of every task, if they are all at hand.
    pub(crate) fn all_rows(&self) -> Option<Vec<&RowBlock<'a>>> {
        self.second.iter().map(Second::rows).collect()
    }

    /// The statistics of other rows in the place of these.
    pub(crate) fn with_rows(&self, features: usize, rows: Vec<RowBlock<'a>>) -> Self {
        Self {
            groups: self.groups.clone(),
            ..Self::of_blocks(
                &self.cells,
                features,
                rows,
                self.importance.as_deref(),
                &|_| false,
                &self.stop,
            )
        }
    }
}
