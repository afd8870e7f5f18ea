//! [`Sparse`]: a matrix by those entries of its rows that are not zero, and products of it with itself.
//!
//! A Aᵀ is summed row by row along the columns that each row has (posting lists): time Σ_j n_j²/2 for n_j entries in
//! column j, where a dense product takes n² p/2. Every entry is summed in the order of the columns, whatever the number
//! of threads.

use std::ops::Range;

use faer::{ColMut, Mat};
use rayon::prelude::*;

/// Rows of (column, value), columns ascending.
#[derive(Clone, Debug)]
pub(crate) struct Sparse {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    width: usize,
}

impl Sparse {
    /// Without rows, of so many columns.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            width,
        }
    }

    /// Where rows start, columns and values.
    pub(crate) fn parts(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.starts, &self.columns, &self.values)
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// One more entry of the row that is being written.
    pub(crate) fn push(&mut self, column: u32, value: f64) {
        self.columns.push(column);
        self.values.push(value);
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) {
        self.starts.push(self.columns.len());
    }

    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Σ value · x[column] of a row.
    pub(crate) fn dot(&self, row: usize, x: &[f64]) -> f64 {
        let (columns, values) = self.row(row);
        let both = columns.iter().zip(values);
        both.map(|(&column, value)| value * x[column as usize])
            .sum()
    }

    fn range(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.range(row);
        (&self.columns[range.clone()], &self.values[range])
    }

    pub(crate) fn transposed(&self) -> Self {
        let mut starts = vec![0; self.width + 1];
        for &column in &self.columns {
            starts[column as usize + 1] += 1;
        }
        for column in 0..self.width {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut columns = vec![0; self.columns.len()];
        let mut values = vec![0.0; self.values.len()];
        for row in 0..self.rows() {
            let (own, of) = self.row(row);
            for (&column, &value) in own.iter().zip(of) {
                let place = &mut next[column as usize];
                columns[*place] = row as u32;
                values[*place] = value;
                *place += 1;
            }
        }
        Self {
            starts,
            columns,
            values,
            width: self.rows(),
        }
    }

    /// The lower triangle of A Aᵀ, given Aᵀ.
    pub(crate) fn outer(&self, transposed: &Self) -> Mat<f64> {
        let n = self.rows();
        let mut product = Mat::zeros(n, n);
        let columns: Vec<ColMut<'_, f64>> = product.col_iter_mut().collect();
        columns.into_par_iter().enumerate().for_each(|(l, to)| {
            let Some(to) = to.try_as_col_major_mut() else {
                return;
            };
            let to = to.as_slice_mut();
            let (own, values) = self.row(l);
            for (&column, &value) in own.iter().zip(values) {
                let (rows, others) = transposed.row(column as usize);
                let first = rows.partition_point(|&row| (row as usize) < l);
                for (&row, &other) in rows[first..].iter().zip(&others[first..]) {
                    to[row as usize] += value * other;
                }
            }
        });
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_those_of_the_dense_matrix(
            n in 1_usize..12,
            p in 1_usize..9,
            entries in prop::collection::vec((any::<bool>(), -3.0..3.0_f64), 108),
        ) {
            let value = |i: usize, j: usize| {
                let (there, value) = entries[i * 9 + j];
                if there { value } else { 0.0 }
            };
            let full = Mat::from_fn(n, p, value);
            let mut sparse = Sparse::new(p);
            for i in 0..n {
                (0..p).filter(|&j| full[(i, j)] != 0.0).for_each(|j| sparse.push(j as u32, full[(i, j)]));
                sparse.end_row();
            }
            let transposed = sparse.transposed();
            let (rows, columns) = (sparse.outer(&transposed), transposed.outer(&sparse));
            let (by_rows, by_columns) = (&full * full.transpose(), full.transpose() * &full);
            for (own, expected) in [(&rows, &by_rows), (&columns, &by_columns)] {
                for j in 0..own.ncols() {
                    for i in j..own.nrows() {
                        prop_assert!((own[(i, j)] - expected[(i, j)]).abs() < 1e-12);
                    }
                }
            }
            let x: Vec<f64> = (0..p).map(|j| j as f64 - 1.5).collect();
            let expected: f64 = (0..p).map(|j| full[(0, j)] * x[j]).sum();
            prop_assert!((sparse.dot(0, &x) - expected).abs() < 1e-12);
        }
    }
}
