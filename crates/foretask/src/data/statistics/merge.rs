//! The union of two statistics: counts and means add up, scatters by the rule of
//! `docs/3-the-solver.md#mergeable-statistics`, and rows
//! are laid side by side until a task has as many as features, or for good if they are to be kept.

use std::ops::Range;
use std::sync::Arc;

use faer::Mat;

use super::measure::measure;
use super::{Bounds, Second, Statistics, scatter_of_rows};
use crate::data::cells::{Cells, Task, sort_names};
use crate::data::rows::Rows;
use crate::data::tasks::group;
use crate::error::{Error, Result};
use crate::numerics::dense;
use crate::stop::Stop;

impl Statistics<'static> {
    /// Adds rows with their task and class names.
    ///
    /// # Errors
    /// If the lengths or the number of features differ, or a value is not finite; nothing is added
    /// then.
    pub fn add<S: AsRef<str>, U: AsRef<str>>(
        &mut self,
        rows: Rows<'_>,
        task: &[S],
        class: &[U],
    ) -> Result<()> {
        let (cells, order) = group(rows, task, class, 0..rows.len())?;
        self.merge(measure(rows, &cells, &order, &Stop::default()))
    }

    /// Adds the statistics of other rows, which come after those that are there.
    ///
    /// Rows that either keeps are kept, if neither has given up those of that task.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of features differs, [`Error::Setting`] if either has groups or weights and
    /// neither is empty; nothing is added then.
    pub fn merge(&mut self, other: Statistics<'_>) -> Result<()> {
        if other.features != self.features {
            return Err(Error::Shape {
                what: "features",
                expected: self.features,
                got: other.features,
            });
        }
        // The union with nothing is what it was, groups included.
        let (groups, importance) = match self.cells.tasks().is_empty() {
            true => (other.groups.clone(), other.importance.clone()),
            false => {
                self.refuse_groups()?;
                other.refuse_groups()?;
                (None, None)
            }
        };
        let merged = merged(std::mem::replace(self, Self::new(0)), &other);
        *self = merged.with_importance(importance);
        self.groups = groups;
        Ok(())
    }
}

/// The union of two statistics.
fn merged(mut a: Statistics<'static>, b: &Statistics<'_>) -> Statistics<'static> {
    let p = b.features;
    a.kept.add(&b.kept);
    let mut names: Vec<String> = a.cells.task_names();
    names.extend(
        b.cells
            .task_names()
            .into_iter()
            .filter(|name| a.cells.find_task(name).is_err()),
    );
    sort_names(&mut names);

    let mut tasks = Vec::new();
    let (mut means, mut within, mut second) = (Vec::new(), Vec::new(), Vec::new());
    let mut bounds: Vec<Bounds> = Vec::new();
    for name in names {
        let parts: Vec<(&Statistics<'_>, usize)> = [&a, b]
            .into_iter()
            .filter_map(|part| part.cells.find_task(&name).ok().map(|task| (part, task)))
            .collect();
        let mut classes: Vec<String> = Vec::new();
        for &(part, task) in &parts {
            for class in &part.cells.tasks()[task].classes {
                if !classes.contains(class) {
                    classes.push(class.clone());
                }
            }
        }
        sort_names(&mut classes);
        let mut counts = Vec::new();
        for class in &classes {
            let (mut count, mut mean, mut squares) = (0, vec![0.0; p], vec![0.0; p]);
            for &(part, task) in &parts {
                let Some(position) = part.cells.tasks()[task]
                    .classes
                    .iter()
                    .position(|c| c == class)
                else {
                    continue;
                };
                let cell = part.cells.of_task(task).start + position;
                let more = part.cells.count(cell);
                let total = (count + more) as f64;
                let apart = count as f64 * more as f64 / total;
                for feature in 0..p {
                    let step = part.means[(feature, cell)] - mean[feature];
                    squares[feature] += part.within[(feature, cell)] + apart * step * step;
                    mean[feature] += more as f64 / total * step;
                }
                count += more;
            }
            counts.push(count);
            means.push(mean);
            within.push(squares);
        }
        let mut both = parts.iter().map(|&(part, task)| &part.bounds[task]);
        bounds.extend(both.next().cloned().map(|mut first| {
            both.for_each(|more| first.join(more));
            first
        }));
        let merged = Task {
            name,
            classes,
            counts,
        };
        tasks.push(merged);
    }
    // The rows of `a` are taken over, not copied.
    let mut own: Vec<Option<Second<'static>>> = a.second.drain(..).map(Some).collect();
    for merged in &tasks {
        let keeps = p > 0 && a.kept.contains(&merged.name);
        let first = a.cells.find_task(&merged.name).ok();
        let taken = first.and_then(|task| own[task].take().map(|second| (task, second)));
        let other = b.cells.find_task(&merged.name).ok();
        second.extend(match (taken, other) {
            (Some((task, second)), Some(other)) => Some(join(
                Part::new(&a, task),
                second,
                Part::new(b, other),
                &b.second[other],
                merged,
                keeps,
            )),
            (Some((_, second)), None) => Some(second),
            (None, Some(other)) => Some(b.second[other].to_owned(keeps)),
            (None, None) => None,
        });
    }
    let matrix = |of: Vec<Vec<f64>>| Mat::from_fn(p, of.len(), |feature, cell| of[cell][feature]);
    Statistics {
        features: p,
        cells: Cells::new(tasks),
        means: matrix(means),
        within: matrix(within),
        bounds,
        second,
        kept: a.kept,
        groups: None,
        importance: None,
        stop: a.stop,
    }
}

impl Second<'_> {
    /// The same with rows of its own, of which more than features are copied if they are to be kept only.
    fn to_owned(&self, keeps: bool) -> Second<'static> {
        match self {
            Self::Rows(rows) => Second::Rows(rows.to_owned()),
            Self::Scatter { scatter, rows } => Second::Scatter {
                scatter: scatter.clone(),
                rows: rows.as_ref().filter(|_| keeps).map(|rows| rows.to_owned()),
            },
        }
    }
}

/// A task of one of the two statistics.
struct Part<'s> {
    task: &'s Task,
    mean: Vec<f64>,
}

impl<'s> Part<'s> {
    fn new(statistics: &'s Statistics<'_>, task: usize) -> Self {
        Self {
            task: &statistics.cells.tasks()[task],
            mean: statistics.task_mean(task),
        }
    }

    /// The positions of a class among the task's rows.
    fn run(&self, class: &str) -> Range<usize> {
        let Some(position) = self.task.classes.iter().position(|c| c == class) else {
            return 0..0;
        };
        let start: usize = self.task.counts[..position].iter().sum();
        start..start + self.task.counts[position]
    }

    fn scatter(&self, second: &Second<'_>) -> Mat<f64> {
        match second {
            Second::Scatter { scatter, .. } => Mat::clone(scatter),
            Second::Rows(rows) => scatter_of_rows(rows, &self.mean, self.mean.len()),
        }
    }
}

fn join(
    a: Part<'_>,
    own: Second<'static>,
    b: Part<'_>,
    other: &Second<'_>,
    merged: &Task,
    keeps: bool,
) -> Second<'static> {
    let p = a.mean.len();
    let runs: Vec<(bool, Range<usize>)> = merged
        .classes
        .iter()
        .flat_map(|class| [(true, a.run(class)), (false, b.run(class))])
        .collect();
    let own = match (own, other) {
        (Second::Rows(own), Second::Rows(other)) if merged.samples() < p => {
            return Second::Rows(own.joined(other, &runs));
        }
        (own, _) => own,
    };
    let mut scatter = a.scatter(&own) + b.scatter(other);
    let (n, more) = (a.task.samples() as f64, b.task.samples() as f64);
    let difference = Mat::from_fn(p, 1, |feature, _| b.mean[feature] - a.mean[feature]);
    dense::add_outer(scatter.as_mut(), difference.as_ref(), n * more / (n + more));
    let rows = match (own, other.rows()) {
        (
            Second::Rows(own)
            | Second::Scatter {
                rows: Some(own), ..
            },
            Some(other),
        ) if keeps => Some(own.joined(other, &runs)),
        _ => None,
    };
    Second::Scatter {
        scatter: Arc::new(scatter),
        rows,
    }
}
