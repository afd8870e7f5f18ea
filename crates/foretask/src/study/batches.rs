//! A model for every task, in bounded memory.

use super::Study;
use super::folded::Folded;
use crate::data::Statistics;
use crate::error::Result;
use crate::model::Model;
use crate::recipe::alike;
use crate::settings::Settings;
use crate::settings::check::Plan;
use crate::solve::HAT_ROWS;

/// Fits that one target holds until it is decided, about: those of a grid in three views.
const FITS: usize = 90;

/// Bytes that targets may hold together where the user does not say: beyond that what they have in common is worth
/// less than the memory.
const BUDGET: usize = 1 << 28;

impl<'a> Study<'a> {
    /// The models of [`Study::all`], trained in batches: what the targets of a batch hold stays within `budget`
    /// bytes (256 MiB by default), or within what one target needs. Larger batches compute less twice; the models are
    /// the same to the last bit.
    ///
    /// # Errors
    /// As [`Study::all`].
    pub fn models(
        data: impl Into<Statistics<'a>>,
        settings: &Settings,
        budget: Option<usize>,
        progress: &dyn Fn(f64),
    ) -> Result<Vec<Model>> {
        let statistics = data.into();
        let plans = Self::targets(&statistics, settings)?;
        let batches = batches(&statistics, &plans, budget.unwrap_or(BUDGET));
        let mut models = Vec::with_capacity(plans.len());
        for (number, batch) in batches.iter().enumerate() {
            let done = |share: f64| progress((number as f64 + share) / batches.len() as f64);
            for study in Self::each(statistics.clone(), batch, &done)? {
                models.push(study.model()?);
            }
        }
        progress(1.0);
        Ok(models)
    }
}

/// Bytes that one target holds until it is decided, about.
fn held(statistics: &Statistics<'_>, settings: &Settings) -> usize {
    let Ok(plan) = Plan::new(settings.clone(), statistics.cells()) else {
        return 0;
    };
    let (cells, target, p) = (statistics.cells(), plan.target, statistics.features());
    let (rows, classes) = (cells.samples(target), cells.of_task(target).len());
    let columns = alike::columns(cells, target);
    // Responses and weights, with what leaving out folds needs where samples are few; or those without each fold.
    let folds = Folded::number(statistics, &plan);
    let doubles = match Folded::suits(statistics, &plan) {
        true => (folds + 1) * p * columns + folds * (classes + columns) * columns,
        false if rows <= HAT_ROWS => (2 * rows + p) * columns + rows * rows,
        false => (rows + p) * columns,
    };
    doubles.saturating_mul(8 * FITS)
}

/// Settings in batches that hold no more than a budget, each at least one.
fn batches(
    statistics: &Statistics<'_>,
    settings: &[Settings],
    budget: usize,
) -> Vec<Vec<Settings>> {
    let mut batches: Vec<Vec<Settings>> = Vec::new();
    let mut together = 0;
    for settings in settings {
        let own = held(statistics, settings);
        match batches.last_mut() {
            Some(batch) if together + own <= budget => batch.push(settings.clone()),
            _ => {
                batches.push(vec![settings.clone()]);
                together = 0;
            }
        }
        together += own;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, Tasks};

    #[test]
    fn batches_give_the_same_models_to_the_last_bit() {
        let rows = 150;
        let wave = |i: usize| ((i * 7919) % 1013) as f64 / 500.0 - 1.0;
        let values: Vec<f64> = (0..rows * 4)
            .map(|i| {
                wave(i)
                    + if (i / 4) % 2 == 0 && i % 4 == 1 {
                        0.8
                    } else {
                        0.0
                    }
            })
            .collect();
        let task: Vec<String> = (0..rows).map(|i| format!("t{}", i % 5)).collect();
        let class: Vec<&str> = (0..rows).map(|i| ["u", "v"][i % 2]).collect();
        let tasks = Tasks::new(Rows::row_major(&values, 4).unwrap(), &task, &class).unwrap();
        let settings = Settings::default();
        let together: Vec<Model> = Study::all(&tasks, &settings, &|_| {})
            .unwrap()
            .iter()
            .map(|study| study.model().unwrap())
            .collect();
        let one = ((2 * 30 + 4) * 10 + 30 * 30) * 8 * FITS;
        for (budget, expected) in [(0, 5), (2 * one, 3), (usize::MAX, 1)] {
            let plans = Study::targets(&Statistics::of(&tasks), &settings).unwrap();
            let statistics = Statistics::of(&tasks);
            assert_eq!(batches(&statistics, &plans, budget).len(), expected);
            let models = Study::models(&tasks, &settings, Some(budget), &|_| {}).unwrap();
            assert_eq!(models, together);
        }
    }
}
