//! Views of the features: what each does not depend on, what is kept of it in a model, and when it is left out.

use foretask::{
    FalseAlarm, Family, Labels, Model, Note, Rows, Settings, Skipped, Statistics, Study, Tail,
    Tasks, View, Views,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::common::drawn::{Data, along, error_of, settings};
use super::common::generate::cases;

/// Scores of maps that differ by rounding; the weights of candidates multiply it.
const ROUNDING: f64 = 1e-7;

fn only(view: View) -> Settings {
    Settings {
        views: Views(vec![view]),
        ..settings(Labels::Auto)
    }
}

fn two_tasks(features: usize, seed: u64) -> Data {
    let mean = along(1.5);
    Data::new(
        features,
        &[("source", &[20, 15], &mean), ("target", &[9, 8], &mean)],
        seed,
    )
}

/// The same rows, each value multiplied by `of` its row and feature.
fn times(data: &Data, of: impl Fn(usize, usize) -> f64) -> Data {
    let p = data.features;
    let values = data.values.iter().enumerate();
    Data {
        values: values.map(|(i, x)| x * of(i / p, i % p)).collect(),
        features: p,
        task: data.task.clone(),
        class: data.class.clone(),
    }
}

fn scores(data: &Data, settings: &Settings) -> faer::Mat<f64> {
    let tasks = data.tasks();
    let model = Study::new(&tasks, settings).unwrap().model().unwrap();
    model.scores(data.rows()).unwrap()
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn units_do_not_matter_to_the_standard_view_and_the_kernel(seed: u64, features in 2_usize..30) {
        let data = two_tasks(features, seed);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let unit: Vec<f64> = (0..features).map(|_| 10_f64.powf(random.random_range(-2.0..2.0))).collect();
        let scaled = times(&data, |_, feature| unit[feature]);
        for view in [View::Standard, View::Rbf] {
            let apart = scores(&data, &only(view)) - scores(&scaled, &only(view));
            prop_assert!(apart.norm_max() < ROUNDING, "{view}: {}", apart.norm_max());
        }
    }

    #[test]
    fn lengths_of_rows_do_not_matter_to_the_cosine_view(seed: u64, features in 4_usize..30) {
        let data = two_tasks(features, seed);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let length: Vec<f64> = (0..data.task.len()).map(|_| random.random_range(0.1..10.0)).collect();
        let scaled = times(&data, |row, _| length[row]);
        let apart = scores(&data, &only(View::Cosine)) - scores(&scaled, &only(View::Cosine));
        prop_assert!(apart.norm_max() < ROUNDING, "{}", apart.norm_max());
    }

    #[test]
    fn a_model_of_all_views_is_the_same_after_a_file(seed: u64, features in 4_usize..12) {
        let data = two_tasks(features, seed);
        let tasks = data.tasks();
        let model = Study::new(&tasks, &settings(Labels::Auto)).unwrap().model().unwrap();
        prop_assert_eq!(model.terms().len(), 2);
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        prop_assert_eq!(&again, &model);
        let rows = data.rows();
        prop_assert_eq!(again.scores(rows).unwrap(), model.scores(rows).unwrap());
    }
}

#[test]
fn linear_views_have_one_weight_per_feature() {
    let data = two_tasks(7, 1);
    let linear = Settings {
        views: Views::linear(),
        ..settings(Labels::Auto)
    };
    let tasks = data.tasks();
    let study = Study::new(&tasks, &linear).unwrap();
    assert!(study.rule().views.iter().all(|(_, weight)| *weight > 0.0));
    let model = study.model().unwrap();
    assert!(model.terms().is_empty());
    let made = model.scores(data.rows()).unwrap();
    for (row, x) in data.values.chunks(7).enumerate() {
        let weights = model.weights().col(0).iter();
        let score: f64 = weights.zip(x).map(|(w, x)| w * x).sum();
        assert!((score + model.intercept()[0] - made[(row, 0)]).abs() < 1e-9);
    }
}

/// The same rows with one more feature, the same in all.
fn with_constant(data: &Data, value: f64) -> Data {
    let rows = data.values.chunks(data.features);
    Data {
        values: rows
            .flat_map(|row| row.iter().copied().chain([value]))
            .collect(),
        features: data.features + 1,
        task: data.task.clone(),
        class: data.class.clone(),
    }
}

#[test]
fn a_constant_feature_is_no_feature_whatever_its_value() {
    // The mean of copies of 0.1 is not 0.1: what rounding leaves must not be taken for a spread.
    let data = two_tasks(5, 8);
    let zero = with_constant(&data, 0.0);
    for value in [0.1, 1e6 / 3.0] {
        let constant = with_constant(&data, value);
        for view in [View::Standard, View::Rbf] {
            let apart = scores(&zero, &only(view)) - scores(&constant, &only(view));
            assert!(
                apart.norm_max() < ROUNDING,
                "{view} {value}: {}",
                apart.norm_max()
            );
        }
    }
}

#[test]
fn a_file_that_lost_a_view_is_refused() {
    let data = two_tasks(5, 11);
    let tasks = data.tasks();
    let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
    let bytes = study.model().unwrap().to_bytes().unwrap();
    let name = b"cosine.weights";
    let mut lost = bytes.clone();
    let at = lost.windows(name.len()).position(|part| part == name);
    lost[at.unwrap()] = b'k';
    let lost = crate::tensors::sealed_anew(&lost).unwrap();
    let error = Model::from_bytes(&lost).unwrap_err().to_string();
    assert!(error.contains("cosine"), "{error}");
}

#[test]
fn a_view_that_is_named_twice_counts_once() {
    let data = two_tasks(5, 9);
    let twice = Settings {
        views: Views(vec![View::Rbf, View::Raw, View::Rbf]),
        ..settings(Labels::Auto)
    };
    let once = Settings {
        views: Views(vec![View::Raw, View::Rbf]),
        ..settings(Labels::Auto)
    };
    assert_eq!(scores(&data, &twice), scores(&data, &once));
}

#[test]
fn what_is_compared_has_errors_that_make_sense() {
    let mean = along(1.5);
    let of = |counts: &[usize]| {
        let data = Data::new(
            6,
            &[("source", &[20, 20], &mean), ("target", counts, &mean)],
            10,
        );
        let tasks = data.tasks();
        let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
        let compared = study.compare(&|_| {}).unwrap();
        for rule in &compared {
            assert!((0.0..=1.0).contains(&rule.forecast.error), "{}", rule.name);
        }
        assert!(compared.last().unwrap().coupling.is_some());
        compared
    };
    // One label per class: views that weigh nothing are still compared.
    let few = of(&[1, 1]);
    assert!(few.iter().any(|rule| rule.name == "rbf view"));
    // The rarer class comes first.
    let skewed = of(&[8, 32]);
    assert_eq!(skewed[1].name, "commonest class");
    assert!((skewed[1].forecast.error - 0.2).abs() < 0.05);
}

/// What a study says of the views that it left out.
fn left_out(study: &Study<'_>) -> Vec<(View, Skipped)> {
    let notes = study.forecast().notes.iter();
    notes
        .filter_map(|note| match note {
            Note::ViewLeftOut { view, why } => Some((*view, *why)),
            _ => None,
        })
        .collect()
}

#[test]
fn views_that_add_nothing_are_left_out_and_told() {
    let seen = |data: &Data| {
        let tasks = data.tasks();
        left_out(&Study::new(&tasks, &settings(Labels::Auto)).unwrap())
    };
    assert_eq!(seen(&two_tasks(9, 2)), []);
    assert_eq!(
        seen(&two_tasks(3, 2)),
        [(View::Cosine, Skipped::EqualLengths)]
    );
    let data = two_tasks(9, 2);
    let length: Vec<f64> = data
        .values
        .chunks(9)
        .map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt())
        .collect();
    let unit = times(&data, |row, _| 1.0 / length[row]);
    assert_eq!(seen(&unit), [(View::Cosine, Skipped::EqualLengths)]);
    let mean = along(1.0);
    let alone = Data::new(5, &[("target", &[300, 200], &mean)], 3);
    assert_eq!(seen(&alone), [(View::Rbf, Skipped::FewSources)]);
}

#[test]
fn streams_have_the_views_that_need_no_rows() {
    let data = two_tasks(5, 4);
    let mut statistics = Statistics::new(5).keeping_rows_of("target");
    statistics
        .add(data.rows(), &data.task, &data.class)
        .unwrap();
    let study = Study::new(&statistics, &settings(Labels::Auto)).unwrap();
    let streamed = |view| (view, Skipped::Streamed);
    assert_eq!(left_out(&study), [View::Cosine, View::Rbf].map(streamed));
    let error = Study::new(&statistics, &only(View::Rbf)).unwrap_err();
    assert!(error.to_string().contains("rows of every task"), "{error}");
}

#[test]
fn rules_by_name_look_through_one_linear_view() {
    let data = two_tasks(6, 5);
    let tasks = data.tasks();
    let of = |views: &str| Settings {
        views: views.parse().unwrap(),
        ..settings(Labels::Optimal)
    };
    let seen = |views: &str| {
        let study = Study::new(&tasks, &of(views)).unwrap();
        study.rule().views.clone()
    };
    assert_eq!(seen("auto"), [(View::Raw, 1.0)]);
    assert_eq!(seen("standard,rbf"), [(View::Standard, 1.0)]);
    let error = Study::new(&tasks, &of("cosine,rbf")).unwrap_err();
    assert!(error.to_string().contains("raw or standard"), "{error}");
    // In the standard view units do not matter to them either.
    let scaled = times(&data, |_, feature| [1.0, 100.0, 0.01][feature % 3]);
    let apart = scores(&data, &of("standard")) - scores(&scaled, &of("standard"));
    assert!(apart.norm_max() < ROUNDING, "{}", apart.norm_max());
}

/// Two classes that no plane separates: a ball and the shell around it.
fn shell(counts: &[(&str, usize)], seed: u64) -> Data {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut values, mut task, mut class) = (Vec::new(), Vec::new(), Vec::new());
    for (name, count) in counts {
        for row in 0..*count {
            let direction: Vec<f64> = (0..4).map(|_| random.random_range(-1.0..1.0)).collect();
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            let radius = if row % 2 == 0 { 1.0 } else { 2.2 };
            values.extend(direction.iter().map(|x| radius * x / length));
            task.push((*name).to_owned());
            class.push(format!("c{}", row % 2));
        }
    }
    Data {
        values,
        features: 4,
        task,
        class,
    }
}

#[test]
fn the_kernel_tells_classes_apart_that_bend() {
    let data = shell(&[("source", 120), ("target", 40)], 6);
    let test = shell(&[("target", 1000)], 7);
    let tasks = data.tasks();
    let error = |settings: &Settings| {
        let model = Study::new(&tasks, settings).unwrap().model().unwrap();
        error_of(&model, &test)
    };
    let linear = error(&Settings {
        views: Views::linear(),
        ..settings(Labels::Auto)
    });
    let all = error(&settings(Labels::Auto));
    assert!(all < 0.05 && linear > 0.3, "all {all}, linear {linear}");
}

#[test]
fn labels_of_the_theory_do_not_learn_noise_by_heart() {
    // Nothing differs between the classes: left-out errors of the optimal family must not fall below chance.
    let nothing = |_: usize, _: usize| 0.0;
    let draws = 40;
    let mut press = 0.0;
    for seed in 0..draws {
        let data = Data::new(
            30,
            &[
                ("source", &[40, 40], &nothing),
                ("target", &[15, 15], &nothing),
            ],
            900 + seed,
        );
        let tasks: Tasks<'_> = data.tasks();
        let study = Study::new(&tasks, &only(View::Raw)).unwrap();
        let optimal = study.rule().candidates.iter();
        let own: Vec<f64> = optimal
            .filter(|candidate| candidate.family == Family::Optimal)
            .map(|candidate| candidate.press)
            .collect();
        press += own.iter().sum::<f64>() / own.len() as f64 / draws as f64;
    }
    println!("noise: mean press of the optimal family {press:.3}");
    assert!(press > 0.97, "{press}");
}

#[test]
fn with_one_label_per_class_sources_decide() {
    let mean = along(1.2);
    let (mut default, mut classical) = (0.0, 0.0);
    let draws = 30;
    for seed in 0..draws {
        let data = Data::new(
            15,
            &[
                ("a", &[25, 25], &mean),
                ("b", &[30, 20], &mean),
                ("target", &[1, 1], &mean),
            ],
            50 + seed,
        );
        let test = Data::new(15, &[("target", &[300, 300], &mean)], 5000 + seed);
        let tasks = data.tasks();
        let error = |labels| {
            let study = Study::new(&tasks, &settings(labels)).unwrap();
            error_of(&study.model().unwrap(), &test) / draws as f64
        };
        default += error(Labels::Auto);
        classical += error(Labels::Classical);
    }
    println!("one label per class: default {default:.3}, classical {classical:.3}");
    assert!(default < classical + 0.01, "{default} {classical}");
}

#[test]
fn a_rate_is_held_with_all_views() {
    let mean = along(1.0);
    let draws = 25;
    let mut rate = 0.0;
    for seed in 0..draws {
        let data = Data::new(
            8,
            &[("source", &[50, 50], &mean), ("target", &[80, 40], &mean)],
            seed,
        );
        let test = Data::new(8, &[("target", &[2000], &mean)], 7000 + seed);
        let held = Settings {
            false_alarm: Some(FalseAlarm {
                null: "c0".into(),
                rate: 0.1,
                tail: Tail::Auto,
            }),
            ..settings(Labels::Auto)
        };
        let tasks = data.tasks();
        let model = Study::new(&tasks, &held).unwrap().model().unwrap();
        let rows = Rows::row_major(&test.values, 8).unwrap();
        let alarms = model
            .predict(rows)
            .unwrap()
            .iter()
            .filter(|&&c| c == 1)
            .count();
        rate += alarms as f64 / 2000.0 / draws as f64;
    }
    // The rate of a draw has a deviation of √(0.1 0.9/82) = 0.033, their mean of 0.007.
    assert!((rate - 0.1).abs() < 0.025, "{rate}");
}
