//! The default against golden values of an implementation in numpy that shares no code with it: explicit hat
//! matrices, dense solves, one class block after the other (`docs/4-when-to-trust-a-forecast.md#families`).

use foretask::{Rows, Settings, Statistics, Study, Tasks, View, Word};
use serde_json::Value;

use super::common::golden::{array, load, numbers};
use crate::recipe::{Folds, keys};

/// Both sides solve with couplings up to 100; the reference has no guard against cancellation.
const GOLDEN: f64 = 1e-7;

struct Case {
    name: String,
    values: Vec<f64>,
    features: usize,
    task: Vec<String>,
    class: Vec<String>,
    test: Vec<f64>,
    golden: Value,
}

/// Tasks are named so that the target comes last.
fn cases() -> Vec<Case> {
    let of = |golden: &Value| {
        let (mut values, mut task, mut class) = (Vec::new(), Vec::new(), Vec::new());
        for (number, own) in array(&golden["tasks"]).iter().enumerate() {
            values.extend(numbers(&own["rows"]));
            for label in array(&own["class"]) {
                task.push(format!("task {number}"));
                class.push(format!("class {label}"));
            }
        }
        Case {
            name: golden["name"].as_str().unwrap().to_owned(),
            features: values.len() / task.len(),
            values,
            task,
            class,
            test: numbers(&golden["test"]),
            golden: golden.clone(),
        }
    };
    array(&load("default")["cases"]).iter().map(of).collect()
}

impl Case {
    fn target(&self) -> String {
        format!("task {}", array(&self.golden["tasks"]).len() - 1)
    }

    /// What tells the target's samples apart, in a view.
    fn keys(&self, view: View) -> Vec<f64> {
        let rows = Rows::row_major(&self.values, self.features).unwrap();
        let tasks = Tasks::new(rows, &self.task, &self.class).unwrap();
        let target = tasks.cells().tasks().len() - 1;
        let statistics = view.of(&Statistics::of(&tasks), target).unwrap().statistics;
        let rows = statistics.rows_of(target).unwrap();
        keys(rows, &statistics.pooled_variances())
    }

    /// The classes of the target's samples.
    fn own_class(&self) -> Vec<usize> {
        let target = array(&self.golden["tasks"]).last().unwrap();
        let classes = array(&target["class"]).iter();
        classes.map(|c| c.as_u64().unwrap() as usize).collect()
    }
}

#[test]
fn label_folds_are_those_the_golden_values_were_made_with() {
    let mut others = Vec::new();
    for case in cases() {
        let class = case.own_class();
        let m = class.iter().max().unwrap() + 1;
        // The theory chooses no labels without sources, nor for a class of one sample.
        let has_sources = array(&case.golden["tasks"]).len() > 1;
        let fewest = (0..m)
            .map(|c| class.iter().filter(|&&own| own == c).count())
            .min();
        if !has_sources || fewest < Some(2) {
            continue;
        }
        for (view, stored) in [(View::Raw, "folds"), (View::Cosine, "cosine_folds")] {
            let mut dealt = vec![0; class.len()];
            let folds =
                Folds::of_labels(&class, m, &crate::data::Groups::default(), &case.keys(view));
            for (number, fold) in folds.into_iter().enumerate() {
                fold.held_out.iter().for_each(|&l| dealt[l] = number);
            }
            let stored: Vec<usize> = numbers(&case.golden[stored])
                .iter()
                .map(|&fold| fold as usize)
                .collect();
            if dealt != stored {
                others.push((case.name.clone(), view, dealt));
            }
        }
    }
    assert!(others.is_empty(), "dealt now: {others:?}");
}

#[test]
fn scores_and_weights_of_every_view_are_the_golden_ones() {
    for case in cases() {
        let rows = Rows::row_major(&case.values, case.features).unwrap();
        let tasks = Tasks::new(rows, &case.task, &case.class).unwrap();
        let test = Rows::row_major(&case.test, case.features).unwrap();
        for (views, expected) in case.golden["scores"].as_object().unwrap() {
            let what = format!("{}, {views}", case.name);
            let settings = Settings {
                target: Some(case.target()),
                views: views.parse().unwrap(),
                ..Settings::default()
            };
            let study = Study::new(&tasks, &settings).unwrap();
            let golden = &case.golden["weights"][views];
            for (family, weight) in &study.rule().weights {
                let expected = golden[family.word()].as_f64().unwrap_or(0.0);
                assert!(
                    (weight - expected).abs() < GOLDEN,
                    "{what}: {family} {weight} {expected}"
                );
            }
            let model = study.model().unwrap();
            let scores = model.scores(test).unwrap();
            for (l, expected) in array(expected).iter().map(numbers).enumerate() {
                for (c, score) in expected.iter().enumerate() {
                    // Two classes have one score, the difference.
                    let (own, score) = match expected.as_slice() {
                        [first, second] => (scores[(l, 0)], first - second),
                        _ => (scores[(l, c)], *score),
                    };
                    assert!(
                        (own - score).abs() < GOLDEN,
                        "{what}: {l} {c} {own} {score}"
                    );
                }
            }
        }
    }
}
