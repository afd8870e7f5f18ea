//! Samples that belong together: left out exactly, dealt out whole, foretold honestly.

use faer::Mat;
use foretask::{
    Coupling, Error, Evidence, FalseAlarm, Labels, Note, Rehearsal, RuleName, Scaling, Settings,
    Statistics, Study, Tail, Tasks, Unrehearsed,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::common::drawn::{Data, along, error_of, settings};
use super::common::generate::cases;
use crate::data::Groups;
use crate::recipe::Folds;
use crate::solve::{Grid, Reduced, System};
use crate::stop::Stop;

/// Refits solve other systems with the same condition.
const EXACT: f64 = 1e-10;
/// The target is the last of three tasks.
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

/// A name for each row: groups of unequal size with several classes in them.
fn names(data: &Data) -> Vec<String> {
    let of = |row: usize| ["one", "one", "two", "three", "three"][row % 5].to_owned();
    (0..data.class.len()).map(of).collect()
}

fn largest(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    let (mut most, mut size) = (0.0_f64, 1.0_f64);
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            most = most.max((a[(i, j)] - b[(i, j)]).abs());
            size = size.max(b[(i, j)].abs());
        }
    }
    most / size
}

/// Responses of the target's samples, each by training without its group: plain, and about the mean of all.
fn refitted(statistics: &Statistics<'_>, coupling: &Coupling) -> (Mat<f64>, Mat<f64>) {
    let rows = statistics.rows_of(TARGET).unwrap().clone();
    let (n, c) = (rows.len(), statistics.cells().len());
    let groups = statistics.groups_of(TARGET);
    let (mut plain, mut centred) = (Mat::zeros(n, c), Mat::zeros(n, c));
    for members in groups.members().unwrap() {
        let others: Vec<usize> = (0..n).filter(|l| !members.contains(l)).collect();
        let rest = statistics.with_samples(TARGET, &others).unwrap();
        let system = System::new(rest.clone(), Scaling::None, coupling).unwrap();
        let weights = system.weights(TARGET);
        let held_out = rows.select(members.iter().copied());
        let own = system.responses_of(TARGET, &held_out, &weights);
        let (before, after) = (statistics.task_mean(TARGET), rest.task_mean(TARGET));
        for cell in 0..c {
            let moved: f64 = (0..before.len())
                .map(|j| weights[(j, cell)] * (after[j] - before[j]))
                .sum();
            let share = statistics.cells().share_in(TARGET, cell);
            let without = rest.cells().share_in(TARGET, cell);
            for (i, &l) in members.iter().enumerate() {
                plain[(l, cell)] = own[(i, cell)];
                centred[(l, cell)] = own[(i, cell)] - without + share + moved;
            }
        }
    }
    (plain, centred)
}

fn few_couplings() -> Grid {
    Grid {
        alone: vec![0.1, 10.0],
        symmetric: vec![0.0, 0.1],
        asymmetric: vec![1.0],
        shared: vec![0.1, 10.0],
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// On the grid, and among the others without a fold.
    #[test]
    fn a_group_left_out_is_a_refit_without_it(
        features in 2_usize..40,
        classes in 2_usize..4,
        few in 5_usize..9,
        many in 3_usize..30,
        seed: u64,
    ) {
        let data = data(features, classes, few, many, seed);
        let tasks = data.tasks().with_groups(&names(&data)).unwrap();
        let statistics = Statistics::of(&tasks);
        let reduced = Reduced::new(statistics.clone(), Scaling::None).unwrap();
        let n = few * classes;
        let fold: Vec<usize> = (0..n).filter(|l| statistics.groups_of(TARGET).members().unwrap()[1].contains(l)).collect();
        let others: Vec<usize> = (0..n).filter(|l| !fold.contains(l)).collect();
        let rest = statistics.with_samples(TARGET, &others).unwrap();
        let groups = rest.groups_of(TARGET);
        let mut checked = 0;
        reduced
            .grid(&few_couplings(), &[(TARGET, None)], &Stop::default(), &mut |fitted, _| {
                for fitted in &fitted[0] {
                    let coupling = fitted.point.coupling(3, TARGET).unwrap();
                    let (_, centred) = refitted(&statistics, &coupling);
                    assert!(largest(&fitted.responses, &centred) < EXACT);
                    let left = fitted.hat.as_ref().unwrap().without(&fold, &others, &groups);
                    let (plain, _) = refitted(&rest, &coupling);
                    assert!(largest(&left.others, &plain) < EXACT);
                    checked += 1;
                }
                Ok(())
            })
            .unwrap();
        prop_assert!(checked > 0);
    }

    /// Both forms of a system at a coupling that is given.
    #[test]
    fn a_group_left_out_at_a_given_coupling_is_a_refit(
        features in 2_usize..80,
        few in 5_usize..9,
        seed: u64,
        gamma in proptest::array::uniform3(0.0_f64..5.0),
        lambda in 0.01_f64..5.0,
    ) {
        let data = data(features, 2, few, 12, seed);
        let tasks = data.tasks().with_groups(&names(&data)).unwrap();
        let statistics = Statistics::of(&tasks);
        let coupling = Coupling::new(lambda, gamma.to_vec()).unwrap();
        let system = System::new(statistics.clone(), Scaling::None, &coupling).unwrap();
        let left_out = system.leave_one_out(&tasks, TARGET);
        let (plain, centred) = refitted(&statistics, &coupling);
        prop_assert!(largest(&left_out.responses, &plain) < EXACT);
        let stratified = left_out.stratified(statistics.cells());
        prop_assert!(largest(&stratified.responses, &centred) < EXACT);
    }

    /// Groups stay whole, classes are spread, and neither the order of rows nor names matter.
    #[test]
    fn folds_deal_out_whole_groups(
        count in 4_usize..20,
        size in 1_usize..6,
        folds in 2_usize..6,
        seed: u64,
    ) {
        // As many groups of each class.
        let folds = folds.min(count);
        let class: Vec<usize> = (0..2 * count * size).map(|l| l / (count * size)).collect();
        let of: Vec<usize> = (0..class.len()).map(|l| l / size).collect();
        let keys: Vec<f64> = super::common::generate::normals(seed, class.len(), 1)[0].clone();
        let dealt = Folds::balanced(&class, 2, folds, &Groups::new(of.iter()), &keys, seed);
        for fold in &dealt {
            for l in &fold.held_out {
                let own = (0..class.len()).filter(|&other| of[other] == of[*l]);
                prop_assert!(own.into_iter().all(|l| fold.holds_out(l)));
            }
            let of_class = |c: usize| fold.held_out.iter().filter(|&&l| class[l] == c).count();
            prop_assert!(of_class(0).abs_diff(of_class(1)) <= size);
            prop_assert!(fold.others.is_some());
        }
        let mut order: Vec<usize> = (0..class.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let moved = |of: &[usize]| -> Vec<usize> { order.iter().map(|&l| of[l]).collect() };
        let other_names: Vec<usize> = moved(&of).iter().map(|group| 1000 - group).collect();
        let turned: Vec<f64> = order.iter().map(|&l| keys[l]).collect();
        let turned_class: Vec<usize> = moved(&class).iter().map(|c| 1 - c).collect();
        let groups = Groups::new(other_names.iter());
        let again = Folds::balanced(&turned_class, 2, folds, &groups, &turned, seed);
        let set = |folds: &Folds, place: &dyn Fn(usize) -> usize| {
            let of = |held_out: &Vec<usize>| {
                let mut own: Vec<usize> = held_out.iter().map(|&l| place(l)).collect();
                own.sort_unstable();
                own
            };
            let mut all: Vec<Vec<usize>> = folds.into_iter().map(|fold| of(&fold.held_out)).collect();
            all.sort();
            all
        };
        prop_assert_eq!(set(&dealt, &|l| l), set(&again, &|l| order[l]));
    }
}

/// Where the hat matrix is not kept, blocks of it are made: with 600 rows by the samples, with 2100 beyond the probes.
#[test]
fn many_samples_are_left_out_by_groups_too() {
    for each in [300, 1050] {
        let data = data(4, 2, each, 20, 3);
        let names: Vec<String> = (0..data.class.len())
            .map(|row| (row / 3).to_string())
            .collect();
        let tasks = data.tasks().with_groups(&names).unwrap();
        let statistics = Statistics::of(&tasks);
        let reduced = Reduced::new(statistics.clone(), Scaling::None).unwrap();
        let mut checked = 0;
        reduced
            .grid(
                &few_couplings(),
                &[(TARGET, None)],
                &Stop::default(),
                &mut |fitted, _| {
                    for fitted in &fitted[0] {
                        assert!(fitted.hat.is_none());
                        let coupling = fitted.point.coupling(3, TARGET).unwrap();
                        let system =
                            System::new(statistics.clone(), Scaling::None, &coupling).unwrap();
                        let direct = system.leave_one_out(&tasks, TARGET);
                        let direct = direct.stratified(statistics.cells());
                        assert!(largest(&fitted.responses, &direct.responses) < EXACT);
                        checked += 1;
                    }
                    Ok(())
                },
            )
            .unwrap();
        assert!(checked > 0);
    }
}

fn forecast_of(tasks: &Tasks<'_>, settings: &Settings) -> (f64, [f64; 2], Vec<f64>) {
    let study = Study::new(tasks, settings).unwrap();
    let forecast = study.forecast();
    let left_out = study.left_out().unwrap();
    let first = left_out.probabilities.col(0).iter().copied().collect();
    (forecast.error, forecast.interval, first)
}

#[test]
fn groups_of_one_are_no_groups() {
    let data = data(6, 2, 12, 20, 4);
    let names: Vec<String> = (0..data.class.len()).map(|row| row.to_string()).collect();
    let grouped = data.tasks().with_groups(&names).unwrap();
    for labels in [Labels::Auto, Labels::Optimal] {
        assert_eq!(
            forecast_of(&data.tasks(), &settings(labels)),
            forecast_of(&grouped, &settings(labels))
        );
    }
}

#[test]
fn names_of_groups_do_not_matter() {
    let data = data(6, 3, 12, 20, 5);
    let names: Vec<usize> = (0..data.class.len()).map(|row| row / 3).collect();
    let named = |of: &dyn Fn(usize) -> String| -> Vec<String> {
        names.iter().map(|&name| of(name)).collect()
    };
    let plain = named(&|name| name.to_string());
    let other = named(&|name| format!("{}", 1000 - name));
    assert_eq!(
        forecast_of(
            &data.tasks().with_groups(&plain).unwrap(),
            &settings(Labels::Auto)
        ),
        forecast_of(
            &data.tasks().with_groups(&other).unwrap(),
            &settings(Labels::Auto)
        )
    );
}

/// Recordings of a target: each has a centre of its own, and rows near it.
struct Recordings {
    data: Data,
    names: Vec<String>,
}

impl Recordings {
    fn new(count: usize, length: usize, noise: f64, random: &mut ChaCha8Rng) -> Self {
        const FEATURES: usize = 8;
        let mut draw = || -> f64 { StandardNormal.sample(random) };
        let mut data = Data {
            values: Vec::new(),
            features: FEATURES,
            task: Vec::new(),
            class: Vec::new(),
        };
        let mut names = Vec::new();
        for recording in 0..count {
            let sign = if recording % 2 == 0 { 0.6 } else { -0.6 };
            let centre: Vec<f64> = (0..FEATURES)
                .map(|feature| draw() + if feature < 2 { sign } else { 0.0 })
                .collect();
            for _ in 0..length {
                data.values
                    .extend(centre.iter().map(|x| x + noise * draw()));
                data.task.push("target".to_owned());
                data.class.push(format!("c{}", recording % 2));
                names.push(recording.to_string());
            }
        }
        Self { data, names }
    }
}

/// Twelve recordings of ten rows that are nearly copies: without groups every row knows its own recording.
#[test]
fn forecasts_of_recordings_are_honest_with_groups() {
    const DRAWS: u32 = 24;
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (mut grouped, mut plain, mut truth, mut squares) = (0.0, 0.0, 0.0, 0.0);
    let mut covered = 0;
    for _ in 0..DRAWS {
        let Recordings { data, names } = Recordings::new(12, 10, 0.1, &mut random);
        let test = Recordings::new(2000, 1, 0.1, &mut random).data;
        let tasks = data.tasks().with_groups(&names).unwrap();
        let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
        let forecast = study.forecast();
        let error = error_of(&study.model().unwrap(), &test);
        assert!(
            forecast
                .notes
                .iter()
                .all(|note| !matches!(note, Note::NearCopies { .. }))
        );
        // No more is known than from some twelve samples.
        assert!(forecast.worth < 40.0, "{}", forecast.worth);
        covered += u32::from((forecast.interval[0]..=forecast.interval[1]).contains(&error));
        let without = data.tasks();
        let without = Study::new(&without, &settings(Labels::Auto)).unwrap();
        let noted = |note: &Note| matches!(note, Note::NearCopies { ratio } if *ratio < 0.3);
        assert!(without.forecast().notes.iter().any(noted));
        grouped += forecast.error;
        plain += without.forecast().error;
        truth += error;
        squares += (forecast.error - error).powi(2);
    }
    let draws = f64::from(DRAWS);
    let (grouped, plain, truth) = (grouped / draws, plain / draws, truth / draws);
    let noise = (squares / draws / draws).sqrt();
    println!(
        "grouped {grouped:.3} plain {plain:.3} truth {truth:.3} noise {noise:.3} covered {covered}/{DRAWS}"
    );
    assert!(
        (grouped - truth).abs() < 2.5 * noise,
        "{grouped} {truth} {noise}"
    );
    assert!(plain < 0.5 * truth, "{plain} {truth}");
    assert!(covered >= DRAWS * 3 / 4, "{covered}");
}

/// Every way to a rule takes groups: without them rows know their recording.
#[test]
fn labels_and_rules_by_name_leave_out_groups() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut sums = vec![(0.0, 0.0); 4];
    for _ in 0..6 {
        let Recordings { data, names } = Recordings::new(14, 6, 0.1, &mut random);
        let grouped = data.tasks().with_groups(&names).unwrap();
        let by_name = [
            (RuleName::Auto, Labels::Alone),
            (RuleName::Auto, Labels::Optimal),
            (RuleName::OneHot, Labels::Optimal),
            (RuleName::Bayes, Labels::Classical),
        ];
        for ((rule, labels), sum) in by_name.into_iter().zip(&mut sums) {
            let settings = Settings {
                rule,
                ..settings(labels)
            };
            sum.0 += forecast_of(&grouped, &settings).0;
            sum.1 += forecast_of(&data.tasks(), &settings).0;
        }
    }
    for (grouped, plain) in sums {
        assert!(plain < 0.7 * grouped, "{plain} {grouped}");
    }
}

#[test]
fn what_groups_cannot_do_is_said() {
    let data = data(5, 2, 10, 40, 8);
    let names = names(&data);
    let tasks = data.tasks().with_groups(&names).unwrap();
    let said = |settings: Settings| Study::new(&tasks, &settings).unwrap_err().to_string();
    let theory = Settings {
        evidence: Evidence::Isotropic,
        ..settings(Labels::Auto)
    };
    assert!(said(theory).contains("leave out the groups, or the theory"));
    let rate = Settings {
        false_alarm: Some(FalseAlarm {
            null: "c0".into(),
            rate: 0.05,
            tail: Tail::Auto,
        }),
        ..settings(Labels::Auto)
    };
    assert!(said(rate).contains("leave out the groups, or the rate"));
    let error = data.tasks().with_groups(&["one"]).unwrap_err();
    assert!(matches!(error, Error::Shape { got: 1, .. }));
    let mut empty = names.clone();
    empty[3] = " ".into();
    let error = data.tasks().with_groups(&empty).unwrap_err().to_string();
    assert!(error.contains("row 4 has none"), "{error}");
    // The union with nothing keeps them; any other has none to keep.
    let mut statistics = Statistics::new(5).keeping_all_rows();
    statistics.merge(Statistics::of(&tasks)).unwrap();
    let owned = Study::new(statistics.clone(), &settings(Labels::Auto)).unwrap();
    let borrowed = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
    assert_eq!(owned.forecast(), borrowed.forecast());
    let error = statistics.merge_again(Statistics::of(&tasks)).unwrap_err();
    assert!(error.to_string().contains("keep no groups"));
    assert!(Statistics::of(&tasks).to_bytes().is_err());
    let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
    let why = &study.forecast().rehearsal;
    assert_eq!(*why, Rehearsal::Skipped(Unrehearsed::Grouped));
}

#[test]
fn a_class_in_one_group_cannot_be_told() {
    let data = data(5, 2, 8, 20, 9);
    // Class c1 is of one patient, the other of four.
    let names: Vec<String> = (data.class.iter().enumerate())
        .map(|(row, class)| match class.as_str() {
            "c1" => "only".to_owned(),
            _ => (row % 4).to_string(),
        })
        .collect();
    let tasks = data.tasks().with_groups(&names).unwrap();
    let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
    let forecast = study.forecast();
    assert!(!forecast.told);
    assert_eq!(forecast.interval, [0.0, 1.0]);
    let noted = |note: &Note| *note == Note::OneGroup { class: "c1".into() };
    assert!(forecast.notes.iter().any(noted));
    assert!(study.model().unwrap().predict(data.rows()).is_ok());
    // All of the target in one group.
    let names = vec!["all"; data.class.len()];
    let tasks = data.tasks().with_groups(&names).unwrap();
    let study = Study::new(&tasks, &settings(Labels::Auto)).unwrap();
    assert!(!study.forecast().told);
    assert!(study.model().unwrap().predict(data.rows()).is_ok());
}
