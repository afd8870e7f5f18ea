//! `foretask fit`: train and save.

use foretask::{Rehearsal, Study};
use foretask_words::{Facts, Verdict};
use serde_json::{Map, json};

use crate::arguments;
use crate::commands::{figures, gather, load};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::plot::Figure;
use crate::show::words;
use crate::summary::Summary;
use crate::{json, output, show};

/// Runs the command.
pub fn run(arguments: &arguments::Fit) -> Result<Answer, Failure> {
    let settings = arguments.choices.settings()?;
    output::check(&arguments.output, &arguments.data.files)?;
    let plot = arguments.plot.as_deref();
    figures::check(plot, &arguments.data.files, Some(&arguments.output))?;
    let source = gather::open(&arguments.data, settings.target.as_deref(), settings.folds)?;
    let study = load::study(&source.statistics()?, &settings)?;
    let study = load::counted(study, &arguments.choices.tally)?;
    let verdict = verdict(&study)?;
    let model = source.taught(study.model()?)?;
    output::file(&arguments.output, &model.to_bytes()?)?;

    let summary = Summary::of_model(&model);
    if let Some(path) = plot {
        figures::write(path, &figure(&summary, &study))?;
    }
    let text = if arguments.json {
        let mut report = Map::from_iter([("verdict".to_owned(), json!(verdict))]);
        report.extend(summary.report());
        report.insert(
            "model".into(),
            json!(arguments.output.display().to_string()),
        );
        json::text(report)?
    } else {
        let sources = summary.tasks.len() - 1;
        let trained = format!(
            "Trained '{}' on its {}{}\n{}Saved {}\n",
            words::printable(summary.target),
            words::count(summary.forecast.samples, "sample"),
            match sources {
                0 => String::new(),
                _ => format!(" and {}", words::count(sources, "source")),
            },
            show::forecast_line(&summary),
            words::path(&arguments.output),
        );
        let mut sections = vec![verdict.to_string(), trained, show::class_errors(&summary)];
        sections.extend(show::expected::sections(&summary));
        if arguments.details {
            sections.push(show::tasks(&summary, Some(&study.relatedness())));
            sections.push(show::rehearsal::sentence(&summary));
            sections.push(show::rule(&summary));
        }
        sections.push(show::notes(&summary));
        sections.retain(|section| !section.is_empty());
        sections.join("\n")
    };
    output::text(None, &text)?;
    Ok(Answer::Yes)
}

/// What is known without more studies.
fn figure(summary: &Summary, study: &Study) -> Figure {
    let panels = [
        figures::decided(summary, None),
        figures::roc(summary, None),
        figures::likeness(&study.relatedness()),
    ];
    Figure {
        title: figures::title(summary),
        subtitle: figures::rests_on(summary),
        panels: panels.into_iter().flatten().collect(),
    }
}

/// What it comes to, without what takes more studies: the worth of the sources, and what labels would bring where
/// sources were rehearsed, which is measured by more rehearsals.
fn verdict(study: &Study) -> Result<Verdict, Failure> {
    let forecast = study.forecast();
    let rehearsed = matches!(forecast.rehearsal, Rehearsal::Done { .. });
    let mut facts = Facts::of(study).with_ask("`foretask forecast` says");
    if forecast.provenance.is_left_out() && !rehearsed {
        facts = facts.with_labels(study)?;
    }
    Ok(Verdict::of(&facts))
}
