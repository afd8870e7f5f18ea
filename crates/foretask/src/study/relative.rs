//! Relative statements: what more labels would bring, and what each source is worth.
//!
//! Here the theory earns its place (`docs/4-when-to-trust-a-forecast.md#learning-curve`). Its absolute errors are
//! not to be trusted on real
//! data, but with the pooled within-class covariance it tells by what factor the separation
//! d' = (m_1 - m_2)/2σ grows with the number of labels. The leave-one-out margins are shifted by that
//! factor and the error counted again. The value of a source is told by leaving it out altogether.

use super::Study;
use super::foretell::gaussian_error;
use super::learn::NamedRule;
use super::target::Target;
use crate::data::{Cells, Task, pairs};
use crate::decision::margin;
use crate::error::Result;
use crate::estimate::Population;
use crate::forecast::{CurvePoint, SourceValue};
use crate::settings::Settings;
use crate::theory::{Common, Corrections, Theory};

impl Study<'_> {
    /// The expected error if the target had `added` more labels in each class, for each number asked
    /// for. Empty where a false-alarm rate is held: the curve speaks of thresholds of least error.
    ///
    /// # Errors
    /// If a factorisation fails, which finite data do not let happen.
    pub fn learning_curve(&self, added: &[usize]) -> Result<Vec<CurvePoint>> {
        if self.done.plan.null.is_some() {
            return Ok(Vec::new());
        }
        let now = self.forecast();
        let Some(scores) = &self.done.outcome.scores else {
            return self.foretold_curve(added);
        };
        let target = self.done.target();
        let common = self.done.shared.common()?;
        let common = common.map(|raw| raw.shrunk(self.cells()));
        let class = target.class();
        let mean_margin = ((0..class.len())
            .map(|l| margin(scores, l, class[l]))
            .sum::<f64>()
            / class.len() as f64)
            .max(0.0);
        let before = match &common {
            Some(common) => self.separation(common, 0)?,
            None => 0.0,
        };
        added
            .iter()
            .map(|&more| {
                let factor = match &common {
                    Some(common) if more > 0 && before > 0.0 => {
                        (self.separation(common, more)? / before).max(1.0)
                    }
                    _ => 1.0,
                };
                if factor == 1.0 {
                    return Ok(CurvePoint {
                        added: more,
                        error: now.error,
                        interval: now.interval,
                    });
                }
                let mut shifted = scores.clone();
                for (l, &c) in class.iter().enumerate() {
                    shifted[(l, c)] += (factor - 1.0) * mean_margin;
                }
                let (_, forecast) = target.count(&shifted, &class, &shifted);
                // More labels cannot be expected to hurt; a refitted temperature may say so by a hair.
                let error = forecast.error.min(now.error);
                Ok(CurvePoint {
                    added: more,
                    error,
                    interval: forecast.interval.map(|end| end.min(now.interval[1])),
                })
            })
            .collect()
    }

    /// Mean d' over all pairs of classes and the surrogates, with more labels in the target.
    fn separation(&self, common: &Common, more: usize) -> Result<f64> {
        let cells = with_more(self.cells(), self.target(), more);
        let mut total = 0.0;
        for surrogate in &self.done.outcome.surrogates {
            let theory = Theory::common(
                &cells,
                self.done.population.features,
                &surrogate.coupling,
                common,
                Corrections::DegreesOfFreedom,
            )?;
            let moments = theory.moments(self.target());
            for (a, b) in pairs(moments.mean.nrows()) {
                let labels = surrogate.labels(a, b);
                let (first, second) = (moments.score(a, &labels), moments.score(b, &labels));
                let deviation = (0.5 * (first.1 + second.1)).sqrt();
                if deviation > 0.0 {
                    total += surrogate.weight * (first.0 - second.0) / (2.0 * deviation);
                }
            }
        }
        Ok(total)
    }

    /// The theory's own curve, at the same coupling.
    fn foretold_curve(&self, added: &[usize]) -> Result<Vec<CurvePoint>> {
        let now = self.forecast();
        let before = self.foretold_error(0)?;
        added
            .iter()
            .map(|&more| {
                let scale = match self.foretold_error(more)? {
                    after if more > 0 && before > 0.0 => after / before,
                    _ => 1.0,
                };
                Ok(CurvePoint {
                    added: more,
                    error: (now.error * scale).min(1.0),
                    interval: now.interval.map(|end| (end * scale).min(1.0)),
                })
            })
            .collect()
    }

    /// The error that the theory foretells with more labels in the target: of the same labels for two
    /// classes, of the rule learned anew for more.
    fn foretold_error(&self, more: usize) -> Result<f64> {
        let Some(surrogate) = self.done.outcome.surrogates.first() else {
            return Ok(self.forecast().error);
        };
        let mut population = Population::clone(&self.done.population);
        population.cells = with_more(&population.cells, self.target(), more);
        let target = Target {
            population: &population,
            ..self.done.target()
        };
        if target.classes() == 2 {
            return gaussian_error(&population, surrogate, self.target(), target.stakes());
        }
        let named = NamedRule {
            rule: self.rule().name,
            labels: self.rule().labels,
        };
        let foretold = target.foretold(named.without_votes(), &surrogate.coupling)?;
        Ok(foretold.forecast.error)
    }

    /// The expected error without each source; `progress` is told the share that is done.
    ///
    /// # Errors
    /// As [`Study::new`].
    pub fn source_values(&self, progress: &dyn Fn(f64)) -> Result<Vec<SourceValue>> {
        let cells = self.cells();
        let k = cells.tasks().len();
        let sources: Vec<usize> = (0..k).filter(|&task| task != self.target()).collect();
        let mut values = Vec::with_capacity(sources.len());
        for (done, &source) in sources.iter().enumerate() {
            progress(done as f64 / sources.len() as f64);
            let statistics = self.done.shared.raw.without(source);
            let settings = Settings {
                target: Some(cells.tasks()[self.target()].name.clone()),
                coupling: self
                    .done
                    .plan
                    .settings
                    .coupling
                    .as_ref()
                    .map(|(lambda, gamma)| without_source(*lambda, gamma, k, source)),
                ..self.done.plan.settings.clone()
            };
            let study = Study::new(statistics, &settings)?;
            values.push(SourceValue {
                task: cells.tasks()[source].name.clone(),
                error_without: study.forecast().error,
                interval: study.forecast().interval,
            });
        }
        progress(1.0);
        Ok(values)
    }
}

/// A fixed coupling for one task fewer: kp counts the tasks, so the values shrink with it to leave
/// the penalty of the others as it was.
fn without_source(lambda: f64, gamma: &[f64], k: usize, source: usize) -> (f64, Vec<f64>) {
    let shrink = (k - 1) as f64 / k as f64;
    let gamma = gamma
        .iter()
        .enumerate()
        .filter(|(task, _)| gamma.len() == 1 || *task != source)
        .map(|(_, g)| g * shrink)
        .collect();
    (lambda * shrink, gamma)
}

fn with_more(cells: &Cells, target: usize, more: usize) -> Cells {
    let tasks = cells.tasks().iter().enumerate().map(|(task, entry)| {
        let more = if task == target { more } else { 0 };
        Task {
            counts: entry.counts.iter().map(|n| n + more).collect(),
            ..entry.clone()
        }
    });
    Cells::new(tasks.collect())
}
