//! `foretask check`: what would be done with each column of a table, what is wrong with it, and how to go on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foretask::prepare::{Column, Encoded, Encoding, LeftOutColumn, Preparation, Warning};
use serde_json::{Map, Value, json};

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::read::{self, Category, Purpose, Table as Data};
use crate::show::table::{Align, Table};
use crate::show::words;
use crate::{json, output};

/// Classes that a label may have, at most, where one is looked for.
const MOST_CLASSES: usize = 20;
/// Tasks that are listed.
const TASKS_LISTED: usize = 12;
/// Columns that are listed.
const COLUMNS_LISTED: usize = 60;
/// Levels that are shown.
const LEVELS_SHOWN: usize = 4;

/// Runs the command.
pub fn run(arguments: &arguments::Check) -> Result<Answer, Failure> {
    let data = &arguments.data;
    if let Some(path) = &arguments.report.output {
        output::check(path, &data.files)?;
    }
    let table = table(data)?;
    let preparation = load::learn(&table, data)?;
    let look = Look::new(&table, preparation, data);
    let text = match arguments.report.json {
        true => json::text(look.json())?,
        false => look.text(),
    };
    output::text(arguments.report.output.as_deref(), &text)?;
    Ok(Answer::Yes)
}

fn table(data: &arguments::Data) -> Result<Data, Failure> {
    let written = data.written.written();
    Ok(read::read(
        &data.files,
        written,
        &data.columns(),
        Purpose::Look,
    )?)
}

/// What `foretask check --json` says.
pub fn looked(data: &arguments::Data) -> Result<Map<String, Value>, Failure> {
    let table = table(data)?;
    let preparation = load::learn(&table, data)?;
    Ok(Look::new(&table, preparation, data).json())
}

/// What is to be said of a table.
struct Look<'a> {
    table: &'a Data,
    preparation: Preparation,
    /// Rows of each task, and of each of its classes.
    tasks: BTreeMap<&'a str, BTreeMap<&'a str, usize>>,
    problems: Vec<String>,
    command: String,
}

impl<'a> Look<'a> {
    fn new(table: &'a Data, preparation: Preparation, data: &arguments::Data) -> Self {
        let labels = table.labels.as_deref().unwrap_or_default();
        let of_rows = table.tasks.as_deref().unwrap_or_default();
        let (task_of, task_names) = Category::coded(of_rows);
        let (class_of, class_names) = Category::coded(labels);
        let mut counts: Vec<BTreeMap<usize, usize>> = vec![BTreeMap::new(); task_names.len()];
        for (row, &task) in task_of.iter().enumerate() {
            let class = class_of.get(row).copied().unwrap_or(0);
            *counts[task].entry(class).or_default() += 1;
        }
        let class_name = |class: usize| class_names.get(class).copied().unwrap_or_default();
        let named = |classes: BTreeMap<usize, usize>| {
            let named = classes.into_iter();
            named
                .map(|(class, count)| (class_name(class), count))
                .collect()
        };
        let tasks: BTreeMap<&str, BTreeMap<&str, usize>> = (task_names.iter().copied())
            .zip(counts.into_iter().map(named))
            .collect();
        let mut problems = Vec::new();
        if table.labels.is_none() {
            problems.push(match candidates(table) {
                found if found.is_empty() => {
                    "no column is called 'label', 'y', 'class' or 'target': say which one holds the classes with --label"
                        .to_owned()
                }
                found => format!(
                    "which column holds the classes? Say so with --label; it may be {}",
                    read::Names(found)
                ),
            });
        }
        if table.unlabelled > 0 {
            let rows = words::count(table.unlabelled, "row");
            problems.push(format!("{rows} without a label will be left out"));
        }
        if preparation.columns.is_empty() {
            problems.push("no column is left to learn from".to_owned());
        }
        if tasks.len() > 1
            && table.labels.is_some()
            && !tasks.values().any(|classes| classes.len() > 1)
        {
            problems.push("no task has two classes, so that none can be a target".to_owned());
        }
        let warnings = preparation.check(&table.frame, of_rows, labels);
        // Copies within a group are left out together.
        let grouped = data.group.is_some();
        let told = |warning: &&Warning| !(grouped && matches!(warning, Warning::Copies { .. }));
        problems.extend(warnings.iter().filter(told).map(ToString::to_string));
        let command = command(table, &tasks, data);
        Self {
            table,
            preparation,
            tasks,
            problems,
            command,
        }
    }

    fn text(&self) -> String {
        let mut sections = vec![self.heading(), self.columns()];
        if !self.problems.is_empty() {
            let lines = self.problems.iter().map(|problem| {
                let wrapped = words::wrapped(&format!("* {}", problem));
                wrapped.trim_end().replace('\n', "\n  ") + "\n"
            });
            sections.push(format!("To look at\n\n{}", lines.collect::<String>()));
        }
        sections.push(format!("Next\n\n  {}\n", self.command));
        sections.join("\n")
    }

    fn heading(&self) -> String {
        let mut text = format!(
            "{}, {} to be made of {}\n",
            words::count(self.table.rows(), "row"),
            words::count(self.preparation.width(), "feature"),
            words::count(self.table.frame.names().len(), "column"),
        );
        if self.tasks.is_empty() || self.table.labels.is_none() {
            return text;
        }
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
        table.row(["task", "rows", "classes"]);
        for (task, classes) in self.tasks.iter().take(TASKS_LISTED) {
            let listed = match classes.len() {
                0..=4 => classes
                    .iter()
                    .map(|(class, count)| format!("{class} {count}"))
                    .collect::<Vec<_>>()
                    .join(", "),
                many => words::count(many, "class"),
            };
            let rows: usize = classes.values().sum();
            table.row([(*task).to_owned(), rows.to_string(), listed]);
        }
        text.push('\n');
        text += &table.text();
        if let hidden @ 1.. = self.tasks.len().saturating_sub(TASKS_LISTED) {
            text += &format!("  and {} more\n", words::count(hidden, "task"));
        }
        text
    }

    /// Of each column of the file: its name, what it holds, what is missing, and what becomes of it.
    fn rows(&self) -> Vec<[String; 4]> {
        let gaps = |missing: f64| match missing > 0.0 {
            true => words::percent(missing),
            false => String::new(),
        };
        let columns = self
            .table
            .frame
            .names()
            .iter()
            .zip(self.table.frame.columns());
        // Of columns with one name the first; tables may have hundreds of thousands of columns.
        let mut used: HashMap<&str, &Encoded> = HashMap::new();
        for column in &self.preparation.columns {
            used.entry(&column.name).or_insert(column);
        }
        let mut left_out: HashMap<&str, &LeftOutColumn> = HashMap::new();
        for column in &self.preparation.left_out {
            left_out.entry(&column.name).or_insert(column);
        }
        let row = |(name, column): (&String, &Column)| {
            let holds = match column {
                Column::Numbers(_) | Column::Singles(_) | Column::Sparse { .. } => "numbers",
                Column::Texts(_) => "text",
                Column::Untold(..) => "other",
            };
            let missing = column.missing() as f64 / column.len().max(1) as f64;
            let becomes = match used.get(name.as_str()) {
                Some(used) => {
                    let becomes = match &used.encoding {
                        Encoding::Number => "a feature".to_owned(),
                        Encoding::Flag => "0 or 1".to_owned(),
                        Encoding::Levels(levels) => {
                            let shown = levels.len().min(LEVELS_SHOWN);
                            let more = match levels.len() - shown {
                                0 => "",
                                _ => ", …",
                            };
                            let listed = levels[..shown].join(", ");
                            format!("{}: {listed}{more}", words::count(levels.len(), "feature"))
                        }
                    };
                    match used.indicator {
                        true => becomes + "; one more where it is missing",
                        false => becomes,
                    }
                }
                None => {
                    let why = left_out.get(name.as_str());
                    format!(
                        "left out: {}",
                        why.map_or(String::new(), |column| column.why.to_string())
                    )
                }
            };
            [name.clone(), holds.to_owned(), gaps(missing), becomes]
        };
        columns.map(row).collect()
    }

    fn columns(&self) -> String {
        let mut table = Table::new(&[Align::Left, Align::Left, Align::Right, Align::Left]);
        table.row(["column", "holds", "missing", "becomes"]);
        // The column of groups is the only one that is kept here.
        let group = self.table.kept.last().map(|kept| kept.name.clone());
        for role in [
            (&self.table.label, "the label"),
            (&self.table.task, "the task"),
            (&group, "the group"),
        ] {
            if let (Some(name), what) = role {
                table.row([name.clone(), "names".into(), String::new(), what.into()]);
            }
        }
        let rows = self.rows();
        let hidden = rows.len().saturating_sub(COLUMNS_LISTED);
        for row in rows.into_iter().take(COLUMNS_LISTED) {
            table.row(row);
        }
        match hidden {
            0 => table.text(),
            _ => {
                table.text()
                    + &format!(
                        "  and {} more (--json lists all)\n",
                        words::count(hidden, "column")
                    )
            }
        }
    }

    fn json(&self) -> Map<String, Value> {
        let mut report = Map::new();
        report.insert("rows".into(), json!(self.table.rows()));
        report.insert("unlabelled".into(), json!(self.table.unlabelled));
        report.insert("label".into(), json!(self.table.label));
        report.insert("task".into(), json!(self.table.task));
        report.insert("tasks".into(), json!(self.tasks));
        report.insert("features".into(), json!(self.preparation.feature_names()));
        let columns = self.rows().into_iter().map(
            |[name, holds, _, becomes]| json!({"name": name, "holds": holds, "becomes": becomes}),
        );
        report.insert("columns".into(), columns.collect());
        report.insert("problems".into(), json!(self.problems));
        report.insert("command".into(), json!(self.command));
        report
    }
}

/// What people call the column of classes, as a part of its name.
const SPOKEN: [&str; 14] = [
    "label", "class", "target", "outcome", "response", "result", "status", "diagnos", "disease",
    "species", "survived", "event", "type", "category",
];

/// A column that misses more of its values than this is hardly the label.
const MOSTLY_THERE: f64 = 0.1;

/// Columns that may be the label, which are of few kinds, the likeliest first: one that is called so, whole, text, of the
/// fewest kinds, and of these the last.
fn candidates(table: &Data) -> Vec<String> {
    let columns = table.frame.names().iter().zip(table.frame.columns());
    let kinds = |column: &Column| match column {
        Column::Texts(texts) => texts.kinds().unwrap_or(usize::MAX),
        Column::Numbers(values) => {
            let mut kinds = BTreeSet::new();
            for value in values.iter().filter(|value| value.is_finite()) {
                kinds.insert(value.to_bits());
                if *value != value.trunc() || kinds.len() > MOST_CLASSES {
                    return MOST_CLASSES + 1;
                }
            }
            kinds.len()
        }
        _ => 0,
    };
    let mut found: Vec<_> = columns
        .map(|(name, column)| (name, column, kinds(column)))
        .filter(|(_, _, kinds)| (2..=MOST_CLASSES).contains(kinds))
        .rev()
        .collect();
    found.sort_by_cached_key(|(name, column, kinds)| {
        let name = name.to_lowercase();
        let missing = column.missing() as f64 / column.len().max(1) as f64;
        (
            !SPOKEN.iter().any(|word| name.contains(word)),
            missing > MOSTLY_THERE,
            !matches!(column, Column::Texts(_)),
            *kinds,
        )
    });
    found.into_iter().map(|(name, ..)| name.clone()).collect()
}

/// The command that goes on from here: for the smallest task that can be a target, where there are several.
fn command(
    table: &Data,
    tasks: &BTreeMap<&str, BTreeMap<&str, usize>>,
    data: &arguments::Data,
) -> String {
    let mut words = vec!["foretask".to_owned(), "forecast".to_owned()];
    words.extend(
        data.files
            .iter()
            .map(|file| quoted(&file.to_string_lossy())),
    );
    // Arrays and svmlight lines have classes without a column of them.
    let label = match (&table.label, &table.labels) {
        (None, None) => candidates(table).into_iter().next(),
        (label, _) => label.clone(),
    };
    for (option, value, usual) in [
        ("--label", label, &["label", "y", "class", "target"][..]),
        ("--task", table.task.clone(), &["task", "domain"][..]),
        ("--group", data.group.clone(), &[][..]),
    ] {
        if let Some(value) = value.filter(|value| !usual.contains(&value.as_str())) {
            words.extend([option.to_owned(), quoted(&value)]);
        }
    }
    for (option, names) in [
        ("--features", data.features.as_deref().unwrap_or_default()),
        ("--ignore", data.ignore.as_slice()),
        ("--numeric", data.numeric.as_slice()),
        ("--categorical", data.categorical.as_slice()),
    ] {
        if !names.is_empty() {
            words.extend([option.to_owned(), quoted(&names.join(","))]);
        }
    }
    let smallest = tasks
        .iter()
        .filter(|(_, classes)| classes.len() > 1)
        .min_by_key(|(_, classes)| classes.values().sum::<usize>());
    if let (Some((task, _)), true) = (smallest, tasks.len() > 1) {
        words.extend(["--target".to_owned(), quoted(task)]);
    }
    words.join(" ")
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-./,=+:@%".contains(letter);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", words::printable(&word.replace('\'', "'\\''"))),
    }
}
