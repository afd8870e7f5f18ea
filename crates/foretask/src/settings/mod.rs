//! [`Settings`]: what a person may choose; everything has a default.

pub(crate) mod check;
pub(crate) mod words;

pub use words::{Evidence, Labels, RuleName, vocabulary};

use crate::decision::Ties;
use crate::rules::Tail;
use crate::solve::Scaling;
use crate::stop::Stop;
use crate::views::Views;

/// A false-alarm rate to be held: one class is decided for unless there is evidence against it.
#[derive(Clone, Debug, PartialEq)]
pub struct FalseAlarm {
    /// The class that raises no alarm.
    pub null: String,
    /// The share of it that may.
    pub rate: f64,
    /// What the threshold is taken from.
    pub tail: Tail,
}

/// How often each class occurs where the model will be used.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Prior {
    /// As in the target's training data.
    #[default]
    Observed,
    /// All alike.
    Equal,
    /// As given, by class name; must name every class and sum to one.
    Given(Vec<(String, f64)>),
}

/// Everything that may be chosen.
///
/// | setting | default | what it is for | range |
/// |---|---|---|---|
/// | `target` | none | the task to decide for | a task's name; may be left out if there is one |
/// | `coupling` | chosen | λ and γ, if they are to be fixed | finite, zero or more, not both zero |
/// | `rule` | auto | how responses become a class | [`RuleName`] |
/// | `labels` | auto | which label scores to train with | [`Labels`] |
/// | `ties` | margins | how equal numbers of votes are told apart | [`Ties`] |
/// | `evidence` | auto | where moments and forecast come from | [`Evidence`] |
/// | `folds` | that of the statistics, or 10 | folds that the rows of a large target are left out in | 2 to 50 |
/// | `scaling` | auto | how features are scaled | [`Scaling`] |
/// | `views` | all | ways to look at the features | [`Views`] |
/// | `prior` | observed | how often classes occur in use | [`Prior`]; shares sum to one |
/// | `costs` | 1 each | what a mistake in a class costs | zero or more, one above zero |
/// | `false_alarm` | none | a rate to be held | two classes; between 0 and 1 |
/// | `rehearse` | yes | whether sources take the target's place for the forecast | yes or no |
/// | `stop` | not thrown | a switch by which another thread ends the work | [`Stop`] |
///
/// ```
/// use foretask::{Labels, Settings};
/// let settings = Settings { target: Some("webcam".into()), labels: Labels::Classical, ..Settings::default() };
/// assert!(settings.rehearse);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The task to decide for; may be left out if there is only one.
    pub target: Option<String>,
    /// A fixed coupling, λ and γ (one for all tasks, or one per task in the order of their names);
    /// chosen by leave-one-out otherwise. [`Labels::Alone`] takes λ for 0, [`Labels::Pooled`] γ.
    pub coupling: Option<(f64, Vec<f64>)>,
    /// How responses become a class.
    pub rule: RuleName,
    /// Which label scores.
    pub labels: Labels,
    /// How equal numbers of votes are told apart (one-versus-one).
    pub ties: Ties,
    /// Where moments and forecast come from.
    pub evidence: Evidence,
    /// How many folds the rows of a target are dealt to where they are many ([`Evidence::LeaveFoldOut`]); as many as
    /// its statistics have ([`crate::Statistics::with_folds`]) if nothing is said.
    pub folds: Option<usize>,
    /// How features are scaled.
    pub scaling: Scaling,
    /// Ways to look at the features. The default averages over all of them; theories, labels and rules by name
    /// look through the first that is linear.
    pub views: Views,
    /// Class priors.
    pub prior: Prior,
    /// What a mistake costs in a class, by name; one where nothing is said.
    pub costs: Vec<(String, f64)>,
    /// Hold a false-alarm rate instead of minimising the expected cost (two classes).
    pub false_alarm: Option<FalseAlarm>,
    /// Whether sources take the target's place, to tell what a rule made of so few labels is worth. The default only;
    /// costs about as much again as the study.
    pub rehearse: bool,
    /// Ends the work, now or when more is asked of the study.
    pub stop: Stop,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            target: None,
            coupling: None,
            rule: RuleName::default(),
            labels: Labels::default(),
            ties: Ties::default(),
            evidence: Evidence::default(),
            folds: None,
            scaling: Scaling::default(),
            views: Views::default(),
            prior: Prior::default(),
            costs: Vec::new(),
            false_alarm: None,
            rehearse: true,
            stop: Stop::default(),
        }
    }
}
