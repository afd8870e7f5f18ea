//! The settings of the library as options, and what is written behind them.

use clap::{Args, ValueEnum};
use foretask::{Evidence, Labels, Prior, Scaling, Settings};

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
    /// The labels to train with
    #[arg(long, value_enum, default_value = "auto")]
    pub labels: LabelChoice,
    /// Where the forecast comes from
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
    /// Deals out the folds of the forecast
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl Choices {
    /// What they mean to the library.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let coupling = match (self.lambda, &self.gamma) {
            (Some(lambda), Some(gamma)) => Some((lambda, gamma.clone())),
            (None, None) => None,
            (Some(_), None) => {
                return Err(Failure::HalfCoupling {
                    given: "lambda",
                    missing: "gamma",
                });
            }
            (None, Some(_)) => {
                return Err(Failure::HalfCoupling {
                    given: "gamma",
                    missing: "lambda",
                });
            }
        };
        Ok(Settings {
            target: self.target.clone(),
            coupling,
            labels: self.labels.into(),
            evidence: self.theory.into(),
            scaling: self.scale.into(),
            prior: self.prior.clone(),
            costs: self.cost.clone().unwrap_or_default().0,
            seed: self.seed,
        })
    }
}

/// `--labels`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabelChoice {
    /// A weighted average of all ways to use the sources
    Auto,
    /// The label values of least forecast error, in closed form (two classes)
    Optimal,
    /// The same labels in every task
    Classical,
    /// The target only; the sources are not used
    Alone,
}

impl From<LabelChoice> for Labels {
    fn from(choice: LabelChoice) -> Self {
        match choice {
            LabelChoice::Auto => Self::Auto,
            LabelChoice::Optimal => Self::Optimal,
            LabelChoice::Classical => Self::Classical,
            LabelChoice::Alone => Self::Alone,
        }
    }
}

/// `--theory`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Theory {
    /// Leave-one-out, steadied by the theory where labels are computed
    Auto,
    /// Random matrix theory alone, as in the paper: for Gaussian features and two classes; with
    /// --labels auto it uses the optimal labels
    Isotropic,
    /// Leave-one-out alone
    LeaveOneOut,
}

impl From<Theory> for Evidence {
    fn from(choice: Theory) -> Self {
        match choice {
            Theory::Auto => Self::Auto,
            Theory::Isotropic => Self::Isotropic,
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
