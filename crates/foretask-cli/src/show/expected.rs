//! What is expected of a rule beyond its error: what each class will be called, how far probabilities
//! can be believed, and the rates of a test.

use foretask::{AlarmForecast, Tail};
use unicode_width::UnicodeWidthStr;

use super::table::{Align, Table};
use super::{reliability, words};
use crate::summary::Summary;

/// With more classes the table of what is called what is too wide; JSON always has it.
pub const CALLED: usize = 12;

/// All of it, section by section; some may be empty.
pub fn sections(summary: &Summary) -> Vec<String> {
    vec![
        alarm(summary),
        confusion(summary),
        reliability::expected(summary.forecast),
    ]
}

/// What each class will be called.
fn confusion(summary: &Summary) -> String {
    let classes = summary.classes();
    let forecast = summary.forecast;
    if classes.len() > CALLED || forecast.confusion.is_empty() || !forecast.told {
        return String::new();
    }
    let mut aligns = vec![Align::Left];
    aligns.resize(classes.len() + 1, Align::Right);
    let mut table = Table::new(&aligns);
    let called = Called::new(classes);
    table.row(["class".to_owned()].into_iter().chain(called.heads));
    for (class, row) in called.classes.iter().zip(&forecast.confusion) {
        let shares = row.iter().map(|&share| of_hundred(share));
        table.row([class.clone()].into_iter().chain(shares));
    }
    format!(
        "Of 100 samples of a class, so many will be called\n\n{}",
        table.text()
    )
}

/// Names of the rows and columns of a table of what is called what.
pub struct Called {
    /// One per row.
    pub classes: Vec<String>,
    /// One per column.
    pub heads: Vec<String>,
}

impl Called {
    /// By name, or by number where names would make the table too wide.
    pub fn new(classes: &[String]) -> Self {
        let heads: Vec<String> = classes.iter().map(|class| format!("as {class}")).collect();
        let width: usize = heads.iter().map(|head| 2 + head.width().max(NUMBER)).sum();
        if width <= words::LINE {
            return Self {
                classes: classes.to_vec(),
                heads,
            };
        }
        let numbered = classes.iter().zip(1..);
        Self {
            classes: numbered
                .map(|(class, number)| format!("{number:>2} {class}"))
                .collect(),
            heads: (1..=classes.len())
                .map(|number| format!("as {number}"))
                .collect(),
        }
    }
}

/// The width of a number out of a hundred.
const NUMBER: usize = 5;

/// A share as a number out of a hundred.
pub fn of_hundred(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// A false-alarm rate that is held, and how far the rate can be trusted.
fn alarm(summary: &Summary) -> String {
    let Some(alarm) = &summary.forecast.alarm else {
        return String::new();
    };
    let null = null_class(summary, alarm);
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["", "expected", &words::interval_name()]);
    table.row([
        "false alarms".to_owned(),
        words::percent(alarm.false_alarm),
        words::interval(alarm.false_alarm_interval),
    ]);
    table.row([
        "detections".to_owned(),
        words::percent(alarm.detection),
        words::interval(alarm.detection_interval),
    ]);
    format!(
        "Alarms with '{}' as the null class: {} of it may raise one\n\n{}\n{}",
        words::printable(null),
        words::percent(alarm.requested),
        table.text(),
        words::wrapped(&trust(summary, alarm, null))
    )
}

/// The name of the class that raises no alarm.
pub fn null_class<'a>(summary: &Summary<'a>, alarm: &AlarmForecast) -> &'a str {
    summary.classes().get(alarm.null).map_or("", String::as_str)
}

/// Where the threshold comes from, and what that means for the rate.
fn trust(summary: &Summary, alarm: &AlarmForecast, null: &str) -> String {
    let samples = words::count(alarm.samples, "sample");
    let [low, high] = alarm.false_alarm_interval.map(words::percent);
    let low = low.trim_end_matches(" %");
    let provenance = summary.forecast.provenance;
    if !provenance.is_left_out() {
        return format!(
            "The threshold is that of the normal law which the {} foretells (gaussian). If the \
             features are as that theory assumes, the realised rate will be between {low} and {high} \
             in nine of ten cases; real features seldom are, so measure the rate (foretask evaluate).",
            provenance.in_words()
        );
    }
    let (tail, caveat) = match alarm.tail {
        Tail::Gaussian => (
            "from a normal law fitted to the leave-one-out scores",
            ", if their law is normal so far out",
        ),
        Tail::Auto | Tail::Empirical => ("from the leave-one-out scores themselves", ""),
    };
    format!(
        "The threshold is taken {tail} ({}). With {samples} of '{null}' the realised rate will be \
         between {low} and {high} in nine of ten cases{caveat}.",
        alarm.tail
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_numbered() {
        let names = |length: usize| -> Vec<String> { (0..8).map(|_| "x".repeat(length)).collect() };
        assert_eq!(Called::new(&names(5)).heads[7], "as xxxxx");
        let called = Called::new(&names(20));
        assert_eq!(called.heads[7], "as 8");
        assert_eq!(called.classes[7], format!(" 8 {}", "x".repeat(20)));
    }
}
