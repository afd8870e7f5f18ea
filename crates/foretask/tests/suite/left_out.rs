//! The samples left out: what the forecast is made of, and that none has a say in its own probabilities.

use super::common;

use common::drawn::{Data, along};
use common::generate::{gaussian, normals};
use faer::Mat;
use foretask::{Evidence, Labels, RuleName, Settings, Study};

use crate::decision::Decided;
use crate::forecast::count::from_judgements;
use crate::forecast::{Calibration, Judgement, Judgements, stacked};
use crate::stakes::Stakes;

/// Sums of at most a few hundred numbers below one.
const ROUNDING: f64 = 1e-12;

/// Rules and labels by every road that leave-one-out takes.
fn roads() -> Vec<Settings> {
    let rules = RuleName::NAMED.map(|rule| (rule, Labels::Optimal));
    let labels = [
        Labels::Auto,
        Labels::Optimal,
        Labels::Classical,
        Labels::Alone,
        Labels::Pooled,
    ];
    let labels = labels.map(|labels| (RuleName::Auto, labels));
    let all = rules.into_iter().chain(labels);
    all.map(|(rule, labels)| Settings {
        target: Some("north".into()),
        rule,
        labels,
        ..Settings::default()
    })
    .collect()
}

#[test]
fn there_is_a_law_for_every_sample_of_the_target_class_by_class() {
    for counts in [&[9, 14][..], &[12, 8, 10]] {
        let table = gaussian(3, 8, &[counts, &[20, 15, 10]], 1.0, 1.0).table();
        let tasks = table.tasks();
        for study in Study::each(&tasks, &roads(), &|_| {}).unwrap() {
            let left_out = study.left_out().unwrap();
            let expected = (0..counts.len()).flat_map(|c| std::iter::repeat_n(c, counts[c]));
            assert!(expected.eq(left_out.class.iter().copied()));
            let probabilities = &left_out.probabilities;
            assert_eq!(
                (probabilities.nrows(), probabilities.ncols()),
                (left_out.class.len(), counts.len())
            );
            for row in probabilities.row_iter() {
                assert!((row.sum() - 1.0).abs() < ROUNDING);
                assert!(row.iter().all(|p| (0.0..=1.0).contains(p)));
            }
        }
    }
}

/// Verdicts on random samples whose scores say something about their classes.
fn judgements(seed: u64, counts: &[usize], partitions: usize) -> Judgements {
    let m = counts.len();
    let class: Vec<usize> = (0..m)
        .flat_map(|c| std::iter::repeat_n(c, counts[c]))
        .collect();
    let draw = |seed: u64| {
        let noise = normals(seed, m, class.len());
        Mat::from_fn(class.len(), m, |l, c| {
            0.3 * noise[l][c] + if class[l] == c { 0.5 } else { 0.1 }
        })
    };
    let scores: Vec<Mat<f64>> = (0..partitions as u64).map(|i| draw(seed + i)).collect();
    let everyone = crate::data::Importance::default();
    let (all, classes, _) = stacked(&scores.iter().collect::<Vec<_>>(), &class, &everyone);
    let calibration = Calibration::of_scores(&all, &classes, &everyone, partitions);
    let calibration = calibration.with_twin(&all, &classes, &everyone, partitions);
    let judged = |scores: Mat<f64>| Judgement {
        decisions: (0..class.len())
            .map(|l| {
                let logits = calibration.logits(&scores, l);
                let most = (0..m).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
                Decided::One(most.unwrap())
            })
            .collect(),
        scores,
        folds: Vec::new(),
        calibrations: Vec::new(),
    };
    Judgements {
        repeats: scores.into_iter().map(judged).collect(),
        half: None,
        kept: 0.9,
        class,
        groups: crate::data::Groups::default(),
        importance: crate::data::Importance::default(),
        calibration,
        by_name: false,
    }
}

fn observed(counts: &[usize], priors: Option<Vec<f64>>) -> Stakes {
    let total = counts.iter().sum::<usize>() as f64;
    let shares: Vec<f64> = counts.iter().map(|&n| n as f64 / total).collect();
    Stakes {
        priors: priors.unwrap_or_else(|| shares.clone()),
        costs: vec![1.0; counts.len()],
        shares,
    }
}

/// The reliability of a forecast sums up the most probable classes, weighted to the priors of use: over all
/// its bins, what was claimed and what was right are means over the samples left out. So is the log-loss.
#[test]
fn the_reliability_is_that_of_the_samples_whatever_the_priors() {
    for (counts, priors) in [
        (&[25, 40][..], None),
        (&[25, 40], Some(vec![0.7, 0.3])),
        (&[9, 14, 20], None),
    ] {
        for partitions in [1, 2] {
            let judgements = judgements(4, counts, partitions);
            let stakes = observed(counts, priors.clone());
            let forecast = from_judgements(&judgements, &stakes, Vec::new());
            let (mut claimed, mut right, mut loss) = (0.0, 0.0, 0.0);
            for judgement in &judgements.repeats {
                for (l, &class) in judgements.class.iter().enumerate() {
                    let weight =
                        stakes.priors[class] / (counts[class] * judgements.repeats.len()) as f64;
                    let mut in_use = judgements.calibration.logits(&judgement.scores, l);
                    for (c, logit) in in_use.iter_mut().enumerate() {
                        *logit += stakes.shift(c);
                    }
                    let total: f64 = in_use.iter().map(|x| x.exp()).sum();
                    let likely = (0..in_use.len())
                        .max_by(|&a, &b| in_use[a].total_cmp(&in_use[b]))
                        .unwrap();
                    claimed += weight * in_use[likely].exp() / total;
                    right += weight * f64::from(u8::from(likely == class));
                    loss -= weight * (in_use[class].exp() / total).ln();
                }
            }
            let sum = |of: &dyn Fn(&foretask::Reliability) -> f64| {
                let bins = forecast.reliability.iter();
                bins.map(|bin| bin.share * of(bin)).sum::<f64>()
            };
            assert!((sum(&|bin| bin.claimed) - claimed).abs() < ROUNDING);
            assert!((sum(&|bin| bin.right) - right).abs() < ROUNDING);
            assert!((forecast.log_loss.unwrap() - loss).abs() < ROUNDING);
        }
    }
}

/// The expected confusion is (1 - s) counted + s smooth with one s of at most a half: counted by the decisions, and
/// the same weighted by the probabilities.
#[test]
fn the_forecast_is_a_mixture_of_a_count_and_of_its_smooth_twin() {
    for counts in [&[30, 20][..], &[20, 30, 15]] {
        let judgements = judgements(5, counts, 1);
        let forecast = from_judgements(&judgements, &observed(counts, None), Vec::new());
        let m = counts.len();
        let (mut counted, mut smooth) = (vec![vec![0.0; m]; m], vec![vec![0.0; m]; m]);
        let judgement = &judgements.repeats[0];
        let twin = judgements.calibration.of_twin();
        for (l, &class) in judgements.class.iter().enumerate() {
            let Decided::One(decision) = judgement.decisions[l] else {
                panic!("two classes have the same score");
            };
            counted[class][decision] += 1.0;
            let logits = twin.logits(&judgement.scores, l);
            let total: f64 = logits.iter().map(|x| x.exp()).sum();
            for (c, row) in smooth.iter_mut().enumerate() {
                row[decision] += logits[c].exp() / total;
            }
        }
        for row in counted.iter_mut().chain(&mut smooth) {
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|x| *x /= total);
        }
        let confusion = &forecast.confusion;
        let cells = || (0..m).flat_map(|c| (0..m).map(move |d| (c, d)));
        // Where the two differ most, the share can be read off.
        let gap = |&(c, d): &(usize, usize)| f64::abs(smooth[c][d] - counted[c][d]);
        let (c, d) = cells().max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap();
        let share = (confusion[c][d] - counted[c][d]) / (smooth[c][d] - counted[c][d]);
        assert!((0.0..=0.5 + ROUNDING).contains(&share), "{share}");
        for (c, d) in cells() {
            let expected = (1.0 - share) * counted[c][d] + share * smooth[c][d];
            assert!((confusion[c][d] - expected).abs() < 1e3 * ROUNDING);
        }
    }
}

/// Slope and offsets are where the cost is least: no neighbour is better.
#[test]
fn the_calibration_is_of_least_cost() {
    for (seed, counts) in [(1, &[12, 60][..]), (2, &[40, 40]), (3, &[8, 20, 50])] {
        let Judgements {
            class,
            repeats,
            calibration,
            ..
        } = judgements(seed, counts, 1);
        let scores = &repeats[0].scores;
        let cost = |calibration: &Calibration| {
            let offsets: f64 = calibration.offsets.iter().map(|b| b * b).sum();
            calibration.cross_entropy(scores, &class, &crate::data::Importance::default())
                + 0.5 * (calibration.slope / 6.0).ln().powi(2)
                + 0.5 * offsets / 0.25
        };
        let least = cost(&calibration);
        for step in [-1e-2, 1e-2] {
            let mut moved = calibration.clone();
            moved.slope *= 1.0 + step;
            assert!(cost(&moved) > least);
            for c in 0..counts.len() {
                let mut moved = calibration.clone();
                moved.offsets[c] += step;
                assert!(cost(&moved) > least, "{seed} {c}");
            }
        }
    }
}

#[test]
fn a_theory_leaves_no_sample_out() {
    let table = gaussian(6, 8, &[&[9, 14], &[20, 15]], 1.0, 1.0).table();
    for (rule, evidence) in [
        (RuleName::Auto, Evidence::Isotropic),
        (RuleName::Bayes, Evidence::Common),
    ] {
        let settings = Settings {
            target: Some("north".into()),
            rule,
            evidence,
            ..Settings::default()
        };
        assert_eq!(
            Study::new(&table.tasks(), &settings).unwrap().left_out(),
            None
        );
    }
}

/// Classes that do not differ, in more dimensions than samples: a rule knows its own samples perfectly, and those left
/// out not at all, by whatever road. 40 draws of 40 samples: the standard error is .013 for independent decisions, and
/// less for probabilities. One-versus-one of two classes is the rule of its one pair.
#[test]
fn noise_is_not_recognised() {
    const DRAWS: u64 = 40;
    const THREE_ERRORS: f64 = 0.04;
    let all: Vec<Settings> = roads()
        .into_iter()
        .map(|road| Settings {
            target: Some("target".into()),
            ..road
        })
        .collect();
    let mut own = vec![0.0; all.len()];
    let mut foretold = vec![0.0; all.len()];
    let nothing = along(0.0);
    for seed in 0..DRAWS {
        let counts = [20, 20];
        let tasks = [
            ("source", &counts[..], &nothing as _),
            ("target", &counts, &nothing as _),
        ];
        let data = Data::new(100, &tasks, seed);
        let studies = Study::each(&data.tasks(), &all, &|_| {}).unwrap();
        for (index, study) in studies.iter().enumerate() {
            let left_out = study.left_out().unwrap();
            for (sample, &class) in left_out.class.iter().enumerate() {
                let weight = 1.0 / (DRAWS as f64 * left_out.class.len() as f64);
                own[index] += weight * left_out.probabilities[(sample, class)];
            }
            foretold[index] += study.forecast().error / DRAWS as f64;
        }
    }
    for (settings, (own, foretold)) in all.iter().zip(own.iter().zip(&foretold)) {
        let Settings { rule, labels, .. } = settings;
        println!("noise: {rule}, {labels} labels: foretold {foretold:.3}, probability {own:.3}");
        for share in [own, foretold] {
            assert!(
                (share - 0.5).abs() < THREE_ERRORS,
                "{rule}, {labels}: {share}"
            );
        }
    }
}
