//! Reading tables: CSV and its kin, JSON lines, Parquet, Arrow, svmlight and NumPy `.npz` files into columns, labels
//! and tasks.
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
//! at once. Everything that can be wrong with the data is a [`ReadError`]; what comes out is
//! rectangular, and has a label and a task for every row where the [`Purpose`] asks for them. What becomes of the
//! columns is settled later, when all rows are known (`foretask::prepare`).

#[cfg(feature = "parquet")]
mod arrow;
mod builder;
mod category;
mod csv;
mod decoder;
mod error;
#[cfg(feature = "parquet")]
mod ipc;
mod jsonl;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod records;
mod roles;
mod source;
mod svmlight;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

pub use category::Category;
pub use error::{Names, ReadError};
pub use source::Format;
pub use table::{Columns, Keep, Kept, Purpose, Table};

use roles::Request;
use source::{Source, shown, stem};

/// How files are written, where the user says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// What they hold; told by their names otherwise.
    pub format: Option<Format>,
    /// What separates the cells of text.
    pub delimiter: Option<u8>,
}

/// Reads files into one table; `-` is standard input, a folder is a table in parts.
pub fn read(
    files: &[PathBuf],
    written: Written,
    columns: &Columns,
    purpose: Purpose,
) -> Result<Table, ReadError> {
    let file_tasks = file_tasks(files);
    let mut tasks_from_files: HashMap<&str, String> = HashMap::new();
    let mut joined: Option<(String, Table)> = None;
    for (path, file_task) in files.iter().zip(&file_tasks) {
        for (part, path) in source::parts(path)?.iter().enumerate() {
            let file = shown(path);
            let first = joined
                .as_ref()
                .map(|(first, table)| (first.as_str(), table.frame.names()));
            let request = Request {
                file: &file,
                columns,
                purpose: &purpose,
                first,
            };
            let mut table = read_one(path, written, &request)?;
            if let (Purpose::Evaluate { target, .. }, None) = (&purpose, &table.tasks) {
                table.tasks = Some(vec![Category::from(*target); table.rows()]);
            }
            if request.needs_task() && table.tasks.is_none() {
                let other = match part {
                    0 => tasks_from_files.insert(file_task, file.clone()),
                    _ => None,
                };
                if let Some(other) = other {
                    return Err(ReadError::SameTask {
                        first: other,
                        second: file,
                        task: file_task.clone(),
                    });
                }
                table.tasks = Some(vec![Category::from(file_task.as_str()); table.rows()]);
            }
            match &mut joined {
                None => joined = Some((file, table)),
                Some((_, all)) => all.append(table).map_err(|error| ReadError::Damaged {
                    file: file.clone(),
                    format: "table",
                    reason: error.to_string(),
                })?,
            }
        }
    }
    joined.map(|(_, table)| table).ok_or(ReadError::NoFiles)
}

/// Reads one file; its tasks are `None` unless it has a task column that is asked for.
fn read_one(path: &Path, written: Written, request: &Request) -> Result<Table, ReadError> {
    let table = match source::open(path, written.format)? {
        Source::Stream(format, stream) => match format {
            Format::Tsv => csv::read(stream, written.delimiter.or(Some(b'\t')), request)?,
            Format::Jsonl => jsonl::read(stream, request)?,
            Format::Svmlight => svmlight::read(stream, request)?,
            _ => csv::read(stream, written.delimiter, request)?,
        },
        Source::File(Format::Npz, file) => {
            decoder::guarded(request.file, npz::FORMAT, || npz::read(file, request))?
        }
        Source::Memory(Format::Npz, bytes) => decoder::guarded(request.file, npz::FORMAT, || {
            npz::read(Cursor::new(bytes), request)
        })?,
        #[cfg(feature = "parquet")]
        Source::File(Format::Arrow, file) => {
            decoder::guarded(request.file, ipc::FORMAT, || ipc::read(file, request))?
        }
        #[cfg(feature = "parquet")]
        Source::Memory(Format::Arrow, bytes) => {
            decoder::guarded(request.file, ipc::FORMAT, || {
                ipc::read(Cursor::new(bytes), request)
            })?
        }
        #[cfg(feature = "parquet")]
        Source::File(_, file) => decoder::guarded(request.file, parquet::FORMAT, || {
            parquet::read(file, request)
        })?,
        #[cfg(feature = "parquet")]
        Source::Memory(_, bytes) => decoder::guarded(request.file, parquet::FORMAT, || {
            parquet::read(bytes::Bytes::from(bytes), request)
        })?,
        #[cfg(not(feature = "parquet"))]
        Source::File(..) | Source::Memory(..) => {
            return Err(ReadError::ParquetNotBuilt {
                file: request.file.to_owned(),
            });
        }
    };
    if table.array && request.columns.keep != Keep::default() {
        return Err(ReadError::NothingToKeep {
            file: request.file.to_owned(),
        });
    }
    if table.rows() == 0 {
        return Err(match table.unlabelled {
            0 => ReadError::NoRows {
                file: request.file.to_owned(),
            },
            _ => ReadError::NoLabels {
                file: request.file.to_owned(),
                rows: table.unlabelled,
            },
        });
    }
    Ok(table)
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
