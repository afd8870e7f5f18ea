//! Reading tables: CSV, TSV, Parquet and NumPy `.npz` files into rows, labels and tasks.
//!
//! One call, [`read()`], takes any number of files and returns one [`Table`]:
//!
//! ```text
//!  file ──► header ──► roles (label, task, features) ──► cells ──► Table of the file ─┐
//!  file ──► …                                                                        ├──► Table
//!  file ──► …                                                                        ─┘
//! ```
//!
//! The roles are settled from the header alone ([`roles`]), so that a wrong `--label` is reported
//! at once. Each format then reads its cells straight into the row-major values: a single file
//! is never copied, and of several files only one at a time exists beside the joined table.
//! Everything that can be wrong with the data is a [`ReadError`]; what comes out is finite,
//! rectangular, and has a label and a task for every row where the [`Purpose`] asks for them.

mod category;
mod csv;
mod decoder;
mod error;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod roles;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub use error::{Names, ReadError};
pub use table::{Columns, Purpose, Table};

use roles::Request;

/// The file name that means standard input.
const STANDARD_INPUT: &str = "-";

/// Reads files into one table. The format of each is chosen by its extension; `-` is CSV on
/// standard input.
pub fn read(files: &[PathBuf], columns: &Columns, purpose: Purpose) -> Result<Table, ReadError> {
    let file_tasks = file_tasks(files);
    let mut tasks_from_files: HashMap<&str, String> = HashMap::new();
    let mut joined: Option<(String, Table)> = None;
    for (path, file_task) in files.iter().zip(&file_tasks) {
        let file = shown(path);
        let first = joined
            .as_ref()
            .map(|(first, table)| (first.as_str(), table.features.as_slice()));
        let request = Request {
            file: &file,
            columns,
            purpose: &purpose,
            first,
        };
        let mut table = read_one(path, &request)?;
        if let (Purpose::Evaluate { target, .. }, None) = (&purpose, &table.tasks) {
            table.tasks = Some(vec![(*target).to_owned(); table.rows]);
        }
        if request.needs_task() && table.tasks.is_none() {
            if let Some(other) = tasks_from_files.insert(file_task, file.clone()) {
                return Err(ReadError::SameTask {
                    first: other,
                    second: file,
                    task: file_task.clone(),
                });
            }
            table.tasks = Some(vec![file_task.clone(); table.rows]);
        }
        match &mut joined {
            None => joined = Some((file, table)),
            Some((_, all)) => all.append(table),
        }
    }
    joined.map(|(_, table)| table).ok_or(ReadError::NoFiles)
}

/// Reads one file; its tasks are `None` unless it has a task column that is asked for.
fn read_one(path: &Path, request: &Request) -> Result<Table, ReadError> {
    let standard_input = path.as_os_str() == STANDARD_INPUT;
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let table = match extension.as_deref() {
        None if standard_input => csv::read(io::stdin().lock(), b',', request)?,
        Some("csv") => csv::read(open(path)?, b',', request)?,
        Some("tsv") => csv::read(open(path)?, b'\t', request)?,
        #[cfg(feature = "parquet")]
        Some("parquet" | "pq") => {
            let file = open(path)?;
            decoder::guarded(request.file, parquet::FORMAT, || {
                parquet::read(file, request)
            })?
        }
        #[cfg(not(feature = "parquet"))]
        Some("parquet" | "pq") => {
            return Err(ReadError::ParquetNotBuilt {
                file: request.file.to_owned(),
            });
        }
        Some("npz") => {
            let file = open(path)?;
            decoder::guarded(request.file, npz::FORMAT, || npz::read(file, request))?
        }
        _ => {
            return Err(ReadError::UnknownFormat {
                file: request.file.to_owned(),
            });
        }
    };
    if table.rows == 0 {
        return Err(ReadError::NoRows {
            file: request.file.to_owned(),
        });
    }
    Ok(table)
}

fn open(path: &Path) -> Result<File, ReadError> {
    let unreadable = |reason: String| ReadError::Unreadable {
        file: shown(path),
        reason,
    };
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ReadError::Missing { file: shown(path) },
        _ => unreadable(error.to_string()),
    })?;
    // A directory can be opened on Unix; reading it then fails with a message nobody understands.
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(unreadable("it is a directory".to_owned())),
        Ok(_) => Ok(file),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// The file's name in messages.
fn shown(path: &Path) -> String {
    if path.as_os_str() == STANDARD_INPUT {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The task that each file stands for when it has no task column: its stem, preceded by its
/// folder where two stems are equal, as in `amazon/train.csv dslr/train.csv`.
fn file_tasks(files: &[PathBuf]) -> Vec<String> {
    let stems: Vec<String> = files.iter().map(|path| stem(path)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for stem in &stems {
        *counts.entry(stem).or_default() += 1;
    }
    let qualified = |(path, stem): (&PathBuf, &String)| {
        let folder = path.parent().and_then(Path::file_name);
        match folder {
            Some(folder) if counts.get(stem.as_str()).is_some_and(|&count| count > 1) => {
                format!("{}/{stem}", folder.to_string_lossy())
            }
            _ => stem.clone(),
        }
    };
    files.iter().zip(&stems).map(qualified).collect()
}

fn stem(path: &Path) -> String {
    if path.as_os_str() == STANDARD_INPUT {
        return "stdin".to_owned();
    }
    path.file_stem()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}
