//! [`Folds`]: who is held out together, so that no sample has a say in the rule that is tested on it.

use faer::Mat;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::data::RowBlock;

/// Folds of the theory's labels.
const FOLDS: usize = 5;
/// Folds of the forecast, where classes have as many samples.
pub(crate) const MOST_FOLDS: usize = 10;

/// The folds of a target's samples that hold somebody out.
#[derive(Debug)]
pub(crate) struct Folds(Vec<Fold>);

/// One fold.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) held_out: Vec<usize>,
    /// The others, unless they lack a class.
    pub(crate) others: Option<Vec<usize>>,
}

impl Folds {
    /// Of the theory's labels: the samples of each class are dealt out in random order, from a random fold on, so that
    /// few samples of many classes do not meet in one fold. `keys` as in [`Folds::balanced`].
    pub(crate) fn of_labels(class: &[usize], classes: usize, keys: &[f64]) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut fold = vec![0; class.len()];
        for samples in &mut in_order(class, classes, keys) {
            samples.shuffle(&mut random);
            let start = random.random_range(0..FOLDS);
            let dealt = samples.iter().enumerate();
            dealt.for_each(|(position, &sample)| fold[sample] = (position + start) % FOLDS);
        }
        Self::of(class, classes, FOLDS, &fold)
    }

    /// With equally many samples of each class, as far as counts allow: given all else, labels of a fold are then
    /// exchangeable. `keys` are what tells samples apart: neither the order of rows nor names matter.
    pub(crate) fn balanced(
        class: &[usize],
        classes: usize,
        folds: usize,
        keys: &[f64],
        repeat: u64,
    ) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(repeat);
        let mut fold = vec![0; class.len()];
        for samples in &mut in_order(class, classes, keys) {
            samples.shuffle(&mut random);
            let dealt = samples.iter().enumerate();
            dealt.for_each(|(position, &sample)| fold[sample] = position % folds);
        }
        Self::of(class, classes, folds, &fold)
    }

    fn of(class: &[usize], classes: usize, folds: usize, fold: &[usize]) -> Self {
        let of = |number: usize| {
            let (held_out, others): (Vec<usize>, Vec<usize>) =
                (0..class.len()).partition(|&l| fold[l] == number);
            let complete = (0..classes).all(|c| others.iter().any(|&l| class[l] == c));
            Fold {
                held_out,
                others: complete.then_some(others),
            }
        };
        let folds = (0..folds).map(of).filter(|fold| !fold.held_out.is_empty());
        Self(folds.collect())
    }
}

impl<'f> IntoIterator for &'f Folds {
    type Item = &'f Fold;
    type IntoIter = std::slice::Iter<'f, Fold>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Fold {
    pub(crate) fn holds_out(&self, sample: usize) -> bool {
        self.held_out.binary_search(&sample).is_ok()
    }
}

/// The samples of each class, samples and classes in the order of their keys.
fn in_order(class: &[usize], classes: usize, keys: &[f64]) -> Vec<Vec<usize>> {
    let mut of_class: Vec<Vec<usize>> = (0..classes)
        .map(|c| (0..class.len()).filter(|&l| class[l] == c).collect())
        .collect();
    let mean = |samples: &[usize]| {
        samples.iter().map(|&l| keys[l]).sum::<f64>() / samples.len().max(1) as f64
    };
    for samples in &mut of_class {
        samples.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    }
    of_class.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    of_class
}

/// Numbers that tell samples apart, whatever the order of the rows, their names, and units.
pub(crate) fn keys(rows: &RowBlock<'_>, variances: &[f64]) -> Vec<f64> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let p = rows.features();
    let weight = |(j, variance): (usize, &f64)| match *variance > 0.0 {
        true => (0.5 + (GOLDEN * (j + 1) as f64).fract()) / variance.sqrt(),
        false => 0.0,
    };
    let weights: Vec<f64> = variances.iter().enumerate().map(weight).collect();
    let mut keys = Vec::with_capacity(rows.len());
    rows.for_panels(&vec![0.0; p], 1.0, |_, panel| {
        keys.extend(panel.col_iter().map(|row| {
            let both = row.iter().zip(&weights);
            both.map(|(x, weight)| x * weight).sum::<f64>()
        }));
    });
    keys
}

/// Some rows of a matrix.
pub(crate) fn rows(of: &Mat<f64>, samples: &[usize]) -> Mat<f64> {
    Mat::from_fn(samples.len(), of.ncols(), |l, j| of[(samples[l], j)])
}
