//! Whether a file that comes from outside can be a model. What passes here can be shown, evaluated and exported without
//! a surprise: every size, range, sum and name is looked at once, when the file is read.

use super::{CandidateWeight, Description, Rule};
use crate::data::cells::{LARGEST_COUNT, check_tasks};
use crate::data::{Coupling, Task};
use crate::decision::{Decision, Form};
use crate::forecast::{AlarmForecast, Density, Forecast, Note, Rehearsal};
use crate::settings::RuleName;

/// Log-posteriors of classes must stay finite, to be compared.
const LARGEST_SLOPE: f64 = 1e150;

type Checked = Result<(), String>;

/// Rounding that sums to one may have gathered.
const ROUNDING: f64 = 1e-6;

/// All that is text in the file, for a decision.
pub(super) fn description(of: &Description, decision: &Decision) -> Checked {
    check_tasks(&of.tasks)?;
    let target = of.tasks.iter().find(|task| task.name == of.target);
    let target = target.ok_or("its target is none of its tasks")?;
    rule(&of.rule, &of.tasks)?;
    let form = match decision {
        Decision::Argmax { form, .. } => Some(form),
        Decision::Threshold { .. } => None,
    };
    let by_pairs = matches!(form, Some(Form::Votes { .. }));
    let by_squares = matches!(form, Some(Form::Quadratic(_)));
    let named = |name| form.is_some() && of.rule.name == name;
    if by_pairs != named(RuleName::OneVsOne) || by_squares && !named(RuleName::Bayes) {
        return Err("its decision is not by its rule".into());
    }
    if of
        .rule
        .threshold
        .is_some_and(|own| Some(own) != decision.threshold())
    {
        return Err("it has two thresholds".into());
    }
    forecast(&of.forecast, target.classes.len())
}

impl Forecast {
    /// Whether a forecast of so many classes that comes from outside can be one: sizes, ranges and sums.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn verify(&self, classes: usize) -> std::result::Result<(), String> {
        forecast(self, classes)
    }
}

fn rule(rule: &Rule, tasks: &[Task]) -> Checked {
    if let Some(own) = &rule.coupling {
        coupling(own, tasks.len())?;
    }
    let cells: usize = tasks.iter().map(|task| task.classes.len()).sum();
    if let Some(scores) = &rule.label_scores {
        let width = scores.first().map_or(0, Vec::len);
        if scores.len() != cells || scores.iter().any(|own| own.len() != width) {
            return Err("its label scores are not those of its classes".into());
        }
    }
    shares_of(rule.weights.iter().copied(), "families of labels")?;
    shares_of(rule.views.iter().copied(), "views")?;
    for CandidateWeight {
        coupling: own,
        weight,
        press,
        ..
    } in &rule.candidates
    {
        coupling(own, tasks.len())?;
        share(*weight, "the weight of a candidate")?;
        at_least_zero(*press, "the error of a candidate")?;
    }
    Ok(())
}

fn coupling(of: &Coupling, tasks: usize) -> Checked {
    let checked = Coupling::new(of.lambda(), of.gamma().to_vec());
    match checked {
        // A task that nothing is learnt for has no weights, and labels alone make such of sources.
        Ok(own) if own.gamma().len() == tasks => Ok(()),
        Ok(_) => Err("a coupling is not of its tasks".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Weights of different things, which sum to one if there are any.
fn shares_of<T: PartialEq>(of: impl Iterator<Item = (T, f64)>, what: &str) -> Checked {
    let (mut seen, mut sum) = (Vec::new(), 0.0);
    for (name, weight) in of {
        share(weight, &format!("a weight of its {what}"))?;
        sum += weight;
        if seen.contains(&name) {
            return Err(format!("one of its {what} is there twice"));
        }
        seen.push(name);
    }
    match seen.is_empty() || (sum - 1.0).abs() <= ROUNDING {
        true => Ok(()),
        false => Err(format!("the weights of its {what} sum to {sum}, not to 1")),
    }
}

fn forecast(of: &Forecast, m: usize) -> Checked {
    share(of.error, "the foretold error")?;
    around(of.interval, of.error, "the interval of the error")?;
    at_least_zero(of.worth, "what the forecast is worth")?;
    at_least_zero(of.cost, "the foretold cost")?;
    at_least_zero(of.log_loss.unwrap_or(0.0), "the foretold log-loss")?;
    share(of.auc.unwrap_or(0.0), "the foretold area")?;
    if of.samples > LARGEST_COUNT {
        return Err("the forecast rests on too many samples".into());
    }
    if of.class_errors.len() != m || of.priors.len() != m {
        return Err("the forecast is of another number of classes".into());
    }
    let mut errors = of.class_errors.iter();
    errors.try_for_each(|&error| share(error, "the foretold error of a class"))?;
    sums_to_one(&of.priors, "class shares")?;
    if !of.confusion.is_empty() && of.confusion.len() != m {
        return Err("the foretold confusions are of another number of classes".into());
    }
    for row in &of.confusion {
        if row.len() != m {
            return Err("the foretold confusions are of another number of classes".into());
        }
        sums_to_one(row, "foretold confusions of a class")?;
    }
    for group in &of.reliability {
        for part in [group.share, group.claimed, group.right] {
            share(part, "a group of probabilities")?;
        }
    }
    if !of.densities.is_empty() && of.densities.len() != m {
        return Err("the foretold scores are of another number of classes".into());
    }
    of.densities.iter().try_for_each(density)?;
    if let Some(own) = &of.alarm {
        alarm(own, m)?;
    }
    rehearsal(&of.rehearsal)?;
    of.notes.iter().try_for_each(note)
}

fn density(of: &Density) -> Checked {
    let (right, ends, width) = match of {
        Density::Gaussian { mean, deviation } => (true, [*mean; 2], *deviation),
        Density::Kernel { scores, bandwidth } => {
            let ends = [scores.first(), scores.last()].map(|end| end.copied().unwrap_or(0.0));
            (!scores.is_empty() && scores.is_sorted(), ends, *bandwidth)
        }
    };
    let within = ends.iter().all(|end| end.abs() <= LARGEST_SLOPE);
    match right && within && (1.0 / LARGEST_SLOPE..=LARGEST_SLOPE).contains(&width) {
        true => Ok(()),
        false => Err("a foretold law of scores is none".into()),
    }
}

fn alarm(of: &AlarmForecast, classes: usize) -> Checked {
    if of.null >= classes || of.samples > LARGEST_COUNT {
        return Err("its alarm is not of its classes".into());
    }
    share(of.requested, "the rate that was asked for")?;
    share(of.false_alarm, "the foretold share of false alarms")?;
    share(of.detection, "the foretold share of detections")?;
    let what = "the interval of an alarm";
    around(of.false_alarm_interval, of.false_alarm, what)?;
    around(of.detection_interval, of.detection, what)
}

fn rehearsal(of: &Rehearsal) -> Checked {
    let Rehearsal::Done {
        error,
        alone,
        sources,
        own_error,
        own_interval,
    } = of
    else {
        return Ok(());
    };
    let what = "the error of a rehearsal";
    [error, alone, own_error]
        .into_iter()
        .try_for_each(|&error| share(error, what))?;
    around(*own_interval, *own_error, "the interval of a rehearsal")?;
    for source in sources {
        share(source.error, what)?;
        share(source.alone, what)?;
        if source.tested > LARGEST_COUNT {
            return Err("a rehearsal has too many rows".into());
        }
    }
    Ok(())
}

fn note(of: &Note) -> Checked {
    match of {
        Note::TheoryDisagrees { theory, error } => {
            share(*theory, "a theory's error")?;
            share(*error, "the foretold error")
        }
        Note::TwoThresholds { saves } => share(*saves, "what two thresholds save"),
        Note::TailExtrapolated { rate, .. } if *rate > 0.0 => share(*rate, "a false-alarm rate"),
        Note::TailExtrapolated { .. } => Err("a false-alarm rate is not positive".into()),
        Note::NearCopies { ratio } => at_least_zero(*ratio, "a ratio of distances"),
        Note::UnlikeSources { error, rehearsed } => {
            share(*error, "the foretold error")?;
            share(*rehearsed, "the error of a rehearsal")
        }
        _ => Ok(()),
    }
}

/// How scores become a class: limits may be infinite, where a class is chosen always or never.
pub(super) fn decision(of: &Decision) -> Checked {
    let (slope, others, finite) = match of {
        Decision::Threshold {
            threshold,
            slope,
            centre,
        } => (*slope, vec![*threshold, *centre], Vec::new()),
        Decision::Argmax {
            form,
            slope,
            offsets,
            costs,
        } => {
            if costs.iter().any(|cost| cost.is_nan() || *cost <= 0.0) {
                return Err("a cost is not positive".into());
            }
            if !(*slope <= LARGEST_SLOPE && offsets.iter().all(|own| *own <= LARGEST_SLOPE)) {
                return Err("its probabilities are too steep".into());
            }
            let of_form = match form {
                Form::Linear { offsets } => offsets.clone(),
                Form::Votes { thresholds, .. } => {
                    let m = form.classes();
                    if thresholds.len() != m * (m - 1) / 2 {
                        return Err("it has not as many thresholds as pairs of classes".into());
                    }
                    thresholds.clone()
                }
                Form::Quadratic(quadratic) => {
                    let means = quadratic.means.col_iter();
                    let precisions = quadratic.precisions.iter().flat_map(|own| own.col_iter());
                    let all = means.chain(precisions).flat_map(|column| column.iter());
                    all.chain(&quadratic.constants).copied().collect()
                }
            };
            (*slope, offsets.clone(), [of_form, costs.clone()].concat())
        }
    };
    let numbers = others.iter().all(|x| !x.is_nan()) && finite.iter().all(|x| x.is_finite());
    match numbers && slope >= 0.0 {
        true => Ok(()),
        false => Err("its decision is no rule".into()),
    }
}

fn share(x: f64, what: &str) -> Checked {
    // Sums of shares may be off by rounding.
    match (-ROUNDING..=1.0 + ROUNDING).contains(&x) {
        true => Ok(()),
        false => Err(format!("{what} is {x}, not between 0 and 1")),
    }
}

fn at_least_zero(x: f64, what: &str) -> Checked {
    match x >= 0.0 && x.is_finite() {
        true => Ok(()),
        false => Err(format!("{what} is {x}")),
    }
}

fn sums_to_one(shares: &[f64], what: &str) -> Checked {
    for &own in shares {
        share(own, &format!("one of the {what}"))?;
    }
    let sum: f64 = shares.iter().sum();
    match (sum - 1.0).abs() <= ROUNDING {
        true => Ok(()),
        false => Err(format!("the {what} sum to {sum}, not to 1")),
    }
}

/// Whether an interval of shares holds the middle.
fn around([low, high]: [f64; 2], middle: f64, what: &str) -> Checked {
    share(low, what)?;
    share(high, what)?;
    match low <= middle + ROUNDING && middle <= high + ROUNDING {
        true => Ok(()),
        false => Err(format!("{what} does not hold it")),
    }
}
