//! What must hold of the theory and of optimal labels for every problem (`docs/2-the-theory.md#invariants`), with
//! the definition taken literally (kp x kp matrices, plain iteration) as the judge.

use super::common;

use common::generate::{cases, normals};
use common::theory::{
    Case, Centring, DIRECTIONS, decades, dense, gram, indicator, problems, resolvent,
    smallest_eigenvalue, spherical,
};
use common::{assert_close, column};
use faer::Mat;
use foretask::Coupling;
use foretask::theory::{Corrections, Theory};
use proptest::collection::vec;
use proptest::prelude::*;

/// Rounding times the condition of problems with γ, λ up to 100.
const ROUNDING: f64 = 1e-10;
/// The same means and covariances, the first of `theory` seen through `cell`.
#[track_caller]
fn assert_same_moments(
    actual: &Theory,
    expected: &Theory,
    cell: impl Fn(usize) -> usize,
    tolerance: f64,
) {
    let c = expected.mean.nrows();
    let seen = |m: &Mat<f64>| Mat::from_fn(c, c, |r, s| m[(cell(r), cell(s))]);
    assert_close(&seen(&actual.mean), &expected.mean, tolerance);
    for q in 0..c {
        assert_close(
            &seen(&actual.covariance(cell(q))),
            &expected.covariance(q),
            tolerance,
        );
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_constant_added_to_the_labels_of_a_task_moves_its_own_scores_and_no_variance(case in problems()) {
        let (theory, cells) = (case.theory(), case.cells());
        for task in 0..cells.tasks().len() {
            let ones = indicator(&cells, task);
            assert_close(&(&theory.mean * &ones), &ones, ROUNDING);
            for q in 0..cells.len() {
                let covariance = theory.covariance(q);
                let moved = (&covariance * &ones).norm_max();
                prop_assert!(moved <= ROUNDING * covariance.norm_max().max(1.0), "{moved}");
            }
        }
    }

    #[test]
    fn covariances_are_symmetric_and_positive(case in problems()) {
        let theory = case.theory();
        for q in 0..case.cells().len() {
            let covariance = theory.covariance(q);
            assert_close(&covariance.transpose().to_owned(), &covariance, 1e-12);
            let smallest = smallest_eigenvalue(&covariance);
            prop_assert!(smallest >= -1e-12 * covariance.norm_max(), "{smallest}");
        }
    }

    #[test]
    fn residuals_weighted_by_delta_sum_to_zero_in_each_task(case in problems(), seed in any::<u64>()) {
        let (theory, cells) = (case.theory(), case.cells());
        let y = column(&normals(seed, cells.len(), 1)[0]);
        let residual = &y - &theory.mean * &y;
        for task in 0..cells.tasks().len() {
            let terms = cells.of_task(task).map(|r| theory.delta[r] * residual[(r, 0)]);
            let size: f64 = cells.of_task(task).map(|r| theory.delta[r]).sum();
            let sum: f64 = terms.sum();
            prop_assert!(sum.abs() <= ROUNDING * size * y.norm_max(), "{sum}");
        }
    }

    #[test]
    fn classes_with_one_mean_have_one_expected_response(mut case in problems()) {
        let cells = case.cells();
        for r in 0..cells.len() {
            let first = cells.of_task(cells.task_of(r)).start;
            for i in 0..DIRECTIONS {
                case.means[(i, r)] = case.means[(i, first)];
            }
        }
        let mean = case.theory().mean;
        for r in 0..cells.len() {
            let first = cells.of_task(cells.task_of(r)).start;
            for s in 0..cells.len() {
                prop_assert!((mean[(r, s)] - mean[(first, s)]).abs() <= ROUNDING);
            }
        }
    }

    #[test]
    fn cells_of_a_task_with_equal_noise_have_equal_covariances_and_are_centred_by_counts(
        case in problems().prop_map(Case::isotropic),
    ) {
        let (theory, cells) = (case.theory(), case.cells());
        for r in 0..cells.len() {
            let range = cells.of_task(cells.task_of(r));
            assert_close(&theory.covariance(r), &theory.covariance(range.start), ROUNDING);
            let total: f64 = range.map(|s| theory.delta[s]).sum();
            prop_assert!((theory.delta[r] / total - cells.share(r)).abs() <= ROUNDING);
        }
    }

    #[test]
    fn the_moments_of_a_target_are_those_of_its_cells(case in problems()) {
        let (theory, cells) = (case.theory(), case.cells());
        for target in 0..cells.tasks().len() {
            let moments = theory.moments(target);
            for (class, r) in cells.of_task(target).enumerate() {
                assert_close(&moments.covariance[class], &theory.covariance(r), ROUNDING);
                let row = Mat::from_fn(cells.len(), 1, |s, _| moments.mean[(class, s)]);
                assert_close(&row, &theory.mean.row(r).transpose().as_mat().to_owned(), ROUNDING);
            }
        }
    }

    #[test]
    fn a_common_shape_that_is_the_identity_is_the_spherical_theory(case in problems()) {
        let means = Mat::from_fn(case.features, case.alpha.len(), |i, r| {
            if i < DIRECTIONS { case.means[(i, r)] } else { 0.0 }
        });
        let theory = case.common(vec![1.0; case.features], vec![1.0; case.features], means);
        assert_same_moments(&theory, &case.theory(), |r| r, ROUNDING);
    }

    #[test]
    fn splitting_an_eigenvalue_changes_nothing(
        case in problems(),
        share in 0.1..0.9_f64,
        angle in 0.0..6.0_f64,
        spectrum in vec(0.2..4.0_f64, DIRECTIONS),
    ) {
        let multiplicity = case.features as f64 / DIRECTIONS as f64;
        let whole = case.common(spectrum.clone(), vec![multiplicity; DIRECTIONS], case.means.clone());
        let values = [spectrum.clone(), spectrum].concat();
        let shares = [vec![share * multiplicity; DIRECTIONS], vec![(1.0 - share) * multiplicity; DIRECTIONS]];
        // The means may lie anywhere in the eigenspace.
        let means = Mat::from_fn(2 * DIRECTIONS, case.alpha.len(), |i, r| {
            case.means[(i % DIRECTIONS, r)] * if i < DIRECTIONS { angle.cos() } else { angle.sin() }
        });
        let split = case.common(values, shares.concat(), means);
        assert_same_moments(&split, &whole, |r| r, ROUNDING);
    }

    #[test]
    fn units_of_measurement_do_not_matter(case in problems(), factor in 0.1..10.0_f64) {
        let mut scaled = case.clone();
        scaled.means = faer::Scale(factor) * &case.means;
        scaled.alpha.iter_mut().for_each(|alpha| *alpha *= factor * factor);
        scaled.gamma.iter_mut().for_each(|gamma| *gamma /= factor * factor);
        scaled.lambda /= factor * factor;
        assert_same_moments(&scaled.theory(), &case.theory(), |r| r, ROUNDING);
    }

    #[test]
    fn each_task_may_have_its_own_origin(case in problems(), shift in vec(-5.0..5.0_f64, 3)) {
        let cells = case.cells();
        let mut moved = case.clone();
        for r in 0..cells.len() {
            moved.means[(1, r)] += shift[cells.task_of(r)];
        }
        assert_same_moments(&moved.theory(), &case.theory(), |r| r, ROUNDING);
    }

    #[test]
    fn the_order_of_tasks_and_classes_does_not_matter(case in problems()) {
        let cells = case.cells();
        let c = cells.len();
        let mut turned = case.clone();
        turned.counts.iter_mut().for_each(|counts| counts.reverse());
        turned.counts.reverse();
        turned.gamma.reverse();
        turned.alpha.reverse();
        turned.means = Mat::from_fn(DIRECTIONS, c, |i, r| case.means[(i, c - 1 - r)]);
        assert_same_moments(&turned.theory(), &case.theory(), |r| c - 1 - r, ROUNDING);
    }

    #[test]
    fn without_sharing_each_task_is_alone(mut case in problems()) {
        case.lambda = 0.0;
        let (theory, cells) = (case.theory(), case.cells());
        let k = cells.tasks().len();
        for task in 0..k {
            let range = cells.of_task(task);
            let mut alone = case.clone();
            alone.counts = vec![case.counts[task].clone()];
            // The normaliser kp counts the tasks.
            alone.gamma = vec![case.gamma[task] / k as f64];
            alone.alpha = case.alpha[range.clone()].to_vec();
            alone.means = case.means.subcols(range.start, range.len()).to_owned();
            assert_same_moments(&theory, &alone.theory(), |r| range.start + r, ROUNDING);
            for (r, s) in range.clone().flat_map(|r| (0..cells.len()).map(move |s| (r, s))) {
                if !range.contains(&s) {
                    prop_assert_eq!(theory.mean[(r, s)], 0.0);
                    prop_assert_eq!(theory.covariance(r).col(s).norm_max(), 0.0);
                }
            }
        }
    }

    #[test]
    fn one_task_knows_only_the_sum_of_gamma_and_lambda(mut case in problems(), share in 0.0..=1.0_f64) {
        let first = case.cells().of_task(0);
        case.counts.truncate(1);
        case.alpha.truncate(first.len());
        case.means = case.means.subcols(0, first.len()).to_owned();
        let total = case.gamma[0] + case.lambda;
        (case.gamma, case.lambda) = (vec![total], 0.0);
        let expected = case.theory();
        (case.gamma, case.lambda) = (vec![share * total], total - share * total);
        assert_same_moments(&case.theory(), &expected, |r| r, ROUNDING);
    }

    #[test]
    fn the_label_of_a_class_without_samples_has_no_effect(case in problems(), absent in any::<prop::sample::Index>()) {
        let mut without = case.clone();
        let cells = case.cells();
        let empty = absent.index(cells.len());
        let task = cells.task_of(empty);
        let class = empty - cells.of_task(task).start;
        prop_assume!(cells.samples(task) >= cells.count(empty) + 2);
        without.counts[task][class] = 0;
        let theory = without.theory();
        for q in 0..cells.len() {
            prop_assert!(theory.mean[(q, empty)].abs() <= ROUNDING);
            prop_assert!(theory.covariance(q).col(empty).norm_max() <= ROUNDING);
        }
    }
}

proptest! {
    #![proptest_config(cases(25))]

    #[test]
    fn the_theory_is_that_of_the_dense_formulas(case in problems(), spectrum in vec(0.2..4.0_f64, DIRECTIONS)) {
        // Couplings of data with few features act more strongly; the same matrices otherwise.
        let mut case = case;
        case.features = DIRECTIONS;
        let (cells, coupling) = (case.cells(), case.coupling());
        let multiples = |values: &[f64]| -> Vec<Mat<f64>> {
            let shape = |alpha: f64| Mat::from_fn(DIRECTIONS, DIRECTIONS, |i, j| if i == j { alpha * values[i] } else { 0.0 });
            case.alpha.iter().map(|&alpha| shape(alpha)).collect()
        };
        let theories = [
            (case.theory(), spherical(&case.alpha, DIRECTIONS)),
            (case.common(spectrum.clone(), vec![1.0; DIRECTIONS], case.means.clone()), multiples(&spectrum)),
        ];
        for (theory, sigma) in theories {
            let expected = dense(&cells, &coupling, &case.means, &sigma, case.corrections, Centring::Delta);
            assert_close(&column(&theory.tau), &column(&expected.tau), ROUNDING);
            assert_close(&theory.traces, &expected.traces, ROUNDING);
            assert_close(&theory.kappa, &expected.kappa, ROUNDING);
            assert_close(&theory.kappa_residual, &expected.kappa_residual, ROUNDING);
            assert_close(&theory.mean, &expected.mean, ROUNDING);
            for (q, expected) in expected.covariance.iter().enumerate() {
                assert_close(&theory.covariance(q), expected, ROUNDING);
            }
        }
    }
}

/// Couplings from next to nothing to next to no regularisation, and from 0.06 to 20 samples a
/// feature (`docs/2-the-theory.md#the-fixed-point`).
fn extreme_problems() -> impl Strategy<Value = Case> {
    let task = (decades(-1.2, 1.3), 0.1..0.9_f64, decades(-3.0, 4.0));
    (problems(), vec(task, 1..=4), decades(-3.0, 4.0)).prop_map(|(case, tasks, lambda)| {
        let features = 100;
        let counts: Vec<Vec<usize>> = tasks
            .iter()
            .map(|(ratio, share, _)| {
                let samples = ratio * features as f64;
                vec![share * samples, (1.0 - share) * samples]
            })
            .map(|counts| counts.iter().map(|n| n.ceil() as usize).collect())
            .collect();
        let c = 2 * counts.len();
        Case {
            alpha: (0..c).map(|r| case.alpha[r % case.alpha.len()]).collect(),
            means: Mat::from_fn(DIRECTIONS, c, |i, r| {
                case.means[(i, r % case.alpha.len())] * (r / case.alpha.len() + 1) as f64
            }),
            gamma: tasks.iter().map(|task| task.2).collect(),
            counts,
            features,
            lambda,
            corrections: case.corrections,
        }
    })
}

/// The steps `docs/2-the-theory.md#the-fixed-point` reports are 4 to 9; a step more or two for stopping by
/// relative change.
const MOST_NEWTON_STEPS: usize = 15;
/// How exactly τ solves its equation: rounding times (γ + λ) up to 1e4.
const FIXED_POINT: f64 = 1e-11;

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn newton_finds_the_fixed_point_in_few_steps(case in extreme_problems()) {
        let (theory, cells) = (case.theory(), case.cells());
        prop_assert!(theory.iterations <= MOST_NEWTON_STEPS, "{} steps", theory.iterations);
        let k = cells.tasks().len() as f64;
        let delta: Vec<f64> = (0..cells.len())
            .map(|r| {
                let n = cells.samples(cells.task_of(r)) as f64;
                let lost = if case.corrections == Corrections::None { 0.0 } else { 1.0 / n };
                theory.delta[r] * (1.0 - lost)
            })
            .collect();
        let r = resolvent(&cells, &case.coupling(), &spherical(&case.alpha, 1), &delta);
        for s in 0..cells.len() {
            let expected = case.alpha[s] * r[(cells.task_of(s), cells.task_of(s))] / k;
            let (tau, delta) = (theory.tau[s], theory.delta[s]);
            prop_assert!((tau - expected).abs() <= FIXED_POINT * expected, "{tau}, {expected}");
            let definition = cells.count(s) as f64 / (k * case.features as f64 * (1.0 + tau));
            prop_assert!((delta - definition).abs() <= FIXED_POINT * definition);
        }
    }

    #[test]
    fn the_spectral_radius_of_the_jacobian_is_below_one(case in extreme_problems()) {
        let theory = case.theory();
        let tau = column(&theory.tau);
        let mapped = &theory.jacobian * &tau;
        // J τ < τ for a positive τ bounds the radius; power iteration measures it.
        for r in 0..theory.tau.len() {
            prop_assert!(mapped[(r, 0)] < tau[(r, 0)]);
        }
        let (mut x, mut radius) = (tau, 0.0);
        for _ in 0..500 {
            let next = &theory.jacobian * &x;
            radius = next.norm_max() / x.norm_max();
            x = faer::Scale(1.0 / next.norm_max()) * next;
        }
        prop_assert!(radius > 0.0 && radius < 1.0, "{radius}");
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn a_coupling_must_have_one_gamma_for_each_task(case in problems()) {
        let coupling = Coupling::uniform(1.0, 1.0, case.counts.len() + 1).unwrap();
        let gram = gram(&case.means);
        let theory = Theory::spherical(&case.cells(), case.features, &coupling, &gram, None, case.corrections);
        prop_assert!(theory.is_err());
    }
}
