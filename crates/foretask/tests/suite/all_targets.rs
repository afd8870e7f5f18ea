//! All targets in one fit, and several settings: each study is the one that its target and settings get
//! alone, to the last bit.

use super::common;

use std::cell::RefCell;

use common::Table;
use common::generate::{cases, gaussian, problems};
use foretask::{
    Evidence, FalseAlarm, Labels, Prior, RuleName, Scaling, Settings, Study, Tail, Tasks,
};
use proptest::prelude::*;

/// Tasks of two, three, one and two classes; the third, "south", can be a source only.
const COUNTS: [&[usize]; 4] = [&[12, 9], &[7, 8, 10], &[6], &[9, 11]];
const TARGETS: [&str; 3] = ["east", "north", "west"];

fn table(features: usize) -> Table {
    gaussian(5, features, &COUNTS, 1.0, 1.0).table()
}

fn for_target(settings: &Settings, target: &str) -> Settings {
    Settings {
        target: Some(target.into()),
        ..settings.clone()
    }
}

/// Rule, forecast and weights, samples left out, and what is said of more labels and of other theories.
#[track_caller]
fn assert_same(study: &Study<'_>, alone: &Study<'_>, what: &Settings) {
    let (actual, expected) = (study.model().unwrap(), alone.model().unwrap());
    assert!(actual == expected, "{what:?}");
    assert_eq!(study.left_out(), alone.left_out());
    assert_eq!(
        study.learning_curve(&[5, 50], &|_| {}).unwrap(),
        alone.learning_curve(&[5, 50], &|_| {}).unwrap()
    );
    assert_eq!(
        study.theories(&|_| {}).unwrap(),
        alone.theories(&|_| {}).unwrap()
    );
    assert_eq!(study.relatedness(), alone.relatedness());
}

/// Every study of `Study::all` is that of `Study::new`.
#[track_caller]
fn assert_as_alone(tasks: &Tasks<'_>, settings: &Settings, expected: &[&str]) {
    let studies = Study::all(tasks, settings, &|_| {}).unwrap();
    let names = studies
        .iter()
        .map(|study| study.cells().tasks()[study.target()].name.as_str());
    assert!(names.eq(expected.iter().copied()));
    for (study, target) in studies.iter().zip(expected) {
        let settings = for_target(settings, target);
        assert_same(study, &Study::new(tasks, &settings).unwrap(), &settings);
    }
}

/// Fewer features than rows of any task with two classes, between, and more than all rows.
const FEATURES: [usize; 3] = [5, 20, 90];

#[test]
fn the_default_is_that_of_each_target_alone() {
    for features in FEATURES {
        let table = table(features);
        assert_as_alone(&table.tasks(), &Settings::default(), &TARGETS);
    }
}

#[test]
fn a_given_coupling_and_named_labels_are_those_of_each_target_alone() {
    for features in FEATURES {
        let table = table(features);
        let couplings = [None, Some((0.7, vec![2.0, 0.5, 1.0, 4.0]))];
        for (labels, coupling) in [
            Labels::Classical,
            Labels::Alone,
            Labels::Pooled,
            Labels::Auto,
        ]
        .into_iter()
        .flat_map(|labels| couplings.clone().map(|coupling| (labels, coupling)))
        {
            let settings = Settings {
                labels,
                coupling,
                ..Settings::default()
            };
            assert_as_alone(&table.tasks(), &settings, &TARGETS);
        }
    }
}

#[test]
fn rules_by_name_are_those_of_each_target_alone() {
    for features in FEATURES {
        let table = table(features);
        for rule in RuleName::NAMED {
            let settings = Settings {
                rule,
                evidence: Evidence::LeaveOneOut,
                ..Settings::default()
            };
            assert_as_alone(&table.tasks(), &settings, &TARGETS);
        }
    }
}

#[test]
fn theories_are_those_of_each_target_alone() {
    for features in FEATURES {
        let table = table(features);
        for evidence in [
            Evidence::Isotropic,
            Evidence::Spherical,
            Evidence::Common,
            Evidence::General,
        ] {
            let settings = Settings {
                evidence,
                coupling: Some((1.0, vec![1.0])),
                ..Settings::default()
            };
            assert_as_alone(&table.tasks(), &settings, &TARGETS);
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn random_problems_are_those_of_each_target_alone(problem in problems(2)) {
        let table = problem.table();
        let tasks = table.tasks();
        let several = tasks.cells().tasks().iter().filter(|task| task.classes.len() > 1);
        let targets: Vec<&str> = several.map(|task| task.name.as_str()).collect();
        if !targets.is_empty() {
            assert_as_alone(&tasks, &Settings::default(), &targets);
        }
    }
}

#[test]
fn a_held_rate_is_held_for_every_target() {
    let table = gaussian(6, 8, &[&[40, 30], &[25, 35]], 1.0, 1.0).table();
    let settings = Settings {
        false_alarm: Some(FalseAlarm {
            null: "beech".into(),
            rate: 0.1,
            tail: Tail::Auto,
        }),
        costs: vec![("ash".into(), 3.0)],
        prior: Prior::Given(vec![("ash".into(), 0.2), ("beech".into(), 0.8)]),
        ..Settings::default()
    };
    assert_as_alone(&table.tasks(), &settings, &["east", "north"]);
    let studies = Study::all(&table.tasks(), &settings, &|_| {}).unwrap();
    assert!(studies.iter().all(|study| study.forecast().alarm.is_some()));
}

fn refusal(settings: &Settings) -> String {
    let table = table(5);
    Study::all(&table.tasks(), settings, &|_| {})
        .unwrap_err()
        .to_string()
}

#[test]
fn settings_by_class_must_fit_every_target() {
    // Only "east" has a third class, "cedar".
    let costs = vec![("cedar".into(), 2.0)];
    let settings = Settings {
        costs,
        ..Settings::default()
    };
    assert_eq!(
        refusal(&settings),
        "the target 'north' has no class 'cedar'; its classes are: 'ash', 'beech'"
    );
    let prior = Prior::Given(vec![("ash".into(), 0.5), ("beech".into(), 0.5)]);
    let settings = Settings {
        prior,
        ..Settings::default()
    };
    assert_eq!(
        refusal(&settings),
        "prior is missing for class 'cedar' of 'east': every class of the target needs one"
    );
    let settings = Settings {
        false_alarm: Some(FalseAlarm {
            null: "ash".into(),
            rate: 0.1,
            tail: Tail::Auto,
        }),
        ..Settings::default()
    };
    assert!(refusal(&settings).contains("one of 3 classes"));
}

#[test]
fn tasks_of_one_class_are_no_targets() {
    let table = gaussian(7, 4, &[&[6], &[5]], 1.0, 1.0).table();
    let error = Study::all(&table.tasks(), &Settings::default(), &|_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the target 'east' has one class only ('ash'); a decision needs at least two"
    );
}

#[test]
fn the_target_of_the_settings_is_not_looked_at() {
    let table = table(5);
    let settings = for_target(&Settings::default(), "nowhere");
    let studies = Study::all(&table.tasks(), &settings, &|_| {}).unwrap();
    assert_eq!(studies.len(), TARGETS.len());
}

#[test]
fn progress_goes_from_zero_to_one() {
    let table = table(20);
    for (rule, evidence) in [
        (RuleName::Auto, Evidence::Auto),
        (RuleName::OneVsOne, Evidence::Auto),
        (RuleName::OneHot, Evidence::Isotropic),
    ] {
        let settings = Settings {
            rule,
            evidence,
            ..Settings::default()
        };
        let told = RefCell::new(Vec::new());
        Study::all(&table.tasks(), &settings, &|share| {
            told.borrow_mut().push(share);
        })
        .unwrap();
        let told = told.into_inner();
        assert!(told.is_sorted(), "{told:?}");
        assert_eq!((told[0], told[told.len() - 1]), (0.0, 1.0));
        assert!(told.iter().any(|&share| share > 0.0 && share < 1.0));
    }
}

/// Rules, labels, couplings, scalings, theories and targets; those that share fits are not neighbours.
fn mixed() -> Vec<Settings> {
    let fixed = Some((0.7, vec![1.0]));
    let north = for_target(&Settings::default(), "north");
    let east = for_target(&Settings::default(), "east");
    vec![
        north.clone(),
        Settings {
            labels: Labels::Classical,
            coupling: fixed.clone(),
            ..north.clone()
        },
        Settings {
            rule: RuleName::OneVsOne,
            ..east.clone()
        },
        Settings {
            evidence: Evidence::Isotropic,
            coupling: fixed.clone(),
            ..east.clone()
        },
        Settings {
            scaling: Scaling::None,
            ..north.clone()
        },
        Settings {
            rule: RuleName::Bayes,
            evidence: Evidence::LeaveOneOut,
            ..north.clone()
        },
        Settings {
            labels: Labels::Alone,
            ..east.clone()
        },
        Settings {
            labels: Labels::Pooled,
            ..north.clone()
        },
        Settings {
            labels: Labels::Pooled,
            evidence: Evidence::Common,
            ..north.clone()
        },
        Settings {
            rule: RuleName::OneHot,
            labels: Labels::Optimal,
            coupling: fixed,
            ..east.clone()
        },
        Settings {
            rehearse: false,
            false_alarm: Some(FalseAlarm {
                null: "ash".into(),
                rate: 0.2,
                tail: Tail::Auto,
            }),
            ..north
        },
        east,
    ]
}

#[test]
fn several_settings_are_studied_as_each_by_itself() {
    for features in FEATURES {
        let table = table(features);
        let tasks = table.tasks();
        let settings = mixed();
        let studies = Study::each(&tasks, &settings, &|_| {}).unwrap();
        assert_eq!(studies.len(), settings.len());
        for (study, settings) in studies.iter().zip(&settings) {
            assert_same(study, &Study::new(&tasks, settings).unwrap(), settings);
        }
    }
}

#[test]
fn the_first_settings_that_do_not_fit_are_refused() {
    let table = table(5);
    let tasks = table.tasks();
    let mut settings = mixed();
    assert!(Study::each(&tasks, &[], &|_| {}).unwrap().is_empty());
    settings[3].target = Some("nowhere".into());
    settings[5].coupling = Some((-1.0, vec![1.0]));
    let error = Study::each(&tasks, &settings, &|_| {}).unwrap_err();
    let alone = Study::new(&tasks, &settings[3]).unwrap_err();
    assert_eq!(error.to_string(), alone.to_string());
}

/// What `Study::each` tells of its progress.
fn told(settings: &[Settings]) -> Vec<f64> {
    let told = RefCell::new(Vec::new());
    let table = table(20);
    let tell = |share| told.borrow_mut().push(share);
    Study::each(&table.tasks(), settings, &tell).unwrap();
    told.into_inner()
}

#[test]
fn progress_of_several_settings_goes_from_zero_to_one() {
    let told = told(&mixed());
    assert!(told.is_sorted(), "{told:?}");
    assert_eq!((told[0], told[told.len() - 1]), (0.0, 1.0));
}

#[test]
fn the_grid_is_fitted_once_for_all_labels_and_targets() {
    let of = |target: &str, labels: Labels| Settings {
        labels,
        ..for_target(&Settings::default(), target)
    };
    let several = [
        of("north", Labels::Auto),
        of("east", Labels::Alone),
        of("north", Labels::Pooled),
    ];
    // Every γ of the grid is told of as it is done.
    assert_eq!(told(&several), told(&several[..1]));
    let unscaled = Settings {
        scaling: Scaling::None,
        ..several[0].clone()
    };
    let twice = told(&[several[0].clone(), unscaled]);
    assert!(twice.len() > told(&several).len());
}
