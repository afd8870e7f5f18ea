//! What must not matter: which class name sorts first, the order of rows, where the features of a task have their
//! zero, and their unit.

use crate::words::Word;
use foretask::{Labels, RuleName, Settings, Study};

use super::common::drawn::{Data, Mean, along, settings};

/// Forecasts and probabilities are sums of a few hundred numbers below ten, of scores that lose a few digits in a
/// factorisation.
const ROUNDING: f64 = 1e-9;
/// Tasks in another order are eliminated in another order. Labels by name that are best for noise lose seven digits: in
/// other units, whose values differ in their last bit, they are as far apart.
const ELIMINATION: f64 = 1e-8;
/// Rows of the target that models are compared on.
const COMPARED: usize = 6;

/// What is told about a problem, classes in the order of their first names.
struct Told {
    error: f64,
    interval: [f64; 2],
    class_errors: Vec<f64>,
    log_loss: Option<f64>,
    /// By row and class.
    probabilities: Vec<Vec<f64>>,
}

impl Told {
    /// `order` has the number of each class in the order of their first names.
    fn of(data: &Data, settings: &Settings, compared: &Data, order: &[usize]) -> Self {
        let tasks = data.tasks();
        let study = Study::new(&tasks, settings).unwrap();
        let model = study.model().unwrap();
        let forecast = study.forecast();
        let probabilities = model.probabilities(compared.rows()).unwrap();
        let of_row = |l: usize| order.iter().map(|&c| probabilities[(l, c)]).collect();
        Self {
            error: forecast.error,
            interval: forecast.interval,
            class_errors: order.iter().map(|&c| forecast.class_errors[c]).collect(),
            log_loss: forecast.log_loss,
            probabilities: (0..probabilities.nrows()).map(of_row).collect(),
        }
    }

    /// The largest difference of anything.
    fn apart(&self, other: &Self) -> f64 {
        let numbers = |told: &Self| -> Vec<f64> {
            let mut numbers = vec![told.error, told.interval[0], told.interval[1]];
            numbers.extend(&told.class_errors);
            numbers.extend(told.log_loss);
            numbers.extend(told.probabilities.iter().flatten());
            numbers
        };
        let (own, other) = (numbers(self), numbers(other));
        assert_eq!(own.len(), other.len());
        let both = own.iter().zip(&other);
        // What is no number is far from everything; `max` would forget it.
        let apart = both.map(|(a, b)| (a - b).abs());
        apart.fold(0.0, |most, apart| if apart <= most { most } else { apart })
    }
}

/// The same rows with classes renamed: class c becomes class m - 1 - c.
fn mirrored(data: &Data, classes: usize) -> Data {
    let name = |class: &String| -> String {
        let number: usize = class[1..].parse().unwrap();
        format!("c{}", classes - 1 - number)
    };
    Data {
        values: data.values.clone(),
        features: data.features,
        task: data.task.clone(),
        class: data.class.iter().map(name).collect(),
    }
}

/// The same rows with sources renamed, so that the last comes first.
fn reordered(data: &Data) -> Data {
    let name = |task: &String| match task.as_str() {
        "a" => "b".to_owned(),
        "b" => "a".to_owned(),
        other => other.to_owned(),
    };
    Data {
        task: data.task.iter().map(name).collect(),
        ..data.clone()
    }
}

/// The same rows in reverse.
fn reversed(data: &Data) -> Data {
    let rows = data.values.chunks(data.features).rev();
    Data {
        values: rows.flatten().copied().collect(),
        features: data.features,
        task: data.task.iter().rev().cloned().collect(),
        class: data.class.iter().rev().cloned().collect(),
    }
}

/// Every value through a function of its task, its feature and itself.
fn changed(data: &Data, of: impl Fn(&str, usize, f64) -> f64) -> Data {
    let p = data.features;
    let values = data.values.iter().enumerate();
    Data {
        values: values
            .map(|(i, x)| of(&data.task[i / p], i % p, *x))
            .collect(),
        features: p,
        task: data.task.clone(),
        class: data.class.clone(),
    }
}

/// A few rows of the target.
fn some(data: &Data) -> Data {
    let rows = (0..data.task.len()).filter(|&l| data.task[l] == "target");
    let rows: Vec<usize> = rows.take(COMPARED).collect();
    let p = data.features;
    Data {
        values: rows
            .iter()
            .flat_map(|&l| data.values[l * p..(l + 1) * p].iter().copied())
            .collect(),
        features: p,
        task: rows.iter().map(|&l| data.task[l].clone()).collect(),
        class: rows.iter().map(|&l| data.class[l].clone()).collect(),
    }
}

/// Noise or signal, as many samples in every class or not.
fn problem(classes: usize, size: f64, skewed: bool, seed: u64) -> Data {
    with_sources(classes, 20, size, skewed, seed)
}

/// The same with so many samples in each class of a source.
fn with_sources(classes: usize, each: usize, size: f64, skewed: bool, seed: u64) -> Data {
    let mean = along(size);
    let many = vec![each; classes];
    let few: Vec<usize> = (0..classes)
        .map(|c| if skewed { 5 + 3 * c } else { 6 })
        .collect();
    let tasks: [(&str, &[usize], &Mean); 3] = [
        ("a", &many, &mean),
        ("b", &many, &mean),
        ("target", &few, &mean),
    ];
    Data::new(10, &tasks, seed)
}

/// Every rule with every labels by name, at one coupling and at one that is chosen, and the default. Lengths of rows,
/// which the cosine view divides by, do depend on where zero is.
fn every_rule() -> Vec<Settings> {
    let mut every = Vec::new();
    for rule in RuleName::ALL.iter().map(|named| named.value) {
        for label in Labels::ALL.iter().map(|named| named.value) {
            let chosen = Settings {
                rule,
                views: "raw,standard,rbf".parse().unwrap(),
                ..settings(label)
            };
            every.push(Settings {
                coupling: Some((3.0, vec![0.3])),
                ..chosen.clone()
            });
            every.push(chosen);
        }
    }
    every
}

/// Each task is moved by a vector of its own.
fn moved(task: &str, feature: usize, x: f64) -> f64 {
    let far = match task {
        "a" => 1.0,
        "b" => -2.0,
        _ => 3.0,
    };
    x + far * (feature as f64 + 1.0).sin()
}

fn in_other_units(_: &str, _: usize, x: f64) -> f64 {
    1e3 * x
}

fn nothing_of_it_matters(data: &Data, classes: usize, settings: &Settings) {
    let compared = some(data);
    let same: Vec<usize> = (0..classes).collect();
    let turned: Vec<usize> = (0..classes).rev().collect();
    let told = Told::of(data, settings, &compared, &same);
    let others = [
        ("names", mirrored(data, classes), compared.clone(), turned),
        ("rows", reversed(data), compared.clone(), same.clone()),
        ("tasks", reordered(data), compared.clone(), same.clone()),
        (
            "zero",
            changed(data, moved),
            changed(&compared, moved),
            same.clone(),
        ),
        (
            "units",
            changed(data, in_other_units),
            changed(&compared, in_other_units),
            same,
        ),
    ];
    for (what, data, compared, order) in others {
        let other = Told::of(&data, settings, &compared, &order);
        let apart = told.apart(&other);
        let rounding = if what == "tasks" {
            ELIMINATION
        } else {
            ROUNDING
        };
        let (rule, labels) = (settings.rule, settings.labels);
        let given = settings.coupling.is_some();
        assert!(
            apart < rounding,
            "{what}: {apart} ({rule}, {labels}, coupling given: {given}, {classes} classes)"
        );
    }
}

#[test]
fn neither_names_nor_order_nor_units_matter_to_two_classes() {
    for (seed, size, skewed) in [(0, 0.0, false), (3, 1.0, true)] {
        let data = problem(2, size, skewed, seed);
        for settings in every_rule() {
            nothing_of_it_matters(&data, 2, &settings);
        }
    }
}

#[test]
fn neither_names_nor_order_nor_units_matter_to_three_classes() {
    for (seed, size, skewed) in [(0, 0.0, true), (1, 0.0, false), (2, 1.0, false)] {
        let data = problem(3, size, skewed, seed);
        for settings in every_rule() {
            nothing_of_it_matters(&data, 3, &settings);
        }
    }
}

/// Beyond 400 rows a kernel has landmarks, which are some of the rows.
#[test]
fn neither_names_nor_order_nor_units_matter_to_landmarks() {
    let default = Settings {
        views: "raw,standard,rbf".parse().unwrap(),
        ..settings(Labels::Auto)
    };
    for (classes, skewed) in [(2, false), (3, true)] {
        let data = with_sources(classes, 130, 1.0, skewed, 5);
        nothing_of_it_matters(&data, classes, &default);
    }
}
