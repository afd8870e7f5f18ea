//! [`to_onnx`]: a model as an ONNX file, for programs that do not know foretask.
//!
//! Core operators (ai.onnx, opset 17), in double precision, and one more (`LabelEncoder` of ai.onnx.ml 3) where there
//! are texts. N rows of p features become
//!
//! ```text
//!  X [N, p] (─► NaN to fills) ─► MatMul weights ─► Add bias (+ cosine) (+ rbf) ─► z [N, d]
//!
//!  cosine:  X / max(|X|, 1e-12) ─► MatMul weights
//!  rbf:     X columns - centre ─► exp(-|· - landmarks|²/width) [N, L] ─► MatMul weights
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
//! # Columns
//!
//! A model with a [`Preparation`](foretask::prepare::Preparation) knows how the columns of a table become features. If
//! all are numbers and no feature says that a value is missing, the graph takes X and fills what is NaN in it. Otherwise
//! it takes the columns by their names, as [`inputs`] lists them, and X is made of
//!
//! ```text
//!  number [N, 1], double:  ─┬─► NaN to fill ──────────────────────────────────────────────────► [N, 1] ─┐
//!                           └─► IsNaN ─► Cast (if its absence is a feature) ──────────────────► [N, 1] ─┤
//!  flag [N, 1], string:    ─┬─► LabelEncoder: 0, 1, 2 "", 3 other ─► Gather (0, 1, fill, NaN) ► [N, 1] ─┼─► Concat
//!                           └─► (code = 2) ─► Cast (likewise) ────────────────────────────────► [N, 1] ─┤
//!  levels [N, 1], string:   ──► LabelEncoder: 0 … L-1 (, L ""), -1 other ─► Equal 0 … ─► Cast ► [N, L] ─┘
//! ```
//!
//! A missing number is NaN, a missing text is empty. Texts are compared as they are: the names of levels must be
//! written as the features of the model have them (`foretask inspect` lists `island=Biscoe`), so `2` for what a table has
//! as `2.0`, `true` for `True`, and without blanks around them. A level that training never saw is 0 everywhere. Flags
//! are `true`/`false`, `yes`/`no`, `y`/`n`, `t`/`f` in letters of any case, or `1`/`0`.
//!
//! # What a graph cannot refuse
//!
//! The library refuses rows that are not finite; a graph cannot. The label of a row with a feature that is NaN means
//! nothing, and its decision is NaN: a gap that has no fill, a flag that is neither yes nor no (votes alone, where ties go to the first class, do not show it). A quadratic rule
//! needs m N d doubles at a time, all others N max(d, m).
//!
//! The messages are those of `onnx.proto`, as far as they are used. The same model gives the same bytes.
#![forbid(unsafe_code)]

mod columns;
mod graph;
mod proto;

pub use columns::{Holds, Input, OUTPUTS, inputs};

use prost::Message;
use serde_json::json;

use columns::ML;
use foretask::{Decision, Error, Form, Model, Result};
use graph::Graph;
use proto::{Dimension, Entry, Value, data_type};

/// Version 8 of the file format and opset 17 came with ONNX 1.12 (2022): old enough to be read
/// everywhere, new enough for every operator in double precision.
const IR_VERSION: i64 = 8;
const OPSET: i64 = 17;
/// Of ai.onnx.ml, of the same year.
const ML_OPSET: i64 = 3;

/// Protocol buffers end here; readers refuse more.
const LARGEST_FILE: usize = i32::MAX as usize;

/// A model as the bytes of an ONNX file.
///
/// Input `X` (N x p, double), or the columns of a table where they are not simply numbers ([`inputs`]). Outputs:
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
/// let bytes = foretask_onnx::to_onnx(&model)?; // ready for std::fs::write("model.onnx", bytes)
/// # assert!(bytes.len() > 1000);
/// # Ok::<(), foretask::Error>(())
/// ```
pub fn to_onnx(model: &Model) -> Result<Vec<u8>> {
    let file = file(model);
    check_size(file.encoded_len())?;
    Ok(file.encode_to_vec())
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
    let features = graph.features(model);
    graph.scores(model, features);
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
                // On every threshold each pair is undecided.
                Form::Votes { thresholds, ties } => {
                    graph.votes(m, thresholds, *ties, &form.class_scores(thresholds))
                }
                Form::Quadratic(quadratic) => graph.quadratic(quadratic),
            };
            graph.argmax(class_scores, *slope, offsets, costs);
            (m, "one number per class; the largest wins".to_owned())
        }
    };
    let label_type = graph.label(classes);
    graph.step("Softmax", &["logits"], "probabilities", &[("axis", 1)]);

    let inputs = inputs(model);
    graph.name_columns(&inputs);
    let mut opset_import = vec![proto::OperatorSet {
        domain: String::new(),
        version: OPSET,
    }];
    if graph.steps.iter().any(|step| step.domain == ML) {
        opset_import.push(proto::OperatorSet {
            domain: ML.into(),
            version: ML_OPSET,
        });
    }

    let rows = Dimension::named("N");
    let double = |name: &str, columns: usize, doc: String| {
        let shape = vec![rows.clone(), Dimension::of(columns)];
        Value::new(name, data_type::DOUBLE, shape, doc)
    };
    let input = |(place, input): (usize, &Input)| {
        let (kind, columns) = match input.holds {
            Holds::Features(features) => (data_type::DOUBLE, features),
            Holds::Number => (data_type::DOUBLE, 1),
            Holds::Text => (data_type::STRING, 1),
        };
        let shape = vec![rows.clone(), Dimension::of(columns)];
        Value::new(&input.name, kind, shape, columns::meaning(model, place))
    };
    let [label, decision, probabilities] = OUTPUTS;
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
            input: inputs.iter().enumerate().map(input).collect(),
            output: vec![
                Value::new(label, label_type, vec![rows.clone()], "the class".into()),
                double(decision, columns, meaning),
                double(probabilities, m, order),
            ],
        }),
        opset_import,
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
        forecast.provenance.in_words(),
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::graph::whole_numbers;
    use super::proto::Attribute;
    use super::*;
    use foretask::prepare::{Encoded, Encoding, Preparation};
    use foretask::{Evidence, Rows, RuleName, Settings, Study, Tasks, Ties};

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
            (model(&three, &votes(Ties::First)), &["Sign"]),
            (model(&three, &votes(Ties::Margins)), &["Sign", "Div"]),
            (model(&three, &quadratic()), &["ReduceSum", "Transpose"]),
            (
                prepared(vec![
                    column("a", Encoding::Number, &[1.5]),
                    column("b", Encoding::Number, &[]),
                    column("c", Encoding::Number, &[2.5]),
                    column("d", Encoding::Number, &[3.5]),
                ]),
                &["IsNaN", "Where"],
            ),
            (
                // Names of an output, of a constant, and of steps and inputs on the way.
                prepared(vec![
                    column("decision", levels(&["x", "y"]), &[]),
                    column("weights", Encoding::Flag, &[1.0]),
                    column("weights_", Encoding::Number, &[0.5]),
                ]),
                &["LabelEncoder", "Equal", "Gather", "Concat"],
            ),
            (
                prepared(vec![
                    absent(column("column_1", levels(&["x"]), &[])),
                    column("column_0", Encoding::Number, &[]),
                    column("column_0_code", Encoding::Number, &[0.0]),
                ]),
                &["LabelEncoder", "Cast", "Where"],
            ),
            (
                prepared(vec![
                    absent(column("X", Encoding::Number, &[1.0])),
                    absent(column("features", Encoding::Flag, &[])),
                ]),
                &["IsNaN", "LabelEncoder"],
            ),
        ]
    }

    fn levels(names: &[&str]) -> Encoding {
        Encoding::Levels(names.iter().map(|&name| name.into()).collect())
    }

    fn column(name: &str, encoding: Encoding, fills: &[f64]) -> Encoded {
        Encoded {
            name: name.into(),
            encoding,
            indicator: false,
            fills: fills.to_vec(),
            missing: 0.0,
        }
    }

    fn absent(column: Encoded) -> Encoded {
        Encoded {
            indicator: true,
            ..column
        }
    }

    fn prepared(columns: Vec<Encoded>) -> Model {
        let preparation = Preparation {
            columns,
            ..Preparation::default()
        };
        let model = model(&["a", "b"], &Settings::default());
        model.with_preparation(preparation).unwrap()
    }

    #[test]
    fn steps_follow_what_they_need_and_names_are_used_once() {
        for (model, operators) in kinds() {
            let graph = file(&model).graph.unwrap();
            let used: HashSet<&str> = graph.node.iter().map(|step| &*step.op_type).collect();
            assert!(operators.iter().all(|one| used.contains(one)), "{used:?}");

            let mut known: HashSet<&str> = graph.input.iter().map(|input| &*input.name).collect();
            assert_eq!(known.len(), graph.input.len());
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
    fn numbers_are_one_input_and_other_columns_one_each() {
        let listed = |model: &Model| -> Vec<(String, Holds)> {
            let inputs = inputs(model);
            let names: Vec<&String> = inputs.iter().map(|input| &input.name).collect();
            let graph = file(model).graph.unwrap();
            assert!(graph.input.iter().map(|input| &input.name).eq(names));
            inputs
                .into_iter()
                .map(|one| (one.name, one.holds))
                .collect()
        };
        let x = vec![("X".to_owned(), Holds::Features(4))];
        let plain = model(&["a", "b"], &Settings::default());
        assert_eq!(listed(&plain), x);
        let numbers: Vec<Encoded> = ["a", "b", "c", "d"]
            .map(|name| column(name, Encoding::Number, &[7.0]))
            .into();
        let filled = prepared(numbers.clone());
        assert_eq!(listed(&filled), x);
        let operator_sets = |model: &Model| file(model).opset_import.len();
        assert_eq!([operator_sets(&plain), operator_sets(&filled)], [1, 1]);

        // One text or one feature for gaps is enough: there is no matrix of numbers that is the table.
        let text = prepared(vec![
            column("label", Encoding::Number, &[7.0]),
            column("label_", levels(&["x", "y"]), &[]),
            column("", Encoding::Flag, &[1.0]),
        ]);
        let expected = [
            ("label_", Holds::Number),
            ("label__", Holds::Text),
            ("_", Holds::Text),
        ];
        assert_eq!(
            listed(&text),
            expected.map(|(name, holds)| (name.to_owned(), holds))
        );
        assert_eq!(operator_sets(&text), 2);
        let mut gaps = numbers[..3].to_vec();
        gaps[1].indicator = true;
        let gaps = prepared(gaps);
        assert!(
            listed(&gaps)
                .iter()
                .all(|(_, holds)| *holds == Holds::Number)
        );
        assert_eq!(operator_sets(&gaps), 1);
    }

    #[test]
    fn flags_are_known_in_letters_of_any_case() {
        let text = prepared(vec![
            column("flag", Encoding::Flag, &[1.0]),
            column("level", levels(&["x", "y", "z"]), &[]),
        ]);
        let bytes = to_onnx(&text).unwrap();
        let has = |word: &str| {
            // Field 9 of an attribute: a text of that length.
            let entry = [b"\x4a", &[word.len() as u8][..], word.as_bytes()].concat();
            bytes.windows(entry.len()).any(|part| part == entry)
        };
        for word in [
            "yes", "Yes", "YES", "yEs", "true", "False", "T", "n", "0", "1", "", "z",
        ] {
            assert!(has(word), "{word}");
        }
        assert!(!has("2") && !has("Z"));
    }

    #[test]
    fn the_same_model_gives_the_same_bytes() {
        for ((model, _), (again, _)) in kinds().iter().zip(&kinds()) {
            let bytes = to_onnx(model).unwrap();
            assert_eq!(bytes, to_onnx(again).unwrap());
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
