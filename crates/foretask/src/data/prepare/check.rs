//! What to look at before a table is learnt from.

use std::collections::HashMap;

use rayon::prelude::*;

use super::column::{Column, Frame};
use super::plan::{Encoding, Preparation};

/// The share of all variance from which on one column drowns the others.
pub const DROWNS: f64 = 0.99;

/// Rows that a column must have before it can be said to be the label under another name.
const ROWS_TO_TELL: usize = 10;

/// Something that may be wrong with a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Rows that are exact copies of other rows of their task: what is left out is known all the same.
    Copies {
        /// Copies, not counting the first of each.
        rows: usize,
    },
    /// Rows that are exact copies of rows of another task.
    SharedRows {
        /// Rows that stand in more than one task.
        rows: usize,
    },
    /// Whole numbers, all different: perhaps an identifier.
    Identifier {
        /// The column.
        column: String,
    },
    /// A column that says the label in other words.
    IsLabel {
        /// The column.
        column: String,
    },
    /// A column with nearly all the variance of the features.
    Drowns {
        /// The column.
        column: String,
        /// Its share.
        share: f64,
    },
    /// A task without a second class.
    OneClass {
        /// The task.
        task: String,
        /// Its class.
        class: String,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Copies { rows } => write!(
                out,
                "{rows} rows are exact copies of other rows of their task: a forecast takes them for new samples \
                 and is too good; drop them, or say which rows belong together (group)"
            ),
            Self::SharedRows { rows } => write!(
                out,
                "{rows} rows stand in more than one task, with the same values in every feature"
            ),
            Self::Identifier { column } => write!(
                out,
                "'{column}' holds whole numbers that are all different: if it is an identifier, ignore it"
            ),
            Self::IsLabel { column } => write!(
                out,
                "'{column}' says the same as the label: if it is not known before the label is, ignore it"
            ),
            Self::Drowns { column, share } => write!(
                out,
                "'{column}' has {:.1} % of the variance of all features: the default also looks at them in units of \
                 their spread, a rule or labels by name do not",
                100.0 * share
            ),
            Self::OneClass { task, class } => write!(
                out,
                "task '{task}' has one class only ('{class}'): it can be a source, not a target"
            ),
        }
    }
}

impl Preparation {
    /// Looks at the rows that were learnt from; `task` and `label` are the task and the class of each, where they
    /// are known.
    pub fn check<S: AsRef<str>, U: AsRef<str>>(
        &self,
        frame: &Frame,
        task: &[S],
        label: &[U],
    ) -> Vec<Warning> {
        let (task, label) = (&Coded::new(task), &Coded::new(label));
        let mut next = 0;
        let columns: Vec<(&Column, &Encoding, &str)> = self
            .columns
            .iter()
            .filter_map(|encoded| {
                let place = frame.place(&encoded.name, next)?;
                next = place + 1;
                let column = &frame.columns()[place];
                Some((column, &encoded.encoding, encoded.name.as_str()))
            })
            .collect();
        let mut warnings = copies(&columns, &task.codes, frame.rows());
        let found: Vec<Option<Warning>> = columns
            .par_iter()
            .map(|(column, _, name)| {
                if is_label(column, &label.codes) {
                    return Some(Warning::IsLabel {
                        column: (*name).to_owned(),
                    });
                }
                all_different(column).then(|| Warning::Identifier {
                    column: (*name).to_owned(),
                })
            })
            .collect();
        warnings.extend(found.into_iter().flatten());
        warnings.extend(drowns(&columns));
        warnings.extend(one_class(task, label));
        warnings
    }
}

/// Names by their numbers, in order of appearance.
struct Coded<'a> {
    codes: Vec<u32>,
    names: Vec<&'a str>,
}

/// Names that are found again by where they are stored.
const PLACES: usize = 64;

impl<'a> Coded<'a> {
    fn new<S: AsRef<str>>(names: &'a [S]) -> Self {
        let mut codes_of: HashMap<&str, u32> = HashMap::new();
        // Rows may share their names: those in one place are one, and need not be looked at.
        let mut seen: [(&str, u32); PLACES] = [("", 0); PLACES];
        let mut coded = Self {
            codes: Vec::with_capacity(names.len()),
            names: Vec::new(),
        };
        for name in names {
            let name = name.as_ref();
            let slot = &mut seen[(name.as_ptr() as usize >> 4) % PLACES];
            if !std::ptr::eq(slot.0, name) {
                let code = *codes_of.entry(name).or_insert_with(|| {
                    coded.names.push(name);
                    coded.names.len() as u32 - 1
                });
                *slot = (name, code);
            }
            coded.codes.push(slot.1);
        }
        coded
    }
}

/// What is the same in two rows that are copies.
fn value(column: &Column, row: usize, codes: &[Option<usize>]) -> u64 {
    match column {
        // Plus and minus zero are one.
        Column::Numbers(values) => (values[row] + 0.0).to_bits(),
        Column::Singles(values) => f64::from(values[row] + 0.0).to_bits(),
        Column::Sparse { at, values, .. } => {
            let place = at.binary_search(&(row as u32));
            place.map_or(0.0, |place| values[place] + 0.0).to_bits()
        }
        Column::Texts(_) => codes
            .get(row)
            .copied()
            .flatten()
            .map_or(u64::MAX, |code| code as u64),
        Column::Untold(..) => 0,
    }
}

fn codes(column: &Column) -> Vec<Option<usize>> {
    match column {
        Column::Texts(texts) => texts.codes().collect(),
        _ => Vec::new(),
    }
}

fn copies(columns: &[(&Column, &Encoding, &str)], task: &[u32], rows: usize) -> Vec<Warning> {
    // Two features are easily equal by chance, as are few kinds of texts.
    let numbers = columns
        .iter()
        .filter(|(_, encoding, _)| **encoding == Encoding::Number);
    if numbers.count() < 2 {
        return Vec::new();
    }
    let mut hashes = vec![0u64; rows];
    for (column, ..) in columns {
        let codes = codes(column);
        hashes.par_iter_mut().enumerate().for_each(|(row, hash)| {
            // A step of FNV with a final mix: cheap, and far from the values' own bits.
            let mixed = (*hash ^ value(column, row, &codes)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            *hash = mixed ^ (mixed >> 29);
        });
    }
    let mut all: Vec<(u64, u32)> = (hashes.into_iter().enumerate())
        .map(|(row, hash)| (hash, task.get(row).copied().unwrap_or(0)))
        .collect();
    all.par_sort_unstable();
    let (mut own, mut shared) = (0, 0);
    for same in all.chunk_by(|one, other| one.0 == other.0) {
        let mut tasks = 0;
        for of_task in same.chunk_by(|one, other| one.1 == other.1) {
            own += of_task.len() - 1;
            tasks += 1;
        }
        if tasks > 1 {
            shared += same.len();
        }
    }
    let own = (own > 0).then_some(Warning::Copies { rows: own });
    let shared = (shared > 0).then_some(Warning::SharedRows { rows: shared });
    own.into_iter().chain(shared).collect()
}

/// Whether there is one value for each class and one class for each value.
fn is_label(column: &Column, label: &[u32]) -> bool {
    if label.len() < ROWS_TO_TELL || label.len() != column.len() {
        return false;
    }
    let codes = codes(column);
    let (mut class_of, mut value_of) = (HashMap::new(), HashMap::new());
    for (row, class) in label.iter().enumerate() {
        let value = value(column, row, &codes);
        if *class_of.entry(value).or_insert(*class) != *class
            || *value_of.entry(*class).or_insert(value) != value
        {
            return false;
        }
    }
    class_of.len() > 1
}

/// Whether whole numbers are all different.
fn all_different(column: &Column) -> bool {
    let Column::Numbers(values) = column else {
        return false;
    };
    if values.len() < ROWS_TO_TELL || values.iter().any(|value| *value != value.trunc()) {
        return false;
    }
    let mut sorted = values.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

/// The variance of the values that are there, in two passes: about their mean it does not cancel.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let present = values.filter(|value| value.is_finite());
    let (mut count, mut sum) = (0usize, 0.0);
    for value in present.clone() {
        count += 1;
        sum += value;
    }
    let mean = sum / count as f64;
    let squares: f64 = present.map(|value| (value - mean).powi(2)).sum();
    match count {
        0 => 0.0,
        _ => squares / count as f64,
    }
}

fn drowns(columns: &[(&Column, &Encoding, &str)]) -> Option<Warning> {
    let variance = |column: &Column| {
        match column {
            Column::Numbers(values) => spread(values.iter().copied()),
            Column::Singles(values) => spread(values.iter().map(|&value| f64::from(value))),
            Column::Sparse { rows, values, .. } => {
                let zeros = std::iter::repeat_n(0.0, rows.saturating_sub(values.len()));
                spread(values.iter().copied().chain(zeros))
            }
            // At most that of a fair coin.
            _ => 0.25,
        }
    };
    let variances: Vec<f64> = columns
        .par_iter()
        .map(|(column, ..)| variance(column))
        .collect();
    let total: f64 = variances.iter().sum();
    let most = variances
        .iter()
        .enumerate()
        .max_by(|one, other| one.1.total_cmp(other.1))?;
    let share = most.1 / total;
    (columns.len() > 1 && share > DROWNS).then(|| Warning::Drowns {
        column: columns[most.0].2.to_owned(),
        share,
    })
}

fn one_class(task: &Coded<'_>, label: &Coded<'_>) -> Vec<Warning> {
    // The only class of each task, or that there are several.
    let mut only: Vec<Option<Option<u32>>> = vec![None; task.names.len()];
    for (&task, &class) in task.codes.iter().zip(&label.codes) {
        let seen = &mut only[task as usize];
        *seen = match *seen {
            Some(other) if other != Some(class) => Some(None),
            _ => Some(Some(class)),
        };
    }
    let mut found: Vec<(&str, &str)> = (task.names.iter().zip(only))
        .filter_map(|(task, class)| Some((*task, label.names[class?? as usize])))
        .collect();
    found.sort_unstable();
    let warning = |(task, class): (&str, &str)| Warning::OneClass {
        task: task.to_owned(),
        class: class.to_owned(),
    };
    found.into_iter().map(warning).collect()
}
