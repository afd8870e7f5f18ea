//! Which rows are landmarks of a kernel, and how wide it is.
//!
//! Up to [`EXACT_ROWS`] rows all are. Beyond, they are rows of the sources; never of the target, whose own would be
//! represented better than new ones, and leave-one-out would judge them too kindly. One after the other is drawn with the
//! probability of what the ones before leave of its kernel with itself (randomly pivoted Cholesky, Chen, Epperly, Tropp
//! and Webber): rows that are unlike those drawn before, but no more of the outliers than there are. What is drawn
//! follows from the rows themselves: neither their order nor that of tasks and classes matters.
//!
//! Time, with c candidates and L landmarks, c² p + c L²; memory c².

use faer::{ColRef, Mat};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::kernel::Kernel;
use crate::data::Statistics;
use crate::numerics::dense;
use crate::numerics::points::uneven;

/// Up to so many rows every row is a landmark.
pub(super) const EXACT_ROWS: usize = 400;
/// So many rows of the sources beyond.
const LANDMARKS: usize = 250;
/// Rows of the sources that landmarks are drawn from at most.
const CANDIDATES: usize = 2000;
/// No landmark is drawn where those before leave less than this of every row.
const REPRESENTED: f64 = 1e-9;
/// Rows closer than this (squared) are the same row.
const SAME: f64 = 1e-12;
/// Rows of the target, and rows, that the width is taken from at most.
const WIDTH_FROM: (usize, usize) = (400, 2000);

/// The rows of all tasks, ready to be chosen from.
pub(super) struct Candidates<'p> {
    /// One row a column, by task.
    packed: &'p [Mat<f64>],
    target: usize,
    cells: Vec<Cell>,
}

/// The rows of a class of a task, in an order that has nothing to do with that of rows, tasks and classes.
struct Cell {
    task: usize,
    rows: Vec<usize>,
}

/// A task, and a row of it.
type Place = (usize, usize);

impl<'p> Candidates<'p> {
    /// The cells of all tasks in the order of what their rows are, and the rows of each shuffled from that order on. Rows
    /// of a class are side by side.
    pub(super) fn new(statistics: &Statistics<'_>, packed: &'p [Mat<f64>], target: usize) -> Self {
        let mut cells: Vec<(f64, Cell)> = Vec::new();
        for (task, of) in statistics.cells().tasks().iter().enumerate() {
            let keys: Vec<f64> = packed[task].col_iter().map(key).collect();
            let mut start = 0;
            for &count in &of.counts {
                let mut rows: Vec<usize> = (start..start + count).collect();
                rows.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
                let sum: f64 = rows.iter().map(|&row| keys[row]).sum();
                cells.push((sum / count.max(1) as f64, Cell { task, rows }));
                start += count;
            }
        }
        cells.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let shuffled = cells.into_iter().map(|(_, mut cell)| {
            cell.rows.shuffle(&mut random);
            cell
        });
        Self {
            packed,
            target,
            cells: shuffled.collect(),
        }
    }

    /// The landmarks of a kernel so wide, one a column.
    pub(super) fn landmarks(&self, width: f64) -> Mat<f64> {
        let total = self.packed.iter().map(Mat::ncols).sum();
        if total <= EXACT_ROWS {
            return self.gather(self.drawn(&|_| true, total));
        }
        let places = self.drawn(&|task| task != self.target, CANDIDATES);
        let chosen = pivots(&self.columns(&places), width, LANDMARKS);
        self.gather(chosen.into_iter().map(|row| places[row]).collect())
    }

    /// The median of the squared distances between rows of the target and rows of all tasks.
    pub(super) fn width(&self) -> Option<f64> {
        let target = self.gather(self.drawn(&|task| task == self.target, WIDTH_FROM.0));
        let all = self.gather(self.drawn(&|_| true, WIDTH_FROM.1));
        let square =
            |of: &Mat<f64>| -> Vec<f64> { of.col_iter().map(|x| x.squared_norm_l2()).collect() };
        let (own, other) = (square(&target), square(&all));
        let products = dense::times(target.transpose(), all.as_ref());
        let mut distances: Vec<f64> = Vec::with_capacity(own.len() * other.len());
        for (j, other) in other.iter().enumerate() {
            for (i, own) in own.iter().enumerate() {
                let distance = own + other - 2.0 * products[(i, j)];
                if distance > SAME {
                    distances.push(distance);
                }
            }
        }
        if distances.is_empty() {
            return None;
        }
        let (odd, half) = (distances.len() % 2 == 1, distances.len() / 2);
        let (below, &mut upper, _) = distances.select_nth_unstable_by(half, f64::total_cmp);
        if odd {
            return Some(upper);
        }
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(0.5 * (lower + upper))
    }

    /// At most so many rows of some tasks, the same share of each cell, in an order that has nothing to do with theirs.
    fn drawn(&self, of: &dyn Fn(usize) -> bool, most: usize) -> Vec<Place> {
        let cells = self.cells.iter().filter(|cell| of(cell.task));
        let mut ranked: Vec<(f64, Place)> = cells
            .flat_map(|cell| {
                let many = cell.rows.len() as f64;
                let ranked = cell.rows.iter().enumerate();
                ranked.map(move |(rank, &row)| ((rank as f64 + 0.5) / many, (cell.task, row)))
            })
            .collect();
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        ranked.truncate(most);
        ranked.into_iter().map(|(_, place)| place).collect()
    }

    /// Some rows, one a column, in the order of tasks and rows.
    fn gather(&self, mut places: Vec<Place>) -> Mat<f64> {
        places.sort_unstable();
        self.columns(&places)
    }

    fn columns(&self, places: &[Place]) -> Mat<f64> {
        let features = self.packed.first().map_or(0, Mat::nrows);
        Mat::from_fn(features, places.len(), |i, j| {
            let (task, row) = places[j];
            self.packed[task][(i, row)]
        })
    }
}

/// A number that tells rows apart.
fn key(row: ColRef<'_, f64>) -> f64 {
    let features = row.iter().enumerate();
    features.map(|(j, x)| x * uneven(j)).sum()
}

/// At most so many of some rows (one a column), each drawn with the probability of its residual: of what the ones before
/// leave of the kernel of a row with itself.
fn pivots(rows: &Mat<f64>, width: f64, most: usize) -> Vec<usize> {
    let n = rows.ncols();
    let mut residual = vec![1.0; n];
    let mut between = Kernel::new(rows.clone(), width).values(rows.as_ref());
    let mut factor = Mat::<f64>::zeros(n, most.min(n));
    let mut chosen = Vec::with_capacity(factor.ncols());
    let mut random = ChaCha8Rng::seed_from_u64(0);
    for step in 0..factor.ncols() {
        if residual.iter().all(|&left| left < REPRESENTED) {
            break;
        }
        let pivot = one_of(&residual, random.random());
        let column = between.col_as_slice_mut(pivot);
        for before in 0..step {
            let before = factor.col_as_slice(before);
            let own = before[pivot];
            let both = column.iter_mut().zip(before);
            both.for_each(|(entry, before)| *entry -= own * before);
        }
        let root = residual[pivot].sqrt();
        let entries = factor.col_as_slice_mut(step).iter_mut().zip(column);
        for ((entry, known), left) in entries.zip(&mut residual) {
            *entry = *known / root;
            *left = (*left - *entry * *entry).max(0.0);
        }
        residual[pivot] = 0.0;
        chosen.push(pivot);
    }
    chosen
}

/// The first of which, with all before, is more than a share of the sum of all.
fn one_of(weights: &[f64], share: f64) -> usize {
    let mut left = share * weights.iter().sum::<f64>();
    let mut last = 0;
    for (index, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = index;
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, StandardNormal};

    /// Of K less what some rows explain of it, K - K_c K_cc⁻¹ K_cᵀ, the mean on the diagonal.
    fn left(rows: &Mat<f64>, width: f64, chosen: &[usize]) -> f64 {
        let landmarks = Mat::from_fn(rows.nrows(), chosen.len(), |i, j| rows[(i, chosen[j])]);
        let kernel = Kernel::new(landmarks.clone(), width);
        let (all, mut own) = (
            kernel.values(rows.as_ref()),
            kernel.values(landmarks.as_ref()),
        );
        (0..own.nrows()).for_each(|i| own[(i, i)] += 1e-12);
        let solved = dense::solve_general(own.as_ref(), all.transpose());
        let explained: f64 = (0..all.nrows())
            .map(|l| {
                (0..all.ncols())
                    .map(|j| all[(l, j)] * solved[(j, l)])
                    .sum::<f64>()
            })
            .sum();
        1.0 - explained / all.nrows() as f64
    }

    #[test]
    fn rows_that_are_represented_are_not_drawn_again() {
        let rows = Mat::from_fn(2, 150, |i, l| ((l % 3) * (i + 1)) as f64);
        let mut chosen = pivots(&rows, 2.0, 20);
        chosen.iter_mut().for_each(|row| *row %= 3);
        chosen.sort_unstable();
        assert_eq!(chosen, [0, 1, 2]);
    }

    #[test]
    fn what_is_drawn_explains_more_than_as_many_rows_of_any_kind() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..5 {
            // Most rows are in one place, the others in twenty.
            let rows = Mat::from_fn(3, 600, |i, l| {
                let place = if l % 3 == 0 { l / 3 % 20 } else { 0 };
                let noise: f64 = StandardNormal.sample(&mut random);
                (place as f64 * (i as f64 + 1.3)).sin() * 8.0 + 0.3 * noise
            });
            let chosen = pivots(&rows, 4.0, 40);
            assert_eq!(chosen.len(), 40);
            let evenly: Vec<usize> = (0..40).map(|i| i * 15 + i % 15).collect();
            let (drawn, evenly) = (left(&rows, 4.0, &chosen), left(&rows, 4.0, &evenly));
            assert!(drawn < 0.5 * evenly, "{drawn} {evenly}");
        }
    }
}
