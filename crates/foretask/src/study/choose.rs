//! Step 1: choose a coupling, by samples left out or by what a theory foretells.

use super::target::Target;
use crate::data::Coupling;
use crate::error::{Error, Result};
use crate::recipe::{Entry, Family, Tournament, grid};
use crate::settings::Labels;

impl Target<'_, '_> {
    /// The entry of a tournament that labels by name are chosen by. Pooled tasks are chosen by the labels that
    /// they are trained with; rules by name choose by whatever labels do best.
    pub(super) fn best_for_rule(&self, labels: Labels, tournament: &Tournament) -> usize {
        tournament
            .best(|entry| self.suits(labels, entry))
            // Without sources nothing is pooled.
            .or_else(|| tournament.best(|entry| self.is_seen(entry)))
            .unwrap_or(0)
    }

    /// The entry of labels that are known before any data are seen, or optimal for one score.
    pub(super) fn best_for_labels(&self, labels: Labels, tournament: &Tournament) -> Result<usize> {
        let classical = |entry: &Entry| entry.is(Family::Classical) || entry.is_pooled();
        tournament
            .best(|entry| {
                self.suits(labels, entry) && (labels != Labels::Classical || classical(entry))
            })
            // Without sources the classical labels are the target's own.
            .or_else(|| tournament.best(|entry| self.is_seen(entry) && entry.is(Family::Alone)))
            .ok_or_else(|| Error::Setting {
                setting: "labels",
                value: "classical".into(),
                expected: "classical labels need a coupling with lambda > 0",
            })
    }

    /// The coupling that is given, or that of an entry.
    pub(super) fn coupling_at(&self, tournament: &Tournament, entry: usize) -> Result<Coupling> {
        match &self.plan.coupling {
            Some(coupling) => Ok(coupling.clone()),
            None => self.coupling_of(tournament.entries[entry].point),
        }
    }

    /// The coupling that is given, or that of the grid with the least cost.
    pub(super) fn cheapest(
        &self,
        labels: Labels,
        progress: &dyn Fn(f64),
        cost: impl Fn(&Coupling) -> Result<f64>,
    ) -> Result<Coupling> {
        if let Some(coupling) = &self.plan.coupling {
            return Ok(coupling.clone());
        }
        let tasks = self.cells().tasks().len();
        let points: Vec<_> = grid(tasks)
            .points()
            .into_iter()
            .filter(|&point| tasks == 1 || labels.allow(point))
            .collect();
        let mut best: Option<(f64, Coupling)> = None;
        for (done, point) in points.iter().enumerate() {
            self.settings().stop.check()?;
            progress(done as f64 / points.len() as f64);
            let Ok(coupling) = self.coupling_of(*point) else {
                continue;
            };
            let cost = cost(&coupling)?;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, coupling));
            }
        }
        best.map(|(_, coupling)| coupling).ok_or(Error::Setting {
            setting: "gamma",
            value: "0".into(),
            expected: "lambda and gamma must not both be zero",
        })
    }

    /// Whether labels of this name may choose the coupling of an entry.
    fn suits(&self, labels: Labels, entry: &Entry) -> bool {
        let labelled = match labels {
            Labels::Pooled => entry.is_pooled(),
            _ => labels.allow(entry.point),
        };
        labelled && self.is_seen(entry)
    }

    /// Whether an entry is in the target's view, and as it was fitted.
    fn is_seen(&self, entry: &Entry) -> bool {
        entry.view == self.shared.view && entry.is(entry.candidate.family)
    }
}
