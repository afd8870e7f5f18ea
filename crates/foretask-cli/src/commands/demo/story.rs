//! What all draws of the demo say together: tables, and a conclusion that is read off them.

use foretask::Provenance;
use serde_json::{Map, Value, json};

use super::draw::{self, CLASSES, LABELS, SOURCE_LABELS, SWAPPED, TARGET};
use crate::commands::figures::{self, Compared};
use crate::digits::PIXELS;
use crate::json;
use crate::plot::Figure;
use crate::show::table::{Align, Table};
use crate::show::words;

/// How alike each source is to the target.
pub type Likeness = Vec<(String, Option<f64>)>;

/// What one method did in one draw.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    pub forecast: f64,
    pub interval: [f64; 2],
    pub source: Provenance,
    pub measured: f64,
}

/// All draws, method by method.
#[derive(Debug, Default)]
pub struct Story {
    pub alone: Vec<Trial>,
    pub classical: Vec<Trial>,
    pub foretask: Vec<Trial>,
    pub likeness: Vec<Likeness>,
    /// Test images of a draw.
    pub tested: usize,
}

/// The means over all draws of one method.
struct Means {
    forecast: f64,
    interval: [f64; 2],
    measured: f64,
    /// In how many draws the interval contained the measured error.
    held: usize,
}

impl Means {
    fn of(trials: &[Trial]) -> Self {
        let mean = |value: &dyn Fn(&Trial) -> f64| mean(trials.iter().map(value));
        Self {
            forecast: mean(&|trial| trial.forecast),
            interval: [
                mean(&|trial| trial.interval[0]),
                mean(&|trial| trial.interval[1]),
            ],
            measured: mean(&|trial| trial.measured),
            held: trials
                .iter()
                .filter(|trial| {
                    trial.interval[0] <= trial.measured && trial.measured <= trial.interval[1]
                })
                .count(),
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

impl Story {
    /// Goes on with other draws.
    pub fn append(&mut self, others: Self) {
        self.alone.extend(others.alone);
        self.classical.extend(others.classical);
        self.foretask.extend(others.foretask);
        self.likeness.extend(others.likeness);
        self.tested = others.tested;
    }

    fn methods(&self) -> [(&'static str, &'static str, Means); 3] {
        [
            ("alone", "target alone", Means::of(&self.alone)),
            (
                "classical",
                "classical multi-task",
                Means::of(&self.classical),
            ),
            ("foretask", "foretask", Means::of(&self.foretask)),
        ]
    }

    fn draws(&self) -> usize {
        self.foretask.len()
    }

    /// The mean likeness of a source; `None` if no draw could tell.
    fn likeness(&self, task: &str) -> Option<f64> {
        let entries = self.likeness.iter().flatten();
        let known: Vec<f64> = entries
            .filter(|(name, _)| name == task)
            .filter_map(|(_, value)| *value)
            .collect();
        (!known.is_empty()).then(|| mean(known.into_iter()))
    }

    /// For people.
    pub fn text(&self) -> String {
        [
            words::wrapped(&self.opening()),
            self.tasks_table(),
            self.methods_table(),
            words::wrapped(&self.conclusion()),
        ]
        .join("\n")
    }

    fn opening(&self) -> String {
        format!(
            "Handwritten digits: tell {} from {} with {LABELS} labelled images of each. Somebody else labelled \
             {SOURCE_LABELS} of each but swapped the two names, and there are other pairs of digits. Then test on the \
             {} images that are left. All numbers are means over {} random draws of the labelled images.",
            TARGET[0],
            TARGET[1],
            self.tested,
            self.draws(),
        )
    }

    /// The errors of the methods, and how alike the sources are.
    pub fn figure(&self) -> Figure {
        let rows = self.methods().into_iter().map(|(_, name, means)| Compared {
            name: name.to_owned(),
            foretold: means.forecast,
            foretold_interval: Some(means.interval),
            measured: Some(means.measured),
            measured_interval: None,
        });
        let methods = figures::errors(
            "Error of each method, foretold / measured".to_owned(),
            rows.collect(),
        );
        let foretask = Means::of(&self.foretask);
        Figure {
            title: format!(
                "'{}': error {} foretold ({}), {} measured",
                draw::name(TARGET),
                words::percent(foretask.forecast),
                words::interval(foretask.interval),
                words::percent(foretask.measured)
            ),
            subtitle: self.opening() + " Lines are the mean 90 % intervals of the forecasts.",
            panels: [Some(methods), figures::likeness(&self.all_likeness())]
                .into_iter()
                .flatten()
                .collect(),
        }
    }

    /// The mean likeness of every source.
    fn all_likeness(&self) -> Likeness {
        let sources = draw::SOURCES.map(draw::name);
        (sources.into_iter())
            .map(|name| {
                let likeness = self.likeness(&name);
                (name, likeness)
            })
            .collect()
    }

    fn tasks_table(&self) -> String {
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Left]);
        table.row(["task", "labelled images", "", "likeness to the target"]);
        for task in draw::tasks() {
            let (number, word) = if task.name == draw::name(TARGET) {
                (String::new(), "the target")
            } else {
                words::relatedness(self.likeness(&task.name))
            };
            table.row([
                task.name.clone(),
                task.samples().to_string(),
                number,
                word.to_owned(),
            ]);
        }
        table.text()
    }

    fn methods_table(&self) -> String {
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right]);
        let interval = words::interval_name();
        table.row(["method", "forecast error", &interval, "measured error"]);
        for (_, name, means) in self.methods() {
            table.row([
                name.to_owned(),
                words::percent(means.forecast),
                words::interval(means.interval),
                words::percent(means.measured),
            ]);
        }
        table.text()
    }

    /// One sentence that says what the tables say, whatever that is.
    fn conclusion(&self) -> String {
        let (foretask, alone) = (Means::of(&self.foretask), Means::of(&self.alone));
        let (draws, better) = (self.draws(), self.better_than(&self.alone));
        let change = 100.0 * (foretask.measured / alone.measured - 1.0);
        let verdict = if change < 0.0 && 2 * better > draws {
            format!("foretask makes {:.0} % fewer mistakes than", -change)
        } else if change < 0.0 {
            format!(
                "foretask makes {:.0} % fewer mistakes on average than",
                -change
            )
        } else {
            format!("the sources do not help: foretask makes {change:.0} % more mistakes than")
        };
        let classical = Means::of(&self.classical);
        format!(
            "{} With these sources {verdict} the target alone (fewer in {better} of {draws} draws), and its \
             forecast, made without the test images, has the measured error inside its interval in {} \
             of {draws} draws.",
            self.swapped(classical.measured, alone.measured),
            foretask.held
        )
    }

    /// What became of the swapped names.
    fn swapped(&self, classical: f64, alone: f64) -> String {
        let name = draw::name(SWAPPED);
        let opposed = self.likeness(&name).is_some_and(|likeness| likeness < 0.0);
        let harmed = classical > alone;
        let [classical, with] = [classical, alone].map(words::percent);
        match opposed && harmed {
            true => format!(
                "Taken at their word the sources ruin it: {classical} wrong instead of {with}. foretask sees that \
                 '{name}' points the other way, and turns it round."
            ),
            false => format!(
                "Taken at their word the sources leave {classical} wrong instead of {with}."
            ),
        }
    }

    fn better_than(&self, others: &[Trial]) -> usize {
        let pairs = self.foretask.iter().zip(others);
        pairs
            .filter(|(ours, theirs)| ours.measured < theirs.measured)
            .count()
    }

    /// For machines.
    pub fn report(&self) -> Map<String, Value> {
        let foretask = Means::of(&self.foretask);
        let methods: Vec<Value> = self
            .methods()
            .iter()
            .map(|(name, _, means)| {
                json!({
                    "method": name,
                    "forecast": means.forecast,
                    "interval": means.interval,
                    "measured": means.measured,
                    "within_interval": means.held,
                })
            })
            .collect();
        let tasks = draw::tasks();
        let likeness = self.all_likeness();
        let mut report = Map::new();
        report.insert("target".into(), json!(draw::name(TARGET)));
        report.insert("classes".into(), json!(CLASSES));
        report.insert("features".into(), json!(PIXELS));
        report.insert("tasks".into(), json!(tasks));
        report.insert("relatedness".into(), json::relatedness(&likeness));
        report.insert(
            "forecast".into(),
            json!({
                "error": foretask.forecast,
                "interval": foretask.interval,
                "source": self.foretask.first().map(|trial| trial.source),
            }),
        );
        report.insert("draws".into(), json!(self.draws()));
        report.insert("test_samples".into(), json!(self.tested));
        report.insert("methods".into(), json!(methods));
        report
    }
}
