//! [`Study`]: from tasks and settings to a rule and its forecast, and from there to a model.
//!
//! | settings | road |
//! |---|---|
//! | defaults | all couplings and families, averaged (`averaged.rs`) |
//! | two classes, named labels or a theory | one coupling, one score, a threshold (`binary.rs`) |
//! | a rule by name, or a theory for more classes | one coupling, one [`crate::rules::Discriminant`] (`ruled.rs`) |
//! | one-versus-one | one coupling, one problem per pair of classes (`pairs.rs`) |
//!
//! Each is judged by leave-one-out or by one of the theories (`evidence.rs`), on statistics that all
//! targets share (`ground.rs`); settings that need the same fits share them (`plan.rs`).
//! A study knows the rule before the model exists; [`Study::model`] folds it into weights.

mod averaged;
mod binary;
mod compare;
mod evidence;
mod ground;
mod pairs;
mod plan;
mod rate;
mod relative;
mod ruled;

use std::sync::Arc;

use faer::Mat;

pub use compare::{Compared, Foretold};
pub use relative::{CurvePoint, SourceValue};

use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::dense;
use crate::error::{Error, Result};
use crate::forecast::{self, Forecast, Stakes, temperature};
use crate::model::{Decision, Description, Model};
use crate::relatedness::likeness;
use crate::rules::families::Family;
use crate::settings::{Labels, RuleName, Settings};
use crate::solve::path::GridPoint;
use crate::statistics::Statistics;
use crate::tasks::classes_in_order;
use crate::tune::Tournament;
use evidence::Knowledge;
use ground::Ground;
use plan::Plan;
use ruled::Kind;

/// How a rule's scores are made.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Rule {
    /// Its name.
    #[serde(default)]
    pub name: RuleName,
    /// Which label scores were asked for.
    #[serde(default)]
    pub labels: Labels,
    /// The coupling, if there is one only.
    pub coupling: Option<Coupling>,
    /// Label scores of the cells, in order: one number for two classes, one per class for more; if
    /// there is one coupling only.
    pub label_scores: Option<Vec<Vec<f64>>>,
    /// For two classes, the score above which the first is chosen; `None` if that is always or never.
    pub threshold: Option<f64>,
    /// The weight of each family of label scores in an average.
    pub weights: Vec<(Family, f64)>,
    /// The candidates of an average, heaviest first.
    pub candidates: Vec<CandidateWeight>,
    /// How many candidates were tried.
    pub tried: usize,
}

/// One candidate of an average.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CandidateWeight {
    /// Its family of label scores.
    pub family: Family,
    /// Its coupling.
    pub coupling: Coupling,
    /// Its weight.
    pub weight: f64,
    /// The share of the label variance that its leave-one-out scores miss.
    pub press: f64,
}

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
    ground: Arc<Ground<'a>>,
    knowledge: Arc<Knowledge>,
    settings: Settings,
    target: usize,
    stakes: Stakes,
    null: Option<usize>,
    outcome: Outcome,
}

/// What a road to a rule arrives at.
#[derive(Debug)]
pub(crate) struct Outcome {
    rule: Rule,
    decision: Decision,
    folded: Folded,
    /// Score of the target's mean.
    bias: Vec<f64>,
    forecast: Forecast,
    /// The heaviest candidates, heaviest first: what relative statements are made with.
    leading: Vec<Leading>,
    /// Class scores (n_t x m) that no sample had a say in; none from the theory.
    scores: Option<Mat<f64>>,
}

/// A candidate of a rule.
#[derive(Debug)]
struct Leading {
    weight: f64,
    coupling: Coupling,
    /// C x m.
    label_scores: Mat<f64>,
    /// Added to the scores, one per class.
    offsets: Vec<f64>,
}

impl Leading {
    /// The labels that tell class a from class b.
    fn labels(&self, a: usize, b: usize) -> Vec<f64> {
        self.label_scores
            .row_iter()
            .map(|row| row[a] - row[b])
            .collect()
    }
}

/// Where the weights of the rule are.
#[derive(Debug)]
enum Folded {
    /// In reduced coordinates, r x d.
    Reduced(Mat<f64>),
    /// On the features, p x d.
    Features(Mat<f64>),
    /// Not trained yet: label scores, C x d, at a coupling.
    Untrained(Coupling, Mat<f64>),
    /// On the raw features, p x d, with the scores at the origin.
    Raw {
        weights: Mat<f64>,
        intercept: Vec<f64>,
    },
    /// Not trained yet: the rules of all pairs of classes.
    UntrainedPairs(Vec<pairs::PairRule>),
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
    /// let settings = Settings { evidence: Evidence::Pooled, ..Settings::default() };
    /// let model = Study::new(&statistics, &settings)?.model()?;
    /// assert_eq!(model.classes(), ["high", "low"]);
    /// // 40 rows of 2 features: the rows are gone.
    /// assert!(Study::new(&statistics, &Settings::default()).is_err());
    /// # Ok::<(), foretask::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the target or a class is unknown, the target has one class, a setting is out of range, or rows
    /// are needed that are not kept.
    pub fn new(data: impl Into<Statistics<'a>>, settings: &Settings) -> Result<Self> {
        Self::with_progress(data, settings, &|_| {})
    }

    /// The same; `progress` is told the share of the work that is done, from 0 to 1.
    ///
    /// # Errors
    /// As [`Study::new`].
    pub fn with_progress(
        data: impl Into<Statistics<'a>>,
        settings: &Settings,
        progress: &dyn Fn(f64),
    ) -> Result<Self> {
        let mut studies = Self::each(data, std::slice::from_ref(settings), progress)?;
        let missing = || Error::NoTarget { known: Vec::new() };
        studies.pop().ok_or_else(missing)
    }

    /// Several settings on the same data, in their order. Each study is the very one that [`Study::new`]
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
        progress(0.0);
        let statistics = data.into();
        statistics.check()?;
        let tasks = statistics.cells().tasks();
        let targets: Vec<usize> = (0..tasks.len())
            .filter(|&task| tasks[task].classes.len() > 1)
            .collect();
        if let (true, Some(task)) = (targets.is_empty(), tasks.first()) {
            return Err(Error::OneClass {
                task: task.name.clone(),
                class: task.classes.first().cloned().unwrap_or_default(),
            });
        }
        let plans = targets
            .iter()
            .map(|&target| {
                let settings = Settings {
                    target: Some(tasks[target].name.clone()),
                    ..settings.clone()
                };
                Plan::new(settings, statistics.cells())
            })
            .collect::<Result<Vec<_>>>()?;
        Self::of_plans(&statistics, plans, progress)
    }

    /// What the rule will do on new data.
    pub fn forecast(&self) -> &Forecast {
        &self.outcome.forecast
    }

    /// How the rule's scores are made.
    pub fn rule(&self) -> &Rule {
        &self.outcome.rule
    }

    /// The tasks, their classes and counts.
    pub fn cells(&self) -> &Cells {
        self.ground.cells()
    }

    /// The target, as an index of [`Study::cells`].
    pub fn target(&self) -> usize {
        self.target
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
        let scores = self.outcome.scores.as_ref()?;
        let class = classes_in_order(&self.cells().tasks()[self.target]);
        let slope = temperature(scores, &class);
        let mut probabilities = Mat::zeros(scores.nrows(), scores.ncols());
        for l in 0..scores.nrows() {
            let logit = |c: usize| slope * scores[(l, c)] + self.stakes.shift(c);
            let of_sample = (0..scores.ncols()).map(logit).collect();
            for (c, probability) in forecast::probabilities(of_sample).into_iter().enumerate() {
                probabilities[(l, c)] = probability;
            }
        }
        Some(LeftOut {
            class,
            probabilities,
        })
    }

    /// Folds the rule into a model.
    ///
    /// # Errors
    /// If training fails, which finite data do not let happen.
    pub fn model(&self) -> Result<Model> {
        let (weights, bias) = self.folded()?;
        let cells = self.cells();
        let description = Description {
            target: cells.tasks()[self.target].name.clone(),
            tasks: cells.tasks().to_vec(),
            feature_names: None,
            rule: self.outcome.rule.clone(),
            forecast: self.outcome.forecast.clone(),
        };
        Ok(Model::new(
            description,
            weights,
            bias,
            self.outcome.decision.clone(),
        ))
    }

    /// Weights on raw features, and the scores at the origin.
    fn folded(&self) -> Result<(Mat<f64>, Vec<f64>)> {
        let weights = match &self.outcome.folded {
            Folded::Reduced(weights) => self.ground.space()?.to_features(weights),
            Folded::Features(weights) => weights.clone(),
            Folded::Untrained(coupling, label_scores) => {
                let system = self.ground.system(coupling)?;
                dense::times(system.weights(self.target).as_ref(), label_scores.as_ref())
            }
            Folded::Raw { weights, intercept } => return Ok((weights.clone(), intercept.clone())),
            Folded::UntrainedPairs(rules) => return self.roads().train_pairs(rules),
        };
        let bias = self.outcome.bias.clone();
        let mean = self.ground.statistics.task_mean(self.target);
        Ok(to_raw(
            weights,
            bias,
            &mean,
            self.ground.scales[self.target],
        ))
    }

    fn roads(&self) -> Roads<'_, 'a> {
        Roads {
            ground: &self.ground,
            knowledge: &self.knowledge,
            settings: &self.settings,
            target: self.target,
            stakes: &self.stakes,
            null: self.null,
        }
    }

    /// How alike the class differences of each other task are to the target's ([`crate::relatedness()`]).
    pub fn relatedness(&self) -> Vec<(String, Option<f64>)> {
        let cells = self.cells();
        let tasks = (0..cells.tasks().len()).filter(|&task| task != self.target);
        tasks
            .map(|task| {
                let value = likeness(cells, &self.knowledge.gram, task, self.target);
                (cells.tasks()[task].name.clone(), value)
            })
            .collect()
    }
}

/// What all roads share.
struct Roads<'s, 'a> {
    ground: &'s Ground<'a>,
    knowledge: &'s Knowledge,
    settings: &'s Settings,
    target: usize,
    stakes: &'s Stakes,
    null: Option<usize>,
}

impl Roads<'_, '_> {
    /// By the road that the settings name. There is no tournament where a theory decides.
    fn outcome(
        &self,
        tournament: Option<&Tournament>,
        coupling: Option<Coupling>,
        progress: &dyn Fn(f64),
    ) -> Result<Outcome> {
        let Settings { rule, labels, .. } = *self.settings;
        let m = self.classes();
        // With two classes there is one pair.
        let one_score = m == 2 && matches!(rule, RuleName::Auto | RuleName::OneVsOne);
        let kind = Kind {
            rule: match rule {
                RuleName::Auto if m > 2 => RuleName::OneHot,
                rule => rule,
            },
            labels,
        };
        let Some(tournament) = tournament else {
            return match one_score {
                true => self.foretold_binary(coupling),
                false => self.foretold(kind, coupling, progress),
            };
        };
        match (rule, labels) {
            (RuleName::Auto, Labels::Auto) => self.averaged(tournament, coupling),
            (RuleName::Auto, labels) if labels.are_classical() => self.named(tournament, coupling),
            _ if one_score => self.named(tournament, coupling),
            _ => self.ruled(kind, tournament, coupling, progress),
        }
    }

    fn cells(&self) -> &Cells {
        self.ground.cells()
    }

    fn class(&self) -> Vec<usize> {
        classes_in_order(&self.cells().tasks()[self.target])
    }

    fn classes(&self) -> usize {
        self.cells().of_task(self.target).len()
    }

    fn coupling_of(&self, point: GridPoint) -> Result<Coupling> {
        point.coupling(self.cells().tasks().len(), self.target)
    }

    /// Notes that every forecast carries.
    fn notes(&self) -> Vec<String> {
        let task = &self.cells().tasks()[self.target];
        let fewest = task.counts.iter().enumerate().min_by_key(|(_, n)| **n);
        match fewest {
            Some((class, &n)) if n < FEW => {
                let noun = if n == 1 { "sample" } else { "samples" };
                vec![format!(
                    "class '{}' of the target has {n} {noun} only: the forecast is rough below {FEW} per class",
                    task.classes[class]
                )]
            }
            _ => Vec::new(),
        }
    }

    /// A note if the Gaussian theory, at the same coupling and labels, foretells another error.
    fn disagreement(&self, forecast: &Forecast, leading: &[Leading]) -> Result<Option<String>> {
        // A held rate has another threshold than the one of least error that this compares.
        let comparable = self.classes() == 2 && self.null.is_none();
        let Some(first) = leading.first().filter(|_| comparable) else {
            return Ok(None);
        };
        let labels = first.labels(0, 1);
        let theory = binary::gaussian_error(
            self.knowledge,
            &first.coupling,
            &labels,
            self.target,
            self.stakes,
        )?;
        let floor = 1.0 / forecast.samples as f64;
        let ratio = (theory + floor) / (forecast.error + floor);
        let outside = theory < forecast.interval[0] || theory > forecast.interval[1];
        Ok((outside && !(0.5..=2.0).contains(&ratio)).then(|| {
            format!(
                "Gaussian theory would foretell {:.2} %, leave-one-out says {:.2} %: the features are not isotropic and Gaussian, and the forecast uses leave-one-out",
                100.0 * theory,
                100.0 * forecast.error
            )
        }))
    }
}

/// From weights on centred and scaled features and scores at the mean to weights on raw features and
/// scores at the origin.
fn to_raw(
    mut weights: Mat<f64>,
    mut bias: Vec<f64>,
    mean: &[f64],
    scale: f64,
) -> (Mat<f64>, Vec<f64>) {
    for (j, bias) in bias.iter_mut().enumerate() {
        let mut at_mean = 0.0;
        for (feature, mean) in mean.iter().enumerate() {
            weights[(feature, j)] /= scale;
            at_mean += weights[(feature, j)] * mean;
        }
        *bias -= at_mean;
    }
    (weights, bias)
}

/// Below this many target samples in a class, a forecast is called rough.
const FEW: usize = 5;
