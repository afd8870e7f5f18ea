//! [`Tally`]: errors of a target of which no row was kept, counted where its rows are
//! (`docs/3-the-solver.md#counting-where-the-rows-are`).
//!
//! A study of folds without rows has a model without each fold. A tally takes these to the rows, wherever they are: each
//! is scored by the model that it had no part in, and what is brought back are counts by class, fold and score. Time n p
//! m; memory that of the models and some thousand counts.

use super::fold_scores::of_rows;
use crate::data::{RowBlock, Rows, group, rows_by_fold};
use crate::error::{Error, Result};
use crate::forecast::bins::Bins;
use crate::model::Scores;
use crate::tensors::{self, Tables};

/// The name of the format.
pub(super) const FORMAT: &str = "foretask-tally-1";

/// What rows of a target score by models without their fold, in counts that add up.
///
/// ```
/// use foretask::{Provenance, Rows, Settings, Statistics, Study, Tally};
/// let value = |i: usize| ((i * 7919) % 1013) as f64 / 100.0 + if i % 4 == 1 { 9.0 } else { 0.0 };
/// let values: Vec<f64> = (0..2000).map(value).collect();
/// let rows = Rows::row_major(&values, 2)?;
/// let class: Vec<&str> = (0..1000).map(|i| if i % 2 == 0 { "high" } else { "low" }).collect();
/// let mut statistics = Statistics::new(2).with_target("webcam");
/// statistics.add(rows, &["webcam"; 1000], &class)?;
/// // What leaves the house holds no row, and a study of it counts none.
/// let study = Study::new(&statistics.shareable(5)?.0, &Settings::default())?;
/// assert_eq!(study.forecast().provenance, Provenance::FoldMoments);
/// // A tally goes to the rows, and comes back with counts.
/// let mut tally = study.tally()?;
/// tally.add(rows, &["webcam"; 1000], &class)?;
/// let study = study.counted(&Tally::from_bytes(&tally.to_bytes()?)?)?;
/// assert_eq!(study.forecast().provenance, Provenance::LeaveFoldOut);
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tally {
    pub(super) header: Header,
    /// By class.
    pub(super) bins: Vec<Bins>,
    /// Of a tally that was read there are none, and no rows can be added.
    pub(super) models: Option<Models>,
}

/// What a tally is of.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    /// The statistics and the settings that the models were made of.
    pub(super) of: String,
    pub(super) target: String,
    pub(super) classes: Vec<String>,
    /// Scores are counted in units of 2 to this power.
    pub(super) unit: i32,
    /// Rows by fold and class.
    pub(super) counts: Vec<Vec<u64>>,
}

impl Header {
    pub(super) fn unit(&self) -> f64 {
        f64::from(self.unit).exp2()
    }

    fn check(&self) -> std::result::Result<(), String> {
        let m = self.classes.len();
        let sums = (0..m).map(|class| {
            let mut folds = self.counts.iter();
            folds.try_fold(0_u64, |sum, fold| sum.checked_add(*fold.get(class)?))
        });
        let fits = m > 1
            && self.counts.iter().all(|fold| fold.len() == m)
            && (-1000..=1000).contains(&self.unit)
            && sums.flatten().count() == m;
        match fits {
            true => Ok(()),
            false => Err("it describes no tally".into()),
        }
    }

    /// Whether both count the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let own = (&self.of, &self.target, &self.classes, self.unit);
        own == (&other.of, &other.target, &other.classes, other.unit)
            && self.counts.len() == other.counts.len()
    }

    /// Rows of each class.
    pub(super) fn rows(&self) -> Vec<u64> {
        let classes = 0..self.classes.len();
        let of = |class: usize| self.counts.iter().map(|fold| fold[class]).sum();
        classes.map(of).collect()
    }
}

/// The models without each fold.
#[derive(Clone, Debug)]
pub(super) struct Models {
    /// By fold.
    pub(super) scores: Vec<Scores>,
    /// The fold of the rows that were dealt to each number.
    pub(super) place: Vec<usize>,
}

pub(super) fn refused(why: impl Into<String>) -> Error {
    Error::Format {
        what: "the tally",
        why: why.into(),
    }
}

impl Tally {
    /// Counts rows of the target with their class names; those of other tasks are passed over.
    ///
    /// # Errors
    /// As [`crate::Statistics::add`]; [`Error::UnknownClass`] if a class was not there when rows were summed up;
    /// [`Error::Format`] if the tally was read from a file. Nothing is counted then.
    pub fn add<S: AsRef<str>, U: AsRef<str>>(
        &mut self,
        rows: Rows<'_>,
        task: &[S],
        class: &[U],
    ) -> Result<()> {
        let Some(models) = &self.models else {
            return Err(refused(
                "it was read from a file, and rows are counted by that of a study only",
            ));
        };
        let features = models.scores.first().map_or(0, |own| own.weights.nrows());
        if rows.features() != features {
            return Err(Error::Shape {
                what: "features",
                expected: features,
                got: rows.features(),
            });
        }
        let own = (0..rows.len()).filter(|&row| {
            let name = task.get(row).map(AsRef::as_ref);
            name == Some(self.header.target.as_str())
        });
        let (cells, order) = group(rows, task, class, own)?;
        let Some(found) = cells.tasks().first() else {
            return Ok(());
        };
        let place = |name: &String| {
            let place = self.header.classes.iter().position(|class| class == name);
            place.ok_or_else(|| Error::UnknownClass {
                task: self.header.target.clone(),
                name: name.clone(),
                known: self.header.classes.clone(),
            })
        };
        let places: Vec<usize> = found.classes.iter().map(place).collect::<Result<_>>()?;
        let mut start = 0;
        for (&class, &count) in places.iter().zip(&found.counts) {
            let block = RowBlock::borrowed(rows, &order[start..start + count]);
            start += count;
            let dealt = rows_by_fold(&block, models.place.len());
            for (members, &fold) in dealt.iter().zip(&models.place) {
                let block = block.select(members.iter().copied());
                let scores = of_rows(&models.scores[fold], &block);
                self.bins[class].add(fold, scores.as_ref(), self.header.unit());
                self.header.counts[fold][class] += members.len() as u64;
            }
        }
        Ok(())
    }

    /// Adds what was counted elsewhere, in any order.
    ///
    /// # Errors
    /// [`Error::Format`] if it is of other statistics or settings; nothing is added then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if !self.header.is_like(&other.header) {
            return Err(refused(
                "the two are of other statistics or settings: make both from the same",
            ));
        }
        let both = self.bins.iter_mut().zip(&other.bins);
        both.for_each(|(own, more)| own.merge(more));
        for (own, more) in self.header.counts.iter_mut().zip(&other.header.counts) {
            own.iter_mut()
                .zip(more)
                .for_each(|(own, more)| *own += more);
        }
        Ok(())
    }

    /// The rows that were counted.
    pub fn rows(&self) -> u64 {
        self.header.rows().iter().sum()
    }

    /// As a safetensors file: counts by class, fold and score, and no row.
    ///
    /// # Errors
    /// [`Error::Format`] if it is too large for the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let width = self.header.classes.len() + 2;
        let tables = self.bins.iter().enumerate().map(|(class, bins)| {
            let numbers = bins.numbers();
            let shape = vec![numbers.len() / width, width];
            (format!("bins.{class}"), shape, numbers)
        });
        tensors::write_sealed(FORMAT, &self.header, tables.collect()).map_err(refused)
    }

    /// Reads what [`Tally::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are no whole tally.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        from_bytes(bytes).map_err(refused)
    }
}

fn from_bytes(bytes: &[u8]) -> std::result::Result<Tally, String> {
    let (header, tables): (Header, Tables<'_>) =
        Tables::read(bytes, FORMAT, "a tally of foretask")?;
    tables.check_seal(bytes)?;
    header.check()?;
    let m = header.classes.len();
    if tables.len() != m + 1 {
        return Err("it holds tables that do not belong there".into());
    }
    let mut bins = Vec::with_capacity(m);
    for (class, &rows) in header.rows().iter().enumerate() {
        let (_, numbers) = tables.get(&format!("bins.{class}"))?;
        let own = Bins::read(&numbers, m, header.counts.len());
        let own = own.filter(|own| own.rows() <= rows && (own.rows() == 0) == (rows == 0));
        bins.push(own.ok_or("its counts are none")?);
    }
    Ok(Tally {
        header,
        bins,
        models: None,
    })
}
