//! Relative statements: what more labels would bring, and what each source is worth.
//!
//! Here the theory earns its place (RECIPE S7). Its absolute errors are not to be trusted on real
//! data, but with the pooled within-class covariance it tells by what factor the separation
//! d' = (m_1 - m_2)/2σ grows with the number of labels. The leave-one-out margins are shifted by that
//! factor and the error counted again. The value of a source is told by leaving it out altogether.

use super::averaged::decide_by;
use super::evidence::Knowledge;
use super::ruled::Kind;
use super::{Roads, Study, binary};
use crate::cells::{Cells, Task};
use crate::error::Result;
use crate::forecast::{from_scores, margin, temperature};
use crate::settings::{RuleName, Settings};
use crate::tasks::classes_in_order;
use crate::theory::{Common, Corrections, Theory, pooled};

/// A point of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CurvePoint {
    /// Labels added to each class of the target.
    pub added: usize,
    /// Expected error then.
    pub error: f64,
    /// 90 % interval.
    pub interval: [f64; 2],
}

/// What a source is worth.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SourceValue {
    /// The source.
    pub task: String,
    /// Expected error without it.
    pub error_without: f64,
    /// 90 % interval.
    pub interval: [f64; 2],
}

impl Study<'_> {
    /// The expected error if the target had `added` more labels in each class, for each number asked
    /// for. Empty where a false-alarm rate is held: the curve speaks of thresholds of least error.
    ///
    /// # Errors
    /// If a factorisation fails, which finite data do not let happen.
    pub fn learning_curve(&self, added: &[usize]) -> Result<Vec<CurvePoint>> {
        if self.null.is_some() {
            return Ok(Vec::new());
        }
        let now = self.forecast();
        let Some(scores) = &self.outcome.scores else {
            return self.foretold_curve(added);
        };
        let space = self.ground.space()?;
        let common = pooled(space).map(|raw| raw.shrunk(&space.cells));
        let class = classes_in_order(&self.cells().tasks()[self.target]);
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
                let slope = temperature(&shifted, &class);
                let forecast = from_scores(
                    &shifted,
                    &class,
                    decide_by(&shifted, slope, &self.stakes),
                    slope,
                    &self.stakes,
                    Vec::new(),
                );
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

    /// Mean d' over all pairs of classes and the leading candidates, with more labels in the target.
    fn separation(&self, common: &Common, more: usize) -> Result<f64> {
        let cells = with_more(self.cells(), self.target, more);
        let mut total = 0.0;
        for leading in &self.outcome.leading {
            let theory = Theory::common(
                &cells,
                self.knowledge.features,
                &leading.coupling,
                common,
                Corrections::DegreesOfFreedom,
            )?;
            let moments = theory.moments(self.target);
            let m = moments.mean.nrows();
            for (a, b) in (0..m).flat_map(|a| (a + 1..m).map(move |b| (a, b))) {
                let labels = leading.labels(a, b);
                let (first, second) = (moments.score(a, &labels), moments.score(b, &labels));
                let deviation = (0.5 * (first.1 + second.1)).sqrt();
                if deviation > 0.0 {
                    total += leading.weight * (first.0 - second.0) / (2.0 * deviation);
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
        let Some(leading) = self.outcome.leading.first() else {
            return Ok(self.forecast().error);
        };
        let mut knowledge = Knowledge::clone(&self.knowledge);
        knowledge.cells = with_more(&knowledge.cells, self.target, more);
        if self.stakes.priors.len() == 2 {
            let labels = leading.labels(0, 1);
            let stakes = &self.stakes;
            return binary::gaussian_error(
                &knowledge,
                &leading.coupling,
                &labels,
                self.target,
                stakes,
            );
        }
        let rule = self.rule();
        let kind = Kind {
            // Votes cost much to foretell and follow the rule they approximate.
            rule: match rule.name {
                RuleName::OneVsOne => RuleName::OneHot,
                name => name,
            },
            labels: rule.labels,
        };
        let roads = Roads {
            knowledge: &knowledge,
            ..self.roads()
        };
        Ok(roads.foretell(kind, &leading.coupling)?.forecast.error)
    }

    /// The expected error without each source; `progress` is told the share that is done.
    ///
    /// # Errors
    /// As [`Study::new`].
    pub fn source_values(&self, progress: &dyn Fn(f64)) -> Result<Vec<SourceValue>> {
        let cells = self.cells();
        let k = cells.tasks().len();
        let sources: Vec<usize> = (0..k).filter(|&task| task != self.target).collect();
        let mut values = Vec::with_capacity(sources.len());
        for (done, &source) in sources.iter().enumerate() {
            progress(done as f64 / sources.len() as f64);
            let statistics = self.ground.statistics.without(source);
            let settings = Settings {
                target: Some(cells.tasks()[self.target].name.clone()),
                coupling: self
                    .settings
                    .coupling
                    .as_ref()
                    .map(|(lambda, gamma)| without_source(*lambda, gamma, k, source)),
                ..self.settings.clone()
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
