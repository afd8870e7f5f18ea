//! A target in folds: its fits against training without each fold, and what comes of them against leave-one-out.

use faer::Mat;
use foretask::{
    Error, Evidence, FalseAlarm, Labels, Provenance, Scaling, Settings, Statistics, Stop, Study,
    Tail, Tasks, View, Views,
};
use proptest::prelude::*;

use super::common::drawn::{Data, along, error_of, permuted, settings};
use super::common::generate::cases;
use crate::data::Portion;
use crate::solve::{FoldedTarget, Grid, Reduced, System};

/// Refits solve other systems with the same condition.
const EXACT: f64 = 1e-10;
const FOLDS: usize = 4;

fn apart(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (a - b).norm_max() / b.norm_max().max(1.0)
}

fn data(features: usize, classes: usize, few: usize, many: usize, seed: u64) -> Data {
    let (mean, other) = (along(1.0), permuted(1.0, classes));
    let target: Vec<usize> = (0..classes).map(|class| few + 3 * class).collect();
    Data::new(
        features,
        &[
            ("a source", &vec![many; classes], &mean),
            ("b source", &vec![many / 2 + 2; classes], &other),
            ("target", &target, &mean),
        ],
        seed,
    )
}

/// Each folds' fits by the grid.
fn grid() -> Grid {
    Grid {
        alone: vec![0.1, 10.0],
        symmetric: vec![0.0, 0.1],
        asymmetric: vec![1.0],
        shared: vec![0.1, 10.0],
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// Weights without a fold are those of a training without its rows; the sums that its summary rows give are
    /// those of its responses.
    #[test]
    fn fits_without_a_fold_are_refits(
        features in 1_usize..8,
        classes in 2_usize..4,
        few in 12_usize..30,
        many in 3_usize..30,
        seed: u64,
    ) {
        let data = data(features, classes, few, many, seed);
        let tasks = data.tasks();
        let statistics = Statistics::of(&tasks);
        let (target, cells) = (2, statistics.cells());
        let members = statistics.deal(target, FOLDS).unwrap();
        let portions: Vec<Portion> = statistics.portions(target, &members).unwrap();
        let mean = statistics.task_mean(target);
        let folds = FoldedTarget::new(&portions, mean.clone(), 1.0);
        let reduced = Reduced::new(statistics.clone(), Scaling::None).unwrap();
        let mut fits = Vec::new();
        reduced
            .fold_grid(&grid(), (target, None), &folds, &Stop::default(), &mut |own, _| {
                fits.extend(own);
                Ok(())
            })
            .unwrap();
        prop_assert_eq!(fits.len(), 2 + 4 + 2);
        let class = crate::data::classes_in_order(&cells.tasks()[target]);
        let rows = statistics.rows_of(target).unwrap();
        for fitted in &fits {
            let coupling = fitted.point.coupling(3, target).unwrap();
            let whole = System::new(statistics.clone(), Scaling::None, &coupling).unwrap();
            let own = reduced.to_features(&fitted.weights.values);
            prop_assert!(apart(&own, &whole.weights(target)) < EXACT);
            let size = classes + cells.len();
            for (fold, members) in members.iter().enumerate() {
                let others: Vec<usize> = (0..class.len()).filter(|l| !members.contains(l)).collect();
                let rest = statistics.with_samples(target, &others).unwrap();
                if rest.cells().len() < cells.len() {
                    continue;
                }
                let system = System::new(rest, Scaling::None, &coupling).unwrap();
                let weights = system.weights(target);
                let own = reduced.to_features(&fitted.without[fold]);
                prop_assert!(apart(&own, &weights) < EXACT);
                // Σ φ φᵀ and Σ φ yᵀ over the fold.
                let held_out = rows.select(members.iter().copied());
                let mut z = Mat::zeros(features, members.len());
                held_out.pack(0..members.len(), 0..features, &mean, 1.0, z.as_mut());
                let responses = z.transpose() * &weights;
                let label = |l: usize, c: usize| {
                    f64::from(u8::from(class[members[l]] == c))
                        - cells.share(cells.of_task(target).start + c)
                };
                let labels = Mat::from_fn(members.len(), classes, label);
                let summary = fitted.responses.subrows(fold * size, size).to_owned();
                let summary_labels = Mat::from_fn(size, classes, |row, c| {
                    if row >= classes {
                        return 0.0;
                    }
                    let share = cells.share(cells.of_task(target).start + c);
                    let label = f64::from(u8::from(row == c)) - share;
                    (portions[fold].counts[row] as f64).sqrt() * label
                });
                let squares = responses.transpose() * &responses;
                prop_assert!(apart(&(summary.transpose() * &summary), &squares) < EXACT);
                let products = responses.transpose() * &labels;
                prop_assert!(apart(&(summary.transpose() * &summary_labels), &products) < EXACT);
            }
        }
    }
}

fn by(evidence: Evidence) -> Settings {
    Settings {
        evidence,
        rehearse: false,
        ..settings(Labels::Auto)
    }
}

fn decisions(tasks: &Tasks<'_>, settings: &Settings, test: &Data) -> (f64, f64, Vec<usize>) {
    let study = Study::new(tasks, settings).unwrap();
    let model = study.model().unwrap();
    let decided = model.predict(test.rows()).unwrap();
    (study.forecast().error, error_of(&model, test), decided)
}

/// The two roads meet: nearly the same decisions, forecasts and errors. In linear views: where a plane is all there
/// is, noise decides how much a kernel weighs.
#[test]
fn folds_decide_as_leave_one_out() {
    let linear = |evidence| Settings {
        views: Views::linear(),
        ..by(evidence)
    };
    for (classes, few, seed) in [(2, 700, 1), (3, 1000, 2)] {
        let data = data(12, classes, few, 500, seed);
        let test = Data::new(
            12,
            &[("target", &vec![3000; classes], &along(1.0))],
            seed + 10,
        );
        let tasks = data.tasks();
        let one = decisions(&tasks, &linear(Evidence::LeaveOneOut), &test);
        let folds = decisions(&tasks, &linear(Evidence::LeaveFoldOut), &test);
        let differ = one.2.iter().zip(&folds.2).filter(|(a, b)| a != b).count();
        let differ = differ as f64 / one.2.len() as f64;
        println!(
            "{classes} classes: foretold {:.4} {:.4}, measured {:.4} {:.4}, {:.2} % differ",
            one.0,
            folds.0,
            one.1,
            folds.1,
            100.0 * differ
        );
        assert!(differ < 0.01, "{differ}");
        assert!((one.0 - folds.0).abs() < 0.005);
        assert!((one.1 - folds.1).abs() < 0.002);
        assert!((folds.0 - folds.1).abs() < 0.02);
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let data = data(5, 2, 120, 60, 4);
    let n = data.class.len();
    let order: Vec<usize> = (0..n).map(|l| (l * 7919) % n).collect();
    let shuffled = Data {
        values: order
            .iter()
            .flat_map(|&l| data.values[l * 5..(l + 1) * 5].to_vec())
            .collect(),
        features: 5,
        task: order.iter().map(|&l| data.task[l].clone()).collect(),
        class: order.iter().map(|&l| data.class[l].clone()).collect(),
    };
    let linear = Settings {
        views: Views::linear(),
        ..by(Evidence::LeaveFoldOut)
    };
    let (tasks, other) = (data.tasks(), shuffled.tasks());
    let one = Study::new(&tasks, &linear).unwrap();
    let two = Study::new(&other, &linear).unwrap();
    assert!((one.forecast().error - two.forecast().error).abs() < 1e-9);
    let (one, two) = (one.model().unwrap(), two.model().unwrap());
    assert!(apart(one.weights(), two.weights()) < 1e-9);
}

#[test]
fn many_rows_are_studied_in_folds_and_say_so() {
    let mean = along(1.5);
    let data = Data::new(
        3,
        &[
            ("source", &[300, 300], &mean),
            ("target", &[3000, 1500], &mean),
        ],
        5,
    );
    let tasks = data.tasks();
    let study = Study::new(&tasks, &by(Evidence::Auto)).unwrap();
    assert_eq!(study.forecast().provenance, Provenance::LeaveFoldOut);
    assert_eq!(study.forecast().samples, 4500);
    // Views and sources are judged on the same folds.
    let compared = study.compare(&|_| {}).unwrap();
    assert!(compared.iter().any(|other| other.views == [View::Raw]));
    let values = study.source_values(&|_| {}).unwrap();
    assert_eq!(values.len(), 1);
    assert!(values[0].paired.difference.abs() < 0.01);
    let one = Settings {
        views: Views::linear(),
        ..by(Evidence::LeaveOneOut)
    };
    let few = Study::new(&tasks, &one).unwrap();
    assert_eq!(few.forecast().provenance, Provenance::LeaveOneOut);
    // A false-alarm rate is held.
    let rate = Settings {
        false_alarm: Some(FalseAlarm {
            null: "c0".into(),
            rate: 0.05,
            tail: Tail::Auto,
        }),
        ..by(Evidence::Auto)
    };
    let alarm = Study::new(&tasks, &rate).unwrap();
    let told = alarm.forecast().alarm.clone().unwrap();
    assert!((told.false_alarm - 0.05).abs() < 0.01);
    let test = Data::new(3, &[("target", &[20_000, 1], &mean)], 6);
    let decided = alarm.model().unwrap().predict(test.rows()).unwrap();
    let raised = decided.iter().filter(|&&class| class == 1).count() as f64 / 20_000.0;
    assert!((raised - 0.05).abs() < 0.015, "{raised}");
}

#[test]
fn folds_that_cannot_be_had_are_refused() {
    let data = data(30, 2, 4, 10, 1);
    let tasks = data.tasks();
    let refused = |settings: Settings| {
        let study = Study::new(&tasks, &settings);
        assert!(matches!(
            study,
            Err(Error::Setting {
                setting: "theory",
                ..
            })
        ));
    };
    refused(by(Evidence::LeaveFoldOut));
    refused(Settings {
        labels: Labels::Alone,
        ..by(Evidence::LeaveFoldOut)
    });
}
