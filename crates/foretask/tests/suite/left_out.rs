//! The samples left out: what the forecast is made of, and that none has a say in its own probabilities.

use super::common;

use common::drawn::{Data, along, settings};
use common::generate::gaussian;
use foretask::{Evidence, Labels, LeftOut, Prior, RuleName, Settings, Study};

/// Sums of at most a few hundred numbers below one.
const ROUNDING: f64 = 1e-12;

fn most_probable(left_out: &LeftOut, sample: usize) -> usize {
    let row = left_out.probabilities.row(sample);
    (0..row.ncols())
        .max_by(|&a, &b| row[a].total_cmp(&row[b]))
        .unwrap()
}

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

/// The reliability of a forecast sums up the most probable classes, weighted to the priors of use: over all
/// its bins, what was claimed and what was right are means over the samples left out.
#[test]
fn the_reliability_is_theirs_whatever_the_priors_and_costs() {
    let table = gaussian(4, 8, &[&[25, 40], &[20, 30]], 1.0, 1.0).table();
    let tasks = table.tasks();
    let prior = Prior::Given(vec![("ash".into(), 0.7), ("beech".into(), 0.3)]);
    for (prior, costs) in [
        (Prior::Observed, vec![]),
        (prior, vec![("beech".into(), 3.0)]),
    ] {
        let all: Vec<Settings> = roads()
            .into_iter()
            .map(|settings| Settings {
                prior: prior.clone(),
                costs: costs.clone(),
                ..settings
            })
            .collect();
        for (study, settings) in Study::each(&tasks, &all, &|_| {}).unwrap().iter().zip(&all) {
            let left_out = study.left_out().unwrap();
            let forecast = study.forecast();
            let counts = &study.cells().tasks()[study.target()].counts;
            let (mut claimed, mut right) = (0.0, 0.0);
            for (sample, &class) in left_out.class.iter().enumerate() {
                let weight = forecast.priors[class] / counts[class] as f64;
                let likely = most_probable(&left_out, sample);
                claimed += weight * left_out.probabilities[(sample, likely)];
                right += weight * f64::from(u8::from(likely == class));
            }
            let sum = |of: &dyn Fn(&foretask::Reliability) -> f64| {
                let bins = forecast.reliability.iter();
                bins.map(|bin| bin.share * of(bin)).sum::<f64>()
            };
            assert!(
                (sum(&|bin| bin.claimed) - claimed).abs() < ROUNDING,
                "{settings:?}"
            );
            assert!(
                (sum(&|bin| bin.right) - right).abs() < ROUNDING,
                "{settings:?}"
            );
        }
    }
}

/// The expected confusion is (1 - s) counted + s smooth with one s of at most a half: counted by the most
/// probable class, and the same weighted by the probabilities.
#[test]
fn the_forecast_is_a_mixture_of_their_count_and_of_its_smooth_twin() {
    for counts in [&[30, 20][..], &[20, 30, 15]] {
        let table = gaussian(5, 6, &[counts, &[20, 15, 10]], 1.0, 1.0).table();
        let tasks = table.tasks();
        let all = roads();
        for (study, settings) in Study::each(&tasks, &all, &|_| {}).unwrap().iter().zip(&all) {
            let left_out = study.left_out().unwrap();
            let m = counts.len();
            let (mut counted, mut smooth) = (vec![vec![0.0; m]; m], vec![vec![0.0; m]; m]);
            for (sample, &class) in left_out.class.iter().enumerate() {
                let likely = most_probable(&left_out, sample);
                counted[class][likely] += 1.0;
                for (c, row) in smooth.iter_mut().enumerate() {
                    row[likely] += left_out.probabilities[(sample, c)];
                }
            }
            for row in counted.iter_mut().chain(&mut smooth) {
                let total: f64 = row.iter().sum();
                row.iter_mut().for_each(|x| *x /= total);
            }
            let confusion = &study.forecast().confusion;
            let cells = || (0..m).flat_map(|c| (0..m).map(move |d| (c, d)));
            // Where the two differ most, the share can be read off.
            let gap = |&(c, d): &(usize, usize)| f64::abs(smooth[c][d] - counted[c][d]);
            let (c, d) = cells().max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap();
            let share = (confusion[c][d] - counted[c][d]) / (smooth[c][d] - counted[c][d]);
            assert!(
                (0.0..=0.5 + ROUNDING).contains(&share),
                "{settings:?}: {share}"
            );
            for (c, d) in cells() {
                let expected = (1.0 - share) * counted[c][d] + share * smooth[c][d];
                let difference = (confusion[c][d] - expected).abs();
                assert!(difference < 1e3 * ROUNDING, "{settings:?}: {difference}");
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

/// Classes that do not differ, in more dimensions than samples: a rule knows its own samples perfectly, and
/// those left out not at all. Where labels are learnt from the responses of other samples, this one had a
/// part in their fits, and 400 draws say that it is recognised in 4.6 % more cases than by chance.
/// The average chooses its couplings without it, and the others are given one. 40 draws of 40 samples: the
/// standard error is .013 for independent decisions, and less for probabilities.
#[test]
fn noise_is_not_recognised() {
    const DRAWS: u64 = 40;
    let given = Some((2.0, vec![2.0]));
    let cases = [
        (RuleName::Auto, Labels::Classical, given.clone(), 0.03),
        (RuleName::Auto, Labels::Pooled, given.clone(), 0.03),
        (RuleName::Auto, Labels::Auto, None, 0.08),
        (RuleName::Auto, Labels::Optimal, given.clone(), 0.08),
        (RuleName::Bayes, Labels::Optimal, given, 0.08),
    ];
    let all = cases.clone().map(|(rule, labels, coupling, _)| Settings {
        rule,
        coupling,
        ..settings(labels)
    });
    let mut own = vec![0.0; all.len()];
    let mut right = vec![0.0; all.len()];
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
                right[index] +=
                    weight * f64::from(u8::from(most_probable(&left_out, sample) == class));
            }
        }
    }
    for (case, (rule, labels, _, chance)) in cases.iter().enumerate() {
        for share in [own[case], right[case]] {
            assert!((share - 0.5).abs() < *chance, "{rule}, {labels:?}: {share}");
        }
    }
}
