//! What must hold of the theory and of optimal labels for every problem (THEORY 12), with THEORY 4
//! taken literally (kp x kp matrices, plain iteration) as the judge.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a failure here is a failed test

mod common;

use common::generate::{cases, normals};
use common::theory::{Centring, cells, dense, gram, resolvent, spherical};
use common::{assert_close, column};
use faer::{Mat, Side};
use foretask::rules::binary::{ScoreLaw, classical_labels, optimal_labels};
use foretask::theory::{Common, Corrections, Theory, gradient};
use foretask::{Cells, Coupling, Moments};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Rounding times the condition of problems with γ, λ up to 100.
const ROUNDING: f64 = 1e-10;
/// Dimensions in which the class means differ.
const DIRECTIONS: usize = 4;

/// Everything the theory of spherical cells is a function of.
#[derive(Clone, Debug)]
struct Case {
    counts: Vec<Vec<usize>>,
    features: usize,
    gamma: Vec<f64>,
    lambda: f64,
    /// DIRECTIONS x C.
    means: Mat<f64>,
    alpha: Vec<f64>,
    corrections: Corrections,
}

impl Case {
    fn cells(&self) -> Cells {
        cells(&self.counts)
    }

    fn coupling(&self) -> Coupling {
        Coupling::new(self.lambda, self.gamma.clone()).unwrap()
    }

    fn theory(&self) -> Theory {
        Theory::spherical(
            &self.cells(),
            self.features,
            &self.coupling(),
            &gram(&self.means),
            Some(&self.alpha),
            self.corrections,
        )
        .unwrap()
    }

    fn isotropic(mut self) -> Self {
        self.alpha.fill(1.0);
        self
    }

    fn common(&self, values: Vec<f64>, multiplicity: Vec<f64>, means: Mat<f64>) -> Theory {
        let common = Common {
            values,
            multiplicity,
            alpha: self.alpha.clone(),
            means,
        };
        Theory::common(
            &self.cells(),
            self.features,
            &self.coupling(),
            &common,
            self.corrections,
        )
        .unwrap()
    }
}

/// Powers of ten with exponents in a range.
fn decades(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(|exponent| 10_f64.powf(exponent))
}

/// 1 to 3 tasks of 1 to 3 classes with 1 to 60 samples, γ and λ in 0.01..100.
fn problems() -> impl Strategy<Value = Case> {
    let task = (vec(1..60_usize, 1..=3), decades(-2.0, 2.0));
    (
        vec(task, 1..=3),
        5..60_usize,
        decades(-2.0, 2.0),
        any::<bool>(),
    )
        .prop_flat_map(|(tasks, features, lambda, corrected)| {
            let (mut counts, gamma): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
            // A task needs two samples.
            counts.iter_mut().for_each(|counts| counts[0] += 1);
            let c: usize = counts.iter().map(Vec::len).sum();
            (
                vec(-2.0..2.0_f64, c * DIRECTIONS),
                vec(select(vec![0.5, 1.0, 3.0]), c),
            )
                .prop_map(move |(means, alpha)| Case {
                    counts: counts.clone(),
                    features,
                    gamma: gamma.clone(),
                    lambda,
                    means: Mat::from_fn(DIRECTIONS, c, |i, r| means[r * DIRECTIONS + i]),
                    alpha,
                    corrections: if corrected {
                        Corrections::DegreesOfFreedom
                    } else {
                        Corrections::None
                    },
                })
        })
}

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

/// 1 for the cells of a task, 0 for others.
fn indicator(cells: &Cells, task: usize) -> Mat<f64> {
    Mat::from_fn(cells.len(), 1, |r, _| {
        f64::from(u8::from(cells.task_of(r) == task))
    })
}

fn smallest_eigenvalue(m: &Mat<f64>) -> f64 {
    m.self_adjoint_eigenvalues(Side::Lower).unwrap()[0]
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
