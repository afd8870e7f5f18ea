//! `foretask forecast`: what a model will do, before there is one.

mod compare;

use foretask::{CurvePoint, Density, Labels, Settings, SourceValue, Study, Tasks};
use serde_json::json;

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::show::table::{Align, Table};
use crate::show::words;
use crate::summary::Summary;
use crate::{json, output, show};

/// The statements that cost further studies.
struct Details {
    curve: Vec<CurvePoint>,
    /// Empty where no source is used anyway.
    sources: Vec<SourceValue>,
    /// Error and interval of the target alone, where sources are used.
    alone: Option<(f64, [f64; 2])>,
}

/// Runs the command.
pub fn run(arguments: &arguments::Forecast) -> Result<Answer, Failure> {
    let settings = arguments.choices.settings()?;
    if let Some(path) = &arguments.report.output {
        output::check(path, &arguments.data.files)?;
    }
    let table = load::training_table(&arguments.data)?;
    let tasks = load::tasks(&table)?;
    let sources = tasks.cells().tasks().len() > 1 && settings.labels != Labels::Alone;
    let (study, alone) = match sources && !arguments.no_details {
        true => with_alone(&tasks, &settings)?,
        false => (load::study(&tasks, &settings)?, None),
    };
    let details = match arguments.no_details {
        true => None,
        false => Some(Details::new(&study, alone, &arguments.added)?),
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
        if let Some(details) = &details {
            report.insert("learning_curve".into(), json!(details.curve));
            report.insert("sources".into(), json!(details.sources));
            let alone = details
                .alone
                .map(|(error, interval)| json!({"error": error, "interval": interval}));
            report.insert("alone".into(), json!(alone));
        }
        if let Some(comparison) = &comparison {
            report.extend(comparison.report(&summary));
        }
        json::text(report)?
    } else {
        let mut sections = vec![
            show::tasks(&summary, Some(&relatedness)),
            show::forecast_line(&summary) + "\n" + &show::class_errors(&summary),
        ];
        sections.extend(show::expected::sections(&summary));
        sections.push(show::rule(&summary));
        if let Some(comparison) = &comparison {
            sections.extend(comparison.sections(&summary));
        }
        if let Some(details) = &details {
            sections.extend(help_of_sources(&summary, details));
            sections.push(curve(&summary, &details.curve));
        }
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

/// The study, and that of the target alone, which stands on the same fits.
fn with_alone<'a>(
    tasks: &'a Tasks<'a>,
    settings: &Settings,
) -> Result<(Study<'a>, Option<Study<'a>>), Failure> {
    let alone = Settings {
        labels: Labels::Alone,
        ..settings.clone()
    };
    let progress = Progress::new("training");
    let tell = |share| progress.tell(share);
    let mut studies = Study::each(tasks, &[settings.clone(), alone], &tell)?.into_iter();
    match studies.next() {
        Some(study) => Ok((study, studies.next())),
        None => Ok((load::study(tasks, settings)?, None)),
    }
}

impl Details {
    fn new(study: &Study, alone: Option<Study>, added: &[usize]) -> Result<Self, Failure> {
        let curve = study.learning_curve(added)?;
        let Some(alone) = alone else {
            return Ok(Self {
                curve,
                sources: Vec::new(),
                alone: None,
            });
        };
        let progress = Progress::new("leaving out each source");
        Ok(Self {
            curve,
            sources: study.source_values(&|share| progress.tell(share))?,
            alone: Some((alone.forecast().error, alone.forecast().interval)),
        })
    }
}

/// Whether the sources help, all together and one by one.
fn help_of_sources(summary: &Summary, details: &Details) -> Option<String> {
    let (alone, alone_interval) = details.alone?;
    let with = summary.forecast.error;
    let verdict = if words::percent(with) == words::percent(alone) {
        "they make no difference"
    } else if with < alone {
        "they do"
    } else {
        "they do harm"
    };
    let [low, high] = summary.forecast.interval;
    let caveat = if (low..=high).contains(&alone) && words::percent(with) != words::percent(alone) {
        ", though by less than the forecast is uncertain"
    } else {
        ""
    };
    let answer = format!(
        "Do the sources help? Forecast error {} with them, {} without: {verdict}{caveat}.",
        words::percent(with),
        words::percent(alone),
    );
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["left out", "forecast error", &words::interval_name()]);
    let all = (details.sources.len() > 1).then_some(("all sources", alone, alone_interval));
    let each = details.sources.iter();
    let rows = [("nothing", with, summary.forecast.interval)]
        .into_iter()
        .chain(each.filter_map(|source| {
            let task = source.task.as_deref()?;
            Some((task, source.error_without, source.interval))
        }))
        .chain(all);
    for (name, error, interval) in rows {
        table.row([
            name.to_owned(),
            words::percent(error),
            words::interval(interval),
        ]);
    }
    Some(words::wrapped(&answer) + "\n" + &table.text())
}

fn curve(summary: &Summary, points: &[CurvePoint]) -> String {
    if points.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[Align::Right, Align::Right, Align::Right]);
    table.row([
        "labels per class",
        "forecast error",
        &words::interval_name(),
    ]);
    let now = (
        "now".to_owned(),
        summary.forecast.error,
        summary.forecast.interval,
    );
    let later = points
        .iter()
        .map(|point| (format!("+{}", point.added), point.error, point.interval));
    for (labels, error, interval) in [now].into_iter().chain(later) {
        table.row([labels, words::percent(error), words::interval(interval)]);
    }
    format!("If the target had more labels\n\n{}", table.text())
}
