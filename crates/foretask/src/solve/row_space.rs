//! Coordinates of rows in the space they span, where features outnumber them.
//!
//! Any orthonormal basis has the inner products of the rows, which is all that the estimates of a theory ask for. The
//! one taken is that of Gram and Schmidt, longest remainder first: with K the Gram matrix of all rows and P the order
//! that a Cholesky factorisation with pivots finds,
//!
//! ```text
//! P K Pᵀ = L Lᵀ:   a row has its row of L for coordinates.
//! ```
//!
//! Remainders below the rounding of K are dropped, so that L has as many columns as the rows have directions.
//!
//! Time: n³/6. Memory: n² while it is made, and n r for the coordinates.

use faer::Mat;

use crate::numerics::dense;

pub(super) struct RowSpace {
    /// L, lower triangle; what is right of `rank` is left over.
    factor: Mat<f64>,
    /// The row of L of each row.
    place: Vec<usize>,
    rank: usize,
}

impl RowSpace {
    /// From the Gram matrix of the rows (lower triangle). One that is none (overflow) has no direction.
    pub(super) fn new(gram: Mat<f64>) -> Self {
        let (rows, mut factor) = (gram.nrows(), gram);
        let none = || ((0..rows).collect(), 0);
        let (order, rank) = dense::pivoted_cholesky(factor.as_mut()).unwrap_or_else(none);
        let mut place = vec![0; order.len()];
        for (i, &row) in order.iter().enumerate() {
            place[row] = i;
        }
        Self {
            factor,
            place,
            rank,
        }
    }

    /// How many coordinates there are: at least one, which is zero where all rows of every task are alike.
    pub(super) fn dimension(&self) -> usize {
        self.rank.max(1)
    }

    /// The coordinates of a row are written to `to`, which is zero.
    pub(super) fn write(&self, row: usize, to: &mut [f64]) {
        let place = self.place[row];
        let count = self.rank.min(place + 1);
        for (i, x) in to.iter_mut().enumerate().take(count) {
            *x = self.factor[(place, i)];
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    const ROWS: usize = 18;

    fn rows() -> Mat<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        Mat::from_fn(ROWS, 40, |_, _| StandardNormal.sample(&mut random))
    }

    /// Coordinates have the inner products of the rows.
    #[track_caller]
    fn assert_is_row_space(space: &RowSpace, rows: &Mat<f64>) {
        let mut coordinates = Mat::zeros(ROWS, space.dimension());
        let mut row = vec![0.0; space.dimension()];
        for sample in 0..ROWS {
            row.fill(0.0);
            space.write(sample, &mut row);
            let entries = row.iter().enumerate();
            entries.for_each(|(i, x)| coordinates[(sample, i)] = *x);
        }
        let gram = rows * rows.transpose();
        let again = &coordinates * coordinates.transpose();
        assert!((&again - &gram).norm_max() < 1e-12 * gram.norm_max());
    }

    #[test]
    fn coordinates_have_the_inner_products_of_the_rows() {
        let rows = rows();
        let space = RowSpace::new(&rows * rows.transpose());
        assert_eq!(space.dimension(), ROWS);
        assert_is_row_space(&space, &rows);
    }

    #[test]
    fn rows_that_others_span_add_no_direction() {
        let mut rows = rows();
        for feature in 0..40 {
            for row in 9..ROWS {
                rows[(row, feature)] = rows[(row % 9, feature)] - 0.5 * rows[(5, feature)];
            }
        }
        let space = RowSpace::new(&rows * rows.transpose());
        assert_eq!(space.dimension(), 9);
        assert_is_row_space(&space, &rows);
    }

    #[test]
    fn faint_directions_are_kept() {
        let mut rows = rows();
        for feature in 0..40 {
            rows[(5, feature)] = rows[(4, feature)] + 1e-5 * rows[(5, feature)];
        }
        let space = RowSpace::new(&rows * rows.transpose());
        assert_eq!(space.dimension(), ROWS);
        assert_is_row_space(&space, &rows);
    }

    #[test]
    fn equal_rows_span_nothing() {
        let space = RowSpace::new(Mat::zeros(ROWS, ROWS));
        assert_eq!(space.dimension(), 1);
        let mut row = [0.0];
        space.write(3, &mut row);
        assert_eq!(row, [0.0]);
    }

    #[test]
    fn what_overflowed_has_no_direction() {
        let space = RowSpace::new(Mat::full(ROWS, ROWS, f64::NAN));
        assert_eq!((space.rank, space.dimension()), (0, 1));
    }
}
