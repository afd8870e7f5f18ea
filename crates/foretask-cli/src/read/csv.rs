//! Delimited text with a header line.
//!
//! Cells are parsed from the bytes of one reused record into the growing columns, so memory is the table and one
//! line; a cell is neither copied by itself nor allocated for. Blank lines are skipped and do not count as rows.

use std::io::BufRead;

use ::csv::ReaderBuilder;

use super::builder::{Builder, Categories};
use super::category::Category;
use super::error::{Place, ReadError};
use super::records::{Line, Record, Records};
use super::roles::{Request, Roles};
use super::table::{Kept, Table};

/// The separators that are looked for, best first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Lines that the separator is told from.
const LINES: usize = 20;

/// Reads a delimited table; the separator is looked for unless it is given.
pub fn read(
    mut source: impl BufRead,
    delimiter: Option<u8>,
    request: &Request,
) -> Result<Table, ReadError> {
    let unreadable_source = |error: std::io::Error| ReadError::Unreadable {
        file: request.file.to_owned(),
        reason: error.to_string(),
    };
    let delimiter = match delimiter {
        Some(delimiter) => delimiter,
        None => separator(source.fill_buf().map_err(unreadable_source)?),
    };
    read_separated(source, delimiter, request)
}

fn read_separated(
    source: impl BufRead,
    delimiter: u8,
    request: &Request,
) -> Result<Table, ReadError> {
    let mut records = Records::new(source, delimiter);
    let mut record = Record::default();
    let mut next = |record: &mut Record| {
        records.next(record).map_err(|error| ReadError::Unreadable {
            file: request.file.to_owned(),
            reason: error.to_string(),
        })
    };
    if !next(&mut record)? {
        return Err(ReadError::NoRows {
            file: request.file.to_owned(),
        });
    }
    let mut header = names(&record, request)?;
    let mut more = next(&mut record)?;
    // R writes no name above the names of its rows.
    if more && record.len() == header.len() + 1 {
        header.insert(0, String::new());
    }
    let roles = request.assign(&header)?;
    let mut columns = Growing::new(&header, &roles, delimiter != b',', request);
    let mut row = 0;
    while more {
        row += 1;
        if record.len() != header.len() {
            return Err(ReadError::Ragged {
                file: request.file.to_owned(),
                row,
                expected: header.len(),
                got: record.len(),
            });
        }
        columns.push(&record, row)?;
        more = next(&mut record)?;
    }
    columns.finish()
}

/// The separator that splits most of the first lines alike.
fn separator(start: &[u8]) -> u8 {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let fields = |separator: u8| -> (usize, usize) {
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .flexible(true)
            .has_headers(false)
            .from_reader(start);
        let lengths: Vec<usize> = reader
            .byte_records()
            .take(LINES)
            .filter_map(Result::ok)
            .map(|record| record.len())
            .collect();
        // The last line may be cut.
        let whole = match lengths.len() {
            0..=2 => &lengths[..],
            lines => &lengths[..lines - 1],
        };
        let first = whole.first().copied().unwrap_or(0);
        let alike = whole[whole.len().min(1)..]
            .iter()
            .filter(|&&length| length == first || length == first + 1)
            .count();
        match first {
            0 | 1 => (0, first),
            _ => (1 + alike, first),
        }
    };
    let mut best = (SEPARATORS[0], fields(SEPARATORS[0]));
    for &separator in &SEPARATORS[1..] {
        let found = fields(separator);
        if found > best.1 {
            best = (separator, found);
        }
    }
    best.0
}

fn names(header: &Record, request: &Request) -> Result<Vec<String>, ReadError> {
    let name = |(position, bytes): (usize, &[u8])| {
        let bytes = match position {
            0 => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            _ => bytes,
        };
        std::str::from_utf8(bytes)
            .map(|name| name.trim().to_owned())
            .map_err(|_| ReadError::Damaged {
                file: request.file.to_owned(),
                format: "CSV",
                reason: "the header is not UTF-8 text".to_owned(),
            })
    };
    header.cells().enumerate().map(name).collect()
}

/// The table as it grows.
struct Growing<'a> {
    request: &'a Request<'a>,
    header: &'a [String],
    roles: &'a Roles,
    features: Vec<Builder>,
    label_names: Categories,
    labels: Vec<Category>,
    task_names: Categories,
    tasks: Vec<Category>,
    unlabelled: usize,
    rows: usize,
    kept: Vec<Kept>,
}

impl<'a> Growing<'a> {
    fn new(
        header: &'a [String],
        roles: &'a Roles,
        decimal_comma: bool,
        request: &'a Request<'a>,
    ) -> Self {
        let feature = |&column: &usize| {
            let name = &header[column];
            Builder::new(name, request.expected(name), decimal_comma)
        };
        let kept = |&column: &usize| Kept {
            name: header[column].clone(),
            cells: Vec::new(),
        };
        Self {
            request,
            header,
            roles,
            features: roles.features.iter().map(feature).collect(),
            label_names: Categories::default(),
            labels: Vec::new(),
            task_names: Categories::default(),
            tasks: Vec::new(),
            unlabelled: 0,
            rows: 0,
            kept: roles.kept.iter().map(kept).collect(),
        }
    }

    fn push(&mut self, record: &Record, row: usize) -> Result<(), ReadError> {
        let line = record.line();
        let line = line.as_ref();
        if let Some(column) = self.roles.label {
            let text = self.text(record, line, row, column)?;
            match self.label_names.of(text) {
                Some(label) => self.labels.push(label),
                None => {
                    self.unlabelled += 1;
                    return Ok(());
                }
            }
        }
        if let Some(column) = self.roles.task {
            let text = self.text(record, line, row, column)?;
            let task = self.task_names.of(text);
            self.tasks
                .push(task.ok_or_else(|| ReadError::EmptyCategory {
                    place: self.place(row, column),
                    role: "task",
                })?);
        }
        for (slot, &column) in self.roles.features.iter().enumerate() {
            let text = self.text(record, line, row, column)?;
            if let Some(feature) = self.features.get_mut(slot) {
                feature.push_text(text, self.request.file, row)?;
            }
        }
        for (slot, &column) in self.roles.kept.iter().enumerate() {
            let text = self.text(record, line, row, column)?.to_owned();
            self.kept[slot].cells.push(text);
        }
        self.rows += 1;
        Ok(())
    }

    fn finish(self) -> Result<Table, ReadError> {
        let named = |column: Option<usize>| column.map(|column| self.header[column].clone());
        let (label, task) = (named(self.roles.label), named(self.roles.task));
        let mut columns = Vec::with_capacity(self.features.len());
        for feature in self.features {
            columns.push(feature.finish(self.request.file)?);
        }
        Ok(Table {
            frame: self
                .request
                .frame(self.header, self.roles, columns, self.rows)?,
            labels: self.roles.label.map(|_| self.labels),
            tasks: self.roles.task.map(|_| self.tasks),
            label,
            task,
            unlabelled: self.unlabelled,
            array: false,
            kept: self.kept,
        })
    }

    fn text<'t>(
        &self,
        record: &'t Record,
        line: Option<&Line<'t>>,
        row: usize,
        column: usize,
    ) -> Result<&'t str, ReadError> {
        match line.and_then(|line| line.cell(column)) {
            Some(text) => Ok(text),
            None => std::str::from_utf8(record.cell(column)).map_err(|_| ReadError::NotUtf8 {
                place: self.place(row, column),
            }),
        }
    }

    fn place(&self, row: usize, column: usize) -> Place {
        Place {
            file: self.request.file.to_owned(),
            row,
            column: self.header[column].clone(),
        }
    }
}
