//! [`Study`]: from tasks and settings to a rule and its forecast, and from there to a model.
//!
//! The steps of a study, each a file:
//!
//! 1. `choose`: a coupling, by samples left out or by what a theory foretells;
//! 2. `learn`: labels and thresholds from moments;
//! 3. `judge` the rule by samples that had no say in it, or `foretell` it by a theory;
//! 4. `fold` it into a decision and label scores;
//! 5. [`Study::model`] makes weights of them.
//!
//! | settings | steps |
//! |---|---|
//! | defaults | all couplings and families, averaged (`averaged`) |
//! | two classes, named labels or a theory | one coupling, one score, a threshold (`one_score`) |
//! | a rule by name, or a theory for more classes | one coupling, one `crate::rules::Discriminant` (`fold`) |
//! | one-versus-one | one coupling, one problem per pair of classes (`pairs`) |
//!
//! `folded` is the way of a target with many rows; `schedule` shares what several plans have in common; `rate` holds a false-alarm rate; `rehearse` puts
//! sources in the target's place; `compare`, `curve`, `spend` and `value` say what other rules, more labels or fewer sources
//! would do.

mod alarms;
mod alone;
mod averaged;
mod batches;
mod choose;
pub(crate) mod compare;
mod counted;
mod curve;
mod fits;
mod fold;
mod fold_scores;
mod folded;
mod foretell;
mod grouped;
mod growth;
mod held_out;
mod judge;
mod learn;
mod one_score;
mod outcome;
mod pair;
mod pairs;
mod rate;
mod rehearse;
mod route;
mod schedule;
mod shared;
mod spend;
pub(crate) mod tally;
mod target;
mod train;
mod value;
mod weighted;

use faer::Mat;

use schedule::Done;

use crate::data::{Cells, Statistics};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::estimate::{Likeness, LikenessMap};
use crate::forecast::recount::Recount;
use crate::forecast::{Calibration, Forecast, Note};
use crate::model::{Model, Rule};
use crate::settings::Settings;
use crate::settings::check::Plan;

/// What the target's training samples are taken for when they are left out; class by class, and within a
/// class in the order of their rows.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The true class of each, an index of the target's classes.
    pub class: Vec<usize>,
    /// Probabilities of the classes (n_t x m) where these occur with the priors of use; rows sum to one.
    pub probabilities: Mat<f64>,
}

/// A rule with its forecast, for one target.
///
/// ```
/// use foretask::{Rows, Settings, Study, Tasks};
/// // Two tasks of 20 samples with 3 features; the second feature tells the classes apart.
/// let values: Vec<f64> = (0..120).map(|i| ((i * 37) % 11) as f64 + if i % 3 == 1 && (i / 3) % 2 == 0 { 9.0 } else { 0.0 }).collect();
/// let task: Vec<&str> = (0..40).map(|i| if i < 20 { "source" } else { "target" }).collect();
/// let class: Vec<&str> = (0..40).map(|i| if i % 2 == 0 { "high" } else { "low" }).collect();
/// let rows = Rows::row_major(&values, 3)?;
/// let tasks = Tasks::new(rows, &task, &class)?;
/// let study = Study::new(&tasks, &Settings { target: Some("target".into()), ..Settings::default() })?;
/// assert!(study.forecast().error < 0.2);
/// let model = study.model()?;
/// assert_eq!(model.classes()[model.predict(rows)?[0]], "high");
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Debug)]
pub struct Study<'a> {
    done: Done<'a>,
}

impl<'a> Study<'a> {
    /// Studies data in memory (`&Tasks`) or their statistics (`&Statistics`).
    ///
    /// From statistics the same comes out as from the data, but what needs rows that are not kept is an
    /// error: leave-one-out needs those of the target, the general theory those of every task, and
    /// one-versus-one those of the tasks that have other classes too. The other theories need none.
    ///
    /// ```
    /// use foretask::{Evidence, Rows, Settings, Statistics, Study};
    /// # let values: Vec<f64> = (0..80).map(|i| ((i * 37) % 11) as f64 + if i % 4 == 1 { 9.0 } else { 0.0 }).collect();
    /// # let class: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "high" } else { "low" }).collect();
    /// let mut statistics = Statistics::new(2);
    /// for part in values.chunks(40) {
    ///     statistics.add(Rows::row_major(part, 2)?, &["webcam"; 20], &class)?;
    /// }
    /// let settings = Settings { evidence: Evidence::Common, ..Settings::default() };
    /// let model = Study::new(&statistics, &settings)?.model()?;
    /// assert_eq!(model.classes(), ["high", "low"]);
    /// // 40 rows of 2 features: the rows are gone.
    /// assert!(Study::new(&statistics, &Settings::default()).is_err());
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the target or a class is unknown, the target has one class, a setting is out of range, or rows
    /// are needed that are not kept. Where samples come in groups ([`crate::Tasks::with_groups`]), a theory or a
    /// false-alarm rate is one, too; and where they have weights ([`crate::Tasks::weighted`]), also one-versus-one.
    pub fn new(data: impl Into<Statistics<'a>>, settings: &Settings) -> Result<Self> {
        let mut studies = Self::each(data, std::slice::from_ref(settings), &|_| {})?;
        let missing = || Error::NoTarget { known: Vec::new() };
        studies.pop().ok_or_else(missing)
    }

    /// Several settings on the same data, in their order; `progress` is told the share of the work that is done,
    /// from 0 to 1. Each study is the very one that [`Study::new`]
    /// gives for its settings, but what settings have in common is computed once: the fits of the grid, or
    /// of a given coupling, for every rule, labels and target that stand on them.
    ///
    /// ```
    /// use foretask::{Labels, Rows, Settings, Study, Tasks};
    /// # let values: Vec<f64> = (0..120).map(|i| ((i * 37) % 11) as f64 + if i % 3 == 1 && (i / 3) % 2 == 0 { 9.0 } else { 0.0 }).collect();
    /// # let task: Vec<&str> = (0..40).map(|i| if i < 20 { "amazon" } else { "webcam" }).collect();
    /// # let class: Vec<&str> = (0..40).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
    /// let tasks = Tasks::new(Rows::row_major(&values, 3)?, &task, &class)?;
    /// let with = |labels| Settings { target: Some("webcam".into()), labels, ..Settings::default() };
    /// let settings = [Labels::Auto, Labels::Alone, Labels::Pooled].map(with);
    /// for study in Study::each(&tasks, &settings, &|_| {})? {
    ///     println!("{:?}: {:.1} %", study.rule().labels, 100.0 * study.forecast().error);
    /// }
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Study::new`], for any of the settings.
    pub fn each(
        data: impl Into<Statistics<'a>>,
        settings: &[Settings],
        progress: &dyn Fn(f64),
    ) -> Result<Vec<Self>> {
        progress(0.0);
        let statistics = data.into();
        statistics.check()?;
        let plans = settings
            .iter()
            .map(|settings| Plan::new(settings.clone(), statistics.cells()))
            .collect::<Result<Vec<_>>>()?;
        Self::of_plans(&statistics, plans, progress)
    }

    /// Every task with at least two classes as the target in turn; the others are sources only.
    /// `settings.target` is not looked at. Each study is the very one that [`Study::new`] gives for its
    /// target, but what does not depend on the target is computed once.
    ///
    /// Settings that name classes (priors, costs, the null class) must fit every such task: the error
    /// names the first that lacks a class, or a prior for one. Study tasks with other classes one by one.
    ///
    /// ```
    /// use foretask::{Rows, Settings, Study, Tasks};
    /// # let values: Vec<f64> = (0..120).map(|i| ((i * 37) % 11) as f64 + if i % 3 == 1 && (i / 3) % 2 == 0 { 9.0 } else { 0.0 }).collect();
    /// # let task: Vec<&str> = (0..40).map(|i| if i < 20 { "amazon" } else { "webcam" }).collect();
    /// # let class: Vec<&str> = (0..40).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
    /// let tasks = Tasks::new(Rows::row_major(&values, 3)?, &task, &class)?;
    /// let studies = Study::all(&tasks, &Settings::default(), &|_| {})?;
    /// assert_eq!(studies.len(), 2);
    /// assert_eq!(studies[1].model()?.target(), "webcam");
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Study::new`], for any of the targets; if no task has two classes.
    pub fn all(
        data: impl Into<Statistics<'a>>,
        settings: &Settings,
        progress: &dyn Fn(f64),
    ) -> Result<Vec<Self>> {
        let statistics = data.into();
        let settings = Self::targets(&statistics, settings)?;
        Self::each(statistics, &settings, progress)
    }

    /// The settings of every task with at least two classes as the target.
    fn targets(statistics: &Statistics<'_>, settings: &Settings) -> Result<Vec<Settings>> {
        statistics.check()?;
        let tasks = statistics.cells().tasks();
        let targets: Vec<Settings> = tasks
            .iter()
            .filter(|task| task.classes.len() > 1)
            .map(|task| Settings {
                target: Some(task.name.clone()),
                ..settings.clone()
            })
            .collect();
        match tasks.first() {
            Some(task) if targets.is_empty() => Err(Error::OneClass {
                task: task.name.clone(),
                class: task.classes.first().cloned().unwrap_or_default(),
            }),
            _ => Ok(targets),
        }
    }

    fn of_plans(
        statistics: &Statistics<'a>,
        plans: Vec<Plan>,
        progress: &dyn Fn(f64),
    ) -> Result<Vec<Self>> {
        for plan in &plans {
            grouped::check(statistics, plan)?;
            folded::Folded::check(statistics, plan)?;
            weighted::check(statistics, plan)?;
        }
        let stop = plans.first().map(|plan| plan.settings.stop.clone());
        let stop = stop.unwrap_or_default();
        let statistics = statistics.clone().stopped_by(&stop);
        let done = rehearse::run(&statistics, plans, progress)?;
        stop.check()?;
        Ok(done.into_iter().map(|done| Self { done }).collect())
    }

    /// What the rule will do on new data.
    pub fn forecast(&self) -> &Forecast {
        &self.done.outcome.forecast
    }

    /// How the rule's scores are made.
    pub fn rule(&self) -> &Rule {
        &self.done.outcome.rule
    }

    /// The tasks, their classes and counts.
    pub fn cells(&self) -> &Cells {
        self.done.shared.cells()
    }

    /// The target, as an index of [`Study::cells`].
    pub fn target(&self) -> usize {
        self.done.plan.target
    }

    /// What each of the target's own samples would be taken for by a rule that it had no say in: the
    /// forecast is made of these. None from a theory, which looks at no sample.
    ///
    /// Two choices are made once, with all samples: the temperature of the probabilities, and the coupling
    /// where labels or a rule are named. Where labels are learnt, it is from responses of other samples in
    /// whose fits this one had a part. Probabilities of one-versus-one are a softmax of the votes.
    ///
    /// ```
    /// use foretask::{Rows, Settings, Study, Tasks};
    /// # let values: Vec<f64> = (0..60).map(|i| ((i * 37) % 11) as f64 + if i % 3 == 1 && (i / 3) % 2 == 0 { 9.0 } else { 0.0 }).collect();
    /// # let class: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
    /// let tasks = Tasks::new(Rows::row_major(&values, 3)?, &["webcam"; 20], &class)?;
    /// if let Some(left_out) = Study::new(&tasks, &Settings::default())?.left_out() {
    ///     for (sample, &class) in left_out.class.iter().enumerate() {
    ///         println!("{:.0} % sure of the truth", 100.0 * left_out.probabilities[(sample, class)]);
    ///     }
    /// }
    /// # Ok::<(), foretask::Error>(())
    /// ```
    pub fn left_out(&self) -> Option<LeftOut> {
        let judgements = self.done.outcome.judgements.as_ref()?;
        let Calibration { slope, offsets, .. } = &judgements.calibration;
        let decision = Decision::of_class_scores(*slope, offsets, &self.done.plan.stakes);
        Some(LeftOut {
            probabilities: decision.probabilities(&judgements.scores()),
            class: judgements.class.clone(),
        })
    }

    /// What the forecast is counted from, to count it again for other priors and costs. None where these are learnt
    /// with (rules, labels and theories by name), where a false-alarm rate is held ([`Study::alarms`]), and where
    /// no sample can be left out.
    pub fn recount(&self) -> Option<Recount> {
        let Done { plan, outcome, .. } = &self.done;
        let cannot = |note: &Note| matches!(note, Note::OneLabel | Note::OneGroup { .. });
        let told = !outcome.forecast.notes.iter().any(cannot);
        let counted = plan.is_averaged() && plan.null.is_none() && told;
        let judgements = outcome.judgements.clone().filter(|_| counted)?;
        let densities = &outcome.forecast.densities;
        Some(Recount::new(judgements, &plan.stakes.shares, densities))
    }

    /// Folds the rule into a model.
    ///
    /// # Errors
    /// If training fails, which finite data do not let happen.
    pub fn model(&self) -> Result<Model> {
        self.done.model()
    }

    /// How alike the class differences of each other task are to the target's ([`crate::relatedness()`]).
    pub fn relatedness(&self) -> Vec<(String, Option<f64>)> {
        let shared = &self.done.shared;
        let likeness = Likeness::new(&shared.statistics, &shared.scales).to(self.target());
        let named = self.cells().tasks().iter().zip(likeness).enumerate();
        named
            .filter(|(task, _)| *task != self.target())
            .map(|(_, (task, value))| (task.name.clone(), value))
            .collect()
    }
    /// The sources in a plane, by how alike they are to the target and to one another: those that say most, at most so
    /// many. None where fewer than two sources can be compared with the target.
    pub fn likeness_map(&self, most: usize) -> Option<LikenessMap> {
        let shared = &self.done.shared;
        let likeness = Likeness::new(&shared.statistics, &shared.scales);
        let name = |task: usize| self.cells().tasks()[task].name.clone();
        LikenessMap::new(&likeness, self.target(), most, name)
    }
}
