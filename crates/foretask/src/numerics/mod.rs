//! Numbers without meaning: dense linear algebra, the normal distribution, small minimisers.

pub(crate) mod dense;
pub(crate) mod interval;
pub(crate) mod normal;
pub(crate) mod optimise;
pub(crate) mod orthant;
pub(crate) mod points;
pub(crate) mod spectrum;
