//! The default: every coupling, every family, averaged (RECIPE).

use faer::Mat;

use super::ruled::decision_of;
use super::{CandidateWeight, Folded, Leading, Outcome, Roads, Rule};
use crate::coupling::Coupling;
use crate::dense;
use crate::error::Result;
use crate::forecast::{Density, Stakes, argmax, from_scores, margin, temperature};
use crate::model::Decision;
use crate::rules::Form;
use crate::rules::families::Family;
use crate::settings::RuleName;
use crate::tune::Tournament;

/// Candidates lighter than this are not listed.
const LISTED: f64 = 1e-3;
/// How many candidates relative statements are made with.
const LEADING: usize = 16;

impl Roads<'_, '_> {
    pub(super) fn averaged(
        &self,
        tournament: &Tournament,
        coupling: Option<Coupling>,
    ) -> Result<Outcome> {
        let weights = tournament.weights(|_| true);
        let scores = tournament.cross_fitted(self.settings.seed);
        self.conclude(tournament, &weights, scores, coupling)
    }

    /// A rule, its forecast and its folded weights from weighted candidates and their leave-one-out
    /// scores less ȳ.
    pub(super) fn conclude(
        &self,
        tournament: &Tournament,
        weights: &[f64],
        mut scores: Mat<f64>,
        coupling: Option<Coupling>,
    ) -> Result<Outcome> {
        let m = self.classes();
        let one_coupling = coupling.is_some();
        let mut label_scores = Mat::zeros(self.cells().len(), m);
        let mut folded: Option<Mat<f64>> = None;
        for (entry, &weight) in tournament.entries.iter().zip(weights) {
            if weight == 0.0 {
                continue;
            }
            add_scaled(&mut label_scores, &entry.candidate.label_scores, weight);
            let part = dense::times(
                tournament.fitted[entry.fitted].weights.as_ref(),
                entry.candidate.label_scores.as_ref(),
            );
            let sum = folded.get_or_insert_with(|| Mat::zeros(part.nrows(), m));
            add_scaled(sum, &part, weight);
        }
        let folded = folded.unwrap_or_else(Mat::new);

        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        let coupling_of = |index: usize| -> Result<Coupling> {
            match &coupling {
                Some(coupling) => Ok(coupling.clone()),
                None => self.coupling_of(tournament.entries[index].point),
            }
        };
        let leading = order
            .iter()
            .take(LEADING)
            .map(|&index| {
                let label_scores = tournament.entries[index].candidate.label_scores.clone();
                Ok(Leading {
                    weight: weights[index],
                    coupling: coupling_of(index)?,
                    offsets: (0..m)
                        .map(|c| self.stakes.shares[c] - self.label_mean(&label_scores, c))
                        .collect(),
                    label_scores,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let candidates = order
            .iter()
            .filter(|&&index| weights[index] >= LISTED)
            .map(|&index| {
                let entry = &tournament.entries[index];
                Ok(CandidateWeight {
                    family: entry.candidate.family,
                    coupling: coupling_of(index)?,
                    weight: weights[index],
                    press: entry.press,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let by_family = Family::ALL
            .iter()
            .map(|&family| {
                let weight = tournament
                    .entries
                    .iter()
                    .zip(weights)
                    .filter(|(e, _)| e.candidate.family == family)
                    .map(|(_, w)| w)
                    .sum();
                (family, weight)
            })
            .collect();

        // The forecast.
        for c in 0..m {
            scores
                .col_mut(c)
                .iter_mut()
                .for_each(|x| *x += self.stakes.shares[c]);
        }
        let slope = temperature(&scores, &tournament.class);
        let decide = decide_by(&scores, slope, self.stakes);
        let mut forecast = from_scores(
            &scores,
            &tournament.class,
            decide,
            slope,
            self.stakes,
            densities(&scores, &tournament.class),
        );
        let difference_of: Vec<f64> = (0..tournament.class.len())
            .map(|l| scores[(l, 0)] - scores[(l, 1)])
            .collect();
        let held = self.hold_rate(&difference_of, &tournament.class, &mut forecast);
        forecast.notes.extend(self.notes());
        forecast
            .notes
            .extend(self.disagreement(&forecast, &leading)?);

        let (decision, bias, folded, label_scores) = if m == 2 {
            let prior = self.stakes.shift(0) - self.stakes.shift(1);
            let cost = (self.stakes.costs[0] / self.stakes.costs[1]).ln();
            let threshold = held.unwrap_or(-(prior + cost) / slope);
            let bias = vec![self.stakes.shares[0] - self.stakes.shares[1]];
            let decision = Decision::Threshold {
                threshold,
                slope,
                centre: -prior / slope,
            };
            // A constant on the target's own cells moves its score by that constant: with this one
            // the label scores give the model's very scores.
            let mut label_scores = difference(&label_scores);
            let missing = bias[0] - self.label_mean(&label_scores, 0);
            for cell in self.cells().of_task(self.target) {
                label_scores[(cell, 0)] += missing;
            }
            (decision, bias, difference(&folded), label_scores)
        } else {
            let form = Form::Linear {
                offsets: vec![0.0; m],
            };
            let decision = decision_of(form, slope, self.stakes);
            (decision, self.stakes.shares.clone(), folded, label_scores)
        };
        let rule = Rule {
            name: RuleName::Auto,
            labels: self.settings.labels,
            coupling,
            label_scores: one_coupling.then(|| rows_of(&label_scores)),
            threshold: match decision {
                Decision::Threshold { threshold, .. } => threshold.is_finite().then_some(threshold),
                Decision::Argmax { .. } => None,
            },
            weights: by_family,
            candidates,
            tried: tournament.tried(),
        };
        let folded = if one_coupling {
            Folded::Features(folded)
        } else {
            Folded::Reduced(folded)
        };
        Ok(Outcome {
            rule,
            decision,
            folded,
            bias,
            forecast,
            leading,
            scores: Some(scores),
        })
    }

    /// Σ share_r y_r over the target's cells: the score of its mean by one column of label scores.
    pub(super) fn label_mean(&self, label_scores: &Mat<f64>, column: usize) -> f64 {
        self.cells()
            .of_task(self.target)
            .map(|cell| self.cells().share(cell) * label_scores[(cell, column)])
            .sum()
    }
}

/// The class of the largest cost-weighted posterior of each sample.
pub(super) fn decide_by<'s>(
    scores: &'s Mat<f64>,
    slope: f64,
    stakes: &'s Stakes,
) -> impl Fn(usize) -> usize + 's {
    move |l| {
        argmax(
            (0..scores.ncols())
                .map(|c| slope * scores[(l, c)] + stakes.shift(c) + stakes.costs[c].ln()),
        )
    }
}

/// Score (two classes) or margin of the right class (more), by class.
pub(super) fn densities(scores: &Mat<f64>, class: &[usize]) -> Vec<Density> {
    (0..scores.ncols())
        .map(|c| {
            let own = (0..class.len()).filter(|&l| class[l] == c);
            let of = |l: usize| {
                if scores.ncols() == 2 {
                    scores[(l, 0)] - scores[(l, 1)]
                } else {
                    margin(scores, l, c)
                }
            };
            Density::of_scores(own.map(of).collect())
        })
        .collect()
}

fn add_scaled(to: &mut Mat<f64>, term: &Mat<f64>, factor: f64) {
    for j in 0..term.ncols() {
        for i in 0..term.nrows() {
            to[(i, j)] += factor * term[(i, j)];
        }
    }
}

/// First column less the second.
fn difference(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), 1, |i, _| a[(i, 0)] - a[(i, 1)])
}

pub(super) fn rows_of(a: &Mat<f64>) -> Vec<Vec<f64>> {
    a.row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}
