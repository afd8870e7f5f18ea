//! One pass instead of two, where every column turns out to be a feature as it is.
//!
//! The first batch says whether that may be so; then parts are added up while their columns are looked at. What the
//! columns are is known for certain at the end only: where a gap, a text or a row number comes to light, what was added
//! up is given up, and there is a second pass after all.

use foretask::Statistics;
use foretask::prepare::{Column, Preparation, Survey};

use super::sum::{Columns, Done, add, empty, tell};
use super::survey;
use crate::arguments;
use crate::commands::statistics::{Gathered, Plan, Union};
use crate::failure::Failure;
use crate::read::{Part, Table};

/// What comes of one pass.
pub enum Pass {
    /// All there is to gather.
    Whole(Box<Gathered>),
    /// What becomes of the columns; a second pass adds up.
    Plan(Plan),
}

/// Reads all parts once.
pub fn run(arguments: &arguments::Gather, parts: &[Part]) -> Result<Pass, Failure> {
    let mut adding = Adding::default();
    let plan = survey::run(arguments, parts, None, |part, survey, table| {
        adding.next(arguments, part, survey, table)
    })?;
    let Some(Sum {
        part,
        done,
        mut union,
        ..
    }) = adding.sum.filter(|_| plan.preparation.is_plain())
    else {
        return Ok(Pass::Plan(plan));
    };
    if let Some((file, statistics)) = part {
        union.add(file, statistics)?;
    }
    tell(&plan, &done);
    Ok(Pass::Whole(Box::new(Gathered {
        statistics: arguments.given_up(union.finish()?)?,
        plan: Some(plan),
    })))
}

/// The parts so far.
#[derive(Default)]
struct Adding {
    /// Whether a batch was seen.
    begun: bool,
    /// None if the columns are not what the features are.
    sum: Option<Sum>,
}

struct Sum {
    columns: Columns,
    union: Union,
    /// The part that is being read, and its file.
    part: Option<(String, Statistics<'static>)>,
    done: Done,
}

impl Adding {
    fn next(
        &mut self,
        arguments: &arguments::Gather,
        part: &Part,
        survey: &Survey,
        table: Table,
    ) -> Result<(), Failure> {
        if table.rows() == 0 {
            return Ok(());
        }
        if !self.begun {
            self.begun = true;
            let sum = || Sum {
                columns: Columns::plain(&table),
                union: Union::new(arguments.again),
                part: None,
                done: Done::default(),
            };
            self.sum = (table.array || survey.is_plain()).then(sum);
        }
        let mut columns = table.frame.columns().iter();
        if !columns.all(is_plain) {
            self.sum = None;
        }
        let Some(sum) = &mut self.sum else {
            return Ok(());
        };
        let (last, mut statistics) = match sum.part.take() {
            Some((file, statistics)) if file == part.file => (None, statistics),
            last => (last, empty(arguments, &sum.columns.plan.preparation)?),
        };
        if let Some((file, statistics)) = last {
            sum.union.add(file, statistics)?;
        }
        sum.done.unlabelled += table.unlabelled;
        add(&mut statistics, part, &sum.columns, table, &mut sum.done)?;
        sum.part = Some((part.file.clone(), statistics));
        Ok(())
    }
}

impl Columns {
    /// Those of a table, each a feature as it is.
    fn plain(table: &Table) -> Self {
        let mut read = Preparation::plain(table.frame.names());
        (read.label, read.task) = (table.label.clone(), table.task.clone());
        Self {
            plan: Plan::new(read.clone(), Vec::new()),
            read,
        }
    }
}

fn is_plain(column: &Column) -> bool {
    let numbers = matches!(
        column,
        Column::Numbers(_) | Column::Singles(_) | Column::Sparse { .. }
    );
    numbers && column.gaps().is_empty()
}
