//! [`Recount`]: a forecast for other priors and costs, with nothing learnt anew.
//!
//! The scores of samples left out, their folds and calibrations know the class shares of training and neither priors
//! nor costs (`docs/4-when-to-trust-a-forecast.md#what-the-number-is`). With S the scores of a sample, a and b the
//! calibration of its fold, π the priors, σ the shares and κ the costs, it is decided for
//!
//! ```text
//! argmax_c  a S_c + b_c + ln(π_c/σ_c) + ln κ_c ,
//! ```
//!
//! and the forecast is counted from these decisions as before: O(n m) for n samples of m classes, where another study
//! takes a fit of the whole grid.

use faer::Mat;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::Forecast;
use super::calibrate::Calibration;
use super::count::{class_worth, from_judgements};
use super::density::Density;
use super::judgements::{Judgement, Judgements};
use crate::error::{Error, Result};
use crate::stakes::Stakes;

/// What a forecast is counted from.
///
/// ```
/// use foretask::{Rows, Settings, Study, Tasks};
/// # let values: Vec<f64> = (0..60).map(|i| ((i * 37) % 11) as f64 + if i % 3 == 1 && (i / 3) % 2 == 0 { 9.0 } else { 0.0 }).collect();
/// # let class: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
/// let tasks = Tasks::new(Rows::row_major(&values, 3)?, &["webcam"; 20], &class)?;
/// let study = Study::new(&tasks, &Settings::default())?;
/// if let Some(recount) = study.recount() {
///     // Bikes are rare in use, and a missed one is ten times as bad.
///     let forecast = recount.at(&[0.1, 0.9], &[10.0, 1.0])?;
///     println!("missed: {:.1} %", 100.0 * forecast.class_errors[0]);
/// }
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recount {
    judgements: Judgements,
    shares: Vec<f64>,
    densities: Vec<Density>,
}

impl Recount {
    pub(crate) fn new(judgements: Judgements, shares: &[f64], densities: &[Density]) -> Self {
        Self {
            judgements,
            shares: shares.to_vec(),
            densities: densities.to_vec(),
        }
    }

    /// The forecast where classes occur with these priors, which sum to one, and a mistake in each costs so much: that
    /// of a study with these settings and no rehearsal, without its notes.
    ///
    /// # Errors
    /// If there is not one prior and one cost per class, one of them is not positive, or priors do not sum to one.
    pub fn at(&self, priors: &[f64], costs: &[f64]) -> Result<Forecast> {
        for (what, given) in [("priors", priors), ("costs", costs)] {
            if given.len() != self.shares.len() {
                return Err(Error::Shape {
                    what,
                    expected: self.shares.len(),
                    got: given.len(),
                });
            }
            let bad = given.iter().find(|x| !x.is_finite() || **x <= 0.0);
            if let Some(bad) = bad {
                return Err(Error::Setting {
                    setting: what,
                    value: bad.to_string(),
                    expected: "give a positive number for each class",
                });
            }
        }
        let sum: f64 = priors.iter().sum();
        if (sum - 1.0).abs() > 1e-6 {
            return Err(Error::Setting {
                setting: "priors",
                value: format!("a sum of {sum}"),
                expected: "shares that sum to 1",
            });
        }
        let stakes = Stakes {
            priors: priors.to_vec(),
            costs: costs.to_vec(),
            shares: self.shares.clone(),
        };
        let mut judgements = self.judgements.clone();
        let calibration = judgements.calibration.clone();
        let again = |one: Judgement| one.decided(&calibration, &stakes);
        judgements.repeats = judgements.repeats.into_iter().map(again).collect();
        judgements.half = judgements.half.map(again);
        Ok(from_judgements(
            &judgements,
            &stakes,
            self.densities.clone(),
        ))
    }
}

/// For whoever counts elsewhere: `shares`, `class`, `weight` and `group` of each sample (null where all are alike, or
/// alone), `worth` of each class in samples, `independent` samples where they come in groups, `kept`, `calibration`
/// (`slope`, `twin`, `offsets`), `partitions` and `half`, each with `scores` row by row, the `fold` of each sample
/// (null: none) and the `calibrations` of folds, `[slope, offset, ...]`.
impl Serialize for Recount {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Judgements {
            class,
            groups,
            importance,
            repeats,
            half,
            kept,
            calibration,
            // Only averages are counted again.
            by_name: _,
        } = &self.judgements;
        let samples = 0..class.len();
        let weight = importance.is_given();
        let weight = weight.then(|| samples.clone().map(|l| importance.of(l)).collect());
        let group = groups.members().map(|members| {
            let mut of = vec![0; class.len()];
            for (group, members) in members.iter().enumerate() {
                members.iter().for_each(|&l| of[l] = group);
            }
            of
        });
        let worth = |c: usize| class_worth(c, class, importance);
        let worth: Vec<f64> = (0..self.shares.len()).map(worth).collect();
        let partitions: Vec<Written> = repeats.iter().map(Written::new).collect();
        let mut to = serializer.serialize_struct("Recount", 10)?;
        to.serialize_field("shares", &self.shares)?;
        to.serialize_field("class", class)?;
        to.serialize_field::<Option<Vec<f64>>>("weight", &weight)?;
        to.serialize_field("group", &group)?;
        to.serialize_field("worth", &worth)?;
        to.serialize_field("independent", &groups.independent())?;
        to.serialize_field("kept", kept)?;
        to.serialize_field("calibration", &CalibrationWritten::new(calibration))?;
        to.serialize_field("partitions", &partitions)?;
        to.serialize_field("half", &half.as_ref().map(Written::new))?;
        to.end()
    }
}

#[derive(serde::Serialize)]
struct CalibrationWritten<'a> {
    slope: f64,
    twin: f64,
    offsets: &'a [f64],
}

impl<'a> CalibrationWritten<'a> {
    fn new(of: &'a Calibration) -> Self {
        Self {
            slope: of.slope,
            twin: of.twin,
            offsets: &of.offsets,
        }
    }
}

#[derive(serde::Serialize)]
struct Written {
    scores: Vec<f64>,
    fold: Vec<Option<usize>>,
    calibrations: Vec<Vec<f64>>,
}

impl Written {
    fn new(of: &Judgement) -> Self {
        let scores: &Mat<f64> = &of.scores;
        let mut fold = vec![None; scores.nrows()];
        for (place, members) in of.folds.iter().enumerate().take(of.calibrations.len()) {
            members.iter().for_each(|&l| fold[l] = Some(place));
        }
        let rows = scores.row_iter();
        let calibrations = of.calibrations.iter();
        Self {
            scores: rows.flat_map(|row| row.iter().copied()).collect(),
            fold,
            calibrations: calibrations
                .map(|of| [&[of.slope], of.offsets.as_slice()].concat())
                .collect(),
        }
    }
}
