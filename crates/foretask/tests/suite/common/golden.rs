//! The golden values (`docs/2-the-theory.md#how-the-formulas-were-checked`), in the forms the tests use.

use faer::Mat;
use serde_json::Value;

use super::{Problem, Responses, TaskData};

/// "1e-10 relative", the tolerance stated in the files; the values are shortest round-trip doubles.
pub const GOLDEN: f64 = 1e-10;

/// A `train_*` file.
pub struct Training {
    pub name: &'static str,
    pub problem: Problem,
    /// Classes in each task, m; cell r is class r % m of task r / m.
    pub classes: usize,
    /// Two label vectors, C x 2.
    pub labels: Mat<f64>,
    pub expected: Value,
}

/// All `train_*` files; the probes of every task are X_test.
pub fn training() -> Vec<Training> {
    [
        "train_k2_m2",
        "train_k3_m3_dual",
        "train_edge_gamma0",
        "train_edge_lambda0",
    ]
    .into_iter()
    .map(Training::load)
    .collect()
}

impl Training {
    fn load(name: &'static str) -> Self {
        let golden = load(name);
        let input = &golden["input"];
        let probes: Vec<Vec<f64>> = array(&input["X_test"]).iter().map(numbers).collect();
        let tasks = array(&input["X"])
            .iter()
            .enumerate()
            .map(|(index, x)| TaskData {
                name: task_name(index),
                gamma: input["gamma"][index].as_f64().unwrap(),
                rows: array(x).iter().map(numbers).collect(),
                class: array(&input["labels"][index])
                    .iter()
                    .map(Value::to_string)
                    .collect(),
                probes: probes.clone(),
            })
            .collect();
        let features = input["p"].as_u64().unwrap() as usize;
        let problem = Problem {
            features,
            lambda: input["lam"].as_f64().unwrap(),
            tasks,
        };
        let classes = array(&input["n"][0]).len();
        Self {
            name,
            problem,
            classes,
            labels: matrix(&input["ycal"]),
            expected: golden["expected"].clone(),
        }
    }

    /// A matrix of one row per sample (task after task) and one column per cell, by name.
    pub fn by_name(&self, samples: &Mat<f64>) -> Responses {
        let mut all = Responses::new();
        let mut start = 0;
        for task in &self.problem.tasks {
            let end = start + task.rows.len();
            for cell in 0..samples.ncols() {
                let key = (
                    task.name.clone(),
                    task_name(cell / self.classes),
                    (cell % self.classes).to_string(),
                );
                all.insert(
                    key,
                    (start..end).map(|sample| samples[(sample, cell)]).collect(),
                );
            }
            start = end;
        }
        all
    }
}

fn task_name(index: usize) -> String {
    format!("task{index}")
}

/// A golden file.
pub fn load(name: &str) -> Value {
    let path = format!("{}/tests/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

/// All numbers of nested lists, in order.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().unwrap()],
    }
}

/// A list of rows.
pub fn matrix(value: &Value) -> Mat<f64> {
    let rows: Vec<Vec<f64>> = array(value).iter().map(numbers).collect();
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}
