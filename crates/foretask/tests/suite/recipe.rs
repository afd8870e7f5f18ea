//! The default recipe and the roads beside it, through the public API: what a study promises about its
//! rule, its forecast and its model.

use super::common;

use foretask::{
    Coupling, Evidence, Labels, Model, Note, Scaling, Settings, Statistics, Study, System, View,
    Views,
};

use common::drawn::{Data, along, error_of, permuted, settings, study};

/// Path and direct solve differ by rounding only.
const ROUNDING: f64 = 1e-9;

#[test]
fn the_path_gives_what_a_direct_solve_at_its_coupling_gives() {
    // Fewer rows than features, more, and tasks on both sides; two and three classes.
    for (features, source, target) in [
        (80, vec![12, 10], vec![7, 6]),
        (20, vec![40, 30], vec![15, 25]),
        (90, vec![150, 90], vec![9, 8]),
        (30, vec![20, 25, 22], vec![8, 9, 7]),
    ] {
        let mean = along(1.5);
        let data = Data::new(
            features,
            &[("source", &source, &mean), ("target", &target, &mean)],
            3,
        );
        let tasks = data.tasks();
        for labels in [Labels::Alone, Labels::Classical] {
            let chosen = study(&tasks, labels);
            let coupling = chosen.rule().coupling.clone().unwrap();
            let fixed = Settings {
                coupling: Some((coupling.lambda(), coupling.gamma().to_vec())),
                ..settings(labels)
            };
            let direct = Study::new(&tasks, &fixed).unwrap();
            let (a, b) = (chosen.model().unwrap(), direct.model().unwrap());
            let size = a.weights().norm_max();
            assert!(
                (a.weights() - b.weights()).norm_max() < ROUNDING * size,
                "{features} {labels:?}"
            );
            assert!((a.intercept()[0] - b.intercept()[0]).abs() < ROUNDING);
        }
    }
}

#[test]
fn classical_scores_are_the_responses_to_plus_and_minus_one() {
    let mean = along(1.0);
    let data = Data::new(
        12,
        &[("source", &[20, 30], &mean), ("target", &[8, 12], &mean)],
        4,
    );
    let tasks = data.tasks();
    let fixed = Settings {
        coupling: Some((3.0, vec![0.5, 2.0])),
        ..settings(Labels::Classical)
    };
    for evidence in [Evidence::Auto, Evidence::Isotropic, Evidence::LeaveOneOut] {
        let study = Study::new(
            &tasks,
            &Settings {
                evidence,
                ..fixed.clone()
            },
        )
        .unwrap();
        let model = study.model().unwrap();
        let scores = model.scores(data.rows()).unwrap();
        let coupling = Coupling::new(3.0, vec![0.5, 2.0]).unwrap();
        let system = System::new(Statistics::of(&tasks), Scaling::Auto, &coupling).unwrap();
        let responses = system.responses(1, data.rows()).unwrap();
        let labels = faer::mat![[1.0], [-1.0], [1.0], [-1.0]];
        assert!((scores - responses * labels).norm_max() < ROUNDING);
        assert_eq!(
            study.rule().label_scores.clone().unwrap().concat(),
            [1.0, -1.0, 1.0, -1.0]
        );
        assert_eq!(model.threshold(), study.rule().threshold);
    }
}

#[test]
fn label_scores_and_threshold_of_a_fixed_coupling_are_the_whole_decision() {
    let mean = along(1.2);
    let data = Data::new(
        15,
        &[("source", &[30, 30], &mean), ("target", &[10, 14], &mean)],
        5,
    );
    let tasks = data.tasks();
    for labels in [Labels::Auto, Labels::Optimal, Labels::Classical] {
        let fixed = Settings {
            coupling: Some((2.0, vec![1.0])),
            views: Views(vec![View::Raw]),
            ..settings(labels)
        };
        let study = Study::new(&tasks, &fixed).unwrap();
        let rule = study.rule();
        let scores = rule.label_scores.clone().unwrap().concat();
        let system = System::new(
            Statistics::of(&tasks),
            Scaling::Auto,
            &Coupling::uniform(2.0, 1.0, 2).unwrap(),
        )
        .unwrap();
        let responses = system.responses(1, data.rows()).unwrap();
        let model = study.model().unwrap();
        assert_eq!(model.threshold(), rule.threshold);
        let (decided, own) = (
            model.predict(data.rows()).unwrap(),
            model.scores(data.rows()).unwrap(),
        );
        for (l, &class) in decided.iter().enumerate() {
            let score: f64 = (0..4).map(|cell| responses[(l, cell)] * scores[cell]).sum();
            assert!((score - own[(l, 0)]).abs() < ROUNDING, "{labels:?} row {l}");
            assert_eq!(
                usize::from(score <= rule.threshold.unwrap()),
                class,
                "{labels:?} row {l}"
            );
        }
    }
}

#[test]
fn weights_sum_to_one_and_candidates_are_in_order() {
    let mean = along(1.0);
    let data = Data::new(
        10,
        &[("source", &[30, 30], &mean), ("target", &[12, 12], &mean)],
        6,
    );
    let tasks = data.tasks();
    let study = study(&tasks, Labels::Auto);
    let rule = study.rule();
    let total: f64 = rule.weights.iter().map(|(_, w)| w).sum();
    assert!((total - 1.0).abs() < 1e-12);
    assert!(
        rule.candidates
            .windows(2)
            .all(|pair| pair[0].weight >= pair[1].weight)
    );
    // In each of four views 5 alone, and 20 couplings with classical or pooled, scaled, optimal and three ridges
    // of free labels.
    assert_eq!(rule.tried, 4 * (5 + 20 * 6));
    let views: f64 = rule.views.iter().map(|(_, weight)| weight).sum();
    assert!(rule.views.len() == 4 && (views - 1.0).abs() < 1e-12);
    assert!(rule.coupling.is_none() && rule.label_scores.is_none());
}

#[test]
fn opposed_unrelated_and_foreign_sources_do_not_hurt() {
    let own = along(1.3);
    let opposed = |class: usize, feature: usize| along(-1.3)(class, feature);
    let unrelated = |class: usize, feature: usize| if feature == class + 7 { 1.3 } else { 0.0 };
    for (name, other) in [
        ("opposed", &opposed as &dyn Fn(usize, usize) -> f64),
        ("unrelated", &unrelated),
    ] {
        let mut loss = Vec::new();
        let mut classical = Vec::new();
        for seed in 0..12 {
            let data = Data::new(
                30,
                &[("source", &[100, 100], other), ("target", &[15, 15], &own)],
                seed,
            );
            let test = Data::new(30, &[("target", &[1000, 1000], &own)], 1000 + seed);
            let tasks = data.tasks();
            let measured = |labels| error_of(&study(&tasks, labels).model().unwrap(), &test);
            let alone = measured(Labels::Alone);
            loss.push(measured(Labels::Auto) - alone);
            classical.push(measured(Labels::Classical) - alone);
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let deviation =
            (loss.iter().map(|x| (x - mean(&loss)).powi(2)).sum::<f64>() / 11.0 / 12.0).sqrt();
        println!(
            "{name}: foretask - alone {:.4} (s.e. {deviation:.4}), classical - alone {:.4}",
            mean(&loss),
            mean(&classical)
        );
        assert!(
            mean(&loss) < 2.0 * deviation + 0.002,
            "{name}: {:.4} ± {deviation:.4}",
            mean(&loss)
        );
    }
}

#[test]
fn permuted_source_classes_are_used_by_free_labels() {
    // The source knows the classes well, under other names.
    let (own, rotated) = (along(2.0), permuted(2.0, 3));
    let mut gain = 0.0;
    for seed in 0..6 {
        let data = Data::new(
            40,
            &[
                ("source", &[150, 150, 150], &rotated),
                ("target", &[8, 8, 8], &own),
            ],
            seed,
        );
        let test = Data::new(40, &[("target", &[500, 500, 500], &own)], 900 + seed);
        let tasks = data.tasks();
        gain += error_of(&study(&tasks, Labels::Alone).model().unwrap(), &test)
            - error_of(&study(&tasks, Labels::Auto).model().unwrap(), &test);
    }
    assert!(
        gain / 6.0 > 0.01,
        "gain over the target alone {:.4}",
        gain / 6.0
    );
}

#[test]
fn related_sources_help_and_the_study_says_so() {
    let mean = along(1.0);
    let data = Data::new(
        60,
        &[("source", &[200, 200], &mean), ("target", &[6, 6], &mean)],
        8,
    );
    let test = Data::new(60, &[("target", &[2000, 2000], &mean)], 9);
    let tasks = data.tasks();
    let foretask = study(&tasks, Labels::Auto);
    assert!(
        error_of(&foretask.model().unwrap(), &test)
            < error_of(&study(&tasks, Labels::Alone).model().unwrap(), &test) - 0.03
    );
    let related = foretask.relatedness()[0].1.unwrap();
    assert!(related > 0.5, "{related}");
    let value = &foretask.source_values(&|_| {}).unwrap()[0];
    assert_eq!(value.task.as_deref(), Some("source"));
    assert!(value.error_without > foretask.forecast().error);
}

#[test]
fn models_survive_their_file_and_bad_files_are_refused() {
    for classes in [2, 3] {
        let mean = along(1.5);
        let counts = vec![12; classes];
        let data = Data::new(
            9,
            &[("source", &counts, &mean), ("target", &counts, &mean)],
            11,
        );
        let tasks = data.tasks();
        let model = study(&tasks, Labels::Auto)
            .model()
            .unwrap()
            .with_feature_names((0..9).map(|i| format!("f{i}")).collect())
            .unwrap();
        let bytes = model.to_bytes().unwrap();
        assert_eq!(bytes, model.to_bytes().unwrap());
        assert_eq!(Model::from_bytes(&bytes).unwrap(), model);
        for length in (0..bytes.len()).step_by(37) {
            assert!(Model::from_bytes(&bytes[..length]).is_err());
        }
        assert!(
            Model::from_bytes(&Statistics::of(&tasks).to_bytes().unwrap())
                .unwrap_err()
                .to_string()
                .contains("statistics")
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        model.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), model);
        assert!(
            model
                .save(&folder.path().join("missing/model.safetensors"))
                .is_err()
        );
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no temporary file is left"
        );
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let mean = along(0.7);
    let data = Data::new(
        300,
        &[
            ("source", &[300, 300], &mean),
            ("target", &[150, 120], &mean),
        ],
        12,
    );
    let bytes = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(|| {
                let tasks = data.tasks();
                study(&tasks, Labels::Auto)
                    .model()
                    .unwrap()
                    .to_bytes()
                    .unwrap()
            })
    };
    let one = bytes(1);
    assert_eq!(one, bytes(2));
    assert_eq!(one, bytes(3));
}

#[test]
fn tiny_and_degenerate_targets_work() {
    let mean = along(3.0);
    for counts in [[1, 1], [2, 1], [3, 2]] {
        let data = Data::new(
            4,
            &[("source", &[10, 10], &mean), ("target", &counts, &mean)],
            13,
        );
        let tasks = data.tasks();
        for labels in [
            Labels::Auto,
            Labels::Optimal,
            Labels::Classical,
            Labels::Alone,
            Labels::Pooled,
        ] {
            let study = study(&tasks, labels);
            assert!((0.0..=1.0).contains(&study.forecast().error));
            assert!(
                study
                    .forecast()
                    .notes
                    .iter()
                    .any(|note| matches!(note, Note::FewSamples { .. }))
            );
            assert!(
                study
                    .model()
                    .unwrap()
                    .scores(data.rows())
                    .unwrap()
                    .is_all_finite()
            );
            study.learning_curve(&[1, 10], &|_| {}).unwrap();
        }
    }
    // All features constant: nothing can be learnt, and that is what the forecast says.
    let flat = Data {
        values: vec![1.0; 80],
        ..Data::new(
            4,
            &[("source", &[5, 5], &mean), ("target", &[5, 5], &mean)],
            14,
        )
    };
    let tasks = flat.tasks();
    for labels in [
        Labels::Auto,
        Labels::Optimal,
        Labels::Classical,
        Labels::Alone,
        Labels::Pooled,
    ] {
        let study = study(&tasks, labels);
        assert!(
            study.forecast().error > 0.3,
            "{labels:?} {:?}",
            study.forecast()
        );
        study.model().unwrap();
    }
}

#[test]
fn one_task_is_an_ordinary_classifier() {
    let mean = along(2.0);
    let data = Data::new(6, &[("only", &[20, 20, 20], &mean)], 15);
    let test = Data::new(6, &[("only", &[500, 500, 500], &mean)], 16);
    let tasks = data.tasks();
    for labels in [Labels::Auto, Labels::Classical, Labels::Alone] {
        let study = Study::new(
            &tasks,
            &Settings {
                labels,
                ..Settings::default()
            },
        )
        .unwrap();
        assert!(error_of(&study.model().unwrap(), &test) < 0.2);
        assert!(study.source_values(&|_| {}).unwrap().is_empty());
    }
}
