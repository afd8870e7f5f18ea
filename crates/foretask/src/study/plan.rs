//! [`Plan`]: settings that fit the data, and how plans share fits.

use std::sync::Arc;

use super::evidence::Knowledge;
use super::ground::Ground;
use super::{Roads, Study};
use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::error::Result;
use crate::forecast::Stakes;
use crate::settings::{Evidence, RuleName, Settings};
use crate::solve::Scaling;
use crate::statistics::Statistics;

/// Settings that were found to fit the data.
pub(super) struct Plan {
    settings: Settings,
    target: usize,
    stakes: Stakes,
    null: Option<usize>,
    coupling: Option<Coupling>,
}

impl Plan {
    pub(super) fn new(settings: Settings, cells: &Cells) -> Result<Self> {
        let target = settings.target(cells)?;
        Ok(Self {
            target,
            stakes: settings.stakes(cells, target)?,
            null: settings.null(cells, target)?,
            coupling: settings.coupling(cells)?,
            settings,
        })
    }

    /// Whether both stand on the same fits, or both on none.
    fn has_the_fits_of(&self, other: &Self) -> bool {
        let theory = |plan: &Self| plan.settings.evidence.is_theory();
        self.settings.scaling == other.settings.scaling
            && theory(self) == theory(other)
            && (theory(self) || self.coupling == other.coupling)
    }

    /// The indices of plans with the same fits.
    fn groups(plans: &[Self]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (index, plan) in plans.iter().enumerate() {
            let same = |group: &&mut Vec<usize>| plans[group[0]].has_the_fits_of(plan);
            match groups.iter_mut().find(same) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        groups
    }
}

impl<'a> Study<'a> {
    /// One study per plan, in their order; plans that need the same fits one after the other.
    pub(super) fn of_plans(
        statistics: &Statistics<'a>,
        plans: Vec<Plan>,
        progress: &dyn Fn(f64),
    ) -> Result<Vec<Self>> {
        let mut grounds: Vec<Arc<Ground<'a>>> = Vec::new();
        let mut known: Vec<(Evidence, Scaling, Arc<Knowledge>)> = Vec::new();
        let groups = Plan::groups(&plans);
        let mut studies: Vec<(usize, Self)> = Vec::with_capacity(plans.len());
        for (number, group) in groups.iter().enumerate() {
            let progress = |share: f64| progress((number as f64 + share) / groups.len() as f64);
            let first = &plans[group[0]];
            let scaling = first.settings.scaling;
            let ground = match grounds.iter().find(|ground| ground.scaling == scaling) {
                Some(ground) => ground.clone(),
                None => {
                    grounds.push(Arc::new(Ground::new(statistics.clone(), scaling)));
                    grounds[grounds.len() - 1].clone()
                }
            };
            let mut targets: Vec<usize> = group.iter().map(|&plan| plans[plan].target).collect();
            targets.sort_unstable();
            targets.dedup();
            let theory = first.settings.evidence.is_theory();
            // What is left for each plan by itself: all of the theory, and pairs, which are as much work
            // again as the grid.
            let pairs = |&plan: &usize| plans[plan].settings.rule == RuleName::OneVsOne;
            let shared = match (theory, group.iter().any(pairs)) {
                (true, _) => 0.0,
                (false, true) => 0.5,
                (false, false) => 1.0,
            };
            let tournaments = match theory {
                true => Vec::new(),
                false => {
                    let done = |share: f64| progress(shared * share);
                    ground.tournaments(&targets, first.coupling.as_ref(), &done)?
                }
            };
            for (before, &index) in group.iter().enumerate() {
                let plan = &plans[index];
                let Settings { evidence, .. } = plan.settings;
                let same = |(e, s, _): &&(Evidence, Scaling, _)| (*e, *s) == (evidence, scaling);
                let knowledge = match known.iter().find(same) {
                    Some((.., knowledge)) => knowledge.clone(),
                    None => {
                        let new = Arc::new(Knowledge::new(evidence, &ground)?);
                        known.push((evidence, scaling, new.clone()));
                        new
                    }
                };
                let tournament = targets
                    .iter()
                    .zip(&tournaments)
                    .find(|(target, _)| **target == plan.target)
                    .map(|(_, tournament)| tournament);
                let roads = Roads {
                    ground: &ground,
                    knowledge: &knowledge,
                    settings: &plan.settings,
                    target: plan.target,
                    stakes: &plan.stakes,
                    null: plan.null,
                };
                let outcome = roads.outcome(tournament, plan.coupling.clone(), &|share| {
                    let done = (before as f64 + share) / group.len() as f64;
                    progress(shared + (1.0 - shared) * done);
                })?;
                let study = Self {
                    ground: ground.clone(),
                    knowledge,
                    settings: plan.settings.clone(),
                    target: plan.target,
                    stakes: plan.stakes.clone(),
                    null: plan.null,
                    outcome,
                };
                studies.push((index, study));
            }
        }
        progress(1.0);
        studies.sort_by_key(|(index, _)| *index);
        Ok(studies.into_iter().map(|(_, study)| study).collect())
    }
}
