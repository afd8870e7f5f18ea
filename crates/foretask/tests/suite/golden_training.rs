//! Training, statistics and leave-one-out equal the golden values of an independent implementation, number by
//! number (`docs/2-the-theory.md#how-the-formulas-were-checked`).

use super::common;

use common::golden::{GOLDEN, Training, array, matrix, numbers, training};
use common::{assert_close, assert_same, column, leave_one_out, leave_one_out_with, responses};
use faer::Mat;
use foretask::{Scaling, Statistics, System};

/// For every golden file, a system trained on the raw data (the files' weights are for those).
fn for_each_system(check: impl Fn(&Training, &System<'_>)) {
    for golden in training() {
        let table = golden.problem.table();
        let tasks = table.tasks();
        let coupling = golden.problem.coupling(tasks.cells());
        let system = System::new(Statistics::of(&tasks), Scaling::None, &coupling).unwrap();
        check(&golden, &system);
    }
}

/// The scores of task `task` at `points` (one a row) for the golden labels.
fn scores(golden: &Training, system: &System<'_>, task: usize, points: &[f64]) -> Mat<f64> {
    let rows = foretask::Rows::row_major(points, golden.problem.features).unwrap();
    system.responses(task, rows).unwrap() * &golden.labels
}

#[test]
fn weights_are_the_golden_ones() {
    for_each_system(|golden, system| {
        for (task, expected) in array(&golden.expected["w"]).iter().enumerate() {
            assert_close(
                &(system.weights(task) * &golden.labels),
                &matrix(expected),
                GOLDEN,
            );
        }
    });
}

#[test]
fn the_score_at_the_task_mean_is_the_golden_bias() {
    for_each_system(|golden, system| {
        for (task, expected) in array(&golden.expected["b"]).iter().enumerate() {
            let mean = numbers(&golden.expected["task_means"][task]);
            assert_close(&column(&system.task_mean(task)), &column(&mean), GOLDEN);
            let bias = scores(golden, system, task, &mean);
            assert_close(
                &bias.transpose().to_owned(),
                &column(&numbers(expected)),
                GOLDEN,
            );
        }
    });
}

#[test]
fn scores_of_test_points_are_the_golden_ones() {
    for_each_system(|golden, system| {
        for (task, expected) in array(&golden.expected["scores"]).iter().enumerate() {
            let points = golden.problem.tasks[task].probes.concat();
            assert_close(
                &scores(golden, system, task, &points),
                &matrix(expected),
                GOLDEN,
            );
        }
    });
}

#[test]
fn residuals_of_the_training_rows_are_the_golden_dual_variables() {
    for golden in training() {
        let alpha = matrix(&golden.expected["alpha"]);
        let fitted = responses(&golden.problem.clone().probing_rows(), Scaling::None);
        let mut sample = 0;
        for task in &golden.problem.tasks {
            for (row, class) in task.class.iter().enumerate() {
                for q in 0..alpha.ncols() {
                    let mut residual = 0.0;
                    for (cell, (cell_task, cell_class)) in
                        golden.problem.cells().into_iter().enumerate()
                    {
                        let own =
                            f64::from(u8::from(cell_task == task.name && cell_class == *class));
                        let response = fitted[&(task.name.clone(), cell_task, cell_class)][row];
                        residual += golden.labels[(cell, q)] * (own - response);
                    }
                    let expected = alpha[(sample, q)];
                    assert!(
                        (residual - expected).abs() <= GOLDEN,
                        "{} {sample}: {residual}, {expected}",
                        golden.name
                    );
                }
                sample += 1;
            }
        }
        assert_eq!(sample, alpha.nrows());
    }
}

#[test]
fn leave_one_out_responses_are_the_golden_ones() {
    for golden in training() {
        let expected = golden.by_name(&matrix(&golden.expected["loo"]["Phi"]));
        assert_same(
            &leave_one_out(&golden.problem, Scaling::None),
            &expected,
            GOLDEN,
        );
    }
}

#[test]
fn stratified_leave_one_out_responses_are_the_golden_ones() {
    for golden in training() {
        let expected = golden.by_name(&matrix(&golden.expected["loo"]["Phi_stratified"]));
        let actual = leave_one_out_with(&golden.problem, Scaling::None, |loo, cells| {
            loo.stratified(cells)
        });
        assert_same(&actual, &expected, GOLDEN);
    }
}

fn assert_golden_statistics(golden: &Training, statistics: &Statistics<'_>) {
    let expected = &golden.expected["stats"];
    let cells = statistics.cells();
    let counts: Vec<f64> = (0..cells.len())
        .map(|cell| cells.count(cell) as f64)
        .collect();
    assert_eq!(counts, numbers(&expected["n"]), "{}", golden.name);
    let means = statistics.means();
    let sums = Mat::from_fn(cells.len() * means.nrows(), 1, |i, _| {
        let (cell, feature) = (i / means.nrows(), i % means.nrows());
        counts[cell] * means[(feature, cell)]
    });
    assert_close(&sums, &column(&numbers(&expected["sums"])), GOLDEN);
    assert_close(
        &column(&statistics.within_traces()),
        &column(&numbers(&expected["trc"])),
        GOLDEN,
    );
    for (task, scatter) in array(&expected["S"]).iter().enumerate() {
        assert_close(&statistics.scatter_of(task), &matrix(scatter), GOLDEN);
    }
}

#[test]
fn statistics_are_the_golden_ones() {
    for golden in training() {
        let table = golden.problem.table();
        assert_golden_statistics(&golden, &Statistics::of(&table.tasks()));
    }
}

#[test]
fn statistics_of_even_rows_merged_with_those_of_odd_rows_are_the_golden_ones() {
    for golden in training() {
        let table = golden.problem.table();
        let half = |parity| {
            table
                .filter(|row| table.origin[row].1 % 2 == parity)
                .statistics()
        };
        let mut merged = half(1);
        merged.merge(half(0)).unwrap();
        assert_golden_statistics(&golden, &merged);
    }
}

#[test]
fn automatic_scales_are_the_golden_within_class_ones() {
    for golden in training() {
        let table = golden.problem.table();
        let tasks = table.tasks();
        let coupling = golden.problem.coupling(tasks.cells());
        let system = System::new(Statistics::of(&tasks), Scaling::Auto, &coupling).unwrap();
        assert_close(
            &column(system.scales()),
            &column(&numbers(&golden.expected["scales_within"])),
            GOLDEN,
        );
    }
}
