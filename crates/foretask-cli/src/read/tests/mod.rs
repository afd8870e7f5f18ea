//! What the readers promise: the same table from every format, and an error that names the place.

mod batches;
mod csv;
mod formats;
mod join;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use foretask::prepare::{Column, Preparation};

use super::{Columns, Keep, Purpose, ReadError, Table, Written};

/// A folder of test files that is deleted with it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path.
    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }
}

/// The columns that the user named: label, task, features.
fn columns(label: Option<&str>, task: Option<&str>, features: Option<&[&str]>) -> Columns {
    Columns {
        label: label.map(str::to_owned),
        task: task.map(str::to_owned),
        features: features.map(strings),
        ..Columns::default()
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn train(path: &Path) -> Result<Table, ReadError> {
    read(&[path.to_owned()], &Columns::default(), Purpose::Train)
}

/// Reads files as their names say.
fn read(files: &[PathBuf], columns: &Columns, purpose: Purpose) -> Result<Table, ReadError> {
    super::read(files, Written::default(), columns, purpose)
}

fn predict(path: &Path, features: &[&str]) -> Result<Table, ReadError> {
    read(
        &[path.to_owned()],
        &Columns::default(),
        Purpose::Predict {
            preparation: &Preparation::plain(&strings(features)),
        },
    )
}

fn evaluate(path: &Path, features: &[&str]) -> Result<Table, ReadError> {
    read(
        &[path.to_owned()],
        &Columns::default(),
        Purpose::Evaluate {
            preparation: &Preparation::plain(&strings(features)),
            target: "target",
        },
    )
}

/// The message of a failure, which must name the file and hold every one of `parts`.
fn assert_message(result: Result<Table, ReadError>, path: &Path, parts: &[&str]) {
    let message = match result {
        Ok(_) => panic!("{} should be refused", path.display()),
        Err(error) => error.to_string(),
    };
    let file = path.display().to_string();
    for part in parts.iter().copied().chain([file.as_str()]) {
        assert!(message.contains(part), "'{part}' is not in: {message}");
    }
}

/// The values row by row.
fn doubles(table: &Table) -> Vec<f64> {
    let columns = table.frame.columns();
    let value = |row: usize, column: &Column| match column {
        Column::Numbers(values) => values[row],
        Column::Singles(values) => f64::from(values[row]),
        _ => panic!("double precision was expected"),
    };
    (0..table.rows())
        .flat_map(|row| columns.iter().map(move |column| value(row, column)))
        .collect()
}

fn singles(table: &Table) -> Vec<f32> {
    let columns = table.frame.columns();
    let value = |row: usize, column: &Column| match column {
        Column::Singles(values) => values[row],
        _ => panic!("single precision was expected"),
    };
    (0..table.rows())
        .flat_map(|row| columns.iter().map(move |column| value(row, column)))
        .collect()
}
