//! JSON lines: an object a line, whose keys are columns.

use std::collections::HashSet;
use std::io::BufRead;

use foretask::prepare::number_name;
use serde_json::{Map, Value};

use super::builder::{self, Builder};
use super::category::Category;
use super::error::{Place, ReadError};
use super::roles::Request;
use super::table::{Kept, Origin, Table};

/// Reads a table of JSON lines. A key that a line lacks is a missing value.
pub fn read(source: impl BufRead, request: &Request) -> Result<Table, ReadError> {
    let file = request.file;
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    let mut header: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for (line, text) in source.lines().enumerate() {
        let wrong = |why: String| ReadError::Line {
            file: file.to_owned(),
            line: line + 1,
            why,
        };
        let text = text.map_err(|error| wrong(error.to_string()))?;
        if text.trim().is_empty() {
            continue;
        }
        let row: Map<String, Value> = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("is not a JSON object: {error}")))?;
        for key in row.keys() {
            if known.insert(key.clone()) {
                header.push(key.clone());
            }
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(ReadError::NoRows {
            file: file.to_owned(),
        });
    }
    let roles = request.assign(&header)?;
    let place = |row: usize, column: usize| Place {
        file: file.to_owned(),
        row: row + 1,
        column: header[column].clone(),
    };
    let name = |row: usize, column: usize, role: &'static str| match rows[row].get(&header[column])
    {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(builder::category(text)),
        Some(Value::Bool(flag)) => Ok(Some(flag.to_string().into())),
        Some(Value::Number(number)) => {
            Ok(number.as_f64().and_then(number_name).map(Category::from))
        }
        Some(_) => Err(ReadError::NotCategory {
            file: file.to_owned(),
            role,
            column: header[column].clone(),
            found: "lists or objects".to_owned(),
        }),
    };
    let mut kept_rows: Vec<usize> = (0..rows.len()).collect();
    let mut skipped = Vec::new();
    let mut labels = Vec::new();
    if let Some(column) = roles.label {
        let all: Result<Vec<_>, _> = kept_rows
            .iter()
            .map(|&row| name(row, column, "label"))
            .collect();
        let all = all?;
        skipped = (0..rows.len()).filter(|&row| all[row].is_none()).collect();
        kept_rows.retain(|&row| all[row].is_some());
        labels = all.into_iter().flatten().collect();
    }
    let mut tasks = Vec::new();
    if let Some(column) = roles.task {
        for &row in &kept_rows {
            let task = name(row, column, "task")?;
            tasks.push(task.ok_or_else(|| ReadError::EmptyCategory {
                place: place(row, column),
                role: "task",
            })?);
        }
    }
    let mut columns = Vec::with_capacity(roles.features.len());
    for &column in &roles.features {
        let key = &header[column];
        let mut builder = Builder::new(key, request.expected(key), false);
        let mut nested = false;
        for &row in &kept_rows {
            match rows[row].get(key) {
                None | Some(Value::Null) => builder.push_number(f64::NAN, file, row + 1)?,
                Some(Value::Number(number)) => {
                    builder.push_number(number.as_f64().unwrap_or(f64::NAN), file, row + 1)?;
                }
                Some(Value::Bool(flag)) => {
                    builder.push_number(f64::from(u8::from(*flag)), file, row + 1)?;
                }
                Some(Value::String(text)) => builder.push_text(text, file, row + 1)?,
                Some(_) => nested = true,
            }
            if nested {
                break;
            }
        }
        columns.push(match nested {
            true => builder::untold(kept_rows.len(), false),
            false => builder.finish(file)?,
        });
    }
    let kept = |&column: &usize| Kept {
        name: header[column].clone(),
        cells: kept_rows
            .iter()
            .map(|&row| match rows[row].get(&header[column]) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            })
            .collect(),
    };
    let named = |column: Option<usize>| column.map(|column| header[column].clone());
    Ok(Table {
        frame: request.frame(&header, &roles, columns, kept_rows.len())?,
        labels: roles.label.map(|_| labels),
        tasks: roles.task.map(|_| tasks),
        label: named(roles.label),
        task: named(roles.task),
        unlabelled: rows.len() - kept_rows.len(),
        array: false,
        kept: roles.kept.iter().map(kept).collect(),
        origin: Origin {
            skipped,
            ..Origin::default()
        },
    })
}
