//! What more labels would bring: the learning curve, the labels that an error needs, and a budget.

use foretask::{Budget, CurvePoint, LabelsNeeded, Study, WorthMore};
use serde_json::{Map, Value, json};

use super::questions::Questions;
use crate::failure::Failure;
use crate::json;
use crate::progress::Progress;
use crate::show::table::{Align, Table};
use crate::show::words;
use crate::summary::Summary;

/// What a theory cannot say.
const BY_THEORY: &str =
    "A theory does not say how many labels an error needs, nor how to spread them (--theory).";
const BY_ONE_LABEL: &str =
    "What more labels would bring cannot be told from one label in each class.";

/// What was asked about labels.
pub struct Labels {
    /// None with `--no-details`.
    curve: Option<Vec<CurvePoint>>,
    /// None unless asked for; empty from a theory.
    needed: Option<Vec<LabelsNeeded>>,
    /// None unless asked for; nothing from a theory.
    budget: Option<Option<Budget>>,
}

impl Labels {
    /// Asks the study.
    pub fn new(study: &Study, questions: &Questions<'_>) -> Result<Self, Failure> {
        let progress = Progress::new("measuring what labels bring");
        let tell = |share| progress.tell(share);
        // What the curve rests on is what the other answers rest on, and only the curve says how far it is.
        let curve = match questions.no_details {
            true if questions.reach.is_empty() && questions.budget.is_none() => None,
            true => study.learning_curve(&[], &tell).map(|_| None)?,
            false => Some(study.learning_curve(questions.added, &tell)?),
        };
        let needed = match questions.reach {
            [] => None,
            errors => Some(study.labels_needed(errors)?),
        };
        let budget = match questions.budget {
            Some(labels) => Some(study.budget(labels)?),
            None => None,
        };
        Ok(Self {
            curve,
            needed,
            budget,
        })
    }

    /// The learning curve; nothing with `--no-details`.
    pub fn curve(&self) -> &[CurvePoint] {
        self.curve.as_deref().unwrap_or_default()
    }

    /// For machines: `learning_curve`, `labels_needed` and `budget`.
    pub fn report(&self, summary: &Summary) -> Map<String, Value> {
        let mut entries = Map::new();
        if let Some(curve) = &self.curve {
            entries.insert("learning_curve".into(), json!(curve));
        }
        if let Some(needed) = &self.needed {
            entries.insert("labels_needed".into(), json!(needed));
        }
        if let Some(budget) = &self.budget {
            let budget = budget.as_ref().map(|budget| {
                json!({
                    "labels": budget.labels,
                    "added": json::by_class(summary.classes(), &budget.added),
                    "error": budget.error,
                    "interval": budget.interval,
                    "as_they_come": budget.as_they_come,
                    "in_sources": budget.in_sources,
                })
            });
            entries.insert("budget".into(), json!(budget));
        }
        entries
    }

    /// For people; some may be empty.
    pub fn sections(&self, summary: &Summary) -> Vec<String> {
        if !summary.forecast.told {
            let asked = self.curve.is_some() || self.needed.is_some() || self.budget.is_some();
            return Vec::from_iter(asked.then(|| words::wrapped(BY_ONE_LABEL)));
        }
        let mut sections = vec![curve(summary, self.curve())];
        let theory = self.needed.as_ref().is_some_and(Vec::is_empty) || self.budget == Some(None);
        if theory {
            sections.push(words::wrapped(BY_THEORY));
        }
        sections.push(needed(summary, self.needed.as_deref().unwrap_or_default()));
        if let Some(Some(budget)) = &self.budget {
            sections.push(words::wrapped(&spent(summary, budget)));
        }
        sections
    }
}

fn curve(summary: &Summary, points: &[CurvePoint]) -> String {
    if points.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[Align::Right; 4]);
    table.row([
        "labels per class",
        &format!("expected {}", summary.aim_name()),
        &words::interval_name(),
        "forecast's interval then",
    ]);
    let (now, interval) = summary.aim();
    table.row([
        "now".to_owned(),
        words::percent(now),
        words::interval(interval),
    ]);
    for point in points {
        table.row([
            format!("+{}", point.added),
            words::percent(point.error),
            words::interval(point.interval),
            words::interval(point.foretold_interval),
        ]);
    }
    format!("If the target had more labels\n\n{}", table.text())
}

fn needed(summary: &Summary, needed: &[LabelsNeeded]) -> String {
    if needed.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[Align::Right; 3]);
    let what = format!("{} to reach", summary.aim_name());
    table.row([&what, "labels per class", &words::interval_name()]);
    for one in needed {
        table.row([
            words::percent(one.error),
            match one.added {
                Some(added) => format!("+{added}"),
                None => "cannot be reached".to_owned(),
            },
            range(one.interval),
        ]);
    }
    format!("Labels that must be added\n\n{}", table.text())
}

/// The fewest and the most labels; what cannot be reached has no end.
fn range(ends: [Option<usize>; 2]) -> String {
    match ends {
        [Some(fewest), Some(most)] if fewest == most => format!("+{fewest}"),
        [Some(fewest), Some(most)] => format!("+{fewest} to +{most}"),
        [Some(fewest), None] => format!("+{fewest} or more"),
        [None, _] => String::new(),
    }
}

fn spent(summary: &Summary, budget: &Budget) -> String {
    let what = summary.aim_name();
    format!(
        "{} more are best spread as {}: expected {what} {} ({}). Labelled as they come, the expected {what} would be {}.",
        words::count(budget.labels, "label"),
        words::counts(summary.classes(), &budget.added),
        words::percent(budget.error),
        words::interval(budget.interval),
        words::percent(budget.as_they_come),
    ) + &budget.in_sources.map_or(String::new(), |other| {
        let better = match other.better {
            WorthMore::Target => "they are worth more in the target",
            WorthMore::Sources => "they are worth more in the sources",
            WorthMore::Unknown => "where they are worth more cannot be told",
        };
        format!(
            " In the sources they would bring it to {}: {better}, by rehearsals.",
            words::percent(other.error)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_may_have_no_end() {
        let shown = [
            [Some(0), Some(0)],
            [Some(3), Some(9)],
            [Some(3), None],
            [None, None],
        ]
        .map(range);
        assert_eq!(shown, ["+0", "+3 to +9", "+3 or more", ""]);
    }
}
