//! What sources do in the target's place, or why nobody tried.

use foretask::{Note, Rehearsal, Word};

use super::words;
use crate::summary::Summary;

/// One sentence; nothing where there are no sources to rehearse with.
pub fn sentence(summary: &Summary) -> String {
    let said = match &summary.forecast.rehearsal {
        Rehearsal::Skipped(_) if summary.tasks.len() < 2 => return String::new(),
        Rehearsal::Skipped(why) => format!("Not rehearsed: {}.", why.meaning()),
        Rehearsal::Done {
            error,
            alone,
            sources,
            own_error,
            own_interval,
        } => {
            let what = match summary.forecast.alarm {
                Some(_) => "miss",
                None => "err in",
            };
            // One label cannot be left out.
            let own = match summary.forecast.notes.contains(&Note::OneLabel) {
                true => "say nothing".to_owned(),
                false => format!(
                    "say {} ({})",
                    words::percent(*own_error),
                    words::interval(*own_interval)
                ),
            };
            format!(
                "Rehearsed: {} in the target's place {what} {} ({} alone); the target's own samples {own}.",
                words::count(sources.len(), "source"),
                words::percent(*error),
                words::percent(*alone),
            )
        }
    };
    words::wrapped(&said)
}
