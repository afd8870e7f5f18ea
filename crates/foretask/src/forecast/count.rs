//! A forecast from decisions on samples that had no say in them: counted, and steadied by probabilities.

use faer::Mat;

use super::calibrate::{Calibration, Claim, Reliability, reliability};
use super::density::Density;
use super::judgements::{Judgement, Judgements, stacked};
use super::{Forecast, errors_of};
use crate::data::Importance;
use crate::decision::{Decided, argmax, softmax};
use crate::moments::Provenance;
use crate::numerics::{INFLATION, interval};
use crate::stakes::{Stakes, weighted};

/// A forecast from verdicts on samples that had no say in them.
pub(crate) fn from_judgements(
    judgements: &Judgements,
    stakes: &Stakes,
    densities: Vec<Density>,
) -> Forecast {
    let Judgements {
        class,
        importance,
        repeats,
        half,
        calibration,
        by_name,
        ..
    } = judgements;
    let effective = effective_samples(stakes, class, importance);
    let effective = effective / judgements.design_effect(stakes);
    let chance = 1.0 - stakes.priors.iter().copied().fold(0.0, f64::max);
    let confusion_of = |judgements: &[&Judgement]| {
        let scores: Vec<&Mat<f64>> = judgements.iter().map(|one| &one.scores).collect();
        let (scores, class, weights) = stacked(&scores, class, importance);
        let decisions: Vec<Decided> = judgements
            .iter()
            .flat_map(|one| one.decisions.iter().cloned())
            .collect();
        let tally = Tally::new(
            &scores,
            &class,
            &weights,
            &decisions,
            calibration,
            stakes,
            judgements.len(),
        );
        let counted = tally.counted();
        let mut twin = tally.smooth();
        let error_of = |confusion: &[Vec<f64>]| weighted(&stakes.priors, &errors_of(confusion));
        let (error, smooth) = (error_of(&counted), error_of(&twin));
        let share = smooth_share(error, smooth, effective);
        if *by_name {
            let sober = smooth + like_chance(error, chance, effective) * (chance - smooth);
            scale_errors(&mut twin, sober / smooth.max(1e-300));
        }
        let blended = blend(&counted, &twin, share);
        (blended, tally.reliability, tally.log_loss)
    };
    let repeats: Vec<&Judgement> = repeats.iter().collect();
    let (mut confusion, reliability, log_loss) = confusion_of(&repeats);
    let error_of = |confusion: &[Vec<f64>]| weighted(&stakes.priors, &errors_of(confusion));
    let error = error_of(&confusion);
    let half = half.as_ref().map(|half| error_of(&confusion_of(&[half]).0));
    if let Some(half) = half {
        let all = extrapolated(error, half, judgements.kept, by_name.then_some(chance));
        scale_errors(&mut confusion, all / error.max(1e-300));
    }
    let error = error_of(&confusion);
    Forecast {
        interval: interval(error, effective, INFLATION),
        worth: effective / INFLATION,
        log_loss: Some(log_loss),
        auc: judgements.auc(),
        samples: class.len(),
        ..Forecast::of_confusion(
            confusion,
            Provenance::LeaveOneOut,
            stakes,
            densities,
            reliability,
        )
    }
}

/// As many samples as, drawn with the priors of use, would be as informative.
pub(crate) fn effective_samples(stakes: &Stakes, class: &[usize], importance: &Importance) -> f64 {
    let noise = |(c, prior): (usize, &f64)| prior.powi(2) / class_worth(c, class, importance);
    1.0 / stakes.priors.iter().enumerate().map(noise).sum::<f64>()
}

/// As many samples of equal weight as those of a class are worth.
pub(super) fn class_worth(c: usize, class: &[usize], importance: &Importance) -> f64 {
    let own: Vec<usize> = (0..class.len()).filter(|&l| class[l] == c).collect();
    let worth = importance.among(&own).independent();
    worth
        .filter(|_| !own.is_empty())
        .unwrap_or(own.len().max(1) as f64)
}

/// The error of a rule of all samples, from that of rules of a share of them and that of rules of half: in between,
/// errors are linear in one over the number of samples. Less so towards the error of chance, where it is given: there
/// nothing was learnt, and halves that are worse by luck say nothing of more samples.
fn extrapolated(error: f64, half: f64, kept: f64, chance: Option<f64>) -> f64 {
    if kept <= 0.5 {
        return error;
    }
    let ratio = (1.0 / kept - 1.0) / (2.0 - 1.0 / kept);
    let all = (error - (half - error) * ratio).clamp(0.5 * error, error.max(half));
    let Some(chance) = chance else {
        return all;
    };
    let learnt = (1.0 - (error / chance.max(1e-300)).powi(2)).max(0.0);
    error + (all - error) * learnt
}

/// How well a count of errors is explained by a rule that has learnt nothing: the likelihood of the count at the error of
/// chance over that at its own, both normal; one at chance and above.
///
/// Decisions of a rule of noise are right as often as chance, but its scores are larger where they happen to be right:
/// the twin is below chance, and is not to be believed as far as chance explains the count.
fn like_chance(error: f64, chance: f64, samples: f64) -> f64 {
    let variance = chance * (1.0 - chance) / samples;
    let below = (chance - error).max(0.0);
    (-0.5 * below.powi(2) / variance.max(1e-300)).exp()
}

/// Every error times a factor; rows still sum to one.
pub(crate) fn scale_errors(confusion: &mut [Vec<f64>], factor: f64) {
    for (c, row) in confusion.iter_mut().enumerate() {
        for (d, share) in row.iter_mut().enumerate() {
            if c != d {
                *share *= factor;
            }
        }
        let wrong: f64 = row
            .iter()
            .enumerate()
            .filter(|(d, _)| *d != c)
            .map(|(_, x)| x)
            .sum();
        if wrong > 1.0 {
            row.iter_mut().for_each(|share| *share /= wrong);
        }
        row[c] = (1.0 - wrong).max(0.0);
    }
}

/// A class that was given no probability at all was given this much.
pub(crate) const LEAST_PROBABILITY: f64 = 1e-15;

/// Decisions by class: counted, and weighted by the probabilities of the classes.
pub(crate) struct Tally {
    count: Vec<f64>,
    decided: Vec<Vec<f64>>,
    mass: Vec<f64>,
    smooth: Vec<Vec<f64>>,
    pub(super) reliability: Vec<Reliability>,
    /// Mean of -ln P(class), classes weighted by their priors.
    pub(super) log_loss: f64,
}

impl Tally {
    pub(super) fn new(
        scores: &Mat<f64>,
        class: &[usize],
        importance: &Importance,
        decisions: &[Decided],
        calibration: &Calibration,
        stakes: &Stakes,
        partitions: usize,
    ) -> Self {
        let m = scores.ncols();
        let mut tally = Self {
            count: vec![0.0; m],
            decided: vec![vec![0.0; m]; m],
            mass: vec![0.0; m],
            smooth: vec![vec![0.0; m]; m],
            reliability: Vec::new(),
            log_loss: 0.0,
        };
        let mut weights = 0.0;
        let mut claims = Vec::with_capacity(class.len());
        let twin = calibration.of_twin();
        for (l, decided) in decisions.iter().enumerate() {
            let (c, own) = (class[l], importance.of(l));
            tally.count[c] += own;
            for (decision, share) in decided.shares() {
                tally.decided[c][decision] += own * share;
            }
            for (c, q) in softmax(twin.logits(scores, l)).into_iter().enumerate() {
                tally.mass[c] += own * q;
                for (decision, share) in decided.shares() {
                    tally.smooth[c][decision] += own * q * share;
                }
            }
            let posterior = softmax(calibration.logits(scores, l));
            // In use classes occur with their priors, and the model says so. What is claimed is the
            // probability of the most probable class, whatever costs make of it.
            let in_use: Vec<f64> = (0..m)
                .map(|c| posterior[c] * stakes.priors[c] / stakes.shares[c])
                .collect();
            let likely = argmax(in_use.iter().copied());
            let total: f64 = in_use.iter().sum();
            let weight = own * (stakes.priors[c] / stakes.shares[c]);
            tally.log_loss -= weight * (in_use[c] / total).max(LEAST_PROBABILITY).ln();
            weights += weight;
            claims.push(Claim {
                claimed: in_use[likely] / total,
                right: likely == c,
                weight,
            });
        }
        tally.log_loss /= f64::max(weights, 1e-300);
        tally.reliability = reliability(claims, partitions);
        tally
    }

    pub(super) fn counted(&self) -> Vec<Vec<f64>> {
        normalised(&self.decided, &self.count)
    }

    fn smooth(&self) -> Vec<Vec<f64>> {
        normalised(&self.smooth, &self.mass)
    }
}

/// Rows divided by their totals; a class without samples is never mistaken.
fn normalised(rows: &[Vec<f64>], totals: &[f64]) -> Vec<Vec<f64>> {
    let row = |(c, row): (usize, &Vec<f64>)| -> Vec<f64> {
        let shares = row.iter().enumerate();
        shares
            .map(|(d, x)| match totals[c] > 0.0 {
                true => x / totals[c],
                false => f64::from(u8::from(c == d)),
            })
            .collect()
    };
    rows.iter().enumerate().map(row).collect()
}

fn blend(a: &[Vec<f64>], b: &[Vec<f64>], share: f64) -> Vec<Vec<f64>> {
    let rows = a.iter().zip(b);
    rows.map(|(a, b)| {
        let entries = a.iter().zip(b);
        entries
            .map(|(a, b)| (1.0 - share) * a + share * b)
            .collect()
    })
    .collect()
}

/// The share of the smooth twin in a forecast: half where samples are few, none in the limit of many.
///
/// The count is unbiased with variance v (1 - v)/n; the twin is steadier but off by some share of v,
/// because least-squares scores are not log-probabilities, and by as much as it differs from the count beyond what
/// the luck of the count explains. The weight that balances the two is variance/(variance + bias²).
fn smooth_share(counted: f64, smooth: f64, samples: f64) -> f64 {
    let v = (counted * samples + 0.5) / (samples + 1.0);
    let variance = v * (1.0 - v) / samples;
    let beyond = ((smooth - counted).powi(2) - variance).max(0.0);
    (variance / (variance + (TWIN_BIAS * v).powi(2) + beyond)).min(0.5)
}

/// How far the smooth twin may be off, relative to the error; on 60,000 MNIST images of ten classes it is
/// 12 % too large.
const TWIN_BIAS: f64 = 0.2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_explains_counts_at_chance_and_none_far_below() {
        for chance in [0.2, 0.5, 0.9] {
            assert_eq!(like_chance(chance, chance, 10.0), 1.0);
            assert_eq!(like_chance(1.0, chance, 10.0), 1.0);
            // Two standard errors below: exp(-2).
            let two = chance - 2.0 * (chance * (1.0 - chance) / 400.0).sqrt();
            assert!((like_chance(two, chance, 400.0) - (-2.0f64).exp()).abs() < 1e-12);
            assert!(like_chance(0.0, chance, 400.0) < 1e-20);
        }
        // One class: there is nothing to be wrong about.
        assert_eq!(like_chance(0.0, 0.0, 10.0), 1.0);
    }

    #[test]
    fn nothing_is_extrapolated_at_chance() {
        assert_eq!(extrapolated(0.5, 0.6, 0.8, Some(0.5)), 0.5);
        assert_eq!(extrapolated(0.6, 0.7, 0.8, Some(0.5)), 0.6);
        let all = extrapolated(0.1, 0.13, 0.8, None);
        assert!((all - 0.09).abs() < 1e-12, "{all}");
        // (0.1/0.5)² = 0.04 of it is doubted.
        let doubted = extrapolated(0.1, 0.13, 0.8, Some(0.5));
        assert!((doubted - 0.0904).abs() < 1e-12, "{doubted}");
    }
}
