//! [`Rows`]: the only door for data.
//!
//! Data stay where they are and in the type they have: a [`Rows`] is a borrowed n x p view of `f32`
//! or `f64` in any strided layout. Whoever needs numbers asks for a *panel*: a block of samples,
//! converted to `f64`, shifted and scaled, one sample a column.

use std::ops::Range;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::error::{Error, Result};

/// Samples in a panel: large enough for fast products, small enough to stay in the cache.
pub(crate) const PANEL: usize = 256;
/// Values in a panel from which on waking other threads is worth it.
const WORTH_SHARING: usize = 1 << 16;

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
        let mut panel = Mat::zeros(p, PANEL.min(index.len()));
        for start in (0..index.len()).step_by(PANEL) {
            let own = &index[start..(start + PANEL).min(index.len())];
            let mut part = panel.as_mut().subcols_mut(0, own.len());
            self.pack(own, 0..p, |l| shift(start + l), scale, part.as_mut());
            each(start, part.as_ref());
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
    // All are looked at, without a way out: that is faster where, as ever, all are finite.
    let finite = |values: &[T]| values.iter().fold(true, |so, &x| so & x.into().is_finite());
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
        for feature in features.clone() {
            let from = view.col(feature);
            for (sample, &row) in index.iter().enumerate() {
                panel[(feature - features.start, sample)] =
                    (from[row].into() - shift(sample)[feature]) * scale;
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
        ] {
            let mut panel = Mat::zeros(2, 2);
            rows.pack(&[1, 0], 1..3, |_| &[0.0, 1.0, 2.0], 2.0, panel.as_mut());
            assert_eq!(panel, faer::mat![[8.0, 2.0], [8.0, 2.0]]);
        }
    }
}
