//! A forecast, once sources took the target's place.

use super::count::{effective_samples, scale_errors};
use super::note::Note;
use super::{Forecast, Rehearsal, Rehearsed, errors_of};
use crate::data::Importance;
use crate::numerics::{INFLATION, interval};
use crate::stakes::{Stakes, weighted};

/// A rehearsed error counts as so many samples.
const PSEUDO: f64 = 10.0;

impl Forecast {
    /// Takes in what sources did in the target's place.
    pub(crate) fn rehearse(&mut self, sources: Vec<Rehearsed>, stakes: &Stakes, class: &[usize]) {
        let mean =
            |of: fn(&Rehearsed) -> f64| sources.iter().map(of).sum::<f64>() / sources.len() as f64;
        let (error, alone) = (mean(|one| one.error), mean(|one| one.alone));
        let (own_error, own_interval) = match &self.alarm {
            None => (self.error, self.interval),
            Some(alarm) => {
                let [low, high] = alarm.detection_interval;
                (1.0 - alarm.detection, [1.0 - high, 1.0 - low])
            }
        };
        if self.told && (error < own_interval[0] || error > own_interval[1]) {
            self.notes.push(Note::UnlikeSources {
                error: own_error,
                rehearsed: error,
            });
        }
        if let Some(alarm) = &mut self.alarm {
            let positives = class.iter().filter(|&&c| c != alarm.null).count() as f64;
            let (missed, samples) = joined(own_error, positives, error);
            let [low, high] = interval(missed, samples, INFLATION);
            alarm.detection = 1.0 - missed;
            alarm.detection_interval = [1.0 - high, 1.0 - low];
            let (null, other) = (alarm.null, 1 - alarm.null);
            self.class_errors[other] = missed;
            self.confusion[other][null] = missed;
            self.confusion[other][other] = 1.0 - missed;
            self.error = weighted(&self.priors, &self.class_errors);
            self.interval = [0, 1].map(|end| {
                self.priors[null] * alarm.false_alarm_interval[end]
                    + self.priors[other] * [low, high][end]
            });
        } else {
            let own = match self.told {
                // Samples that have weights are not rehearsed.
                true => effective_samples(stakes, class, &Importance::default()),
                false => 0.0,
            };
            let (joined, samples) = joined(own_error, own, error);
            self.told = true;
            scale_errors(&mut self.confusion, joined / own_error.max(1e-12));
            self.class_errors = errors_of(&self.confusion);
            self.error = joined;
            self.interval = interval(joined, samples, INFLATION);
            self.worth = samples / INFLATION;
        }
        self.cost = weighted(&stakes.weights(), &self.class_errors);
        self.rehearsal = Rehearsal::Done {
            error,
            alone,
            sources,
            own_error,
            own_interval,
        };
    }
}

/// An error of so many samples with a rehearsed one, and how many samples that is worth.
fn joined(own: f64, samples: f64, rehearsed: f64) -> (f64, f64) {
    let independent = samples / INFLATION;
    let joined = (independent * own + PSEUDO * rehearsed) / (independent + PSEUDO);
    (joined, samples + PSEUDO * INFLATION)
}
