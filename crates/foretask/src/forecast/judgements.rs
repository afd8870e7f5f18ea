//! [`Judgements`]: what a target's samples are taken for by rules that they had no say in.

use faer::Mat;

use super::calibrate::Calibration;
use super::design::design_effect;
use crate::data::Groups;
use crate::stakes::Stakes;

/// One verdict on every sample.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    /// Class scores (n_t x m) that the calibration makes probabilities of.
    pub(crate) scores: Mat<f64>,
    pub(crate) decisions: Vec<usize>,
}

/// Verdicts by partition into folds.
#[derive(Clone, Debug)]
pub(crate) struct Judgements {
    pub(crate) class: Vec<usize>,
    /// Samples that were left out together.
    pub(crate) groups: Groups,
    pub(crate) repeats: Vec<Judgement>,
    /// By rules of one half on the other.
    pub(crate) half: Option<Judgement>,
    /// The share of the samples that rules were made of.
    pub(crate) kept: f64,
    pub(crate) calibration: Calibration,
}

impl Judgement {
    /// 1 where the decision is wrong.
    pub(crate) fn wrong(&self, class: &[usize]) -> Vec<f64> {
        let both = self.decisions.iter().zip(class);
        both.map(|(decision, own)| f64::from(u8::from(decision != own)))
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

/// Scores of all partitions, one below the other, and the classes.
pub(crate) fn stacked(scores: &[&Mat<f64>], class: &[usize]) -> (Mat<f64>, Vec<usize>) {
    let (n, m) = (class.len(), scores.first().map_or(0, |of| of.ncols()));
    let all = Mat::from_fn(n * scores.len(), m, |l, c| scores[l / n][(l % n, c)]);
    let class = (0..n * scores.len()).map(|l| class[l % n]).collect();
    (all, class)
}
