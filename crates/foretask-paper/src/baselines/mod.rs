//! What the paper compares with: methods that are given labelled rows of a source and of a target and decide
//! for new rows of the target.
//!
//! To add one, implement [`Baseline`] in a file of its own here and list it in [`all`]: the Office tables run
//! every baseline on every trial and print its mean and deviation beside the paper's row of the same
//! [`Baseline::name`].

mod least_squares;

pub use least_squares::{Pooled, SingleTask};

use crate::error::Result;

/// Rows with their classes.
#[derive(Clone, Debug, Default)]
pub struct Labelled {
    /// Row after row, [`Problem::features`] values each.
    pub values: Vec<f64>,
    /// The class of each row, from 0 to [`Problem::classes`] - 1. Every class occurs.
    pub class: Vec<usize>,
}

/// One transfer problem.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// p, the same for all rows.
    pub features: usize,
    /// m, the same for source and target.
    pub classes: usize,
    /// Labelled rows of the source.
    pub source: Labelled,
    /// Labelled rows of the target.
    pub target: Labelled,
    /// New rows of the target, row after row. Their classes are nowhere in this struct. Methods that learn
    /// from unlabelled test rows (CDLS, ILS) may look at them and must say so; ours do not.
    pub test: Vec<f64>,
}

/// A method that decides for new rows of the target.
pub trait Baseline: Sync {
    /// Its name, as in the paper's tables where it is there.
    fn name(&self) -> &str;

    /// The class of each row of [`Problem::test`], in order. The same problem and seed give the same answer,
    /// whatever the number of threads; methods without chance ignore the seed.
    ///
    /// # Errors
    /// [`crate::Error::Baseline`] or the library's error, with the reason.
    fn predict(&self, problem: &Problem, seed: u64) -> Result<Vec<usize>>;
}

/// All baselines, in the order of the tables.
pub fn all() -> Vec<Box<dyn Baseline>> {
    vec![Box::new(SingleTask), Box::new(Pooled)]
}
