//! One-versus-one: every pair of classes has a score of its own, trained on the samples of that pair,
//! and votes for one of them ([`crate::decision::Form::Votes`]).
//!
//! Scores of different pairs are made comparable by their own law: less the threshold, in units of the
//! deviation, so that margins can be summed where votes are equal.
//!
//! The paper's table for this rule is an artefact: its code permutes the test points anew for every
//! pair, so that votes come from different points and look independent
//! (`docs/reproduction/what-the-paper-ran.md#one-versus-one-votes-of-different-samples`).

use crate::moments::Moments;
use crate::rules::binary::optimal_labels;
use crate::rules::score_law::ScoreLaw;

/// The score of one pair, (φ·labels - threshold)/deviation: positive is a vote for its first class, zero half a vote for
/// either.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PairScore {
    /// One label per cell of the pair's problem.
    pub(crate) labels: Vec<f64>,
    /// Where the vote changes.
    pub(crate) threshold: f64,
    /// The deviation of the score within the two classes.
    pub(crate) deviation: f64,
}

impl PairScore {
    /// The score of labels that are given.
    ///
    /// `moments` are those of the pair's two classes, `weights` the importance of each, and `noise`
    /// multiplies variances ([`crate::moments::centre_noise`]).
    pub(crate) fn of_labels(
        labels: Vec<f64>,
        moments: &Moments,
        weights: [f64; 2],
        noise: f64,
    ) -> Self {
        let law = ScoreLaw::new(moments, &labels, noise);
        if !law.tells_apart(&labels) {
            return Self::none(labels.len());
        }
        let deviation = (0.5 * (law.variance[0] + law.variance[1])).sqrt();
        Self {
            labels,
            // Never one class whatever the score: the votes of other pairs are to decide then.
            threshold: law.origin(weights),
            deviation: if deviation > 0.0 { deviation } else { 1.0 },
        }
    }

    /// The score of a pair that nothing tells apart, half a vote for either class. Labels that follow rounding errors
    /// would vote at random.
    fn none(cells: usize) -> Self {
        Self {
            labels: vec![0.0; cells],
            threshold: 0.0,
            deviation: 1.0,
        }
    }

    /// The score of the labels of least cost.
    pub(crate) fn optimal(moments: &Moments, weights: [f64; 2], noise: f64) -> Self {
        let labels = optimal_labels(moments, weights, noise).label_scores;
        Self::of_labels(labels, moments, weights, noise)
    }

    /// The score of a sample with the responses of the pair's problem.
    pub(crate) fn at(&self, responses: impl Iterator<Item = f64>) -> f64 {
        let score: f64 = responses.zip(&self.labels).map(|(phi, y)| phi * y).sum();
        (score - self.threshold) / self.deviation
    }
}
