//! How far class probabilities can be believed, and the slope that makes them so.

use faer::Mat;
use rayon::prelude::*;

use crate::data::Importance;
use crate::decision::{softmax, to_shares};
use crate::numerics::dense::solve_few;
use crate::numerics::optimise::bisect;

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

/// Bins of equally many samples, by the probability claimed; each sample makes one claim per partition.
pub(crate) fn reliability(mut claims: Vec<Claim>, partitions: usize) -> Vec<Reliability> {
    const MOST_BINS: usize = 10;
    const LEAST_IN_BIN: usize = 10;
    claims.sort_by(|a, b| a.claimed.total_cmp(&b.claimed));
    let bins = (claims.len() / partitions / LEAST_IN_BIN).clamp(1, MOST_BINS);
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

/// What makes probabilities of class scores S: softmax(slope S_c + offset_c), in the proportions of training.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Calibration {
    pub(crate) slope: f64,
    /// One per class.
    pub(crate) offsets: Vec<f64>,
    /// The slope by which the samples judge themselves: negative where scores point away from the classes, as those
    /// of noise do half of the time. With a slope that cannot be, noise would look better than chance.
    pub(crate) twin: f64,
}

/// The slope of least-squares scores before any data are seen; its logarithm has the deviation one.
const SLOPE: f64 = 6.0;
/// The least and the largest slope.
const SLOPES: [f64; 2] = [0.3, 60.0];
/// The deviation of offsets before any data are seen, in nats.
const OFFSET: f64 = 0.5;
/// Steps at most.
const MOST_STEPS: usize = 100;
/// The longest step of the slope's logarithm.
const LONGEST: f64 = 0.7;
/// With more samples than this, in all partitions, the sign of the slope is not in doubt.
const MOST_SIGNED: usize = 4000;
/// More samples than [`MOST_SIGNED`] take steps of all parameters together, with at most so many classes: few passes over
/// them are needed then.
const MOST_JOINT: usize = 50;
/// Samples whose sums are made together, in an order that threads do not change.
const CHUNK: usize = 4096;
/// A step that lowers the cost by less than this, in nats, is the last.
const ARRIVED: f64 = 1e-9;
/// How often a step is halved.
const MOST_HALVINGS: i32 = 30;

/// What the cross-entropy of all partitions is multiplied by to be that of as many samples as they are worth.
fn unit(importance: &Importance, samples: usize, partitions: usize) -> f64 {
    let worth = importance.independent().map(|own| own / samples as f64);
    worth.unwrap_or(1.0) / partitions.max(1) as f64
}

/// The cost of a calibration, and what it looks like as a parabola of the slope's logarithm and of all offsets.
struct Landscape {
    cost: f64,
    gradient: Vec<f64>,
    /// Row by row.
    curvature: Vec<f64>,
}

impl Landscape {
    /// How much lower the bottom of the parabola is, and the step of Gauss and Newton that leads there.
    fn step(&self) -> (f64, f64, Vec<f64>) {
        let (mut curvature, mut step) = (self.curvature.clone(), self.gradient.clone());
        solve_few(&mut curvature, &mut step);
        let both = self.gradient.iter().zip(&step);
        let gain = both.map(|(slope, step)| 0.5 * slope * step).sum();
        (gain, step[0], step[1..].to_vec())
    }
}

impl Calibration {
    /// The slope of least cross-entropy, with a weak log-normal prior at [`SLOPE`]. Scores are of so many partitions
    /// of the same samples, which count as much as their importance says.
    pub(crate) fn of_slope(
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
        partitions: usize,
    ) -> Self {
        Self::fit(scores, class, importance, partitions, false)
    }

    /// Slope and offsets together. Least squares puts the threshold of skewed classes in the wrong place; offsets
    /// put it right, and are tied to zero by a normal prior, so that few labels move nothing.
    pub(crate) fn of_scores(
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
        partitions: usize,
    ) -> Self {
        Self::fit(scores, class, importance, partitions, true)
    }

    /// Newton's steps for each parameter by itself, or together where samples are many, halved until they lower the cost.
    fn fit(
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
        partitions: usize,
        offsets: bool,
    ) -> Self {
        let m = scores.ncols();
        let mut calibration = Self {
            slope: SLOPE,
            offsets: vec![0.0; m],
            twin: SLOPE,
        };
        let one = unit(importance, class.len(), partitions);
        if offsets && class.len() > MOST_SIGNED && m <= MOST_JOINT {
            return calibration.fit_together(scores, class, importance, one);
        }
        let cost =
            |tried: &Self| one * tried.cross_entropy(scores, class, importance) + tried.surprise();
        let mut least = cost(&calibration);
        for _ in 0..MOST_STEPS {
            let (steeper, mut higher) = calibration.steps(scores, class, importance, one);
            if !offsets {
                higher.fill(0.0);
            }
            let halved =
                (0..MOST_HALVINGS).map(|i| calibration.moved(0.5_f64.powi(i), steeper, &higher));
            let better = halved
                .map(|tried| (cost(&tried), tried))
                .find(|(cost, _)| *cost < least);
            let Some((next, tried)) = better else {
                break;
            };
            let gained = least - next;
            (least, calibration) = (next, tried);
            if gained < ARRIVED {
                break;
            }
        }
        calibration.twin = calibration.slope;
        calibration
    }

    /// Steps of all parameters together. Cost, slopes and curvature come from one pass over the samples.
    fn fit_together(
        mut self,
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
        one: f64,
    ) -> Self {
        let mut here = self.landscape(scores, class, importance, one);
        for _ in 0..MOST_STEPS {
            let (gain, steeper, higher) = here.step();
            // Rounding would hide so little, and every half of the step be tried.
            if gain < ARRIVED {
                self = self.moved(1.0, steeper, &higher);
                break;
            }
            let halved = (0..MOST_HALVINGS).map(|i| self.moved(0.5_f64.powi(i), steeper, &higher));
            let better = halved
                .map(|tried| (tried.landscape(scores, class, importance, one), tried))
                .find(|(there, _)| there.cost < here.cost);
            let Some((there, tried)) = better else {
                break;
            };
            (here, self) = (there, tried);
        }
        self.twin = self.slope;
        self
    }

    /// What the priors say against it, in nats.
    fn surprise(&self) -> f64 {
        let squares: f64 = self.offsets.iter().map(|b| b * b).sum();
        0.5 * (self.slope / SLOPE).ln().powi(2) + 0.5 * squares / OFFSET.powi(2)
    }

    /// A share of a step back in the slope's logarithm and the offsets.
    fn moved(&self, share: f64, steeper: f64, higher: &[f64]) -> Self {
        let log = self.slope.ln() - (share * steeper).clamp(-LONGEST, LONGEST);
        let mut moved = self.clone();
        moved.slope = log.exp().clamp(SLOPES[0], SLOPES[1]);
        let both = moved.offsets.iter_mut().zip(higher);
        both.for_each(|(offset, step)| *offset -= share * step);
        moved
    }

    /// Newton's step of the slope's logarithm and of each offset, as if the others stood still.
    fn steps(
        &self,
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
        one: f64,
    ) -> (f64, Vec<f64>) {
        let m = self.offsets.len();
        let (mut gradient, mut curvature) = (vec![0.0; m], vec![0.0; m]);
        let (mut steeper, mut bend) = (0.0, 0.0);
        for (l, &own) in class.iter().enumerate() {
            let (mut mean, mut square) = (0.0, 0.0);
            let weight = importance.of(l);
            for (c, p) in softmax(self.logits(scores, l)).into_iter().enumerate() {
                gradient[c] += weight * p;
                curvature[c] += weight * (p * (1.0 - p));
                let sharp = self.slope * scores[(l, c)];
                mean += p * sharp;
                square += p * sharp * sharp;
            }
            gradient[own] -= weight;
            steeper += weight * (mean - self.slope * scores[(l, own)]);
            bend += weight * (square - mean * mean);
        }
        let slope = (one * steeper + (self.slope / SLOPE).ln()) / (one * bend.max(0.0) + 1.0);
        let prior = OFFSET.powi(-2);
        let offset =
            |c: usize| (one * gradient[c] + prior * self.offsets[c]) / (one * curvature[c] + prior);
        (slope, (0..m).map(offset).collect())
    }

    /// The cost at these parameters, and how it goes on around them.
    ///
    /// A sample with probabilities p, of class c, adds p - e_c to the gradient of the logits z, and diag(p) - p pᵀ to the
    /// curvature; the logits move with the slope's logarithm by slope S, and with each offset by one.
    fn landscape(
        &self,
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
        one: f64,
    ) -> Landscape {
        let m = self.offsets.len();
        let width = m + 1;
        // The slope first, offsets after it; gradient, then curvature row by row, and the cost.
        let of_chunk = |(chunk, classes): (usize, &[usize])| {
            let mut sums = vec![0.0; width + width * width + 1];
            let (mut sharp, mut p) = (vec![0.0; m], vec![0.0; m]);
            for (at, &own) in classes.iter().enumerate() {
                let l = chunk * CHUNK + at;
                let weight = importance.of(l);
                for c in 0..m {
                    sharp[c] = self.slope * scores[(l, c)];
                    p[c] = sharp[c] + self.offsets[c];
                }
                let logit = p[own];
                let (most, sum) = to_shares(&mut p);
                let mean: f64 = (0..m).map(|c| p[c] * sharp[c]).sum();
                let (gradient, rest) = sums.split_at_mut(width);
                let (curvature, cost) = rest.split_at_mut(width * width);
                cost[0] += weight * (most + sum.ln() - logit);
                gradient[0] += weight * (mean - sharp[own]);
                gradient[1 + own] -= weight;
                for c in 0..m {
                    let away = p[c] * (sharp[c] - mean);
                    gradient[1 + c] += weight * p[c];
                    curvature[0] += weight * away * sharp[c];
                    curvature[1 + c] += weight * away;
                    let row = &mut curvature[(1 + c) * width..][..width];
                    row[0] += weight * away;
                    row[1 + c] += weight * p[c];
                    for d in 0..m {
                        row[1 + d] -= weight * (p[c] * p[d]);
                    }
                }
            }
            sums
        };
        let chunks: Vec<Vec<f64>> = (class.par_chunks(CHUNK).enumerate())
            .map(of_chunk)
            .collect();
        let mut gradient = vec![0.0; width + width * width + 1];
        for chunk in chunks {
            let both = gradient.iter_mut().zip(chunk);
            both.for_each(|(sum, own)| *sum += one * own);
        }
        let mut curvature = gradient.split_off(width);
        let cost = curvature.pop().unwrap_or_default() + self.surprise();
        let prior = OFFSET.powi(-2);
        gradient[0] += (self.slope / SLOPE).ln();
        curvature[0] += 1.0;
        for c in 0..m {
            gradient[1 + c] += prior * self.offsets[c];
            curvature[(1 + c) * width + 1 + c] += prior;
        }
        Landscape {
            cost,
            gradient,
            curvature,
        }
    }

    /// With the slope by which the samples judge themselves, whatever its sign.
    pub(crate) fn with_twin(
        mut self,
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
        partitions: usize,
    ) -> Self {
        let one = unit(importance, class.len(), partitions);
        self.twin = self.signed_slope(scores, class, importance, one);
        self
    }

    /// The slope of least cross-entropy at these offsets, whatever its sign; its prior is normal below [`SLOPE`], with
    /// the same deviation, and log-normal above.
    fn signed_slope(
        &self,
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
        one: f64,
    ) -> f64 {
        if class.len() > MOST_SIGNED {
            return self.slope;
        }
        let falls = |slope: f64| {
            let tried = Self {
                slope,
                ..self.clone()
            };
            let of_sample = |(l, &own): (usize, &usize)| {
                let posterior = softmax(tried.logits(scores, l));
                let mean: f64 = posterior
                    .iter()
                    .enumerate()
                    .map(|(c, p)| p * scores[(l, c)])
                    .sum();
                importance.of(l) * (mean - scores[(l, own)])
            };
            let pull = match slope > SLOPE {
                true => (slope / SLOPE).ln() / slope,
                false => (slope - SLOPE) / SLOPE.powi(2),
            };
            one * class.iter().enumerate().map(of_sample).sum::<f64>() + pull < 0.0
        };
        bisect(-SLOPES[1], SLOPES[1], falls)
    }

    /// With the slope by which the samples judge themselves.
    pub(crate) fn of_twin(&self) -> Self {
        Self {
            slope: self.twin,
            ..self.clone()
        }
    }

    /// Log-posteriors of a sample, up to a constant.
    pub(crate) fn logits(&self, scores: &Mat<f64>, sample: usize) -> Vec<f64> {
        let offsets = self.offsets.iter().enumerate();
        offsets
            .map(|(c, offset)| self.slope * scores[(sample, c)] + offset)
            .collect()
    }

    /// -Σ ln P(class), in nats.
    pub(crate) fn cross_entropy(
        &self,
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
    ) -> f64 {
        let of_sample = |(l, &own): (usize, &usize)| {
            let logits = self.logits(scores, l);
            let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logits.iter().map(|x| (x - most).exp()).sum();
            importance.of(l) * (most + sum.ln() - logits[own])
        };
        let of_chunk = |(chunk, classes): (usize, &[usize])| {
            let first = chunk * CHUNK;
            let samples = (first..).zip(classes);
            samples.map(of_sample).sum::<f64>()
        };
        let chunks: Vec<f64> = (class.par_chunks(CHUNK).enumerate())
            .map(of_chunk)
            .collect();
        chunks.into_iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of all parameters together end where steps of each by itself end.
    #[test]
    fn many_samples_are_calibrated_as_few_are() {
        let n = MOST_SIGNED + 500;
        for m in [2, 3] {
            let class: Vec<usize> = (0..n).map(|l| (l * l) % 7 % m).collect();
            let scores = Mat::from_fn(n, m, |l, c| {
                let luck = ((l * 7919 + c * 104_729) % 1009) as f64 / 1009.0 - 0.5;
                luck + if class[l] == c { 0.2 } else { 0.0 }
            });
            let importance = Importance::default();
            let together = Calibration::of_scores(&scores, &class, &importance, 1);
            // Minima of the same cost: no step of one parameter by itself leads away.
            let (steeper, higher) = together.steps(&scores, &class, &importance, 1.0);
            assert!(steeper.abs() < 1e-6, "{steeper}");
            assert!(higher.iter().all(|step| step.abs() < 1e-6), "{higher:?}");
            assert!(together.offsets.iter().any(|offset| offset.abs() > 0.01));
        }
    }
}
