//! Optimal labels and thresholds are optimal: nothing tried in their place costs less (THEORY 5).

#![allow(clippy::unwrap_used, clippy::expect_used)] // a failure here is a failed test

mod common;

use common::generate::{cases, normals};
use common::theory::{Case, DIRECTIONS, decades, problems};
use faer::Mat;
use foretask::Moments;
use foretask::moments::centre_noise;
use foretask::rules::binary::{ScoreLaw, alone_labels, classical_labels, optimal_labels};
use foretask::theory::Corrections;
use proptest::collection::vec;
use proptest::prelude::*;

/// Rounding of probabilities of error.
const ROUNDING: f64 = 1e-12;
/// "Reaches the optimum of an unrestricted search to 1e-8" (THEORY 5, unequal covariances).
const SEARCH: f64 = 1e-8;
/// Random label vectors tried against the optimal ones, and as many next to them.
const RIVALS: usize = 50;

fn cost(law: &ScoreLaw, weights: [f64; 2], threshold: f64) -> f64 {
    let errors = law.errors(threshold);
    weights[0] * errors[0] + weights[1] * errors[1]
}

/// The cost of labels at their best threshold.
fn least_cost(moments: &Moments, labels: &[f64], weights: [f64; 2], noise: f64) -> f64 {
    let law = ScoreLaw::new(moments, labels, noise);
    cost(&law, weights, law.threshold(weights))
}

/// The optimal rule costs what it says, and no rival costs less by more than `tolerance`.
fn check_optimal(
    moments: &Moments,
    weights: [f64; 2],
    noise: f64,
    seed: u64,
    others: &[Vec<f64>],
    tolerance: f64,
) -> Result<(), TestCaseError> {
    let rule = optimal_labels(moments, weights, noise);
    let best = cost(
        &ScoreLaw::new(moments, &rule.label_scores, noise),
        weights,
        rule.threshold,
    );
    let random = normals(seed, rule.label_scores.len(), 2 * RIVALS);
    let size = rule.label_scores.iter().map(|y| y * y).sum::<f64>().sqrt();
    let near = random[RIVALS..].iter().enumerate().map(|(i, step)| {
        // From a tenth of the labels' length down to a thousandth.
        let length = size * 0.1 * 0.01_f64.powf(i as f64 / RIVALS as f64);
        let pairs = rule.label_scores.iter().zip(step);
        pairs.map(|(y, step)| y + length * step).collect()
    });
    for rival in random[..RIVALS]
        .iter()
        .cloned()
        .chain(near)
        .chain(others.to_vec())
    {
        let rival_cost = least_cost(moments, &rival, weights, noise);
        prop_assert!(
            best <= rival_cost + tolerance,
            "{:?} costs {best}, {rival:?} costs {rival_cost}",
            rule.label_scores
        );
    }
    Ok(())
}

/// Problems whose tasks have two classes, and share enough for it to matter.
fn binary_problems() -> impl Strategy<Value = Case> {
    let task = (2..80_usize, 2..80_usize, decades(-1.0, 1.0));
    let means = vec(-2.0..2.0_f64, 6 * DIRECTIONS);
    (problems(), vec(task, 1..=3), decades(-1.0, 2.0), means).prop_map(
        |(case, tasks, lambda, means)| {
            let c = 2 * tasks.len();
            Case {
                lambda,
                counts: tasks.iter().map(|task| vec![task.0, task.1]).collect(),
                gamma: tasks.iter().map(|task| task.2).collect(),
                means: Mat::from_fn(DIRECTIONS, c, |i, r| means[r * DIRECTIONS + i]),
                alpha: (0..c).map(|r| case.alpha[r % case.alpha.len()]).collect(),
                ..case
            }
        },
    )
}

/// Moments of five cells whose two covariances are unlike; `separation` between the classes.
fn unlike_moments(seed: u64, separation: f64) -> Moments {
    let c = 5;
    let covariance = |seed: u64| {
        let rows = normals(seed, c, c);
        let root = Mat::from_fn(c, c, |i, j| rows[i][j]);
        &root * root.transpose() + faer::Scale(0.3) * Mat::<f64>::identity(c, c)
    };
    let means = normals(seed ^ 1, c, 2);
    Moments {
        mean: Mat::from_fn(2, c, |class, cell| separation * means[class][cell]),
        covariance: vec![covariance(seed ^ 2), covariance(seed ^ 3)],
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn no_threshold_costs_less(
        mean in [-2.0..2.0_f64, -2.0..2.0],
        variance in [decades(-2.0, 1.0), decades(-2.0, 1.0)],
        prior in 0.02..0.98_f64,
        equal in any::<bool>(),
    ) {
        let law = ScoreLaw { mean, variance: if equal { [variance[0]; 2] } else { variance } };
        let weights = [prior, 1.0 - prior];
        let best = cost(&law, weights, law.threshold(weights));
        for step in -600..=600 {
            let z = f64::from(step) / 40.0;
            prop_assert!(best <= cost(&law, weights, z) + ROUNDING, "{z} is better");
        }
        for z in [f64::NEG_INFINITY, f64::INFINITY] {
            prop_assert!(best <= cost(&law, weights, z) + ROUNDING, "{z} is better");
        }
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn no_labels_cost_less_where_covariances_are_equal_or_proportional(
        case in binary_problems(),
        prior in 0.1..0.9_f64,
        seed in any::<u64>(),
    ) {
        let (theory, cells) = (case.theory(), case.cells());
        for target in 0..cells.tasks().len() {
            let others = [classical_labels(&cells, target), alone_labels(&cells, target)];
            let noise = centre_noise(&cells, target);
            let weights = [prior, 1.0 - prior];
            check_optimal(&theory.moments(target), weights, noise, seed, &others, ROUNDING)?;
        }
    }

    #[test]
    fn no_labels_cost_less_where_covariances_are_unlike_and_the_threshold_is_between_the_means(
        seed in any::<u64>(),
        separation in 1.0..3.0_f64,
        prior in 0.2..0.8_f64,
    ) {
        let moments = unlike_moments(seed, separation);
        let weights = [prior, 1.0 - prior];
        let rule = optimal_labels(&moments, weights, 1.0);
        let law = ScoreLaw::new(&moments, &rule.label_scores, 1.0);
        // Elsewhere the optimum may need a negative share of one covariance.
        prop_assume!(law.mean[1] < rule.threshold && rule.threshold < law.mean[0]);
        check_optimal(&moments, weights, 1.0, seed ^ 4, &[], SEARCH)?;
    }

    #[test]
    fn one_more_label_of_each_class_never_hurts_related_tasks(
        case in related_problems(),
        task in any::<prop::sample::Index>(),
    ) {
        let target = case.counts.len() - 1;
        let error = |case: &Case| {
            let moments = case.theory().moments(target);
            let rule = optimal_labels(&moments, [0.5, 0.5], 1.0);
            least_cost(&moments, &rule.label_scores, [0.5, 0.5], 1.0)
        };
        let before = error(&case);
        let mut more = case.clone();
        more.counts[task.index(target + 1)].iter_mut().for_each(|count| *count += 1);
        let after = error(&more);
        prop_assert!(after <= before + ROUNDING, "{before} becomes {after}");
    }
}

/// Isotropic tasks of balanced classes that differ only in size and strength (class means ±a_i μ),
/// well regularised and far from their limit. Elsewhere more data can hurt at a fixed coupling: the
/// error of least squares peaks at n = p, an unbalanced task gains nothing from more of its larger
/// class, and a strong source that has told all it knows only adds its covariance.
fn related_problems() -> impl Strategy<Value = Case> {
    let strengths = vec(0.5..2.0_f64, 3);
    (binary_problems(), strengths, decades(-4.0, -2.0)).prop_map(|(case, strength, lambda)| {
        let means = Mat::from_fn(DIRECTIONS, case.alpha.len(), |i, r| {
            let sign = if r % 2 == 0 { 1.0 } else { -1.0 };
            sign * strength[r / 2] * case.means[(i, 0)] / case.means.col(0).norm_l2()
        });
        let counts = case.counts.iter().map(|counts| vec![counts[0]; 2]);
        Case {
            counts: counts.collect(),
            gamma: case.gamma.iter().map(|gamma| gamma * lambda).collect(),
            features: 200,
            means,
            lambda,
            ..case.isotropic()
        }
    })
}

/// γ/λ of 700: the labels of the other task hardly move the target's score, so that the covariance
/// has an eigenvalue of 9e-11 of the largest, which is not a null direction (those are exact).
#[test]
fn labels_are_optimal_where_tasks_hardly_share() {
    let case = Case {
        counts: vec![vec![2, 6], vec![24, 53]],
        features: 5,
        gamma: vec![10.98, 21.38],
        lambda: 0.0302,
        means: Mat::from_fn(DIRECTIONS, 4, |i, r| match i {
            0 => [-1.35, 1.1, 0.0, -1.86][r],
            2 => [1.38, -0.69, -1.68, 0.0][r],
            _ => 0.0,
        }),
        alpha: vec![3.0; 4],
        corrections: Corrections::None,
    };
    let moments = case.theory().moments(1);
    let weights = [0.1, 0.9];
    let rule = optimal_labels(&moments, weights, 1.0);
    let best = least_cost(&moments, &rule.label_scores, weights, 1.0);
    for share in -100..=100 {
        let source = 5e3 * f64::from(share);
        let rival = least_cost(&moments, &[source, -source, 1.0, -1.0], weights, 1.0);
        assert!(best <= rival + ROUNDING, "{best}, {rival} at {source}");
    }
}
