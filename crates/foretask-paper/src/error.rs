//! What can go wrong, in words that say what to do.

use std::path::PathBuf;

/// Why an experiment, or its report, could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused.
    #[error(transparent)]
    Library(#[from] foretask::Error),
    /// A data file is not there.
    #[error("{file} is not in {folder}; name the folder that holds it with --data", folder = folder.display())]
    Missing {
        /// Its name.
        file: &'static str,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// A data file does not hold what it should.
    #[error("{path}: {what}", path = path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A report could not be written or read as JSON.
    #[error("{path}: {source}", path = path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// An eigenvalue decomposition failed.
    #[error("the principal components could not be computed: {0}")]
    Components(String),
    /// A figure could not be drawn.
    #[error("the figure could not be drawn: {0}")]
    Drawing(String),
    /// No experiment has this name.
    #[error("there is no experiment '{name}'; the names are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A baseline could not predict.
    #[error("{baseline}: {what}")]
    Baseline {
        /// Its name.
        baseline: String,
        /// What went wrong.
        what: String,
    },
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
