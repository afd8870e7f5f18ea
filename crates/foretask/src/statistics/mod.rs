//! [`Statistics`]: all that training and theory need to know of the data, mergeable.
//!
//! Per cell r the count n_r, the mean x̄_r and the trace of the scatter about it, tr W_r; per task i
//! either the scatter about the task mean,
//!
//! ```text
//! S_i = Σ_l (x_l - x̄_i)(x_l - x̄_i)ᵀ        (p x p)
//! ```
//!
//! or, while the task has fewer rows than features, the rows themselves (n_i x p, the smaller of
//! the two; the Gram matrix that training needs then is formed from them). Two batches a, b merge
//! by S = S_a + S_b + n_a n_b/(n_a + n_b) d dᵀ with d the difference of their means (THEORY 3.2),
//! so parts may be taken in any order and grouping. Statistics of data in memory borrow the rows;
//! statistics that are added to, merged or read from bytes own them.
//!
//! Leave-one-out needs the rows of its target. [`Statistics::keeping_rows_of`] keeps those of a task
//! whatever their number. The rows of a class stay in the order they were added in, and those of a part
//! that is merged come after: parts merged in the order of the data give the folds, and so the results,
//! of the data in memory.
//!
//! Time n_i p² per task for the scatter; memory p² or n_i p doubles per task, both where rows are kept
//! that outnumber the features. Clones share them.

mod bytes;
mod merge;
mod rows;

use std::collections::BTreeSet;
use std::sync::Arc;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::cells::Cells;
use crate::dense;
use crate::error::{Error, Result};
use crate::tasks::{PANEL, Rows, Tasks, check_rows, classes_in_order, group};

pub(crate) use rows::RowBlock;

/// Mergeable sufficient statistics of many tasks.
///
/// ```
/// use foretask::{Rows, Statistics};
/// let mut whole = Statistics::new(2);
/// whole.add(Rows::row_major(&[0.0, 1.0, 1.0, 0.0], 2)?, &["t", "t"], &["a", "b"])?;
/// whole.add(Rows::row_major(&[0.5, 1.5, 1.5, 0.5], 2)?, &["t", "t"], &["a", "b"])?;
/// assert_eq!(whole.cells().count(0), 2);
/// let again = Statistics::from_bytes(&whole.to_bytes()?)?;
/// assert_eq!(again.cells(), whole.cells());
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Statistics<'a> {
    features: usize,
    cells: Cells,
    /// Cell means, p x C.
    means: Mat<f64>,
    /// tr W_r.
    within: Vec<f64>,
    second: Vec<Second<'a>>,
    kept: Kept,
}

/// Whose rows are kept whatever their number.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Kept {
    /// Every task's.
    all: bool,
    /// Those of the tasks named.
    tasks: BTreeSet<String>,
}

impl Kept {
    fn contains(&self, task: &str) -> bool {
        self.all || self.tasks.contains(task)
    }

    fn add(&mut self, other: &Self) {
        self.all |= other.all;
        self.tasks.extend(other.tasks.iter().cloned());
    }
}

/// What is kept of a task beyond its means. Clones share the numbers.
#[derive(Clone, Debug)]
pub(crate) enum Second<'a> {
    /// Fewer rows than features: the rows.
    Rows(RowBlock<'a>),
    /// Scatter about the task mean, lower triangle, and the rows where they are at hand.
    Scatter {
        scatter: Arc<Mat<f64>>,
        rows: Option<RowBlock<'a>>,
    },
}

impl<'a> Second<'a> {
    fn rows(&self) -> Option<&RowBlock<'a>> {
        match self {
            Self::Rows(rows) => Some(rows),
            Self::Scatter { rows, .. } => rows.as_ref(),
        }
    }
}

impl Statistics<'static> {
    /// No rows yet, of `features` features.
    pub fn new(features: usize) -> Self {
        Self {
            features,
            cells: Cells::new(Vec::new()),
            means: Mat::zeros(features, 0),
            within: Vec::new(),
            second: Vec::new(),
            kept: Kept::default(),
        }
    }

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
        self.merge(measure(rows, &cells, &order))
    }

    /// Adds the statistics of other rows, which come after those that are there.
    ///
    /// Rows that either keeps are kept, if neither has given up those of that task.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of features differs; nothing is added then.
    pub fn merge(&mut self, other: Statistics<'_>) -> Result<()> {
        if other.features != self.features {
            return Err(Error::Shape {
                what: "features",
                expected: self.features,
                got: other.features,
            });
        }
        *self = merge::merge(std::mem::replace(self, Self::new(0)), &other);
        Ok(())
    }

    /// Reads what [`Statistics::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are not whole statistics.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        bytes::from_bytes(bytes).map_err(|why| Error::Format {
            what: "the statistics",
            why,
        })
    }
}

impl<'a> Statistics<'a> {
    /// The statistics of data in memory; the rows are borrowed, not copied.
    pub fn of(tasks: &Tasks<'a>) -> Self {
        measure(tasks.rows(), tasks.cells(), tasks.order())
    }

    /// Keeps the rows of a task even when they outnumber the features, as leave-one-out needs of its
    /// target. Call it before rows are added: what was given up is gone.
    ///
    /// ```
    /// use foretask::{Rows, Settings, Statistics, Study};
    /// let values: Vec<f64> = (0..40).map(|i| ((i * 37) % 11) as f64 + if i % 4 == 1 { 9.0 } else { 0.0 }).collect();
    /// let class: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "high" } else { "low" }).collect();
    /// let mut statistics = Statistics::new(2).keeping_rows_of("webcam");
    /// statistics.add(Rows::row_major(&values, 2)?, &["webcam"; 20], &class)?;
    /// assert!(statistics.has_rows_of(0));
    /// let study = Study::new(&statistics, &Settings::default())?;
    /// assert!(study.forecast().error < 0.2);
    /// # Ok::<(), foretask::Error>(())
    /// ```
    #[must_use]
    pub fn keeping_rows_of(mut self, task: &str) -> Self {
        self.kept.tasks.insert(task.to_owned());
        self
    }

    /// Keeps the rows of every task ([`Statistics::keeping_rows_of`]).
    #[must_use]
    pub fn keeping_all_rows(mut self) -> Self {
        self.kept.all = true;
        self
    }

    /// Whether the rows of a task are at hand.
    pub fn has_rows_of(&self, task: usize) -> bool {
        self.rows_of(task).is_some()
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
    pub fn means(&self) -> &Mat<f64> {
        &self.means
    }

    /// tr W_r: the trace of the scatter of each cell about its own mean.
    pub fn within_traces(&self) -> &[f64] {
        &self.within
    }

    /// The mean of a task's rows.
    pub fn task_mean(&self, task: usize) -> Vec<f64> {
        task_mean(&self.cells, &self.means, task)
    }

    /// S_i, the scatter of a task about its mean (p x p, both triangles).
    pub fn scatter_of(&self, task: usize) -> Mat<f64> {
        let mut scatter = match &self.second[task] {
            Second::Scatter { scatter, .. } => Mat::clone(scatter),
            Second::Rows(rows) => scatter_of_rows(rows, &self.task_mean(task), self.features),
        };
        dense::mirror(&mut scatter);
        scatter
    }

    /// The scale of each task, s_i = sqrt(Σ_j tr W_ij / ((n_i - m_i) p)), so that x / s_i has unit
    /// average within-class variance per feature (THEORY 7.1).
    ///
    /// Where no class has spread (or none has two samples) the scatter about the task mean takes its
    /// place; where that is zero too (all rows alike) the scale is 1.
    pub fn scales(&self) -> Vec<f64> {
        (0..self.cells.tasks().len())
            .map(|task| {
                let range = self.cells.of_task(task);
                let weigh = |of: &dyn Fn(usize) -> f64| -> f64 {
                    range
                        .clone()
                        .map(|cell| self.cells.count(cell) as f64 * of(cell))
                        .sum()
                };
                let mean = self.task_mean(task);
                let within: f64 = self.within[range.clone()].iter().sum();
                let between = weigh(&|cell| distance(&self.means, cell, &mean));
                // What rounding of the means alone would leave is no spread.
                let size = weigh(&|cell| self.means.col(cell).squared_norm_l2());
                let real = |trace: f64| trace > NO_SPREAD * NO_SPREAD * size;
                let classes_freedom: usize = range
                    .clone()
                    .map(|cell| self.cells.count(cell).saturating_sub(1))
                    .sum();
                let (trace, freedom) = if classes_freedom > 0 && real(within) {
                    (within, classes_freedom)
                } else {
                    (within + between, self.cells.samples(task) - 1)
                };
                let scale = (trace / (freedom as f64 * self.features as f64)).sqrt();
                if real(trace) && scale > 0.0 && scale.is_finite() {
                    scale
                } else {
                    1.0
                }
            })
            .collect()
    }

    /// The state as bytes (safetensors).
    ///
    /// # Errors
    /// [`Error::Format`] if the statistics are too large for the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        bytes::to_bytes(self).map_err(|why| Error::Format {
            what: "the statistics",
            why,
        })
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

    /// The same without one task.
    pub(crate) fn without(&self, task: usize) -> Self {
        let left: Vec<usize> = (0..self.cells.len())
            .filter(|&cell| self.cells.task_of(cell) != task)
            .collect();
        let mut without = self.first_order_of(self.cells.without(task), &left);
        without.second = self.second.clone();
        without.second.remove(task);
        without
    }

    /// The samples of the cells `left` only, whose tasks and classes are `cells`
    /// ([`Cells::restricted`]).
    ///
    /// # Errors
    /// [`Error::RowsNotKept`] if a task loses a class and its rows are not at hand.
    pub(crate) fn restricted(&self, cells: &Cells, left: &[usize]) -> Result<Self> {
        let mut restricted = self.first_order_of(cells.clone(), left);
        for task in 0..cells.tasks().len() {
            let own = &left[cells.of_task(task)];
            let before = self.cells.task_of(own[0]);
            let all = self.cells.of_task(before);
            if own.len() == all.len() {
                restricted.second.push(self.second[before].clone());
                continue;
            }
            let first = |cell: usize| -> usize {
                (all.start..cell).map(|cell| self.cells.count(cell)).sum()
            };
            let samples = own
                .iter()
                .flat_map(|&cell| first(cell)..first(cell) + self.cells.count(cell));
            let rows = self.rows_of(before).ok_or_else(|| Error::RowsNotKept {
                what: "one-versus-one",
                task: cells.tasks()[task].name.clone(),
                instead: "use another rule",
            })?;
            let second = restricted.second_of(task, rows.select(samples));
            restricted.second.push(second);
        }
        Ok(restricted)
    }

    /// Means and traces of some cells, under other names.
    fn first_order_of(&self, cells: Cells, left: &[usize]) -> Self {
        Self {
            features: self.features,
            cells,
            means: Mat::from_fn(self.features, left.len(), |feature, cell| {
                self.means[(feature, left[cell])]
            }),
            within: left.iter().map(|&cell| self.within[cell]).collect(),
            second: Vec::new(),
            kept: self.kept.clone(),
        }
    }

    /// What to keep of a task with these rows, once the means are known.
    fn second_of(&self, task: usize, rows: RowBlock<'a>) -> Second<'a> {
        if rows.len() < self.features {
            return Second::Rows(rows);
        }
        Second::Scatter {
            scatter: Arc::new(self.scatter(rows.table(), task, rows.index())),
            rows: Some(rows),
        }
    }

    /// Scatter of a task's rows: each class about its own mean, which loses no digits to a large
    /// distance between classes, plus the part between the classes.
    fn scatter(&self, rows: Rows<'_>, task: usize, index: &[usize]) -> Mat<f64> {
        let p = self.features;
        let first = self.cells.of_task(task).start;
        let means: Vec<Vec<f64>> = self
            .cells
            .of_task(task)
            .map(|cell| column(&self.means, cell))
            .collect();
        let class = classes_in_order(&self.cells.tasks()[task]);
        let mut scatter = Mat::zeros(p, p);
        let mut panel = Mat::zeros(p, PANEL.min(index.len()));
        for start in (0..index.len()).step_by(PANEL) {
            let end = (start + PANEL).min(index.len());
            let mut part = panel.as_mut().subcols_mut(0, end - start);
            pack_parallel(
                rows,
                &index[start..end],
                |sample| &means[class[start + sample]],
                part.as_mut(),
            );
            dense::add_outer(scatter.as_mut(), part.as_ref(), 1.0);
        }
        let mean = self.task_mean(task);
        let between = Mat::from_fn(p, means.len(), |feature, class| {
            (self.cells.count(first + class) as f64).sqrt()
                * (means[class][feature] - mean[feature])
        });
        dense::add_outer(scatter.as_mut(), between.as_ref(), 1.0);
        scatter
    }
}

/// Packs a panel with all threads; each writes its own samples.
fn pack_parallel<'s>(
    rows: Rows<'_>,
    index: &[usize],
    shift: impl Fn(usize) -> &'s [f64] + Sync,
    panel: MatMut<'_, f64>,
) {
    let p = panel.nrows();
    let chunk = index.len().div_ceil(rayon::current_num_threads()).max(16);
    let parts: Vec<MatMut<'_, f64>> = panel.par_col_chunks_mut(chunk).collect();
    parts.into_par_iter().enumerate().for_each(|(part, panel)| {
        let start = part * chunk;
        let end = start + panel.ncols();
        rows.pack(
            &index[start..end],
            0..p,
            |sample| shift(start + sample),
            1.0,
            panel,
        );
    });
}

/// Counts, means and within-class traces; two passes, so that a large mean costs no digits.
fn first_order<'r, 'i>(
    rows: Rows<'_>,
    cells: &Cells,
    rows_of: impl Fn(usize) -> &'i [usize],
) -> Statistics<'r> {
    let p = rows.features();
    let mut means = Mat::zeros(p, cells.len());
    let mut within = vec![0.0; cells.len()];
    for task in 0..cells.tasks().len() {
        let mut index = rows_of(task);
        for cell in cells.of_task(task) {
            let (own, rest) = index.split_at(cells.count(cell));
            index = rest;
            let sum = sum_panels(rows, own, &vec![0.0; p], |panel| {
                panel.col_iter().fold(vec![0.0; p], |mut sum, sample| {
                    sum.iter_mut()
                        .zip(sample.iter())
                        .for_each(|(sum, x)| *sum += x);
                    sum
                })
            });
            let mean: Vec<f64> = sum.iter().map(|sum| sum / own.len() as f64).collect();
            within[cell] = sum_panels(rows, own, &mean, |panel| vec![panel.squared_norm_l2()])[0];
            means
                .col_mut(cell)
                .iter_mut()
                .zip(&mean)
                .for_each(|(to, from)| *to = *from);
        }
    }
    Statistics {
        features: p,
        cells: cells.clone(),
        means,
        within,
        second: Vec::new(),
        kept: Kept::default(),
    }
}

/// Samples in a panel that is only summed: small, so that even a small cell occupies all threads.
const SUMMED: usize = 32;

/// Sums a function of panels of samples: panels in parallel, their results added in order.
fn sum_panels(
    rows: Rows<'_>,
    index: &[usize],
    shift: &[f64],
    of: impl Fn(MatRef<'_, f64>) -> Vec<f64> + Sync,
) -> Vec<f64> {
    let p = rows.features();
    let parts: Vec<Vec<f64>> = index
        .par_chunks(SUMMED)
        .map(|index| {
            let mut panel = Mat::zeros(p, index.len());
            rows.pack(index, 0..p, |_| shift, 1.0, panel.as_mut());
            of(panel.as_ref())
        })
        .collect();
    let length = parts.first().map_or(1, Vec::len);
    parts.iter().fold(vec![0.0; length], |mut sum, part| {
        sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        sum
    })
}

fn measure<'i>(rows: Rows<'i>, cells: &Cells, order: &[usize]) -> Statistics<'i> {
    let start = |task: usize| (0..task).map(|i| cells.samples(i)).sum::<usize>();
    let rows_of = |task: usize| &order[start(task)..start(task) + cells.samples(task)];
    let mut statistics = first_order(rows, cells, rows_of);
    for task in 0..cells.tasks().len() {
        let second = statistics.second_of(task, RowBlock::borrowed(rows, rows_of(task)));
        statistics.second.push(second);
    }
    statistics
}

impl<'a> From<&Tasks<'a>> for Statistics<'a> {
    fn from(tasks: &Tasks<'a>) -> Self {
        Self::of(tasks)
    }
}

impl<'a> From<&Statistics<'a>> for Statistics<'a> {
    fn from(statistics: &Statistics<'a>) -> Self {
        statistics.clone()
    }
}

pub(crate) fn task_mean(cells: &Cells, means: &Mat<f64>, task: usize) -> Vec<f64> {
    let mut mean = vec![0.0; means.nrows()];
    for cell in cells.of_task(task) {
        let share = cells.share(cell);
        mean.iter_mut()
            .zip(means.col(cell).iter())
            .for_each(|(mean, x)| *mean += share * x);
    }
    mean
}

fn column(means: &Mat<f64>, cell: usize) -> Vec<f64> {
    means.col(cell).iter().copied().collect()
}

/// A spread below this share of the size of the values is rounding.
const NO_SPREAD: f64 = 1e-14;

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
