//! What the theory is fed with, estimated from statistics: inner products of class means, covariances, and how
//! alike tasks are.

pub(crate) mod covariance;
pub(crate) mod gram;
pub(crate) mod map;
pub(crate) mod pooled;
pub(crate) mod population;
pub(crate) mod relatedness;

pub(crate) use covariance::Estimate;
pub use map::{LikenessMap, Place};
pub(crate) use pooled::pooled;
pub(crate) use population::{MOST_BY_NAME, Population};
pub(crate) use relatedness::Likeness;
pub use relatedness::relatedness;
