//! [`Rows`]: the only door for data.
//!
//! Data stay where they are and in the type they have: a [`Rows`] is a borrowed n x p view of `f32`
//! or `f64` in any strided layout, or of those entries that are not zero (CSR). Whoever needs numbers asks for a
//! *panel*: a block of samples, converted to `f64`, shifted and scaled, one sample a column; sparse rows can be asked
//! for their entries instead.

use std::ops::Range;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::numerics::sparse::Sparse;

/// Samples in a panel: large enough for fast products, small enough to stay in the cache.
pub(crate) const PANEL: usize = 256;
/// Values in a panel at most, unless one sample has more.
const PANEL_VALUES: usize = 1 << 21;
/// Values in a panel from which on waking other threads is worth it.
const WORTH_SHARING: usize = 1 << 16;

/// Samples in a panel of `most`, or fewer where there are very many features.
pub(crate) fn panel_samples(most: usize, features: usize) -> usize {
    most.min(PANEL_VALUES / features.max(1)).max(1)
}

/// A borrowed table of samples: n rows of p features, `f32` or `f64`, in any strided layout or sparse.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a>(View<'a>);

#[derive(Clone, Copy, Debug)]
enum View<'a> {
    F32(MatRef<'a, f32>),
    F64(MatRef<'a, f64>),
    Sparse32(Csr<'a, f32>),
    Sparse64(Csr<'a, f64>),
}

/// Entries that are not zero, row after row.
#[derive(Debug)]
struct Csr<'a, T> {
    starts: &'a [usize],
    columns: &'a [u32],
    values: &'a [T],
    features: usize,
}

impl<T> Clone for Csr<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Csr<'_, T> {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The number types that data may have: `f32` and `f64`.
pub trait Element: sealed::Sealed + Copy + Into<f64> + Sync + 'static {
    #[doc(hidden)]
    fn rows(view: MatRef<'_, Self>) -> Rows<'_>;
    #[doc(hidden)]
    fn sparse<'a>(
        starts: &'a [usize],
        columns: &'a [u32],
        values: &'a [Self],
        features: usize,
    ) -> Rows<'a>;
}

impl Element for f32 {
    fn rows(view: MatRef<'_, Self>) -> Rows<'_> {
        Rows(View::F32(view))
    }

    fn sparse<'a>(
        starts: &'a [usize],
        columns: &'a [u32],
        values: &'a [Self],
        features: usize,
    ) -> Rows<'a> {
        Rows(View::Sparse32(Csr {
            starts,
            columns,
            values,
            features,
        }))
    }
}

impl Element for f64 {
    fn rows(view: MatRef<'_, Self>) -> Rows<'_> {
        Rows(View::F64(view))
    }

    fn sparse<'a>(
        starts: &'a [usize],
        columns: &'a [u32],
        values: &'a [Self],
        features: usize,
    ) -> Rows<'a> {
        Rows(View::Sparse64(Csr {
            starts,
            columns,
            values,
            features,
        }))
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

    /// Sparse rows (CSR): the entries of row i are those from `starts[i]` to `starts[i + 1]`, each with its column, in
    /// ascending order; all others are zero. Products, and so training, take the time of the entries; no dense copy of
    /// the table is made.
    ///
    /// # Errors
    /// [`Error::Sparse`] if these are no such rows.
    ///
    /// ```
    /// use foretask::Rows;
    /// // 1 0 2
    /// // 0 0 3
    /// let rows = Rows::csr(&[0, 2, 3], &[0, 2, 2], &[1.0, 2.0, 3.0], 3)?;
    /// assert_eq!((rows.len(), rows.features()), (2, 3));
    /// # Ok::<(), foretask::Error>(())
    /// ```
    pub fn csr<T: Element>(
        starts: &'a [usize],
        columns: &'a [u32],
        values: &'a [T],
        features: usize,
    ) -> Result<Self> {
        let wrong = |why| Err(Error::Sparse { row: None, why });
        if columns.len() != values.len() {
            return wrong("there are not as many columns as values");
        }
        if features == 0 || features > u32::MAX as usize {
            return wrong("the number of features must be at least 1 and less than 2^32");
        }
        if starts.first() != Some(&0) || starts.last() != Some(&values.len()) {
            return wrong("the first start must be 0 and the last one the number of values");
        }
        for (row, ends) in starts.windows(2).enumerate() {
            let own = columns.get(ends[0]..ends[1]);
            let why = match own {
                None => "its end lies before its start",
                Some(own) if own.windows(2).any(|pair| pair[0] >= pair[1]) => {
                    "its columns do not ascend (sort them, and sum those that are there twice)"
                }
                Some(own) if own.last().is_some_and(|&last| last as usize >= features) => {
                    "a column is beyond the number of features"
                }
                _ => continue,
            };
            return Err(Error::Sparse {
                row: Some(row + 1),
                why,
            });
        }
        Ok(T::sparse(starts, columns, values, features))
    }

    /// Rows that were written as sparse ones.
    pub(crate) fn of_entries(entries: &'a Sparse) -> Self {
        let (starts, columns, values) = entries.parts();
        f64::sparse(starts, columns, values, entries.width())
    }

    /// Whether zeros are left out.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.0, View::Sparse32(_) | View::Sparse64(_))
    }

    /// The entries of a sparse row; none of a dense one.
    pub(crate) fn for_entries(&self, row: usize, mut each: impl FnMut(u32, f64)) {
        match self.0 {
            View::Sparse32(csr) => csr.for_entries(row, &mut each),
            View::Sparse64(csr) => csr.for_entries(row, &mut each),
            View::F32(_) | View::F64(_) => {}
        }
    }

    /// The number of rows, n.
    pub fn len(&self) -> usize {
        match self.0 {
            View::Sparse32(csr) => csr.starts.len().saturating_sub(1),
            View::Sparse64(csr) => csr.starts.len().saturating_sub(1),
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
            View::Sparse32(csr) => csr.features,
            View::Sparse64(csr) => csr.features,
            View::F32(view) => view.ncols(),
            View::F64(view) => view.ncols(),
        }
    }

    /// The first value that is not a finite number, as an error.
    pub(crate) fn check_finite(&self) -> Result<()> {
        let found = match self.0 {
            View::Sparse32(csr) => csr.first_not_finite(),
            View::Sparse64(csr) => csr.first_not_finite(),
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
    /// (features x samples); `shift` gives the full-length vector to subtract for the i-th sample. Samples
    /// are independent: large panels are filled by all threads.
    pub(crate) fn pack<'s>(
        &self,
        index: &[usize],
        features: Range<usize>,
        shift: impl Fn(usize) -> &'s [f64] + Sync,
        scale: f64,
        panel: MatMut<'_, f64>,
    ) {
        const SHARED: usize = 64;
        let fill = |start: usize, index: &[usize], panel: MatMut<'_, f64>| {
            let shift = |sample: usize| shift(start + sample);
            match self.0 {
                View::Sparse32(csr) => csr.pack(index, features.clone(), shift, scale, panel),
                View::Sparse64(csr) => csr.pack(index, features.clone(), shift, scale, panel),
                View::F32(view) => pack(view, index, features.clone(), shift, scale, panel),
                View::F64(view) => pack(view, index, features.clone(), shift, scale, panel),
            }
        };
        if panel.nrows() * panel.ncols() < WORTH_SHARING {
            return fill(0, index, panel);
        }
        let parts: Vec<MatMut<'_, f64>> = panel.par_col_chunks_mut(SHARED).collect();
        let own = index.par_chunks(SHARED).enumerate();
        parts
            .into_par_iter()
            .zip(own)
            .for_each(|(panel, (part, own))| fill(part * SHARED, own, panel));
    }

    /// Calls `each` with panels of (x - shift) * scale of the samples `index` (features x samples), in
    /// order, and the position of the first sample of each; no more than one panel exists at a time.
    pub(crate) fn for_panels<'s>(
        &self,
        index: &[usize],
        shift: impl Fn(usize) -> &'s [f64] + Sync,
        scale: f64,
        mut each: impl FnMut(usize, MatRef<'_, f64>),
    ) {
        let p = self.features();
        let samples = panel_samples(PANEL, p);
        let mut panel = Mat::zeros(p, samples.min(index.len()));
        for start in (0..index.len()).step_by(samples) {
            let own = &index[start..(start + samples).min(index.len())];
            let mut part = panel.as_mut().subcols_mut(0, own.len());
            self.pack(own, 0..p, |l| shift(start + l), scale, part.as_mut());
            each(start, part.as_ref());
        }
    }
}

impl<T: Element> Csr<'_, T> {
    fn range(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    fn for_entries(&self, row: usize, each: &mut impl FnMut(u32, f64)) {
        let range = self.range(row);
        let both = self.columns[range.clone()].iter().zip(&self.values[range]);
        both.for_each(|(&column, &value)| each(column, value.into()));
    }

    fn first_not_finite(&self) -> Option<(usize, usize, f64)> {
        let place = self.values.iter().position(|&x| !x.into().is_finite())?;
        let row = self.starts.partition_point(|&start| start <= place) - 1;
        let column = self.columns[place] as usize;
        Some((row, column, self.values[place].into()))
    }

    fn pack<'s>(
        &self,
        index: &[usize],
        features: Range<usize>,
        shift: impl Fn(usize) -> &'s [f64],
        scale: f64,
        mut panel: MatMut<'_, f64>,
    ) {
        for (sample, &row) in index.iter().enumerate() {
            let shift = &shift(sample)[features.clone()];
            let mut to = panel.as_mut().col_mut(sample);
            let zeros = to.as_mut().iter_mut().zip(shift);
            zeros.for_each(|(to, shift)| *to = (0.0 - shift) * scale);
            let range = self.range(row);
            let columns = &self.columns[range.clone()];
            let first = columns.partition_point(|&column| (column as usize) < features.start);
            let entries = columns[first..].iter().zip(&self.values[range][first..]);
            for (&column, &value) in entries {
                let column = column as usize;
                if column >= features.end {
                    break;
                }
                let feature = column - features.start;
                to[feature] = (value.into() - shift[feature]) * scale;
            }
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
    // All are looked at, without a way out: that is faster where, as ever, all are finite. Zero times a number that is
    // none is none, and the compiler does several sums at once.
    let finite = |values: &[T]| {
        const SUMS: usize = 16;
        let mut sums = [0.0; SUMS];
        let (many, rest) = values.as_chunks::<SUMS>();
        for own in many {
            for (sum, &x) in sums.iter_mut().zip(own) {
                *sum += x.into() * 0.0;
            }
        }
        let rest = rest.iter().all(|&x| x.into().is_finite());
        rest && sums.iter().all(|&sum| sum == 0.0)
    };
    const TOGETHER: usize = 1 << 10;
    let clean = |start: usize| {
        let rows = TOGETHER.min(view.nrows() - start);
        let part = view.subrows(start, rows);
        if is_row_major(view) {
            part.row_iter().all(|row| match row.try_as_row_major() {
                Some(row) => finite(row.as_slice()),
                None => row.iter().all(|&x| x.into().is_finite()),
            })
        } else {
            part.col_iter()
                .all(|column| match column.try_as_col_major() {
                    Some(column) => finite(column.as_slice()),
                    None => column.iter().all(|&x| x.into().is_finite()),
                })
        }
    };
    let starts: Vec<usize> = (0..view.nrows()).step_by(TOGETHER).collect();
    let bad = |row: usize, feature: usize| {
        let value: f64 = view[(row, feature)].into();
        (!value.is_finite()).then_some((row, feature, value))
    };
    let first = starts.into_par_iter().find_first(|&start| !clean(start))?;
    let rows = first..(first + TOGETHER).min(view.nrows());
    rows.clone()
        .find_map(|row| (0..view.ncols()).find_map(|feature| bad(row, feature)))
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
        // Some columns at a time, so that both what is read and what is written stay near.
        const COLUMNS: usize = 16;
        for start in features.clone().step_by(COLUMNS) {
            let own = start..(start + COLUMNS).min(features.end);
            let columns = own
                .clone()
                .map(|feature| view.col(feature).try_as_col_major());
            let columns: Option<Vec<&[T]>> =
                columns.map(|own| own.map(|own| own.as_slice())).collect();
            let place = start - features.start;
            for (sample, &row) in index.iter().enumerate() {
                let shift = &shift(sample)[own.clone()];
                let to = panel.as_mut().col_mut(sample);
                let to = to.subrows_mut(place, own.len()).iter_mut().zip(shift);
                match &columns {
                    Some(columns) => {
                        for ((to, shift), from) in to.zip(columns) {
                            *to = (from[row].into() - shift) * scale;
                        }
                    }
                    None => {
                        for ((to, shift), feature) in to.zip(own.clone()) {
                            *to = (view[(row, feature)].into() - shift) * scale;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_and_types_give_the_same_panel() {
        let row_major = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let column_major = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let single: Vec<f32> = row_major.iter().map(|&x| x as f32).collect();
        for rows in [
            Rows::row_major(&row_major, 3).unwrap(),
            Rows::column_major(&column_major, 3).unwrap(),
            Rows::row_major(&single, 3).unwrap(),
            Rows::csr(&[0, 3, 6], &[0, 1, 2, 0, 1, 2], &row_major, 3).unwrap(),
            Rows::csr(&[0, 3, 6], &[0, 1, 2, 0, 1, 2], &single, 3).unwrap(),
        ] {
            let mut panel = Mat::zeros(2, 2);
            rows.pack(&[1, 0], 1..3, |_| &[0.0, 1.0, 2.0], 2.0, panel.as_mut());
            assert_eq!(panel, faer::mat![[8.0, 2.0], [8.0, 2.0]]);
        }
    }
}
