//! [`Graph`]: the steps from features to decision.

use faer::Mat;
use foretask::{Kernel, Model, Quadratic, Term, Ties};

use crate::proto::{Attribute, Node, Tensor, data_type};

/// Constants, and steps that each come after what they need.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) steps: Vec<Node>,
    pub(super) constants: Vec<Tensor>,
}

impl Graph {
    /// z, named `scores`, of the features of that name.
    pub(super) fn scores(&mut self, model: &Model, features: &str) {
        let d = model.intercept().len();
        let weights = model.weights();
        self.matrix("weights", weights);
        self.doubles("bias", &[d], model.intercept().iter().copied());
        self.step("MatMul", &[features, "weights"], "products", &[]);
        let linear = if model.terms().is_empty() {
            "scores"
        } else {
            "linear"
        };
        self.step("Add", &["products", "bias"], linear, &[]);
        let mut so_far = linear.to_owned();
        for (number, term) in model.terms().iter().enumerate() {
            let last = number + 1 == model.terms().len();
            let sum = if last {
                "scores".to_owned()
            } else {
                format!("sum_{number}")
            };
            let added = match term {
                Term::Cosine { weights } => self.cosine(features, weights),
                Term::Rbf {
                    columns,
                    centre,
                    kernel,
                    weights,
                } => self.rbf(features, columns, centre, kernel, weights),
            };
            self.step("Add", &[&so_far, added], &sum, &[]);
            so_far = sum;
        }
    }

    /// What rows over their length add.
    fn cosine(&mut self, features: &str, weights: &Mat<f64>) -> &'static str {
        self.matrix("cosine_weights", weights);
        self.integers("cosine_axis", &[1], &[1]);
        // As the library has it for rows without length.
        self.double("shortest", 1e-12);
        self.step("Mul", &[features, features], "cosine_squares", &[]);
        self.step(
            "ReduceSum",
            &["cosine_squares", "cosine_axis"],
            "cosine_square",
            &[],
        );
        self.step("Sqrt", &["cosine_square"], "cosine_length", &[]);
        self.step("Max", &["cosine_length", "shortest"], "cosine_unit", &[]);
        self.step("Div", &[features, "cosine_unit"], "cosine_rows", &[]);
        self.step(
            "MatMul",
            &["cosine_rows", "cosine_weights"],
            "cosine_scores",
            &[],
        );
        "cosine_scores"
    }

    /// What a kernel adds.
    fn rbf(
        &mut self,
        features: &str,
        columns: &[f64],
        centre: &[f64],
        kernel: &Kernel,
        weights: &Mat<f64>,
    ) -> &'static str {
        let landmarks = kernel.landmarks();
        let squares = landmarks
            .col_iter()
            .map(|landmark| landmark.squared_norm_l2());
        self.doubles("rbf_columns", &[columns.len()], columns.iter().copied());
        self.doubles("rbf_centre", &[centre.len()], centre.iter().copied());
        self.matrix("rbf_landmarks", landmarks);
        self.doubles("rbf_squares", &[landmarks.ncols()], squares);
        self.matrix("rbf_weights", weights);
        self.integers("rbf_axis", &[1], &[1]);
        self.double("rbf_two", 2.0);
        self.double("rbf_nearest", 0.0);
        self.double("rbf_rate", -1.0 / kernel.width());
        self.step("Mul", &[features, "rbf_columns"], "rbf_scaled", &[]);
        self.step("Sub", &["rbf_scaled", "rbf_centre"], "rbf_rows", &[]);
        self.step("Mul", &["rbf_rows", "rbf_rows"], "rbf_own", &[]);
        self.step("ReduceSum", &["rbf_own", "rbf_axis"], "rbf_own_square", &[]);
        self.step("Add", &["rbf_own_square", "rbf_squares"], "rbf_both", &[]);
        self.step(
            "MatMul",
            &["rbf_rows", "rbf_landmarks"],
            "rbf_products",
            &[],
        );
        self.step("Mul", &["rbf_products", "rbf_two"], "rbf_twice", &[]);
        self.step("Sub", &["rbf_both", "rbf_twice"], "rbf_apart", &[]);
        self.step("Max", &["rbf_apart", "rbf_nearest"], "rbf_distance", &[]);
        self.step("Mul", &["rbf_distance", "rbf_rate"], "rbf_exponent", &[]);
        self.step("Exp", &["rbf_exponent"], "rbf_values", &[]);
        self.step("MatMul", &["rbf_values", "rbf_weights"], "rbf_scores", &[]);
        "rbf_scores"
    }

    fn matrix(&mut self, name: &str, matrix: &Mat<f64>) {
        let (rows, columns) = matrix.shape();
        let by_row = (0..rows).flat_map(|i| (0..columns).map(move |j| matrix[(i, j)]));
        self.doubles(name, &[rows, columns], by_row);
    }

    /// `decision`, `index` and `logits` of one score.
    pub(super) fn threshold(&mut self, threshold: f64, slope: f64, centre: f64) {
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
    pub(super) fn argmax(
        &mut self,
        class_scores: &str,
        slope: f64,
        offsets: &[f64],
        costs: &[f64],
    ) {
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

    /// Class scores of one score per pair; `undecided` are those where every pair is.
    pub(super) fn votes(
        &mut self,
        m: usize,
        thresholds: &[f64],
        ties: Ties,
        undecided: &[f64],
    ) -> &'static str {
        let side = |(a, b): (usize, usize), class: usize| match class {
            _ if class == a => 1.0,
            _ if class == b => -1.0,
            _ => 0.0,
        };
        let sides = pairs(m).flat_map(|pair| (0..m).map(move |class| side(pair, class)));
        self.doubles("pairs", &[thresholds.len(), m], sides);
        self.doubles(
            "thresholds",
            &[thresholds.len()],
            thresholds.iter().copied(),
        );
        self.double("half", 0.5);
        self.doubles("undecided", &[m], undecided.iter().copied());

        // What a pair on its threshold would give half to either class of, it gives to one.
        self.step("Sub", &["scores", "thresholds"], "margins", &[]);
        self.step("Sign", &["margins"], "signs", &[]);
        self.step("MatMul", &["signs", "pairs"], "gained", &[]);
        self.step("Mul", &["gained", "half"], "won", &[]);
        self.step("Add", &["won", "undecided"], "votes", &[]);
        if ties == Ties::First {
            return "votes";
        }
        self.double("one", 1.0);
        self.double("three", 3.0);
        self.step("MatMul", &["margins", "pairs"], "sums", &[]);
        self.step("Abs", &["sums"], "sizes", &[]);
        self.step("Add", &["sizes", "one"], "larger_sizes", &[]);
        self.step("Mul", &["larger_sizes", "three"], "units", &[]);
        self.step("Div", &["sums", "units"], "parts", &[]);
        self.step("Add", &["votes", "parts"], "votes_and_parts", &[]);
        "votes_and_parts"
    }

    /// Class scores of Gaussian classes.
    pub(super) fn quadratic(&mut self, quadratic: &Quadratic) -> &'static str {
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
    pub(super) fn label(&mut self, classes: &[String]) -> i32 {
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

    pub(super) fn replace_nan(&mut self, values: &str, by: &str, output: &str) {
        let missing = format!("{values}_missing");
        self.step("IsNaN", &[values], &missing, &[]);
        self.step("Where", &[&missing, by, values], output, &[]);
    }

    pub(super) fn step(
        &mut self,
        operator: &str,
        inputs: &[&str],
        output: &str,
        with: &[(&str, i64)],
    ) {
        let attribute = with.iter().map(|&(name, i)| Attribute::int(name, i));
        self.push("", operator, inputs, output, attribute.collect());
    }

    pub(super) fn push(
        &mut self,
        domain: &str,
        operator: &str,
        inputs: &[&str],
        output: &str,
        attribute: Vec<Attribute>,
    ) {
        self.steps.push(Node {
            input: inputs.iter().map(|&input| input.into()).collect(),
            output: vec![output.into()],
            name: format!("make_{output}"),
            op_type: operator.into(),
            attribute,
            domain: domain.into(),
        });
    }

    pub(super) fn double(&mut self, name: &str, value: f64) {
        self.doubles(name, &[], [value]);
    }

    pub(super) fn doubles(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = f64>,
    ) {
        let bytes = values.into_iter().flat_map(f64::to_le_bytes).collect();
        self.constants
            .push(Tensor::new(name, data_type::DOUBLE, shape, bytes));
    }

    pub(super) fn integers(&mut self, name: &str, shape: &[usize], values: &[i64]) {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constants
            .push(Tensor::new(name, data_type::INT64, shape, bytes));
    }
}

/// The class names as numbers, if each is the one way to write a whole number: "7", not "07".
pub(super) fn whole_numbers(classes: &[String]) -> Option<Vec<i64>> {
    let whole = |class: &String| {
        let number = class.parse::<i64>().ok()?;
        (number.to_string() == *class).then_some(number)
    };
    classes.iter().map(whole).collect()
}

/// The pairs of m classes in the order of their scores.
fn pairs(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |a| (a + 1..classes).map(move |b| (a, b)))
}
