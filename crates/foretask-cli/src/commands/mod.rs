//! One file per command: each reads, calls the library, and prints.

mod demo;
mod evaluate;
mod export;
mod fit;
mod forecast;
mod inspect;
mod predict;
mod shell;

use std::path::Path;

use foretask::{Model, Settings, Study, Tasks};

use crate::arguments::{Command, Data};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::read::{self, Purpose, Table};

/// Runs a command.
pub fn run(command: Command) -> Result<Answer, Failure> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Forecast(arguments) => forecast::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::manual(&arguments),
    }
}

/// Reads a table to learn from.
fn training_table(data: &Data) -> Result<Table, Failure> {
    Ok(read::read(&data.files, &data.columns(), Purpose::Train)?)
}

/// Groups a table by task and class.
fn tasks(table: &Table) -> Result<Tasks<'_>, Failure> {
    let task = table.tasks.as_deref().unwrap_or_default();
    let class = table.labels.as_deref().unwrap_or_default();
    Ok(Tasks::new(table.view()?, task, class)?)
}

/// Studies tasks, with a progress bar.
fn study<'a>(tasks: &'a Tasks<'a>, settings: &Settings) -> Result<Study<'a>, Failure> {
    let progress = Progress::new("training");
    let tell = |share| progress.tell(share);
    Ok(Study::with_progress(tasks, settings, &tell)?)
}

/// Reads a model file.
fn model(path: &Path) -> Result<Model, Failure> {
    Model::load(path).map_err(|error| match error {
        foretask::Error::Io { path, source } => Failure::Unreadable { path, source },
        source => Failure::Model {
            path: path.to_owned(),
            source,
        },
    })
}

/// The features that a model expects: their names, or as in an `.npz` file where it has none.
fn feature_names(model: &Model) -> Vec<String> {
    match model.feature_names() {
        Some(names) => names.to_vec(),
        None => (0..model.features()).map(|i| format!("f{i}")).collect(),
    }
}
