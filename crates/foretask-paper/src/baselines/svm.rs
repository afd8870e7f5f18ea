//! A linear support vector machine per class, each against all other classes: the minimum of
//!
//! ```text
//! ½‖w‖² + Σᵢ costᵢ max(0, 1 - yᵢ wᵀxᵢ)²,   yᵢ = 1 for rows of the class, -1 for the others,
//! ```
//!
//! by the dual coordinate descent of Hsieh, Chang, Lin, Keerthi and Sundararajan (ICML 2008), the default of
//! LIBLINEAR. An offset is a feature that is 1 in every row.
//!
//! Both MMDT and CDLS need a cost of its own for each row. The maintained crates have none: `linfa-svm`
//! and `smartcore` know one cost per class at most and solve the kernel dual, the bindings to LIBLINEAR need a
//! C++ compiler. Hence these lines.

use faer::Mat;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The widest gap in the projected gradient at which a machine is done: LIBLINEAR's default.
const TOLERANCE: f64 = 0.1;
/// Passes over the rows after which it is done anyway: LIBLINEAR's default.
const PASSES: usize = 1000;

/// Rows of equal length one after the other, with their classes and costs.
pub(super) struct Training<'a> {
    pub values: &'a [f64],
    pub features: usize,
    pub class: &'a [usize],
    pub cost: &'a [f64],
}

impl Training<'_> {
    /// The weights of each class, one row per class.
    pub fn weights(&self, classes: usize) -> Mat<f64> {
        self.weights_to(classes, TOLERANCE, PASSES)
    }

    fn weights_to(&self, classes: usize, tolerance: f64, passes: usize) -> Mat<f64> {
        let mut weights = Mat::zeros(classes, self.features);
        for class in 0..classes {
            let found = self.one_against_all(class, tolerance, passes);
            for (feature, weight) in found.into_iter().enumerate() {
                weights[(class, feature)] = weight;
            }
        }
        weights
    }

    fn one_against_all(&self, positive: usize, tolerance: f64, passes: usize) -> Vec<f64> {
        let rows = || self.values.chunks_exact(self.features);
        // The diagonal of the dual's matrix.
        let curvature: Vec<f64> = rows()
            .zip(self.cost)
            .map(|(row, cost)| dot(row, row) + 0.5 / cost)
            .collect();
        // The order of the rows changes the speed, not the minimum.
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut active: Vec<usize> = (0..self.class.len())
            .filter(|&i| self.cost[i] > 0.0)
            .collect();
        let everything = active.len();
        let mut dual = vec![0.0; self.class.len()];
        let mut weights = vec![0.0; self.features];
        // Rows at zero whose gradient is beyond what the last pass saw are left out until the others are done.
        let mut beyond = f64::INFINITY;
        for _ in 0..passes {
            active.shuffle(&mut random);
            let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
            let mut kept = Vec::with_capacity(active.len());
            for &i in &active {
                let row = &self.values[i * self.features..(i + 1) * self.features];
                let sign = if self.class[i] == positive { 1.0 } else { -1.0 };
                let gradient = sign * dot(row, &weights) - 1.0 + 0.5 * dual[i] / self.cost[i];
                if dual[i] == 0.0 && gradient > beyond {
                    continue;
                }
                kept.push(i);
                let slope = if dual[i] == 0.0 {
                    gradient.min(0.0)
                } else {
                    gradient
                };
                lowest = lowest.min(slope);
                highest = highest.max(slope);
                let new = (dual[i] - gradient / curvature[i]).max(0.0);
                let step = sign * (new - dual[i]);
                dual[i] = new;
                if step != 0.0 {
                    for (weight, x) in weights.iter_mut().zip(row) {
                        *weight += step * x;
                    }
                }
            }
            active = kept;
            if highest - lowest <= tolerance {
                if active.len() == everything {
                    break;
                }
                active = (0..self.class.len())
                    .filter(|&i| self.cost[i] > 0.0)
                    .collect();
                beyond = f64::INFINITY;
            } else {
                beyond = if highest > 0.0 {
                    highest
                } else {
                    f64::INFINITY
                };
            }
        }
        weights
    }
}

/// The class of each of some rows, row after row: that with the largest score, the first of equals.
pub(super) fn decide(machines: &Mat<f64>, rows: &[f64]) -> Vec<usize> {
    let scored = |class: usize, row: &[f64]| -> f64 {
        let weights = machines.row(class);
        weights.iter().zip(row).map(|(w, x)| w * x).sum()
    };
    rows.chunks_exact(machines.ncols().max(1))
        .map(|row| {
            let best = |best: (usize, f64), class: usize| {
                let score = scored(class, row);
                if score > best.1 { (class, score) } else { best }
            };
            (0..machines.nrows()).fold((0, f64::NEG_INFINITY), best).0
        })
        .collect()
}

/// aᵀb, in four sums that the processor adds at the same time.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours_a, fours_b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = fours_a.remainder().iter().zip(fours_b.remainder());
    let rest: f64 = rest.map(|(a, b)| a * b).sum();
    for (a, b) in fours_a.zip(fours_b) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const ROWS: [f64; 27] = [
        1.0, 2.0, 1.0,    2.0, 0.5, 1.0,    0.2, 1.0, 1.0,
        -1.0, -1.0, 1.0,  -2.0, 0.3, 1.0,   -0.5, -2.0, 1.0,
        3.0, -1.0, 1.0,   2.0, -2.0, 1.0,   0.4, -0.6, 1.0,
    ];

    #[test]
    fn weights_are_those_of_scikit_learn() {
        let training = Training {
            values: &ROWS,
            features: 3,
            class: &[0, 0, 0, 1, 1, 1, 2, 2, 2],
            cost: &[1.0, 1.0, 0.5, 1.0, 1.0, 0.05, 1.0, 1.0, 2.0],
        };
        // LinearSVC(loss="squared_hinge", C=1, fit_intercept=False, tol=1e-12) with the costs as sample
        // weights, scikit-learn 1.9, to eight digits.
        let expected = [
            [0.29919731, 1.10823164, -0.44491017],
            [-0.99789485, -0.20344033, -0.47924184],
            [0.24754709, -0.6258396, -0.36192916],
        ];
        let found = training.weights_to(3, 1e-10, 100_000);
        for class in 0..3 {
            for feature in 0..3 {
                let apart = (found[(class, feature)] - expected[class][feature]).abs();
                assert!(apart < 2e-8, "{class} {feature}: {apart}");
            }
        }
    }
}
