//! [`Tasks`]: rows with a task and a class each, grouped by cell. All checks of training data happen here, once.

use std::collections::HashMap;

use super::cells::{Cells, Task, sort_names};
use super::groups::Groups;
use super::importance::Importance;
use super::rows::Rows;
use crate::error::{Error, Result};

/// Validated training data, grouped by cell.
///
/// ```
/// use foretask::{Rows, Tasks};
/// let values = [0.0, 1.0, 0.1, 0.9, 1.0, 0.0, 0.8, 0.2];
/// let tasks = Tasks::new(Rows::row_major(&values, 2)?, &["t"; 4], &["a", "a", "b", "b"])?;
/// assert_eq!(tasks.cells().len(), 2);
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tasks<'a> {
    rows: Rows<'a>,
    cells: Cells,
    order: Vec<usize>,
    groups: Option<Vec<Groups>>,
    /// How much the samples of each task count, if it was said.
    importance: Option<Vec<Importance>>,
}

/// Weights of one task may differ by this factor: more would be lost in rounding.
const MOST_UNEVEN: f64 = 1e12;

impl<'a> Tasks<'a> {
    /// Groups `rows` by task and class; both lists have one name per row. Tasks and classes are
    /// numbered in the order of their names.
    ///
    /// # Errors
    /// If the lengths differ, a value is not finite, or a task has fewer than two rows.
    pub fn new<S: AsRef<str>, U: AsRef<str>>(
        rows: Rows<'a>,
        task: &[S],
        class: &[U],
    ) -> Result<Self> {
        Self::of_rows(rows, task, class, 0..rows.len())
    }

    /// The same, each row as often as `times` says: once, many times, or (0) not at all. Nothing is
    /// copied. Copies of a row count as samples of their own: leave-one-out leaves out one of them.
    ///
    /// # Errors
    /// As [`Tasks::new`].
    pub fn repeated<S: AsRef<str>, U: AsRef<str>>(
        rows: Rows<'a>,
        task: &[S],
        class: &[U],
        times: &[usize],
    ) -> Result<Self> {
        check_length("repetitions (one per row)", rows, times.len())?;
        let repeated = times.iter().enumerate();
        let repeated = repeated.flat_map(|(row, &times)| std::iter::repeat_n(row, times));
        Self::of_rows(rows, task, class, repeated)
    }

    /// The same where rows have weights: the error that is minimised, left out and foretold is the weighted one. A row
    /// of weight zero is left out before anything else. Weights are scaled to a mean of one within each task, so that
    /// couplings keep their meaning; what tasks count against each other is for the couplings to say.
    ///
    /// A weighted row is one sample: leave-one-out leaves it out as a whole ([`Tasks::repeated`] leaves out one copy).
    ///
    /// ```
    /// use foretask::{Rows, Settings, Study, Tasks};
    /// # let values: Vec<f64> = (0..120).map(|i| ((i * 37) % 11) as f64 + if i % 3 == 1 && (i / 3) % 2 == 0 { 9.0 } else { 0.0 }).collect();
    /// # let class: Vec<&str> = (0..40).map(|i| if i % 2 == 0 { "ill" } else { "well" }).collect();
    /// let weights: Vec<f64> = (0..40).map(|row| if row < 20 { 0.5 } else { 1.2 }).collect();
    /// let tasks = Tasks::weighted(Rows::row_major(&values, 3)?, &["clinic"; 40], &class, &weights)?;
    /// println!("{:.1} % of the weight", 100.0 * Study::new(&tasks, &Settings::default())?.forecast().error);
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tasks::new`]; if a weight is negative or not finite, or those of a task differ by more than 1e12.
    pub fn weighted<S: AsRef<str>, U: AsRef<str>>(
        rows: Rows<'a>,
        task: &[S],
        class: &[U],
        weights: &[f64],
    ) -> Result<Self> {
        check_length("weights (one per row)", rows, weights.len())?;
        if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::Setting {
                setting: "weights",
                value: format!("{} in row {}", weights[row], row + 1),
                expected: "every weight must be a finite number, zero or more",
            });
        }
        let taken = (0..rows.len()).filter(|&row| weights[row] > 0.0);
        let mut tasks = Self::of_rows(rows, task, class, taken)?;
        let mut importance = Vec::with_capacity(tasks.cells.tasks().len());
        for (index, task) in tasks.cells.tasks().iter().enumerate() {
            let rows = tasks.rows_of(index);
            let own: Vec<f64> = rows.iter().map(|&row| weights[row]).collect();
            let least = own.iter().copied().fold(f64::INFINITY, f64::min);
            let most = own.iter().copied().fold(0.0, f64::max);
            if most / least > MOST_UNEVEN {
                return Err(Error::Setting {
                    setting: "weights",
                    value: format!("from {least} to {most} in task '{}'", task.name),
                    expected: "weights of a task may differ by a factor of 1e12 at most: give rows that hardly count the weight 0",
                });
            }
            importance.push(Importance::scaled(&own));
        }
        if importance.iter().any(Importance::is_given) {
            tasks.cells = tasks.cells.weighed(&importance);
            tasks.importance = Some(importance);
        }
        Ok(tasks)
    }

    fn of_rows<S: AsRef<str>, U: AsRef<str>>(
        rows: Rows<'a>,
        task: &[S],
        class: &[U],
        taken: impl Iterator<Item = usize>,
    ) -> Result<Self> {
        if rows.len() < 2 || rows.features() == 0 {
            return Err(Error::Empty {
                rows: rows.len(),
                features: rows.features(),
            });
        }
        let (cells, order) = group(rows, task, class, taken)?;
        if order.len() < 2 {
            return Err(Error::Empty {
                rows: order.len(),
                features: rows.features(),
            });
        }
        check_rows(&cells)?;
        Ok(Self {
            rows,
            cells,
            order,
            groups: None,
            importance: None,
        })
    }

    /// The same, with the group of each row: a patient, a writer, a recording. Rows of a task that are in one group
    /// are left out together, in all that is chosen and foretold by samples left out. Rows in different tasks are
    /// not: a group of the target that is also in a source still teaches by it.
    ///
    /// ```
    /// use foretask::{Rows, Settings, Study, Tasks};
    /// # let values: Vec<f64> = (0..120).map(|i| ((i * 37) % 11) as f64 + if i % 3 == 1 && (i / 3) % 2 == 0 { 9.0 } else { 0.0 }).collect();
    /// # let class: Vec<&str> = (0..40).map(|i| if i % 2 == 0 { "ill" } else { "well" }).collect();
    /// let patient: Vec<String> = (0..40).map(|row| format!("patient {}", row / 4)).collect();
    /// let tasks = Tasks::new(Rows::row_major(&values, 3)?, &["clinic"; 40], &class)?.with_groups(&patient)?;
    /// println!("{:.1} % of new patients' rows", 100.0 * Study::new(&tasks, &Settings::default())?.forecast().error);
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the lengths differ, a row has an empty name, or rows have weights ([`Tasks::weighted`]).
    pub fn with_groups<S: AsRef<str>>(mut self, groups: &[S]) -> Result<Self> {
        check_length("groups (one per row)", self.rows, groups.len())?;
        if self.importance.is_some() {
            return Err(Error::Setting {
                setting: "groups",
                value: "given together with weights".into(),
                expected: "samples that are left out in groups have no weights: leave out the one or the other",
            });
        }
        let names: Vec<&str> = groups.iter().map(|name| name.as_ref().trim()).collect();
        if let Some(row) = names.iter().position(|name| name.is_empty()) {
            return Err(Error::Setting {
                setting: "groups",
                value: format!("row {} has none", row + 1),
                expected: "every row is in a group: give a row that belongs to no other a name of its own",
            });
        }
        let of_task = |task: usize| Groups::new(self.rows_of(task).iter().map(|&row| names[row]));
        self.groups = Some((0..self.cells.tasks().len()).map(of_task).collect());
        Ok(self)
    }

    /// The groups of each task, if they are known.
    pub(crate) fn groups(&self) -> Option<&[Groups]> {
        self.groups.as_deref()
    }

    /// How much the samples of each task count, if they differ.
    pub(crate) fn importance(&self) -> Option<&[Importance]> {
        self.importance.as_deref()
    }

    /// The tasks, their classes and counts.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The number of features, p.
    pub fn features(&self) -> usize {
        self.rows.features()
    }

    /// The rows of one task, in the order of its cells, as positions in the original table.
    pub(crate) fn rows_of(&self, task: usize) -> &[usize] {
        let start: usize = (0..task).map(|i| self.cells.samples(i)).sum();
        &self.order[start..start + self.cells.samples(task)]
    }

    /// All rows in the order of the cells.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The table itself.
    pub(crate) fn rows(&self) -> Rows<'a> {
        self.rows
    }
}

/// 0, 0, …, 1, 1, …: the classes of a task's samples in the order of its cells.
pub(crate) fn classes_in_order(task: &Task) -> Vec<usize> {
    task.counts
        .iter()
        .enumerate()
        .flat_map(|(class, &count)| std::iter::repeat_n(class, count))
        .collect()
}

/// Every task must have two rows.
pub(crate) fn check_rows(cells: &Cells) -> Result<()> {
    match cells.tasks().iter().find(|task| task.samples() < 2) {
        Some(task) => Err(Error::TooFewRows {
            task: task.name.clone(),
            rows: task.samples(),
        }),
        None => Ok(()),
    }
}

fn check_length(what: &'static str, rows: Rows<'_>, got: usize) -> Result<()> {
    match got == rows.len() {
        true => Ok(()),
        false => Err(Error::Shape {
            what,
            expected: rows.len(),
            got,
        }),
    }
}

/// Checks values and lengths; returns the cells and the rows that are taken in the order of the cells.
pub(crate) fn group<S: AsRef<str>, U: AsRef<str>>(
    rows: Rows<'_>,
    task: &[S],
    class: &[U],
    taken: impl Iterator<Item = usize>,
) -> Result<(Cells, Vec<usize>)> {
    check_length("task names (one per row)", rows, task.len())?;
    check_length("class labels (one per row)", rows, class.len())?;
    rows.check_finite()?;

    let mut by_task: HashMap<&str, HashMap<&str, Vec<usize>>> = HashMap::new();
    for row in taken {
        by_task
            .entry(task[row].as_ref())
            .or_default()
            .entry(class[row].as_ref())
            .or_default()
            .push(row);
    }
    let mut names: Vec<String> = by_task.keys().map(|&name| name.to_owned()).collect();
    sort_names(&mut names);
    let mut tasks = Vec::with_capacity(names.len());
    let mut order = Vec::with_capacity(rows.len());
    for name in names {
        let by_class = &by_task[name.as_str()];
        let mut classes: Vec<String> = by_class.keys().map(|&class| class.to_owned()).collect();
        sort_names(&mut classes);
        let counts = classes
            .iter()
            .map(|class| by_class[class.as_str()].len())
            .collect();
        for class in &classes {
            order.extend_from_slice(&by_class[class.as_str()]);
        }
        tasks.push(Task {
            name,
            classes,
            counts,
        });
    }
    Ok((Cells::new(tasks), order))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_value_is_named() {
        let mut values = [0.0; 6];
        values[4] = f64::NAN;
        let error =
            Tasks::new(Rows::row_major(&values, 3).unwrap(), &["t"; 2], &["a", "b"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 2, feature 2: the value is NaN; every feature must be a finite number"
        );
    }

    #[test]
    fn repetition_is_what_copying_rows_would_be() {
        let values = [0.0, 1.0, 2.0, 3.0];
        let rows = Rows::row_major(&values, 1).unwrap();
        let tasks = Tasks::repeated(rows, &["t"; 4], &["a", "b", "a", "b"], &[2, 1, 0, 3]).unwrap();
        assert_eq!(tasks.rows_of(0), [0, 0, 1, 3, 3, 3]);
        assert_eq!(tasks.cells().tasks()[0].counts, [2, 4]);
        let error = Tasks::repeated(rows, &["t"; 4], &["a"; 4], &[0; 4]).unwrap_err();
        assert!(matches!(error, Error::Empty { rows: 0, .. }));
    }

    #[test]
    fn a_task_of_one_row_is_refused() {
        let error = Tasks::new(
            Rows::row_major(&[0.0; 3], 1).unwrap(),
            &["t", "t", "u"],
            &["a", "b", "a"],
        )
        .unwrap_err();
        assert!(matches!(error, Error::TooFewRows { task, rows: 1 } if task == "u"));
    }
}
