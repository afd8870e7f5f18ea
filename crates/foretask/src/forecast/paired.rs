//! [`Paired`]: whether one of two rules is better, from the samples that both were judged on.
//!
//! Two forecasts of the same samples have errors in common, and two separate intervals say little. The difference of
//! each sample's loss, on common folds, has a much shorter one (`docs/4-when-to-trust-a-forecast.md#paired-statements`).

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::design::variance_of_mean;
use crate::data::{Groups, Importance};
use crate::numerics::INFLATION;
use crate::words::words;

/// Probability that the interval of a difference holds the truth: more than that of a forecast, because people act on
/// a claim.
pub(crate) const CLAIMED: f64 = 0.99;

words! {
    /// What can be said about the worth of something.
    pub enum Verdict("verdict") {
        /// It lowers the error
        Helps = "helps",
        /// It raises the error
        Harms = "harms",
        /// The samples at hand do not tell
        Unknown = "cannot be told",
    }
}

impl Verdict {
    fn of(interval: [f64; 2]) -> Self {
        match interval {
            [low, _] if low > 0.0 => Self::Helps,
            [_, high] if high < 0.0 => Self::Harms,
            _ => Self::Unknown,
        }
    }
}

/// What something is worth: the error without it less the error with it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Paired {
    /// The difference; positive where it helps.
    pub difference: f64,
    /// 99 % interval.
    pub interval: [f64; 2],
    /// Whether the interval leaves out zero, and on which side.
    pub verdict: Verdict,
}

impl Paired {
    /// From the loss of each sample without and with it, times its weight; `groups` are samples that belong together.
    pub(crate) fn new(
        without: &[f64],
        with: &[f64],
        groups: &Groups,
        importance: &Importance,
    ) -> Self {
        let n = with.len() as f64;
        let fewer = groups.independent().or_else(|| importance.independent());
        let independent = fewer.unwrap_or(n);
        let each: Vec<f64> = without.iter().zip(with).map(|(a, b)| a - b).collect();
        let difference = each.iter().sum::<f64>() / n.max(1.0);
        // A difference that no sample shows is not known exactly.
        let error = standard_error(&each, groups).max(1.0 / independent.max(1.0));
        let freedom = groups.members().map_or(n, |groups| groups.len() as f64) - 1.0;
        let freedom = freedom.max(1.0);
        let law = StudentsT::new(0.0, 1.0, freedom);
        let reach = law.map_or(f64::INFINITY, |law| {
            law.inverse_cdf(0.5 * (1.0 + CLAIMED)) * error
        });
        let interval = [
            (difference - reach).max(-1.0),
            (difference + reach).min(1.0),
        ];
        Self {
            difference,
            verdict: Verdict::of(interval),
            interval,
        }
    }
}

impl Paired {
    /// From two forecasts that have no samples to be compared on.
    pub(crate) fn of_intervals(without: (f64, [f64; 2]), with: (f64, [f64; 2])) -> Self {
        let interval = [without.1[0] - with.1[1], without.1[1] - with.1[0]];
        Self {
            difference: without.0 - with.0,
            verdict: Verdict::of(interval),
            interval,
        }
    }
}

/// Of a mean of values that depend on each other as leave-one-out errors do; by samples or by groups, whichever is
/// larger.
pub(crate) fn standard_error(values: &[f64], groups: &Groups) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let alone = squares / ((n - 1.0).max(1.0) * n);
    let grouped = variance_of_mean(groups, values).map_or(0.0, |(variance, _)| variance);
    (INFLATION * alone.max(grouped)).sqrt()
}
