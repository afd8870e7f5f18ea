//! What other rules and other theories would foretell, next to the choice that was made.

use super::Study;
use super::foretell::{drawn_errors, gaussian_error};
use super::learn::NamedRule;
use crate::decision::{Discriminant, Form};
use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::moments::Provenance;
use crate::numerics::points::normal_points;
use crate::settings::words::{Evidence, Labels, RuleName};
use crate::stakes::weighted;

/// Draws per class behind an alternative's error.
const DRAWS: usize = 2048;
/// The general theory costs p³ and is an alternative only up to here.
const MOST_FEATURES: usize = 400;

/// A rule and what it is expected to do.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Compared {
    /// The rule.
    pub rule: RuleName,
    /// Its label scores.
    pub labels: Labels,
    /// What it is expected to do.
    pub forecast: Forecast,
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
    /// The study's own rule first, then every rule by name with classical and with optimal labels, all at
    /// the coupling of the study's leading candidate; `progress` is told the share that is done. One-versus-one
    /// is left out where what it needs is not known: the joint law of its scores, or rows.
    ///
    /// # Errors
    /// If training fails, which finite data do not let happen.
    pub fn compare(&self, progress: &dyn Fn(f64)) -> Result<Vec<Compared>> {
        let own = self.rule();
        let mut compared = vec![Compared {
            rule: own.name,
            labels: own.labels,
            forecast: self.forecast().clone(),
        }];
        let Some(leading) = self.done.outcome.surrogates.first() else {
            return Ok(compared);
        };
        let target = self.done.target();
        let theory = self.done.plan.settings.evidence.is_theory();
        let fitted = match theory {
            true => None,
            false => {
                let shared = &self.done.shared;
                let system = shared.system(&leading.coupling)?;
                Some(shared.fit(&system, &leading.coupling, self.target())?)
            }
        };
        let m = target.classes();
        let rules: Vec<NamedRule> = RuleName::NAMED
            .into_iter()
            // With two classes there is one pair, and its rule is the one-hot one.
            .filter(|&rule| m > 2 || rule != RuleName::OneVsOne)
            .flat_map(|rule| {
                [Labels::Optimal, Labels::Classical].map(|labels| NamedRule { rule, labels })
            })
            .collect();
        for (done, &named) in rules.iter().enumerate() {
            progress(done as f64 / rules.len() as f64);
            let forecast = match (&fitted, named.rule) {
                (None, RuleName::OneVsOne) => {
                    if !self.done.population.knows_pairs() {
                        continue;
                    }
                    target.foretold_votes(named, &leading.coupling)?.forecast
                }
                (None, _) => target.foretold(named, &leading.coupling)?.forecast,
                (Some(_), RuleName::OneVsOne) => {
                    match target.voted(named, &leading.coupling, &|_| {}) {
                        Err(Error::RowsNotKept { .. }) => continue,
                        outcome => outcome?.forecast,
                    }
                }
                (Some(fitted), _) => {
                    target
                        .judged(named, &leading.coupling, &fitted.responses)?
                        .forecast
                }
            };
            compared.push(Compared {
                rule: named.rule,
                labels: named.labels,
                forecast,
            });
        }
        progress(1.0);
        Ok(compared)
    }

    /// The error that each theory foretells for the leading candidate of the rule, at its coupling. A
    /// theory that the data do not allow is left out.
    ///
    /// # Errors
    /// If a fixed point fails, which finite data do not let happen.
    pub fn theories(&self) -> Result<Vec<Foretold>> {
        let Some(leading) = self.done.outcome.surrogates.first() else {
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
        for evidence in candidates {
            let Ok(population) = self.done.shared.population(evidence) else {
                continue;
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
        Ok(foretold)
    }
}
