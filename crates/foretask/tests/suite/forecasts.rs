//! What forecasts promise, on drawn data: coverage, the isotropic theory, learning curves, priors.

use super::common;

use common::drawn::{Data, Mean, along, error_of, settings, study};
use foretask::{Evidence, Labels, Model, Prior, Provenance, Settings, Study};

#[test]
fn forecasts_cover_the_truth_as_often_as_they_say() {
    let mean = along(1.0);
    let (mut covered, mut bias, draws) = (0, 0.0, 40);
    for seed in 0..draws {
        let data = Data::new(
            25,
            &[("source", &[60, 60], &mean), ("target", &[25, 25], &mean)],
            seed,
        );
        let test = Data::new(25, &[("target", &[2000, 2000], &mean)], 5000 + seed);
        let tasks = data.tasks();
        let model = study(&tasks, Labels::Auto).model().unwrap();
        let truth = error_of(&model, &test);
        let forecast = model.forecast();
        covered += usize::from(forecast.interval[0] <= truth && truth <= forecast.interval[1]);
        bias += (forecast.error - truth) / draws as f64;
    }
    println!("covered {covered} of {draws}, bias {bias:.4}");
    // 36 expected; fewer than 31 has probability 1 % if the coverage is 90 %.
    assert!(covered >= 31, "covered {covered} of {draws}");
    assert!(bias.abs() < 0.03, "bias {bias:.4}");
}

const DRAWS: u64 = 60;

#[test]
fn isotropic_forecasts_are_true_on_isotropic_data() {
    let mean = along(1.4);
    for labels in [Labels::Optimal, Labels::Classical, Labels::Alone] {
        let (mut difference, mut covered) = (Vec::new(), 0);
        for seed in 0..DRAWS {
            let data = Data::new(
                50,
                &[("source", &[100, 100], &mean), ("target", &[40, 40], &mean)],
                seed,
            );
            let test = Data::new(50, &[("target", &[1000, 1000], &mean)], 7000 + seed);
            let tasks = data.tasks();
            let fixed = Settings {
                coupling: Some((5.0, vec![1.0])),
                evidence: Evidence::Isotropic,
                ..settings(labels)
            };
            let study = Study::new(&tasks, &fixed).unwrap();
            let error = error_of(&study.model().unwrap(), &test);
            assert_eq!(study.forecast().provenance, Provenance::Isotropic);
            difference.push(study.forecast().error - error);
            covered += usize::from(
                study.forecast().interval[0] <= error && error <= study.forecast().interval[1],
            );
        }
        let n = f64::from(DRAWS as u32);
        let mean = difference.iter().sum::<f64>() / n;
        let noise =
            (difference.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
        println!(
            "{labels:?}: forecast - measured {mean:.4} (s.e. {noise:.4}), covered {covered}/{DRAWS}"
        );
        // Three standard errors and the 0.003 that `docs/2-the-theory.md#theory-against-simulation` leaves at this
        // size.
        assert!(
            mean.abs() < 3.0 * noise + 0.003,
            "{labels:?}: {mean:.4} ± {noise:.4}"
        );
        // 54 expected; fewer than 47 has probability below 1 %.
        assert!(covered >= 47, "{labels:?}: {covered}");
    }
}

/// How far the factor of a learning curve is off, at most; measured, see the test.
const KNOWN_OPTIMISM: f64 = 0.15;

#[test]
fn learning_curves_fall_and_are_no_more_optimistic_than_known() {
    let mean = along(1.3);
    let (mut foretold, mut reached, mut now, mut forecast) = (0.0, 0.0, 0.0, 0.0);
    for seed in 0..12 {
        let source = (
            "source",
            &[40_usize, 40][..],
            &mean as &dyn Fn(usize, usize) -> f64,
        );
        let data = Data::new(40, &[source, ("target", &[15, 15], &mean)], seed);
        let more = Data::new(40, &[source, ("target", &[60, 60], &mean)], 300 + seed);
        let test = Data::new(40, &[("target", &[1000, 1000], &mean)], 9000 + seed);
        let (tasks, more) = (data.tasks(), more.tasks());
        let small = study(&tasks, Labels::Auto);
        let curve = small.learning_curve(&[0, 5, 15, 45, 200], &|_| {}).unwrap();
        assert!((curve[0].error - small.forecast().error).abs() < 1e-15);
        assert!(
            curve
                .windows(2)
                .all(|pair| pair[1].error <= pair[0].error + 1e-12),
            "{curve:?}"
        );
        now += error_of(&small.model().unwrap(), &test) / 12.0;
        forecast += curve[0].error / 12.0;
        foretold += curve[3].error / 12.0;
        reached += error_of(&study(&more, Labels::Auto).model().unwrap(), &test) / 12.0;
    }
    println!(
        "15 labels: forecast {forecast:.4} measured {now:.4}; 60 labels: foretold {foretold:.4} measured {reached:.4}"
    );
    // The curve is a relative statement: by what factor the error falls. It is known to promise too much
    // here (0.75 where 0.87 is true: with one source nothing is rehearsed, and the prior of the exponent does the
    // work); the bound keeps it from getting worse. How it does elsewhere: `docs/4-when-to-trust-a-forecast.md#what-was-measured`.
    // The stronger claim, the error reached to within half of the gain, does not hold on these data.
    let (told, true_factor) = (foretold / forecast, reached / now);
    assert!(
        (told - true_factor).abs() < KNOWN_OPTIMISM,
        "factor foretold {told:.3}, true {true_factor:.3}"
    );
}

/// Optimal labels are no better than chance on classes that do not differ. Where the twin is believed as it is they
/// foretell 45.8 % (standard error 1.7) in a hundred draws of two classes of five samples.
#[test]
fn noise_is_foretold_at_chance_by_optimal_labels() {
    const DRAWS: u64 = 120;
    let nowhere = along(0.0);
    let (mut sum, mut held) = (0.0, 0);
    for seed in 0..DRAWS {
        let tasks: [(&str, &[usize], &Mean); 3] = [
            ("a", &[20, 20], &nowhere),
            ("b", &[20, 20], &nowhere),
            ("target", &[5, 5], &nowhere),
        ];
        let data = Data::new(30, &tasks, 40_000 + seed);
        let tasks = data.tasks();
        let study = Study::new(&tasks, &settings(Labels::Optimal)).unwrap();
        let forecast = study.forecast();
        sum += forecast.error / DRAWS as f64;
        let [low, high] = forecast.interval;
        held += usize::from(low <= 0.5 && 0.5 <= high);
    }
    println!("{sum:.3}, {held} of {DRAWS}");
    // Two points, and a standard error of the mean.
    assert!((sum - 0.5).abs() < 0.02 + 0.017, "{sum}");
    // 106 are promised by 88 %; fewer than 96 have a probability below 1 % then.
    assert!(held >= 96, "{held}");
}

#[test]
fn priors_and_costs_move_the_threshold_the_right_way() {
    let mean = along(0.8);
    let data = Data::new(
        10,
        &[("source", &[40, 40], &mean), ("target", &[20, 20], &mean)],
        10,
    );
    let tasks = data.tasks();
    for labels in [Labels::Auto, Labels::Optimal, Labels::Classical] {
        for evidence in [Evidence::Auto, Evidence::Isotropic] {
            let plain = Settings {
                evidence,
                ..settings(labels)
            };
            let base = Study::new(&tasks, &plain).unwrap().model().unwrap();
            let rare = Settings {
                prior: Prior::Given(vec![("c0".into(), 0.1), ("c1".into(), 0.9)]),
                ..plain.clone()
            };
            let dear = Settings {
                costs: vec![("c0".into(), 9.0)],
                ..plain.clone()
            };
            let count = |model: &Model| {
                model
                    .predict(data.rows())
                    .unwrap()
                    .iter()
                    .filter(|&&c| c == 0)
                    .count()
            };
            let (rare, dear) = (
                Study::new(&tasks, &rare).unwrap(),
                Study::new(&tasks, &dear).unwrap(),
            );
            assert!(
                count(&rare.model().unwrap()) < count(&base),
                "{labels:?} {evidence:?}"
            );
            assert!(
                count(&dear.model().unwrap()) > count(&base),
                "{labels:?} {evidence:?}"
            );
            assert!(
                rare.forecast().error <= 0.1 + 0.03,
                "no worse than always the common class"
            );
            let probability = rare.model().unwrap().probabilities(data.rows()).unwrap();
            for l in 0..probability.nrows() {
                assert!((probability[(l, 0)] + probability[(l, 1)] - 1.0).abs() < 1e-12);
            }
        }
    }
}
