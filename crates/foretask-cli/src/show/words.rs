//! Numbers and names as people read them.

use foretask::{COVERAGE, Coupling, Family, RuleName, Task, View};
use foretask_words::RELATED;
pub use foretask_words::{count, interval, percent, points, printable, signed, signed_interval};
use unicode_width::UnicodeWidthStr;

/// More classes than this are counted instead of listed.
const CLASSES_LISTED: usize = 6;
/// The width of a paragraph.
pub const LINE: usize = 80;

/// A number with four decimals at most, and in powers of ten where these would not do.
pub fn number(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.4}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// "coupling lambda 10, gamma 1 in every task".
pub fn coupling(coupling: &Coupling) -> String {
    let gamma: Vec<String> = coupling
        .gamma()
        .iter()
        .map(|&value| number(value))
        .collect();
    let lambda = number(coupling.lambda());
    match gamma.as_slice() {
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|value| value == first) => {
            format!("coupling lambda {lambda}, gamma {first} in every task")
        }
        _ => format!("coupling lambda {lambda}, gamma {}", gamma.join(", ")),
    }
}

/// How intervals of differences are headed: people act on a claim, and it is surer than a forecast.
pub const CLAIM_INTERVAL: &str = "99 % interval";

/// "90 % interval".
pub fn interval_name() -> String {
    format!("{:.0} % interval", 100.0 * COVERAGE)
}

/// The name of a file; names are data too.
pub fn path(path: &std::path::Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// A paragraph in lines that fit a terminal; names in it become printable.
pub fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split_whitespace().map(printable) {
        if width > 0 && width + 1 + word.width() > LINE {
            lines.push('\n');
            width = 0;
        } else if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(&word);
        width += word.width();
    }
    lines.push('\n');
    lines
}

/// The classes of a task and how many samples each has.
pub fn classes(task: &Task) -> String {
    counts(&task.classes, &task.counts)
}

/// Classes and how many samples each has.
pub fn counts(classes: &[String], counts: &[usize]) -> String {
    if classes.len() > CLASSES_LISTED {
        let (least, most) = (counts.iter().min(), counts.iter().max());
        return match (least, most) {
            (Some(least), Some(most)) if least != most => {
                format!("{} classes of {least} to {most}", classes.len())
            }
            _ => format!(
                "{} classes of {}",
                classes.len(),
                least.copied().unwrap_or(0)
            ),
        };
    }
    let pairs = classes.iter().zip(counts);
    pairs
        .map(|(class, count)| format!("{} {count}", printable(class)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// How alike a task is to the target, as a number and in a word.
pub fn relatedness(value: Option<f64>) -> (String, &'static str) {
    match value {
        None => ("?".into(), "cannot be compared"),
        Some(value) => (
            format!("{value:+.2}"),
            if value >= RELATED {
                "related"
            } else if value <= -RELATED {
                "opposed"
            } else {
                "hardly related"
            },
        ),
    }
}

/// How a rule by name decides.
pub fn rule(name: RuleName) -> Option<&'static str> {
    match name {
        RuleName::Auto => None,
        RuleName::OneHot => Some("by the largest of one score per class (one-hot)"),
        RuleName::OneVsAll => Some("by the largest of one score per class (one-vs-all)"),
        RuleName::NaiveOneVsAll => {
            Some("by the largest of one raw score per class (naive-one-vs-all)")
        }
        RuleName::OneVsOne => Some("by the votes of one score per pair of classes (one-vs-one)"),
        RuleName::Bayes => Some("by the most probable class of Gaussian responses (bayes)"),
    }
}

/// What a view shows.
pub fn view(view: View) -> &'static str {
    match view {
        View::Raw => "the features as they are",
        View::Standard => "each feature over its spread",
        View::Cosine => "each row over its length",
        View::Rbf => "a Gaussian kernel",
    }
}

/// What a family of label scores does with the sources.
pub fn family(family: Family) -> &'static str {
    match family {
        Family::Alone => "the target alone",
        Family::Classical => "sources with the labels they have",
        Family::Pooled => "all tasks as one",
        Family::Scaled => "sources weighted one by one, reversed if need be",
        Family::Free => "sources with the labels that suit the target",
        Family::Optimal => "sources with the labels of least error by the theory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_idle_zeros() {
        let shown = [0.0, -1e-12, 400.0, 0.0401, 1.5e-5, -2e9].map(number);
        assert_eq!(
            shown,
            ["0", "-1.000e-12", "400", "0.0401", "1.500e-5", "-2.000e9"]
        );
    }

    #[test]
    fn names_in_paragraphs_do_nothing_to_a_terminal() {
        assert_eq!(wrapped("the\u{1b}[2J target"), "the\\u{1b}[2J target\n");
    }

    #[test]
    fn paragraphs_break_between_words() {
        let text = wrapped(&"word ".repeat(20));
        assert!(text.lines().all(|line| line.len() <= LINE));
        assert_eq!(text.lines().count(), 2);
    }
}
