//! A switch that is thrown ends a study, on every road, and leaves nothing behind.

use super::common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::drawn::{Data, along};
use foretask::{Error, Evidence, Labels, RuleName, Settings, Statistics, Stop, Study};

/// Three tasks of three classes.
fn data() -> Data {
    let mean = along(2.0);
    let few: &[usize] = &[6, 7, 8];
    let many: &[usize] = &[40, 30, 20];
    Data::new(
        8,
        &[
            ("target", few, &mean),
            ("east", many, &mean),
            ("west", many, &mean),
        ],
        1,
    )
}

/// A switch, and a way to turn it.
fn switch() -> (Stop, impl Fn(bool)) {
    let switch = Arc::new(AtomicBool::new(false));
    let stop = Stop::from(switch.clone());
    (stop, move |on| switch.store(on, Ordering::Relaxed))
}

fn roads(stop: &Stop) -> Vec<Settings> {
    let by = |rule, labels, evidence| Settings {
        target: Some("target".into()),
        rule,
        labels,
        evidence,
        stop: stop.clone(),
        ..Settings::default()
    };
    let at_one_coupling = Settings {
        coupling: Some((1.0, vec![1.0])),
        ..by(RuleName::Auto, Labels::Auto, Evidence::Auto)
    };
    vec![
        by(RuleName::Auto, Labels::Auto, Evidence::Auto),
        at_one_coupling,
        by(RuleName::Auto, Labels::Classical, Evidence::Auto),
        by(RuleName::OneVsOne, Labels::Optimal, Evidence::Auto),
        by(RuleName::Bayes, Labels::Optimal, Evidence::Auto),
        by(RuleName::OneHot, Labels::Optimal, Evidence::Common),
    ]
}

#[test]
fn a_thrown_switch_ends_every_study_and_is_forgotten_once_reset() {
    let data = data();
    let tasks = data.tasks();
    let (stop, turn) = switch();
    for settings in roads(&stop) {
        let before = Study::new(&tasks, &settings).unwrap();
        turn(true);
        let stopped = Study::new(&tasks, &settings);
        assert!(matches!(stopped, Err(Error::Interrupted)), "{settings:?}");
        turn(false);
        let after = Study::new(&tasks, &settings).unwrap();
        assert_eq!(after.forecast(), before.forecast());
    }
}

/// Thrown where a share of the work is done: no share is so late that a study of unfinished parts comes out.
#[test]
fn a_switch_thrown_on_the_way_ends_the_study() {
    let data = data();
    let tasks = data.tasks();
    let (stop, turn) = switch();
    for settings in roads(&stop) {
        for at in [0.0, 0.1, 0.4, 0.7, 0.99] {
            turn(false);
            let told = |share: f64| {
                if share >= at {
                    turn(true);
                }
            };
            let stopped = Study::each(&tasks, std::slice::from_ref(&settings), &told);
            assert!(matches!(stopped, Err(Error::Interrupted)), "{settings:?}");
        }
    }
}

#[test]
fn questions_end_too_and_are_answered_when_asked_again() {
    let data = data();
    let tasks = data.tasks();
    let (stop, turn) = switch();
    let settings = Settings {
        target: Some("target".into()),
        stop,
        ..Settings::default()
    };
    let study = Study::new(&tasks, &settings).unwrap();
    let values = study.source_values(&|_| {}).unwrap();
    turn(true);
    let stopped = study.source_values(&|_| {});
    assert!(matches!(stopped, Err(Error::Interrupted)));
    assert!(matches!(study.compare(&|_| {}), Err(Error::Interrupted)));
    turn(false);
    assert_eq!(study.source_values(&|_| {}).unwrap(), values);
}

#[test]
fn statistics_end_too_and_keep_no_switch() {
    let data = data();
    let tasks = data.tasks();
    let (stop, turn) = switch();
    turn(true);
    let stopped = Statistics::try_from((&tasks, &stop));
    assert!(matches!(stopped, Err(Error::Interrupted)));
    turn(false);
    let statistics = Statistics::try_from((&tasks, &stop)).unwrap();
    turn(true);
    let study = |statistics: Statistics<'_>| {
        let settings = Settings {
            target: Some("target".into()),
            ..Settings::default()
        };
        Study::new(statistics, &settings)
            .unwrap()
            .forecast()
            .clone()
    };
    assert_eq!(study(statistics), study(Statistics::of(&tasks)));
}
