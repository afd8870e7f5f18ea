//! CSV and TSV with a header line.
//!
//! Cells are parsed from the bytes of one reused record into the growing row-major values, so
//! memory is the table and one line. Blank lines are skipped and do not count as rows.

use std::io::Read;

use ::csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::category;
use super::error::{Place, ReadError, quoted};
use super::roles::Request;
use super::table::{Table, Values};

/// What people and programs write for a value that is not known.
const MISSING: [&str; 6] = ["", "na", "n/a", "null", "none", "?"];

/// Reads a delimited table.
pub fn read(source: impl Read, delimiter: u8, request: &Request) -> Result<Table, ReadError> {
    // Flexible, because our own check of the row length can name the row.
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .from_reader(source);
    let header = names(
        reader
            .byte_headers()
            .map_err(|error| unreadable(request, &error))?,
        request,
    )?;
    refuse_other_separator(&header, delimiter, request)?;
    let roles = request.assign(&header)?;

    let cells = Cells {
        request,
        header: &header,
    };
    let mut values = Vec::new();
    let mut labels = roles.label.map(|_| Vec::new());
    let mut tasks = roles.task.map(|_| Vec::new());
    let mut record = ByteRecord::new();
    let mut row = 0;
    while reader
        .read_byte_record(&mut record)
        .map_err(|error| unreadable(request, &error))?
    {
        row += 1;
        if record.len() != header.len() {
            let file = request.file.to_owned();
            return Err(ReadError::Ragged {
                file,
                row,
                expected: header.len(),
                got: record.len(),
            });
        }
        for &column in &roles.features {
            values.push(cells.number(&record[column], row, column)?);
        }
        if let (Some(column), Some(labels)) = (roles.label, &mut labels) {
            labels.push(cells.category(&record[column], row, column, "label")?);
        }
        if let (Some(column), Some(tasks)) = (roles.task, &mut tasks) {
            tasks.push(cells.category(&record[column], row, column, "task")?);
        }
    }
    let features = roles
        .features
        .iter()
        .map(|&column| header[column].clone())
        .collect();
    Ok(Table {
        features,
        values: Values::F64(values),
        labels,
        tasks,
        rows: row,
    })
}

fn names(header: &ByteRecord, request: &Request) -> Result<Vec<String>, ReadError> {
    if header.is_empty() {
        return Err(ReadError::NoRows {
            file: request.file.to_owned(),
        });
    }
    let name = |bytes: &[u8]| {
        std::str::from_utf8(bytes)
            .map(|name| name.trim().to_owned())
            .map_err(|_| ReadError::Damaged {
                file: request.file.to_owned(),
                format: "CSV",
                reason: "the header is not UTF-8 text".to_owned(),
            })
    };
    header.iter().map(name).collect()
}

/// Refuses a header that is one column only because its separator is another one.
fn refuse_other_separator(
    header: &[String],
    delimiter: u8,
    request: &Request,
) -> Result<(), ReadError> {
    let [only] = header else { return Ok(()) };
    let others = [
        (b';', "semicolons"),
        (b'\t', "tabs"),
        (b',', "commas"),
        (b'|', "bars"),
    ];
    let other = others
        .iter()
        .find(|(byte, _)| *byte != delimiter && only.as_bytes().contains(byte));
    match other {
        None => Ok(()),
        Some(&(_, separator)) => Err(ReadError::Separator {
            file: request.file.to_owned(),
            header: quoted(only),
            separator,
        }),
    }
}

fn unreadable(request: &Request, error: &::csv::Error) -> ReadError {
    let (file, reason) = (request.file.to_owned(), error.to_string());
    match error.kind() {
        ErrorKind::Io(_) => ReadError::Unreadable { file, reason },
        _ => ReadError::Damaged {
            file,
            format: "CSV",
            reason,
        },
    }
}

/// Turns the bytes of cells into values, with what an error message needs.
struct Cells<'a> {
    request: &'a Request<'a>,
    header: &'a [String],
}

impl Cells<'_> {
    fn number(&self, bytes: &[u8], row: usize, column: usize) -> Result<f64, ReadError> {
        let parsed = std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| text.trim().parse::<f64>().ok());
        match parsed {
            Some(value) if value.is_finite() => Ok(value),
            Some(value) => Err(ReadError::NotFinite {
                place: self.place(row, column),
                value: value.to_string(),
            }),
            None => Err(self.not_a_number(bytes, row, column)),
        }
    }

    #[cold]
    fn not_a_number(&self, bytes: &[u8], row: usize, column: usize) -> ReadError {
        let place = self.place(row, column);
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        if MISSING
            .iter()
            .any(|missing| text.eq_ignore_ascii_case(missing))
        {
            return ReadError::EmptyCell { place };
        }
        let chosen =
            self.request.columns.features.is_some() || self.request.model_features().is_some();
        // Text in the very first row means a column of text, not a slip of the pen.
        if row == 1 && !chosen {
            let example = format!("row 1 holds '{}'", quoted(text));
            return ReadError::NonNumericColumn {
                file: place.file,
                column: place.column,
                example,
            };
        }
        ReadError::NotNumber {
            place,
            text: quoted(text),
        }
    }

    fn category(
        &self,
        bytes: &[u8],
        row: usize,
        column: usize,
        role: &'static str,
    ) -> Result<String, ReadError> {
        let text = std::str::from_utf8(bytes).map_err(|_| ReadError::NotUtf8 {
            place: self.place(row, column),
        })?;
        let name = category::from_text(text);
        if name.is_empty() {
            return Err(ReadError::EmptyCategory {
                place: self.place(row, column),
                role,
            });
        }
        Ok(name)
    }

    fn place(&self, row: usize, column: usize) -> Place {
        Place {
            file: self.request.file.to_owned(),
            row,
            column: self.header[column].clone(),
        }
    }
}
