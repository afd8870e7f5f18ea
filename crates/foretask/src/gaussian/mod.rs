//! The normal distribution: tail, cumulative function, density and quantile; probabilities of orthants
//! ([`mod@orthant`]) and quasi-random points ([`sample`]) in many dimensions.
//!
//! Tails come from `erfc`, which keeps its relative accuracy far out; a cumulative function by
//! subtraction from one would not.

pub mod orthant;
mod quantile;
pub mod sample;

pub use orthant::{Orthant, orthant};
pub use quantile::upper_quantile;
pub use sample::{factor, normal_points};

use std::f64::consts::{PI, SQRT_2};

/// Q(x) = P(N(0, 1) > x).
///
/// ```
/// assert!((foretask::gaussian::tail(1.959963984540054) - 0.025).abs() < 1e-15);
/// ```
pub fn tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / SQRT_2)
}

/// Φ(x) = P(N(0, 1) < x).
pub fn cumulative(x: f64) -> f64 {
    tail(-x)
}

/// The density of N(0, 1) at x.
pub fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}
