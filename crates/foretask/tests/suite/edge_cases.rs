//! Data that are legal but odd.

use super::common;

use common::generate::gaussian;
use common::{Problem, TaskData, assert_same, leave_one_out, oracle, responses};
use foretask::{Error, Rows, Scaling, Statistics, System, Tasks};

/// As in `exactness`: rounding times a condition of about 1e4.
const ROUNDING: f64 = 1e-9;

#[track_caller]
fn assert_exact(problem: &Problem) {
    assert_same(
        &responses(problem, Scaling::None),
        &oracle::responses(problem),
        ROUNDING,
    );
    assert_same(
        &leave_one_out(problem, Scaling::None),
        &oracle::leave_one_out(problem),
        ROUNDING,
    );
}

#[track_caller]
fn assert_equivalent(actual: &Problem, expected: &Problem) {
    assert_same(
        &responses(actual, Scaling::None),
        &responses(expected, Scaling::None),
        ROUNDING,
    );
    assert_same(
        &leave_one_out(actual, Scaling::None),
        &leave_one_out(expected, Scaling::None),
        ROUNDING,
    );
}

/// One problem for the primal form, one with a task on each side, one for the single dual.
fn shapes() -> [Problem; 3] {
    [
        gaussian(1, 4, &[&[8, 9], &[7, 6]], 0.7, 1.5),
        gaussian(2, 9, &[&[8, 9], &[3, 2]], 0.7, 1.5),
        gaussian(3, 25, &[&[3, 4], &[3, 2]], 0.7, 1.5),
    ]
}

fn with_feature(problem: &Problem, feature: impl Fn(usize, &[f64]) -> f64) -> Problem {
    problem.map_points(|task, x| [x, &[feature(task, x)]].concat())
}

#[test]
fn a_feature_that_is_constant_in_each_task_counts_for_nothing() {
    for problem in shapes() {
        let constant = with_feature(&problem, |task, _| 5.0 - 3.0 * task as f64);
        assert_equivalent(&constant, &with_feature(&problem, |_, _| 0.0));
        let table = constant.table();
        let tasks = table.tasks();
        let system = System::new(
            Statistics::of(&tasks),
            Scaling::Auto,
            &constant.coupling(tasks.cells()),
        )
        .unwrap();
        for task in 0..2 {
            assert!(
                system
                    .weights(task)
                    .row(problem.features)
                    .iter()
                    .all(|w| w.abs() < ROUNDING)
            );
        }
    }
}

#[test]
fn a_feature_given_twice_counts_as_one_that_is_longer() {
    for problem in shapes() {
        let twice = with_feature(&problem, |_, x| x[0]);
        let longer = problem.map_points(|_, x| [&[2_f64.sqrt() * x[0]], &x[1..], &[0.0]].concat());
        assert_equivalent(&twice, &longer);
    }
}

#[test]
fn rows_given_twice_are_left_out_one_at_a_time() {
    for mut problem in shapes() {
        let task = &mut problem.tasks[0];
        for row in [0, 0, 5] {
            task.rows.push(task.rows[row].clone());
            task.class.push(task.class[row].clone());
        }
        assert_exact(&problem);
    }
}

#[test]
fn one_row_with_two_classes_is_no_contradiction() {
    for mut problem in shapes() {
        let task = &mut problem.tasks[1];
        task.rows[1] = task.rows[0].clone();
        let other = task.class.last().unwrap().clone();
        task.class[1] = other;
        assert_exact(&problem);
    }
}

#[test]
fn a_source_of_one_class_has_nothing_to_say_about_labels() {
    for mut problem in shapes() {
        problem.tasks[1]
            .class
            .iter_mut()
            .for_each(|class| *class = "fir".into());
        assert_exact(&problem);
        for ((task, of, _), values) in responses(&problem, Scaling::None) {
            if of == problem.tasks[1].name {
                let expected = if task == of { 1.0 } else { 0.0 };
                assert!(
                    values.iter().all(|x| (x - expected).abs() < ROUNDING),
                    "{task}: {values:?}"
                );
            }
        }
    }
}

#[test]
fn tasks_may_have_class_lists_of_their_own() {
    for mut problem in shapes() {
        for (row, class) in problem.tasks[0].class.iter_mut().enumerate() {
            *class = ["elm", "beech", "fir"][row % 3].into();
        }
        assert_exact(&problem);
    }
}

#[test]
fn classes_of_one_sample_are_trained_and_left_out() {
    for mut problem in shapes() {
        for (row, class) in problem.tasks[0].class.iter_mut().enumerate() {
            *class = format!("class {row}");
        }
        assert_exact(&problem);
        // Without a second sample in any class the others' spread is what there is to scale by, or its own.
        let table = problem.table();
        let tasks = table.tasks();
        let task = tasks.cells().find_task(&problem.tasks[0].name).unwrap();
        let statistics = Statistics::of(&tasks);
        let scatter = statistics.scatter_of(task);
        let trace: f64 = (0..problem.features).map(|i| scatter[(i, i)]).sum();
        let freedom = (problem.tasks[0].rows.len() - 1) * problem.features;
        let others: Vec<f64> = (0..tasks.cells().tasks().len())
            .filter(|&other| other != task)
            .map(|other| statistics.scales()[other].powi(2))
            .collect();
        let expected = match others.len() {
            0 => (trace / freedom as f64).sqrt(),
            count => (others.iter().sum::<f64>() / count as f64).sqrt(),
        };
        assert!(
            (statistics.scales()[task] - expected).abs() < ROUNDING,
            "{:?}, {expected}",
            statistics.scales()
        );
    }
}

#[test]
fn a_task_of_rows_that_are_all_alike_is_trained_and_left_out() {
    for mut problem in shapes() {
        let row = problem.tasks[1].rows[0].clone();
        problem.tasks[1]
            .rows
            .iter_mut()
            .for_each(|x| x.clone_from(&row));
        assert_exact(&problem);
    }
}

/// The automatic scale of one task of one feature.
fn scale(values: &[f64], class: &[&str]) -> f64 {
    let tasks = Tasks::new(
        Rows::row_major(values, 1).unwrap(),
        &vec!["t"; class.len()],
        class,
    )
    .unwrap();
    Statistics::of(&tasks).scales()[0]
}

#[test]
fn rows_that_are_all_alike_are_not_scaled_whatever_their_value() {
    for value in [0.0, 0.125, 0.1, -0.7, 1e6 / 3.0] {
        let scale = scale(&[value; 3], &["a", "a", "b"]);
        assert!(
            (scale - 1.0).abs() < ROUNDING,
            "three times {value}: scale {scale}"
        );
    }
}

#[test]
fn the_scale_follows_the_unit_where_classes_have_no_spread() {
    // The mean of three values that are alike is not always that value, to the last bit.
    let of_unit = |unit: f64| {
        scale(
            &[unit, unit, unit, 2.0 * unit, 2.0 * unit, 2.0 * unit],
            &["a", "a", "a", "b", "b", "b"],
        )
    };
    for unit in [0.5, 0.1, 0.7, 1e6 / 3.0] {
        let relative = of_unit(unit) / unit / of_unit(1.0);
        assert!(
            (relative - 1.0).abs() < ROUNDING,
            "unit {unit}: scale {} of what it should be",
            relative
        );
    }
}

#[test]
fn two_rows_are_enough_for_a_task() {
    assert_exact(&gaussian(4, 3, &[&[1, 1], &[2], &[9, 8]], 0.7, 1.5));
    assert_exact(&gaussian(5, 12, &[&[1, 1]], 0.7, 1.5));
    assert_exact(&gaussian(6, 1, &[&[1, 1], &[1, 1]], 0.7, 1.5));
}

/// A mean of size 1e6 is known to 1e-10 of a unit spread, and products of such differences to
/// about 1e-9; the promise is three digits weaker.
const LARGE_OFFSET: f64 = 1e-6;

#[test]
fn an_offset_of_a_million_spreads_costs_few_digits() {
    // Features are multiples of 2^-20, so that adding a million is exact.
    let grid = f64::from(1 << 20);
    for problem in shapes() {
        let near = problem.map_points(|_, x| x.iter().map(|x| (x * grid).round() / grid).collect());
        let far = near.map_points(|task, x| {
            x.iter()
                .map(|x| x + 1e6 * (1.0 - 2.0 * task as f64))
                .collect()
        });
        for scaling in [Scaling::None, Scaling::Auto] {
            assert_same(
                &responses(&far, scaling),
                &responses(&near, scaling),
                LARGE_OFFSET,
            );
            assert_same(
                &leave_one_out(&far, scaling),
                &leave_one_out(&near, scaling),
                LARGE_OFFSET,
            );
        }
    }
}

#[test]
fn classes_a_million_spreads_apart_are_told_apart() {
    let far = gaussian(7, 4, &[&[8, 9], &[7, 6]], 0.7, 1.5);
    let far = Problem {
        tasks: far
            .tasks
            .into_iter()
            .map(|task| {
                let moved = |(x, class): (&Vec<f64>, &String)| {
                    x.iter()
                        .map(|x| x + if class == "ash" { 1e6 } else { 0.0 })
                        .collect()
                };
                let rows: Vec<Vec<f64>> = task.rows.iter().zip(&task.class).map(moved).collect();
                TaskData {
                    probes: rows.clone(),
                    rows,
                    ..task
                }
            })
            .collect(),
        ..far
    };
    for ((task, of, class), values) in responses(&far, Scaling::None) {
        for (own, x) in far.task(&task).class.iter().zip(values) {
            let expected = if task == of && *own == class {
                1.0
            } else {
                0.0
            };
            // The spread within a class is 1e-6 of the distance, which is all the fit can miss.
            assert!((x - expected).abs() < 1e-4, "{task}, {of} {class}: {x}");
        }
    }
}

#[test]
fn values_that_overflow_are_an_error_and_not_a_number() {
    let huge: Vec<f64> = [1.0, -1.0, 0.5, 2.0].iter().map(|x| x * 1e200).collect();
    for features in [1, 2] {
        let n = huge.len() / features;
        let class: Vec<String> = (0..n).map(|row| (row % 2).to_string()).collect();
        let tasks = Tasks::new(
            Rows::row_major(&huge, features).unwrap(),
            &vec!["t"; n],
            &class,
        )
        .unwrap();
        let coupling = foretask::Coupling::uniform(1.0, 1.0, 1).unwrap();
        match System::new(Statistics::of(&tasks), Scaling::None, &coupling) {
            Err(error) => assert!(matches!(error, Error::Factorisation { .. }), "{error}"),
            Ok(system) => {
                let weights = system.weights(0);
                assert!(
                    weights
                        .col_iter()
                        .all(|column| column.iter().all(|w| w.is_finite())),
                    "{weights:?}"
                );
            }
        }
    }
}

#[test]
fn points_that_do_not_fit_are_refused_with_a_reason() {
    let problem = &shapes()[0];
    let table = problem.table();
    let tasks = table.tasks();
    let system = System::new(
        Statistics::of(&tasks),
        Scaling::Auto,
        &problem.coupling(tasks.cells()),
    )
    .unwrap();
    let narrow = Rows::row_major(&[0.0; 6], 3).unwrap();
    assert!(matches!(
        system.responses(0, narrow),
        Err(Error::Shape {
            expected: 4,
            got: 3,
            ..
        })
    ));
    let bad = [0.0, 0.0, 0.0, 0.0, 0.0, f64::INFINITY, 0.0, 0.0];
    let error = system
        .responses(0, Rows::row_major(&bad, 4).unwrap())
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::NotFinite {
                row: 2,
                feature: 2,
                ..
            }
        ),
        "{error}"
    );
    let one_gamma = foretask::Coupling::uniform(1.0, 1.0, 1).unwrap();
    assert!(matches!(
        System::new(Statistics::of(&tasks), Scaling::Auto, &one_gamma),
        Err(Error::Shape {
            expected: 2,
            got: 1,
            ..
        })
    ));
}
