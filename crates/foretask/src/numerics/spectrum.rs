//! [`Spectrum`]: the range of a covariance, the directions that count.
//!
//! S = V diag(v) Vᵀ with the null directions left out. The covariances of responses have one exact null
//! direction per task, the shift of its labels, which rounding leaves near 1e-16 of the largest eigenvalue.

use faer::{Mat, MatRef};

use super::dense;

/// Eigenvalues below this share of the largest are taken for exact zeros. Tasks that hardly share have
/// real directions down to 1e-11.
pub(crate) const NULL_SPACE: f64 = 1e-13;

/// Eigenvalues (ascending, all positive) and eigenvectors (C x d) of the range of a symmetric, positive
/// semi-definite matrix.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Mat<f64>,
}

impl Spectrum {
    /// The range of a matrix given by its lower triangle; negative eigenvalues are rounding, and left out
    /// too. `None` if the numbers are not finite.
    pub(crate) fn of(s: MatRef<'_, f64>) -> Option<Self> {
        let (values, vectors) = dense::symmetric_eigen(s)?;
        let largest = values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..values.len())
            .filter(|&i| values[i] > NULL_SPACE * largest && values[i] > 0.0)
            .collect();
        Some(Self {
            vectors: Mat::from_fn(s.nrows(), kept.len(), |i, j| vectors[(i, kept[j])]),
            values: kept.iter().map(|&i| values[i]).collect(),
        })
    }

    /// The number of directions.
    pub(crate) fn rank(&self) -> usize {
        self.values.len()
    }

    /// V with every entry x made `of(x, v)` of its eigenvalue v: x/√v whitens, x √v colours.
    pub(crate) fn columns(&self, of: impl Fn(f64, f64) -> f64) -> Mat<f64> {
        Mat::from_fn(self.vectors.nrows(), self.rank(), |i, j| {
            of(self.vectors[(i, j)], self.values[j])
        })
    }

    /// S⁺ x.
    pub(crate) fn pseudo_solve(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut rotated = dense::times(self.vectors.transpose(), x);
        for (i, value) in self.values.iter().enumerate() {
            rotated
                .row_mut(i)
                .iter_mut()
                .for_each(|x| *x *= 1.0 / value);
        }
        dense::times(self.vectors.as_ref(), rotated.as_ref())
    }
}

/// The minimum-norm solution x of S x = v for a symmetric positive semi-definite S; zero where S is not
/// finite.
pub(crate) fn pseudo_solve(s: MatRef<'_, f64>, v: MatRef<'_, f64>) -> Mat<f64> {
    match Spectrum::of(s) {
        Some(spectrum) => spectrum.pseudo_solve(v),
        None => Mat::zeros(v.nrows(), v.ncols()),
    }
}

/// The nearest positive semi-definite matrix.
pub(crate) fn positive_part(s: MatRef<'_, f64>) -> Mat<f64> {
    let Some((values, vectors)) = dense::symmetric_eigen(s) else {
        return Mat::zeros(s.nrows(), s.ncols());
    };
    let scaled = Mat::from_fn(s.nrows(), s.ncols(), |i, j| {
        vectors[(i, j)] * values[j].max(0.0)
    });
    dense::times(scaled.as_ref(), vectors.transpose())
}
