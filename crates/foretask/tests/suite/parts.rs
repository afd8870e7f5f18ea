//! Parts of statistics: columns by name, none counted twice, one order for all, and what may be shown to others.

use super::common;

use common::Table;
use common::generate::gaussian;
use foretask::{Error, Evidence, Rows, Settings, Statistics, Study};

const FEATURES: usize = 5;

fn table() -> Table {
    gaussian(7, FEATURES, &[&[20, 17], &[16, 19]], 0.7, 1.5).table()
}

fn names(order: [usize; FEATURES]) -> Vec<String> {
    order.map(|feature| format!("x{feature}")).to_vec()
}

/// The statistics of every `count`-th row.
fn parts(table: &Table, count: usize) -> Vec<Statistics<'static>> {
    let part = |index: usize| table.filter(|row| row % count == index).statistics();
    (0..count).map(part).collect()
}

const IN_ORDER: [usize; FEATURES] = [0, 1, 2, 3, 4];
const SHUFFLED: [usize; FEATURES] = [3, 0, 4, 2, 1];

/// The rows with their columns in another order.
fn shuffled(table: &Table) -> Vec<f64> {
    let rows = table.values.chunks(FEATURES);
    rows.flat_map(|row| SHUFFLED.map(|feature| row[feature]))
        .collect()
}

#[test]
fn columns_in_another_order_are_put_right_by_their_names() {
    let table = table();
    for keeping in [false, true] {
        let empty = || match keeping {
            true => Statistics::new(FEATURES).keeping_all_rows(),
            false => Statistics::new(FEATURES),
        };
        let mut straight = empty().with_feature_names(names(IN_ORDER)).unwrap();
        let mut crooked = straight.clone();
        let half = |first: bool| table.filter(|row| (row % 2 == 0) == first);
        let moved = shuffled(&half(false));
        let moved = Rows::row_major(&moved, FEATURES).unwrap();
        for part in [half(true), half(false)] {
            straight.add(part.rows(), &part.task, &part.class).unwrap();
        }
        let (first, second) = (half(true), half(false));
        crooked
            .add(first.rows(), &first.task, &first.class)
            .unwrap();
        let mut by_rows = crooked.clone();
        by_rows
            .add_named(moved, &names(SHUFFLED), &second.task, &second.class)
            .unwrap();
        let mut part = empty();
        part.add_named(moved, &names(SHUFFLED), &second.task, &second.class)
            .unwrap();
        assert_eq!(part.feature_names().unwrap(), names(SHUFFLED));
        let part = Statistics::from_bytes(&part.to_bytes().unwrap()).unwrap();
        crooked.merge(part).unwrap();
        for merged in [&by_rows, &crooked] {
            assert_eq!(merged.feature_names().unwrap(), names(IN_ORDER));
            assert_eq!(merged.cells(), straight.cells());
            for task in 0..2 {
                let apart = merged.scatter_of(task) - straight.scatter_of(task);
                assert!(apart.norm_max() < 1e-10, "{apart:?}");
                let rows = |of: &Statistics<'_>| of.rows_of(task).map(|rows| rows.values());
                assert_eq!(rows(merged), rows(&straight));
            }
            assert!((merged.means() - straight.means()).norm_max() < 1e-12);
        }
    }
}

#[test]
fn a_missing_or_foreign_column_is_named_with_its_part() {
    let table = table();
    let named = |part: &Statistics<'static>, names: Vec<String>| {
        part.clone().with_feature_names(names).unwrap()
    };
    let own = parts(&table, 3);
    let mut other = names(IN_ORDER);
    other[2] = "colour".into();
    let all = vec![
        named(&own[0], names(IN_ORDER)),
        named(&own[1], names(IN_ORDER)),
        named(&own[2], other),
    ];
    let before = all[0].to_bytes().unwrap();
    let error = Statistics::merge_all(all.clone()).unwrap_err().to_string();
    assert!(error.starts_with("part 3, column 'x2':"), "{error}");
    let mut first = all[0].clone();
    let error = first.merge(all[2].clone()).unwrap_err();
    assert!(matches!(&error, Error::OtherColumns { column, .. } if column == "x2"));
    assert_eq!(first.to_bytes().unwrap(), before);
    // One without names cannot be matched.
    let error = first.merge(own[1].clone()).unwrap_err().to_string();
    assert!(error.contains("no names"), "{error}");
    let twice = vec!["a".into(); FEATURES];
    let error = own[0].clone().with_feature_names(twice).unwrap_err();
    assert!(matches!(error, Error::Column { .. }), "{error}");
}

#[test]
fn a_model_knows_the_names_of_its_features() {
    let statistics = table().statistics();
    let statistics = statistics.with_feature_names(names(SHUFFLED)).unwrap();
    let settings = Settings {
        target: Some("north".into()),
        evidence: Evidence::Common,
        ..Settings::default()
    };
    let model = Study::new(&statistics, &settings).unwrap().model().unwrap();
    assert_eq!(model.feature_names().unwrap(), names(SHUFFLED));
}

#[test]
fn the_tree_gives_the_same_bytes_for_every_grouping_that_keeps_to_it() {
    let table = table();
    for count in [1, 2, 3, 7, 8, 11] {
        let parts = parts(&table, count);
        let whole = Statistics::merge_all(parts.clone()).unwrap();
        for run in [2, 4, 8] {
            let runs = parts.chunks(run);
            let runs = runs.map(|run| Statistics::merge_all(run.to_vec()).unwrap());
            let through_bytes = runs.map(|run| Statistics::from_bytes(&run.to_bytes().unwrap()));
            let again = Statistics::merge_all(through_bytes.map(Result::unwrap)).unwrap();
            assert!(
                whole.to_bytes().unwrap() == again.to_bytes().unwrap(),
                "{count} parts in runs of {run}"
            );
        }
        let threads = |count| rayon::ThreadPoolBuilder::new().num_threads(count).build();
        let of = |count| {
            let pool = threads(count).unwrap();
            pool.install(|| Statistics::merge_all(super::parts::parts(&table, 4)).unwrap())
        };
        assert!(of(1).to_bytes().unwrap() == of(3).to_bytes().unwrap());
    }
    assert!(matches!(
        Statistics::merge_all([]),
        Err(Error::Empty { .. })
    ));
}

#[test]
fn a_part_that_is_there_already_is_refused_unless_it_is_meant() {
    let parts = parts(&table(), 3);
    let mut whole = Statistics::merge_all(parts.clone()).unwrap();
    assert_eq!(whole.parts().len(), 3);
    let bytes = whole.to_bytes().unwrap();
    let mut whole_again = Statistics::from_bytes(&bytes).unwrap();
    for part in parts.clone() {
        assert!(matches!(
            whole_again.merge(part),
            Err(Error::SamePart { .. })
        ));
    }
    assert_eq!(whole_again.to_bytes().unwrap(), bytes);
    let mut twice = parts.clone();
    twice.push(parts[1].clone());
    let error = Statistics::merge_all(twice).unwrap_err().to_string();
    assert!(error.starts_with("part 4 holds rows"), "{error}");
    let before = whole.cells().tasks()[0].samples();
    let more = parts[0].cells().tasks()[0].samples();
    whole.merge_again(parts[0].clone()).unwrap();
    assert_eq!(whole.cells().tasks()[0].samples(), before + more);
    // Nothing is nothing, however often.
    let empty = Statistics::new(FEATURES);
    whole.merge(empty.clone()).unwrap();
    whole.merge(empty).unwrap();
    assert_eq!(whole.parts().len(), 3);
}

#[test]
fn statistics_without_rows_survive_a_file_and_say_later_what_to_keep() {
    let empty = Statistics::new(FEATURES).keeping_rows_of("north");
    let mut again = Statistics::from_bytes(&empty.to_bytes().unwrap()).unwrap();
    assert_eq!(again.features(), FEATURES);
    let table = table();
    again.merge(Statistics::of(&table.tasks())).unwrap();
    let north = again.cells().find_task("north").unwrap();
    assert!(again.rows_of(north).is_some());
    assert!(again.rows_of(1 - north).is_none());
    let none: [&str; 0] = [];
    again
        .add(Rows::row_major::<f64>(&[], FEATURES).unwrap(), &none, &none)
        .unwrap();
}

#[test]
fn what_is_shown_to_others_has_no_row_and_no_small_cell() {
    let table = table();
    let statistics = table.statistics();
    let (shared, _) = statistics.shareable(16).unwrap();
    let bytes = shared.to_bytes().unwrap();
    // No value of any row is in it, as there is in the statistics themselves.
    let holds = |bytes: &[u8]| {
        let numbers: Vec<&[u8]> = bytes.chunks_exact(8).collect();
        table
            .values
            .iter()
            .any(|x| numbers.contains(&&x.to_le_bytes()[..]))
    };
    assert!(holds(&statistics.to_bytes().unwrap()));
    assert!(!holds(&bytes));
    let again = Statistics::from_bytes(&bytes).unwrap();
    assert_eq!(again.means(), statistics.means());
    let error = statistics.shareable(17).unwrap_err();
    let Error::SmallCell { task, class, .. } = &error else {
        panic!("{error}")
    };
    let entry = statistics
        .cells()
        .tasks()
        .iter()
        .find(|entry| entry.name == *task);
    let place = entry
        .unwrap()
        .classes
        .iter()
        .position(|own| Some(own) == class.as_ref());
    assert_eq!(entry.unwrap().counts[place.unwrap()], 16);
    let mut kept = Statistics::new(FEATURES).keeping_rows_of("north");
    kept.add(table.rows(), &table.task, &table.class).unwrap();
    let error = kept.shareable(2).unwrap_err().to_string();
    assert!(
        error.contains("'north'") && error.contains("kept"),
        "{error}"
    );
    let few = gaussian(7, 40, &[&[10, 9]], 0.7, 1.5).table().statistics();
    let error = few.shareable(2).unwrap_err().to_string();
    assert!(error.contains("19 rows and 40 features"), "{error}");
}
