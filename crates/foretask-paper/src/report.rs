//! [`Report`]: what an experiment found, beside what the paper prints. JSON, figures, page and document are
//! made of it.

use serde::{Deserialize, Serialize};

use crate::figure::Figure;
use crate::trials::{Spread, seed};

/// What an experiment found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The experiment's name.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Where in the paper.
    pub paper: String,
    /// What was run: a name and a value each.
    pub settings: Vec<(String, String)>,
    /// How many trials each number is a mean of.
    pub trials: usize,
    /// For each part that draws, the seed of its first trial; the others follow by one.
    pub seeds: Vec<(String, u64)>,
    /// The numbers.
    pub tables: Vec<Table>,
    /// Ours, in the paper's layout.
    pub figure: Option<Figure>,
    /// The printed one, drawn the same way from the numbers in the paper's source.
    pub paper_figure: Option<Figure>,
    /// What the paper claims, and whether it holds here.
    pub claims: Vec<Claim>,
    /// For each part, how the two compare.
    pub verdicts: Vec<Verdict>,
    /// Parts that were not run because a file is missing.
    pub skipped: Vec<Skipped>,
}

/// A table of numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// The head of each column, that of the rows' names first.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// One value per column, the first excepted.
    pub values: Vec<Value>,
}

/// A number of a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The number, or the mean over trials; none where the paper prints none.
    pub value: Option<f64>,
    /// The standard deviation over trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Digits after the point when shown.
    pub digits: usize,
}

/// A claim of the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// What is claimed.
    pub text: String,
    /// Whether it holds here.
    pub holds: bool,
    /// The numbers that say so.
    pub evidence: String,
}

/// How a part of the paper compares with ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Which part.
    pub part: String,
    /// How it compares.
    pub judgement: Judgement,
    /// Why.
    pub reason: String,
}

/// How printed and reproduced numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// The printed numbers are reproduced.
    Matches,
    /// The claim holds, with other numbers.
    SameClaim,
    /// The claim does not hold here.
    ClaimFails,
    /// The printed numbers cannot be right.
    PaperIsWrong,
}

impl Judgement {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Matches => "matches",
            Self::SameClaim => "same claim, other numbers",
            Self::ClaimFails => "the claim does not hold here",
            Self::PaperIsWrong => "the paper is wrong",
        }
    }
}

/// A part that was not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// Which part.
    pub part: String,
    /// The file it needs.
    pub file: String,
}

impl Value {
    /// A single number.
    pub fn new(value: f64, digits: usize) -> Self {
        Self {
            value: Some(value),
            deviation: None,
            digits,
        }
    }

    /// A mean with its deviation.
    pub fn of(spread: Spread, digits: usize) -> Self {
        Self {
            deviation: (spread.trials > 1).then_some(spread.deviation),
            ..Self::new(spread.mean, digits)
        }
    }

    /// A share in per cent, with its deviation.
    pub fn percent(spread: Spread, digits: usize) -> Self {
        Self::of(spread.times(100.0), digits)
    }

    /// Nothing to show.
    pub fn none() -> Self {
        Self {
            value: None,
            deviation: None,
            digits: 0,
        }
    }

    /// What the paper prints, if it does.
    pub fn printed(value: Option<f64>, digits: usize) -> Self {
        Self {
            value,
            deviation: None,
            digits,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = self.digits;
        match (self.value, self.deviation) {
            (None, _) => f.write_str("–"),
            (Some(value), None) => f.write_str(&fixed(value, digits)),
            (Some(value), Some(deviation)) => {
                write!(f, "{} ± {deviation:.digits$}", fixed(value, digits))
            }
        }
    }
}

/// Fixed digits, without a negative zero.
pub fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(size) if size.bytes().all(|byte| matches!(byte, b'0' | b'.')) => size.to_owned(),
        _ => text,
    }
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            title: title.into(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, name: impl Into<String>, values: Vec<Value>) {
        self.rows.push(Row {
            name: name.into(),
            values,
        });
    }

    /// The value in a row and a column, both by name.
    pub fn get(&self, row: &str, column: &str) -> Option<Value> {
        let column = self.columns.iter().position(|name| name == column)?;
        let row = self.rows.iter().find(|candidate| candidate.name == row)?;
        row.values.get(column.checked_sub(1)?).copied()
    }
}

impl Report {
    /// Records what was run.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.settings.push((name.to_owned(), value.into()));
    }

    /// Records the seed of a part.
    pub fn seeded(&mut self, part: &str) {
        self.seeds.push((part.to_owned(), seed(part, 0)));
    }

    /// Records whether a claim holds.
    pub fn claim(&mut self, text: &str, holds: bool, evidence: impl Into<String>) {
        self.claims.push(Claim {
            text: text.to_owned(),
            holds,
            evidence: evidence.into(),
        });
    }

    /// Records how a part compares.
    pub fn judge(&mut self, part: &str, judgement: Judgement, reason: impl Into<String>) {
        self.verdicts.push(Verdict {
            part: part.to_owned(),
            judgement,
            reason: reason.into(),
        });
    }

    /// The table of a title.
    pub fn table(&self, title: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.title == title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_with_their_spread_and_no_negative_zero() {
        let spread = Spread::of([0.67, 0.69]);
        assert_eq!(Value::percent(spread, 1).to_string(), "68.0 ± 1.4");
        assert_eq!(Value::new(-0.0001, 2).to_string(), "0.00");
        assert_eq!(Value::new(-0.125, 3).to_string(), "-0.125");
        assert_eq!(Value::none().to_string(), "–");
    }
}
