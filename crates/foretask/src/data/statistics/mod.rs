//! [`Statistics`]: all that training and theory need to know of the data, mergeable.
//!
//! Per cell r the count n_r, the mean x̄_r and the sums of squares about it by feature, diag W_r; per task i
//! the least and the largest value of each feature, and either the scatter about the task mean,
//!
//! ```text
//! S_i = Σ_l (x_l - x̄_i)(x_l - x̄_i)ᵀ        (p x p)
//! ```
//!
//! or, while the task has fewer rows than features, the rows themselves (n_i x p, the smaller of
//! the two; the Gram matrix that training needs then is formed from them). Two batches a, b merge
//! by S = S_a + S_b + n_a n_b/(n_a + n_b) d dᵀ with d the difference of their means
//! (`docs/3-the-solver.md#mergeable-statistics`),
//! so parts may be taken in any order and grouping; the same last bits come out in one fixed order
//! ([`Statistics::merge_all`]). Where features have names, columns are matched by them. Statistics of data in memory borrow the rows;
//! statistics that are added to, merged or read from bytes own them.
//!
//! Leave-one-out needs the rows of its target, and many rows in folds need the folds: [`Statistics::with_target`] keeps
//! the one or the other. [`Statistics::keeping_rows_of`] keeps the rows of a task whatever their number. The rows of a class stay in the order they were added in, and those of a part
//! that is merged come after: parts merged in the order of the data give the folds, and so the results,
//! of the data in memory.
//!
//! Time n_i p² per task for the scatter; memory p² or n_i p doubles per task, both where rows are kept
//! that outnumber the features. Clones share them.

mod bounds;
mod bytes;
mod check;
mod columns;
mod complete;
mod copies;
mod dealt;
mod folds;
mod measure;
mod merge;
mod parts;
mod portion;
mod portions;
mod rows;
mod scale;
mod share;
mod sums;
mod view;
mod weigh;

use std::collections::BTreeSet;
use std::sync::Arc;

use faer::Mat;

use crate::data::cells::Cells;
use crate::data::groups::Groups;
use crate::data::importance::Importance;
use crate::data::tasks::check_rows;
use crate::error::{Error, Result};
use crate::numerics::dense;
use crate::stop::Stop;

use bounds::Bounds;
pub(crate) use bounds::NO_SPREAD;
pub(crate) use complete::complete;
pub(crate) use dealt::{Dealt, Sample, are_many, by_class, check_folds, other_folds, rows_by_fold};
pub(crate) use portion::Portion;
pub(crate) use rows::RowBlock;
pub(crate) use weigh::weighed;

/// Mergeable sufficient statistics of many tasks.
///
/// ```
/// use foretask::{Rows, Statistics};
/// let mut whole = Statistics::new(2);
/// whole.add(Rows::row_major(&[0.0, 1.0, 1.0, 0.0], 2)?, &["t", "t"], &["a", "b"])?;
/// whole.add(Rows::row_major(&[0.5, 1.5, 1.5, 0.5], 2)?, &["t", "t"], &["a", "b"])?;
/// assert_eq!(whole.cells().tasks()[0].counts, [2, 2]);
/// let again = Statistics::from_bytes(&whole.to_bytes()?)?;
/// assert_eq!(again.cells(), whole.cells());
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Statistics<'a> {
    features: usize,
    /// The names of the features, if they were told.
    names: Option<Arc<[String]>>,
    /// The identities of the parts that were merged, if any were.
    parts: BTreeSet<String>,
    cells: Cells,
    /// Cell means, p x C.
    means: Mat<f64>,
    /// diag W_r, p x C.
    within: Mat<f64>,
    /// Bounds of each feature, by task.
    bounds: Vec<Bounds>,
    second: Vec<Second<'a>>,
    kept: Kept,
    /// Which samples of each task belong together, if it was said.
    groups: Option<Vec<Groups>>,
    /// How much the samples of each task count, if they differ.
    importance: Option<Vec<Importance>>,
    /// Scatters of a study that is to stop are not finished.
    stop: Stop,
}

/// What is kept of the rows of which tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// All rows, whatever their number.
    rows: Named,
    /// What a study of them as the target needs: rows while they are few, then folds and a sample.
    targets: Named,
    /// How many folds, if not as many as always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folds: Option<usize>,
}

/// Some tasks, or all.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    all: bool,
    tasks: BTreeSet<String>,
}

impl Named {
    fn contains(&self, task: &str) -> bool {
        self.all || self.tasks.contains(task)
    }

    fn is_empty(&self) -> bool {
        !self.all && self.tasks.is_empty()
    }

    fn add(&mut self, other: &Self) {
        self.all |= other.all;
        self.tasks.extend(other.tasks.iter().cloned());
    }
}

/// What is kept of the rows of a task that has at least as many as features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    /// Their scatter.
    Nothing,
    /// Folds of it too, and a sample.
    Folds,
    /// They themselves.
    Rows,
}

impl Kept {
    fn of(&self, task: &str, rows: usize, features: usize) -> Keep {
        let target = self.targets.contains(task);
        if self.rows.contains(task) || target && !are_many(rows, features) {
            Keep::Rows
        } else if target {
            Keep::Folds
        } else {
            Keep::Nothing
        }
    }

    fn add(&mut self, other: &Self) {
        self.folds = match (self.dealt_to(), other.dealt_to()) {
            (Some(_), _) => self.folds,
            (None, Some(_)) => other.folds,
            (None, None) => self.folds.or(other.folds),
        };
        self.rows.add(&other.rows);
        self.targets.add(&other.targets);
    }
}

/// What is kept of a task beyond its means. Clones share the numbers.
#[derive(Clone, Debug)]
pub(crate) enum Second<'a> {
    /// Fewer rows than features: the rows.
    Rows(RowBlock<'a>),
    /// Scatter about the task mean, lower triangle, and the rows where they are at hand, or folds of many.
    Scatter {
        scatter: Arc<Mat<f64>>,
        rows: Option<RowBlock<'a>>,
        dealt: Option<Arc<Dealt>>,
    },
}

impl<'a> Second<'a> {
    fn rows(&self) -> Option<&RowBlock<'a>> {
        match self {
            Self::Rows(rows) => Some(rows),
            Self::Scatter { rows, .. } => rows.as_ref(),
        }
    }

    fn is_dealt(&self) -> bool {
        matches!(self, Self::Scatter { dealt: Some(_), .. })
    }

    fn can_be_dealt(&self) -> bool {
        self.is_dealt() || self.rows().is_some()
    }
}

impl Statistics<'static> {
    /// No rows yet, of `features` features.
    pub fn new(features: usize) -> Self {
        Self {
            features,
            names: None,
            parts: BTreeSet::new(),
            cells: Cells::new(Vec::new()),
            means: Mat::zeros(features, 0),
            within: Mat::zeros(features, 0),
            bounds: Vec::new(),
            second: Vec::new(),
            kept: Kept::default(),
            groups: None,
            importance: None,
            stop: Stop::default(),
        }
    }
}

impl<'a> Statistics<'a> {
    /// Keeps what a study of a task as the target needs: its rows while they are few, and from a few thousand on (12 a
    /// feature at least) folds of statistics ([`Statistics::with_folds`]) and a sample of at most 20,000 rows (200 of each of more than a hundred
    /// classes), so that memory does not depend on their number. Call it before rows are added: what was given up is
    /// gone.
    ///
    /// ```
    /// use foretask::{Rows, Settings, Statistics, Study};
    /// let mut statistics = Statistics::new(2).with_target("webcam");
    /// for part in 0..50 {
    ///     let value = |i: usize| ((i * (37 + part) + part) % 11) as f64 + if i % 4 == 1 { 9.0 } else { 0.0 };
    ///     let values: Vec<f64> = (0..200).map(value).collect();
    ///     let class: Vec<&str> = (0..100).map(|i| if i % 2 == 0 { "high" } else { "low" }).collect();
    ///     statistics.add(Rows::row_major(&values, 2)?, &["webcam"; 100], &class)?;
    /// }
    /// let study = Study::new(&statistics, &Settings::default())?;
    /// assert!(study.forecast().error < 0.2);
    /// # Ok::<(), foretask::Error>(())
    /// ```
    #[must_use]
    pub fn with_target(mut self, task: &str) -> Self {
        self.kept.targets.tasks.insert(task.to_owned());
        self
    }

    /// The same for every task ([`Statistics::with_target`]).
    #[must_use]
    pub fn with_all_targets(mut self) -> Self {
        self.kept.targets.all = true;
        self
    }

    /// Keeps the rows of a task whatever their number, as leave-one-out of a large target and one-versus-one need. Call
    /// it before rows are added: what was given up is gone.
    ///
    /// ```
    /// use foretask::{Rows, Settings, Statistics, Study};
    /// let values: Vec<f64> = (0..40).map(|i| ((i * 37) % 11) as f64 + if i % 4 == 1 { 9.0 } else { 0.0 }).collect();
    /// let class: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "high" } else { "low" }).collect();
    /// let mut statistics = Statistics::new(2).keeping_rows_of("webcam");
    /// statistics.add(Rows::row_major(&values, 2)?, &["webcam"; 20], &class)?;
    /// let study = Study::new(&statistics, &Settings::default())?;
    /// assert!(study.forecast().error < 0.2);
    /// # Ok::<(), foretask::Error>(())
    /// ```
    #[must_use]
    pub fn keeping_rows_of(mut self, task: &str) -> Self {
        self.kept.rows.tasks.insert(task.to_owned());
        self
    }

    /// Keeps the rows of every task ([`Statistics::keeping_rows_of`]).
    #[must_use]
    pub fn keeping_all_rows(mut self) -> Self {
        self.kept.rows.all = true;
        self
    }

    /// The tasks, their classes and counts.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The number of features, p.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The means of the cells, one a column (p x C).
    pub(crate) fn means(&self) -> &Mat<f64> {
        &self.means
    }

    /// tr W_r: the trace of the scatter of each cell about its own mean.
    pub(crate) fn within_traces(&self) -> Vec<f64> {
        self.within
            .col_iter()
            .map(|cell| cell.iter().sum())
            .collect()
    }

    /// The mean of a task's rows.
    pub(crate) fn task_mean(&self, task: usize) -> Vec<f64> {
        self.cells.task_mean(&self.means, task)
    }

    /// S_i, the scatter of a task about its mean (p x p, both triangles).
    #[cfg(test)]
    pub(crate) fn scatter_of(&self, task: usize) -> Mat<f64> {
        let mut scatter = match &self.second[task] {
            Second::Scatter { scatter, .. } => Mat::clone(scatter),
            Second::Rows(rows) => scatter_of_rows(rows, &self.task_mean(task), self.features),
        };
        dense::mirror(&mut scatter);
        scatter
    }

    /// Whether every task can be trained on; statistics that are still being added to need not be.
    pub(crate) fn check(&self) -> Result<()> {
        if self.cells.is_empty() {
            return Err(Error::Empty {
                rows: 0,
                features: self.features,
            });
        }
        check_rows(&self.cells)
    }

    pub(crate) fn into_second(self) -> Vec<Second<'a>> {
        self.second
    }

    /// The rows of a task, in the order of its cells, if they are at hand.
    pub(crate) fn rows_of(&self, task: usize) -> Option<&RowBlock<'a>> {
        self.second[task].rows()
    }

    /// Whether it was said which samples belong together.
    pub(crate) fn are_grouped(&self) -> bool {
        self.groups.is_some()
    }

    /// Which samples of a task belong together, in the order of its rows.
    pub(crate) fn groups_of(&self, task: usize) -> Groups {
        let own = self.groups.as_ref().and_then(|groups| groups.get(task));
        own.cloned().unwrap_or_default()
    }

    /// How much each sample of a task counts, in the order of its rows.
    pub(crate) fn importance_of(&self, task: usize) -> Importance {
        let own = self.importance.as_ref().and_then(|own| own.get(task));
        own.cloned().unwrap_or_default()
    }

    /// Groups and weights are of rows that are at hand: statistics that are kept for later have none.
    fn refuse_groups(&self) -> Result<()> {
        let given = match (&self.groups, &self.importance) {
            (None, None) => return Ok(()),
            (Some(_), _) => "groups",
            (None, Some(_)) => "weights",
        };
        Err(Error::Setting {
            setting: given,
            value: "given".into(),
            expected: "statistics that are merged or stored keep no groups and no weights: study the rows in memory",
        })
    }

    /// With the importance of the samples of each task, which means and scatters were made with.
    fn with_importance(mut self, importance: Option<Vec<Importance>>) -> Self {
        self.importance = importance.filter(|own| own.iter().any(Importance::is_given));
        if let Some(importance) = &self.importance {
            self.cells = self.cells.weighed(importance);
        }
        self
    }

    /// The same without one task.
    pub(crate) fn without(&self, task: usize) -> Self {
        let left: Vec<usize> = (0..self.cells.len())
            .filter(|&cell| self.cells.task_of(cell) != task)
            .collect();
        let mut without = self.first_order_of(self.cells.without(task), &left);
        without.second = self.second.clone();
        without.second.remove(task);
        without.bounds = self.bounds.clone();
        without.bounds.remove(task);
        without.groups.clone_from(&self.groups);
        if let Some(groups) = &mut without.groups {
            groups.remove(task);
        }
        let mut importance = self.importance.clone();
        if let Some(importance) = &mut importance {
            importance.remove(task);
        }
        without.with_importance(importance)
    }

    /// Means and traces of some cells, under other names.
    fn first_order_of(&self, cells: Cells, left: &[usize]) -> Self {
        Self {
            features: self.features,
            names: self.names.clone(),
            parts: BTreeSet::new(),
            cells,
            means: Mat::from_fn(self.features, left.len(), |feature, cell| {
                self.means[(feature, left[cell])]
            }),
            within: Mat::from_fn(self.features, left.len(), |feature, cell| {
                self.within[(feature, left[cell])]
            }),
            bounds: Vec::new(),
            second: Vec::new(),
            kept: self.kept.clone(),
            groups: None,
            importance: None,
            stop: self.stop.clone(),
        }
    }
}

impl<'a> From<&Statistics<'a>> for Statistics<'a> {
    fn from(statistics: &Statistics<'a>) -> Self {
        statistics.clone()
    }
}

fn distance(means: &Mat<f64>, cell: usize, from: &[f64]) -> f64 {
    means
        .col(cell)
        .iter()
        .zip(from)
        .map(|(a, b)| (a - b).powi(2))
        .sum()
}

fn scatter_of_rows(rows: &RowBlock<'_>, mean: &[f64], p: usize) -> Mat<f64> {
    let mut scatter = Mat::zeros(p, p);
    rows.for_panels(mean, 1.0, |_, panel| {
        dense::add_outer(scatter.as_mut(), panel, 1.0)
    });
    scatter
}
