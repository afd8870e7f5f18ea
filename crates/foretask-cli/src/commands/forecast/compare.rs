//! What other rules and other theories would foretell, next to the choice that was made.

use foretask::{
    Compared, Coupling, Foretold, Provenance, Rehearsal, RuleName, Study, Verdict, Word,
};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::json;
use crate::progress::Progress;
use crate::show::table::{Align, Table};
use crate::show::words;
use crate::summary::Summary;

/// In tables, what the rest is compared with.
const THIS: &str = "this forecast";

/// Forecasts of every rule, and of every theory.
pub struct Comparison {
    /// Only if asked for; the study's own rule first.
    rules: Option<Vec<Compared>>,
    theories: Vec<Foretold>,
}

/// Asks the theories and, if asked for, every rule.
pub fn run(study: &Study, rules: bool) -> Result<Comparison, Failure> {
    let rules = match rules {
        true => {
            let progress = Progress::new("comparing rules");
            Some(study.compare(&|share| progress.tell(share))?)
        }
        false => None,
    };
    let progress = Progress::new("asking the theories");
    Ok(Comparison {
        rules,
        theories: study.theories(&|share| progress.tell(share))?,
    })
}

/// The coupling that rules by name, the last ones, are compared at.
fn coupling(rules: &[Compared]) -> Option<&Coupling> {
    rules.last()?.coupling.as_ref()
}

impl Comparison {
    /// For machines: `compare`, if asked for, and `theories`.
    pub fn report(&self, summary: &Summary) -> Vec<(String, Value)> {
        let theories: Vec<Value> = self
            .sources(summary)
            .map(|(source, error, chosen)| {
                json!({"source": source, "error": error, "chosen": chosen})
            })
            .collect();
        let mut entries = vec![("theories".to_owned(), json!(theories))];
        if let Some(rules) = &self.rules {
            let coupling = coupling(rules);
            let rules = rules.iter().enumerate().map(|(number, compared)| {
                json!({
                    "name": compared.name,
                    "rule": compared.rule,
                    "labels": compared.labels,
                    "views": compared.views,
                    "own": number == 0,
                    "paired": compared.paired,
                    "forecast": json::forecast(&compared.forecast, summary.classes()),
                })
            });
            let compare = json!({
                "lambda": coupling.map(Coupling::lambda),
                "gamma": coupling.map(Coupling::gamma),
                "rules": rules.collect::<Vec<_>>(),
            });
            entries.push(("compare".to_owned(), compare));
        }
        entries
    }

    /// For people: tables if asked for, else a line or two.
    pub fn sections(&self, summary: &Summary) -> Vec<String> {
        match &self.rules {
            Some(rules) => vec![
                rules_table(summary, rules),
                self.theories_table(summary) + "\n" + &words::wrapped(&why(summary)),
            ],
            None => vec![self.theories_lines(summary)],
        }
    }

    /// Provenance, error, and whether it is the forecast's own: that one first, if it is no theory.
    fn sources<'s>(
        &'s self,
        summary: &'s Summary,
    ) -> impl Iterator<Item = (Provenance, f64, bool)> + 's {
        let forecast = summary.forecast;
        let counted = forecast.provenance.is_left_out();
        let own = counted.then_some((forecast.provenance, forecast.error, true));
        own.into_iter().chain(self.theories.iter().map(|foretold| {
            // The forecast's own number may rest on another estimate of the same theory.
            match foretold.provenance == forecast.provenance {
                true => (foretold.provenance, forecast.error, true),
                false => (foretold.provenance, foretold.error, false),
            }
        }))
    }

    fn theories_table(&self, summary: &Summary) -> String {
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
        table.row(["source", "forecast error", ""]);
        for (source, error, chosen) in self.sources(summary) {
            table.row([
                source.in_words().to_owned(),
                words::percent(error),
                if chosen { THIS } else { "" }.to_owned(),
            ]);
        }
        let whose = match summary.rule.name {
            _ if averages(summary) => "the heaviest candidate of this rule",
            RuleName::OneVsOne => "the classical one-hot rule, in place of the votes,",
            _ => "the same rule",
        };
        let sentence = format!(
            "What each theory would foretell for {whose} at that coupling{}",
            fewest_mistakes(summary)
        );
        words::wrapped(&sentence) + "\n" + &table.text()
    }

    fn theories_lines(&self, summary: &Summary) -> String {
        let others: Vec<String> = self
            .sources(summary)
            .filter(|(_, _, chosen)| !chosen)
            .map(|(source, error, _)| {
                let name = source.to_string();
                format!("{name} {}", words::percent(error))
            })
            .collect();
        if others.is_empty() {
            return String::new();
        }
        let source = summary.forecast.provenance;
        let who = match source {
            left_out if left_out.is_left_out() => "Theory",
            _ => "Other theories",
        };
        let sentence = format!(
            "The forecast is by {}{} (--theory). {who} would foretell{}:",
            article(source),
            source.in_words(),
            fewest_mistakes(summary),
        );
        format!("{}  {}\n", words::wrapped(&sentence), others.join(", "))
    }
}

/// The theories that a held rate is compared with hold none.
fn fewest_mistakes(summary: &Summary) -> &'static str {
    match summary.forecast.alarm {
        Some(_) => ", at the threshold of fewest mistakes",
        None => "",
    }
}

fn article(source: Provenance) -> &'static str {
    match source {
        left_out if left_out.is_left_out() => "",
        _ => "the ",
    }
}

/// Whether the study's own rule is not at one coupling.
fn averages(summary: &Summary) -> bool {
    summary.rule.coupling.is_none()
}

fn rules_table(summary: &Summary, rules: &[Compared]) -> String {
    let mut aligns = vec![Align::Left];
    aligns.resize(5, Align::Right);
    aligns.push(Align::Left);
    let mut table = Table::new(&aligns);
    let interval = words::interval_name();
    let surer = words::CLAIM_INTERVAL;
    table.row(["rule", "forecast error", &interval, "points", surer, ""]);
    for (number, compared) in rules.iter().enumerate() {
        let [points, reach, verdict] = match &compared.paired {
            Some(paired) => [
                words::signed(paired.difference),
                words::signed_interval(paired.interval),
                beside(paired.verdict).to_owned(),
            ],
            None => [String::new(), String::new(), String::new()],
        };
        table.row([
            compared.name.clone(),
            words::percent(compared.forecast.error),
            words::interval(compared.forecast.interval),
            points,
            reach,
            if number == 0 {
                THIS.to_owned()
            } else {
                verdict
            },
        ]);
    }
    let place = match coupling(rules) {
        Some(_) if averages(summary) => "rules by name at couplings of their own".to_owned(),
        Some(coupling) => format!("rules by name at the {}", words::coupling(coupling)),
        None => "at no coupling".to_owned(),
    };
    let (what, rate) = match summary.forecast.alarm {
        Some(_) => (
            "share missed at the rate that is held",
            " All hold the rate.",
        ),
        None => ("error", ""),
    };
    // A theory has no samples to compare on.
    let paired = match rules.iter().any(|compared| compared.paired.is_some()) {
        true => format!(
            "Points are those by which the {what} is above that of this forecast, sample by sample. "
        ),
        false => String::new(),
    };
    let rehearsed = match summary.forecast.rehearsal {
        Rehearsal::Done { .. } => "Only this forecast has rehearsals in it. ",
        Rehearsal::Skipped(_) => "",
    };
    let caution = format!(
        "{paired}{rehearsed}The least of several forecasts is likely to be too small: where it cannot be told \
         which is better, choose by what you need.{rate}"
    );
    format!(
        "{}\n{}\n{}",
        words::wrapped(&format!("What each rule is expected to do; {place}")),
        table.text(),
        words::wrapped(&caution)
    )
}

/// How a rule does beside the study's own.
fn beside(own: Verdict) -> &'static str {
    match own {
        Verdict::Helps => "worse",
        Verdict::Harms => "better",
        Verdict::Unknown => own.word(),
    }
}

/// Why the default is what it is.
fn why(summary: &Summary) -> String {
    let chosen = match summary.forecast.provenance {
        left_out if left_out.is_left_out() => String::new(),
        source => format!(
            "This forecast is by the {} because --theory says so. ",
            source.in_words()
        ),
    };
    format!(
        "{chosen}The default for real data is leave-one-out: it counts mistakes on the target's own \
         samples, while a theory's absolute errors hold for Gaussian features only \
         (docs/4-when-to-trust-a-forecast.md)."
    )
}
