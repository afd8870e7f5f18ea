//! Coordinates of rows in the space they span, where features outnumber them.
//!
//! Any orthonormal basis of the row space gives the same classifiers. The one taken makes the largest
//! task cheap: its own principal directions come first, so that its scatter is diagonal and I + γ B needs no
//! factorisation for any γ. With K the Gram matrix of all rows, s the rows of that task and o the others,
//!
//! ```text
//! K_ss = U diag(w) Uᵀ,   C = K_os U w^{-1/2},   K_oo - C Cᵀ = V diag(v) Vᵀ:
//! rows s have coordinates (U √w, 0), rows o (C, V √v).
//! ```
//!
//! C divides by √w. Where K_ss has directions too faint for that, the principal directions of all rows are
//! taken, and no scatter is diagonal.
//!
//! Time: eigenvalue problems of size n_s and n_o (of size n in the fallback), and 2 n_s² n_o.
//! Memory: up to 6 n² while it is made, of which 2 n² stay.

use std::ops::Range;

use faer::{Mat, MatRef};

use crate::numerics::dense;

/// Directions with less than this share of the largest variance are dropped.
const RANK: f64 = 1e-12;
/// Directions with less than this share are too faint to divide by: at this one the coordinates C are off by
/// 1e-16/√1e-6 = 1e-13 of the largest.
const FAINT: f64 = 1e-6;

pub(super) struct RowSpace {
    /// Z E for the basis E, n x r.
    pub(super) coordinates: Mat<f64>,
    /// A with E = Zᵀ A, n x r.
    pub(super) coefficients: Mat<f64>,
    /// The largest task and its scatter, if that is diagonal.
    pub(super) diagonal: Option<(usize, Vec<f64>)>,
}

impl RowSpace {
    /// From the Gram matrix of the rows (lower triangle), task after task. None if eigenvalues cannot be
    /// computed (overflow).
    pub(super) fn new(mut gram: Mat<f64>, counts: &[usize]) -> Option<Self> {
        dense::mirror(&mut gram);
        let most = (0..counts.len()).rev().max_by_key(|&task| counts[task])?;
        let first: usize = counts[..most].iter().sum();
        match Self::along(&gram, first..first + counts[most])? {
            Some((space, scatter)) => Some(Self {
                diagonal: Some((most, scatter)),
                ..space
            }),
            None => Self::of_all(&gram),
        }
    }

    /// The principal directions of all rows.
    fn of_all(gram: &Mat<f64>) -> Option<Self> {
        let main = Principal::new(gram.as_ref(), 0.0)?;
        Some(Self {
            coordinates: main.scaled(f64::sqrt),
            coefficients: main.scaled(|w| 1.0 / w.sqrt()),
            diagonal: None,
        })
    }

    /// Those of the rows `own`, then those of what they leave of the others, with the scatter of `own`. None
    /// inside if a direction of `own` is faint.
    fn along(gram: &Mat<f64>, own: Range<usize>) -> Option<Option<(Self, Vec<f64>)>> {
        let n = gram.nrows();
        let others: Vec<usize> = (0..n).filter(|row| !own.contains(row)).collect();
        let inside = gram.submatrix(own.start, own.start, own.len(), own.len());
        let main = Principal::new(inside, 0.0)?;
        let Some((&largest, &smallest)) = main.values.last().zip(main.values.first()) else {
            return Some(None);
        };
        if smallest < FAINT * largest {
            return Some(None);
        }
        let across = Mat::from_fn(others.len(), own.len(), |o, s| {
            gram[(others[o], own.start + s)]
        });
        let onto = main.scaled(|w| 1.0 / w.sqrt());
        let seen = dense::times(across.as_ref(), onto.as_ref());
        let mut unseen = Mat::from_fn(others.len(), others.len(), |i, j| {
            gram[(others[i], others[j])]
        });
        dense::add_outer(unseen.as_mut(), seen.as_ref(), -1.0);
        dense::mirror(&mut unseen);
        let rest = Principal::new(unseen.as_ref(), largest)?;
        let (r, extra) = (main.values.len(), rest.values.len());

        // f = (z_o - Σ C e) V v^{-1/2}.
        let scaled_rest = rest.scaled(|v| 1.0 / v.sqrt());
        let removed = dense::times(
            onto.as_ref(),
            dense::times(seen.transpose(), scaled_rest.as_ref()).as_ref(),
        );
        let mut coordinates = Mat::zeros(n, r + extra);
        let mut coefficients = Mat::zeros(n, r + extra);
        let own_coordinates = main.scaled(f64::sqrt);
        for s in 0..own.len() {
            let row = own.start + s;
            for i in 0..r {
                coordinates[(row, i)] = own_coordinates[(s, i)];
                coefficients[(row, i)] = onto[(s, i)];
            }
            for i in 0..extra {
                coefficients[(row, r + i)] = -removed[(s, i)];
            }
        }
        let rest_coordinates = rest.scaled(f64::sqrt);
        for (o, &row) in others.iter().enumerate() {
            for i in 0..r {
                coordinates[(row, i)] = seen[(o, i)];
            }
            for i in 0..extra {
                coordinates[(row, r + i)] = rest_coordinates[(o, i)];
                coefficients[(row, r + i)] = scaled_rest[(o, i)];
            }
        }
        let mut scatter = main.values;
        scatter.resize(r + extra, 0.0);
        let space = Self {
            coordinates,
            coefficients,
            diagonal: None,
        };
        Some(Some((space, scatter)))
    }
}

/// Eigenvalues that count, ascending, and their vectors.
struct Principal {
    values: Vec<f64>,
    vectors: Mat<f64>,
}

impl Principal {
    /// Those above [`RANK`] of the largest, which is `least` at least.
    fn new(matrix: MatRef<'_, f64>, least: f64) -> Option<Self> {
        let (values, vectors) = dense::symmetric_eigen(matrix)?;
        let largest = values.last().copied().unwrap_or(0.0).max(least);
        let counts = |&&value: &&f64| value > RANK * largest && value > 0.0;
        let kept = values.iter().rev().take_while(counts).count();
        let dropped = values.len() - kept;
        Some(Self {
            vectors: vectors.subcols(dropped, kept).to_owned(),
            values: values[dropped..].to_vec(),
        })
    }

    /// Each vector times `of` its value.
    fn scaled(&self, of: impl Fn(f64) -> f64) -> Mat<f64> {
        Mat::from_fn(self.vectors.nrows(), self.values.len(), |row, i| {
            self.vectors[(row, i)] * of(self.values[i])
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    const COUNTS: [usize; 3] = [4, 9, 5];

    fn rows(features: usize) -> Mat<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(features as u64);
        let n = COUNTS.iter().sum();
        Mat::from_fn(n, features, |_, _| StandardNormal.sample(&mut random))
    }

    /// Coordinates have the inner products of the rows, and the coefficients give an orthonormal basis in which
    /// rows have these coordinates.
    #[track_caller]
    fn assert_is_row_space(space: &RowSpace, rows: &Mat<f64>, faintest: f64) {
        // A basis vector of a share w of the largest variance is off by the rounding of the Gram matrix over w.
        let off = 1e-13 / faintest;
        let gram = rows * rows.transpose();
        let again = &space.coordinates * space.coordinates.transpose();
        let tolerance = 1e-12 * gram.norm_max();
        assert!((&again - &gram).norm_max() < tolerance);
        let basis = rows.transpose() * &space.coefficients;
        let unit = basis.transpose() * &basis;
        let r = space.coordinates.ncols();
        assert!((unit - Mat::<f64>::identity(r, r)).norm_max() < off);
        assert!((rows * basis - &space.coordinates).norm_max() < off * gram.norm_max());
    }

    #[test]
    fn the_largest_task_has_a_diagonal_scatter() {
        let rows = rows(40);
        let space = RowSpace::new(&rows * rows.transpose(), &COUNTS).unwrap();
        assert_is_row_space(&space, &rows, 1e-3);
        let (task, scatter) = space.diagonal.unwrap();
        assert_eq!(task, 1);
        let own = space.coordinates.subrows(COUNTS[0], COUNTS[1]);
        let product = own.transpose() * own;
        for i in 0..product.nrows() {
            for j in 0..product.ncols() {
                let expected = if i == j { scatter[i] } else { 0.0 };
                assert!((product[(i, j)] - expected).abs() < 1e-12 * scatter[COUNTS[1] - 1]);
            }
        }
    }

    #[test]
    fn rows_of_the_others_that_the_largest_spans_add_no_direction() {
        let mut rows = rows(40);
        for feature in 0..40 {
            for row in (0..COUNTS[0]).chain(13..18) {
                rows[(row, feature)] = rows[(4 + row % 9, feature)] - 0.5 * rows[(5, feature)];
            }
        }
        let space = RowSpace::new(&rows * rows.transpose(), &COUNTS).unwrap();
        assert!(space.diagonal.is_some());
        assert_eq!(space.coordinates.ncols(), COUNTS[1]);
        assert_is_row_space(&space, &rows, 1e-3);
    }

    #[test]
    fn a_faint_direction_of_the_largest_task_is_not_divided_by() {
        let mut rows = rows(40);
        for feature in 0..40 {
            rows[(5, feature)] = rows[(4, feature)] + 1e-3 * rows[(5, feature)];
        }
        let space = RowSpace::new(&rows * rows.transpose(), &COUNTS).unwrap();
        assert!(space.diagonal.is_none());
        assert_eq!(space.coordinates.ncols(), 18);
        assert_is_row_space(&space, &rows, 1e-7);
    }

    #[test]
    fn equal_rows_span_nothing() {
        let space = RowSpace::new(Mat::zeros(18, 18), &COUNTS).unwrap();
        assert_eq!(space.coordinates.ncols(), 0);
    }
}
