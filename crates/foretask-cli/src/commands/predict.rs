//! `foretask predict`: the class of each row, as CSV or JSON lines. Rows are read, decided and written some at a time.

use std::borrow::Cow;

use faer::Mat;
use foretask::prepare::{Features, Prepared};
use foretask::{Model, Rows};
use serde_json::{Map, json};

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::progress;
use crate::read::{self, Kept, Meter, PANEL, Purpose, Reading};

/// Runs the command.
pub fn run(arguments: &arguments::Predict) -> Result<Answer, Failure> {
    let parts = read::parts(&arguments.files)?;
    if let Some(path) = &arguments.output {
        let mut inputs: Vec<_> = parts.iter().map(|part| part.path.clone()).collect();
        inputs.push(arguments.model.clone());
        output::check(path, &inputs)?;
    }
    let model = load::model(&arguments.model)?;
    let preparation = load::preparation(&model);
    let purpose = Purpose::Predict {
        preparation: &preparation,
    };
    let columns = arguments.columns();
    let mut reading = Reading::new(arguments.written.written(), &columns, purpose);
    let mut applied = load::Applied::default();
    let mut panels = Panels::new(preparation.width());
    let meter = Meter::default();
    let all = parts.iter().map(read::Part::bytes).sum();
    let mut progress = progress::Reading::new("predicting", all);
    output::rows(arguments.output.as_deref(), |out| {
        let write_rows = |rows: Rows<'_>, before, kept, out: &mut output::Rows| {
            let batch = Predictions::new(&model, rows, before, kept, arguments)?;
            out.append(|text| match arguments.json {
                true => batch.json(text),
                false => batch.csv(text),
            })
        };
        let write = |panels: Panels, out: &mut output::Rows| {
            let rows = Rows::row_major(&panels.values, panels.width)?;
            write_rows(rows, panels.before, panels.kept, out)
        };
        for part in &parts {
            reading.part(part, arguments.batch, &meter, |table| {
                progress.tell(table.rows(), meter.bytes());
                let prepared = preparation.apply(table.frame, None);
                let located = |error| load::located(error, &part.file, &table.origin);
                let prepared = prepared.map_err(located)?;
                applied.add(&prepared);
                if let Features::Entries { .. } = prepared.features {
                    // Scores of sparse rows do not depend on how they come.
                    let waiting = std::mem::replace(&mut panels, Panels::new(preparation.width()));
                    panels.before = waiting.before + waiting.rows() + prepared.rows;
                    let before = panels.before - prepared.rows;
                    if waiting.rows() > 0 {
                        write(waiting, out)?;
                    }
                    return write_rows(prepared.view()?, before, table.kept, out);
                }
                panels.push(&prepared, table.kept);
                match panels.whole() {
                    Some(whole) => write(whole, out),
                    None => Ok(()),
                }
            })?;
            progress.next(part.bytes());
        }
        match panels.rows() {
            0 => Ok(()),
            _ => write(panels, out),
        }
    })?;
    drop(progress);
    applied.tell(0);
    Ok(Answer::Yes)
}

/// Rows that wait until a panel is full, so that the last bits of their scores do not depend on how they came.
struct Panels {
    /// Rows that were decided before.
    before: usize,
    width: usize,
    /// The features, row by row.
    values: Vec<f64>,
    /// Columns of the input, if any are kept.
    kept: Vec<Kept>,
}

impl Panels {
    fn new(width: usize) -> Self {
        Self {
            before: 0,
            width,
            values: Vec::new(),
            kept: Vec::new(),
        }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    fn push(&mut self, prepared: &Prepared, kept: Vec<Kept>) {
        let (rows, first) = (prepared.rows, self.values.len());
        self.values.resize(first + rows * self.width, 0.0);
        let mut put = |place: usize, value: f64| {
            // Columns follow one another in the features.
            let (column, row) = (place / rows.max(1), place % rows.max(1));
            if let Some(to) = self.values.get_mut(first + row * self.width + column) {
                *to = value;
            }
        };
        match &prepared.features {
            Features::Singles(values) => values
                .iter()
                .enumerate()
                .for_each(|(place, &value)| put(place, f64::from(value))),
            Features::Doubles(values) => values
                .iter()
                .enumerate()
                .for_each(|(place, &value)| put(place, value)),
            // These are written as they come, and never wait.
            Features::Entries { .. } => {}
        }
        if self.kept.is_empty() {
            self.kept = kept;
        } else {
            for (own, more) in self.kept.iter_mut().zip(kept) {
                own.cells.extend(more.cells);
            }
        }
    }

    /// Takes all panels that are full.
    fn whole(&mut self) -> Option<Self> {
        let rows = self.rows() - self.rows() % PANEL;
        if rows == 0 {
            return None;
        }
        let left = self.values.split_off(rows * self.width);
        let whole = Self {
            before: self.before,
            width: self.width,
            values: std::mem::replace(&mut self.values, left),
            kept: self.kept.iter_mut().map(|kept| kept.first(rows)).collect(),
        };
        self.before += rows;
        Some(whole)
    }
}

/// The predictions of some rows.
struct Predictions {
    /// Columns of the input; the numbers of the rows where none was asked for.
    kept: Vec<Kept>,
    classes: Vec<String>,
    /// The names of the numbers that are asked for, and the numbers.
    header: Vec<String>,
    numbers: Vec<Mat<f64>>,
    /// Whether they are the first.
    is_first: bool,
    /// Whether no cell may be a formula.
    safe: bool,
}

impl Predictions {
    fn new(
        model: &Model,
        rows: Rows<'_>,
        before: usize,
        kept: Vec<Kept>,
        arguments: &arguments::Predict,
    ) -> Result<Self, Failure> {
        let scores = model.scores(rows)?;
        let decisions = model.decide(&scores);
        let mut header = Vec::new();
        let mut numbers = Vec::new();
        let classes = || model.classes().iter();
        let probabilities = arguments.probabilities.then(|| model.calibrate(&scores));
        if arguments.scores {
            match scores.ncols() {
                1 => header.push("score".to_owned()),
                _ => header.extend(classes().map(|class| format!("score_{class}"))),
            }
            numbers.push(scores);
        }
        if let Some(probabilities) = probabilities {
            header.extend(classes().map(|class| format!("probability_{class}")));
            numbers.push(probabilities);
        }
        let (is_first, count) = (before == 0, rows.len());
        let kept = match kept.is_empty() {
            false => kept,
            true => vec![Kept {
                name: "row".to_owned(),
                cells: (1..=count).map(|row| (before + row).to_string()).collect(),
            }],
        };
        let class = |&decision: &usize| model.classes()[decision].clone();
        Ok(Self {
            kept,
            classes: decisions.iter().map(class).collect(),
            header,
            numbers,
            is_first,
            safe: arguments.safe_csv,
        })
    }

    /// The numbers of a row.
    fn numbers(&self, row: usize) -> impl Iterator<Item = f64> + '_ {
        let matrices = self.numbers.iter();
        matrices
            .flat_map(move |matrix| (0..matrix.ncols()).map(move |column| matrix[(row, column)]))
    }

    /// Appends lines of CSV.
    fn csv(&self, text: &mut Vec<u8>) -> Result<(), Failure> {
        let mut writer = csv::Writer::from_writer(text);
        if self.is_first {
            let kept = self.kept.iter().map(|kept| kept.name.as_str());
            let header = kept
                .chain(["prediction"])
                .chain(self.header.iter().map(String::as_str))
                .map(|name| self.cell(name).into_owned());
            writer.write_record(header).map_err(unwritable)?;
        }
        for (row, class) in self.classes.iter().enumerate() {
            for kept in &self.kept {
                let cell = self.cell(&kept.cells[row]);
                writer.write_field(cell.as_ref()).map_err(unwritable)?;
            }
            let class = self.cell(class);
            writer.write_field(class.as_ref()).map_err(unwritable)?;
            for number in self.numbers(row) {
                writer.write_field(number.to_string()).map_err(unwritable)?;
            }
            writer.write_record(None::<&[u8]>).map_err(unwritable)?;
        }
        writer.flush().map_err(|error| unwritable(error.into()))
    }

    /// A text as it is written: where that is wanted, one that would be a formula begins with an apostrophe, which
    /// spreadsheets take for "this is text".
    fn cell<'c>(&self, text: &'c str) -> Cow<'c, str> {
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        match self.safe && is_formula && text.trim().parse::<f64>().is_err() {
            true => Cow::Owned(format!("'{text}")),
            false => Cow::Borrowed(text),
        }
    }

    /// Appends an object a line.
    fn json(&self, lines: &mut Vec<u8>) -> Result<(), Failure> {
        for (row, class) in self.classes.iter().enumerate() {
            let mut object = Map::new();
            for kept in &self.kept {
                object.insert(kept.name.clone(), json!(kept.cells[row]));
            }
            object.insert("prediction".to_owned(), json!(class));
            for (name, number) in self.header.iter().zip(self.numbers(row)) {
                object.insert(name.clone(), json!(number));
            }
            serde_json::to_writer(&mut *lines, &object)?;
            lines.push(b'\n');
        }
        Ok(())
    }
}

fn unwritable(error: csv::Error) -> Failure {
    Failure::Write {
        to: "the table of predictions".into(),
        source: error.into(),
    }
}
