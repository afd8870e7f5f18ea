//! The least value of a quadratic on the simplex, by an active set.

use faer::Mat;

use crate::numerics::dense;

/// The weights w ≥ 0, Σ w = 1, that minimise ½ wᵀ Q w - r·w for a positive semi-definite Q.
///
/// Wolfe's algorithm: w is optimal on its support; the coordinate of steepest descent joins, and the
/// optimum on the larger support is approached, dropping coordinates that reach zero, until it is in
/// the simplex. Each round lowers the objective, so that it ends after finitely many.
pub(crate) fn least_on_simplex(q: &Mat<f64>, r: &[f64]) -> Vec<f64> {
    /// Descent below this share of the largest entry is rounding.
    const ROUNDING: f64 = 1e-14;
    /// Added to the diagonal, relative to the largest entry: along a null direction of Q within the
    /// support the step becomes long instead of infinite, and ends at a face all the same.
    const RIDGE: f64 = 1e-14;
    /// Many times the rounds that are ever needed; only rounding could make a cycle.
    const ROUNDS: usize = 100;

    let n = r.len();
    let mut weights = vec![0.0; n];
    let size = r.iter().fold(q.norm_max(), |size, r| size.max(r.abs()));
    let vertex = |j: &usize| 0.5 * q[(*j, *j)] - r[*j];
    let Some(first) = (0..n).min_by(|a, b| vertex(a).total_cmp(&vertex(b))) else {
        return weights;
    };
    weights[first] = 1.0;
    let mut support = vec![first];
    for _ in 0..ROUNDS * n {
        let gradient: Vec<f64> = (0..n)
            .map(|i| support.iter().map(|&j| q[(i, j)] * weights[j]).sum::<f64>() - r[i])
            .collect();
        let level: f64 = support.iter().map(|&j| weights[j] * gradient[j]).sum();
        let steepest = (0..n)
            .filter(|j| !support.contains(j))
            .min_by(|&a, &b| gradient[a].total_cmp(&gradient[b]));
        match steepest {
            Some(j) if gradient[j] < level - ROUNDING * size => support.push(j),
            _ => break,
        }
        while support.len() > 1 {
            let optimum = least_on_plane(q, r, &support, RIDGE * size);
            // The share of the way to the optimum at which the first coordinate reaches zero.
            let way = |&(position, &j): &(usize, &usize)| {
                weights[j] / (weights[j] - optimum[position]).max(f64::MIN_POSITIVE)
            };
            let blocking = support
                .iter()
                .enumerate()
                .filter(|&(position, _)| optimum[position] <= 0.0)
                .min_by(|a, b| way(a).total_cmp(&way(b)));
            let Some((dropped, share)) = blocking.map(|b| (b.0, way(&b).min(1.0))) else {
                for (&j, &w) in support.iter().zip(&optimum) {
                    weights[j] = w;
                }
                break;
            };
            for (&j, &w) in support.iter().zip(&optimum) {
                weights[j] += share * (w - weights[j]);
            }
            weights[support.remove(dropped)] = 0.0;
        }
        if let [only] = support[..] {
            weights[only] = 1.0;
        }
    }
    weights
}

/// The minimiser over Σ w = 1 alone, on a support: Q w - r = level 1.
fn least_on_plane(q: &Mat<f64>, r: &[f64], support: &[usize], ridge: f64) -> Vec<f64> {
    let n = support.len();
    // The multiplier and its row are scaled as Q is, which keeps the pivots honest.
    let unit = q.norm_max().max(f64::MIN_POSITIVE);
    let system = Mat::from_fn(n + 1, n + 1, |i, j| match (i < n, j < n) {
        (true, true) => q[(support[i], support[j])] + if i == j { ridge } else { 0.0 },
        (false, false) => 0.0,
        _ => unit,
    });
    let right = Mat::from_fn(n + 1, 1, |i, _| if i < n { r[support[i]] } else { unit });
    let solution = dense::solve_general(system.as_ref(), right.as_ref());
    (0..n).map(|i| solution[(i, 0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in -1..1 without pattern.
    fn scattered(seed: usize, index: usize) -> f64 {
        ((seed * 7919 + index) as f64 * 12.9898).sin() * 43758.5453 % 1.0
    }

    /// w is optimal if and only if the gradient is nowhere below its weighted mean.
    fn assert_optimal(q: &Mat<f64>, r: &[f64], weights: &[f64]) {
        assert!(weights.iter().all(|&w| w >= 0.0), "{weights:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let gradient: Vec<f64> = (0..r.len())
            .map(|i| (0..r.len()).map(|j| q[(i, j)] * weights[j]).sum::<f64>() - r[i])
            .collect();
        let level: f64 = gradient.iter().zip(weights).map(|(g, w)| g * w).sum();
        let least = gradient.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(
            least >= level - 1e-12 * (1.0 + q.norm_max()),
            "{least} < {level}"
        );
    }

    #[test]
    fn weights_on_the_simplex_are_optimal_whatever_the_points() {
        for seed in 0..300 {
            let (dimension, points) = (1 + seed % 7, 1 + seed % 11);
            let shift = 0.5 * (seed % 5) as f64;
            let mut columns = Mat::from_fn(dimension, points, |i, j| {
                scattered(seed, i * points + j) + if i == 0 { shift } else { 0.0 }
            });
            if seed % 3 == 0 && points > 2 {
                // A point twice, and one between two others.
                for i in 0..dimension {
                    columns[(i, 1)] = columns[(i, 0)];
                    columns[(i, points - 1)] = 0.5 * (columns[(i, 0)] + columns[(i, points / 2)]);
                }
            }
            let q = columns.transpose() * &columns;
            let linear: Vec<f64> = (0..points)
                .map(|j| {
                    if seed % 2 == 0 {
                        0.0
                    } else {
                        scattered(seed + 1000, j)
                    }
                })
                .collect();
            assert_optimal(&q, &linear, &least_on_simplex(&q, &linear));
        }
    }
}
