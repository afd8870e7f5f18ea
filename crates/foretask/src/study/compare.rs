//! What other rules and other theories would foretell, next to the choice that was made.

use std::sync::Arc;

use super::Study;
use super::fits::Fits;
use super::foretell::{drawn_errors, gaussian_error};
use super::learn::NamedRule;
use super::target::Target;
use super::weighted::refused_theory;
use crate::data::Coupling;
use crate::decision::{Discriminant, Form};
use crate::error::{Error, Result};
use crate::forecast::{Forecast, Judgements, Paired};
use crate::moments::Provenance;
use crate::numerics::points::normal_points;
use crate::settings::check::Plan;
use crate::settings::{Evidence, Labels, RuleName, Settings};
use crate::stakes::weighted;
use crate::views::View;

/// What the study's own rule is called.
const THIS: &str = "this rule";

/// Draws per class behind an alternative's error.
const DRAWS: usize = 2048;
/// The general theory costs p³ and is an alternative only up to here.
const MOST_FEATURES: usize = 400;

/// A rule and what it is expected to do.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Compared {
    /// What it is called: `this rule` for the study's own.
    pub name: String,
    /// The rule.
    pub rule: RuleName,
    /// Its label scores.
    pub labels: Labels,
    /// The views of the features that it looks through.
    pub views: Vec<View>,
    /// The coupling, if it has one only.
    pub coupling: Option<Coupling>,
    /// What it is expected to do.
    pub forecast: Forecast,
    /// What the study's rule has over this one, sample by sample on common folds; none for itself, and from a theory.
    pub paired: Option<Paired>,
}

/// A theory and the error it foretells.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Foretold {
    /// The theory.
    #[serde(rename = "source")]
    pub provenance: Provenance,
    /// The error it foretells for the leading candidate of the rule.
    pub error: f64,
}

impl Study<'_> {
    /// The study's own rule first, then what is made of the same fits: the commonest class, labels by name each at
    /// the coupling that suits it, and each view by itself. Then every rule by name with classical and with optimal
    /// labels, each at the coupling that suits it (by a theory, at that of the study's leading candidate). `progress` is told the share that is done.
    /// One-versus-one is left out where what it needs is not known: the joint law of its scores, or rows; and where
    /// samples have weights.
    ///
    /// # Errors
    /// If training fails, which finite data do not let happen.
    pub fn compare(&self, progress: &dyn Fn(f64)) -> Result<Vec<Compared>> {
        let own = self.rule();
        let mut compared = vec![Compared {
            name: THIS.to_owned(),
            rule: own.name,
            labels: own.labels,
            views: own.views.iter().map(|(view, _)| *view).collect(),
            coupling: own.coupling.clone(),
            forecast: self.forecast().clone(),
            paired: None,
        }];
        compared.extend(self.of_the_same_fits()?);
        let Some(leading) = &self.done.outcome.leading else {
            return Ok(compared);
        };
        // Rules by name are made of samples left out one by one.
        let folded = |fits: &Arc<Fits<'_>>| fits.folded.is_some();
        if self.done.fits.as_ref().is_some_and(folded) {
            return Ok(compared);
        }
        let target = self.done.target();
        let (m, weighed) = (target.classes(), self.cells().are_weighed());
        let rules: Vec<NamedRule> = RuleName::NAMED
            .into_iter()
            // With two classes there is one pair, and its rule is the one-hot one.
            .filter(|&rule| m > 2 && !weighed || rule != RuleName::OneVsOne)
            .flat_map(|rule| {
                [Labels::Optimal, Labels::Classical].map(|labels| NamedRule { rule, labels })
            })
            .collect();
        for (done, &named) in rules.iter().enumerate() {
            target.settings().stop.check()?;
            progress(done as f64 / rules.len() as f64);
            let outcome = match (&self.done.fits, named.rule) {
                (None, RuleName::OneVsOne) => {
                    if !self.done.population.knows_pairs() {
                        continue;
                    }
                    target.foretold_votes(named, &leading.coupling)?
                }
                (None, _) => target.by_theory(named, &leading.coupling)?,
                (Some(fits), _) => match target.judged_rule(named, fits, &|_| {}) {
                    Err(Error::RowsNotKept { .. }) => continue,
                    outcome => outcome?,
                },
            };
            compared.push(Compared {
                name: format!("{}, {} labels", named.rule, named.labels),
                rule: named.rule,
                labels: named.labels,
                views: vec![self.done.shared.view],
                coupling: outcome.rule.coupling,
                paired: self.paired(outcome.judgements.as_ref())?,
                forecast: match &outcome.judgements {
                    Some(judgements) => target.at_rate(outcome.forecast, judgements),
                    None => outcome.forecast,
                },
            });
        }
        progress(1.0);
        Ok(compared)
    }

    /// The commonest class, labels by name, and each view by itself; nothing where a theory decided.
    fn of_the_same_fits(&self) -> Result<Vec<Compared>> {
        let Some(fits) = &self.done.fits else {
            return Ok(Vec::new());
        };
        let target = self.done.target();
        let auto = |name: &str, views: Vec<View>, judged: (Forecast, Judgements)| {
            Ok::<_, Error>(Compared {
                name: name.to_owned(),
                rule: RuleName::Auto,
                labels: Labels::Auto,
                views,
                coupling: None,
                paired: self.paired(Some(&judged.1))?,
                forecast: target.at_rate(judged.0, &judged.1),
            })
        };
        // Of the samples that the study's rule was judged by.
        let Some(own) = self.judged()? else {
            return Ok(Vec::new());
        };
        let commonest = target.commonest(&own.class, &own.importance);
        let mut compared = vec![auto("commonest class", Vec::new(), commonest)?];
        let has_sources = self.cells().tasks().len() > 1;
        // Labels by name are made of samples left out one by one, and of all sources.
        let by_name: &[Labels] = match (&fits.folded, &fits.tournament.joined) {
            (Some(_), _) | (_, Some(_)) => &[],
            (None, None) => &[
                Labels::Alone,
                Labels::Pooled,
                Labels::Classical,
                Labels::Optimal,
            ],
        };
        for &labels in by_name {
            let settings = Settings {
                rule: RuleName::Auto,
                labels,
                ..self.done.plan.settings.clone()
            };
            let shares = labels != Labels::Alone && labels != Labels::Optimal;
            // Where no linear view was asked for, or a fixed coupling shares nothing, there are no such labels.
            let Ok(plan) = Plan::new(settings, self.cells()) else {
                continue;
            };
            let own = self.done.plan.settings.labels == labels;
            if own || shares && !has_sources || plan.coupling != self.done.plan.coupling {
                continue;
            }
            let Some(shared) = fits.views.iter().find(|shared| shared.view == plan.base) else {
                continue;
            };
            let population = shared.population(plan.settings.evidence)?;
            let by_name = Target {
                shared,
                population: &population,
                plan: &plan,
            };
            let outcome = by_name.outcome(Some(fits), &|_| {})?;
            compared.push(Compared {
                name: format!("{labels} labels"),
                rule: RuleName::Auto,
                labels,
                views: vec![plan.base],
                coupling: outcome.rule.coupling,
                paired: self.paired(outcome.judgements.as_ref())?,
                forecast: outcome.forecast,
            });
        }
        if self.done.plan.is_averaged() && fits.views.len() > 1 {
            for view in fits.views.iter().map(|shared| shared.view) {
                let held_out = target.held_out(fits, &|entry| entry.view == view)?;
                let judged = target.calibrated(held_out);
                compared.push(auto(&format!("{view} view"), vec![view], judged)?);
            }
        }
        Ok(compared)
    }

    /// What the study's rule has over another: in errors, or in what is missed at the rate that is held.
    fn paired(&self, other: Option<&Judgements>) -> Result<Option<Paired>> {
        let (Some(own), Some(other)) = (self.judged()?, other) else {
            return Ok(None);
        };
        if self.has_drawn_samples() {
            return Ok(None);
        }
        let target = self.done.target();
        let (without, with) = (target.losses(other), target.losses(&own));
        let paired = Paired::new(&without, &with, &own.groups, &own.importance);
        Ok(Some(paired))
    }

    /// The error that each theory foretells for the leading candidate of the rule, at its coupling. A
    /// theory that the data do not allow is left out. `progress` is told the share that is done.
    ///
    /// # Errors
    /// If a fixed point fails, which finite data do not let happen; if samples have weights, of which a theory knows
    /// nothing.
    pub fn theories(&self, progress: &dyn Fn(f64)) -> Result<Vec<Foretold>> {
        if self.cells().are_weighed() {
            return refused_theory("all".into());
        }
        let Some(leading) = &self.done.outcome.leading else {
            return Ok(Vec::new());
        };
        let mut candidates = vec![Evidence::Isotropic, Evidence::Spherical, Evidence::Common];
        if self.done.population.features <= MOST_FEATURES {
            candidates.push(Evidence::General);
        }
        let target = self.done.target();
        let stakes = target.stakes().in_use();
        let points = normal_points(self.cells().len(), DRAWS);
        let mut foretold = Vec::new();
        for (done, &evidence) in candidates.iter().enumerate() {
            target.settings().stop.check()?;
            progress(done as f64 / candidates.len() as f64);
            let population = match self.done.shared.population(evidence) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(_) => continue,
                Ok(population) => population,
            };
            let error = if target.classes() == 2 {
                gaussian_error(&population, leading, self.target(), &stakes)?
            } else {
                let moments = target.foretold_moments(&population, &leading.coupling)?;
                let discriminant = Discriminant {
                    label_scores: leading.label_scores.clone(),
                    form: Form::Linear {
                        offsets: leading.offsets.clone(),
                    },
                };
                let errors = drawn_errors(&discriminant, &moments, &points);
                weighted(&stakes.priors, &errors)
            };
            foretold.push(Foretold {
                provenance: population.provenance,
                error,
            });
        }
        progress(1.0);
        Ok(foretold)
    }
}
