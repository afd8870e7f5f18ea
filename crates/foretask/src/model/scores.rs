//! [`Scores`]: functions of the raw features.

use faer::{Accum, Mat, MatMut, MatRef, RowMut};

use crate::numerics::dense;
use crate::views::Kernel;

/// d scores of a row: weightsᵀ x + intercept, and what views that are not linear add.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scores {
    /// p x d.
    pub(crate) weights: Mat<f64>,
    /// One per score.
    pub(crate) intercept: Vec<f64>,
    pub(crate) terms: Vec<Term>,
}

/// What a view that is not linear adds to the scores of a row x.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// weightsᵀ x/|x|; a row without length adds nothing.
    Cosine {
        /// p x d.
        weights: Mat<f64>,
    },
    /// weightsᵀ k(z) with z = columns · x - centre.
    Rbf {
        /// What each feature is multiplied by.
        columns: Vec<f64>,
        /// What is subtracted then.
        centre: Vec<f64>,
        /// k, of L landmarks.
        kernel: Kernel,
        /// L x d.
        weights: Mat<f64>,
    },
}

impl Scores {
    pub(crate) fn add(&mut self, other: Self) {
        self.weights += other.weights;
        let both = self.intercept.iter_mut().zip(other.intercept);
        both.for_each(|(own, more)| *own += more);
        self.terms.extend(other.terms);
    }

    /// Of rows, one a column (p x n): n x d.
    pub(crate) fn of(&self, rows: MatRef<'_, f64>) -> Mat<f64> {
        let mut scores = Mat::from_fn(rows.ncols(), self.intercept.len(), |_, j| self.intercept[j]);
        self.add_to(scores.as_mut(), rows);
        scores
    }

    /// All but the intercept is added to the scores (n x d) of rows, one a column (p x n).
    pub(crate) fn add_to(&self, mut scores: MatMut<'_, f64>, rows: MatRef<'_, f64>) {
        let (x, weights) = (rows.transpose(), self.weights.as_ref());
        dense::product(scores.as_mut(), Accum::Add, x, weights, 1.0);
        for term in &self.terms {
            term.add_to(scores.as_mut(), rows);
        }
    }

    /// Whether zeros of a row add nothing.
    pub(crate) fn are_of_entries(&self) -> bool {
        let mut terms = self.terms.iter();
        terms.all(|term| matches!(term, Term::Cosine { .. }))
    }

    /// What those entries of a row that are not zero add to its scores, where zeros add nothing.
    pub(crate) fn add_entries_to(&self, scores: RowMut<'_, f64>, entries: &[(usize, f64)]) {
        let length = entries.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
        for (j, score) in scores.iter_mut().enumerate() {
            let sum = |weights: &Mat<f64>| -> f64 {
                let products = entries.iter().map(|&(i, x)| x * weights[(i, j)]);
                products.sum()
            };
            *score += sum(&self.weights);
            for term in &self.terms {
                if let Term::Cosine { weights } = term {
                    *score += sum(weights) / length.max(NO_LENGTH);
                }
            }
        }
    }
}

/// A row shorter than this has no direction.
const NO_LENGTH: f64 = 1e-12;

impl Term {
    /// Adds to the scores (n x d) of rows, one a column (p x n).
    fn add_to(&self, mut scores: MatMut<'_, f64>, rows: MatRef<'_, f64>) {
        match self {
            Self::Cosine { weights } => {
                let mut unit = rows.to_owned();
                unit.col_iter_mut().for_each(|row| {
                    let length = row.norm_l2().max(NO_LENGTH);
                    row.iter_mut().for_each(|x| *x /= length);
                });
                dense::product(
                    scores.as_mut(),
                    Accum::Add,
                    unit.transpose(),
                    weights.as_ref(),
                    1.0,
                );
            }
            Self::Rbf {
                columns,
                centre,
                kernel,
                weights,
            } => {
                let z = Mat::from_fn(rows.nrows(), rows.ncols(), |i, l| {
                    rows[(i, l)] * columns[i] - centre[i]
                });
                let values = kernel.values(z.as_ref());
                dense::product(
                    scores.as_mut(),
                    Accum::Add,
                    values.as_ref(),
                    weights.as_ref(),
                    1.0,
                );
            }
        }
    }
}

/// From weights on centred and scaled features and scores at the mean to weights on raw features and
/// scores at the origin.
pub(crate) fn to_raw(
    mut weights: Mat<f64>,
    mut bias: Vec<f64>,
    mean: &[f64],
    scale: f64,
) -> (Mat<f64>, Vec<f64>) {
    for (j, bias) in bias.iter_mut().enumerate() {
        let mut at_mean = 0.0;
        for (feature, mean) in mean.iter().enumerate() {
            weights[(feature, j)] /= scale;
            at_mean += weights[(feature, j)] * mean;
        }
        *bias -= at_mean;
    }
    (weights, bias)
}
