//! A study whose errors are counted elsewhere: it makes a tally, and takes one back.

use std::borrow::Cow;

use faer::Mat;
use twox_hash::XxHash64;

use super::Study;
use super::fits::Fits;
use super::fold_scores::covariance_of;
use super::folded::Folded;
use super::held_out::{HeldOut, Partition};
use super::rehearse;
use super::tally::{FORMAT, Header, Models, Tally, refused};
use crate::data::{Sample, by_class};
use crate::error::{Error, Result};
use crate::forecast::Judgements;
use crate::forecast::bins::Bins;
use crate::model::Scores;

/// Scores are counted in bins of this share of their deviation, or less, by a power of two.
const BINS_OF_A_DEVIATION: f64 = 64.0;

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

    /// Whether samples were drawn with the moments of folds, because no row was kept: what differs between them says
    /// nothing of samples that exist.
    pub(super) fn has_drawn_samples(&self) -> bool {
        let folded = self
            .done
            .fits
            .as_ref()
            .and_then(|fits| fits.folded.as_ref());
        folded.is_some_and(|folded| folded.rows.is_none())
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
