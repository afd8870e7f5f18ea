//! Statistics that leave the house.

use std::sync::Arc;

use super::{Bounds, Named, Second, Statistics};
use crate::error::{Error, Result};

/// The mean of one row of a class in a fold is the row.
const FEWEST: usize = 2;

impl<'a> Statistics<'a> {
    /// The same for others to see: no row is in it, every class of every task has at least `min_cell` rows, and the
    /// least and the largest value of a feature, which are those of single rows, give way to the bounds that follow
    /// from mean and scatter for any n rows, |x - x̄| ≤ √(S (n - 1)/n).
    ///
    /// Of a target ([`Statistics::with_target`]) the folds are in it, without a sample of rows, if each has at least
    /// `min_cell` rows, and two, of every class that it has any of; otherwise they are given up, and the target is named
    /// beside the statistics: the default cannot be trained for it, only a theory by name. From folds a model is trained
    /// as from rows, but its error is counted where the rows are ([`crate::Study::tally`]), or told by moments.
    ///
    /// This is a rule about small counts and nothing more. It is *not* differential privacy: what all rows of a class
    /// share is told by their mean, a scatter of few rows tells the space that they span, and whoever has the
    /// statistics of n and of n + 1 rows has the row.
    ///
    /// # Errors
    /// [`Error::SmallCell`], which names the task and the class that are too small or the task whose rows would be
    /// shown: one with fewer rows than features, or one whose rows are kept. [`Error::Setting`] if there are groups or
    /// weights: the bounds hold for rows that count alike.
    pub fn shareable(&self, min_cell: usize) -> Result<(Self, Vec<String>)> {
        self.refuse_groups()?;
        let (mut shared, mut given_up) = (self.clone(), Vec::new());
        for (task, entry) in self.cells.tasks().iter().enumerate() {
            let small = |class: Option<&String>, why: String| Error::SmallCell {
                task: entry.name.clone(),
                class: class.cloned(),
                why,
            };
            let mut cells = entry.classes.iter().zip(&entry.counts);
            if let Some((class, count)) = cells.find(|&(_, &count)| count < min_cell) {
                let why = format!("it has {count} rows, and at least {min_cell} are asked for");
                return Err(small(Some(class), why));
            }
            let kept = self.kept.rows.contains(&entry.name);
            let is_target = self.kept.targets.contains(&entry.name);
            let folds = match is_target {
                true => self.deal_out(task, &self.second[task], self.folds()),
                false => None,
            };
            let folds = folds.and_then(|folds| folds.bare(min_cell.max(FEWEST)));
            if is_target && folds.is_none() {
                given_up.push(entry.name.clone());
            }
            match &mut shared.second[task] {
                Second::Scatter { rows: Some(_), .. } if kept => {
                    let why =
                        "its rows are kept, and would be shown; gather it without keeping rows";
                    return Err(small(None, why.into()));
                }
                // Rows that only happen to be at hand are not written.
                Second::Scatter { rows, dealt, .. } => {
                    (*rows, *dealt) = (None, folds.map(Arc::new));
                }
                Second::Rows(_) => {
                    let why = format!(
                        "it has {} rows and {} features, so that its rows would be shown; add rows or take fewer \
                         features",
                        entry.samples(),
                        self.features
                    );
                    return Err(small(None, why));
                }
            }
            if let Second::Scatter { scatter, .. } = &self.second[task] {
                let n = entry.samples() as f64;
                let mean = self.task_mean(task);
                let reach = (0..self.features)
                    .map(|feature| (scatter[(feature, feature)].max(0.0) * (n - 1.0) / n).sqrt());
                let (least, most) = mean
                    .iter()
                    .zip(reach)
                    .map(|(mean, reach)| (mean - reach, mean + reach))
                    .unzip();
                shared.bounds[task] = Bounds { least, most };
            }
        }
        shared.kept.rows = Named::default();
        Ok((shared, given_up))
    }
}
