//! The union of two statistics: counts and means add up, scatters by the rule of
//! `docs/3-the-solver.md#mergeable-statistics`, and rows
//! are laid side by side until a task has as many as features, until they are many where it may be a target, or for good
//! if they are to be kept. Many rows of a target are summed up by fold.

use std::ops::Range;
use std::sync::Arc;

use faer::Mat;

use super::measure::measure;
use super::{Bounds, Dealt, Keep, Second, Statistics, columns, scatter_of_rows};
use crate::data::cells::{Cells, Task, sort_names};
use crate::data::rows::Rows;
use crate::data::tasks::{classes_in_order, group};
use crate::error::{Error, Result};
use crate::numerics::dense;
use crate::stop::Stop;

/// What errors call statistics that are merged.
const MERGED: &str = "the part to be merged";

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
        self.union(self.measured(rows, &cells, &order))
    }

    /// The same for rows whose columns are in an order of their own, given by `names`. The first rows say what the
    /// names are, unless [`Statistics::with_feature_names`] did.
    ///
    /// # Errors
    /// As [`Statistics::add`], and [`Error::OtherColumns`] if a column is missing or foreign.
    pub fn add_named<S: AsRef<str>, U: AsRef<str>>(
        &mut self,
        rows: Rows<'_>,
        names: &[String],
        task: &[S],
        class: &[U],
    ) -> Result<()> {
        let (cells, order) = group(rows, task, class, 0..rows.len())?;
        let added = self.measured(rows, &cells, &order);
        let added = self.matched(
            added.with_feature_names(names.to_vec())?,
            "the rows to be added",
        )?;
        self.union(added)
    }

    /// The statistics of rows to be added. Where a task is in folds its scatter is theirs.
    fn measured<'r>(&self, rows: Rows<'r>, cells: &Cells, order: &[usize]) -> Statistics<'r> {
        let in_folds = |task: &Task| {
            let known = self.cells.find_task(&task.name).ok();
            known.is_some_and(|task| self.dealt(task).is_some())
                || self.keep(&task.name, task.samples()) == Keep::Folds
        };
        measure(rows, cells, order, &in_folds, &Stop::default())
    }

    /// Adds the statistics of other rows, which come after those that are there.
    ///
    /// Rows that either keeps are kept, if neither has given up those of that task. Columns are matched by name where
    /// features have names. One after the other is not the order that gives the same last bits whatever the grouping:
    /// that is [`Statistics::merge_all`].
    ///
    /// # Errors
    /// [`Error::SamePart`] if these rows are there already, [`Error::OtherColumns`] or [`Error::Shape`] if the features
    /// differ, [`Error::Setting`] if either has groups or weights and neither is empty, or targets in another number of
    /// folds; nothing is added then.
    pub fn merge(&mut self, other: Statistics<'_>) -> Result<()> {
        if !self.parts().is_disjoint(&other.parts()) {
            return Err(Error::SamePart {
                part: MERGED.into(),
            });
        }
        self.unite(other, MERGED)
    }

    /// The same for a part that may be there already and is meant to count again.
    ///
    /// # Errors
    /// As [`Statistics::merge`].
    pub fn merge_again(&mut self, other: Statistics<'_>) -> Result<()> {
        self.unite(other, MERGED)
    }

    /// The union of parts, matched by name; `part` is what errors call the other one.
    pub(super) fn unite(&mut self, other: Statistics<'_>, part: &str) -> Result<()> {
        let other = self.matched(other, part)?;
        let parts = self.parts().union(&other.parts()).cloned().collect();
        self.union(other)?;
        self.parts = parts;
        Ok(())
    }

    /// The columns of other statistics in the order of these. Where neither has rows the names of either will do.
    fn matched<'o>(&mut self, other: Statistics<'o>, part: &str) -> Result<Statistics<'o>> {
        let unnamed = |why| Error::OtherColumns {
            part: part.to_owned(),
            column: String::new(),
            why,
        };
        match (&self.names, &other.names) {
            (Some(names), Some(of)) => Ok(match columns::places(names, of, part)? {
                Some(places) => other.reordered(&places, names),
                None => other,
            }),
            (None, None) => Ok(other),
            (None, Some(names)) if self.cells.is_empty() && self.features == other.features => {
                self.names = Some(names.clone());
                Ok(other)
            }
            (Some(_), None) if other.cells.is_empty() => Ok(other),
            (None, Some(_)) => Err(unnamed(
                "its columns have names and those before have none, so that they cannot be matched; name all or none",
            )),
            (Some(_), None) => Err(unnamed(
                "its columns have no names and those before have, so that they cannot be matched; name all or none",
            )),
        }
    }

    /// The union, column by column.
    fn union(&mut self, other: Statistics<'_>) -> Result<()> {
        if other.features != self.features {
            return Err(Error::Shape {
                what: "features",
                expected: self.features,
                got: other.features,
            });
        }
        self.kept.check_with(&other.kept)?;
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
    let folds = a.kept.folds();
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
        let keep = match p {
            0 => Keep::Nothing,
            _ => a.keep(&merged.name, merged.samples()),
        };
        let first = a.cells.find_task(&merged.name).ok();
        let taken = first.and_then(|task| own[task].take().map(|second| (task, second)));
        let other = b.cells.find_task(&merged.name).ok();
        second.extend(match (taken, other) {
            (Some((task, second)), Some(other)) => Some(join(
                &Part::new(&a, task),
                second,
                &Part::new(b, other),
                &b.second[other],
                merged,
                (keep, folds),
            )),
            (Some((_, second)), None) => Some(second),
            (None, Some(other)) => Some(Part::new(b, other).owned(&b.second[other], (keep, folds))),
            (None, None) => None,
        });
    }
    let matrix = |of: Vec<Vec<f64>>| Mat::from_fn(p, of.len(), |feature, cell| of[cell][feature]);
    Statistics {
        features: p,
        names: a.names,
        parts: a.parts,
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

/// A task of one of the two statistics.
struct Part<'s, 'a> {
    statistics: &'s Statistics<'a>,
    index: usize,
    task: &'s Task,
    mean: Vec<f64>,
}

impl<'s, 'a> Part<'s, 'a> {
    fn new(statistics: &'s Statistics<'a>, index: usize) -> Self {
        Self {
            statistics,
            index,
            task: &statistics.cells.tasks()[index],
            mean: statistics.task_mean(index),
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

    /// The same with rows of its own, of which more than features are copied if they are to be kept only.
    fn owned(&self, second: &Second<'_>, (keep, folds): (Keep, usize)) -> Second<'static> {
        match second {
            Second::Rows(rows) if rows.len() < self.mean.len() => Second::Rows(rows.to_owned()),
            _ => {
                let rows = second.rows().filter(|_| keep == Keep::Rows);
                let dealt = match (&rows, keep) {
                    (None, Keep::Folds | Keep::Rows) => {
                        self.statistics.deal_out(self.index, second, folds)
                    }
                    _ => None,
                };
                let scatter = match (second, &dealt) {
                    (Second::Scatter { scatter, .. }, _) => scatter.clone(),
                    (_, Some(dealt)) => Arc::new(dealt.scatter()),
                    (_, None) => Arc::new(self.scatter(second)),
                };
                Second::Scatter {
                    scatter,
                    rows: rows.map(|rows| rows.to_owned()),
                    dealt,
                }
            }
        }
    }

    /// Its folds, with the classes of both.
    fn dealt(&self, second: &Second<'_>, merged: &Task, folds: usize) -> Option<Arc<Dealt>> {
        let dealt = self.statistics.deal_out(self.index, second, folds)?;
        if self.task.classes == merged.classes {
            return Some(dealt);
        }
        let among = dealt.among_classes(&self.places(merged), merged.classes.len());
        Some(Arc::new(among))
    }

    /// Its rows in the folds of others, which have the classes of both.
    fn dealt_into(&self, others: Dealt, second: &Second<'_>, merged: &Task) -> Dealt {
        match (second.rows(), second.is_dealt()) {
            (Some(rows), false) => {
                let places = self.places(merged);
                let class = classes_in_order(self.task);
                let class: Vec<usize> = class.into_iter().map(|class| places[class]).collect();
                let mut near = vec![vec![0.0; self.mean.len()]; merged.classes.len()];
                let own = self.statistics.class_means(self.index);
                own.into_iter()
                    .zip(&places)
                    .for_each(|(mean, &place)| near[place] = mean);
                others.with(rows, &class, &near)
            }
            _ => match self.dealt(second, merged, others.portions.len()) {
                Some(own) => others.merged(&own),
                None => others,
            },
        }
    }

    /// The places of its classes among those of both.
    fn places(&self, merged: &Task) -> Vec<usize> {
        let classes = self.task.classes.iter();
        let place = |class| merged.classes.iter().position(|other| other == class);
        classes.filter_map(place).collect()
    }
}

fn join(
    a: &Part<'_, '_>,
    own: Second<'static>,
    b: &Part<'_, '_>,
    other: &Second<'_>,
    merged: &Task,
    (keep, folds): (Keep, usize),
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
    let at_hand = own.rows().is_some() && other.rows().is_some();
    let in_folds = keep == Keep::Folds || keep == Keep::Rows && !at_hand;
    if in_folds
        && other.can_be_dealt()
        && let Some(dealt) = a.dealt(&own, merged, folds)
    {
        // With one owner the sample stays where it is.
        drop(own);
        let dealt = b.dealt_into(Arc::unwrap_or_clone(dealt), other, merged);
        return Second::Scatter {
            scatter: Arc::new(dealt.scatter()),
            rows: None,
            dealt: Some(Arc::new(dealt)),
        };
    }
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
        ) if keep == Keep::Rows => Some(own.joined(other, &runs)),
        _ => None,
    };
    Second::Scatter {
        scatter: Arc::new(scatter),
        rows,
        dealt: None,
    }
}
