//! [`Line`]: one line of a verdict, with its numbers and its text.

use std::fmt;

use foretask::{Note, Paired, Verdict as Worth};

use crate::facts::{Beside, Facts};
use crate::names::{listed, shortened};
use crate::numbers::{count, interval, percent, points, signed_interval};

/// Twice the labels that lower the error by less than this share of it hardly help.
const HARDLY: f64 = 0.1;

/// One line of a verdict. As text by `Display`; in JSON with its `kind`, its numbers and the `text`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Line {
    /// The expected error, beside that of always saying the commonest class.
    Error {
        /// Expected share of wrong decisions; none where it cannot be told.
        error: Option<f64>,
        /// Its interval; none where it cannot be told.
        interval: Option<[f64; 2]>,
        /// The class that is commonest in use.
        commonest: String,
        /// The error of always saying it.
        commonest_error: f64,
        /// Whether the whole interval is below that.
        better: bool,
        /// For two classes, the expected area under the ROC curve.
        auc: Option<f64>,
    },
    /// What a held false-alarm rate is expected to do.
    Alarm {
        /// The class that raises no alarm.
        null: String,
        /// The share of it that does.
        false_alarm: f64,
        /// The share of the other class that does.
        detection: f64,
        /// Its interval.
        interval: [f64; 2],
        /// The expected area under the ROC curve.
        auc: Option<f64>,
    },
    /// With one label in each class nothing else can be told.
    CannotBeTold,
    /// What twice the labels would bring.
    Labels {
        /// Whether they lower the error by more than a tenth of it.
        help: bool,
        /// Labels added to each class.
        added: usize,
        /// Expected error then; of an alarm, the share missed.
        error: f64,
        /// Its interval.
        interval: [f64; 2],
        /// Labels for each class that would halve it; none where that is out of reach, or not known.
        halved: Option<usize>,
    },
    /// What all sources together, or the only one, are worth.
    Sources {
        /// All that are used.
        count: usize,
        /// The only one.
        task: Option<String>,
        /// What they are worth.
        paired: Paired,
        /// Whether a false-alarm rate is held, and they matter to the share missed instead of the error.
        of_share_missed: bool,
    },
    /// Which of several sources help.
    EachSource {
        /// Those that lower the error.
        helps: Vec<String>,
        /// Those that raise it.
        harms: Vec<String>,
        /// Those of which the samples do not tell.
        unknown: Vec<String>,
        /// Those whose classes point the other way.
        opposed: Vec<String>,
    },
    /// What was not asked for.
    LeftOut {
        /// Whether that is what more labels would bring.
        labels: bool,
        /// Whether that is what sources are worth.
        sources: bool,
        /// What would tell.
        #[serde(skip)]
        ask: String,
    },
    /// What to do next.
    Next {
        /// In a word.
        step: Step,
        /// In a sentence.
        #[serde(skip)]
        sentence: String,
    },
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Step {
    /// Label more samples of the target.
    Label,
    /// Leave out sources that harm.
    LeaveOut,
    /// Look for other features or sources.
    LookElsewhere,
    /// Use it.
    Use,
}

impl Line {
    pub(crate) fn expected(facts: &Facts<'_>) -> Self {
        let forecast = facts.forecast;
        let auc = forecast.auc;
        if let (Some(alarm), true) = (&forecast.alarm, forecast.told) {
            return Self::Alarm {
                null: facts.classes.get(alarm.null).cloned().unwrap_or_default(),
                false_alarm: alarm.false_alarm,
                detection: alarm.detection,
                interval: alarm.detection_interval,
                auc,
            };
        }
        let (commonest, commonest_error) = facts.commonest().unwrap_or(("", f64::NAN));
        Self::Error {
            error: forecast.told.then_some(forecast.error),
            interval: forecast.told.then_some(forecast.interval),
            commonest: commonest.to_owned(),
            commonest_error,
            better: forecast.told && forecast.interval[1] < commonest_error,
            auc,
        }
    }

    pub(crate) fn untold(facts: &Facts<'_>) -> Option<Self> {
        (!facts.forecast.told).then_some(Self::CannotBeTold)
    }

    pub(crate) fn labels(facts: &Facts<'_>) -> Option<Self> {
        let more = facts.labels.filter(|_| facts.forecast.told)?;
        Some(Self::Labels {
            help: labels_help(facts)?,
            added: more.added,
            error: more.error,
            interval: more.interval,
            halved: more.halved,
        })
    }

    pub(crate) fn sources(facts: &Facts<'_>) -> Option<Self> {
        let sources = facts.sources.filter(|_| facts.forecast.told)?;
        // Of all together, or of the only one.
        let first = sources.first()?;
        Some(Self::Sources {
            count: sources.iter().filter(|value| value.task.is_some()).count(),
            task: first.task.clone(),
            paired: first.paired,
            of_share_missed: facts.forecast.alarm.is_some(),
        })
    }

    pub(crate) fn each_source(facts: &Facts<'_>) -> Option<Self> {
        let sources = facts.sources.filter(|_| facts.forecast.told)?;
        let opposed = facts.opposed();
        // Of the only one there is nothing more to say.
        let said = sources.len() < 2 && opposed.is_empty();
        (!said).then(|| Self::EachSource {
            helps: of_worth(facts, Worth::Helps),
            harms: of_worth(facts, Worth::Harms),
            unknown: of_worth(facts, Worth::Unknown),
            opposed,
        })
    }

    pub(crate) fn left_out(facts: &Facts<'_>) -> Option<Self> {
        let labels = facts.labels.is_none();
        let sources = facts.has_sources && facts.sources.is_none();
        let asked = facts.forecast.told && (labels || sources);
        facts.ask.filter(|_| asked).map(|ask| Self::LeftOut {
            labels,
            sources,
            ask: ask.to_owned(),
        })
    }

    pub(crate) fn next(facts: &Facts<'_>) -> Self {
        let (step, sentence) = next(facts);
        Self::Next { step, sentence }
    }
}

/// Whether twice the labels would lower the error by much; none where nobody asked.
fn labels_help(facts: &Facts<'_>) -> Option<bool> {
    let (now, _) = facts.aim();
    let more = facts.labels?;
    Some(more.error < (1.0 - HARDLY) * now)
}

/// The sources, one by one, of which that is known.
fn of_worth(facts: &Facts<'_>, worth: Worth) -> Vec<String> {
    let sources = facts.sources.unwrap_or_default().iter();
    sources
        .filter(|value| value.paired.verdict == worth)
        .filter_map(|value| value.task.clone())
        .collect()
}

fn next(facts: &Facts<'_>) -> (Step, String) {
    if !facts.forecast.told {
        let sentence = "label more: two of each class are the least that anything can be told from";
        return (Step::Label, sentence.to_owned());
    }
    let few: Vec<&str> = (facts.forecast.notes.iter())
        .filter_map(|note| match note {
            Note::FewSamples { class, .. } => Some(class.as_str()),
            _ => None,
        })
        .collect();
    if !few.is_empty() {
        let sentence = format!(
            "label more of {}: with so few the forecast is rough",
            listed(&few)
        );
        return (Step::Label, sentence);
    }
    let harmful = of_worth(facts, Worth::Harms);
    if !harmful.is_empty() {
        let verb = if harmful.len() == 1 { "harms" } else { "harm" };
        let sentence = format!("leave out {}, which {verb}", listed(&harmful));
        return (Step::LeaveOut, sentence);
    }
    let together = facts.sources.and_then(|sources| sources.first());
    if together.is_some_and(|all| all.paired.verdict == Worth::Harms) {
        let sentence = "leave the sources out: together they harm";
        return (Step::LeaveOut, sentence.to_owned());
    }
    let help = labels_help(facts);
    let (aim, _) = facts.aim();
    let commonest = facts.commonest().map_or(String::new(), |(class, _)| {
        format!("always saying '{}'", shortened(class))
    });
    match (facts.beside_commonest(), help) {
        (Beside::NoBetter, Some(false)) => (
            Step::LookElsewhere,
            format!("look for other features or sources: it does not beat {commonest}"),
        ),
        (Beside::NoBetter, _) => (
            Step::Label,
            format!("label more before using it: it does not beat {commonest}"),
        ),
        (Beside::Unsure, _) => (
            Step::Label,
            format!("label more: it may not beat {commonest}"),
        ),
        (Beside::Better, help) => {
            let what = match facts.forecast.alarm {
                Some(_) => format!("missing {}", percent(aim)),
                None => percent(aim),
            };
            let otherwise = match (help, facts.labels) {
                (Some(true), Some(more)) => format!(
                    "; if not, label {} more per class and ask again",
                    more.added
                ),
                (Some(false), _) => "; if not, look for other features or sources".to_owned(),
                _ => String::new(),
            };
            (Step::Use, format!("if {what} will do, use it{otherwise}"))
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error {
                error,
                interval: ends,
                commonest,
                commonest_error,
                auc,
                ..
            } => {
                match error.zip(*ends) {
                    Some((error, ends)) => write!(
                        f,
                        "Expected error {} ({}), or ",
                        percent(error),
                        interval(ends)
                    )?,
                    None => write!(
                        f,
                        "The error cannot be told from one label per class; it is "
                    )?,
                }
                write!(
                    f,
                    "{} by always saying '{}'",
                    percent(*commonest_error),
                    shortened(commonest),
                )?;
                area(f, *auc)
            }
            Self::Alarm {
                null,
                false_alarm,
                detection,
                interval: ends,
                auc,
            } => {
                write!(
                    f,
                    "Expected detections {} ({}), false alarms {} of '{}'",
                    percent(*detection),
                    interval(*ends),
                    percent(*false_alarm),
                    shortened(null)
                )?;
                area(f, *auc)
            }
            Self::CannotBeTold => write!(
                f,
                "Nor can it be told what more labels would bring, or whether sources help"
            ),
            Self::Labels {
                help,
                added,
                error,
                interval: ends,
                halved,
            } => {
                let verb = if *help { "help" } else { "hardly help" };
                write!(
                    f,
                    "More labels {verb}: {added} per class for about {} ({})",
                    percent(*error),
                    interval(*ends)
                )?;
                match halved.filter(|_| *help) {
                    Some(halved) => write!(f, ", {halved} to halve it"),
                    None => Ok(()),
                }
            }
            Self::Sources {
                count: number,
                task,
                paired,
                of_share_missed,
            } => {
                let who = match task {
                    Some(task) => format!("the source '{}'", shortened(task)),
                    None => format!("the {}", count(*number, "source")),
                };
                let what = match of_share_missed {
                    true => "share missed",
                    false => "error",
                };
                f.write_str(&worth(&who, task.is_some(), paired, what))
            }
            Self::EachSource {
                helps,
                harms,
                unknown,
                opposed,
            } => {
                let other_way = match opposed.as_slice() {
                    [] => None,
                    [_] => Some(format!("{} points the other way", listed(opposed))),
                    _ => Some(format!("{} point the other way", listed(opposed))),
                };
                if helps.len() + harms.len() + unknown.len() < 2 {
                    return write!(f, "The source {}", other_way.unwrap_or_default());
                }
                let mut parts = Vec::new();
                for (names, verb) in [(helps, "help"), (harms, "harm")] {
                    let s = if names.len() == 1 { "s" } else { "" };
                    if !names.is_empty() {
                        parts.push(format!("{} {verb}{s}", listed(names)));
                    }
                }
                match (parts.is_empty(), unknown.len()) {
                    (_, 0) => {}
                    (true, _) => parts.push("none can be told to help or harm".to_owned()),
                    (false, _) => parts.push(format!("of {} it cannot be told", listed(unknown))),
                }
                parts.extend(other_way);
                write!(f, "One by one: {}", parts.join("; "))
            }
            Self::LeftOut {
                labels,
                sources,
                ask,
            } => {
                let what = match (labels, sources) {
                    (true, true) => "what more labels would bring and which sources help",
                    (true, false) => "what more labels would bring",
                    _ => "which sources help",
                };
                write!(f, "{ask} {what}")
            }
            Self::Next { sentence, .. } => write!(f, "Next: {sentence}"),
        }
    }
}

fn area(f: &mut fmt::Formatter<'_>, auc: Option<f64>) -> fmt::Result {
    match auc {
        Some(auc) => write!(f, "; AUC {auc:.2}"),
        None => Ok(()),
    }
}

/// What somebody is worth, with the sign in words.
fn worth(who: &str, single: bool, paired: &Paired, what: &str) -> String {
    let [low, high] = paired.interval;
    let s = if single { "s" } else { "" };
    let (verb, side, ends) = match paired.verdict {
        Worth::Helps => ("help", "lower", [low, high]),
        Worth::Harms => ("harm", "higher", [-high, -low]),
        Worth::Unknown => {
            return format!(
                "Whether {who} help{s} cannot be told: {what} lower by {} points",
                signed_interval(paired.interval)
            );
        }
    };
    let [least, most] = ends.map(points);
    format!(
        "T{} {verb}{s}: {what} {} {side} ({} to {})",
        &who[1..],
        points(paired.difference.abs()),
        least.trim_end_matches(" points"),
        most.trim_end_matches(" points"),
    )
}
