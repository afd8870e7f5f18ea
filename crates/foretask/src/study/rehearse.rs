//! Rehearsal: sources take the target's place, with as many labels as the target has
//! (`docs/4-when-to-trust-a-forecast.md#rehearsal`).
//!
//! A source keeps n_c rows of each class of the target; all other tasks, and the target with its few rows, are its
//! sources. The same default is computed on a coarse grid, and its error measured on the source's other rows, with
//! the priors of the target. Time, for at most [`MOST_SOURCES`] sources, that of as many coarse studies.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::growth::Growth;
use super::schedule::{self, Done};
use super::target::Target;
use crate::data::{Rows, Statistics, classes_in_order};
use crate::error::Result;
use crate::forecast::{Rehearsal, Rehearsed, Unrehearsed};
use crate::recipe::keys;
use crate::settings::check::Plan;
use crate::settings::{FalseAlarm, Prior, Settings};
use crate::solve::needs_rows;

/// Sources that take the target's place.
const MOST_SOURCES: usize = 4;
/// Fewer say nothing.
const FEWEST_SOURCES: usize = 2;
/// A target with more labels is judged by itself.
const MOST_LABELS: usize = 120;
/// Rows of a source that it is tested on must be worth so many.
const FEWEST_TESTED: f64 = 30.0;
/// Rows of a class that a source is tested on.
const MOST_TESTED: usize = 1000;

/// A source in the target's place.
pub(super) struct Understudy {
    pub(super) source: usize,
    /// Samples that it keeps, ascending.
    kept: Vec<usize>,
    /// Its classes, by class of the target.
    class: Vec<usize>,
    /// Samples that it is tested on, by class of the target.
    tested: Vec<Vec<usize>>,
    /// How many times the target's labels it has.
    growth: f64,
}

/// Carries out plans, in their order, and rehearses those that are the default.
pub(super) fn run<'a>(
    statistics: &Statistics<'a>,
    plans: Vec<Plan>,
    progress: &dyn Fn(f64),
) -> Result<Vec<Done<'a>>> {
    let rehearsing = |plan: &Plan| plan.is_averaged() && plan.settings.rehearse;
    let first = if plans.iter().any(rehearsing) {
        0.5
    } else {
        1.0
    };
    let mut done = schedule::run(statistics, plans, &|share| progress(first * share))?;
    let count = done.len() as f64;
    for (number, one) in done.iter_mut().enumerate() {
        let told = |share: f64| progress(first + (1.0 - first) * (number as f64 + share) / count);
        rehearsed(one, &told)?;
    }
    progress(1.0);
    Ok(done)
}

/// The last word of a plan that was carried out.
pub(super) fn rehearsed(one: &mut Done<'_>, progress: &dyn Fn(f64)) -> Result<()> {
    match one.target().rehearsals(progress)? {
        Err(why) => one.outcome.forecast.rehearsal = Rehearsal::Skipped(why),
        Ok(sources) => {
            let stakes = one.plan.stakes.clone();
            let judged = one.outcome.judgements.as_ref();
            let class = judged.map_or_else(|| one.target().class(), |own| own.class.clone());
            one.outcome.forecast.rehearse(sources, &stakes, &class);
        }
    }
    one.outcome.forecast.settle();
    Ok(())
}

impl Target<'_, '_> {
    /// What sources do in the target's place, or why there are none.
    pub(super) fn rehearsals(
        &self,
        progress: &dyn Fn(f64),
    ) -> Result<std::result::Result<Vec<Rehearsed>, Unrehearsed>> {
        if !self.plan.is_averaged() || self.plan.light {
            return Ok(Err(Unrehearsed::ByName));
        }
        if !self.settings().rehearse {
            return Ok(Err(Unrehearsed::SwitchedOff));
        }
        if self.groups().members().is_some() {
            return Ok(Err(Unrehearsed::Grouped));
        }
        if self.cells().are_weighed() {
            return Ok(Err(Unrehearsed::Weighted));
        }
        if self.cells().samples(self.index()) > MOST_LABELS {
            return Ok(Err(Unrehearsed::ManyLabels));
        }
        let studies = self.understudies(1);
        if studies.len() < FEWEST_SOURCES {
            return Ok(Err(Unrehearsed::FewSources));
        }
        let mut rehearsed = Vec::with_capacity(studies.len());
        for (number, understudy) in studies.iter().enumerate() {
            progress(number as f64 / studies.len() as f64);
            rehearsed.push(self.rehearse(understudy)?);
        }
        Ok(Ok(rehearsed))
    }

    /// Sources that qualify, with so many times the labels of the target; of many, some that are spread over all in the
    /// order of how far their samples are from their class means, so that neither names nor the order of tasks matter.
    pub(super) fn understudies(&self, times: usize) -> Vec<Understudy> {
        let aligned = self.cells().aligned(self.index());
        let variances = self.shared.raw.pooled_variances();
        let sources = (0..self.cells().tasks().len()).filter(|&task| task != self.index());
        // Which rows it keeps matters only to those that are chosen.
        let mut chosen: Vec<usize> = sources
            .filter(|&source| self.can_stand_in(source, times, &aligned))
            .collect();
        if chosen.len() > MOST_SOURCES {
            let spread = |&source: &usize| (self.shared.raw.spread_in(source, &variances), source);
            let mut all: Vec<(f64, usize)> = chosen.iter().map(spread).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let some = (0..MOST_SOURCES).map(|i| all[i * all.len() / MOST_SOURCES].1);
            chosen = some.collect();
            chosen.sort_unstable();
        }
        let chosen = chosen.into_iter();
        chosen
            .filter_map(|source| self.understudy(source, times, &aligned, &variances))
            .collect()
    }

    /// Whether a source has every class of the target, and rows to be tested on.
    fn can_stand_in(&self, source: usize, times: usize, aligned: &[Option<usize>]) -> bool {
        let cells = self.cells();
        let mut noise = 0.0;
        for (c, cell) in cells.of_task(self.index()).enumerate() {
            let there = cells.of_task(source).find(|&cell| aligned[cell] == Some(c));
            let Some(samples) = there.map(|there| cells.count(there)) else {
                return false;
            };
            let labels = (times * cells.count(cell)).min(samples / 2);
            if labels == 0 {
                return false;
            }
            let tested = (samples - labels).min(MOST_TESTED);
            noise += self.stakes().priors[c].powi(2) / tested as f64;
        }
        self.shared.raw.rows_of(source).is_some() && noise * FEWEST_TESTED <= 1.0
    }

    /// A source in the target's place; none if it cannot stand in for it.
    fn understudy(
        &self,
        source: usize,
        times: usize,
        aligned: &[Option<usize>],
        variances: &[f64],
    ) -> Option<Understudy> {
        let cells = self.cells();
        let rows = self.shared.raw.rows_of(source)?;
        let class = classes_in_order(&cells.tasks()[source]);
        let first = cells.of_task(source).start;
        let own = cells.of_task(self.index());
        let keys = keys(rows, variances);
        let mut study = Understudy {
            source,
            kept: Vec::new(),
            class: Vec::new(),
            tested: Vec::new(),
            growth: 1.0,
        };
        let (mut counts, mut added) = (Vec::new(), Vec::new());
        for (c, cell) in own.enumerate() {
            let there = cells
                .of_task(source)
                .find(|&cell| aligned[cell] == Some(c))?;
            let samples = drawn(&class, there - first, &keys);
            let labels = (times * cells.count(cell)).min(samples.len() / 2);
            if labels == 0 {
                return None;
            }
            counts.push(cells.count(cell));
            added.push(labels as f64 - cells.count(cell) as f64);
            let (kept, others) = samples.split_at(labels);
            study.kept.extend(kept);
            study.class.push(there - first);
            study
                .tested
                .push(others[..others.len().min(MOST_TESTED)].to_vec());
        }
        study.kept.sort_unstable();
        study.growth = Growth::new(&counts, &self.stakes().priors).with(added);
        Some(study)
    }

    /// A source's error on its other rows, by the default and by itself.
    fn rehearse(&self, understudy: &Understudy) -> Result<Rehearsed> {
        self.rehearse_among(understudy, &self.shared.raw)
    }

    /// The same where the other tasks are those of `all`.
    pub(super) fn rehearse_among(
        &self,
        understudy: &Understudy,
        all: &Statistics<'_>,
    ) -> Result<Rehearsed> {
        let task = &self.cells().tasks()[understudy.source];
        let failed = || needs_rows(&task.name);
        let statistics = all.with_samples(understudy.source, &understudy.kept);
        let statistics = statistics.ok_or_else(failed)?;
        let settings = self.settings_of(understudy);
        let plan = Plan {
            light: true,
            ..Plan::new(settings, statistics.cells())?
        };
        let done = schedule::run(&statistics, vec![plan], &|_| {})?;
        let Some(done) = done.into_iter().next() else {
            return Err(failed());
        };
        let alone = done.alone()?;
        Ok(Rehearsed {
            task: task.name.clone(),
            error: self.tested_error(understudy, &done)?,
            alone: self.tested_error(understudy, &alone)?,
            tested: understudy.tested.iter().map(Vec::len).sum(),
        })
    }

    /// The settings with the names of the source and its classes in the place of the target's.
    fn settings_of(&self, understudy: &Understudy) -> Settings {
        let source = &self.cells().tasks()[understudy.source];
        let own = &self.cells().tasks()[self.index()].classes;
        let renamed = |name: &str| -> String {
            let class = own.iter().position(|class| class == name);
            let class = class.map(|class| source.classes[understudy.class[class]].clone());
            class.unwrap_or_else(|| name.to_owned())
        };
        let settings = self.settings().clone();
        Settings {
            target: Some(source.name.clone()),
            prior: match settings.prior {
                Prior::Given(given) => Prior::Given(
                    given
                        .iter()
                        .map(|(name, share)| (renamed(name), *share))
                        .collect(),
                ),
                prior => prior,
            },
            costs: settings
                .costs
                .iter()
                .map(|(name, cost)| (renamed(name), *cost))
                .collect(),
            false_alarm: settings.false_alarm.map(|alarm| FalseAlarm {
                null: renamed(&alarm.null),
                ..alarm
            }),
            ..settings
        }
    }

    /// The share of wrong decisions on the rows that were kept back, or what is missed where a rate is held.
    fn tested_error(&self, understudy: &Understudy, done: &Done<'_>) -> Result<f64> {
        let model = done.model()?;
        let source = &self.cells().tasks()[understudy.source];
        let rows = self.shared.raw.rows_of(understudy.source);
        let rows = rows.ok_or_else(|| needs_rows(&source.name))?;
        let priors = &self.stakes().priors;
        let mut error = 0.0;
        for (c, tested) in understudy.tested.iter().enumerate() {
            let weight = match self.plan.null {
                None => priors[c],
                Some(null) => f64::from(u8::from(c != null)),
            };
            let name = &source.classes[understudy.class[c]];
            let right = model.classes().iter().position(|class| class == name);
            let values = rows.select(tested.iter().copied()).values();
            let decided = model.predict(Rows::row_major(&values, rows.features())?)?;
            let wrong = decided
                .iter()
                .filter(|&&class| Some(class) != right)
                .count();
            error += weight * wrong as f64 / tested.len().max(1) as f64;
        }
        Ok(error)
    }
}

impl Done<'_> {
    /// Exponents of the learning curves of rehearsals, from as many labels as the target has to so many times more, with
    /// the source that each is of.
    pub(super) fn rehearsed_ratios(
        &self,
        times: usize,
        floor: f64,
        progress: &dyn Fn(f64),
    ) -> Result<Vec<(String, f64)>> {
        let Rehearsal::Done { sources, .. } = &self.outcome.forecast.rehearsal else {
            return Ok(Vec::new());
        };
        let target = self.target();
        let mut exponents = Vec::new();
        let understudies = target.understudies(times);
        let count = understudies.len() as f64;
        for (done, understudy) in understudies.into_iter().enumerate() {
            progress(done as f64 / count);
            let name = &target.cells().tasks()[understudy.source].name;
            let before = sources.iter().find(|source| source.task == *name);
            let Some(before) = before.filter(|_| understudy.growth > 1.5) else {
                continue;
            };
            let after = target.rehearse(&understudy)?;
            let ratio = (after.error + floor) / (before.error + floor);
            exponents.push((before.task.clone(), -ratio.ln() / understudy.growth.ln()));
        }
        Ok(exponents)
    }
}

/// The samples of a class in an order that `keys` tell: the same draw for every class, so that their order does not
/// matter.
pub(super) fn drawn(class: &[usize], own: usize, keys: &[f64]) -> Vec<usize> {
    let mut samples: Vec<usize> = (0..class.len()).filter(|&l| class[l] == own).collect();
    samples.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    samples.shuffle(&mut ChaCha8Rng::seed_from_u64(0));
    samples
}
