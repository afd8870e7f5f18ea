//! What the columns of training rows are, and what becomes of them.

use rayon::prelude::*;

use super::column::WhyLeftOut;
use super::column::{Column, Frame, Texts};
use super::plan::{Encoded, Encoding, LeftOutColumn, Preparation};
use crate::error::{Error, Result};

/// Different texts of a column that become features, at most, unless the user says otherwise.
pub const MAX_LEVELS: usize = 32;

/// The share of missing values above which their absence becomes a feature.
pub const MANY_MISSING: f64 = 0.01;

/// Rows from which on numbers that are all different and without a gap between them number the rows.
pub(super) const ROWS_TO_COUNT: usize = 10;

/// Texts that mean no and yes, in letters of any case.
pub const FLAGS: [[&str; 2]; 4] = [["false", "true"], ["no", "yes"], ["n", "y"], ["f", "t"]];

/// What the user wants of the columns.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// Different texts of a column that become features, at most.
    pub max_levels: usize,
    /// Columns that the user named: they are not left out as identifiers or row numbers.
    pub chosen: Vec<String>,
    /// Columns whose numbers are names.
    pub categorical: Vec<String>,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            max_levels: MAX_LEVELS,
            chosen: Vec::new(),
            categorical: Vec::new(),
        }
    }
}

impl Preparation {
    /// Learns from rows of several tasks; `task` is the task of each row, one of `tasks`.
    ///
    /// # Errors
    /// [`Error::Column`] if a column that the user called categorical has too many levels; [`Error::Shape`] if there
    /// is not one task for each row.
    pub fn learn(frame: &Frame, task: &[usize], tasks: usize, wishes: &Wishes) -> Result<Self> {
        if task.len() != frame.rows() {
            return Err(Error::Shape {
                what: "tasks of rows",
                expected: frame.rows(),
                got: task.len(),
            });
        }
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); tasks];
        for (row, &task) in task.iter().enumerate() {
            if let Some(rows) = rows_of.get_mut(task) {
                rows.push(row);
            }
        }
        let columns: Vec<(&String, &Column)> = frame.names.iter().zip(&frame.columns).collect();
        let learnt: Vec<Result<std::result::Result<Encoded, WhyLeftOut>>> = columns
            .par_iter()
            .map(|&(name, column)| learn(name, column, &rows_of, wishes))
            .collect();
        let mut preparation = Self::default();
        for (name, learnt) in frame.names.iter().zip(learnt) {
            match learnt? {
                Ok(encoded) => preparation.columns.push(encoded),
                Err(why) => preparation.left_out.push(LeftOutColumn {
                    name: name.clone(),
                    why,
                }),
            }
        }
        Ok(preparation)
    }
}

/// What there is to know of a column before it is decided what becomes of it.
pub(super) struct Facts {
    pub rows: usize,
    pub missing: usize,
    pub holds: Holds,
}

pub(super) enum Holds {
    /// What cannot become features.
    Untold(WhyLeftOut),
    /// Numbers, and why they are no feature, if they are none.
    Numbers(Option<WhyLeftOut>),
    /// Texts: the different ones in alphabetical order, none if they are too many; and whether all are dates.
    Texts {
        levels: Option<Vec<String>>,
        dates: bool,
    },
}

impl Wishes {
    pub(super) fn is_chosen(&self, name: &str) -> bool {
        self.chosen.iter().any(|chosen| chosen == name)
    }

    pub(super) fn is_categorical(&self, name: &str) -> bool {
        self.categorical.iter().any(|chosen| chosen == name)
    }
}

fn learn(
    name: &str,
    column: &Column,
    rows_of: &[Vec<usize>],
    wishes: &Wishes,
) -> Result<std::result::Result<Encoded, WhyLeftOut>> {
    if let Column::Sparse { .. } = column {
        return learn(name, &column.clone().widened(), rows_of, wishes);
    }
    let chosen = wishes.is_chosen(name);
    let holds = match column {
        Column::Untold(_, why) => Holds::Untold(*why),
        column if wishes.is_categorical(name) => texts(&column.clone().into_texts()),
        Column::Numbers(values) => Holds::Numbers(numbers(name, chosen, values.iter().copied())),
        Column::Singles(values) => {
            let values = values.iter().map(|&value| f64::from(value));
            Holds::Numbers(numbers(name, chosen, values))
        }
        Column::Texts(own) => texts(own),
        Column::Sparse { .. } => Holds::Numbers(None),
    };
    let facts = Facts {
        rows: column.len(),
        missing: column.missing(),
        holds,
    };
    let fills = || match column {
        Column::Numbers(values) => medians(rows_of, |row| values[row]),
        Column::Singles(values) => medians(rows_of, |row| f64::from(values[row])),
        Column::Texts(texts) => {
            let flags: Vec<f64> = texts.levels().iter().map(|level| flag(level)).collect();
            let values: Vec<f64> = texts
                .codes()
                .map(|code| code.map_or(f64::NAN, |code| flags[code]))
                .collect();
            medians(rows_of, |row| values[row])
        }
        Column::Sparse { .. } | Column::Untold(..) => Vec::new(),
    };
    decide(name, facts, wishes, fills)
}

fn texts(texts: &Texts) -> Holds {
    Holds::Texts {
        levels: levels_of(texts),
        dates: texts.levels().iter().all(|level| is_date(level)),
    }
}

/// What becomes of a column; `fills` are the medians of the tasks, of numbers and of flags as 0 and 1.
pub(super) fn decide(
    name: &str,
    facts: Facts,
    wishes: &Wishes,
    fills: impl FnOnce() -> Vec<f64>,
) -> Result<std::result::Result<Encoded, WhyLeftOut>> {
    let (chosen, categorical) = (wishes.is_chosen(name), wishes.is_categorical(name));
    let Facts {
        rows,
        missing,
        holds,
    } = facts;
    if let Holds::Untold(why) = holds {
        return Ok(Err(why));
    }
    if missing == rows {
        return Ok(Err(WhyLeftOut::Empty));
    }
    if is_row_index(name) && !chosen && !categorical {
        return Ok(Err(WhyLeftOut::RowNumber));
    }
    let share = missing as f64 / rows as f64;
    let encoded = |encoding, fills| Encoded {
        name: name.to_owned(),
        encoding,
        indicator: share > MANY_MISSING,
        fills,
        missing: share,
    };
    Ok(match holds {
        Holds::Untold(why) | Holds::Numbers(Some(why)) => Err(why),
        Holds::Numbers(None) => Ok(encoded(Encoding::Number, fills())),
        Holds::Texts { levels, .. } if categorical => match levels {
            Some(levels) if levels.len() <= wishes.max_levels => {
                Ok(encoded(Encoding::Levels(levels), Vec::new()))
            }
            levels => {
                return Err(Error::Column {
                    column: name.to_owned(),
                    row: None,
                    why: format!(
                        "has {}, and at most {} may become features; allow more (max levels), or leave it out",
                        WhyLeftOut::ManyLevels(levels.map(|levels| levels.len())),
                        wishes.max_levels
                    ),
                });
            }
        },
        Holds::Texts { levels, dates } => match levels {
            Some(levels) if levels.len() == 1 && missing == 0 => Err(WhyLeftOut::Constant),
            Some(levels) if flags(&levels).is_some() => Ok(encoded(Encoding::Flag, fills())),
            _ if dates => Err(WhyLeftOut::Dates),
            Some(levels) if levels.len() == rows - missing && rows - missing > 1 && !chosen => {
                Err(WhyLeftOut::Identifier)
            }
            Some(levels) if levels.len() <= wishes.max_levels => {
                Ok(encoded(Encoding::Levels(levels), Vec::new()))
            }
            levels => Err(WhyLeftOut::ManyLevels(levels.map(|levels| levels.len()))),
        },
    })
}

/// Why numbers are no feature, if they are none.
fn numbers(
    name: &str,
    chosen: bool,
    values: impl Iterator<Item = f64> + Clone,
) -> Option<WhyLeftOut> {
    let mut present = values.filter(|value| !value.is_nan());
    let first = present.clone().next()?;
    if present.clone().all(|value| value == first) {
        return Some(WhyLeftOut::Constant);
    }
    if chosen || !present.clone().all(|value| value == value.trunc()) {
        return None;
    }
    let (mut least, mut most, mut count) = (first, first, 0usize);
    for value in present.clone() {
        least = least.min(value);
        most = most.max(value);
        count += 1;
    }
    // Whole numbers within a range no longer than the rows: each at most once is each exactly once.
    let span = most - least + 1.0;
    if count >= ROWS_TO_COUNT && span == count as f64 {
        let mut seen = vec![false; count];
        let all_new = present.all(|value| {
            let place = (value - least) as usize;
            seen.get_mut(place)
                .is_some_and(|seen| !std::mem::replace(seen, true))
        });
        return all_new.then_some(WhyLeftOut::RowNumber);
    }
    if is_identifier(name) && span > count as f64 {
        let mut all: Vec<f64> = present.collect();
        all.sort_by(f64::total_cmp);
        return all
            .windows(2)
            .all(|pair| pair[0] != pair[1])
            .then_some(WhyLeftOut::Identifier);
    }
    None
}

/// The median of each task, or of all rows where a task has no value.
fn medians(rows_of: &[Vec<usize>], value: impl Fn(usize) -> f64) -> Vec<f64> {
    // One buffer for all tasks: making new ones takes longer than the medians.
    let most = rows_of.iter().map(Vec::len).max().unwrap_or(0);
    let mut buffer = Vec::with_capacity(most);
    let own: Vec<Option<f64>> = rows_of
        .iter()
        .map(|rows| median(&mut buffer, rows.iter().map(|&row| value(row))))
        .collect();
    if own.iter().all(Option::is_some) {
        return own.into_iter().flatten().collect();
    }
    let every = rows_of.iter().flatten().map(|&row| value(row));
    let all = median(&mut buffer, every).unwrap_or(0.0);
    own.into_iter().map(|own| own.unwrap_or(all)).collect()
}

/// The median of the values that are there.
pub(super) fn median(values: &mut Vec<f64>, all: impl Iterator<Item = f64>) -> Option<f64> {
    values.clear();
    values.extend(all.filter(|value| !value.is_nan()));
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    let lower = match even {
        true => below.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        false => upper,
    };
    // Halves first: the sum of two large numbers may be infinite.
    Some(0.5 * lower + 0.5 * upper)
}

/// The different texts in alphabetical order; `None` for free text.
fn levels_of(texts: &Texts) -> Option<Vec<String>> {
    if texts.is_free() {
        return None;
    }
    let mut levels = texts.levels().to_vec();
    levels.sort();
    Some(levels)
}

/// Which pair of words the texts are, where they are two that mean no and yes.
fn flags(levels: &[String]) -> Option<[&'static str; 2]> {
    let is = |level: &String, word: &str| level.eq_ignore_ascii_case(word);
    FLAGS.into_iter().find(|[no, yes]| {
        levels.len() > 1
            && levels.iter().all(|level| is(level, no) || is(level, yes))
            && levels.iter().any(|level| is(level, no))
            && levels.iter().any(|level| is(level, yes))
    })
}

/// 1 for a word that means yes, 0 for one that means no, NaN for anything else.
pub(super) fn flag(text: &str) -> f64 {
    let mut pairs = FLAGS.iter();
    let found = pairs.find_map(|pair| {
        let mut words = pair.iter();
        words.position(|word| text.eq_ignore_ascii_case(word))
    });
    match (found, text) {
        (Some(place), _) => place as f64,
        (None, "0") => 0.0,
        (None, "1") => 1.0,
        (None, _) => f64::NAN,
    }
}

/// Whether a column is nameless, or has the name that pandas gives a nameless index.
///
/// A row index must not become a feature: where rows are sorted by class it gives the label away.
fn is_row_index(name: &str) -> bool {
    let name = name.trim();
    name.is_empty() || name.starts_with("__index_level_") || name.starts_with("Unnamed: ")
}

/// Whether a name is that of an identifier.
pub(super) fn is_identifier(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower == "id"
        || lower == "index"
        || ["_id", " id", "-id", ".id"]
            .iter()
            .any(|end| lower.ends_with(end))
        || (name.ends_with("Id") || name.ends_with("ID"))
}

/// Whether a text is a date or a time: digits in two or three groups, joined as dates are.
pub(super) fn is_date(text: &str) -> bool {
    let text = text.trim();
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    ['-', '/', '.'].iter().any(|&joint| {
        let parts: Vec<&str> = day.split(joint).collect();
        let digits = |part: &&str| {
            (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        parts.len() == 3
            && parts.iter().all(digits)
            && (parts[0].len() == 4 || parts[2].len() == 4 || parts[2].len() == 2)
    }) || {
        let parts: Vec<&str> = text.split(':').collect();
        (2..=3).contains(&parts.len())
            && parts.iter().all(|part| {
                (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
            })
    }
}
