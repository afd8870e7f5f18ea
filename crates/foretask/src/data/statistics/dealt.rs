//! [`Dealt`]: a task with many rows, dealt out to folds that are summed up, and a bounded number of its rows.
//!
//! Folds are all that training, couplings, families and weights need (`docs/3-the-solver.md#folds-of-statistics`);
//! errors, calibration and thresholds are counted among rows, of which a [`Sample`] is kept. Both follow from a hash of
//! what is in a row, so that neither the order of the rows nor how they are split into parts matters.
//!
//! Memory p² doubles a fold and p a row of the sample, whatever the number of rows.

use faer::Mat;
use rayon::prelude::*;

use super::portion::{Portion, fold_of, hashes, portion_of};
use super::rows::RowBlock;
use crate::data::importance::Importance;
use crate::data::rows::panel_samples;
use crate::error::{Error, Result};

/// Folds that rows are dealt to, unless it is said otherwise,
pub(crate) const FOLDS: usize = 10;
/// and how many that may be: each costs as much as a target.
pub(crate) const FOLDS_AT_MOST: usize = 50;
/// Fewer rows than this are left out one by one, and kept as they are.
const MANY_ROWS: usize = 4000;
/// So are rows fewer than this many times the features: a fold costs as many factorisations as the target.
const ROWS_PER_FEATURE: usize = 12;
/// Rows in a sample, of all classes together,
const SAMPLED: usize = 20_000;
/// and of each of many classes.
const SAMPLED_OF_A_CLASS: usize = 200;
/// The lower half of a hash.
const HALF: u64 = u32::MAX as u64;
/// Rows that are hashed one after the other.
const HASHED: usize = 256;

/// # Errors
/// If so many folds cannot be had.
pub(crate) fn check_folds(folds: usize) -> Result<()> {
    match (2..=FOLDS_AT_MOST).contains(&folds) {
        true => Ok(()),
        false => Err(Error::Setting {
            setting: "folds",
            value: folds.to_string(),
            expected: "2 to 50",
        }),
    }
}

/// That sums of folds are there, and others are asked for.
pub(crate) fn other_folds(there: usize, asked: usize) -> Error {
    Error::Setting {
        setting: "folds",
        value: format!("{there} and {asked}"),
        expected: "sums of folds cannot be dealt out again: gather all parts with the same number of folds",
    }
}

/// Whether a target has so many rows that it is studied by folds.
pub(crate) fn are_many(rows: usize, features: usize) -> bool {
    rows >= MANY_ROWS.max(ROWS_PER_FEATURE.saturating_mul(features))
}

/// A task's rows by fold.
#[derive(Clone, Debug)]
pub(crate) struct Dealt {
    pub(crate) portions: Vec<Portion>,
    pub(crate) sample: Sample,
}

impl Dealt {
    /// Of rows with their classes, whose means are near to `near`.
    pub(super) fn of(
        rows: &RowBlock<'_>,
        class: &[usize],
        near: &[Vec<f64>],
        folds: usize,
    ) -> Self {
        let hashes = hashes_of(rows);
        let members = members(&hashes, folds);
        Self {
            portions: portions_of(rows, class, near, &members),
            sample: Sample::none(rows.features(), near.len()).with(rows, class, &hashes),
        }
    }

    /// With more rows, whose classes are the same: the folds and the sample of [`Dealt::merged`], without a sample of
    /// these rows alone.
    pub(super) fn with(self, rows: &RowBlock<'_>, class: &[usize], near: &[Vec<f64>]) -> Self {
        let hashes = hashes_of(rows);
        let members = members(&hashes, self.portions.len());
        let more = portions_of(rows, class, near, &members);
        Self {
            portions: merged(&self.portions, &more),
            sample: match self.is_bare() {
                true => self.sample,
                false => self.sample.with(rows, class, &hashes),
            },
        }
    }

    /// Whether there are no rows to count among.
    pub(crate) fn is_bare(&self) -> bool {
        self.sample.rows.len() == 0
    }

    /// The same without a row. None if a fold has fewer than `least` rows of a class, which would be as good as told.
    pub(super) fn bare(&self, least: usize) -> Option<Self> {
        let mut counts = self.portions.iter().flat_map(|own| &own.counts);
        let hidden = counts.all(|&count| count == 0 || count >= least);
        hidden.then(|| Self {
            sample: Sample::none(self.sample.rows.features(), self.sample.counts.len()),
            portions: self.portions.clone(),
        })
    }

    /// The same with other classes: `places` are those of its own among `classes`.
    pub(super) fn among_classes(&self, places: &[usize], classes: usize) -> Self {
        let portions = self.portions.iter();
        Self {
            portions: portions
                .map(|portion| portion.among_classes(places, classes))
                .collect(),
            sample: self.sample.among_classes(places, classes),
        }
    }

    /// The rows of both, whose classes are the same. A sample of one of them is none of both.
    pub(super) fn merged(self, other: &Self) -> Self {
        let more = &other.sample;
        Self {
            portions: merged(&self.portions, &other.portions),
            sample: match self.is_bare() || other.is_bare() {
                true => Sample::none(more.rows.features(), more.counts.len()),
                false => self.sample.with(&more.rows, &more.class(), &more.hashes),
            },
        }
    }

    /// The same with the feature `places[j]` in place j. The hash of a row is that of the order it was dealt in.
    pub(super) fn reordered(&self, places: &[usize]) -> Self {
        let portions = self.portions.iter();
        Self {
            portions: portions.map(|portion| portion.reordered(places)).collect(),
            sample: self.sample.reordered(places),
        }
    }

    /// The scatter of all rows about their mean, lower triangle.
    pub(super) fn scatter(&self) -> Mat<f64> {
        let mut portions = self.portions.iter();
        let first = portions.next().cloned();
        let whole = first.map(|first| portions.fold(first, |sum, more| sum.merged(more)));
        whole.map_or_else(Mat::new, |whole| whole.scatter())
    }
}

/// The folds of both.
fn merged(own: &[Portion], more: &[Portion]) -> Vec<Portion> {
    let both = own.par_iter().zip(more);
    both.map(|(own, more)| own.merged(more)).collect()
}

/// The class of a row, what it is chosen by, whether it is in the sample already, and where it is.
type Place = (usize, u64, bool, usize);

/// Of each class the rows whose hashes are smallest, class by class.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) rows: RowBlock<'static>,
    hashes: Vec<u64>,
    /// By class.
    pub(crate) counts: Vec<usize>,
}

impl Sample {
    /// Rows of a class in a sample of so many classes.
    pub(crate) fn most(classes: usize) -> usize {
        (SAMPLED / classes.max(1)).max(SAMPLED_OF_A_CLASS)
    }

    /// No row yet.
    fn none(features: usize, classes: usize) -> Self {
        Self {
            rows: RowBlock::owned(Vec::new(), features),
            hashes: Vec::new(),
            counts: vec![0; classes],
        }
    }

    /// With those of more rows that belong to it. They take the places of those that do not any more, so that a stream
    /// copies few rows, fewer with every part: s ln(n/s) of n for a sample of s.
    fn with(self, rows: &RowBlock<'_>, class: &[usize], hashes: &[u64]) -> Self {
        let most = Self::most(self.counts.len());
        let own = self.class();
        let own = own.iter().zip(&self.hashes).enumerate();
        // Copies of a row: those that were there first.
        let mut order: Vec<Place> = own
            .map(|(row, (&class, &hash))| (class, drawn(hash), true, row))
            .collect();
        let mut end = 0;
        let last: Vec<u64> = (self.counts.iter())
            .map(|&count| {
                end += count;
                match count < most {
                    true => u64::MAX,
                    false => order[end - 1].1,
                }
            })
            .collect();
        let more = class.iter().zip(hashes).enumerate();
        let more = more.map(|(row, (&class, &hash))| (class, drawn(hash), false, row));
        order.extend(more.filter(|&(class, drawn, ..)| drawn <= last[class]));
        order.sort_by_key(|&(class, drawn, own, row)| (class, drawn, !own, row));
        let mut counts = vec![0; self.counts.len()];
        order.retain(|&(class, ..)| {
            let taken = counts[class] < most;
            counts[class] += usize::from(taken);
            taken
        });
        let hash = |&(_, _, own, row): &Place| if own { self.hashes[row] } else { hashes[row] };
        let hashes = order.iter().map(hash).collect();
        let order: Vec<(bool, usize)> = order.iter().map(|&(_, _, own, row)| (own, row)).collect();
        Self {
            rows: self.rows.exchanged(rows, &order),
            hashes,
            counts,
        }
    }

    /// The halves of the hashes as numbers, for a file of such.
    pub(super) fn halves(&self) -> Vec<f64> {
        let halves = self.hashes.iter();
        halves
            .flat_map(|hash| [(hash >> 32) as f64, (hash & HALF) as f64])
            .collect()
    }

    /// What was written; none if it is no sample. Hashes are not made again: columns may have moved since.
    pub(super) fn read(
        values: Vec<f64>,
        halves: &[f64],
        features: usize,
        counts: Vec<usize>,
    ) -> Option<Self> {
        let half =
            |x: f64| (x.fract() == 0.0 && (0.0..=HALF as f64).contains(&x)).then_some(x as u64);
        let hash = |pair: &[f64]| Some(half(pair[0])? << 32 | half(pair[1])?);
        let hashes: Vec<u64> = halves.chunks_exact(2).map(hash).collect::<Option<_>>()?;
        let sample = Self {
            rows: RowBlock::owned(values, features),
            hashes,
            counts,
        };
        let class = sample.class();
        let keys: Vec<(usize, u64)> = class
            .into_iter()
            .zip(sample.hashes.iter().map(|&hash| drawn(hash)))
            .collect();
        let most = Self::most(sample.counts.len());
        let fits = keys.is_sorted()
            && keys.len() == sample.hashes.len()
            && sample.rows.len() == keys.len()
            && sample.counts.iter().all(|&count| count <= most);
        fits.then_some(sample)
    }

    fn among_classes(&self, places: &[usize], classes: usize) -> Self {
        let mut counts = vec![0; classes];
        let both = places.iter().zip(&self.counts);
        both.for_each(|(&place, &count)| counts[place] = count);
        // Names are sorted, so that classes keep their order.
        Self {
            counts,
            ..self.clone()
        }
    }

    fn reordered(&self, places: &[usize]) -> Self {
        let values = self.rows.values();
        let rows = values.chunks_exact(places.len().max(1));
        let moved = rows.flat_map(|row| places.iter().map(|&place| row[place]));
        Self {
            rows: RowBlock::owned(moved.collect(), places.len()),
            ..self.clone()
        }
    }

    /// The class of each row.
    pub(crate) fn class(&self) -> Vec<usize> {
        by_class(&self.counts)
    }

    /// The rows of each fold.
    pub(crate) fn members(&self, folds: usize) -> Vec<Vec<usize>> {
        members(&self.hashes, folds)
    }

    /// How many rows of their class each stands for, class by class: `counts` for `all`.
    pub(crate) fn importance(counts: &[usize], all: &[usize]) -> Importance {
        let both = all.iter().zip(counts);
        let weights: Vec<f64> = both
            .flat_map(|(&all, &count)| std::iter::repeat_n(all as f64 / count.max(1) as f64, count))
            .collect();
        Importance::scaled(&weights)
    }
}

/// The class of each of so many rows, class by class.
pub(crate) fn by_class(counts: &[usize]) -> Vec<usize> {
    let counts = counts.iter().enumerate();
    counts
        .flat_map(|(class, &count)| std::iter::repeat_n(class, count))
        .collect()
}

/// The hash of each row.
pub(super) fn hashes_of(rows: &RowBlock<'_>) -> Vec<u64> {
    let together = panel_samples(HASHED, rows.features());
    let starts: Vec<usize> = (0..rows.len()).step_by(together).collect();
    let parts: Vec<Vec<u64>> = starts
        .into_par_iter()
        .map(|start| hashes(rows, start..(start + together).min(rows.len())))
        .collect();
    parts.concat()
}

/// The rows of each fold, by what is in them.
pub(crate) fn rows_by_fold(rows: &RowBlock<'_>, folds: usize) -> Vec<Vec<usize>> {
    members(&hashes_of(rows), folds)
}

/// The rows of each fold.
fn members(hashes: &[u64], folds: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); folds];
    for (row, &hash) in hashes.iter().enumerate() {
        members[fold_of(hash, folds)].push(row);
    }
    members
}

/// The rows of each fold, summed up.
pub(super) fn portions_of(
    rows: &RowBlock<'_>,
    class: &[usize],
    near: &[Vec<f64>],
    members: &[Vec<usize>],
) -> Vec<Portion> {
    let portion = |members: &Vec<usize>| {
        let class: Vec<usize> = members.iter().map(|&row| class[row]).collect();
        portion_of(&rows.select(members.iter().copied()), &class, near)
    };
    members.par_iter().map(portion).collect()
}

/// What rows of a sample are chosen by: the half of the hash that has no say in the fold comes first.
fn drawn(hash: u64) -> u64 {
    hash.rotate_left(32)
}
