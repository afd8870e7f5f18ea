//! [`Density`]: the expected law of a score.

use crate::numerics::{INFLATION, interval, normal};

/// Scores that a law is kept by: more of them change no picture, and a file of a large target is small.
const MOST_SCORES: usize = 2000;

/// The quartiles of so many scores are believed as much as their deviation: of ten they may lie close together by luck,
/// and a curve would show every score as a hill of its own.
const QUARTILES_BELIEVED: f64 = 20.0;

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
        /// The scores, ascending; of very many, evenly spaced quantiles.
        scores: Vec<f64>,
        /// Standard deviation of the kernel.
        bandwidth: f64,
    },
}

impl Density {
    /// The kernel density of `scores`, with Silverman's bandwidth 0.9 w n^(-1/5). His w is the smaller of the deviation
    /// σ and of the quartiles' distance over 1.34, q; that of few scores is nearer to σ,
    /// w = (n min(q, σ) + 20 σ)/(n + 20).
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
        let robust = if spread > 0.0 {
            spread.min(deviation)
        } else {
            deviation
        };
        let width = (n * robust + QUARTILES_BELIEVED * deviation) / (n + QUARTILES_BELIEVED);
        let bandwidth = (0.9 * width * n.max(1.0).powf(-0.2)).max(1e-3 * (1.0 + mean.abs()));
        if scores.len() > MOST_SCORES {
            // The middle of each of so many equal shares.
            let all = scores.len();
            let place = |share: usize| (2 * share + 1) * all / (2 * MOST_SCORES);
            scores = (0..MOST_SCORES).map(|share| scores[place(share)]).collect();
        }
        Self::Kernel { scores, bandwidth }
    }

    /// Its value at x.
    pub fn at(&self, x: f64) -> f64 {
        self.average(|mean, deviation| normal::density((x - mean) / deviation) / deviation)
    }

    /// P(score > z).
    pub(crate) fn tail(&self, z: f64) -> f64 {
        self.average(|mean, deviation| normal::tail((z - mean) / deviation))
    }

    /// 90 % interval of a tail, of which so much is worth a whole sample; none of a theory, which counts no samples.
    pub(crate) fn tail_interval(&self, tail: f64, worth: f64) -> Option<[f64; 2]> {
        match self {
            Self::Gaussian { .. } => None,
            Self::Kernel { scores, .. } => {
                Some(interval(tail, worth * scores.len() as f64, INFLATION))
            }
        }
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

    /// P(score > other score) of two normal laws; None of others.
    pub(crate) fn exceeds(&self, other: &Self) -> Option<f64> {
        match (self, other) {
            (
                Self::Gaussian { mean, deviation },
                Self::Gaussian {
                    mean: other,
                    deviation: spread,
                },
            ) => Some(normal::tail((other - mean) / deviation.hypot(*spread))),
            _ => None,
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

/// A point of a receiver operating characteristic.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RocPoint {
    /// Share of the second class that is called the first.
    pub false_alarm: f64,
    /// Share of the first class that is called the first.
    pub detection: f64,
    /// 90 % interval of the false alarms at this threshold; none of a theory.
    #[serde(default)]
    pub false_alarm_interval: Option<[f64; 2]>,
    /// 90 % interval of the detections at this threshold; none of a theory.
    #[serde(default)]
    pub detection_interval: Option<[f64; 2]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A large sample is kept by its quantiles: the law that they make is the same.
    #[test]
    fn quantiles_stand_for_many_scores() {
        let all: Vec<f64> = (0..50_000)
            .map(|i| normal::upper_quantile((i as f64 + 0.5) / 50_000.0).powi(3))
            .collect();
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let law = Density::of_scores(all);
        let Density::Kernel { scores, bandwidth } = &law else {
            panic!("a kernel");
        };
        assert_eq!(scores.len(), MOST_SCORES);
        let full = Density::Kernel {
            scores: sorted,
            bandwidth: *bandwidth,
        };
        for z in [-8.0, -1.0, -0.1, 0.0, 0.3, 2.0, 9.0] {
            assert!((law.tail(z) - full.tail(z)).abs() < 5e-4, "{z}");
        }
    }

    /// Ten scores of which six lie close together: a hill and a shoulder, not one for each of the others.
    #[test]
    fn few_scores_make_a_smooth_law() {
        let scores = [-2.0, -1.2, -0.1, -0.05, 0.0, 0.03, 0.06, 0.1, 1.1, 1.9];
        let law = Density::of_scores(scores.to_vec());
        let (low, high) = law.range();
        let curve: Vec<f64> = (0..=400)
            .map(|i| law.at(low + (high - low) * f64::from(i) / 400.0))
            .collect();
        let hills = curve.windows(3).filter(|w| w[0] < w[1] && w[1] >= w[2]);
        assert!(hills.count() <= 2);
    }

    #[test]
    fn normal_laws_have_a_closed_form() {
        let law = |mean, deviation| Density::Gaussian { mean, deviation };
        // Φ((1.5 - 0)/√(3² + 4²)) = Φ(0.3).
        let auc = law(1.5, 3.0).exceeds(&law(0.0, 4.0));
        assert!(auc.is_some_and(|auc| (auc - 0.617_911_422_188_952_7).abs() < 1e-12));
        assert_eq!(law(1.0, 1.0).exceeds(&Density::of_scores(vec![0.0])), None);
    }
}
