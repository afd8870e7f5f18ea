//! What several commands begin with: a table, its study, a model.

use std::path::Path;

use foretask::{Model, Settings, Study, Tasks};

use crate::arguments::Data;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::read::{self, Purpose, Table};

/// Reads a table to learn from.
pub fn training_table(data: &Data) -> Result<Table, Failure> {
    Ok(read::read(&data.files, &data.columns(), Purpose::Train)?)
}

/// Groups a table by task and class.
pub fn tasks(table: &Table) -> Result<Tasks<'_>, Failure> {
    let task = table.tasks.as_deref().unwrap_or_default();
    let class = table.labels.as_deref().unwrap_or_default();
    Ok(Tasks::new(table.view()?, task, class)?)
}

/// What to do about a study that takes long.
const FASTER: &str =
    "hint: --no-rehearsal is faster; the forecast then rests on the target's samples alone";

/// Studies tasks, with a progress bar.
pub fn study<'a>(tasks: &'a Tasks<'a>, settings: &Settings) -> Result<Study<'a>, Failure> {
    let rehearses = settings.rehearse && tasks.cells().tasks().len() > 1;
    let progress = Progress::with_hint("training", rehearses.then_some(FASTER));
    let tell = |share| progress.tell(share);
    let mut studies = Study::each(tasks, std::slice::from_ref(settings), &tell)?;
    match studies.pop() {
        Some(study) => Ok(study),
        None => Ok(Study::new(tasks, settings)?),
    }
}

/// Reads a model file.
pub fn model(path: &Path) -> Result<Model, Failure> {
    Model::load(path).map_err(|error| match error {
        foretask::Error::Io { path, source } => Failure::Unreadable { path, source },
        source => Failure::Model {
            path: path.to_owned(),
            source,
        },
    })
}

/// The features that a model expects: their names, or as in an `.npz` file where it has none.
pub fn feature_names(model: &Model) -> Vec<String> {
    match model.feature_names() {
        Some(names) => names.to_vec(),
        None => (0..model.features()).map(|i| format!("f{i}")).collect(),
    }
}
