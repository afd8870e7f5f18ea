//! [`Summary`]: what all reports, as text, as JSON and as a page, are made of.

use foretask::{Forecast, Model, Rehearsal, Rule, Study, Task};

/// What a study and a saved model have in common.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// The task that is decided for.
    pub target: &'a str,
    /// All tasks, in the order of `gamma`.
    pub tasks: &'a [Task],
    /// The number of features.
    pub features: usize,
    /// How scores are made.
    pub rule: &'a Rule,
    /// What is expected of them.
    pub forecast: &'a Forecast,
}

impl<'a> Summary<'a> {
    /// Of a study of tables with so many features.
    pub fn of_study(study: &'a Study, features: usize) -> Self {
        let tasks = study.cells().tasks();
        Self {
            target: &tasks[study.target()].name,
            tasks,
            features,
            rule: study.rule(),
            forecast: study.forecast(),
        }
    }

    /// Of a model.
    pub fn of_model(model: &'a Model) -> Self {
        Self {
            target: model.target(),
            tasks: model.tasks(),
            features: model.features(),
            rule: model.rule(),
            forecast: model.forecast(),
        }
    }

    /// What is to be small, and its interval: the error or, where a false-alarm rate is held, the share of the other
    /// class that is missed. Not a number where it cannot be told.
    pub fn aim(&self) -> (f64, [f64; 2]) {
        match &self.forecast.alarm {
            _ if !self.forecast.told => (f64::NAN, self.forecast.interval),
            None => (self.forecast.error, self.forecast.interval),
            Some(alarm) => {
                let [low, high] = alarm.detection_interval;
                (1.0 - alarm.detection, [1.0 - high, 1.0 - low])
            }
        }
    }

    /// The same by the target's samples alone: what forecasts without rehearsals are compared with.
    pub fn aim_by_samples(&self) -> (f64, [f64; 2]) {
        match &self.forecast.rehearsal {
            Rehearsal::Done {
                own_error,
                own_interval,
                ..
            } => (*own_error, *own_interval),
            Rehearsal::Skipped(_) => self.aim(),
        }
    }

    /// The name of that.
    pub fn aim_name(&self) -> &'static str {
        match self.forecast.alarm {
            Some(_) => "share missed",
            None => "error",
        }
    }

    /// The labels that the target has in each class.
    pub fn counts(&self) -> &'a [usize] {
        let target = self.tasks.iter().find(|task| task.name == self.target);
        target.map_or(&[], |task| &task.counts)
    }

    /// The classes that are decided between.
    pub fn classes(&self) -> &'a [String] {
        let target = self.tasks.iter().find(|task| task.name == self.target);
        target.map_or(&[], |task| &task.classes)
    }
}
