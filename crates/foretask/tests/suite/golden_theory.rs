//! The theory, the rules and the estimators equal golden values from an implementation of their own, number by number.

use super::common;

use common::generate::orthogonal;
use common::golden::{GOLDEN, Training, array, load, matrix, numbers, training};
use common::theory::cells;
use common::{assert_close, column};
use faer::Mat;
use foretask::estimate::gram::MeansApart;
use foretask::estimate::pooled::pooled;
use foretask::numerics::normal::{tail, upper_quantile};
use foretask::numerics::spectrum::positive_part;
use foretask::rules::ScoreLaw;
use foretask::rules::binary::{classical_labels, optimal_labels};
use foretask::solve::reduced::Reduced;
use foretask::theory::{Corrections, Covariances, Diagonal, Theory};
use foretask::{Cells, Coupling, LeaveOneOut, Moments, Scaling, Statistics, System};
use serde_json::Value;

const THEORY: [&str; 6] = [
    "iso_binary_k2",
    "iso_binary_k3",
    "iso_single_task_k1",
    "iso_lambda0_k2",
    "iso_m4_k2",
    "spherical_classes_k2",
];

/// The tolerance stated in `gaussian_helpers`.
const HELPERS: f64 = 1e-9;

/// An `iso_*` or `spherical_*` file.
struct Golden {
    name: &'static str,
    cells: Cells,
    features: usize,
    coupling: Coupling,
    gram: Mat<f64>,
    alpha: Option<Vec<f64>>,
    target: usize,
    expected: Value,
}

impl Golden {
    fn load(name: &'static str) -> Self {
        let golden = load(name);
        let input = &golden["input"];
        let counts: Vec<Vec<usize>> = serde_json::from_value(input["n"].clone()).unwrap();
        Self {
            name,
            cells: cells(&counts),
            features: input["p"].as_u64().unwrap() as usize,
            coupling: Coupling::new(number(&input["lam"]), numbers(&input["gamma"])).unwrap(),
            gram: matrix(&input["gram"]),
            alpha: (!input["alpha"].is_null()).then(|| numbers(&input["alpha"])),
            target: input["target"].as_u64().unwrap() as usize,
            expected: golden["expected"].clone(),
        }
    }

    fn theory(&self, corrections: Corrections) -> Theory {
        Theory::spherical(
            &self.cells,
            self.features,
            &self.coupling,
            &self.gram,
            self.alpha.as_deref(),
            corrections,
        )
        .unwrap()
    }

    fn has_two_classes(&self) -> bool {
        self.cells.of_task(self.target).len() == 2
    }

    /// What the file says of the target's rules, with the moments they are made from.
    fn rules(&self) -> (Moments, &Value) {
        let moments = self.theory(Corrections::None).moments(self.target);
        (moments, &self.expected[format!("target_{}", self.target)])
    }
}

fn all() -> impl Iterator<Item = Golden> {
    THEORY.into_iter().map(Golden::load)
}

fn binary() -> impl Iterator<Item = Golden> {
    all().filter(Golden::has_two_classes)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[track_caller]
fn assert_numbers(actual: &[f64], expected: &Value, tolerance: f64) {
    assert_close(&column(actual), &column(&numbers(expected)), tolerance);
}

#[track_caller]
fn assert_number(actual: f64, expected: &Value, tolerance: f64) {
    let expected = number(expected);
    assert!(
        (actual - expected).abs() <= tolerance * expected.abs(),
        "{actual} instead of {expected}"
    );
}

#[track_caller]
fn assert_covariances(theory: &Theory, expected: &Value) {
    for (cell, expected) in array(expected).iter().enumerate() {
        assert_close(&theory.covariance(cell), &matrix(expected), GOLDEN);
    }
}

#[test]
fn the_fixed_point_and_its_second_order_quantities_are_the_golden_ones() {
    for golden in all() {
        let (theory, expected) = (golden.theory(Corrections::None), &golden.expected);
        assert_numbers(&theory.tau, &expected["tau"], GOLDEN);
        assert_numbers(&theory.delta, &expected["delta"], GOLDEN);
        assert_close(&theory.traces, &matrix(&expected["T"]), GOLDEN);
        assert_close(&theory.jacobian, &matrix(&expected["J"]), GOLDEN);
        assert_close(&theory.centring, &matrix(&expected["C"]), GOLDEN);
        assert_close(&theory.kappa, &matrix(&expected["kappa"]), GOLDEN);
        assert_close(
            &weighted_alignment(&theory),
            &matrix(&expected["H"]),
            GOLDEN,
        );
        let most = expected["newton_iterations_max"].as_u64().unwrap() as usize;
        assert!(
            theory.iterations <= most,
            "{}: {} Newton steps",
            golden.name,
            theory.iterations
        );
    }
}

#[test]
fn means_and_covariances_are_the_golden_ones() {
    for golden in all() {
        let theory = golden.theory(Corrections::None);
        assert_close(&theory.mean, &matrix(&golden.expected["Mean"]), GOLDEN);
        assert_covariances(&theory, &golden.expected["Cov"]);
    }
}

#[test]
fn the_moments_of_a_target_are_its_rows_of_the_golden_ones() {
    for golden in all() {
        let theory = golden.theory(Corrections::None);
        for task in 0..golden.cells.tasks().len() {
            let moments = theory.moments(task);
            let range = golden.cells.of_task(task);
            let mean = matrix(&golden.expected["Mean"]);
            let rows = mean.subrows(range.start, range.len()).to_owned();
            assert_close(&moments.mean, &rows, GOLDEN);
            assert_eq!(moments.covariance.len(), range.len());
            for (covariance, cell) in moments.covariance.iter().zip(range) {
                assert_close(covariance, &matrix(&golden.expected["Cov"][cell]), GOLDEN);
            }
        }
    }
}

#[test]
fn the_correction_for_degrees_of_freedom_is_the_golden_one() {
    for golden in all() {
        let theory = golden.theory(Corrections::DegreesOfFreedom);
        let expected = &golden.expected["dof_corrected"];
        assert_numbers(&theory.tau, &expected["tau"], GOLDEN);
        assert_numbers(&theory.delta, &expected["delta"], GOLDEN);
        assert_close(&theory.kappa, &matrix(&expected["kappa"]), GOLDEN);
        assert_close(
            &theory.kappa_residual,
            &matrix(&expected["kappa_rho"]),
            GOLDEN,
        );
        assert_close(&theory.mean, &matrix(&expected["Mean"]), GOLDEN);
        assert_covariances(&theory, &expected["Cov"]);
    }
}

/// The law of a score and the rule made of it, against an entry of the file.
#[track_caller]
fn assert_rule(law: &ScoreLaw, prior: f64, threshold: f64, expected: &Value) {
    assert_number(law.mean[0], &expected["m1"], GOLDEN);
    assert_number(law.mean[1], &expected["m2"], GOLDEN);
    assert_number(law.variance[0], &expected["C1"], GOLDEN);
    assert_number(law.variance[1], &expected["C2"], GOLDEN);
    assert_number(threshold, &expected["threshold"], GOLDEN);
    assert_number(error(law, prior, threshold), &expected["error"], GOLDEN);
}

fn error(law: &ScoreLaw, prior: f64, threshold: f64) -> f64 {
    let errors = law.errors(threshold);
    prior * errors[0] + (1.0 - prior) * errors[1]
}

#[test]
fn the_rule_of_classical_labels_is_the_golden_one() {
    for golden in binary() {
        let (moments, expected) = golden.rules();
        let expected = &expected["pm1"];
        let law = ScoreLaw::new(
            &moments,
            &classical_labels(&golden.cells, golden.target),
            1.0,
        );
        assert_rule(&law, 0.5, law.threshold([0.5, 0.5]), expected);
        assert_number(
            error(&law, 0.5, 0.0),
            &expected["error_at_zero_threshold"],
            GOLDEN,
        );
    }
}

#[test]
fn optimal_labels_are_the_golden_ones_for_any_prior() {
    for golden in binary() {
        let (moments, expected) = golden.rules();
        for prior in [0.5, 0.8] {
            let expected = &expected[format!("optimal_prior_{prior}")];
            let rule = optimal_labels(&moments, [prior, 1.0 - prior], 1.0);
            assert_numbers(&rule.label_scores, &expected["labels_unit_norm"], GOLDEN);
            let law = ScoreLaw::new(&moments, &rule.label_scores, 1.0);
            assert_rule(&law, prior, rule.threshold, expected);
        }
    }
}

#[test]
fn the_normal_tail_and_its_inverse_are_the_golden_ones() {
    let golden = load("gaussian_helpers");
    let expected = &golden["expected"];
    for (x, expected) in array(&golden["input"]["x"])
        .iter()
        .zip(array(&expected["Q"]))
    {
        assert_number(tail(number(x)), expected, HELPERS);
    }
    for (eta, expected) in array(&expected["eta"]).iter().zip(array(&expected["Qinv"])) {
        let quantile = upper_quantile(number(eta));
        assert!((quantile - number(expected)).abs() <= HELPERS, "{quantile}");
    }
}

#[test]
fn thresholds_between_two_normal_laws_are_the_golden_ones() {
    let golden = load("gaussian_helpers");
    let entries = array(&golden["expected"]["thresholds"]);
    assert!(entries.len() > 20);
    for entry in entries {
        let law = ScoreLaw {
            mean: [number(&entry["m1"]), number(&entry["m2"])],
            variance: [number(&entry["C1"]), number(&entry["C2"])],
        };
        let prior = number(&entry["pi1"]);
        let threshold = law.threshold([prior, 1.0 - prior]);
        assert_number(threshold, &entry["threshold"], HELPERS);
        assert_number(error(&law, prior, threshold), &entry["error"], HELPERS);
    }
}

/// For every training file: its statistics, its coupling and the stratified leave-one-out responses
/// of every task. The files' data are unscaled.
fn for_each_training(check: impl Fn(&Training, &Statistics<'_>, &Coupling, &[LeaveOneOut])) {
    for golden in training() {
        let table = golden.problem.table();
        let tasks = table.tasks();
        let coupling = golden.problem.coupling(tasks.cells());
        let system = System::new(Statistics::of(&tasks), Scaling::None, &coupling).unwrap();
        let responses: Vec<LeaveOneOut> = (0..tasks.cells().tasks().len())
            .map(|task| system.leave_one_out(&tasks, task).stratified(tasks.cells()))
            .collect();
        check(&golden, &Statistics::of(&tasks), &coupling, &responses);
    }
}

fn ones(statistics: &Statistics<'_>) -> Vec<f64> {
    vec![1.0; statistics.cells().tasks().len()]
}

#[test]
fn gram_estimates_are_the_golden_ones() {
    for_each_training(|golden, statistics, _, _| {
        let scales = ones(statistics);
        let unbiased = statistics.mean_products(&scales);
        assert_close(
            &unbiased,
            &matrix(&golden.expected["gram_unbiased"]),
            GOLDEN,
        );
        assert_close(
            &positive_part(unbiased.as_ref()),
            &matrix(&golden.expected["gram_psd"]),
            GOLDEN,
        );
        if golden.classes == 2 {
            assert_close(
                &MeansApart::new(statistics, &scales).shrunk_binary(),
                &matrix(&golden.expected["gram_shrink_binary"]),
                GOLDEN,
            );
        }
    });
}

#[test]
fn moments_of_leave_one_out_responses_are_the_golden_ones() {
    for_each_training(|golden, _, _, responses| {
        for (task, loo) in responses.iter().enumerate() {
            let expected = &golden.expected["loo_moments"][task.to_string()];
            let moments = Moments::leave_one_out(
                loo.responses.as_ref(),
                &loo.class,
                golden.classes,
                &crate::data::Importance::default(),
            );
            assert_close(&moments.mean, &matrix(&expected["mean"]), GOLDEN);
            assert_eq!(moments.covariance.len(), golden.classes);
            for covariance in &moments.covariance {
                assert_close(covariance, &matrix(&expected["cov_pooled"]), GOLDEN);
            }
        }
    });
}

#[test]
fn theory_from_data_and_the_moments_shrunk_toward_it_are_the_golden_ones() {
    for_each_training(|golden, statistics, coupling, responses| {
        let expected = &golden.expected["beyond"];
        if expected.is_null() {
            assert_eq!(golden.name, "train_edge_gamma0");
            return;
        }
        let target = expected["target"].as_u64().unwrap() as usize;
        let theory = Theory::spherical(
            statistics.cells(),
            statistics.features(),
            coupling,
            &statistics.mean_products(&ones(statistics)),
            None,
            Corrections::DegreesOfFreedom,
        )
        .unwrap()
        .moments(target);
        assert_close(&theory.mean, &matrix(&expected["rmt_mean"]), GOLDEN);
        for (covariance, expected) in theory.covariance.iter().zip(array(&expected["rmt_cov"])) {
            assert_close(covariance, &matrix(expected), GOLDEN);
        }
        let loo = &responses[target];
        let shrunk = Moments::shrunk(loo.responses.as_ref(), &loo.class, &theory);
        assert_close(&shrunk.mean, &matrix(&expected["js_mean"]), GOLDEN);
        assert_eq!(shrunk.covariance.len(), golden.classes);
        for covariance in &shrunk.covariance {
            assert_close(covariance, &matrix(&expected["js_cov"]), GOLDEN);
        }
    });
}

/// `general_m3_k2` or `diag_m3_k2`: three classes in each of two tasks, means and covariances of their
/// own.
struct Unequal {
    cells: Cells,
    coupling: Coupling,
    /// p x C.
    means: Mat<f64>,
    input: Value,
    expected: Value,
}

impl Unequal {
    fn load(name: &str, means: &str) -> Self {
        let golden = load(name);
        let input = &golden["input"];
        let counts: Vec<Vec<usize>> = serde_json::from_value(input["n"].clone()).unwrap();
        Self {
            cells: cells(&counts),
            coupling: Coupling::new(number(&input["lam"]), numbers(&input["gamma"])).unwrap(),
            means: by_cell(&input[means]),
            input: input.clone(),
            expected: golden["expected"].clone(),
        }
    }

    fn general(&self, sigma: Vec<Mat<f64>>, corrections: Corrections) -> Theory {
        let covariances = Covariances::new(sigma).unwrap();
        Theory::general(
            &self.cells,
            &self.coupling,
            &covariances,
            &self.means,
            corrections,
        )
        .unwrap()
    }

    fn assert_moments(&self, theory: &Theory) {
        let expected = &self.expected;
        assert_numbers(&theory.tau, &expected["tau"], GOLDEN);
        assert_numbers(&theory.delta, &expected["delta"], GOLDEN);
        assert_close(&theory.traces, &matrix(&expected["T"]), GOLDEN);
        assert_close(&theory.jacobian, &matrix(&expected["J"]), GOLDEN);
        assert_close(&theory.centring, &matrix(&expected["C"]), GOLDEN);
        assert_close(&theory.kappa, &matrix(&expected["kappa"]), GOLDEN);
        assert_close(&weighted_alignment(theory), &matrix(&expected["H"]), GOLDEN);
        assert_close(&theory.mean, &matrix(&expected["Mean"]), GOLDEN);
        assert_covariances(theory, &expected["Cov"]);
    }
}

/// A list of one vector per class of every task, as columns.
fn by_cell(value: &Value) -> Mat<f64> {
    let columns: Vec<Vec<f64>> = array(value)
        .iter()
        .flat_map(|task| array(task).iter().map(numbers))
        .collect();
    Mat::from_fn(columns[0].len(), columns.len(), |i, r| columns[r][i])
}

/// D^{1/2} H' D^{1/2}.
fn weighted_alignment(theory: &Theory) -> Mat<f64> {
    let c = theory.delta.len();
    Mat::from_fn(c, c, |r, s| {
        theory.delta[r].sqrt() * theory.alignment[(r, s)] * theory.delta[s].sqrt()
    })
}

fn matrices(value: &Value) -> Vec<Mat<f64>> {
    array(value)
        .iter()
        .flat_map(|task| array(task).iter().map(matrix))
        .collect()
}

#[test]
fn the_theory_of_general_covariances_is_the_golden_one() {
    let golden = Unequal::load("general_m3_k2", "mus");
    let sigma = matrices(&golden.input["Sigmas"]);
    golden.assert_moments(&golden.general(sigma, Corrections::None));
}

#[test]
fn the_theory_of_sample_means_is_the_golden_one() {
    let golden = Unequal::load("general_m3_k2", "mus");
    let sigma = matrices(&golden.input["Sigmas"]);
    let theory = golden.general(sigma, Corrections::UnbiasedSampleMeans);
    let expected = &golden.expected["debias_dof"];
    assert_numbers(&theory.tau, &expected["tau"], GOLDEN);
    assert_close(&theory.kappa, &matrix(&expected["kappa"]), GOLDEN);
    assert_close(
        &theory.kappa_residual,
        &matrix(&expected["kappa_rho"]),
        GOLDEN,
    );
    assert_close(
        &weighted_alignment(&theory),
        &matrix(&expected["H"]),
        GOLDEN,
    );
    assert_close(&theory.mean, &matrix(&expected["Mean"]), GOLDEN);
    assert_covariances(&theory, &expected["Cov"]);
}

#[test]
fn the_theory_of_diagonal_covariances_is_the_golden_one() {
    let golden = Unequal::load("diag_m3_k2", "mu");
    let variances = by_cell(&golden.input["s"]);
    let p = variances.nrows();
    let diagonal = Diagonal {
        variances: variances.clone(),
        multiplicity: vec![1.0; p],
        means: golden.means.clone(),
    };
    let theory = Theory::diagonal(
        &golden.cells,
        p,
        &golden.coupling,
        &diagonal,
        Corrections::None,
    )
    .unwrap();
    golden.assert_moments(&theory);
    // The same in another basis, which no shape is seen in.
    let turn = orthogonal(5, p);
    let sigma = (0..golden.cells.len())
        .map(|r| {
            let diagonal = Mat::from_fn(p, p, |i, j| if i == j { variances[(i, r)] } else { 0.0 });
            &turn * diagonal * turn.transpose()
        })
        .collect();
    let turned = Unequal {
        means: &turn * &golden.means,
        ..golden
    };
    turned.assert_moments(&turned.general(sigma, Corrections::None));
}

#[test]
fn the_pooled_theory_is_the_golden_one() {
    let mut seen = 0;
    for golden in training() {
        let expected = &golden.expected["beyond"]["pooled_theory"];
        if expected.is_null() {
            continue;
        }
        seen += 1;
        let table = golden.problem.table();
        let tasks = table.tasks();
        let coupling = golden.problem.coupling(tasks.cells());
        let reduced = Reduced::new(Statistics::of(&tasks), Scaling::None).unwrap();
        let shape = pooled(&reduced).unwrap();
        let theory = |corrections: Corrections| {
            let (cells, p) = (tasks.cells(), tasks.features());
            Theory::common(cells, p, &coupling, &shape, corrections).unwrap()
        };
        let unbiased = theory(Corrections::UnbiasedSampleMeans);
        assert_numbers(&unbiased.tau, &expected["tau"], GOLDEN);
        assert_close(&unbiased.mean, &matrix(&expected["Mean"]), GOLDEN);
        assert_covariances(&unbiased, &expected["Cov"]);
        // H' is positive in all files, and W' but for one direction of this one.
        let positive = theory(Corrections::SampleMeans);
        assert_close(&positive.mean, &matrix(&expected["Mean"]), GOLDEN);
        if golden.name != "train_k3_m3_dual" {
            assert_covariances(&positive, &expected["Cov"]);
        }
    }
    assert_eq!(seen, 3);
}
