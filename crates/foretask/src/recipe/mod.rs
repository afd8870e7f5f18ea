//! The measured default: every coupling of a grid, every family of labels on it, weighted by how well they do on
//! samples they have not seen.

pub(crate) mod families;
pub(crate) mod folds;
pub(crate) mod grid;
pub(crate) mod tournament;
