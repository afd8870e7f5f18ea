//! Statistics of rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use super::sums::{Sums, Wanted, near};
use super::{Kept, RowBlock, Second, Statistics, weigh};
use crate::data::cells::{Cells, Task};
use crate::data::groups::Groups;
use crate::data::importance::Importance;
use crate::data::rows::Rows;
use crate::data::tasks::{Tasks, classes_in_order};
use crate::error::{Error, Result};
use crate::numerics::dense;
use crate::stop::Stop;

impl<'a> Statistics<'a> {
    /// The statistics of data in memory; the rows are borrowed, not copied.
    pub fn of(tasks: &Tasks<'a>) -> Self {
        Self {
            groups: tasks.groups().map(<[Groups]>::to_vec),
            ..of_tasks(tasks, &Stop::default())
        }
    }

    /// With the switch of a study, which looks at it before it believes any scatter made meanwhile.
    pub(crate) fn stopped_by(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// The switch.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The samples of the cells `left` only, whose tasks and classes are `cells`
    /// ([`Cells::restricted`]).
    ///
    /// # Errors
    /// [`Error::RowsNotKept`] if a task loses a class and its rows are not at hand.
    pub(crate) fn restricted(&self, cells: &Cells, left: &[usize]) -> Result<Self> {
        let mut restricted = self.first_order_of(cells.clone(), left);
        let mut groups = Vec::with_capacity(cells.tasks().len());
        let mut importance = Vec::with_capacity(cells.tasks().len());
        let mut lessened = Vec::new();
        for task in 0..cells.tasks().len() {
            let own = &left[cells.of_task(task)];
            let before = self.cells.task_of(own[0]);
            let all = self.cells.of_task(before);
            restricted.bounds.push(self.bounds[before].clone());
            if own.len() == all.len() {
                restricted.second.push(self.second[before].clone());
                groups.push(self.groups_of(before));
                importance.push(self.importance_of(before));
                continue;
            }
            let first = |cell: usize| -> usize {
                (all.start..cell).map(|cell| self.cells.count(cell)).sum()
            };
            let samples: Vec<usize> = own
                .iter()
                .flat_map(|&cell| first(cell)..first(cell) + self.cells.count(cell))
                .collect();
            groups.push(self.groups_of(before).among(&samples));
            importance.push(self.importance_of(before).among(&samples));
            let rows = self.rows_of(before).ok_or_else(|| Error::RowsNotKept {
                what: "one-versus-one",
                task: cells.tasks()[task].name.clone(),
                instead: "use another rule",
            })?;
            let rows = rows.select(samples.into_iter());
            lessened.push(task);
            restricted.second.push(Second::Rows(rows));
        }
        restricted.groups = self.groups.is_some().then_some(groups);
        restricted = restricted.with_importance(self.importance.is_some().then_some(importance));
        for task in lessened {
            if let Second::Rows(rows) = restricted.second[task].clone() {
                restricted.second[task] = restricted.second_of(task, rows);
            }
        }
        Ok(restricted)
    }

    /// With some of a task's samples only (ascending); classes without any are gone. None if its rows are not at hand.
    pub(crate) fn with_samples(&self, task: usize, samples: &[usize]) -> Option<Self> {
        let mut statistics = self.with_means_of(task, samples)?;
        let rows = self.rows_of(task)?.select(samples.iter().copied());
        statistics.second[task] = statistics.second_of(task, rows);
        Some(statistics)
    }

    /// The same, but the task keeps its scatter: for those who look at means and variances.
    pub(crate) fn with_means_of(&self, task: usize, samples: &[usize]) -> Option<Self> {
        let rows = self.rows_of(task)?.select(samples.iter().copied());
        let entry = &self.cells.tasks()[task];
        let class = classes_in_order(entry);
        let mut counts = vec![0; entry.classes.len()];
        samples
            .iter()
            .for_each(|&sample| counts[class[sample]] += 1);
        let kept: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0).collect();
        let one = Task {
            name: entry.name.clone(),
            classes: kept.iter().map(|&c| entry.classes[c].clone()).collect(),
            counts: kept.iter().map(|&c| counts[c]).collect(),
        };
        let mut importance = self.importance.clone();
        let own_importance = self.importance_of(task).among(samples);
        if let Some(importance) = &mut importance {
            importance[task] = own_importance.clone();
        }
        let (own, _) = first_order(
            &Cells::new(vec![one.clone()]),
            self.features,
            &[rows],
            Some(&[own_importance]),
            |_| Wanted::Squares,
        );
        let mut tasks = self.cells.tasks().to_vec();
        tasks[task] = one;
        let cells = Cells::new(tasks);
        let before = |cell: usize| -> (&Self, usize) {
            match cells.task_of(cell) {
                other if other < task => (self, cell),
                other if other > task => (self, cell + counts.len() - kept.len()),
                _ => (&own, cell - cells.of_task(task).start),
            }
        };
        let columns = |of: fn(&Self) -> &Mat<f64>| {
            Mat::from_fn(self.features, cells.len(), |feature, cell| {
                let (from, cell) = before(cell);
                of(from)[(feature, cell)]
            })
        };
        let mut bounds = self.bounds.clone();
        bounds[task].clone_from(&own.bounds[0]);
        let some = Self {
            features: self.features,
            names: self.names.clone(),
            parts: BTreeSet::new(),
            means: columns(|of| &of.means),
            within: columns(|of| &of.within),
            cells,
            bounds,
            second: self.second.clone(),
            kept: self.kept.clone(),
            groups: self.groups.clone().map(|mut groups| {
                groups[task] = groups[task].among(samples);
                groups
            }),
            importance: None,
            stop: self.stop.clone(),
        };
        Some(some.with_importance(importance))
    }

    /// What to keep of a task with these rows, once the means are known.
    fn second_of(&self, task: usize, rows: RowBlock<'a>) -> Second<'a> {
        if rows.len() < self.features {
            return Second::Rows(rows);
        }
        let class = classes_in_order(&self.cells.tasks()[task]);
        let cells = self.cells.of_task(task);
        let means: Vec<Vec<f64>> = cells.map(|cell| column(&self.means, cell)).collect();
        let weights = self.importance_of(task);
        let within = if weights.is_given() {
            weighted_scatter(&rows, &class, &means, &weights, &self.stop)
        } else {
            Sums::of(&rows, &class, &means, Wanted::Scatter(&self.stop)).scatter
        };
        Second::Scatter {
            scatter: Arc::new(self.about_task_mean(task, within)),
            rows: Some(rows),
            dealt: None,
        }
    }

    /// The scatter of a task about its mean: that of each class about its own, which loses no digits to a large
    /// distance between classes, plus the part between the classes.
    fn about_task_mean(&self, task: usize, mut within: Mat<f64>) -> Mat<f64> {
        let mean = self.task_mean(task);
        let cells = self.cells.of_task(task);
        let between = Mat::from_fn(self.features, cells.len(), |feature, class| {
            let cell = cells.start + class;
            self.cells.mass(cell).sqrt() * (self.means[(feature, cell)] - mean[feature])
        });
        dense::add_outer(within.as_mut(), between.as_ref(), 1.0);
        within
    }

    /// The statistics of the rows of each task, in the order of its cells; of tasks that are `in_folds` the rows.
    pub(super) fn of_blocks(
        cells: &Cells,
        features: usize,
        blocks: Vec<RowBlock<'a>>,
        importance: Option<&[Importance]>,
        in_folds: &(dyn Fn(&Task) -> bool + Sync),
        stop: &Stop,
    ) -> Self {
        let by_rows = |task: &Task| task.samples() < features || in_folds(task);
        let wanted = |task: &Task| match by_rows(task) {
            true => Wanted::Squares,
            false => Wanted::Scatter(stop),
        };
        let (statistics, within) = first_order(cells, features, &blocks, importance, wanted);
        let mut statistics = statistics.stopped_by(stop);
        for (task, (rows, within)) in blocks.into_iter().zip(within).enumerate() {
            let second = match by_rows(&cells.tasks()[task]) {
                true => Second::Rows(rows),
                false => Second::Scatter {
                    scatter: Arc::new(statistics.about_task_mean(task, within)),
                    rows: Some(rows),
                    dealt: None,
                },
            };
            statistics.second.push(second);
        }
        statistics
    }
}

impl<'a> From<&Tasks<'a>> for Statistics<'a> {
    fn from(tasks: &Tasks<'a>) -> Self {
        Self::of(tasks)
    }
}

/// As [`Statistics::of`], unless the switch is thrown meanwhile.
impl<'a> TryFrom<(&Tasks<'a>, &Stop)> for Statistics<'a> {
    type Error = Error;

    fn try_from((tasks, stop): (&Tasks<'a>, &Stop)) -> Result<Self> {
        let statistics = of_tasks(tasks, stop);
        stop.check()?;
        Ok(Self {
            groups: tasks.groups().map(<[Groups]>::to_vec),
            // What is done with them later is not to be stopped by the same switch unawares.
            ..statistics.stopped_by(&Stop::default())
        })
    }
}

/// Counts, means, squares within classes and bounds, and the scatter of each task within its classes where it is
/// wanted. Rows are taken in the order of their cells, wherever they lie: a copy of them gives the same bits.
fn first_order<'r, 's>(
    cells: &Cells,
    p: usize,
    blocks: &[RowBlock<'_>],
    importance: Option<&[Importance]>,
    wanted: impl Fn(&Task) -> Wanted<'s> + Sync,
) -> (Statistics<'r>, Vec<Mat<f64>>) {
    let tasks: Vec<Sums> = blocks
        .par_iter()
        .zip(cells.tasks())
        .enumerate()
        .map(|(number, (rows, task))| {
            let class = classes_in_order(task);
            let near = near(rows, &task.counts);
            let weights = importance.and_then(|of| of.get(number));
            let Some(weights) = weights.filter(|own| own.is_given()) else {
                return Sums::of(rows, &class, &near, wanted(task));
            };
            let bounds = Sums::of(rows, &class, &near, Wanted::Squares).bounds;
            let (means, squares) = weighted(rows, &task.counts, weights);
            let scatter = match wanted(task) {
                Wanted::Squares => Mat::zeros(0, 0),
                Wanted::Scatter(stop) => weighted_scatter(rows, &class, &means, weights, stop),
            };
            Sums {
                means,
                squares,
                scatter,
                bounds,
            }
        })
        .collect();
    let (mut means, mut within) = (Mat::zeros(p, cells.len()), Mat::zeros(p, cells.len()));
    let (mut bounds, mut scatters) = (Vec::new(), Vec::new());
    let mut cell = 0;
    for own in tasks {
        for (mean, squares) in own.means.iter().zip(&own.squares) {
            fill(&mut means, cell, mean);
            fill(&mut within, cell, squares);
            cell += 1;
        }
        bounds.push(own.bounds);
        scatters.push(own.scatter);
    }
    let statistics = Statistics {
        features: p,
        names: None,
        parts: BTreeSet::new(),
        cells: cells.clone(),
        means,
        within,
        bounds,
        second: Vec::new(),
        kept: Kept::default(),
        groups: None,
        importance: None,
        stop: Stop::default(),
    };
    let statistics = statistics.with_importance(importance.map(<[Importance]>::to_vec));
    (statistics, scatters)
}

fn fill(to: &mut Mat<f64>, cell: usize, values: &[f64]) {
    let entries = to.col_mut(cell).iter_mut().zip(values);
    entries.for_each(|(to, from)| *to = *from);
}

fn column(of: &Mat<f64>, cell: usize) -> Vec<f64> {
    of.col(cell).iter().copied().collect()
}

/// The means of the classes of a task whose rows have weights, and the squares of its features about them.
fn weighted(
    rows: &RowBlock<'_>,
    counts: &[usize],
    weights: &Importance,
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let mut start = 0;
    let classes = counts.iter().map(|count| {
        let own = start..start + count;
        start = own.end;
        let mean = weigh::mean(rows, own.clone(), weights);
        let squares = weigh::squares(rows, own, &mean, weights);
        (mean, squares)
    });
    classes.unzip()
}

/// The scatter of rows that have weights about the means of their classes, unless the switch is thrown.
fn weighted_scatter(
    rows: &RowBlock<'_>,
    class: &[usize],
    means: &[Vec<f64>],
    weights: &Importance,
    stop: &Stop,
) -> Mat<f64> {
    let mut scatter = Mat::zeros(rows.features(), rows.features());
    let shift = |sample: usize| means[class[sample]].as_slice();
    rows.for_panels_each(shift, 1.0, |start, panel| {
        if stop.check().is_err() {
            return;
        }
        let weighed = weights.roots().map(|of| weigh::weighed(panel, start, of));
        let panel = weighed.as_ref().map_or(panel, Mat::as_ref);
        dense::add_outer(scatter.as_mut(), panel, 1.0);
    });
    scatter
}

pub(super) fn measure<'i>(
    rows: Rows<'i>,
    cells: &Cells,
    order: &[usize],
    in_folds: &(dyn Fn(&Task) -> bool + Sync),
    stop: &Stop,
) -> Statistics<'i> {
    let start = |task: usize| (0..task).map(|i| cells.samples(i)).sum::<usize>();
    let rows_of = |task: usize| &order[start(task)..start(task) + cells.samples(task)];
    let blocks = (0..cells.tasks().len()).map(|task| RowBlock::borrowed(rows, rows_of(task)));
    let blocks = blocks.collect();
    Statistics::of_blocks(cells, rows.features(), blocks, None, in_folds, stop)
}

fn of_tasks<'i>(tasks: &Tasks<'i>, stop: &Stop) -> Statistics<'i> {
    let (rows, cells) = (tasks.rows(), tasks.cells());
    let Some(importance) = tasks.importance() else {
        return measure(rows, cells, tasks.order(), &|_| false, stop);
    };
    let blocks = (0..cells.tasks().len()).map(|task| RowBlock::borrowed(rows, tasks.rows_of(task)));
    let blocks = blocks.collect();
    Statistics::of_blocks(
        cells,
        rows.features(),
        blocks,
        Some(importance),
        &|_| false,
        stop,
    )
}
