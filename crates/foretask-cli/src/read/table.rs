//! [`Table`]: what reading arrives at, and what is asked of it.

use std::collections::BTreeSet;

use foretask::Rows;

use super::error::{Names, ReadError};

/// The values of a table, row-major, rows x features.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Every input was single precision, so half the memory is enough.
    F32(Vec<f32>),
    /// Anything else.
    F64(Vec<f64>),
}

impl Values {
    /// Appends other rows; single precision survives only if both sides have it.
    pub(super) fn append(&mut self, other: Values) {
        match (&mut *self, other) {
            (Values::F32(values), Values::F32(more)) => values.extend(more),
            (Values::F64(values), Values::F64(more)) => values.extend(more),
            (Values::F64(values), Values::F32(more)) => {
                values.extend(more.into_iter().map(f64::from))
            }
            (Values::F32(values), Values::F64(more)) => {
                let mut wide = Vec::with_capacity(values.len() + more.len());
                wide.extend(std::mem::take(values).into_iter().map(f64::from));
                wide.extend(more);
                *self = Values::F64(wide);
            }
        }
    }
}

/// A checked table: finite values, and the labels and tasks that the [`Purpose`] asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The names of the features, one per column of `values`.
    pub features: Vec<String>,
    /// The values, row-major, `rows` x `features.len()`.
    pub values: Values,
    /// One class name per row; `None` when predicting.
    pub labels: Option<Vec<String>>,
    /// One task name per row; `None` when predicting.
    pub tasks: Option<Vec<String>>,
    /// The number of rows, at least one.
    pub rows: usize,
}

impl Table {
    /// Appends the rows of a later file, whose features are already in the same order.
    pub(super) fn append(&mut self, other: Table) {
        self.rows += other.rows;
        self.values.append(other.values);
        if let (Some(labels), Some(more)) = (&mut self.labels, other.labels) {
            labels.extend(more);
        }
        if let (Some(tasks), Some(more)) = (&mut self.tasks, other.tasks) {
            tasks.extend(more);
        }
    }

    /// Drops the rows of other tasks and returns how many there were.
    pub fn keep_task(&mut self, task: &str) -> Result<usize, ReadError> {
        let Some(tasks) = self.tasks.take() else {
            return Ok(0);
        };
        let kept: Vec<bool> = tasks.iter().map(|name| name == task).collect();
        let before = self.rows;
        self.rows = kept.iter().filter(|&&kept| kept).count();
        if self.rows == before {
            return Ok(0);
        }
        if self.rows == 0 {
            let found: BTreeSet<String> = tasks.into_iter().collect();
            return Err(ReadError::OtherTasks {
                task: task.to_owned(),
                found: Names(found.into_iter().collect()),
            });
        }
        let width = self.features.len();
        match &mut self.values {
            Values::F32(values) => retain_rows(values, width, &kept),
            Values::F64(values) => retain_rows(values, width, &kept),
        }
        if let Some(labels) = &mut self.labels {
            retain_rows(labels, 1, &kept);
        }
        Ok(before - self.rows)
    }

    /// The values as the library takes them.
    pub fn view(&self) -> foretask::Result<Rows<'_>> {
        match &self.values {
            Values::F32(values) => Rows::row_major(values, self.features.len()),
            Values::F64(values) => Rows::row_major(values, self.features.len()),
        }
    }
}

/// Drops the rows, of `width` entries each, that are not kept.
fn retain_rows<T>(values: &mut Vec<T>, width: usize, kept: &[bool]) {
    let mut position = 0;
    values.retain(|_| {
        position += 1;
        kept[(position - 1) / width]
    });
}

/// The columns (of an `.npz` file: the arrays) that the user named. What is `None` is found by its
/// usual name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The column of class names; else `label`, `y`, `class` or `target`.
    pub label: Option<String>,
    /// The column of task names; else `task` or `domain`; else every file is a task.
    pub task: Option<String>,
    /// The feature columns; else every other column. With a model its own feature names count
    /// instead, except in an `.npz` file, where this is the name of the feature array.
    pub features: Option<Vec<String>>,
}

/// What a table is for, which decides what must be in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// Labels and tasks are read.
    Train,
    /// Only the model's features are read, by name and in the model's order.
    Predict {
        /// The names of the model's features.
        features: &'a [String],
    },
    /// The model's features, the labels and the tasks are read; without a task column every row is
    /// the target's.
    Evaluate {
        /// The names of the model's features.
        features: &'a [String],
        /// The task that the model decides for.
        target: &'a str,
    },
}
