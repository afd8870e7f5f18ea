//! `foretask forecast`: what a model will do, before there is one.

mod compare;
mod labels;
mod sources;

use foretask::{Density, Settings, SourceValue, Study};
use serde_json::json;

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::summary::Summary;
use crate::{json, output, show};

/// Runs the command.
pub fn run(arguments: &arguments::Forecast) -> Result<Answer, Failure> {
    let settings = arguments.choices.settings()?;
    if let Some(path) = &arguments.report.output {
        output::check(path, &arguments.data.files)?;
    }
    let table = load::training_table(&arguments.data)?;
    load::tell(&table);
    let tasks = load::tasks(&table)?;
    let study = load::study(&tasks, &settings)?;
    let labels = labels::Labels::new(&study, arguments)?;
    let sources = match arguments.no_details {
        true => None,
        false => Some(source_values(&study, &settings)?),
    };
    let comparison = match arguments.compare || !arguments.no_details {
        true => compare::run(&study, tasks.features(), arguments.compare)?,
        false => None,
    };
    let summary = Summary::of_study(&study, tasks.features());
    let relatedness = study.relatedness();
    let text = if arguments.report.json {
        let mut report = summary.report();
        report.insert("relatedness".into(), json::relatedness(&relatedness));
        report.insert("roc".into(), json!(study.forecast().roc(CURVE_POINTS)));
        let densities: Vec<_> = study.forecast().densities.iter().map(curve_of).collect();
        report.insert(
            "densities".into(),
            json::by_class(summary.classes(), &densities),
        );
        report.extend(labels.report(&summary));
        if let Some(sources) = &sources {
            report.insert("sources".into(), json!(sources));
        }
        if let Some(comparison) = &comparison {
            report.extend(comparison.report(&summary));
        }
        json::text(report)?
    } else {
        let mut sections = vec![
            show::tasks(&summary, Some(&relatedness)),
            show::forecast_line(&summary) + "\n" + &show::class_errors(&summary),
            show::rehearsal::sentence(&summary),
        ];
        sections.extend(show::expected::sections(&summary));
        sections.push(show::rule(&summary));
        if let Some(comparison) = &comparison {
            sections.extend(comparison.sections(&summary));
        }
        if let Some(sources) = &sources {
            sections.push(sources::section(&summary, sources));
        }
        sections.extend(labels.sections(&summary));
        sections.push(show::notes(&summary));
        sections.retain(|section| !section.is_empty());
        sections.join("\n")
    };
    output::text(arguments.report.output.as_deref(), &text)?;
    Ok(Answer::Yes)
}

/// Points of a curve in a report, less one.
const CURVE_POINTS: usize = 50;

/// A density as points from end to end of its range.
fn curve_of(density: &Density) -> Vec<[f64; 2]> {
    let (low, high) = density.range();
    let at = |i: usize| low + (high - low) * i as f64 / CURVE_POINTS as f64;
    (0..=CURVE_POINTS)
        .map(|i| [at(i), density.at(at(i))])
        .collect()
}

/// What each source is worth: one more study each. Nothing where no source is used.
fn source_values(study: &Study, settings: &Settings) -> Result<Vec<SourceValue>, Failure> {
    if study.cells().tasks().len() < 2 || settings.labels == foretask::Labels::Alone {
        return Ok(Vec::new());
    }
    let progress = Progress::new("leaving out each source");
    Ok(study.source_values(&|share| progress.tell(share))?)
}
