//! Plans carried out, what they have in common computed once.

use std::sync::Arc;

use super::learn::NamedRule;
use super::outcome::Outcome;
use super::shared::Shared;
use super::target::Target;
use crate::data::statistics::Statistics;
use crate::error::Result;
use crate::estimate::population::Population;
use crate::recipe::tournament::Tournament;
use crate::settings::check::Plan;
use crate::settings::words::{Labels, RuleName};

/// One plan, carried out.
#[derive(Debug)]
pub(super) struct Done<'a> {
    pub(super) shared: Arc<Shared<'a>>,
    pub(super) population: Arc<Population>,
    pub(super) plan: Plan,
    pub(super) outcome: Outcome,
}

impl<'a> Done<'a> {
    pub(super) fn target(&self) -> Target<'_, 'a> {
        Target {
            shared: &self.shared,
            population: &self.population,
            plan: &self.plan,
        }
    }
}

/// Carries out plans, in their order; those that need the same fits one after the other.
pub(super) fn run<'a>(
    statistics: &Statistics<'a>,
    plans: Vec<Plan>,
    progress: &dyn Fn(f64),
) -> Result<Vec<Done<'a>>> {
    let mut scaled: Vec<Arc<Shared<'a>>> = Vec::new();
    let groups = groups(&plans);
    let mut done: Vec<(usize, Done<'a>)> = Vec::with_capacity(plans.len());
    for (number, group) in groups.iter().enumerate() {
        let progress = |share: f64| progress((number as f64 + share) / groups.len() as f64);
        let scaling = plans[group[0]].settings.scaling;
        let shared = match scaled.iter().find(|shared| shared.scaling == scaling) {
            Some(shared) => shared.clone(),
            None => {
                scaled.push(Arc::new(Shared::new(statistics.clone(), scaling)));
                scaled[scaled.len() - 1].clone()
            }
        };
        let own: Vec<&Plan> = group.iter().map(|&index| &plans[index]).collect();
        let outcomes = carry_out(&shared, &own, &progress)?;
        for (&index, (population, outcome)) in group.iter().zip(outcomes) {
            let part = Done {
                shared: shared.clone(),
                population,
                plan: plans[index].clone(),
                outcome,
            };
            done.push((index, part));
        }
    }
    progress(1.0);
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, done)| done).collect())
}

/// The indices of plans with the same fits, or with none.
fn groups(plans: &[Plan]) -> Vec<Vec<usize>> {
    let theory = |plan: &Plan| plan.settings.evidence.is_theory();
    let same_fits = |a: &Plan, b: &Plan| {
        a.settings.scaling == b.settings.scaling
            && theory(a) == theory(b)
            && (theory(a) || a.coupling == b.coupling)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        match groups
            .iter_mut()
            .find(|group| same_fits(&plans[group[0]], plan))
        {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

/// Plans of one group: the fits of all their targets once, then each by itself.
fn carry_out(
    shared: &Shared<'_>,
    plans: &[&Plan],
    progress: &dyn Fn(f64),
) -> Result<Vec<(Arc<Population>, Outcome)>> {
    let theory = plans[0].settings.evidence.is_theory();
    let mut targets: Vec<usize> = plans.iter().map(|plan| plan.target).collect();
    targets.sort_unstable();
    targets.dedup();
    // What is left for each plan by itself: all of the theory, and pairs, which are as much work again as
    // the grid.
    let pairs = |plan: &&Plan| plan.settings.rule == RuleName::OneVsOne;
    let together = match (theory, plans.iter().any(pairs)) {
        (true, _) => 0.0,
        (false, true) => 0.5,
        (false, false) => 1.0,
    };
    let tournaments = match theory {
        true => Vec::new(),
        false => {
            let done = |share: f64| progress(together * share);
            shared.tournaments(&targets, plans[0].coupling.as_ref(), &done)?
        }
    };
    let mut outcomes = Vec::with_capacity(plans.len());
    for (before, plan) in plans.iter().enumerate() {
        let population = shared.population(plan.settings.evidence)?;
        let target = Target {
            shared,
            population: &population,
            plan,
        };
        let own = targets.iter().position(|&target| target == plan.target);
        let tournament = own.and_then(|own| tournaments.get(own));
        let outcome = target.outcome(tournament, &|share| {
            let done = (before as f64 + share) / plans.len() as f64;
            progress(together + (1.0 - together) * done);
        })?;
        outcomes.push((population, outcome));
    }
    Ok(outcomes)
}

impl Target<'_, '_> {
    /// All steps, in the way that the settings name. There is no tournament where a theory decides.
    fn outcome(&self, tournament: Option<&Tournament>, progress: &dyn Fn(f64)) -> Result<Outcome> {
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
        match (tournament, rule, labels) {
            (None, ..) if one_score => self.foretold_score(),
            (None, ..) => self.foretold_rule(named, progress),
            (Some(tournament), RuleName::Auto, Labels::Auto) => self.averaged(tournament),
            (Some(tournament), ..) if one_score => {
                self.one_score(tournament, self.best_for_labels(labels, tournament)?)
            }
            (Some(tournament), RuleName::Auto, labels) if labels.are_classical() => {
                self.one_candidate(tournament, self.best_for_labels(labels, tournament)?)
            }
            (Some(tournament), ..) => self.judged_rule(named, tournament, progress),
        }
    }

    /// One-hot labels with one slope are a candidate of the default; it is taken alone.
    fn one_candidate(&self, tournament: &Tournament, best: usize) -> Result<Outcome> {
        let mut weights = vec![0.0; tournament.entries.len()];
        weights[best] = 1.0;
        let scores = tournament.entries[best].candidate.scores.clone();
        let coupling = self.coupling_at(tournament, best)?;
        self.conclude(tournament, &weights, scores, Some(&coupling))
    }

    /// A rule by name, by leave-one-out.
    fn judged_rule(
        &self,
        named: NamedRule,
        tournament: &Tournament,
        progress: &dyn Fn(f64),
    ) -> Result<Outcome> {
        let best = self.best_for_rule(named.labels, tournament);
        let mut outcome = if named.rule == RuleName::OneVsOne {
            self.voted(named, &self.coupling_at(tournament, best)?, progress)?
        } else {
            self.by_rule(named, tournament, best)?
        };
        outcome.rule.tried = tournament.tried();
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
