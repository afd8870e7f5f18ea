//! Whether the sources help, all together and one by one.

use foretask::{Paired, SourceValue, Verdict};

use crate::show::table::{Align, Table};
use crate::show::words;
use crate::summary::Summary;

const QUESTION: &str = "Do the sources help?";

/// For people; nothing where no source is used.
pub fn section(summary: &Summary, sources: &[SourceValue]) -> String {
    // Of all together, or of the only one.
    let Some(first) = sources.first() else {
        return String::new();
    };
    if !summary.forecast.told {
        return format!("{QUESTION} That cannot be told from one label in each class.\n");
    }
    let answer = format!("{QUESTION} {}", answer(summary.aim_name(), &first.paired));
    words::wrapped(&answer) + "\n" + &table(summary, sources)
}

fn answer(what: &str, paired: &Paired) -> String {
    let [low, high] = paired.interval;
    let (word, side, ends) = match paired.verdict {
        Verdict::Helps => ("help", "lower", [low, high]),
        Verdict::Harms => ("harm", "higher", [-high, -low]),
        Verdict::Unknown if low == high => {
            return "That cannot be told from these samples: each is decided alike with them and without."
                .to_owned();
        }
        Verdict::Unknown => {
            return format!(
                "That cannot be told from these samples: they lower the {what} by {} points.",
                words::signed_interval(paired.interval)
            );
        }
    };
    let [least, most] = ends.map(words::points);
    format!(
        "They {word}: {what} {} {side} ({} to {}).",
        words::points(paired.difference.abs()),
        least.trim_end_matches(" points"),
        most.trim_end_matches(" points"),
    )
}

fn table(summary: &Summary, sources: &[SourceValue]) -> String {
    let mut aligns = vec![Align::Left];
    aligns.resize(5, Align::Right);
    aligns.push(Align::Left);
    let mut table = Table::new(&aligns);
    let interval = words::interval_name();
    let what = format!("expected {}", summary.aim_name());
    let surer = words::CLAIM_INTERVAL;
    table.row(["left out", &what, &interval, "points", surer, "verdict"]);
    // Nothing is rehearsed without sources.
    let (with, ends) = summary.aim_by_samples();
    table.row([
        "nothing".to_owned(),
        words::percent(with),
        words::interval(ends),
    ]);
    // All together come last: they are the whole of what is above.
    let (each, all): (Vec<_>, Vec<_>) = sources.iter().partition(|value| value.task.is_some());
    for value in each.into_iter().chain(all) {
        table.row([
            value.task.clone().unwrap_or_else(|| "all sources".into()),
            words::percent(value.error_without),
            words::interval(value.interval),
            words::signed(value.paired.difference),
            words::signed_interval(value.paired.interval),
            value.paired.verdict.to_string(),
        ]);
    }
    table.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_has_the_sign_in_words() {
        let paired = |difference, interval, verdict| Paired {
            difference,
            interval,
            verdict,
        };
        let helps = paired(0.031, [0.004, 0.058], Verdict::Helps);
        assert_eq!(
            answer("error", &helps),
            "They help: error 3.1 points lower (0.4 to 5.8)."
        );
        let harms = paired(-0.02, [-0.03, -0.01], Verdict::Harms);
        assert_eq!(
            answer("error", &harms),
            "They harm: error 2.0 points higher (1.0 to 3.0)."
        );
        let alike = paired(0.0, [0.0, 0.0], Verdict::Unknown);
        assert!(answer("error", &alike).ends_with("decided alike with them and without."));
        let unknown = paired(0.01, [-0.02, 0.04], Verdict::Unknown);
        assert!(
            answer("error", &unknown).ends_with("they lower the error by -2.0 to +4.0 points.")
        );
    }
}
