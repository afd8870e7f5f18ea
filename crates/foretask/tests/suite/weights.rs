//! Samples that have weights: the objective, leave-one-out and folds against their definition, and what follows.

use faer::Mat;
use foretask::{
    Coupling, Error, Evidence, FalseAlarm, Labels, Rehearsal, RuleName, Scaling, Settings,
    Statistics, Stop, Study, System, Tail, Tasks, Unrehearsed,
};
use proptest::prelude::*;

use super::common::drawn::{Data, Mean, along, error_of, settings};
use super::common::generate::{cases, normals};
use super::common::oracle;
use crate::data::Groups;
use crate::solve::{Grid, Reduced};

/// Refits solve other systems with the same condition.
const EXACT: f64 = 1e-10;
const TARGET: usize = 2;

fn data(features: usize, classes: usize, few: usize, many: usize, seed: u64) -> Data {
    let mean = along(1.0);
    Data::new(
        features,
        &[
            ("a source", &vec![many; classes], &mean),
            ("b source", &vec![many / 2 + 2; classes], &mean),
            ("target", &vec![few; classes], &mean),
        ],
        seed,
    )
}

/// Log-normal weights.
fn weights(data: &Data, seed: u64) -> Vec<f64> {
    let drawn = normals(seed, data.class.len(), 1);
    drawn[0].iter().map(|x| (0.8 * x).exp()).collect()
}

fn weighted<'a>(data: &'a Data, weights: &[f64]) -> Tasks<'a> {
    Tasks::weighted(data.rows(), &data.task, &data.class, weights).unwrap()
}

/// Rows of each task in the order of the library, with weights of mean one in each task.
struct Sorted {
    rows: Vec<Vec<Vec<f64>>>,
    cell: Vec<Vec<usize>>,
    weights: Vec<Vec<f64>>,
    cells: usize,
}

impl Sorted {
    fn new(data: &Data, weights: &[f64]) -> Self {
        let mut names: Vec<(&String, &String)> = data.task.iter().zip(&data.class).collect();
        names.sort();
        names.dedup();
        let mut tasks: Vec<&String> = data.task.iter().collect();
        tasks.dedup();
        tasks.sort();
        let mut sorted = Self {
            rows: Vec::new(),
            cell: Vec::new(),
            weights: Vec::new(),
            cells: names.len(),
        };
        for task in tasks {
            let mut own: Vec<usize> = (0..data.task.len())
                .filter(|&row| data.task[row] == *task)
                .collect();
            own.sort_by_key(|&row| &data.class[row]);
            let mean = own.iter().map(|&row| weights[row]).sum::<f64>() / own.len() as f64;
            let p = data.features;
            let values = |row: usize| data.values[row * p..(row + 1) * p].to_vec();
            let cell = |row: usize| {
                let name = (&data.task[row], &data.class[row]);
                names.iter().position(|other| *other == name).unwrap()
            };
            sorted.rows.push(own.iter().map(|&l| values(l)).collect());
            sorted.cell.push(own.iter().map(|&l| cell(l)).collect());
            sorted
                .weights
                .push(own.iter().map(|&l| weights[l] / mean).collect());
        }
        sorted
    }

    /// Minimises ½ Σ w (y - x·w_i - b_i)² + kp/2 [|w_0|²/λ + Σ |w_i - w_0|²/γ_i] over all of w_0, w_i and b_i at once,
    /// for the unit labels of all cells: the responses of a task at some rows.
    fn responses(&self, coupling: &Coupling, task: usize, at: &[usize]) -> Mat<f64> {
        let (k, p) = (self.rows.len(), self.rows[0][0].len());
        let kp = (k * p) as f64;
        let size = p + k * (p + 1);
        let mut normal = Mat::<f64>::zeros(size, size);
        let mut right = Mat::<f64>::zeros(size, self.cells);
        for f in 0..p {
            normal[(f, f)] += kp / coupling.lambda();
        }
        for i in 0..k {
            let own = p + i * (p + 1);
            let pull = kp / coupling.gamma()[i];
            for f in 0..p {
                normal[(f, f)] += pull;
                normal[(own + f, own + f)] += pull;
                normal[(f, own + f)] -= pull;
                normal[(own + f, f)] -= pull;
            }
            for (l, row) in self.rows[i].iter().enumerate() {
                let weight = self.weights[i][l];
                let mut point = row.clone();
                point.push(1.0);
                for (a, x) in point.iter().enumerate() {
                    for (b, y) in point.iter().enumerate() {
                        normal[(own + a, own + b)] += weight * x * y;
                    }
                    right[(own + a, self.cell[i][l])] += weight * x;
                }
            }
        }
        let solved = oracle::solve(normal, right);
        let own = p + task * (p + 1);
        Mat::from_fn(at.len(), self.cells, |l, cell| {
            let row = &self.rows[task][at[l]];
            let sum: f64 = (0..p).map(|f| row[f] * solved[(own + f, cell)]).sum();
            sum + solved[(own + p, cell)]
        })
    }

    /// Without some rows of a task; the others count as they did.
    fn without(&self, task: usize, gone: &[usize]) -> Self {
        let mut weights = self.weights.clone();
        gone.iter().for_each(|&l| weights[task][l] = 0.0);
        Self {
            rows: self.rows.clone(),
            cell: self.cell.clone(),
            weights,
            cells: self.cells,
        }
    }
}

fn largest(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    (a - b).norm_max() / b.norm_max().max(1.0)
}

/// One source has one reduction, whichever side of the target its rows are on; without any there is nothing to
/// eliminate. Seventy rows of the source are more than two blocks of the reduction.
#[test]
fn few_tasks_with_more_features_than_rows_are_those_of_the_system() {
    let mean = along(1.0);
    let tasks: [(&str, &[usize], &Mean); 2] =
        [("first", &[9, 6, 5], &mean), ("second", &[31, 39], &mean)];
    for (count, target) in [(2, 0), (2, 1), (1, 0)] {
        let data = Data::new(130, &tasks[..count], 7);
        let tasks = weighted(&data, &weights(&data, 7));
        let statistics = Statistics::of(&tasks);
        let cells = statistics.cells().clone();
        let reduced = Reduced::new(statistics.clone(), Scaling::None).unwrap();
        let shared = if count == 1 {
            vec![]
        } else {
            vec![0.01, 1.0, 100.0]
        };
        let grid = Grid {
            alone: vec![0.1, 10.0],
            symmetric: vec![0.0, 0.1, 10.0],
            asymmetric: vec![1.0],
            shared,
        };
        let mut checked = 0;
        reduced
            .grid(
                &grid,
                &[(target, None)],
                &Stop::default(),
                &mut |fitted, _| {
                    for fitted in &fitted[0] {
                        let coupling = fitted.point.coupling(count, target).unwrap();
                        let system =
                            System::new(statistics.clone(), Scaling::None, &coupling).unwrap();
                        let direct = system.leave_one_out(&tasks, target).stratified(&cells);
                        assert!(largest(&fitted.responses, &direct.responses) < EXACT);
                        let features = reduced.to_features(&fitted.weights.values);
                        assert!(largest(&features, &system.weights(target)) < EXACT);
                        checked += 1;
                    }
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!(checked, if count == 1 { 2 } else { 2 + 4 * 3 });
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// In the dual form, the arrowhead and their mixtures: p from well below n to well above.
    #[test]
    fn training_and_leave_one_out_are_those_of_the_definition(
        features in 2_usize..45,
        classes in 2_usize..4,
        few in 2_usize..7,
        many in 3_usize..16,
        seed: u64,
        gamma in proptest::array::uniform3(0.1_f64..5.0),
        lambda in 0.1_f64..5.0,
    ) {
        let data = data(features, classes, few, many, seed);
        let weights = weights(&data, seed);
        let tasks = weighted(&data, &weights);
        let sorted = Sorted::new(&data, &weights);
        let coupling = Coupling::new(lambda, gamma.to_vec()).unwrap();
        let system = System::new(Statistics::of(&tasks), Scaling::None, &coupling).unwrap();
        for task in 0..3 {
            let n = sorted.rows[task].len();
            let everyone: Vec<usize> = (0..n).collect();
            let values: Vec<f64> = sorted.rows[task].concat();
            let rows = foretask::Rows::row_major(&values, features).unwrap();
            let made = system.responses(task, rows).unwrap();
            prop_assert!(largest(&made, &sorted.responses(&coupling, task, &everyone)) < EXACT);
            let left_out = system.leave_one_out(&tasks, task).responses;
            let mut refitted = Mat::zeros(n, sorted.cells);
            for l in 0..n {
                let one = sorted.without(task, &[l]).responses(&coupling, task, &[l]);
                refitted.row_mut(l).copy_from(one.row(0));
            }
            prop_assert!(largest(&left_out, &refitted) < EXACT);
        }
    }

    /// The grid gives at every coupling what the system gives, and folds left out are refits without them.
    #[test]
    fn the_grid_and_its_folds_are_those_of_the_definition(
        features in 2_usize..45,
        classes in 2_usize..4,
        few in 3_usize..7,
        many in 3_usize..16,
        seed: u64,
    ) {
        let data = data(features, classes, few, many, seed);
        let weights = weights(&data, seed);
        let tasks = weighted(&data, &weights);
        let sorted = Sorted::new(&data, &weights);
        let statistics = Statistics::of(&tasks);
        let cells = statistics.cells().clone();
        let reduced = Reduced::new(statistics.clone(), Scaling::None).unwrap();
        let grid = Grid {
            alone: vec![0.1, 10.0],
            symmetric: vec![0.0, 0.1],
            asymmetric: vec![1.0],
            shared: vec![0.1, 10.0],
        };
        let n = sorted.rows[TARGET].len();
        let fold = [0, few - 1, few, n - 1];
        let others: Vec<usize> = (0..n).filter(|l| !fold.contains(l)).collect();
        let mut checked = 0;
        reduced
            .grid(&grid, &[(TARGET, None)], &Stop::default(), &mut |fitted, _| {
                for fitted in &fitted[0] {
                    let coupling = fitted.point.coupling(3, TARGET).unwrap();
                    let system = System::new(statistics.clone(), Scaling::None, &coupling).unwrap();
                    let direct = system.leave_one_out(&tasks, TARGET).stratified(&cells);
                    assert!(largest(&fitted.responses, &direct.responses) < EXACT);
                    let features = reduced.to_features(&fitted.weights.values);
                    assert!(largest(&features, &system.weights(TARGET)) < EXACT);
                    if coupling.lambda() == 0.0 || coupling.gamma().contains(&0.0) {
                        continue;
                    }
                    let hat = fitted.hat.as_ref().unwrap();
                    let left = hat.without(&fold, &others, &Groups::default());
                    let without = sorted.without(TARGET, &fold);
                    let held_out = without.responses(&coupling, TARGET, &fold);
                    assert!(largest(&left.held_out, &held_out) < EXACT);
                    for (row, &l) in others.iter().enumerate() {
                        let both = [&fold[..], &[l]].concat();
                        let refit = sorted.without(TARGET, &both);
                        let refit = refit.responses(&coupling, TARGET, &[l]);
                        let made = Mat::from_fn(1, sorted.cells, |_, c| left.others[(row, c)]);
                        assert!(largest(&made, &refit) < EXACT);
                    }
                    checked += 1;
                }
                Ok(())
            })
            .unwrap();
        prop_assert!(checked > 0);
    }

    /// Weights 1, 3, 1, 3, … have a mean of two: a penalty of half as much for rows that are there as often.
    #[test]
    fn whole_weights_train_as_copies_do(
        features in 2_usize..45,
        few in 1_usize..4,
        many in 1_usize..8,
        seed: u64,
        gamma in proptest::array::uniform3(0.0_f64..5.0),
        lambda in 0.01_f64..5.0,
    ) {
        let mean = along(1.0);
        let data = Data::new(
            features,
            &[
                ("a source", &[2 * many, 2 * few], &mean),
                ("b source", &[2 * few, 2 * few, 2 * many], &mean),
                ("target", &[2 * few, 2 * many], &mean),
            ],
            seed,
        );
        let times: Vec<usize> = (0..data.class.len()).map(|row| 1 + 2 * (row % 2)).collect();
        let weights: Vec<f64> = times.iter().map(|&times| times as f64).collect();
        let tasks = weighted(&data, &weights);
        let copies = Tasks::repeated(data.rows(), &data.task, &data.class, &times).unwrap();
        let half = gamma.map(|gamma| 0.5 * gamma);
        let (whole, half) = (
            Coupling::new(lambda, gamma.to_vec()).unwrap(),
            Coupling::new(0.5 * lambda, half.to_vec()).unwrap(),
        );
        let train = |tasks, coupling| {
            System::new(Statistics::of(tasks), Scaling::None, coupling).unwrap()
        };
        let (made, expected) = (train(&tasks, &whole), train(&copies, &half));
        for task in 0..3 {
            let responses = |system: &System<'_>| system.responses(task, data.rows()).unwrap();
            prop_assert!(largest(&responses(&made), &responses(&expected)) < EXACT);
        }
    }
}

fn skewed(seed: u64) -> Data {
    let mean = along(1.2);
    Data::new(
        6,
        &[
            ("a source", &[40, 25], &mean),
            ("b source", &[20, 30], &mean),
            ("target", &[12, 36], &mean),
        ],
        seed,
    )
}

fn by(labels: Labels) -> Settings {
    Settings {
        rehearse: false,
        ..settings(labels)
    }
}

#[test]
fn equal_weights_change_no_bit() {
    let data = skewed(1);
    let plain = data.tasks();
    let equal = weighted(&data, &vec![0.37; data.class.len()]);
    for labels in [Labels::Auto, Labels::Classical, Labels::Optimal] {
        let with = Study::new(&equal, &by(labels)).unwrap();
        let without = Study::new(&plain, &by(labels)).unwrap();
        assert_eq!(with.forecast(), without.forecast());
        let scores = |study: &Study<'_>| study.model().unwrap().scores(data.rows()).unwrap();
        assert_eq!(scores(&with), scores(&without));
    }
}

#[test]
fn rows_of_weight_zero_are_not_there_and_units_do_not_matter() {
    let data = skewed(2);
    let mut weights = weights(&data, 3);
    weights
        .iter_mut()
        .step_by(5)
        .for_each(|weight| *weight = 0.0);
    let kept: Vec<usize> = (0..weights.len()).filter(|&l| weights[l] > 0.0).collect();
    let p = data.features;
    let some = Data {
        values: kept
            .iter()
            .flat_map(|&l| data.values[l * p..(l + 1) * p].to_vec())
            .collect(),
        features: p,
        task: kept.iter().map(|&l| data.task[l].clone()).collect(),
        class: kept.iter().map(|&l| data.class[l].clone()).collect(),
    };
    let own: Vec<f64> = kept.iter().map(|&l| weights[l]).collect();
    let far: Vec<f64> = own.iter().map(|weight| 7.3 * weight).collect();
    let all = weighted(&data, &weights);
    let (few, scaled) = (weighted(&some, &own), weighted(&some, &far));
    for labels in [Labels::Auto, Labels::Classical] {
        let [all, few, scaled] =
            [&all, &few, &scaled].map(|tasks| Study::new(tasks, &by(labels)).unwrap());
        assert_eq!(all.forecast(), few.forecast());
        assert!((all.forecast().error - scaled.forecast().error).abs() < 1e-9);
        let scores = |study: &Study<'_>| study.model().unwrap().scores(data.rows()).unwrap();
        assert_eq!(scores(&all), scores(&few));
        assert!(largest(&scores(&all), &scores(&scaled)) < 1e-9);
    }
}

/// Classes of equal weight: the priors are equal, and the forecast is of the balanced error.
#[test]
fn balanced_weights_foretell_the_balanced_error() {
    let mean = along(1.2);
    let test = Data::new(6, &[("target", &[4000, 4000], &mean)], 77);
    let (mut foretold, mut measured, mut plain) = (0.0, 0.0, 0.0);
    let runs = 12;
    for seed in 0..runs {
        let data = skewed(100 + seed);
        let count = |row: usize| {
            let same = |other: &usize| {
                data.task[*other] == data.task[row] && data.class[*other] == data.class[row]
            };
            (0..data.class.len()).filter(same).count()
        };
        let weights: Vec<f64> = (0..data.class.len())
            .map(|row| 1.0 / count(row) as f64)
            .collect();
        let tasks = weighted(&data, &weights);
        let study = Study::new(&tasks, &by(Labels::Auto)).unwrap();
        let priors = &study.forecast().priors;
        assert!(priors.iter().all(|prior| (prior - 0.5).abs() < 1e-12));
        foretold += study.forecast().error / runs as f64;
        measured += error_of(&study.model().unwrap(), &test) / runs as f64;
        let tasks = data.tasks();
        let study = Study::new(&tasks, &by(Labels::Auto)).unwrap();
        plain += error_of(&study.model().unwrap(), &test) / runs as f64;
    }
    assert!(measured < plain - 0.005, "{measured} {plain}");
    assert!((foretold - measured).abs() < 0.02, "{foretold} {measured}");
}

/// A third of the labels is wrong, and those hardly count: the model and its forecast are those of the others.
#[test]
fn rows_that_hardly_count_hardly_matter() {
    let mean = along(1.5);
    let of = [60, 60];
    let tasks: [(&str, &[usize], &Mean); 2] = [("a source", &of, &mean), ("target", &of, &mean)];
    let mut data = Data::new(5, &tasks, 5);
    let right: Vec<usize> = (0..data.class.len()).filter(|row| row % 3 > 0).collect();
    let clean = Data {
        values: right
            .iter()
            .flat_map(|&l| data.values[l * 5..(l + 1) * 5].to_vec())
            .collect(),
        features: 5,
        task: right.iter().map(|&l| data.task[l].clone()).collect(),
        class: right.iter().map(|&l| data.class[l].clone()).collect(),
    };
    for row in (0..data.class.len()).step_by(3) {
        data.class[row] = if data.class[row] == "c0" { "c1" } else { "c0" }.into();
    }
    let weight = |row: usize| if row.is_multiple_of(3) { 1e-6 } else { 1.0 };
    let weights: Vec<f64> = (0..data.class.len()).map(weight).collect();
    let tasks = weighted(&data, &weights);
    let [noisy, clean] = [data.tasks(), clean.tasks()];
    let [study, plain, clean] =
        [&tasks, &noisy, &clean].map(|tasks| Study::new(tasks, &by(Labels::Auto)).unwrap());
    let test = Data::new(5, &[("target", &[4000, 4000], &mean)], 6);
    let error = |study: &Study<'_>| error_of(&study.model().unwrap(), &test);
    assert!((error(&study) - error(&clean)).abs() < 0.01);
    assert!(error(&study) < error(&plain));
    let told = |study: &Study<'_>| study.forecast().error;
    assert!((told(&study) - told(&clean)).abs() < 0.03);
    assert!(told(&study) < told(&plain) - 0.1);
    // 80 of 120 samples count, and both classes alike.
    let worth = study.forecast().worth / plain.forecast().worth;
    assert!((worth - 2.0 / 3.0).abs() < 0.01, "{worth}");
}

/// Every way that is not refused gives a forecast and a model, and statements on them.
#[test]
fn labels_rules_and_statements_know_weights() {
    let mean = along(1.8);
    for classes in [2, 3] {
        let counts = vec![14; classes];
        let tasks: [(&str, &[usize], &Mean); 2] =
            [("a source", &counts, &mean), ("target", &counts, &mean)];
        let data = Data::new(6, &tasks, 8);
        let tasks = weighted(&data, &weights(&data, 9));
        let rules = [RuleName::OneHot, RuleName::OneVsAll, RuleName::Bayes];
        let by_rule = |rule| Settings {
            rule,
            ..settings(Labels::Auto)
        };
        let labels = [
            Labels::Alone,
            Labels::Pooled,
            Labels::Classical,
            Labels::Optimal,
        ];
        let ways = labels.into_iter().map(settings).chain(rules.map(by_rule));
        for way in ways {
            let study = Study::new(&tasks, &way).unwrap();
            assert!(study.forecast().error < 0.45 && study.forecast().interval[0] > 0.0);
            let error = error_of(&study.model().unwrap(), &data);
            assert!(error < 0.4, "{error} {:?} {:?}", way.rule, way.labels);
        }
        let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
        assert_eq!(
            study.forecast().rehearsal,
            Rehearsal::Skipped(Unrehearsed::Weighted)
        );
        let compared = study.compare(&|_| {}).unwrap();
        assert!(compared.len() > 5 && compared.iter().all(|one| one.rule != RuleName::OneVsOne));
        assert_eq!(study.source_values(&|_| {}).unwrap().len(), 1);
        let curve = study.learning_curve(&[0, 10], &|_| {}).unwrap();
        assert!(curve[1].error < curve[0].error);
        assert!((curve[0].error - study.forecast().error).abs() < 1e-12);
        let likeness = study.relatedness()[0].1.unwrap();
        assert!(likeness > 0.3, "{likeness}");
    }
}

#[test]
fn what_knows_no_weights_is_refused() {
    let data = skewed(4);
    let weights = weights(&data, 5);
    let tasks = weighted(&data, &weights);
    let refused = |settings: Settings| match Study::new(&tasks, &settings) {
        Err(Error::Setting {
            setting, expected, ..
        }) => {
            assert!(expected.contains("leave out the weights"), "{expected}");
            setting
        }
        other => panic!("{other:?}"),
    };
    let auto = || settings(Labels::Auto);
    let theory = Settings {
        evidence: Evidence::Isotropic,
        ..auto()
    };
    assert_eq!(refused(theory), "theory");
    let alarm = FalseAlarm {
        null: "c0".into(),
        rate: 0.1,
        tail: Tail::default(),
    };
    let alarm = Settings {
        false_alarm: Some(alarm),
        ..auto()
    };
    assert_eq!(refused(alarm), "the false-alarm rate");
    let pairs = Settings {
        rule: RuleName::OneVsOne,
        ..auto()
    };
    assert_eq!(refused(pairs), "rule");
    let study = Study::new(&tasks, &by(Labels::Auto)).unwrap();
    assert!(study.theories(&|_| {}).is_err());

    let groups: Vec<String> = (0..weights.len())
        .map(|row| (row / 2).to_string())
        .collect();
    let message = tasks.clone().with_groups(&groups).unwrap_err().to_string();
    assert!(message.contains("weights"), "{message}");
    let statistics = Statistics::of(&tasks);
    assert!(statistics.to_bytes().is_err());
    let mut whole = Statistics::new(data.features).keeping_all_rows();
    whole.merge(statistics.clone()).unwrap();
    // The union with nothing is what it was.
    let again = Study::new(&whole, &by(Labels::Classical)).unwrap();
    let first = Study::new(&statistics, &by(Labels::Classical)).unwrap();
    assert!((again.forecast().error - first.forecast().error).abs() < 1e-12);
    assert!(whole.add(data.rows(), &data.task, &data.class).is_err());
    let mut plain = Statistics::new(data.features);
    plain.add(data.rows(), &data.task, &data.class).unwrap();
    assert!(plain.merge(statistics).is_err());

    for (bad, told) in [
        (-1.0, "-1 in row 3"),
        (f64::NAN, "NaN in row 3"),
        (f64::INFINITY, "inf in row 3"),
        (1e-300, "1e12"),
    ] {
        let mut weights = weights.clone();
        weights[2] = bad;
        let error = Tasks::weighted(data.rows(), &data.task, &data.class, &weights).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
    let short = Tasks::weighted(data.rows(), &data.task, &data.class, &weights[1..]);
    assert!(matches!(short, Err(Error::Shape { .. })));
    let none = Tasks::weighted(
        data.rows(),
        &data.task,
        &data.class,
        &vec![0.0; weights.len()],
    );
    assert!(matches!(none, Err(Error::Empty { .. })));
}
