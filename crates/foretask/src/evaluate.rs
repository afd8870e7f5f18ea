//! What a model did on labelled data, next to what was foretold: [`evaluate`].

use faer::Mat;

use crate::data::Rows;
use crate::decision::argmax;
use crate::error::{Error, Result};
use crate::forecast::count::LEAST_PROBABILITY;
use crate::forecast::{AlarmForecast, Claim, Forecast, Reliability, in_test};
use crate::model::Model;
use crate::numerics::{NORMAL_95, interval};

/// Class shares that differ by less than this are the same for a reader of percents.
const SAME_SHARE: f64 = 0.01;

/// What a model did on labelled data.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Measured {
    /// The share of wrong decisions.
    pub error: f64,
    /// Its 90 % interval.
    pub interval: [f64; 2],
    /// The number of decisions.
    pub samples: usize,
    /// The share of wrong decisions in each class; `None` for a class without samples.
    pub class_errors: Vec<Option<f64>>,
    /// The samples of each class.
    pub class_samples: Vec<usize>,
    /// How often each true class (row) was called each class (column).
    pub confusion: Vec<Vec<usize>>,
    /// The error if classes occurred as often as the forecast assumes; `None` if a class that it
    /// assumes has no samples.
    pub at_priors: Option<f64>,
    /// Whether classes occur noticeably more or less often than the forecast assumes.
    pub shares_differ: bool,
    /// The error that the forecast speaks of: at its class shares where these differ.
    pub comparable: f64,
    /// Where the forecast expected it in a test of this size (90 %).
    pub foretold: [f64; 2],
    /// Whether it lies there.
    pub within: bool,
    /// The mean of -ln P(class) by the model's probabilities, at the class shares of the forecast where these differ.
    pub log_loss: f64,
    /// What came of the claims, in the groups of the forecast; a group without decisions has no share.
    pub reliability: Vec<Reliability>,
    /// What came of a false-alarm rate that was to be held.
    pub alarm: Option<MeasuredAlarm>,
}

/// What came of a false-alarm rate that was to be held.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MeasuredAlarm {
    /// Alarms in the null class; `None` without samples of it.
    pub false_alarm: Option<Rate>,
    /// Alarms in the other class; `None` without samples of it.
    pub detection: Option<Rate>,
}

/// A measured share, next to what was expected.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Rate {
    /// The share.
    pub share: f64,
    /// Its 90 % interval.
    pub interval: [f64; 2],
    /// The samples it was counted on.
    pub samples: usize,
    /// Where the forecast expected it in so many samples (90 %).
    pub foretold: [f64; 2],
    /// Whether it lies there.
    #[serde(rename = "within_forecast_interval")]
    pub within: bool,
}

/// Measures a model on rows of known classes, and compares with its forecast.
///
/// ```
/// use foretask::{Rows, Settings, Study, Tasks, evaluate};
/// let values: Vec<f64> = (0..60).map(|i| ((i * 37) % 11) as f64 + if i % 3 == 1 && (i / 3) % 2 == 0 { 9.0 } else { 0.0 }).collect();
/// let class: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
/// let rows = Rows::row_major(&values, 3)?;
/// let model = Study::new(&Tasks::new(rows, &["webcam"; 20], &class)?, &Settings::default())?.model()?;
/// let measured = evaluate(&model, rows, &class)?;
/// println!("foretold {:.1} %, measured {:.1} %", 100.0 * model.forecast().error, 100.0 * measured.error);
/// # assert_eq!(measured.samples, 20);
/// # Ok::<(), foretask::Error>(())
/// ```
///
/// # Errors
/// If the lengths or the number of features differ, a value is not finite, a class is unknown, or there is no
/// row.
pub fn evaluate<S: AsRef<str>>(model: &Model, rows: Rows<'_>, classes: &[S]) -> Result<Measured> {
    if classes.len() != rows.len() {
        return Err(Error::Shape {
            what: "class labels (one per row)",
            expected: rows.len(),
            got: classes.len(),
        });
    }
    if rows.is_empty() {
        return Err(Error::Empty {
            rows: 0,
            features: rows.features(),
        });
    }
    let truth = classes
        .iter()
        .map(|class| model.find_class(class.as_ref()))
        .collect::<Result<Vec<usize>>>()?;
    Ok(Measured::of_scores(model, &model.scores(rows)?, &truth))
}

impl Measured {
    /// The same from scores that are at hand ([`Model::scores`]) and true classes, as indices of
    /// [`Model::classes`]; there is at least one.
    pub fn of_scores(model: &Model, scores: &Mat<f64>, truth: &[usize]) -> Self {
        let decisions = model.decide(scores);
        let probabilities = model.calibrate(scores);
        Self::new(truth, &decisions, &probabilities, model.forecast())
    }

    fn new(
        truth: &[usize],
        decisions: &[usize],
        probabilities: &Mat<f64>,
        forecast: &Forecast,
    ) -> Self {
        let classes = forecast.priors.len();
        let mut confusion = vec![vec![0; classes]; classes];
        for (&truth, &decision) in truth.iter().zip(decisions) {
            confusion[truth][decision] += 1;
        }
        let samples = truth.len();
        let class_samples: Vec<usize> = confusion.iter().map(|row| row.iter().sum()).collect();
        let wrong: Vec<usize> = (0..classes)
            .map(|class| class_samples[class] - confusion[class][class])
            .collect();
        let class_errors: Vec<Option<f64>> = wrong
            .iter()
            .zip(&class_samples)
            .map(|(&wrong, &all)| (all > 0).then(|| wrong as f64 / all as f64))
            .collect();
        let error = wrong.iter().sum::<usize>() as f64 / samples as f64;
        let at_priors = (class_errors.iter().zip(&forecast.priors))
            .map(|(error, prior)| error.map(|error| error * prior))
            .sum();
        let shares_differ = (class_samples.iter().zip(&forecast.priors))
            .any(|(&count, prior)| (count as f64 / samples as f64 - prior).abs() > SAME_SHARE);
        let comparable = match at_priors {
            Some(reweighted) if shares_differ => reweighted,
            _ => error,
        };
        // As often as the forecast assumes, where that can be had.
        let weights: Vec<f64> = (class_samples.iter().zip(&forecast.priors))
            .map(|(&count, prior)| match at_priors {
                Some(_) if shares_differ && count > 0 => prior * samples as f64 / count as f64,
                _ => 1.0,
            })
            .collect();
        let rows = truth.iter().zip(decisions).enumerate();
        let claims = rows.map(|(row, (&truth, &decision))| {
            // A held rate may decide for the less probable class; its forecast speaks of the other one.
            let class = match forecast.alarm {
                Some(_) => argmax(probabilities.row(row).iter().copied()),
                None => decision,
            };
            Claim {
                claimed: probabilities[(row, class)],
                right: truth == class,
                weight: weights[truth],
            }
        });
        // Samples that are weighted are worth fewer.
        let total: f64 = truth.iter().map(|&class| weights[class]).sum();
        let squares: f64 = truth.iter().map(|&class| weights[class].powi(2)).sum();
        let worth = (total * total / squares.max(1e-300)).round() as usize;
        let foretold = forecast.in_test(worth.clamp(1, samples));
        let [low, high] = foretold;
        let log_loss = truth.iter().enumerate().map(|(row, &class)| {
            let claimed = probabilities[(row, class)].max(LEAST_PROBABILITY);
            -weights[class] * claimed.ln()
        });
        Self {
            log_loss: log_loss.sum::<f64>() / total,
            foretold,
            reliability: in_groups(claims, &forecast.reliability),
            alarm: (forecast.alarm.as_ref()).map(|alarm| MeasuredAlarm::new(&confusion, alarm)),
            error,
            interval: interval(error, samples as f64, 1.0),
            samples,
            class_errors,
            class_samples,
            confusion,
            at_priors,
            shares_differ,
            comparable,
            within: (low..=high).contains(&comparable),
        }
    }
}

impl MeasuredAlarm {
    fn new(confusion: &[Vec<usize>], forecast: &AlarmForecast) -> Self {
        let null = forecast.null;
        let rate = |class: usize, expected: f64, known: [f64; 2]| {
            let row = confusion.get(class)?;
            let samples: usize = row.iter().sum();
            let alarms = samples - row.get(null)?;
            let share = alarms as f64 / samples as f64;
            // As many samples as an interval of this width is worth.
            let width = (known[1] - known[0]).max(1e-9) / (2.0 * NORMAL_95);
            let worth =
                expected.clamp(0.01, 0.99) * (1.0 - expected.clamp(0.01, 0.99)) / width.powi(2);
            let foretold = in_test(expected, known, worth, samples);
            let [low, high] = foretold;
            (samples > 0).then(|| Rate {
                foretold,
                share,
                interval: interval(share, samples as f64, 1.0),
                samples,
                within: (low..=high).contains(&share),
            })
        };
        Self {
            false_alarm: rate(null, forecast.false_alarm, forecast.false_alarm_interval),
            // There are two classes.
            detection: rate(
                1 - null.min(1),
                forecast.detection,
                forecast.detection_interval,
            ),
        }
    }
}

/// The claims in the groups of a forecast: each goes to the group with the nearest claim.
fn in_groups(claims: impl Iterator<Item = Claim>, expected: &[Reliability]) -> Vec<Reliability> {
    if expected.is_empty() {
        return Vec::new();
    }
    let ends: Vec<f64> = (expected.windows(2))
        .map(|pair| 0.5 * (pair[0].claimed + pair[1].claimed))
        .collect();
    // Weight, weighted claims, weighted right decisions.
    let mut sums = vec![[0.0; 3]; expected.len()];
    for claim in claims {
        let group = ends.partition_point(|&end| claim.claimed > end);
        let right = f64::from(u8::from(claim.right));
        let terms = [1.0, claim.claimed, right].map(|term| claim.weight * term);
        (sums[group].iter_mut().zip(terms)).for_each(|(sum, term)| *sum += term);
    }
    let total: f64 = sums.iter().map(|[weight, ..]| weight).sum();
    sums.iter()
        .map(|[weight, claimed, right]| Reliability {
            share: weight / total,
            claimed: claimed / weight,
            right: right / weight,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_go_to_the_nearest_group() {
        let group = |claimed| Reliability {
            share: 1.0 / 3.0,
            claimed,
            right: claimed,
        };
        let claim = |claimed, right| Claim {
            claimed,
            right,
            weight: 1.0,
        };
        let claims = [claim(0.55, false), claim(0.62, true), claim(0.99, true)];
        let groups = in_groups(claims.into_iter(), &[group(0.6), group(0.8), group(1.0)]);
        assert!((groups[0].share - 2.0 / 3.0).abs() < 1e-12);
        assert!((groups[0].right - 0.5).abs() < 1e-12);
        assert_eq!(groups[1].share, 0.0);
        assert!(groups[1].right.is_nan());
        assert!((groups[2].claimed - 0.99).abs() < 1e-12);
    }
}
