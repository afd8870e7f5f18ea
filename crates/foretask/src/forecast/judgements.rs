//! [`Judgements`]: what a target's samples are taken for by rules that they had no say in.

use faer::Mat;

use super::calibrate::Calibration;
use super::design::design_effect;
use crate::data::{Groups, Importance};
use crate::decision::{Decided, Decision};
use crate::stakes::Stakes;

/// One verdict on every sample.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    /// Class scores (n_t x m) that the calibration makes probabilities of.
    pub(crate) scores: Mat<f64>,
    pub(crate) decisions: Vec<Decided>,
    /// Samples that one rule judged, ascending.
    pub(crate) folds: Vec<Vec<usize>>,
    /// What decides for each fold; empty where all are decided for by the calibration of all samples, or by a rule.
    pub(crate) calibrations: Vec<Calibration>,
}

/// Verdicts by partition into folds.
#[derive(Clone, Debug)]
pub(crate) struct Judgements {
    pub(crate) class: Vec<usize>,
    /// Samples that were left out together.
    pub(crate) groups: Groups,
    /// How much each sample counts.
    pub(crate) importance: Importance,
    pub(crate) repeats: Vec<Judgement>,
    /// By rules of one half on the other.
    pub(crate) half: Option<Judgement>,
    /// The share of the samples that rules were made of.
    pub(crate) kept: f64,
    pub(crate) calibration: Calibration,
    /// Of a rule or labels by name, which are not averaged with others.
    pub(crate) by_name: bool,
}

impl Judgement {
    /// The same scores decided for these stakes: each fold by its calibration, where it has one, all others by that of
    /// all samples.
    pub(crate) fn decided(mut self, calibration: &Calibration, stakes: &Stakes) -> Self {
        let decide = |calibration: &Calibration, scores: &Mat<f64>| {
            let Calibration { slope, offsets, .. } = calibration;
            Decision::of_class_scores(*slope, offsets, stakes).decisions(scores)
        };
        self.decisions = decide(calibration, &self.scores);
        for (fold, calibration) in self.folds.iter().zip(&self.calibrations) {
            let m = self.scores.ncols();
            let own = Mat::from_fn(fold.len(), m, |row, c| self.scores[(fold[row], c)]);
            let both = fold.iter().zip(decide(calibration, &own));
            both.for_each(|(&l, decided)| self.decisions[l] = decided);
        }
        self
    }

    /// 1 where the decision is wrong, less where it is one of several.
    pub(crate) fn wrong(&self, class: &[usize]) -> Vec<f64> {
        let both = self.decisions.iter().zip(class);
        both.map(|(decided, &own)| 1.0 - decided.share(own))
            .collect()
    }
}

impl Judgements {
    /// How much less the samples tell of errors because they come in groups.
    pub(crate) fn design_effect(&self, stakes: &Stakes) -> f64 {
        let mut wrong = vec![0.0; self.class.len()];
        for repeat in &self.repeats {
            let both = wrong.iter_mut().zip(repeat.wrong(&self.class));
            both.for_each(|(sum, wrong)| *sum += wrong / self.repeats.len() as f64);
        }
        let weights = self
            .class
            .iter()
            .map(|&c| stakes.priors[c] / stakes.shares[c]);
        design_effect(&self.groups, &wrong, &weights.collect::<Vec<_>>())
    }

    /// For two classes, the share of pairs (of their weight) that are in order, ties by half (Mann-Whitney). Pairs are of one fold: a
    /// rule that never saw a sample leans against its class, and pairs of two rules would be out of order by that
    /// alone. Where no fold has both classes, all pairs count.
    pub(crate) fn auc(&self) -> Option<f64> {
        if self.calibration.offsets.len() != 2 {
            return None;
        }
        let within = self.repeats.iter().flat_map(|repeat| {
            let folds = repeat.folds.iter();
            folds.map(|fold| self.in_order(repeat, &mut fold.iter().copied()))
        });
        let all = self
            .repeats
            .iter()
            .map(|repeat| self.in_order(repeat, &mut (0..self.class.len())));
        share(within).or_else(|| share(all))
    }

    /// Pairs of such samples in order, and all pairs.
    fn in_order(
        &self,
        judgement: &Judgement,
        samples: &mut dyn Iterator<Item = usize>,
    ) -> (f64, f64) {
        let mut scores = [Vec::new(), Vec::new()];
        for l in samples {
            let score = judgement.scores[(l, 0)] - judgement.scores[(l, 1)];
            scores[self.class[l].min(1)].push((score, self.importance.of(l)));
        }
        let [first, mut second] = scores;
        second.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut weights = vec![0.0];
        for (_, weight) in &second {
            weights.push(weights[weights.len() - 1] + weight);
        }
        let twice = |(score, weight): &(f64, f64)| {
            let below = second.partition_point(|(other, _)| other < score);
            let up_to = second.partition_point(|(other, _)| other <= score);
            weight * (weights[below] + weights[up_to])
        };
        let ordered = 0.5 * first.iter().map(twice).sum::<f64>();
        let all = first.iter().map(|(_, weight)| weight).sum::<f64>();
        (ordered, all * weights[second.len()])
    }

    /// Class scores, averaged over partitions.
    pub(crate) fn scores(&self) -> Mat<f64> {
        let m = self.calibration.offsets.len();
        let count = self.repeats.len() as f64;
        Mat::from_fn(self.class.len(), m, |l, c| {
            let of = self.repeats.iter().map(|repeat| repeat.scores[(l, c)]);
            of.sum::<f64>() / count
        })
    }
}

/// The sum of parts over the sum of wholes; none of nothing.
fn share(parts: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (part, whole) = parts.fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    (whole > 0.0).then(|| part / whole)
}

/// Scores of all partitions, one below the other, the classes, and how much samples count.
pub(crate) fn stacked(
    scores: &[&Mat<f64>],
    class: &[usize],
    importance: &Importance,
) -> (Mat<f64>, Vec<usize>, Importance) {
    let (n, m) = (class.len(), scores.first().map_or(0, |of| of.ncols()));
    let all = Mat::from_fn(n * scores.len(), m, |l, c| scores[l / n][(l % n, c)]);
    let sample: Vec<usize> = (0..n * scores.len()).map(|l| l % n).collect();
    let classes = sample.iter().map(|&l| class[l]).collect();
    (all, classes, importance.among(&sample))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two folds; the second rule says a hundred more of everybody.
    fn judgements(folds: Vec<Vec<usize>>) -> Judgements {
        let scores = [3.0, 1.0, 1.0, 104.0, 100.0, 101.0];
        Judgements {
            class: vec![0, 1, 0, 0, 1, 1],
            groups: Groups::default(),
            importance: Importance::default(),
            repeats: vec![Judgement {
                scores: Mat::from_fn(6, 2, |l, c| if c == 0 { scores[l] } else { 0.0 }),
                decisions: vec![Decided::One(0); 6],
                folds,
                calibrations: Vec::new(),
            }],
            half: None,
            kept: 1.0,
            calibration: Calibration::of_slope(
                &Mat::zeros(2, 2),
                &[0, 1],
                &Importance::default(),
                1,
            ),
            by_name: true,
        }
    }

    #[test]
    fn pairs_are_counted_within_folds_with_ties_by_half() {
        // (3, 1), (1, 1); (104, 100), (104, 101).
        let within = judgements(vec![vec![0, 1, 2], vec![3, 4, 5]]);
        assert_eq!(within.auc(), Some(3.5 / 4.0));
        // And all nine pairs: 3 and 1 are below 100 and 101.
        assert_eq!(judgements(Vec::new()).auc(), Some((1.0 + 0.5 + 3.0) / 9.0));
        assert_eq!(judgements(vec![vec![0], vec![1]]).auc(), Some(4.5 / 9.0));
    }
}
