//! Many tasks: sources that are alike share columns, and all that is kept is as large as for a hundred of them.

use faer::Mat;
use foretask::{
    Error, Evidence, Labels, RuleName, Scaling, Settings, Statistics, Stop, Study, Tasks, Views,
};

use super::common::drawn::{Data, Mean, along, error_of, permuted, settings};
use crate::data::{Groups, Joined, Place};
use crate::forecast::Note;
use crate::recipe::alike::{self, MOST_APART, MOST_CELLS_APART};
use crate::solve::{Grid, Reduced, System};

/// Sums of columns against columns of sums: rounding only.
const EXACT: f64 = 1e-10;

/// So many sources of a few rows, every third with its classes swapped, and a target.
fn drawn(sources: usize, each: usize, target: usize, seed: u64) -> Data {
    drawn_of(8, sources, each, target, seed)
}

fn drawn_of(features: usize, sources: usize, each: usize, target: usize, seed: u64) -> Data {
    let (same, swapped) = (along(2.0), permuted(2.0, 2));
    let names: Vec<String> = (0..sources).map(|i| format!("source {i:05}")).collect();
    let (each, target) = ([each; 2], [target; 2]);
    let mut tasks: Vec<(&str, &[usize], &Mean)> = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let mean: &Mean = if number % 3 == 2 { &swapped } else { &same };
        tasks.push((name, &each, mean));
    }
    tasks.push(("target", &target, &same));
    Data::new(features, &tasks, seed)
}

fn grid() -> Grid {
    Grid {
        alone: vec![0.1],
        symmetric: vec![0.0, 0.1],
        asymmetric: vec![1.0],
        shared: vec![0.1, 10.0],
    }
}

fn close(a: &Mat<f64>, b: &Mat<f64>) {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    let size = b.norm_max().max(1.0);
    assert!((a - b).norm_max() < EXACT * size, "{}", (a - b).norm_max());
}

/// Fits with shared columns are fits of all columns, summed.
#[test]
fn shared_columns_are_sums_of_columns() {
    check_shared_columns(&drawn(6, 5, 7, 1));
}

/// The same where training goes by rows.
#[test]
fn shared_columns_are_sums_where_features_outnumber_rows() {
    check_shared_columns(&drawn_of(120, 6, 5, 7, 1));
}

fn check_shared_columns(data: &Data) {
    let tasks = data.tasks();
    let statistics = Statistics::of(&tasks);
    let cells = statistics.cells();
    let target = cells.find_task("target").unwrap();
    let aligned = cells.aligned(target);
    let place = |cell: usize| Place::Class(cells.task_of(cell) % 3, aligned[cell].unwrap());
    let joined = Joined::new(cells, target, &place);
    assert_eq!(joined.cells.len(), 2 + 3 * 2);
    let reduced = Reduced::new(statistics.clone(), Scaling::None).unwrap();
    let mut all = Vec::new();
    for joined in [None, Some(&joined)] {
        let mut own = Vec::new();
        let each = &mut |mut fitted: Vec<Vec<_>>, _| {
            own.append(&mut fitted[0]);
            Ok(())
        };
        let stop = Stop::default();
        let targets = [(target, joined)];
        reduced.grid(&grid(), &targets, &stop, each).unwrap();
        all.push(own);
    }
    let (held_out, others): (Vec<usize>, Vec<usize>) = (0..14).partition(|l| l % 5 == 0);
    assert_eq!(all[0].len(), all[1].len());
    for (plain, shared) in all[0].iter().zip(&all[1]) {
        assert_eq!(plain.point, shared.point);
        close(&shared.responses, &joined.sums(&plain.responses));
        close(&shared.weights.values, &joined.sums(&plain.weights.values));
        assert!((plain.effective / shared.effective - 1.0).abs() < EXACT);
        let left = |fitted: &crate::solve::Fitted| {
            let hat = fitted.hat.as_ref().unwrap();
            hat.without(&held_out, &others, &Groups::default())
        };
        let (plain_left, shared_left) = (left(plain), left(shared));
        close(&shared_left.held_out, &joined.sums(&plain_left.held_out));
        close(&shared_left.others, &joined.sums(&plain_left.others));
        // At a given coupling all columns come first.
        let after = plain.clone().joined(&joined);
        close(&shared.responses, &after.responses);
        let after = left(&after);
        close(&shared_left.held_out, &after.held_out);
        close(&shared_left.others, &after.others);
    }
}

/// Sources have label scores of their own up to the limit, and share them beyond.
#[test]
fn sources_are_joined_beyond_the_limit_only() {
    for (sources, groups) in [(MOST_APART, None), (MOST_APART + 1, Some(MOST_APART))] {
        let data = drawn(sources, 2, 3, 2);
        let tasks = data.tasks();
        let statistics = Statistics::of(&tasks);
        let target = statistics.cells().find_task("target").unwrap();
        let joined = alike::joined(&statistics, target);
        assert_eq!(joined.map(|joined| joined.groups), groups);
    }
    // Few tasks with many classes.
    let counts = vec![2; MOST_CELLS_APART / 2 + 1];
    let mean = along(1.0);
    let tasks: [(&str, &[usize], &Mean); 3] = [
        ("one", &counts, &mean),
        ("two", &counts, &mean),
        ("target", &[2, 2], &mean),
    ];
    let data = Data::new(3, &tasks, 3);
    let tasks = data.tasks();
    let statistics = Statistics::of(&tasks);
    let target = statistics.cells().find_task("target").unwrap();
    let joined = alike::joined(&statistics, target).unwrap();
    // Classes that the target does not have are joined among themselves.
    assert!(joined.cells.len() <= 2 + 2 * 2 && joined.cells.len() > 2);
}

/// Two thousand sources are no more columns than a hundred, opposed ones are told from others, and all goes well with
/// weights, groups, and classes that the target does not have.
#[test]
fn two_thousand_tasks_are_bounded_work() {
    let data = drawn(2000, 2, 10, 4);
    let tasks = data.tasks();
    let statistics = Statistics::of(&tasks);
    let target = statistics.cells().find_task("target").unwrap();
    let joined = alike::joined(&statistics, target).unwrap();
    assert!(joined.cells.len() <= 2 * (MOST_APART + 1));
    let settings = Settings {
        views: Views::linear(),
        ..settings(Labels::Auto)
    };
    let study = Study::new(&tasks, &settings).unwrap();
    let noted = |note: &Note| matches!(note, Note::SourcesJoined { sources: 2000, groups } if *groups <= MOST_APART);
    assert!(study.forecast().notes.iter().any(noted));
    let mean = along(2.0);
    let test = Data::new(8, &[("target", &[400, 400], &mean)], 5);
    let error = error_of(&study.model().unwrap(), &test);
    // Twice the distance to the middle: 7.9 % with all means known.
    assert!(error < 0.12, "{error}");
    let [low, high] = study.forecast().interval;
    assert!(low < error && error < high, "{low} {error} {high}");
    // The sign of a source is seen in its likeness, which has no C x C products behind it.
    let alike: Vec<f64> = study.relatedness().iter().filter_map(|(_, x)| *x).collect();
    let mean = |kind: usize| {
        let own = (0..alike.len()).filter(|i| i % 3 == kind);
        own.map(|i| alike[i]).sum::<f64>() / alike.len() as f64 * 3.0
    };
    assert!(alike.len() > 1000 && mean(0) > 0.2);
    assert_eq!(study.compare(&|_| {}).unwrap().len(), 1 + 1 + 2);
}

#[test]
fn other_classes_weights_and_groups_are_joined_too() {
    let mut data = drawn(130, 3, 6, 6);
    for (task, class) in data.task.iter().zip(&mut data.class) {
        let number: Option<usize> = task.strip_prefix("source ").and_then(|n| n.parse().ok());
        match number {
            // As many classes as the target: matched in order.
            Some(number) if number % 4 == 1 => class.push_str(" renamed"),
            // One of them only.
            Some(number) if number % 4 == 2 => *class = class.replace("c1", "another"),
            _ => {}
        }
    }
    let settings = Settings {
        views: Views::linear(),
        ..settings(Labels::Auto)
    };
    let finite = |study: &Study<'_>| {
        let error = study.forecast().error;
        assert!((0.0..0.5).contains(&error), "{error}");
        let joined = |note: &Note| matches!(note, Note::SourcesJoined { sources: 130, .. });
        assert!(study.forecast().notes.iter().any(joined));
        let model = study.model().unwrap();
        assert!(model.weights().norm_max().is_finite());
    };
    let tasks = data.tasks();
    finite(&Study::new(&tasks, &settings).unwrap());
    let weights: Vec<f64> = (0..data.task.len())
        .map(|row| 1.0 + (row % 3) as f64)
        .collect();
    let weighted = Tasks::weighted(data.rows(), &data.task, &data.class, &weights).unwrap();
    finite(&Study::new(&weighted, &settings).unwrap());
    let groups: Vec<String> = (0..data.task.len())
        .map(|row| format!("{}", row / 2))
        .collect();
    let grouped = data.tasks().with_groups(&groups).unwrap();
    finite(&Study::new(&grouped, &settings).unwrap());
}

/// At a given coupling the label scores of all cells give the model's very weights.
#[test]
fn label_scores_are_those_of_all_cells() {
    let data = drawn(120, 3, 6, 7);
    let tasks = data.tasks();
    let settings = Settings {
        views: "raw".parse().unwrap(),
        coupling: Some((1.0, vec![1.0])),
        ..settings(Labels::Auto)
    };
    let study = Study::new(&tasks, &settings).unwrap();
    let labels = study.rule().label_scores.clone().unwrap();
    assert_eq!(labels.len(), study.cells().len());
    let coupling = study.rule().coupling.clone().unwrap();
    let system = System::new(Statistics::of(&tasks), Scaling::Auto, &coupling).unwrap();
    let labels = Mat::from_fn(labels.len(), 1, |cell, _| labels[cell][0]);
    let weights = system.weights(study.target()) * labels;
    let model = study.model().unwrap();
    // Up to the unit of the features.
    let unit = model.weights()[(0, 0)] / weights[(0, 0)];
    close(model.weights(), &(&weights * faer::Scale(unit)));
}

/// What weighs every cell against every other says how many it takes.
#[test]
fn rules_by_name_say_what_they_take() {
    let data = drawn(1000, 2, 3, 8);
    let tasks = data.tasks();
    let by_name = [
        Settings {
            rule: RuleName::Bayes,
            ..settings(Labels::Auto)
        },
        settings(Labels::Classical),
        Settings {
            evidence: Evidence::Common,
            ..settings(Labels::Auto)
        },
    ];
    for (settings, name) in by_name.iter().zip(["rule", "labels", "theory"]) {
        match Study::new(&tasks, settings).map(drop) {
            Err(Error::Setting { setting, value, .. }) => {
                assert_eq!(setting, name);
                assert!(value.contains("2002 classes"), "{value}");
            }
            other => panic!("{other:?}"),
        }
    }
}
