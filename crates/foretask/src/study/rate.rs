//! A threshold that holds a false-alarm rate, from scores of samples that had no say in them.

use faer::Mat;

use super::fits::Fits;
use super::outcome::of_difference;
use super::target::Target;
use crate::forecast::{AlarmForecast, Forecast, Judgements, Note};
use crate::numerics::{INFLATION, interval};
use crate::rules::Tail;
use crate::rules::false_alarm::threshold_of;
use crate::settings::FalseAlarm;
use crate::stakes::weighted;

impl Target<'_, '_> {
    /// The scores of two classes that a threshold is taken from: in the units of the rule of all samples, as their
    /// leave-one-out scores are.
    pub(super) fn rate_scores(
        &self,
        fits: &Fits<'_>,
        weights: &[f64],
        nested: &Mat<f64>,
    ) -> Vec<f64> {
        of_difference(&match &fits.folded {
            Some(_) => nested.clone(),
            None => self.with_shares(self.left_out_scores(fits, weights)),
        })
    }

    /// A forecast at the rate that is held, if any.
    pub(super) fn at_rate(&self, mut forecast: Forecast, judgements: &Judgements) -> Forecast {
        if self.plan.null.is_some() {
            let scores = of_difference(&judgements.scores());
            self.hold_rate(&scores, &scores, &judgements.class, &mut forecast);
        }
        forecast
    }

    /// The threshold, if a rate is to be held; the forecast is brought in line with it. `scores` are large for the
    /// first class; `nested` are those of rules that knew nothing of a sample: what is detected is counted among them.
    pub(super) fn hold_rate(
        &self,
        scores: &[f64],
        nested: &[f64],
        class: &[usize],
        forecast: &mut Forecast,
    ) -> Option<f64> {
        let null = self.plan.null?;
        let asked = self.settings().false_alarm.as_ref()?;
        let (threshold, alarm) = alarm_at(scores, nested, class, null, asked);
        let (held, detection) = (&alarm, alarm.detection);
        forecast.class_errors[null] = held.false_alarm;
        forecast.class_errors[1 - null] = 1.0 - detection;
        for c in 0..2 {
            forecast.confusion[c][c] = 1.0 - forecast.class_errors[c];
            forecast.confusion[c][1 - c] = forecast.class_errors[c];
        }
        forecast.error = weighted(&forecast.priors, &forecast.class_errors);
        forecast.cost = weighted(&self.stakes().weights(), &forecast.class_errors);
        let [low, high] = held.detection_interval;
        let missed = [1.0 - high, 1.0 - low];
        forecast.interval = [0, 1].map(|end| {
            forecast.priors[null] * held.false_alarm_interval[end]
                + forecast.priors[1 - null] * missed[end]
        });
        let expected = asked.rate * (held.samples + 1) as f64;
        if expected < 1.0 && held.tail != Tail::Gaussian {
            forecast.notes.push(Note::TailExtrapolated {
                rate: asked.rate,
                class: asked.null.clone(),
                samples: held.samples,
            });
        }
        forecast.alarm = Some(alarm);
        Some(threshold)
    }
}

/// The threshold that holds a rate, and what it will do; `scores` and `nested` as of [`Target::hold_rate`].
pub(super) fn alarm_at(
    scores: &[f64],
    nested: &[f64],
    class: &[usize],
    null: usize,
    asked: &FalseAlarm,
) -> (f64, AlarmForecast) {
    let of_class = |scores: &[f64], c: usize| -> Vec<f64> {
        let own = scores.iter().zip(class).filter(|(_, own)| **own == c);
        own.map(|(score, _)| *score).collect()
    };
    let null_scores = of_class(scores, null);
    let held = threshold_of(&null_scores, null, asked.rate, asked.tail);
    let unseen = threshold_of(&of_class(nested, null), null, asked.rate, asked.tail);
    let others = of_class(nested, 1 - null);
    let alarms = others
        .iter()
        .filter(|&&score| (score > unseen.value) == (null == 1))
        .count();
    let detection = alarms as f64 / others.len().max(1) as f64;
    let alarm = AlarmForecast {
        null,
        requested: asked.rate,
        false_alarm: held.expected,
        false_alarm_interval: held.interval,
        detection,
        detection_interval: interval(detection, others.len() as f64, INFLATION),
        tail: held.tail,
        samples: null_scores.len(),
    };
    (held.value, alarm)
}
