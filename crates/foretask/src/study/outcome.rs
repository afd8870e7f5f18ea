//! [`Outcome`]: what a target's rule, its forecast and its weights are, before they are a model.

use faer::Mat;

use crate::data::Coupling;
use crate::decision::Decision;
use crate::forecast::{Forecast, Judgements};
use crate::model::{Rule, Scores};
use crate::rules::PairScore;
use crate::solve::Weights;

/// What the steps of a study arrive at.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) rule: Rule,
    pub(super) decision: Decision,
    pub(super) folded: Folded,
    /// Scores of the target's mean.
    pub(super) bias: Vec<f64>,
    pub(super) forecast: Forecast,
    /// What theories and relative statements speak of.
    pub(super) leading: Option<Surrogate>,
    /// What the target's samples are taken for by rules that they had no say in; none from a theory.
    pub(super) judgements: Option<Judgements>,
}

/// A linear rule at one coupling that stands for a rule, or for a candidate of it, in relative statements.
#[derive(Debug)]
pub(super) struct Surrogate {
    pub(super) coupling: Coupling,
    /// C x m.
    pub(super) label_scores: Mat<f64>,
    /// Added to the scores, one per class.
    pub(super) offsets: Vec<f64>,
}

impl Surrogate {
    /// The labels that tell class a from class b.
    pub(super) fn labels(&self, a: usize, b: usize) -> Vec<f64> {
        self.label_scores
            .row_iter()
            .map(|row| row[a] - row[b])
            .collect()
    }
}

/// Where the weights of the rule are.
#[derive(Debug)]
pub(super) enum Folded {
    Trained(Weights),
    /// Not trained yet: label scores, C x d, at a coupling.
    Untrained(Coupling, Mat<f64>),
    /// On the raw features.
    Raw(Scores),
    /// Not trained yet: the rules of all pairs of classes.
    UntrainedPairs(Vec<PairRule>),
}

/// A pair of classes, the coupling of the whole problem, and the pair's score.
#[derive(Clone, Debug)]
pub(super) struct PairRule {
    pub(super) classes: (usize, usize),
    pub(super) coupling: Coupling,
    pub(super) score: PairScore,
}

/// One list per row.
pub(super) fn rows_of(a: &Mat<f64>) -> Vec<Vec<f64>> {
    a.row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}

/// The score of two classes that is large for the first.
pub(super) fn of_difference(scores: &Mat<f64>) -> Vec<f64> {
    let samples = 0..scores.nrows();
    samples.map(|l| scores[(l, 0)] - scores[(l, 1)]).collect()
}

/// First column less the second.
pub(super) fn difference(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), 1, |i, _| a[(i, 0)] - a[(i, 1)])
}

/// How fast an error falls with labels, v (n'/n)^-a: a, and its deviation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exponent {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Exponent {
    /// Weighed by precision with another measurement.
    pub(super) fn with(self, mean: f64, deviation: f64) -> Self {
        let (own, other) = (self.deviation.powi(-2), deviation.powi(-2));
        Self {
            mean: (own * self.mean + other * mean) / (own + other),
            deviation: (own + other).sqrt().recip(),
        }
    }
}
