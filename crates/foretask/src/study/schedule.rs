//! Plans carried out, what they have in common computed once.

use std::sync::{Arc, OnceLock};

use super::fits::Fits;
use super::folded::Folded;
use super::outcome::{Exponent, Outcome};
use super::shared::Shared;
use super::target::Target;
use crate::data::Statistics;
use crate::error::{Error, Result};
use crate::estimate::Population;
use crate::recipe::{Tournament, alike, keys};
use crate::settings::RuleName;
use crate::settings::check::Plan;
use crate::solve::Scaling;
use crate::views::{Skipped, View};
use crate::words::Word;

/// One plan, carried out.
#[derive(Debug)]
pub(super) struct Done<'a> {
    /// The view that theories and relative statements speak of.
    pub(super) shared: Arc<Shared<'a>>,
    pub(super) population: Arc<Population>,
    pub(super) plan: Plan,
    pub(super) outcome: Outcome,
    /// All candidates; none where a theory decided.
    pub(super) fits: Option<Arc<Fits<'a>>>,
    /// Whether its errors were counted elsewhere.
    pub(super) counted: bool,
    /// How fast the error falls with labels, once it was asked for.
    pub(super) exponent: OnceLock<Exponent>,
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
    let mut lenses = Lenses {
        raw: statistics,
        made: Vec::new(),
    };
    let groups = groups(statistics, &plans);
    let mut done: Vec<(usize, Done<'a>)> = Vec::with_capacity(plans.len());
    for (number, group) in groups.iter().enumerate() {
        let progress = |share: f64| progress((number as f64 + share) / groups.len() as f64);
        let own: Vec<&Plan> = group.iter().map(|&index| &plans[index]).collect();
        let parts = carry_out(&mut lenses, &own, &progress)?;
        done.extend(group.iter().copied().zip(parts));
    }
    progress(1.0);
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, done)| done).collect())
}

/// The indices of plans with the same fits, or with none. Plans that look through one view stand on the fits of
/// those that look through several.
fn groups(statistics: &Statistics<'_>, plans: &[Plan]) -> Vec<Vec<usize>> {
    let theory = |plan: &Plan| plan.settings.evidence.is_theory();
    // Only the default is made of joined sources.
    let joins =
        |plan: &Plan| plan.is_averaged() && alike::are_many(statistics.cells(), plan.target);
    let same_fits = |a: &Plan, b: &Plan| {
        let views = match (a.is_averaged(), b.is_averaged()) {
            (true, true) => a.views == b.views,
            _ => b.views.iter().all(|view| a.views.contains(view)),
        };
        a.settings.scaling == b.settings.scaling
            && a.settings.folds == b.settings.folds
            && theory(a) == theory(b)
            && Folded::suits(statistics, a) == Folded::suits(statistics, b)
            && joins(a) == joins(b)
            && (theory(a) && a.views == b.views || !theory(a) && a.coupling == b.coupling && views)
    };
    let mut order: Vec<usize> = (0..plans.len()).collect();
    order.sort_by_key(|&index| !plans[index].is_averaged());
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for index in order {
        let plan = &plans[index];
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

/// The data in every view that was needed so far.
struct Lenses<'s, 'a> {
    raw: &'s Statistics<'a>,
    made: Vec<(Lens, std::result::Result<Arc<Shared<'a>>, Skipped>)>,
}

/// A view; that of a kernel is of one target.
#[derive(Clone, Copy, PartialEq)]
struct Lens {
    view: View,
    scaling: Scaling,
    target: Option<usize>,
}

impl<'a> Lenses<'_, 'a> {
    fn through(
        &mut self,
        view: View,
        scaling: Scaling,
        target: usize,
    ) -> std::result::Result<Arc<Shared<'a>>, Skipped> {
        let lens = Lens {
            view,
            scaling,
            target: (view == View::Rbf).then_some(target),
        };
        if let Some((_, made)) = self.made.iter().find(|(known, _)| *known == lens) {
            return made.clone();
        }
        let made = Shared::new(self.raw.clone(), scaling, view, target).map(Arc::new);
        self.made.push((lens, made.clone()));
        made
    }

    /// The view that theories look through; a linear one is never left out.
    fn base(&mut self, plan: &Plan) -> Result<Arc<Shared<'a>>> {
        let base = self.through(plan.base, plan.settings.scaling, plan.target);
        base.map_err(|why| Error::Setting {
            setting: "views",
            value: plan.base.to_string(),
            expected: why.meaning(),
        })
    }

    /// The candidates of each of the targets (ascending), in the views that its plans look through.
    fn fits(
        &mut self,
        plans: &[&Plan],
        targets: &[usize],
        progress: &dyn Fn(f64),
    ) -> Result<Vec<Fits<'a>>> {
        let cells = self.raw.cells();
        let variances = self.raw.pooled_variances();
        let mut fits: Vec<Fits<'a>> = targets
            .iter()
            .map(|&target| {
                let suits = plans.iter().filter(|plan| plan.target == target);
                let joined = match suits.clone().any(|plan| plan.is_averaged()) {
                    true => alike::joined(self.raw, target).map(Arc::new),
                    false => None,
                };
                let folded = suits
                    .filter(|plan| Folded::suits(self.raw, plan))
                    .find_map(|plan| Folded::new(self.raw, plan));
                if let Some(folded) = folded {
                    return Fits::in_folds(folded.tournament(self.raw, joined, target), folded);
                }
                let keys = self.raw.rows_of(target).map(|rows| keys(rows, &variances));
                let keys = keys.unwrap_or_default();
                let groups = self.raw.groups_of(target);
                let importance = self.raw.importance_of(target);
                Fits::new(Tournament::new(
                    cells, joined, target, groups, importance, keys,
                ))
            })
            .collect();
        let plan = plans[0];
        let scaling = plan.settings.scaling;
        for (number, &view) in plan.views.iter().enumerate() {
            let needs = |target: usize| {
                let mut own = plans.iter().filter(|plan| plan.target == target);
                own.any(|plan| plan.views.contains(&view))
            };
            let mut own: Vec<(usize, &mut Fits<'a>)> = targets
                .iter()
                .copied()
                .zip(&mut fits)
                .filter(|(target, _)| needs(*target))
                .collect();
            // One kernel serves one target, any other view all of them.
            let size = if view == View::Rbf { 1 } else { own.len() };
            let parts = own.len().div_ceil(size.max(1)) as f64;
            for (part, own) in own.chunks_mut(size.max(1)).enumerate() {
                let steps = plan.views.len() as f64;
                let done = |share: f64| {
                    progress((number as f64 + (part as f64 + share) / parts) / steps);
                };
                plan.settings.stop.check()?;
                match self.through(view, scaling, own[0].0) {
                    Ok(shared) => {
                        let mut targets: Vec<usize> = Vec::new();
                        let mut tournaments: Vec<&mut Tournament> = Vec::new();
                        for (target, fits) in own.iter_mut() {
                            fits.views.push(shared.clone());
                            let Fits {
                                tournament, folded, ..
                            } = &mut **fits;
                            match folded {
                                Some(folded) => {
                                    shared.enter_folds(tournament, folded, plan, &done)?;
                                }
                                None => {
                                    targets.push(*target);
                                    tournaments.push(tournament);
                                }
                            }
                        }
                        if !targets.is_empty() {
                            shared.enter(&mut tournaments, &targets, plan, &done)?;
                        }
                    }
                    Err(why) => own
                        .iter_mut()
                        .for_each(|(_, fits)| fits.skipped.push((view, why))),
                }
            }
        }
        let empty = fits.iter().find(|fits| fits.views.is_empty());
        match empty.and_then(|fits| fits.skipped.first()) {
            Some((view, why)) => Err(Error::Setting {
                setting: "views",
                value: view.to_string(),
                expected: why.meaning(),
            }),
            None => Ok(fits),
        }
    }
}

/// Plans of one group: the fits of all their targets once, then each by itself.
fn carry_out<'a>(
    lenses: &mut Lenses<'_, 'a>,
    plans: &[&Plan],
    progress: &dyn Fn(f64),
) -> Result<Vec<Done<'a>>> {
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
    let fits: Vec<Arc<Fits<'a>>> = match theory {
        true => Vec::new(),
        false => {
            let done = |share: f64| progress(together * share);
            let fits = lenses.fits(plans, &targets, &done)?;
            fits.into_iter().map(Arc::new).collect()
        }
    };
    let mut parts = Vec::with_capacity(plans.len());
    for (before, plan) in plans.iter().enumerate() {
        plan.settings.stop.check()?;
        let own = targets.iter().position(|&target| target == plan.target);
        let fits = own.and_then(|own| fits.get(own)).cloned();
        let main = match (&fits, plan.is_averaged()) {
            (Some(fits), true) => fits.main_view().cloned(),
            _ => None,
        };
        let shared = match main {
            Some(main) => main,
            None => lenses.base(plan)?,
        };
        let population = shared.population(plan.settings.evidence)?;
        let target = Target {
            shared: &shared,
            population: &population,
            plan,
        };
        let progress = |share: f64| {
            let done = (before as f64 + share) / plans.len() as f64;
            progress(together + (1.0 - together) * done);
        };
        let mut outcome = target.outcome(fits.as_deref(), &progress)?;
        if fits.is_some() {
            outcome.forecast = target.with_groups(outcome.forecast);
        }
        if !plan.is_averaged() {
            outcome.rule.views = vec![(shared.view, 1.0)];
        }
        parts.push(Done {
            outcome,
            shared,
            population,
            plan: Plan::clone(plan),
            fits,
            counted: false,
            exponent: OnceLock::new(),
        });
    }
    Ok(parts)
}
