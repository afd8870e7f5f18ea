//! Two classes, one score: closed-form label scores and thresholds (THEORY 5).
//!
//! A sample is decided to be of the first class when its score exceeds the threshold ζ. With label
//! scores y the score of class c is Gaussian with mean m_c = μ_c·y and variance C_c = yᵀ S_c y.

use std::f64::consts::PI;

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

    /// w_1 P(error | first) + w_2 P(error | second) at a threshold.
    pub fn cost(&self, weights: [f64; 2], threshold: f64) -> f64 {
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
    pub fn two_threshold_error(&self, weights: [f64; 2]) -> f64 {
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

/// The label scores of least expected cost, of unit norm, with their threshold. `weights` are prior
/// times cost of each class.
///
/// Equal covariances: y = S⁺ (μ_1 - μ_2), the k exact null directions of S (task shifts) left out.
/// Unequal ones: at the best threshold both weighted densities are equal, and there the cost is
/// stationary in y where
///
/// ```text
///  [ (m_1 - ζ)/C_1 S_1 + (ζ - m_2)/C_2 S_2 ] y = μ_1 - μ_2.
/// ```
///
/// One search over the ratio of the two coefficients finds y. One of them is negative where ζ lies
/// beyond a mean, as it does for very unequal priors or variances: positive ones alone may lose nearly
/// all that there is to gain over deciding always for one class.
pub fn optimal_labels(moments: &Moments, weights: [f64; 2], noise: f64) -> BinaryRule {
    let label_scores = least_cost_labels(moments, noise, |law| {
        law.cost(weights, law.threshold(weights))
    });
    BinaryRule {
        threshold: ScoreLaw::new(moments, &label_scores, noise).threshold(weights),
        label_scores,
    }
}

/// The labels, of unit norm, of least `cost`, a function of m_1 - m_2 and both variances that does not
/// grow with the first.
///
/// It is stationary in y where (t_1 S_1 + t_2 S_2) y is parallel to μ_1 - μ_2, t being its slopes with
/// respect to the variances: one of the directions of a pencil.
pub(super) fn least_cost_labels(
    moments: &Moments,
    noise: f64,
    cost: impl Fn(&ScoreLaw) -> f64,
) -> Vec<f64> {
    let c = moments.mean.ncols();
    let difference = Mat::from_fn(c, 1, |cell, _| {
        moments.mean[(0, cell)] - moments.mean[(1, cell)]
    });
    let (s1, s2) = (&moments.covariance[0], &moments.covariance[1]);
    if !moments.has_equal_covariances()
        && let Some(pencil) = Pencil::new(s1, s2, &difference)
    {
        return normalised(pencil.least_cost(noise, cost));
    }
    let mean = Mat::from_fn(c, c, |i, j| 0.5 * (s1[(i, j)] + s2[(i, j)]));
    normalised(dense::pseudo_solve(mean.as_ref(), difference.as_ref()))
}

/// Both covariances in one basis W of the range of S_1 + S_2: Wᵀ S_1 W = diag(a) and
/// Wᵀ S_2 W = diag(1 - a). The directions y = (t_1 S_1 + t_2 S_2)⁺ (μ_1 - μ_2) are then W z with
///
/// ```text
///  z_g = d_g/(t_1 a_g + t_2 (1 - a_g)),   d = Wᵀ (μ_1 - μ_2),
/// ```
///
/// and cost O(C) each. Only the ratio of t_1 = cos θ and t_2 = sin θ matters, and y or -y with
/// m_1 ≥ m_2 is meant: both errors at a threshold shrink as m_1 - m_2 grows.
struct Pencil {
    /// W, one column for each different a.
    basis: Mat<f64>,
    /// a, ascending.
    share: Vec<f64>,
    /// d ≥ 0.
    difference: Vec<f64>,
    /// The θ at which z has its pole, less π/2: descending from π/2 to 0.
    pole: Vec<f64>,
}

/// Shares a closer than this are one share: of directions that have it only the sum along μ_1 - μ_2
/// is of use, and rounding must not tell them apart.
const SAME_SHARE: f64 = 1e-9;
/// Along a direction where the means agree but the variances do not the best labels are at a pole
/// itself; this many standard deviations of difference let the search come there.
const FAINT: f64 = 1e-12;
/// Poles are approached to exp(-36) of an interval, near the rounding of angles, ...
const APPROACH: f64 = 36.0;
/// ... by factors of e, which follow a component of z from negligible to dominant in a few steps.
const POINTS: usize = 73;
/// Golden sections of two grid steps, down to where costs differ by rounding only.
const STEPS: usize = 40;

impl Pencil {
    fn new(s1: &Mat<f64>, s2: &Mat<f64>, difference: &Mat<f64>) -> Option<Self> {
        let (values, vectors) = dense::symmetric_eigen((s1 + s2).as_ref())?;
        let largest = values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..values.len())
            .filter(|&i| values[i] > dense::NULL_SPACE * largest && values[i] > 0.0)
            .collect();
        let whiten = Mat::from_fn(values.len(), kept.len(), |i, j| {
            vectors[(i, kept[j])] / values[kept[j]].sqrt()
        });
        let first = dense::times(
            dense::times(whiten.transpose(), s1.as_ref()).as_ref(),
            whiten.as_ref(),
        );
        let (shares, vectors) = dense::symmetric_eigen(first.as_ref())?;
        let basis = dense::times(whiten.as_ref(), vectors.as_ref());
        let along = dense::times(basis.transpose(), difference.as_ref());

        let (mut columns, mut share, mut size) = (Vec::new(), Vec::new(), Vec::new());
        let mut start = 0;
        for group in shares.chunk_by(|a, b| b - a <= SAME_SHARE) {
            let range = start..start + group.len();
            start = range.end;
            let squares = range.clone().map(|i| along[(i, 0)].powi(2));
            let length = squares.sum::<f64>().sqrt();
            let unit = |i: usize| {
                if length > 0.0 {
                    along[(i, 0)] / length
                } else {
                    f64::from(u8::from(i + 1 == range.end))
                }
            };
            columns.push(Vec::from_iter((0..basis.nrows()).map(|cell| {
                range
                    .clone()
                    .map(|i| basis[(cell, i)] * unit(i))
                    .sum::<f64>()
            })));
            share.push((group.iter().sum::<f64>() / group.len() as f64).clamp(0.0, 1.0));
            size.push(length.max(FAINT));
        }
        Some(Self {
            basis: Mat::from_fn(basis.nrows(), columns.len(), |cell, g| columns[g][cell]),
            pole: share.iter().map(|a| (1.0 - a).atan2(*a)).collect(),
            share,
            difference: size,
        })
    }

    /// The law of the score of labels W z or -W z, whichever has m_1 ≥ m_2, up to a shift.
    fn law(&self, z: &[f64], noise: f64) -> ScoreLaw {
        let (mut gap, mut variance) = (0.0, [0.0, 0.0]);
        for (g, z) in z.iter().enumerate() {
            gap += self.difference[g] * z;
            variance[0] += noise * self.share[g] * z * z;
            variance[1] += noise * (1.0 - self.share[g]) * z * z;
        }
        ScoreLaw {
            mean: [gap.abs(), 0.0],
            variance,
        }
    }

    /// The labels of least cost: θ takes every value of a half circle, interval by interval between
    /// the poles t_1 a_g + t_2 (1 - a_g) = 0, where a component of z changes its sign.
    fn least_cost(&self, noise: f64, cost: impl Fn(&ScoreLaw) -> f64) -> Mat<f64> {
        let cost = |z: &[f64]| {
            let cost = cost(&self.law(z, noise));
            if cost.is_nan() { f64::INFINITY } else { cost }
        };
        // t_1 = t_2, which stays where nothing is better.
        let mut best = (cost(&self.difference), self.difference.clone());
        let groups = self.share.len();
        for low in 0..groups {
            let high = (low + 1) % groups;
            let x = minimise(|x| cost(&self.between(low, high, x)), -APPROACH, APPROACH);
            let z = self.between(low, high, x);
            let found = cost(&z);
            if found < best.0 {
                best = (found, z);
            }
        }
        let z = best.1;
        let gap: f64 = z.iter().zip(&self.difference).map(|(z, d)| z * d).sum();
        dense::times(
            self.basis.as_ref(),
            Mat::from_fn(groups, 1, |g, _| if gap < 0.0 { -z[g] } else { z[g] }).as_ref(),
        )
    }

    /// z at the share 1/(1 + exp(-x)) of the way from the pole of one direction to that of the next.
    ///
    /// t_1 a + t_2 (1 - a) = |(a, 1 - a)| sin(pole - θ). Angles are taken from the nearer end, which
    /// keeps the relative accuracy of the component that has its pole there.
    fn between(&self, low: usize, high: usize, x: f64) -> Vec<f64> {
        let turn = if high <= low { PI } else { 0.0 };
        let offset = (self.pole[low] - self.pole[high] + turn) / (1.0 + x.abs().exp());
        (0..self.share.len())
            .map(|g| {
                let angle = if x <= 0.0 {
                    self.pole[g] - self.pole[low] + offset
                } else {
                    self.pole[g] - self.pole[high] - offset
                };
                let a = self.share[g];
                self.difference[g] / (a.hypot(1.0 - a) * angle.sin())
            })
            .collect()
    }
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
