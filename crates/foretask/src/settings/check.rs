//! [`Plan`]: settings that were found to fit the data.

use super::Settings;
use super::words::{Labels, RuleName};
use crate::data::{Cells, Coupling, Task, check_folds};
use crate::error::{Error, Result};
use crate::estimate::MOST_BY_NAME;
use crate::settings::Prior;
use crate::stakes::Stakes;
use crate::views::View;

/// Settings for the tasks at hand.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    /// An index of the tasks.
    pub(crate) target: usize,
    pub(crate) stakes: Stakes,
    /// The class that raises no alarm, if a false-alarm rate is to be held.
    pub(crate) null: Option<usize>,
    /// A fixed coupling.
    pub(crate) coupling: Option<Coupling>,
    /// The views that candidates are tried in.
    pub(crate) views: Vec<View>,
    /// The linear view that theories look through.
    pub(crate) base: View,
    /// Whether it is a rehearsal: a coarse grid, and no forecast to speak of.
    pub(crate) light: bool,
}

impl Plan {
    /// # Errors
    /// If the target or a class is unknown, the target has one class, or a setting is out of range.
    pub(crate) fn new(settings: Settings, cells: &Cells) -> Result<Self> {
        let target = settings.target(cells)?;
        let (base, views) = settings.views()?;
        settings.check_cells(cells)?;
        settings.folds.map_or(Ok(()), check_folds)?;
        Ok(Self {
            views,
            base,
            target,
            stakes: settings.stakes(cells, target)?,
            null: settings.null(cells, target)?,
            coupling: settings.coupling(cells)?,
            light: false,
            settings,
        })
    }

    /// Whether it is the default: everything, averaged.
    pub(crate) fn is_averaged(&self) -> bool {
        self.settings.is_averaged()
    }
}

/// Given priors may miss one by this much, as typed decimals do.
const PRIOR_SUM_TOLERANCE: f64 = 1e-6;

impl Settings {
    fn is_averaged(&self) -> bool {
        self.rule == RuleName::Auto && self.labels == Labels::Auto && !self.evidence.is_theory()
    }

    /// All but the default weighs every cell against every other.
    fn check_cells(&self, cells: &Cells) -> Result<()> {
        if self.is_averaged() || cells.len() <= MOST_BY_NAME {
            return Ok(());
        }
        let (setting, value) = match (self.evidence.is_theory(), self.rule) {
            (true, _) => ("theory", self.evidence.to_string()),
            (false, RuleName::Auto) => ("labels", self.labels.to_string()),
            (false, rule) => ("rule", rule.to_string()),
        };
        Err(Error::Setting {
            setting,
            value: format!("{value} for {} classes of all tasks together", cells.len()),
            expected: "it weighs every class of every task against every other, for at most 2000 of them: leave rule, labels and theory at auto, or give fewer tasks",
        })
    }

    /// The linear view that theories look through, and those that candidates are tried in.
    fn views(&self) -> Result<(View, Vec<View>)> {
        let base = self.views.base();
        match (self.is_averaged(), base, self.views.0.is_empty()) {
            (_, _, true) => Err(Error::Setting {
                setting: "views",
                value: "none".into(),
                expected: "name at least one of raw, standard, cosine, rbf",
            }),
            (true, base, _) => {
                let mut views = self.views.0.clone();
                views.sort_unstable();
                views.dedup();
                Ok((base.unwrap_or(View::Raw), views))
            }
            (false, Some(base), _) => Ok((base, vec![base])),
            (false, None, _) => Err(Error::Setting {
                setting: "views",
                value: self.views.to_string(),
                expected: "theories, labels and rules by name look through one linear view: raw or standard",
            }),
        }
    }

    fn target(&self, cells: &Cells) -> Result<usize> {
        let target = match &self.target {
            Some(name) => cells.find_task(name)?,
            None if cells.tasks().len() == 1 => 0,
            None => {
                return Err(Error::NoTarget {
                    known: cells.task_names(),
                });
            }
        };
        let task = &cells.tasks()[target];
        if task.classes.len() < 2 {
            return Err(Error::OneClass {
                task: task.name.clone(),
                class: task.classes.first().cloned().unwrap_or_default(),
            });
        }
        Ok(target)
    }

    /// The null class, if a false-alarm rate is to be held.
    fn null(&self, cells: &Cells, target: usize) -> Result<Option<usize>> {
        let Some(alarm) = &self.false_alarm else {
            return Ok(None);
        };
        let task = &cells.tasks()[target];
        let null = find_class(task, &alarm.null)?;
        if !(alarm.rate > 0.0 && alarm.rate < 1.0) {
            return Err(Error::Setting {
                setting: "the false-alarm rate",
                value: alarm.rate.to_string(),
                expected: "it must lie between 0 and 1, both excluded (0.01 is 1 %)",
            });
        }
        if task.classes.len() > 2 {
            return Err(Error::Setting {
                setting: "null",
                value: format!("'{}', one of {} classes", alarm.null, task.classes.len()),
                expected: "a false-alarm rate is held between two classes; give all others one label",
            });
        }
        if self.rule != RuleName::Auto {
            return Err(Error::Setting {
                setting: "rule",
                value: self.rule.to_string(),
                expected: "a false-alarm rate is held by one score and a threshold: leave the rule at auto",
            });
        }
        Ok(Some(null))
    }

    fn coupling(&self, cells: &Cells) -> Result<Option<Coupling>> {
        let Some((lambda, gamma)) = &self.coupling else {
            return Ok(None);
        };
        let tasks = cells.tasks().len();
        let given = match gamma.as_slice() {
            [gamma] => Coupling::uniform(*lambda, *gamma, tasks),
            gamma => Coupling::new(*lambda, gamma.to_vec()),
        }?;
        given.check(tasks)?;
        // The target alone shares nothing, whatever λ is; pooled tasks do not differ, whatever γ is.
        let coupling = match self.labels {
            Labels::Alone => Coupling::new(0.0, given.gamma().to_vec())?,
            Labels::Pooled if *lambda == 0.0 => {
                return Err(Error::Setting {
                    setting: "lambda",
                    value: lambda.to_string(),
                    expected: "pooled labels take gamma for zero, so lambda must be more than zero",
                });
            }
            Labels::Pooled => Coupling::uniform(*lambda, 0.0, tasks)?,
            _ => given,
        };
        Ok(Some(coupling))
    }

    fn stakes(&self, cells: &Cells, target: usize) -> Result<Stakes> {
        let task = &cells.tasks()[target];
        let m = task.classes.len();
        let shares: Vec<f64> = cells
            .of_task(target)
            .map(|cell| cells.share(cell))
            .collect();
        let find = |name: &str| find_class(task, name);
        let priors = match &self.prior {
            Prior::Observed => shares.clone(),
            Prior::Equal => vec![1.0 / m as f64; m],
            Prior::Given(given) => {
                let mut priors = vec![f64::NAN; m];
                for (name, value) in given {
                    if !(*value > 0.0 && *value < 1.0) {
                        return Err(Error::Setting {
                            setting: "prior",
                            value: format!("{name}={value}"),
                            expected: "a number between 0 and 1",
                        });
                    }
                    priors[find(name)?] = *value;
                }
                if let Some(missing) = priors.iter().position(|p| p.is_nan()) {
                    return Err(Error::Setting {
                        setting: "prior",
                        value: format!(
                            "missing for class '{}' of '{}'",
                            task.classes[missing], task.name
                        ),
                        expected: "every class of the target needs one",
                    });
                }
                let sum: f64 = priors.iter().sum();
                if (sum - 1.0).abs() > PRIOR_SUM_TOLERANCE {
                    return Err(Error::Setting {
                        setting: "the sum of the priors",
                        value: sum.to_string(),
                        expected: "must be 1",
                    });
                }
                priors.iter().map(|p| p / sum).collect()
            }
        };
        let mut costs = vec![1.0; m];
        for (name, value) in &self.costs {
            if !(value.is_finite() && *value >= 0.0) {
                return Err(Error::Setting {
                    setting: "cost",
                    value: format!("{name}={value}"),
                    expected: "a finite number, zero or more",
                });
            }
            costs[find(name)?] = *value;
        }
        if costs.iter().all(|&cost| cost == 0.0) {
            return Err(Error::Setting {
                setting: "cost",
                value: "0 for every class".into(),
                expected: "at least one mistake must cost something",
            });
        }
        Ok(Stakes {
            priors,
            costs,
            shares,
        })
    }
}

fn find_class(task: &Task, name: &str) -> Result<usize> {
    task.classes
        .iter()
        .position(|class| class == name)
        .ok_or_else(|| Error::UnknownClass {
            task: task.name.clone(),
            name: name.to_owned(),
            known: task.classes.clone(),
        })
}
