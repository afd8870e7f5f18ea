//! Rules for many classes equal the golden values, and are what they claim to be: optimal
//! (`docs/5-many-classes.md#the-rules`).

use super::common;

use common::generate::{cases, normals};
use common::golden::{load, matrix, numbers, training};
use common::theory::{Case, DIRECTIONS, cells, decades, gram, problems, resolvent};
use common::{assert_close, column};
use faer::{Mat, MatRef};
use foretask::numerics::normal::{cumulative, density};
use foretask::rules::binary::optimal_labels;
use foretask::rules::{ScoreLaw, bayes, one_hot, one_vs_all};
use foretask::theory::{Corrections, Theory};
use foretask::{Cells, Coupling, Discriminant, Form, Moments, Scaling, Statistics, System};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

/// The tolerance stated in `multiclass_iso_m3`.
const GOLDEN: f64 = 1e-8;
/// Two ways to one number, in a few dozen dimensions.
const ROUNDING: f64 = 1e-9;
/// Deviations of a mean of draws that chance explains.
const STANDARD_ERRORS: f64 = 4.0;

/// A golden file of isotropic data: cells, target, moments.
struct Golden {
    cells: Cells,
    coupling: Coupling,
    gram: Mat<f64>,
    features: usize,
    target: usize,
    expected: Value,
}

impl Golden {
    fn load(name: &str) -> Self {
        let golden = load(name);
        let input = &golden["input"];
        let counts: Vec<Vec<usize>> = serde_json::from_value(input["n"].clone()).unwrap();
        let lambda = input["lam"].as_f64().unwrap();
        Self {
            cells: cells(&counts),
            coupling: Coupling::new(lambda, numbers(&input["gamma"])).unwrap(),
            gram: matrix(&input["gram"]),
            features: input["p"].as_u64().unwrap() as usize,
            target: input["target"].as_u64().unwrap() as usize,
            expected: golden["expected"].clone(),
        }
    }

    fn moments(&self, corrections: Corrections) -> Moments {
        Theory::spherical(
            &self.cells,
            self.features,
            &self.coupling,
            &self.gram,
            None,
            corrections,
        )
        .unwrap()
        .moments(self.target)
    }
}

fn offsets(rule: &Discriminant) -> &[f64] {
    match &rule.form {
        Form::Linear { offsets } => offsets,
        _ => panic!("a linear rule"),
    }
}

/// Column l of the label scores.
fn labels(rule: &Discriminant, l: usize) -> Vec<f64> {
    rule.label_scores.col(l).iter().copied().collect()
}

/// The mean and the covariance of class scores j less l, l ≠ j, for samples of class j.
fn margins(rule: &Discriminant, moments: &Moments, j: usize) -> (Vec<f64>, Mat<f64>) {
    let others: Vec<usize> = (0..moments.mean.nrows()).filter(|&l| l != j).collect();
    let y = &rule.label_scores;
    let difference = Mat::from_fn(y.nrows(), others.len(), |cell, l| {
        y[(cell, j)] - y[(cell, others[l])]
    });
    let mean = moments.mean.row(j) * &difference;
    let offset = |l: usize| offsets(rule)[j] - offsets(rule)[others[l]];
    (
        (0..others.len()).map(|l| mean[l] + offset(l)).collect(),
        difference.transpose() * &moments.covariance[j] * &difference,
    )
}

/// ∫ f over a..b by Simpson's rule.
fn integral(f: impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    const INTERVALS: usize = 2000;
    let h = (b - a) / INTERVALS as f64;
    let inside: f64 = (1..INTERVALS)
        .map(|i| f(a + i as f64 * h) * if i % 2 == 0 { 2.0 } else { 4.0 })
        .sum();
    (f(a) + inside + f(b)) * h / 3.0
}

/// P(both positive) of a bivariate normal law, by Plackett's integral over the correlation.
fn quadrant(mean: &[f64], covariance: &Mat<f64>) -> f64 {
    let deviation = [covariance[(0, 0)].sqrt(), covariance[(1, 1)].sqrt()];
    let (h, k) = (mean[0] / deviation[0], mean[1] / deviation[1]);
    let correlation = covariance[(0, 1)] / (deviation[0] * deviation[1]);
    let f = |t: f64| {
        let cos = t.cos();
        (-(h * h + k * k - 2.0 * h * k * t.sin()) / (2.0 * cos * cos)).exp()
    };
    cumulative(h) * cumulative(k)
        + integral(f, 0.0, correlation.asin()) / (2.0 * std::f64::consts::PI)
}

/// P(correct | class j) of a linear rule for three classes.
fn exact_accuracies(rule: &Discriminant, moments: &Moments) -> Vec<f64> {
    (0..3)
        .map(|j| {
            let (mean, covariance) = margins(rule, moments, j);
            quadrant(&mean, &covariance)
        })
        .collect()
}

#[track_caller]
fn assert_accuracies(rule: &Discriminant, moments: &Moments, priors: &[f64], expected: &Value) {
    let actual = exact_accuracies(rule, moments);
    let per_class = numbers(&expected["acc_per_class"]);
    assert_close(&column(&actual), &column(&per_class), GOLDEN);
    let all: f64 = actual.iter().zip(priors).map(|(a, p)| a * p).sum();
    assert!((all - expected["acc"].as_f64().unwrap()).abs() < GOLDEN);
}

const EQUAL: [f64; 3] = [1.0 / 3.0; 3];

#[test]
fn one_hot_rules_of_three_classes_are_the_golden_ones() {
    let golden = Golden::load("multiclass_iso_m3");
    let moments = golden.moments(Corrections::None);
    for (name, priors) in [
        ("one_hot_uniform", EQUAL),
        ("one_hot_prior", [0.2, 0.3, 0.5]),
    ] {
        let expected = &golden.expected[name];
        let rule = one_hot::optimal(&moments, &priors);
        assert_close(&rule.label_scores, &matrix(&expected["Y"]), GOLDEN);
        let offset = column(&numbers(&expected["offs"]));
        assert_close(&column(offsets(&rule)), &offset, GOLDEN);
        assert_accuracies(&rule, &moments, &priors, expected);
        let bayes = bayes::discriminant(&moments, &priors, None);
        assert_eq!(bayes, rule);
    }
}

#[test]
fn one_vs_all_rules_of_three_classes_are_the_golden_ones() {
    let golden = Golden::load("multiclass_iso_m3");
    let (cells, target) = (&golden.cells, golden.target);
    let moments = golden.moments(Corrections::None);

    let expected = &golden.expected["classical"];
    let rule = one_vs_all::naive_classical(cells, target);
    assert_eq!(rule.label_scores, matrix(&expected["Y"]));
    assert_accuracies(&rule, &moments, &EQUAL, expected);
    assert_accuracies(
        &one_hot::classical(cells, target),
        &moments,
        &EQUAL,
        expected,
    );

    // The file adds the offset to the labels of the target's cells, which moves the score by as much.
    let expected = &golden.expected["one_vs_all"];
    let rule = one_vs_all::minimax(&moments, cells, target);
    let mut shifted = rule.label_scores.clone();
    for cell in cells.of_task(target) {
        for l in 0..3 {
            shifted[(cell, l)] += offsets(&rule)[l];
        }
    }
    assert_close(&shifted, &matrix(&expected["Y"]), GOLDEN);
    assert_accuracies(&rule, &moments, &EQUAL, expected);
    let reached: Vec<f64> = (0..3)
        .map(|l| criterion(&moments, l, &labels(&rule, l)))
        .collect();
    let margin = column(&numbers(&expected["min_margin"]));
    assert_close(&column(&reached), &margin, GOLDEN);
}

#[test]
fn one_number_per_task_gives_the_golden_labels() {
    let mut compared = 0;
    for golden in training() {
        let expected = &golden.expected["beyond"]["f2_labels"];
        if expected.is_null() {
            continue;
        }
        let table = golden.problem.table();
        let tasks = table.tasks();
        let coupling = golden.problem.coupling(tasks.cells());
        let system = System::new(Statistics::of(&tasks), Scaling::None, &coupling).unwrap();
        let target = golden.expected["beyond"]["target"].as_u64().unwrap() as usize;
        let loo = system
            .leave_one_out(&tasks, target)
            .stratified(tasks.cells());
        let moments = Moments::leave_one_out(
            loo.responses.as_ref(),
            &loo.class,
            golden.classes,
            &crate::data::Importance::default(),
        );
        let rule = one_vs_all::per_task(&moments, tasks.cells(), target);
        assert_close(&rule.label_scores, &matrix(expected), GOLDEN);
        compared += 1;
    }
    assert!(compared >= 3);
}

/// min_{j ≠ l} (μ_l - μ_j)·y / √(yᵀ S_j y).
fn criterion(moments: &Moments, l: usize, y: &[f64]) -> f64 {
    let own = moments.score(l, y).0;
    (0..moments.mean.nrows())
        .filter(|&j| j != l)
        .map(|j| {
            let (mean, variance) = moments.score(j, y);
            (own - mean) / variance.sqrt()
        })
        .fold(f64::INFINITY, f64::min)
}

fn criteria(moments: &Moments, rule: &Discriminant) -> Vec<f64> {
    (0..moments.mean.nrows())
        .map(|l| criterion(moments, l, &labels(rule, l)))
        .collect()
}

#[track_caller]
fn assert_digits(actual: &[f64], expected: [f64; 3], half_digit: f64) {
    for (a, e) in actual.iter().zip(expected) {
        assert!(
            (a - e).abs() <= half_digit,
            "{actual:?} instead of {expected:?}"
        );
    }
}

/// The paper's figure "one-versus-all" with the theory as it should be:
/// `docs/reproduction/what-the-paper-ran.md#one-versus-all-the-printed-optimum` has 1.44, 1.87 and
/// 1.92 at the optimum, and data drawn have 1.42, 1.85 and 1.92. The paper's own labels reach 1.36,
/// 1.38 and 1.36.
#[test]
fn the_minimax_of_the_figure_is_reached() {
    let golden = Golden::load("figure_one_vs_all_classical");
    let (cells, target) = (&golden.cells, golden.target);
    for corrections in [Corrections::None, Corrections::DegreesOfFreedom] {
        let moments = golden.moments(corrections);
        let classical = one_vs_all::classical(cells, target, &moments);
        assert_digits(&criteria(&moments, &classical), [0.766, 1.291, 1.372], 5e-4);
        let rule = one_vs_all::minimax(&moments, cells, target);
        assert_digits(&criteria(&moments, &rule), [1.4412, 1.8670, 1.9186], 5e-5);
    }
    let moments = golden.moments(Corrections::None);
    // Per cent correct: naive, scaled, minimax, and 75.8 of the one-hot optimum
    // (`docs/5-many-classes.md#one-versus-all`).
    for (rule, expected) in [
        (one_vs_all::naive_classical(cells, target), 55.1),
        (one_vs_all::classical(cells, target, &moments), 66.0),
        (one_vs_all::minimax(&moments, cells, target), 74.5),
        (one_hot::optimal(&moments, &EQUAL), 75.8),
    ] {
        let accuracy = exact_accuracies(&rule, &moments).iter().sum::<f64>() / 3.0;
        assert!((100.0 * accuracy - expected).abs() < 0.05, "{accuracy}");
    }
    let classical = one_vs_all::naive_classical(cells, target);
    let law = |l: usize, j: usize| moments.score(j, &labels(&classical, l));
    let mean = Mat::from_fn(3, 3, |l, j| law(l, j).0);
    assert_close(&mean, &matrix(&golden.expected["mean"]), GOLDEN);
    let deviation = Mat::from_fn(3, 3, |l, j| law(l, j).1.sqrt());
    assert_close(&deviation, &matrix(&golden.expected["std"]), GOLDEN);
}

/// The same figure with the theory as the authors computed it, which is where the numbers of
/// `docs/reproduction/what-the-paper-ran.md#one-versus-all-the-printed-optimum` come from: 1.430, 1.825 and 1.874
/// at the optimum, .763, 1.287 and 1.366 for classical
/// labels.
#[test]
fn the_minimax_of_the_figure_is_reached_with_the_authors_moments_too() {
    let golden = Golden::load("figure_one_vs_all_classical");
    let moments = authors_moments(&golden);
    let classical = one_vs_all::naive_classical(&golden.cells, golden.target);
    let law = |l: usize, j: usize| moments.score(j, &labels(&classical, l));
    let mean = Mat::from_fn(3, 3, |l, j| law(l, j).0);
    // Printed to four digits.
    assert_close(&mean, &matrix(&golden.expected["paper_mean"]), 1.5e-4);
    let mut printed = matrix(&golden.expected["paper_std"]);
    // The figure's second column, where class 1 has the larger deviation, shows that the first one
    // has them exchanged.
    let exchanged = printed[(1, 0)];
    printed[(1, 0)] = printed[(1, 1)];
    printed[(1, 1)] = exchanged;
    let deviation = Mat::from_fn(3, 3, |l, j| law(l, j).1.sqrt());
    for l in 0..3 {
        for j in 0..3 {
            // Printed to four digits, the last of them one too small in three places.
            assert!((deviation[(l, j)] - printed[(l, j)]).abs() < 1.6e-4);
        }
    }

    let rule = one_vs_all::classical(&golden.cells, golden.target, &moments);
    assert_digits(&criteria(&moments, &rule), [0.7631, 1.2868, 1.3660], 5e-5);
    let rule = one_vs_all::minimax(&moments, &golden.cells, golden.target);
    assert_digits(&criteria(&moments, &rule), [1.4299, 1.8247, 1.8741], 5e-5);
}

/// The authors' theory takes I + m mᵀ, with m the class mean centred by counts, for the covariance of
/// a class wherever a trace is taken (τ and κ), a relative change of 1/p. It makes covariances unequal.
fn authors_moments(golden: &Golden) -> Moments {
    let (cells, c) = (&golden.cells, golden.cells.len());
    let k = cells.tasks().len();
    let normaliser = (k * golden.features) as f64;
    let (task, n) = (
        |r: usize| cells.task_of(r),
        |r: usize| cells.count(r) as f64,
    );
    let centring = Mat::from_fn(c, c, |a, b| {
        let own = f64::from(u8::from(a == b));
        own - if task(a) == task(b) {
            cells.share(b)
        } else {
            0.0
        }
    });
    // The Gram matrix is L Lᵀ: means within C dimensions, and features - C others without any.
    let means = &centring * golden.gram.llt(faer::Side::Lower).unwrap().L();
    let products = &means * means.transpose();
    let sigma: Vec<Mat<f64>> = (0..c)
        .map(|r| Mat::<f64>::identity(c, c) + means.row(r).transpose() * means.row(r))
        .collect();
    let one = vec![Mat::<f64>::identity(1, 1); c];
    let others = (golden.features - c) as f64;
    let block = |r: &Mat<f64>, a: usize, b: usize| {
        Mat::from_fn(c, c, |i, j| r[(task(a) * c + i, task(b) * c + j)])
    };
    let trace = |m: Mat<f64>| (0..c).map(|i| m[(i, i)]).sum::<f64>();
    let mut tau = vec![0.0; c];
    let (mut within, mut without) = (Mat::new(), Mat::new());
    let mut delta = Vec::new();
    for _ in 0..200 {
        // Contracts by a constant factor; far fewer rounds would do.
        delta = (0..c)
            .map(|r| n(r) / (normaliser * (1.0 + tau[r])))
            .collect();
        within = resolvent(cells, &golden.coupling, &sigma, &delta);
        without = resolvent(cells, &golden.coupling, &one, &delta);
        tau = (0..c)
            .map(|r| {
                let own = trace(&sigma[r] * block(&within, r, r));
                (own + others * without[(task(r), task(r))]) / normaliser
            })
            .collect();
    }
    let weighted = Mat::from_fn(c, c, |a, b| {
        let through = block(&within, a, b) * &sigma[b] * block(&within, b, a);
        let other = others * without[(task(a), task(b))].powi(2);
        (trace(&sigma[a] * through) + other) * n(b) / (normaliser * (1.0 + tau[b])).powi(2)
    });
    let identity = Mat::<f64>::identity(c, c);
    let kappa = common::oracle::solve(&identity - &weighted, weighted);
    let r = |a: usize, b: usize| without[(task(a), task(b))];
    let h = Mat::from_fn(c, c, |a, b| r(a, b) * products[(a, b)] * delta[b]);
    let residual = common::oracle::solve(&identity + h, centring);
    let covariance = |q: usize| {
        let noise = Mat::from_fn(c, c, |a, b| {
            let through = |s: usize| r(a, s) * r(s, b);
            let spread: f64 = through(q) + (0..c).map(|s| kappa[(q, s)] * through(s)).sum::<f64>();
            let own = if a == b { kappa[(q, a)] } else { 0.0 };
            own + delta[a] * spread * products[(a, b)] * delta[b]
        });
        residual.transpose() * noise * &residual
    };
    let range = cells.of_task(golden.target);
    Moments {
        mean: Mat::from_fn(range.len(), c, |class, cell| {
            identity[(range.start + class, cell)] - residual[(range.start + class, cell)]
        }),
        covariance: range.map(covariance).collect(),
    }
}

/// P(correct) where classes are exchangeable: margins have one mean and one correlation.
fn exchangeable_accuracy(rule: &Discriminant, moments: &Moments) -> f64 {
    let (mean, covariance) = margins(rule, moments, 0);
    let rivals = mean.len();
    for i in 0..rivals {
        assert!((mean[i] - mean[0]).abs() < ROUNDING * mean[0].abs());
        for j in 0..rivals {
            let expected = covariance[(usize::from(i != j), 0)];
            assert!((covariance[(i, j)] - expected).abs() < ROUNDING * covariance[(0, 0)]);
        }
    }
    let common = covariance[(1, 0)];
    let own = (covariance[(0, 0)] - common).sqrt();
    let correct = |z: f64| cumulative((mean[0] + common.sqrt() * z) / own).powi(rivals as i32);
    integral(|z| density(z) * correct(z), -9.0, 9.0)
}

#[test]
fn the_table_of_extensions_has_the_golden_accuracies() {
    let golden = Golden::load("table_multi_extension_beta05");
    let moments = golden.moments(Corrections::None);
    let (cells, target) = (&golden.cells, golden.target);
    // "1e-4"; the quadrature of the golden values is good to 1e-7.
    let assert_accuracy = |rule: &Discriminant, name: &str| {
        let expected = golden.expected[name].as_f64().unwrap();
        let actual = exchangeable_accuracy(rule, &moments);
        assert!(
            (actual - expected).abs() < 1e-6,
            "{actual} instead of {expected}"
        );
    };
    assert_accuracy(&one_hot::classical(cells, target), "acc_classical");
    let optimal = "acc_optimised_onehot_symmetric";
    assert_accuracy(&one_hot::optimal(&moments, &[0.2; 5]), optimal);
    // By symmetry the one-versus-all optimum decides alike.
    assert_accuracy(&one_vs_all::minimax(&moments, cells, target), optimal);
}

/// The columns of `docs/reproduction/what-the-paper-ran.md#many-classes-the-table-by-the-corrected-theory`, to its
/// digits: one-hot with γ = 1, one-versus-all with
/// γ = (.1, 1), classical and optimised, for β = .1, .5 and .8.
#[test]
fn the_table_of_extensions_is_that_of_the_theory() {
    let golden = Golden::load("table_multi_extension_beta05");
    let (cells, target) = (&golden.cells, golden.target);
    let rows = [
        (0.1, [64.3, 67.9, 58.9, 68.0]),
        (0.5, [68.1, 68.8, 66.0, 68.9]),
        (0.8, [70.9, 71.0, 70.9, 71.0]),
    ];
    for (beta, expected) in rows {
        let means = Mat::from_fn(10, 10, |i, r| match (i, r % 5, r < 5) {
            (i, j, true) if i == j => 2.0,
            (i, j, false) if i == j => 2.0 * beta,
            (i, j, false) if i == j + 5 => 2.0 * f64::sqrt(1.0 - beta * beta),
            _ => 0.0,
        });
        let moments = |gamma: [f64; 2]| {
            let mut golden = Golden::load("table_multi_extension_beta05");
            // Divided by the largest eigenvalue of the task matrix diag(γ) + λ 1 1ᵀ, λ = 1.
            let [a, b] = [gamma[0] + 1.0, gamma[1] + 1.0];
            let norm = 0.5 * (a + b + ((a - b).powi(2) + 4.0).sqrt());
            golden.coupling =
                Coupling::new(1.0 / norm, gamma.iter().map(|g| g / norm).collect()).unwrap();
            golden.gram = gram(&means);
            golden.moments(Corrections::None)
        };
        let (equal, strong) = (moments([1.0, 1.0]), moments([0.1, 1.0]));
        let actual = [
            exchangeable_accuracy(&one_hot::classical(cells, target), &equal),
            exchangeable_accuracy(&one_hot::optimal(&equal, &[0.2; 5]), &equal),
            exchangeable_accuracy(&one_vs_all::classical(cells, target, &strong), &strong),
            exchangeable_accuracy(&one_vs_all::minimax(&strong, cells, target), &strong),
        ];
        println!("{beta}: {actual:.4?}");
        for (a, e) in actual.iter().zip(expected) {
            assert!(
                (100.0 * a - e).abs() <= 0.051,
                "{actual:?} instead of {expected:?}"
            );
        }
    }
}

/// Moments of classes in `cells` dimensions; `spread` is the deviation of the logarithm of variances,
/// zero for equal covariances.
fn moments(seed: u64, classes: usize, cells: usize, separation: f64, spread: f64) -> Moments {
    let means = normals(seed ^ 1, cells, classes);
    let shape = |seed: u64| {
        let turn = common::generate::orthogonal(seed, cells);
        let logarithms = &normals(seed ^ 7, cells, 1)[0];
        let scale = Mat::from_fn(cells, cells, |i, j| {
            if i == j {
                (spread * logarithms[i]).exp()
            } else {
                0.0
            }
        });
        &turn * scale * turn.transpose()
    };
    // One common shape on top, so that the average is not round.
    let rows = &normals(seed ^ 5, cells, cells);
    let root = Mat::from_fn(cells, cells, |i, j| {
        rows[i][j] / (cells as f64).sqrt() + if i == j { 0.3 } else { 0.0 }
    });
    Moments {
        mean: Mat::from_fn(classes, cells, |class, cell| {
            separation
                * (0..cells)
                    .map(|i| means[class][i] * root[(cell, i)])
                    .sum::<f64>()
        }),
        covariance: (0..classes as u64)
            .map(|class| &root * shape(100 * seed + 10 * class) * root.transpose())
            .collect(),
    }
}

/// Draws of the responses of every class: one matrix (count x C) each.
fn draws(moments: &Moments, count: usize, seed: u64) -> Vec<Mat<f64>> {
    let c = moments.mean.ncols();
    (0..moments.mean.nrows())
        .map(|class| {
            let noise = normals(seed + class as u64, c, count);
            let noise = Mat::from_fn(count, c, |i, j| noise[i][j]);
            let factor = moments.covariance[class].llt(faer::Side::Lower).unwrap();
            let spread = noise * factor.L().transpose();
            Mat::from_fn(count, c, |i, j| spread[(i, j)] + moments.mean[(class, j)])
        })
        .collect()
}

fn decisions(rule: &Discriminant, responses: MatRef<'_, f64>) -> Vec<usize> {
    let sample = |i: usize| responses.row(i).iter().copied().collect::<Vec<f64>>();
    (0..responses.nrows())
        .map(|i| rule.decide(&sample(i)))
        .collect()
}

/// Σ_j w_j P(correct | j) on draws, and by how much it is more than that of another rule, with the
/// standard error of the latter.
fn compare(
    draws: &[Mat<f64>],
    weights: &[f64],
    rule: &Discriminant,
    other: &Discriminant,
) -> (f64, f64, f64) {
    let (mut accuracy, mut gain, mut variance) = (0.0, 0.0, 0.0);
    for (class, responses) in draws.iter().enumerate() {
        let weight = weights[class] / responses.nrows() as f64;
        let right = decisions(rule, responses.as_ref());
        for (a, b) in right.iter().zip(decisions(other, responses.as_ref())) {
            let (a, b) = (
                f64::from(u8::from(*a == class)),
                f64::from(u8::from(b == class)),
            );
            accuracy += weight * a;
            gain += weight * (a - b);
            variance += (weight * (a - b)).powi(2);
        }
    }
    (accuracy, gain, variance.sqrt())
}

/// The cells of one task in `count` classes and of another for the rest.
fn two_tasks(target: usize, source: usize) -> Cells {
    cells(&[vec![5; target], vec![5; source]])
}

#[test]
fn where_nothing_varies_no_rule_panics_and_bayes_decides_by_the_prior() {
    let mut moments = moments(1, 3, 6, 1.0, 0.0);
    moments.covariance = vec![Mat::zeros(6, 6); 3];
    let cells = two_tasks(3, 3);
    let bayes = bayes::discriminant(&moments, &[0.2, 0.5, 0.3], None);
    assert_eq!(bayes.decide(&[1.0; 6]), 1);
    let given = one_hot::classical(&cells, 0).label_scores;
    let bayes = bayes::discriminant(&moments, &[0.2, 0.5, 0.3], Some(&given));
    assert_eq!(bayes.decide(&[1.0; 6]), 1);
    for rule in [
        one_vs_all::minimax(&moments, &cells, 0),
        one_vs_all::classical(&cells, 0, &moments),
        one_vs_all::naive_optimal(&moments, &EQUAL, &cells, 0),
    ] {
        assert!(rule.label_scores.norm_max().is_finite());
        rule.decide(&[1.0; 6]);
    }
}

#[test]
fn a_class_without_variance_where_others_have_some_keeps_a_finite_posterior() {
    let mut moments = moments(2, 3, 4, 1.0, 0.5);
    moments.covariance[1] = Mat::zeros(4, 4);
    let rule = bayes::discriminant(&moments, &EQUAL, None);
    let own: Vec<f64> = moments.mean.row(1).iter().copied().collect();
    assert_eq!(rule.decide(&own), 1);
    // A thousandth of a standard deviation away is still within a hair; a tenth is not.
    let near: Vec<f64> = own.iter().map(|x| x + 1e-4).collect();
    assert_eq!(rule.decide(&near), 1);
    let scores = rule.form.class_scores(&rule.scores(&[0.3, -0.2, 0.5, 0.1]));
    assert!(scores.iter().all(|score| score.is_finite()), "{scores:?}");
    assert_ne!(rule.decide(&[0.3, -0.2, 0.5, 0.1]), 1);
    // The minimax takes the same hair.
    let cells = two_tasks(3, 1);
    let minimax = one_vs_all::minimax(&moments, &cells, 0);
    assert!(minimax.label_scores.norm_max().is_finite());
}

/// The posterior of a class, summed over samples with posteriors in a bin, is the number of samples of
/// the class among them.
#[test]
fn class_scores_of_bayes_are_calibrated() {
    const BINS: usize = 10;
    let priors = [0.5, 0.2, 0.3];
    for spread in [0.0, 0.8] {
        let moments = moments(8, 3, 5, 0.8, spread);
        for given in [
            None,
            Some(Mat::from_fn(5, 2, |i, j| [1.0, -0.5][(i + j) % 2])),
        ] {
            let rule = bayes::discriminant(&moments, &priors, given.as_ref());
            assert_eq!(matches!(rule.form, Form::Linear { .. }), spread == 0.0);
            // (number, posteriors, variance) of each class and bin.
            let mut bins = [[(0.0, 0.0, 0.0); BINS]; 3];
            for (class, responses) in draws(&moments, 60_000, 31).iter().enumerate() {
                let count = (priors[class] * responses.nrows() as f64) as usize;
                for i in 0..count {
                    let sample: Vec<f64> = responses.row(i).iter().copied().collect();
                    let scores = rule.form.class_scores(&rule.scores(&sample));
                    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let total: f64 = scores.iter().map(|s| (s - most).exp()).sum();
                    for j in 0..3 {
                        let posterior = (scores[j] - most).exp() / total;
                        let bin = &mut bins[j][((posterior * BINS as f64) as usize).min(BINS - 1)];
                        bin.0 += f64::from(u8::from(j == class));
                        bin.1 += posterior;
                        bin.2 += posterior * (1.0 - posterior);
                    }
                }
            }
            for (number, posteriors, variance) in bins.iter().flatten() {
                let deviation = (number - posteriors).abs();
                assert!(
                    deviation <= STANDARD_ERRORS * variance.sqrt() + 1.0,
                    "{number} samples, {posteriors} expected"
                );
            }
        }
    }
}

#[test]
fn a_class_among_the_others_gets_one_number_per_task() {
    for (spread, shares) in [
        (0.0, [0.5, 0.3, 0.2]),
        (0.5, [0.5, 0.3, 0.2]),
        (0.0, [1.0 / 3.0; 3]),
    ] {
        let mut moments = moments(6, 4, 6, 1.0, spread);
        for cell in 0..6 {
            let others = [0, 1, 3].map(|j| moments.mean[(j, cell)]);
            moments.mean[(2, cell)] = others.iter().zip(shares).map(|(x, w)| w * x).sum();
        }
        let cells = two_tasks(4, 2);
        let rule = one_vs_all::minimax(&moments, &cells, 0);
        let per_task = one_vs_all::per_task(&moments, &cells, 0);
        assert_eq!(labels(&rule, 2), labels(&per_task, 2));
        // Only its own cell of either task, and the source has none of class 2. Amid the others not
        // even that: class 2 is chosen where the others' scores are below their means.
        let own = shares[0] != shares[1];
        let used: Vec<bool> = labels(&rule, 2).iter().map(|y| *y != 0.0).collect();
        assert_eq!(used, [false, false, own, false, false, false]);
        for l in [0, 1, 3] {
            assert!(criterion(&moments, l, &labels(&rule, l)) > 0.0);
        }
    }
}

#[test]
fn a_single_class_is_always_chosen() {
    let moments = moments(1, 1, 3, 1.0, 0.0);
    let cells = two_tasks(1, 2);
    for rule in [
        one_hot::optimal(&moments, &[1.0]),
        one_vs_all::minimax(&moments, &cells, 0),
        one_vs_all::naive_optimal(&moments, &[1.0], &cells, 0),
    ] {
        assert_eq!(rule.decide(&[0.1, 0.2, 0.3]), 0);
    }
}

/// The largest criterion that hill climbing in random directions finds, half of the times from near a
/// given vector and half from anywhere.
fn climbed(moments: &Moments, l: usize, near: &[f64], seed: u64) -> f64 {
    const STARTS: usize = 8;
    const STEPS: usize = 2000;
    let unit = |y: Vec<f64>| {
        let size = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        y.iter().map(|y| y / size).collect::<Vec<f64>>()
    };
    let along = |y: &[f64], length: f64, step: &[f64]| {
        unit(y.iter().zip(step).map(|(y, s)| y + length * s).collect())
    };
    let random = normals(seed, near.len(), STARTS + STEPS);
    let near = unit(near.to_vec());
    let mut best = f64::NEG_INFINITY;
    for (start, from) in random[..STARTS].iter().enumerate() {
        let (mut y, mut length) = if start % 2 == 0 {
            (unit(from.clone()), 1.0)
        } else {
            (along(&near, 0.01, from), 0.01)
        };
        let mut at = criterion(moments, l, &y);
        for step in &random[STARTS..] {
            let trial = along(&y, length, step);
            let value = criterion(moments, l, &trial);
            if value > at {
                (y, at, length) = (trial, value, 1.5 * length);
            } else {
                length = (0.9 * length).max(1e-7);
            }
        }
        best = best.max(at);
    }
    best
}

/// Problems of one to three tasks with as many classes each, isotropic, with all of them related.
fn related() -> impl Strategy<Value = Case> {
    let task = (vec(2..60_usize, 5), decades(-1.0, 1.0));
    let means = vec(-2.0..2.0_f64, 15 * DIRECTIONS);
    (
        problems(),
        vec(task, 1..=3),
        2..=5_usize,
        decades(-1.0, 1.0),
        means,
    )
        .prop_map(|(case, tasks, classes, lambda, means)| {
            let c = classes * tasks.len();
            Case {
                lambda,
                counts: tasks
                    .iter()
                    .map(|task| task.0[..classes].to_vec())
                    .collect(),
                gamma: tasks.iter().map(|task| task.1).collect(),
                means: Mat::from_fn(DIRECTIONS, c, |i, r| means[r * DIRECTIONS + i]),
                alpha: vec![1.0; c],
                ..case
            }
        })
}

/// The cosine of the angle between two vectors.
fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// The moments of some classes, in a given order.
fn of_classes(moments: &Moments, classes: &[usize]) -> Moments {
    Moments {
        mean: Mat::from_fn(classes.len(), moments.mean.ncols(), |class, cell| {
            moments.mean[(classes[class], cell)]
        }),
        covariance: classes
            .iter()
            .map(|&j| moments.covariance[j].clone())
            .collect(),
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn a_pair_of_one_hot_columns_is_the_optimal_binary_rule_of_the_pair(
        case in related(),
        weights in vec(0.1..1.0_f64, 5),
    ) {
        let target = case.counts.len() - 1;
        let moments = case.theory().moments(target);
        let classes = moments.mean.nrows();
        let total: f64 = weights[..classes].iter().sum();
        let priors: Vec<f64> = weights[..classes].iter().map(|w| w / total).collect();
        let rule = one_hot::optimal(&moments, &priors);
        for (a, b) in foretask::data::cells::pairs(classes) {
            let pair = optimal_labels(&of_classes(&moments, &[a, b]), [priors[a], priors[b]], 1.0);
            let (first, second) = (labels(&rule, a), labels(&rule, b));
            let y: Vec<f64> = first.iter().zip(&second).map(|(x, y)| x - y).collect();
            let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
            prop_assert!(cosine(&y, &pair.label_scores) > 1.0 - ROUNDING);
            let threshold = (offsets(&rule)[b] - offsets(&rule)[a]) / length;
            let size = 1.0 + pair.threshold.abs();
            prop_assert!((threshold - pair.threshold).abs() < 1e-7 * size, "{threshold} {}", pair.threshold);
        }
    }

    #[test]
    fn naive_optimal_rules_are_the_best_of_their_family(
        case in related(),
        weights in vec(0.1..1.0_f64, 5),
        seed in any::<u64>(),
    ) {
        let target = case.counts.len() - 1;
        let (cells, moments) = (case.cells(), case.theory().moments(target));
        let classes = moments.mean.nrows();
        let rule = one_vs_all::naive_optimal(&moments, &weights[..classes], &cells, target);
        for l in 0..classes {
            let total: f64 = (0..classes).filter(|&j| j != l).map(|j| weights[j]).sum();
            // (mean difference)² / variance of class l and of the union of the others.
            let ratio = |y: &[f64]| {
                let (own, variance) = moments.score(l, y);
                let rest: Vec<(f64, f64, f64)> = (0..classes)
                    .filter(|&j| j != l)
                    .map(|j| (weights[j] / total, moments.score(j, y).0, moments.score(j, y).1))
                    .collect();
                let mean: f64 = rest.iter().map(|(w, m, _)| w * m).sum();
                let spread: f64 = rest.iter().map(|(w, m, v)| w * (v + (m - mean).powi(2))).sum();
                (own - mean).abs() / (variance + spread).sqrt()
            };
            let best = ratio(&labels(&rule, l));
            for member in normals(seed, 2 * cells.tasks().len(), 20) {
                let y: Vec<f64> = (0..cells.len())
                    .map(|cell| {
                        let own = cell == cells.of_task(cells.task_of(cell)).start + l;
                        member[2 * cells.task_of(cell) + usize::from(own)]
                    })
                    .collect();
                prop_assert!(ratio(&y) <= best + ROUNDING, "{} > {best}", ratio(&y));
            }
            let (mean, _) = moments.score(l, &labels(&rule, l));
            prop_assert!((mean + offsets(&rule)[l]).abs() <= ROUNDING * (1.0 + mean.abs()));
        }
        if classes == 2 {
            // Nothing is naive about two classes.
            let pair = optimal_labels(&moments, [0.5, 0.5], 1.0);
            prop_assert!(cosine(&labels(&rule, 0), &pair.label_scores) > 1.0 - ROUNDING);
        }
    }

    #[test]
    fn bayes_on_one_score_is_the_threshold_of_that_score(
        seed in any::<u64>(),
        prior in 0.1..0.9_f64,
        unlike in any::<bool>(),
    ) {
        let moments = moments(seed % 1000, 2, 4, 1.0, if unlike { 0.5 } else { 0.0 });
        let y = &normals(seed, 4, 1)[0];
        let law = ScoreLaw::new(&moments, y, 1.0);
        let rule = bayes::discriminant(&moments, &[prior, 1.0 - prior], Some(&column(y)));
        let threshold = law.threshold([prior, 1.0 - prior]);
        prop_assume!(threshold.is_finite());
        let margin = |z: f64| {
            // Responses with score z.
            let square: f64 = y.iter().map(|y| y * y).sum();
            let phi: Vec<f64> = y.iter().map(|y| z * y / square).collect();
            let scores = rule.form.class_scores(&rule.scores(&phi));
            scores[0] - scores[1]
        };
        // The log-odds vanish at the threshold.
        let slope = (margin(threshold + 1.0) - margin(threshold - 1.0)).abs() + 1.0;
        prop_assert!(margin(threshold).abs() < 1e-6 * slope, "{}", margin(threshold));
    }

    #[test]
    fn classes_may_come_in_any_order(
        seed in 0..1000_u64,
        classes in 2..6_usize,
        turn in 1..5_usize,
        unlike in any::<bool>(),
    ) {
        let cells_per_task = classes;
        let moments = moments(seed, classes, 2 * cells_per_task, 1.5, if unlike { 0.4 } else { 0.0 });
        let order: Vec<usize> = (0..classes).map(|j| (j + turn) % classes).collect();
        // The target's classes in another order, and the cells of both tasks with them.
        let cell = |i: usize| i / classes * classes + order[i % classes];
        let c = 2 * classes;
        let turned = Moments {
            mean: Mat::from_fn(classes, c, |j, i| moments.mean[(order[j], cell(i))]),
            covariance: order
                .iter()
                .map(|&j| Mat::from_fn(c, c, |a, b| moments.covariance[j][(cell(a), cell(b))]))
                .collect(),
        };
        let priors: Vec<f64> = (1..=classes).map(|j| j as f64).collect();
        let turned_priors: Vec<f64> = order.iter().map(|&j| priors[j]).collect();
        let cells = two_tasks(classes, classes);
        let rules = |moments: &Moments, priors: &[f64]| [
            one_hot::optimal(moments, priors),
            one_vs_all::minimax(moments, &cells, 0),
            one_vs_all::per_task(moments, &cells, 0),
            one_vs_all::naive_optimal(moments, priors, &cells, 0),
            one_vs_all::classical(&cells, 0, moments),
        ];
        let turned_rules = rules(&turned, &turned_priors);
        for (rule, turned) in rules(&moments, &priors).iter().zip(&turned_rules) {
            let expected = Mat::from_fn(c, classes, |i, j| rule.label_scores[(cell(i), order[j])]);
            // The optimum is flat, its square root of the rounding of the criterion.
            assert_close(&turned.label_scores, &expected, 1e-6);
            let expected: Vec<f64> = order.iter().map(|&j| offsets(rule)[j]).collect();
            assert_close(&column(offsets(turned)), &column(&expected), 1e-6);
        }
        let samples = normals(seed, c, 20);
        let (rule, turned) = (
            bayes::discriminant(&moments, &priors, None),
            bayes::discriminant(&turned, &turned_priors, None),
        );
        for sample in samples {
            let other: Vec<f64> = (0..c).map(|i| sample[cell(i)]).collect();
            prop_assert_eq!(rule.decide(&sample), order[turned.decide(&other)]);
        }
    }

    #[test]
    fn a_shift_of_a_tasks_labels_moves_scores_by_a_constant_and_no_rule_has_one(
        case in related(),
        shift in -2.0..2.0_f64,
    ) {
        let target = case.counts.len() - 1;
        let (cells, moments) = (case.cells(), case.theory().moments(target));
        let classes = moments.mean.nrows();
        for rule in [
            one_hot::optimal(&moments, &vec![1.0; classes]),
            one_vs_all::minimax(&moments, &cells, target),
            one_vs_all::naive_optimal(&moments, &vec![1.0; classes], &cells, target),
        ] {
            for l in 0..classes {
                let y = labels(&rule, l);
                for task in 0..cells.tasks().len() {
                    let mut shifted = y.clone();
                    cells.of_task(task).for_each(|cell| shifted[cell] += shift);
                    for j in 0..classes {
                        let (before, after) = (moments.score(j, &y), moments.score(j, &shifted));
                        let moved = if task == target { shift } else { 0.0 };
                        let size = 1.0 + before.0.abs() + before.1;
                        prop_assert!((after.0 - before.0 - moved).abs() < 1e-8 * size);
                        prop_assert!((after.1 - before.1).abs() < 1e-8 * size);
                    }
                }
            }
        }
    }

    #[test]
    fn scores_of_one_vs_all_have_mean_zero_and_variance_one_for_their_class(case in related()) {
        let target = case.counts.len() - 1;
        let (cells, moments) = (case.cells(), case.theory().moments(target));
        for rule in [
            one_vs_all::classical(&cells, target, &moments),
            one_vs_all::minimax(&moments, &cells, target),
        ] {
            for l in 0..moments.mean.nrows() {
                let (mean, variance) = moments.score(l, &labels(&rule, l));
                prop_assert!((mean + offsets(&rule)[l]).abs() < 1e-8 * (1.0 + mean.abs()));
                prop_assert!((variance - 1.0).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn no_direction_beats_the_minimax(
        case in related(),
        seed in any::<u64>(),
    ) {
        let target = case.counts.len() - 1;
        let (cells, moments) = (case.cells(), case.theory().moments(target));
        let rule = one_vs_all::minimax(&moments, &cells, target);
        let classical = one_vs_all::naive_classical(&cells, target);
        for l in 0..moments.mean.nrows() {
            let best = criterion(&moments, l, &labels(&rule, l));
            let random = normals(seed, moments.mean.ncols(), 50);
            for y in random.iter().chain([&labels(&classical, l)]) {
                // Where the class lies among the others no direction has a positive criterion.
                let rival = criterion(&moments, l, y);
                prop_assert!(rival <= best.max(0.0) + ROUNDING, "{rival} > {best}");
            }
        }
    }

    #[test]
    fn naive_classical_decides_as_one_hot_classical(case in problems(), seed in any::<u64>()) {
        let cells = case.cells();
        for target in 0..cells.tasks().len() {
            let (one, other) = (
                one_hot::classical(&cells, target),
                one_vs_all::naive_classical(&cells, target),
            );
            for responses in normals(seed, cells.len(), 10) {
                prop_assert_eq!(one.decide(&responses), other.decide(&responses));
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(25))]

    #[test]
    fn climbing_from_random_starts_never_beats_the_minimax_of_unlike_covariances(
        seed in 0..10_000_u64,
        classes in 2..6_usize,
        extra in 0..3_usize,
        separation in 0.5..2.0_f64,
        spread in 0.1..1.2_f64,
    ) {
        let c = classes + extra;
        let moments = moments(seed, classes, c, separation, spread);
        let rule = one_vs_all::minimax(&moments, &two_tasks(classes, extra.max(1)), 0);
        for l in 0..classes {
            let y = labels(&rule, l);
            let best = criterion(&moments, l, &y);
            let climbed = climbed(&moments, l, &y, seed);
            prop_assert!(climbed <= best.max(0.0) + ROUNDING, "{climbed} > {best}");
            // The climber is a worthy one.
            prop_assert!(best <= 0.0 || climbed > 0.97 * best, "{climbed} < {best}");
        }
    }

    #[test]
    fn the_quadratic_rule_beats_linear_rules_where_covariances_are_unlike(
        seed in 0..10_000_u64,
        classes in 2..5_usize,
        separation in 0.3..1.0_f64,
    ) {
        let c = 2 * classes;
        let moments = moments(seed, classes, c, separation, 0.8);
        let weights: Vec<f64> = vec![1.0 / classes as f64; classes];
        let bayes = bayes::discriminant(&moments, &weights, None);
        let cells = two_tasks(classes, classes);
        let draws = draws(&moments, 4000, seed);
        for linear in [
            one_hot::optimal(&moments, &weights),
            one_hot::classical(&cells, 0),
            one_vs_all::minimax(&moments, &cells, 0),
            one_vs_all::naive_optimal(&moments, &weights, &cells, 0),
        ] {
            let (_, gain, error) = compare(&draws, &weights, &bayes, &linear);
            prop_assert!(gain > -STANDARD_ERRORS * error, "{gain} ± {error}");
        }
    }
}
