//! Optimal labels and thresholds are optimal: nothing tried in their place costs less (THEORY 5).

#![allow(clippy::unwrap_used, clippy::expect_used)] // a failure here is a failed test

mod common;

use common::generate::{cases, normals};
use common::theory::{Case, DIRECTIONS, decades, problems};
use faer::Mat;
use foretask::Moments;
use foretask::moments::centre_noise;
use foretask::rules::binary::{ScoreLaw, alone_labels, classical_labels, optimal_labels};
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

/// Problems whose tasks have two classes.
fn binary_problems() -> impl Strategy<Value = Case> {
    let task = (2..80_usize, 2..80_usize, decades(-2.0, 2.0));
    (
        problems(),
        vec(task, 1..=3),
        vec(-2.0..2.0_f64, 6 * DIRECTIONS),
    )
        .prop_map(|(case, tasks, means)| Case {
            counts: tasks.iter().map(|task| vec![task.0, task.1]).collect(),
            gamma: tasks.iter().map(|task| task.2).collect(),
            means: Mat::from_fn(DIRECTIONS, 2 * tasks.len(), |i, r| {
                means[r * DIRECTIONS + i]
            }),
            alpha: (0..2 * tasks.len())
                .map(|r| case.alpha[r % case.alpha.len()])
                .collect(),
            ..case
        })
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
    fn no_labels_cost_less_where_covariances_are_unlike(seed in any::<u64>(), separation in 0.2..3.0_f64, prior in 0.1..0.9_f64) {
        let moments = unlike_moments(seed, separation);
        check_optimal(&moments, [prior, 1.0 - prior], 1.0, seed ^ 4, &[], SEARCH)?;
    }
}
