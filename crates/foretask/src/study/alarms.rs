//! Thresholds that would hold other false-alarm rates.

use super::Study;
use super::outcome::of_difference;
use super::rate::alarm_at;
use crate::forecast::AlarmForecast;
use crate::settings::FalseAlarm;

impl Study<'_> {
    /// The thresholds that would hold other false-alarm rates, and what they are expected to do by the target's samples
    /// alone, without rehearsals. Empty unless a rate is held by the default.
    pub fn alarms(&self, rates: &[f64]) -> Vec<(f64, AlarmForecast)> {
        let plan = &self.done.plan;
        let asked = plan.null.zip(plan.settings.false_alarm.as_ref());
        let (Some((null, asked)), Some((own, nested, class)), true) =
            (asked, self.rate_scores(), plan.is_averaged())
        else {
            return Vec::new();
        };
        let at = |&rate: &f64| {
            let asked = FalseAlarm {
                rate,
                ..asked.clone()
            };
            alarm_at(&own, &nested, class, null, &asked)
        };
        rates.iter().map(at).collect()
    }

    /// The scores of two classes that a threshold is taken from, those that detections are counted among, and the
    /// classes.
    pub(crate) fn rate_scores(&self) -> Option<(Vec<f64>, Vec<f64>, &[usize])> {
        let (fits, target) = (self.done.fits.as_ref()?, self.done.target());
        let judgements = self.done.outcome.judgements.as_ref()?;
        let nested = judgements.scores();
        let own = target.rate_scores(fits, &fits.tournament.weights(), &nested);
        Some((own, of_difference(&nested), &judgements.class))
    }
}
