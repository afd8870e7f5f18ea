//! `foretask gather`: tables of any size become one file of statistics.
//!
//! Two passes, both in batches. The first learns what becomes of the columns of all parts together (which texts there
//! are, which gaps, what is constant): statistics of parts add up only if their features are the same, and a text that
//! is first seen in the last part would be an error otherwise, hours later. `--columns` brings what an earlier run
//! learnt, on another machine perhaps, and spares the first pass. The second adds up. Where nothing is kept for a run
//! that goes on with an interrupted one, and columns turn out to be features as they are, one pass does both
//! (`at_once.rs`).

mod at_once;
mod gaps;
mod store;
mod sum;
mod survey;
pub mod tally;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use foretask::Statistics;

use crate::arguments::{self, Data, Missing, RowsKept};
use crate::commands::load::Source;
use crate::commands::statistics::{self, Gathered, Plan, Union};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::progress;
use crate::read::{self, Meter, Part, Purpose, Reading};
use crate::show::words;
use at_once::Pass;
use gaps::refuse_or_drop;
use store::Store;
use sum::{Columns, Done, add, empty, tell};

/// Runs the command.
pub fn run(arguments: &arguments::Gather) -> Result<Answer, Failure> {
    let data = &arguments.data;
    if data.group.is_some() {
        return Err(Failure::OfTables { option: "group" });
    }
    let parts = read::parts(&data.files)?;
    let inputs: Vec<_> = parts.iter().map(|part| part.path.clone()).collect();
    output::check(&arguments.output, &inputs)?;
    let once = parts.iter().find(|part| part.is_stream());
    if let (Some(part), None) = (once, &arguments.columns) {
        return Err(Failure::OnlyOnce {
            file: part.file.clone(),
        });
    }
    let store = Store::new(arguments.parts.as_deref(), &arguments.output);
    // One part that fails leaves nothing to go on with.
    let keeps = arguments.parts.is_some() || parts.len() > 1;
    let contents = contents(&parts, arguments.again)?;
    let whole = gathered(arguments, &parts, &contents, keeps.then_some(&store))?;
    let bytes = statistics::write(&arguments.output, &whole)?;
    if keeps {
        store.close();
    }
    let mut text = report("Gathered", &whole, parts.len(), &arguments.output, bytes);
    if let Some(target) = &arguments.target {
        text += &format!(
            "Next: foretask fit {} --target {} -o model.safetensors\n",
            words::path(&arguments.output),
            words::printable(target)
        );
    }
    output::text(None, &text)?;
    Ok(Answer::Yes)
}

/// Opens what a model is to be trained for a target on: tables that take more memory than they may are read in batches.
pub fn open(data: &Data, target: Option<&str>, folds: Option<usize>) -> Result<Source, Failure> {
    if data.group.is_some() || statistics::files(&data.files)?.is_some() {
        return Source::open(data);
    }
    let parts = read::parts(&data.files)?;
    let takes = taken(&parts);
    if takes <= data.memory || parts.iter().any(Part::is_stream) {
        return Source::open(data);
    }
    eprintln!(
        "{}, which may take {} of memory, more than --memory {}: read in batches",
        words::count(parts.len(), "table"),
        indicatif::BinaryBytes(takes),
        indicatif::BinaryBytes(data.memory),
    );
    let arguments = arguments::Gather {
        data: data.clone(),
        target: target.map(str::to_owned),
        rows: RowsKept::WhileFew,
        folds,
        columns: None,
        parts: None,
        // They would count in memory, too.
        again: true,
        output: PathBuf::new(),
        batch: arguments::BATCH,
    };
    let contents = vec![None; parts.len()];
    let whole = gathered(&arguments, &parts, &contents, None)?;
    Ok(Source::Statistics(Box::new(whole)))
}

/// All parts, in one pass if it will do.
fn gathered(
    arguments: &arguments::Gather,
    parts: &[Part],
    contents: &[Option<String>],
    store: Option<&Store>,
) -> Result<Gathered, Failure> {
    let plan = match (store, &arguments.columns) {
        (None, None) => match at_once::run(arguments, parts)? {
            Pass::Whole(gathered) => return Ok(*gathered),
            Pass::Plan(plan) => Some(plan),
        },
        _ => None,
    };
    let columns = Columns::new(arguments, parts, contents, store, plan)?;
    gather(arguments, parts, contents, &columns, store)
}

/// Whether these are tables that can be looked at before they are read to be learnt from.
pub fn can_be_read_twice(data: &Data) -> Result<bool, Failure> {
    if statistics::files(&data.files)?.is_some() {
        return Ok(false);
    }
    let parts = read::parts(&data.files)?;
    Ok(taken(&parts) <= data.memory && !parts.iter().any(Part::is_stream))
}

/// What the values of all take.
fn taken(parts: &[Part]) -> u64 {
    parts.iter().map(memory).fold(0_u64, u64::saturating_add)
}

/// What the values of a file take, roughly: as much as its text, or four times what is compressed.
fn memory(part: &Part) -> u64 {
    let compressed = ["parquet", "gz", "zst", "arrow", "feather"];
    let extension = part.path.extension().and_then(|own| own.to_str());
    match extension.is_some_and(|own| compressed.contains(&own)) {
        true => part.bytes().saturating_mul(4),
        false => part.bytes(),
    }
}

/// What was written.
pub fn report(done: &str, whole: &Gathered, parts: usize, path: &Path, bytes: usize) -> String {
    let tasks = whole.statistics.cells().tasks();
    let rows: usize = tasks.iter().map(foretask::Task::samples).sum();
    let beside = match &whole.plan {
        Some(_) => format!(
            ", and {}: how columns become its features",
            words::path(&Plan::beside(path))
        ),
        None => String::new(),
    };
    format!(
        "{done} {} of {} with {} from {}\nSaved {} ({} bytes){beside}\n",
        words::count(rows, "row"),
        words::count(tasks.len(), "task"),
        words::count(whole.statistics.features(), "feature"),
        words::count(parts, "part"),
        words::path(path),
        bytes,
    )
}

/// What each part holds is known by; none for what can be read once only.
fn contents(parts: &[Part], again: bool) -> Result<Vec<Option<String>>, Failure> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    let mut contents = Vec::with_capacity(parts.len());
    for part in parts {
        if part.is_stream() {
            contents.push(None);
            continue;
        }
        let content = store::content(part)?;
        let first = seen.insert(content.clone(), &part.file);
        if let (Some(first), false) = (first, again) {
            return Err(Failure::SamePart {
                first: first.to_owned(),
                second: part.file.clone(),
            });
        }
        contents.push(Some(content));
    }
    Ok(contents)
}

impl Columns {
    fn new(
        arguments: &arguments::Gather,
        parts: &[Part],
        contents: &[Option<String>],
        store: Option<&Store>,
        known: Option<Plan>,
    ) -> Result<Self, Failure> {
        let data = &arguments.data;
        if let Some(path) = &arguments.columns {
            let plan = Plan::read(path)?;
            let read = plan.preparation.clone();
            return Ok(Self { plan, read });
        }
        let whole = |plan: Plan| Self {
            read: plan.preparation.clone(),
            plan,
        };
        let mut texts: Vec<&str> = contents.iter().flatten().map(String::as_str).collect();
        let asked = format!("{} {data:?}", env!("CARGO_PKG_VERSION"));
        texts.push(&asked);
        let key = store::key(&texts);
        // Rows are dropped by columns that a plan may not have any more.
        let store = store.filter(|_| data.missing != Missing::Drop);
        if let Some(plan) = store.and_then(|store| store.plan(&key)) {
            return Ok(whole(plan));
        }
        let first = match known {
            Some(plan) => plan,
            None => survey::run(arguments, parts, None, |_, _, _| Ok(()))?,
        };
        let gaps = first
            .preparation
            .columns
            .iter()
            .any(|column| column.missing > 0.0);
        if data.missing == Missing::Drop && gaps {
            let read = first.preparation;
            let plan = survey::run(arguments, parts, Some(&read), |_, _, _| Ok(()))?;
            return Ok(Self { plan, read });
        }
        if let Some(store) = store {
            store.keep_plan(&key, &first)?;
        }
        Ok(whole(first))
    }
}

/// Gathers all parts that were not gathered before, and unites them.
fn gather(
    arguments: &arguments::Gather,
    parts: &[Part],
    contents: &[Option<String>],
    columns: &Columns,
    store: Option<&Store>,
) -> Result<Gathered, Failure> {
    let data = &arguments.data;
    let named = data.columns();
    let purpose = Purpose::Gather {
        preparation: &columns.read,
    };
    let mut reading = Reading::new(data.written.written(), &named, purpose);
    let all = parts.iter().map(Part::bytes).sum();
    let mut progress = progress::Reading::new("gathering", all);
    let plan = String::from_utf8_lossy(&columns.plan.bytes()?).into_owned();
    let options = format!(
        "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {}",
        env!("CARGO_PKG_VERSION"),
        arguments.rows,
        arguments.folds,
        arguments.target,
        data.missing,
        data.label,
        data.task,
        data.written.written(),
        arguments.batch,
    );
    let mut union = Union::new(arguments.again);
    let mut done = Done::default();
    for (part, content) in parts.iter().zip(contents) {
        // Where files have no task column their names say the task.
        let task = match &columns.plan.preparation.task {
            Some(_) => "",
            None => part.task(),
        };
        let texts = content
            .as_deref()
            .map(|content| [content, &plan, &options, task]);
        let key = texts.map(|texts| store::key(&texts));
        let known = store.zip(key.as_deref());
        let gathered = match known.and_then(|(store, key)| store.part(key)) {
            Some(gathered) => {
                let from = words::path(store.map_or(Path::new(""), Store::folder));
                eprintln!(
                    "{}: gathered before, taken from {from}",
                    words::printable(&part.file)
                );
                gathered
            }
            None => {
                let gathered = one(
                    arguments,
                    part,
                    &mut reading,
                    columns,
                    &mut progress,
                    &mut done,
                )?;
                if let Some((store, key)) = known {
                    store.keep(key, &gathered)?;
                }
                gathered
            }
        };
        progress.next(part.bytes());
        union.add(part.file.clone(), gathered)?;
    }
    drop(progress);
    tell(&columns.plan, &done);
    Ok(Gathered {
        statistics: arguments.given_up(union.finish()?)?,
        plan: Some(columns.plan.clone()),
    })
}

/// The statistics of one part.
fn one(
    arguments: &arguments::Gather,
    part: &Part,
    reading: &mut Reading,
    columns: &Columns,
    progress: &mut progress::Reading,
    done: &mut Done,
) -> Result<Statistics<'static>, Failure> {
    let mut gathered = empty(arguments, &columns.plan.preparation)?;
    let meter = Meter::default();
    reading.part(part, arguments.batch, &meter, |mut table| {
        let rows = table.rows();
        done.unlabelled += table.unlabelled;
        done.dropped += refuse_or_drop(arguments, part, &mut table, &columns.read)?;
        add(&mut gathered, part, columns, table, done)?;
        progress.tell(rows, meter.bytes());
        Ok::<(), Failure>(())
    })?;
    Ok(gathered)
}
