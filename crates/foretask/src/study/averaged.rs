//! The default: every coupling, every family, averaged.

use faer::Mat;

use super::fits::Fits;
use super::held_out::HeldOut;
use super::outcome::{Folded, Outcome, Surrogate, difference, of_difference, rows_of};
use super::target::Target;
use crate::data::Coupling;
use crate::decision::Decision;
use crate::error::Result;
use crate::estimate::MOST_BY_NAME;
use crate::forecast::{Calibration, Forecast, Judgements, Note};
use crate::model::{CandidateWeight, Rule, Scores};
use crate::moments::Provenance;
use crate::recipe::{Entry, Family, Tournament};
use crate::settings::RuleName;
use crate::solve::Weights;
use crate::views::View;

/// Candidates lighter than this are not listed.
const LISTED: f64 = 1e-3;

impl Target<'_, '_> {
    /// Of the entries that qualify.
    pub(super) fn averaged(
        &self,
        fits: &Fits<'_>,
        qualifies: &dyn Fn(&Entry) -> bool,
    ) -> Result<Outcome> {
        self.averaged_of(fits, qualifies, self.held_out(fits, qualifies)?, false)
    }

    /// The same with class scores of samples left out, which may be `counted` elsewhere.
    pub(super) fn averaged_of(
        &self,
        fits: &Fits<'_>,
        qualifies: &dyn Fn(&Entry) -> bool,
        held_out: HeldOut,
        counted: bool,
    ) -> Result<Outcome> {
        let weights = fits.tournament.weights_among(qualifies);
        let judged = self.calibrated(held_out);
        let mut outcome = self.conclude(fits, &weights, judged, self.plan.coupling.as_ref())?;
        // Of groups it is said elsewhere.
        if fits.tournament.is_single() && fits.tournament.groups.members().is_none() {
            let notes = std::mem::take(&mut outcome.forecast.notes);
            let none = Forecast::untold(self.stakes(), outcome.forecast.densities.clone());
            outcome.forecast = Forecast {
                samples: outcome.forecast.samples,
                alarm: outcome.forecast.alarm.take(),
                notes,
                ..none
            };
            outcome.forecast.notes.push(Note::OneLabel);
        }
        if let Some(folded) = &fits.folded {
            outcome.forecast.provenance = Provenance::LeaveFoldOut;
            if folded.rows.is_none() && !counted {
                outcome.forecast.provenance = Provenance::FoldMoments;
                outcome.forecast.notes.push(Note::FromMoments);
            }
            outcome.forecast.notes.extend(folded.joined.clone());
        }
        if let Some(joined) = &fits.tournament.joined {
            outcome.forecast.notes.push(Note::SourcesJoined {
                sources: self.cells().tasks().len() - 1,
                groups: joined.groups,
            });
        }
        let skipped = fits.skipped.iter();
        outcome
            .forecast
            .notes
            .extend(skipped.map(|&(view, why)| Note::ViewLeftOut { view, why }));
        Ok(outcome)
    }

    /// Leave-one-out class scores less ȳ: of the weighted average by weights that a sample had no say in, or of one
    /// candidate.
    pub(super) fn left_out_scores(&self, fits: &Fits<'_>, weights: &[f64]) -> Mat<f64> {
        match weights.iter().position(|&weight| weight == 1.0) {
            Some(only) => fits.tournament.entries[only].candidate.scores.clone(),
            None => fits
                .tournament
                .cross_fitted(&self.plain_folds(fits), &|_| true),
        }
    }

    /// ȳ + scores.
    pub(super) fn with_shares(&self, mut scores: Mat<f64>) -> Mat<f64> {
        for (c, share) in self.stakes().shares.iter().enumerate() {
            scores.col_mut(c).iter_mut().for_each(|x| *x += share);
        }
        scores
    }

    /// A rule and its folded weights from weighted candidates, their forecast and verdicts; `coupling` if there is one
    /// only.
    pub(super) fn conclude(
        &self,
        fits: &Fits<'_>,
        weights: &[f64],
        (mut forecast, judgements): (Forecast, Judgements),
        coupling: Option<&Coupling>,
    ) -> Result<Outcome> {
        let stakes = self.stakes();
        let tournament = &fits.tournament;
        let listing = Listing {
            fits,
            tournament,
            weights,
            coupling,
            fold: None,
        };
        let leading = listing.leading(self)?;
        let held = match self.plan.null {
            None => None,
            Some(_) => {
                let nested = judgements.scores();
                let own = self.rate_scores(fits, weights, &nested);
                let nested = of_difference(&nested);
                self.hold_rate(&own, &nested, &judgements.class, &mut forecast)
            }
        };
        let Calibration { slope, offsets, .. } = &judgements.calibration;
        forecast.notes.extend(self.notes());
        let disagreement = self.disagreement(&forecast, leading.as_ref())?;
        forecast.notes.extend(disagreement);

        let columns = tournament.joined.as_ref();
        let cells = columns.map_or(self.cells(), |joined| &joined.cells);
        let mut label_scores = listing.label_scores(cells.len(), self.classes());
        let (decision, bias) = if self.classes() == 2 {
            let middle = (offsets[1] - offsets[0]) / slope;
            let mut decision = Decision::of_difference(middle, *slope, stakes);
            if let (Some(held), Decision::Threshold { threshold, .. }) = (held, &mut decision) {
                *threshold = held;
            }
            let bias = stakes.shares[0] - stakes.shares[1];
            // A constant on the target's own cells moves its score by that constant: with this one
            // the label scores give the model's very scores.
            label_scores = difference(&label_scores);
            let missing = bias - cells.label_mean(self.index(), &label_scores, 0);
            for cell in cells.of_task(self.index()) {
                label_scores[(cell, 0)] += missing;
            }
            (decision, vec![bias])
        } else {
            let decision = Decision::of_class_scores(*slope, offsets, stakes);
            (decision, stakes.shares.clone())
        };
        let views = listing.by_view();
        let rule = Rule {
            name: RuleName::Auto,
            labels: self.settings().labels,
            coupling: coupling.cloned(),
            // Label scores of several views add up to nothing that a person could use.
            label_scores: coupling
                .filter(|_| views.iter().filter(|(_, weight)| *weight > 0.0).count() == 1)
                .map(|_| match columns {
                    None => rows_of(&label_scores),
                    Some(joined) => rows_of(&joined.spread(&label_scores)),
                }),
            threshold: decision
                .threshold()
                .filter(|threshold| threshold.is_finite()),
            weights: listing.by_family(),
            views,
            candidates: listing.candidates(self)?,
            tried: tournament.tried(),
        };
        Ok(Outcome {
            rule,
            decision,
            folded: Folded::Raw(listing.scores(self, &bias)?),
            bias,
            forecast,
            leading,
            judgements: Some(judgements),
        })
    }
}

/// Weighted candidates of a tournament.
pub(super) struct Listing<'t, 'a> {
    fits: &'t Fits<'a>,
    tournament: &'t Tournament,
    weights: &'t [f64],
    coupling: Option<&'t Coupling>,
    /// The fold that it is all made without.
    fold: Option<usize>,
}

impl<'t, 'a> Listing<'t, 'a> {
    /// Of a target in folds, without one of them.
    pub(super) fn without(fits: &'t Fits<'a>, weights: &'t [f64], fold: usize) -> Self {
        Self {
            fits,
            tournament: &fits.tournament,
            weights,
            coupling: None,
            fold: Some(fold),
        }
    }

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

    /// The weighted sum of label scores (C x m).
    fn label_scores(&self, cells: usize, classes: usize) -> Mat<f64> {
        let mut sum = Mat::zeros(cells, classes);
        for (entry, &weight) in self.tournament.entries.iter().zip(self.weights) {
            add_scaled(&mut sum, &entry.candidate.label_scores, weight);
        }
        sum
    }

    /// The scores as functions of the raw features, view by view; `bias` are those of the target's mean.
    pub(super) fn scores(&self, target: &Target<'_, '_>, bias: &[f64]) -> Result<Scores> {
        let mut scores = Scores {
            weights: Mat::zeros(target.shared.raw.features(), bias.len()),
            intercept: bias.to_vec(),
            terms: Vec::new(),
        };
        for shared in &self.fits.views {
            let Some(mut weights) = self.folded(shared.view) else {
                continue;
            };
            if bias.len() == 1 {
                weights = weights.map(difference);
            }
            let weights = shared.to_features(&weights)?;
            let zero = vec![0.0; bias.len()];
            scores.add(shared.to_raw(weights, zero, target.index()));
        }
        Ok(scores)
    }

    /// The weighted sum of the weights of the target in one view.
    fn folded(&self, view: View) -> Option<Weights> {
        let mut folded: Option<Weights> = None;
        for (entry, &weight) in self.tournament.entries.iter().zip(self.weights) {
            if weight == 0.0 || entry.view != view {
                continue;
            }
            let fitted = &self.tournament.fitted[entry.fitted];
            let part = match self.fold {
                None => fitted.weights.times(&entry.candidate.label_scores),
                Some(fold) => {
                    let weights = Weights {
                        coordinates: fitted.weights.coordinates,
                        values: fitted.without[fold].clone(),
                    };
                    weights.times(&entry.candidate.without[fold])
                }
            };
            let sum = folded.get_or_insert_with(|| {
                part.map(|values| Mat::zeros(values.nrows(), values.ncols()))
            });
            add_scaled(&mut sum.values, &part.values, weight);
        }
        folded
    }

    fn by_view(&self) -> Vec<(View, f64)> {
        let views = self.fits.views.iter().map(|shared| shared.view);
        let weight = |view: View| {
            let entries = self.tournament.entries.iter().zip(self.weights);
            let own = entries.filter(|(entry, _)| entry.view == view);
            own.fold(0.0, |sum, (_, weight)| sum + weight)
        };
        views.map(|view| (view, weight(view))).collect()
    }

    /// The heaviest candidate in the view that the theory knows.
    fn leading(&self, target: &Target<'_, '_>) -> Result<Option<Surrogate>> {
        // Theories know no joined sources, and not too many classes.
        if self.tournament.joined.is_some() || target.cells().len() > MOST_BY_NAME {
            return Ok(None);
        }
        let known = |&index: &usize| self.tournament.entries[index].view == target.shared.view;
        let Some(index) = self.order().into_iter().find(known) else {
            return Ok(None);
        };
        let label_scores = self.tournament.entries[index]
            .candidate
            .label_scores
            .clone();
        let cells = target.cells();
        let shares = target.stakes().shares.iter().enumerate();
        Ok(Some(Surrogate {
            coupling: self.coupling_of(target, index)?,
            offsets: shares
                .map(|(c, share)| share - cells.label_mean(target.index(), &label_scores, c))
                .collect(),
            label_scores,
        }))
    }

    fn candidates(&self, target: &Target<'_, '_>) -> Result<Vec<CandidateWeight>> {
        self.order()
            .into_iter()
            .filter(|&index| self.weights[index] >= LISTED)
            .map(|index| {
                let entry = &self.tournament.entries[index];
                Ok(CandidateWeight {
                    view: entry.view,
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
                .fold(0.0, |sum, (_, weight)| sum + weight)
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
