//! Where a share lies that was seen in some samples.

use statrs::distribution::{Beta, ContinuousCDF};

/// Leave-one-out errors of neighbouring samples are correlated: intervals are as wide as those of
/// this many times fewer samples.
pub(crate) const INFLATION: f64 = 1.25;
/// Probability that an interval holds the truth.
pub const COVERAGE: f64 = 0.9;

/// The interval of a share v seen in n samples. It holds v: without it that of a share of none would start above.
pub(crate) fn interval(share: f64, samples: f64, inflation: f64) -> [f64; 2] {
    let share = share.clamp(0.0, 1.0);
    let (a, b) = (
        samples * share / inflation + 0.5,
        samples * (1.0 - share) / inflation + 0.5,
    );
    match Beta::new(a, b) {
        Ok(beta) => [
            beta.inverse_cdf(0.5 * (1.0 - COVERAGE)).min(share),
            beta.inverse_cdf(0.5 * (1.0 + COVERAGE)).max(share),
        ],
        Err(_) => [0.0, 1.0],
    }
}

/// The 95 % point of the normal law: a normal interval of [`COVERAGE`] reaches so many deviations.
pub(crate) const NORMAL_95: f64 = 1.644_853_626_951_472_2;
