//! Rows that look as if they belonged together though nobody said so: exact copies, and rows that follow each other
//! and are alike, as those of one recording are.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::dealt::hashes_of;
use super::{RowBlock, Statistics};

/// Fewer rows tell nothing about those that follow each other.
const FEWEST_ROWS: usize = 20;
/// Pairs of rows that are compared.
const MOST_PAIRS: usize = 2000;
/// Rows follow each other if they are nearer than this, relative to others of their class.
const NEAR: f64 = 0.5;
/// And if so many more of them are nearer than chance makes, in its standard deviations.
const BEYOND_CHANCE: f64 = 3.0;
/// A feature of fewer values is equal by chance in some rows.
const FEW_VALUES: usize = 10;

/// What suggests that rows belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Alike {
    /// Rows that are exact copies of others, not counting the first of each.
    pub(crate) copies: usize,
    /// The distance of a row to the next of its class over that to any other, where it is small.
    pub(crate) ratio: Option<f64>,
}

impl Statistics<'_> {
    /// Looks at the rows of a task, if they are at hand.
    pub(crate) fn alike(&self, task: usize) -> Alike {
        let Some(rows) = self.rows_of(task) else {
            return Alike::default();
        };
        Alike {
            copies: copies(rows),
            ratio: self.near(task, rows),
        }
    }

    /// Median distance in standardised features to the next row of the class over that to any other of it.
    fn near(&self, task: usize, rows: &RowBlock<'_>) -> Option<f64> {
        if rows.len() < FEWEST_ROWS || self.features < 2 {
            return None;
        }
        // (row, next, other), class by class; rows of a class are in their order.
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut triples = Vec::new();
        let mut start = 0;
        for cell in self.cells.of_task(task) {
            let count = self.cells.count(cell);
            if count > 3 {
                for row in 0..count - 1 {
                    // Neither the row itself nor one beside it.
                    let other = (row + 2 + random.random_range(0..count - 3)) % count;
                    triples.push((start + row, start + row + 1, start + other));
                }
            }
            start += count;
        }
        let step = triples.len().div_ceil(MOST_PAIRS).max(1);
        let triples: Vec<_> = triples.into_iter().step_by(step).collect();
        if triples.len() + 1 < FEWEST_ROWS {
            return None;
        }
        let weights: Vec<f64> = self
            .pooled_variances()
            .iter()
            .map(|variance| if *variance > 0.0 { 1.0 / variance } else { 0.0 })
            .collect();
        let p = self.features;
        let distance = |a: &[f64], b: &[f64]| -> f64 {
            let both = a.iter().zip(b).zip(&weights);
            both.map(|((a, b), weight)| (a - b).powi(2) * weight)
                .sum::<f64>()
                .sqrt()
        };
        let (mut next, mut other) = (Vec::new(), Vec::new());
        for (row, following, any) in triples {
            let values = rows.select([row, following, any].into_iter()).values();
            let (own, rest) = values.split_at(p);
            let (following, any) = rest.split_at(p);
            next.push(distance(own, following));
            other.push(distance(own, any));
        }
        let nearer = next.iter().zip(&other).filter(|(a, b)| a < b).count() as f64;
        let n = next.len() as f64;
        let beyond = nearer - 0.5 * n > BEYOND_CHANCE * 0.5 * n.sqrt();
        let (near, far) = (median(next), median(other));
        (beyond && far > 0.0 && near < NEAR * far).then(|| near / far)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Rows that are copies of earlier ones, unless features have so few values that rows are equal by chance.
fn copies(rows: &RowBlock<'_>) -> usize {
    let mut hashes = hashes_of(rows);
    hashes.sort_unstable();
    hashes.dedup();
    let copies = rows.len() - hashes.len();
    // What features look like matters only where there are any.
    if copies == 0 || !are_fine(rows) {
        return 0;
    }
    copies
}

/// Whether two features or more have many values.
fn are_fine(rows: &RowBlock<'_>) -> bool {
    let p = rows.features();
    let mut values: Vec<HashSet<u64>> = vec![HashSet::new(); p];
    let enough = FEW_VALUES.max((rows.len() / 10).min(MOST_PAIRS));
    rows.for_panels(&vec![0.0; p], 1.0, |_, panel| {
        for row in panel.col_iter() {
            let missing = values.iter_mut().zip(row.iter());
            for (seen, x) in missing.filter(|(seen, _)| seen.len() < enough) {
                // Plus and minus zero are one.
                seen.insert((x + 0.0).to_bits());
            }
        }
    });
    values.iter().filter(|seen| seen.len() >= enough).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, Tasks};
    use rand::seq::SliceRandom;
    use rand_distr::{Distribution, StandardNormal};

    /// So many recordings of so many rows each, which differ by some noise; two classes.
    fn recordings(
        count: usize,
        length: usize,
        noise: f64,
        seed: u64,
    ) -> (Vec<Vec<f64>>, Vec<usize>) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
        let (mut rows, mut class) = (Vec::new(), Vec::new());
        for recording in 0..count {
            let centre: Vec<f64> = (0..6).map(|_| draw()).collect();
            for _ in 0..length {
                rows.push(centre.iter().map(|x| x + noise * draw()).collect());
                class.push(recording % 2);
            }
        }
        (rows, class)
    }

    fn alike(rows: &[Vec<f64>], class: &[usize]) -> Alike {
        let values = rows.concat();
        let names: Vec<&str> = class.iter().map(|&c| ["a", "b"][c]).collect();
        let rows = Rows::row_major(&values, rows[0].len()).unwrap();
        let tasks = Tasks::new(rows, &vec!["t"; names.len()], &names).unwrap();
        Statistics::of(&tasks).alike(0)
    }

    #[test]
    fn recordings_are_seen_and_independent_rows_are_not() {
        for seed in 0..40 {
            let (rows, class) = recordings(12, 10, 0.1, seed);
            let ratio = alike(&rows, &class).ratio.unwrap();
            assert!(ratio < 0.2, "{ratio}");
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
            let shuffled: Vec<Vec<f64>> = order.iter().map(|&l| rows[l].clone()).collect();
            let classes: Vec<usize> = order.iter().map(|&l| class[l]).collect();
            assert_eq!(alike(&shuffled, &classes), Alike::default());
            for rows in [20, 60, 300] {
                let (rows, class) = recordings(rows, 1, 0.0, 100 + seed);
                assert_eq!(alike(&rows, &class), Alike::default());
            }
        }
    }

    #[test]
    fn copies_are_counted_unless_values_are_few() {
        let (mut rows, mut class) = recordings(30, 1, 0.0, 1);
        rows.push(rows[4].clone());
        class.push(class[4]);
        assert_eq!(alike(&rows, &class).copies, 1);
        let coarse: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                row[..2]
                    .iter()
                    .map(|x| f64::from(u8::from(*x > 0.0)))
                    .collect()
            })
            .collect();
        assert_eq!(alike(&coarse, &class).copies, 0);
    }
}
