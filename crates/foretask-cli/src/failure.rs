//! Everything that can stop a command, and the hint that goes with it.

use std::io;
use std::path::PathBuf;

use crate::plot::PlotError;
use crate::read::{Names, ReadError};

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    // The command line.
    /// The parser's own message; also help and version text.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// An option that means nothing without another.
    #[error("--{given} is given without --{missing}")]
    Half {
        /// The option that is there.
        given: &'static str,
        /// The one that is not.
        missing: &'static str,
        /// What the two are for.
        help: &'static str,
    },

    /// A shell that completions are not known for.
    #[error("which shell completions are for cannot be told: SHELL is '{found}'")]
    UnknownShell {
        /// What it is.
        found: String,
    },
    /// A shell without a folder for completions.
    #[error("{shell} has no folder that it looks for completions in")]
    NoCompletions {
        /// The shell.
        shell: String,
    },
    /// Nobody's folder.
    #[error("there is no folder to install to: neither XDG_DATA_HOME nor HOME is set")]
    NoHome,

    // Reading.
    /// A table.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A model file that cannot be opened.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A file that is not a model.
    #[error("{}: {source}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What the library says of it.
        source: foretask::Error,
    },
    /// A file that is no tally.
    #[error("{}: {source}", path.display())]
    Tally {
        /// The file.
        path: PathBuf,
        /// What the library says of it.
        source: foretask::Error,
    },
    /// A file that is not statistics.
    #[error("{}: {source}", path.display())]
    Statistics {
        /// The file.
        path: PathBuf,
        /// What the library says of it.
        source: foretask::Error,
    },
    /// A file that does not say how columns become features.
    #[error("{}: does not say how columns become features: {why}", path.display())]
    Columns {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Statistics beside tables.
    #[error("{} is statistics, and other files are tables; give one or the other", path.display())]
    Mixed {
        /// The statistics.
        path: PathBuf,
    },
    /// An option about tables where there are statistics.
    #[error("--{option} is about rows of a table, of which statistics keep nothing")]
    OfTables {
        /// The option.
        option: &'static str,
    },
    /// Two files with the same rows.
    #[error("{second} holds rows of {first}; leave it out, or let them count again with --again")]
    SamePart {
        /// The first of them.
        first: String,
        /// The other.
        second: String,
    },
    /// Statistics of targets in other numbers of folds.
    #[error(
        "{file}: has targets in {folds} folds, and {first} in {expected}: gather one of them again with --folds of the other"
    )]
    OtherFolds {
        /// The first file.
        first: String,
        /// Its folds.
        expected: usize,
        /// The other.
        file: String,
        /// Its folds.
        folds: usize,
    },
    /// A table that is to be read twice, and cannot.
    #[error(
        "{file}: can be read once, and its columns are to be looked at before: save it to a file"
    )]
    OnlyOnce {
        /// The table.
        file: String,
    },
    /// Texts that the columns of another run do not know.
    #[error(
        "{file}: {count} rows from row {row} on have a text in column '{column}' that the file given by --columns does not know"
    )]
    NewTexts {
        /// The part.
        file: String,
        /// The first of the rows that were looked at.
        row: usize,
        /// The column.
        column: String,
        /// Rows with such a text.
        count: usize,
    },
    /// A gap in a task that the columns of another run do not know.
    #[error(
        "{place}: the value is missing, and the file given by --columns does not know the task '{task}'"
    )]
    NewTask {
        /// The cell.
        place: String,
        /// The task.
        task: String,
    },
    /// A test label that the model has never seen.
    #[error(
        "{count} of {rows} rows have a class that the model does not know: {unknown}; it knows {known}"
    )]
    UnknownLabels {
        /// Rows with such a label.
        count: usize,
        /// All rows.
        rows: usize,
        /// The labels.
        unknown: Names,
        /// The model's classes.
        known: Names,
    },

    // The library.
    /// Data, settings or solving.
    #[error(transparent)]
    Library(#[from] foretask::Error),

    // Writing.
    /// The folder of an output file is not there.
    #[error("{}: there is no folder '{}'", path.display(), folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// Where it should go.
        folder: PathBuf,
    },
    /// An output file that is an input file as well.
    #[error("{}: the output would overwrite an input file", path.display())]
    OverwritesInput {
        /// The file.
        path: PathBuf,
    },
    /// Two outputs in one file.
    #[error("{}: is to hold both the picture and another output; name two files", path.display())]
    TwoOutputs {
        /// The file.
        path: PathBuf,
    },
    /// An output file that is a folder.
    #[error("{}: is a folder; name a file", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// An output file that is there already.
    #[error("{}: is there already; --force writes over it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// An output file that nobody may write to.
    #[error("{}: is write-protected; remove it, or name another file", path.display())]
    Protected {
        /// The file.
        path: PathBuf,
    },
    /// A file or standard output cannot be written.
    #[error("{to}: cannot be written: {source}")]
    Write {
        /// The file, or "standard output".
        to: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// A figure.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A report.
    #[error("the report cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Failure {
    /// Whether the reader of standard output has gone away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// What to do about it, where the message does not say so already.
    pub fn help(&self) -> Option<&'static str> {
        use foretask::Error;
        match self {
            Self::Half { help, .. } => Some(help),
            Self::UnknownShell { .. } => {
                Some("name it: foretask completions bash --install; others are zsh and fish")
            }
            Self::NoCompletions { .. } => Some(
                "without --install the script is printed; load it in what the shell runs at its start",
            ),
            Self::NoHome => Some("without --install the script is printed"),
            Self::Model { .. } => Some("a model is a file that `foretask fit -o` wrote"),
            Self::Tally { .. } => Some("a tally is a file that `foretask tally` wrote"),
            Self::Statistics { .. } => {
                Some("statistics are a file that `foretask gather` or `foretask merge` wrote")
            }
            Self::OnlyOnce { .. } => Some(
                "--columns says what becomes of columns, as an earlier `foretask gather` learnt it",
            ),
            Self::OfTables { option: "group" } => {
                Some("statistics keep no groups: `foretask fit` takes the tables themselves")
            }
            Self::OfTables { .. } => Some("give it to `foretask gather`"),
            Self::NewTexts { .. } | Self::NewTask { .. } => {
                Some("gather all parts in one run, which learns from all of them")
            }
            Self::Library(Error::RowsNotKept { .. }) => Some(
                "`foretask gather --target NAME` keeps what the target needs, --rows keep all rows",
            ),
            Self::UnknownLabels { .. } => Some(
                "check --label; rows of classes that the model was not trained on cannot be evaluated",
            ),
            Self::Read(ReadError::OtherTasks { .. }) => {
                Some("--task names the task column; without one every row counts")
            }
            Self::Library(Error::NoTarget { .. }) => Some("use --target NAME"),
            Self::Library(Error::UnknownTask { .. }) => {
                Some("tasks are the values of the task column (--task), or else the file names")
            }
            Self::Library(Error::OneClass { .. }) => {
                Some("classes are the values of the label column; --label names it")
            }
            Self::NoFolder { .. } => Some("create it first"),
            _ => None,
        }
    }
}
