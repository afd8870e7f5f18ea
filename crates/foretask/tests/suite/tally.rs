//! Folds of statistics without a row: the same rule as with rows, an error by moments, and one counted where rows are.

use foretask::{
    Error, FalseAlarm, Labels, Note, Provenance, Settings, Statistics, Study, Tail, Tally, View,
    Views,
};

use super::common::drawn::{Data, along, error_of, permuted, settings};
use crate::tensors::sealed_anew;

const FEATURES: usize = 4;

fn linear() -> Settings {
    Settings {
        views: Views::linear(),
        rehearse: false,
        ..settings(Labels::Auto)
    }
}

fn data(counts: &[usize], seed: u64) -> Data {
    let classes = counts.len();
    let (mean, other) = (along(1.3), permuted(1.3, classes));
    Data::new(
        FEATURES,
        &[
            ("a source", &vec![300; classes], &mean),
            ("b source", &vec![90; classes], &other),
            ("target", counts, &mean),
        ],
        seed,
    )
}

fn gathered(data: &Data) -> Statistics<'static> {
    let mut statistics = Statistics::new(FEATURES).with_target("target");
    let added = statistics.add(data.rows(), &data.task, &data.class);
    added.unwrap();
    statistics
}

/// As a file that others may see.
fn shared(statistics: &Statistics<'_>) -> Statistics<'static> {
    let bytes = statistics.shareable(2).unwrap().0.to_bytes().unwrap();
    Statistics::from_bytes(&bytes).unwrap()
}

fn add(tally: &mut Tally, data: &Data) {
    tally.add(data.rows(), &data.task, &data.class).unwrap();
}

/// Every so-and-so-many-th row, from a first one on.
fn every(data: &Data, step: usize, first: usize) -> Data {
    let rows: Vec<usize> = (first..data.class.len()).step_by(step).collect();
    let p = data.features;
    Data {
        values: rows
            .iter()
            .flat_map(|&row| data.values[row * p..(row + 1) * p].to_vec())
            .collect(),
        features: p,
        task: rows.iter().map(|&row| data.task[row].clone()).collect(),
        class: rows.iter().map(|&row| data.class[row].clone()).collect(),
    }
}

/// Scores are linear in what a file without rows knows, so that the rule is the same in the view that asks for no
/// bounds, which would tell rows; what differs is where its threshold is taken from.
#[test]
fn the_rule_is_that_of_the_rows_and_its_error_is_counted() {
    for counts in [vec![2500, 1700], vec![700, 600, 500], vec![160, 150]] {
        let data = data(&counts, 3);
        let statistics = gathered(&data);
        let asked = Settings {
            evidence: foretask::Evidence::LeaveFoldOut,
            ..linear()
        };
        let rows = Study::new(&statistics, &asked).unwrap();
        let bare = Study::new(shared(&statistics), &asked).unwrap();
        for (views, most) in [(Views(vec![View::Raw]), 1e-12), (Views::linear(), 1e-2)] {
            let settings = Settings {
                views,
                ..asked.clone()
            };
            let of = |statistics: &Statistics<'_>| {
                let study = Study::new(statistics, &settings).unwrap();
                study.model().unwrap().weights().clone()
            };
            let (own, expected) = (of(&shared(&statistics)), of(&statistics));
            let apart = (&own - &expected).norm_max() / expected.norm_max();
            assert!(apart < most, "{apart}");
        }
        assert_eq!(bare.forecast().provenance, Provenance::FoldMoments);
        assert!(bare.forecast().notes.contains(&Note::FromMoments));
        // The data are Gaussian: moments are all there is to know, but for the luck of the rows.
        let noise = (0.2 / counts.iter().sum::<usize>() as f64).sqrt();
        let foretold = bare.forecast().error;
        let mut tally = bare.tally().unwrap();
        add(&mut tally, &data);
        assert_eq!(tally.rows(), counts.iter().sum::<usize>() as u64);
        let counted = bare.counted(&tally).unwrap();
        let (own, expected) = (counted.forecast(), rows.forecast());
        println!(
            "{counts:?}: by moments {foretold:.4}, counted elsewhere {:.4}, of rows {:.4}",
            own.error, expected.error
        );
        assert!(
            (foretold - expected.error).abs() < 4.0 * noise,
            "{foretold}"
        );
        assert_eq!(own.provenance, Provenance::LeaveFoldOut);
        assert!(!own.notes.contains(&Note::FromMoments));
        assert_eq!(own.samples, expected.samples);
        // Scores are rounded to a 128th of their deviation at most.
        assert!((own.error - expected.error).abs() < 0.004);
        assert!((own.auc.unwrap_or(0.0) - expected.auc.unwrap_or(0.0)).abs() < 1e-3);
        let losses = (own.log_loss.unwrap(), expected.log_loss.unwrap());
        assert!((losses.0 - losses.1).abs() < 1e-3, "{losses:?}");
        for end in 0..2 {
            assert!((own.interval[end] - expected.interval[end]).abs() < 0.005);
        }
        let test = self::data(&counts, 4);
        let (own, expected) = (
            error_of(&counted.model().unwrap(), &test),
            error_of(&rows.model().unwrap(), &test),
        );
        assert!((own - expected).abs() < 0.003);
    }
}

#[test]
fn sites_count_in_any_order_and_other_rows_are_noticed() {
    let data = data(&[900, 700, 800], 5);
    let study = Study::new(shared(&gathered(&data)), &linear()).unwrap();
    let site = |number: usize| {
        let mut tally = study.tally().unwrap();
        add(&mut tally, &every(&data, 3, number));
        Tally::from_bytes(&tally.to_bytes().unwrap()).unwrap()
    };
    let mut whole = study.tally().unwrap();
    add(&mut whole, &data);
    for order in [[0, 1, 2], [2, 0, 1]] {
        let mut all = study.tally().unwrap();
        for number in order {
            all.merge(&site(number)).unwrap();
        }
        assert_eq!(all.to_bytes().unwrap(), whole.to_bytes().unwrap());
    }
    let again = || Study::new(shared(&gathered(&data)), &linear()).unwrap();
    // Rows are missing, there twice, or others.
    let mut twice = site(0);
    (0..3).for_each(|number| twice.merge(&site(number)).unwrap());
    let mut others = study.tally().unwrap();
    add(&mut others, &self::data(&[900, 700, 800], 6));
    for tally in [&site(0), &twice, &others] {
        let error = again().counted(tally).unwrap_err();
        assert!(error.to_string().contains("were counted"), "{error}");
    }
    // Other settings, other statistics.
    let raw = Settings {
        views: Views(vec![View::Raw]),
        ..linear()
    };
    let of_others = Study::new(shared(&gathered(&data)), &raw).unwrap();
    let error = of_others.counted(&whole).unwrap_err();
    assert!(error.to_string().contains("other statistics"), "{error}");
    assert!(whole.merge(&again_of(&raw, &data)).is_err());
    let mut read = site(1);
    assert!(read.add(data.rows(), &data.task, &data.class).is_err());
    let mut unknown = every(&data, 7, 0);
    unknown
        .class
        .iter_mut()
        .for_each(|class| *class = "c9".into());
    let mut tally = study.tally().unwrap();
    let error = tally.add(unknown.rows(), &unknown.task, &unknown.class);
    assert!(matches!(error, Err(Error::UnknownClass { .. })));
    assert_eq!(tally.rows(), 0);
    again().counted(&whole).unwrap();
}

fn again_of(settings: &Settings, data: &Data) -> Tally {
    let study = Study::new(shared(&gathered(data)), settings).unwrap();
    let mut tally = study.tally().unwrap();
    add(&mut tally, data);
    tally
}

/// Rates are held, and sources and views are told the worth of, by moments where they have to be.
#[test]
fn what_is_asked_beyond_the_forecast_is_answered() {
    let data = data(&[1200, 900], 7);
    let alarm = Settings {
        false_alarm: Some(FalseAlarm {
            null: "c0".into(),
            rate: 0.05,
            tail: Tail::Auto,
        }),
        ..linear()
    };
    for settings in [linear(), alarm] {
        let settings = Settings {
            evidence: foretask::Evidence::LeaveFoldOut,
            ..settings
        };
        let statistics = gathered(&data);
        let rows = Study::new(&statistics, &settings).unwrap();
        let bare = Study::new(shared(&statistics), &settings).unwrap();
        let told = bare.source_values(&|_| {}).unwrap();
        let mut tally = bare.tally().unwrap();
        add(&mut tally, &data);
        let counted = bare.counted(&tally).unwrap();
        let own = counted.source_values(&|_| {}).unwrap();
        let expected = rows.source_values(&|_| {}).unwrap();
        for ((own, told), expected) in own.iter().zip(&told).zip(&expected) {
            // No row shows a difference: nothing is claimed that the count does not allow.
            for [low, high] in [own.paired.interval, told.paired.interval] {
                let counted = expected.paired.difference;
                assert!(low <= counted && counted <= high, "{low} {high} {counted}");
            }
        }
        assert!(counted.compare(&|_| {}).unwrap().len() > 2);
        if let (Some(own), Some(expected)) = (&counted.forecast().alarm, &rows.forecast().alarm) {
            assert!((own.false_alarm - 0.05).abs() < 0.002);
            assert!((own.detection - expected.detection).abs() < 0.01);
        }
        assert!(rows.tally().is_err());
    }
}

#[test]
fn folds_that_would_tell_a_row_are_given_up() {
    // A class of eleven rows has one or two of them in a fold.
    let data = data(&[700, 11], 8);
    let statistics = shared(&gathered(&data));
    let target = statistics.cells().find_task("target").unwrap();
    assert!(statistics.dealt(target).is_none());
    assert!(Study::new(&statistics, &linear()).is_err());
    // Ten rows at least of each class in each fold.
    let many = gathered(&self::data(&[700, 500], 9));
    assert!(many.shareable(10).unwrap().0.dealt(target).is_some());
    assert!(many.shareable(60).unwrap().0.dealt(target).is_none());
    // Merged with rows that came with a sample, it is a sample of neither.
    let mut both = shared(&many);
    both.merge(gathered(&self::data(&[5000, 100], 10))).unwrap();
    let dealt = both.dealt(target).unwrap();
    assert!(dealt.is_bare());
    assert_eq!(
        dealt
            .portions
            .iter()
            .map(|own| own.samples())
            .sum::<usize>(),
        6300
    );
}

#[test]
fn a_tally_that_was_edited_is_refused() {
    let data = data(&[300, 260], 11);
    let bytes = again_of(
        &Settings {
            evidence: foretask::Evidence::LeaveFoldOut,
            ..linear()
        },
        &data,
    );
    let bytes = bytes.to_bytes().unwrap();
    let mut refused = 0;
    for step in 0..400 {
        let mut changed = bytes.clone();
        let at = 8 + (step * 131) % (bytes.len() - 8);
        changed[at] ^= 1 << (step % 8);
        assert!(Tally::from_bytes(&changed).is_err(), "byte {at}");
        let Some(sealed) = sealed_anew(&changed) else {
            continue;
        };
        match Tally::from_bytes(&sealed) {
            Err(_) => refused += 1,
            // What can be read is a tally of something.
            Ok(tally) => assert!(tally.to_bytes().is_ok()),
        }
    }
    println!("{refused} refused");
    assert!(refused > 50);
}
