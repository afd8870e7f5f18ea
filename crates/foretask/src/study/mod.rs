//! [`Study`]: from tasks and settings to a rule and its forecast, and from there to a model.
//!
//! | settings | road |
//! |---|---|
//! | defaults | all couplings and families, averaged (`averaged.rs`) |
//! | two classes, named labels or a theory | one coupling, one score, a threshold (`binary.rs`) |
//! | a rule by name, or a theory for more classes | one coupling, one [`crate::rules::Discriminant`] (`ruled.rs`) |
//! | one-versus-one | one coupling, one problem per pair of classes (`pairs.rs`) |
//!
//! Each is judged by leave-one-out or by one of the theories (`evidence.rs`).
//! A study knows the rule before the model exists; [`Study::model`] folds it into weights.

mod averaged;
mod binary;
mod compare;
mod evidence;
mod pairs;
mod rate;
mod relative;
mod ruled;

use faer::Mat;

pub use compare::{Compared, Foretold};
pub use relative::{CurvePoint, SourceValue};

use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::dense;
use crate::error::Result;
use crate::forecast::{Forecast, Stakes};
use crate::model::{Decision, Description, Model};
use crate::rules::families::Family;
use crate::settings::{Labels, RuleName, Settings};
use crate::solve::System;
use crate::solve::path::{Fitted, Grid, GridPoint, Reduced};
use crate::statistics::Statistics;
use crate::tasks::Tasks;
use crate::tune::Tournament;
use evidence::Knowledge;
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
    tasks: &'a Tasks<'a>,
    settings: Settings,
    target: usize,
    stakes: Stakes,
    knowledge: Knowledge,
    null: Option<usize>,
    mean: Vec<f64>,
    scale: f64,
    space: Option<Reduced<'a>>,
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
    /// Studies `tasks`.
    ///
    /// # Errors
    /// If the target or a class is unknown, the target has one class, or a setting is out of range.
    pub fn new(tasks: &'a Tasks<'a>, settings: &Settings) -> Result<Self> {
        Self::with_progress(tasks, settings, &|_| {})
    }

    /// The same; `progress` is told the share of the work that is done, from 0 to 1.
    ///
    /// # Errors
    /// As [`Study::new`].
    pub fn with_progress(
        tasks: &'a Tasks<'a>,
        settings: &Settings,
        progress: &dyn Fn(f64),
    ) -> Result<Self> {
        let cells = tasks.cells();
        let target = settings.target(cells)?;
        let stakes = settings.stakes(cells, target)?;
        let null = settings.null(cells, target)?;
        let coupling = settings.coupling(cells)?;
        progress(0.0);
        let statistics = Statistics::of(tasks);
        let scales = settings.scaling.scales(&statistics);
        let knowledge = Knowledge::new(settings, tasks, &statistics, &scales, target)?;
        let mean = statistics.task_mean(target);
        let scale = scales[target];
        let mut study = Roads {
            tasks,
            settings,
            target,
            stakes: &stakes,
            knowledge: &knowledge,
            null,
            space: None,
        };
        let m = cells.of_task(target).len();
        let theory = settings.evidence.is_theory();
        let kind = Kind {
            rule: match settings.rule {
                RuleName::Auto if m > 2 => RuleName::OneHot,
                rule => rule,
            },
            labels: settings.labels,
        };
        let outcome = match (settings.rule, settings.labels) {
            // With two classes there is one pair.
            (RuleName::Auto | RuleName::OneVsOne, _) if theory && m == 2 => {
                study.foretold_binary(coupling)?
            }
            (RuleName::Auto, Labels::Auto) if !theory => {
                study.averaged(statistics, coupling, progress)?
            }
            (RuleName::Auto, Labels::Classical | Labels::Alone) if !theory => {
                study.named(statistics, coupling, progress)?
            }
            (RuleName::Auto | RuleName::OneVsOne, _) if m == 2 => {
                study.named(statistics, coupling, progress)?
            }
            _ => study.ruled(kind, statistics, coupling, progress)?,
        };
        let space = study.space;
        progress(1.0);
        Ok(Self {
            tasks,
            settings: settings.clone(),
            target,
            stakes,
            knowledge,
            null,
            mean,
            scale,
            space,
            outcome,
        })
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
        self.tasks.cells()
    }

    /// The target, as an index of [`Study::cells`].
    pub fn target(&self) -> usize {
        self.target
    }

    /// Folds the rule into a model.
    ///
    /// # Errors
    /// If training fails, which finite data do not let happen.
    pub fn model(&self) -> Result<Model> {
        let (weights, bias) = self.folded()?;
        let cells = self.tasks.cells();
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
            Folded::Reduced(weights) => match &self.space {
                Some(space) => space.to_features(weights),
                None => weights.clone(),
            },
            Folded::Features(weights) => weights.clone(),
            Folded::Untrained(coupling, label_scores) => {
                let system =
                    System::new(Statistics::of(self.tasks), self.settings.scaling, coupling)?;
                dense::times(system.weights(self.target).as_ref(), label_scores.as_ref())
            }
            Folded::Raw { weights, intercept } => return Ok((weights.clone(), intercept.clone())),
            Folded::UntrainedPairs(rules) => return self.roads().train_pairs(rules),
        };
        let bias = self.outcome.bias.clone();
        Ok(to_raw(weights, bias, &self.mean, self.scale))
    }

    fn roads(&self) -> Roads<'a, '_> {
        Roads {
            tasks: self.tasks,
            settings: &self.settings,
            target: self.target,
            stakes: &self.stakes,
            knowledge: &self.knowledge,
            null: self.null,
            space: None,
        }
    }

    /// How alike the class differences of each other task are to the target's, from -1 (opposed)
    /// over 0 (unrelated) to 1 (the same); `None` where classes do not correspond.
    ///
    /// ```text
    /// Σ_c μ_qc·μ_tc / √(Σ_c |μ_qc|² Σ_c |μ_tc|²),   μ the class means less their task's centre
    /// ```
    pub fn relatedness(&self) -> Vec<(String, Option<f64>)> {
        let cells = self.tasks.cells();
        let aligned = cells.aligned(self.target);
        let gram = &self.knowledge.gram;
        let target = cells.of_task(self.target);
        let tasks = (0..cells.tasks().len()).filter(|&task| task != self.target);
        tasks
            .map(|task| {
                let pairs: Vec<(usize, usize)> = cells
                    .of_task(task)
                    .filter_map(|cell| aligned[cell].map(|class| (cell, target.start + class)))
                    .collect();
                // Differences within the shared classes, whatever the origin of each task.
                let centred = |of: &dyn Fn(usize) -> (usize, usize), i: usize, j: usize| -> f64 {
                    let (a, b) = (of(i).0, of(j).1);
                    let n = pairs.len() as f64;
                    let row: f64 = (0..pairs.len()).map(|q| gram[(a, of(q).1)]).sum::<f64>() / n;
                    let column: f64 = (0..pairs.len()).map(|q| gram[(of(q).0, b)]).sum::<f64>() / n;
                    let all: f64 = (0..pairs.len())
                        .flat_map(|q| (0..pairs.len()).map(move |r| (q, r)))
                        .map(|(q, r)| gram[(of(q).0, of(r).1)])
                        .sum::<f64>()
                        / (n * n);
                    gram[(a, b)] - row - column + all
                };
                let total = |of: &dyn Fn(usize) -> (usize, usize)| {
                    (0..pairs.len()).map(|i| centred(of, i, i)).sum::<f64>()
                };
                let cross = total(&|i| pairs[i]);
                let (own, other) = (
                    total(&|i| (pairs[i].1, pairs[i].1)),
                    total(&|i| (pairs[i].0, pairs[i].0)),
                );
                let value = (pairs.len() > 1 && own > 0.0 && other > 0.0)
                    .then(|| (cross / (own * other).sqrt()).clamp(-1.0, 1.0));
                (cells.tasks()[task].name.clone(), value)
            })
            .collect()
    }
}

/// What all roads share.
struct Roads<'a, 's> {
    tasks: &'a Tasks<'a>,
    settings: &'s Settings,
    target: usize,
    stakes: &'s Stakes,
    knowledge: &'s Knowledge,
    null: Option<usize>,
    space: Option<Reduced<'a>>,
}

impl<'a> Roads<'a, '_> {
    fn cells(&self) -> &'a Cells {
        self.tasks.cells()
    }

    fn class(&self) -> Vec<usize> {
        self.tasks.classes_of(self.target)
    }

    fn classes(&self) -> usize {
        self.cells().of_task(self.target).len()
    }

    fn coupling_of(&self, point: GridPoint) -> Result<Coupling> {
        point.coupling(self.cells().tasks().len(), self.target)
    }

    /// All candidates: at the coupling given, or on the whole grid.
    fn tournament(
        &mut self,
        statistics: Statistics<'a>,
        coupling: Option<&Coupling>,
        progress: &dyn Fn(f64),
    ) -> Result<Tournament> {
        let class = self.class();
        if let Some(coupling) = coupling {
            let fitted = self.fit_at(statistics, coupling)?;
            return Ok(Tournament::at(
                self.cells(),
                self.target,
                &class,
                vec![fitted],
            ));
        }
        let reduced = Reduced::new(self.tasks, statistics, self.settings.scaling, self.target)?;
        let grid = Grid::default_for(self.cells().tasks().len());
        let tournament = Tournament::run(&reduced, &class, &grid, progress)?;
        self.space = Some(reduced);
        Ok(tournament)
    }

    /// The target's fit at one given coupling.
    fn fit_at(&self, statistics: Statistics<'a>, coupling: &Coupling) -> Result<Fitted> {
        let system = System::new(statistics, self.settings.scaling, coupling)?;
        let responses = system
            .leave_one_out(self.tasks, self.target)
            .stratified(self.cells())
            .responses;
        let k = self.cells().tasks().len() as f64;
        let source = coupling
            .gamma()
            .iter()
            .enumerate()
            .find(|(task, _)| *task != self.target)
            .map_or(0.0, |(_, g)| g / k);
        let point = GridPoint {
            source,
            target: coupling.gamma()[self.target] / k,
            shared: coupling.lambda() / k,
        };
        Ok(Fitted {
            point,
            responses,
            weights: system.weights(self.target),
        })
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
