//! [`Model::to_onnx`]: a model as an ONNX file, for programs that do not know foretask.
//!
//! Core operators only (ai.onnx, opset 17), in double precision. N rows of p features become
//!
//! ```text
//!  X [N, p] ─► MatMul weights ─► Add bias ─► z [N, d]
//!
//!  one score and a threshold:
//!    z ─┬─► Sub threshold ─────────────────────────────────────────────────► decision [N, 1]
//!       ├─► LessOrEqual threshold ─► Squeeze ─► Cast ──────────────────────► index [N]
//!       └─► Sub centre ─► Mul slope ─► NaN to 0 ─► Clip ±700 ─► Mul (1, 0) ─► logits [N, 2]
//!
//!  one score per class:
//!    z ─► class scores [N, m] ─► Mul slope ─► Add offsets ─┬───────────────► logits [N, m]
//!                                                          └─► Add ln costs ─► decision [N, m]
//!    decision ─► NaN to -∞ ─► ArgMax ──────────────────────────────────────► index [N]
//!
//!  both:
//!    index ─► Gather classes ─► label [N]            logits ─► Softmax ─► probabilities [N, m]
//! ```
//!
//! and the class scores are z itself for a linear rule, or
//!
//! ```text
//!  votes:      margin = z - thresholds;  won = z > thresholds;  pairs [d, m]: 1 first, -1 second
//!              won pairs + votes of the second  (+ s/(3 (|s| + 1)),  s = margin pairs)
//!  quadratic:  f = z - means [m, N, d];  constants - ½ Σ_d (f precisions) ∘ f
//! ```
//!
//! The library refuses rows that are not finite; a graph cannot. The label of a row with NaN means nothing,
//! and its decision is NaN (votes alone, where ties go to the first class, do not show it). A quadratic rule
//! needs m N d doubles at a time, all others N max(d, m).
//!
//! The messages are those of `onnx.proto`, as far as they are used. The same model gives the same bytes.

use prost::Message;
use serde_json::json;

use crate::error::{Error, Result};
use crate::model::{Decision, Model};
use crate::rules::{Form, Quadratic, Ties, pairs};
use proto::{Attribute, Dimension, Entry, Node, Tensor, Value, data_type};

/// Version 8 of the file format and opset 17 came with ONNX 1.12 (2022): old enough to be read
/// everywhere, new enough for every operator in double precision.
const IR_VERSION: i64 = 8;
const OPSET: i64 = 17;

/// Protocol buffers end here; readers refuse more.
const LARGEST_FILE: usize = i32::MAX as usize;

impl Model {
    /// The model as the bytes of an ONNX file.
    ///
    /// Input `X` (N x p, double). Outputs:
    ///
    /// * `label` (N): class names, as 64-bit integers if all are whole numbers, as strings otherwise;
    /// * `decision`, double: for two classes and a threshold score - threshold (N x 1; positive is the
    ///   first class), otherwise slope score_c + offset_c + ln cost_c (N x m; the largest wins);
    /// * `probabilities` (N x m, double), as [`Model::probabilities`].
    ///
    /// Target, classes, feature names and forecast are in the file's metadata.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the file would have more than 2 GB.
    ///
    /// ```
    /// # use foretask::{Rows, Settings, Study, Tasks};
    /// # let values = [2.1, 0.3, 1.8, 0.1, 0.2, 1.7, 0.5, 2.2];
    /// # let tasks = Tasks::new(Rows::row_major(&values, 2)?, &["t"; 4], &["a", "a", "b", "b"])?;
    /// let model = Study::new(&tasks, &Settings::default())?.model()?;
    /// let bytes = model.to_onnx()?; // ready for std::fs::write("model.onnx", bytes)
    /// # assert!(bytes.len() > 1000);
    /// # Ok::<(), foretask::Error>(())
    /// ```
    pub fn to_onnx(&self) -> Result<Vec<u8>> {
        let file = file(self);
        check_size(file.encoded_len())?;
        Ok(file.encode_to_vec())
    }
}

fn check_size(bytes: usize) -> Result<()> {
    if bytes > LARGEST_FILE {
        return Err(Error::TooLarge {
            what: "the ONNX file",
            gigabytes: bytes as f64 / 1e9,
        });
    }
    Ok(())
}

fn file(model: &Model) -> proto::Model {
    let classes = model.classes();
    let m = classes.len();
    let mut graph = Graph::default();
    graph.linear_scores(model);
    let (columns, meaning) = match model.decision() {
        Decision::Threshold {
            threshold,
            slope,
            centre,
        } => {
            graph.threshold(*threshold, *slope, *centre);
            let first = classes.first().map_or("", String::as_str);
            (1, format!("score - threshold; positive is '{first}'"))
        }
        Decision::Argmax {
            form,
            slope,
            offsets,
            costs,
        } => {
            let class_scores = match form {
                Form::Linear { .. } => "scores",
                Form::Votes { thresholds, ties } => graph.votes(m, thresholds, *ties),
                Form::Quadratic(quadratic) => graph.quadratic(quadratic),
            };
            graph.argmax(class_scores, *slope, offsets, costs);
            (m, "one number per class; the largest wins".to_owned())
        }
    };
    let label_type = graph.label(classes);
    graph.step("Softmax", &["logits"], "probabilities", &[("axis", 1)]);

    let rows = Dimension::named("N");
    let double = |name: &str, columns: usize, doc: String| {
        let shape = vec![rows.clone(), Dimension::of(columns)];
        Value::new(name, data_type::DOUBLE, shape, doc)
    };
    let order = format!("in the order of the classes: {}", classes.join(", "));
    proto::Model {
        ir_version: IR_VERSION,
        producer_name: "foretask".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        doc_string: description(model),
        graph: Some(proto::Graph {
            node: graph.steps,
            name: "foretask".into(),
            initializer: graph.constants,
            input: vec![double("X", model.features(), "one sample per row".into())],
            output: vec![
                Value::new("label", label_type, vec![rows.clone()], "the class".into()),
                double("decision", columns, meaning),
                double("probabilities", m, order),
            ],
        }),
        opset_import: vec![proto::OperatorSet { version: OPSET }],
        metadata_props: metadata(model),
    }
}

fn description(model: &Model) -> String {
    let forecast = model.forecast();
    let [low, high] = forecast.interval.map(|end| 100.0 * end);
    format!(
        "Decides '{}' between {}. Forecast error {:.1} %, 90 % interval {low:.1} to {high:.1} % ({}).",
        model.target(),
        model.classes().join(", "),
        100.0 * forecast.error,
        forecast.source,
    )
}

/// All values but the target's name are JSON.
fn metadata(model: &Model) -> Vec<Entry> {
    let forecast = model.forecast();
    let mut entries = vec![
        ("target", model.target().to_owned()),
        ("classes", json!(model.classes()).to_string()),
        ("forecast_error", json!(forecast.error).to_string()),
        ("forecast_interval", json!(forecast.interval).to_string()),
    ];
    if let Some(names) = model.feature_names() {
        entries.push(("feature_names", json!(names).to_string()));
    }
    entries
        .into_iter()
        .map(|(key, value)| Entry {
            key: key.into(),
            value,
        })
        .collect()
}

/// The class names as numbers, if each is the one way to write a whole number: "7", not "07".
fn whole_numbers(classes: &[String]) -> Option<Vec<i64>> {
    let whole = |class: &String| {
        let number = class.parse::<i64>().ok()?;
        (number.to_string() == *class).then_some(number)
    };
    classes.iter().map(whole).collect()
}

/// Constants, and steps that each come after what they need.
#[derive(Default)]
struct Graph {
    steps: Vec<Node>,
    constants: Vec<Tensor>,
}

impl Graph {
    /// z, named `scores`.
    fn linear_scores(&mut self, model: &Model) {
        let (p, d) = (model.features(), model.intercept().len());
        let weights = model.weights();
        let by_row = (0..p).flat_map(|i| (0..d).map(move |j| weights[(i, j)]));
        self.doubles("weights", &[p, d], by_row);
        self.doubles("bias", &[d], model.intercept().iter().copied());
        self.step("MatMul", &["X", "weights"], "products", &[]);
        self.step("Add", &["products", "bias"], "scores", &[]);
    }

    /// `decision`, `index` and `logits` of one score.
    fn threshold(&mut self, threshold: f64, slope: f64, centre: f64) {
        self.double("threshold", threshold);
        self.step("Sub", &["scores", "threshold"], "decision", &[]);

        // Not of the difference, which rounds to zero for numbers that differ by a hair where tiny
        // numbers are flushed. A threshold that is NaN chooses the first class, as in the library.
        self.step("LessOrEqual", &["scores", "threshold"], "below", &[]);
        self.integers("columns", &[1], &[1]);
        self.step("Squeeze", &["below", "columns"], "second", &[]);
        let to = [("to", i64::from(data_type::INT64))];
        self.step("Cast", &["second"], "index", &to);

        self.double("centre", centre);
        self.double("slope", slope);
        self.double("zero", 0.0);
        self.double("least", -700.0);
        self.double("most", 700.0);
        self.doubles("first", &[2], [1.0, 0.0]);
        self.step("Sub", &["scores", "centre"], "from_centre", &[]);
        self.step("Mul", &["from_centre", "slope"], "raw_odds", &[]);
        self.replace_nan("raw_odds", "zero", "odds");
        self.step("Clip", &["odds", "least", "most"], "finite_odds", &[]);
        self.step("Mul", &["finite_odds", "first"], "logits", &[]);
    }

    /// `decision`, `index` and `logits` of one score per class.
    fn argmax(&mut self, class_scores: &str, slope: f64, offsets: &[f64], costs: &[f64]) {
        let m = offsets.len();
        self.double("slope", slope);
        self.doubles("offsets", &[m], offsets.iter().copied());
        self.doubles("log_costs", &[m], costs.iter().map(|cost| cost.ln()));
        self.double("never", f64::NEG_INFINITY);
        self.step("Mul", &[class_scores, "slope"], "evidence", &[]);
        self.step("Add", &["evidence", "offsets"], "logits", &[]);
        self.step("Add", &["logits", "log_costs"], "decision", &[]);
        // What ArgMax does with NaN is not defined.
        self.replace_nan("decision", "never", "ranks");
        self.step(
            "ArgMax",
            &["ranks"],
            "index",
            &[("axis", 1), ("keepdims", 0)],
        );
    }

    /// Class scores of one score per pair.
    fn votes(&mut self, m: usize, thresholds: &[f64], ties: Ties) -> &'static str {
        let side = |(a, b): (usize, usize), class: usize| match class {
            _ if class == a => 1.0,
            _ if class == b => -1.0,
            _ => 0.0,
        };
        let sides = pairs(m).flat_map(|pair| (0..m).map(move |class| side(pair, class)));
        let seconds = (0..m).map(|class| pairs(m).filter(|pair| pair.1 == class).count() as f64);
        self.doubles("pairs", &[thresholds.len(), m], sides);
        self.doubles("seconds", &[m], seconds);
        self.doubles(
            "thresholds",
            &[thresholds.len()],
            thresholds.iter().copied(),
        );

        self.step("Greater", &["scores", "thresholds"], "above", &[]);
        let to = [("to", i64::from(data_type::DOUBLE))];
        self.step("Cast", &["above"], "won", &to);
        self.step("MatMul", &["won", "pairs"], "gained", &[]);
        self.step("Add", &["gained", "seconds"], "votes", &[]);
        if ties == Ties::First {
            return "votes";
        }
        self.double("one", 1.0);
        self.double("three", 3.0);
        self.step("Sub", &["scores", "thresholds"], "margins", &[]);
        self.step("MatMul", &["margins", "pairs"], "sums", &[]);
        self.step("Abs", &["sums"], "sizes", &[]);
        self.step("Add", &["sizes", "one"], "larger_sizes", &[]);
        self.step("Mul", &["larger_sizes", "three"], "units", &[]);
        self.step("Div", &["sums", "units"], "parts", &[]);
        self.step("Add", &["votes", "parts"], "votes_and_parts", &[]);
        "votes_and_parts"
    }

    /// Class scores of Gaussian classes.
    fn quadratic(&mut self, quadratic: &Quadratic) -> &'static str {
        let (m, d) = (quadratic.means.nrows(), quadratic.means.ncols());
        let means = (0..m).flat_map(|c| (0..d).map(move |i| quadratic.means[(c, i)]));
        let precisions = quadratic
            .precisions
            .iter()
            .flat_map(|precision| (0..d).flat_map(move |i| (0..d).map(move |j| precision[(i, j)])));
        self.doubles("means", &[m, 1, d], means);
        self.doubles("precisions", &[m, d, d], precisions);
        self.doubles("constants", &[m], quadratic.constants.iter().copied());
        self.double("minus_half", -0.5);
        self.integers("classes_axis", &[1], &[0]);
        self.integers("scores_axis", &[1], &[2]);

        // The difference first: a square multiplied out would cancel where classes are far away.
        self.step("Unsqueeze", &["scores", "classes_axis"], "points", &[]);
        self.step("Sub", &["points", "means"], "from_means", &[]);
        self.step("MatMul", &["from_means", "precisions"], "weighted", &[]);
        self.step("Mul", &["weighted", "from_means"], "squares", &[]);
        let drop = [("keepdims", 0)];
        self.step("ReduceSum", &["squares", "scores_axis"], "by_class", &drop);
        self.step("Transpose", &["by_class"], "distances", &[]);
        self.step("Mul", &["distances", "minus_half"], "densities", &[]);
        self.step("Add", &["densities", "constants"], "log_posteriors", &[]);
        "log_posteriors"
    }

    /// `label`, of `index`; its type.
    fn label(&mut self, classes: &[String]) -> i32 {
        let kind = match whole_numbers(classes) {
            Some(numbers) => {
                self.integers("classes", &[classes.len()], &numbers);
                data_type::INT64
            }
            None => {
                self.constants.push(Tensor {
                    dims: vec![classes.len() as i64],
                    data_type: data_type::STRING,
                    string_data: classes.iter().map(|class| class.clone().into()).collect(),
                    name: "classes".into(),
                    raw_data: None,
                });
                data_type::STRING
            }
        };
        self.step("Gather", &["classes", "index"], "label", &[("axis", 0)]);
        kind
    }

    fn replace_nan(&mut self, values: &str, by: &str, output: &str) {
        let missing = format!("{values}_missing");
        self.step("IsNaN", &[values], &missing, &[]);
        self.step("Where", &[&missing, by, values], output, &[]);
    }

    fn step(&mut self, operator: &str, inputs: &[&str], output: &str, with: &[(&str, i64)]) {
        self.steps.push(Node {
            input: inputs.iter().map(|&input| input.into()).collect(),
            output: vec![output.into()],
            name: format!("make_{output}"),
            op_type: operator.into(),
            attribute: with
                .iter()
                .map(|&(name, i)| Attribute::int(name, i))
                .collect(),
        });
    }

    fn double(&mut self, name: &str, value: f64) {
        self.doubles(name, &[], [value]);
    }

    fn doubles(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f64>) {
        let bytes = values.into_iter().flat_map(f64::to_le_bytes).collect();
        self.constants
            .push(Tensor::new(name, data_type::DOUBLE, shape, bytes));
    }

    fn integers(&mut self, name: &str, shape: &[usize], values: &[i64]) {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constants
            .push(Tensor::new(name, data_type::INT64, shape, bytes));
    }
}

/// The messages of `onnx.proto` that are written, with its field numbers.
mod proto {
    /// `TensorProto.DataType`.
    pub(super) mod data_type {
        pub(in super::super) const INT64: i32 = 7;
        pub(in super::super) const STRING: i32 = 8;
        pub(in super::super) const DOUBLE: i32 = 11;
    }

    /// `AttributeProto.AttributeType.INT`.
    const INT: i32 = 2;

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Model {
        #[prost(int64, tag = "1")]
        pub(super) ir_version: i64,
        #[prost(string, tag = "2")]
        pub(super) producer_name: String,
        #[prost(string, tag = "3")]
        pub(super) producer_version: String,
        #[prost(string, tag = "6")]
        pub(super) doc_string: String,
        #[prost(message, optional, tag = "7")]
        pub(super) graph: Option<Graph>,
        #[prost(message, repeated, tag = "8")]
        pub(super) opset_import: Vec<OperatorSet>,
        #[prost(message, repeated, tag = "14")]
        pub(super) metadata_props: Vec<Entry>,
    }

    /// Without a domain it is ai.onnx.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct OperatorSet {
        #[prost(int64, tag = "2")]
        pub(super) version: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Entry {
        #[prost(string, tag = "1")]
        pub(super) key: String,
        #[prost(string, tag = "2")]
        pub(super) value: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Graph {
        #[prost(message, repeated, tag = "1")]
        pub(super) node: Vec<Node>,
        #[prost(string, tag = "2")]
        pub(super) name: String,
        #[prost(message, repeated, tag = "5")]
        pub(super) initializer: Vec<Tensor>,
        #[prost(message, repeated, tag = "11")]
        pub(super) input: Vec<Value>,
        #[prost(message, repeated, tag = "12")]
        pub(super) output: Vec<Value>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Node {
        #[prost(string, repeated, tag = "1")]
        pub(super) input: Vec<String>,
        #[prost(string, repeated, tag = "2")]
        pub(super) output: Vec<String>,
        #[prost(string, tag = "3")]
        pub(super) name: String,
        #[prost(string, tag = "4")]
        pub(super) op_type: String,
        #[prost(message, repeated, tag = "5")]
        pub(super) attribute: Vec<Attribute>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Attribute {
        #[prost(string, tag = "1")]
        name: String,
        /// Optional, so that a zero is written too: readers do not take what is missing for zero.
        #[prost(int64, optional, tag = "3")]
        i: Option<i64>,
        #[prost(int32, tag = "20")]
        kind: i32,
    }

    impl Attribute {
        pub(super) fn int(name: &str, value: i64) -> Self {
            Self {
                name: name.into(),
                i: Some(value),
                kind: INT,
            }
        }
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Tensor {
        #[prost(int64, repeated, packed = "false", tag = "1")]
        pub(super) dims: Vec<i64>,
        #[prost(int32, tag = "2")]
        pub(super) data_type: i32,
        #[prost(bytes = "vec", repeated, tag = "6")]
        pub(super) string_data: Vec<Vec<u8>>,
        #[prost(string, tag = "8")]
        pub(super) name: String,
        #[prost(bytes = "vec", optional, tag = "9")]
        pub(super) raw_data: Option<Vec<u8>>,
    }

    impl Tensor {
        /// Of little-endian numbers; the last index runs fastest.
        pub(super) fn new(name: &str, data_type: i32, shape: &[usize], bytes: Vec<u8>) -> Self {
            Self {
                dims: shape.iter().map(|&length| length as i64).collect(),
                data_type,
                string_data: Vec::new(),
                name: name.into(),
                raw_data: Some(bytes),
            }
        }
    }

    /// `ValueInfoProto`: an input or an output.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Value {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(message, optional, tag = "2")]
        kind: Option<Kind>,
        #[prost(string, tag = "3")]
        doc_string: String,
    }

    impl Value {
        pub(super) fn new(name: &str, data_type: i32, dim: Vec<Dimension>, doc: String) -> Self {
            Self {
                name: name.into(),
                kind: Some(Kind {
                    tensor_type: Some(TensorKind {
                        elem_type: data_type,
                        shape: Some(Shape { dim }),
                    }),
                }),
                doc_string: doc,
            }
        }
    }

    /// `TypeProto`.
    #[derive(Clone, PartialEq, prost::Message)]
    struct Kind {
        #[prost(message, optional, tag = "1")]
        tensor_type: Option<TensorKind>,
    }

    /// `TypeProto.Tensor`.
    #[derive(Clone, PartialEq, prost::Message)]
    struct TensorKind {
        #[prost(int32, tag = "1")]
        elem_type: i32,
        #[prost(message, optional, tag = "2")]
        shape: Option<Shape>,
    }

    /// `TensorShapeProto`.
    #[derive(Clone, PartialEq, prost::Message)]
    struct Shape {
        #[prost(message, repeated, tag = "1")]
        dim: Vec<Dimension>,
    }

    /// Either a number or a name.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Dimension {
        #[prost(int64, optional, tag = "1")]
        dim_value: Option<i64>,
        #[prost(string, optional, tag = "2")]
        dim_param: Option<String>,
    }

    impl Dimension {
        pub(super) fn of(length: usize) -> Self {
            Self {
                dim_value: Some(length as i64),
                dim_param: None,
            }
        }

        pub(super) fn named(name: &str) -> Self {
            Self {
                dim_value: None,
                dim_param: Some(name.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{Evidence, Rows, RuleName, Settings, Study, Tasks};

    /// Classes of unequal spread along different features, by numbers that look random.
    fn model(classes: &[&str], settings: &Settings) -> Model {
        const FEATURES: usize = 4;
        let rows = 20 * classes.len();
        let value = |row: usize, feature: usize| {
            let class = row % classes.len();
            let noise = ((row * 31 + feature * 57) * 7919 % 101) as f64 / 50.0 - 1.0;
            (1.0 + class as f64) * noise + if feature == class { 2.0 } else { 0.0 }
        };
        let values: Vec<f64> = (0..rows * FEATURES)
            .map(|i| value(i / FEATURES, i % FEATURES))
            .collect();
        let labels: Vec<&str> = (0..rows).map(|row| classes[row % classes.len()]).collect();
        let rows = Rows::row_major(&values, FEATURES).unwrap();
        let tasks = Tasks::new(rows, &vec!["north"; labels.len()], &labels).unwrap();
        Study::new(&tasks, settings).unwrap().model().unwrap()
    }

    fn votes(ties: Ties) -> Settings {
        Settings {
            rule: RuleName::OneVsOne,
            ties,
            ..Settings::default()
        }
    }

    fn quadratic() -> Settings {
        Settings {
            rule: RuleName::Bayes,
            evidence: Evidence::Spherical,
            ..Settings::default()
        }
    }

    /// A model of every kind, with operators that only its kind needs.
    fn kinds() -> Vec<(Model, &'static [&'static str])> {
        let three = ["a", "b", "c"];
        vec![
            (
                model(&three[..2], &Settings::default()),
                &["LessOrEqual", "Clip"],
            ),
            (model(&three, &Settings::default()), &["ArgMax"]),
            (model(&three, &votes(Ties::First)), &["Greater"]),
            (model(&three, &votes(Ties::Margins)), &["Greater", "Div"]),
            (model(&three, &quadratic()), &["ReduceSum", "Transpose"]),
        ]
    }

    #[test]
    fn steps_follow_what_they_need_and_names_are_used_once() {
        for (model, operators) in kinds() {
            let graph = file(&model).graph.unwrap();
            let used: HashSet<&str> = graph.node.iter().map(|step| &*step.op_type).collect();
            assert!(operators.iter().all(|one| used.contains(one)), "{used:?}");

            let mut known: HashSet<&str> = HashSet::from(["X"]);
            for tensor in &graph.initializer {
                assert!(known.insert(&tensor.name), "{}", tensor.name);
                let count = tensor.dims.iter().product::<i64>() as usize;
                match &tensor.raw_data {
                    Some(bytes) => assert_eq!(bytes.len(), 8 * count, "{}", tensor.name),
                    None => assert_eq!(tensor.string_data.len(), count, "{}", tensor.name),
                }
            }
            let mut needed: HashSet<&str> = graph.output.iter().map(|o| &*o.name).collect();
            for step in &graph.node {
                for input in &step.input {
                    assert!(known.contains(&**input), "{input} comes too late");
                    needed.insert(input);
                }
                assert!(known.insert(&step.output[0]), "{}", step.output[0]);
            }
            assert_eq!(needed, known, "something is never used or never made");
        }
    }

    #[test]
    fn the_same_model_gives_the_same_bytes() {
        for ((model, _), (again, _)) in kinds().iter().zip(&kinds()) {
            let bytes = model.to_onnx().unwrap();
            assert_eq!(bytes, again.to_onnx().unwrap());
            // Field 1, a number: version 8. Field 2, eight bytes: who made it.
            assert!(bytes.starts_with(b"\x08\x08\x12\x08foretask"));
        }
    }

    #[test]
    fn attributes_that_are_zero_are_written() {
        let bytes = Attribute::int("axis", 0).encode_to_vec();
        // Field 1, four bytes; field 3, the number 0; field 20, the type 2.
        assert_eq!(bytes, b"\x0a\x04axis\x18\x00\xa0\x01\x02");
    }

    #[test]
    fn names_become_numbers_only_where_nothing_is_lost() {
        let numbers = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
            whole_numbers(&names)
        };
        assert_eq!(numbers(&["-3", "0", "12"]), Some(vec![-3, 0, 12]));
        for other in ["07", "+7", "-0", "1.0", " 1", "", "99999999999999999999"] {
            assert_eq!(numbers(&["1", other]), None, "{other}");
        }
    }

    #[test]
    fn files_that_no_reader_takes_are_refused() {
        assert!(check_size(LARGEST_FILE).is_ok());
        let error = check_size(LARGEST_FILE + 1).unwrap_err().to_string();
        assert_eq!(
            error,
            "the ONNX file would have 2.1 GB; its format ends at 2 GB"
        );
    }
}
