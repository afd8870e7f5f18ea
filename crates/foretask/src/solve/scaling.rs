//! [`Scaling`]: one number per task, so that tasks are comparable.

use crate::data::statistics::Statistics;
use crate::words::words;

words! {
    /// How features are scaled before training.
    pub enum Scaling("scale", default Auto) {
        /// Each task by one number, to unit average variance within its classes, so that all tasks count alike
        Auto = "auto",
        /// The features as they are
        None = "none",
    }
}

impl Scaling {
    /// One scale per task.
    pub fn scales(self, statistics: &Statistics<'_>) -> Vec<f64> {
        match self {
            Self::Auto => statistics.scales(),
            Self::None => vec![1.0; statistics.cells().tasks().len()],
        }
    }
}
