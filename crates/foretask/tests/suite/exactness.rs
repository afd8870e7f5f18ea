//! The fast forms equal the definition: Proposition 1 with its dense matrices, and leave-one-out by
//! leaving one out. The form is chosen inside by cost, so shapes are chosen here that want each.

use super::common;

use common::generate::{cases, gaussian, problems};
use common::{Problem, Responses, assert_same, leave_one_out, oracle, responses};
use faer::{Mat, MatRef};
use foretask::{Rows, Scaling, Statistics, System, Tasks};
use proptest::prelude::*;

/// Rounding, times the condition of problems with γ, λ up to 100 and features of size 3: about
/// 1e4 * 1e-16, with room for the division by small G_ll of leave-one-out.
const ROUNDING: f64 = 1e-9;

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn responses_are_those_of_the_dense_definition(problem in problems(2)) {
        assert_same(&responses(&problem, Scaling::None), &oracle::responses(&problem), ROUNDING);
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn leave_one_out_is_training_by_definition_without_the_sample(problem in problems(2)) {
        assert_same(&leave_one_out(&problem, Scaling::None), &oracle::leave_one_out(&problem), ROUNDING);
    }

    #[test]
    fn leave_one_out_is_the_crate_trained_without_the_sample(problem in problems(3)) {
        let mut refitted: Responses = leave_one_out(&problem, Scaling::None);
        for (index, task) in problem.tasks.iter().enumerate() {
            for row in 0..task.rows.len() {
                let rest = responses(&problem.leaving_out(index, row), Scaling::None);
                for (key, values) in refitted.iter_mut().filter(|(key, _)| key.0 == task.name) {
                    // A class that is gone with its only sample has no label and no response.
                    values[row] = rest.get(key).map_or(0.0, |values| values[0]);
                }
            }
        }
        assert_same(&leave_one_out(&problem, Scaling::None), &refitted, ROUNDING);
    }
}

/// Shapes that make each form the cheapest one, and panels of more than 256 samples or features.
fn shapes() -> Vec<(&'static str, Problem)> {
    vec![
        (
            "many rows: primal",
            gaussian(1, 5, &[&[40, 30], &[25, 35, 20]], 0.7, 1.5),
        ),
        (
            "few rows in all: one dual",
            gaussian(2, 60, &[&[4, 3], &[3, 5], &[2, 2]], 0.7, 1.5),
        ),
        (
            "n_i < p < n: dual blocks and a short primal one",
            gaussian(3, 30, &[&[10, 8], &[12, 9], &[11, 7]], 0.7, 1.5),
        ),
        (
            "small and large tasks: mixed",
            gaussian(4, 20, &[&[3, 4], &[60, 50], &[15, 4]], 0.7, 1.5),
        ),
        (
            "n_i = p and p - 1",
            gaussian(5, 12, &[&[6, 6], &[6, 5]], 0.7, 1.5),
        ),
        ("one wide task: dual", gaussian(6, 40, &[&[5, 6]], 0.7, 1.5)),
        (
            "dual blocks without gamma",
            gaussian(7, 30, &[&[10, 8], &[12, 9], &[11, 7]], 0.0, 1.5),
        ),
        (
            "one dual without lambda",
            gaussian(8, 60, &[&[4, 3], &[3, 5]], 0.7, 0.0),
        ),
        (
            "panels: primal with a small task",
            gaussian(9, 270, &[&[280, 30], &[20, 25]], 0.7, 1.5),
        ),
        (
            "panels of features: one dual",
            gaussian(10, 600, &[&[30, 20], &[25, 40]], 0.7, 1.5),
        ),
        (
            "panels of samples: one dual",
            gaussian(11, 500, &[&[170, 130]], 0.7, 1.5),
        ),
    ]
}

#[test]
fn every_form_gives_the_responses_of_the_dense_definition() {
    for (shape, problem) in shapes() {
        println!("{shape}");
        assert_same(
            &responses(&problem, Scaling::None),
            &oracle::responses(&problem),
            ROUNDING,
        );
    }
}

#[test]
fn every_form_gives_the_leave_one_out_of_the_dense_definition() {
    for (shape, problem) in shapes() {
        println!("{shape}");
        let fast = leave_one_out(&problem, Scaling::None);
        for (index, task) in problem.tasks.iter().enumerate() {
            // The first row, and the last: it lies in the last panel.
            for row in [0, task.rows.len() - 1] {
                for (key, expected) in oracle::left_out(&problem, index, row) {
                    let actual = fast[&key][row];
                    assert!(
                        (actual - expected).abs() < ROUNDING,
                        "{shape}, row {row}, {key:?}: {actual}, {expected}"
                    );
                }
            }
        }
    }
}

/// Digits that any coupling may cost: F B found as (I - F)/γ loses up to a thousand units in the
/// last place (`CANCELLATION` in `factor`).
const LOST_AT_MOST: f64 = 1e-12;

/// The condition of the system is about s, the largest of γ and λ: s times rounding, and some room.
const LOST_PER_STRENGTH: f64 = 1e-14;

/// Where a task has fewer rows than features its residuals and G_ll are about 1/s, found as
/// differences of numbers about 1 with an error of s times rounding; their ratio loses s². Measured
/// 2.5e-16 s² at s = 1e6: four digits are left there, nine at s = 1e3.
const LOST_PER_SQUARED_STRENGTH: f64 = 1e-15;

#[test]
fn any_ratio_of_gamma_to_lambda_loses_no_more_digits_than_its_strength() {
    let values = [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6];
    for counts in [[[14, 16], [15, 13]], [[4, 3], [20, 15]], [[3, 3], [2, 4]]] {
        for (gamma, lambda) in values
            .iter()
            .flat_map(|&gamma| values.map(|lambda| (gamma, lambda)))
        {
            let problem = gaussian(12, 14, &[&counts[0], &counts[1]], gamma, lambda);
            let strength = problem
                .tasks
                .iter()
                .map(|task| task.gamma)
                .fold(lambda.max(1.0), f64::max);
            println!("{counts:?}, gamma {gamma}, lambda {lambda}");
            let (fitted, left_out) = (
                responses(&problem, Scaling::None),
                leave_one_out(&problem, Scaling::None),
            );
            let lost = LOST_AT_MOST + LOST_PER_STRENGTH * strength;
            assert_same(&fitted, &oracle::responses(&problem), lost);
            let lost = lost + LOST_PER_SQUARED_STRENGTH * strength.powi(2);
            assert_same(&left_out, &oracle::leave_one_out(&problem), lost);
        }
    }
}

/// Weights and leave-one-out responses of all tasks.
fn everything(
    rows: Rows<'_>,
    task: &[String],
    class: &[String],
    problem: &Problem,
) -> Vec<Mat<f64>> {
    let tasks = Tasks::new(rows, task, class).unwrap();
    let system = System::new(
        Statistics::of(&tasks),
        Scaling::Auto,
        &problem.coupling(tasks.cells()),
    )
    .unwrap();
    (0..problem.tasks.len())
        .flat_map(|task| {
            [
                system.weights(task),
                system.leave_one_out(&tasks, task).responses,
            ]
        })
        .collect()
}

/// Between the rows of a table with gaps; never to be read.
const GAP: [f64; 3] = [f64::NAN; 3];

#[test]
fn types_and_layouts_of_the_data_do_not_change_a_bit_of_the_result() {
    for (features, counts) in [
        (6, [[8, 9], [12, 7]]),
        (40, [[8, 9], [12, 7]]),
        (15, [[3, 4], [12, 9]]),
    ] {
        let single = gaussian(13, features, &[&counts[0], &counts[1]], 0.7, 1.5)
            .map_points(|_, x| x.iter().map(|&x| f64::from(x as f32)).collect());
        let table = single.table();
        let n = table.task.len();
        let expected = everything(table.rows(), &table.task, &table.class, &single);

        let f32_rows: Vec<f32> = table.values.iter().map(|&x| x as f32).collect();
        let columns = |feature: usize| (0..n).map(move |row| (row, feature));
        let f64_columns: Vec<f64> = (0..features)
            .flat_map(columns)
            .map(|(row, feature)| table.row(row)[feature])
            .collect();
        let f32_columns: Vec<f32> = f64_columns.iter().map(|&x| x as f32).collect();
        // Written from the last value to the first, with gaps between the rows, and viewed backwards.
        let mut reversed: Vec<f64> = Vec::new();
        for row in (0..n).rev() {
            reversed.extend(table.row(row).iter().rev());
            reversed.extend(GAP);
        }
        let stride = features + GAP.len();
        let backwards = MatRef::from_row_major_slice_with_stride(&reversed, n, features, stride)
            .reverse_rows_and_cols();
        let reversed_columns: Vec<f64> = f64_columns.iter().rev().copied().collect();
        let backwards_columns =
            MatRef::from_column_major_slice(&reversed_columns, n, features).reverse_rows_and_cols();

        for (layout, rows) in [
            ("f32, by row", Rows::row_major(&f32_rows, features).unwrap()),
            (
                "f64, by column",
                Rows::column_major(&f64_columns, features).unwrap(),
            ),
            (
                "f32, by column",
                Rows::column_major(&f32_columns, features).unwrap(),
            ),
            ("f64, backwards with gaps", Rows::from(backwards)),
            ("f64, by column, backwards", Rows::from(backwards_columns)),
        ] {
            assert_eq!(
                everything(rows, &table.task, &table.class, &single),
                expected,
                "{features} features, {layout}"
            );
        }
    }
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let shapes = [
        (
            "primal",
            gaussian(14, 300, &[&[250, 150], &[240, 260]], 0.7, 1.5),
        ),
        (
            "mixed",
            gaussian(15, 300, &[&[60, 50], &[400, 390]], 0.7, 1.5),
        ),
        (
            "one dual",
            gaussian(16, 900, &[&[100, 50], &[80, 70]], 0.7, 1.5),
        ),
    ];
    for (form, problem) in shapes {
        let table = problem.table();
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| everything(table.rows(), &table.task, &table.class, &problem))
        };
        let (one, two) = (with_threads(1), with_threads(2));
        let differing: usize = one.iter().zip(&two).map(|(a, b)| usize::from(a != b)).sum();
        assert_eq!(
            differing,
            0,
            "{form}: {differing} of {} matrices differ",
            one.len()
        );
    }
}
