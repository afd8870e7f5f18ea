//! [`Portion`]: what training needs to know of some of a task's rows, so that it can be done without them.
//!
//! Per class the count n_c and the mean x̄_c, and the scatter about the class means of all of them,
//!
//! ```text
//! W = Σ_c Σ_{l in c} (x_l - x̄_c)(x_l - x̄_c)ᵀ        (p x p).
//! ```
//!
//! Two portions a, b merge by W = W_a + W_b + Σ_c n_ac n_bc/n_c d_c d_cᵀ with d_c the difference of their means. A
//! task in K folds is K portions; all but one of them are merged from those before and those after it, 3 K merges in
//! which nothing is subtracted (`docs/3-the-solver.md#folds-of-statistics`).
//!
//! Rows are dealt out by a hash of what is in them (`dealt.rs`), so that copies of a row stay together. Time n p²/2;
//! memory p² doubles a fold.

use std::ops::Range;

use faer::Mat;
use twox_hash::XxHash64;

use super::rows::RowBlock;
use super::sums::{Sums, Wanted};
use crate::numerics::dense;
use crate::stop::Stop;

/// Some of a task's rows, summed up.
#[derive(Clone, Debug)]
pub(crate) struct Portion {
    /// n_c.
    pub(crate) counts: Vec<usize>,
    /// x̄_c, p x m; zero where there is no row.
    pub(crate) means: Mat<f64>,
    /// W, lower triangle.
    pub(crate) within: Mat<f64>,
}

impl Portion {
    pub(crate) fn samples(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The mean of all rows.
    pub(crate) fn mean(&self) -> Vec<f64> {
        let n = self.samples().max(1) as f64;
        let mut mean = vec![0.0; self.means.nrows()];
        for (column, &count) in self.means.col_iter().zip(&self.counts) {
            let entries = mean.iter_mut().zip(column.iter());
            entries.for_each(|(sum, x)| *sum += count as f64 / n * x);
        }
        mean
    }

    /// The scatter about the mean of all rows, lower triangle.
    pub(crate) fn scatter(&self) -> Mat<f64> {
        let mean = self.mean();
        let between = Mat::from_fn(self.means.nrows(), self.counts.len(), |feature, class| {
            (self.counts[class] as f64).sqrt() * (self.means[(feature, class)] - mean[feature])
        });
        let mut scatter = self.within.clone();
        dense::add_outer(scatter.as_mut(), between.as_ref(), 1.0);
        scatter
    }

    /// The rows of both.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let (p, m) = (self.means.nrows(), self.counts.len());
        let total = |class: usize| (self.counts[class] + other.counts[class]).max(1) as f64;
        let apart = Mat::from_fn(p, m, |feature, class| {
            other.means[(feature, class)] - self.means[(feature, class)]
        });
        let means = Mat::from_fn(p, m, |feature, class| match self.counts[class] {
            0 => other.means[(feature, class)],
            _ => {
                let share = other.counts[class] as f64 / total(class);
                self.means[(feature, class)] + share * apart[(feature, class)]
            }
        });
        let weighted = Mat::from_fn(p, m, |feature, class| {
            let both = self.counts[class] as f64 * other.counts[class] as f64;
            (both / total(class)).sqrt() * apart[(feature, class)]
        });
        let mut within = self.within.clone();
        dense::add_lower(within.as_mut(), other.within.as_ref(), 1.0);
        dense::add_outer(within.as_mut(), weighted.as_ref(), 1.0);
        let counts = self.counts.iter().zip(&other.counts);
        Self {
            counts: counts.map(|(own, more)| own + more).collect(),
            means,
            within,
        }
    }

    /// The same for features multiplied by a number each.
    pub(crate) fn with_columns(&self, factors: &[f64]) -> Self {
        let mut scaled = self.clone();
        for of in [&mut scaled.means, &mut scaled.within] {
            for column in of.col_iter_mut() {
                let entries = column.iter_mut().zip(factors);
                entries.for_each(|(x, factor)| *x *= factor);
            }
        }
        for (column, factor) in scaled.within.col_iter_mut().zip(factors) {
            column.iter_mut().for_each(|x| *x *= factor);
        }
        scaled
    }

    /// The same with other classes: `places` are those of its own among `classes`.
    pub(super) fn among_classes(&self, places: &[usize], classes: usize) -> Self {
        let mut counts = vec![0; classes];
        let mut means = Mat::zeros(self.means.nrows(), classes);
        for (own, &place) in places.iter().enumerate() {
            counts[place] = self.counts[own];
            means.col_mut(place).copy_from(self.means.col(own));
        }
        Self {
            counts,
            means,
            within: self.within.clone(),
        }
    }

    /// The same with the feature `places[j]` in place j.
    pub(super) fn reordered(&self, places: &[usize]) -> Self {
        Self {
            counts: self.counts.clone(),
            means: Mat::from_fn(places.len(), self.means.ncols(), |feature, class| {
                self.means[(places[feature], class)]
            }),
            within: dense::moved_lower(&self.within, places),
        }
    }

    /// Those of each group merged, in their order.
    pub(crate) fn joined(portions: &[Self], groups: &[Vec<usize>]) -> Vec<Self> {
        let of_group = |group: &Vec<usize>| {
            let mut own = group.iter().map(|&fold| &portions[fold]);
            let first = own.next().cloned();
            first.map(|first| own.fold(first, |sum, more| sum.merged(more)))
        };
        groups.iter().filter_map(of_group).collect()
    }

    /// All but each of several.
    pub(crate) fn all_but_each(portions: &[Self]) -> Vec<Self> {
        let running = |order: &mut dyn Iterator<Item = &Self>| {
            let mut sums: Vec<Self> = Vec::with_capacity(portions.len());
            for portion in order {
                let next = sums
                    .last()
                    .map_or_else(|| portion.clone(), |sum| sum.merged(portion));
                sums.push(next);
            }
            sums
        };
        let before = running(&mut portions.iter());
        let after = running(&mut portions.iter().rev());
        let last = portions.len().saturating_sub(1);
        (0..portions.len())
            .filter_map(|left_out| {
                let before = left_out.checked_sub(1).map(|index| &before[index]);
                let after = last.checked_sub(left_out + 1).map(|index| &after[index]);
                match (before, after) {
                    (Some(before), Some(after)) => Some(before.merged(after)),
                    (only, None) | (None, only) => only.cloned(),
                }
            })
            .collect()
    }
}

/// A hash of each of some rows.
pub(super) fn hashes(rows: &RowBlock<'_>, samples: Range<usize>) -> Vec<u64> {
    let p = rows.features();
    let mut panel = Mat::zeros(p, samples.len());
    rows.pack(samples, 0..p, &vec![0.0; p], 1.0, panel.as_mut());
    let mut bytes = vec![0; 8 * p];
    let hashes = panel.col_iter().map(|row| {
        for (to, x) in bytes.chunks_exact_mut(8).zip(row.iter()) {
            // -0 is 0.
            to.copy_from_slice(&(x + 0.0).to_le_bytes());
        }
        XxHash64::oneshot(0, &bytes)
    });
    hashes.collect()
}

/// The fold of a row, by the upper half of its hash.
pub(super) fn fold_of(hash: u64, folds: usize) -> usize {
    (((hash >> 32) * folds as u64) >> 32) as usize
}

/// Of some rows, whose classes have means near to `near`.
pub(super) fn portion_of(rows: &RowBlock<'_>, class: &[usize], near: &[Vec<f64>]) -> Portion {
    let mut counts = vec![0; near.len()];
    class.iter().for_each(|&class| counts[class] += 1);
    let sums = Sums::of(rows, class, near, Wanted::Scatter(&Stop::default()));
    let means = Mat::from_fn(rows.features(), near.len(), |feature, class| {
        sums.means[class][feature]
    });
    Portion {
        counts,
        means,
        within: sums.scatter,
    }
}
