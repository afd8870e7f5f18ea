//! Reports for people: the sections that several commands share.

pub mod expected;
pub mod rehearsal;
pub mod reliability;
pub mod table;
pub mod words;

use std::collections::HashMap;

use foretask::{Rule, RuleName};

use crate::summary::Summary;
use table::{Align, Table};

/// Lighter families are not worth a line.
const SHOWN_WEIGHT: f64 = 0.005;

/// Sources that are listed for people; of more, those that are most like the target or its opposite.
const SOURCES_LISTED: usize = 40;

/// The target and the sources, with their likeness to the target where it is known.
pub fn tasks(summary: &Summary, relatedness: Option<&[(String, Option<f64>)]>) -> String {
    let samples: usize = summary.tasks.iter().map(|task| task.samples()).sum();
    let mut table = Table::new(&[
        Align::Left,
        Align::Right,
        Align::Left,
        Align::Right,
        Align::Left,
    ]);
    let last = relatedness.map_or("", |_| "likeness to the target");
    table.row(["task", "samples", "classes", "", last]);
    // The target first: it is what the rest is compared with.
    let (target, mut sources): (Vec<_>, Vec<_>) =
        (summary.tasks.iter()).partition(|task| task.name == summary.target);
    let known: HashMap<&str, Option<f64>> = relatedness
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let unlisted = sources.len().saturating_sub(SOURCES_LISTED);
    if unlisted > 0 {
        let size = |task: &str| known.get(task).copied().flatten().map_or(0.0, f64::abs);
        sources.sort_by(|a, b| size(&b.name).total_cmp(&size(&a.name)));
        sources.truncate(SOURCES_LISTED);
    }
    for task in target.into_iter().chain(sources) {
        let (number, word) = match known.get(task.name.as_str()) {
            Some(value) => words::relatedness(*value),
            None if task.name == summary.target => (String::new(), "the target"),
            None => (String::new(), ""),
        };
        table.row([
            task.name.clone(),
            task.samples().to_string(),
            words::classes(task),
            number,
            word.to_owned(),
        ]);
    }
    let more = match unlisted {
        0 => String::new(),
        count => format!(
            "  … and {} (--json has all)\n",
            words::count(count, "more source")
        ),
    };
    format!(
        "{} of {} with {}; the target is '{}'\n\n{}{more}",
        words::count(samples, "sample"),
        words::count(summary.tasks.len(), "task"),
        words::count(summary.features, "feature"),
        words::printable(summary.target),
        table.text()
    )
}

/// The expected error, in one line.
pub fn forecast_line(summary: &Summary) -> String {
    let forecast = summary.forecast;
    let error = match forecast.told {
        true => format!(
            "{}, {} {}",
            words::percent(forecast.error),
            words::interval_name(),
            words::interval(forecast.interval)
        ),
        false => "cannot be told from one label in each class".to_owned(),
    };
    format!(
        "Forecast error {error} ({}, {})\n",
        forecast.provenance.in_words(),
        words::count(forecast.samples, "sample"),
    )
}

/// The expected error, by class.
pub fn class_errors(summary: &Summary) -> String {
    let forecast = summary.forecast;
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["class", "error", "share in use"]);
    let numbers = forecast.class_errors.iter().zip(&forecast.priors);
    for (class, (&error, &prior)) in summary.classes().iter().zip(numbers) {
        let error = if forecast.told { error } else { f64::NAN };
        table.row([class.clone(), words::percent(error), words::percent(prior)]);
    }
    let cost = if forecast.told && (forecast.cost - forecast.error).abs() > f64::EPSILON {
        format!("\nForecast cost of a decision: {:.4}\n", forecast.cost)
    } else {
        String::new()
    };
    table.text() + &cost
}

/// What to know before trusting it.
pub fn notes(summary: &Summary) -> String {
    let notes = summary.forecast.notes.iter();
    notes
        .map(|note| words::wrapped(&format!("Note: {note}.")))
        .collect()
}

/// How the decision is made: the weights of an average, the labels of a single coupling, or both.
pub fn rule(summary: &Summary) -> String {
    let families = summary.rule.weights.iter();
    let averaged = families.filter(|(_, weight)| *weight > 0.0).count() > 1;
    match (&summary.rule.coupling, averaged) {
        (None, _) => average(summary.rule),
        (Some(coupling), false) => {
            let rule = match words::rule(summary.rule.name) {
                Some(words) => format!("{words}, "),
                None => String::new(),
            };
            let sentence = format!("How it decides: {rule}at the {}", words::coupling(coupling));
            let labels = labels(summary);
            words::wrapped(&sentence) + if labels.is_empty() { "" } else { "\n" } + &labels
        }
        (Some(coupling), true) => {
            let together = format!("\nTogether, at the {}\n\n", words::coupling(coupling));
            average(summary.rule) + &together + &labels(summary)
        }
    }
}

fn average(rule: &Rule) -> String {
    let mut table = Table::new(&[Align::Right, Align::Left]);
    let mut weights = rule.weights.clone();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (family, weight) in weights {
        if weight >= SHOWN_WEIGHT {
            table.row([
                format!("{:.0} %", 100.0 * weight),
                words::family(family).to_owned(),
            ]);
        }
    }
    let mut views = rule.views.clone();
    views.sort_by(|a, b| b.1.total_cmp(&a.1));
    let seen: Vec<String> = views
        .iter()
        .filter(|(_, weight)| *weight >= SHOWN_WEIGHT)
        .map(|(view, weight)| format!("{:.0} % {}", 100.0 * weight, words::view(*view)))
        .collect();
    let seen = match seen.as_slice() {
        [] => String::new(),
        seen => format!(
            "\n{}",
            words::wrapped(&format!("Looking at {}", seen.join(", ")))
        ),
    };
    format!(
        "How it decides: by the weighted average of {}\n\n{}{seen}",
        words::count(rule.tried, "candidate"),
        table.text()
    )
}

fn labels(summary: &Summary) -> String {
    let Some(scores) = &summary.rule.label_scores else {
        return String::new();
    };
    let count = scores.iter().map(Vec::len).max().unwrap_or(0);
    let mut aligns = vec![Align::Left, Align::Left];
    let mut head = vec!["task".to_owned(), "class".to_owned()];
    if summary.rule.name == RuleName::Bayes {
        // These span what responses differ in; no one belongs to a class.
        head.extend((1..=count).map(|number| format!("label {number}")));
    } else if count > 1 {
        head.extend(
            summary
                .classes()
                .iter()
                .map(|class| format!("label for {class}")),
        );
    } else {
        head.push("label".to_owned());
    }
    aligns.resize(head.len(), Align::Right);
    let mut table = Table::new(&aligns);
    table.row(head);
    let cells = (summary.tasks.iter())
        .flat_map(|task| task.classes.iter().map(move |class| (&task.name, class)));
    for ((task, class), row) in cells.zip(scores) {
        let numbers = row.iter().map(|score| format!("{score:+.4}"));
        table.row([task.clone(), class.clone()].into_iter().chain(numbers));
    }
    let mut text = table.text();
    if let (Some(threshold), Some(first)) = (summary.rule.threshold, summary.classes().first()) {
        text += &format!(
            "\n'{}' where the score is above {}\n",
            words::printable(first),
            words::number(threshold)
        );
    }
    text
}
