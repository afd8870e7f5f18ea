//! `foretask predict`: the class of each row, as CSV.

use foretask::Model;

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::read::{self, Purpose, Table};

/// Runs the command.
pub fn run(arguments: &arguments::Predict) -> Result<Answer, Failure> {
    if let Some(path) = &arguments.output {
        let mut inputs = arguments.files.clone();
        inputs.push(arguments.model.clone());
        output::check(path, &inputs)?;
    }
    let model = load::model(&arguments.model)?;
    let features = load::feature_names(&model);
    let purpose = Purpose::Predict {
        features: &features,
    };
    let table = read::read(&arguments.files, &arguments.columns(), purpose)?;
    let csv = predictions(&model, &table, arguments.scores, arguments.probabilities)?;
    match &arguments.output {
        Some(path) => output::file(path, &csv)?,
        None => output::standard(&csv)?,
    }
    Ok(Answer::Yes)
}

/// The whole table of predictions: a file appears whole or not at all, so it is built first.
fn predictions(
    model: &Model,
    table: &Table,
    with_scores: bool,
    with_probabilities: bool,
) -> Result<Vec<u8>, Failure> {
    let scores = model.scores(table.view()?)?;
    let decisions = model.decide(&scores);
    let probabilities = with_probabilities.then(|| model.calibrate(&scores));

    let mut header = vec!["prediction".to_owned()];
    if with_scores && scores.ncols() == 1 {
        header.push("score".to_owned());
    } else if with_scores {
        header.extend(model.classes().iter().map(|class| format!("score_{class}")));
    }
    if with_probabilities {
        let classes = model.classes().iter();
        header.extend(classes.map(|class| format!("probability_{class}")));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).map_err(unwritable)?;
    for (row, &decision) in decisions.iter().enumerate() {
        writer
            .write_field(&model.classes()[decision])
            .map_err(unwritable)?;
        let shown = with_scores.then_some(&scores).into_iter();
        for matrix in shown.chain(&probabilities) {
            for column in 0..matrix.ncols() {
                writer
                    .write_field(matrix[(row, column)].to_string())
                    .map_err(unwritable)?;
            }
        }
        writer.write_record(None::<&[u8]>).map_err(unwritable)?;
    }
    writer
        .into_inner()
        .map_err(|error| unwritable(error.into_error().into()))
}

fn unwritable(error: csv::Error) -> Failure {
    Failure::Write {
        to: "the table of predictions".into(),
        source: error.into(),
    }
}
