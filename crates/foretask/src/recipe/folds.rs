//! [`Folds`]: who is held out together, so that no sample has a say in the rule that is tested on it.

use faer::Mat;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::data::{Groups, RowBlock};
use crate::numerics::points::uneven;

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
    /// few samples of many classes do not meet in one fold. `groups` and `keys` as in [`Folds::balanced`].
    pub(crate) fn of_labels(
        class: &[usize],
        classes: usize,
        groups: &Groups,
        keys: &[f64],
    ) -> Self {
        if let Some(groups) = groups.members() {
            return Self::of_groups(class, classes, FOLDS, groups, keys, 0);
        }
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
    /// exchangeable. Groups stay whole. `keys` are what tells samples apart: neither the order of rows nor names matter.
    pub(crate) fn balanced(
        class: &[usize],
        classes: usize,
        folds: usize,
        groups: &Groups,
        keys: &[f64],
        repeat: u64,
    ) -> Self {
        if let Some(groups) = groups.members() {
            return Self::of_groups(class, classes, folds, groups, keys, repeat);
        }
        let mut random = ChaCha8Rng::seed_from_u64(repeat);
        let mut fold = vec![0; class.len()];
        for samples in &mut in_order(class, classes, keys) {
            samples.shuffle(&mut random);
            let dealt = samples.iter().enumerate();
            dealt.for_each(|(position, &sample)| fold[sample] = position % folds);
        }
        Self::of(class, classes, folds, &fold)
    }

    /// Of whole groups, in random order.
    fn of_groups(
        class: &[usize],
        classes: usize,
        folds: usize,
        groups: &[Vec<usize>],
        keys: &[f64],
        repeat: u64,
    ) -> Self {
        let mut order: Vec<&Vec<usize>> = groups.iter().collect();
        order.sort_by(|a, b| mean(a, keys).total_cmp(&mean(b, keys)));
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(repeat));
        let fold = deal_groups(class, classes, folds, order);
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
    for samples in &mut of_class {
        samples.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    }
    of_class.sort_by(|a, b| mean(a, keys).total_cmp(&mean(b, keys)));
    of_class
}

/// The mean key of some samples.
fn mean(samples: &[usize], keys: &[f64]) -> f64 {
    samples.iter().map(|&l| keys[l]).sum::<f64>() / samples.len().max(1) as f64
}

/// The number of each sample's fold where groups stay whole: the largest first, each to the fold where Σ (n_fc/n_c)² grows least.
fn deal_groups(
    class: &[usize],
    classes: usize,
    folds: usize,
    mut groups: Vec<&Vec<usize>>,
) -> Vec<usize> {
    groups.sort_by_key(|members| std::cmp::Reverse(members.len()));
    let counts = |members: &mut dyn Iterator<Item = usize>| {
        let mut counts = vec![0.0; classes];
        members.for_each(|l| counts[class[l]] += 1.0);
        counts
    };
    let total = counts(&mut (0..class.len()));
    let mut dealt = vec![(0, vec![0.0; classes]); folds];
    let mut fold = vec![0; class.len()];
    for members in groups {
        let own = counts(&mut members.iter().copied());
        // Rounded, so that the order of the classes does not decide between equals.
        let growth = |there: &[f64]| -> f64 {
            let terms = (0..classes)
                .filter(|&c| own[c] > 0.0)
                .map(|c| own[c] * (2.0 * there[c] + own[c]) / (total[c] * total[c]));
            (1e9 * terms.sum::<f64>()).round()
        };
        // Of equals the one with fewest samples, and of those the first.
        let best = dealt
            .iter()
            .enumerate()
            .min_by(|(_, a), (_, b)| growth(&a.1).total_cmp(&growth(&b.1)).then(a.0.cmp(&b.0)));
        let Some(best) = best.map(|(best, _)| best) else {
            continue;
        };
        dealt[best].0 += members.len();
        (0..classes).for_each(|c| dealt[best].1[c] += own[c]);
        members.iter().for_each(|&l| fold[l] = best);
    }
    fold
}

/// Numbers that tell samples apart, whatever the order of the rows, their names, and units.
pub(crate) fn keys(rows: &RowBlock<'_>, variances: &[f64]) -> Vec<f64> {
    let p = rows.features();
    let weight = |(j, variance): (usize, &f64)| match *variance > 0.0 {
        true => uneven(j) / variance.sqrt(),
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
