//! `foretask evaluate`: the measured error next to the forecast.

mod alarm;
mod scores;

use std::path::PathBuf;

use foretask::{Measured, Model};
use serde_json::{Map, Value, json};

use crate::arguments;
use crate::commands::{figures, load};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::read::{self, Category, Columns, Names, Purpose, Table as Data, Written};
use crate::show::expected::{CALLED, Called, of_hundred};
use crate::show::table::{Align, Table};
use crate::show::{reliability, words};
use crate::summary::Summary;
use crate::{json, output};

/// Runs the command.
pub fn run(arguments: &arguments::Evaluate) -> Result<Answer, Failure> {
    let mut inputs = arguments.files.clone();
    inputs.push(arguments.model.clone());
    let to = arguments.report.output.as_deref();
    to.map_or(Ok(()), |path| output::check(path, &inputs))?;
    figures::check(arguments.plot.as_deref(), &inputs, to)?;
    let model = load::model(&arguments.model)?;
    let written = arguments.written.written();
    let test = Test::new(&model, &arguments.files, written, &arguments.columns())?;
    let Test {
        scores,
        truth,
        left_out,
        measured,
    } = test;

    if let Some(path) = &arguments.plot {
        figures::write(path, &scores::figure(&model, &scores, &truth, &measured))?;
    }
    let text = if arguments.report.json {
        json::text(report(&model, &measured, left_out))?
    } else {
        text(&model, &measured, left_out)
    };
    output::text(arguments.report.output.as_deref(), &text)?;
    match arguments.fail_above {
        Some(limit) if measured.error > limit => Ok(Answer::No),
        _ => Ok(Answer::Yes),
    }
}

/// A model on labelled rows.
pub struct Test {
    scores: faer::Mat<f64>,
    truth: Vec<usize>,
    left_out: usize,
    measured: Measured,
}

impl Test {
    /// Reads the rows, and says on standard error what was done to them.
    pub fn new(
        model: &Model,
        files: &[PathBuf],
        written: Written,
        columns: &Columns,
    ) -> Result<Self, Failure> {
        let preparation = load::preparation(model);
        let purpose = Purpose::Evaluate {
            preparation: &preparation,
            target: model.target(),
        };
        let mut data = read::read(files, written, columns, purpose)?;
        let left_out = data.keep_task(model.target())?;
        let truth = classes_of(&data, model)?;
        let unlabelled = data.unlabelled;
        let prepared = preparation.apply(data.frame, None)?;
        let mut applied = load::Applied::default();
        applied.add(&prepared);
        applied.tell(unlabelled);
        let scores = model.scores(prepared.view()?)?;
        let measured = Measured::of_scores(model, &scores, &truth);
        Ok(Self {
            scores,
            truth,
            left_out,
            measured,
        })
    }

    /// What `foretask evaluate --json` says.
    pub fn report(&self, model: &Model) -> Map<String, Value> {
        report(model, &self.measured, self.left_out)
    }
}

/// The true class of each row, as an index of the model's classes.
fn classes_of(data: &Data, model: &Model) -> Result<Vec<usize>, Failure> {
    let labels = data.labels.as_deref().unwrap_or_default();
    let known = model.classes();
    let position = |label: &Category| known.iter().position(|class| **class == **label);
    let unknown: Vec<&Category> = labels
        .iter()
        .filter(|label| position(label).is_none())
        .collect();
    if unknown.is_empty() {
        return Ok(labels.iter().filter_map(position).collect());
    }
    let mut names: Vec<String> = unknown.iter().map(|label| label.to_string()).collect();
    names.sort();
    names.dedup();
    Err(Failure::UnknownLabels {
        count: unknown.len(),
        rows: labels.len(),
        unknown: Names(names),
        known: Names(known.to_vec()),
    })
}

/// What `foretask evaluate --json` says.
pub fn report(model: &Model, measured: &Measured, left_out: usize) -> Map<String, Value> {
    let summary = Summary::of_model(model);
    let classes = summary.classes();
    let mut report = Map::new();
    report.insert("target".into(), json!(summary.target));
    report.insert("classes".into(), json!(classes));
    report.insert("forecast".into(), json::forecast(summary.forecast, classes));
    report.insert(
        "measured".into(),
        json!({
            "error": measured.error,
            "interval": measured.interval,
            "samples": measured.samples,
            "left_out": left_out,
            "foretold": measured.foretold,
            "log_loss": measured.log_loss,
            "class_errors": json::by_class(classes, &measured.class_errors),
            "class_samples": json::by_class(classes, &measured.class_samples),
            "error_at_forecast_priors": measured.at_priors,
            "confusion": json::confusion(classes, &measured.confusion),
            "reliability": measured.reliability,
            "reliability_gap": reliability::gap(&measured.reliability),
            "alarm": measured.alarm,
        }),
    );
    report.insert("within_forecast_interval".into(), json!(measured.within));
    report
}

fn text(model: &Model, measured: &Measured, left_out: usize) -> String {
    let summary = Summary::of_model(model);
    let mut sections = vec![
        heading(&summary, measured, left_out),
        comparison(&summary, measured),
        classes(&summary, measured),
        confusion(&summary, measured),
        probabilities(&summary, measured),
        verdict(&summary, measured),
        alarm::text(&summary, measured),
    ];
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

fn heading(summary: &Summary, measured: &Measured, left_out: usize) -> String {
    let others = match left_out {
        0 => String::new(),
        _ => format!(
            "; {} of other tasks left out",
            words::count(left_out, "row")
        ),
    };
    let samples = words::count(measured.samples, "test sample");
    let target = words::printable(summary.target);
    format!("{samples} of '{target}'{others}\n")
}

fn comparison(summary: &Summary, measured: &Measured) -> String {
    let forecast = summary.forecast;
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right]);
    let interval = words::interval_name();
    table.row(["", "error", &interval, "samples"]);
    table.row([
        "forecast".to_owned(),
        words::percent(if forecast.told {
            forecast.error
        } else {
            f64::NAN
        }),
        words::interval(forecast.interval),
        format!("{} ({})", forecast.samples, forecast.provenance.in_words()),
    ]);
    table.row([
        format!("forecast, in a test of {}", measured.samples),
        String::new(),
        words::interval(measured.foretold),
    ]);
    table.row([
        "measured".to_owned(),
        words::percent(measured.error),
        words::interval(measured.interval),
        measured.samples.to_string(),
    ]);
    if let (true, Some(error)) = (measured.shares_differ, measured.at_priors) {
        table.row([
            "measured, at the forecast's class shares".to_owned(),
            words::percent(error),
        ]);
    }
    table.text()
}

/// Error by class.
fn classes(summary: &Summary, measured: &Measured) -> String {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right]);
    table.row(["class", "forecast", "measured", "samples"]);
    for (class, name) in summary.classes().iter().enumerate() {
        table.row([
            name.clone(),
            match summary.forecast.told {
                true => words::percent(summary.forecast.class_errors[class]),
                false => words::percent(f64::NAN),
            },
            measured.class_errors[class].map_or("no sample".to_owned(), words::percent),
            measured.class_samples[class].to_string(),
        ]);
    }
    table.text()
}

/// What each class was to be called, and what it was called.
fn confusion(summary: &Summary, measured: &Measured) -> String {
    let classes = summary.classes();
    if classes.len() > CALLED {
        return String::new();
    }
    let mut aligns = vec![Align::Left, Align::Left];
    aligns.resize(classes.len() + 2, Align::Right);
    let mut table = Table::new(&aligns);
    let called = Called::new(classes);
    // Models of older versions do not say, and one label does not tell.
    let foretold = match summary.forecast.told {
        true => summary.forecast.confusion.as_slice(),
        false => &[],
    };
    table.row(
        ["class".to_owned(), String::new()]
            .into_iter()
            .chain(called.heads),
    );
    for (class, name) in called.classes.iter().enumerate() {
        if let Some(expected) = foretold.get(class) {
            let shares = expected.iter().map(|&share| of_hundred(share));
            table.row(
                [name.clone(), "forecast".to_owned()]
                    .into_iter()
                    .chain(shares),
            );
        }
        let all = measured.class_samples[class] as f64;
        let counts = measured.confusion[class].iter();
        let shares = counts.map(|&count| match all > 0.0 {
            true => of_hundred(count as f64 / all),
            false => "?".to_owned(),
        });
        let name = match foretold.is_empty() {
            true => name.clone(),
            false => String::new(),
        };
        table.row([name, "measured".to_owned()].into_iter().chain(shares));
    }
    format!("Called what, of 100 samples of a class\n\n{}", table.text())
}

/// What came of the probabilities.
fn probabilities(summary: &Summary, measured: &Measured) -> String {
    let expected = &summary.forecast.reliability;
    let gaps = reliability::gap(expected).zip(reliability::gap(&measured.reliability));
    let Some((expected_gap, gap)) = gaps else {
        return String::new();
    };
    let mut table = Table::new(&[Align::Right; 5]);
    table.row([
        "claimed",
        "right, forecast",
        "right, measured",
        "decisions, forecast",
        "measured",
    ]);
    let groups = reliability::joined(expected).into_iter();
    for (expected, measured) in groups.zip(reliability::joined(&measured.reliability)) {
        let right = match measured.share > 0.0 {
            true => words::percent(measured.right),
            false => "no sample".to_owned(),
        };
        table.row([
            words::percent(expected.claimed),
            words::percent(expected.right),
            right,
            words::percent(expected.share),
            words::percent(measured.share),
        ]);
    }
    // A theory does not say.
    let log_loss = match summary.forecast.log_loss {
        Some(expected) => format!("{} in the forecast, ", words::number(expected)),
        None => String::new(),
    };
    let sentence = format!(
        "Probabilities: claimed and right differ by {} in the forecast, by {} as measured; the log-loss is \
         {log_loss}{} as measured",
        words::points(expected_gap),
        words::points(gap),
        words::number(measured.log_loss),
    );
    words::wrapped(&sentence) + "\n" + &table.text()
}

/// Whether the forecast was true.
fn verdict(summary: &Summary, measured: &Measured) -> String {
    let error = words::percent(measured.comparable);
    if !summary.forecast.told {
        return words::wrapped(&format!(
            "The measured {error} has nothing to be compared with: from one label in each class no error \
             could be foretold."
        ));
    }
    let expected = format!(
        "in a test of {} it expects {}",
        measured.samples,
        words::interval(measured.foretold)
    );
    let side = match measured.comparable < measured.foretold[0] {
        true => "below",
        false => "above",
    };
    words::wrapped(&match measured.within {
        true => format!("The forecast holds: {expected}, and {error} was measured."),
        false => format!(
            "The forecast does not hold: {expected}, and the measured {error} is {side} that. By chance \
             that happens in one of ten cases; otherwise the test data are not like the target's \
             training data."
        ),
    })
}
