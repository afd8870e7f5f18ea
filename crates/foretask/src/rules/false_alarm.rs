//! Two classes, one of them the null hypothesis: labels and thresholds that hold a false-alarm rate η.
//!
//! As in [`binary`](super::binary) the first class is decided when the score exceeds the threshold ζ. A
//! decision against the null class is an alarm, so that with the second class as null (`null` = 1)
//! scores above ζ are alarms, and with the first (`null` = 0) those that are not.
//!
//! If scores are Gaussian with known moments, η sets ζ ([`gaussian_threshold`]) and what is left are
//! the labels that detect most ([`optimal_labels`]). From leave-one-out scores of null samples, which
//! are exchangeable with new ones, [`threshold_of`] sets ζ such that η is the mean rate over training
//! sets; the rate of the one at hand varies about it, and its interval is stated.

use statrs::function::beta::checked_beta_reg;

use crate::moments::Moments;
use crate::numerics::normal::{tail, upper_quantile};
use crate::numerics::optimise::bisect;
use crate::numerics::{COVERAGE, INFLATION};
use crate::words::words;

use super::binary::{BinaryRule, least_cost_labels};
use super::score_law::ScoreLaw;

/// The label scores of most detections at a false-alarm rate, of unit norm, with the threshold that
/// holds the rate for Gaussian scores.
///
/// With q = Q⁻¹(rate), s_0 the deviation of the null class and s_1 that of the other, the detection is
/// Q of -(m_1 - m_2 - q s_0)/s_1, m_1 > m_2. It is stationary in y where
///
/// ```text
///  [ q/s_0 S_0 + (m_1 - m_2 - q s_0)/s_1² S_1 ] y = μ_1 - μ_2,
/// ```
///
/// the second coefficient being negative where less than half is detected and the first where the rate
/// exceeds a half. Equal covariances have the labels of [`binary`](super::binary::optimal_labels) at
/// every rate.
pub(crate) fn optimal_labels(moments: &Moments, null: usize, rate: f64, noise: f64) -> BinaryRule {
    let (null, other) = if null == 0 { (0, 1) } else { (1, 0) };
    let q = quantile(rate);
    let label_scores = least_cost_labels(moments, noise, |law| {
        let excess = law.mean[0] - law.mean[1] - q * law.variance[null].sqrt();
        -excess / law.variance[other].sqrt()
    });
    let law = ScoreLaw::new(moments, &label_scores, noise);
    BinaryRule {
        threshold: gaussian_threshold(&law, null, rate),
        label_scores,
    }
}

/// The threshold at which Gaussian scores of the null class are alarms at this rate; infinite if the
/// rate is not between zero and one.
pub(crate) fn gaussian_threshold(law: &ScoreLaw, null: usize, rate: f64) -> f64 {
    let (class, up) = if null == 0 { (0, -1.0) } else { (1, 1.0) };
    let q = quantile(rate);
    if q.is_finite() {
        law.mean[class] + up * q * law.variance[class].sqrt()
    } else {
        up * q
    }
}

/// Q⁻¹, with nothing above a rate of zero and everything above one of one.
fn quantile(rate: f64) -> f64 {
    if rate >= 1.0 {
        f64::NEG_INFINITY
    } else if rate > 0.0 {
        upper_quantile(rate)
    } else {
        f64::INFINITY
    }
}

words! {
    /// How the far end of the null scores is known.
    pub enum Tail("tail", default Auto) {
        /// Empirical, unless the null class has fewer than ten samples and the rate lies beyond them
        Auto = "auto",
        /// The scores of the null class themselves, whatever their law; beyond the farthest, the mean excess
        /// of the farthest few
        Empirical = "empirical",
        /// The normal law of the scores of the null class
        Gaussian = "gaussian",
    }
}

/// A threshold set from scores, and the false-alarm rate it will have.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Threshold {
    /// ζ.
    pub(crate) value: f64,
    /// What was used, never [`Tail::Auto`].
    pub(crate) tail: Tail,
    /// Mean of the rate over training sets like this one.
    pub(crate) expected: f64,
    /// Where the rate on endless new data lies with probability [`COVERAGE`].
    pub(crate) interval: [f64; 2],
}

/// With fewer samples than this the mean excess rests on one or two of them, and extrapolation by it
/// throws the threshold where nothing is detected: to 6.8 standard deviations, on average, for a rate
/// of 1 % and eight normal samples, 3.1 by [`Tail::Gaussian`].
const FEW: usize = 10;
/// Most excesses that are averaged; fewer, √n, for fewer samples: the farther in one looks, the less
/// of a normal law is like the exponential one.
const EXCESSES: usize = 9;
/// The threshold at which null scores, exchangeable with new ones, are alarms at this mean rate; all
/// that follows for `null` = 1.
///
/// Empirical, n scores: a new score exceeds the k-th largest with probability k/(n + 1) whatever the
/// law, so that ζ is the score k = rate (n + 1) from the end, interpolated. For k < 1 it lies beyond the
/// largest by c times the mean excess e of the m largest over the next. If the excess is exponential,
/// the mean rate is
///
/// ```text
///  1/(n + 1) Π_j 1/(1 + c j/(m (j + 1))),   j = 1 … m = min(√n, 9),
/// ```
///
/// which is made equal to the rate. Rates above n/(n + 1) get the smallest score. Gaussian: mean + t
/// deviation √(1 + 1/n), t the upper quantile of Student's law of n - 1 degrees. Both hold the rate
/// exactly, on average over training sets, for their law of scores. For others (mean realised rate over
/// requested, 20,000 draws; skewed: a gamma law of shape 4):
///
/// | rate | n | k | tail | normal | Laplace | Student 5 | skewed out | skewed in |
/// |---|---|---|---|---|---|---|---|---|
/// | all | all | ≥ 1 | empirical | 0.9 to 1 | 0.9 to 1 | 0.9 to 1 | 0.9 to 1 | 0.9 to 1 |
/// | 0.05 | 20 | 1.05 | Gaussian | 1 | 1.1 | 1.0 | 1.5 | 0.3 |
/// | 0.01 | 50 | 0.51 | empirical | 0.8 | 1 | 1.0 | 0.9 | 0.5 |
/// | | | | Gaussian | 1 | 1.9 | 1.6 | 2.8 | 0.0 |
/// | 0.001 | 500 | 0.50 | empirical | 0.9 | 1 | 1.2 | 1.0 | 0.6 |
/// | | | | Gaussian | 1 | 6.3 | 5.3 | 9.1 | 0.0 |
/// | 0.001 | 100 | 0.10 | empirical | 0.4 | 1 | 1.5 | 0.8 | 0.1 |
/// | | | | Gaussian | 1 | 6.4 | 5.4 | 9.1 | 0.0 |
/// | 0.001 | 20 | 0.02 | empirical | 0.3 | 1 | 1.0 | 0.5 | 0.1 |
/// | | | | Gaussian | 1 | 6.2 | 5.0 | 8.5 | 0.0 |
///
/// From one training set to another the ratio varies by 1/√k where k ≥ 1 and little more than 1.2, 2 and
/// 5 at k = 0.5, 0.1 and 0.02; for the Gaussian tail on normal scores by 0.4 to 0.8, 0.9 and 3. Fitting
/// the tail where order statistics reach would lessen it by a tenth, at rates 5 to 15 % above the one
/// asked for; generalised Pareto tails exceed it by more for k < 1 and vary more.
///
/// Scores that are not numbers are left out. The threshold is infinite, no alarm being ever given, where
/// no tail is known: for no score, or one and k < 1, or a rate of zero. If all scores are equal it is
/// the score they have, which is no alarm.
pub(crate) fn threshold_of(scores: &[f64], null: usize, rate: f64, tail: Tail) -> Threshold {
    // Alarms are above.
    let mut scores: Vec<f64> = scores
        .iter()
        .filter(|score| !score.is_nan())
        .map(|&score| if null == 0 { -score } else { score })
        .collect();
    scores.sort_by(f64::total_cmp);
    let used = match tail {
        Tail::Auto if scores.len() < FEW && rate * (scores.len() as f64 + 1.0) < 1.0 => {
            Tail::Gaussian
        }
        Tail::Auto => Tail::Empirical,
        given => given,
    };
    let found = match used {
        _ if rate >= 1.0 => Some((f64::NEG_INFINITY, 1.0, [1.0, 1.0])),
        Tail::Gaussian if rate > 0.0 => gaussian(&scores, rate),
        _ if rate > 0.0 => empirical(&scores, rate),
        _ => None,
    };
    let (value, expected, interval) =
        found
            .filter(|found| found.0 < f64::INFINITY)
            .unwrap_or((f64::INFINITY, 0.0, [0.0, 0.0]));
    Threshold {
        value: match null {
            // Not above is an alarm, and a null score that is tied with the threshold must not be.
            0 if value.is_finite() => (-value).next_down(),
            0 => -value,
            _ => value,
        },
        tail: used,
        expected,
        interval: [interval[0].min(expected), interval[1].max(expected)],
    }
}

/// Threshold, mean rate and interval from ascending scores; `None` without a tail.
///
/// The rate of the training set at hand has a Beta law for k ≥ 1; for k < 1 its first two moments are
/// known for exponential excesses, and a Beta law has them nearly as it does.
fn empirical(scores: &[f64], rate: f64) -> Option<(f64, f64, [f64; 2])> {
    let n = scores.len();
    let samples = n as f64 + 1.0;
    let from_end = rate * samples;
    let (value, expected, strength) = if from_end >= n as f64 {
        (*scores.first()?, n as f64 / samples, samples)
    } else if from_end >= 1.0 {
        let above = from_end.floor();
        let (high, low) = (scores[n - above as usize], scores[n - above as usize - 1]);
        (high - (from_end - above) * (high - low), rate, samples)
    } else if n >= 2 {
        let m = n.isqrt().min(EXCESSES);
        let excess = scores[n - m..]
            .iter()
            .map(|score| score - scores[n - m - 1])
            .sum::<f64>()
            / m as f64;
        let c = excesses_beyond(from_end, m);
        let second = 2.0
            / (samples * (samples + 1.0))
            / ratios(m).map(|(_, twice)| 1.0 + c * twice).product::<f64>();
        let strength = rate * (1.0 - rate) / (second - rate * rate) - 1.0;
        (scores[n - 1] + c * excess, rate, strength)
    } else {
        return None;
    };
    let strength = strength / INFLATION;
    let end = |probability: f64| {
        bisect(0.0, 1.0, |x| {
            checked_beta_reg(strength * expected, strength * (1.0 - expected), x)
                .is_ok_and(|below| below < probability)
        })
    };
    Some((
        value,
        expected,
        [end(0.5 * (1.0 - COVERAGE)), end(0.5 * (1.0 + COVERAGE))],
    ))
}

/// How many mean excesses beyond the largest score the k-th of m is, k < 1: Π_j (1 + c w_j) = 1/k.
///
/// Its logarithm is concave in c, so that Newton's steps from below never overshoot; all w_j lie between
/// 1/(2 m) and 1/(m + 1), and few are needed.
fn excesses_beyond(k: f64, m: usize) -> f64 {
    const STEPS: usize = 20;
    let mut c = (m as f64 + 1.0) * (k.powf(-1.0 / m as f64) - 1.0);
    for _ in 0..STEPS {
        let (mut log, mut slope) = (k.ln(), 0.0);
        for (w, _) in ratios(m) {
            log += (c * w).ln_1p();
            slope += w / (1.0 + c * w);
        }
        c -= log / slope;
    }
    c.max(0.0)
}

/// j/(m (j + 1)) and 2 j/(m (j + 2)): with m exponential spacings of the largest scores, the j-th of
/// mean 1/j, the share of the tail beyond the largest score and c mean excesses has the mean
/// Π_j 1/(1 + 1/j + c/m), and its square Π_j 1/(1 + 2/j + 2 c/m), relative to the (m + 1)-th score's.
fn ratios(m: usize) -> impl Iterator<Item = (f64, f64)> {
    (1..=m).map(move |j| {
        let (j, m) = (j as f64, m as f64);
        (j / (m * (j + 1.0)), 2.0 * j / (m * (j + 2.0)))
    })
}

/// As [`empirical`], for a normal law. In standard deviations the threshold is z = x + r s with x of
/// variance 1/n and s² of mean one, a χ² of n - 1 degrees; the ends of the interval of a sum are as far
/// from its centre as those of its terms, added in squares.
fn gaussian(scores: &[f64], rate: f64) -> Option<(f64, f64, [f64; 2])> {
    let n = scores.len() as f64;
    // Relative to one of them, so that equal scores have exactly their mean.
    let first = *scores.first().filter(|_| n >= 2.0)?;
    let mean = first + scores.iter().map(|x| x - first).sum::<f64>() / n;
    let variance = scores.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let r = (1.0 + 1.0 / n).sqrt() * student_upper_quantile(rate, n - 1.0);
    let normal = upper_quantile(0.5 * (1.0 - COVERAGE));
    let end = |sign: f64| {
        // Wilson and Hilferty: the cube root of χ² is nearly normal.
        let width = 2.0 * INFLATION / (9.0 * (n - 1.0));
        let root = 1.0 - width + normal.copysign(sign * r) * width.sqrt();
        let spread = r * (root.max(0.0).powf(1.5) - 1.0);
        r + sign * spread.hypot(normal * (INFLATION / n).sqrt())
    };
    Some((
        mean + r * variance.sqrt(),
        rate,
        [tail(end(1.0)), tail(end(-1.0))],
    ))
}

/// The x that Student's law of so many degrees exceeds with a probability: P(> x) is half the
/// incomplete beta function of ν/2 and 1/2 at ν/(ν + x²).
fn student_upper_quantile(probability: f64, freedom: f64) -> f64 {
    let wanted = probability.min(1.0 - probability);
    let exceeds = |x: f64| {
        checked_beta_reg(0.5 * freedom, 0.5, freedom / (freedom + x * x))
            .is_ok_and(|both| 0.5 * both > wanted)
    };
    let mut high = 1.0;
    while exceeds(high) && high < f64::MAX {
        high *= 2.0;
    }
    bisect(0.0, high, exceeds).copysign(0.5 - probability)
}
