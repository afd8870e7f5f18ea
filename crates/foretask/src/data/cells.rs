//! Tasks and their classes, by name and number: the index of everything small.
//!
//! A *cell* is one class of one task. The C cells are numbered task by task, so that the cells of
//! a task are a range; class lists may differ from task to task in number and in names.

use std::ops::Range;

use faer::Mat;

use crate::error::{Error, Result};

/// One classification problem: its name, its classes, and how many samples each has.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Task {
    /// The task's name.
    pub name: String,
    /// The names of its classes.
    pub classes: Vec<String>,
    /// Samples of each class.
    pub counts: Vec<usize>,
}

impl Task {
    /// Samples of all its classes.
    pub fn samples(&self) -> usize {
        self.counts.iter().sum()
    }
}

/// The cells of all tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    tasks: Vec<Task>,
    first: Vec<usize>,
    task_of: Vec<usize>,
}

impl Cells {
    /// Numbers the cells of `tasks` in the order given.
    pub fn new(tasks: Vec<Task>) -> Self {
        let mut first = Vec::with_capacity(tasks.len() + 1);
        let mut task_of = Vec::new();
        for (index, task) in tasks.iter().enumerate() {
            first.push(task_of.len());
            task_of.extend(std::iter::repeat_n(index, task.classes.len()));
        }
        first.push(task_of.len());
        Self {
            tasks,
            first,
            task_of,
        }
    }

    /// The number of cells, C.
    pub fn len(&self) -> usize {
        self.task_of.len()
    }

    /// Whether there is no cell at all.
    pub fn is_empty(&self) -> bool {
        self.task_of.is_empty()
    }

    /// The tasks, in order.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The cells of one task.
    pub fn of_task(&self, task: usize) -> Range<usize> {
        self.first[task]..self.first[task + 1]
    }

    /// The task a cell belongs to.
    pub(crate) fn task_of(&self, cell: usize) -> usize {
        self.task_of[cell]
    }

    /// Samples in a cell.
    pub(crate) fn count(&self, cell: usize) -> usize {
        let task = self.task_of[cell];
        self.tasks[task].counts[cell - self.first[task]]
    }

    /// Samples in a task.
    pub(crate) fn samples(&self, task: usize) -> usize {
        self.tasks[task].samples()
    }

    /// The share n_r / n_i of a cell in its task: the response of an untrained model.
    pub(crate) fn share(&self, cell: usize) -> f64 {
        self.count(cell) as f64 / self.samples(self.task_of[cell]) as f64
    }

    /// The share of a cell in a task: zero where it belongs to another.
    pub(crate) fn share_in(&self, task: usize, cell: usize) -> f64 {
        if self.task_of[cell] == task {
            self.share(cell)
        } else {
            0.0
        }
    }

    /// Σ_r share_r column_r over the cells of a task: the mean of a task from those of its cells.
    pub(crate) fn task_mean(&self, means: &Mat<f64>, task: usize) -> Vec<f64> {
        let mut mean = vec![0.0; means.nrows()];
        for cell in self.of_task(task) {
            let share = self.share(cell);
            mean.iter_mut()
                .zip(means.col(cell).iter())
                .for_each(|(mean, x)| *mean += share * x);
        }
        mean
    }

    /// Σ_r share_r y_r over the cells of a task: the score of its mean by one column of label scores.
    pub(crate) fn label_mean(&self, task: usize, label_scores: &Mat<f64>, column: usize) -> f64 {
        self.of_task(task)
            .map(|cell| self.share(cell) * label_scores[(cell, column)])
            .sum()
    }

    /// The index of a task by name.
    ///
    /// # Errors
    /// [`Error::UnknownTask`], with the known names.
    pub fn find_task(&self, name: &str) -> Result<usize> {
        self.tasks
            .iter()
            .position(|task| task.name == name)
            .ok_or_else(|| Error::UnknownTask {
                name: name.to_owned(),
                known: self.task_names(),
            })
    }

    /// The names of all tasks.
    pub(crate) fn task_names(&self) -> Vec<String> {
        self.tasks.iter().map(|task| task.name.clone()).collect()
    }

    /// For every cell, the class of the target that it stands for, if any.
    ///
    /// Classes are matched by name. A source that shares no class name with the target but has as
    /// many classes is matched in order, as the first class of "9 against 5" stands for the first
    /// of "1 against 4". Aligned labels (the classical ones) use this; free label scores do not
    /// need it.
    pub(crate) fn aligned(&self, target: usize) -> Vec<Option<usize>> {
        let classes = &self.tasks[target].classes;
        let mut aligned = Vec::with_capacity(self.len());
        for task in &self.tasks {
            let by_name: Vec<Option<usize>> = task
                .classes
                .iter()
                .map(|name| classes.iter().position(|class| class == name))
                .collect();
            if by_name.iter().all(Option::is_none) && task.classes.len() == classes.len() {
                aligned.extend((0..classes.len()).map(Some));
            } else {
                aligned.extend(by_name);
            }
        }
        aligned
    }

    /// Some of the cells only, and which are left. A task that keeps fewer than two rows is left out.
    pub(crate) fn restricted(&self, keep: &dyn Fn(usize) -> bool) -> (Self, Vec<usize>) {
        let (mut tasks, mut left) = (Vec::new(), Vec::new());
        for (task, entry) in self.tasks.iter().enumerate() {
            let first = self.first[task];
            let kept: Vec<usize> = self.of_task(task).filter(|&cell| keep(cell)).collect();
            if kept.iter().map(|&cell| self.count(cell)).sum::<usize>() < 2 {
                continue;
            }
            tasks.push(Task {
                name: entry.name.clone(),
                classes: kept
                    .iter()
                    .map(|cell| entry.classes[cell - first].clone())
                    .collect(),
                counts: kept.iter().map(|&cell| self.count(cell)).collect(),
            });
            left.extend(kept);
        }
        (Self::new(tasks), left)
    }

    /// The same cells with other counts in one task.
    pub(crate) fn with_counts(&self, task: usize, counts: Vec<usize>) -> Self {
        let mut tasks = self.tasks.clone();
        tasks[task].counts = counts;
        Self::new(tasks)
    }

    /// The same cells without one task.
    pub(crate) fn without(&self, task: usize) -> Self {
        let mut tasks = self.tasks.clone();
        tasks.remove(task);
        Self::new(tasks)
    }
}

/// The pairs of m classes in the order of their scores.
pub(crate) fn pairs(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |a| (a + 1..classes).map(move |b| (a, b)))
}

/// Sorts names as a person would: by value if all are numbers, by letter otherwise.
pub(crate) fn sort_names(names: &mut [String]) {
    let values: Option<Vec<f64>> = names
        .iter()
        .map(|name| name.parse::<f64>().ok().filter(|v| v.is_finite()))
        .collect();
    if values.is_some() {
        let value = |name: &String| name.parse::<f64>().unwrap_or(f64::NAN);
        names.sort_by(|a, b| value(a).total_cmp(&value(b)).then_with(|| a.cmp(b)));
    } else {
        names.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, classes: &[&str]) -> Task {
        Task {
            name: name.into(),
            classes: classes.iter().map(|c| c.to_string()).collect(),
            counts: vec![2; classes.len()],
        }
    }

    #[test]
    fn classes_are_matched_by_name_and_in_order_only_when_no_name_is_shared() {
        let cells = Cells::new(vec![
            task("target", &["a", "b"]),
            task("same", &["b", "c"]),
            task("foreign", &["x", "y"]),
            task("three", &["x", "y", "z"]),
        ]);
        assert_eq!(
            cells.aligned(0),
            [
                Some(0),
                Some(1),
                Some(1),
                None,
                Some(0),
                Some(1),
                None,
                None,
                None
            ]
        );
    }

    #[test]
    fn names_that_are_numbers_sort_by_value() {
        let mut names = ["10", "9", "-1"].map(String::from);
        sort_names(&mut names);
        assert_eq!(names, ["-1", "9", "10"]);
        let mut names = ["10", "9", "b"].map(String::from);
        sort_names(&mut names);
        assert_eq!(names, ["10", "9", "b"]);
    }
}
