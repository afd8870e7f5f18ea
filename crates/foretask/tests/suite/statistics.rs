//! Statistics: what they hold, how they merge, what survives a file.

use super::common;
use crate::tensors::sealed_anew;

use common::generate::{cases, gaussian, problems};
use common::oracle::mean;
use common::{Problem, Table, assert_same, column, responses, responses_of};
use faer::Mat;
use foretask::{Error, Rows, Scaling, Statistics, System};
use proptest::prelude::*;

/// Rounding of sums of some hundred products, and of merges of them.
const ROUNDING: f64 = 1e-11;

/// Statistics by their definition: per cell count, mean and trace of scatter; per task the scatter.
struct Definition {
    counts: Vec<usize>,
    means: Mat<f64>,
    within: Mat<f64>,
    scatter: Vec<Mat<f64>>,
}

fn scatter(rows: &[Vec<f64>], p: usize) -> Mat<f64> {
    let mean = mean(rows, p);
    Mat::from_fn(p, p, |i, j| {
        rows.iter()
            .map(|x| (x[i] - mean[i]) * (x[j] - mean[j]))
            .sum()
    })
}

fn by_definition(problem: &Problem) -> Definition {
    let p = problem.features;
    let of_cell: Vec<Vec<Vec<f64>>> = problem
        .cells()
        .iter()
        .map(|(task, class)| {
            let task = problem.task(task);
            task.rows
                .iter()
                .zip(&task.class)
                .filter(|(_, c)| *c == class)
                .map(|(x, _)| x.clone())
                .collect()
        })
        .collect();
    let means: Vec<Vec<f64>> = of_cell.iter().map(|rows| mean(rows, p)).collect();
    let trace = |rows: &Vec<Vec<f64>>| {
        scatter(rows, p)
            .diagonal()
            .column_vector()
            .iter()
            .sum::<f64>()
    };
    let mut tasks: Vec<_> = problem.tasks.iter().collect();
    tasks.sort_by(|a, b| a.name.cmp(&b.name));
    Definition {
        counts: of_cell.iter().map(Vec::len).collect(),
        means: Mat::from_fn(p, means.len(), |feature, cell| means[cell][feature]),
        within: column(&of_cell.iter().map(trace).collect::<Vec<_>>()),
        scatter: tasks.iter().map(|task| scatter(&task.rows, p)).collect(),
    }
}

/// Differences are judged against `size`: a mean of nearly nothing has no digits of its own.
#[track_caller]
fn assert_defined(statistics: &Statistics<'_>, problem: &Problem, tolerance: f64, size: f64) {
    let expected = by_definition(problem);
    let cells = statistics.cells();
    let counts: Vec<usize> = (0..cells.len()).map(|cell| cells.count(cell)).collect();
    assert_eq!(counts, expected.counts);
    let near = |actual: &Mat<f64>, expected: &Mat<f64>| {
        assert_eq!(actual.shape(), expected.shape());
        let difference = (actual - expected).norm_max();
        assert!(
            difference <= tolerance * size.max(expected.norm_max()),
            "{actual:?} instead of {expected:?}"
        );
    };
    near(statistics.means(), &expected.means);
    near(&column(&statistics.within_traces()), &expected.within);
    for (task, scatter) in expected.scatter.iter().enumerate() {
        near(&statistics.scatter_of(task), scatter);
    }
}

/// Merges all parts: each number picks the pair of neighbours to merge next.
fn merged(mut parts: Vec<Statistics<'static>>, picks: &[usize]) -> Statistics<'static> {
    for pick in picks.iter().cycle() {
        if parts.len() == 1 {
            break;
        }
        let first = pick % (parts.len() - 1);
        let other = parts.remove(first + 1);
        parts[first].merge(other).unwrap();
    }
    parts.remove(0)
}

/// The table in parts, row l in part `part[l]`; a part may be empty.
fn parts(table: &Table, part: &[usize], count: usize) -> Vec<Statistics<'static>> {
    (0..count)
        .map(|index| table.filter(|row| part[row] == index).statistics())
        .collect()
}

const PARTS: usize = 5;
const MOST_ROWS: usize = 60;

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn statistics_are_those_of_their_definition(problem in problems(2)) {
        let table = problem.table();
        assert_defined(&Statistics::of(&table.tasks()), &problem, ROUNDING, 1.0);
        assert_defined(&table.statistics(), &problem, ROUNDING, 1.0);
    }

    #[test]
    fn parts_merged_in_any_order_and_grouping_are_the_whole(
        problem in problems(2),
        part in prop::collection::vec(0..PARTS, MOST_ROWS),
        order in Just((0..PARTS).collect::<Vec<_>>()).prop_shuffle(),
        picks in prop::collection::vec(0..PARTS, PARTS),
    ) {
        let table = problem.table();
        let parts = parts(&table, &part, PARTS);
        let whole = merged(order.iter().map(|&index| parts[index].clone()).collect(), &picks);
        assert_defined(&whole, &problem, ROUNDING, 1.0);
        // What is trained on them is the same model, too.
        let system = System::new(whole.clone(), Scaling::Auto, &problem.coupling(whole.cells())).unwrap();
        assert_same(&responses_of(&system, &problem), &responses(&problem, Scaling::Auto), 1e-9);
    }

    #[test]
    fn bytes_hold_everything_to_the_last_bit(problem in problems(2)) {
        let table = problem.table();
        let tasks = table.tasks();
        let statistics = Statistics::of(&tasks);
        let bytes = statistics.to_bytes().unwrap();
        let again = Statistics::from_bytes(&bytes).unwrap();
        prop_assert_eq!(again.cells(), statistics.cells());
        prop_assert_eq!(again.means(), statistics.means());
        prop_assert_eq!(again.within_traces(), statistics.within_traces());
        for task in 0..tasks.cells().tasks().len() {
            prop_assert_eq!(again.scatter_of(task), statistics.scatter_of(task));
        }
        let coupling = problem.coupling(tasks.cells());
        let system = |statistics| System::new(statistics, Scaling::Auto, &coupling).unwrap();
        let (saved, direct) = (system(again), system(Statistics::of(&tasks)));
        for task in 0..tasks.cells().tasks().len() {
            prop_assert_eq!(saved.weights(task), direct.weights(task));
        }
    }

    #[test]
    fn changed_bytes_never_panic(problem in problems(2), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = problem.table().statistics().to_bytes().unwrap();
        for (position, value) in changes {
            let position = position.index(bytes.len());
            bytes[position] = value;
        }
        read_and_use(&bytes);
        // With a checksum that is right every other check is on its own.
        read_and_use(&sealed_anew(&bytes).unwrap_or(bytes));
    }

    #[test]
    fn changed_numbers_are_noticed_by_the_checksum(problem in problems(2), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = problem.table().statistics().to_bytes().unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let refused = matches!(Statistics::from_bytes(&bytes), Err(Error::Format { .. }));
        prop_assert!(refused, "bit {} of byte {}", bit, at);
    }
}

/// Reads bytes of doubtful origin, and trains on what was read: errors are fine, panics are not.
fn read_and_use(bytes: &[u8]) {
    if let Ok(statistics) = Statistics::from_bytes(bytes) {
        let tasks = statistics.cells().tasks().len();
        let _ = statistics.scales();
        let mut more = statistics.clone();
        let _ = more.merge_again(statistics.clone());
        assert!(
            more.means()
                .col_iter()
                .all(|mean| mean.iter().all(|x| x.is_finite()))
        );
        let coupling = foretask::Coupling::uniform(1.0, 1.0, tasks).unwrap();
        if let Ok(system) = System::new(statistics, Scaling::Auto, &coupling) {
            let finite = |task| {
                system
                    .weights(task)
                    .col_iter()
                    .all(|w| w.iter().all(|x| x.is_finite()))
            };
            assert!((0..tasks).all(finite), "weights that are not finite");
        }
    }
}

/// The JSON header of a safetensors file, after its length in eight bytes.
fn header(bytes: &[u8]) -> String {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    String::from_utf8(bytes[8..8 + length].to_vec()).unwrap()
}

fn with_header(bytes: &[u8], changed: &str) -> Vec<u8> {
    let data = &bytes[8 + header(bytes).len()..];
    let padded = changed.len().next_multiple_of(8);
    let bytes = [
        &(padded as u64).to_le_bytes()[..],
        format!("{changed:padded$}").as_bytes(),
        data,
    ]
    .concat();
    sealed_anew(&bytes).unwrap_or(bytes)
}

fn small() -> Problem {
    gaussian(1, 3, &[&[4, 3], &[1, 1]], 0.7, 1.5)
}

#[test]
fn truncated_bytes_are_refused() {
    let bytes = small().table().statistics().to_bytes().unwrap();
    for length in 0..bytes.len() {
        let error = Statistics::from_bytes(&bytes[..length]).expect_err("part of a file");
        assert!(
            matches!(error, Error::Format { .. }),
            "{length} bytes: {error}"
        );
    }
    assert!(Statistics::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
}

/// Replaces one piece of the header.
fn tampered(from: &str, to: &str) -> Vec<u8> {
    let bytes = small().table().statistics().to_bytes().unwrap();
    let header = header(&bytes);
    assert_eq!(header.matches(from).count(), 1, "{from} in {header}");
    with_header(&bytes, &header.replace(from, to))
}

#[test]
fn a_header_that_does_not_fit_the_data_is_refused() {
    for (from, to) in [
        (r#"\"features\":3"#, r#"\"features\":4"#),
        (r#"\"features\":3"#, r#"\"features\":0"#),
        (r#"\"features\":3"#, r#"\"features\":-3"#),
        (r#"[1,1]"#, r#"[1,2]"#),
        (r#"[1,1]"#, r#"[1]"#),
        (r#"foretask-statistics-4"#, r#"foretask-statistics-9"#),
        (r#"\"counts\":[4,3]"#, r#"\"counts\":[7,0]"#),
        (r#"\"name\":\"north\""#, r#"\"name\":\"east\""#),
        (r#"\"parts\":[\""#, r#"\"parts\":[\"g"#),
        (
            r#"\"tasks\":"#,
            r#"\"names\":[\"a\",\"b\",\"a\"],\"tasks\":"#,
        ),
        (r#"\"tasks\":"#, r#"\"names\":[\"a\",\"b\"],\"tasks\":"#),
        (r#"\"tasks\":"#, r#"\"colour\":1,\"tasks\":"#),
    ] {
        assert_refused(from, to);
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused_in_every_tensor() {
    let bytes = small().table().statistics().to_bytes().unwrap();
    let first = 8 + header(&bytes).len();
    for at in (first..bytes.len()).step_by(8) {
        for value in [f64::NAN, f64::INFINITY] {
            let mut changed = bytes.clone();
            changed[at..at + 8].copy_from_slice(&value.to_le_bytes());
            assert!(Statistics::from_bytes(&changed).is_err(), "{value} at {at}");
            let sealed = sealed_anew(&changed).unwrap();
            if sealed != bytes {
                assert!(Statistics::from_bytes(&sealed).is_err(), "{value} at {at}");
            }
        }
    }
}

#[test]
fn a_number_of_features_that_overflows_is_refused() {
    // 2^61 + 3 is 3 once multiplied by the 8 bytes of a number in 64 bits.
    for features in ["9223372036854775807", "2305843009213693955"] {
        assert_refused(r#"\"features\":3"#, &format!(r#"\"features\":{features}"#));
    }
}

#[test]
fn counts_that_overflow_are_refused() {
    assert_refused(r#"[1,1]"#, r#"[18446744073709551615,3]"#);
}

fn assert_refused(from: &str, to: &str) {
    let error = Statistics::from_bytes(&tampered(from, to)).expect_err(to);
    assert!(matches!(error, Error::Format { .. }), "{to}: {error}");
}

#[test]
fn no_digit_of_the_header_can_be_changed_into_a_panic() {
    let bytes = small().table().statistics().to_bytes().unwrap();
    let header = header(&bytes);
    for (at, _) in header.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        for digits in ["0", "1", "2", "7", "-1", "99999"] {
            read_and_use(&with_header(
                &bytes,
                &[&header[..at], digits, &header[at + 1..]].concat(),
            ));
        }
    }
}

#[test]
fn the_same_statistics_are_the_same_bytes() {
    let statistics = small().table().statistics();
    let bytes = statistics.to_bytes().unwrap();
    for _ in 0..20 {
        assert!(
            statistics.to_bytes().unwrap() == bytes,
            "two files of the same statistics differ"
        );
    }
}

#[test]
fn a_file_with_its_header_written_anew_is_still_read() {
    // Keeps the test above honest: rewriting the header is not what makes a file unreadable.
    assert!(Statistics::from_bytes(&tampered(r#"\"features\":3"#, r#"\"features\":3"#)).is_ok());
}

#[test]
fn what_cannot_be_added_changes_nothing() {
    let problem = small();
    let mut statistics = problem.table().statistics();
    assert!(
        statistics
            .add(Rows::row_major(&[1.0; 4], 4).unwrap(), &["north"], &["ash"])
            .is_err()
    );
    assert!(
        statistics
            .add(
                Rows::row_major(&[1.0, f64::NAN, 1.0], 3).unwrap(),
                &["north"],
                &["ash"]
            )
            .is_err()
    );
    assert!(
        statistics
            .add(
                Rows::row_major(&[1.0; 3], 3).unwrap(),
                &["north", "north"],
                &["ash"]
            )
            .is_err()
    );
    assert!(statistics.merge(Statistics::new(4)).is_err());
    assert_eq!(statistics.features(), 3);
    assert_defined(&statistics, &problem, ROUNDING, 1.0);
}

#[test]
fn rows_may_come_one_at_a_time_and_number_names_may_change_their_order() {
    // "10" and "9" sort by value until a task called "b" comes; merging must follow the names.
    let mut problem = gaussian(2, 4, &[&[2, 1], &[5, 4], &[3, 3]], 0.7, 1.5);
    for (task, name) in problem.tasks.iter_mut().zip(["10", "9", "b"]) {
        task.name = name.into();
        task.class
            .iter_mut()
            .for_each(|class| *class = class.replace("ash", "10").replace("beech", "9"));
    }
    problem.tasks[1].class[8] = "x".into();
    let table = problem.table();
    let mut statistics = Statistics::new(4);
    for row in 0..table.task.len() {
        statistics
            .add(
                Rows::row_major(table.row(row), 4).unwrap(),
                &table.task[row..=row],
                &table.class[row..=row],
            )
            .unwrap();
    }
    assert_eq!(statistics.cells(), table.tasks().cells());
    let system = System::new(
        statistics,
        Scaling::None,
        &problem.coupling(table.tasks().cells()),
    )
    .unwrap();
    assert_same(
        &responses_of(&system, &problem),
        &responses(&problem, Scaling::None),
        ROUNDING,
    );
}

#[test]
fn a_large_mean_costs_no_digits_of_the_scatter_in_one_piece_or_in_parts() {
    // Features are multiples of 2^-20, so that adding a million is exact.
    let grid = f64::from(1 << 20);
    let near = gaussian(3, 5, &[&[30, 20], &[2, 1]], 0.7, 1.5)
        .map_points(|_, x| x.iter().map(|x| (x * grid).round() / grid).collect());
    let far = near.map_points(|_, x| x.iter().map(|x| x + 1e6).collect());
    let table = far.table();
    let part: Vec<usize> = (0..table.task.len()).map(|row| row % PARTS).collect();
    let picks = [2, 0, 1, 0];
    // A mean of size 1e6 is known to 1e-10; its square times n is what the scatter of size 50 loses.
    let lost = 1e-10;
    for statistics in [
        table.statistics(),
        merged(parts(&table, &part, PARTS), &picks),
    ] {
        let expected = by_definition(&near);
        for (task, expected) in expected.scatter.iter().enumerate() {
            let difference = (statistics.scatter_of(task) - expected).norm_max();
            assert!(difference <= 50.0 * lost, "task {task}: {difference}");
        }
        let difference = (column(&statistics.within_traces()) - expected.within).norm_max();
        assert!(difference <= 50.0 * lost, "{difference}");
    }
}
