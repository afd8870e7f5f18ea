//! The documents of a full run: `docs/7-reproduction.md`, one page with the verdicts, and beside it
//! `docs/reproduction/NAME.md` with the tables of an experiment and its pictures, `NAME.svg` and
//! `NAME-paper.svg`.
//!
//! The page of an experiment that draws its data ends in a part between [`CHECKED`] and [`END`]: its tables
//! with [`FEW`] trials, computed when the page is written. They are cheap enough to be computed again by
//! every test run, and must be the same.

use std::fmt::Write;

use crate::error::Result;
use crate::experiments::Experiment;
use crate::report::{Judgement, Report, Table};
use crate::trials::Context;

/// Where the part that is checked begins, ...
pub const CHECKED: &str = "<!-- checked: begin -->";
/// ... and where it ends.
pub const END: &str = "<!-- checked: end -->";
/// Trials of the part that is checked.
pub const FEW: usize = 2;

const HEAD: &str = "# 7. The paper, reproduced

Written by `foretask-paper docs` from a full run, and so are the pages it links to; do not edit.

Every figure and table of *Large Dimensional Analysis and Improvement of Multi Task Learning* (Tiomoko,
Couillet, Tiomoko Ali) was run again. *Matches* means that the printed numbers are met, *same claim, other numbers* that what
the paper says of them holds, *the paper is wrong* that the printed numbers cannot be right. The pages have
the numbers, printed ones beside ours; what had to be found out to run the experiments at all is in
[what the paper ran](reproduction/what-the-paper-ran.md).

## Verdicts

| experiment | in the paper | verdict |
|---|---|---|
";

const RUN: &str = "
## Run it

```sh
cargo run --release -p foretask-paper -- list
cargo run --release -p foretask-paper -- run multi-class --trials 5
cargo run --release -p foretask-paper -- all --data DIR --out paper-out
cargo run --release -p foretask-paper -- docs --from paper-out --to docs
```

`all` takes about 25 minutes on two cores. It writes for each experiment the numbers (`NAME.json`)
and a picture in the paper's layout (`NAME.svg`), and one page with the paper's beside ours (`index.html`);
`docs` makes these documents of them. DIR is the folder with the data files that `list` names; without
`--data` it is `$FORETASK_DATA`, or `data`. Parts whose file is not there are skipped, and said to be.

Test data are only tested, nothing is fitted on them. Every trial has its own seed, so that numbers do not
depend on the number of threads; numbers after ± are standard deviations over trials. The experiments
that draw their data are also run with two trials by every `cargo test -p foretask-paper`, and must give the last part
of their pages.
";

/// `7-reproduction.md`: what came out, on one page.
pub fn summary(reports: &[Report]) -> String {
    let mut text = HEAD.to_owned();
    // Writing to a string does not fail.
    for report in reports {
        let verdicts: Vec<String> = report
            .verdicts
            .iter()
            .map(|verdict| format!("{}: {}", verdict.part, verdict.judgement.words()))
            .chain(
                report
                    .skipped
                    .iter()
                    .map(|skipped| format!("{}: skipped", skipped.part)),
            )
            .collect();
        let _ = writeln!(
            text,
            "| [{0}](reproduction/{0}.md) | {1} | {2} |",
            report.name,
            report.paper,
            verdicts.join("; ")
        );
    }
    text.push_str("\n## What disagrees with the paper\n\n");
    reasons(&mut text, reports, |judgement| {
        matches!(judgement, Judgement::PaperIsWrong | Judgement::ClaimFails)
    });
    for report in reports {
        for claim in report.claims.iter().filter(|claim| !claim.holds) {
            let _ = writeln!(
                text,
                "- {}: \"{}\" does not hold; {}.",
                report.name, claim.text, claim.evidence
            );
        }
    }
    text.push_str("\n## Why other numbers\n\n");
    reasons(&mut text, reports, |judgement| {
        judgement == Judgement::SameClaim
    });
    text.push_str(RUN);
    text
}

/// Parts that were judged so, with the reason.
fn reasons(text: &mut String, reports: &[Report], wanted: impl Fn(Judgement) -> bool) {
    for report in reports {
        for verdict in &report.verdicts {
            if wanted(verdict.judgement) {
                let _ = writeln!(
                    text,
                    "- **{}, {}: {}.** {}.",
                    report.name,
                    verdict.part,
                    verdict.judgement.words(),
                    capital(&verdict.reason)
                );
            }
        }
    }
}

/// `reproduction/NAME.md`: the pictures, tables, claims and settings of one experiment, and the part that is
/// checked if there is one.
///
/// # Errors
/// If the experiment fails.
pub fn page(experiment: &Experiment, report: &Report) -> Result<String> {
    let name = experiment.name;
    let mut text = format!(
        "# {name}\n\n{}. {}, {} trials. Written by `foretask-paper docs`; do not edit. All experiments: [the paper, reproduced](../7-reproduction.md).\n",
        report.title, report.paper, report.trials
    );
    text.push_str("\n## Verdict\n\n");
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
    if report.figure.is_some() {
        let _ = writeln!(text, "\n## Pictures\n\nOurs:\n\n![ours]({name}.svg)");
    }
    if report.paper_figure.is_some() {
        let _ = writeln!(
            text,
            "\nThe paper's, drawn from its numbers:\n\n![the paper's]({name}-paper.svg)"
        );
    }
    text.push_str("\n## Tables\n\n");
    for table in &report.tables {
        markdown(&mut text, table);
    }
    text.push_str("## Settings\n\n");
    for (setting, value) in &report.settings {
        let _ = writeln!(text, "- {setting}: {value}");
    }
    if experiment.synthetic {
        let _ = write!(
            text,
            "\n## Checked\n\nThe part without data files with {FEW} trials, computed again and compared by `cargo test -p foretask-paper`.\n\n{}",
            checked(experiment)?
        );
    }
    Ok(text)
}

/// The part of an experiment's page that is checked, with its marks.
///
/// # Errors
/// If the experiment fails.
pub fn checked(experiment: &Experiment) -> Result<String> {
    let mut text = format!("{CHECKED}\n\n");
    // No folder has an empty name: real parts are skipped.
    let report = experiment.run(&Context::new("", Some(FEW)))?;
    for table in &report.tables {
        markdown(&mut text, table);
    }
    let _ = writeln!(text, "{END}");
    Ok(text)
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
