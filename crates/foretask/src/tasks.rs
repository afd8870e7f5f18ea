//! [`Rows`] and [`Tasks`]: the only door for data.
//!
//! Data stay where they are and in the type they have: a [`Rows`] is a borrowed n x p view of `f32`
//! or `f64` in any strided layout, and [`Tasks`] adds an order of its rows by cell. Whoever needs
//! numbers asks for a *panel*: a block of samples, converted to `f64`, shifted and scaled, one
//! sample a column. All checks happen here, once.

use std::collections::HashMap;
use std::ops::Range;

use faer::{MatMut, MatRef};

use crate::cells::{Cells, Task, sort_names};
use crate::error::{Error, Result};

/// Samples in a panel: large enough for fast products, small enough to stay in the cache.
pub(crate) const PANEL: usize = 256;

/// A borrowed table of samples: n rows of p features, `f32` or `f64`, in any strided layout.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a>(View<'a>);

#[derive(Clone, Copy, Debug)]
enum View<'a> {
    F32(MatRef<'a, f32>),
    F64(MatRef<'a, f64>),
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The number types that data may have: `f32` and `f64`.
pub trait Element: sealed::Sealed + Copy + Into<f64> + Sync + 'static {
    #[doc(hidden)]
    fn rows(view: MatRef<'_, Self>) -> Rows<'_>;
}

impl Element for f32 {
    fn rows(view: MatRef<'_, Self>) -> Rows<'_> {
        Rows(View::F32(view))
    }
}

impl Element for f64 {
    fn rows(view: MatRef<'_, Self>) -> Rows<'_> {
        Rows(View::F64(view))
    }
}

impl<'a, T: Element> From<MatRef<'a, T>> for Rows<'a> {
    fn from(view: MatRef<'a, T>) -> Self {
        T::rows(view)
    }
}

impl<'a> Rows<'a> {
    /// Rows stored one after the other, each of `features` values.
    ///
    /// # Errors
    /// [`Error::Shape`] if the length is not a multiple of `features`.
    ///
    /// ```
    /// use foretask::Rows;
    /// let rows = Rows::row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3)?;
    /// assert_eq!((rows.len(), rows.features()), (2, 3));
    /// # Ok::<(), foretask::Error>(())
    /// ```
    pub fn row_major<T: Element>(values: &'a [T], features: usize) -> Result<Self> {
        let rows = whole_rows(values.len(), features)?;
        Ok(MatRef::from_row_major_slice(values, rows, features).into())
    }

    /// Features stored one after the other, as Fortran and NumPy's order "F" do.
    ///
    /// # Errors
    /// [`Error::Shape`] if the length is not a multiple of `features`.
    pub fn column_major<T: Element>(values: &'a [T], features: usize) -> Result<Self> {
        let rows = whole_rows(values.len(), features)?;
        Ok(MatRef::from_column_major_slice(values, rows, features).into())
    }

    /// The number of rows, n.
    pub fn len(&self) -> usize {
        match self.0 {
            View::F32(view) => view.nrows(),
            View::F64(view) => view.nrows(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of features, p.
    pub fn features(&self) -> usize {
        match self.0 {
            View::F32(view) => view.ncols(),
            View::F64(view) => view.ncols(),
        }
    }

    /// The values themselves, if they are `f64`.
    pub(crate) fn as_f64(&self) -> Option<MatRef<'a, f64>> {
        match self.0 {
            View::F64(view) => Some(view),
            View::F32(_) => None,
        }
    }

    /// The first value that is not a finite number, as an error.
    pub(crate) fn check_finite(&self) -> Result<()> {
        let found = match self.0 {
            View::F32(view) => first_not_finite(view),
            View::F64(view) => first_not_finite(view),
        };
        match found {
            Some((row, feature, value)) => Err(Error::NotFinite {
                row: row + 1,
                feature: feature + 1,
                value,
            }),
            None => Ok(()),
        }
    }

    /// Writes (x - shift) * scale of the samples `index` and the given features into `panel`
    /// (features x samples); `shift` gives the full-length vector to subtract for the i-th sample.
    pub(crate) fn pack<'s>(
        &self,
        index: &[usize],
        features: Range<usize>,
        shift: impl Fn(usize) -> &'s [f64],
        scale: f64,
        panel: MatMut<'_, f64>,
    ) {
        match self.0 {
            View::F32(view) => pack(view, index, features, shift, scale, panel),
            View::F64(view) => pack(view, index, features, shift, scale, panel),
        }
    }
}

fn whole_rows(values: usize, features: usize) -> Result<usize> {
    if features == 0 || !values.is_multiple_of(features) {
        return Err(Error::Shape {
            what: "values (a multiple of the number of features)",
            expected: features,
            got: values,
        });
    }
    Ok(values / features)
}

fn is_row_major<T>(view: MatRef<'_, T>) -> bool {
    view.col_stride().unsigned_abs() <= view.row_stride().unsigned_abs()
}

fn first_not_finite<T: Element>(view: MatRef<'_, T>) -> Option<(usize, usize, f64)> {
    let bad = |row: usize, feature: usize| {
        let value: f64 = view[(row, feature)].into();
        (!value.is_finite()).then_some((row, feature, value))
    };
    if is_row_major(view) {
        (0..view.nrows()).find_map(|row| (0..view.ncols()).find_map(|feature| bad(row, feature)))
    } else {
        (0..view.ncols()).find_map(|feature| (0..view.nrows()).find_map(|row| bad(row, feature)))
    }
}

fn pack<'s, T: Element>(
    view: MatRef<'_, T>,
    index: &[usize],
    features: Range<usize>,
    shift: impl Fn(usize) -> &'s [f64],
    scale: f64,
    mut panel: MatMut<'_, f64>,
) {
    if is_row_major(view) {
        for (sample, &row) in index.iter().enumerate() {
            let from = view.row(row).subcols(features.start, features.len());
            let shift = &shift(sample)[features.clone()];
            let to = panel.as_mut().col_mut(sample);
            // The contiguous case is the common one and vectorises.
            match (from.try_as_row_major(), to.try_as_col_major_mut()) {
                (Some(from), Some(to)) => {
                    for ((to, &from), shift) in
                        to.as_slice_mut().iter_mut().zip(from.as_slice()).zip(shift)
                    {
                        *to = (from.into() - shift) * scale;
                    }
                }
                _ => {
                    for (feature, shift) in shift.iter().enumerate() {
                        panel[(feature, sample)] = (from[feature].into() - shift) * scale;
                    }
                }
            }
        }
    } else {
        for feature in features.clone() {
            let from = view.col(feature);
            for (sample, &row) in index.iter().enumerate() {
                panel[(feature - features.start, sample)] =
                    (from[row].into() - shift(sample)[feature]) * scale;
            }
        }
    }
}

/// Validated training data, grouped by cell.
///
/// ```
/// use foretask::{Rows, Tasks};
/// let values = [0.0, 1.0, 0.1, 0.9, 1.0, 0.0, 0.8, 0.2];
/// let tasks = Tasks::new(Rows::row_major(&values, 2)?, &["t"; 4], &["a", "a", "b", "b"])?;
/// assert_eq!(tasks.cells().len(), 2);
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tasks<'a> {
    rows: Rows<'a>,
    cells: Cells,
    order: Vec<usize>,
}

impl<'a> Tasks<'a> {
    /// Groups `rows` by task and class; both lists have one name per row. Tasks and classes are
    /// numbered in the order of their names.
    ///
    /// # Errors
    /// If the lengths differ, a value is not finite, or a task has fewer than two rows.
    pub fn new<S: AsRef<str>, U: AsRef<str>>(
        rows: Rows<'a>,
        task: &[S],
        class: &[U],
    ) -> Result<Self> {
        Self::of_rows(rows, task, class, 0..rows.len())
    }

    /// The same, each row as often as `times` says: once, many times, or (0) not at all. Nothing is
    /// copied. Copies of a row count as samples of their own: leave-one-out leaves out one of them.
    ///
    /// # Errors
    /// As [`Tasks::new`].
    pub fn repeated<S: AsRef<str>, U: AsRef<str>>(
        rows: Rows<'a>,
        task: &[S],
        class: &[U],
        times: &[usize],
    ) -> Result<Self> {
        check_length("repetitions (one per row)", rows, times.len())?;
        let repeated = times.iter().enumerate();
        let repeated = repeated.flat_map(|(row, &times)| std::iter::repeat_n(row, times));
        Self::of_rows(rows, task, class, repeated)
    }

    fn of_rows<S: AsRef<str>, U: AsRef<str>>(
        rows: Rows<'a>,
        task: &[S],
        class: &[U],
        taken: impl Iterator<Item = usize>,
    ) -> Result<Self> {
        if rows.len() < 2 || rows.features() == 0 {
            return Err(Error::Empty {
                rows: rows.len(),
                features: rows.features(),
            });
        }
        let (cells, order) = group(rows, task, class, taken)?;
        if order.len() < 2 {
            return Err(Error::Empty {
                rows: order.len(),
                features: rows.features(),
            });
        }
        check_rows(&cells)?;
        Ok(Self { rows, cells, order })
    }

    /// The tasks, their classes and counts.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The number of features, p.
    pub fn features(&self) -> usize {
        self.rows.features()
    }

    /// The number of rows, n.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no row (never true: a `Tasks` has at least two).
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The rows of one task, in the order of its cells, as positions in the original table.
    pub fn rows_of(&self, task: usize) -> &[usize] {
        let start: usize = (0..task).map(|i| self.cells.samples(i)).sum();
        &self.order[start..start + self.cells.samples(task)]
    }

    /// All rows in the order of the cells.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The table itself.
    pub fn rows(&self) -> Rows<'a> {
        self.rows
    }

    /// The class (index within the task) of each row of [`Tasks::rows_of`].
    pub fn classes_of(&self, task: usize) -> Vec<usize> {
        classes_in_order(&self.cells.tasks()[task])
    }
}

/// 0, 0, …, 1, 1, …: the classes of a task's samples in the order of its cells.
pub(crate) fn classes_in_order(task: &Task) -> Vec<usize> {
    task.counts
        .iter()
        .enumerate()
        .flat_map(|(class, &count)| std::iter::repeat_n(class, count))
        .collect()
}

/// Every task must have two rows.
pub(crate) fn check_rows(cells: &Cells) -> Result<()> {
    match cells.tasks().iter().find(|task| task.samples() < 2) {
        Some(task) => Err(Error::TooFewRows {
            task: task.name.clone(),
            rows: task.samples(),
        }),
        None => Ok(()),
    }
}

fn check_length(what: &'static str, rows: Rows<'_>, got: usize) -> Result<()> {
    match got == rows.len() {
        true => Ok(()),
        false => Err(Error::Shape {
            what,
            expected: rows.len(),
            got,
        }),
    }
}

/// Checks values and lengths; returns the cells and the rows that are taken in the order of the cells.
pub(crate) fn group<S: AsRef<str>, U: AsRef<str>>(
    rows: Rows<'_>,
    task: &[S],
    class: &[U],
    taken: impl Iterator<Item = usize>,
) -> Result<(Cells, Vec<usize>)> {
    check_length("task names (one per row)", rows, task.len())?;
    check_length("class labels (one per row)", rows, class.len())?;
    rows.check_finite()?;

    let mut by_task: HashMap<&str, HashMap<&str, Vec<usize>>> = HashMap::new();
    for row in taken {
        by_task
            .entry(task[row].as_ref())
            .or_default()
            .entry(class[row].as_ref())
            .or_default()
            .push(row);
    }
    let mut names: Vec<String> = by_task.keys().map(|&name| name.to_owned()).collect();
    sort_names(&mut names);
    let mut tasks = Vec::with_capacity(names.len());
    let mut order = Vec::with_capacity(rows.len());
    for name in names {
        let by_class = &by_task[name.as_str()];
        let mut classes: Vec<String> = by_class.keys().map(|&class| class.to_owned()).collect();
        sort_names(&mut classes);
        let counts = classes
            .iter()
            .map(|class| by_class[class.as_str()].len())
            .collect();
        for class in &classes {
            order.extend_from_slice(&by_class[class.as_str()]);
        }
        tasks.push(Task {
            name,
            classes,
            counts,
        });
    }
    Ok((Cells::new(tasks), order))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn layouts_and_types_give_the_same_panel() {
        let row_major = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let column_major = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let single: Vec<f32> = row_major.iter().map(|&x| x as f32).collect();
        for rows in [
            Rows::row_major(&row_major, 3).unwrap(),
            Rows::column_major(&column_major, 3).unwrap(),
            Rows::row_major(&single, 3).unwrap(),
        ] {
            let mut panel = Mat::zeros(2, 2);
            rows.pack(&[1, 0], 1..3, |_| &[0.0, 1.0, 2.0], 2.0, panel.as_mut());
            assert_eq!(panel, faer::mat![[8.0, 2.0], [8.0, 2.0]]);
        }
    }

    #[test]
    fn the_first_bad_value_is_named() {
        let mut values = [0.0; 6];
        values[4] = f64::NAN;
        let error =
            Tasks::new(Rows::row_major(&values, 3).unwrap(), &["t"; 2], &["a", "b"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 2, feature 2: the value is NaN; every feature must be a finite number"
        );
    }

    #[test]
    fn repetition_is_what_copying_rows_would_be() {
        let values = [0.0, 1.0, 2.0, 3.0];
        let rows = Rows::row_major(&values, 1).unwrap();
        let tasks = Tasks::repeated(rows, &["t"; 4], &["a", "b", "a", "b"], &[2, 1, 0, 3]).unwrap();
        assert_eq!(tasks.rows_of(0), [0, 0, 1, 3, 3, 3]);
        assert_eq!(tasks.cells().tasks()[0].counts, [2, 4]);
        let error = Tasks::repeated(rows, &["t"; 4], &["a"; 4], &[0; 4]).unwrap_err();
        assert!(matches!(error, Error::Empty { rows: 0, .. }));
    }

    #[test]
    fn a_task_of_one_row_is_refused() {
        let error = Tasks::new(
            Rows::row_major(&[0.0; 3], 1).unwrap(),
            &["t", "t", "u"],
            &["a", "b", "a"],
        )
        .unwrap_err();
        assert!(matches!(error, Error::TooFewRows { task, rows: 1 } if task == "u"));
    }
}
