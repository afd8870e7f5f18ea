//! Which coupling and which labels: all of them, weighted by how well they do on samples they have
//! not seen (`docs/4-when-to-trust-a-forecast.md#the-average`).
//!
//! Every candidate a has PRESS_a, the share of the label variance its leave-one-out scores miss. Its
//! weight is
//!
//! ```text
//! w_a ∝ (π_f / N_f) PRESS_a^(-η n_t (m - 1)/2),     η = 1/4,
//! ```
//!
//! with π_f the prior of its family and N_f the family's size. The scores of the weighted average
//! are still linear in x, so the model stores one weight vector per class. For the forecast, weights
//! are chosen again for each of five folds from the samples of the others, so that no sample has a
//! say in the rule that is tested on it.

use faer::Mat;
use rayon::prelude::*;

use super::families::{Candidate, Family, Samples};
use super::folds::Folds;
use crate::data::{Cells, classes_in_order};
use crate::error::Result;
use crate::solve::{Fitted, Grid, GridPoint, Reduced};

/// η: how sharply weights follow the leave-one-out error.
const SHARPNESS: f64 = 0.25;
/// A candidate this many nats behind the best, counted with half the samples, cannot matter in any
/// fold and is dropped on the way.
const HOPELESS: f64 = 40.0;

/// A candidate with the coupling it was fitted at.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) candidate: Candidate,
    pub(crate) point: GridPoint,
    pub(crate) fitted: usize,
    /// PRESS.
    pub(crate) press: f64,
}

impl Entry {
    /// Whether all tasks share one weight vector and the labels that it is trained with.
    pub(crate) fn is_pooled(&self) -> bool {
        self.point.is_pooled() && self.candidate.family == Family::Classical
    }
}

/// All candidates that matter, and the fits behind them.
#[derive(Debug)]
pub(crate) struct Tournament {
    pub(crate) entries: Vec<Entry>,
    pub(crate) fitted: Vec<Fitted>,
    pub(crate) class: Vec<usize>,
    classes: usize,
    /// How many candidates of each family were tried.
    tried: [usize; Family::ALL.len()],
    /// Σ |y - ȳ|² per sample.
    label_squares: Vec<f64>,
}

impl Tournament {
    /// Fits the grid and all families on it, for each of the targets (ascending).
    pub(crate) fn run(
        reduced: &Reduced<'_>,
        targets: &[usize],
        grid: &Grid,
        done: &dyn Fn(f64),
    ) -> Result<Vec<Self>> {
        let cells = &reduced.cells;
        let class = |&target: &usize| classes_in_order(&cells.tasks()[target]);
        let classes: Vec<Vec<usize>> = targets.iter().map(class).collect();
        let of = || targets.iter().zip(&classes);
        let samples: Vec<Samples<'_>> = of()
            .map(|(&target, class)| Samples::new(cells, target, class))
            .collect();
        let mut tournaments: Vec<Self> = of()
            .map(|(&target, class)| Self::empty(cells, target, class))
            .collect();
        reduced.grid(grid, targets, &mut |fitted, share| {
            let entered = tournaments.iter_mut().zip(&samples).zip(fitted);
            entered.for_each(|((tournament, samples), fitted)| tournament.enter(samples, fitted));
            done(share);
        })?;
        Ok(tournaments)
    }

    /// Fits all families at one given coupling.
    pub(crate) fn at(cells: &Cells, target: usize, fitted: Fitted) -> Self {
        let class = classes_in_order(&cells.tasks()[target]);
        let mut tournament = Self::empty(cells, target, &class);
        tournament.enter(&Samples::new(cells, target, &class), vec![fitted]);
        tournament
    }

    fn empty(cells: &Cells, target: usize, class: &[usize]) -> Self {
        let samples = Samples::new(cells, target, class);
        let label_squares = (0..class.len())
            .map(|l| samples.labels.row(l).squared_norm_l2())
            .collect();
        Self {
            entries: Vec::new(),
            fitted: Vec::new(),
            class: class.to_vec(),
            classes: cells.of_task(target).len(),
            tried: [0; Family::ALL.len()],
            label_squares,
        }
    }

    fn enter(&mut self, samples: &Samples<'_>, fitted: Vec<Fitted>) {
        let new: Vec<Vec<Candidate>> = fitted
            .par_iter()
            .map(|fitted| samples.candidates(fitted))
            .collect();
        for (fitted, candidates) in fitted.into_iter().zip(new) {
            let index = self.fitted.len();
            for candidate in candidates {
                self.tried[candidate.family as usize] += 1;
                let press = candidate.squared_errors.iter().sum::<f64>() / samples.total;
                self.entries.push(Entry {
                    candidate,
                    point: fitted.point,
                    fitted: index,
                    press,
                });
            }
            self.fitted.push(fitted);
        }
        // The best of each family stays, and the best of pooled tasks, so that they can be asked for by name.
        let best = self
            .entries
            .iter()
            .map(|entry| entry.press)
            .fold(f64::INFINITY, f64::min);
        let best_of = Family::ALL.map(|family| {
            self.entries
                .iter()
                .filter(|e| e.candidate.family == family)
                .map(|e| e.press)
                .fold(f64::INFINITY, f64::min)
        });
        let best_pooled = self
            .entries
            .iter()
            .filter(|entry| entry.is_pooled())
            .map(|entry| entry.press)
            .fold(f64::INFINITY, f64::min);
        let strength = 0.5 * exponent(self.class.len(), self.classes);
        self.entries.retain(|entry| {
            strength * (ln(entry.press) - ln(best)) < HOPELESS
                || entry.press <= best_of[entry.candidate.family as usize]
                || entry.is_pooled() && entry.press <= best_pooled
        });
        let mut needed = vec![false; self.fitted.len()];
        self.entries
            .iter()
            .for_each(|entry| needed[entry.fitted] = true);
        for (fitted, needed) in self.fitted.iter_mut().zip(needed) {
            if !needed {
                fitted.responses = Mat::new();
                fitted.weights.values = Mat::new();
            }
        }
    }

    /// The number of candidates tried.
    pub(crate) fn tried(&self) -> usize {
        self.tried.iter().sum()
    }

    /// Weights of all entries from the samples chosen; they sum to one.
    pub(crate) fn weights(&self, chosen: impl Fn(usize) -> bool) -> Vec<f64> {
        let samples: Vec<usize> = (0..self.class.len()).filter(|&l| chosen(l)).collect();
        let total: f64 = samples.iter().map(|&l| self.label_squares[l]).sum();
        let strength = exponent(samples.len(), self.classes);
        let cost: Vec<f64> = self
            .entries
            .iter()
            .map(|entry| {
                strength
                    * ln(samples
                        .iter()
                        .map(|&l| entry.candidate.squared_errors[l])
                        .sum::<f64>()
                        / total)
            })
            .collect();
        let least = cost.iter().copied().fold(f64::INFINITY, f64::min);
        let mut weights: Vec<f64> = self
            .entries
            .iter()
            .zip(&cost)
            .map(|(entry, cost)| {
                let family = entry.candidate.family;
                family.prior() / self.tried[family as usize] as f64 * (least - cost).exp()
            })
            .collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
        weights
    }

    /// Leave-one-out class scores less ȳ (n_t x m), each sample by weights it had no say in.
    pub(crate) fn cross_fitted(&self, seed: u64) -> Mat<f64> {
        let mut scores = Mat::zeros(self.class.len(), self.classes);
        for fold in &Folds::new(&self.class, self.classes, seed) {
            let weights = self.weights(|l| !fold.holds_out(l));
            for (entry, weight) in self.entries.iter().zip(weights) {
                for &l in &fold.held_out {
                    for c in 0..self.classes {
                        scores[(l, c)] += weight * entry.candidate.scores[(l, c)];
                    }
                }
            }
        }
        scores
    }

    /// The entry of least PRESS among those that qualify.
    pub(crate) fn best(&self, qualifies: impl Fn(&Entry) -> bool) -> Option<usize> {
        (0..self.entries.len())
            .filter(|&index| qualifies(&self.entries[index]))
            .min_by(|&a, &b| self.entries[a].press.total_cmp(&self.entries[b].press))
    }
}

fn exponent(samples: usize, classes: usize) -> f64 {
    SHARPNESS * samples as f64 * (classes - 1) as f64 / 2.0
}

fn ln(x: f64) -> f64 {
    x.max(1e-300).ln()
}
