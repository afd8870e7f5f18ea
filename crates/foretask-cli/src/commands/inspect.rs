//! `foretask inspect`: what is in a model file.

use serde_json::json;

use crate::arguments;
use crate::commands::load;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::show::words;
use crate::summary::Summary;
use crate::{json, output, show};

/// More feature names than this are counted instead of listed.
const FEATURES_LISTED: usize = 12;

/// Runs the command.
pub fn run(arguments: &arguments::Inspect) -> Result<Answer, Failure> {
    if let Some(path) = &arguments.report.output {
        output::check(path, std::slice::from_ref(&arguments.model))?;
    }
    let model = load::model(&arguments.model)?;
    let summary = Summary::of_model(&model);
    let text = if arguments.report.json {
        let mut report = summary.report();
        report.insert("feature_names".into(), json!(model.feature_names()));
        json::text(report)?
    } else {
        let mut sections = vec![
            show::tasks(&summary, None),
            features(model.feature_names().unwrap_or_default()),
            show::forecast_line(&summary) + "\n" + &show::class_errors(&summary),
        ];
        sections.extend(show::expected::sections(&summary));
        sections.extend([show::rule(&summary), show::notes(&summary)]);
        sections.retain(|section| !section.is_empty());
        sections.join("\n")
    };
    output::text(arguments.report.output.as_deref(), &text)?;
    Ok(Answer::Yes)
}

fn features(names: &[String]) -> String {
    let hidden = names.len().saturating_sub(FEATURES_LISTED);
    let listed = names[..names.len() - hidden].join(", ");
    words::wrapped(&match (names.is_empty(), hidden) {
        (true, _) => "Features: without names".to_owned(),
        (_, 0) => format!("Features: {listed}"),
        _ => format!("Features: {listed} and {hidden} more (--json lists all)"),
    })
}
