//! Numbers and names as people read them.

use foretask::{COVERAGE, Coupling, Family, RuleName, Task, View};
use unicode_width::UnicodeWidthStr;

/// From this likeness on a task is called related, and from its opposite on opposed.
const RELATED: f64 = 0.25;
/// More classes than this are counted instead of listed.
const CLASSES_LISTED: usize = 6;
/// The width of a paragraph.
pub const LINE: usize = 80;

/// A share in percent: one decimal, two below one percent.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "unknown".into();
    }
    // By what is printed: 0.0996 % would otherwise have one digit more than 0.1 %.
    let decimals = if (100.0 * share).abs() < 0.995 && share != 0.0 {
        2
    } else {
        1
    };
    format!("{:.decimals$} %", 100.0 * share)
}

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

/// An interval in percent.
pub fn interval(ends: [f64; 2]) -> String {
    let [low, high] = ends.map(percent);
    format!("{} to {high}", low.trim_end_matches(" %"))
}

/// How intervals of differences are headed: people act on a claim, and it is surer than a forecast.
pub const CLAIM_INTERVAL: &str = "95 % interval";

/// "90 % interval".
pub fn interval_name() -> String {
    format!("{:.0} % interval", 100.0 * COVERAGE)
}

/// Text with its control characters written out: a name may hold escape sequences.
pub fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|letter| match letter.is_control() {
            true => letter.escape_default().collect::<Vec<_>>(),
            false => vec![letter],
        })
        .collect()
}

/// A count with its noun.
pub fn count(number: usize, noun: &str) -> String {
    let plural = match (number, noun) {
        (1, _) => noun.to_owned(),
        (_, "class") => "classes".to_owned(),
        _ => format!("{noun}s"),
    };
    format!("{number} {plural}")
}

/// A paragraph in lines that fit a terminal.
pub fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        if width > 0 && width + 1 + word.width() > LINE {
            lines.push('\n');
            width = 0;
        } else if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
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
        .map(|(class, count)| format!("{class} {count}"))
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

/// A difference of shares, in percentage points.
pub fn points(difference: f64) -> String {
    format!("{:.1} points", 100.0 * difference)
}

/// A difference of shares in percentage points, with its sign.
pub fn signed(difference: f64) -> String {
    match format!("{:+.1}", 100.0 * difference).as_str() {
        "-0.0" => "+0.0".to_owned(),
        text => text.to_owned(),
    }
}

/// An interval of such differences.
pub fn signed_interval(ends: [f64; 2]) -> String {
    ends.map(signed).join(" to ")
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
    fn percents_have_the_digits_that_matter() {
        let shown = [0.0, 0.00042, 0.00996, 0.0312, 0.5, 1.0, f64::NAN].map(percent);
        let expected = [
            "0.0 %", "0.04 %", "1.0 %", "3.1 %", "50.0 %", "100.0 %", "unknown",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn numbers_have_no_idle_zeros() {
        let shown = [0.0, -1e-12, 400.0, 0.0401, 1.5e-5, -2e9].map(number);
        assert_eq!(
            shown,
            ["0", "-1.000e-12", "400", "0.0401", "1.500e-5", "-2.000e9"]
        );
    }

    #[test]
    fn paragraphs_break_between_words() {
        let text = wrapped(&"word ".repeat(20));
        assert!(text.lines().all(|line| line.len() <= LINE));
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn an_interval_has_one_percent_sign() {
        assert_eq!(interval([0.012, 0.34]), "1.2 to 34.0 %");
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(signed_interval([-0.00001, 0.058]), "+0.0 to +5.8");
        assert_eq!(signed(-0.031), "-3.1");
    }
}
