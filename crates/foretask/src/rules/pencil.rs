//! [`Pencil`]: two covariances made diagonal together, and the labels of least cost among its directions.

use std::f64::consts::PI;

use faer::Mat;

use super::score_law::ScoreLaw;
use crate::numerics::dense;
use crate::numerics::optimise::minimise;
use crate::numerics::spectrum::Spectrum;

/// Both covariances in one basis W of the range of S_1 + S_2: Wᵀ S_1 W = diag(a) and
/// Wᵀ S_2 W = diag(1 - a). The directions y = (t_1 S_1 + t_2 S_2)⁺ (μ_1 - μ_2) are then W z with
///
/// ```text
///  z_g = d_g/(t_1 a_g + t_2 (1 - a_g)),   d = Wᵀ (μ_1 - μ_2),
/// ```
///
/// and cost O(C) each. Only the ratio of t_1 = cos θ and t_2 = sin θ matters, and y or -y with
/// m_1 ≥ m_2 is meant: both errors at a threshold shrink as m_1 - m_2 grows.
pub(super) struct Pencil {
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

impl Pencil {
    pub(super) fn new(s1: &Mat<f64>, s2: &Mat<f64>, difference: &Mat<f64>) -> Option<Self> {
        let range = Spectrum::of((s1 + s2).as_ref())?;
        let whiten = range.columns(|x, value| x / value.sqrt());
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
    pub(super) fn least_cost(&self, noise: f64, cost: impl Fn(&ScoreLaw) -> f64) -> Mat<f64> {
        let cost = |z: &[f64]| {
            let cost = cost(&self.law(z, noise));
            if cost.is_nan() { f64::INFINITY } else { cost }
        };
        // t_1 = t_2, which stays where nothing is better.
        let mut best = (cost(&self.difference), self.difference.clone());
        let groups = self.share.len();
        for low in 0..groups {
            let high = (low + 1) % groups;
            let x = minimise(
                |x| cost(&self.between(low, high, x)),
                -APPROACH,
                APPROACH,
                POINTS,
            );
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
