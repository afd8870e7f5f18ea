//! What the readers promise: the same table from every format, and an error that names the place.

mod csv;
mod join;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::table::Values;
use super::{Columns, Purpose, ReadError, Table, read};

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
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn train(path: &Path) -> Result<Table, ReadError> {
    read(&[path.to_owned()], &Columns::default(), Purpose::Train)
}

fn predict(path: &Path, features: &[&str]) -> Result<Table, ReadError> {
    read(
        &[path.to_owned()],
        &Columns::default(),
        Purpose::Predict {
            features: &strings(features),
        },
    )
}

fn evaluate(path: &Path, features: &[&str]) -> Result<Table, ReadError> {
    read(
        &[path.to_owned()],
        &Columns::default(),
        Purpose::Evaluate {
            features: &strings(features),
            target: "target",
        },
    )
}

/// The message of a failure, which must name the file and hold every one of `parts`.
fn assert_message(result: Result<Table, ReadError>, path: &Path, parts: &[&str]) {
    let message = result.expect_err("the table should be refused").to_string();
    let file = path.display().to_string();
    for part in parts.iter().copied().chain([file.as_str()]) {
        assert!(message.contains(part), "'{part}' is not in: {message}");
    }
}

fn doubles(table: &Table) -> &[f64] {
    match &table.values {
        Values::F64(values) => values,
        Values::F32(_) => panic!("double precision was expected"),
    }
}

fn singles(table: &Table) -> &[f32] {
    match &table.values {
        Values::F32(values) => values,
        Values::F64(_) => panic!("single precision was expected"),
    }
}
