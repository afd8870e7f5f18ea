//! `foretask forecast`: what a model will do, before there is one.

mod compare;
mod labels;
mod sources;

use foretask::{Density, Settings, SourceValue, Study};
use foretask_words::{Facts, Verdict};
use serde_json::{Map, json};

use crate::arguments;
use crate::commands::{figures, gather, load};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::plot::Figure;
use crate::progress::Progress;
use crate::summary::Summary;
use crate::{json, output, show};

/// Runs the command.
pub fn run(arguments: &arguments::Forecast) -> Result<Answer, Failure> {
    let settings = arguments.choices.settings()?;
    if let Some(path) = &arguments.report.output {
        output::check(path, &arguments.data.files)?;
    }
    let (plot, to) = (
        arguments.plot.as_deref(),
        arguments.report.output.as_deref(),
    );
    figures::check(plot, &arguments.data.files, to)?;
    let source = gather::open(&arguments.data, settings.target.as_deref())?;
    let statistics = source.statistics()?;
    let study = load::study(&statistics, &settings)?;
    let labels = labels::Labels::new(&study, arguments)?;
    let mut facts = Facts::of(&study);
    if !arguments.no_details {
        facts = facts.with_labels(&study)?;
    }
    let sources = match arguments.no_details {
        true => None,
        false => Some(source_values(&study, &settings)?),
    };
    let theories = match arguments.report.json && !arguments.no_details {
        // Machines have always had them where that is quick.
        true => statistics.features() <= QUICK_FEATURES,
        false => false,
    };
    let comparison = match arguments.compare || arguments.details || theories {
        true => Some(compare::run(&study, arguments.compare)?),
        false => None,
    };
    facts = match &sources {
        Some(sources) => facts.with_sources(sources),
        None => facts.with_ask("Without --no-details it says"),
    };
    let verdict = Verdict::of(&facts);
    let summary = Summary::of_study(&study, statistics.features());
    let relatedness = study.relatedness();
    if let Some(path) = plot {
        let panels = [
            figures::decided(&summary, None),
            figures::curve(&summary, labels.curve()),
            figures::gains(&summary, sources.as_deref().unwrap_or_default()),
            figures::roc(&summary, None),
        ];
        let figure = Figure {
            title: figures::title(&summary),
            subtitle: figures::rests_on(&summary),
            panels: panels.into_iter().flatten().collect(),
        };
        figures::write(path, &figure)?;
    }
    let text = if arguments.report.json {
        let mut report = Map::from_iter([("verdict".to_owned(), json!(verdict))]);
        report.extend(summary.report());
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
            verdict.to_string(),
            show::tasks(&summary, Some(&relatedness)),
            show::forecast_line(&summary) + "\n" + &show::class_errors(&summary),
            show::rehearsal::sentence(&summary),
        ];
        sections.extend(show::expected::sections(&summary));
        if arguments.details {
            sections.push(show::rule(&summary));
        }
        if let Some(comparison) = &comparison {
            sections.extend(comparison.sections(&summary));
        }
        if let Some(sources) = &sources {
            sections.push(sources::section(&summary, sources));
        }
        sections.extend(labels.sections(&summary));
        sections.push(show::notes(&summary));
        if !arguments.details {
            sections.push(MORE.to_owned());
        }
        sections.retain(|section| !section.is_empty());
        sections.join("\n")
    };
    output::text(arguments.report.output.as_deref(), &text)?;
    Ok(Answer::Yes)
}

/// Where the rest is.
const MORE: &str = "How it decides, and what theories say: --details. Other rules: --compare.\n";

/// With more features the theories take more than a second, and are there only if asked for.
const QUICK_FEATURES: usize = 300;

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

/// What to do if the sources take long.
const FASTER: &str =
    "hint: --no-details is faster; it leaves out what sources and more labels are worth";

/// What each source is worth: one more study each. Nothing where no source is used.
fn source_values(study: &Study, settings: &Settings) -> Result<Vec<SourceValue>, Failure> {
    if study.cells().tasks().len() < 2 || settings.labels == foretask::Labels::Alone {
        return Ok(Vec::new());
    }
    let progress = Progress::with_hint("leaving out each source", Some(FASTER));
    Ok(study.source_values(&|share| progress.tell(share))?)
}
