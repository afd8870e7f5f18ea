//! [`ScoreLaw`]: Gaussian scores of two classes, their errors and their best threshold.

use crate::moments::Moments;
use crate::numerics::normal::{cumulative, tail};

/// Mean scores closer than this share of the label scores are the same.
const SAME_MEANS: f64 = 1e-9;

/// The law of one score for both classes of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreLaw {
    /// Mean score of each class.
    pub mean: [f64; 2],
    /// Variance of the score of each class.
    pub variance: [f64; 2],
}

impl ScoreLaw {
    /// The law of the score of labels `y`; `noise` multiplies the variances
    /// (`crate::moments::centre_noise`).
    pub fn new(moments: &Moments, y: &[f64], noise: f64) -> Self {
        let (first, second) = (moments.score(0, y), moments.score(1, y));
        Self {
            mean: [first.0, second.0],
            variance: [noise * first.1, noise * second.1],
        }
    }

    /// The probabilities of error of each class at a threshold.
    pub fn errors(&self, threshold: f64) -> [f64; 2] {
        [
            standardised(threshold - self.mean[0], self.variance[0], cumulative),
            standardised(threshold - self.mean[1], self.variance[1], tail),
        ]
    }

    /// Half of the distance of the class means of the score of these labels: in such units, where they are at ±1, one
    /// temperature fits all labels. Never so small that only rounding tells them apart.
    pub(crate) fn half_distance(&self, label_scores: &[f64]) -> f64 {
        let largest = label_scores.iter().map(|y| y.abs()).fold(0.0, f64::max);
        self.half_apart().max(SAME_MEANS * largest).max(1e-300)
    }

    /// Whether more than rounding tells the class means of the score of these labels apart.
    pub(crate) fn tells_apart(&self, label_scores: &[f64]) -> bool {
        self.half_apart() >= self.half_distance(label_scores)
    }

    fn half_apart(&self) -> f64 {
        0.5 * (self.mean[0] - self.mean[1]).abs()
    }

    /// The threshold that minimises w_1 P(error | first) + w_2 P(error | second).
    ///
    /// Equal variances give ζ = (m_1 + m_2)/2 - C ln(w_1/w_2)/(m_1 - m_2); unequal ones the better
    /// root of (z - m_1)²/C_1 - (z - m_2)²/C_2 = 2 ln(w_1/w_2) + ln(C_2/C_1). Where deciding always
    /// for one class is better than either root the threshold is infinite.
    pub fn threshold(&self, weights: [f64; 2]) -> f64 {
        let ([m1, m2], [c1, c2]) = (self.mean, self.variance);
        if weights[0] <= 0.0 || weights[1] <= 0.0 {
            return if weights[1] <= 0.0 {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            };
        }
        let roots = if self.equal_variances() {
            if m1 > m2 {
                let odds = (weights[0] / weights[1]).ln();
                return 0.5 * (m1 + m2) - 0.5 * (c1 + c2) * odds / (m1 - m2);
            }
            None
        } else if c1 > 0.0 && c2 > 0.0 {
            self.equal_densities(weights)
        } else {
            (m1 > m2).then_some([0.5 * (m1 + m2); 2])
        };
        // The first of equals wins, so that finite roots are preferred.
        let mut best = (f64::NEG_INFINITY, f64::INFINITY);
        for z in roots
            .into_iter()
            .flatten()
            .chain([f64::NEG_INFINITY, f64::INFINITY])
        {
            let cost = self.cost(weights, z);
            if cost < best.1 {
                best = (z, cost);
            }
        }
        best.0
    }

    /// The same where names must not matter: if nothing is better than deciding always for one class, and either
    /// class is as good, the middle of the means.
    pub(crate) fn fair_threshold(&self, weights: [f64; 2]) -> f64 {
        let threshold = self.threshold(weights);
        let even = (weights[0] - weights[1]).abs() <= EVEN * (weights[0] + weights[1]);
        match threshold.is_infinite() && even {
            true => self.middle(),
            false => threshold,
        }
    }

    /// The threshold, or the middle of the means where it is infinite: where scores are measured from.
    pub(crate) fn origin(&self, weights: [f64; 2]) -> f64 {
        let threshold = self.threshold(weights);
        match threshold.is_finite() {
            true => threshold,
            false => self.middle(),
        }
    }

    fn middle(&self) -> f64 {
        0.5 * (self.mean[0] + self.mean[1])
    }

    /// w_1 P(error | first) + w_2 P(error | second) at a threshold.
    pub(crate) fn cost(&self, weights: [f64; 2], threshold: f64) -> f64 {
        let errors = self.errors(threshold);
        weights[0] * errors[0] + weights[1] * errors[1]
    }

    /// The least cost w_1 P(error | first) + w_2 P(error | second) of any decision on this score, what
    /// one threshold loses being the difference to it.
    ///
    /// With unequal variances the density of the wider class is the larger beyond either root z₁ < z₂
    /// of [`ScoreLaw::threshold`]'s equation, and everywhere if there are none: decide for it outside
    /// [z₁, z₂]. With equal ones a single threshold is best, below it whichever class has the smaller
    /// mean.
    pub(crate) fn two_threshold_error(&self, weights: [f64; 2]) -> f64 {
        let [c1, c2] = self.variance;
        if weights[0] <= 0.0 || weights[1] <= 0.0 {
            return 0.0;
        }
        if self.equal_variances() {
            let mut ordered = *self;
            ordered.mean = [
                self.mean[0].max(self.mean[1]),
                self.mean[0].min(self.mean[1]),
            ];
            let weights = if self.mean[0] < self.mean[1] {
                [weights[1], weights[0]]
            } else {
                weights
            };
            return ordered.cost(weights, ordered.threshold(weights));
        }
        if c1 <= 0.0 || c2 <= 0.0 {
            // A single value on one side: the other class almost never has it.
            return 0.0;
        }
        let (wide, narrow) = if c1 > c2 { (0, 1) } else { (1, 0) };
        let Some([z1, z2]) = self.equal_densities(weights) else {
            return weights[narrow];
        };
        let (low, high) = (z1.min(z2), z1.max(z2));
        let inside = {
            let (mean, deviation) = (self.mean[wide], self.variance[wide].sqrt());
            let (a, b) = ((low - mean) / deviation, (high - mean) / deviation);
            // In the tail that is the smaller at the nearer end, so that nothing cancels.
            if a > 0.0 {
                tail(a) - tail(b)
            } else {
                cumulative(b) - cumulative(a)
            }
        };
        let outside = {
            let (mean, deviation) = (self.mean[narrow], self.variance[narrow].sqrt());
            cumulative((low - mean) / deviation) + tail((high - mean) / deviation)
        };
        weights[wide] * inside + weights[narrow] * outside
    }

    fn equal_variances(&self) -> bool {
        let [c1, c2] = self.variance;
        (c1 - c2).abs() <= EQUAL_VARIANCES * c1.max(c2)
    }

    /// Where both classes have the same weighted density, for unequal, positive variances.
    fn equal_densities(&self, weights: [f64; 2]) -> Option<[f64; 2]> {
        let ([m1, m2], [c1, c2]) = (self.mean, self.variance);
        let odds = (weights[0] / weights[1]).ln();
        let a = 1.0 / c1 - 1.0 / c2;
        let b = -2.0 * (m1 / c1 - m2 / c2);
        let c = m1 * m1 / c1 - m2 * m2 / c2 - 2.0 * odds - (c2 / c1).ln();
        let discriminant = b * b - 4.0 * a * c;
        if discriminant < 0.0 {
            return None;
        }
        let q = -0.5 * (b + discriminant.sqrt().copysign(b));
        Some([q / a, if q == 0.0 { q / a } else { c / q }])
    }
}

/// Variances closer than this are taken as equal.
const EQUAL_VARIANCES: f64 = 1e-12;

/// Weights closer than this are taken as equal.
const EVEN: f64 = 1e-9;

/// `of` at a distance in standard deviations; without variance it is infinitely many.
pub(super) fn standardised(distance: f64, variance: f64, of: fn(f64) -> f64) -> f64 {
    if variance > 0.0 {
        of(distance / variance.sqrt())
    } else {
        of(if distance == 0.0 {
            0.0
        } else {
            distance * f64::INFINITY
        })
    }
}
