//! `index.html`: every experiment with the paper's numbers and ours side by side. One file, nothing from the
//! network.

use std::fmt::Write;

use crate::error::Result;
use crate::figure::table_svg;
use crate::report::{Report, Table};

const STYLE: &str = "
body{font:15px/1.5 sans-serif;color:#222;max-width:1500px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em}h2{font-size:1.25em;margin-top:2.5em;border-top:1px solid #ccc;padding-top:1em}
.sides{display:flex;flex-wrap:wrap;gap:1.5em}.side{flex:1 1 480px;min-width:0}.side svg{width:100%;height:auto}
table{border-collapse:collapse;margin:.8em 0;font-size:13px}caption{text-align:left;font-weight:bold;padding:.3em 0}
th,td{padding:.15em .7em;text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left}
thead th{border-bottom:1px solid #888}.paper{background:#f3f3f3}
.wide{overflow-x:auto}dl{display:grid;grid-template-columns:max-content auto;gap:.1em 1em;font-size:13px}dt{color:#666}dd{margin:0}
.verdict{padding:.4em .8em;margin:.4em 0;border-left:5px solid #888;background:#f7f7f7}
.matches{border-color:#009e73}.same-claim{border-color:#0072b2}.paper-is-wrong{border-color:#d55e00}.claim-fails{border-color:#cc79a7}
.skipped{border-color:#e69f00}";

/// The page of all reports.
///
/// # Errors
/// If a figure cannot be drawn.
pub fn html(reports: &[Report]) -> Result<String> {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>The paper, reproduced</title><style>{STYLE}</style></head><body>\n<h1>The paper, reproduced with foretask</h1>\n<p>Every figure and table of <em>Large Dimensional Analysis and Improvement of Multi Task Learning</em> (Tiomoko, Couillet, Tiomoko Ali), drawn from the numbers in its source on the left and from our run on the right. Numbers after ± are standard deviations over trials. Test data are only tested.</p>\n<ul>\n"
    );
    for report in reports {
        let words: Vec<&str> = report
            .verdicts
            .iter()
            .map(|verdict| verdict.judgement.words())
            .collect();
        let words = if words.is_empty() {
            "skipped".to_owned()
        } else {
            words.join("; ")
        };
        let _ = writeln!(
            page,
            "<li><a href=\"#{0}\">{0}</a>: {1} — {2}</li>",
            report.name,
            escaped(&report.title),
            escaped(&words)
        );
    }
    page.push_str("</ul>\n");
    for report in reports {
        section(&mut page, report)?;
    }
    page.push_str("</body></html>\n");
    Ok(page)
}

fn section(page: &mut String, report: &Report) -> Result<()> {
    let _ = writeln!(
        page,
        "<h2 id=\"{}\">{}: {}</h2>\n<p>{}. {} trials.</p>",
        report.name,
        report.name,
        escaped(&report.title),
        escaped(&report.paper),
        report.trials
    );
    for verdict in &report.verdicts {
        let class = serde_json::to_value(verdict.judgement).unwrap_or_default();
        let _ = writeln!(
            page,
            "<div class=\"verdict {}\"><strong>{}: {}.</strong> {}.</div>",
            class.as_str().unwrap_or_default(),
            escaped(&verdict.part),
            verdict.judgement.words(),
            escaped(&verdict.reason)
        );
    }
    for skipped in &report.skipped {
        let _ = writeln!(
            page,
            "<div class=\"verdict skipped\"><strong>{}: skipped.</strong> It needs {}.</div>",
            escaped(&skipped.part),
            escaped(&skipped.file)
        );
    }
    page.push_str("<div class=\"sides\">");
    for (name, figure) in [("Paper", &report.paper_figure), ("Ours", &report.figure)] {
        if let Some(figure) = figure {
            let _ = writeln!(
                page,
                "<div class=\"side\"><h3>{name}</h3>{}</div>",
                figure.svg()?
            );
        }
    }
    page.push_str("</div>\n");
    for table in &report.tables {
        html_table(page, table);
    }
    if !report.claims.is_empty() {
        page.push_str("<ul>");
        for claim in &report.claims {
            let _ = writeln!(
                page,
                "<li>{}: <strong>{}</strong>; {}</li>",
                escaped(&claim.text),
                if claim.holds {
                    "holds"
                } else {
                    "does not hold"
                },
                escaped(&claim.evidence)
            );
        }
        page.push_str("</ul>\n");
    }
    page.push_str("<details><summary>Settings and seeds</summary><dl>");
    for (name, value) in &report.settings {
        let _ = writeln!(
            page,
            "<dt>{}</dt><dd>{}</dd>",
            escaped(name),
            escaped(value)
        );
    }
    for (part, seed) in &report.seeds {
        let _ = writeln!(
            page,
            "<dt>first seed of {}</dt><dd>{seed}</dd>",
            escaped(part)
        );
    }
    page.push_str("</dl></details>\n");
    Ok(())
}

fn html_table(page: &mut String, table: &Table) {
    let paper: Vec<bool> = table
        .columns
        .iter()
        .map(|column| column.starts_with("paper"))
        .collect();
    let class = |column: usize| match paper.get(column) {
        Some(true) => " class=\"paper\"",
        _ => "",
    };
    let _ = write!(
        page,
        "<div class=\"wide\"><table><caption>{}</caption><thead><tr>",
        escaped(&table.title)
    );
    for (number, column) in table.columns.iter().enumerate() {
        let _ = write!(page, "<th{}>{}</th>", class(number), escaped(column));
    }
    page.push_str("</tr></thead><tbody>\n");
    for row in &table.rows {
        let _ = write!(page, "<tr><td>{}</td>", escaped(&row.name));
        for (number, value) in row.values.iter().enumerate() {
            let _ = write!(page, "<td{}>{value}</td>", class(number + 1));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The picture of a report: its figure, or its first table.
///
/// # Errors
/// If it cannot be drawn.
pub fn picture(report: &Report) -> Result<Option<String>> {
    match (&report.figure, report.tables.first()) {
        (Some(figure), _) => Ok(Some(figure.svg()?)),
        (None, Some(table)) => Ok(Some(table_svg(table)?)),
        (None, None) => Ok(None),
    }
}
