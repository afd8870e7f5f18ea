//! [`Summary`]: what both reports, text and JSON, are made of.

use foretask::{Forecast, Model, Rule, Study, Task};

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

    /// The classes that are decided between.
    pub fn classes(&self) -> &'a [String] {
        let target = self.tasks.iter().find(|task| task.name == self.target);
        target.map_or(&[], |task| &task.classes)
    }
}
