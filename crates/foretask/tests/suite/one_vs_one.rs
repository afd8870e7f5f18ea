//! One-versus-one: the joint law of scores trained on different samples, the votes, and the forecast.

use super::common;

use common::drawn::{Data, along};
use common::golden::{array, load, matrix, numbers};
use common::theory::cells;
use faer::{Mat, Side};
use foretask::data::cells::pairs;
use foretask::theory::pairs::{Member, joint_law};
use foretask::theory::{Common, Corrections, Theory};
use foretask::{Cells, Coupling, Evidence, Form, Labels, RuleName, Settings, Study, Ties};
use proptest::prelude::*;

/// The tolerance stated in `multiclass_iso_m3`.
const GOLDEN: f64 = 1e-8;
/// The covariance of a score with itself is the variance of the theory but for rounding.
const ROUNDING: f64 = 1e-10;

/// Isotropic classes with the given inner products, as coordinates and all other directions in one.
fn of_gram(gram: &Mat<f64>, alpha: &[f64], features: usize) -> Common {
    let eigen = gram.self_adjoint_eigen(Side::Lower).unwrap();
    let c = gram.nrows();
    let root = |i: usize| eigen.S().column_vector()[i].max(0.0).sqrt();
    let mut multiplicity = vec![1.0; c];
    multiplicity.push((features - c) as f64);
    Common {
        values: vec![1.0; c + 1],
        multiplicity,
        alpha: alpha.to_vec(),
        means: Mat::from_fn(c + 1, c, |l, cell| {
            if l < c {
                root(l) * eigen.U()[(cell, l)]
            } else {
                0.0
            }
        }),
    }
}

struct Problem {
    cells: Cells,
    counts: Vec<Vec<usize>>,
    coupling: Coupling,
    common: Common,
}

impl Problem {
    fn classes(&self) -> usize {
        self.counts[0].len()
    }

    fn member(&self, target: usize, pair: (usize, usize), labels: Vec<f64>) -> Member {
        let m = self.classes();
        let side = |task: usize| [task * m + pair.0, task * m + pair.1];
        let counts: Vec<Vec<usize>> = self
            .counts
            .iter()
            .map(|n| vec![n[pair.0], n[pair.1]])
            .collect();
        Member {
            cells: (0..self.counts.len()).flat_map(side).collect(),
            tasks: cells(&counts),
            target,
            coupling: self.coupling.clone(),
            labels,
        }
    }
}

fn assert_near(got: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (got - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{what}: {got} instead of {expected}"
    );
}

#[test]
fn the_joint_law_is_the_golden_one() {
    let golden = load("multiclass_iso_m3");
    let (input, expected) = (&golden["input"], &golden["expected"]["one_vs_one"]);
    let counts: Vec<Vec<usize>> = serde_json::from_value(input["n"].clone()).unwrap();
    let features = input["p"].as_u64().unwrap() as usize;
    let target = input["target"].as_u64().unwrap() as usize;
    let lambda = input["lam"].as_f64().unwrap();
    let gram = matrix(&input["gram"]);
    let problem = Problem {
        cells: cells(&counts),
        coupling: Coupling::new(lambda, numbers(&input["gamma"])).unwrap(),
        common: of_gram(&gram, &vec![1.0; gram.nrows()], features),
        counts,
    };
    let members: Vec<Member> = array(&expected["pairs"])
        .iter()
        .zip(array(&expected["labels"]))
        .map(|(pair, labels)| {
            let pair = numbers(pair);
            problem.member(
                target,
                (pair[0] as usize, pair[1] as usize),
                numbers(labels),
            )
        })
        .collect();
    let law = joint_law(
        &problem.cells,
        features,
        &problem.common,
        target,
        &members,
        Corrections::None,
    )
    .unwrap();
    let (mean, covariance) = (matrix(&expected["mean"]), matrix(&expected["cov"]));
    for s in 0..members.len() {
        for class in 0..3 {
            assert_near(law.mean[(class, s)], mean[(class, s)], GOLDEN, "mean");
            for t in 0..members.len() {
                let got = law.covariance[class][(s, t)];
                assert_near(got, covariance[(s, t)], GOLDEN, "covariance");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// One classifier on all samples is the theory itself, whatever the spectrum and the variances.
    #[test]
    fn a_single_member_has_the_variance_of_the_theory(
        counts in prop::collection::vec(prop::collection::vec(3_usize..40, 2), 1..4),
        seed in prop::collection::vec(-1.0_f64..1.0, 64),
        lambda in 0.0_f64..5.0,
        corrected in any::<bool>(),
    ) {
        let k = counts.len();
        let c = 2 * k;
        let at = |i: usize| seed[i % seed.len()];
        let common = Common {
            values: (0..6).map(|l| 0.3 + f64::from(l)).collect(),
            multiplicity: vec![4.0; 6],
            alpha: (0..c).map(|r| 1.0 + 0.5 * at(r)).collect(),
            means: Mat::from_fn(6, c, |l, r| at(7 * l + 3 * r + 1)),
        };
        let problem = Problem {
            cells: cells(&counts),
            counts,
            coupling: Coupling::new(lambda, (0..k).map(|i| 1.1 + at(i)).collect()).unwrap(),
            common,
        };
        let corrections = if corrected { Corrections::DegreesOfFreedom } else { Corrections::None };
        let labels: Vec<f64> = (0..c).map(|r| at(r + 20)).collect();
        let theory = Theory::common(
            &problem.cells, 24, &problem.coupling, &problem.common, corrections,
        ).unwrap();
        let target = k - 1;
        let member = problem.member(target, (0, 1), labels.clone());
        let law = joint_law(
            &problem.cells, 24, &problem.common, target, &[member], corrections,
        ).unwrap();
        let moments = theory.moments(target);
        for class in 0..2 {
            let (mean, variance) = moments.score(class, &labels);
            prop_assert!((law.mean[(class, 0)] - mean).abs() < ROUNDING * (1.0 + mean.abs()));
            let got = law.covariance[class][(0, 0)];
            prop_assert!((got - variance).abs() < ROUNDING * (1.0 + variance), "{got} {variance}");
        }
    }

    /// Votes are what counting by hand says.
    #[test]
    fn votes_are_counted(
        scores in prop::collection::vec(prop::sample::select(vec![-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]), 10),
        thresholds in prop::collection::vec(prop::sample::select(vec![-0.7, 0.0, 0.7]), 10),
    ) {
        let m = 5;
        let mut votes = [0_usize; 5];
        let mut margin = [0.0_f64; 5];
        let mut pair = 0;
        for a in 0..m {
            for b in a + 1..m {
                let lead = scores[pair] - thresholds[pair];
                votes[if lead > 0.0 { a } else { b }] += 1;
                margin[a] += lead;
                margin[b] -= lead;
                pair += 1;
            }
        }
        let most = *votes.iter().max().unwrap();
        let tied: Vec<usize> = (0..m).filter(|&c| votes[c] == most).collect();
        let decide = |ties| {
            let form = Form::Votes { thresholds: thresholds.clone(), ties };
            let class_scores = form.class_scores(&scores);
            (0..m).fold(0, |best, c| if class_scores[c] > class_scores[best] { c } else { best })
        };
        prop_assert_eq!(decide(Ties::First), tied[0]);
        let winner = decide(Ties::Margins);
        prop_assert!(tied.contains(&winner));
        for &c in &tied {
            prop_assert!(margin[winner] >= margin[c] - 1e-12);
        }
        prop_assert_eq!(pairs(m).count(), 10);
    }
}

/// The share of wrong decisions on fresh samples of all classes.
fn measured(study: &Study<'_>, fresh: &Data) -> f64 {
    let model = study.model().unwrap();
    let decisions = model.predict(fresh.rows()).unwrap();
    let wrong = decisions
        .iter()
        .zip(&fresh.class)
        .filter(|(decision, class)| model.classes()[**decision] != **class)
        .count();
    wrong as f64 / decisions.len() as f64
}

/// Forecast and measured error, averaged over draws.
fn forecast_and_measured(evidence: Evidence, labels: Labels) -> (f64, f64) {
    const DRAWS: u64 = 12;
    let features = 60;
    let (mut foretold, mut counted) = (0.0, 0.0);
    for seed in 0..DRAWS {
        let source: &dyn Fn(usize, usize) -> f64 = &along(2.2);
        let data = Data::new(
            features,
            &[
                ("source", &[80, 60, 70, 80], source),
                ("target", &[30, 40, 35, 30], source),
            ],
            seed,
        );
        let fresh = Data::new(features, &[("target", &[500; 4], source)], 1000 + seed);
        let tasks = data.tasks();
        let settings = Settings {
            target: Some("target".into()),
            rule: RuleName::OneVsOne,
            coupling: Some((3.0, vec![1.0])),
            prior: foretask::Prior::Equal,
            evidence,
            labels,
            ..Settings::default()
        };
        let study = Study::new(&tasks, &settings).unwrap();
        foretold += study.forecast().error / DRAWS as f64;
        counted += measured(&study, &fresh) / DRAWS as f64;
    }
    (foretold, counted)
}

/// Twelve draws of 2,000 fresh samples: the standard error of the difference is about .006 for the theory
/// (the Gram matrix is estimated anew in every draw) and .01 for leave-one-out (135 samples in each).
#[test]
fn the_forecast_of_the_votes_comes_true() {
    for (evidence, labels, allowed) in [
        (Evidence::Isotropic, Labels::Optimal, 0.02),
        (Evidence::Isotropic, Labels::Classical, 0.02),
        (Evidence::Auto, Labels::Optimal, 0.03),
        (Evidence::LeaveOneOut, Labels::Classical, 0.03),
    ] {
        let (foretold, counted) = forecast_and_measured(evidence, labels);
        println!("{evidence:?} {labels:?}: foretold {foretold:.4}, measured {counted:.4}");
        assert!(
            (foretold - counted).abs() < allowed,
            "{evidence:?} {labels:?}: foretold {foretold:.4}, measured {counted:.4}"
        );
    }
}
