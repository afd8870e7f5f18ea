//! How far class probabilities can be believed, and the slope that makes them so.

use faer::Mat;

/// Samples whose most probable class is about equally probable: the probability claimed, and the share for
/// which it is right.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Reliability {
    /// The share of all samples.
    pub share: f64,
    /// The mean probability that the model gives to their most probable class.
    pub claimed: f64,
    /// The share of them that is of this class.
    pub right: f64,
}

/// The probability of the most probable class, whether it was right, and how much it counts.
pub(crate) struct Claim {
    pub(crate) claimed: f64,
    pub(crate) right: bool,
    pub(crate) weight: f64,
}

/// Bins of equally many samples, by the probability claimed.
pub(crate) fn reliability(mut claims: Vec<Claim>) -> Vec<Reliability> {
    const MOST_BINS: usize = 10;
    const LEAST_IN_BIN: usize = 10;
    claims.sort_by(|a, b| a.claimed.total_cmp(&b.claimed));
    let bins = (claims.len() / LEAST_IN_BIN).clamp(1, MOST_BINS);
    let total: f64 = claims.iter().map(|claim| claim.weight).sum();
    let of_bin = |bin: usize| {
        let range = bin * claims.len() / bins..(bin + 1) * claims.len() / bins;
        let claims = &claims[range];
        let weight: f64 = claims.iter().map(|claim| claim.weight).sum();
        let sum = |of: &dyn Fn(&Claim) -> f64| {
            claims.iter().map(|c| c.weight * of(c)).sum::<f64>() / weight.max(1e-300)
        };
        Reliability {
            share: weight / total.max(1e-300),
            claimed: sum(&|claim| claim.claimed),
            right: sum(&|claim| f64::from(u8::from(claim.right))),
        }
    };
    (0..bins).map(of_bin).collect()
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
