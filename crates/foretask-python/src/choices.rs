//! The words of the Python parameters, as settings of the library.

use std::collections::HashMap;

use foretask::{
    Cells, Error, Estimate, Evidence, FalseAlarm, Labels, Prior, RuleName, Scaling, Settings, Tail,
    Ties,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as WordError, StrDeserializer};

/// The attributes of `foretask._choices.Choices`.
#[derive(FromPyObject)]
pub struct Choices {
    target: Option<String>,
    rule: String,
    labels: String,
    ties: String,
    theory: String,
    scale: String,
    lam: Option<f64>,
    gamma: Option<Gamma>,
    priors: Priors,
    costs: Vec<(String, f64)>,
    null_class: Option<String>,
    false_alarm: Option<f64>,
    tail: String,
    seed: u64,
}

#[derive(FromPyObject)]
enum Gamma {
    All(f64),
    ByTask(HashMap<String, f64>),
}

#[derive(FromPyObject)]
enum Priors {
    Word(String),
    ByClass(Vec<(String, f64)>),
}

impl Choices {
    /// What they mean to the library; `gamma` by task becomes a list once the tasks are known.
    pub fn settings(&self) -> PyResult<Chosen> {
        let settings = Settings {
            target: self.target.clone(),
            coupling: match (self.lam, &self.gamma) {
                (Some(lam), Some(Gamma::All(gamma))) => Some((lam, vec![*gamma])),
                (Some(lam), Some(Gamma::ByTask(_))) => Some((lam, Vec::new())),
                _ => None,
            },
            rule: word::<RuleName>("rule", &self.rule)?,
            labels: word::<Labels>("labels", &self.labels)?,
            ties: word::<Ties>("ties", &self.ties)?,
            evidence: evidence(&self.theory)?,
            scaling: word::<Scaling>("scale", &self.scale)?,
            prior: match &self.priors {
                Priors::Word(word) if word == "equal" => Prior::Equal,
                Priors::Word(_) => Prior::Observed,
                Priors::ByClass(given) => Prior::Given(given.clone()),
            },
            costs: self.costs.clone(),
            false_alarm: match (&self.null_class, self.false_alarm) {
                (Some(null), Some(rate)) => Some(FalseAlarm {
                    null: null.clone(),
                    rate,
                    tail: word::<Tail>("tail", &self.tail)?,
                }),
                _ => None,
            },
            seed: self.seed,
        };
        let by_task = match &self.gamma {
            Some(Gamma::ByTask(by_task)) => Some(by_task.clone()),
            _ => None,
        };
        Ok(Chosen { settings, by_task })
    }
}

/// Settings that wait for the names of the tasks.
pub struct Chosen {
    settings: Settings,
    by_task: Option<HashMap<String, f64>>,
}

impl Chosen {
    /// How features are scaled.
    pub fn scaling(&self) -> Scaling {
        self.settings.scaling
    }

    /// The settings for these tasks.
    pub fn of(&self, cells: &Cells) -> foretask::Result<Settings> {
        let mut settings = self.settings.clone();
        if let (Some((_, gamma)), Some(by_task)) = (&mut settings.coupling, &self.by_task) {
            for name in by_task.keys() {
                cells.find_task(name)?;
            }
            for task in cells.tasks() {
                let value = by_task.get(&task.name).ok_or_else(|| Error::Setting {
                    setting: "gamma",
                    value: format!("missing for task '{}'", task.name),
                    expected: "every task needs one",
                })?;
                gamma.push(*value);
            }
        }
        Ok(settings)
    }
}

fn word<'de, T: Deserialize<'de>>(what: &str, text: &'de str) -> PyResult<T> {
    let text: StrDeserializer<'de, WordError> = text.into_deserializer();
    T::deserialize(text).map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
}

fn evidence(word: &str) -> PyResult<Evidence> {
    Ok(match word {
        "auto" => Evidence::Auto,
        "isotropic" => Evidence::Isotropic,
        "spherical" => Evidence::Spherical,
        "pooled" => Evidence::Common,
        "general" => Evidence::General,
        "ledoit-wolf" => Evidence::LedoitWolf,
        "sample" => Evidence::Sample,
        "leave-one-out" => Evidence::LeaveOneOut,
        _ => return Err(PyValueError::new_err(format!("theory: unknown '{word}'"))),
    })
}
