//! [`Forecast`]: what a rule will do on samples nobody has seen.
//!
//! From leave-one-out scores S_l that had no say in their own rule (RECIPE S6): the count of wrong
//! decisions, e₁, and its smooth twin e₂ from class probabilities softmax(T S) with the temperature T
//! of least cross-entropy. The forecast v is their mean while samples are few and goes to the count as
//! they grow, its 90 % interval that of
//! Beta(n v/1.25 + ½, n (1 - v)/1.25 + ½). Both are taken class by class and weighted by the class
//! priors of the place where the model will be used.
//!
//! From the theory: the error of two Gaussians at a threshold.

use faer::Mat;
use statrs::distribution::{Beta, ContinuousCDF};

use crate::gaussian;
use crate::moments::Source;

/// Expected error of a rule, with an interval, by class, and the law of its scores.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Forecast {
    /// Expected share of wrong decisions.
    pub error: f64,
    /// 90 % interval for the error of this very rule on endless new data.
    pub interval: [f64; 2],
    /// What it was computed from.
    pub source: Source,
    /// Expected share of wrong decisions in each class.
    pub class_errors: Vec<f64>,
    /// The class priors it holds for.
    pub priors: Vec<f64>,
    /// Expected cost of a decision: the class errors weighted by priors and costs.
    pub cost: f64,
    /// Target samples it rests on.
    pub samples: usize,
    /// Expected law of the decision score of each class (two classes), or of the margin of the right
    /// class over the best other (more).
    pub densities: Vec<Density>,
    /// What the user should know before trusting it.
    pub notes: Vec<String>,
}

/// A point of a receiver operating characteristic.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RocPoint {
    /// Share of the second class that is called the first.
    pub false_alarm: f64,
    /// Share of the first class that is called the first.
    pub detection: f64,
}

impl Forecast {
    /// The expected trade-off between detections of the first class and false alarms in the second,
    /// at `points` + 1 thresholds; `None` unless there are two classes.
    pub fn roc(&self, points: usize) -> Option<Vec<RocPoint>> {
        let [first, second] = self.densities.as_slice() else {
            return None;
        };
        let (low, high) = (
            first.range().0.min(second.range().0),
            first.range().1.max(second.range().1),
        );
        Some(
            (0..=points)
                .map(|i| {
                    let threshold = high + (low - high) * i as f64 / points.max(1) as f64;
                    RocPoint {
                        false_alarm: second.tail(threshold),
                        detection: first.tail(threshold),
                    }
                })
                .collect(),
        )
    }
}

/// The expected law of a score.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Density {
    /// A normal law, from the theory.
    Gaussian {
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
    /// Leave-one-out scores, each smeared by a normal kernel.
    Kernel {
        /// The scores, ascending.
        scores: Vec<f64>,
        /// Standard deviation of the kernel.
        bandwidth: f64,
    },
}

impl Density {
    /// The kernel density of `scores`, with Silverman's bandwidth.
    pub(crate) fn of_scores(mut scores: Vec<f64>) -> Self {
        scores.sort_by(f64::total_cmp);
        let n = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / n.max(1.0);
        let deviation =
            (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
        let quartile = |share: f64| {
            scores
                .get(((n - 1.0).max(0.0) * share).round() as usize)
                .copied()
                .unwrap_or(0.0)
        };
        let spread = (quartile(0.75) - quartile(0.25)) / 1.34;
        let width = if spread > 0.0 {
            spread.min(deviation)
        } else {
            deviation
        };
        let bandwidth = (0.9 * width * n.max(1.0).powf(-0.2)).max(1e-3 * (1.0 + mean.abs()));
        Self::Kernel { scores, bandwidth }
    }

    /// Its value at x.
    pub fn at(&self, x: f64) -> f64 {
        self.average(|mean, deviation| gaussian::density((x - mean) / deviation) / deviation)
    }

    /// P(score > z).
    pub fn tail(&self, z: f64) -> f64 {
        self.average(|mean, deviation| gaussian::tail((z - mean) / deviation))
    }

    /// Where practically all of it lies.
    pub fn range(&self) -> (f64, f64) {
        const WIDTHS: f64 = 4.0;
        match self {
            Self::Gaussian { mean, deviation } => {
                (mean - WIDTHS * deviation, mean + WIDTHS * deviation)
            }
            Self::Kernel { scores, bandwidth } => (
                scores.first().copied().unwrap_or(0.0) - WIDTHS * bandwidth,
                scores.last().copied().unwrap_or(0.0) + WIDTHS * bandwidth,
            ),
        }
    }

    fn average(&self, of: impl Fn(f64, f64) -> f64) -> f64 {
        match self {
            Self::Gaussian { mean, deviation } => of(*mean, *deviation),
            Self::Kernel { scores, bandwidth } => {
                scores
                    .iter()
                    .map(|&score| of(score, *bandwidth))
                    .sum::<f64>()
                    / scores.len().max(1) as f64
            }
        }
    }
}

/// The decision problem where the model will be used: how often classes occur there, and what a
/// mistake in each costs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stakes {
    pub(crate) priors: Vec<f64>,
    pub(crate) costs: Vec<f64>,
    /// Class shares among the training samples of the target.
    pub(crate) shares: Vec<f64>,
}

impl Stakes {
    /// Prior times cost.
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.priors
            .iter()
            .zip(&self.costs)
            .map(|(p, c)| p * c)
            .collect()
    }

    /// ln(prior/share): what must be added to log-posteriors of the training proportions.
    pub(crate) fn shift(&self, class: usize) -> f64 {
        (self.priors[class] / self.shares[class]).ln()
    }
}

/// A forecast from class scores (n x m) that each sample had no say in; `decide` names the class
/// chosen for a sample.
pub(crate) fn from_scores(
    scores: &Mat<f64>,
    class: &[usize],
    decide: impl Fn(usize) -> usize,
    temperature: f64,
    stakes: &Stakes,
    densities: Vec<Density>,
) -> Forecast {
    let m = scores.ncols();
    let decisions: Vec<usize> = (0..class.len()).map(decide).collect();
    let mut wrong = vec![0.0; m];
    let mut count = vec![0.0; m];
    let mut smooth_wrong = vec![0.0; m];
    let mut mass = vec![0.0; m];
    for (l, &decision) in decisions.iter().enumerate() {
        count[class[l]] += 1.0;
        wrong[class[l]] += f64::from(u8::from(decision != class[l]));
        for (c, q) in softmax(scores, l, temperature).into_iter().enumerate() {
            mass[c] += q;
            if decision != c {
                smooth_wrong[c] += q;
            }
        }
    }
    // As many samples as, drawn with these priors, would be as informative.
    let effective = 1.0
        / (0..m)
            .map(|c| stakes.priors[c].powi(2) / f64::max(count[c], 1.0))
            .sum::<f64>();
    let counted: Vec<f64> = (0..m).map(|c| wrong[c] / f64::max(count[c], 1.0)).collect();
    let smooth = smooth_share(weighted(&stakes.priors, &counted), effective);
    let class_errors: Vec<f64> = (0..m)
        .map(|c| {
            let twin = smooth_wrong[c] / f64::max(mass[c], 1e-300);
            (1.0 - smooth) * counted[c] + smooth * twin
        })
        .collect();
    let error = weighted(&stakes.priors, &class_errors);
    Forecast {
        error,
        interval: interval(error, effective, INFLATION),
        source: Source::LeaveOneOut,
        cost: weighted(&stakes.weights(), &class_errors),
        class_errors,
        priors: stakes.priors.clone(),
        samples: class.len(),
        densities,
        notes: Vec::new(),
    }
}

/// The share of the smooth twin in a forecast: half where samples are few, none in the limit of many.
///
/// The count is unbiased with variance v (1 - v)/n; the twin is steadier but off by some share of v,
/// because least-squares scores are not log-probabilities. The weight that balances the two is
/// variance/(variance + bias²).
fn smooth_share(counted: f64, samples: f64) -> f64 {
    let v = (counted * samples + 0.5) / (samples + 1.0);
    let variance = v * (1.0 - v) / samples;
    (variance / (variance + (TWIN_BIAS * v).powi(2))).min(0.5)
}

/// How far the smooth twin may be off, relative to the error; on 60,000 MNIST images of ten classes it is
/// 12 % too large.
const TWIN_BIAS: f64 = 0.2;

pub(crate) fn weighted(weights: &[f64], values: &[f64]) -> f64 {
    weights.iter().zip(values).map(|(w, v)| w * v).sum()
}

/// Leave-one-out errors of neighbouring samples are correlated: intervals are as wide as those of
/// this many times fewer samples.
const INFLATION: f64 = 1.25;
/// Probability that an interval holds the truth.
pub const COVERAGE: f64 = 0.9;

/// The interval of a share v seen in n samples.
pub fn interval(share: f64, samples: f64, inflation: f64) -> [f64; 2] {
    let share = share.clamp(0.0, 1.0);
    let (a, b) = (
        samples * share / inflation + 0.5,
        samples * (1.0 - share) / inflation + 0.5,
    );
    match Beta::new(a, b) {
        Ok(beta) => [
            beta.inverse_cdf(0.5 * (1.0 - COVERAGE)),
            beta.inverse_cdf(0.5 * (1.0 + COVERAGE)),
        ],
        Err(_) => [0.0, 1.0],
    }
}

/// The temperature of least cross-entropy, with a weak log-normal prior at 6 (the sharpness of
/// least-squares scores), on a fixed grid.
pub(crate) fn temperature(scores: &Mat<f64>, class: &[usize]) -> f64 {
    const GRID: usize = 60;
    let (low, high, prior) = (0.3_f64.ln(), 60.0_f64.ln(), 6.0_f64.ln());
    let n = class.len() as f64;
    let cost = |log: f64| {
        let t = log.exp();
        let entropy: f64 = (0..class.len())
            .map(|l| {
                let most = (0..scores.ncols())
                    .map(|c| t * scores[(l, c)])
                    .fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = (0..scores.ncols())
                    .map(|c| (t * scores[(l, c)] - most).exp())
                    .sum();
                most + sum.ln() - t * scores[(l, class[l])]
            })
            .sum();
        entropy / n + 0.5 * (log - prior).powi(2) / n
    };
    let at = |i: usize| low + (high - low) * i as f64 / (GRID - 1) as f64;
    let best = (0..GRID)
        .map(|i| (cost(at(i)), i))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(0, |(_, i)| i);
    at(best).exp()
}

fn softmax(scores: &Mat<f64>, sample: usize, temperature: f64) -> Vec<f64> {
    probabilities(
        (0..scores.ncols())
            .map(|c| temperature * scores[(sample, c)])
            .collect(),
    )
}

/// exp(logit) normalised to sum one.
pub(crate) fn probabilities(mut logits: Vec<f64>) -> Vec<f64> {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logits.iter_mut().for_each(|x| *x = (*x - most).exp());
    let sum: f64 = logits.iter().sum();
    logits.iter_mut().for_each(|x| *x /= sum);
    logits
}

/// The index of the largest; the first of equals.
pub(crate) fn argmax(values: impl IntoIterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, value) in values.into_iter().enumerate() {
        if value > best.1 {
            best = (index, value);
        }
    }
    best.0
}
