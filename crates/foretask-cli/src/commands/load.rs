//! What several commands begin with: a table, its study, a model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foretask::prepare::{Encoding, Frame, Preparation, Prepared, WhyLeftOut};
use foretask::{Model, Settings, Statistics, Study, Tally, Tasks};

use crate::arguments::{Data, Missing};
use crate::commands::statistics::{self, Gathered};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::read::{self, Category, Names, Origin, Purpose, ReadError, Table};
use crate::show::words;

/// A table to learn from, as features.
pub struct Training {
    /// How its columns became features.
    pub preparation: Preparation,
    /// The features.
    pub prepared: Prepared,
    /// The task of each row.
    pub tasks: Vec<Category>,
    /// The class of each row.
    pub labels: Vec<Category>,
    /// The group of each row, where rows belong together.
    pub groups: Option<Vec<String>>,
    /// Rows without a label, which were left out.
    pub unlabelled: usize,
    /// Rows with a missing value, which were left out.
    pub dropped: usize,
}

impl Training {
    fn taught(&self, model: Model) -> Result<Model, Failure> {
        let target = task_codes(&self.tasks).1.into_iter();
        let place = target.enumerate().find(|(_, task)| task == model.target());
        let preparation = self.preparation.clone();
        let preparation = preparation.of_task(place.map_or(0, |(place, _)| place));
        Ok(model.with_preparation(preparation)?)
    }
}

/// Reads a table to learn from.
pub fn training_table(data: &Data) -> Result<Training, Failure> {
    let written = data.written.written();
    let table = read::read(&data.files, written, &data.columns(), Purpose::Train)?;
    prepare(table, data)
}

/// Learns how the columns of a table become features, and makes them features.
pub fn prepare(mut table: Table, data: &Data) -> Result<Training, Failure> {
    let mut preparation = learn(&table, data)?;
    let mut dropped = 0;
    if data.missing != Missing::Impute && !table.array {
        let gaps = gaps(&table.frame, &preparation);
        let first = gaps.iter().find(|(_, rows)| !rows.is_empty());
        if let (Some((column, rows)), Missing::Refuse) = (first, data.missing) {
            return Err(Failure::Read(ReadError::Gaps {
                column: column.clone(),
                count: rows.len(),
            }));
        }
        let mut whole = vec![true; table.rows()];
        for row in gaps.values().flatten() {
            whole[*row] = false;
        }
        dropped = whole.iter().filter(|&&whole| !whole).count();
        if dropped == table.rows() {
            return Err(Failure::Read(ReadError::NoWholeRow));
        }
        if dropped > 0 {
            table.retain(&whole);
            preparation = learn(&table, data)?;
        }
    }
    if preparation.columns.is_empty() {
        return Err(Failure::Read(ReadError::NothingToLearnFrom));
    }
    let groups = table.take_groups(&data.columns());
    if let (Some(column), None) = (&data.group, &groups) {
        return Err(Failure::Read(ReadError::NoGroups {
            column: column.clone(),
        }));
    }
    let empty = groups
        .iter()
        .flatten()
        .position(|group| group.trim().is_empty());
    if let (Some(column), Some(row)) = (&data.group, empty) {
        return Err(Failure::Read(ReadError::EmptyGroup {
            column: column.clone(),
            row: row + 1,
        }));
    }
    let tasks = table.tasks.unwrap_or_default();
    let (codes, _) = task_codes(&tasks);
    let frame = preparation.select(table.frame)?;
    let prepared = preparation.apply(frame, Some(&codes))?;
    Ok(Training {
        preparation,
        prepared,
        tasks,
        labels: table.labels.unwrap_or_default(),
        groups,
        unlabelled: table.unlabelled,
        dropped,
    })
}

/// What becomes of the columns of a table.
pub fn learn(table: &Table, data: &Data) -> Result<Preparation, Failure> {
    let mut preparation = if table.array {
        Preparation::plain(table.frame.names())
    } else {
        let (codes, names) = task_codes(table.tasks.as_deref().unwrap_or_default());
        Preparation::learn(&table.frame, &codes, names.len(), &data.wishes())?
    };
    preparation.label = table.label.clone();
    preparation.task = table.task.clone();
    Ok(preparation)
}

/// The rows with a missing value of each column that becomes a feature.
fn gaps(frame: &Frame, preparation: &Preparation) -> BTreeMap<String, Vec<usize>> {
    let used = |name: &&String| {
        preparation
            .columns
            .iter()
            .any(|column| column.name == **name)
    };
    let columns = frame.names().iter().zip(frame.columns());
    columns
        .filter(|(name, _)| used(name))
        .map(|(name, column)| (name.clone(), column.gaps()))
        .collect()
}

/// The tasks in alphabetical order, and which of them each row is of.
pub fn task_codes(tasks: &[Category]) -> (Vec<usize>, Vec<String>) {
    let (mut codes, found) = Category::coded(tasks);
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|&place| found[place]);
    let mut rank = vec![0; found.len()];
    for (position, &place) in order.iter().enumerate() {
        rank[place] = position;
    }
    for code in &mut codes {
        *code = rank[*code];
    }
    let names = order.iter().map(|&place| found[place].to_owned());
    (codes, names.collect())
}

/// Says on standard error what was done to a table to learn from, where it is not simply its numbers.
fn tell(table: &Training) {
    tell_columns(
        &table.preparation,
        table.unlabelled,
        table.dropped,
        table.prepared.filled,
    );
}

/// The same of the columns, and of so many rows.
pub fn tell_columns(preparation: &Preparation, unlabelled: usize, dropped: usize, filled: usize) {
    let rows = |count: usize, what: &str| match count {
        0 => None,
        _ => Some(format!("{} {what}", words::count(count, "row"))),
    };
    let mut lines: Vec<String> = Vec::new();
    lines.extend(rows(unlabelled, "without a label left out"));
    lines.extend(rows(dropped, "with a missing value left out"));
    lines.extend(rows(
        filled,
        "with a missing value, filled with the median of the task",
    ));
    let names = |wanted: &dyn Fn(&Encoding) -> bool| {
        let columns = preparation.columns.iter();
        let names = columns.filter(|column| wanted(&column.encoding));
        Names(names.map(|column| column.name.clone()).collect())
    };
    let texts = names(&|encoding| matches!(encoding, Encoding::Levels(_)));
    if !texts.0.is_empty() {
        lines.push(format!("text, one feature per value: {texts}"));
    }
    let mut reasons: Vec<WhyLeftOut> = Vec::new();
    for column in &preparation.left_out {
        if !reasons.contains(&column.why) {
            reasons.push(column.why);
        }
    }
    for why in reasons {
        let columns = preparation
            .left_out
            .iter()
            .filter(|column| column.why == why);
        let names = Names(columns.map(|column| column.name.clone()).collect());
        lines.push(format!("left out: {names} ({why})"));
    }
    for line in lines {
        eprintln!("{}", words::printable(&line));
    }
}

/// What was done to rows that a model is used on.
#[derive(Default)]
pub struct Applied {
    rows: usize,
    filled: usize,
    /// Rows with a text that training never saw, by column.
    unknown: BTreeMap<String, usize>,
}

impl Applied {
    /// Adds some rows.
    pub fn add(&mut self, prepared: &Prepared) {
        self.rows += prepared.rows;
        self.filled += prepared.filled;
        for (column, count) in &prepared.unknown {
            *self.unknown.entry(column.clone()).or_default() += count;
        }
    }

    /// Says it on standard error.
    pub fn tell(&self, unlabelled: usize) {
        let mut parts = vec![words::count(self.rows, "row")];
        if unlabelled > 0 {
            parts.push(format!("{unlabelled} without a label left out"));
        }
        if self.filled > 0 {
            parts.push(format!("{} with a missing value, filled in", self.filled));
        }
        for (column, count) in &self.unknown {
            parts.push(format!(
                "{count} with a text in '{column}' that training never saw"
            ));
        }
        if parts.len() > 1 {
            eprintln!("{}", words::printable(&parts.join(", ")));
        }
    }
}

/// An error of the library about a cell of some rows, with the file and the row in it.
pub fn located(error: foretask::Error, file: &str, origin: &Origin) -> Failure {
    match error {
        foretask::Error::Column {
            column,
            row: Some(row),
            why,
        } => Failure::Read(ReadError::Cell {
            place: origin.place(file, row.saturating_sub(1), &column),
            why,
        }),
        foretask::Error::Column { column, why, .. } => Failure::Read(ReadError::Column {
            file: file.to_owned(),
            column,
            why,
        }),
        other => other.into(),
    }
}

/// What is learnt from: a table in memory, or statistics of rows that are elsewhere.
pub enum Source {
    /// Rows.
    Table(Box<Training>),
    /// What is known of rows.
    Statistics(Box<Gathered>),
}

impl Source {
    /// Reads tables or statistics, and says on standard error what was done to them.
    pub fn open(data: &Data) -> Result<Self, Failure> {
        match statistics::files(&data.files)? {
            Some(files) => {
                statistics::refuse_options(data)?;
                Ok(Self::Statistics(Box::new(statistics::read(&files, false)?)))
            }
            None => {
                let table = training_table(data)?;
                tell(&table);
                Ok(Self::Table(Box::new(table)))
            }
        }
    }

    /// Counts, means and scatters by task and class; those of a table see its rows.
    pub fn statistics(&self) -> Result<Statistics<'_>, Failure> {
        let table = match self {
            Self::Statistics(gathered) => return Ok(gathered.statistics.clone()),
            Self::Table(table) => table,
        };
        let tasks = Tasks::new(table.prepared.view()?, &table.tasks, &table.labels)?;
        Ok(match &table.groups {
            Some(groups) => Statistics::from(&tasks.with_groups(groups)?),
            None => Statistics::from(&tasks),
        })
    }

    /// The model with the way its features come from columns.
    pub fn taught(&self, model: Model) -> Result<Model, Failure> {
        match self {
            Self::Table(table) => table.taught(model),
            Self::Statistics(gathered) => match &gathered.plan {
                Some(plan) => Ok(plan.taught(model)?),
                None => Ok(model),
            },
        }
    }
}

/// What to do about a study that takes long.
const FASTER: &str =
    "hint: --no-rehearsal is faster; the forecast then rests on the target's samples alone";

/// Studies tasks, with a progress bar.
pub fn study<'a>(data: &Statistics<'a>, settings: &Settings) -> Result<Study<'a>, Failure> {
    let rehearses = settings.rehearse && data.cells().tasks().len() > 1;
    let progress = Progress::with_hint("training", rehearses.then_some(FASTER));
    let tell = |share| progress.tell(share);
    let mut studies = Study::each(data, std::slice::from_ref(settings), &tell)?;
    match studies.pop() {
        Some(study) => Ok(study),
        None => Ok(Study::new(data, settings)?),
    }
}

/// The same with errors that were counted elsewhere, if there are any.
pub fn counted<'a>(study: Study<'a>, files: &[PathBuf]) -> Result<Study<'a>, Failure> {
    let mut all: Option<Tally> = None;
    for path in files {
        let bytes = std::fs::read(path).map_err(|source| Failure::Unreadable {
            path: path.clone(),
            source,
        })?;
        let named = |source| Failure::Tally {
            path: path.clone(),
            source,
        };
        let tally = Tally::from_bytes(&bytes).map_err(named)?;
        match &mut all {
            None => all = Some(tally),
            Some(all) => all.merge(&tally).map_err(named)?,
        }
    }
    match all {
        Some(tally) => Ok(study.counted(&tally)?),
        None => Ok(study),
    }
}

/// Reads a model file.
pub fn model(path: &Path) -> Result<Model, Failure> {
    let bytes = read::bytes(path).map_err(|source| Failure::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    Model::from_bytes(&bytes).map_err(|source| Failure::Model {
        path: path.to_owned(),
        source,
    })
}

/// How the features of a model come from columns: as it says, or one by one by their names, or as in an `.npz` file
/// where it has none.
pub fn preparation(model: &Model) -> Preparation {
    match (model.preparation(), model.feature_names()) {
        (Some(preparation), _) => preparation.clone(),
        (None, Some(names)) => Preparation::plain(names),
        (None, None) => {
            let names: Vec<String> = (0..model.features()).map(|i| format!("f{i}")).collect();
            Preparation::plain(&names)
        }
    }
}
