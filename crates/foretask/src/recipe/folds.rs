//! [`Folds`]: who is held out together, so that no sample has a say in the rule that is tested on it.

use faer::Mat;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Folds of the forecast.
const FOLDS: usize = 5;

/// The folds of a target's samples that hold somebody out.
pub(crate) struct Folds(Vec<Fold>);

/// One fold.
pub(crate) struct Fold {
    pub(crate) held_out: Vec<usize>,
    /// The others, unless they lack a class.
    pub(crate) others: Option<Vec<usize>>,
}

impl Folds {
    /// Stratified: the samples of each class are dealt out in random order.
    pub(crate) fn new(class: &[usize], classes: usize, seed: u64) -> Self {
        let fold = deal(class, classes, seed);
        let of = |number: usize| {
            let (held_out, others): (Vec<usize>, Vec<usize>) =
                (0..class.len()).partition(|&l| fold[l] == number);
            let complete = (0..classes).all(|c| others.iter().any(|&l| class[l] == c));
            Fold {
                held_out,
                others: complete.then_some(others),
            }
        };
        let folds = (0..FOLDS).map(of).filter(|fold| !fold.held_out.is_empty());
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

/// The number of each sample's fold.
fn deal(class: &[usize], classes: usize, seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut fold = vec![0; class.len()];
    for c in 0..classes {
        let mut samples: Vec<usize> = (0..class.len()).filter(|&l| class[l] == c).collect();
        samples.shuffle(&mut random);
        let start = random.random_range(0..FOLDS);
        for (position, &sample) in samples.iter().enumerate() {
            fold[sample] = (position + start) % FOLDS;
        }
    }
    fold
}

/// Some rows of a matrix.
pub(crate) fn rows(of: &Mat<f64>, samples: &[usize]) -> Mat<f64> {
    Mat::from_fn(samples.len(), of.ncols(), |l, j| of[(samples[l], j)])
}
