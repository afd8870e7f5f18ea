//! svmlight lines: `label index:value index:value # comment`. What is not written is zero, and is not written out in
//! large tables.
//!
//! The columns are called after their indices, `f1`, `f2`, …; there is no task in such a file: every file is one.

use std::io::BufRead;

use foretask::prepare::{Column, Frame};

use super::builder::category;
use super::error::{Names, ReadError};
use super::roles::Request;
use super::table::Table;

/// Columns that a table may have: each costs its name, whatever is in it.
const MOST_COLUMNS: usize = 1 << 22;
/// Zeros are written out in tables of at most so many values (32 MB): small ones are faster so,
const SMALL: usize = 1 << 22;
/// and where at least one value in so many is given, up to
const OFTEN: usize = 4;
/// this many (8 GB).
const MOST_VALUES: usize = 1 << 30;

/// Reads a table of svmlight lines.
pub fn read(source: impl BufRead, request: &Request) -> Result<Table, ReadError> {
    let mut labels = Vec::new();
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    let mut last = 0;
    for (line, text) in source.lines().enumerate() {
        let wrong = |why: String| ReadError::Line {
            file: request.file.to_owned(),
            line: line + 1,
            why,
        };
        let text = text.map_err(|error| wrong(error.to_string()))?;
        let mut words = text
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let Some(label) = words.next() else { continue };
        let row = labels.len();
        labels.push(category(label).ok_or_else(|| wrong("has no label".to_owned()))?);
        for word in words {
            let (index, value) = word
                .split_once(':')
                .ok_or_else(|| wrong(format!("'{word}' is not index:value")))?;
            if index == "qid" {
                continue;
            }
            let parsed = index.parse::<usize>().ok().zip(value.parse::<f64>().ok());
            match parsed {
                Some((index, value)) if value.is_finite() => {
                    last = last.max(index);
                    entries.push((row, index, value));
                }
                _ => return Err(wrong(format!("'{word}' is not index:value"))),
            }
        }
    }
    let rows = labels.len();
    let names = columns(request, last)?;
    let all = names.len().saturating_mul(rows.max(1));
    let sparse = all > SMALL && all / OFTEN > entries.len();
    if !sparse && all > MOST_VALUES || rows > u32::MAX as usize {
        return Err(ReadError::Damaged {
            file: request.file.to_owned(),
            format: "svmlight",
            reason: format!("{rows} rows of {} columns are too many", names.len()),
        });
    }
    let place: std::collections::HashMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(place, name)| (name.as_str(), place))
        .collect();
    let empty = || match sparse {
        true => Column::Sparse {
            rows,
            at: Vec::new(),
            values: Vec::new(),
        },
        false => Column::Numbers(vec![0.0; rows]),
    };
    let mut columns: Vec<Column> = names.iter().map(|_| empty()).collect();
    let mut beyond = None;
    for (row, index, value) in entries {
        let name = format!("f{index}");
        match place.get(name.as_str()) {
            Some(&place) => match &mut columns[place] {
                Column::Numbers(values) => values[row] = value,
                Column::Sparse { at, values, .. } => {
                    // The last one counts.
                    if at.last() == Some(&(row as u32)) {
                        at.pop();
                        values.pop();
                    }
                    at.push(row as u32);
                    values.push(value);
                }
                _ => {}
            },
            None => beyond = beyond.max(Some(index)),
        }
    }
    if let (Some((first, _)), Some(index)) = (request.first, beyond) {
        return Err(ReadError::Wider {
            file: request.file.to_owned(),
            first: first.to_owned(),
            index,
        });
    }
    let frame = Frame::new(names, columns, rows).map_err(|error| ReadError::Damaged {
        file: request.file.to_owned(),
        format: "svmlight",
        reason: error.to_string(),
    })?;
    Ok(Table {
        frame,
        labels: request.needs_label().then_some(labels),
        array: true,
        ..Table::default()
    })
}

/// The columns: those of the model or of the first file, or all up to the last index.
fn columns(request: &Request, last: usize) -> Result<Vec<String>, ReadError> {
    if let Some(model) = request.preparation() {
        return Ok(model
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect());
    }
    if let Some((_, names)) = request.first {
        return Ok(names.to_vec());
    }
    if last > MOST_COLUMNS {
        return Err(ReadError::Damaged {
            file: request.file.to_owned(),
            format: "svmlight",
            reason: format!("it has a feature {last}, and a table at most {MOST_COLUMNS}"),
        });
    }
    if last == 0 {
        return Err(ReadError::NoFeatures {
            file: request.file.to_owned(),
            available: Names(Vec::new()),
        });
    }
    Ok((1..=last).map(|index| format!("f{index}")).collect())
}
