//! Minimisers of small problems, one a file.

mod bisect;
mod golden;
mod simplex;

pub(crate) use bisect::bisect;
pub(crate) use golden::minimise;
pub(crate) use simplex::least_on_simplex;
