//! The settings of the library as options, and what is written behind them.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use foretask::{
    Evidence, FalseAlarm, Labels, Prior, RuleName, Scaling, Settings, Tail, Ties, Views, Word,
};

use crate::failure::Failure;

/// What is decided, and what mistakes mean.
const DECISION: &str = "Decision";
/// How that is learnt, for those who know better than the default.
const METHOD: &str = "Method";

/// What the library lets a person choose.
#[derive(Debug, Args)]
pub struct Choices {
    /// The task to decide for; needed if there are several
    #[arg(long, value_name = "TASK", help_heading = DECISION)]
    pub target: Option<String>,
    /// A fixed coupling: how strongly tasks share; needs --gamma [default: chosen]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = METHOD, hide_short_help = true)]
    pub lambda: Option<f64>,
    /// How freely each task may differ: one value, or one per task in the order of their names
    #[arg(long,
        value_name = "X,...",
        value_delimiter = ',',
        allow_negative_numbers = true, help_heading = METHOD, hide_short_help = true)]
    pub gamma: Option<Vec<f64>>,
    /// How scores become a class
    #[arg(long, default_value = "auto", value_parser = word::<RuleName>(), help_heading = METHOD, hide_short_help = true)]
    pub rule: RuleName,
    /// The labels to train with
    #[arg(long, default_value = "auto", value_parser = word::<Labels>(), help_heading = METHOD, hide_short_help = true)]
    pub labels: Labels,
    /// How equal numbers of votes are told apart (--rule one-vs-one) [default: margins]
    #[arg(long, value_parser = word::<Ties>(), help_heading = METHOD, hide_short_help = true)]
    pub ties: Option<Ties>,
    /// Where the forecast comes from; the theories are for Gaussian features
    #[arg(long, default_value = "auto", value_parser = word::<Evidence>(), help_heading = METHOD, hide_short_help = true)]
    pub theory: Evidence,
    /// How many folds the rows of a large target are left out in, 2 to 50 [default: as its statistics were gathered, or 10]
    #[arg(long, value_name = "K", help_heading = METHOD, hide_short_help = true)]
    pub folds: Option<usize>,
    /// Errors that `foretask tally` counted where the rows are, for statistics without rows
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = METHOD, hide_short_help = true)]
    pub tally: Vec<PathBuf>,
    /// Divide each task by the spread within its classes, or not
    #[arg(long, default_value = "auto", value_parser = word::<Scaling>(), help_heading = METHOD, hide_short_help = true)]
    pub scale: Scaling,
    /// Ways to look at the features: auto (all), linear (one weight per feature), or some of raw, standard, cosine,
    /// rbf with commas between; theories, labels and rules by name look through the first linear one
    #[arg(long, value_name = "VIEW,...", default_value = "auto", help_heading = METHOD, hide_short_help = true)]
    pub views: Views,
    /// How often classes occur in use: observed, equal, or CLASS=SHARE,...
    #[arg(long, value_name = "PRIOR", default_value = "observed", value_parser = prior, help_heading = DECISION)]
    pub prior: Prior,
    /// What a mistake in a class costs: CLASS=COST,... [default: 1 each]
    #[arg(long, value_name = "CLASS=COST,...", value_parser = by_class, help_heading = DECISION, hide_short_help = true)]
    pub cost: Option<ByClass>,
    /// Hold a false-alarm rate: the class that raises no alarm (two classes); needs --false-alarm
    #[arg(long, value_name = "CLASS", help_heading = DECISION, hide_short_help = true)]
    pub null: Option<String>,
    /// The share of the null class that may raise an alarm, such as 0.05; needs --null
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, help_heading = DECISION, hide_short_help = true)]
    pub false_alarm: Option<f64>,
    /// What the threshold of a false-alarm rate is taken from [default: auto]
    #[arg(long, value_parser = word::<Tail>(), help_heading = DECISION, hide_short_help = true)]
    pub tail: Option<Tail>,
    /// Do not let sources take the target's place; the forecast rests on the target's samples alone
    #[arg(long, help_heading = METHOD, hide_short_help = true)]
    pub no_rehearsal: bool,
}

impl Choices {
    /// What they mean to the library.
    pub fn settings(&self) -> Result<Settings, Failure> {
        if self.ties.is_some() && self.rule != RuleName::OneVsOne {
            return Err(half("ties", "rule one-vs-one", TIES_HELP));
        }
        Ok(Settings {
            target: self.target.clone(),
            coupling: self.coupling()?,
            rule: self.rule,
            labels: self.labels,
            ties: self.ties.unwrap_or_default(),
            evidence: self.theory,
            folds: self.folds,
            scaling: self.scale,
            views: self.views.clone(),
            prior: self.prior.clone(),
            costs: self.cost.clone().unwrap_or_default().0,
            false_alarm: self.alarm()?,
            rehearse: !self.no_rehearsal,
            ..Settings::default()
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

    fn alarm(&self) -> Result<Option<FalseAlarm>, Failure> {
        match (&self.null, self.false_alarm) {
            (Some(null), Some(rate)) => Ok(Some(FalseAlarm {
                null: null.clone(),
                rate,
                tail: self.tail.unwrap_or_default(),
            })),
            (Some(_), None) => Err(half("null", "false-alarm", ALARM_HELP)),
            (None, Some(_)) => Err(half("false-alarm", "null", ALARM_HELP)),
            (None, None) if self.tail.is_some() => Err(half("tail", "null", ALARM_HELP)),
            (None, None) => Ok(None),
        }
    }
}

const COUPLING_HELP: &str =
    "a fixed coupling is both --lambda and --gamma; leave both out to have it chosen";
const ALARM_HELP: &str = "to hold a false-alarm rate give --null, the class that raises no alarm, and --false-alarm, the \
                         share of it that may: --null normal --false-alarm 0.05";
const TIES_HELP: &str = "only pairs of classes vote";

fn half(given: &'static str, missing: &'static str, help: &'static str) -> Failure {
    Failure::Half {
        given,
        missing,
        help,
    }
}

/// The words of a setting, with what they mean.
fn word<W: Word>() -> impl TypedValueParser<Value = W> {
    let values = W::ALL.iter().map(|named| {
        let value = PossibleValue::new(named.word).help(named.meaning.trim());
        value.aliases(named.old)
    });
    PossibleValuesParser::new(values)
        .try_map(|word| W::from_word(&word).ok_or("it is no such word"))
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
