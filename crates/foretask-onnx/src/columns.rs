//! The inputs of a graph, and the steps from them to features.

use std::collections::{HashMap, HashSet};

use foretask::Model;
use foretask::prepare::{Encoded, Encoding, FLAGS, Preparation};

use crate::graph::Graph;
use crate::proto::{Attribute, data_type};

/// Operators that core ONNX lacks: texts to numbers.
pub(super) const ML: &str = "ai.onnx.ml";

/// What a graph gives, in this order.
pub const OUTPUTS: [&str; 3] = ["label", "decision", "probabilities"];

/// Codes of the texts of a flag: 0 is no, 1 is yes.
const GAP: i64 = 2;
const NEITHER: i64 = 3;

/// The code of a text that is no level.
const UNKNOWN: i64 = -1;

/// An input of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: Holds,
}

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// So many features of each row: N x p, double.
    Features(usize),
    /// A column of numbers: N x 1, double.
    Number,
    /// A column of texts: N x 1, string.
    Text,
}

/// The inputs of the graph of a model: one matrix where all columns are numbers, or one input per column.
///
/// A column has its own name, with underscores behind it where an output or an earlier column has that name.
pub fn inputs(model: &Model) -> Vec<Input> {
    let Some(preparation) = of_columns(model) else {
        return vec![Input {
            name: "X".to_owned(),
            holds: Holds::Features(model.features()),
        }];
    };
    let mut taken: HashSet<String> = OUTPUTS.map(str::to_owned).into();
    let input = |column: &Encoded| {
        let mut name = column.name.clone();
        // Without a name it would be no input at all.
        while name.is_empty() || !taken.insert(name.clone()) {
            name.push('_');
        }
        let holds = match column.encoding {
            Encoding::Number => Holds::Number,
            Encoding::Flag | Encoding::Levels(_) => Holds::Text,
        };
        Input { name, holds }
    };
    preparation.columns.iter().map(input).collect()
}

/// What an input takes, in words; `place` is its place among the inputs.
pub(super) fn meaning(model: &Model, place: usize) -> String {
    let column = of_columns(model).and_then(|preparation| preparation.columns.get(place));
    match column.map(|column| &column.encoding) {
        None => "one sample per row".to_owned(),
        Some(Encoding::Number) => "a number; NaN is missing".to_owned(),
        Some(Encoding::Flag) => {
            let pairs = FLAGS.map(|[no, yes]| format!("{yes}/{no}"));
            format!("{} or 1/0; empty is missing", pairs.join(", "))
        }
        Some(Encoding::Levels(levels)) => {
            format!("one of {}; empty is missing", levels.join(", "))
        }
    }
}

/// The preparation of a model whose columns are not simply its features.
fn of_columns(model: &Model) -> Option<&Preparation> {
    let feature = |column: &Encoded| column.encoding == Encoding::Number && !column.indicator;
    let preparation = model.preparation()?;
    (!preparation.columns.iter().all(feature)).then_some(preparation)
}

/// What stands for a missing value; without a fill it stays missing.
fn fill(column: &Encoded) -> f64 {
    column.fills.first().copied().unwrap_or(f64::NAN)
}

/// An input until it gets its own name.
fn column_name(place: usize) -> String {
    format!("column_{place}")
}

impl Graph {
    /// The features, under the name that it returns.
    pub(super) fn features(&mut self, model: &Model) -> &'static str {
        if let Some(preparation) = of_columns(model) {
            return self.encoded(preparation);
        }
        let columns = model.preparation().map_or(&[][..], |known| &known.columns);
        if columns.iter().all(|column| column.fills.is_empty()) {
            return "X";
        }
        self.doubles("fills", &[columns.len()], columns.iter().map(fill));
        self.replace_nan("X", "fills", "features");
        "features"
    }

    fn encoded(&mut self, preparation: &Preparation) -> &'static str {
        let mut parts = Vec::new();
        for (place, column) in preparation.columns.iter().enumerate() {
            let name = column_name(place);
            match &column.encoding {
                Encoding::Number => self.number(&name, column, &mut parts),
                Encoding::Flag => self.flag(&name, column, &mut parts),
                Encoding::Levels(levels) => {
                    parts.push(self.levels(&name, levels, column.indicator));
                }
            }
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.step("Concat", &parts, "features", &[("axis", 1)]);
        "features"
    }

    fn number(&mut self, name: &str, column: &Encoded, parts: &mut Vec<String>) {
        let [missing, by, filled] = ["missing", "fill", "filled"].map(|of| format!("{name}_{of}"));
        if column.indicator || !column.fills.is_empty() {
            self.step("IsNaN", &[name], &missing, &[]);
        }
        if column.fills.is_empty() {
            parts.push(name.to_owned());
        } else {
            self.double(&by, fill(column));
            self.step("Where", &[&missing, &by, name], &filled, &[]);
            parts.push(filled);
        }
        if column.indicator {
            parts.push(self.as_doubles(&missing));
        }
    }

    fn flag(&mut self, name: &str, column: &Encoded, parts: &mut Vec<String>) {
        let [code, values, value, gap, missing] =
            ["code", "values", "value", "gap", "missing"].map(|of| format!("{name}_{of}"));
        let [no, yes] = [0, 1].map(|side| {
            let words = FLAGS.iter().map(move |pair| pair[side]);
            words.flat_map(spellings).chain([side.to_string()])
        });
        let codes = no.map(|word| (word, 0)).chain(yes.map(|word| (word, 1)));
        self.encode(name, codes.chain([(String::new(), GAP)]), NEITHER, &code);
        // What is neither yes nor no is refused by the library: here it shows as a decision that is NaN.
        self.doubles(&values, &[4], [0.0, 1.0, fill(column), f64::NAN]);
        self.step("Gather", &[&values, &code], &value, &[("axis", 0)]);
        parts.push(value);
        if column.indicator {
            self.integers(&gap, &[], &[GAP]);
            self.step("Equal", &[&code, &gap], &missing, &[]);
            parts.push(self.as_doubles(&missing));
        }
    }

    /// A missing text is one level more where its absence is a feature.
    fn levels(&mut self, name: &str, levels: &[String], indicator: bool) -> String {
        let [code, places, is] = ["code", "places", "is"].map(|of| format!("{name}_{of}"));
        let gap = (indicator && !levels.iter().any(String::is_empty)).then(String::new);
        let codes = levels.iter().cloned().chain(gap).zip(0..);
        self.encode(name, codes, UNKNOWN, &code);
        let width = levels.len() + usize::from(indicator);
        let each: Vec<i64> = (0..).take(width).collect();
        self.integers(&places, &[width], &each);
        self.step("Equal", &[&code, &places], &is, &[]);
        self.as_doubles(&is)
    }

    /// The code of each text.
    fn encode(
        &mut self,
        texts: &str,
        codes: impl Iterator<Item = (String, i64)>,
        otherwise: i64,
        output: &str,
    ) {
        let (keys, values): (Vec<String>, Vec<i64>) = codes.unzip();
        let attributes = vec![
            Attribute::strings("keys_strings", &keys),
            Attribute::ints("values_int64s", values),
            Attribute::int("default_int64", otherwise),
        ];
        self.push(ML, "LabelEncoder", &[texts], output, attributes);
    }

    fn as_doubles(&mut self, truths: &str) -> String {
        let output = format!("{truths}_number");
        let to = [("to", i64::from(data_type::DOUBLE))];
        self.step("Cast", &[truths], &output, &to);
        output
    }

    /// Gives inputs their own names, and another name to what has one of these already.
    pub(super) fn name_columns(&mut self, inputs: &[Input]) {
        let places = inputs.iter().enumerate();
        let own: HashMap<String, &str> = places
            .map(|(place, input)| {
                let so_far = match input.holds {
                    Holds::Features(_) => "X".to_owned(),
                    Holds::Number | Holds::Text => column_name(place),
                };
                (so_far, input.name.as_str())
            })
            .collect();
        let taken: HashSet<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        let rename = |name: &mut String| {
            if let Some(&column) = own.get(name) {
                column.clone_into(name);
                return;
            }
            // No name of a step ends in an underscore, so that different ones stay different.
            while taken.contains(name.as_str()) {
                name.push('_');
            }
        };
        let steps = self.steps.iter_mut();
        let of_steps = steps.flat_map(|step| step.input.iter_mut().chain(&mut step.output));
        let of_constants = self.constants.iter_mut().map(|tensor| &mut tensor.name);
        of_steps.chain(of_constants).for_each(rename);
    }
}

/// A word in small and capital letters, in every mixture.
fn spellings(word: &str) -> Vec<String> {
    word.chars().fold(vec![String::new()], |starts, letter| {
        let both = [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
        let longer = |start: &String| both.map(|letter| format!("{start}{letter}"));
        starts.iter().flat_map(longer).collect()
    })
}
