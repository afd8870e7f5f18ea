//! A target without its sources: by the candidates of its own labels, or with the other tasks gone.

use std::sync::OnceLock;

use super::schedule::{self, Done};
use crate::error::Result;
use crate::recipe::{Entry, Family};
use crate::settings::check::Plan;

impl Done<'_> {
    /// The same by the target's own labels only.
    pub(super) fn alone(&self) -> Result<Self> {
        let is_alone = |entry: &Entry| entry.is(Family::Alone);
        let outcome = match &self.fits {
            // At a coupling that was given no candidate goes without the others.
            Some(fits) if !fits.tournament.entries.iter().any(is_alone) => return self.by_itself(),
            Some(fits) => self.target().averaged(fits, &is_alone)?,
            None => self.target().outcome(None, &|_| {})?,
        };
        Ok(Self {
            shared: self.shared.clone(),
            population: self.population.clone(),
            plan: self.plan.clone(),
            outcome,
            fits: self.fits.clone(),
            counted: false,
            exponent: OnceLock::new(),
        })
    }

    /// The same with the other tasks gone.
    fn by_itself(&self) -> Result<Self> {
        let tasks = self.shared.cells().tasks();
        let mut statistics = self.shared.raw.clone();
        let mut settings = self.plan.settings.clone();
        settings.target = Some(tasks[self.plan.target].name.clone());
        // From the last to the first, so that the others keep their places.
        let others = (0..tasks.len())
            .rev()
            .filter(|&task| task != self.plan.target);
        for (gone, other) in others.enumerate() {
            statistics = statistics.without(other);
            settings.coupling = settings
                .coupling
                .map(|(lambda, gamma)| without_source(lambda, &gamma, tasks.len() - gone, other));
        }
        let plan = Plan {
            light: true,
            ..Plan::new(settings, statistics.cells())?
        };
        let done = schedule::run(&statistics, vec![plan], &|_| {})?;
        let failed = || crate::solve::needs_rows(&tasks[self.plan.target].name);
        done.into_iter().next().ok_or_else(failed)
    }
}

/// A fixed coupling for one task fewer: kp counts the tasks, so the values shrink with it to leave
/// the penalty of the others as it was.
pub(super) fn without_source(
    lambda: f64,
    gamma: &[f64],
    k: usize,
    source: usize,
) -> (f64, Vec<f64>) {
    let shrink = (k - 1) as f64 / k as f64;
    let gamma = gamma
        .iter()
        .enumerate()
        .filter(|(task, _)| gamma.len() == 1 || *task != source)
        .map(|(_, g)| g * shrink)
        .collect();
    (lambda * shrink, gamma)
}
