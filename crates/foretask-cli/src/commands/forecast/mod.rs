//! `foretask forecast`: what a model will do, before there is one.

mod compare;
mod labels;
mod questions;
mod sources;

use foretask::{Settings, SourceValue, Study};
use foretask_words::{Facts, Verdict};
use serde_json::{Map, Value, json};

use crate::arguments;
use crate::commands::{figures, gather, load};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::plot::Figure;
use crate::progress::Progress;
use crate::summary::Summary;
use crate::{json, output, show};
pub use questions::Questions;

/// Runs the command.
pub fn run(arguments: &arguments::Forecast) -> Result<Answer, Failure> {
    let settings = arguments.choices.settings()?;
    if let Some(path) = &arguments.report.output {
        output::check(path, &arguments.data.files)?;
    }
    let (plot, to) = (
        arguments.plot.as_deref(),
        arguments.report.output.as_deref(),
    );
    figures::check(plot, &arguments.data.files, to)?;
    let source = gather::open(&arguments.data, settings.target.as_deref(), settings.folds)?;
    let statistics = source.statistics()?;
    let study = load::study(&statistics, &settings)?;
    let study = load::counted(study, &arguments.choices.tally)?;
    let questions = Questions {
        added: &arguments.added,
        reach: &arguments.reach,
        budget: arguments.budget,
        details: arguments.details,
        no_details: arguments.no_details,
        compare: arguments.compare,
        json: arguments.report.json,
    };
    let answers = Answers::new(&study, &settings, statistics.features(), &questions)?;
    if let Some(path) = plot {
        figures::write(path, &answers.figure())?;
    }
    let text = match arguments.report.json {
        true => json::text(answers.report())?,
        false => answers.text(arguments.details),
    };
    output::text(arguments.report.output.as_deref(), &text)?;
    Ok(Answer::Yes)
}

/// Labels that are added where nothing is said.
pub const ADDED: [usize; 5] = [5, 10, 20, 50, 100];

/// What it answers.
pub struct Answers<'q, 'a> {
    study: &'q Study<'a>,
    features: usize,
    verdict: Verdict,
    labels: labels::Labels,
    sources: Option<Vec<SourceValue>>,
    comparison: Option<compare::Comparison>,
}

impl<'q, 'a> Answers<'q, 'a> {
    /// Asks a study of so many features.
    pub fn new(
        study: &'q Study<'a>,
        settings: &Settings,
        features: usize,
        questions: &Questions<'_>,
    ) -> Result<Self, Failure> {
        let labels = labels::Labels::new(study, questions)?;
        let mut facts = Facts::of(study);
        if !questions.no_details {
            facts = facts.with_labels(study)?;
        }
        let sources = match questions.no_details {
            true => None,
            false => Some(source_values(study, settings)?),
        };
        let theories = match questions.json && !questions.no_details {
            // Machines have always had them where that is quick.
            true => features <= QUICK_FEATURES,
            false => false,
        };
        let comparison = match questions.compare || questions.details || theories {
            true => Some(compare::run(study, questions.compare)?),
            false => None,
        };
        facts = match &sources {
            Some(sources) => facts.with_sources(sources),
            None => facts.with_ask("Without --no-details it says"),
        };
        Ok(Self {
            verdict: Verdict::of(&facts),
            study,
            features,
            labels,
            sources,
            comparison,
        })
    }

    /// What sources are worth; nothing with `--no-details`.
    pub fn sources(&self) -> &[SourceValue] {
        self.sources.as_deref().unwrap_or_default()
    }

    /// For machines.
    pub fn report(&self) -> Map<String, Value> {
        let summary = Summary::of_study(self.study, self.features);
        let mut report = json::study(self.study, self.features, &self.verdict);
        report.extend(self.labels.report(&summary));
        if let Some(sources) = &self.sources {
            report.insert("sources".into(), json!(sources));
        }
        if let Some(comparison) = &self.comparison {
            report.extend(comparison.report(&summary));
        }
        report
    }

    /// As a picture.
    fn figure(&self) -> Figure {
        let summary = Summary::of_study(self.study, self.features);
        let panels = [
            figures::decided(&summary, None),
            figures::curve(&summary, self.labels.curve()),
            figures::gains(&summary, self.sources()),
            figures::roc(&summary, None),
        ];
        Figure {
            title: figures::title(&summary),
            subtitle: figures::rests_on(&summary),
            panels: panels.into_iter().flatten().collect(),
        }
    }

    /// For people.
    fn text(&self, details: bool) -> String {
        let summary = Summary::of_study(self.study, self.features);
        let mut sections = vec![
            self.verdict.to_string(),
            show::tasks(&summary, Some(&self.study.relatedness())),
            show::forecast_line(&summary) + "\n" + &show::class_errors(&summary),
            show::rehearsal::sentence(&summary),
        ];
        sections.extend(show::expected::sections(&summary));
        if details {
            sections.push(show::rule(&summary));
        }
        if let Some(comparison) = &self.comparison {
            sections.extend(comparison.sections(&summary));
        }
        if let Some(sources) = &self.sources {
            sections.push(sources::section(&summary, sources));
        }
        sections.extend(self.labels.sections(&summary));
        sections.push(show::notes(&summary));
        if !details {
            sections.push(MORE.to_owned());
        }
        sections.retain(|section| !section.is_empty());
        sections.join("\n")
    }
}

/// Where the rest is.
const MORE: &str = "How it decides, and what theories say: --details. Other rules: --compare.\n";

/// With more features the theories take more than a second, and are there only if asked for.
const QUICK_FEATURES: usize = 300;

/// What to do if the sources take long.
const FASTER: &str =
    "hint: --no-details is faster; it leaves out what sources and more labels are worth";

/// What each source is worth: one more study each. Nothing where no source is used.
fn source_values(study: &Study, settings: &Settings) -> Result<Vec<SourceValue>, Failure> {
    if study.cells().tasks().len() < 2 || settings.labels == foretask::Labels::Alone {
        return Ok(Vec::new());
    }
    let progress = Progress::with_hint("leaving out each source", Some(FASTER));
    Ok(study.source_values(&|share| progress.tell(share))?)
}
