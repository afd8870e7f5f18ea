//! The settings of the library as options, and what is written behind them.

use clap::{Args, ValueEnum};
use foretask::{
    Estimate, Evidence, FalseAlarm, Labels, Prior, RuleName, Scaling, Settings, Tail, Ties,
};

use crate::failure::Failure;

/// What the library lets a person choose.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choices")]
pub struct Choices {
    /// The task to decide for; needed if there are several
    #[arg(long, value_name = "TASK")]
    pub target: Option<String>,
    /// A fixed coupling: how strongly tasks share; needs --gamma [default: chosen]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub lambda: Option<f64>,
    /// How freely each task may differ: one value, or one per task in the order of their names
    #[arg(
        long,
        value_name = "X,...",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    pub gamma: Option<Vec<f64>>,
    /// How scores become a class
    #[arg(long, value_enum, default_value = "auto")]
    pub rule: RuleChoice,
    /// The labels to train with
    #[arg(long, value_enum, default_value = "auto")]
    pub labels: LabelChoice,
    /// How equal numbers of votes are told apart (--rule one-vs-one) [default: margins]
    #[arg(long, value_enum)]
    pub ties: Option<TieChoice>,
    /// Where the forecast comes from; the theories are for Gaussian features
    #[arg(long, value_enum, default_value = "auto")]
    pub theory: Theory,
    /// Divide each task by the spread within its classes, or not
    #[arg(long, value_enum, default_value = "auto")]
    pub scale: Scale,
    /// How often classes occur in use: observed, equal, or CLASS=SHARE,...
    #[arg(long, value_name = "PRIOR", default_value = "observed", value_parser = prior)]
    pub prior: Prior,
    /// What a mistake in a class costs: CLASS=COST,... [default: 1 each]
    #[arg(long, value_name = "CLASS=COST,...", value_parser = by_class)]
    pub cost: Option<ByClass>,
    /// Hold a false-alarm rate: the class that raises no alarm (two classes); needs --false-alarm
    #[arg(long, value_name = "CLASS")]
    pub null: Option<String>,
    /// The share of the null class that may raise an alarm, such as 0.05; needs --null
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub false_alarm: Option<f64>,
    /// What the threshold of a false-alarm rate is taken from [default: auto]
    #[arg(long, value_enum)]
    pub tail: Option<TailChoice>,
    /// Deals out the folds of the forecast
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl Choices {
    /// What they mean to the library.
    pub fn settings(&self) -> Result<Settings, Failure> {
        if self.ties.is_some() && self.rule != RuleChoice::OneVsOne {
            return Err(half("ties", "rule one-vs-one", TIES_HELP));
        }
        Ok(Settings {
            target: self.target.clone(),
            coupling: self.coupling()?,
            rule: self.rule.into(),
            labels: self.labels.into(),
            ties: self.ties.map_or_else(Ties::default, Ties::from),
            evidence: self.theory.into(),
            scaling: self.scale.into(),
            prior: self.prior.clone(),
            costs: self.cost.clone().unwrap_or_default().0,
            false_alarm: self.test()?,
            seed: self.seed,
        })
    }

    fn coupling(&self) -> Result<Option<(f64, Vec<f64>)>, Failure> {
        match (self.lambda, &self.gamma) {
            (Some(lambda), Some(gamma)) => Ok(Some((lambda, gamma.clone()))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(half("lambda", "gamma", COUPLING_HELP)),
            (None, Some(_)) => Err(half("gamma", "lambda", COUPLING_HELP)),
        }
    }

    fn test(&self) -> Result<Option<FalseAlarm>, Failure> {
        match (&self.null, self.false_alarm) {
            (Some(null), Some(rate)) => Ok(Some(FalseAlarm {
                null: null.clone(),
                rate,
                tail: self.tail.map_or_else(Tail::default, Tail::from),
            })),
            (Some(_), None) => Err(half("null", "false-alarm", TEST_HELP)),
            (None, Some(_)) => Err(half("false-alarm", "null", TEST_HELP)),
            (None, None) if self.tail.is_some() => Err(half("tail", "null", TEST_HELP)),
            (None, None) => Ok(None),
        }
    }
}

const COUPLING_HELP: &str =
    "a fixed coupling is both --lambda and --gamma; leave both out to have it chosen";
const TEST_HELP: &str = "a test is --null, the class that raises no alarm, and --false-alarm, the \
                         share of it that may: --null normal --false-alarm 0.05";
const TIES_HELP: &str = "only pairs of classes vote";

fn half(given: &'static str, missing: &'static str, help: &'static str) -> Failure {
    Failure::Half {
        given,
        missing,
        help,
    }
}

/// `--rule`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuleChoice {
    /// The weighted average of all ways to share and to label (the measured default); with --labels
    /// or --theory, one score and a threshold for two classes and one-hot for more
    Auto,
    /// One score per class, all optimised together; the largest wins
    OneHot,
    /// One score per class, each optimised against all others and standardised; the largest wins
    OneVsAll,
    /// One score per class against all others together, as it is; the largest wins
    NaiveOneVsAll,
    /// One score per pair of classes, trained on the samples of that pair; most votes win
    OneVsOne,
    /// The most probable class if responses are Gaussian
    Bayes,
}

impl From<RuleChoice> for RuleName {
    fn from(choice: RuleChoice) -> Self {
        match choice {
            RuleChoice::Auto => Self::Auto,
            RuleChoice::OneHot => Self::OneHot,
            RuleChoice::OneVsAll => Self::OneVsAll,
            RuleChoice::NaiveOneVsAll => Self::NaiveOneVsAll,
            RuleChoice::OneVsOne => Self::OneVsOne,
            RuleChoice::Bayes => Self::Bayes,
        }
    }
}

/// `--ties`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TieChoice {
    /// The class with the larger sum of margins over all its pairs
    Margins,
    /// The class that comes first, as in the paper
    First,
}

impl From<TieChoice> for Ties {
    fn from(choice: TieChoice) -> Self {
        match choice {
            TieChoice::Margins => Self::Margins,
            TieChoice::First => Self::First,
        }
    }
}

/// `--tail`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TailChoice {
    /// Empirical, unless the null class has fewer than ten samples and the rate lies beyond them
    Auto,
    /// The scores of the null class themselves, whatever their law
    Empirical,
    /// The normal law of the scores of the null class
    Gaussian,
}

impl From<TailChoice> for Tail {
    fn from(choice: TailChoice) -> Self {
        match choice {
            TailChoice::Auto => Self::Auto,
            TailChoice::Empirical => Self::Empirical,
            TailChoice::Gaussian => Self::Gaussian,
        }
    }
}

/// `--labels`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabelChoice {
    /// A weighted average of all ways to use the sources; optimal where a rule or a theory is named
    Auto,
    /// The label values of least forecast error, in closed form where there is one
    Optimal,
    /// The optimum of the one-hot rule searched for numerically, as in the paper
    Searched,
    /// The same labels in every task
    Classical,
    /// The target only; the sources are not used
    Alone,
    /// The same labels in every task and one set of weights for all of them; a given gamma is taken for 0
    Pooled,
}

impl From<LabelChoice> for Labels {
    fn from(choice: LabelChoice) -> Self {
        match choice {
            LabelChoice::Auto => Self::Auto,
            LabelChoice::Optimal => Self::Optimal,
            LabelChoice::Searched => Self::Searched,
            LabelChoice::Classical => Self::Classical,
            LabelChoice::Alone => Self::Alone,
            LabelChoice::Pooled => Self::Pooled,
        }
    }
}

/// `--theory`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Theory {
    /// Leave-one-out, steadied by the theory where labels are computed
    Auto,
    /// Random matrix theory alone: one variance per task, as in the paper's first theorem
    Isotropic,
    /// The same for one variance per class of each task
    Spherical,
    /// The same for one covariance shape: pooled within the classes, and shrunk
    Pooled,
    /// The same for one covariance per class of each task, as in the paper's second theorem, each
    /// shrunk by OAS
    General,
    /// As general, each covariance shrunk by Ledoit and Wolf's rule
    LedoitWolf,
    /// As general, with the plain sample covariances of the paper
    Sample,
    /// Leave-one-out alone
    LeaveOneOut,
}

impl From<Theory> for Evidence {
    fn from(choice: Theory) -> Self {
        match choice {
            Theory::Auto => Self::Auto,
            Theory::Isotropic => Self::Isotropic,
            Theory::Spherical => Self::Spherical,
            Theory::Pooled => Self::Pooled,
            Theory::General => Self::General(Estimate::Oas),
            Theory::LedoitWolf => Self::General(Estimate::LedoitWolf),
            Theory::Sample => Self::General(Estimate::Sample),
            Theory::LeaveOneOut => Self::LeaveOneOut,
        }
    }
}

/// `--scale`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scale {
    /// One number per task, so that all tasks count alike
    Auto,
    /// The features as they are
    None,
}

impl From<Scale> for Scaling {
    fn from(choice: Scale) -> Self {
        match choice {
            Scale::Auto => Self::Auto,
            Scale::None => Self::None,
        }
    }
}

/// Numbers by class name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByClass(pub Vec<(String, f64)>);

fn prior(text: &str) -> Result<Prior, String> {
    match text {
        "observed" => Ok(Prior::Observed),
        "equal" => Ok(Prior::Equal),
        _ => by_class(text).map(|given| Prior::Given(given.0)),
    }
}

/// Reads `CLASS=NUMBER,...`. A class name may itself hold a comma or an equals sign.
fn by_class(text: &str) -> Result<ByClass, String> {
    let mut pairs = Vec::new();
    let mut name_so_far = String::new();
    for part in text.split(',') {
        match part.rsplit_once('=') {
            Some((name, number)) => {
                let value = number
                    .trim()
                    .parse()
                    .map_err(|_| format!("'{number}' is not a number"))?;
                let name = std::mem::take(&mut name_so_far) + name;
                pairs.push((name.trim().to_owned(), value));
            }
            None => {
                name_so_far.push_str(part);
                name_so_far.push(',');
            }
        }
    }
    if name_so_far.is_empty() && !pairs.is_empty() {
        Ok(ByClass(pairs))
    } else {
        Err("write CLASS=NUMBER for each class, separated by commas".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_may_hold_separators() {
        let pairs = by_class("a=1, b,c=2,x=y=.5").unwrap();
        let expected = [("a", 1.0), ("b,c", 2.0), ("x=y", 0.5)];
        assert_eq!(
            pairs.0,
            expected.map(|(name, value)| (name.to_owned(), value))
        );
    }

    #[test]
    fn what_is_not_a_list_by_class_is_refused() {
        for text in ["", "a", "a=1,b", "a=x", "obseved"] {
            assert!(by_class(text).is_err(), "{text}");
        }
    }
}
