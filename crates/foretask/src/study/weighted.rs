//! Samples that have weights: what they do not go with (`docs/3-the-solver.md#weights`).

use crate::data::Statistics;
use crate::error::{Error, Result};
use crate::settings::RuleName;
use crate::settings::check::Plan;

/// Refuses settings that take every sample for one.
pub(super) fn check(statistics: &Statistics<'_>, plan: &Plan) -> Result<()> {
    if !statistics.cells().are_weighed() {
        return Ok(());
    }
    let settings = &plan.settings;
    if settings.evidence.is_theory() {
        return refused_theory(settings.evidence.to_string());
    }
    if let Some(alarm) = &settings.false_alarm {
        return Err(Error::Setting {
            setting: "the false-alarm rate",
            value: alarm.rate.to_string(),
            expected: "it is held by counting samples that count alike: leave out the weights, or the rate",
        });
    }
    match settings.rule {
        RuleName::OneVsOne => Err(Error::Setting {
            setting: "rule",
            value: settings.rule.to_string(),
            expected: "the pairs of one-versus-one know no weights: leave out the weights, or take another rule",
        }),
        _ => Ok(()),
    }
}

/// A theory of weighted samples.
pub(super) fn refused_theory<T>(theory: String) -> Result<T> {
    Err(Error::Setting {
        setting: "theory",
        value: theory,
        expected: "a theory takes all samples to count alike: leave out the weights, or the theory",
    })
}
