//! [`Outcome`]: what a target's rule, its forecast and its weights are, before they are a model.

use faer::Mat;

use crate::data::coupling::Coupling;
use crate::decision::Decision;
use crate::forecast::Forecast;
use crate::model::rule::Rule;
use crate::rules::one_vs_one::PairScore;
use crate::solve::weights::Weights;

/// What the steps of a study arrive at.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) rule: Rule,
    pub(super) decision: Decision,
    pub(super) folded: Folded,
    /// Scores of the target's mean.
    pub(super) bias: Vec<f64>,
    pub(super) forecast: Forecast,
    /// Heaviest first.
    pub(super) surrogates: Vec<Surrogate>,
    /// Class scores (n_t x m) that no sample had a say in; none from a theory.
    pub(super) scores: Option<Mat<f64>>,
}

/// A linear rule at one coupling that stands for a rule, or for a candidate of it, in relative statements.
#[derive(Debug)]
pub(super) struct Surrogate {
    pub(super) weight: f64,
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
    /// On the raw features, p x d, with the scores at the origin.
    Raw {
        weights: Mat<f64>,
        intercept: Vec<f64>,
    },
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

/// From weights on centred and scaled features and scores at the mean to weights on raw features and
/// scores at the origin.
pub(super) fn to_raw(
    mut weights: Mat<f64>,
    mut bias: Vec<f64>,
    mean: &[f64],
    scale: f64,
) -> (Mat<f64>, Vec<f64>) {
    for (j, bias) in bias.iter_mut().enumerate() {
        let mut at_mean = 0.0;
        for (feature, mean) in mean.iter().enumerate() {
            weights[(feature, j)] /= scale;
            at_mean += weights[(feature, j)] * mean;
        }
        *bias -= at_mean;
    }
    (weights, bias)
}

/// One list per row.
pub(super) fn rows_of(a: &Mat<f64>) -> Vec<Vec<f64>> {
    a.row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}

/// First column less the second.
pub(super) fn difference(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), 1, |i, _| a[(i, 0)] - a[(i, 1)])
}
