//! Reading tables: CSV and its kin, JSON lines, Parquet, Arrow, svmlight and NumPy `.npz` files into columns, labels
//! and tasks.
//!
//! One call, [`read()`], takes any number of files and returns one [`Table`]; [`Reading`] hands on the same rows in batches,
//! so that memory does not grow with them:
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
mod batch;
mod builder;
mod category;
mod csv;
mod decoder;
mod error;
mod growing;
mod input;
#[cfg(feature = "parquet")]
mod ipc;
mod jsonl;
mod member;
mod npz;
mod packed;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
mod records;
mod roles;
mod source;
mod svmlight;
mod table;
#[cfg(test)]
mod tests;
#[cfg(feature = "parquet")]
mod vectors;

use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use batch::{Meter, PANEL};
pub use category::Category;
pub use error::{Names, ReadError};
pub use input::{Input, bytes};
pub use source::Format;
pub use table::{Columns, Keep, Kept, Origin, Purpose, Table};

use batch::Batches;
use roles::Request;
use source::{Source, Twice, shown, stem};

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
    let parts = parts(files)?;
    let mut reading = Reading::new(written, columns, purpose).among(&parts);
    let mut joined: Option<Table> = None;
    for part in &parts {
        let each = |table: Table| match &mut joined {
            None => {
                joined = Some(table);
                Ok(())
            }
            Some(all) => all.append(table).map_err(|error| ReadError::Damaged {
                file: part.file.clone(),
                format: "table",
                reason: error.to_string(),
            }),
        };
        reading.part(part, usize::MAX, &Meter::default(), each)?;
    }
    joined.ok_or(ReadError::NoFiles)
}

/// A file of several.
#[derive(Debug, Clone)]
pub struct Part {
    /// Where it is.
    pub path: PathBuf,
    /// Its name in messages.
    pub file: String,
    /// The task that it stands for when it has no task column.
    task: String,
    /// Whether it is the first of what the user named: a folder is one task.
    is_first: bool,
}

impl Part {
    /// Its size, if it has one.
    pub fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// Whether it can be read once only.
    pub fn is_stream(&self) -> bool {
        source::is_stream(&self.path)
    }

    /// The task that it stands for when it has no task column.
    pub fn task(&self) -> &str {
        &self.task
    }
}

/// The files that paths stand for: folders and patterns are those in them.
pub fn parts(files: &[PathBuf]) -> Result<Vec<Part>, ReadError> {
    let mut parts = Vec::new();
    for (path, task) in files.iter().zip(file_tasks(files)) {
        for (place, path) in source::parts(path)?.into_iter().enumerate() {
            parts.push(Part {
                file: shown(&path),
                path,
                task: task.clone(),
                is_first: place == 0,
            });
        }
    }
    Ok(parts)
}

/// How parts are read one after the other: the first settles what the features are.
pub struct Reading<'a> {
    written: Written,
    columns: &'a Columns,
    purpose: Purpose<'a>,
    first: Option<(String, Vec<String>)>,
    /// The parts that are a task each.
    tasks: HashMap<String, String>,
    /// All parts, where the columns of the first may be told by the others.
    among: Vec<Part>,
}

impl<'a> Reading<'a> {
    /// Nothing read yet.
    pub fn new(written: Written, columns: &'a Columns, purpose: Purpose<'a>) -> Self {
        Self {
            written,
            columns,
            purpose,
            first: None,
            tasks: HashMap::new(),
            among: Vec::new(),
        }
    }

    /// With all parts that are to be read: some formats do not say in the first what the columns are.
    pub fn among(mut self, parts: &[Part]) -> Self {
        self.among = parts.to_vec();
        self
    }

    /// Reads a part in batches of so many values and hands each on; `meter` knows how many bytes were read.
    pub fn part<E: From<ReadError>>(
        &mut self,
        part: &Part,
        values: usize,
        meter: &Meter,
        mut each: impl FnMut(Table) -> Result<(), E>,
    ) -> Result<(), E> {
        meter.set(0);
        let first = self.first.take();
        let request = Request {
            file: &part.file,
            columns: self.columns,
            purpose: &self.purpose,
            first: first
                .as_ref()
                .map(|(file, names)| (file.as_str(), &names[..])),
        };
        let (format, mut batches) = open(part, self.written, &request, meter, &self.among)?;
        let (mut rows, mut unlabelled, mut names) = (0, 0, None);
        let mut task: Option<Category> = None;
        while let Some(mut table) = decoder::guarded(&part.file, format, || batches.next(values))? {
            if table.array && table.kept.is_empty() && self.columns.keep != Keep::default() {
                return Err(E::from(ReadError::NothingToKeep {
                    file: part.file.clone(),
                }));
            }
            rows += table.rows();
            unlabelled += table.unlabelled;
            if let (Purpose::Evaluate { target, .. }, None) = (&self.purpose, &table.tasks) {
                table.tasks = Some(vec![Category::from(*target); table.rows()]);
            }
            if request.needs_task() && table.tasks.is_none() {
                if task.is_none() {
                    task = Some(own_task(part, &mut self.tasks)?);
                }
                table.tasks = task.clone().map(|task| vec![task; table.rows()]);
            }
            if names.is_none() && first.is_none() {
                names = Some(table.frame.names().to_vec());
            }
            // One without rows says nothing, except that it is the only one.
            if table.rows() > 0 || table.unlabelled > 0 {
                each(table)?;
            }
        }
        drop(batches);
        let file = part.file.clone();
        match (rows, unlabelled) {
            (0, 0) => return Err(E::from(ReadError::NoRows { file })),
            (0, rows) => return Err(E::from(ReadError::NoLabels { file, rows })),
            _ => {}
        }
        self.first = first.or_else(|| names.map(|names| (file, names)));
        Ok(())
    }
}

/// The task of a part without a task column.
fn own_task(part: &Part, tasks: &mut HashMap<String, String>) -> Result<Category, ReadError> {
    let other = match part.is_first {
        true => tasks.insert(part.task.clone(), part.file.clone()),
        false => None,
    };
    match other {
        Some(first) => Err(ReadError::SameTask {
            first,
            second: part.file.clone(),
            task: part.task.clone(),
        }),
        None => Ok(Category::from(part.task.as_str())),
    }
}

/// Opens one file, and says what its format is called; its tables have tasks only if it has a task column that is asked
/// for.
fn open<'a>(
    part: &Part,
    written: Written,
    request: &'a Request<'a>,
    meter: &Meter,
    among: &[Part],
) -> Result<(&'static str, Box<dyn Batches + 'a>), ReadError> {
    let file = request.file;
    let twice = |stream| Twice::new(&part.path, written.format, meter, stream);
    Ok(match source::open(&part.path, written.format, meter)? {
        Source::Stream(format, stream) => {
            let batches: Box<dyn Batches + 'a> = match format {
                Format::Tsv => {
                    let delimiter = written.delimiter.or(Some(b'\t'));
                    Box::new(csv::Lines::open(stream, delimiter, request, meter)?)
                }
                Format::Jsonl => Box::new(jsonl::Objects::open(twice(stream)?, request)?),
                Format::Svmlight => {
                    let others = |indices: &mut svmlight::Indices| {
                        look_at_others(part, among, written, indices)
                    };
                    Box::new(svmlight::Rows::open(twice(stream)?, request, others)?)
                }
                _ => Box::new(csv::Lines::open(stream, written.delimiter, request, meter)?),
            };
            ("text", batches)
        }
        Source::File(Format::Npz, _) => {
            let path = part.path.clone();
            let again: npz::Opener = Box::new(move || Ok(Box::new(Input::open(&path)?)));
            let open = || npz::Arrays::open(again, request, meter);
            let batches = decoder::guarded(file, npz::FORMAT, open)?;
            (npz::FORMAT, Box::new(batches))
        }
        Source::Memory(Format::Npz, bytes) => {
            let bytes: Arc<[u8]> = bytes.into();
            let again: npz::Opener =
                Box::new(move || Ok(Box::new(Cursor::new(Arc::clone(&bytes)))));
            let open = || npz::Arrays::open(again, request, meter);
            let batches = decoder::guarded(file, npz::FORMAT, open)?;
            (npz::FORMAT, Box::new(batches))
        }
        #[cfg(feature = "parquet")]
        Source::File(Format::Arrow, table) => {
            let open = || ipc::Messages::open(table, request);
            let batches = decoder::guarded(file, ipc::FORMAT, open)?;
            (ipc::FORMAT, Box::new(batches))
        }
        #[cfg(feature = "parquet")]
        Source::Memory(Format::Arrow, bytes) => {
            let open = || ipc::Messages::open(Cursor::new(bytes), request);
            let batches = decoder::guarded(file, ipc::FORMAT, open)?;
            (ipc::FORMAT, Box::new(batches))
        }
        #[cfg(feature = "parquet")]
        Source::File(_, table) => {
            let open = || parquet::Groups::open(table, request, meter);
            let batches = decoder::guarded(file, parquet::FORMAT, open)?;
            (parquet::FORMAT, Box::new(batches))
        }
        #[cfg(feature = "parquet")]
        Source::Memory(_, bytes) => {
            let open = || parquet::Groups::open(bytes::Bytes::from(bytes), request, meter);
            let batches = decoder::guarded(file, parquet::FORMAT, open)?;
            (parquet::FORMAT, Box::new(batches))
        }
        #[cfg(not(feature = "parquet"))]
        Source::File(..) | Source::Memory(..) => {
            return Err(ReadError::ParquetNotBuilt {
                file: file.to_owned(),
            });
        }
    })
}

/// Looks at the indices of the other files of a table of svmlight lines.
fn look_at_others(
    part: &Part,
    among: &[Part],
    written: Written,
    indices: &mut svmlight::Indices,
) -> Result<(), ReadError> {
    let others = among.iter().filter(|other| other.path != part.path);
    for other in others.filter(|other| !other.is_stream()) {
        let opened = source::open(&other.path, written.format, &Meter::default())?;
        if let Source::Stream(Format::Svmlight, stream) = opened {
            svmlight::look_at(stream, &other.file, indices)?;
        }
    }
    Ok(())
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
