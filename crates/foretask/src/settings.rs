//! [`Settings`]: what a person may choose; everything has a default.

use crate::cells::{Cells, Task};
use crate::coupling::Coupling;
use crate::error::{Error, Result};
use crate::forecast::Stakes;
use crate::rules::Ties;
use crate::rules::false_alarm::Tail;
use crate::solve::Scaling;
use crate::solve::path::GridPoint;
use crate::theory::covariance::Estimate;

/// How responses become a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleName {
    /// The weighted average of all families (the measured default); one score and a threshold for two
    /// classes.
    #[default]
    Auto,
    /// One score per class, all optimised together; the largest wins.
    OneHot,
    /// One score per class, each optimised against all others and standardised; the largest wins.
    OneVsAll,
    /// One score per class against the union of the others, raw; the largest wins.
    NaiveOneVsAll,
    /// One score per pair of classes, trained on that pair's samples; votes.
    OneVsOne,
    /// The posterior of Gaussian responses.
    Bayes,
}

impl RuleName {
    /// The rules that are not an average, in the order they are listed in.
    pub const NAMED: [Self; 5] = [
        Self::Bayes,
        Self::OneHot,
        Self::OneVsAll,
        Self::NaiveOneVsAll,
        Self::OneVsOne,
    ];
}

impl std::fmt::Display for RuleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::OneHot => "one-hot",
            Self::OneVsAll => "one-vs-all",
            Self::NaiveOneVsAll => "naive-one-vs-all",
            Self::OneVsOne => "one-vs-one",
            Self::Bayes => "bayes",
        })
    }
}

/// Which label scores to train with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// The weighted average of all families (the measured default); the optimum where a rule or a
    /// theory is named.
    #[default]
    Auto,
    /// The optimum of the moments, in closed form where there is one.
    Optimal,
    /// The optimum of a one-hot rule searched for numerically, as in the paper.
    Searched,
    /// The same labels in all tasks.
    Classical,
    /// The target's own labels, nothing shared.
    Alone,
    /// The same labels in all tasks and one weight vector for all (γ = 0), each task centred and scaled by
    /// itself. Of one task without a given coupling, the same as [`Labels::Alone`].
    Pooled,
}

impl Labels {
    /// Whether label scores are known before any data are seen.
    pub(crate) fn are_classical(self) -> bool {
        matches!(self, Self::Classical | Self::Alone | Self::Pooled)
    }

    /// Whether tasks may be coupled like this, where there are several.
    pub(crate) fn allow(self, point: GridPoint) -> bool {
        match self {
            Self::Alone => point.shared == 0.0,
            Self::Pooled => point.source == 0.0 && point.target == 0.0,
            _ => true,
        }
    }
}

/// Where moments and forecast come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// Leave-one-out, with moments shrunk toward the theory where label scores are computed from them.
    #[default]
    Auto,
    /// Theory for covariances α_i I, one variance per task, as in the paper's first theorem.
    Isotropic,
    /// Theory for covariances α_r I, one variance per class of each task.
    Spherical,
    /// Theory for one covariance shape: the shrunk pooled covariance within classes.
    Pooled,
    /// Theory for one covariance per class of each task, as in the paper's second theorem.
    General(Estimate),
    /// Leave-one-out alone.
    LeaveOneOut,
}

impl Evidence {
    /// Whether forecasts come from the theory alone.
    pub fn is_theory(self) -> bool {
        !matches!(self, Self::Auto | Self::LeaveOneOut)
    }
}

/// A test of one class against the other at a false-alarm rate.
#[derive(Clone, Debug, PartialEq)]
pub struct FalseAlarm {
    /// The class that raises no alarm.
    pub null: String,
    /// The share of it that may.
    pub rate: f64,
    /// What the threshold is taken from.
    pub tail: Tail,
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
    /// chosen by leave-one-out otherwise. [`Labels::Alone`] takes λ for 0, [`Labels::Pooled`] γ.
    pub coupling: Option<(f64, Vec<f64>)>,
    /// How responses become a class.
    pub rule: RuleName,
    /// Which label scores.
    pub labels: Labels,
    /// How equal numbers of votes are told apart (one-versus-one).
    pub ties: Ties,
    /// Where moments and forecast come from.
    pub evidence: Evidence,
    /// How features are scaled.
    pub scaling: Scaling,
    /// Class priors.
    pub prior: Prior,
    /// What a mistake costs in a class, by name; one where nothing is said.
    pub costs: Vec<(String, f64)>,
    /// Hold a false-alarm rate instead of minimising the expected cost (two classes).
    pub false_alarm: Option<FalseAlarm>,
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
        if self.labels == Labels::Searched && !self.is_one_hot(task.classes.len()) {
            return Err(Error::Setting {
                setting: "labels",
                value: "searched".into(),
                expected: "the numerical search is for the one-hot rule; name it, or use optimal",
            });
        }
        Ok(target)
    }

    fn is_one_hot(&self, classes: usize) -> bool {
        self.rule == RuleName::OneHot || self.rule == RuleName::Auto && classes > 2
    }

    /// The null class, if a false-alarm rate is to be held.
    pub(crate) fn null(&self, cells: &Cells, target: usize) -> Result<Option<usize>> {
        let Some(test) = &self.false_alarm else {
            return Ok(None);
        };
        let task = &cells.tasks()[target];
        let null = find_class(task, &test.null)?;
        if !(test.rate > 0.0 && test.rate < 1.0) {
            return Err(Error::Setting {
                setting: "the false-alarm rate",
                value: test.rate.to_string(),
                expected: "it must lie between 0 and 1, both excluded (0.01 is 1 %)",
            });
        }
        if task.classes.len() > 2 {
            return Err(Error::Setting {
                setting: "null",
                value: format!("'{}', one of {} classes", test.null, task.classes.len()),
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

    pub(crate) fn coupling(&self, cells: &Cells) -> Result<Option<Coupling>> {
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

    pub(crate) fn stakes(&self, cells: &Cells, target: usize) -> Result<Stakes> {
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
