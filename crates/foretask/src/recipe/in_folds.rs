//! [`InFolds`]: candidates of a target that is in folds, from summary rows alone
//! (`docs/3-the-solver.md#folds-of-statistics`).
//!
//! A fold stands where a sample stands otherwise: fits are made without it, label scores without it are applied to
//! its responses, and what they miss there is PRESS. Weights for a fold come from what candidates miss in the
//! others.

use faer::Mat;

use super::families::{Candidate, Family, Samples, Sign, Wanted};
use super::folds::rows;
use crate::data::{Cells, Groups, Importance};
use crate::solve::Fitted;

/// How the samples of a target are spread over folds.
#[derive(Debug)]
pub(crate) struct InFolds {
    /// By fold and class.
    counts: Vec<Vec<usize>>,
    /// The summary rows of each fold.
    groups: Groups,
    /// Σ |y - ȳ|² by fold.
    label_squares: Vec<f64>,
    /// Summary rows of a fold.
    size: usize,
    /// All rows count alike: summary rows have their weight in them.
    alike: Importance,
}

impl InFolds {
    pub(super) fn new(cells: &Cells, target: usize, counts: Vec<Vec<usize>>) -> Self {
        let size = cells.of_task(target).len() + cells.len();
        let groups = Groups::new((0..counts.len() * size).map(|row| row / size));
        let shares: Vec<f64> = cells
            .of_task(target)
            .map(|cell| cells.share(cell))
            .collect();
        let squares: f64 = shares.iter().map(|share| share * share).sum();
        // |e_c - ȳ|² = 1 - 2 ȳ_c + |ȳ|².
        let of_fold = |counts: &Vec<usize>| -> f64 {
            let both = counts.iter().zip(&shares);
            both.map(|(&n, share)| n as f64 * (1.0 - 2.0 * share + squares))
                .sum()
        };
        Self {
            label_squares: counts.iter().map(of_fold).collect(),
            counts,
            groups,
            size,
            alike: Importance::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// All candidates of a fit, with their label scores without each fold; and Σ |y - ȳ|².
    pub(super) fn candidates(
        &self,
        cells: &Cells,
        target: usize,
        fitted: &Fitted,
    ) -> (Vec<Candidate>, f64) {
        let counts: Vec<&[usize]> = self.counts.iter().map(Vec::as_slice).collect();
        let samples = Samples::of_folds(cells, target, &counts, &self.groups, &self.alike);
        let point = fitted.point;
        let mut candidates = samples.families(point, &fitted.responses, None, Wanted::ALL);
        for fold in 0..self.len() {
            let others: Vec<usize> = (0..self.len() * self.size)
                .filter(|row| row / self.size != fold)
                .collect();
            let mut counts = counts.clone();
            counts.remove(fold);
            let groups = self.groups.among(&others);
            let samples = Samples::of_folds(cells, target, &counts, &groups, &self.alike);
            let responses = rows(&fitted.responses, &others);
            let without = samples.families(point, &responses, None, Wanted::ALL);
            let mut seen: Vec<Family> = Vec::new();
            for candidate in &mut candidates {
                if candidate.sign != Sign::Mirrored {
                    seen.push(candidate.family);
                }
                let number = seen
                    .iter()
                    .filter(|family| **family == candidate.family)
                    .count();
                let mut own = without.iter().filter(|other| {
                    other.family == candidate.family && other.sign != Sign::Mirrored
                });
                // A family that has no member without the fold says nothing there.
                let nothing = || Mat::zeros(cells.len(), samples.labels.ncols());
                let scores = own.nth(number.saturating_sub(1));
                let scores = scores.map_or_else(nothing, |own| own.label_scores.clone());
                candidate.without.push(match candidate.sign {
                    Sign::Mirrored => -scores,
                    _ => scores,
                });
            }
        }
        (candidates, samples.total)
    }

    /// The share of the label variance that a candidate misses in all folds but one.
    pub(super) fn press_without(&self, fold: usize, candidate: &Candidate) -> f64 {
        let (mut missed, mut total) = (0.0, 0.0);
        for (other, errors) in candidate.squared_errors.chunks(self.size).enumerate() {
            if other != fold {
                missed += errors.iter().sum::<f64>();
                total += self.label_squares[other];
            }
        }
        missed / total
    }

    /// The samples outside of a fold.
    pub(super) fn samples_without(&self, fold: usize) -> usize {
        let others = self
            .counts
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != fold);
        others.flat_map(|(_, counts)| counts).sum()
    }
}
