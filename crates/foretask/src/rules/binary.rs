//! Two classes, one score: closed-form label scores and thresholds (THEORY 5).
//!
//! A sample is decided to be of the first class when its score exceeds the threshold ζ. With label
//! scores y the score of class c is Gaussian with mean m_c = μ_c·y and variance C_c = yᵀ S_c y.

use faer::Mat;

use crate::cells::Cells;
use crate::dense;
use crate::gaussian::{cumulative, tail};
use crate::moments::Moments;

/// A binary rule: label scores and threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryRule {
    /// One score per cell.
    pub label_scores: Vec<f64>,
    /// First class above, second below.
    pub threshold: f64,
}

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
    /// ([`crate::moments::centre_noise`]).
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
        let odds = (weights[0] / weights[1]).ln();
        let mut candidates = Vec::with_capacity(4);
        if (c1 - c2).abs() <= EQUAL_VARIANCES * c1.max(c2) {
            if m1 > m2 {
                return 0.5 * (m1 + m2) - 0.5 * (c1 + c2) * odds / (m1 - m2);
            }
        } else if c1 > 0.0 && c2 > 0.0 {
            let a = 1.0 / c1 - 1.0 / c2;
            let b = -2.0 * (m1 / c1 - m2 / c2);
            let c = m1 * m1 / c1 - m2 * m2 / c2 - 2.0 * odds - (c2 / c1).ln();
            let discriminant = b * b - 4.0 * a * c;
            if discriminant >= 0.0 {
                let q = -0.5 * (b + discriminant.sqrt().copysign(b));
                candidates.push(q / a);
                candidates.push(if q == 0.0 { q / a } else { c / q });
            }
        } else if m1 > m2 {
            candidates.push(0.5 * (m1 + m2));
        }
        candidates.extend([f64::NEG_INFINITY, f64::INFINITY]);
        let cost = |z: f64| {
            let errors = self.errors(z);
            weights[0] * errors[0] + weights[1] * errors[1]
        };
        // The first of equals wins, so that finite roots are preferred.
        let mut best = candidates[0];
        for &z in &candidates[1..] {
            if cost(z) < cost(best) {
                best = z;
            }
        }
        best
    }
}

/// Variances closer than this are taken as equal.
const EQUAL_VARIANCES: f64 = 1e-12;
/// Covariance matrices closer than this (relative to their largest entry) are taken as equal.
const EQUAL_COVARIANCES: f64 = 1e-9;

fn standardised(distance: f64, variance: f64, of: fn(f64) -> f64) -> f64 {
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

/// The classical labels: +1 for the cells that stand for the target's first class, -1 for the second,
/// 0 for cells that stand for neither.
pub fn classical_labels(cells: &Cells, target: usize) -> Vec<f64> {
    cells
        .aligned(target)
        .iter()
        .map(|class| match class {
            Some(0) => 1.0,
            Some(1) => -1.0,
            _ => 0.0,
        })
        .collect()
}

/// The target alone: its classical labels, zero in every other task.
pub fn alone_labels(cells: &Cells, target: usize) -> Vec<f64> {
    let range = cells.of_task(target);
    let mut labels = classical_labels(cells, target);
    (0..labels.len())
        .filter(|cell| !range.contains(cell))
        .for_each(|cell| labels[cell] = 0.0);
    labels
}

/// The label scores of least expected cost, of unit norm, with their threshold.
///
/// Equal covariances: y = S⁺ (μ_1 - μ_2), the k exact null directions of S (task shifts) left out.
/// Unequal ones: y(s) = (s S_1 + (1 - s) S_2)⁺ (μ_1 - μ_2), a one-dimensional search over s, which
/// holds the optimum. `weights` are prior times cost of each class.
pub fn optimal_labels(moments: &Moments, weights: [f64; 2], noise: f64) -> BinaryRule {
    let c = moments.mean.ncols();
    let difference = Mat::from_fn(c, 1, |cell, _| {
        moments.mean[(0, cell)] - moments.mean[(1, cell)]
    });
    let (s1, s2) = (&moments.covariance[0], &moments.covariance[1]);
    let direction = |share: f64| -> Vec<f64> {
        let mixed = Mat::from_fn(c, c, |i, j| share * s1[(i, j)] + (1.0 - share) * s2[(i, j)]);
        normalised(dense::pseudo_solve(mixed.as_ref(), difference.as_ref()))
    };
    let rule = |label_scores: Vec<f64>| {
        let law = ScoreLaw::new(moments, &label_scores, noise);
        let threshold = law.threshold(weights);
        let errors = law.errors(threshold);
        (
            weights[0] * errors[0] + weights[1] * errors[1],
            BinaryRule {
                label_scores,
                threshold,
            },
        )
    };
    let gap = (0..c)
        .flat_map(|j| (0..c).map(move |i| (i, j)))
        .map(|(i, j)| (s1[(i, j)] - s2[(i, j)]).abs())
        .fold(0.0, f64::max);
    if gap <= EQUAL_COVARIANCES * s1.norm_max() {
        return rule(direction(0.5)).1;
    }
    let share = minimise(|share| rule(direction(share)).0, 1e-4, 1.0 - 1e-4);
    rule(direction(share)).1
}

fn normalised(vector: Mat<f64>) -> Vec<f64> {
    let norm = vector.norm_l2();
    vector
        .col(0)
        .iter()
        .map(|x| if norm > 0.0 { x / norm } else { *x })
        .collect()
}

/// Grid, then golden section around its best point.
fn minimise(f: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    const POINTS: usize = 33;
    const STEPS: usize = 60;
    let at = |i: usize| low + (high - low) * i as f64 / (POINTS - 1) as f64;
    let best = (0..POINTS)
        .map(|i| (f(at(i)), i))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(0, |(_, i)| i);
    let (mut a, mut b) = (at(best.saturating_sub(1)), at((best + 1).min(POINTS - 1)));
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut c, mut d) = (b - golden * (b - a), a + golden * (b - a));
    let (mut fc, mut fd) = (f(c), f(d));
    for _ in 0..STEPS {
        if fc < fd {
            (b, d, fd) = (d, c, fc);
            c = b - golden * (b - a);
            fc = f(c);
        } else {
            (a, c, fc) = (c, d, fd);
            d = a + golden * (b - a);
            fd = f(d);
        }
    }
    0.5 * (a + b)
}

impl BinaryRule {
    /// The same rule with threshold zero: a constant added to the labels of the target's cells moves
    /// its score, and nothing else, by that constant.
    pub fn shifted_to_zero(mut self, cells: &Cells, target: usize) -> Self {
        for cell in cells.of_task(target) {
            self.label_scores[cell] -= self.threshold;
        }
        self.threshold = 0.0;
        self
    }
}
