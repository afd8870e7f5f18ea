//! Principal components of the training rows, to which test rows are only projected.

use faer::Mat;

use crate::error::{Error, Result};

/// A centre and an orthonormal basis.
#[derive(Clone, Debug)]
pub struct Components {
    mean: Vec<f64>,
    /// p x d.
    basis: Mat<f64>,
}

impl Components {
    /// The `count` directions in which `rows` (row after row, `features` each) vary most; fewer if there are
    /// fewer rows.
    ///
    /// There are fewer rows than pixels, so that the small eigenproblem is that of the rows' inner products
    /// K = Z Zᵀ: its eigenvectors u with eigenvalue s² give the directions Zᵀ u/s.
    ///
    /// # Errors
    /// If the eigenvalues cannot be computed, which finite values do not let happen.
    pub fn new(rows: &[f64], features: usize, count: usize) -> Result<Self> {
        let n = rows.len() / features;
        let mean: Vec<f64> = (0..features)
            .map(|feature| {
                (0..n)
                    .map(|row| rows[row * features + feature])
                    .sum::<f64>()
                    / n as f64
            })
            .collect();
        let centred = Mat::from_fn(n, features, |row, feature| {
            rows[row * features + feature] - mean[feature]
        });
        let products = &centred * centred.transpose();
        let eigen = products
            .self_adjoint_eigen(faer::Side::Lower)
            .map_err(|error| Error::Components(format!("{error:?}")))?;
        let (values, vectors) = (eigen.S(), eigen.U());
        let largest = values[n - 1];
        // Ascending; what is left of nothing by rounding is no direction.
        let kept: Vec<usize> = (0..n)
            .rev()
            .take(count)
            .filter(|&i| values[i] > ROUNDING * largest)
            .collect();
        let scaled = Mat::from_fn(n, kept.len(), |row, i| {
            vectors[(row, kept[i])] / values[kept[i]].sqrt()
        });
        Ok(Self {
            mean,
            basis: centred.transpose() * scaled,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.basis.ncols()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The coordinates of rows, row after row.
    pub fn project(&self, rows: &[f64]) -> Vec<f64> {
        let features = self.mean.len();
        let n = rows.len() / features;
        let centred = Mat::from_fn(n, features, |row, feature| {
            rows[row * features + feature] - self.mean[feature]
        });
        let projected = &centred * &self.basis;
        (0..n)
            .flat_map(|row| (0..self.len()).map(move |i| (row, i)))
            .map(|at| projected[at])
            .collect()
    }
}

/// Eigenvalues below this share of the largest are rounding.
const ROUNDING: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_keep_distances_and_are_ordered_by_variance() {
        // Five points in a plane of a space of seven dimensions.
        let plane = [[1.0, 2.0], [3.0, -1.0], [0.0, 0.5], [-2.0, 1.0], [4.0, 4.0]];
        let axes = [
            [0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.6, 0.8, 0.0],
        ];
        let rows: Vec<f64> = plane
            .iter()
            .flat_map(|p| (0..7).map(move |i| p[0] * axes[0][i] + p[1] * axes[1][i] + 3.0))
            .collect();
        let components = Components::new(&rows, 7, 4).unwrap();
        assert_eq!(components.len(), 2);
        let found = components.project(&rows);
        for a in 0..5 {
            for b in 0..5 {
                let square = |p: &dyn Fn(usize, usize) -> f64| -> f64 {
                    (0..2).map(|i| (p(a, i) - p(b, i)).powi(2)).sum()
                };
                let expected = square(&|row, i| plane[row][i]);
                assert!((square(&|row, i| found[row * 2 + i]) - expected).abs() < 1e-10);
            }
        }
        let variance = |i: usize| (0..5).map(|row| found[row * 2 + i].powi(2)).sum::<f64>();
        assert!(variance(0) > variance(1));
        let sum: f64 = (0..5).map(|row| found[row * 2]).sum();
        assert!(sum.abs() < 1e-10);
    }
}
