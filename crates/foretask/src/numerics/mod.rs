//! Numbers without meaning: dense linear algebra, the normal distribution, small minimisers.

pub(crate) mod dense;
pub(crate) mod interval;
pub(crate) mod normal;
pub(crate) mod optimise;
pub(crate) mod orthant;
pub(crate) mod points;
pub(crate) mod sparse;
pub(crate) mod spectrum;

pub use interval::COVERAGE;
pub(crate) use interval::{INFLATION, NORMAL_95, interval};
pub use orthant::{Orthant, orthant};
pub(crate) use spectrum::{Spectrum, positive_part, pseudo_solve};
