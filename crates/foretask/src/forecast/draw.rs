//! A forecast from many draws of a law that a theory knows.

use faer::Mat;

use super::Forecast;
use super::calibrate::Calibration;
use super::count::Tally;
use crate::data::Importance;
use crate::decision::Decided;
use crate::moments::Provenance;
use crate::stakes::Stakes;

/// A forecast from many draws of a law that is known but for its parameters; `right`, if given, holds
/// the exact probability of a right decision in each class.
pub(crate) fn from_draws(
    scores: &Mat<f64>,
    class: &[usize],
    decisions: &[Decided],
    calibration: &Calibration,
    stakes: &Stakes,
    right: Option<Vec<f64>>,
    provenance: Provenance,
) -> Forecast {
    let tally = Tally::new(
        scores,
        class,
        &Importance::default(),
        decisions,
        calibration,
        stakes,
        1,
    );
    let mut confusion = tally.counted();
    for (c, right) in right.into_iter().flatten().enumerate() {
        let wrong = 1.0 - confusion[c][c];
        for (decision, share) in confusion[c].iter_mut().enumerate() {
            *share = match (decision == c, wrong > 0.0) {
                (true, _) => right,
                (false, true) => *share * (1.0 - right) / wrong,
                (false, false) => (1.0 - right) / (stakes.priors.len() - 1) as f64,
            };
        }
    }
    let densities = Vec::new();
    Forecast::of_confusion(confusion, provenance, stakes, densities, tally.reliability)
}
