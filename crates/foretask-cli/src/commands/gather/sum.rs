//! Rows become statistics, batch by batch.

use foretask::prepare::Preparation;
use foretask::{Rows, Statistics};

use crate::arguments::{self, RowsKept};
use crate::commands::load;
use crate::commands::statistics::Plan;
use crate::failure::Failure;
use crate::read::{Category, Part, Table};
use crate::show::words;

/// What becomes of columns.
pub struct Columns {
    /// For good.
    pub plan: Plan,
    /// The columns that are read, in which rows without gaps are looked for.
    pub read: Preparation,
}

/// What was done to rows.
#[derive(Default)]
pub struct Done {
    /// Without a label: left out.
    pub unlabelled: usize,
    /// With a gap: left out.
    pub dropped: usize,
    /// With a gap that was filled.
    pub filled: usize,
}

/// What was done to columns and rows, for people.
pub fn tell(plan: &Plan, done: &Done) {
    let Done {
        unlabelled,
        dropped,
        filled,
    } = *done;
    load::tell_columns(&plan.preparation, unlabelled, dropped, filled);
}

impl arguments::Gather {
    /// Statistics without the rows that are not to be kept.
    pub fn given_up(&self, whole: Statistics<'static>) -> Result<Statistics<'static>, Failure> {
        if self.rows != RowsKept::Never {
            return Ok(whole);
        }
        let (shared, given_up) = whole.shareable(1)?;
        for task in given_up {
            let told = format!(
                "no folds of '{task}' are kept: one of them has a single row of a class, which its mean would show. The \
                 default cannot be trained for it without rows, only a theory (--theory common); add rows, or take fewer \
                 --folds"
            );
            eprintln!("{}", words::printable(&told));
        }
        Ok(shared)
    }
}

/// No rows yet, and what is to be kept of them.
pub fn empty(
    arguments: &arguments::Gather,
    preparation: &Preparation,
) -> Result<Statistics<'static>, Failure> {
    let empty =
        Statistics::new(preparation.width()).with_feature_names(preparation.feature_names())?;
    let empty = match arguments.folds {
        Some(folds) => empty.with_folds(folds)?,
        None => empty,
    };
    Ok(match (arguments.rows, &arguments.target) {
        (RowsKept::Keep, Some(target)) => empty.keeping_rows_of(target),
        (RowsKept::Keep, None) => empty.keeping_all_rows(),
        (RowsKept::WhileFew, Some(target)) => empty.with_target(target),
        (RowsKept::WhileFew, None) => empty.with_all_targets(),
        (RowsKept::Never, Some(target)) => empty.with_target(target),
        (RowsKept::Never, None) => empty,
    })
}

/// Adds a batch of a part.
pub fn add(
    gathered: &mut Statistics<'static>,
    part: &Part,
    columns: &Columns,
    table: Table,
    done: &mut Done,
) -> Result<(), Failure> {
    each(part, columns, table, done, |rows, tasks, labels| {
        gathered.add(rows, tasks, labels)
    })
}

/// Makes features of a batch of a part.
pub fn each(
    part: &Part,
    columns: &Columns,
    table: Table,
    done: &mut Done,
    take: impl FnOnce(Rows<'_>, &[Category], &[Category]) -> foretask::Result<()>,
) -> Result<(), Failure> {
    if table.rows() == 0 {
        return Ok(());
    }
    let located = |error| load::located(error, &part.file, &table.origin);
    let tasks = table.tasks.unwrap_or_default();
    let plan = &columns.plan;
    let frame = plan.preparation.select(table.frame).map_err(located)?;
    if let Some((row, column)) = plan.unfillable(&frame, &tasks) {
        return Err(Failure::NewTask {
            place: table.origin.place(&part.file, row, &column).to_string(),
            task: tasks
                .get(row)
                .map_or(String::new(), |task| task.to_string()),
        });
    }
    let prepared = plan.preparation.apply(frame, Some(&plan.places(&tasks)));
    let prepared = prepared.map_err(located)?;
    if let Some((column, count)) = prepared.unknown.first() {
        return Err(Failure::NewTexts {
            file: table.origin.in_group(&part.file, table.origin.before),
            row: table.origin.before + 1,
            column: column.clone(),
            count: *count,
        });
    }
    done.filled += prepared.filled;
    take(prepared.view()?, &tasks, &table.labels.unwrap_or_default())?;
    Ok(())
}
