//! `foretask tally`: errors are counted where the rows are, for statistics that hold none.

use foretask::Tally;
use foretask::prepare::Preparation;

use super::gaps::refuse_or_drop;
use super::sum::{Columns, Done, each, tell};
use crate::arguments::{self, RowsKept};
use crate::commands::load;
use crate::commands::statistics::{self, Gathered, Plan};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::progress;
use crate::read::{self, Meter, Part, Purpose, Reading};
use crate::show::words;

/// Runs the command.
pub fn run(arguments: &arguments::Tally) -> Result<Answer, Failure> {
    let data = &arguments.data;
    if data.group.is_some() {
        return Err(Failure::OfTables { option: "group" });
    }
    let settings = arguments.choices.settings()?;
    let mut inputs = data.files.clone();
    inputs.extend(arguments.statistics.iter().cloned());
    output::check(&arguments.output, &inputs)?;
    let parts = read::parts(&data.files)?;
    let files: Vec<_> = read::parts(&arguments.statistics)?
        .into_iter()
        .map(|part| part.path)
        .collect();
    let gathered = statistics::read(&files, false)?;
    let study = load::study(&gathered.statistics, &settings)?;
    let mut tally = study.tally()?;
    count(arguments, &parts, &columns(&gathered)?, &mut tally)?;
    let bytes = tally.to_bytes()?;
    output::file(&arguments.output, &bytes)?;
    let text = format!(
        "Counted {} of '{}' in {}\nSaved {} ({} bytes)\n",
        words::count(usize::try_from(tally.rows()).unwrap_or(usize::MAX), "row"),
        words::printable(&study.cells().tasks()[study.target()].name),
        words::count(parts.len(), "part"),
        words::path(&arguments.output),
        bytes.len(),
    );
    output::text(None, &text)?;
    Ok(Answer::Yes)
}

/// How columns become the features of statistics: as their plan says, or one by one by their names.
fn columns(gathered: &Gathered) -> Result<Columns, Failure> {
    let statistics = &gathered.statistics;
    let plan = match (&gathered.plan, statistics.feature_names()) {
        (Some(plan), _) => plan.clone(),
        (None, Some(names)) => Plan::new(Preparation::plain(names), Vec::new()),
        (None, None) => {
            let names: Vec<String> = (0..statistics.features())
                .map(|i| format!("f{i}"))
                .collect();
            Plan::new(Preparation::plain(&names), Vec::new())
        }
    };
    Ok(Columns {
        read: plan.preparation.clone(),
        plan,
    })
}

/// Counts the rows of all parts.
fn count(
    arguments: &arguments::Tally,
    parts: &[Part],
    columns: &Columns,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let data = &arguments.data;
    let named = data.columns();
    let purpose = Purpose::Gather {
        preparation: &columns.read,
    };
    let mut reading = Reading::new(data.written.written(), &named, purpose);
    let all = parts.iter().map(Part::bytes).sum();
    let mut progress = progress::Reading::new("counting", all);
    // As they are when they are gathered.
    let gather = arguments::Gather {
        data: data.clone(),
        target: None,
        rows: RowsKept::Never,
        folds: None,
        columns: None,
        parts: None,
        again: false,
        output: arguments.output.clone(),
        batch: arguments::BATCH,
    };
    let mut done = Done::default();
    for part in parts {
        let meter = Meter::default();
        reading.part(part, gather.batch, &meter, |mut table| {
            let rows = table.rows();
            done.unlabelled += table.unlabelled;
            done.dropped += refuse_or_drop(&gather, part, &mut table, &columns.read)?;
            each(part, columns, table, &mut done, |rows, tasks, labels| {
                tally.add(rows, tasks, labels)
            })?;
            progress.tell(rows, meter.bytes());
            Ok::<(), Failure>(())
        })?;
        progress.next(part.bytes());
    }
    drop(progress);
    tell(&columns.plan, &done);
    Ok(())
}
