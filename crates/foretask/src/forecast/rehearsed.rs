//! A forecast, once sources took the target's place.

use super::count::{effective_samples, scale_errors};
use super::note::Note;
use super::{Forecast, Rehearsal, Rehearsed, errors_of};
use crate::data::Importance;
use crate::numerics::{INFLATION, interval};
use crate::stakes::{Stakes, weighted};

/// A rehearsed error counts as so many samples, before it is known how far those of the sources differ.
const PSEUDO: f64 = 10.0;
/// That is worth as much as the difference of so many sources.
const PRESUMED: f64 = 3.0;
/// The variance of a single decision is taken for no less.
const LEAST_VARIANCE: f64 = 1e-4;

impl Forecast {
    /// Takes in what sources did in the target's place.
    pub(crate) fn rehearse(&mut self, sources: Vec<Rehearsed>, stakes: &Stakes, class: &[usize]) {
        let mean =
            |of: fn(&Rehearsed) -> f64| sources.iter().map(of).sum::<f64>() / sources.len() as f64;
        let (error, alone) = (mean(|one| one.error), mean(|one| one.alone));
        let pseudo = worth(&sources, error);
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
            let (missed, samples) = joined(own_error, positives, error, pseudo);
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
            let (joined, samples) = joined(own_error, own, error, pseudo);
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

/// As many samples, one at least, as the mean of rehearsed errors is worth: with τ² how far errors of tasks differ beyond what they were
/// tested on explains, v (1 - v)/τ² - 1, as the law of a share has it. The τ² of a few sources is steadied by that of
/// [`PSEUDO`] samples.
fn worth(sources: &[Rehearsed], mean: f64) -> f64 {
    let count = sources.len() as f64;
    let decision = (mean * (1.0 - mean)).max(LEAST_VARIANCE);
    let freedom = count - 1.0;
    let squares: f64 = sources.iter().map(|one| (one.error - mean).powi(2)).sum();
    let luck = |one: &Rehearsed| {
        let tested = one.tested.max(1) as f64;
        (one.error * (1.0 - one.error)).max(0.25 / tested) / tested
    };
    let luck = sources.iter().map(luck).sum::<f64>() / count;
    let differ = (squares - freedom * luck).max(0.0);
    let presumed = PRESUMED * decision / (PSEUDO + 1.0);
    (decision * (PRESUMED + freedom) / (presumed + differ) - 1.0).max(1.0)
}

/// An error of so many samples with a rehearsed one, and how many samples that is worth.
fn joined(own: f64, samples: f64, rehearsed: f64, pseudo: f64) -> (f64, f64) {
    let independent = samples / INFLATION;
    let joined = (independent * own + pseudo * rehearsed) / (independent + pseudo);
    (joined, samples + pseudo * INFLATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(errors: &[f64], tested: usize) -> Vec<Rehearsed> {
        let of = |&error: &f64| Rehearsed {
            task: String::new(),
            error,
            alone: error,
            tested,
        };
        errors.iter().map(of).collect()
    }

    #[test]
    fn sources_that_agree_are_worth_more_than_sources_that_do_not() {
        let worth = |errors: &[f64], tested: usize| {
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            worth(&sources(errors, tested), mean)
        };
        // 11 (3 + J - 1)/3 - 1 of sources that agree, whatever their error.
        assert!((worth(&[0.2; 4], 500) - 21.0).abs() < 1e-9);
        assert!((worth(&[0.2; 2], 500) - (44.0 / 3.0 - 1.0)).abs() < 1e-9);
        assert!((worth(&[0.0; 4], 500) - 21.0).abs() < 1e-9);
        let apart = [0.05, 0.35, 0.1, 0.3];
        assert!(worth(&apart, 500) < 10.0, "{}", worth(&apart, 500));
        assert!(worth(&[0.0, 1.0], 500) <= 1.0);
        // What few tests explain is no difference.
        assert!((worth(&[0.15, 0.25], 30) - worth(&[0.2; 2], 30)).abs() < 1e-9);
        assert!(worth(&[0.15, 0.25], 3000) < worth(&[0.15, 0.25], 30));
    }
}
