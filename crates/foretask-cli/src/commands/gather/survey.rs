//! The first pass: what becomes of the columns of all parts. The columns of arrays are features already, and are not
//! looked at, so that there may be very many of them.

use std::collections::BTreeSet;

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
    let reading = || Reading::new(data.written.written(), &named, Purpose::Train).among(parts);
    let all = parts.iter().map(Part::bytes).sum();
    let mut progress = progress::Reading::new("looking at columns", all);
    let mut survey = Survey::new(data.wishes());
    let meter = Meter::default();
    let (mut array, mut label, mut task) = (true, None, None);
    let mut names = Vec::new();
    let mut rows = 0;
    let mut tasks = BTreeSet::new();
    let mut in_order = reading();
    for (place, part) in parts.iter().enumerate() {
        in_order.part(part, arguments.batch, &meter, |mut table| {
            if place == 0 {
                (label, task) = (table.label.clone(), table.task.clone());
                names = table.frame.names().to_vec();
            }
            if array && !table.array {
                // Those before were arrays: all columns have to be looked at after all.
                array = false;
                let (mut again, meter) = (reading(), Meter::default());
                for part in parts.iter().take(place) {
                    let each = |table: Table| add(&mut survey, part, &table);
                    again.part(part, arguments.batch, &meter, each)?;
                }
            }
            let read = table.rows();
            if let Some(whole) = whole {
                refuse_or_drop(arguments, part, &mut table, whole)?;
            }
            rows += table.rows();
            match array {
                true => {
                    for task in table.tasks.as_deref().unwrap_or_default() {
                        if !tasks.contains(task.as_ref()) {
                            tasks.insert(task.to_string());
                        }
                    }
                }
                false => add(&mut survey, part, &table)?,
            }
            each(part, &survey, table)?;
            progress.tell(read, meter.bytes());
            Ok::<(), Failure>(())
        })?;
        progress.next(part.bytes());
    }
    if rows == 0 {
        return Err(Failure::Read(ReadError::NoWholeRow));
    }
    let (mut preparation, tasks) = match array {
        true => (Preparation::plain(&names), tasks.into_iter().collect()),
        false => survey.finish()?,
    };
    if preparation.columns.is_empty() {
        return Err(Failure::Read(ReadError::NothingToLearnFrom));
    }
    (preparation.label, preparation.task) = (label, task);
    Ok(Plan::new(preparation, tasks))
}

fn add(survey: &mut Survey, part: &Part, table: &Table) -> Result<(), Failure> {
    let tasks = table.tasks.as_deref().unwrap_or_default();
    survey
        .add(&table.frame, tasks)
        .map_err(|error| load::located(error, &part.file, &table.origin))
}
