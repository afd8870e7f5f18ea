//! [`Table`]: what reading arrives at, and what is asked of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use foretask::prepare::{Frame, Preparation};

use super::category::Category;
use super::error::{Names, Place, ReadError};

/// A checked table: columns of numbers and texts, and the labels and tasks that the [`Purpose`] asks for.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The columns that may become features.
    pub frame: Frame,
    /// One class name per row; `None` when predicting.
    pub labels: Option<Vec<Category>>,
    /// One task name per row; `None` when predicting.
    pub tasks: Option<Vec<Category>>,
    /// The name of the label column.
    pub label: Option<String>,
    /// The name of the task column; `None` if every file is a task.
    pub task: Option<String>,
    /// Rows that were left out because they have no label.
    pub unlabelled: usize,
    /// Whether the columns come from an array, whose entries are features already.
    pub array: bool,
    /// Columns that are copied to the output, as text.
    pub kept: Vec<Kept>,
    /// Where its rows are in their file.
    pub origin: Origin,
}

/// Where the rows of a table are in the file that they come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Rows of the file before the first.
    pub before: usize,
    /// Rows that were left out because they have no label, counted from the first.
    pub skipped: Vec<usize>,
    /// The first row of each row group, where the file has some.
    pub groups: Option<Arc<[usize]>>,
}

impl Origin {
    /// A cell, for messages.
    pub fn place(&self, file: &str, row: usize, column: &str) -> Place {
        let mut position = row;
        for &skipped in &self.skipped {
            position += usize::from(skipped <= position);
        }
        let row = self.before + position;
        Place {
            file: self.in_group(file, row),
            row: row + 1,
            column: column.to_owned(),
        }
    }

    /// The file, with the row group that a row is in.
    pub fn in_group(&self, file: &str, row: usize) -> String {
        match &self.groups {
            Some(starts) => {
                let group = starts.partition_point(|&start| start <= row);
                format!("{file}, row group {}", group.saturating_sub(1))
            }
            None => file.to_owned(),
        }
    }
}

/// A column that is copied to the output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub cells: Vec<String>,
}

impl Kept {
    /// Takes the first cells.
    pub fn first(&mut self, rows: usize) -> Self {
        let left = self.cells.split_off(rows.min(self.cells.len()));
        Self {
            name: self.name.clone(),
            cells: std::mem::replace(&mut self.cells, left),
        }
    }

    /// The cells since the last time.
    pub(super) fn take(&mut self) -> Self {
        Self {
            name: self.name.clone(),
            cells: std::mem::take(&mut self.cells),
        }
    }
}

impl Table {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.frame.rows()
    }

    /// Appends the rows of a later file, whose columns are already in the same order.
    pub(super) fn append(&mut self, other: Table) -> foretask::Result<()> {
        self.frame.append(other.frame)?;
        self.unlabelled += other.unlabelled;
        self.array &= other.array;
        if let (Some(labels), Some(more)) = (&mut self.labels, other.labels) {
            labels.extend(more);
        }
        if let (Some(tasks), Some(more)) = (&mut self.tasks, other.tasks) {
            tasks.extend(more);
        }
        for (kept, more) in self.kept.iter_mut().zip(other.kept) {
            kept.cells.extend(more.cells);
        }
        Ok(())
    }

    /// Takes the names of the groups, if they were read.
    pub fn take_groups(&mut self, columns: &Columns) -> Option<Vec<String>> {
        columns.group.as_ref()?;
        self.kept.pop().map(|kept| kept.cells)
    }

    /// Drops rows.
    pub fn retain(&mut self, kept: &[bool]) {
        self.frame.retain(kept);
        for names in self.labels.iter_mut().chain(&mut self.tasks) {
            retain(names, kept);
        }
        for column in &mut self.kept {
            retain(&mut column.cells, kept);
        }
    }

    /// Drops the rows of other tasks and returns how many there were.
    pub fn keep_task(&mut self, task: &str) -> Result<usize, ReadError> {
        let Some(tasks) = self.tasks.take() else {
            return Ok(0);
        };
        let kept: Vec<bool> = tasks.iter().map(|name| **name == *task).collect();
        let left_out = kept.iter().filter(|&&kept| !kept).count();
        if left_out == tasks.len() {
            let found: BTreeSet<String> = tasks.iter().map(|task| task.to_string()).collect();
            return Err(ReadError::OtherTasks {
                task: task.to_owned(),
                found: Names(found.into_iter().collect()),
            });
        }
        if left_out > 0 {
            self.retain(&kept);
        }
        Ok(left_out)
    }
}

fn retain<T>(list: &mut Vec<T>, kept: &[bool]) {
    let mut row = 0;
    list.retain(|_| {
        row += 1;
        kept.get(row - 1).copied().unwrap_or(false)
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
    /// The column of groups, whose rows belong together: the last of the kept ones.
    pub group: Option<String>,
    /// The feature columns; else every other column. With a model its own columns count
    /// instead, except in an `.npz` file, where this is the name of the feature array.
    pub features: Option<Vec<String>>,
    /// Columns that are not features.
    pub ignore: Vec<String>,
    /// Columns in which everything must be a number.
    pub numeric: Vec<String>,
    /// Columns in which numbers are names.
    pub categorical: Vec<String>,
    /// Columns that are copied to the output.
    pub keep: Keep,
}

/// Which columns are copied to the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// These.
    Named(Vec<String>),
    /// All.
    All,
}

impl Default for Keep {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

/// What a table is for, which decides what must be in it.
#[derive(Debug, Clone, Copy)]
pub enum Purpose<'a> {
    /// Labels and tasks are read.
    Train,
    /// Labels and tasks are read if they can be found: a first look at a table.
    Look,
    /// Only the model's columns are read, by name and in the model's order.
    Predict {
        /// How the model's features come from columns.
        preparation: &'a Preparation,
    },
    /// The columns of a preparation, the labels and the tasks are read, as for training.
    Gather {
        /// How features come from columns.
        preparation: &'a Preparation,
    },
    /// The model's columns, the labels and the tasks are read; without a task column every row is
    /// the target's.
    Evaluate {
        /// How the model's features come from columns.
        preparation: &'a Preparation,
        /// The task that the model decides for.
        target: &'a str,
    },
}
