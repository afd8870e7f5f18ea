//! The steps that settings name, one after the other.

use super::fits::Fits;
use super::learn::NamedRule;
use super::outcome::Outcome;
use super::target::Target;
use crate::error::Result;
use crate::recipe::Tournament;
use crate::settings::{Labels, RuleName};

impl Target<'_, '_> {
    /// All steps, in the way that the settings name. There are no fits where a theory decides.
    pub(super) fn outcome(
        &self,
        fits: Option<&Fits<'_>>,
        progress: &dyn Fn(f64),
    ) -> Result<Outcome> {
        let (rule, labels) = (self.settings().rule, self.settings().labels);
        let m = self.classes();
        // With two classes there is one pair.
        let one_score = m == 2 && matches!(rule, RuleName::Auto | RuleName::OneVsOne);
        let named = NamedRule {
            rule: match rule {
                RuleName::Auto if m > 2 => RuleName::OneHot,
                rule => rule,
            },
            labels,
        };
        let Some(fits) = fits else {
            return match one_score {
                true => self.foretold_score(),
                false => self.foretold_rule(named, progress),
            };
        };
        let tournament = &fits.tournament;
        match (rule, labels) {
            (RuleName::Auto, Labels::Auto) => self.averaged(fits, &|_| true),
            _ if one_score => self.one_score(fits, self.best_for_labels(labels, tournament)?),
            (RuleName::Auto, labels) if labels.are_classical() => {
                self.one_candidate(fits, self.best_for_labels(labels, tournament)?)
            }
            _ => self.judged_rule(named, fits, progress),
        }
    }

    /// One-hot labels with one slope are a candidate of the default; it is taken alone.
    fn one_candidate(&self, fits: &Fits<'_>, best: usize) -> Result<Outcome> {
        let tournament = &fits.tournament;
        let mut weights = vec![0.0; tournament.entries.len()];
        weights[best] = 1.0;
        let labels = self.settings().labels;
        let chosen = |tournament: &Tournament| self.best_for_labels(labels, tournament).ok();
        let held_out = self.held_out_by(fits, best, &chosen)?;
        let (_, forecast, judgements) = self.verdict(held_out, 1.0);
        let coupling = self.coupling_at(tournament, best)?;
        let judged = (forecast, judgements);
        let mut outcome = self.conclude(fits, &weights, judged, Some(&coupling))?;
        outcome.rule.tried = tournament.tried_in(self.shared.view);
        Ok(outcome)
    }

    /// A rule by name, by leave-one-out.
    pub(super) fn judged_rule(
        &self,
        named: NamedRule,
        fits: &Fits<'_>,
        progress: &dyn Fn(f64),
    ) -> Result<Outcome> {
        let tournament = &fits.tournament;
        let best = self.best_for_rule(named.labels, tournament);
        let mut outcome = if named.rule == RuleName::OneVsOne {
            let coupling = self.coupling_at(tournament, best)?;
            self.voted(named, fits, &coupling, progress)?
        } else {
            self.by_rule(named, fits, best)?
        };
        outcome.rule.tried = tournament.tried_in(self.shared.view);
        outcome.forecast.notes.extend(self.notes());
        Ok(outcome)
    }

    /// A rule by name, by the theory.
    fn foretold_rule(&self, named: NamedRule, progress: &dyn Fn(f64)) -> Result<Outcome> {
        let coupling = self.cheapest(named.labels, progress, |coupling| {
            self.foretold_cost(named, coupling)
        })?;
        let mut outcome = if named.rule == RuleName::OneVsOne {
            self.foretold_votes(named, &coupling)?
        } else {
            self.by_theory(named, &coupling)?
        };
        outcome.forecast.notes.extend(self.notes());
        Ok(outcome)
    }
}
