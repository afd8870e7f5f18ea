//! Samples that come in groups: what they do not go with, what cannot be told of them, and whether they are missing
//! (`docs/4-when-to-trust-a-forecast.md#groups`).

use super::target::Target;
use crate::data::Statistics;
use crate::error::{Error, Result};
use crate::forecast::{Forecast, Note};
use crate::settings::check::Plan;

/// Refuses settings that take the target's samples for independent.
pub(super) fn check(statistics: &Statistics<'_>, plan: &Plan) -> Result<()> {
    if statistics.groups_of(plan.target).members().is_none() {
        return Ok(());
    }
    if statistics.rows_of(plan.target).is_none() {
        return Err(crate::solve::needs_rows(
            &statistics.cells().tasks()[plan.target].name,
        ));
    }
    let evidence = plan.settings.evidence;
    let refused = |setting: &'static str, value: String, expected: &'static str| {
        Err(Error::Setting {
            setting,
            value,
            expected,
        })
    };
    if evidence.is_theory() {
        return refused(
            "theory",
            evidence.to_string(),
            "a theory takes all samples for independent: leave out the groups, or the theory",
        );
    }
    match &plan.settings.false_alarm {
        Some(alarm) => refused(
            "the false-alarm rate",
            alarm.rate.to_string(),
            "it is held by counting independent samples: leave out the groups, or the rate",
        ),
        None => Ok(()),
    }
}

impl Target<'_, '_> {
    /// A forecast with what groups, or their absence, say about it.
    pub(super) fn with_groups(&self, mut forecast: Forecast) -> Forecast {
        let statistics = &self.shared.raw;
        let groups = self.groups();
        if groups.members().is_some() {
            let found = groups.with_class(&self.class(), self.classes());
            if let Some(single) = found.iter().position(|&groups| groups == 1) {
                let name = &self.cells().tasks()[self.index()].classes[single];
                let mut notes = std::mem::take(&mut forecast.notes);
                notes.push(Note::OneGroup {
                    class: name.clone(),
                });
                forecast = Forecast {
                    samples: forecast.samples,
                    notes,
                    ..Forecast::untold(self.stakes(), forecast.densities)
                };
            }
        } else if !statistics.are_grouped() && !self.plan.light {
            let alike = statistics.alike(self.index());
            let copies = (alike.copies > 0).then_some(Note::Copies {
                samples: alike.copies,
            });
            let near = alike.ratio.map(|ratio| Note::NearCopies { ratio });
            forecast.notes.extend(copies.or(near));
        }
        forecast
    }
}
