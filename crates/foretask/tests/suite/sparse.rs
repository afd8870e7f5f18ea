//! Sparse rows: everything is that of the same rows in full.

use foretask::{Error, Evidence, Rows, Settings, Statistics, Study, Tasks};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::common::drawn::{Data, settings};
use super::common::generate::cases;
use foretask::Labels;

/// Counts of words, few of which a row has; two classes, which some words tell apart.
fn words(p: usize, counts: &[(&str, usize)], seed: u64) -> Data {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut values, mut task, mut class) = (Vec::new(), Vec::new(), Vec::new());
    for &(name, count) in counts {
        for row in 0..count {
            let own = row % 2;
            let mut line = vec![0.0; p];
            for _ in 0..8 {
                let word = random.random_range(0..p);
                let told = word % 5 == own && random.random_range(0..3) > 0;
                line[if told {
                    word
                } else {
                    random.random_range(0..p)
                }] += 1.0;
            }
            values.extend(line);
            task.push(name.to_owned());
            class.push(format!("c{own}"));
        }
    }
    Data {
        values,
        features: p,
        task,
        class,
    }
}

/// The entries of rows that are not zero.
struct Csr {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    features: usize,
}

impl Csr {
    fn of(data: &Data) -> Self {
        let mut csr = Self {
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            features: data.features,
        };
        for row in data.values.chunks(data.features) {
            for (column, &value) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                csr.columns.push(column as u32);
                csr.values.push(value);
            }
            csr.starts.push(csr.columns.len());
        }
        csr
    }

    fn rows(&self) -> Rows<'_> {
        Rows::csr(&self.starts, &self.columns, &self.values, self.features).unwrap()
    }
}

#[track_caller]
fn assert_same(data: &Data, settings: &Settings, tolerance: f64) {
    let csr = Csr::of(data);
    let (full, sparse) = (
        data.tasks(),
        Tasks::new(csr.rows(), &data.task, &data.class).unwrap(),
    );
    let one = Study::new(&full, settings).unwrap();
    let two = Study::new(&sparse, settings).unwrap();
    assert_eq!(one.forecast().provenance, two.forecast().provenance);
    let (a, b) = (one.forecast(), two.forecast());
    assert!(
        (a.error - b.error).abs() < tolerance,
        "{} {}",
        a.error,
        b.error
    );
    assert_eq!(a.notes, b.notes);
    let (a, b) = (one.model().unwrap(), two.model().unwrap());
    // Scores on rows in full and on sparse rows, by either model.
    let scores = a.scores(data.rows()).unwrap();
    let size = scores.norm_max();
    for other in [
        a.scores(csr.rows()).unwrap(),
        b.scores(data.rows()).unwrap(),
        b.scores(csr.rows()).unwrap(),
    ] {
        let apart = (&other - &scores).norm_max() / size;
        assert!(apart < tolerance, "{apart}");
    }
}

fn plain() -> Settings {
    Settings {
        rehearse: false,
        ..settings(Labels::Auto)
    }
}

#[test]
fn more_words_than_rows() {
    let data = words(
        300,
        &[("a source", 60), ("b source", 30), ("target", 50)],
        1,
    );
    assert_same(&data, &plain(), 1e-8);
}

#[test]
fn more_rows_than_words() {
    let data = words(12, &[("a source", 200), ("target", 120)], 2);
    assert_same(&data, &plain(), 1e-8);
}

#[test]
fn many_rows_in_folds() {
    let data = words(10, &[("a source", 300), ("target", 4400)], 3);
    assert_same(&data, &plain(), 1e-8);
}

#[test]
fn rules_by_name_and_theories() {
    let data = words(80, &[("a source", 40), ("target", 30)], 4);
    for labels in [Labels::Alone, Labels::Optimal] {
        let named = Settings { labels, ..plain() };
        assert_same(&data, &named, 1e-8);
    }
    let theory = Settings {
        evidence: Evidence::Common,
        ..plain()
    };
    assert_same(&data, &theory, 1e-8);
}

#[test]
fn statistics_of_sparse_rows_are_those_of_the_rows() {
    let data = words(9, &[("a source", 80), ("target", 60)], 5);
    let csr = Csr::of(&data);
    let mut full = Statistics::new(9).with_target("target");
    let mut sparse = full.clone();
    full.add(data.rows(), &data.task, &data.class).unwrap();
    sparse.add(csr.rows(), &data.task, &data.class).unwrap();
    let one = Study::new(&full, &plain()).unwrap();
    let two = Study::new(&sparse, &plain()).unwrap();
    assert!((one.forecast().error - two.forecast().error).abs() < 1e-9);
    let (one, two) = (one.model().unwrap(), two.model().unwrap());
    assert!((one.weights() - two.weights()).norm_max() < 1e-9 * one.weights().norm_max());
}

proptest! {
    #![proptest_config(cases(32))]

    /// What is no table of sparse rows is an error, and never a panic.
    #[test]
    fn whatever_is_given_is_rows_or_an_error(
        starts in prop::collection::vec(0_usize..9, 0..6),
        columns in prop::collection::vec(0_u32..5, 0..9),
        extra in 0_usize..2,
        features in 0_usize..5,
    ) {
        let values = vec![1.0; columns.len() + extra];
        if let Ok(rows) = Rows::csr(&starts, &columns, &values, features) {
            prop_assert!(starts.is_sorted());
            prop_assert_eq!(rows.len() + 1, starts.len());
            let names = vec!["t"; rows.len()];
            let class: Vec<String> = (0..rows.len()).map(|row| format!("c{}", row % 2)).collect();
            if let Ok(tasks) = Tasks::new(rows, &names, &class) {
                let _ = Study::new(&tasks, &Settings::default());
            }
        }
    }
}

#[test]
fn errors_name_the_row() {
    let wrong = Rows::csr(&[0, 1, 3], &[0, 2, 1], &[1.0, 2.0, 3.0], 3);
    assert!(matches!(wrong, Err(Error::Sparse { row: Some(2), .. })));
    let beyond = Rows::csr(&[0, 1], &[3], &[1.0], 3);
    assert!(matches!(beyond, Err(Error::Sparse { row: Some(1), .. })));
    let values = [1.0, f64::NAN, 2.0];
    let rows = Rows::csr(&[0, 1, 1, 3], &[1, 0, 2], &values, 3).unwrap();
    let error = Tasks::new(rows, &["t"; 3], &["a", "b", "a"]).unwrap_err();
    assert!(matches!(
        error,
        Error::NotFinite {
            row: 3,
            feature: 1,
            ..
        }
    ));
}

/// A file of sparse rows is about as large as their entries, and what comes of it is what was written.
#[test]
fn files_hold_entries() {
    let gathered = |p: usize, counts: &[(&str, usize)]| {
        let data = words(p, counts, 7);
        let csr = Csr::of(&data);
        let mut statistics = Statistics::new(p).with_all_targets();
        let added = statistics.add(csr.rows(), &data.task, &data.class);
        added.unwrap();
        (csr.values.len(), statistics)
    };
    let (entries, statistics) = gathered(3000, &[("a source", 400), ("target", 600)]);
    let bytes = statistics.to_bytes().unwrap();
    // A column and a value an entry; and means, squares and bounds, by bits that say where there are any.
    let (own, others) = (16 * entries, 12 * 3000 * 8);
    assert!(bytes.len() < own + others + others / 4, "{}", bytes.len());
    let again = Statistics::from_bytes(&bytes).unwrap();
    assert!(again.to_bytes().unwrap() == bytes);
    let (_, few) = gathered(300, &[("a source", 40), ("target", 60)]);
    let again = Statistics::from_bytes(&few.to_bytes().unwrap()).unwrap();
    let settings = plain();
    let studies = [&few, &again].map(|own| Study::new(own, &settings).unwrap());
    assert_eq!(studies[0].forecast().error, studies[1].forecast().error);
    let [one, two] = studies.map(|study| study.model().unwrap().to_bytes().unwrap());
    assert!(one == two);
}

/// Whatever is edited in it: refused, or of use.
#[test]
fn edited_entries_are_refused() {
    let data = words(40, &[("a", 9), ("b", 11)], 3);
    let csr = Csr::of(&data);
    let mut statistics = Statistics::new(40).with_all_targets();
    statistics.add(csr.rows(), &data.task, &data.class).unwrap();
    let bytes = statistics.to_bytes().unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut refused = 0;
    for (name, view) in tensors.tensors() {
        let start = view.data().as_ptr() as usize - bytes.as_ptr() as usize;
        let must = ["starts", "columns", "entries"]
            .iter()
            .any(|own| name.starts_with(own));
        for at in (start..start + view.data().len()).step_by(8) {
            let value = f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            for other in [value + 1.0, value - 1.0, value + 0.5, 1e18, -1.0, f64::NAN] {
                let mut changed = bytes.clone();
                changed[at..at + 8].copy_from_slice(&other.to_le_bytes());
                let sealed = crate::tensors::sealed_anew(&changed).unwrap();
                let read = Statistics::from_bytes(&sealed);
                refused += usize::from(read.is_err());
                assert!(
                    read.is_err() || !must || other == value,
                    "{name}: {value} is {other}"
                );
            }
        }
        // Without it, nothing is whole.
        assert!(name == "checksum" || !view.data().is_empty(), "{name}");
    }
    assert!(refused > 1000, "{refused}");
}
