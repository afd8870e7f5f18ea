//! `foretask predict`: the class of each row, as CSV or JSON lines.

use faer::Mat;
use foretask::Model;
use foretask::prepare::Prepared;
use serde_json::{Map, json};

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::read::{self, Kept, Purpose};

/// Runs the command.
pub fn run(arguments: &arguments::Predict) -> Result<Answer, Failure> {
    if let Some(path) = &arguments.output {
        let mut inputs = arguments.files.clone();
        inputs.push(arguments.model.clone());
        output::check(path, &inputs)?;
    }
    let model = load::model(&arguments.model)?;
    let preparation = load::preparation(&model);
    let purpose = Purpose::Predict {
        preparation: &preparation,
    };
    let written = arguments.written.written();
    let table = read::read(&arguments.files, written, &arguments.columns(), purpose)?;
    let prepared = preparation.apply(table.frame, None)?;
    let predictions = Predictions::new(&model, &prepared, table.kept, arguments)?;
    let text = match arguments.json {
        true => predictions.json()?,
        false => predictions.csv()?,
    };
    load::tell_applied(&prepared, 0);
    match &arguments.output {
        Some(path) => output::file(path, &text)?,
        None => output::standard(&text)?,
    }
    Ok(Answer::Yes)
}

/// The whole table of predictions: a file appears whole or not at all, so it is built first.
struct Predictions {
    /// Columns of the input; the numbers of the rows where none was asked for.
    kept: Vec<Kept>,
    classes: Vec<String>,
    /// The names of the numbers that are asked for, and the numbers.
    header: Vec<String>,
    numbers: Vec<Mat<f64>>,
}

impl Predictions {
    fn new(
        model: &Model,
        prepared: &Prepared,
        mut kept: Vec<Kept>,
        arguments: &arguments::Predict,
    ) -> Result<Self, Failure> {
        let scores = model.scores(prepared.view()?)?;
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
        if kept.is_empty() {
            kept.push(Kept {
                name: "row".to_owned(),
                cells: (1..=prepared.rows).map(|row| row.to_string()).collect(),
            });
        }
        let class = |&decision: &usize| model.classes()[decision].clone();
        Ok(Self {
            kept,
            classes: decisions.iter().map(class).collect(),
            header,
            numbers,
        })
    }

    /// The numbers of a row.
    fn numbers(&self, row: usize) -> impl Iterator<Item = f64> + '_ {
        let matrices = self.numbers.iter();
        matrices
            .flat_map(move |matrix| (0..matrix.ncols()).map(move |column| matrix[(row, column)]))
    }

    fn csv(&self) -> Result<Vec<u8>, Failure> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let kept = self.kept.iter().map(|kept| kept.name.as_str());
        let header = kept
            .chain(["prediction"])
            .chain(self.header.iter().map(String::as_str));
        writer.write_record(header).map_err(unwritable)?;
        for (row, class) in self.classes.iter().enumerate() {
            for kept in &self.kept {
                writer.write_field(&kept.cells[row]).map_err(unwritable)?;
            }
            writer.write_field(class).map_err(unwritable)?;
            for number in self.numbers(row) {
                writer.write_field(number.to_string()).map_err(unwritable)?;
            }
            writer.write_record(None::<&[u8]>).map_err(unwritable)?;
        }
        writer
            .into_inner()
            .map_err(|error| unwritable(error.into_error().into()))
    }

    /// An object a line.
    fn json(&self) -> Result<Vec<u8>, Failure> {
        let mut lines = Vec::new();
        for (row, class) in self.classes.iter().enumerate() {
            let mut object = Map::new();
            for kept in &self.kept {
                object.insert(kept.name.clone(), json!(kept.cells[row]));
            }
            object.insert("prediction".to_owned(), json!(class));
            for (name, number) in self.header.iter().zip(self.numbers(row)) {
                object.insert(name.clone(), json!(number));
            }
            serde_json::to_writer(&mut lines, &object)?;
            lines.push(b'\n');
        }
        Ok(lines)
    }
}

fn unwritable(error: csv::Error) -> Failure {
    Failure::Write {
        to: "the table of predictions".into(),
        source: error.into(),
    }
}
