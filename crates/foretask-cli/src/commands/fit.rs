//! `foretask fit`: train and save.

use serde_json::json;

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::show::words;
use crate::summary::Summary;
use crate::{json, output, show};

/// Runs the command.
pub fn run(arguments: &arguments::Fit) -> Result<Answer, Failure> {
    let settings = arguments.choices.settings()?;
    output::check(&arguments.output, &arguments.data.files)?;
    let table = load::training_table(&arguments.data)?;
    load::tell(&table);
    let tasks = load::tasks(&table)?;
    let study = load::study(&tasks, &settings)?;
    let model = table.taught(study.model()?)?;
    output::file(&arguments.output, &model.to_bytes()?)?;

    let summary = Summary::of_model(&model);
    let text = if arguments.json {
        let mut report = summary.report();
        report.insert(
            "model".into(),
            json!(arguments.output.display().to_string()),
        );
        json::text(report)?
    } else {
        let sources = summary.tasks.len() - 1;
        let trained = format!(
            "Trained '{}' on its {}{}\n{}Saved {}\n",
            summary.target,
            words::count(summary.forecast.samples, "sample"),
            match sources {
                0 => String::new(),
                _ => format!(" and {}", words::count(sources, "source")),
            },
            show::forecast_line(&summary),
            arguments.output.display(),
        );
        let mut sections = vec![trained, show::class_errors(&summary)];
        sections.extend(show::expected::sections(&summary));
        sections.push(show::notes(&summary));
        sections.retain(|section| !section.is_empty());
        sections.join("\n")
    };
    output::text(None, &text)?;
    Ok(Answer::Yes)
}
