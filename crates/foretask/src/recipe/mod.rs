//! The measured default: every coupling of a grid, every family of labels on it, weighted by how well they do on
//! samples they have not seen.

pub(crate) mod alike;
pub(crate) mod families;
pub(crate) mod folds;
pub(crate) mod grid;
pub(crate) mod in_folds;
pub(crate) mod nested;
pub(crate) mod theory_labels;
pub(crate) mod tournament;

pub use families::Family;
pub(crate) use folds::{Fold, Folds, keys, rows};
pub(crate) use grid::{coarse_grid, grid};
pub(crate) use nested::{Nested, Split, folds_of};
pub(crate) use tournament::{Entry, Tournament};
