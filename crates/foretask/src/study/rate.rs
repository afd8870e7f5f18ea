//! A threshold that holds a false-alarm rate, from scores of samples that had no say in them.

use super::outcome::of_difference;
use super::target::Target;
use crate::forecast::{AlarmForecast, Forecast, Judgements, Note};
use crate::numerics::{INFLATION, interval};
use crate::rules::Tail;
use crate::rules::false_alarm::threshold_of;
use crate::stakes::weighted;

impl Target<'_, '_> {
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
        forecast.class_errors[null] = held.expected;
        forecast.class_errors[1 - null] = 1.0 - detection;
        for c in 0..2 {
            forecast.confusion[c][c] = 1.0 - forecast.class_errors[c];
            forecast.confusion[c][1 - c] = forecast.class_errors[c];
        }
        forecast.error = weighted(&forecast.priors, &forecast.class_errors);
        forecast.cost = weighted(&self.stakes().weights(), &forecast.class_errors);
        let detection_interval = interval(detection, others.len() as f64, INFLATION);
        let missed = [1.0 - detection_interval[1], 1.0 - detection_interval[0]];
        forecast.interval = [0, 1].map(|end| {
            forecast.priors[null] * held.interval[end] + forecast.priors[1 - null] * missed[end]
        });
        let expected = asked.rate * (null_scores.len() + 1) as f64;
        if expected < 1.0 && held.tail != Tail::Gaussian {
            forecast.notes.push(Note::TailExtrapolated {
                rate: asked.rate,
                class: asked.null.clone(),
                samples: null_scores.len(),
            });
        }
        forecast.alarm = Some(AlarmForecast {
            null,
            requested: asked.rate,
            false_alarm: held.expected,
            false_alarm_interval: held.interval,
            detection,
            detection_interval,
            tail: held.tail,
            samples: null_scores.len(),
        });
        Some(held.value)
    }
}
