//! Pooled tasks: classical labels and one weight vector for all, at the λ of least PRESS.

use super::common;

use common::drawn::{Data, Mean, along, error_of, permuted, settings, study};
use foretask::{Evidence, FalseAlarm, Labels, RuleName, Scaling, Settings, Study, Tail, Tasks};

/// The λ of the grid for two tasks.
const LAMBDAS: [f64; 5] = [0.02, 0.2, 2.0, 20.0, 200.0];
/// The grid and a given coupling are solved by different factorisations of matrices whose condition is
/// below 1e5.
const ROUNDING: f64 = 1e-9;

fn data(classes: usize, source: &Mean, target: &Mean, seed: u64) -> Data {
    let (many, few) = (vec![30; classes], vec![8; classes]);
    let tasks = [("source", &many[..], source), ("target", &few, target)];
    Data::new(12, &tasks, seed)
}

fn at(labels: Labels, lambda: f64, gamma: &[f64]) -> Settings {
    Settings {
        coupling: Some((lambda, gamma.to_vec())),
        ..settings(labels)
    }
}

#[track_caller]
fn assert_gamma_is_zero(study: &Study<'_>) {
    let coupling = study.rule().coupling.as_ref().unwrap();
    assert!(coupling.gamma().iter().all(|&gamma| gamma == 0.0));
    assert!(LAMBDAS.contains(&coupling.lambda()), "{coupling:?}");
}

/// Rule and weights, but for the name of the labels.
#[track_caller]
fn assert_same_rule(actual: &Study<'_>, expected: &Study<'_>) {
    let (a, b) = (actual.model().unwrap(), expected.model().unwrap());
    let difference = (a.weights() - b.weights()).norm_max();
    assert!(difference < ROUNDING * b.weights().norm_max());
    for (a, b) in a.intercept().iter().zip(b.intercept()) {
        assert!((a - b).abs() < ROUNDING, "{a} {b}");
    }
}

/// The same, where both choose in the same way.
fn assert_same_forecast(actual: &Study<'_>, expected: &Study<'_>) {
    let (a, b) = (actual.forecast(), expected.forecast());
    assert!((a.error - b.error).abs() < ROUNDING);
    assert!((a.interval[1] - b.interval[1]).abs() < ROUNDING);
}

#[test]
fn pooled_is_classical_without_gamma_at_the_lambda_it_chose() {
    for classes in [2, 3] {
        let data = data(classes, &along(2.0), &along(2.0), 1);
        let tasks = data.tasks();
        for rule in [RuleName::Auto, RuleName::Bayes, RuleName::OneVsOne] {
            let with =
                |settings: Settings| Study::new(&tasks, &Settings { rule, ..settings }).unwrap();
            let pooled = with(settings(Labels::Pooled));
            assert_gamma_is_zero(&pooled);
            let lambda = pooled.rule().coupling.as_ref().unwrap().lambda();
            assert_same_rule(&pooled, &with(at(Labels::Classical, lambda, &[0.0])));
        }
    }
}

#[test]
fn lambda_is_the_one_of_least_press() {
    // Sources from much like the target to its classes rotated: the best λ is not always the same.
    let mut chosen = Vec::new();
    for turn in 0..4 {
        let shift = f64::from(turn);
        let source = move |class: usize, feature: usize| {
            along(3.0 - shift)(class, feature) + permuted(shift, 3)(class, feature)
        };
        let data = data(3, &source, &along(2.0), 2);
        let tasks = data.tasks();
        // With three classes the rule of classical labels is a candidate with its PRESS.
        let press = |settings: &Settings| {
            let study = Study::new(&tasks, settings).unwrap();
            study.rule().candidates[0].press
        };
        let pooled = press(&settings(Labels::Pooled));
        let each = LAMBDAS.map(|lambda| press(&at(Labels::Classical, lambda, &[0.0])));
        let (best, least) = (0..5)
            .map(|index| (index, each[index]))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap();
        assert!((pooled - least).abs() < ROUNDING, "{pooled} {each:?}");
        chosen.push(best);
    }
    assert!(chosen.iter().any(|&best| best != chosen[0]), "{chosen:?}");
}

/// The largest difference of the directions of two weight vectors.
fn turned<'a>(a: &Study<'a>, b: &Study<'a>) -> f64 {
    let [a, b] = [a, b].map(|study| {
        let weights = study.model().unwrap().weights().clone();
        let length = weights.norm_l2();
        faer::Mat::from_fn(weights.nrows(), 1, |i, _| weights[(i, 0)] / length)
    });
    (a - b).norm_max()
}

#[test]
fn all_tasks_have_the_same_weights_up_to_their_scale() {
    let mean = along(2.0);
    // Three times the features in one task, so that scales differ.
    let mut data = data(2, &mean, &mean, 3);
    let (features, source) = (data.features, data.task.clone());
    for (row, values) in data.values.chunks_exact_mut(features).enumerate() {
        if source[row] == "source" {
            values.iter_mut().for_each(|x| *x *= 3.0);
        }
    }
    let tasks = data.tasks();
    let both = |labels: Labels, scaling: Scaling| {
        let settings = Settings {
            scaling,
            ..at(labels, 5.0, &[1.0])
        };
        Study::all(&tasks, &settings, &|_| {}).unwrap()
    };
    for scaling in [Scaling::Auto, Scaling::None] {
        let [source, target] = &both(Labels::Pooled, scaling)[..] else {
            panic!("two targets")
        };
        assert!(turned(source, target) < ROUNDING);
        // Weights on raw features are those on scaled ones over the scale.
        let [own, other] = [source, target].map(|study| study.model().unwrap().weights().norm_l2());
        let ratio = other / own;
        match scaling {
            Scaling::Auto => assert!((2.5..3.5).contains(&ratio), "{ratio}"),
            Scaling::None => assert!((ratio - 1.0).abs() < ROUNDING, "{ratio}"),
        }
        // Not so where tasks may differ.
        let [source, target] = &both(Labels::Classical, scaling)[..] else {
            panic!("two targets")
        };
        assert!(turned(source, target) > 1e-3);
    }
}

#[test]
fn the_source_decides_what_pooling_is_worth() {
    let test = Data::new(12, &[("target", &[500; 3], &along(2.0))], 1000);
    let error = |source: &Mean, labels: Labels| {
        let draws = 8;
        let each = (0..draws).map(|seed| {
            let data = data(3, source, &along(2.0), seed);
            let tasks = data.tasks();
            error_of(&study(&tasks, labels).model().unwrap(), &test)
        });
        each.sum::<f64>() / f64::from(draws as u8)
    };
    let (like, unlike) = (along(2.0), permuted(2.0, 3));
    let alone = error(&like, Labels::Alone);
    assert!((error(&unlike, Labels::Alone) - alone).abs() < 0.02); // other draws of the target
    let helped = error(&like, Labels::Pooled);
    assert!(helped < alone - 0.02, "{helped} {alone}");
    let hurt = error(&unlike, Labels::Pooled);
    assert!(hurt > alone + 0.2, "{hurt} {alone}");
}

/// As many samples of the source with the classes the wrong way round cancel those of the target: no average
/// has any use for a pooled candidate, but it was asked for.
#[test]
fn pooled_tasks_are_had_where_the_average_drops_them() {
    let data = Data::new(
        4,
        &[
            ("source", &[300, 300], &permuted(4.0, 2)),
            ("target", &[300, 300], &along(4.0)),
        ],
        4,
    );
    let tasks = data.tasks();
    let pooled = study(&tasks, Labels::Pooled);
    assert_gamma_is_zero(&pooled);
    assert!(pooled.forecast().error > 0.1);
    let bayes = Settings {
        rule: RuleName::Bayes,
        ..settings(Labels::Pooled)
    };
    assert_gamma_is_zero(&Study::new(&tasks, &bayes).unwrap());
}

#[test]
fn one_task_is_alone() {
    for classes in [2, 3] {
        let counts = vec![15; classes];
        let data = Data::new(6, &[("target", &counts, &along(2.0))], 5);
        let tasks = data.tasks();
        for (rule, evidence) in [
            (RuleName::Auto, Evidence::Auto),
            (RuleName::OneVsAll, Evidence::Auto),
            (RuleName::Auto, Evidence::Isotropic),
        ] {
            let with = |labels: Labels| {
                let settings = Settings {
                    rule,
                    evidence,
                    ..settings(labels)
                };
                Study::new(&tasks, &settings).unwrap()
            };
            let (pooled, alone) = (with(Labels::Pooled), with(Labels::Alone));
            assert_eq!(pooled.forecast(), alone.forecast());
            assert_eq!(pooled.rule().coupling, alone.rule().coupling);
            assert_eq!(
                pooled.model().unwrap().weights(),
                alone.model().unwrap().weights()
            );
        }
        // γ + λ is all that one task knows of a coupling.
        let given = Study::new(&tasks, &at(Labels::Pooled, 3.0, &[7.0])).unwrap();
        let other = Study::new(&tasks, &at(Labels::Alone, 7.0, &[3.0])).unwrap();
        assert_same_rule(&given, &other);
        assert_same_forecast(&given, &other);
    }
}

#[test]
fn a_given_gamma_is_taken_for_zero_and_lambda_must_not_be() {
    let data = data(2, &along(2.0), &along(2.0), 6);
    let tasks = data.tasks();
    let pooled = |lambda, gamma: &[f64]| Study::new(&tasks, &at(Labels::Pooled, lambda, gamma));
    let study = pooled(3.0, &[1.0, 2.0]).unwrap();
    assert_eq!(study.rule().coupling.as_ref().unwrap().gamma(), [0.0, 0.0]);
    let without = pooled(3.0, &[0.0]).unwrap();
    assert!(study.model().unwrap() == without.model().unwrap());
    let refusal = |lambda, gamma: &[f64]| pooled(lambda, gamma).unwrap_err().to_string();
    assert_eq!(
        refusal(0.0, &[1.0]),
        "lambda is 0: pooled labels take gamma for zero, so lambda must be more than zero"
    );
    // What is not used must make sense all the same.
    assert_eq!(
        refusal(1.0, &[-1.0]),
        "gamma is -1: a finite number, zero or more"
    );
    assert!(refusal(1.0, &[1.0; 3]).contains("one per task"));
}

fn with_null(tasks: &Tasks<'_>, evidence: Evidence) -> f64 {
    let settings = Settings {
        evidence,
        false_alarm: Some(FalseAlarm {
            null: "c0".into(),
            rate: 0.1,
            tail: Tail::Auto,
        }),
        ..settings(Labels::Pooled)
    };
    let study = Study::new(tasks, &settings).unwrap();
    assert_gamma_is_zero(&study);
    study.forecast().alarm.as_ref().unwrap().detection
}

#[test]
fn theories_and_tests_pool_too() {
    let mean = along(3.0);
    let tasks = [
        ("source", &[60, 60][..], &mean as &Mean),
        ("target", &[30, 30], &mean),
    ];
    let data = Data::new(12, &tasks, 7);
    let fresh = Data::new(12, &[("target", &[1000, 1000], &mean)], 8);
    let tasks = data.tasks();
    for evidence in [Evidence::LeaveOneOut, Evidence::Isotropic, Evidence::Common] {
        for rule in [RuleName::Auto, RuleName::OneHot] {
            let settings = Settings {
                rule,
                evidence,
                ..settings(Labels::Pooled)
            };
            let study = Study::new(&tasks, &settings).unwrap();
            assert_gamma_is_zero(&study);
            let [low, high] = study.forecast().interval;
            let error = error_of(&study.model().unwrap(), &fresh);
            assert!(
                (low..=high).contains(&error),
                "{evidence:?}: {error} of {low} to {high}"
            );
        }
        assert!(with_null(&tasks, evidence) > 0.9);
    }
}
