//! Everything that can go wrong, grouped by when it does: reading the data, choosing the
//! settings, solving, and opening a saved file. Each variant says what was found and what to do.

use std::path::PathBuf;

/// What went wrong, in words for the person who can mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // At the door: the data.
    /// A feature value is NaN or infinite.
    #[error(
        "row {row}, feature {feature}: the value is {value}; every feature must be a finite number"
    )]
    NotFinite {
        /// Row, counted from 1.
        row: usize,
        /// Feature, counted from 1.
        feature: usize,
        /// The offending value.
        value: f64,
    },
    /// A column of a table cannot become features.
    #[error("column '{column}'{}: {why}", row.map_or(String::new(), |row| format!(", row {row}")))]
    Column {
        /// The column.
        column: String,
        /// Row, counted from 1, if it is one.
        row: Option<usize>,
        /// What is wrong with it.
        why: String,
    },
    /// There is nothing to learn from.
    #[error(
        "the data have {rows} rows and {features} features; at least two rows and one feature are needed"
    )]
    Empty {
        /// Rows found.
        rows: usize,
        /// Features found.
        features: usize,
    },
    /// Two inputs that must agree in length do not.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What was measured.
        what: &'static str,
        /// What it should be.
        expected: usize,
        /// What it is.
        got: usize,
    },
    /// A task has fewer than two rows, so that it cannot be centred and left-one-out.
    #[error("task '{task}' has {rows} row; every task needs at least two (drop it or add rows)")]
    TooFewRows {
        /// The task.
        task: String,
        /// Its rows.
        rows: usize,
    },
    /// The target's rows are all of one class.
    #[error("the target '{task}' has one class only ('{class}'); a decision needs at least two")]
    OneClass {
        /// The target.
        task: String,
        /// Its only class.
        class: String,
    },

    /// What was given as sparse rows is none.
    #[error("these are no sparse rows: {}{why}", .row.map(|row| format!("row {row}: ")).unwrap_or_default())]
    Sparse {
        /// The row, from 1, if it is about one.
        row: Option<usize>,
        /// What is wrong.
        why: &'static str,
    },
    /// Rows are needed of which only the scatter is kept.
    #[error(
        "{what} needs the rows of task '{task}', of which only counts, means and scatter are kept: name it as a target (or keep its rows) before rows are added, or {instead}"
    )]
    RowsNotKept {
        /// What needs them.
        what: &'static str,
        /// The task.
        task: String,
        /// What to do without them.
        instead: &'static str,
    },
    /// A class has not enough in it for a covariance of its own.
    #[error("class '{class}' of task '{task}' {why}; use the pooled theory")]
    NoCovariance {
        /// The task.
        task: String,
        /// The class.
        class: String,
        /// What it lacks.
        why: &'static str,
    },
    /// Covariances of so many features would not fit into memory.
    #[error(
        "the covariances of {classes} classes with {features} features need {gigabytes:.1} GB; at most {most} features are taken (use the pooled theory)"
    )]
    TooManyFeatures {
        /// Features found.
        features: usize,
        /// Features that are taken.
        most: usize,
        /// Classes of all tasks.
        classes: usize,
        /// Memory needed.
        gigabytes: f64,
    },
    /// A matrix given to the theory is not what it has to be.
    #[error("{name}: {why}")]
    Matrix {
        /// Which matrix.
        name: String,
        /// What is wrong with it.
        why: String,
    },

    // Parts of statistics.
    /// The columns of a part are not those of the others.
    #[error("{part}{}: {why}", if column.is_empty() { String::new() } else { format!(", column '{column}'") })]
    OtherColumns {
        /// Which part.
        part: String,
        /// The column; empty if it is about all of them.
        column: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A part is there already.
    #[error(
        "{part} holds rows that are there already; leave it out, or say that they are to count again"
    )]
    SamePart {
        /// Which part.
        part: String,
    },
    /// Statistics would show more than they are allowed to.
    #[error("task '{task}'{}: {why}", class.as_ref().map_or(String::new(), |class| format!(", class '{class}'")))]
    SmallCell {
        /// The task.
        task: String,
        /// The class, if it is one.
        class: Option<String>,
        /// What would be shown.
        why: String,
    },

    // Settings.
    /// No task of that name.
    #[error("there is no task '{name}'; the tasks are: {}", list(known))]
    UnknownTask {
        /// What was asked for.
        name: String,
        /// What exists.
        known: Vec<String>,
    },
    /// No class of that name in the target.
    #[error(
        "the target '{task}' has no class '{name}'; its classes are: {}",
        list(known)
    )]
    UnknownClass {
        /// The target.
        task: String,
        /// What was asked for.
        name: String,
        /// What exists.
        known: Vec<String>,
    },
    /// Several tasks and no target named.
    #[error("there are {} tasks; name the target (one of: {})", known.len(), list(known))]
    NoTarget {
        /// What exists.
        known: Vec<String>,
    },
    /// A setting is outside its range.
    #[error("{setting} is {value}: {expected}")]
    Setting {
        /// The setting's name.
        setting: &'static str,
        /// Its value, as text.
        value: String,
        /// What it has to be.
        expected: &'static str,
    },

    // Solving.
    /// A factorisation broke down. With finite data it cannot, unless values overflow.
    #[error(
        "the linear system of task '{task}' could not be factorised: the features are too large or the coupling too strong for double precision; rescale the features"
    )]
    Factorisation {
        /// The task.
        task: String,
    },

    /// Scores that double precision cannot compare.
    #[error(
        "the scores are too large for double precision: a feature is far from what the model was trained on; rescale it as in training"
    )]
    Scores,

    /// A [`Stop`](crate::Stop) was thrown meanwhile.
    #[error("the computation was interrupted")]
    Interrupted,

    // Files.
    /// A file is not one of ours, or not whole.
    #[error("{what} cannot be read: {why}")]
    Format {
        /// "the model file", "the statistics".
        what: &'static str,
        /// The reason.
        why: String,
    },
    /// A file would be larger than its format allows.
    #[error("{what} would have {gigabytes:.1} GB; its format ends at 2 GB")]
    TooLarge {
        /// "the ONNX file".
        what: &'static str,
        /// Its size.
        gigabytes: f64,
    },
    /// The operating system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: std::io::Error,
    },
}

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

fn list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("'{name}'"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
