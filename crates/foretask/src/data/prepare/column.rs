//! [`Frame`]: a table whose columns are not features yet.

use std::collections::HashMap;

use super::naming::number_name;
use crate::error::{Error, Result};

/// The code of a text that is missing.
const NO_TEXT: u32 = u32::MAX;

/// Different texts that a column may have before it is free text: far above what becomes features, so that what is
/// left out can be told apart, and little to remember.
pub const MOST_TEXTS: usize = 1000;

/// Why a column becomes no feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyLeftOut {
    /// One value in all rows.
    Constant,
    /// No value in any row.
    Empty,
    /// It numbers the rows.
    RowNumber,
    /// A different one in every row.
    Identifier,
    /// Dates or times.
    Dates,
    /// Neither numbers nor texts.
    Nested,
    /// More texts than may become features; how many there are, if they were counted.
    ManyLevels(Option<usize>),
}

impl std::fmt::Display for WhyLeftOut {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant => out.write_str("one value in all rows"),
            Self::Empty => out.write_str("no value in any row"),
            Self::RowNumber => out.write_str("numbers the rows"),
            Self::Identifier => out.write_str("different in every row, as an identifier"),
            Self::Dates => out.write_str("dates"),
            Self::Nested => out.write_str("neither numbers nor texts"),
            Self::ManyLevels(Some(levels)) => write!(out, "{levels} different texts"),
            Self::ManyLevels(None) => write!(out, "more than {MOST_TEXTS} different texts"),
        }
    }
}

/// One column of a table.
#[derive(Clone, Debug)]
pub enum Column {
    /// Numbers; NaN is a missing one.
    Numbers(Vec<f64>),
    /// Numbers that were stored in single precision; NaN is a missing one.
    Singles(Vec<f32>),
    /// Numbers most of which are zero.
    Sparse {
        /// All rows.
        rows: usize,
        /// The rows whose numbers are given, ascending.
        at: Vec<u32>,
        /// Their numbers; NaN is a missing one.
        values: Vec<f64>,
    },
    /// Texts of few kinds.
    Texts(Texts),
    /// So many rows of something that cannot become features.
    Untold(usize, WhyLeftOut),
}

/// A column of texts, each of which is one of few.
///
/// Beyond [`MOST_TEXTS`] different ones only their number is kept, so that a column of free text costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    levels: Vec<String>,
    codes: Vec<u32>,
    places: HashMap<String, u32>,
    rows: usize,
    missing: usize,
    free: bool,
}

impl Texts {
    /// Appends a text, `None` is a missing one; and returns what [`Texts::repeat`] appends the same by.
    pub fn push(&mut self, text: Option<&str>) -> u32 {
        let code = match text {
            None => NO_TEXT,
            Some(text) => self.code(text),
        };
        self.repeat(code);
        code
    }

    /// Appends a text that was appended before, by what [`Texts::push`] returned.
    pub fn repeat(&mut self, code: u32) {
        self.rows += 1;
        self.missing += usize::from(code == NO_TEXT);
        if !self.free {
            self.codes.push(code);
        }
    }

    /// The code of a text, which may be a new one.
    fn code(&mut self, text: &str) -> u32 {
        if self.free {
            return 0;
        }
        if let Some(&code) = self.places.get(text) {
            return code;
        }
        if self.levels.len() == MOST_TEXTS {
            self.free = true;
            self.codes = Vec::new();
            self.places = HashMap::new();
            return 0;
        }
        let code = self.levels.len() as u32;
        self.levels.push(text.to_owned());
        self.places.insert(text.to_owned(), code);
        code
    }

    /// The texts of a column that is coded already: positions in `levels`, negative for a missing one.
    ///
    /// # Errors
    /// [`Error::Shape`] if a code has no level.
    pub fn coded(levels: &[String], codes: &[i64]) -> Result<Self> {
        let mut texts = Self::default();
        for &code in codes {
            let level = match usize::try_from(code) {
                Err(_) => None,
                Ok(code) => Some(levels.get(code).ok_or(Error::Shape {
                    what: "levels of a column",
                    expected: code + 1,
                    got: levels.len(),
                })?),
            };
            texts.push(level.map(String::as_str));
        }
        Ok(texts)
    }

    /// How many different texts there are; `None` if they were too many to count.
    pub fn kinds(&self) -> Option<usize> {
        (!self.free).then_some(self.levels.len())
    }

    /// The different texts in order of appearance; of free text the first [`MOST_TEXTS`].
    pub(super) fn levels(&self) -> &[String] {
        &self.levels
    }

    /// Whether there are more different texts than were kept.
    pub(super) fn is_free(&self) -> bool {
        self.free
    }

    /// The position of each text among the levels; empty for free text.
    pub(super) fn codes(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.codes
            .iter()
            .map(|&code| (code != NO_TEXT).then_some(code as usize))
    }

    fn retain(&mut self, kept: &[bool]) {
        if self.free {
            self.rows = kept.iter().filter(|&&kept| kept).count();
            // Which of them are missing is not known any more; a column of free text is left out anyway.
            self.missing = self.missing.min(self.rows);
            return;
        }
        let old: Vec<u32> = std::mem::take(&mut self.codes);
        let levels = std::mem::take(&mut self.levels);
        *self = Self::default();
        for (code, _) in old.into_iter().zip(kept).filter(|(_, kept)| **kept) {
            self.push(levels.get(code as usize).map(String::as_str));
        }
    }

    fn append(&mut self, other: &Texts) {
        if other.free && !self.free {
            self.free = true;
            self.levels.extend(other.levels.iter().cloned());
            self.codes = Vec::new();
            self.places = HashMap::new();
        }
        if self.free {
            self.rows += other.rows;
            self.missing += other.missing;
            return;
        }
        for code in other.codes() {
            self.push(code.map(|code| other.levels[code].as_str()));
        }
    }
}

impl Column {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Singles(values) => values.len(),
            Self::Sparse { rows, .. } => *rows,
            Self::Texts(texts) => texts.rows,
            Self::Untold(rows, _) => *rows,
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values are missing.
    pub fn missing(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Sparse { values, .. } => {
                values.iter().filter(|value| value.is_nan()).count()
            }
            Self::Singles(values) => values.iter().filter(|value| value.is_nan()).count(),
            Self::Texts(texts) => texts.missing,
            Self::Untold(..) => 0,
        }
    }

    /// The rows in which the value is missing.
    pub fn gaps(&self) -> Vec<usize> {
        let mut rows = Vec::new();
        self.each_gap(|row| rows.push(row));
        rows
    }

    pub(super) fn each_gap(&self, mut gap: impl FnMut(usize)) {
        match self {
            Self::Numbers(values) => mark(values.iter().map(|value| value.is_nan()), gap),
            Self::Singles(values) => mark(values.iter().map(|value| value.is_nan()), gap),
            Self::Sparse { at, values, .. } => {
                let given = at.iter().zip(values);
                given
                    .filter(|(_, value)| value.is_nan())
                    .for_each(|(&row, _)| gap(row as usize));
            }
            Self::Texts(texts) => {
                for (row, code) in texts.codes().enumerate() {
                    if code.is_none() {
                        gap(row);
                    }
                }
            }
            Self::Untold(..) => {}
        }
    }

    /// The column as texts: numbers by their names.
    pub(super) fn into_texts(self) -> Texts {
        let named = |values: &mut dyn Iterator<Item = f64>| {
            let mut texts = Texts::default();
            for value in values {
                texts.push(number_name(value).as_deref());
            }
            texts
        };
        match self {
            Self::Texts(texts) => texts,
            Self::Numbers(values) => named(&mut values.into_iter()),
            Self::Singles(values) => named(&mut values.into_iter().map(f64::from)),
            Self::Sparse { .. } => self.widened().into_texts(),
            Self::Untold(rows, _) => Texts {
                rows,
                free: true,
                ..Texts::default()
            },
        }
    }

    /// The column as numbers in double precision; texts stay what they are.
    pub(super) fn widened(self) -> Self {
        match self {
            Self::Singles(values) => Self::Numbers(values.into_iter().map(f64::from).collect()),
            Self::Sparse { rows, at, values } => {
                let mut every = vec![0.0; rows];
                for (row, value) in at.into_iter().zip(values) {
                    if let Some(to) = every.get_mut(row as usize) {
                        *to = value;
                    }
                }
                Self::Numbers(every)
            }
            other => other,
        }
    }

    /// Numbers without their zeros; texts stay what they are.
    fn thinned(self) -> Self {
        match self {
            Self::Numbers(every) => {
                let given = |(_, value): &(u32, f64)| *value != 0.0;
                let rows = every.len();
                let (at, values) = (0..).zip(every).filter(given).unzip();
                Self::Sparse { rows, at, values }
            }
            singles @ Self::Singles(_) => singles.widened().thinned(),
            other => other,
        }
    }

    fn retain(&mut self, kept: &[bool]) {
        match self {
            Self::Numbers(values) => retain(values, kept),
            Self::Singles(values) => retain(values, kept),
            Self::Sparse { rows, at, values } => {
                let mut place = 0;
                let places: Vec<Option<u32>> = kept
                    .iter()
                    .map(|&kept| {
                        place += u32::from(kept);
                        kept.then(|| place - 1)
                    })
                    .collect();
                let moved = |row: &u32| places.get(*row as usize).copied().flatten();
                let stay: Vec<bool> = at.iter().map(|row| moved(row).is_some()).collect();
                retain(values, &stay);
                *at = at.iter().filter_map(moved).collect();
                *rows = place as usize;
            }
            Self::Texts(texts) => texts.retain(kept),
            Self::Untold(rows, _) => *rows = kept.iter().filter(|&&kept| kept).count(),
        }
    }

    /// Appends the rows of another; what is text in one is text in both.
    fn append(&mut self, other: Column) {
        let first = std::mem::replace(self, Self::Numbers(Vec::new()));
        *self = match (first, other) {
            (Self::Singles(mut values), Self::Singles(more)) => {
                values.extend(more);
                Self::Singles(values)
            }
            (Self::Untold(rows, why), other) | (other, Self::Untold(rows, why)) => {
                Self::Untold(rows + other.len(), why)
            }
            (first @ Self::Texts(_), other) | (first, other @ Self::Texts(_)) => {
                let mut texts = first.into_texts();
                texts.append(&other.into_texts());
                Self::Texts(texts)
            }
            // In full they might not fit into memory.
            (first @ Self::Sparse { .. }, other) | (first, other @ Self::Sparse { .. }) => {
                first.thinned().followed_by(other.thinned())
            }
            (first, other) => match (first.widened(), other.widened()) {
                (Self::Numbers(mut values), Self::Numbers(more)) => {
                    values.extend(more);
                    Self::Numbers(values)
                }
                (first, _) => first,
            },
        };
    }
}

impl Column {
    /// Sparse numbers and more of them.
    fn followed_by(self, other: Self) -> Self {
        match (self, other) {
            (
                Self::Sparse {
                    rows,
                    mut at,
                    mut values,
                },
                Self::Sparse {
                    rows: more,
                    at: places,
                    values: others,
                },
            ) => {
                at.extend(places.into_iter().map(|row| row + rows as u32));
                values.extend(others);
                Self::Sparse {
                    rows: rows + more,
                    at,
                    values,
                }
            }
            (first, _) => first,
        }
    }
}

fn mark(missing: impl Iterator<Item = bool>, mut gap: impl FnMut(usize)) {
    for (row, missing) in missing.enumerate() {
        if missing {
            gap(row);
        }
    }
}

fn retain<T>(values: &mut Vec<T>, kept: &[bool]) {
    let mut row = 0;
    values.retain(|_| {
        row += 1;
        kept.get(row - 1).copied().unwrap_or(false)
    });
}

/// A table of named columns of one length.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Column>,
    rows: usize,
}

impl Frame {
    /// A table of columns.
    ///
    /// # Errors
    /// [`Error::Shape`] if their lengths or the number of names differ, or rows of a sparse column do not ascend.
    pub fn new(names: Vec<String>, columns: Vec<Column>, rows: usize) -> Result<Self> {
        let shape = |what, expected, got| {
            Err(Error::Shape {
                what,
                expected,
                got,
            })
        };
        if names.len() != columns.len() {
            return shape("names of columns", columns.len(), names.len());
        }
        let is_odd = |column: &&Column| match column {
            Column::Sparse { rows, at, values } => {
                let within = at.last().is_none_or(|&last| (last as usize) < *rows);
                !within || at.len() != values.len() || !at.is_sorted_by(|a, b| a < b)
            }
            _ => false,
        };
        if let Some(Column::Sparse { at, values, .. }) = columns.iter().find(is_odd) {
            let what = "rows of a sparse column, ascending, one for each of its values";
            return shape(what, values.len(), at.len());
        }
        match columns.iter().find(|column| column.len() != rows) {
            Some(odd) => shape("rows of a column", rows, odd.len()),
            None => Ok(Self {
                names,
                columns,
                rows,
            }),
        }
    }

    /// The names of its columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where the column of a name is, which may be at `guess`: in wide tables a search for each would take long.
    pub(super) fn place(&self, name: &str, guess: usize) -> Option<usize> {
        match self.names.get(guess).is_some_and(|own| own == name) {
            true => Some(guess),
            false => self.names.iter().position(|own| own == name),
        }
    }

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The number of its rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Drops rows.
    pub fn retain(&mut self, kept: &[bool]) {
        for column in &mut self.columns {
            column.retain(kept);
        }
        self.rows = kept.iter().filter(|&&kept| kept).count();
    }

    /// Appends the rows of a table with the same columns in the same order.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another number of columns.
    pub fn append(&mut self, other: Frame) -> Result<()> {
        if self.columns.len() != other.columns.len() {
            return Err(Error::Shape {
                what: "columns",
                expected: self.columns.len(),
                got: other.columns.len(),
            });
        }
        for (column, more) in self.columns.iter_mut().zip(other.columns) {
            column.append(more);
        }
        self.rows += other.rows;
        Ok(())
    }
}
