//! What can be wrong with a table, said to the person who has to put it right.
//!
//! The variants follow the order in which [`read`](super::read) works: the file is opened, its
//! columns are given their roles, its cells are read, and several files are joined. Every message
//! names the file; a message about a cell also names the data row (the first row under the header
//! is row 1) and the column.

use std::fmt;

/// How many names a message lists before it says how many more there are.
const NAMES_SHOWN: usize = 12;

/// How much of a cell's text a message quotes.
const TEXT_SHOWN: usize = 40;

/// One cell of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as the user gave it.
    pub file: String,
    /// The data row, counted from 1 under the header.
    pub row: usize,
    /// The column's name.
    pub column: String,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}, row {}, column '{}'",
            self.file, self.row, self.column
        )
    }
}

/// A list of names that prints as `'a', 'b' and 3 more`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl fmt::Display for Names {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("nothing");
        }
        for (position, name) in self.0.iter().take(NAMES_SHOWN).enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(out, "{separator}'{name}'")?;
        }
        match self.0.len().saturating_sub(NAMES_SHOWN) {
            0 => Ok(()),
            hidden => write!(out, " and {hidden} more"),
        }
    }
}

/// The text of a cell, short enough to quote in a message.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(TEXT_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Why a table could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    // Opening a file.
    /// The list of files is empty.
    #[error("no data file was given: name at least one, or '-' for standard input")]
    NoFiles,
    /// There is nothing at that path.
    #[error("{file}: there is no such file")]
    Missing { file: String },
    /// The operating system refuses.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable { file: String, reason: String },
    /// The extension is not one of ours.
    #[error(
        "{file}: what it holds cannot be told from its name or its first bytes; known are .csv, .tsv, .txt, .jsonl, .parquet, .feather, .arrow, .npz and .svm, also with .gz or .zst. Say which with --format"
    )]
    UnknownFormat { file: String },
    /// A Parquet file, and a binary without the reader.
    #[error(
        "{file}: this foretask was built without the `parquet` feature; rebuild it with that feature, or convert the file to .csv or .npz"
    )]
    #[cfg_attr(feature = "parquet", allow(dead_code))]
    ParquetNotBuilt { file: String },
    /// The file is not what its extension says, or it is cut short.
    #[error("{file}: is not a sound {format} file, or it is damaged or incomplete: {reason}")]
    Damaged {
        file: String,
        format: &'static str,
        reason: String,
    },
    /// A zip archive of something else than arrays.
    #[error(
        "{file}: is a zip archive of '{held}', not of NumPy arrays; unpack it and name what was in it"
    )]
    Zipped { file: String, held: String },
    // Giving the columns their roles.
    /// Two columns have one name.
    #[error("{file}: two columns are called '{column}'; rename one of them")]
    DuplicateColumn { file: String, column: String },
    /// A column that the user named is not there.
    #[error("{file}: there is no {role} column '{column}'; it has {available}")]
    NoColumn {
        file: String,
        role: &'static str,
        column: String,
        available: Names,
    },
    /// The format of the file has no columns to group by.
    #[error(
        "there is no group column '{column}': files of this format have features and labels only"
    )]
    NoGroups { column: String },
    /// A row that is in no group.
    #[error(
        "row {row} has nothing in the group column '{column}' (rows without a label do not count): give a row that \
         belongs to no other a name of its own"
    )]
    EmptyGroup { column: String, row: usize },
    /// No label was named and none of the usual names is there.
    #[error(
        "{file}: no column is called 'label', 'y', 'class' or 'target'; say which one holds the classes with --label; it has {available}"
    )]
    NoLabel { file: String, available: Names },
    /// One column in two roles, or one feature twice.
    #[error(
        "{file}: column '{column}' is {first} and also {second}; it can be only one of the two"
    )]
    TwoRoles {
        file: String,
        column: String,
        first: &'static str,
        second: &'static str,
    },
    /// Nothing is left to learn from.
    #[error("{file}: no feature column is left beside the label and the task; it has {available}")]
    NoFeatures { file: String, available: Names },
    /// Columns that the model was trained on are not there.
    #[error("{file}: the model needs {expected} columns by name and {} of them are missing: {missing}{nearest}", missing.0.len())]
    MissingFeatures {
        file: String,
        expected: usize,
        missing: Names,
        nearest: String,
    },
    /// An array has another number of features than the model.
    #[error("{file}: array '{array}' has {got} features, the model was trained on {expected}")]
    FeatureCount {
        file: String,
        array: String,
        expected: usize,
        got: usize,
    },
    /// A column that holds no numbers would become a feature.
    #[error(
        "{file}: column '{column}' is not numeric ({example}); choose the feature columns with --features, drop this one, or turn it into numbers"
    )]
    NonNumericColumn {
        file: String,
        column: String,
        example: String,
    },
    /// A label or task column of a type that has no names.
    #[error(
        "{file}: the {role} column '{column}' holds {found}; it must hold text, integers, booleans or numbers"
    )]
    NotCategory {
        file: String,
        role: &'static str,
        column: String,
        found: String,
    },

    // Arrays of an .npz file.
    /// The user named several feature arrays.
    #[error(
        "{file}: an .npz file keeps its features in one array of rows x features; give --features one array name; it has {available}"
    )]
    SeveralArrays { file: String, available: Names },
    /// Arrays that must have one entry per row do not.
    #[error(
        "{file}: array '{array}' has shape {shape}, but '{features}' has {rows} rows; it must have one entry per row"
    )]
    ArrayLength {
        file: String,
        array: String,
        shape: String,
        features: String,
        rows: usize,
    },
    /// A single number where a table is needed.
    #[error("{file}: array '{array}' has no rows axis; it must have shape (rows, features)")]
    ArrayShape { file: String, array: String },

    /// Columns of an array that are to be kept.
    #[error("{file}: its columns have no names of their own, so that none can be kept")]
    NothingToKeep { file: String },

    // Reading the cells.
    /// A header and nothing under it.
    #[error("{file}: there is not a single data row")]
    NoRows { file: String },
    /// Rows, and none with a label.
    #[error("{file}: none of its {rows} rows has a label")]
    NoLabels { file: String, rows: usize },
    /// A row with another number of cells than the header.
    #[error(
        "{file}, row {row}: has {got} cells, the header has {expected}; look for a stray separator or an unclosed quote"
    )]
    Ragged {
        file: String,
        row: usize,
        expected: usize,
        got: usize,
    },
    /// Numbers with a few texts among them.
    #[error(
        "{place}: '{text}' is not a number, as {numbers} other cells of the column are; {others} cells are not. Correct them, empty them, leave the column out (--ignore), or take all its cells for names (--categorical)"
    )]
    MostlyNumbers {
        place: Place,
        text: String,
        numbers: usize,
        others: usize,
    },
    /// A line that is no row.
    #[error("{file}, line {line}: {why}")]
    Line {
        file: String,
        line: usize,
        why: String,
    },
    /// A feature without a value where the user wants none.
    #[error("column '{column}' has {count} missing values, and --missing refuse is given")]
    Gaps { column: String, count: usize },
    /// A column that cannot become features.
    #[error("{file}, column '{column}': {why}")]
    Column {
        file: String,
        column: String,
        why: String,
    },
    /// A cell that cannot become a feature.
    #[error("{place}: {why}")]
    Cell { place: Place, why: String },
    /// Every row has a gap, and the user wants none of those.
    #[error(
        "every row has a missing value, and --missing drop is given; name the column to blame with --ignore"
    )]
    NoWholeRow,
    /// All columns are left out.
    #[error("no column is left to learn from; `foretask check` says why")]
    NothingToLearnFrom,
    /// A feature that is text.
    #[error("{place}: '{text}' is not a number")]
    NotNumber { place: Place, text: String },
    /// A feature that is NaN or infinite.
    #[error(
        "{place}: the value is {value}; every value must be finite, so fill it in or drop the row"
    )]
    NotFinite { place: Place, value: String },
    /// A label or task without a value.
    #[error("{place}: the {role} is empty; every row needs one, so fill it in or drop the row")]
    EmptyCategory { place: Place, role: &'static str },
    /// A label or task in another encoding.
    #[error("{place}: the text is not UTF-8; save the file with UTF-8 encoding")]
    NotUtf8 { place: Place },

    // Joining several files.
    /// The files do not describe the same features.
    #[error(
        "{file}: its feature columns are not those of {first}: missing {missing}; not in {first}: {extra}. Every file must have the same features; choose them with --features"
    )]
    DifferentFeatures {
        file: String,
        first: String,
        missing: Names,
        extra: Names,
    },
    /// A file of svmlight lines is wider than the first.
    #[error(
        "{file}: index {index} is beyond the last one of {first}; name the file with the largest index first, whatever is not written in the others is zero"
    )]
    Wider {
        file: String,
        first: String,
        index: usize,
    },
    /// Two files would become one task.
    #[error(
        "{first} and {second} would both be the task '{task}'; rename one of them, or add a task column"
    )]
    SameTask {
        first: String,
        second: String,
        task: String,
    },
    /// A test table of other tasks only.
    #[error(
        "no row is of the task '{task}' that the model decides for; the task column has {found}"
    )]
    OtherTasks { task: String, found: Names },
}

impl ReadError {
    /// The cell that it is about, if it is about one.
    #[cfg(feature = "parquet")]
    pub(super) fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            Self::MostlyNumbers { place, .. }
            | Self::NotNumber { place, .. }
            | Self::NotFinite { place, .. }
            | Self::EmptyCategory { place, .. }
            | Self::Cell { place, .. }
            | Self::NotUtf8 { place } => Some(place),
            _ => None,
        }
    }
}
