//! Delimited text with a header line.
//!
//! Cells are parsed from the bytes of one reused record into the growing columns, so memory is the table and one
//! line; a cell is neither copied by itself nor allocated for. Blank lines are skipped and do not count as rows.

use std::io::BufRead;

use memchr::memchr;

use super::batch::{Batches, Meter, rows_of};
use super::error::ReadError;
use super::growing::Growing;
use super::records::{Line, Record, Records};
use super::roles::Request;
use super::table::Table;

/// The separators that are looked for, best first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Lines that the separator is told from.
const LINES: usize = 20;

/// The lines of a delimited table.
pub struct Lines<'a> {
    request: &'a Request<'a>,
    records: Records<Box<dyn BufRead>>,
    record: Record,
    /// Whether the record is one that was not taken yet.
    more: bool,
    /// Rows that were taken.
    row: usize,
    columns: Growing<'a>,
    is_over: bool,
}

impl<'a> Lines<'a> {
    /// Reads the header; the separator is looked for unless it is given. `stored` counts the bytes that the source is made of.
    pub fn open(
        mut source: Box<dyn BufRead>,
        delimiter: Option<u8>,
        request: &'a Request<'a>,
        stored: &Meter,
    ) -> Result<Self, ReadError> {
        let delimiter = match delimiter {
            Some(delimiter) => delimiter,
            None => separator(
                source
                    .fill_buf()
                    .map_err(|error| unreadable(request, &error))?,
            ),
        };
        let mut records = Records::new(source, delimiter, stored.clone());
        let mut record = Record::default();
        let mut next = |record: &mut Record| {
            records
                .next(record)
                .map_err(|error| unreadable(request, &error))
        };
        if !next(&mut record)? {
            return Err(ReadError::NoRows {
                file: request.file.to_owned(),
            });
        }
        let mut header = names(&record, request)?;
        let more = next(&mut record)?;
        // R writes no name above the names of its rows.
        if more && record.len() == header.len() + 1 {
            header.insert(0, String::new());
        }
        if more {
            regular(&record, header.len(), 1, request)?;
        }
        let roles = request.assign(&header)?;
        let columns = Growing::new(header, roles, delimiter != b',', request);
        Ok(Self {
            request,
            records,
            record,
            more,
            row: 0,
            columns,
            is_over: false,
        })
    }
}

impl Batches for Lines<'_> {
    fn next(&mut self, values: usize) -> Result<Option<Table>, ReadError> {
        if self.is_over {
            return Ok(None);
        }
        let before = self.row;
        let most = rows_of(values, self.columns.width());
        while self.more && self.row - before < most {
            self.row += 1;
            regular(&self.record, self.columns.cells(), self.row, self.request)?;
            self.columns.push_record(&self.record, self.row)?;
            self.more = self
                .records
                .next(&mut self.record)
                .map_err(|error| unreadable(self.request, &error))?;
        }
        if !self.more {
            self.is_over = true;
            self.columns.check()?;
        }
        self.columns.take(before).map(Some)
    }
}

fn unreadable(request: &Request, error: &std::io::Error) -> ReadError {
    ReadError::Unreadable {
        file: request.file.to_owned(),
        reason: error.to_string(),
    }
}

/// Refuses a line that has not as many cells as the header.
fn regular(
    record: &Record,
    expected: usize,
    row: usize,
    request: &Request,
) -> Result<(), ReadError> {
    match record.len() {
        got if got == expected => Ok(()),
        got => Err(ReadError::Ragged {
            file: request.file.to_owned(),
            row,
            expected,
            got,
        }),
    }
}

/// The separator that splits most of the first lines alike.
fn separator(start: &[u8]) -> u8 {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let fields = |separator: u8| -> (usize, usize) {
        let (mut records, mut record) = (
            Records::new(start, separator, Meter::default()),
            Record::default(),
        );
        let mut lengths = Vec::new();
        while lengths.len() < LINES && matches!(records.next(&mut record), Ok(true)) {
            lengths.push(record.len());
        }
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
    let others = SEPARATORS[1..].iter().copied();
    for separator in others.filter(|&separator| memchr(separator, start).is_some()) {
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

impl Growing<'_> {
    fn push_record(&mut self, record: &Record, row: usize) -> Result<(), ReadError> {
        let line = record.line();
        let line = line.as_ref();
        if let Some(column) = self.roles.label {
            let text = self.text(record, line, row, column)?;
            let label = self.label_names.of(text);
            if !self.push_label(label, row) {
                return Ok(());
            }
        }
        if let Some(column) = self.roles.task {
            let text = self.text(record, line, row, column)?;
            let task = self.task_names.of(text);
            self.push_task(task, row, column)?;
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
}
