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
//! Time n_i p² per task for the scatter; memory p² or n_i p doubles per task.

use std::ops::Range;
use std::sync::Arc;

use faer::{Mat, MatMut};
use rayon::prelude::*;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::cells::{Cells, Task, sort_names};
use crate::dense;
use crate::error::{Error, Result};
use crate::tasks::{PANEL, Rows, Tasks, check_rows, classes_in_order, group};

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
}

/// What is kept of a task beyond its means.
#[derive(Clone, Debug)]
pub(crate) enum Second<'a> {
    /// Scatter about the task mean, lower triangle.
    Scatter(Mat<f64>),
    /// The rows, in the order of the task's cells.
    Rows(RowBlock<'a>),
}

/// The rows of one task: in the user's table, or a copy of our own (features x samples).
#[derive(Clone, Debug)]
pub(crate) enum RowBlock<'a> {
    Borrowed { rows: Rows<'a>, index: &'a [usize] },
    Owned(Arc<Mat<f64>>),
}

impl RowBlock<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Borrowed { index, .. } => index.len(),
            Self::Owned(rows) => rows.ncols(),
        }
    }

    /// (x - shift) * scale of some samples and features, one sample a column.
    pub(crate) fn pack(
        &self,
        samples: Range<usize>,
        features: Range<usize>,
        shift: &[f64],
        scale: f64,
        mut panel: MatMut<'_, f64>,
    ) {
        match self {
            Self::Borrowed { rows, index } => {
                rows.pack(&index[samples], features, |_| shift, scale, panel)
            }
            Self::Owned(rows) => {
                for (column, sample) in samples.enumerate() {
                    for feature in features.clone() {
                        panel[(feature - features.start, column)] =
                            (rows[(feature, sample)] - shift[feature]) * scale;
                    }
                }
            }
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
        let (cells, order) = group(rows, task, class)?;
        let part = measure(rows, &cells, &order).into_owned();
        self.merge(part)
    }

    /// Adds the statistics of other rows.
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
        *self = merge(std::mem::replace(self, Self::new(0)), other.into_owned());
        Ok(())
    }

    /// Reads what [`Statistics::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are not whole statistics.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        from_bytes(bytes).map_err(|why| Error::Format {
            what: "the statistics",
            why,
        })
    }
}

impl<'a> Statistics<'a> {
    /// The statistics of data in memory; tasks with fewer rows than features are not copied.
    pub fn of(tasks: &'a Tasks<'a>) -> Self {
        measure(tasks.rows(), tasks.cells(), tasks.order())
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
            Second::Scatter(scatter) => scatter.clone(),
            Second::Rows(rows) => scatter_of_rows(rows, &self.task_mean(task), self.features),
        };
        dense::mirror(&mut scatter);
        scatter
    }

    /// The scale of each task, s_i = sqrt(Σ_j tr W_ij / ((n_i - m_i) p)), so that x / s_i has unit
    /// average within-class variance per feature (THEORY 7.1).
    ///
    /// Where no class has two samples the scatter about the task mean takes its place; where that
    /// is zero too (all rows alike) the scale is 1.
    pub fn scales(&self) -> Vec<f64> {
        (0..self.cells.tasks().len())
            .map(|task| {
                let range = self.cells.of_task(task);
                let freedom: usize = self.cells.tasks()[task]
                    .counts
                    .iter()
                    .map(|&n| n.saturating_sub(1))
                    .sum();
                let within: f64 = self.within[range.clone()].iter().sum();
                let (trace, freedom) = if freedom > 0 && within > 0.0 {
                    (within, freedom)
                } else {
                    let mean = self.task_mean(task);
                    let between: f64 = range
                        .map(|cell| {
                            self.cells.count(cell) as f64 * distance(&self.means, cell, &mean)
                        })
                        .sum();
                    (within + between, self.cells.samples(task) - 1)
                };
                let scale = (trace / (freedom as f64 * self.features as f64)).sqrt();
                if scale > 0.0 && scale.is_finite() {
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
        to_bytes(self).map_err(|why| Error::Format {
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

    fn into_owned(self) -> Statistics<'static> {
        let features = self.features;
        let second = self
            .second
            .into_iter()
            .map(|second| match second {
                Second::Scatter(scatter) => Second::Scatter(scatter),
                Second::Rows(RowBlock::Owned(rows)) => Second::Rows(RowBlock::Owned(rows)),
                Second::Rows(block) => {
                    let mut rows = Mat::zeros(features, block.len());
                    block.pack(
                        0..block.len(),
                        0..features,
                        &vec![0.0; features],
                        1.0,
                        rows.as_mut(),
                    );
                    Second::Rows(RowBlock::Owned(Arc::new(rows)))
                }
            })
            .collect();
        Statistics {
            features,
            cells: self.cells,
            means: self.means,
            within: self.within,
            second,
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
    }
}

/// Sums a function of panels of samples: panels in parallel, their results added in order.
fn sum_panels(
    rows: Rows<'_>,
    index: &[usize],
    shift: &[f64],
    of: impl Fn(faer::MatRef<'_, f64>) -> Vec<f64> + Sync,
) -> Vec<f64> {
    let p = rows.features();
    let parts: Vec<Vec<f64>> = index
        .par_chunks(PANEL)
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

fn measure<'i>(rows: Rows<'i>, cells: &Cells, order: &'i [usize]) -> Statistics<'i> {
    let start = |task: usize| (0..task).map(|i| cells.samples(i)).sum::<usize>();
    let rows_of = |task: usize| &order[start(task)..start(task) + cells.samples(task)];
    let mut statistics = first_order(rows, cells, rows_of);
    for task in 0..cells.tasks().len() {
        let index = rows_of(task);
        let second = if index.len() < rows.features() {
            Second::Rows(RowBlock::Borrowed { rows, index })
        } else {
            Second::Scatter(statistics.scatter(rows, task, index))
        };
        statistics.second.push(second);
    }
    statistics
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
    let mut panel = Mat::zeros(p, PANEL.min(rows.len()));
    for start in (0..rows.len()).step_by(PANEL) {
        let end = (start + PANEL).min(rows.len());
        let mut part = panel.as_mut().subcols_mut(0, end - start);
        rows.pack(start..end, 0..p, mean, 1.0, part.as_mut());
        dense::add_outer(scatter.as_mut(), part.as_ref(), 1.0);
    }
    scatter
}

/// The union of two statistics.
fn merge(a: Statistics<'static>, b: Statistics<'static>) -> Statistics<'static> {
    let p = b.features;
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
    for name in names {
        let parts: Vec<(&Statistics<'static>, usize)> = [&a, &b]
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
            let (mut count, mut mean, mut trace) = (0, vec![0.0; p], 0.0);
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
                trace += part.within[cell]
                    + count as f64 * more as f64 / total * distance(&part.means, cell, &mean);
                mean.iter_mut()
                    .zip(part.means.col(cell).iter())
                    .for_each(|(mean, x)| *mean += more as f64 / total * (x - *mean));
                count += more;
            }
            counts.push(count);
            means.push(mean);
            within.push(trace);
        }
        let merged = Task {
            name,
            classes,
            counts,
        };
        second.push(merge_second(&parts, &merged, p));
        tasks.push(merged);
    }
    let means = Mat::from_fn(p, means.len(), |feature, cell| means[cell][feature]);
    Statistics {
        features: p,
        cells: Cells::new(tasks),
        means,
        within,
        second,
    }
}

fn merge_second(
    parts: &[(&Statistics<'static>, usize)],
    merged: &Task,
    p: usize,
) -> Second<'static> {
    if let &[(part, task)] = parts {
        return part.second[task].clone();
    }
    if merged.samples() < p {
        // Both kept their rows; lay them out by the merged classes.
        let mut rows = Mat::zeros(p, merged.samples());
        let mut to = 0;
        for class in &merged.classes {
            for &(part, task) in parts {
                let own = &part.cells.tasks()[task];
                let Some(position) = own.classes.iter().position(|c| c == class) else {
                    continue;
                };
                let start: usize = own.counts[..position].iter().sum();
                if let Second::Rows(block) = &part.second[task] {
                    let count = own.counts[position];
                    block.pack(
                        start..start + count,
                        0..p,
                        &vec![0.0; p],
                        1.0,
                        rows.as_mut().subcols_mut(to, count),
                    );
                    to += count;
                }
            }
        }
        return Second::Rows(RowBlock::Owned(Arc::new(rows)));
    }
    let mut scatter: Mat<f64> = Mat::zeros(p, p);
    let (mut count, mut mean) = (0.0, vec![0.0; p]);
    for &(part, task) in parts {
        let own = match &part.second[task] {
            Second::Scatter(own) => own.clone(),
            Second::Rows(rows) => scatter_of_rows(rows, &part.task_mean(task), p),
        };
        scatter += own;
        let more = part.cells.samples(task) as f64;
        let part_mean = part.task_mean(task);
        let difference = Mat::from_fn(p, 1, |feature, _| part_mean[feature] - mean[feature]);
        dense::add_outer(
            scatter.as_mut(),
            difference.as_ref(),
            count * more / (count + more),
        );
        mean.iter_mut()
            .zip(&part_mean)
            .for_each(|(mean, x)| *mean += more / (count + more) * (x - *mean));
        count += more;
    }
    Second::Scatter(scatter)
}

fn to_bytes(statistics: &Statistics<'_>) -> std::result::Result<Vec<u8>, String> {
    let p = statistics.features;
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = vec![
        (
            "means".into(),
            vec![statistics.cells.len(), p],
            bytes_of(&statistics.means),
        ),
        (
            "within".into(),
            vec![statistics.cells.len()],
            statistics
                .within
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect(),
        ),
    ];
    for (task, second) in statistics.second.iter().enumerate() {
        tensors.push(match second {
            Second::Scatter(scatter) => (format!("scatter.{task}"), vec![p, p], bytes_of(scatter)),
            Second::Rows(block) => {
                let mut rows = Mat::zeros(p, block.len());
                block.pack(0..block.len(), 0..p, &vec![0.0; p], 1.0, rows.as_mut());
                (
                    format!("rows.{task}"),
                    vec![block.len(), p],
                    bytes_of(&rows),
                )
            }
        });
    }
    let views: std::result::Result<Vec<_>, _> = tensors
        .iter()
        .map(|(name, shape, data)| {
            TensorView::new(Dtype::F64, shape.clone(), data).map(|view| (name.as_str(), view))
        })
        .collect();
    let tasks = serde_json::to_string(statistics.cells.tasks()).map_err(|e| e.to_string())?;
    let metadata = [
        ("format", FORMAT.to_owned()),
        ("features", p.to_string()),
        ("tasks", tasks),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect();
    safetensors::serialize(views.map_err(|e| e.to_string())?, Some(metadata))
        .map_err(|e| e.to_string())
}

const FORMAT: &str = "foretask-statistics-1";

fn bytes_of(matrix: &Mat<f64>) -> Vec<u8> {
    matrix
        .col_iter()
        .flat_map(|column| {
            column
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect::<Vec<u8>>()
        })
        .collect()
}

fn from_bytes(bytes: &[u8]) -> std::result::Result<Statistics<'static>, String> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| e.to_string())?;
    let metadata = header.metadata().as_ref().ok_or("it has no metadata")?;
    let get = |key: &str| metadata.get(key).ok_or(format!("it has no '{key}'"));
    if get("format")? != FORMAT {
        return Err(format!(
            "its format is '{}', not '{FORMAT}'",
            get("format")?
        ));
    }
    let features: usize = get("features")?
        .parse()
        .map_err(|_| "'features' is not a number")?;
    let tasks: Vec<Task> = serde_json::from_str(get("tasks")?).map_err(|e| e.to_string())?;
    if tasks
        .iter()
        .any(|task| task.classes.len() != task.counts.len())
    {
        return Err("class names and counts differ in number".into());
    }
    let cells = Cells::new(tasks);
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| e.to_string())?;
    let matrix =
        |name: &str, columns: usize, rows: usize| -> std::result::Result<Mat<f64>, String> {
            let view = tensors.tensor(name).map_err(|e| e.to_string())?;
            if view.dtype() != Dtype::F64 || view.data().len() != 8 * columns * rows {
                return Err(format!("'{name}' has the wrong shape"));
            }
            let values: Vec<f64> = view
                .data()
                .chunks_exact(8)
                .map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default()))
                .collect();
            if values.iter().any(|x| !x.is_finite()) {
                return Err(format!("'{name}' holds values that are not finite"));
            }
            Ok(Mat::from_fn(rows, columns, |i, j| values[j * rows + i]))
        };
    let means = matrix("means", cells.len(), features)?;
    let within = matrix("within", cells.len(), 1)?
        .row(0)
        .iter()
        .copied()
        .collect();
    let mut second = Vec::new();
    for (task, entry) in cells.tasks().iter().enumerate() {
        second.push(if entry.samples() < features {
            Second::Rows(RowBlock::Owned(Arc::new(matrix(
                &format!("rows.{task}"),
                entry.samples(),
                features,
            )?)))
        } else {
            Second::Scatter(matrix(&format!("scatter.{task}"), features, features)?)
        });
    }
    Ok(Statistics {
        features,
        cells,
        means,
        within,
        second,
    })
}
