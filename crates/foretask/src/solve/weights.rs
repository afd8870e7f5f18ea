//! [`Weights`]: weights of a target, and the coordinates they are in.

use faer::Mat;

use crate::numerics::dense;

/// What the rows of a weight matrix stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coordinates {
    /// Those of `super::reduced::Reduced`: features, or rows where features outnumber them.
    Reduced,
    /// The target's features, centred and scaled.
    Features,
}

/// Weights for some labels, one a column.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    pub(crate) coordinates: Coordinates,
    pub(crate) values: Mat<f64>,
}

impl Weights {
    /// For label scores (C x d), from those of the C unit labels.
    pub(crate) fn times(&self, label_scores: &Mat<f64>) -> Self {
        self.map(|values| dense::times(values.as_ref(), label_scores.as_ref()))
    }

    /// In the same coordinates.
    pub(crate) fn map(&self, of: impl FnOnce(&Mat<f64>) -> Mat<f64>) -> Self {
        Self {
            coordinates: self.coordinates,
            values: of(&self.values),
        }
    }
}
