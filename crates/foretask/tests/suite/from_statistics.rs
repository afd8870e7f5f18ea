//! A study of statistics is that of the data they are of: added in parts, merged, through bytes.

use super::common;

use common::generate::{cases, gaussian, problems};
use common::{Table, assert_close, column};
use foretask::{
    Error, Evidence, FalseAlarm, Labels, Provenance, Rows, RuleName, Settings, Statistics, Study,
    Tail, Views,
};
use proptest::prelude::*;

/// Means and scatters of parts are merged with rounding, which solves at γ, λ up to 100 and the
/// weights of candidates multiply.
const ROUNDING: f64 = 1e-9;

/// North is the target; south has one class. East has a class that north lacks.
const COUNTS: [&[usize]; 4] = [&[22, 19], &[17, 18, 15], &[16], &[19, 21]];
/// Fewer features than rows of any task, between, and more than all rows.
const FEATURES: [usize; 3] = [5, 30, 160];

fn table(features: usize) -> Table {
    gaussian(11, features, &COUNTS, 1.0, 1.0).table()
}

/// Views that statistics know without rows.
fn settings() -> Settings {
    Settings {
        target: Some("north".into()),
        views: Views::linear(),
        ..Settings::default()
    }
}

fn add(statistics: &mut Statistics<'static>, table: &Table) {
    statistics
        .add(table.rows(), &table.task, &table.class)
        .unwrap();
}

/// Statistics of the table in parts of 13 rows: some added to one another, some merged, all through
/// bytes.
fn in_parts(table: &Table, empty: &Statistics<'static>) -> Statistics<'static> {
    let through_bytes = |statistics: Statistics<'static>| {
        Statistics::from_bytes(&statistics.to_bytes().unwrap()).unwrap()
    };
    let part = |from: usize, to: usize| table.filter(|row| (from..to).contains(&row));
    let rows = table.task.len();
    let mut whole = empty.clone();
    let mut start = 0;
    while start < rows {
        // Two batches added to one part, and the part merged into the whole.
        let mut two = empty.clone();
        add(&mut two, &part(start, start + 13));
        add(&mut two, &part(start + 13, start + 26));
        whole.merge(through_bytes(two)).unwrap();
        whole = through_bytes(whole);
        start += 26;
    }
    whole
}

/// Forecast, rule and weights agree, and everything that is said next to them.
#[track_caller]
fn assert_same_study(actual: &Study<'_>, expected: &Study<'_>, what: &str) {
    let near = |a: f64, e: f64| (a - e).abs() <= ROUNDING * e.abs().max(1.0);
    let (a, e) = (actual.forecast(), expected.forecast());
    assert!(near(a.error, e.error), "{what}: {} {}", a.error, e.error);
    assert!(
        (0..2).all(|end| near(a.interval[end], e.interval[end])),
        "{what}"
    );
    assert!(near(a.cost, e.cost), "{what}");
    assert_eq!(
        (a.provenance, a.samples),
        (e.provenance, e.samples),
        "{what}"
    );
    let (a, e) = (actual.model().unwrap(), expected.model().unwrap());
    assert_close(a.weights(), e.weights(), ROUNDING);
    let size = e.intercept().iter().fold(1.0, |s: f64, x| s.max(x.abs()));
    assert_close(
        &column(&a.intercept().iter().map(|x| x / size).collect::<Vec<_>>()),
        &column(&e.intercept().iter().map(|x| x / size).collect::<Vec<_>>()),
        ROUNDING,
    );
    let curve = |study: &Study<'_>| study.learning_curve(&[10], &|_| {}).unwrap();
    for (a, e) in curve(actual).iter().zip(&curve(expected)) {
        assert!(near(a.error, e.error), "{what}: {a:?} {e:?}");
    }
    for (a, e) in actual.relatedness().iter().zip(&expected.relatedness()) {
        assert_eq!(a.0, e.0);
        assert!(near(a.1.unwrap_or(2.0), e.1.unwrap_or(2.0)), "{what}");
    }
}

#[test]
fn leave_one_out_of_statistics_is_that_of_the_data() {
    for features in FEATURES {
        let table = table(features);
        let tasks = table.tasks();
        let statistics = in_parts(&table, &Statistics::new(features).keeping_rows_of("north"));
        let couplings = [None, Some((0.5, vec![1.0, 2.0, 0.5, 1.0]))];
        for (labels, coupling) in [
            Labels::Auto,
            Labels::Optimal,
            Labels::Classical,
            Labels::Pooled,
        ]
        .into_iter()
        .flat_map(|labels| couplings.clone().map(|coupling| (labels, coupling)))
        {
            let settings = Settings {
                labels,
                coupling,
                ..settings()
            };
            let what = format!("{features} features, {settings:?}");
            let actual = Study::new(&statistics, &settings).unwrap();
            let expected = Study::new(&tasks, &settings).unwrap();
            assert_same_study(&actual, &expected, &what);
        }
    }
}

#[test]
fn rules_by_name_of_statistics_are_those_of_the_data() {
    for features in FEATURES {
        let table = table(features);
        let tasks = table.tasks();
        // One-versus-one takes east apart.
        let empty = Statistics::new(features).keeping_all_rows();
        let statistics = in_parts(&table, &empty);
        for rule in RuleName::NAMED {
            let settings = Settings {
                rule,
                target: Some("east".into()),
                ..settings()
            };
            let actual = Study::new(&statistics, &settings).unwrap();
            let expected = Study::new(&tasks, &settings).unwrap();
            assert_same_study(&actual, &expected, &format!("{features} features, {rule}"));
        }
    }
}

#[test]
fn theories_need_no_rows() {
    for features in FEATURES {
        let table = table(features);
        let tasks = table.tasks();
        let statistics = in_parts(&table, &Statistics::new(features));
        assert_eq!(statistics.rows_of(1).is_some(), features > 41);
        for (evidence, rule) in [
            (Evidence::Isotropic, RuleName::Auto),
            (Evidence::Spherical, RuleName::Bayes),
            (Evidence::Common, RuleName::Auto),
        ] {
            let settings = Settings {
                evidence,
                rule,
                ..settings()
            };
            let what = format!("{features} features, {settings:?}");
            let actual = Study::new(&statistics, &settings).unwrap();
            let expected = Study::new(&tasks, &settings).unwrap();
            assert_same_study(&actual, &expected, &what);
        }
    }
}

#[test]
fn the_general_theory_needs_the_rows_of_every_task() {
    let table = table(5);
    let settings = Settings {
        evidence: Evidence::LedoitWolf,
        ..settings()
    };
    let statistics = in_parts(&table, &Statistics::new(5).keeping_all_rows());
    let actual = Study::new(&statistics, &settings).unwrap();
    let expected = Study::new(&table.tasks(), &settings).unwrap();
    assert_same_study(&actual, &expected, "general");
    let statistics = in_parts(&table, &Statistics::new(5).keeping_rows_of("east"));
    assert_eq!(
        Study::new(&statistics, &settings).unwrap_err().to_string(),
        "the general theory needs the rows of task 'north', of which only counts, means and scatter are kept: name it as a target (or keep its rows) before rows are added, or use the isotropic, spherical or pooled theory"
    );
}

#[test]
fn what_stands_next_to_a_forecast_is_that_of_the_data() {
    for features in [5, 160] {
        let table = table(features);
        let statistics = in_parts(&table, &Statistics::new(features).keeping_rows_of("north"));
        let tasks = table.tasks();
        let actual = Study::new(&statistics, &settings()).unwrap();
        let expected = Study::new(&tasks, &settings()).unwrap();
        let near = |a: f64, e: f64| (a - e).abs() <= ROUNDING;
        let values = |study: &Study<'_>| study.source_values(&|_| {}).unwrap();
        for (a, e) in values(&actual).iter().zip(&values(&expected)) {
            assert_eq!(a.task, e.task);
            assert!(near(a.error_without, e.error_without), "{a:?} {e:?}");
        }
        let compared = |study: &Study<'_>| study.compare(&|_| {}).unwrap();
        let (a, e) = (compared(&actual), compared(&expected));
        assert_eq!(a.len(), e.len());
        for (a, e) in a.iter().zip(&e) {
            assert_eq!((a.rule, a.labels), (e.rule, e.labels));
            assert!(near(a.forecast.error, e.forecast.error), "{a:?} {e:?}");
        }
        // The general theory is left out where rows are not kept.
        let (a, mut e) = (
            actual.theories(&|_| {}).unwrap(),
            expected.theories(&|_| {}).unwrap(),
        );
        if features == 5 {
            assert_eq!(
                e.pop().map(|theory| theory.provenance),
                Some(Provenance::General)
            );
        }
        assert_eq!(a.len(), e.len());
        for (a, e) in a.iter().zip(&e) {
            assert!(
                a.provenance == e.provenance && near(a.error, e.error),
                "{a:?} {e:?}"
            );
        }
    }
}

#[test]
fn all_targets_of_statistics_are_those_of_the_data() {
    for features in FEATURES {
        let table = table(features);
        let statistics = in_parts(&table, &Statistics::new(features).keeping_all_rows());
        let settings = Settings {
            views: Views::default(),
            ..settings()
        };
        let actual = Study::all(&statistics, &settings, &|_| {}).unwrap();
        let expected = Study::all(&table.tasks(), &settings, &|_| {}).unwrap();
        assert_eq!(actual.len(), 3);
        for (actual, expected) in actual.iter().zip(&expected) {
            assert_same_study(actual, expected, &format!("{features} features"));
        }
    }
}

#[test]
fn a_held_rate_of_statistics_is_that_of_the_data() {
    let table = table(5);
    let settings = Settings {
        false_alarm: Some(FalseAlarm {
            null: "ash".into(),
            rate: 0.1,
            tail: Tail::Auto,
        }),
        ..settings()
    };
    let statistics = in_parts(&table, &Statistics::new(5).keeping_rows_of("north"));
    let actual = Study::new(&statistics, &settings).unwrap();
    let expected = Study::new(&table.tasks(), &settings).unwrap();
    assert_same_study(&actual, &expected, "held rate");
    let threshold = |study: &Study<'_>| study.rule().threshold.unwrap();
    assert!((threshold(&actual) - threshold(&expected)).abs() < ROUNDING);
}

#[test]
fn leave_one_out_without_the_targets_rows_says_what_to_do() {
    let table = table(5);
    let expected = "leave-one-out needs the rows of task 'north', of which only counts, means and scatter are kept: name it as a target (or keep its rows) before rows are added, or name a theory (isotropic, spherical or pooled)";
    // The rows of another task do not help.
    let statistics = in_parts(&table, &Statistics::new(5).keeping_rows_of("east"));
    for coupling in [None, Some((1.0, vec![1.0]))] {
        for rule in [RuleName::Auto, RuleName::OneVsOne, RuleName::Bayes] {
            let settings = Settings {
                coupling: coupling.clone(),
                rule,
                ..settings()
            };
            let error = Study::new(&statistics, &settings).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
    let error = Study::all(&statistics, &settings(), &|_| {}).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn pairs_of_classes_need_rows_where_a_source_has_others() {
    let table = table(5);
    let one_vs_one = Settings {
        target: Some("east".into()),
        rule: RuleName::OneVsOne,
        coupling: Some((1.0, vec![1.0])),
        ..settings()
    };
    // The target has three classes, north two of them: for the pair of the third and another, north is
    // taken apart.
    let statistics = in_parts(&table, &Statistics::new(5).keeping_rows_of("east"));
    let error = Study::new(&statistics, &one_vs_one).unwrap_err();
    assert!(
        matches!(&error, Error::RowsNotKept { task, .. } if task == "north"),
        "{error}"
    );
    // Compared with other rules it is left out.
    let auto = Settings {
        rule: RuleName::Auto,
        ..one_vs_one.clone()
    };
    let study = Study::new(&statistics, &auto).unwrap();
    let compared = study.compare(&|_| {}).unwrap();
    assert!(compared.len() > 1 && compared.iter().all(|c| c.rule != RuleName::OneVsOne));
    // The theory foretells it; training it needs the rows.
    let foretold = Settings {
        evidence: Evidence::Isotropic,
        ..one_vs_one
    };
    let study = Study::new(&statistics, &foretold).unwrap();
    let expected = Study::new(&table.tasks(), &foretold).unwrap();
    assert!((study.forecast().error - expected.forecast().error).abs() < ROUNDING);
    assert!(matches!(study.model(), Err(Error::RowsNotKept { .. })));
}

#[test]
fn a_part_that_gave_its_rows_up_ends_the_keeping() {
    let table = table(5);
    let half = |first: bool| table.filter(|row| (row < 50) == first);
    let kept = |table: &Table| {
        let mut statistics = Statistics::new(5).keeping_rows_of("north");
        add(&mut statistics, table);
        statistics
    };
    let mut whole = kept(&half(true));
    assert!(whole.rows_of(1).is_some());
    whole.merge(half(false).statistics()).unwrap();
    assert!(whole.rows_of(1).is_none());
    whole.merge_again(kept(&half(false))).unwrap();
    assert!(whole.rows_of(1).is_none());
    // Rows in memory are not lost; few rows are always kept.
    let mut whole = kept(&half(true));
    let (second, few) = (half(false), table.filter(|row| row < 8));
    whole.merge(Statistics::of(&second.tasks())).unwrap();
    add(&mut whole, &few);
    assert!(whole.rows_of(1).is_some());
}

/// Two tasks of two features, four rows and one, as bytes of version 2.
const OLD: &str = "\
    40020000000000007b225f5f6d657461646174615f5f223a7b22666f72657461736b2d737461746973746963732d32223a22\
    7b5c2266656174757265735c223a322c5c227461736b735c223a5b7b5c226e616d655c223a5c22745c222c5c22636c617373\
    65735c223a5b5c22615c222c5c22625c225d2c5c22636f756e74735c223a5b322c325d7d2c7b5c226e616d655c223a5c2275\
    5c222c5c22636c61737365735c223a5b5c22615c225d2c5c22636f756e74735c223a5b315d7d5d7d227d2c22626f756e6473\
    2e30223a7b226474797065223a22463634222c227368617065223a5b322c325d2c22646174615f6f666673657473223a5b30\
    2c33325d7d2c22626f756e64732e31223a7b226474797065223a22463634222c227368617065223a5b322c325d2c22646174\
    615f6f666673657473223a5b33322c36345d7d2c226d65616e73223a7b226474797065223a22463634222c22736861706522\
    3a5b332c325d2c22646174615f6f666673657473223a5b36342c3131325d7d2c22726f77732e31223a7b226474797065223a\
    22463634222c227368617065223a5b312c325d2c22646174615f6f666673657473223a5b3131322c3132385d7d2c22736361\
    747465722e30223a7b226474797065223a22463634222c227368617065223a5b322c325d2c22646174615f6f666673657473\
    223a5b3132382c3136305d7d2c2277697468696e223a7b226474797065223a22463634222c227368617065223a5b332c325d\
    2c22646174615f6f666673657473223a5b3136302c3230385d7d7d20202020202020000000000000d03f00000000000000c0\
    000000000000f83f00000000000000400000000000000840000000000000e0bf0000000000000840000000000000e0bf0000\
    00000000e03f000000000000d0bf000000000000f03f00000000000000000000000000000840000000000000e0bf00000000\
    00000840000000000000e0bf000000000000ec3f000000000000044000000000000000000000000000602240000000000000\
    c03f000000000000f23f000000000000e03f000000000000204000000000000000000000000000000000";

#[test]
fn bytes_of_another_version_are_refused_with_both_named() {
    let bytes: Vec<u8> = (0..OLD.len() / 2)
        .map(|i| u8::from_str_radix(&OLD[2 * i..2 * i + 2], 16).unwrap())
        .collect();
    let error = Statistics::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("'foretask-statistics-2'"), "{error}");
    assert!(error.contains("'foretask-statistics-4'"), "{error}");
}

#[test]
fn statistics_that_cannot_be_trained_on_are_refused() {
    let empty = Statistics::new(3).keeping_all_rows();
    assert!(matches!(
        Study::new(&empty, &Settings::default()),
        Err(Error::Empty { .. })
    ));
    let mut one = empty;
    one.add(
        Rows::row_major(&[1.0, 2.0, 3.0], 3).unwrap(),
        &["t"],
        &["a"],
    )
    .unwrap();
    assert!(matches!(
        Study::all(&one, &Settings::default(), &|_| {}),
        Err(Error::TooFewRows { .. })
    ));
}

proptest! {
    #![proptest_config(cases(24))]

    /// Rows are the same numbers however they came in, and so is their order.
    #[test]
    fn kept_rows_are_those_of_the_data_in_their_order(
        problem in problems(2),
        cuts in prop::collection::vec(0..30_usize, 0..4),
    ) {
        let table = problem.table();
        let kept = || Statistics::new(problem.features).keeping_all_rows();
        let mut whole = kept();
        let mut cuts = cuts;
        cuts.extend([0, table.task.len()]);
        cuts.sort_unstable();
        for pair in cuts.windows(2) {
            let part = table.filter(|row| (pair[0]..pair[1]).contains(&row));
            if !part.task.is_empty() {
                let mut statistics = kept();
                add(&mut statistics, &part);
                whole.merge(statistics).unwrap();
            }
        }
        let mut at_once = kept();
        add(&mut at_once, &table);
        prop_assert_eq!(rows_in(&whole), rows_in(&at_once));
        let of_data = Statistics::of(&table.tasks()).keeping_all_rows();
        prop_assert_eq!(rows_in(&whole), rows_in(&of_data));
    }
}

/// The rows that the bytes of statistics hold, by name of the tensor.
fn rows_in(statistics: &Statistics<'_>) -> Vec<(String, Vec<u8>)> {
    let bytes = statistics.to_bytes().unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut rows: Vec<_> = tensors
        .tensors()
        .into_iter()
        .filter(|(name, _)| name.starts_with("rows."))
        .map(|(name, view)| (name, view.data().to_vec()))
        .collect();
    rows.sort();
    assert_eq!(rows.len(), statistics.cells().tasks().len());
    rows
}
