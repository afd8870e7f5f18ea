//! What more labels would bring (`docs/4-when-to-trust-a-forecast.md#learning-curve`).
//!
//! Errors fall as a power of the number of labels, v (n'/n)^-a. The half-split of the forecast measures a, with the
//! standard error of its paired differences; rehearsals measure it too, where there are some. Both are weighed by
//! their precision with what exponents are elsewhere, N(.35, .25²).

use super::Study;
use super::foretell::gaussian_error;
use super::growth::Growth;
use super::learn::NamedRule;
use super::outcome::Exponent;
use super::target::Target;
use crate::error::Result;
use crate::estimate::Population;
use crate::forecast::paired::standard_error;
use crate::forecast::{Budget, CurvePoint, LabelsNeeded};
use crate::numerics::{INFLATION, NORMAL_95, interval};

/// Exponents elsewhere: their mean and deviation.
const PRIOR: (f64, f64) = (0.35, 0.25);
/// The deviation of the exponent is taken for this much larger.
const DOUBT: f64 = 1.2;
/// Nobody labels more than this many times what is there.
const MOST: f64 = 1000.0;
/// Added to rehearsed errors before their ratio is taken.
pub(super) const FLOOR: f64 = 0.005;
/// Added to errors of none before their logarithm is taken.
const NOTHING: f64 = 1e-12;
/// How many times the labels rehearsals of a curve have, at most.
pub(super) const REHEARSED: usize = 4;
/// The exponent of a few rehearsals is not known better than this.
pub(super) const LEAST_DEVIATION: f64 = 0.1;

impl Study<'_> {
    /// The expected error if the target had `added` more labels in each class, for each number asked for. Where a
    /// false-alarm rate is held, what is expected to be missed. `progress` is told the share that is done; what was
    /// measured for one curve is not measured again.
    ///
    /// # Errors
    /// If a factorisation fails, which finite data do not let happen.
    pub fn learning_curve(
        &self,
        added: &[usize],
        progress: &dyn Fn(f64),
    ) -> Result<Vec<CurvePoint>> {
        if self.done.outcome.judgements.is_none() {
            return self.foretold_curve(added, progress);
        }
        let exponent = self.exponent(progress)?;
        let growth = self.growth();
        let point = |&more: &usize| {
            let ratio = growth.with_each(more);
            let (error, interval) = self.at_ratio(exponent, ratio);
            CurvePoint {
                added: more,
                error,
                interval,
                foretold_interval: self.foretold_interval_at(error, ratio),
            }
        };
        Ok(added.iter().map(point).collect())
    }

    /// How many labels must be added to each class for an error to be expected; for each error asked for. From a
    /// theory nothing is known.
    ///
    /// # Errors
    /// As [`Study::learning_curve`].
    pub fn labels_needed(&self, errors: &[f64]) -> Result<Vec<LabelsNeeded>> {
        let exponent = match self.done.outcome.judgements {
            Some(_) => self.exponent(&|_| {})?,
            None => return Ok(Vec::new()),
        };
        let growth = self.growth();
        let (now, _) = self.now();
        let reach = NORMAL_95 * DOUBT * exponent.deviation;
        let needed = |error: f64, a: f64| -> Option<usize> {
            if error >= now {
                return Some(0);
            }
            let most = (now / error).powf(1.0 / a.max(1e-9));
            let reached = a > 0.0 && most.is_finite() && most <= MOST;
            reached.then(|| growth.needed(most))
        };
        let of = |&error: &f64| LabelsNeeded {
            error,
            added: needed(error, exponent.mean),
            interval: [
                needed(error, exponent.mean + reach),
                needed(error, exponent.mean - reach),
            ],
        };
        Ok(errors.iter().map(of).collect())
    }

    /// How to spread labels over the classes of the target: one after the other to the class in which it does most against
    /// the noise of the class means. Where sources were rehearsed, also whether labels are worth more in the sources. None
    /// from a theory.
    ///
    /// # Errors
    /// As [`Study::learning_curve`].
    pub fn budget(&self, labels: usize) -> Result<Option<Budget>> {
        if self.done.outcome.judgements.is_none() {
            return Ok(None);
        }
        let exponent = self.exponent(&|_| {})?;
        let growth = self.growth();
        let added = growth.spread(labels);
        let grown = growth.with(added.iter().map(|&more| more as f64));
        let (error, interval) = self.at_ratio(exponent, grown);
        let priors = &self.forecast().priors;
        let as_they_come = growth.with(priors.iter().map(|prior| prior * labels as f64));
        Ok(Some(Budget {
            labels,
            added,
            error,
            interval,
            as_they_come: self.at_ratio(exponent, as_they_come).0,
            in_sources: self.in_sources(labels, grown)?,
        }))
    }

    /// How many times the labels more labels are worth.
    fn growth(&self) -> Growth {
        let counts = &self.cells().tasks()[self.target()].counts;
        Growth::new(counts, &self.forecast().priors)
    }

    /// The quantity whose curve is drawn, and its interval.
    pub(super) fn now(&self) -> (f64, [f64; 2]) {
        let forecast = self.forecast();
        match &forecast.alarm {
            None => (forecast.error, forecast.interval),
            Some(alarm) => {
                let [low, high] = alarm.detection_interval;
                (1.0 - alarm.detection, [1.0 - high, 1.0 - low])
            }
        }
    }

    /// The error at so many times the labels, and its interval: that of the error now and that of the exponent.
    fn at_ratio(&self, exponent: Exponent, ratio: f64) -> (f64, [f64; 2]) {
        let (now, interval) = self.now();
        let log = ratio.ln();
        let factor = (-exponent.mean * log).exp();
        let reach = NORMAL_95 * DOUBT * exponent.deviation * log;
        let error = (now * factor).min(1.0);
        let end = |end: f64, sign: f64| {
            let start = ((end + NOTHING) / (now + NOTHING)).ln();
            let off = start.hypot(reach);
            ((now + NOTHING) * factor * (sign * off).exp()).clamp(0.0, 1.0)
        };
        let [low, high] = interval;
        (
            error,
            [end(low, -1.0).min(error), end(high, 1.0).max(error)],
        )
    }

    /// The interval of a forecast once the labels are there.
    fn foretold_interval_at(&self, error: f64, ratio: f64) -> [f64; 2] {
        let judgements = self.done.outcome.judgements.as_ref();
        let fewer = judgements
            .is_some_and(|own| own.groups.members().is_some() || own.importance.is_given());
        let samples = match &self.forecast().alarm {
            // Samples that come in groups or have weights are worth less than their number.
            None if fewer => self.forecast().worth * INFLATION,
            None => self.forecast().samples as f64,
            Some(alarm) => self.forecast().samples as f64 - alarm.samples as f64,
        };
        interval(error, samples * ratio, INFLATION)
    }

    /// How fast the error falls.
    fn exponent(&self, progress: &dyn Fn(f64)) -> Result<Exponent> {
        if let Some(known) = self.done.exponent.get() {
            return Ok(*known);
        }
        let measured = self.measured_exponent(progress)?;
        Ok(*self.done.exponent.get_or_init(|| measured))
    }

    fn measured_exponent(&self, progress: &dyn Fn(f64)) -> Result<Exponent> {
        let mut exponent = Exponent {
            mean: PRIOR.0,
            deviation: PRIOR.1,
        };
        let target = self.done.target();
        let Some(judgements) = &self.done.outcome.judgements else {
            return Ok(exponent);
        };
        if let (Some(half), true) = (&judgements.half, judgements.kept > 0.5) {
            let with = target.losses(judgements);
            let without = target.losses_of(half, judgements);
            let n = with.len() as f64;
            let share = |losses: &[f64]| (losses.iter().sum::<f64>() + 0.5) / (n + 1.0);
            let each: Vec<f64> = without.iter().zip(&with).map(|(a, b)| a - b).collect();
            let log = (2.0 * judgements.kept).ln();
            let own = (share(&without) / share(&with)).ln() / log;
            // A difference that no sample shows is not known exactly.
            let fewer = judgements.groups.independent();
            let fewer = fewer.or_else(|| judgements.importance.independent());
            let least = 1.0 / fewer.unwrap_or(n);
            let error = standard_error(&each, &judgements.groups).max(least) / share(&with) / log;
            exponent = exponent.with(own, error);
        }
        if let Some((mean, deviation)) = self.rehearsed_exponent(progress)? {
            exponent = exponent.with(mean, deviation);
        }
        // That labels raise the error is the luck of few.
        exponent.mean = exponent.mean.max(0.0);
        Ok(exponent)
    }

    /// The exponent of rehearsals with more labels, and its deviation.
    fn rehearsed_exponent(&self, progress: &dyn Fn(f64)) -> Result<Option<(f64, f64)>> {
        let found = self.done.rehearsed_ratios(REHEARSED, FLOOR, progress)?;
        let exponents: Vec<f64> = found.into_iter().map(|(_, exponent)| exponent).collect();
        let spread = mean_and_deviation(&exponents);
        Ok(spread.map(|(mean, deviation)| (mean, deviation.hypot(LEAST_DEVIATION))))
    }

    /// The theory's own curve, at the same coupling.
    fn foretold_curve(&self, added: &[usize], progress: &dyn Fn(f64)) -> Result<Vec<CurvePoint>> {
        let now = self.forecast();
        let before = self.foretold_error(0)?;
        let growth = self.growth();
        added
            .iter()
            .enumerate()
            .map(|(done, &more)| {
                self.done.plan.settings.stop.check()?;
                progress((done + 1) as f64 / (added.len() + 1) as f64);
                let scale = match self.foretold_error(more)? {
                    after if more > 0 && before > 0.0 => after / before,
                    _ => 1.0,
                };
                let error = (now.error * scale).min(1.0);
                let ratio = growth.with_each(more);
                Ok(CurvePoint {
                    added: more,
                    error,
                    interval: now.interval.map(|end| (end * scale).min(1.0)),
                    foretold_interval: self.foretold_interval_at(error, ratio),
                })
            })
            .collect()
    }

    /// The error that the theory foretells with more labels in the target: of the same labels for two
    /// classes, of the rule learned anew for more.
    fn foretold_error(&self, more: usize) -> Result<f64> {
        let Some(surrogate) = &self.done.outcome.leading else {
            return Ok(self.forecast().error);
        };
        let mut population = Population::clone(&self.done.population);
        let counts = &self.cells().tasks()[self.target()].counts;
        let counts = counts.iter().map(|n| n + more).collect();
        population.cells = population.cells.with_counts(self.target(), counts);
        let target = Target {
            population: &population,
            ..self.done.target()
        };
        if target.classes() == 2 {
            return gaussian_error(&population, surrogate, self.target(), target.stakes());
        }
        let named = NamedRule {
            rule: self.rule().name,
            labels: self.rule().labels,
        };
        let foretold = target.foretold(named.without_votes(), &surrogate.coupling)?;
        Ok(foretold.forecast.error)
    }
}

/// Of two numbers or more.
pub(super) fn mean_and_deviation(of: &[f64]) -> Option<(f64, f64)> {
    let n = of.len() as f64;
    let mean = of.iter().sum::<f64>() / n;
    let variance = of.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (of.len() > 1).then(|| (mean, variance.sqrt()))
}
