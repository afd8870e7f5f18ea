//! Statements that people act on: rehearsals, what sources are worth, how many labels are needed.

use crate::words::Word;
use foretask::{
    Evidence, FalseAlarm, Labels, Paired, Prior, Rehearsal, Settings, SourceValue, Study, Tail,
    Unrehearsed, Verdict, Views, WorthMore,
};

use super::common::drawn::{Data, Mean, along, settings};

/// Forecasts are sums of a few hundred numbers below one; rows in another order add up in another order.
const ROUNDING: f64 = 1e-9;

/// Three sources and a target with so many samples in each of two classes.
fn four_tasks(each: usize, seed: u64) -> Data {
    let mean = along(1.5);
    let many = [40, 40];
    let few = [each, each];
    Data::new(
        12,
        &[
            ("a", &many, &mean),
            ("b", &many, &mean),
            ("c", &many, &mean),
            ("target", &few, &mean),
        ],
        seed,
    )
}

/// Rows in reverse, and sources with other names, whose order is the reverse, too.
fn renamed(data: &Data) -> Data {
    let p = data.features;
    let name = |task: &String| -> String {
        match task.as_str() {
            "a" => "z".into(),
            "b" => "y".into(),
            "c" => "x".into(),
            other => other.into(),
        }
    };
    Data {
        values: data.values.chunks(p).rev().flatten().copied().collect(),
        features: p,
        task: data.task.iter().rev().map(&name).collect(),
        class: data.class.iter().rev().cloned().collect(),
    }
}

#[test]
fn neither_names_of_tasks_nor_the_order_of_rows_matter() {
    for seed in 0..3 {
        let data = four_tasks(8, seed);
        let other = renamed(&data);
        let (tasks, others) = (data.tasks(), other.tasks());
        let study = Study::new(&tasks, &settings(Labels::Classical)).unwrap();
        let again = Study::new(&others, &settings(Labels::Classical)).unwrap();
        let (told, retold) = (study.forecast().error, again.forecast().error);
        assert!((told - retold).abs() < ROUNDING, "{told} {retold}");
        let values = study.source_values(&|_| {}).unwrap();
        let reversed = again.source_values(&|_| {}).unwrap();
        let found = |name: Option<&str>| -> &SourceValue {
            let own = reversed.iter().find(|value| value.task.as_deref() == name);
            own.unwrap()
        };
        for value in &values {
            let name = value.task.as_deref().map(|task| match task {
                "a" => "z",
                "b" => "y",
                _ => "x",
            });
            let same = found(name);
            assert_eq!(value.paired.verdict, same.paired.verdict);
            assert!((value.paired.difference - same.paired.difference).abs() < ROUNDING);
        }
    }
}

/// Without some sources it is the study of the others; all and one by one are what they always were.
#[test]
fn without_some_sources_it_is_the_study_of_the_others() {
    let data = four_tasks(8, 5);
    let tasks = data.tasks();
    let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
    for gone in [&["a", "c"][..], &["c", "b"], &["b"], &["a", "b", "c"]] {
        let told = study.without(gone, &|_| {}).unwrap();
        let rows: Vec<usize> = (0..data.task.len())
            .filter(|&row| !gone.contains(&data.task[row].as_str()))
            .collect();
        let values = |row: &usize| &data.values[row * data.features..(row + 1) * data.features];
        let others = Data {
            values: rows.iter().flat_map(values).copied().collect(),
            features: data.features,
            task: rows.iter().map(|&row| data.task[row].clone()).collect(),
            class: rows.iter().map(|&row| data.class[row].clone()).collect(),
        };
        let others = others.tasks();
        let settings = Settings {
            rehearse: false,
            ..settings(Labels::Auto)
        };
        let again = Study::new(&others, &settings).unwrap();
        assert!((told.error_without - again.forecast().error).abs() < ROUNDING);
        let ends = told.interval.iter().zip(again.forecast().interval);
        ends.for_each(|(a, b)| assert!((a - b).abs() < ROUNDING));
        assert_eq!(told.task.is_some(), gone.len() == 1);
    }
    let values = study.source_values(&|_| {}).unwrap();
    let all = study.without(&["c", "a", "b", "a"], &|_| {}).unwrap();
    assert_eq!(values[0], all);
    assert_eq!(values[2], study.without(&["b"], &|_| {}).unwrap());
    for unknown in ["target", "d"] {
        let refused = study.without(&["a", unknown], &|_| {}).unwrap_err();
        assert!(
            refused.to_string().contains("the tasks are: 'a', 'b', 'c'"),
            "{refused}"
        );
    }
}

/// Sixty samples; so many of them are decided wrongly without something, and with it.
fn paired(without: usize, with: usize) -> Paired {
    let losses =
        |wrong: usize| -> Vec<f64> { (0..60).map(|l| f64::from(u8::from(l < wrong))).collect() };
    Paired::new(
        &losses(without),
        &losses(with),
        &crate::data::Groups::default(),
        &crate::data::Importance::default(),
    )
}

#[test]
fn words_follow_the_interval_of_the_difference() {
    let helps = paired(12, 0);
    assert_eq!(helps.verdict, Verdict::Helps);
    assert!((helps.difference - 0.2).abs() < ROUNDING);
    // Of a normal law 99 % lie within 2.58 standard errors, of that of 59 degrees of freedom within 2.6618; the error is
    // that of a share of .2, wider by what neighbours have in common.
    let expected = 2.6618 * (1.25 * 0.2 * 0.8 / 59.0_f64).sqrt();
    assert!((helps.interval[1] - helps.interval[0] - 2.0 * expected).abs() < 1e-4);
    let harms = paired(0, 12);
    assert_eq!(harms.verdict, Verdict::Harms);
    assert!((harms.interval[0] + helps.interval[1]).abs() < ROUNDING);
    assert_eq!(paired(2, 0).verdict, Verdict::Unknown);
    // No sample differs: that is not certainty.
    let same = paired(5, 5);
    assert_eq!(same.verdict, Verdict::Unknown);
    assert!(same.interval[1] > 0.03 && same.interval[0] < -0.03);
}

#[test]
fn rehearsals_count_as_ten_samples_and_are_skipped_for_a_reason() {
    let data = four_tasks(6, 1);
    let tasks = data.tasks();
    let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
    let forecast = study.forecast();
    let Rehearsal::Done {
        error,
        sources,
        own_error,
        ..
    } = &forecast.rehearsal
    else {
        panic!("{:?}", forecast.rehearsal);
    };
    assert_eq!(sources.len(), 3);
    let mean = sources.iter().map(|source| source.error).sum::<f64>() / 3.0;
    assert!((mean - error).abs() < ROUNDING);
    let own = 12.0 / 1.25;
    let joined = (own * own_error + 10.0 * error) / (own + 10.0);
    assert!((forecast.error - joined).abs() < ROUNDING);
    let without = |settings: &Settings, tasks: &foretask::Tasks<'_>| {
        let study = Study::new(tasks, settings).unwrap();
        match study.forecast().rehearsal {
            Rehearsal::Skipped(why) => (why, study.forecast().error),
            Rehearsal::Done { .. } => panic!("rehearsed"),
        }
    };
    let off = Settings {
        rehearse: false,
        ..settings(Labels::Auto)
    };
    let (why, alone) = without(&off, &tasks);
    assert_eq!(why, Unrehearsed::SwitchedOff);
    assert!((alone - own_error).abs() < ROUNDING);
    let named = without(&settings(Labels::Classical), &tasks).0;
    assert_eq!(named, Unrehearsed::ByName);
    let many = four_tasks(61, 1);
    let why = without(&settings(Labels::Auto), &many.tasks()).0;
    assert_eq!(why, Unrehearsed::ManyLabels);
    let mean = along(1.5);
    let one = Data::new(
        12,
        &[("a", &[40, 40], &mean), ("target", &[6, 6], &mean)],
        1,
    );
    let why = without(&settings(Labels::Auto), &one.tasks()).0;
    assert_eq!(why, Unrehearsed::FewSources);
}

#[test]
fn one_label_tells_nothing_unless_sources_are_rehearsed() {
    let data = four_tasks(1, 2);
    let tasks = data.tasks();
    let rehearsed = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
    assert!(rehearsed.forecast().told);
    let Rehearsal::Done { error, .. } = &rehearsed.forecast().rehearsal else {
        panic!("not rehearsed");
    };
    assert!((rehearsed.forecast().error - error).abs() < ROUNDING);
    let off = Settings {
        rehearse: false,
        ..settings(Labels::Auto)
    };
    let study = Study::new(&tasks, &off).unwrap();
    assert!(!study.forecast().told);
    assert_eq!(study.forecast().interval, [0.0, 1.0]);
    assert!((study.forecast().error - 0.5).abs() < ROUNDING);
    study.model().unwrap();
}

#[test]
fn labels_needed_are_the_inverse_of_the_curve() {
    let data = four_tasks(10, 5);
    let tasks = data.tasks();
    for alarm in [false, true] {
        let settings = Settings {
            false_alarm: alarm.then(|| FalseAlarm {
                null: "c0".into(),
                rate: 0.2,
                tail: Tail::Auto,
            }),
            ..settings(Labels::Auto)
        };
        let study = Study::new(&tasks, &settings).unwrap();
        let curve = study.learning_curve(&[0, 10, 40], &|_| {}).unwrap();
        assert!(curve.windows(2).all(|pair| pair[1].error < pair[0].error));
        let errors: Vec<f64> = curve.iter().map(|point| point.error).collect();
        for (needed, point) in study.labels_needed(&errors).unwrap().iter().zip(&curve) {
            let added = needed.added.unwrap();
            // Whole labels: the error is reached by the number asked for, and not by one fewer.
            assert!(added.abs_diff(point.added) <= 1, "{needed:?} {point:?}");
        }
        let never = study.labels_needed(&[1e-12]).unwrap();
        assert_eq!(never[0].added, None);
    }
}

#[test]
fn a_budget_goes_to_the_classes_that_have_least() {
    let mean = along(1.5);
    let data = Data::new(
        12,
        &[("a", &[40, 40, 40], &mean), ("target", &[4, 9, 20], &mean)],
        6,
    );
    let tasks = data.tasks();
    let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
    let budget = study.budget(9).unwrap().unwrap();
    // The largest of π (1 - π)/(n (n + 1)) each time, by hand; to the fewest where all occur alike.
    assert_eq!(budget.added, [5, 4, 0]);
    let equal = Settings {
        prior: Prior::Equal,
        ..settings(Labels::Auto)
    };
    let alike = Study::new(&tasks, &equal).unwrap();
    assert_eq!(alike.budget(9).unwrap().unwrap().added, [7, 2, 0]);
    assert!(budget.error <= budget.as_they_come);
    assert!(budget.error < study.forecast().error);
    let none = study.budget(0).unwrap().unwrap();
    assert!((none.error - study.forecast().error).abs() < ROUNDING);
}

#[test]
fn labels_do_not_go_to_sources_that_are_of_no_use() {
    // The classes of each task differ along features of their own.
    let mean = |task: usize| {
        move |class: usize, feature: usize| f64::from(u8::from(feature == 2 * task + class)) * 2.5
    };
    let means = [0, 1, 2, 3, 4].map(mean);
    let names = ["a", "b", "c", "d", "target"];
    let counts: [&[usize]; 5] = [&[300, 300], &[300, 300], &[300, 300], &[300, 300], &[6, 6]];
    let tasks: Vec<(&str, &[usize], &Mean)> = (0..5)
        .map(|task| (names[task], counts[task], &means[task] as &Mean))
        .collect();
    let data = Data::new(30, &tasks, 1);
    let tasks = data.tasks();
    let plain = settings(Labels::Auto);
    let study = Study::new(&tasks, &plain).unwrap();
    // Sixty labels are five times those of the target, and a fortieth of those of the sources.
    let spent = study.budget(60).unwrap().unwrap().in_sources.unwrap();
    assert_ne!(spent.better, WorthMore::Sources);
    assert!((spent.error / study.forecast().error - 1.0).abs() < 0.05);
    let nothing = study.budget(0).unwrap().unwrap().in_sources.unwrap();
    assert_eq!(nothing.better, WorthMore::Unknown);
    assert!((nothing.error - study.forecast().error).abs() < ROUNDING);
    let quiet = Settings {
        rehearse: false,
        ..plain
    };
    let study = Study::new(&tasks, &quiet).unwrap();
    assert_eq!(study.budget(60).unwrap().unwrap().in_sources, None);
}

#[test]
fn which_of_many_sources_rehearse_does_not_follow_their_names() {
    let mean = along(1.0);
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let sources = names.map(|name| (name, &[30_usize, 30][..], &mean as &Mean));
    let tasks = [&sources[..], &[("target", &[6, 6], &mean)]].concat();
    let data = Data::new(10, &tasks, 3);
    // The same rows of the same tasks, which come in another order.
    let other = |task: &String| -> String {
        match names.iter().position(|name| name == task) {
            Some(place) => names[(3 * place + 2) % names.len()].to_owned(),
            None => task.clone(),
        }
    };
    let renamed = Data {
        task: data.task.iter().map(other).collect(),
        ..data.clone()
    };
    let told = |data: &Data| {
        let tasks = data.tasks();
        // Landmarks of the kernel are spread over the rows in their order.
        let linear = Settings {
            views: Views::linear(),
            ..settings(Labels::Auto)
        };
        let study = Study::new(&tasks, &linear).unwrap();
        let Rehearsal::Done { sources, .. } = &study.forecast().rehearsal else {
            panic!("nothing was rehearsed");
        };
        let names: Vec<String> = sources.iter().map(|source| source.task.clone()).collect();
        (study.forecast().error, names)
    };
    let (error, rehearsed) = told(&data);
    let (again, mut by_other_names) = told(&renamed);
    by_other_names.sort();
    assert!((error - again).abs() < ROUNDING, "{error} {again}");
    let mut expected: Vec<String> = rehearsed.iter().map(other).collect();
    expected.sort();
    assert_eq!(expected, by_other_names);
}

fn holds([low, high]: [f64; 2], number: f64) -> bool {
    low <= number && number <= high
}

#[test]
fn every_interval_holds_its_number() {
    let alarm = Some(FalseAlarm {
        null: "c0".into(),
        rate: 0.1,
        tail: Tail::Auto,
    });
    // Noise, signal, and classes so far apart that nothing is mistaken.
    for (seed, size) in [(0, 0.0), (1, 1.5), (2, 40.0)] {
        let mean = along(size);
        for few in [[1, 1], [3, 3], [12, 5]] {
            let tasks: [(&str, &[usize], &Mean); 3] = [
                ("a", &[30, 30], &mean),
                ("b", &[30, 30], &mean),
                ("target", &few, &mean),
            ];
            let data = Data::new(8, &tasks, seed);
            let tasks = data.tasks();
            let mut every: Vec<Settings> = Labels::ALL
                .iter()
                .map(|named| settings(named.value))
                .collect();
            every.push(Settings {
                rehearse: false,
                ..settings(Labels::Auto)
            });
            every.push(Settings {
                evidence: Evidence::Isotropic,
                ..settings(Labels::Auto)
            });
            let alarmed = every.iter().cloned().map(|settings| Settings {
                false_alarm: alarm.clone(),
                ..settings
            });
            let alarmed: Vec<Settings> = alarmed.collect();
            every.extend(alarmed);
            for settings in every {
                let study = Study::new(&tasks, &settings).unwrap();
                let forecast = study.forecast();
                let what = format!("{size}, {few:?}: {settings:?}, {forecast:?}");
                assert!(holds(forecast.interval, forecast.error), "{what}");
                assert!(holds(forecast.in_test(50), forecast.error), "{what}");
                if let Some(alarm) = &forecast.alarm {
                    assert!(holds(alarm.detection_interval, alarm.detection), "{what}");
                    assert!(
                        holds(alarm.false_alarm_interval, alarm.false_alarm),
                        "{what}"
                    );
                }
                for point in study.learning_curve(&[0, 10], &|_| {}).unwrap() {
                    assert!(holds(point.interval, point.error), "{point:?}, {what}");
                    assert!(
                        holds(point.foretold_interval, point.error),
                        "{point:?}, {what}"
                    );
                }
                if let Some(budget) = study.budget(7).unwrap() {
                    assert!(holds(budget.interval, budget.error), "{budget:?}, {what}");
                }
            }
        }
    }
}
