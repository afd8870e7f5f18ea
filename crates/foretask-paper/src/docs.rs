//! `docs/7-reproduction.md`, written from the reports of a full run, with a part that a test runs again.
//!
//! Between [`CHECKED`] and [`END`] are the tables of the synthetic experiments with [`FEW`] trials each, computed
//! when the document is written. They are cheap enough to be computed again by every test run, and must be the
//! same.

use std::fmt::Write;

use crate::error::Result;
use crate::experiments::ALL;
use crate::report::{Report, Table};
use crate::trials::Context;

/// Where the part that is checked begins, ...
pub const CHECKED: &str = "<!-- checked: begin -->";
/// ... and where it ends.
pub const END: &str = "<!-- checked: end -->";
/// Trials of the part that is checked.
pub const FEW: usize = 2;

const HEAD: &str = "# 7. The paper, reproduced

Written by `cargo run --release -p foretask-paper -- docs` from a full run; do not edit. The run is

```sh
cargo run --release -p foretask-paper -- all --data ../shared/data --out paper-out
```

It writes for each figure and table the numbers (`NAME.json`), a picture in the paper's layout (`NAME.svg`) and one page with
the paper's beside ours (`index.html`). `list` shows the names, `run NAME --trials N` runs one.

Rules: test data are only tested, nothing is fitted on them; every trial has its own seed, so that numbers do not
depend on the number of threads; numbers after ± are standard deviations over trials. *Matches* means that the printed numbers
are met, *same claim, other numbers* that what the paper says of them holds, *the paper is wrong* that the printed
numbers cannot be right.
";

/// The document.
///
/// # Errors
/// If a synthetic experiment fails.
pub fn document(reports: &[Report]) -> Result<String> {
    let mut text = HEAD.to_owned();
    text.push_str("\n| experiment | in the paper | verdict |\n|---|---|---|\n");
    for report in reports {
        let verdicts: Vec<String> = report
            .verdicts
            .iter()
            .map(|verdict| format!("{}: {}", verdict.part, verdict.judgement.words()))
            .collect();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| [{0}](#{0}) | {1} | {2} |",
            report.name,
            report.paper,
            verdicts.join("; ")
        );
    }
    for report in reports {
        section(&mut text, report);
    }
    text.push_str(
        "\n## Checked part\n\nThe synthetic experiments with two trials each, computed again and compared by `cargo test -p foretask-paper`.\n\n",
    );
    text.push_str(&checked()?);
    Ok(text)
}

/// The part that is checked, with its marks.
///
/// # Errors
/// If a synthetic experiment fails.
pub fn checked() -> Result<String> {
    let mut text = format!("{CHECKED}\n");
    for experiment in ALL.iter().filter(|experiment| experiment.synthetic) {
        // No folder has an empty name: real parts are skipped.
        let report = experiment.run(&Context::new("", Some(FEW)))?;
        let _ = writeln!(text, "\n### {}, {FEW} trials\n", report.name);
        for table in &report.tables {
            markdown(&mut text, table);
        }
    }
    let _ = writeln!(text, "{END}");
    Ok(text)
}

fn section(text: &mut String, report: &Report) {
    let _ = writeln!(
        text,
        "\n## {}\n\n{}. {}, {} trials.\n",
        report.name, report.title, report.paper, report.trials
    );
    for verdict in &report.verdicts {
        let _ = writeln!(
            text,
            "- **{}: {}.** {}.",
            verdict.part,
            verdict.judgement.words(),
            capital(&verdict.reason)
        );
    }
    for skipped in &report.skipped {
        let _ = writeln!(
            text,
            "- **{}: skipped**, needs {}.",
            skipped.part, skipped.file
        );
    }
    text.push('\n');
    for table in &report.tables {
        markdown(text, table);
    }
    for claim in &report.claims {
        let _ = writeln!(
            text,
            "- {}: **{}**; {}.",
            capital(&claim.text),
            if claim.holds {
                "holds"
            } else {
                "does not hold"
            },
            claim.evidence
        );
    }
    text.push_str("\nSettings: ");
    let settings: Vec<String> = report
        .settings
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let _ = writeln!(text, "{}.", settings.join("; "));
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn markdown(text: &mut String, table: &Table) {
    let _ = writeln!(text, "{}:\n", capital(&table.title));
    let _ = writeln!(text, "| {} |", table.columns.join(" | "));
    let _ = writeln!(text, "|---|{}", "--:|".repeat(table.columns.len() - 1));
    for row in &table.rows {
        let values: Vec<String> = row.values.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "| {} | {} |", row.name, values.join(" | "));
    }
    text.push('\n');
}
