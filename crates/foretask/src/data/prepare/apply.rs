//! Columns to features.

use super::column::{Column, Frame};
use super::learn::flag;
use super::plan::{Encoded, Encoding, Preparation};
use crate::data::rows::Rows;
use crate::error::{Error, Result};

/// Features, stored one after the other.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// Every column was single precision and without gaps, so half the memory is enough.
    Singles(Vec<f32>),
    /// Anything else.
    Doubles(Vec<f64>),
    /// Every column was sparse and without gaps: entries row by row ([`Rows::csr`]).
    Entries {
        /// Where rows start, and where the last one ends.
        starts: Vec<usize>,
        /// The column of each.
        columns: Vec<u32>,
        /// The values.
        values: Vec<f64>,
    },
}

/// A prepared table.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The features.
    pub features: Features,
    /// How many there are.
    pub width: usize,
    /// The number of rows.
    pub rows: usize,
    /// Rows with a text that training never saw, by column.
    pub unknown: Vec<(String, usize)>,
    /// Rows in which a missing value was filled in.
    pub filled: usize,
}

impl Prepared {
    /// The features as a study takes them.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no feature.
    pub fn view(&self) -> Result<Rows<'_>> {
        match &self.features {
            Features::Singles(values) => Rows::column_major(values, self.width),
            Features::Doubles(values) => Rows::column_major(values, self.width),
            Features::Entries {
                starts,
                columns,
                values,
            } => Rows::csr(starts, columns, values, self.width),
        }
    }
}

impl Preparation {
    /// The columns of a table in the order of this preparation, found by name.
    ///
    /// # Errors
    /// [`Error::Column`] for the first that is not there, with the name nearest to it.
    pub fn select(&self, mut frame: Frame) -> Result<Frame> {
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut next = 0;
        for wanted in &self.columns {
            match frame.place(&wanted.name, next) {
                Some(place) => {
                    next = place + 1;
                    columns.push(std::mem::replace(
                        &mut frame.columns[place],
                        Column::Numbers(Vec::new()),
                    ));
                }
                None => {
                    return Err(Error::Column {
                        column: wanted.name.clone(),
                        row: None,
                        why: missing_column(&wanted.name, &frame.names),
                    });
                }
            }
        }
        let names = self.columns.iter().map(|column| column.name.clone());
        Frame::new(names.collect(), columns, frame.rows())
    }

    /// Makes features of a table with these columns in this order; `task` is the task of each row where the
    /// preparation knows several.
    ///
    /// # Errors
    /// [`Error::Column`] if a column holds something else than in training.
    pub fn apply(&self, frame: Frame, task: Option<&[usize]>) -> Result<Prepared> {
        let rows = frame.rows();
        if frame.columns.len() != self.columns.len() {
            return Err(Error::Shape {
                what: "columns",
                expected: self.columns.len(),
                got: frame.columns.len(),
            });
        }
        let width = self.width();
        let all = |are: fn(&Column) -> bool| {
            let mut both = frame.columns.iter().zip(&self.columns);
            both.all(|(column, encoded)| {
                are(column)
                    && encoded.encoding == Encoding::Number
                    && !encoded.indicator
                    && column.missing() == 0
            })
        };
        let single = all(|column| matches!(column, Column::Singles(_)));
        let sparse = all(|column| matches!(column, Column::Sparse { .. }));
        let mut unknown = Vec::new();
        let mut gaps = vec![false; rows];
        let features = if single {
            let mut values: Vec<f32> = Vec::with_capacity(rows * width);
            for (column, encoded) in frame.columns.into_iter().zip(&self.columns) {
                if let Column::Singles(column) = column {
                    refuse_infinite(&encoded.name, column.iter().map(|&value| f64::from(value)))?;
                    values.extend(column);
                }
            }
            Features::Singles(values)
        } else if sparse {
            self.entries(&frame)?
        } else {
            let mut values: Vec<f64> = Vec::with_capacity(rows * width);
            for (column, encoded) in frame.columns.into_iter().zip(&self.columns) {
                column.each_gap(|row| gaps[row] = true);
                let unseen = encoded.append(column, task, &mut values)?;
                if unseen > 0 {
                    unknown.push((encoded.name.clone(), unseen));
                }
            }
            Features::Doubles(values)
        };
        Ok(Prepared {
            features,
            width,
            rows,
            unknown,
            filled: gaps.into_iter().filter(|&gap| gap).count(),
        })
    }
}

impl Preparation {
    /// The entries of sparse columns, row by row.
    fn entries(&self, frame: &Frame) -> Result<Features> {
        let mut starts = vec![0_usize; frame.rows() + 1];
        for (column, encoded) in frame.columns.iter().zip(&self.columns) {
            if let Column::Sparse { at, values, .. } = column {
                refuse_infinite(&encoded.name, values.iter().copied())?;
                at.iter().for_each(|&row| starts[row as usize + 1] += 1);
            }
        }
        for row in 0..frame.rows() {
            starts[row + 1] += starts[row];
        }
        let all = starts[frame.rows()];
        let (mut columns, mut numbers) = (vec![0; all], vec![0.0; all]);
        let mut next = starts.clone();
        for (place, column) in frame.columns.iter().enumerate() {
            if let Column::Sparse { at, values, .. } = column {
                for (&row, &value) in at.iter().zip(values) {
                    let to = &mut next[row as usize];
                    columns[*to] = place as u32;
                    numbers[*to] = value;
                    *to += 1;
                }
            }
        }
        Ok(Features::Entries {
            starts,
            columns,
            values: numbers,
        })
    }
}

impl Encoded {
    /// Appends the features of a column, and says how many of its texts are new.
    fn append(
        &self,
        column: Column,
        task: Option<&[usize]>,
        values: &mut Vec<f64>,
    ) -> Result<usize> {
        let rows = column.len();
        let start = values.len();
        let mut unseen = 0;
        let mut absent: Vec<bool> = Vec::new();
        if self.indicator {
            absent = vec![false; rows];
            column.each_gap(|row| absent[row] = true);
        }
        match &self.encoding {
            Encoding::Number => match column.widened() {
                Column::Numbers(column) => {
                    refuse_infinite(&self.name, column.iter().copied())?;
                    values.extend(column);
                    self.fill(&mut values[start..], task)?;
                }
                Column::Texts(texts) => {
                    return Err(self.changed("numbers", texts.levels()));
                }
                Column::Singles(_) | Column::Sparse { .. } | Column::Untold(..) => {
                    return Err(self.changed("numbers", &[]));
                }
            },
            Encoding::Flag => {
                let texts = column.into_texts();
                let flags: Vec<f64> = texts.levels().iter().map(|level| flag(level)).collect();
                if texts.is_free() || flags.iter().any(|flag| flag.is_nan()) {
                    return Err(self.changed("yes or no", texts.levels()));
                }
                values.extend(
                    texts
                        .codes()
                        .map(|code| code.map_or(f64::NAN, |code| flags[code])),
                );
                self.fill(&mut values[start..], task)?;
            }
            Encoding::Levels(levels) => {
                let texts = column.into_texts();
                values.resize(start + rows * levels.len(), 0.0);
                if texts.is_free() {
                    // Which of many texts a row had is not known any more: none of the levels.
                    unseen = rows;
                }
                let places: Vec<Option<usize>> = texts
                    .levels()
                    .iter()
                    .map(|text| levels.iter().position(|level| level == text))
                    .collect();
                for (row, code) in texts.codes().enumerate() {
                    match code.map(|code| places[code]) {
                        Some(Some(level)) => values[start + level * rows + row] = 1.0,
                        Some(None) => unseen += 1,
                        None => {}
                    }
                }
            }
        }
        values.extend(absent.into_iter().map(|absent| f64::from(u8::from(absent))));
        Ok(unseen)
    }

    fn fill(&self, values: &mut [f64], task: Option<&[usize]>) -> Result<()> {
        for (row, value) in values.iter_mut().enumerate() {
            if value.is_nan() {
                let task = match self.fills.len() {
                    1 => 0,
                    _ => task.and_then(|task| task.get(row)).copied().unwrap_or(0),
                };
                *value = *self.fills.get(task).ok_or_else(|| Error::Column {
                    column: self.name.clone(),
                    row: Some(row + 1),
                    why: "the value is missing; fill it in or drop the row".to_owned(),
                })?;
            }
        }
        Ok(())
    }

    fn changed(&self, was: &str, levels: &[String]) -> Error {
        let is_odd = |level: &&String| match was {
            "numbers" => level.parse::<f64>().is_err(),
            _ => flag(level).is_nan(),
        };
        let example = levels.iter().find(is_odd).or(levels.first());
        let example = example.map_or(String::new(), |text| format!(" ('{text}')"));
        Error::Column {
            column: self.name.clone(),
            row: None,
            why: format!("held {was} in training and holds text now{example}"),
        }
    }
}

fn refuse_infinite(name: &str, mut values: impl Iterator<Item = f64>) -> Result<()> {
    match values.position(f64::is_infinite) {
        None => Ok(()),
        Some(row) => Err(Error::Column {
            column: name.to_owned(),
            row: Some(row + 1),
            why: "the value is infinite; write a number, or leave the cell empty".to_owned(),
        }),
    }
}

/// Why a column is not found, with the name nearest to it.
fn missing_column(wanted: &str, names: &[String]) -> String {
    let why = "the model needs it and the table has none of that name";
    match nearest(wanted, names) {
        Some(name) => format!("{why}; did you mean '{name}'?"),
        None => why.to_owned(),
    }
}

/// The name that is nearest to one that is not there, if one is near.
pub fn nearest<'n>(wanted: &str, names: &'n [String]) -> Option<&'n str> {
    let lower = wanted.to_lowercase();
    let distance = |name: &&String| strsim::levenshtein(&lower, &name.to_lowercase());
    let name = names.iter().min_by_key(distance)?;
    (2 * distance(&name) <= wanted.chars().count().max(2)).then_some(name.as_str())
}
