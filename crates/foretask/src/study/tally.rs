//! [`Tally`]: errors of a target of which no row was kept, counted where its rows are
//! (`docs/3-the-solver.md#counting-where-the-rows-are`).
//!
//! A study of folds without rows has a model without each fold. A tally takes these to the rows, wherever they are: each
//! is scored by the model that it had no part in, and what is brought back are counts by class, fold and score. Time n p
//! m; memory that of the models and some thousand counts.

use std::borrow::Cow;

use faer::Mat;
use twox_hash::XxHash64;

use super::Study;
use super::fits::Fits;
use super::fold_scores::{covariance_of, of_rows};
use super::folded::Folded;
use super::held_out::{HeldOut, Partition};
use super::rehearse;
use crate::data::{RowBlock, Rows, Sample, by_class, group, rows_by_fold};
use crate::error::{Error, Result};
use crate::forecast::Judgements;
use crate::forecast::bins::Bins;
use crate::model::Scores;
use crate::tensors::{self, Tables};

/// The name of the format.
const FORMAT: &str = "foretask-tally-1";
/// Scores are counted in bins of this share of their deviation, or less, by a power of two.
const BINS_OF_A_DEVIATION: f64 = 64.0;

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
/// let study = Study::new(&statistics.shareable(5)?, &Settings::default())?;
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
    header: Header,
    /// By class.
    bins: Vec<Bins>,
    /// Of a tally that was read there are none, and no rows can be added.
    models: Option<Models>,
}

/// What a tally is of.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// The statistics and the settings that the models were made of.
    of: String,
    target: String,
    classes: Vec<String>,
    /// Scores are counted in units of 2 to this power.
    unit: i32,
    /// Rows by fold and class.
    counts: Vec<Vec<u64>>,
}

impl Header {
    fn unit(&self) -> f64 {
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
    fn is_like(&self, other: &Self) -> bool {
        let own = (&self.of, &self.target, &self.classes, self.unit);
        own == (&other.of, &other.target, &other.classes, other.unit)
            && self.counts.len() == other.counts.len()
    }

    /// Rows of each class.
    fn rows(&self) -> Vec<u64> {
        let classes = 0..self.classes.len();
        let of = |class: usize| self.counts.iter().map(|fold| fold[class]).sum();
        classes.map(of).collect()
    }
}

/// The models without each fold.
#[derive(Clone, Debug)]
struct Models {
    /// By fold.
    scores: Vec<Scores>,
    /// The fold of the rows that were dealt to each number.
    place: Vec<usize>,
}

fn refused(why: impl Into<String>) -> Error {
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

impl<'a> Study<'a> {
    /// What counts the errors of a study of folds without rows, where the rows are.
    ///
    /// # Errors
    /// [`Error::Setting`] if errors of this study are counted already, or told by a theory.
    pub fn tally(&self) -> Result<Tally> {
        let (fits, folded) = self.bare()?;
        let target = self.done.target();
        let scores: Vec<Scores> = (0..folded.members.len())
            .map(|fold| target.without_fold(fits, fold, &|_| true))
            .collect::<Result<_>>()?;
        let m = target.classes();
        Ok(Tally {
            header: Header {
                of: self.identity(),
                target: self.cells().tasks()[self.target()].name.clone(),
                classes: self.cells().tasks()[self.target()].classes.clone(),
                unit: unit(&scores, folded),
                counts: vec![vec![0; m]; scores.len()],
            },
            bins: vec![Bins::default(); m],
            models: Some(Models {
                scores,
                place: folded.place.clone(),
            }),
        })
    }

    /// The same study with the errors that were counted.
    ///
    /// # Errors
    /// [`Error::Format`] if the tally is of other statistics or settings, or rows are missing or counted twice;
    /// [`Error::Setting`] as [`Study::tally`].
    pub fn counted(mut self, tally: &Tally) -> Result<Self> {
        let own = self.tally()?;
        if !own.header.is_like(&tally.header) {
            return Err(refused(
                "it is of other statistics or settings than this study: make it from the same",
            ));
        }
        let (fits, folded) = self.bare()?;
        let classes = &tally.header.classes;
        for (portion, counts) in folded.portions().iter().zip(&tally.header.counts) {
            let both = portion.counts.iter().zip(counts).zip(classes);
            for ((&expected, &found), class) in both {
                if expected as u64 != found {
                    return Err(refused(format!(
                        "a fold has {expected} rows of class '{class}', and {found} were counted: count the very rows \
                         that were summed up, each once, with their columns in the same order"
                    )));
                }
            }
        }
        let held_out = held_out(tally, folded);
        let outcome = self
            .done
            .target()
            .averaged_of(fits, &|_| true, held_out, true)?;
        self.done.outcome = outcome;
        self.done.counted = true;
        self.done.exponent = Default::default();
        rehearse::rehearsed(&mut self.done, &|_| {})?;
        Ok(self)
    }

    /// The folds of a study without rows.
    fn bare(&self) -> Result<(&Fits<'a>, &Folded<'a>)> {
        let fits = self.done.fits.as_deref();
        let folded = fits.and_then(|fits| fits.folded.as_ref());
        match (fits, folded.filter(|folded| folded.rows.is_none())) {
            (Some(fits), Some(folded)) => Ok((fits, folded)),
            _ => Err(Error::Setting {
                setting: "tally",
                value: "this study".into(),
                expected: "errors are counted elsewhere for folds of statistics without rows only, by the default",
            }),
        }
    }

    /// What models without folds are known by, whatever machine they are made on.
    fn identity(&self) -> String {
        let (raw, settings) = (&self.done.shared.raw, &self.done.plan.settings);
        let parts: Vec<String> = raw.parts().into_iter().collect();
        let text = format!(
            "{FORMAT} {} {:?} {:?} {:?} {:?}",
            parts.join(" "),
            raw.feature_names(),
            self.cells().tasks()[self.target()].name,
            self.done.plan.views,
            settings.scaling,
        );
        format!("{:016x}", XxHash64::oneshot(0, text.as_bytes()))
    }

    /// Verdicts that others can be paired with: those of drawn samples where the study's own were counted elsewhere.
    pub(super) fn judged(&self) -> Result<Option<Cow<'_, Judgements>>> {
        let own = self.done.outcome.judgements.as_ref();
        match (&self.done.fits, self.done.counted) {
            (Some(fits), true) => {
                let target = self.done.target();
                let held_out = target.held_out(fits, &|_| true)?;
                Ok(Some(Cow::Owned(target.calibrated(held_out).1)))
            }
            _ => Ok(own.map(Cow::Borrowed)),
        }
    }
}

/// The power of two that scores are counted in units of.
fn unit(models: &[Scores], folded: &Folded<'_>) -> i32 {
    let (mut sum, mut rows) = (0.0, 0.0);
    for (model, fold) in models.iter().zip(folded.portions()) {
        let covariance = covariance_of(model, fold);
        let m = covariance.ncols() as f64;
        let trace: f64 = covariance.diagonal().column_vector().iter().sum();
        // About their mean scores vary less.
        let about = (trace - covariance.sum() / m) / (m - 1.0).max(1.0);
        let n = fold.samples() as f64;
        sum += n * about;
        rows += n;
    }
    let unit = ((sum / rows).max(0.0).sqrt() / BINS_OF_A_DEVIATION)
        .log2()
        .floor();
    match unit.is_finite() {
        true => unit.clamp(-1000.0, 1000.0) as i32,
        false => -30,
    }
}

/// The rows that were counted, or as many as a sample would hold, class by class.
fn held_out(tally: &Tally, folded: &Folded<'_>) -> HeldOut {
    let m = tally.bins.len();
    let unit = tally.header.unit();
    let spread = tally.bins.iter();
    let spread: Vec<_> = spread
        .map(|bins| bins.spread(Sample::most(m), unit))
        .collect();
    let counts: Vec<usize> = spread.iter().map(Vec::len).collect();
    let all: Vec<usize> = tally.header.rows().iter().map(|&n| n as usize).collect();
    let rows = spread.concat();
    let mut folds = vec![Vec::new(); folded.members.len()];
    for (row, (fold, _)) in rows.iter().enumerate() {
        folds[*fold].push(row);
    }
    HeldOut {
        class: by_class(&counts),
        importance: Sample::importance(&counts, &all),
        repeats: vec![Partition {
            scores: Mat::from_fn(rows.len(), m, |row, class| rows[row].1[class]),
            folds,
        }],
        half: None,
        kept: 1.0,
    }
}
