//! One pair of classes: its problem, its fit and its score.

use faer::Mat;

use super::learn::{NamedRule, moments_of};
use crate::data::{Cells, Coupling, Importance, RowBlock};
use crate::model::to_raw;
use crate::moments::Moments;
use crate::numerics::dense;
use crate::rules::PairScore;
use crate::solve::System;
use crate::theory::pairs::Member;

/// The samples of two classes of the target and of the cells that stand for them.
pub(super) struct Pair {
    pub(super) tasks: Cells,
    /// The cells that are left.
    pub(super) cells: Vec<usize>,
    pub(super) target: usize,
    pub(super) coupling: Coupling,
    /// For every cell left, 0 or 1: the class of the pair that it stands for.
    pub(super) side: Vec<usize>,
}

impl Pair {
    /// The pair as the theory sees it.
    pub(super) fn member(&self, labels: &[f64]) -> Member {
        Member {
            cells: self.cells.clone(),
            tasks: self.tasks.clone(),
            target: self.target,
            coupling: self.coupling.clone(),
            labels: labels.to_vec(),
        }
    }

    /// Its rule; `weights` are the importance of its two classes.
    pub(super) fn score(
        &self,
        named: NamedRule,
        moments: &Moments,
        weights: [f64; 2],
        noise: f64,
    ) -> PairScore {
        if named.labels.are_classical() {
            let labels = self.side.iter().map(|&side| 1.0 - 2.0 * side as f64);
            PairScore::of_labels(labels.collect(), moments, weights, noise)
        } else {
            PairScore::optimal(moments, weights, noise)
        }
    }
}

/// A pair's fit, and its responses of every target sample that had no say in it.
pub(super) struct FittedPair {
    pub(super) responses: Mat<f64>,
    /// 1 where a sample is of the second class.
    pub(super) second: Vec<usize>,
    pub(super) theory: Option<Moments>,
    pub(super) trained: TrainedPair,
}

/// Weights of a pair for the unit labels of its cells, with what centres and scales its target.
pub(super) struct TrainedPair {
    pub(super) weights: Mat<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) scale: f64,
}

impl TrainedPair {
    pub(super) fn of(system: &System<'_>, target: usize) -> Self {
        Self {
            weights: system.weights(target),
            mean: system.task_mean(target),
            scale: system.scales()[target],
        }
    }

    /// Weights on raw features and the score at the origin.
    pub(super) fn folded(&self, score: &PairScore, pair: &Pair) -> (Mat<f64>, f64) {
        let labels = Mat::from_fn(score.labels.len(), 1, |cell, _| {
            score.labels[cell] / score.deviation
        });
        let at_mean = pair.tasks.label_mean(pair.target, &labels, 0);
        let folded = dense::times(self.weights.as_ref(), labels.as_ref());
        let bias = vec![at_mean - score.threshold / score.deviation];
        let (weights, bias) = to_raw(folded, bias, &self.mean, self.scale);
        (weights, bias[0])
    }
}

/// Weights on raw features (p x pairs) and scores at the origin, pair by pair.
pub(super) struct RawScores {
    pub(super) weights: Mat<f64>,
    pub(super) intercept: Vec<f64>,
}

impl RawScores {
    pub(super) fn new(features: usize, pairs: usize) -> Self {
        Self {
            weights: Mat::zeros(features, pairs),
            intercept: vec![0.0; pairs],
        }
    }

    /// The scores of rows (n x pairs).
    pub(super) fn of(&self, rows: &RowBlock<'_>) -> Mat<f64> {
        let mut scores = Mat::zeros(rows.len(), self.intercept.len());
        let origin = vec![0.0; rows.features()];
        rows.for_panels(&origin, 1.0, |start, panel| {
            let part = dense::times(panel.transpose(), self.weights.as_ref());
            for j in 0..part.ncols() {
                for l in 0..part.nrows() {
                    scores[(start + l, j)] = part[(l, j)] + self.intercept[j];
                }
            }
        });
        scores
    }

    pub(super) fn set(&mut self, number: usize, (weights, intercept): (Mat<f64>, f64)) {
        self.intercept[number] = intercept;
        let mut column = self.weights.as_mut().subcols_mut(number, 1);
        column.copy_from(weights);
    }
}

impl FittedPair {
    pub(super) fn learn(&self, named: NamedRule, pair: &Pair, samples: &[usize]) -> PairScore {
        let theory = self.theory.as_ref();
        // Pairs know no weights (`weighted.rs`).
        let everyone = Importance::default();
        let moments = moments_of(&self.responses, &self.second, samples, 2, &everyone, theory);
        let count = |c: usize| samples.iter().filter(|&&l| self.second[l] == c).count();
        let counts = [0, 1].map(|c| count(c) as f64);
        pair.score(named, &moments, counts, 1.0)
    }
}
