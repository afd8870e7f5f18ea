//! A target that came in parts, of which no row is kept but those of a sample: the study is that of the data in memory.

use foretask::{
    Error, Evidence, FalseAlarm, Labels, Note, Provenance, Rows, Settings, Statistics, Study, Tail,
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
            ("a source", &vec![400; classes], &mean),
            ("b source", &vec![90; classes], &other),
            ("target", counts, &mean),
        ],
        seed,
    )
}

/// Some of the rows, in this order.
fn part(data: &Data, rows: &[usize]) -> Data {
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

/// Parts of so many rows, in an order of their own.
fn in_parts(data: &Data, rows: usize, stride: usize) -> Vec<Data> {
    let n = data.class.len();
    let order: Vec<usize> = (0..n).map(|row| (row * stride) % n).collect();
    order.chunks(rows).map(|rows| part(data, rows)).collect()
}

fn add(statistics: &mut Statistics<'static>, part: &Data) {
    statistics
        .add(part.rows(), &part.task, &part.class)
        .unwrap();
}

fn gathered(parts: &[Data]) -> Statistics<'static> {
    let mut statistics = Statistics::new(FEATURES).with_target("target");
    parts.iter().for_each(|part| add(&mut statistics, part));
    statistics
}

/// Largest difference of weights, relative to the largest.
fn apart(a: &Study<'_>, b: &Study<'_>) -> f64 {
    let (a, b) = (a.model().unwrap(), b.model().unwrap());
    (a.weights() - b.weights()).norm_max() / b.weights().norm_max()
}

fn target_of(statistics: &Statistics<'_>) -> usize {
    statistics.cells().find_task("target").unwrap()
}

/// Few enough rows that the sample holds them all: the same, up to rounding, in any parts.
#[test]
fn a_study_of_parts_is_that_of_the_data() {
    for counts in [vec![3000, 2000], vec![1500, 1700, 1400]] {
        let data = data(&counts, 3);
        let tasks = data.tasks();
        let whole = Study::new(&tasks, &linear()).unwrap();
        assert_eq!(whole.forecast().provenance, Provenance::LeaveFoldOut);
        for (rows, stride) in [(137, 7919), (5000, 3), (1_000_000, 1)] {
            let statistics = gathered(&in_parts(&data, rows, stride));
            assert!(statistics.rows_of(target_of(&statistics)).is_none());
            let study = Study::new(&statistics, &linear()).unwrap();
            assert!(apart(&study, &whole) < 1e-9, "{}", apart(&study, &whole));
            let (own, expected) = (study.forecast(), whole.forecast());
            assert_eq!(own.provenance, Provenance::LeaveFoldOut);
            assert_eq!(own.samples, expected.samples);
            assert!((own.error - expected.error).abs() < 1e-9);
            assert!((own.auc.unwrap_or(0.0) - expected.auc.unwrap_or(0.0)).abs() < 1e-9);
            for end in 0..2 {
                assert!((own.interval[end] - expected.interval[end]).abs() < 1e-9);
            }
            let (own, expected) = (
                study.source_values(&|_| {}).unwrap(),
                whole.source_values(&|_| {}).unwrap(),
            );
            for (own, expected) in own.iter().zip(&expected) {
                let (own, expected) = (own.paired.difference, expected.paired.difference);
                assert!((own - expected).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn few_rows_stay_and_are_left_out_one_by_one() {
    let data = data(&[60, 50], 4);
    let tasks = data.tasks();
    let whole = Study::new(&tasks, &linear()).unwrap();
    let statistics = gathered(&in_parts(&data, 37, 1));
    let study = Study::new(&statistics, &linear()).unwrap();
    assert_eq!(study.forecast().provenance, Provenance::LeaveOneOut);
    assert!(apart(&study, &whole) < 1e-9);
    assert!((study.forecast().error - whole.forecast().error).abs() < 1e-9);
}

/// One class in twenty, and far more rows than a sample holds: each row of it stands for others of its class.
#[test]
fn a_sample_foretells_what_all_rows_foretell() {
    let data = data(&[57_000, 3000], 5);
    let test = Data::new(FEATURES, &[("target", &[38_000, 2000], &along(1.3))], 6);
    let tasks = data.tasks();
    let whole = Study::new(&tasks, &linear()).unwrap();
    let statistics = gathered(&in_parts(&data, 4096, 7919));
    let sample = &statistics.dealt(target_of(&statistics)).unwrap().sample;
    assert_eq!(sample.counts, [10_000, 3000]);
    let study = Study::new(&statistics, &linear()).unwrap();
    assert_eq!(study.forecast().samples, 13_000);
    assert!(apart(&study, &whole) < 1e-9);
    let (own, expected) = (study.forecast(), whole.forecast());
    // The error of the common class is counted among 10,000 for 57,000: a standard error of .001.
    println!(
        "a sample foretells {:.5}, all rows {:.5}, measured {:.5}",
        own.error,
        expected.error,
        error_of(&study.model().unwrap(), &test)
    );
    assert!((own.error - expected.error).abs() < 0.002);
    // Near the best threshold errors of one class buy those of the other at no cost, so that each by itself says
    // little: order and probabilities say the rest.
    assert!((own.auc.unwrap() - expected.auc.unwrap()).abs() < 0.005);
    assert!((own.log_loss.unwrap() - expected.log_loss.unwrap()).abs() < 0.005);
    assert!((error_of(&study.model().unwrap(), &test) - own.error).abs() < 0.004);
    // A false-alarm rate is held with the rows of the null class that there are.
    let rate = Settings {
        false_alarm: Some(FalseAlarm {
            null: "c0".into(),
            rate: 0.02,
            tail: Tail::Auto,
        }),
        ..linear()
    };
    let held = Study::new(&statistics, &rate).unwrap();
    assert_eq!(held.forecast().alarm.as_ref().unwrap().samples, 10_000);
    let decided = held.model().unwrap().predict(test.rows()).unwrap();
    let raised = decided[..38_000].iter().filter(|&&c| c == 1).count() as f64 / 38_000.0;
    assert!((raised - 0.02).abs() < 0.004, "{raised}");
}

/// Which rows are kept, and in which fold each is, depends on their content alone.
#[test]
fn the_same_rows_are_sampled_in_any_parts() {
    let data = data(&[30_000, 2500], 7);
    let one = gathered(&in_parts(&data, 1000, 7919));
    let halves = in_parts(&data, 17_000, 1);
    let parts: Vec<_> = halves
        .iter()
        .map(|half| gathered(std::slice::from_ref(half)))
        .collect();
    let two = Statistics::merge_all(parts).unwrap();
    let target = target_of(&one);
    let (one, two) = (one.dealt(target).unwrap(), two.dealt(target).unwrap());
    assert_eq!(one.sample.counts, [10_000, 2500]);
    assert_eq!(one.sample.rows.values(), two.sample.rows.values());
    assert_eq!(one.sample.members(10), two.sample.members(10));
    for (one, two) in one.portions.iter().zip(&two.portions) {
        assert_eq!(one.counts, two.counts);
        let apart = (&one.within - &two.within).norm_max();
        assert!(apart < 1e-11 * one.within.norm_max(), "{apart}");
    }
}

#[test]
fn a_class_may_come_late_and_be_rare() {
    let data = data(&[4500, 1500, 3], 8);
    // The third class is in the last part only, in three folds at most.
    let n = data.class.len();
    let (late, early): (Vec<usize>, Vec<usize>) =
        (0..n).partition(|&row| data.class[row] == "c2" && data.task[row] == "target");
    let statistics = gathered(&[part(&data, &early), part(&data, &late)]);
    let tasks = data.tasks();
    let whole = Study::new(&tasks, &linear()).unwrap();
    let study = Study::new(&statistics, &linear()).unwrap();
    assert!(apart(&study, &whole) < 1e-8, "{}", apart(&study, &whole));
    assert!((study.forecast().error - whole.forecast().error).abs() < 1e-9);
    // Both say that folds without it were joined.
    let joined = |study: &Study<'_>| {
        let notes = study.forecast().notes.iter();
        let own = notes.filter(|note| matches!(note, Note::FoldsJoined { .. }));
        own.cloned().collect::<Vec<_>>()
    };
    assert_eq!(joined(&study), joined(&whole));
    let [Note::FoldsJoined { class, folds, left }] = &joined(&study)[..] else {
        panic!("{:?}", study.forecast().notes);
    };
    assert_eq!((class.as_str(), *folds), ("c2", 10));
    assert!((2..=3).contains(left), "{left}");
    // Without the class nothing is to be joined.
    let common = self::data(&[4500, 1500], 8);
    let study = Study::new(gathered(&[common]), &linear()).unwrap();
    assert!(joined(&study).is_empty());
}

fn in_folds(parts: &[Data], folds: usize) -> Statistics<'static> {
    let empty = Statistics::new(FEATURES).with_target("target");
    let mut statistics = empty.with_folds(folds).unwrap();
    parts.iter().for_each(|part| add(&mut statistics, part));
    statistics
}

/// As many folds as are asked for, of parts and of data in memory; in a file too.
#[test]
fn the_number_of_folds_may_be_chosen() {
    let data = data(&[3000, 2000], 14);
    let tasks = data.tasks();
    let mut errors = Vec::new();
    for folds in [2, 5, 10, 50] {
        let statistics = in_folds(&in_parts(&data, 700, 1), folds);
        assert_eq!(statistics.target_folds(), Some(folds));
        let dealt = statistics.dealt(target_of(&statistics)).unwrap();
        assert_eq!(dealt.portions.len(), folds);
        let bytes = statistics.to_bytes().unwrap();
        let again = Statistics::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes().unwrap(), bytes);
        let study = Study::new(&again, &linear()).unwrap();
        let asked = Settings {
            folds: Some(folds),
            ..linear()
        };
        let whole = Study::new(&tasks, &asked).unwrap();
        assert!(apart(&study, &whole) < 1e-9, "{}", apart(&study, &whole));
        assert!((study.forecast().error - whole.forecast().error).abs() < 1e-9);
        // The same number is nothing new, another one cannot be had.
        assert!(Study::new(&again, &asked).is_ok());
        let other = Settings {
            folds: Some(folds + 1),
            ..linear()
        };
        let refused = Study::new(&again, &other);
        assert!(matches!(
            refused,
            Err(Error::Setting {
                setting: "folds",
                ..
            })
        ));
        errors.push(study.forecast().error);
    }
    println!("2, 5, 10 and 50 folds foretell {errors:?}");
    // Other folds are other models without them, and nearly the same error.
    let (least, most) = (
        errors.iter().copied().fold(1.0, f64::min),
        errors.iter().copied().fold(0.0, f64::max),
    );
    assert!(least < most && most - least < 0.01);
}

#[test]
fn other_numbers_of_folds_are_refused() {
    let data = data(&[3000, 2000], 15);
    let (five, ten) = (
        in_folds(std::slice::from_ref(&data), 5),
        gathered(&[self::data(&[20, 30], 16)]),
    );
    for (mut one, other) in [(five.clone(), ten.clone()), (ten.clone(), five.clone())] {
        let before = one.to_bytes().unwrap();
        let error = one.merge(other.clone()).unwrap_err();
        assert!(
            error.to_string().contains("same number of folds"),
            "{error}"
        );
        assert_eq!(one.to_bytes().unwrap(), before);
        assert!(Statistics::merge_all([one, other]).is_err());
    }
    // Sources are in no folds.
    let mut source = Statistics::new(FEATURES);
    add(&mut source, &self::data(&[20, 30], 17));
    let mut both = five.clone();
    both.merge(source.clone()).unwrap();
    assert_eq!(both.target_folds(), Some(5));
    source.merge(five.clone()).unwrap();
    assert_eq!(source.target_folds(), Some(5));
    // What nothing was dealt to gives way.
    let mut said = Statistics::new(FEATURES).with_folds(7).unwrap();
    said.merge(ten).unwrap();
    assert_eq!(said.target_folds(), Some(10));
    assert!(five.clone().with_folds(6).is_err() && five.with_folds(5).is_ok());
    for folds in [0, 1, 51, usize::MAX] {
        assert!(Statistics::new(3).with_folds(folds).is_err());
        let asked = Settings {
            folds: Some(folds),
            ..linear()
        };
        assert!(Study::new(&data.tasks(), &asked).is_err());
    }
}

#[test]
fn columns_in_another_order_are_put_right() {
    let data = data(&[5000, 4000], 9);
    let names = |order: [usize; FEATURES]| order.map(|j| format!("x{j}")).to_vec();
    let turned: Vec<f64> = data
        .values
        .chunks(FEATURES)
        .flat_map(|row| [row[2], row[0], row[3], row[1]])
        .collect();
    let rows = Rows::row_major(&turned, FEATURES).unwrap();
    let empty = || Statistics::new(FEATURES).with_target("target");
    let mut other = empty();
    other
        .add_named(rows, &names([2, 0, 3, 1]), &data.task, &data.class)
        .unwrap();
    let mut straight = empty().with_feature_names(names([0, 1, 2, 3])).unwrap();
    straight
        .merge(Statistics::from_bytes(&other.to_bytes().unwrap()).unwrap())
        .unwrap();
    let study = Study::new(&straight, &linear()).unwrap();
    let tasks = data.tasks();
    let whole = Study::new(&tasks, &linear()).unwrap();
    // Rows were dealt in the order that their columns had: other folds, the same fits but for the weights of
    // candidates.
    let largest = apart(&study, &whole);
    assert!(largest < 0.02, "{largest}");
    assert!((study.forecast().error - whole.forecast().error).abs() < 0.005);
}

#[test]
fn a_file_holds_folds_and_sample_to_the_bit() {
    let data = data(&[3000, 2500], 10);
    let statistics = gathered(&in_parts(&data, 1200, 1));
    let bytes = statistics.to_bytes().unwrap();
    let again = Statistics::from_bytes(&bytes).unwrap();
    assert_eq!(again.to_bytes().unwrap(), bytes);
    let one = Study::new(&statistics, &linear()).unwrap();
    let two = Study::new(&again, &linear()).unwrap();
    assert_eq!(one.forecast().error, two.forecast().error);
    assert_eq!(
        one.model().unwrap().to_bytes().unwrap(),
        two.model().unwrap().to_bytes().unwrap()
    );
    // Data in memory that are to be a target's are dealt out when they are written.
    let tasks = data.tasks();
    let direct = Statistics::of(&tasks).with_target("target");
    let direct = Statistics::from_bytes(&direct.to_bytes().unwrap()).unwrap();
    assert!(apart(&Study::new(&direct, &linear()).unwrap(), &one) < 1e-9);
}

/// Every byte that is changed is found by the checksum; with the checksum made again no number may do harm.
#[test]
fn a_file_of_folds_that_was_edited_is_refused_or_harmless() {
    let data = data(&[2600, 2400], 11);
    let bytes = gathered(&in_parts(&data, 1200, 1)).to_bytes().unwrap();
    let header = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let (mut refused, mut read) = (0, 0);
    for step in 0..400 {
        // Half in what describes the numbers, half in the numbers.
        let at = match step % 2 {
            0 => 8 + (step * 131) % header,
            _ => 8 + header + (step * 7919) % (bytes.len() - 8 - header),
        };
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (step % 8);
        assert!(Statistics::from_bytes(&changed).is_err(), "byte {at}");
        let Some(sealed) = sealed_anew(&changed) else {
            continue;
        };
        match Statistics::from_bytes(&sealed) {
            Err(_) => refused += 1,
            Ok(statistics) => {
                read += 1;
                // Each takes a while.
                if read % 4 == 0 {
                    let _ = Study::new(&statistics, &linear());
                }
            }
        }
    }
    println!("{refused} refused, {read} read");
    assert!(refused > 50);
}

#[test]
fn what_needs_rows_says_so() {
    let data = data(&[3000, 2000], 12);
    let statistics = gathered(&in_parts(&data, 1000, 1));
    let one = Settings {
        evidence: Evidence::LeaveOneOut,
        ..linear()
    };
    assert!(matches!(
        Study::new(&statistics, &one),
        Err(Error::RowsNotKept { .. })
    ));
    // A part that was gathered without the target in mind has neither rows nor folds.
    let mut both = gathered(std::slice::from_ref(&data));
    let mut blind = Statistics::new(FEATURES);
    add(&mut blind, &self::data(&[200, 100], 13));
    both.merge(blind).unwrap();
    assert!(matches!(
        Study::new(&both, &linear()),
        Err(Error::RowsNotKept { .. })
    ));
    // Shown to others there are folds, unless they are small, and no row.
    let (shared, given_up) = statistics.shareable(50).unwrap();
    assert!(given_up.is_empty());
    assert!(shared.dealt(target_of(&shared)).unwrap().is_bare());
    // Sixty rows of the second class are in a fold, all in all 600.
    let statistics = gathered(&[self::data(&[4400, 600], 14)]);
    let (shared, given_up) = statistics.shareable(80).unwrap();
    assert_eq!(given_up.len(), 1);
    assert!(shared.dealt(target_of(&shared)).is_none());
}
