//! The default: every coupling, every family, averaged.

use faer::Mat;

use super::outcome::{Folded, Outcome, Surrogate, difference, rows_of};
use super::target::Target;
use crate::data::coupling::Coupling;
use crate::decision::Decision;
use crate::error::Result;
use crate::model::rule::{CandidateWeight, Rule};
use crate::recipe::families::Family;
use crate::recipe::tournament::Tournament;
use crate::settings::words::RuleName;
use crate::solve::weights::Weights;

/// Candidates lighter than this are not listed.
const LISTED: f64 = 1e-3;
/// How many candidates relative statements are made with.
const SURROGATES: usize = 16;

impl Target<'_, '_> {
    pub(super) fn averaged(&self, tournament: &Tournament) -> Result<Outcome> {
        let weights = tournament.weights(|_| true);
        let scores = tournament.cross_fitted(self.settings().seed);
        self.conclude(tournament, &weights, scores, self.plan.coupling.as_ref())
    }

    /// A rule, its forecast and its folded weights from weighted candidates and their leave-one-out scores less
    /// ȳ; `coupling` if there is one only.
    pub(super) fn conclude(
        &self,
        tournament: &Tournament,
        weights: &[f64],
        mut scores: Mat<f64>,
        coupling: Option<&Coupling>,
    ) -> Result<Outcome> {
        let stakes = self.stakes();
        let listing = Listing {
            tournament,
            weights,
            coupling,
        };
        let surrogates = listing.surrogates(self)?;
        for (c, share) in stakes.shares.iter().enumerate() {
            scores.col_mut(c).iter_mut().for_each(|x| *x += share);
        }
        let (slope, mut forecast) = self.count(&scores, &tournament.class, &scores);
        let of_difference: Vec<f64> = (0..tournament.class.len())
            .map(|l| scores[(l, 0)] - scores[(l, 1)])
            .collect();
        let held = self.hold_rate(&of_difference, &tournament.class, &mut forecast);
        forecast.notes.extend(self.notes());
        let disagreement = self.disagreement(&forecast, &surrogates)?;
        forecast.notes.extend(disagreement);

        let (mut label_scores, mut folded) = listing.sums(self.cells().len(), self.classes());
        let (decision, bias) = if self.classes() == 2 {
            let mut decision = Decision::of_difference(0.0, slope, stakes);
            if let (Some(held), Decision::Threshold { threshold, .. }) = (held, &mut decision) {
                *threshold = held;
            }
            let bias = stakes.shares[0] - stakes.shares[1];
            folded = folded.map(|weights| weights.map(difference));
            // A constant on the target's own cells moves its score by that constant: with this one
            // the label scores give the model's very scores.
            label_scores = difference(&label_scores);
            let missing = bias - self.cells().label_mean(self.index(), &label_scores, 0);
            for cell in self.cells().of_task(self.index()) {
                label_scores[(cell, 0)] += missing;
            }
            (decision, vec![bias])
        } else {
            let decision = Decision::of_class_scores(slope, stakes);
            (decision, stakes.shares.clone())
        };
        let rule = Rule {
            name: RuleName::Auto,
            labels: self.settings().labels,
            coupling: coupling.cloned(),
            label_scores: coupling.map(|_| rows_of(&label_scores)),
            threshold: decision
                .threshold()
                .filter(|threshold| threshold.is_finite()),
            weights: listing.by_family(),
            candidates: listing.candidates(self)?,
            tried: tournament.tried(),
        };
        Ok(Outcome {
            rule,
            decision,
            folded: match folded {
                Some(weights) => Folded::Trained(weights),
                None => Folded::Raw {
                    weights: Mat::zeros(self.population.features, bias.len()),
                    intercept: bias.clone(),
                },
            },
            bias,
            forecast,
            surrogates,
            scores: Some(scores),
        })
    }
}

/// Weighted candidates of a tournament.
struct Listing<'t> {
    tournament: &'t Tournament,
    weights: &'t [f64],
    coupling: Option<&'t Coupling>,
}

impl Listing<'_> {
    /// Candidates, heaviest first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.sort_by(|&a, &b| self.weights[b].total_cmp(&self.weights[a]));
        order
    }

    fn coupling_of(&self, target: &Target<'_, '_>, index: usize) -> Result<Coupling> {
        match self.coupling {
            Some(coupling) => Ok(coupling.clone()),
            None => target.coupling_of(self.tournament.entries[index].point),
        }
    }

    /// The weighted sums of label scores (C x m) and of the weights of the target.
    fn sums(&self, cells: usize, classes: usize) -> (Mat<f64>, Option<Weights>) {
        let mut label_scores = Mat::zeros(cells, classes);
        let mut folded: Option<Weights> = None;
        for (entry, &weight) in self.tournament.entries.iter().zip(self.weights) {
            if weight == 0.0 {
                continue;
            }
            add_scaled(&mut label_scores, &entry.candidate.label_scores, weight);
            let fitted = &self.tournament.fitted[entry.fitted];
            let part = fitted.weights.times(&entry.candidate.label_scores);
            let sum = folded.get_or_insert_with(|| {
                part.map(|values| Mat::zeros(values.nrows(), values.ncols()))
            });
            add_scaled(&mut sum.values, &part.values, weight);
        }
        (label_scores, folded)
    }

    fn surrogates(&self, target: &Target<'_, '_>) -> Result<Vec<Surrogate>> {
        let cells = target.cells();
        let surrogate = |index: usize| {
            let label_scores = self.tournament.entries[index]
                .candidate
                .label_scores
                .clone();
            let shares = target.stakes().shares.iter().enumerate();
            Ok(Surrogate {
                weight: self.weights[index],
                coupling: self.coupling_of(target, index)?,
                offsets: shares
                    .map(|(c, share)| share - cells.label_mean(target.index(), &label_scores, c))
                    .collect(),
                label_scores,
            })
        };
        let order = self.order().into_iter().take(SURROGATES);
        order.map(surrogate).collect()
    }

    fn candidates(&self, target: &Target<'_, '_>) -> Result<Vec<CandidateWeight>> {
        self.order()
            .into_iter()
            .filter(|&index| self.weights[index] >= LISTED)
            .map(|index| {
                let entry = &self.tournament.entries[index];
                Ok(CandidateWeight {
                    family: entry.candidate.family,
                    coupling: self.coupling_of(target, index)?,
                    weight: self.weights[index],
                    press: entry.press,
                })
            })
            .collect()
    }

    fn by_family(&self) -> Vec<(Family, f64)> {
        let weight_of = |family: Family| {
            let entries = self.tournament.entries.iter().zip(self.weights);
            entries
                .filter(|(entry, _)| entry.candidate.family == family)
                .map(|(_, weight)| weight)
                .sum()
        };
        let families = Family::ALL.iter();
        families
            .map(|&family| (family, weight_of(family)))
            .collect()
    }
}

fn add_scaled(to: &mut Mat<f64>, term: &Mat<f64>, factor: f64) {
    for j in 0..term.ncols() {
        for i in 0..term.nrows() {
            to[(i, j)] += factor * term[(i, j)];
        }
    }
}
