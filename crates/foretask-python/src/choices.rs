//! The Python parameters, as settings of the library. Which words there are is the library's to say.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use foretask::{
    Cells, Error, Evidence, FalseAlarm, Labels, Prior, RuleName, Scaling, Settings, Stop, Tail,
    Ties, Word,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Every option that takes one of a list of words, with the words.
#[pyfunction]
pub fn vocabulary() -> Vec<(&'static str, Vec<&'static str>)> {
    foretask::vocabulary()
}

/// The attributes of `foretask._choices.Choices`.
#[derive(FromPyObject)]
pub struct Choices<'py> {
    target: Option<String>,
    rule: Bound<'py, PyAny>,
    labels: Bound<'py, PyAny>,
    ties: Bound<'py, PyAny>,
    theory: Bound<'py, PyAny>,
    scale: Bound<'py, PyAny>,
    views: String,
    lam: Option<f64>,
    gamma: Option<Gamma>,
    priors: Priors,
    costs: Vec<(String, f64)>,
    null_class: Option<String>,
    false_alarm: Option<f64>,
    tail: Bound<'py, PyAny>,
    rehearse: bool,
    folds: Option<usize>,
    memory_budget: Option<usize>,
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

impl Choices<'_> {
    /// What they mean to the library; `gamma` by task becomes a list once the tasks are known.
    pub fn settings(&self) -> PyResult<Chosen> {
        let tail = word::<Tail>(&self.tail)?;
        let switch = Arc::new(AtomicBool::new(false));
        let settings = Settings {
            target: self.target.clone(),
            coupling: match (self.lam, &self.gamma) {
                (Some(lam), Some(Gamma::All(gamma))) => Some((lam, vec![*gamma])),
                (Some(lam), Some(Gamma::ByTask(_))) => Some((lam, Vec::new())),
                _ => None,
            },
            rule: word::<RuleName>(&self.rule)?,
            labels: word::<Labels>(&self.labels)?,
            ties: word::<Ties>(&self.ties)?,
            evidence: word::<Evidence>(&self.theory)?,
            folds: self.folds,
            scaling: word::<Scaling>(&self.scale)?,
            views: self.views.parse().map_err(crate::errors::exception)?,
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
                    tail,
                }),
                _ => None,
            },
            rehearse: self.rehearse,
            stop: Stop::from(switch.clone()),
        };
        let by_task = match &self.gamma {
            Some(Gamma::ByTask(by_task)) => Some(by_task.clone()),
            _ => None,
        };
        Ok(Chosen {
            settings,
            by_task,
            budget: self.memory_budget,
            switch,
        })
    }
}

/// Settings that wait for the names of the tasks.
pub struct Chosen {
    settings: Settings,
    by_task: Option<HashMap<String, f64>>,
    budget: Option<usize>,
    switch: Arc<AtomicBool>,
}

impl Chosen {
    /// What ends the work of these settings.
    pub fn switch(&self) -> &Arc<AtomicBool> {
        &self.switch
    }

    /// The same, as the library looks at it.
    pub fn stop(&self) -> &Stop {
        &self.settings.stop
    }

    /// Bytes that targets may hold together.
    pub fn budget(&self) -> Option<usize> {
        self.budget
    }

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

/// What a word stands for, or an error that lists the words.
fn word<W: Word>(given: &Bound<'_, PyAny>) -> PyResult<W> {
    let text = given.extract::<String>().ok();
    if let Some(known) = text.and_then(|text| W::from_word(&text)) {
        return Ok(known);
    }
    let words: Vec<String> = W::ALL
        .iter()
        .map(|known| format!("'{}'", known.word))
        .collect();
    Err(PyValueError::new_err(format!(
        "{} must be one of {}; got {}",
        W::OPTION,
        words.join(", "),
        given.repr()?
    )))
}
