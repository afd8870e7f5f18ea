//! Statistics of rows: two passes, so that a large mean costs no digits.

use std::ops::Range;
use std::sync::Arc;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::{Bounds, Kept, RowBlock, Second, Statistics, weigh};
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
        let own = first_order(
            &Cells::new(vec![one.clone()]),
            self.features,
            &[rows],
            Some(&[own_importance]),
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
        Second::Scatter {
            scatter: Arc::new(self.scatter(task, &rows)),
            rows: Some(rows),
        }
    }

    /// Scatter of a task's rows: each class about its own mean, which loses no digits to a large
    /// distance between classes, plus the part between the classes.
    fn scatter(&self, task: usize, rows: &RowBlock<'_>) -> Mat<f64> {
        let p = self.features;
        let first = self.cells.of_task(task).start;
        let means: Vec<Vec<f64>> = self
            .cells
            .of_task(task)
            .map(|cell| self.means.col(cell).iter().copied().collect())
            .collect();
        let class = classes_in_order(&self.cells.tasks()[task]);
        let mut scatter = Mat::zeros(p, p);
        let shift = |sample: usize| means[class[sample]].as_slice();
        let importance = self.importance_of(task);
        rows.for_panels_each(shift, 1.0, |start, panel| {
            if self.stop.check().is_ok() {
                match importance.roots() {
                    None => dense::add_outer(scatter.as_mut(), panel, 1.0),
                    Some(roots) => {
                        let weighed = weigh::weighed(panel, start, roots);
                        dense::add_outer(scatter.as_mut(), weighed.as_ref(), 1.0);
                    }
                }
            }
        });
        let mean = self.task_mean(task);
        let between = Mat::from_fn(p, means.len(), |feature, class| {
            self.cells.mass(first + class).sqrt() * (means[class][feature] - mean[feature])
        });
        dense::add_outer(scatter.as_mut(), between.as_ref(), 1.0);
        scatter
    }

    /// The statistics of the rows of each task, in the order of its cells.
    pub(super) fn of_blocks(
        cells: &Cells,
        features: usize,
        blocks: Vec<RowBlock<'a>>,
        importance: Option<&[Importance]>,
        stop: &Stop,
    ) -> Self {
        let mut statistics = first_order(cells, features, &blocks, importance).stopped_by(stop);
        for (task, rows) in blocks.into_iter().enumerate() {
            let second = statistics.second_of(task, rows);
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

/// Counts, means, squares within classes and bounds; two passes, so that a large mean costs no digits.
fn first_order<'r>(
    cells: &Cells,
    p: usize,
    blocks: &[RowBlock<'_>],
    importance: Option<&[Importance]>,
) -> Statistics<'r> {
    let mut means = Mat::zeros(p, cells.len());
    let mut within = Mat::zeros(p, cells.len());
    let mut bounds = Vec::with_capacity(blocks.len());
    for (task, rows) in blocks.iter().enumerate() {
        let mut start = 0;
        let mut ends: Option<Bounds> = None;
        for cell in cells.of_task(task) {
            let own = start..start + cells.count(cell);
            start = own.end;
            let (sum, own_ends) = summed(rows, own.clone());
            let weights = importance.and_then(|of| of.get(task));
            let (mean, squares) = match weights.filter(|own| own.is_given()) {
                None => {
                    let mean: Vec<f64> = sum.iter().map(|sum| sum / own.len() as f64).collect();
                    let squares = squares(rows, own, &mean);
                    (mean, squares)
                }
                Some(weights) => {
                    let mean = weigh::mean(rows, own.clone(), weights);
                    let squares = weigh::squares(rows, own, &mean, weights);
                    (mean, squares)
                }
            };
            fill(&mut within, cell, &squares);
            fill(&mut means, cell, &mean);
            match &mut ends {
                Some(ends) => ends.join(&own_ends),
                None => ends = Some(own_ends),
            }
        }
        bounds.extend(ends);
    }
    let statistics = Statistics {
        features: p,
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
    statistics.with_importance(importance.map(<[Importance]>::to_vec))
}

fn fill(to: &mut Mat<f64>, cell: usize, values: &[f64]) {
    let entries = to.col_mut(cell).iter_mut().zip(values);
    entries.for_each(|(to, from)| *to = *from);
}

/// Samples in a panel that is only summed: small, so that even a small cell occupies all threads.
const SUMMED: usize = 32;

/// The sums and the bounds of the features of some samples.
fn summed(rows: &RowBlock<'_>, samples: Range<usize>) -> (Vec<f64>, Bounds) {
    let p = rows.features();
    let parts = in_panels(rows, samples, &vec![0.0; p], |panel| {
        let mut sum = vec![0.0; p];
        let mut bounds = Bounds {
            least: vec![f64::INFINITY; p],
            most: vec![f64::NEG_INFINITY; p],
        };
        for sample in panel.col_iter() {
            for (feature, &x) in sample.iter().enumerate() {
                sum[feature] += x;
                bounds.least[feature] = bounds.least[feature].min(x);
                bounds.most[feature] = bounds.most[feature].max(x);
            }
        }
        (sum, bounds)
    });
    let mut parts = parts.into_iter();
    let nothing = || Bounds {
        least: vec![0.0; p],
        most: vec![0.0; p],
    };
    let mut total = parts.next().unwrap_or_else(|| (vec![0.0; p], nothing()));
    for (sum, bounds) in parts {
        let entries = total.0.iter_mut().zip(sum);
        entries.for_each(|(total, x)| *total += x);
        total.1.join(&bounds);
    }
    total
}

/// The sums of squares of the features of some samples about a mean.
fn squares(rows: &RowBlock<'_>, samples: Range<usize>, mean: &[f64]) -> Vec<f64> {
    let p = mean.len();
    let parts = in_panels(rows, samples, mean, |panel| {
        let mut sum = vec![0.0; p];
        for sample in panel.col_iter() {
            for (sum, x) in sum.iter_mut().zip(sample.iter()) {
                *sum += x * x;
            }
        }
        sum
    });
    parts.iter().fold(vec![0.0; p], |mut total, part| {
        let entries = total.iter_mut().zip(part);
        entries.for_each(|(total, x)| *total += x);
        total
    })
}

/// A function of panels of samples: panels in parallel, their results in order.
fn in_panels<T: Send>(
    rows: &RowBlock<'_>,
    samples: Range<usize>,
    shift: &[f64],
    of: impl Fn(MatRef<'_, f64>) -> T + Sync,
) -> Vec<T> {
    let p = rows.features();
    let starts: Vec<usize> = samples.clone().step_by(SUMMED).collect();
    starts
        .into_par_iter()
        .map(|start| {
            let own = start..(start + SUMMED).min(samples.end);
            let mut panel = Mat::zeros(p, own.len());
            rows.pack(own, 0..p, shift, 1.0, panel.as_mut());
            of(panel.as_ref())
        })
        .collect()
}

pub(super) fn measure<'i>(
    rows: Rows<'i>,
    cells: &Cells,
    order: &[usize],
    stop: &Stop,
) -> Statistics<'i> {
    let start = |task: usize| (0..task).map(|i| cells.samples(i)).sum::<usize>();
    let rows_of = |task: usize| &order[start(task)..start(task) + cells.samples(task)];
    let blocks = (0..cells.tasks().len()).map(|task| RowBlock::borrowed(rows, rows_of(task)));
    Statistics::of_blocks(cells, rows.features(), blocks.collect(), None, stop)
}

fn of_tasks<'i>(tasks: &Tasks<'i>, stop: &Stop) -> Statistics<'i> {
    let (rows, cells) = (tasks.rows(), tasks.cells());
    let Some(importance) = tasks.importance() else {
        return measure(rows, cells, tasks.order(), stop);
    };
    let blocks = (0..cells.tasks().len()).map(|task| RowBlock::borrowed(rows, tasks.rows_of(task)));
    let blocks = blocks.collect();
    Statistics::of_blocks(cells, rows.features(), blocks, Some(importance), stop)
}
