//! [`Bins`]: class scores of one class, counted in bins. Counts add up in any order to the same numbers.
//!
//! A bin is a fold and the scores about their mean, each rounded to a multiple of a unit. With two classes bins lie on a
//! line and are few. With more they may become as many as rows: those [`MOST_BINS`] whose hashes are smallest are kept,
//! each with all that was ever counted in it, because a bin that is among the smallest of all is so in every part.

use std::collections::BTreeMap;

use faer::MatRef;
use twox_hash::XxHash64;

/// Bins of a class that are kept.
const MOST_BINS: usize = 20_000;
/// Scores beyond so many units are all alike.
const FARTHEST: f64 = (1 << 30) as f64;

/// A fold, and scores in units.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bin {
    hash: u64,
    fold: usize,
    scores: Vec<i32>,
}

impl Bin {
    fn new(fold: usize, scores: Vec<i32>) -> Self {
        let mut bytes = (fold as u64).to_le_bytes().to_vec();
        scores.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        Self {
            hash: XxHash64::oneshot(0, &bytes),
            fold,
            scores,
        }
    }
}

/// How many rows of a class have which scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bins(BTreeMap<Bin, u64>);

impl Bins {
    /// Counts rows of a fold by their class scores (rows x classes).
    pub(crate) fn add(&mut self, fold: usize, scores: MatRef<'_, f64>, unit: f64) {
        let m = scores.ncols() as f64;
        for row in scores.row_iter() {
            let middle = row.iter().sum::<f64>() / m;
            let of = |x: &f64| ((x - middle) / unit).round().clamp(-FARTHEST, FARTHEST) as i32;
            let bin = Bin::new(fold, row.iter().map(of).collect());
            *self.0.entry(bin).or_default() += 1;
        }
        self.keep_few();
    }

    /// Counts what others counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (bin, count) in &other.0 {
            *self.0.entry(bin.clone()).or_default() += count;
        }
        self.keep_few();
    }

    fn keep_few(&mut self) {
        while self.0.len() > MOST_BINS {
            self.0.pop_last();
        }
    }

    /// Rows in bins that are kept.
    pub(crate) fn rows(&self) -> u64 {
        self.0.values().sum()
    }

    /// The fold and the scores of each of the rows, or of so many of them, evenly spread.
    pub(crate) fn spread(&self, most: usize, unit: f64) -> Vec<(usize, Vec<f64>)> {
        let all = self.rows();
        let taken = all.min(most as u64);
        let (mut before, mut row) = (0_u64, 0_u64);
        let mut spread = Vec::with_capacity(taken as usize);
        for (bin, count) in &self.0 {
            before += count;
            // Row i of those taken is that in the middle of its share of all.
            while row < taken && (2 * row + 1) * all / (2 * taken) < before {
                let scores = bin.scores.iter().map(|&x| f64::from(x) * unit);
                spread.push((bin.fold, scores.collect()));
                row += 1;
            }
        }
        spread
    }

    /// As numbers: the fold, the count and the scores of each bin.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let bins = self.0.iter();
        bins.flat_map(|(bin, &count)| {
            let scores = bin.scores.iter().map(|&x| f64::from(x));
            [bin.fold as f64, count as f64].into_iter().chain(scores)
        })
        .collect()
    }

    /// What [`Bins::numbers`] wrote of so many classes and folds; none if it is no such thing.
    pub(crate) fn read(numbers: &[f64], classes: usize, folds: usize) -> Option<Self> {
        let whole = |x: f64, least: f64, most: f64| {
            (x.fract() == 0.0 && (least..=most).contains(&x)).then_some(x)
        };
        let mut bins = BTreeMap::new();
        for row in numbers.chunks(classes + 2) {
            let fold = whole(row[0], 0.0, folds as f64 - 1.0)? as usize;
            let count = whole(*row.get(1)?, 1.0, (1_u64 << 53) as f64)? as u64;
            let scores = row[2..].iter();
            let scores: Option<Vec<i32>> = scores
                .map(|&x| whole(x, -FARTHEST, FARTHEST).map(|x| x as i32))
                .collect();
            let bin = Bin::new(fold, scores.filter(|own| own.len() == classes)?);
            if bins.insert(bin, count).is_some() {
                return None;
            }
        }
        (bins.len() <= MOST_BINS).then_some(Self(bins))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn scores(n: usize, m: usize, seed: usize) -> Mat<f64> {
        Mat::from_fn(n, m, |l, c| {
            (((l + seed) * 7919 + c * 104_729) % 1009) as f64 / 1009.0
        })
    }

    #[test]
    fn parts_in_any_order_are_the_whole() {
        for (n, m, unit) in [(5000, 2, 0.01), (30_000, 4, 1e-3)] {
            let all = scores(n, m, 3);
            let fold = |l: usize| l % 3;
            let mut whole = Bins::default();
            let mut parts = vec![Bins::default(); 4];
            for l in 0..n {
                let row = all.as_ref().subrows(l, 1);
                whole.add(fold(l), row, unit);
                parts[l * 4 / n].add(fold(l), row, unit);
            }
            let mut forward = Bins::default();
            parts.iter().for_each(|part| forward.merge(part));
            let mut backward = Bins::default();
            parts.iter().rev().for_each(|part| backward.merge(part));
            assert_eq!(forward, whole);
            assert_eq!(backward, whole);
            assert!(whole.0.len() <= MOST_BINS);
            let again = Bins::read(&whole.numbers(), m, 3).unwrap();
            assert_eq!(again, whole);
            assert!(Bins::read(&whole.numbers(), m, 2).is_none());
        }
    }

    #[test]
    fn rows_are_spread_evenly_over_bins() {
        let all = scores(4000, 2, 1);
        let mut bins = Bins::default();
        bins.add(0, all.as_ref(), 0.05);
        let every = bins.spread(usize::MAX, 0.05);
        assert_eq!(every.len(), 4000);
        // Scores about their mean, to half a unit.
        let sum = |of: &[(usize, Vec<f64>)]| {
            of.iter().map(|(_, own)| own[0]).sum::<f64>() / of.len() as f64
        };
        let exact: f64 = (0..4000)
            .map(|l| (all[(l, 0)] - all[(l, 1)]) / 2.0)
            .sum::<f64>()
            / 4000.0;
        assert!((sum(&every) - exact).abs() < 0.01);
        let some = bins.spread(500, 0.05);
        assert_eq!(some.len(), 500);
        assert!((sum(&some) - sum(&every)).abs() < 0.02);
    }

    #[test]
    fn numbers_that_are_no_counts_are_refused() {
        for numbers in [
            vec![0.0, 1.5, 1.0, 2.0],
            vec![3.0, 1.0, 1.0, 2.0],
            vec![0.0, 0.0, 1.0, 2.0],
            vec![0.0, 1.0, 1.0],
            vec![0.0, 1.0, f64::NAN, 2.0],
            vec![0.0, 1.0, 1.0, 2.0, 0.0, 2.0, 1.0, 2.0],
        ] {
            assert!(Bins::read(&numbers, 2, 3).is_none(), "{numbers:?}");
        }
    }
}
