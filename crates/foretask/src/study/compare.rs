//! What other rules and other theories would foretell, next to the choice that was made.

use super::ruled::{Kind, as_in_use, drawn_errors};
use super::{Study, binary};
use crate::error::{Error, Result};
use crate::forecast::{Forecast, weighted};
use crate::gaussian;
use crate::moments::Source;
use crate::rules::{Discriminant, Form};
use crate::settings::{Evidence, Labels, RuleName};
use crate::theory::covariance::Estimate;

use super::evidence::Knowledge;

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
    pub source: Source,
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
        let Some(leading) = self.outcome.leading.first() else {
            return Ok(compared);
        };
        let roads = self.roads();
        let theory = self.settings.evidence.is_theory();
        let fitted = match theory {
            true => None,
            false => {
                let system = self.ground.system(&leading.coupling)?;
                Some(self.ground.fit(&system, &leading.coupling, self.target)?)
            }
        };
        let m = self.stakes.priors.len();
        let kinds: Vec<Kind> = RuleName::NAMED
            .into_iter()
            // With two classes there is one pair, and its rule is the one-hot one.
            .filter(|&rule| m > 2 || rule != RuleName::OneVsOne)
            .flat_map(|rule| {
                [Labels::Optimal, Labels::Classical].map(|labels| Kind { rule, labels })
            })
            .collect();
        for (done, &kind) in kinds.iter().enumerate() {
            progress(done as f64 / kinds.len() as f64);
            let forecast = match (&fitted, kind.rule) {
                (None, RuleName::OneVsOne) => {
                    if !self.knowledge.knows_pairs() {
                        continue;
                    }
                    roads.foretold_votes(kind, &leading.coupling)?.forecast
                }
                (None, _) => roads.foretell(kind, &leading.coupling)?.forecast,
                (Some(_), RuleName::OneVsOne) => {
                    match roads.voted(kind, &leading.coupling, &|_| {}) {
                        Err(Error::RowsNotKept { .. }) => continue,
                        outcome => outcome?.forecast,
                    }
                }
                (Some(fitted), _) => {
                    roads
                        .tested(kind, &leading.coupling, &fitted.responses)?
                        .forecast
                }
            };
            compared.push(Compared {
                rule: kind.rule,
                labels: kind.labels,
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
        let Some(leading) = self.outcome.leading.first() else {
            return Ok(Vec::new());
        };
        let mut candidates = vec![Evidence::Isotropic, Evidence::Spherical, Evidence::Pooled];
        if self.knowledge.features <= MOST_FEATURES {
            candidates.push(Evidence::General(Estimate::Oas));
        }
        let stakes = as_in_use(&self.stakes);
        let points = gaussian::normal_points(self.cells().len(), DRAWS);
        let mut foretold = Vec::new();
        for evidence in candidates {
            let Ok(knowledge) = Knowledge::new(evidence, &self.ground) else {
                continue;
            };
            let error = if stakes.priors.len() == 2 {
                binary::gaussian_error(
                    &knowledge,
                    &leading.coupling,
                    &leading.labels(0, 1),
                    self.target,
                    &stakes,
                )?
            } else {
                let moments = self
                    .roads()
                    .foretold_moments(&knowledge, &leading.coupling)?;
                let discriminant = Discriminant {
                    label_scores: leading.label_scores.clone(),
                    form: Form::Linear {
                        offsets: leading.offsets.clone(),
                    },
                };
                let errors = drawn_errors(&discriminant, &moments, &stakes, &points);
                weighted(&stakes.priors, &errors)
            };
            foretold.push(Foretold {
                source: knowledge.source,
                error,
            });
        }
        Ok(foretold)
    }
}
