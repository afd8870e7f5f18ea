//! The first pass: what becomes of the columns of all parts.

use foretask::prepare::{Preparation, Survey};

use super::gaps::refuse_or_drop;
use crate::arguments;
use crate::commands::load;
use crate::commands::statistics::Plan;
use crate::failure::Failure;
use crate::progress;
use crate::read::{Meter, Part, Purpose, ReadError, Reading, Table};

/// Looks at all parts; rows with gaps in the columns of `whole` are left out where that is given. `each` gets the
/// batches in their order, with what the columns have been so far.
pub fn run(
    arguments: &arguments::Gather,
    parts: &[Part],
    whole: Option<&Preparation>,
    mut each: impl FnMut(&Part, &Survey, Table) -> Result<(), Failure>,
) -> Result<Plan, Failure> {
    let data = &arguments.data;
    let named = data.columns();
    let mut reading = Reading::new(data.written.written(), &named, Purpose::Train);
    let all = parts.iter().map(Part::bytes).sum();
    let mut progress = progress::Reading::new("looking at columns", all);
    let mut survey = Survey::new(data.wishes());
    let meter = Meter::default();
    let (mut array, mut label, mut task) = (true, None, None);
    let mut names = Vec::new();
    let mut rows = 0;
    for (place, part) in parts.iter().enumerate() {
        reading.part(part, arguments.batch, &meter, |mut table| {
            if place == 0 {
                (label, task) = (table.label.clone(), table.task.clone());
                names = table.frame.names().to_vec();
            }
            array &= table.array;
            let read = table.rows();
            if let Some(whole) = whole {
                refuse_or_drop(arguments, part, &mut table, whole)?;
            }
            rows += table.rows();
            let tasks = table.tasks.as_deref().unwrap_or_default();
            survey
                .add(&table.frame, tasks)
                .map_err(|error| load::located(error, &part.file, &table.origin))?;
            each(part, &survey, table)?;
            progress.tell(read, meter.bytes());
            Ok::<(), Failure>(())
        })?;
        progress.next(part.bytes());
    }
    if rows == 0 {
        return Err(Failure::Read(ReadError::NoWholeRow));
    }
    let (mut preparation, tasks) = survey.finish()?;
    if array {
        preparation = Preparation::plain(&names);
    }
    if preparation.columns.is_empty() {
        return Err(Failure::Read(ReadError::NothingToLearnFrom));
    }
    (preparation.label, preparation.task) = (label, task);
    Ok(Plan::new(preparation, tasks))
}
