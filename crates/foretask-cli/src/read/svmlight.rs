//! svmlight lines: `label index:value index:value # comment`. What is not written is zero, and is not written out in
//! large tables.
//!
//! The columns are called after their indices, `f1`, `f2`, …; there is no task in such a file: every file is one.
//! Which indices there are is known at the end of the last file, so that files are read twice: for their indices, and
//! for their values, some rows at a time.

use std::io::BufRead;

use foretask::prepare::{Column, Frame};

use super::batch::{Batches, PANEL, rows_of};
use super::builder::Categories;
use super::category::Category;
use super::error::{Names, ReadError};
use super::roles::Request;
use super::source::Twice;
use super::table::{Origin, Table};

/// The largest index: the place of each column is remembered.
const MOST_COLUMNS: usize = 1 << 22;
/// Up to this index there are all columns, beyond it those that some row gives: each costs its name, and a small file
/// may have a large index.
const ALL_COLUMNS: usize = 1 << 16;
/// Zeros are written out in tables of at most so many values (32 MB): small ones are faster so,
const SMALL: usize = 1 << 22;
/// and where at least one value in so many is given, up to
const OFTEN: usize = 4;
/// this many (8 GB).
const MOST_VALUES: usize = 1 << 30;
/// What an entry of a sparse column takes, in values.
const ENTRY: usize = 2;

/// No column.
const NOWHERE: u32 = u32::MAX;

/// Which indices are given, in any number of files.
#[derive(Default)]
pub struct Indices {
    given: Vec<u64>,
    last: usize,
}

impl Indices {
    fn add(&mut self, index: usize) {
        self.last = self.last.max(index);
        if index <= MOST_COLUMNS {
            let word = index / 64;
            if self.given.len() <= word {
                self.given.resize(word + 1, 0);
            }
            self.given[word] |= 1 << (index % 64);
        }
    }

    fn has(&self, index: usize) -> bool {
        let word = self.given.get(index / 64).copied().unwrap_or(0);
        word >> (index % 64) & 1 == 1
    }

    /// The columns of a table. Files count from one, some from zero.
    fn columns(&self) -> Vec<usize> {
        if self.last <= ALL_COLUMNS {
            return (usize::from(!self.has(0))..=self.last).collect();
        }
        let words = self
            .given
            .iter()
            .enumerate()
            .filter(|&(_, &word)| word != 0);
        words
            .flat_map(|(place, _)| 64 * place..64 * place + 64)
            .filter(|&index| self.has(index))
            .collect()
    }
}

/// How large a file is.
struct Size {
    rows: usize,
    entries: usize,
}

/// Looks at the indices of a file.
fn look(stream: Box<dyn BufRead>, file: &str, indices: &mut Indices) -> Result<Size, ReadError> {
    let mut lines = Lines::new(stream, file);
    let mut size = Size {
        rows: 0,
        entries: 0,
    };
    while let Some(line) = lines.next()? {
        size.rows += 1;
        line.each(|word, index, _| {
            let index = index.parse().map_err(|_| line.no_entry(word))?;
            indices.add(index);
            size.entries += 1;
            Ok(())
        })?;
    }
    Ok(size)
}

/// Looks at the indices of another file of the same table.
pub fn look_at(
    stream: Box<dyn BufRead>,
    file: &str,
    indices: &mut Indices,
) -> Result<(), ReadError> {
    look(stream, file, indices).map(drop)
}

/// Lines with something on them.
struct Lines<'f> {
    stream: Box<dyn BufRead>,
    file: &'f str,
    number: usize,
    text: String,
}

struct Line<'l> {
    file: &'l str,
    number: usize,
    label: &'l str,
    rest: &'l str,
}

impl<'f> Lines<'f> {
    fn new(stream: Box<dyn BufRead>, file: &'f str) -> Self {
        Self {
            stream,
            file,
            number: 0,
            text: String::new(),
        }
    }

    fn next(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        loop {
            self.text.clear();
            self.number += 1;
            let read = self.stream.read_line(&mut self.text);
            let read = read.map_err(|error| ReadError::Line {
                file: self.file.to_owned(),
                line: self.number,
                why: error.to_string(),
            })?;
            if read == 0 {
                return Ok(None);
            }
            if !said(&self.text).is_empty() {
                break;
            }
        }
        let text = said(&self.text);
        let (label, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        Ok(Some(Line {
            file: self.file,
            number: self.number,
            label,
            rest,
        }))
    }
}

/// A line without its comment.
fn said(text: &str) -> &str {
    text.split('#').next().unwrap_or_default().trim()
}

impl Line<'_> {
    fn wrong(&self, why: String) -> ReadError {
        ReadError::Line {
            file: self.file.to_owned(),
            line: self.number,
            why,
        }
    }

    fn no_entry(&self, word: &str) -> ReadError {
        self.wrong(format!("'{word}' is not index:value"))
    }

    /// Every word with its index and its value.
    fn each<'t>(
        &'t self,
        mut each: impl FnMut(&'t str, &'t str, &'t str) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        for word in self.rest.split_whitespace() {
            match word.split_once(':') {
                Some(("qid", _)) => {}
                Some((index, value)) => each(word, index, value)?,
                None => return Err(self.no_entry(word)),
            }
        }
        Ok(())
    }
}

/// The rows of a file, some at a time.
pub struct Rows<'a> {
    request: &'a Request<'a>,
    lines: Lines<'a>,
    names: Vec<String>,
    /// The column of each index.
    places: Vec<u32>,
    is_sparse: bool,
    /// Rows that are left, and were read.
    left: usize,
    row: usize,
    is_over: bool,
    label_names: Categories,
}

impl<'a> Rows<'a> {
    /// Looks at the indices of the file, and of the `others` of the table where they decide what the columns are.
    pub fn open(
        mut source: Twice,
        request: &'a Request<'a>,
        others: impl FnOnce(&mut Indices) -> Result<(), ReadError>,
    ) -> Result<Self, ReadError> {
        let mut indices = Indices::default();
        let size = look(source.pass()?, request.file, &mut indices)?;
        let names = match (request.preparation(), request.first) {
            (Some(model), _) => {
                let columns = model.columns.iter();
                columns.map(|column| column.name.clone()).collect()
            }
            (None, Some((_, names))) => names.to_vec(),
            (None, None) => {
                others(&mut indices)?;
                names_of(&indices, request)?
            }
        };
        let mut places = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let index = name.strip_prefix('f').and_then(|own| own.parse().ok());
            if let Some(index) = index.filter(|&index: &usize| index <= MOST_COLUMNS) {
                if places.len() <= index {
                    places.resize(index + 1, NOWHERE);
                }
                places[index] = place as u32;
            }
        }
        if places.is_empty() {
            return Err(ReadError::MissingFeatures {
                file: request.file.to_owned(),
                expected: names.len(),
                nearest: "; its columns are called f1, f2, …".to_owned(),
                missing: Names(names),
            });
        }
        let all = names.len().saturating_mul(size.rows.max(1));
        Ok(Self {
            lines: Lines::new(source.pass()?, request.file),
            is_sparse: all > SMALL && all / OFTEN > size.entries,
            request,
            names,
            places,
            left: size.rows,
            row: 0,
            is_over: false,
            label_names: Categories::default(),
        })
    }

    fn damaged(&self, reason: String) -> ReadError {
        ReadError::Damaged {
            file: self.request.file.to_owned(),
            format: "svmlight",
            reason,
        }
    }

    fn empty(&self) -> Vec<Column> {
        let column = |_: &String| match self.is_sparse {
            true => Column::Sparse {
                rows: 0,
                at: Vec::new(),
                values: Vec::new(),
            },
            false => Column::Numbers(Vec::new()),
        };
        self.names.iter().map(column).collect()
    }

    /// Reads a row, and says how many entries it has.
    fn push(
        &mut self,
        columns: &mut [Column],
        labels: &mut Vec<Category>,
    ) -> Result<Option<usize>, ReadError> {
        let Some(line) = self.lines.next()? else {
            return Ok(None);
        };
        let label = self.label_names.of(line.label);
        let row = labels.len();
        labels.push(label.ok_or_else(|| line.wrong("has no label".to_owned()))?);
        if !self.is_sparse {
            for column in &mut *columns {
                if let Column::Numbers(values) = column {
                    values.push(0.0);
                }
            }
        }
        let mut entries = 0;
        line.each(|word, index, value| {
            let parsed = index.parse::<usize>().ok().zip(value.parse::<f64>().ok());
            let finite = parsed.filter(|(_, value)| value.is_finite());
            let (index, value) = finite.ok_or_else(|| line.no_entry(word))?;
            entries += 1;
            let place = self.places.get(index).copied().unwrap_or(NOWHERE);
            match (columns.get_mut(place as usize), self.request.first) {
                (Some(Column::Numbers(values)), _) => {
                    if let Some(to) = values.last_mut() {
                        *to = value;
                    }
                }
                (Some(Column::Sparse { at, values, .. }), _) => {
                    // The last one counts.
                    if at.last() == Some(&(row as u32)) {
                        at.pop();
                        values.pop();
                    }
                    at.push(row as u32);
                    values.push(value);
                }
                (None, Some((first, _))) if self.request.preparation().is_none() => {
                    return Err(ReadError::Wider {
                        file: self.request.file.to_owned(),
                        first: first.to_owned(),
                        index,
                    });
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(Some(entries))
    }
}

impl Batches for Rows<'_> {
    fn next(&mut self, values: usize) -> Result<Option<Table>, ReadError> {
        if self.is_over {
            return Ok(None);
        }
        let width = self.names.len();
        let most = match self.is_sparse {
            true => u32::MAX as usize,
            false => rows_of(values, width).min(self.left.max(1)),
        };
        if !self.is_sparse && most.saturating_mul(width) > MOST_VALUES
            || self.left.min(most) >= u32::MAX as usize
        {
            return Err(self.damaged(format!(
                "{} rows of {width} columns are too many",
                self.left
            )));
        }
        let (mut columns, mut labels) = (self.empty(), Vec::new());
        let mut held = 0;
        while labels.len() < most {
            let is_full = held >= values && (labels.len() < PANEL || labels.len() % PANEL == 0);
            if self.is_sparse && is_full {
                break;
            }
            match self.push(&mut columns, &mut labels)? {
                Some(entries) => held += 1 + ENTRY * entries,
                None => {
                    self.is_over = true;
                    break;
                }
            }
        }
        let rows = labels.len();
        for column in &mut columns {
            if let Column::Sparse { rows: own, .. } = column {
                *own = rows;
            }
        }
        let before = self.row;
        self.row += rows;
        self.left = self.left.saturating_sub(rows);
        let frame = Frame::new(self.names.clone(), columns, rows)
            .map_err(|error| self.damaged(error.to_string()))?;
        Ok(Some(Table {
            frame,
            labels: self.request.needs_label().then_some(labels),
            array: true,
            origin: Origin {
                before,
                ..Origin::default()
            },
            ..Table::default()
        }))
    }
}

/// The names of the columns that some file gives.
fn names_of(indices: &Indices, request: &Request) -> Result<Vec<String>, ReadError> {
    if indices.last > MOST_COLUMNS {
        return Err(ReadError::Damaged {
            file: request.file.to_owned(),
            format: "svmlight",
            reason: format!(
                "it has a feature {}, and a table at most {MOST_COLUMNS}",
                indices.last
            ),
        });
    }
    let columns = indices.columns();
    if columns.is_empty() {
        return Err(ReadError::NoFeatures {
            file: request.file.to_owned(),
            available: Names(Vec::new()),
        });
    }
    Ok((columns.iter()).map(|index| format!("f{index}")).collect())
}
