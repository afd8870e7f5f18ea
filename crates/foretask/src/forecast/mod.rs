//! [`Forecast`]: what a rule will do on samples nobody has seen.
//!
//! From leave-one-out scores S_l that had no say in their own rule
//! (`docs/4-when-to-trust-a-forecast.md#what-the-number-is`): the count of wrong
//! decisions, e₁, and its smooth twin e₂ from class probabilities softmax(T S) with the temperature T
//! of least cross-entropy. The forecast v is their mean while samples are few and goes to the count as
//! they grow, its 90 % interval that of
//! Beta(n v/1.25 + ½, n (1 - v)/1.25 + ½). Both are taken class by class and weighted by the class
//! priors of the place where the model will be used.
//!
//! From the theory: the error of two Gaussians at a threshold, or, for more classes, of Gaussian responses
//! drawn from their moments; the accuracy of a linear rule is an orthant probability.

pub(crate) mod bins;
pub(crate) mod calibrate;
pub(crate) mod count;
pub(crate) mod curve;
pub(crate) mod density;
mod design;
pub(crate) mod draw;
pub(crate) mod judgements;
pub(crate) mod note;
pub(crate) mod paired;
pub(crate) mod recount;
pub(crate) mod rehearsal;
mod rehearsed;
pub(crate) mod value;

pub use calibrate::Reliability;
pub(crate) use calibrate::{Calibration, Claim};
pub use curve::{Budget, CurvePoint, InSources, LabelsNeeded, WorthMore};
pub use density::{Density, RocPoint};
pub(crate) use judgements::{Judgement, Judgements, stacked};
pub(crate) use note::FEW;
pub use note::Note;
pub use paired::{Paired, Verdict};
pub use rehearsal::{Rehearsal, Rehearsed, Unrehearsed};
pub use value::SourceValue;

use crate::decision::argmax;
use crate::moments::Provenance;
use crate::numerics::{INFLATION, interval};
use crate::rules::Tail;
use crate::stakes::{Stakes, weighted};

/// Expected error of a rule, with an interval, by class, and the law of its scores.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Forecast {
    /// Whether anything can be told. With one label in every class none can be left out, nor where groups are left
    /// out and a class is in one of them; unless sources were rehearsed
    /// `error` is then that of the commonest class, and the interval everything.
    #[serde(default = "told")]
    pub told: bool,
    /// Expected share of wrong decisions.
    pub error: f64,
    /// 90 % interval for the error of this very rule on endless new data.
    pub interval: [f64; 2],
    /// As many independent samples would have an interval of this width.
    #[serde(default)]
    pub worth: f64,
    /// What it was computed from.
    #[serde(rename = "source")]
    pub provenance: Provenance,
    /// Expected mean of -ln P(class) by the model's probabilities, by the target's samples alone: rehearsals do not
    /// move it. None from a theory.
    #[serde(default)]
    pub log_loss: Option<f64>,
    /// For two classes, the expected area under the ROC curve: how often a sample of the first has a larger score than
    /// one of the second. From samples left out: the share of pairs of one fold, which one rule judges, that are in
    /// order, ties by half. None where no sample can be left out, and of a theory that draws its samples.
    #[serde(default)]
    pub auc: Option<f64>,
    /// Expected share of wrong decisions in each class.
    pub class_errors: Vec<f64>,
    /// How often a sample of each class (row) is expected to be called each class (column); rows sum
    /// to one.
    #[serde(default)]
    pub confusion: Vec<Vec<f64>>,
    /// How far class probabilities can be believed.
    #[serde(default)]
    pub reliability: Vec<Reliability>,
    /// What a held false-alarm rate will do.
    #[serde(default)]
    pub alarm: Option<AlarmForecast>,
    /// The class priors it holds for.
    pub priors: Vec<f64>,
    /// Expected cost of a decision: the class errors weighted by priors and costs.
    pub cost: f64,
    /// Target samples it rests on.
    pub samples: usize,
    /// Expected law of the decision score of each class (two classes), or of the margin of the right
    /// class over the best other (more).
    pub densities: Vec<Density>,
    /// What the default does on sources that take the target's place.
    #[serde(default)]
    pub rehearsal: Rehearsal,
    /// What the user should know before trusting it.
    pub notes: Vec<Note>,
}

/// What a threshold that holds a false-alarm rate is expected to do.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AlarmForecast {
    /// The null class, an index of the target's classes.
    pub null: usize,
    /// The false-alarm rate asked for.
    pub requested: f64,
    /// The expected share of the null class that raises an alarm.
    pub false_alarm: f64,
    /// 90 % interval of that share for the threshold at hand.
    pub false_alarm_interval: [f64; 2],
    /// The expected share of the other class that raises an alarm.
    pub detection: f64,
    /// 90 % interval of that share.
    pub detection_interval: [f64; 2],
    /// What the threshold was taken from.
    pub tail: Tail,
    /// Target samples of the null class it rests on.
    pub samples: usize,
}

impl Forecast {
    /// The expected trade-off between detections of the first class and false alarms in the second,
    /// at `points` + 1 thresholds; `None` unless there are two classes.
    pub fn roc(&self, points: usize) -> Option<Vec<RocPoint>> {
        let [first, second] = self.densities.as_slice() else {
            return None;
        };
        let (low, high) = (
            first.range().0.min(second.range().0),
            first.range().1.max(second.range().1),
        );
        // Samples in groups, and weighted ones, are worth fewer; rehearsals tell nothing of a curve.
        let worth = (self.worth * INFLATION / self.samples.max(1) as f64).min(1.0);
        let point = |i: usize| {
            let threshold = high + (low - high) * i as f64 / points.max(1) as f64;
            let (false_alarm, detection) = (second.tail(threshold), first.tail(threshold));
            RocPoint {
                false_alarm,
                detection,
                false_alarm_interval: second.tail_interval(false_alarm, worth),
                detection_interval: first.tail_interval(detection, worth),
            }
        };
        Some((0..=points).map(point).collect())
    }

    /// An interval holds what it is about, also where the two come by different ways.
    pub(crate) fn settle(&mut self) {
        let hold = |[low, high]: [f64; 2], middle: f64| {
            let held = [low.min(middle), high.max(middle)];
            held.map(|end| end.clamp(0.0, 1.0))
        };
        self.interval = hold(self.interval, self.error);
        if let Some(alarm) = &mut self.alarm {
            alarm.false_alarm_interval = hold(alarm.false_alarm_interval, alarm.false_alarm);
            alarm.detection_interval = hold(alarm.detection_interval, alarm.detection);
        }
        if let Rehearsal::Done {
            own_error,
            own_interval,
            ..
        } = &mut self.rehearsal
        {
            *own_interval = hold(*own_interval, *own_error);
        }
    }

    /// Where the error on a test of so many samples will lie (90 %): the interval of the error itself, and the luck of
    /// the test.
    pub fn in_test(&self, samples: usize) -> [f64; 2] {
        if !self.told {
            return self.interval;
        }
        in_test(self.error, self.interval, self.worth, samples)
    }

    /// Nothing can be told: what deciding for the commonest class does, and anything may happen.
    pub(crate) fn untold(stakes: &Stakes, densities: Vec<Density>) -> Self {
        let weights = stakes.weights();
        let most = argmax(weights.iter().copied());
        let m = weights.len();
        let row = vec![0.0; m];
        let confusion = (0..m).map(|_| {
            let mut row = row.clone();
            row[most] = 1.0;
            row
        });
        let provenance = Provenance::LeaveOneOut;
        let none = Self::of_confusion(
            confusion.collect(),
            provenance,
            stakes,
            densities,
            Vec::new(),
        );
        Self {
            told: false,
            interval: [0.0, 1.0],
            ..none
        }
    }

    /// With an interval of no width, to be set by the caller.
    pub(crate) fn of_confusion(
        confusion: Vec<Vec<f64>>,
        provenance: Provenance,
        stakes: &Stakes,
        densities: Vec<Density>,
        reliability: Vec<Reliability>,
    ) -> Self {
        let class_errors = errors_of(&confusion);
        let error = weighted(&stakes.priors, &class_errors);
        Self {
            told: true,
            error,
            interval: [error, error],
            worth: 0.0,
            log_loss: None,
            auc: None,
            provenance,
            cost: weighted(&stakes.weights(), &class_errors),
            class_errors,
            confusion,
            reliability,
            alarm: None,
            priors: stakes.priors.clone(),
            samples: 0,
            densities,
            rehearsal: Rehearsal::default(),
            notes: Vec::new(),
        }
    }
}

/// Where a share that lies in an interval, worth so many samples, will be seen in a test.
pub(crate) fn in_test(share: f64, known: [f64; 2], worth: f64, samples: usize) -> [f64; 2] {
    if samples == 0 {
        return [0.0, 1.0];
    }
    let noise = 1.0 / worth.max(1e-9) + 1.0 / samples as f64;
    let [low, high] = interval(share, 1.0 / noise, 1.0);
    [low.min(known[0]), high.max(known[1])]
}

/// Files from before say nothing about it.
fn told() -> bool {
    true
}

/// Off the diagonal: what is left of one may be a hair below zero.
pub(crate) fn errors_of(confusion: &[Vec<f64>]) -> Vec<f64> {
    let rows = confusion.iter().enumerate();
    rows.map(|(c, row)| {
        let others = row.iter().enumerate().filter(|(d, _)| *d != c);
        others.map(|(_, x)| x).sum()
    })
    .collect()
}
