//! Random problems: whole ones for property tests, and of a given shape from a seed.

use faer::Mat;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use super::{Problem, TaskData};

/// A configuration that tries the same `cases` problems in every run.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x0f0e_7a5c),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

const TASK_NAMES: [&str; 4] = ["north", "east", "south", "west"];
const CLASS_NAMES: [&str; 5] = ["ash", "beech", "cedar", "elm", "fir"];
const PROBES: usize = 3;

/// 1 to 4 tasks with class lists of their own, 1 to 12 features, `fewest` to 15 rows a task; γ and
/// λ over four decades or zero, never both.
pub fn problems(fewest: usize) -> impl Strategy<Value = Problem> {
    (1..=4_usize, 1..=12_usize, strength()).prop_flat_map(move |(tasks, features, lambda)| {
        vec(task(features, fewest), tasks).prop_map(move |mut tasks| {
            for (task, name) in tasks.iter_mut().zip(TASK_NAMES) {
                task.name = name.into();
                if lambda + task.gamma == 0.0 {
                    task.gamma = 0.5;
                }
            }
            Problem {
                features,
                lambda,
                tasks,
            }
        })
    })
}

/// Problems in which all γ and λ are positive.
pub fn coupled_problems(fewest: usize) -> impl Strategy<Value = Problem> {
    problems(fewest).prop_map(|mut problem| {
        let positive = |x: f64| if x == 0.0 { 0.3 } else { x };
        problem.lambda = positive(problem.lambda);
        problem
            .tasks
            .iter_mut()
            .for_each(|task| task.gamma = positive(task.gamma));
        problem
    })
}

fn strength() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 4 => (-2.0..2.0).prop_map(|exponent: f64| 10_f64.powf(exponent))]
}

fn task(features: usize, fewest: usize) -> impl Strategy<Value = TaskData> {
    let point = move || vec(-3.0..3.0, features);
    (strength(), 1..=3_usize, 0..=2_usize, fewest..=15).prop_flat_map(
        move |(gamma, classes, first, rows)| {
            (
                vec((point(), first..first + classes), rows),
                vec(point(), PROBES),
            )
                .prop_map(move |(rows, probes)| {
                    let (rows, class): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
                    let class = class
                        .into_iter()
                        .map(|class| CLASS_NAMES[class].to_owned())
                        .collect();
                    TaskData {
                        name: String::new(),
                        gamma,
                        rows,
                        class,
                        probes,
                    }
                })
        },
    )
}

/// Gaussian classes about random means; `counts[task][class]` samples of each.
pub fn gaussian(
    seed: u64,
    features: usize,
    counts: &[&[usize]],
    gamma: f64,
    lambda: f64,
) -> Problem {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut point = move || {
        (0..features)
            .map(|_| StandardNormal.sample(&mut random))
            .collect::<Vec<f64>>()
    };
    let tasks = counts
        .iter()
        .enumerate()
        .map(|(index, counts)| {
            let (mut rows, mut class) = (Vec::new(), Vec::new());
            for (&count, name) in counts.iter().zip(CLASS_NAMES) {
                let mean = point();
                rows.extend((0..count).map(|_| {
                    point()
                        .iter()
                        .zip(&mean)
                        .map(|(x, m)| x + m)
                        .collect::<Vec<f64>>()
                }));
                class.extend(std::iter::repeat_n(name.to_owned(), count));
            }
            let probes = (0..PROBES).map(|_| point()).collect();
            TaskData {
                name: TASK_NAMES[index].into(),
                gamma: gamma * (1.0 + index as f64),
                rows,
                class,
                probes,
            }
        })
        .collect();
    Problem {
        features,
        lambda,
        tasks,
    }
}

/// A random vector for every index.
pub fn normals(seed: u64, length: usize, count: usize) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            (0..length)
                .map(|_| StandardNormal.sample(&mut random))
                .collect()
        })
        .collect()
}

/// A random orthogonal matrix: Gram-Schmidt, twice, so that it is orthogonal to rounding.
pub fn orthogonal(seed: u64, p: usize) -> Mat<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut v in normals(seed, p, p) {
        for _ in 0..2 {
            for u in &basis {
                let along: f64 = u.iter().zip(&v).map(|(u, v)| u * v).sum();
                v.iter_mut().zip(u).for_each(|(v, u)| *v -= along * u);
            }
        }
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        basis.push(v.iter().map(|x| x / norm).collect());
    }
    Mat::from_fn(p, p, |i, j| basis[i][j])
}
