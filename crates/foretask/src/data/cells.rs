//! Tasks and their classes, by name and number: the index of everything small.
//!
//! A *cell* is one class of one task. The C cells are numbered task by task, so that the cells of
//! a task are a range; class lists may differ from task to task in number and in names.

use std::collections::HashMap;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use faer::Mat;

use super::importance::Importance;
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
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    tasks: Vec<Task>,
    first: Vec<usize>,
    task_of: Vec<usize>,
    /// Of each task: asked for as often as there are cells.
    samples: Vec<usize>,
    /// Where samples have weights.
    masses: Option<Arc<Masses>>,
}

/// Sums of the weights of the samples in each cell, and of their squares.
#[derive(Clone, Debug, PartialEq)]
struct Masses {
    weights: Vec<f64>,
    squares: Vec<f64>,
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
            samples: tasks.iter().map(Task::samples).collect(),
            tasks,
            first,
            task_of,
            masses: None,
        }
    }

    /// The same where samples have weights; one [`Importance`] per task, its samples in the order of the cells.
    pub(crate) fn weighed(mut self, importance: &[Importance]) -> Self {
        if !importance.iter().any(Importance::is_given) {
            return self;
        }
        let mut masses = Masses {
            weights: vec![0.0; self.len()],
            squares: vec![0.0; self.len()],
        };
        for (task, importance) in importance.iter().enumerate() {
            let mut sample = 0;
            for cell in self.of_task(task) {
                for l in sample..sample + self.count(cell) {
                    masses.weights[cell] += importance.of(l);
                    masses.squares[cell] += importance.of(l).powi(2);
                }
                sample += self.count(cell);
            }
        }
        self.masses = Some(Arc::new(masses));
        self
    }

    /// Whether samples have weights.
    pub(crate) fn are_weighed(&self) -> bool {
        self.masses.is_some()
    }

    /// The sum of the weights of the samples in a cell: their number, where they have none.
    pub(crate) fn mass(&self, cell: usize) -> f64 {
        match &self.masses {
            None => self.count(cell) as f64,
            Some(masses) => masses.weights[cell],
        }
    }

    /// The sum of the weights of the samples in a task.
    pub(crate) fn total(&self, task: usize) -> f64 {
        match &self.masses {
            None => self.samples(task) as f64,
            Some(masses) => masses.weights[self.of_task(task)].iter().sum(),
        }
    }

    /// As many samples of equal weight as those of a cell are worth, (Σ w)²/Σ w².
    pub(crate) fn worth(&self, cell: usize) -> f64 {
        match &self.masses {
            None => self.count(cell) as f64,
            Some(masses) => masses.weights[cell].powi(2) / masses.squares[cell],
        }
    }

    /// What the squares of the samples of some cells about their mean are to be divided by for a variance: one less
    /// than their number, or Σ w - Σ w²/Σ w.
    pub(crate) fn freedom(&self, cells: Range<usize>) -> f64 {
        let samples: usize = cells.clone().map(|cell| self.count(cell)).sum();
        match &self.masses {
            Some(masses) if samples > 1 => {
                let total: f64 = masses.weights[cells.clone()].iter().sum();
                let squares: f64 = masses.squares[cells].iter().sum();
                (total - squares / total).max(0.0)
            }
            _ => samples.saturating_sub(1) as f64,
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
        self.samples[task]
    }

    /// The share of a cell in its task, n_r / n_i or that of the weights: the response of an untrained model.
    pub(crate) fn share(&self, cell: usize) -> f64 {
        self.mass(cell) / self.total(self.task_of[cell])
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
        // The first of equal names.
        let known: HashMap<&str, usize> = (classes.iter().enumerate().rev())
            .map(|(class, name)| (name.as_str(), class))
            .collect();
        let mut aligned = Vec::with_capacity(self.len());
        for task in &self.tasks {
            let by_name: Vec<Option<usize>> = task
                .classes
                .iter()
                .map(|name| known.get(name.as_str()).copied())
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

    /// The same cells with some of the samples of one task, whose classes and weights are given.
    pub(crate) fn with_samples(
        &self,
        task: usize,
        class: &[usize],
        importance: &Importance,
    ) -> Self {
        let range = self.of_task(task);
        let mut counts = vec![0; range.len()];
        class.iter().for_each(|&c| counts[c] += 1);
        let mut cells = self.with_counts(task, counts);
        cells.masses.clone_from(&self.masses);
        if let Some(masses) = &mut cells.masses {
            let masses = Arc::make_mut(masses);
            masses.weights[range.clone()].fill(0.0);
            masses.squares[range.clone()].fill(0.0);
            for (l, &c) in class.iter().enumerate() {
                masses.weights[range.start + c] += importance.of(l);
                masses.squares[range.start + c] += importance.of(l).powi(2);
            }
        }
        cells
    }

    /// The same cells with other counts in one task, and no weights.
    pub(crate) fn with_counts(&self, task: usize, counts: Vec<usize>) -> Self {
        let mut tasks = self.tasks.clone();
        tasks[task].counts = counts;
        Self::new(tasks)
    }

    /// These cells with the weights of others, each of which goes to one of these.
    pub(super) fn with_masses_of(mut self, cells: &Self, column: &[usize]) -> Self {
        if let Some(masses) = &cells.masses {
            let mut sums = Masses {
                weights: vec![0.0; self.len()],
                squares: vec![0.0; self.len()],
            };
            for (cell, &column) in column.iter().enumerate() {
                sums.weights[column] += masses.weights[cell];
                sums.squares[column] += masses.squares[cell];
            }
            self.masses = Some(Arc::new(sums));
        }
        self
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

/// Counts are multiplied as doubles, which are exact up to here.
pub(crate) const LARGEST_COUNT: usize = 1 << 53;

/// Whether names and counts that come from outside can be those of tasks.
pub(crate) fn check_tasks(tasks: &[Task]) -> std::result::Result<(), String> {
    if let Some(name) = twice(tasks.iter().map(|task| &task.name)) {
        return Err(format!("two tasks are called '{name}'"));
    }
    let mut total = 0_usize;
    for task in tasks {
        let name = &task.name;
        if task.classes.len() != task.counts.len() {
            return Err(format!(
                "class names and counts of task '{name}' differ in number"
            ));
        }
        if task.classes.is_empty() || task.counts.contains(&0) {
            return Err(format!("task '{name}' has no class, or one without rows"));
        }
        if let Some(class) = twice(task.classes.iter()) {
            return Err(format!("task '{name}' has two classes '{class}'"));
        }
        for &count in &task.counts {
            total = total
                .checked_add(count)
                .filter(|&total| total <= LARGEST_COUNT)
                .ok_or("the counts are too large")?;
        }
    }
    Ok(())
}

fn twice<'n>(names: impl Iterator<Item = &'n String>) -> Option<&'n String> {
    let mut seen = HashSet::new();
    names.into_iter().find(|name| !seen.insert(name.as_str()))
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
