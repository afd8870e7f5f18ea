//! [`Covariances`] of the cells, given and checked.

use faer::{Mat, MatRef};

use super::directions::{Directions, Means};
use super::problem::check;
use crate::data::Cells;
use crate::error::{Error, Result};
use crate::numerics::dense;
use crate::stop::Stop;

/// One covariance per cell, checked; cells may share one.
#[derive(Clone, Debug)]
pub struct Covariances {
    distinct: Vec<Mat<f64>>,
    of_cell: Vec<usize>,
    structure: Structure,
    stop: Stop,
}

/// What the matrices have in common.
#[derive(Clone, Debug)]
enum Structure {
    /// Multiples of the identity.
    Spherical,
    /// No entry off the diagonal.
    Diagonal,
    /// Multiples of one matrix with these eigenvalues (of mean one) and eigenvectors.
    Multiples {
        values: Vec<f64>,
        vectors: Mat<f64>,
    },
    Any,
}

/// How far a covariance may be from symmetric, and its smallest eigenvalue below zero, relative to
/// its largest entry: it may have been written with eight digits.
const WRITTEN: f64 = 1e-8;
/// Matrices that agree to this share of their largest entry are one matrix; theories differ by a small
/// multiple of it.
const SAME: f64 = 1e-13;

impl Covariances {
    /// One matrix for each cell.
    ///
    /// # Errors
    /// As `Covariances::shared`.
    pub fn new(of_cells: Vec<Mat<f64>>) -> Result<Self> {
        let of_cell = (0..of_cells.len()).collect();
        Self::shared(of_cells, of_cell)
    }

    /// Some matrices, and for each cell which of them is its own.
    ///
    /// Time one Cholesky factorisation each; an eigen-decomposition more if all are multiples of one.
    ///
    /// # Errors
    /// If a matrix is not square, of the size of the first, finite, symmetric and positive
    /// semi-definite (it may be rank-deficient), or a cell asks for one that is not there.
    pub(crate) fn shared(mut distinct: Vec<Mat<f64>>, of_cell: Vec<usize>) -> Result<Self> {
        let features = distinct.first().map_or(0, Mat::nrows);
        for (index, covariance) in distinct.iter_mut().enumerate() {
            check(
                "rows of a covariance (one per feature)",
                features,
                covariance.nrows(),
            )?;
            check(
                "columns of a covariance (one per feature)",
                features,
                covariance.ncols(),
            )?;
            let name = format!("covariance {}", index + 1);
            symmetrise(&name, covariance)?;
            check_positive(&name, covariance)?;
        }
        if let Some(&missing) = of_cell.iter().find(|&&index| index >= distinct.len()) {
            return Err(Error::Shape {
                what: "covariances (one more than the largest index)",
                expected: missing + 1,
                got: distinct.len(),
            });
        }
        Ok(Self::checked(distinct, of_cell))
    }

    /// Symmetric and positive matrices of one size.
    pub(crate) fn checked(distinct: Vec<Mat<f64>>, of_cell: Vec<usize>) -> Self {
        let structure = Structure::of(&distinct);
        Self {
            distinct,
            of_cell,
            structure,
            stop: Stop::default(),
        }
    }

    /// With the switch of a study: theories of them look at it.
    pub(crate) fn stopped_by(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The number of cells.
    pub(crate) fn cells(&self) -> usize {
        self.of_cell.len()
    }

    /// The number of features, p.
    pub(crate) fn features(&self) -> usize {
        self.distinct.first().map_or(0, Mat::nrows)
    }

    /// The covariance of a cell.
    pub(crate) fn of(&self, cell: usize) -> MatRef<'_, f64> {
        self.distinct(self.index_of(cell))
    }

    pub(super) fn index_of(&self, cell: usize) -> usize {
        self.of_cell[cell]
    }

    pub(super) fn distinct(&self, index: usize) -> MatRef<'_, f64> {
        self.distinct[index].as_ref()
    }

    /// tr Σ_r/p of every cell.
    fn levels(&self) -> Vec<f64> {
        let levels: Vec<f64> = self.distinct.iter().map(level).collect();
        self.of_cell.iter().map(|&index| levels[index]).collect()
    }

    /// The spherical cells that come nearest.
    pub(super) fn surrogate(&self) -> Directions {
        let (c, levels) = (self.cells(), self.levels());
        Directions::new(
            Mat::from_fn(c, 1, |cell, _| levels[cell]),
            vec![self.features() as f64],
            Means::Gram(Mat::zeros(c, c)),
        )
    }

    /// The cells in a basis where all covariances are diagonal, if it is known.
    pub(super) fn directions(&self, cells: &Cells, means: &Mat<f64>) -> Option<Directions> {
        let (c, p) = (self.cells(), self.features());
        let levels = self.levels();
        match &self.structure {
            Structure::Spherical => {
                // Far from the origin inner products would lose the differences.
                let centre: Vec<Vec<f64>> = (0..cells.tasks().len())
                    .map(|task| cells.task_mean(means, task))
                    .collect();
                let centred = Mat::from_fn(p, c, |feature, cell| {
                    means[(feature, cell)] - centre[cells.task_of(cell)][feature]
                });
                Some(Directions::new(
                    Mat::from_fn(c, 1, |cell, _| levels[cell]),
                    vec![p as f64],
                    Means::Gram(dense::times(centred.transpose(), centred.as_ref())),
                ))
            }
            Structure::Diagonal => Some(Directions::new(
                Mat::from_fn(c, p, |cell, l| self.of(cell)[(l, l)]),
                vec![1.0; p],
                Means::Coordinates(means.clone()),
            )),
            Structure::Multiples { values, vectors } => Some(Directions::new(
                Mat::from_fn(c, p, |cell, l| levels[cell] * values[l]),
                vec![1.0; p],
                Means::Coordinates(dense::times(vectors.transpose(), means.as_ref())),
            )),
            Structure::Any => None,
        }
    }
}

impl Structure {
    fn of(distinct: &[Mat<f64>]) -> Self {
        let Some(first) = distinct.iter().find(|covariance| level(covariance) > 0.0) else {
            return Self::Spherical;
        };
        let p = first.nrows();
        let multiple_of = |shape: &dyn Fn(usize, usize) -> f64, covariance: &Mat<f64>| {
            let tolerance = SAME * covariance.norm_max();
            let level = level(covariance);
            (0..p).all(|j| {
                (j..p).all(|i| (covariance[(i, j)] - level * shape(i, j)).abs() <= tolerance)
            })
        };
        let all = |shape: &dyn Fn(usize, usize) -> f64| {
            distinct
                .iter()
                .all(|covariance| multiple_of(shape, covariance))
        };
        if all(&|i, j| f64::from(u8::from(i == j))) {
            return Self::Spherical;
        }
        let diagonal =
            |covariance: &Mat<f64>| (0..p).all(|j| (j + 1..p).all(|i| covariance[(i, j)] == 0.0));
        if distinct.iter().all(diagonal) {
            return Self::Diagonal;
        }
        let unit = 1.0 / level(first);
        if !all(&|i, j| unit * first[(i, j)]) {
            return Self::Any;
        }
        dense::symmetric_eigen(first.as_ref()).map_or(Self::Any, |(values, vectors)| {
            Self::Multiples {
                values: values.iter().map(|value| (unit * value).max(0.0)).collect(),
                vectors,
            }
        })
    }
}

/// tr Σ/p.
fn level(covariance: &Mat<f64>) -> f64 {
    let p = covariance.nrows();
    (0..p).map(|i| covariance[(i, i)]).sum::<f64>() / p as f64
}

/// Checks symmetry, and makes it exact.
fn symmetrise(name: &str, covariance: &mut Mat<f64>) -> Result<()> {
    check_finite(name, covariance)?;
    let tolerance = WRITTEN * covariance.norm_max();
    for j in 0..covariance.ncols() {
        for i in j + 1..covariance.nrows() {
            let (below, above) = (covariance[(i, j)], covariance[(j, i)]);
            if (below - above).abs() > tolerance {
                return Err(Error::Matrix {
                    name: name.into(),
                    why: format!(
                        "it is not symmetric: entries ({0}, {1}) and ({1}, {0}) are {below} and {above}",
                        i + 1,
                        j + 1
                    ),
                });
            }
            let mean = 0.5 * (below + above);
            (covariance[(i, j)], covariance[(j, i)]) = (mean, mean);
        }
    }
    Ok(())
}

/// Whether Σ + a little I has a Cholesky factor.
fn check_positive(name: &str, covariance: &Mat<f64>) -> Result<()> {
    let size = covariance.norm_max();
    if size == 0.0 {
        return Ok(());
    }
    let mut shifted = covariance.clone();
    (0..shifted.nrows()).for_each(|i| shifted[(i, i)] += WRITTEN * size);
    dense::cholesky(shifted.as_mut()).ok_or_else(|| Error::Matrix {
        name: name.into(),
        why: "it has a negative eigenvalue; a covariance has none".into(),
    })
}

pub(super) fn check_finite(name: &str, matrix: &Mat<f64>) -> Result<()> {
    for (column, values) in matrix.col_iter().enumerate() {
        if let Some(row) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::Matrix {
                name: name.into(),
                why: format!(
                    "entry ({}, {}) is {}; every entry must be a finite number",
                    row + 1,
                    column + 1,
                    values[row]
                ),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    fn refusal(matrices: Vec<Mat<f64>>) -> String {
        Covariances::new(matrices).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_covariance_is_refused_with_the_reason() {
        let good = Mat::<f64>::identity(2, 2);
        assert_eq!(
            refusal(vec![good.clone(), Mat::identity(3, 3)]),
            "rows of a covariance (one per feature): expected 2, got 3"
        );
        assert_eq!(
            refusal(vec![Mat::zeros(2, 3)]),
            "columns of a covariance (one per feature): expected 2, got 3"
        );
        assert_eq!(
            refusal(vec![good.clone(), mat![[1.0, f64::NAN], [0.0, 1.0]]]),
            "covariance 2: entry (1, 2) is NaN; every entry must be a finite number"
        );
        assert_eq!(
            refusal(vec![mat![[1.0, 0.2], [0.1, 1.0]]]),
            "covariance 1: it is not symmetric: entries (2, 1) and (1, 2) are 0.1 and 0.2"
        );
        assert_eq!(
            refusal(vec![mat![[1.0, 2.0], [2.0, 1.0]]]),
            "covariance 1: it has a negative eigenvalue; a covariance has none"
        );
        let error = Covariances::shared(vec![good], vec![0, 1]).unwrap_err();
        assert!(matches!(
            error,
            Error::Shape {
                expected: 2,
                got: 1,
                ..
            }
        ));
    }

    #[test]
    fn matrices_written_with_few_digits_and_without_full_rank_are_taken() {
        let outer = |x: [f64; 3]| Mat::from_fn(3, 3, |i, j| x[i] * x[j]);
        let mut rounded = outer([1.0, 2.0, 3.0]);
        rounded[(0, 1)] += 1e-9;
        rounded[(2, 2)] -= 1e-9;
        let taken = Covariances::new(vec![rounded, Mat::zeros(3, 3)]).unwrap();
        assert_eq!(taken.of(0)[(0, 1)], taken.of(0)[(1, 0)]);
    }

    #[test]
    fn shapes_are_recognised() {
        let toeplitz = Mat::from_fn(3, 3, |i, j| 0.5_f64.powi(i.abs_diff(j) as i32));
        let diagonal = mat![[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]];
        let identity = Mat::<f64>::identity(3, 3);
        let times = |factor: f64, m: &Mat<f64>| faer::Scale(factor) * m;
        let structure = |matrices: Vec<Mat<f64>>| Structure::of(&matrices);
        assert!(matches!(
            structure(vec![times(0.3, &identity), times(7.0, &identity)]),
            Structure::Spherical
        ));
        assert!(matches!(
            structure(vec![identity.clone(), diagonal.clone()]),
            Structure::Diagonal
        ));
        assert!(matches!(
            structure(vec![
                toeplitz.clone(),
                times(0.1, &toeplitz),
                Mat::zeros(3, 3)
            ]),
            Structure::Multiples { .. }
        ));
        assert!(matches!(
            structure(vec![toeplitz, diagonal]),
            Structure::Any
        ));
    }
}
