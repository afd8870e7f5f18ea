//! A forecast counted again is that of another study; so are thresholds for other rates.

use foretask::{Error, FalseAlarm, Labels, Prior, Settings, Study, Tail};
use proptest::prelude::*;

use super::common::drawn::{Data, along, permuted, settings};
use super::common::generate::cases;

fn data(classes: usize, few: usize, seed: u64) -> Data {
    let counts: Vec<usize> = (0..classes).map(|c| few + 2 * c).collect();
    Data::new(
        6,
        &[
            ("a source", &vec![30; classes], &along(1.2)),
            ("b source", &vec![20; classes], &permuted(1.2, classes)),
            ("target", &counts, &along(1.2)),
        ],
        seed,
    )
}

fn unrehearsed() -> Settings {
    Settings {
        rehearse: false,
        ..settings(Labels::Auto)
    }
}

/// Numbers by name of the class.
fn by_class(values: &[f64]) -> Vec<(String, f64)> {
    let named = values.iter().enumerate();
    named.map(|(c, value)| (format!("c{c}"), *value)).collect()
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn another_study_foretells_the_same(
        classes in 2_usize..5,
        few in 3_usize..12,
        seed in 0_u64..1000,
        stakes in prop::collection::vec((0.05_f64..1.0, 0.1_f64..20.0), 5),
    ) {
        let data = data(classes, few, seed);
        let tasks = data.tasks();
        let total: f64 = stakes[..classes].iter().map(|(prior, _)| prior).sum();
        let priors: Vec<f64> = stakes[..classes].iter().map(|(prior, _)| prior / total).collect();
        let costs: Vec<f64> = stakes[..classes].iter().map(|(_, cost)| *cost).collect();
        let study = Study::new(&tasks, &unrehearsed()).unwrap();
        let counted = study.recount().unwrap().at(&priors, &costs).unwrap();
        let other = Study::new(&tasks, &Settings {
            prior: Prior::Given(by_class(&priors)),
            costs: by_class(&costs),
            ..unrehearsed()
        })
        .unwrap();
        let expected = other.forecast();
        // The study may divide priors by their sum once more.
        prop_assert!((counted.error - expected.error).abs() < 1e-12);
        prop_assert!((counted.cost - expected.cost).abs() < 1e-11);
        for end in 0..2 {
            prop_assert!((counted.interval[end] - expected.interval[end]).abs() < 1e-9);
        }
        for (row, expected) in counted.confusion.iter().zip(&expected.confusion) {
            for (share, expected) in row.iter().zip(expected) {
                prop_assert!((share - expected).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn with_its_own_stakes_the_forecast_is_its_own() {
    let data = data(3, 7, 1);
    let tasks = data.tasks();
    let study = Study::new(&tasks, &unrehearsed()).unwrap();
    let forecast = study.forecast();
    let counted = study
        .recount()
        .unwrap()
        .at(&forecast.priors, &[1.0; 3])
        .unwrap();
    assert_eq!(counted.confusion, forecast.confusion);
    assert_eq!(counted.interval, forecast.interval);
    assert_eq!(counted.reliability, forecast.reliability);
    assert_eq!(counted.densities, forecast.densities);
}

#[test]
fn what_is_learnt_with_priors_is_not_counted_again() {
    let data = data(2, 8, 2);
    let tasks = data.tasks();
    let of = |settings: &Settings| Study::new(&tasks, settings).unwrap().recount();
    assert!(of(&unrehearsed()).is_some());
    assert!(of(&settings(Labels::Optimal)).is_none());
    let alarm = Settings {
        false_alarm: Some(FalseAlarm {
            null: "c1".into(),
            rate: 0.1,
            tail: Tail::Auto,
        }),
        ..unrehearsed()
    };
    assert!(of(&alarm).is_none());
}

#[test]
fn one_label_per_class_cannot_be_counted() {
    let data = Data::new(4, &[("target", &[1, 1], &along(2.0))], 3);
    let tasks = data.tasks();
    assert!(
        Study::new(&tasks, &unrehearsed())
            .unwrap()
            .recount()
            .is_none()
    );
}

#[test]
fn stakes_that_are_none_are_refused() {
    let data = data(2, 6, 4);
    let tasks = data.tasks();
    let recount = Study::new(&tasks, &unrehearsed())
        .unwrap()
        .recount()
        .unwrap();
    assert!(matches!(
        recount.at(&[1.0], &[1.0, 1.0]),
        Err(Error::Shape { what: "priors", .. })
    ));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = recount.at(&[0.5, 0.5], &[1.0, bad]);
        assert!(
            matches!(
                refused,
                Err(Error::Setting {
                    setting: "costs",
                    ..
                })
            ),
            "{bad}"
        );
    }
}

#[test]
fn other_rates_have_the_thresholds_of_other_studies() {
    let data = data(2, 25, 5);
    let tasks = data.tasks();
    let at = |rate: f64| Settings {
        false_alarm: Some(FalseAlarm {
            null: "c0".into(),
            rate,
            tail: Tail::Auto,
        }),
        ..unrehearsed()
    };
    let study = Study::new(&tasks, &at(0.1)).unwrap();
    let rates = [0.01, 0.05, 0.1, 0.3];
    for (rate, (threshold, alarm)) in rates.iter().zip(study.alarms(&rates)) {
        let other = Study::new(&tasks, &at(*rate)).unwrap();
        assert_eq!(Some(threshold), other.rule().threshold);
        assert_eq!(Some(&alarm), other.forecast().alarm.as_ref());
    }
    assert!(
        Study::new(&tasks, &unrehearsed())
            .unwrap()
            .alarms(&rates)
            .is_empty()
    );
}
