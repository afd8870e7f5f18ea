//! Leaving out a fold in closed form against training without it.

use faer::Mat;
use foretask::{Coupling, Scaling, Statistics, Stop, Tasks};
use proptest::prelude::*;

use super::common::drawn::{Data, along};
use super::common::generate::cases;
use crate::data::{Groups, Importance, RowBlock};
use crate::recipe::Folds;
use crate::solve::{Grid, GridPoint, Reduced, System};

/// Refits solve other systems with the same condition.
const EXACT: f64 = 1e-10;

/// The target's samples without a fold, and the fold.
fn parts(fold: &[usize], n: usize) -> Vec<usize> {
    (0..n).filter(|l| !fold.contains(l)).collect()
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

/// Responses of all samples without a fold by training anew.
fn refitted(
    statistics: &Statistics<'_>,
    target: usize,
    coupling: &Coupling,
    fold: &[usize],
    others: &[usize],
) -> (Mat<f64>, Mat<f64>) {
    let rest = statistics.with_samples(target, others).unwrap();
    let rows: RowBlock<'_> = statistics.rows_of(target).unwrap().clone();
    let system = System::new(rest.clone(), Scaling::None, coupling).unwrap();
    let weights = system.weights(target);
    let held_out = rows.select(fold.iter().copied());
    let own = rows.select(others.iter().copied());
    (
        system.responses_of(target, &held_out, &weights),
        system
            .leave_one_out_of(
                &own,
                target,
                false,
                &Groups::default(),
                &statistics.importance_of(target).among(others),
            )
            .responses,
    )
}

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

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn a_fold_left_out_is_a_refit_without_it(
        features in 2_usize..40,
        classes in 2_usize..4,
        few in 3_usize..8,
        many in 3_usize..30,
        seed: u64,
    ) {
        let data = data(features, classes, few, many, seed);
        let tasks = data.tasks();
        let statistics = Statistics::of(&tasks);
        let target = 2;
        let reduced = Reduced::new(statistics.clone(), Scaling::None).unwrap();
        let grid = Grid {
            alone: vec![0.1, 10.0],
            symmetric: vec![0.0, 0.1],
            asymmetric: vec![1.0],
            shared: vec![0.1, 10.0],
        };
        let class = crate::data::classes_in_order(&statistics.cells().tasks()[target]);
        let keys: Vec<f64> = (0..class.len()).map(|l| l as f64).collect();
        let folds = Folds::balanced(&class, classes, 3, &Groups::default(), &keys, seed);
        let mut checked = 0;
        reduced
            .grid(&grid, &[(target, None)], &Stop::default(), &mut |fitted, _| {
                for fitted in &fitted[0] {
                    let coupling = fitted.point.coupling(3, target).unwrap();
                    for fold in &folds {
                        let others = parts(&fold.held_out, class.len());
                        let left = fitted.hat.as_ref().unwrap().without(&fold.held_out, &others, &Groups::default());
                        let (held_out, own) =
                            refitted(&statistics, target, &coupling, &fold.held_out, &others);
                        assert!(largest(&left.held_out, &held_out) < EXACT);
                        assert!(largest(&left.others, &own) < EXACT);
                        checked += 1;
                    }
                }
                Ok(())
            }, )
            .unwrap();
        prop_assert!(checked > 0);
    }

    /// Both forms of a system at a coupling that is given, with a γ of its own for each task.
    #[test]
    fn a_fold_left_out_at_a_given_coupling_is_a_refit(
        features in 2_usize..60,
        few in 3_usize..8,
        seed: u64,
        gamma in proptest::array::uniform3(0.0_f64..5.0),
        lambda in 0.01_f64..5.0,
    ) {
        let data = data(features, 2, few, 12, seed);
        let tasks: Tasks<'_> = data.tasks();
        let statistics = Statistics::of(&tasks);
        let coupling = Coupling::new(lambda, gamma.to_vec()).unwrap();
        let system = System::new(statistics.clone(), Scaling::None, &coupling).unwrap();
        let rows = statistics.rows_of(2).unwrap();
        let left_out = system.leave_one_out_of(rows, 2, true, &Groups::default(), &Importance::default());
        let fold = [0, few - 1, few, 2 * few - 1];
        let others = parts(&fold, 2 * few);
        let left = left_out.hat.unwrap().without(&fold, &others, &Groups::default());
        let (held_out, own) = refitted(&statistics, 2, &coupling, &fold, &others);
        prop_assert!(largest(&left.held_out, &held_out) < EXACT);
        prop_assert!(largest(&left.others, &own) < EXACT);
        // A point of the grid is a coupling where all sources are alike.
        prop_assert!(GridPoint::of(&coupling, 2).shared > 0.0);
    }

    /// Folds have equally many samples of each class, and neither order nor names matter.
    #[test]
    fn folds_are_balanced_and_know_no_order(
        each in 2_usize..25,
        classes in 2_usize..5,
        count in 2_usize..11,
        seed: u64,
    ) {
        let folds = count.min(each);
        let class: Vec<usize> = (0..each * classes).map(|l| l / each).collect();
        let keys: Vec<f64> = super::common::generate::normals(seed, class.len(), 1)[0].clone();
        let dealt = Folds::balanced(&class, classes, folds, &Groups::default(), &keys, 0);
        for fold in &dealt {
            let of_class = |c: usize| fold.held_out.iter().filter(|&&l| class[l] == c).count();
            prop_assert!((1..classes).all(|c| of_class(c) == of_class(0)));
            prop_assert!(fold.others.is_some());
        }
        // Rows in reverse, and classes with them.
        let n = class.len();
        let reversed: Vec<usize> = class.iter().rev().map(|c| classes - 1 - c).collect();
        let turned: Vec<f64> = keys.iter().rev().copied().collect();
        let again = Folds::balanced(&reversed, classes, folds, &Groups::default(), &turned, 0);
        let set = |folds: &Folds, turn: bool| {
            let mut all: Vec<Vec<usize>> = folds
                .into_iter()
                .map(|fold| {
                    let mut own: Vec<usize> = fold
                        .held_out
                        .iter()
                        .map(|&l| if turn { n - 1 - l } else { l })
                        .collect();
                    own.sort_unstable();
                    own
                })
                .collect();
            all.sort();
            all
        };
        prop_assert_eq!(set(&dealt, false), set(&again, true));
    }
}
