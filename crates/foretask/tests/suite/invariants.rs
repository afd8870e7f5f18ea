//! What must not change, or must change in a known way, when a problem is transformed
//! (`docs/2-the-theory.md#invariants`).

use super::common;

use common::generate::{cases, coupled_problems, normals, orthogonal, problems};
use common::oracle::{self, mean};
use common::{
    Problem, Responses, TaskData, assert_close, assert_same, leave_one_out, rekeyed, responses,
};
use faer::Mat;
use foretask::{Scaling, Statistics, System};
use proptest::prelude::*;

/// Rounding, times the condition of problems with γ, λ up to 100 and features of size 3: about
/// 1e4 * 1e-16, with room for the division by small G_ll of leave-one-out.
const ROUNDING: f64 = 1e-9;

/// Both kinds of responses of two problems agree.
#[track_caller]
fn assert_equivalent(actual: &Problem, expected: &Problem, scaling: Scaling) {
    assert_same(
        &responses(actual, scaling),
        &responses(expected, scaling),
        ROUNDING,
    );
    assert_same(
        &leave_one_out(actual, scaling),
        &leave_one_out(expected, scaling),
        ROUNDING,
    );
}

/// The responses of all tasks summed over the cells of one task are 1 for that task, 0 for others.
fn assert_task_sums_are_indicators(problem: &Problem, responses: &Responses) {
    for responding in &problem.tasks {
        for summed in &problem.tasks {
            let of_task: Vec<_> = responses
                .iter()
                .filter(|((task, of, _), _)| *task == responding.name && *of == summed.name)
                .collect();
            for point in 0..of_task[0].1.len() {
                let sum: f64 = of_task.iter().map(|(_, values)| values[point]).sum();
                let own = f64::from(u8::from(responding.name == summed.name));
                assert!(
                    (sum - own).abs() < ROUNDING,
                    "{} to {}: {sum}",
                    responding.name,
                    summed.name
                );
            }
        }
    }
}

/// The weights of every task for the unit labels, tasks by name.
fn weights(problem: &Problem) -> Vec<(String, Mat<f64>)> {
    let table = problem.table();
    let tasks = table.tasks();
    let system = System::new(
        Statistics::of(&tasks),
        Scaling::None,
        &problem.coupling(tasks.cells()),
    )
    .unwrap();
    tasks
        .cells()
        .task_names()
        .into_iter()
        .enumerate()
        .map(|(task, name)| (name, system.weights(task)))
        .collect()
}

/// Other names for tasks and classes, in the opposite order.
fn opposite(name: &str) -> String {
    name.bytes()
        .map(|letter| char::from(b'a' + b'z' - letter))
        .collect()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_label_shift_of_a_task_moves_its_own_scores_by_the_shift_and_no_others(problem in problems(2)) {
        assert_task_sums_are_indicators(&problem, &responses(&problem, Scaling::None));
    }

    #[test]
    fn a_label_shift_of_a_task_moves_its_own_left_out_scores_by_the_shift(problem in problems(2)) {
        assert_task_sums_are_indicators(&problem, &leave_one_out(&problem, Scaling::None));
    }

    #[test]
    fn residuals_sum_to_zero_over_each_class_list_of_a_task(problem in problems(2)) {
        let problem = problem.probing_rows();
        for ((task, of, class), fitted) in responses(&problem, Scaling::Auto) {
            let own = problem.task(&task).class.iter().filter(|&c| task == of && *c == class).count() as f64;
            let residual = own - fitted.iter().sum::<f64>();
            prop_assert!(residual.abs() < ROUNDING * fitted.len() as f64, "{task}, {of} {class}: {residual}");
        }
    }

    #[test]
    fn each_task_may_be_translated(problem in problems(2), seed: u64) {
        let shift = normals(seed, problem.features, problem.tasks.len());
        let moved = problem.map_points(|task, x| x.iter().zip(&shift[task]).map(|(x, s)| x + 10.0 * s).collect());
        assert_equivalent(&moved, &problem, Scaling::None);
        assert_equivalent(&moved, &problem, Scaling::Auto);
    }

    #[test]
    fn features_may_be_rotated(problem in problems(2), seed: u64) {
        let rotation = orthogonal(seed, problem.features);
        let rotated = problem.map_points(|_, x| {
            (0..x.len()).map(|i| (0..x.len()).map(|j| rotation[(i, j)] * x[j]).sum()).collect()
        });
        assert_equivalent(&rotated, &problem, Scaling::None);
    }

    #[test]
    fn scaled_features_need_a_coupling_divided_by_the_square(problem in problems(2), c in 0.1..10.0) {
        let scaled = problem.map_points(|_, x| x.iter().map(|x| c * x).collect());
        assert_equivalent(&scaled.times_coupling(1.0 / (c * c)), &problem, Scaling::None);
    }

    #[test]
    fn automatic_scaling_undoes_any_unit_of_each_task(problem in problems(2), exponents in prop::array::uniform4(-3.0..3.0)) {
        // A task with one sample in each class takes the scale of the others, and so their unit.
        let has_spread = |task: &TaskData| (0..task.class.len()).any(|a| (0..a).any(|b| task.class[a] == task.class[b]));
        let own_units = problem.tasks.iter().all(has_spread);
        let exponent = |task: usize| exponents[if own_units { task } else { 0 }];
        let scaled = problem.map_points(|task, x| x.iter().map(|x| 10_f64.powf(exponent(task)) * x).collect());
        assert_equivalent(&scaled, &problem, Scaling::Auto);
    }

    #[test]
    fn automatic_scaling_is_division_by_the_scale(problem in problems(2)) {
        let table = problem.table();
        let tasks = table.tasks();
        let scales = Statistics::of(&tasks).scales();
        let scale = |task: usize| scales[tasks.cells().find_task(&problem.tasks[task].name).unwrap()];
        let divided = problem.map_points(|task, x| x.iter().map(|x| x / scale(task)).collect());
        assert_same(&responses(&problem, Scaling::Auto), &responses(&divided, Scaling::None), ROUNDING);
        assert_same(&leave_one_out(&problem, Scaling::Auto), &leave_one_out(&divided, Scaling::None), ROUNDING);
    }

    #[test]
    fn zero_features_only_change_the_normaliser(problem in problems(2), more in 1..9_usize) {
        let padded = problem.map_points(|_, x| [x, &vec![0.0; more]].concat());
        let factor = (problem.features + more) as f64 / problem.features as f64;
        assert_equivalent(&padded.times_coupling(factor), &problem, Scaling::None);
    }

    #[test]
    fn names_and_order_of_tasks_do_not_matter(problem in problems(2)) {
        let mut renamed = problem.clone();
        renamed.tasks.iter_mut().for_each(|task| task.name = opposite(&task.name));
        renamed.tasks.reverse();
        let back = |responses| rekeyed(responses, |(task, of, class)| (opposite(&task), opposite(&of), class));
        assert_same(&back(responses(&renamed, Scaling::Auto)), &responses(&problem, Scaling::Auto), ROUNDING);
        assert_same(&back(leave_one_out(&renamed, Scaling::Auto)), &leave_one_out(&problem, Scaling::Auto), ROUNDING);
    }

    #[test]
    fn names_and_order_of_classes_do_not_matter(problem in problems(2)) {
        let mut renamed = problem.clone();
        renamed.tasks.iter_mut().flat_map(|task| &mut task.class).for_each(|class| *class = opposite(class));
        let back = |responses| rekeyed(responses, |(task, of, class)| (task, of, opposite(&class)));
        assert_same(&back(responses(&renamed, Scaling::Auto)), &responses(&problem, Scaling::Auto), ROUNDING);
        assert_same(&back(leave_one_out(&renamed, Scaling::Auto)), &leave_one_out(&problem, Scaling::Auto), ROUNDING);
    }

    #[test]
    fn a_class_name_means_nothing_outside_its_task(problem in problems(2)) {
        let mut renamed = problem.clone();
        let own = |class: &str, task: &str| format!("{class} of {task}");
        for task in &mut renamed.tasks {
            task.class.iter_mut().for_each(|class| *class = own(class, &task.name));
        }
        let expected = rekeyed(responses(&problem, Scaling::None), |(task, of, class)| (task, of.clone(), own(&class, &of)));
        assert_same(&responses(&renamed, Scaling::None), &expected, ROUNDING);
    }

    #[test]
    fn the_order_of_rows_does_not_matter(problem in problems(2)) {
        let mut reversed = problem.clone();
        for task in &mut reversed.tasks {
            task.rows.reverse();
            task.class.reverse();
        }
        assert_same(&responses(&reversed, Scaling::Auto), &responses(&problem, Scaling::Auto), ROUNDING);
        let mut left_out = leave_one_out(&reversed, Scaling::Auto);
        left_out.values_mut().for_each(|values| values.reverse());
        assert_same(&left_out, &leave_one_out(&problem, Scaling::Auto), ROUNDING);
    }

    #[test]
    fn classes_with_equal_labels_are_one_class(problem in problems(2)) {
        let mut merged = problem.clone();
        merged.tasks.iter_mut().flat_map(|task| &mut task.class).for_each(|class| {
            if class == "beech" || class == "cedar" {
                *class = "beech or cedar".into();
            }
        });
        let summed = |parts: Responses| {
            let mut sums = Responses::new();
            for ((task, of, class), values) in parts {
                let class = if class == "beech" || class == "cedar" { "beech or cedar".into() } else { class };
                let sum = sums.entry((task, of, class)).or_insert_with(|| vec![0.0; values.len()]);
                sum.iter_mut().zip(&values).for_each(|(sum, x)| *sum += x);
            }
            sums
        };
        assert_same(&responses(&merged, Scaling::None), &summed(responses(&problem, Scaling::None)), ROUNDING);
        assert_same(&leave_one_out(&merged, Scaling::None), &summed(leave_one_out(&problem, Scaling::None)), ROUNDING);
    }

    #[test]
    fn scores_are_those_of_training_on_any_labels_directly(problem in problems(2), seed: u64) {
        let cells = problem.cells();
        let y = Mat::from_fn(cells.len(), 1, |cell, _| normals(seed, cells.len(), 1)[0][cell]);
        let direct = oracle::train(&problem, &(oracle::unit_labels(&problem) * &y));
        let combined = responses(&problem, Scaling::None);
        for (index, task) in problem.tasks.iter().enumerate() {
            for (point, probe) in task.probes.iter().enumerate() {
                let key = |cell: &(String, String)| (task.name.clone(), cell.0.clone(), cell.1.clone());
                let score: f64 = cells.iter().enumerate().map(|(r, cell)| y[(r, 0)] * combined[&key(cell)][point]).sum();
                let expected = direct.score(index, probe)[0];
                prop_assert!((score - expected).abs() < ROUNDING * expected.abs().max(1.0), "{score} {expected}");
            }
        }
    }

    #[test]
    fn duplicating_every_sample_doubles_the_coupling(problem in problems(2)) {
        let mut twice = problem.clone();
        for task in &mut twice.tasks {
            task.rows = [&task.rows[..], &task.rows].concat();
            task.class = [&task.class[..], &task.class].concat();
        }
        assert_same(&responses(&twice, Scaling::None), &responses(&problem.times_coupling(2.0), Scaling::None), ROUNDING);
    }

    #[test]
    fn without_gamma_all_tasks_share_the_ridge_weights_of_the_pooled_centred_data(problem in coupled_problems(2)) {
        let mut problem = problem;
        problem.tasks.iter_mut().for_each(|task| task.gamma = 0.0);
        problem.tasks.sort_by(|a, b| a.name.cmp(&b.name));
        let p = problem.features;
        let kp = (problem.tasks.len() * p) as f64;
        let z: Vec<Vec<f64>> = problem
            .tasks
            .iter()
            .flat_map(|task| {
                let mean = mean(&task.rows, p);
                task.rows.iter().map(move |x| x.iter().zip(&mean).map(|(x, m)| x - m).collect())
            })
            .collect();
        let z = Mat::from_fn(z.len(), p, |l, feature| z[l][feature]);
        // Centred rows do not see the mean of the labels.
        let right = z.transpose() * oracle::unit_labels(&problem);
        let scatter = z.transpose() * &z;
        let penalty = kp / problem.lambda;
        let ridge = oracle::solve(Mat::from_fn(p, p, |i, j| scatter[(i, j)] + if i == j { penalty } else { 0.0 }), right);
        prop_assume!(ridge.norm_max() > 1e-6); // rows all alike, or one class in every task: nothing to compare
        for (_, weights) in weights(&problem) {
            assert_close(&weights, &ridge, ROUNDING);
        }
    }

    #[test]
    fn without_lambda_each_task_is_trained_alone_with_its_gamma_over_k(problem in coupled_problems(2)) {
        let mut problem = problem;
        problem.lambda = 0.0;
        let together = (responses(&problem, Scaling::None), leave_one_out(&problem, Scaling::None));
        for task in &problem.tasks {
            let mut alone = problem.clone();
            alone.tasks.retain(|other| other.name == task.name);
            alone.tasks[0].gamma /= problem.tasks.len() as f64;
            let own = |all: &Responses| -> Responses {
                all.clone().into_iter().filter(|((responding, of, _), _)| *responding == task.name && *of == task.name).collect()
            };
            assert_same(&own(&together.0), &responses(&alone, Scaling::None), ROUNDING);
            assert_same(&own(&together.1), &leave_one_out(&alone, Scaling::None), ROUNDING);
        }
        for ((task, of, _), values) in together.0.iter().chain(&together.1) {
            prop_assert!(task == of || values.iter().all(|x| x.abs() < ROUNDING), "{task} responds to {of}: {values:?}");
        }
    }

    #[test]
    fn with_one_task_only_the_sum_of_gamma_and_lambda_matters(problem in coupled_problems(2), share in 0.0..1.0) {
        let mut one = problem;
        one.tasks.truncate(1);
        let sum = one.lambda + one.tasks[0].gamma;
        let with = |lambda: f64| {
            let mut problem = one.clone();
            problem.lambda = lambda;
            problem.tasks[0].gamma = sum - lambda;
            problem
        };
        for lambda in [0.0, share * sum, sum] {
            assert_equivalent(&with(lambda), &one, Scaling::None);
        }
    }
}
