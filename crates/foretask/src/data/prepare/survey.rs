//! [`Survey`]: what training rows say about their columns, where the rows are not in memory together.
//!
//! A first pass over the data. What becomes of a column is decided by the rules of [`Preparation::learn`] from what is
//! remembered of it: counts, bounds and the different texts, which are few or do not matter. Two things would need all
//! values and are cut short: medians are those of at most [`MOST_SAMPLED`] rows of a task, and a column that is named
//! as an identifier is one if its first [`MOST_DIFFERENT`] values are all different. Tables that are smaller come to
//! the preparation that they would have in memory.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::column::{Column, Frame, MOST_TEXTS, WhyLeftOut};
use super::learn::{
    Facts, Holds, ROWS_TO_COUNT, Wishes, decide, flag, is_date, is_identifier, median,
};
use super::naming::number_name;
use super::plan::{LeftOutColumn, Preparation};
use crate::error::{Error, Result};

/// Rows of a task that medians are taken of, at most: the median of so many is within a few hundredths of a standard
/// deviation of that of all.
const MOST_SAMPLED: usize = 8192;

/// Values that are sampled of all tasks, at most (128 MB): with many tasks there are fewer rows of each.
const MOST_VALUES: usize = 1 << 24;

/// Values of an identifier that are compared, at most.
const MOST_DIFFERENT: usize = 1 << 20;

/// What becomes of columns, learnt part by part.
///
/// ```
/// use foretask::prepare::{Column, Frame, Survey, Wishes};
/// let part = |first: f64| {
///     let values = (0..6).map(|i| first + 0.5 * f64::from(i)).collect();
///     Frame::new(vec!["x".into()], vec![Column::Numbers(values)], 6)
/// };
/// let mut survey = Survey::new(Wishes::default());
/// survey.add(&part(0.0)?, &["north"; 6])?;
/// survey.add(&part(3.0)?, &["south"; 6])?;
/// let (preparation, tasks) = survey.finish()?;
/// assert_eq!(tasks, ["north", "south"]);
/// assert_eq!(preparation.columns[0].fills, [1.25, 4.25]);
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Debug)]
pub struct Survey {
    wishes: Wishes,
    names: Vec<String>,
    columns: Vec<Seen>,
    rows: u64,
    sampled: BTreeMap<String, Sample>,
    most: usize,
}

impl Survey {
    /// No rows yet.
    pub fn new(wishes: Wishes) -> Self {
        Self {
            wishes,
            names: Vec::new(),
            columns: Vec::new(),
            rows: 0,
            sampled: BTreeMap::new(),
            most: MOST_SAMPLED,
        }
    }

    /// Adds rows with the task of each; all parts have the same columns in the same order.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is not one task for each row or another number of columns, [`Error::Column`] for one
    /// of another name.
    pub fn add<S: AsRef<str>>(&mut self, frame: &Frame, task: &[S]) -> Result<()> {
        if task.len() != frame.rows() {
            return Err(Error::Shape {
                what: "tasks of rows",
                expected: frame.rows(),
                got: task.len(),
            });
        }
        if self.rows == 0 {
            self.names = frame.names().to_vec();
            let seen = |name: &String| Seen::new(name, &self.wishes);
            self.columns = self.names.iter().map(seen).collect();
        }
        if self.names.len() != frame.names().len() {
            return Err(Error::Shape {
                what: "columns",
                expected: self.names.len(),
                got: frame.names().len(),
            });
        }
        let mut pairs = self.names.iter().zip(frame.names());
        if let Some((_, column)) = pairs.find(|(own, other)| own != other) {
            return Err(Error::Column {
                column: column.clone(),
                row: None,
                why: "is not where it was in the parts before".to_owned(),
            });
        }
        for (seen, column) in self.columns.iter_mut().zip(frame.columns()) {
            seen.add(column);
        }
        self.sample(frame, task);
        self.rows += frame.rows() as u64;
        Ok(())
    }

    /// Whether, so far, every column is a feature as it is: numbers, none of them missing.
    pub fn is_plain(&self) -> bool {
        let plain = |(name, seen): (&String, &Seen)| {
            let facts = seen.facts(name, &self.wishes);
            let decided = decide(name, facts, &self.wishes, Vec::new);
            matches!(decided, Ok(Ok(column)) if column.is_plain())
        };
        let mut columns = self.names.iter().zip(&self.columns);
        self.rows > 0 && columns.all(plain)
    }

    /// Which rows are sampled depends on their numbers only, not on how they came.
    fn sample<S: AsRef<str>>(&mut self, frame: &Frame, task: &[S]) {
        let columns: Vec<Numbers<'_>> = frame.columns().iter().map(Numbers::of).collect();
        for (row, task) in task.iter().enumerate() {
            let key = mixed(self.rows + row as u64);
            let own = match self.sampled.get_mut(task.as_ref()) {
                Some(own) => own,
                None => self.sampled.entry(task.as_ref().to_owned()).or_default(),
            };
            if key < own.end {
                let row = columns.iter().map(|column| column.at(row)).collect();
                own.rows.push((key, row));
            }
            if own.rows.len() >= 2 * self.most {
                own.thin(self.most);
            }
        }
        while self.most > 1 && self.values() > MOST_VALUES {
            self.most /= 2;
            for own in self.sampled.values_mut() {
                own.thin(self.most);
            }
        }
    }

    fn values(&self) -> usize {
        let rows = self
            .sampled
            .values()
            .map(|own| own.rows.len().min(self.most));
        rows.sum::<usize>().saturating_mul(self.names.len())
    }

    /// What becomes of the columns, and the tasks by whose places gaps are filled.
    ///
    /// # Errors
    /// [`Error::Column`] if a column that the user called categorical has too many levels.
    pub fn finish(mut self) -> Result<(Preparation, Vec<String>)> {
        for own in self.sampled.values_mut() {
            own.thin(self.most);
        }
        let mut preparation = Preparation::default();
        for (place, (name, seen)) in self.names.iter().zip(&self.columns).enumerate() {
            let fills = || self.medians(place);
            match decide(name, seen.facts(name, &self.wishes), &self.wishes, fills)? {
                Ok(encoded) => preparation.columns.push(encoded),
                Err(why) => preparation.left_out.push(LeftOutColumn {
                    name: name.clone(),
                    why,
                }),
            }
        }
        Ok((preparation, self.sampled.into_keys().collect()))
    }

    /// The median of each task, or of all rows where a task has no value.
    fn medians(&self, column: usize) -> Vec<f64> {
        let mut buffer = Vec::new();
        let values = |own: &Sample| {
            let value = |(_, row): &(u64, Box<[f64]>)| row.get(column).copied();
            own.rows.iter().filter_map(value).collect::<Vec<f64>>()
        };
        let own: Vec<Option<f64>> = self
            .sampled
            .values()
            .map(|own| median(&mut buffer, values(own).into_iter()))
            .collect();
        let all = match own.iter().all(Option::is_some) {
            true => 0.0,
            false => {
                median(&mut buffer, self.sampled.values().flat_map(values)).unwrap_or_default()
            }
        };
        own.into_iter().map(|own| own.unwrap_or(all)).collect()
    }
}

/// Rows of a task, as numbers, each with its place in an order that is as good as random.
#[derive(Debug)]
struct Sample {
    rows: Vec<(u64, Box<[f64]>)>,
    /// Places from here on are not taken.
    end: u64,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            end: u64::MAX,
        }
    }
}

impl Sample {
    /// Keeps the first rows in their order.
    fn thin(&mut self, most: usize) {
        if self.rows.len() > most {
            let (_, next, _) = self.rows.select_nth_unstable_by_key(most, |row| row.0);
            self.end = next.0;
            self.rows.truncate(most);
        }
    }
}

/// Bits that look random (the finaliser of SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The cells of a column as numbers: flags are 0 and 1, what is neither is missing.
enum Numbers<'a> {
    Doubles(&'a [f64]),
    Singles(&'a [f32]),
    Flags(Vec<f64>),
    Sparse(&'a [u32], &'a [f64]),
    None,
}

impl<'a> Numbers<'a> {
    fn of(column: &'a Column) -> Self {
        match column {
            Column::Numbers(values) => Self::Doubles(values),
            Column::Singles(values) => Self::Singles(values),
            Column::Texts(texts) => {
                let flags: Vec<f64> = texts.levels().iter().map(|level| flag(level)).collect();
                let value = |code: Option<usize>| code.and_then(|code| flags.get(code).copied());
                let values = texts.codes().map(|code| value(code).unwrap_or(f64::NAN));
                Self::Flags(values.collect())
            }
            Column::Sparse { at, values, .. } => Self::Sparse(at, values),
            Column::Untold(..) => Self::None,
        }
    }

    fn at(&self, row: usize) -> f64 {
        let value = match self {
            Self::Doubles(values) => values.get(row).copied(),
            Self::Singles(values) => values.get(row).map(|&value| f64::from(value)),
            Self::Flags(values) => values.get(row).copied(),
            Self::Sparse(at, values) => match at.binary_search(&(row as u32)) {
                Ok(place) => values.get(place).copied(),
                Err(_) => Some(0.0),
            },
            Self::None => None,
        };
        value.unwrap_or(f64::NAN)
    }
}

/// What is remembered of a column.
#[derive(Debug)]
struct Seen {
    rows: usize,
    missing: usize,
    untold: Option<WhyLeftOut>,
    /// Whether any part held texts: then all did.
    is_text: bool,
    /// Whether there are more different texts than are remembered.
    is_free: bool,
    texts: BTreeSet<String>,
    numbers: Range,
}

/// What is remembered of numbers.
#[derive(Debug)]
struct Range {
    count: usize,
    first: f64,
    is_constant: bool,
    is_whole: bool,
    least: f64,
    most: f64,
    /// Σ mixed(x): that of whole numbers without a gap or a repetition is known.
    sum: u64,
    /// The different numbers, which are names if a text is among them; none once they are too many.
    kinds: Option<BTreeSet<u64>>,
    /// Numbers that were seen not long ago, by some of their bits.
    recent: Vec<u64>,
    /// The values of an identifier; none once two are alike, or if it is none by its name.
    different: Option<HashSet<u64>>,
}

/// Numbers that are remembered as recent.
const RECENT: usize = 256;

impl Seen {
    fn new(name: &str, wishes: &Wishes) -> Self {
        Self {
            rows: 0,
            missing: 0,
            untold: None,
            is_text: wishes.is_categorical(name),
            is_free: false,
            texts: BTreeSet::new(),
            numbers: Range {
                count: 0,
                first: 0.0,
                is_constant: true,
                is_whole: true,
                least: f64::INFINITY,
                most: f64::NEG_INFINITY,
                sum: 0,
                kinds: Some(BTreeSet::new()),
                // A quiet NaN of our own is no number that comes.
                recent: vec![u64::MAX; RECENT],
                different: is_identifier(name).then(HashSet::new),
            },
        }
    }

    fn add(&mut self, column: &Column) {
        self.rows += column.len();
        self.missing += column.missing();
        match column {
            Column::Numbers(_) | Column::Singles(_) if self.numbers.is_settled() => {}
            Column::Numbers(values) => values.iter().for_each(|&value| self.numbers.add(value)),
            Column::Sparse { rows, values, .. } => {
                values.iter().for_each(|&value| self.numbers.add(value));
                // Zeros, as many as there are.
                (values.len()..*rows).for_each(|_| self.numbers.add(0.0));
            }
            Column::Singles(values) => values
                .iter()
                .for_each(|&value| self.numbers.add(f64::from(value))),
            Column::Texts(texts) => {
                self.is_text = true;
                self.is_free |= texts.is_free();
                for level in texts.levels() {
                    if self.texts.contains(level) {
                        continue;
                    }
                    match self.texts.len() < MOST_TEXTS {
                        true => drop(self.texts.insert(level.clone())),
                        false => self.is_free = true,
                    }
                }
            }
            Column::Untold(_, why) => self.untold = Some(*why),
        }
    }

    fn facts(&self, name: &str, wishes: &Wishes) -> Facts {
        let holds = match (self.untold, self.is_text) {
            (Some(why), _) => Holds::Untold(why),
            (None, true) => self.texts(),
            (None, false) => {
                Holds::Numbers(self.numbers.why_left_out(name, wishes.is_chosen(name)))
            }
        };
        Facts {
            rows: self.rows,
            missing: self.missing,
            holds,
        }
    }

    /// Texts, and numbers by their names.
    fn texts(&self) -> Holds {
        let mut levels = self.texts.clone();
        let kinds = self.numbers.kinds.as_ref();
        let names = kinds
            .into_iter()
            .flatten()
            .filter_map(|&bits| number_name(f64::from_bits(bits)));
        levels.extend(names);
        let free = self.is_free || kinds.is_none() || levels.len() > MOST_TEXTS;
        Holds::Texts {
            dates: levels.iter().all(|level| is_date(level)),
            levels: (!free).then(|| levels.into_iter().collect()),
        }
    }
}

impl Range {
    /// Whether no number that may come changes what becomes of the column.
    fn is_settled(&self) -> bool {
        let forgotten = self.kinds.is_none() && self.different.is_none();
        forgotten && !self.is_constant && !self.is_whole
    }

    fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        if self.count == 0 {
            self.first = value;
        }
        self.count += 1;
        self.is_constant &= value == self.first;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        // Both zeros are one number.
        let bits = (value + 0.0).to_bits();
        self.is_whole = self.is_whole && value == value.trunc();
        if self.is_whole {
            self.sum = self.sum.wrapping_add(mixed(bits));
        }
        if let Some(kinds) = &mut self.kinds {
            let place = (mixed(bits) % RECENT as u64) as usize;
            if let Some(recent) = self.recent.get_mut(place).filter(|recent| **recent != bits) {
                *recent = bits;
                kinds.insert(bits);
                if kinds.len() > MOST_TEXTS {
                    self.kinds = None;
                }
            }
        }
        if let Some(different) = &mut self.different
            && different.len() < MOST_DIFFERENT
            && !different.insert(bits)
        {
            self.different = None;
        }
    }

    /// As [`Preparation::learn`] would say of all values.
    fn why_left_out(&self, name: &str, chosen: bool) -> Option<WhyLeftOut> {
        if self.is_constant {
            return Some(WhyLeftOut::Constant);
        }
        if chosen || !self.is_whole {
            return None;
        }
        let span = self.most - self.least + 1.0;
        if self.count >= ROWS_TO_COUNT && span == self.count as f64 {
            // Each of them exactly once has this sum; others have it once in 2^64.
            let all = (0..self.count).fold(0_u64, |sum, place| {
                sum.wrapping_add(mixed((self.least + place as f64).to_bits()))
            });
            return (all == self.sum).then_some(WhyLeftOut::RowNumber);
        }
        let is_identifier = is_identifier(name) && span > self.count as f64;
        (is_identifier && self.different.is_some()).then_some(WhyLeftOut::Identifier)
    }
}
