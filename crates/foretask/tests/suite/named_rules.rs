//! Rules by name, judged by leave-one-out and by every theory: their forecasts come true, files hold
//! them, and priors and costs move them the right way.

use super::common;

use common::drawn::Data;
use foretask::{Evidence, Labels, Model, Prior, RuleName, Settings, Study, Tasks};

const FEATURES: usize = 40;
const RULES: [RuleName; 5] = RuleName::NAMED;

/// Class means in a regular simplex of the given size, the source's turned a little.
fn mean(size: f64, turn: f64) -> impl Fn(usize, usize) -> f64 {
    move |class, feature| {
        let own = if feature == class { size } else { 0.0 };
        let turned = if feature == class + 10 {
            size * turn
        } else {
            0.0
        };
        own + turned
    }
}

fn draw(classes: usize, seed: u64) -> (Data, Data) {
    let (source, target) = (mean(2.4, 0.5), mean(2.4, 0.0));
    let (more, few) = (vec![50; classes], vec![40; classes]);
    let data = Data::new(
        FEATURES,
        &[("source", &more, &source), ("target", &few, &target)],
        seed,
    );
    let fresh = Data::new(
        FEATURES,
        &[("target", &vec![400; classes], &target)],
        10_000 + seed,
    );
    (data, fresh)
}

fn settings(rule: RuleName, labels: Labels, evidence: Evidence) -> Settings {
    Settings {
        target: Some("target".into()),
        coupling: Some((3.0, vec![1.0])),
        rule,
        labels,
        evidence,
        ..Settings::default()
    }
}

fn error_on(model: &Model, fresh: &Data) -> f64 {
    let decisions = model.predict(fresh.rows()).unwrap();
    let wrong = decisions
        .iter()
        .zip(&fresh.class)
        .filter(|(decision, class)| model.classes()[**decision] != **class);
    wrong.count() as f64 / decisions.len() as f64
}

/// Eight draws with 120 target samples and 1,200 fresh ones. The difference of the means has a standard
/// error of about .012 by leave-one-out (a count of 960 samples at an error near .16) and .01 by theory, from
/// the estimated means. The plain sample covariance of 40 samples in 40 dimensions is no estimate of a
/// covariance, so it is allowed more; it is there for comparison with the paper.
#[test]
fn forecasts_of_all_rules_come_true_under_all_theories() {
    const DRAWS: u64 = 8;
    let mut text = String::from("evidence, rule, labels: foretold, measured\n");
    let mut wrong = Vec::new();
    for (evidence, allowed) in [
        (Evidence::Auto, 0.04),
        (Evidence::LeaveOneOut, 0.04),
        (Evidence::Isotropic, 0.03),
        (Evidence::Spherical, 0.03),
        (Evidence::Common, 0.03),
        (Evidence::General, 0.03),
        (Evidence::LedoitWolf, 0.03),
        (Evidence::Sample, 0.1),
    ] {
        for rule in RULES {
            if rule == RuleName::OneVsOne
                && matches!(
                    evidence,
                    Evidence::General | Evidence::LedoitWolf | Evidence::Sample
                )
            {
                continue;
            }
            for labels in [Labels::Optimal, Labels::Classical] {
                let (mut foretold, mut counted) = (0.0, 0.0);
                for seed in 0..DRAWS {
                    let (data, fresh) = draw(3, seed);
                    let tasks = data.tasks();
                    let study = Study::new(&tasks, &settings(rule, labels, evidence)).unwrap();
                    foretold += study.forecast().error / DRAWS as f64;
                    counted += error_on(&study.model().unwrap(), &fresh) / DRAWS as f64;
                }
                text += &format!("{evidence:?} {rule} {labels:?}: {foretold:.3} {counted:.3}\n");
                if (foretold - counted).abs() > allowed {
                    wrong.push(format!(
                        "{evidence:?} {rule} {labels:?}: foretold {foretold:.3}, measured {counted:.3}"
                    ));
                }
            }
        }
    }
    println!("{text}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The forecast's parts agree with each other.
#[test]
fn a_forecast_is_consistent() {
    let (data, _) = draw(4, 3);
    let tasks = data.tasks();
    for evidence in [Evidence::Auto, Evidence::Isotropic] {
        for rule in RULES.into_iter().chain([RuleName::Auto]) {
            let study = Study::new(&tasks, &settings(rule, Labels::Auto, evidence)).unwrap();
            let forecast = study.forecast();
            let mut error = 0.0;
            for (c, row) in forecast.confusion.iter().enumerate() {
                assert!(
                    (row.iter().sum::<f64>() - 1.0).abs() < 1e-12,
                    "{rule} {row:?}"
                );
                assert!((1.0 - row[c] - forecast.class_errors[c]).abs() < 1e-12);
                error += forecast.priors[c] * forecast.class_errors[c];
            }
            assert!((error - forecast.error).abs() < 1e-12);
            assert!(
                forecast.interval[0] <= forecast.error && forecast.error <= forecast.interval[1]
            );
            let shares: f64 = forecast.reliability.iter().map(|bin| bin.share).sum();
            assert!((shares - 1.0).abs() < 1e-9, "{rule} {shares}");
            let right: f64 = forecast.reliability.iter().map(|b| b.share * b.right).sum();
            assert!(
                (right - (1.0 - error)).abs() < 0.06,
                "{rule}: {right} {error}"
            );
        }
    }
}

/// Probabilities are worth what they claim on fresh samples.
#[test]
fn probabilities_are_reliable() {
    for rule in [
        RuleName::Auto,
        RuleName::Bayes,
        RuleName::OneHot,
        RuleName::OneVsOne,
    ] {
        let (mut claimed, mut right, mut total) = (0.0, 0.0, 0.0);
        for seed in 0..6 {
            let (data, fresh) = draw(3, 100 + seed);
            let tasks = data.tasks();
            let study = Study::new(&tasks, &settings(rule, Labels::Auto, Evidence::Auto)).unwrap();
            let model = study.model().unwrap();
            let probabilities = model.probabilities(fresh.rows()).unwrap();
            let decisions = model.predict(fresh.rows()).unwrap();
            for (l, &decision) in decisions.iter().enumerate() {
                claimed += probabilities[(l, decision)];
                right += f64::from(u8::from(model.classes()[decision] == fresh.class[l]));
                total += 1.0;
            }
        }
        let gap = (claimed - right) / total;
        println!(
            "{rule}: claims {:.3}, right {:.3}",
            claimed / total,
            right / total
        );
        // One temperature from 120 samples; six draws.
        assert!(gap.abs() < 0.04, "{rule}: claims {claimed} of {right}");
    }
}

/// With two classes and a common covariance, the one-hot and the Bayes rule are the binary one.
#[test]
fn with_two_classes_all_optima_are_one() {
    let (data, fresh) = draw(2, 5);
    let tasks = data.tasks();
    let study = |rule| {
        Study::new(
            &tasks,
            &settings(rule, Labels::Optimal, Evidence::Isotropic),
        )
    };
    let binary = study(RuleName::Auto).unwrap();
    let expected = binary.model().unwrap().predict(fresh.rows()).unwrap();
    for rule in [RuleName::Bayes, RuleName::OneHot, RuleName::OneVsOne] {
        let other = study(rule).unwrap();
        let gap = (other.forecast().error - binary.forecast().error).abs();
        assert!(gap < 1e-9, "{rule}: {gap}");
        assert_eq!(
            other.model().unwrap().predict(fresh.rows()).unwrap(),
            expected
        );
    }
}

#[test]
fn files_hold_every_rule() {
    let (data, fresh) = draw(3, 7);
    let tasks = data.tasks();
    for evidence in [Evidence::Auto, Evidence::Spherical] {
        for rule in RULES {
            let study = Study::new(&tasks, &settings(rule, Labels::Auto, evidence)).unwrap();
            let model = study.model().unwrap();
            let bytes = model.to_bytes().unwrap();
            let read = Model::from_bytes(&bytes).unwrap();
            assert_eq!(read, model, "{rule}");
            assert_eq!(
                read.predict(fresh.rows()).unwrap(),
                model.predict(fresh.rows()).unwrap()
            );
            assert_eq!(model.scores(fresh.rows()).unwrap().ncols(), 3);
            for length in (0..bytes.len()).step_by(bytes.len() / 60) {
                assert!(Model::from_bytes(&bytes[..length]).is_err());
            }
        }
    }
}

/// A class whose mistakes cost more, or that occurs more often, is chosen more often.
#[test]
fn costs_and_priors_move_decisions() {
    let (data, fresh) = draw(3, 9);
    let tasks = data.tasks();
    let chosen = |settings: &Settings| {
        let model = Study::new(&tasks, settings).unwrap().model().unwrap();
        let decisions = model.predict(fresh.rows()).unwrap();
        decisions.iter().filter(|&&decision| decision == 1).count()
    };
    for evidence in [Evidence::Auto, Evidence::Common] {
        for rule in RULES {
            let plain = settings(rule, Labels::Optimal, evidence);
            let costly = Settings {
                costs: vec![("c1".into(), 8.0)],
                ..plain.clone()
            };
            let often = Settings {
                prior: Prior::Given(vec![
                    ("c0".into(), 0.1),
                    ("c1".into(), 0.8),
                    ("c2".into(), 0.1),
                ]),
                ..plain.clone()
            };
            let before = chosen(&plain);
            assert!(chosen(&costly) > before, "{rule} {evidence:?}: costs");
            // One-versus-all standardises scores class by class: the theory has no prior to move there.
            let knows = matches!(
                rule,
                RuleName::Bayes | RuleName::OneHot | RuleName::OneVsOne
            );
            if evidence == Evidence::Auto || knows {
                assert!(chosen(&often) > before, "{rule} {evidence:?}: priors");
            }
        }
    }
}

/// Quadratic decisions use what linear ones cannot: classes that differ in spread only.
#[test]
fn the_bayes_rule_is_quadratic_where_classes_differ_in_spread() {
    let spread = |class: usize| if class == 0 { 1.0 } else { 3.0 };
    let scaled = |seed: u64, counts: &[usize]| {
        let mut data = Data::new(FEATURES, &[("target", counts, &mean(1.0, 0.0))], seed);
        for (l, class) in data.class.iter().enumerate() {
            let factor = spread(usize::from(class == "c1"));
            data.values[l * FEATURES..(l + 1) * FEATURES]
                .iter_mut()
                .for_each(|x| *x *= factor);
        }
        data
    };
    let data = scaled(1, &[150, 150]);
    let fresh = scaled(2, &[2000, 2000]);
    let tasks = data.tasks();
    let error = |rule| {
        let study = Study::new(
            &tasks,
            &settings(rule, Labels::Optimal, Evidence::Spherical),
        )
        .unwrap();
        (
            study.forecast().error,
            error_on(&study.model().unwrap(), &fresh),
        )
    };
    let (binary, bayes) = (error(RuleName::Auto), error(RuleName::Bayes));
    println!("one threshold: {binary:?}; quadratic: {bayes:?} (foretold, measured)");
    assert!(bayes.1 < binary.1 && bayes.0 < binary.0);
    assert!((bayes.0 - bayes.1).abs() < 0.03 && (binary.0 - binary.1).abs() < 0.03);
    let note = Study::new(
        &tasks,
        &settings(RuleName::Auto, Labels::Optimal, Evidence::Spherical),
    )
    .unwrap()
    .forecast()
    .notes
    .iter()
    .map(ToString::to_string)
    .collect::<String>();
    assert!(note.contains("two thresholds"), "{note}");
}

#[test]
fn comparisons_list_every_rule_and_theory() {
    let (data, _) = draw(3, 11);
    let tasks: Tasks<'_> = data.tasks();
    for evidence in [Evidence::Auto, Evidence::Common] {
        let choice = Settings {
            coupling: None,
            ..settings(RuleName::Auto, Labels::Auto, evidence)
        };
        let study = Study::new(&tasks, &choice).unwrap();
        let compared = study.compare(&|_| {}).unwrap();
        let names: Vec<&str> = compared.iter().map(|entry| &*entry.name).collect();
        let mut expected = vec!["this rule"];
        if evidence == Evidence::Auto {
            expected.extend(["commonest class", "alone labels", "pooled labels"]);
            expected.extend(["classical labels", "optimal labels", "raw view"]);
            expected.extend(["standard view", "cosine view", "rbf view"]);
        }
        assert_eq!(names[..expected.len()], expected);
        assert_eq!(names.len(), expected.len() + 10);
        assert_eq!(&compared[0].forecast, study.forecast());
        for entry in &compared {
            // Chance is 2/3.
            let limit = if entry.name == "commonest class" {
                0.7
            } else {
                0.4
            };
            assert!(entry.forecast.error < limit, "{}", entry.name);
        }
        assert_eq!(study.theories(&|_| {}).unwrap().len(), 4);
    }
}
