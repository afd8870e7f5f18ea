//! A Gaussian kernel: k(x, z) = exp(-|x - z|²/w) between a row and landmarks (`docs/3-the-solver.md#views`).

use faer::{Mat, MatRef};

use crate::numerics::dense;

/// A Gaussian kernel between rows and landmarks: exp(-|z - landmark|²/width).
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    pub(crate) landmarks: Mat<f64>,
    pub(crate) width: f64,
    squares: Vec<f64>,
}

impl Kernel {
    pub(crate) fn new(landmarks: Mat<f64>, width: f64) -> Self {
        let squares = landmarks.col_iter().map(|x| x.squared_norm_l2()).collect();
        Self {
            landmarks,
            width,
            squares,
        }
    }

    /// The landmarks, one a column (p x L).
    pub fn landmarks(&self) -> &Mat<f64> {
        &self.landmarks
    }

    /// The squared distance at which it has fallen to 1/e.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Between some rows, one a column (p x n), and the landmarks (n x L).
    pub(crate) fn values(&self, rows: MatRef<'_, f64>) -> Mat<f64> {
        let mut values = dense::times(rows.transpose(), self.landmarks.as_ref());
        let squares: Vec<f64> = rows.col_iter().map(|x| x.squared_norm_l2()).collect();
        for (landmark, other) in self.squares.iter().enumerate() {
            for (value, own) in values.col_mut(landmark).iter_mut().zip(&squares) {
                let distance = (own + other - 2.0 * *value).max(0.0);
                *value = (-distance / self.width).exp();
            }
        }
        values
    }
}
