//! The normal distribution: tail, cumulative function, density and quantile.
//!
//! Tails come from `erfc`, which keeps its relative accuracy far out; a cumulative function by
//! subtraction from one would not.

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

/// The x with Q(x) = probability; infinite at 0 and 1.
///
/// ```
/// use foretask::gaussian::{tail, upper_quantile};
/// assert!((tail(upper_quantile(1e-6)) / 1e-6 - 1.0).abs() < 1e-12);
/// ```
pub fn upper_quantile(probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    let x = SQRT_2 * statrs::function::erf::erfc_inv(2.0 * probability);
    if !x.is_finite() {
        return x;
    }
    // One Newton step against erfc itself takes the series' 1e-10 to full accuracy.
    let slope = density(x);
    if slope > 0.0 {
        x + (tail(x) - probability) / slope
    } else {
        x
    }
}
