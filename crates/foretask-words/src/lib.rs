//! What foretask knows, in plain words: the same for the command line and for Python.
//!
//! ```text
//! names.rs     names as they may be shown
//! numbers.rs   shares, differences and counts as people read them
//! facts.rs     what a verdict is made of
//! line.rs      one line of a verdict
//! lib.rs       the verdict
//! ```
//!
//! The library computes, this crate speaks, and nobody says the same thing twice: a [`Verdict`] is at most
//! [`MOST_LINES`] [`Line`]s, as text for people and, with a stable `kind` each, for machines.
#![forbid(unsafe_code)]

mod facts;
mod line;
mod names;
mod numbers;

pub use facts::{Facts, MoreLabels, RELATED};
pub use line::{Line, Step};
pub use names::{listed, printable};
pub use numbers::{count, interval, percent, points, signed, signed_interval};

/// A verdict has no more lines than this.
pub const MOST_LINES: usize = 6;

/// What a forecast comes to: what to expect, what would help, and what to do next.
///
/// ```
/// use foretask::{Rows, Settings, Study, Tasks};
/// use foretask_words::{Facts, Verdict};
/// # let values: Vec<f64> = (0..120).map(|i| ((i * 37) % 11) as f64 + if i % 3 == 1 && (i / 3) % 2 == 0 { 9.0 } else { 0.0 }).collect();
/// # let task: Vec<&str> = (0..40).map(|i| if i < 20 { "amazon" } else { "webcam" }).collect();
/// # let class: Vec<&str> = (0..40).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
/// let tasks = Tasks::new(Rows::row_major(&values, 3)?, &task, &class)?;
/// let study = Study::new(&tasks, &Settings { target: Some("webcam".into()), ..Settings::default() })?;
/// let sources = study.source_values(&|_| {})?;
/// let facts = Facts::of(&study).with_labels(&study)?.with_sources(&sources);
/// for line in Verdict::of(&facts).lines() {
///     println!("{line}");
/// }
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    lines: Vec<Line>,
}

impl Verdict {
    /// What the facts come to.
    pub fn of(facts: &Facts<'_>) -> Self {
        let lines = [
            Some(Line::expected(facts)),
            Line::untold(facts),
            Line::labels(facts),
            Line::sources(facts),
            Line::each_source(facts),
            Line::left_out(facts),
            Some(Line::next(facts)),
        ];
        Self {
            lines: lines.into_iter().flatten().collect(),
        }
    }

    /// From what to expect to what to do next; at most [`MOST_LINES`].
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// A list of objects with `kind`, `text` and numbers.
impl serde::Serialize for Verdict {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Said<'a> {
            #[serde(flatten)]
            line: &'a Line,
            text: String,
        }
        serializer.collect_seq(self.lines.iter().map(|line| Said {
            line,
            text: line.to_string(),
        }))
    }
}

#[cfg(test)]
mod tests;
