//! [`Settings`]: what a person may choose; everything has a default.

use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::error::{Error, Result};
use crate::forecast::Stakes;
use crate::solve::Scaling;

/// Which label scores to train with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// The weighted average of all families (the measured default).
    #[default]
    Auto,
    /// The closed-form optimum of the moments (two classes).
    Optimal,
    /// The same labels in all tasks.
    Classical,
    /// The target's own labels, nothing shared.
    Alone,
}

/// Where moments and forecast come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// Leave-one-out, with moments shrunk toward the theory where label scores are computed from them.
    #[default]
    Auto,
    /// The isotropic theory alone, as in the paper (two classes).
    Isotropic,
    /// Leave-one-out alone.
    LeaveOneOut,
}

/// How often each class occurs where the model will be used.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Prior {
    /// As in the target's training data.
    #[default]
    Observed,
    /// All alike.
    Equal,
    /// As given, by class name; must name every class and sum to one.
    Given(Vec<(String, f64)>),
}

/// Everything that may be chosen.
///
/// ```
/// use foretask::{Labels, Settings};
/// let settings = Settings { target: Some("webcam".into()), labels: Labels::Classical, ..Settings::default() };
/// assert_eq!(settings.seed, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The task to decide for; may be left out if there is only one.
    pub target: Option<String>,
    /// A fixed coupling, λ and γ (one for all tasks, or one per task in the order of their names);
    /// chosen by leave-one-out otherwise.
    pub coupling: Option<(f64, Vec<f64>)>,
    /// Which label scores.
    pub labels: Labels,
    /// Where moments and forecast come from.
    pub evidence: Evidence,
    /// How features are scaled.
    pub scaling: Scaling,
    /// Class priors.
    pub prior: Prior,
    /// What a mistake costs in a class, by name; one where nothing is said.
    pub costs: Vec<(String, f64)>,
    /// Deals out the folds of the forecast.
    pub seed: u64,
}

/// Given priors may miss one by this much, as typed decimals do.
const PRIOR_SUM_TOLERANCE: f64 = 1e-6;

impl Settings {
    pub(crate) fn target(&self, cells: &Cells) -> Result<usize> {
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
        if self.evidence == Evidence::Isotropic && task.classes.len() > 2 {
            return Err(Error::Setting {
                setting: "theory",
                value: "isotropic".into(),
                expected: "the isotropic theory decides between two classes; use auto or leave-one-out for more",
            });
        }
        if self.labels == Labels::Optimal && task.classes.len() > 2 {
            return Err(Error::Setting {
                setting: "labels",
                value: "optimal".into(),
                expected: "closed-form optimal labels are for two classes; use auto for more",
            });
        }
        Ok(target)
    }

    pub(crate) fn coupling(&self, cells: &Cells) -> Result<Option<Coupling>> {
        let Some((lambda, gamma)) = &self.coupling else {
            return Ok(None);
        };
        // The target alone shares nothing, whatever λ is.
        let lambda = if self.labels == Labels::Alone {
            0.0
        } else {
            *lambda
        };
        let tasks = cells.tasks().len();
        let coupling = if let [gamma] = gamma.as_slice() {
            Coupling::uniform(lambda, *gamma, tasks)
        } else {
            Coupling::new(lambda, gamma.clone())
        }?;
        coupling.check(tasks)?;
        Ok(Some(coupling))
    }

    pub(crate) fn stakes(&self, cells: &Cells, target: usize) -> Result<Stakes> {
        let task = &cells.tasks()[target];
        let m = task.classes.len();
        let shares: Vec<f64> = cells
            .of_task(target)
            .map(|cell| cells.share(cell))
            .collect();
        let find = |name: &str| {
            task.classes
                .iter()
                .position(|class| class == name)
                .ok_or_else(|| Error::UnknownClass {
                    task: task.name.clone(),
                    name: name.to_owned(),
                    known: task.classes.clone(),
                })
        };
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
                        value: format!("missing for class '{}'", task.classes[missing]),
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
