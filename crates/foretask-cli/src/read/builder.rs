//! [`Builder`]: a column as it is read, cell by cell.
//!
//! A column is numbers until a cell says otherwise; then it is texts, and what it held before becomes the texts that
//! those numbers would have been. So it does not matter in which row the first text stands.

use foretask::prepare::{Column, Texts, WhyLeftOut, number_name, text_name};

use super::category::{Category, Memo};
use super::error::{Place, ReadError, quoted};

/// What people and programs write for a value that is not known, as pandas, R, SAS and the UCI archive do.
const MISSING: [&str; 12] = [
    "", "na", "n/a", "nan", "null", "none", "?", "<na>", "#n/a", "-", "--", ".",
];

/// The same for a class: `none` may be one.
const NO_LABEL: [&str; 7] = ["", "na", "n/a", "nan", "null", "?", "<na>"];

/// A column with more other cells than this share of numbers is text.
const SLIPS: f64 = 0.1;

/// Different texts up to which a column of numbers with some text is taken for names.
const FEW_TEXTS: usize = 32;

/// What a column is expected to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// What it holds decides.
    Anything,
    /// Numbers, and anything else is an error.
    Numbers,
    /// Texts; numbers are names.
    Texts,
}

/// A column as it grows.
pub struct Builder {
    name: String,
    expected: Expected,
    decimal_comma: bool,
    column: Column,
    numbers: usize,
    /// Cells that are neither numbers nor missing, and the first of them.
    others: usize,
    first_other: Option<(usize, String)>,
    different: std::collections::HashSet<String>,
    /// Of a column of texts.
    known: Memo<Told>,
}

/// What a cell of a column of texts is, and the code of its text.
#[derive(Clone, Copy)]
enum Told {
    Missing(u32),
    Number(u32),
    Other(u32),
}

impl Builder {
    /// An empty column.
    pub fn new(name: &str, expected: Expected, decimal_comma: bool) -> Self {
        Self {
            name: name.to_owned(),
            expected,
            decimal_comma,
            column: match expected {
                Expected::Texts => Column::Texts(Texts::default()),
                _ => Column::Numbers(Vec::new()),
            },
            numbers: 0,
            others: 0,
            first_other: None,
            different: std::collections::HashSet::new(),
            known: Memo::default(),
        }
    }

    /// Appends a cell of text.
    pub fn push_text(&mut self, cell: &str, file: &str, row: usize) -> Result<(), ReadError> {
        let text = trimmed(cell);
        match &mut self.column {
            Column::Numbers(values) => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    values.push(value);
                    self.numbers += 1;
                    return Ok(());
                }
                _ => {}
            },
            Column::Texts(texts) => {
                let known = self.known.get(text.as_bytes());
                if let Some(Told::Missing(code) | Told::Number(code) | Told::Other(code)) = known {
                    texts.repeat(code);
                    self.numbers += usize::from(matches!(known, Some(Told::Number(_))));
                    self.others += usize::from(matches!(known, Some(Told::Other(_))));
                    return Ok(());
                }
            }
            Column::Untold(rows, _) => {
                *rows += 1;
                return Ok(());
            }
            Column::Singles(_) | Column::Sparse { .. } => {}
        }
        self.push_odd(text, file, row)
    }

    /// Appends a cell that is neither: the column is none that can become features.
    pub fn push_nested(&mut self) {
        let rows = self.column.len() + 1;
        self.column = untold(rows, false);
    }

    /// Appends a number; NaN is a missing one.
    pub fn push_number(&mut self, value: f64, file: &str, row: usize) -> Result<(), ReadError> {
        if value.is_infinite() {
            return Err(self.not_finite(value, file, row));
        }
        match &mut self.column {
            Column::Numbers(values) => values.push(value),
            Column::Texts(texts) => {
                texts.push(number_name(value).as_deref());
            }
            Column::Untold(rows, _) => *rows += 1,
            Column::Singles(_) | Column::Sparse { .. } => {}
        }
        self.numbers += usize::from(!value.is_nan());
        Ok(())
    }

    /// A cell that is not simply a number, nor a text that was seen not long ago.
    #[cold]
    fn push_odd(&mut self, text: &str, file: &str, row: usize) -> Result<(), ReadError> {
        if is_missing(text) {
            match &mut self.column {
                Column::Numbers(values) => values.push(f64::NAN),
                Column::Texts(texts) => {
                    let told = Told::Missing(texts.push(None));
                    self.known.insert(text.as_bytes(), told);
                }
                Column::Singles(_) | Column::Sparse { .. } | Column::Untold(..) => {}
            }
            return Ok(());
        }
        // Among texts "Infinity" is one of them, such as the name of a film.
        let is_text = matches!(self.column, Column::Texts(_));
        let number = match self.expected {
            Expected::Texts => None,
            _ => (self.number(text)).filter(|value| value.is_finite() || !is_text),
        };
        if let Some(value) = number {
            if let Column::Texts(texts) = &mut self.column {
                let told = Told::Number(texts.push(number_name(value).as_deref()));
                self.known.insert(text.as_bytes(), told);
                self.numbers += 1;
                return Ok(());
            }
            return self.push_number(value, file, row);
        }
        if self.expected == Expected::Numbers {
            return Err(ReadError::NotNumber {
                place: self.place(file, row),
                text: quoted(text),
            });
        }
        if let Column::Numbers(values) = &self.column {
            let mut texts = Texts::default();
            for &value in values {
                texts.push(number_name(value).as_deref());
            }
            self.column = Column::Texts(texts);
        }
        if let Column::Texts(texts) = &mut self.column {
            let told = Told::Other(texts.push(Some(&text_name(text))));
            self.known.insert(text.as_bytes(), told);
        }
        self.others += 1;
        if self.first_other.is_none() {
            self.first_other = Some((row, text.to_owned()));
        }
        if self.different.len() <= FEW_TEXTS {
            self.different.insert(text.to_owned());
        }
        Ok(())
    }

    /// A number that is written with a comma, or is too large.
    fn number(&self, text: &str) -> Option<f64> {
        if let Ok(value) = text.parse::<f64>() {
            return Some(value);
        }
        let (whole, decimals) = text.split_once(',').filter(|_| self.decimal_comma)?;
        if decimals.contains([',', '.']) {
            return None;
        }
        // 1.234,5: points between thousands.
        format!("{}.{decimals}", whole.replace('.', ""))
            .parse()
            .ok()
    }

    /// The cells since the last time. What was text stays text, and what was neither stays so.
    pub fn take(&mut self) -> Column {
        let next = match &self.column {
            Column::Texts(_) => Column::Texts(Texts::default()),
            Column::Untold(_, why) => Column::Untold(0, *why),
            _ => Column::Numbers(Vec::new()),
        };
        // Codes are those of the texts that go.
        self.known = Memo::default();
        std::mem::replace(&mut self.column, next)
    }

    /// Whether all cells together make a column: a few texts among numbers are slips of the pen, and are named.
    pub fn check(&self, file: &str) -> Result<(), ReadError> {
        let all = (self.numbers + self.others) as f64;
        let few = (self.others as f64) <= SLIPS * all;
        if let (Column::Texts(_), Some((row, text)), Expected::Anything, true) =
            (&self.column, &self.first_other, self.expected, few)
            && self.numbers > FEW_TEXTS
        {
            return Err(ReadError::MostlyNumbers {
                place: self.place(file, *row),
                text: quoted(text),
                numbers: self.numbers,
                others: self.others,
            });
        }
        Ok(())
    }

    fn not_finite(&self, value: f64, file: &str, row: usize) -> ReadError {
        ReadError::NotFinite {
            place: self.place(file, row),
            value: value.to_string(),
        }
    }

    fn place(&self, file: &str, row: usize) -> Place {
        Place {
            file: file.to_owned(),
            row,
            column: self.name.clone(),
        }
    }
}

/// Whether a cell says that its value is not known.
pub fn is_missing(text: &str) -> bool {
    let mut words = MISSING.iter();
    text.len() <= 4 && words.any(|word| text.eq_ignore_ascii_case(word))
}

/// A text without white space around it; nearly all have none.
fn trimmed(text: &str) -> &str {
    let dark = |byte: Option<&u8>| byte.is_some_and(|byte| (b'!'..=b'~').contains(byte));
    match dark(text.as_bytes().first()) && dark(text.as_bytes().last()) {
        true => text,
        false => text.trim(),
    }
}

/// The name of a class or task, none if it is not known.
pub fn category(text: &str) -> Option<Category> {
    let text = text.trim();
    let mut words = NO_LABEL.iter();
    if text.len() <= 4 && words.any(|word| text.eq_ignore_ascii_case(word)) {
        return None;
    }
    Some(text_name(text).into())
}

/// The names of classes or tasks, as they are read.
#[derive(Default)]
pub struct Categories {
    known: Memo<Option<Category>>,
}

impl Categories {
    /// The name that a text stands for, none if it is not known.
    pub fn of(&mut self, text: &str) -> Option<Category> {
        match self.known.get(text.as_bytes()) {
            Some(known) => known,
            None => {
                let told = category(text);
                self.known.insert(text.as_bytes(), told.clone());
                told
            }
        }
    }

    /// The name that is written so.
    pub fn exactly(&mut self, name: &str) -> Category {
        match self.known.get(name.as_bytes()).flatten() {
            Some(known) => known,
            None => {
                let told = Category::from(name);
                self.known.insert(name.as_bytes(), Some(told.clone()));
                told
            }
        }
    }
}

/// A column of a type that cannot become features.
pub fn untold(rows: usize, dates: bool) -> Column {
    Column::Untold(
        rows,
        match dates {
            true => WhyLeftOut::Dates,
            false => WhyLeftOut::Nested,
        },
    )
}
