//! Which sources of many are alike (`docs/3-the-solver.md#many-tasks`).
//!
//! Up to [`MOST_APART`] sources with [`MOST_CELLS_APART`] cells each source has label scores of its own. More of
//! them are grouped by the directions of their class means about their task's mean, each feature over its spread, and
//! a group has one set of label scores: opposed and unrelated sources are still told apart, and all that is kept per
//! coupling has as many columns as if there were [`MOST_APART`] sources.
//!
//! The target has no say in the groups. Groups by likeness to the target would have seen the labels that are left out
//! later: among many sources some always point where the noise of the target does.
//!
//! Groups are found as spherical k-means does: centres as far apart as possible, then [`ROUNDS`] rounds of moving each to
//! the mean direction of those nearest to it. Time p C times the number of groups; memory p C.

use faer::{Mat, MatRef};

use crate::data::{Cells, Joined, Place, Statistics};
use crate::numerics::dense;

/// Up to so many sources each has label scores of its own.
pub(crate) const MOST_APART: usize = 100;
/// The same for their cells.
pub(crate) const MOST_CELLS_APART: usize = 1000;
/// Places for classes in a group's direction, in classes of a source.
const PLACES: usize = 4;
/// Rounds of moving centres.
const ROUNDS: usize = 5;

/// Whether a target has so many sources that they are grouped.
pub(crate) fn are_many(cells: &Cells, target: usize) -> bool {
    let sources = cells.tasks().len().saturating_sub(1);
    let own = cells.of_task(target).len();
    // One source is a group already.
    sources > 1 && (sources > MOST_APART || cells.len() - own > MOST_CELLS_APART)
}

/// How many groups of sources there may be for a target of so many classes.
fn most_groups(classes: usize) -> usize {
    MOST_APART.min(MOST_CELLS_APART / classes.max(1)).max(1)
}

/// The number of columns that responses of a target have, at most.
pub(crate) fn columns(cells: &Cells, target: usize) -> usize {
    let own = cells.of_task(target).len();
    match are_many(cells, target) {
        true => cells.len().min((most_groups(own) + 2) * own),
        false => cells.len(),
    }
}

/// The columns that many sources share; none where they are few.
pub(crate) fn joined(statistics: &Statistics<'_>, target: usize) -> Option<Joined> {
    let cells = statistics.cells();
    if !are_many(cells, target) {
        return None;
    }
    let aligned = cells.aligned(target);
    let classes = cells.of_task(target).len();
    let apart = apart(statistics);
    // Sources with a class of the target, and cells that stand for none.
    let known = |task: &usize| cells.of_task(*task).any(|cell| aligned[cell].is_some());
    let sources: Vec<usize> = (0..cells.tasks().len())
        .filter(|&task| task != target)
        .collect();
    let most = most_groups(classes).min(sources.len());
    let known: Vec<usize> = sources.into_iter().filter(known).collect();
    let others: Vec<usize> = (0..cells.len())
        .filter(|&cell| cells.task_of(cell) != target && aligned[cell].is_none())
        .collect();
    // Half of the groups for each kind, where there are both.
    let (for_known, for_others) = match known.is_empty() || others.is_empty() {
        true => (most, most),
        false => ((most - most / 2).max(1), (most / 2).max(1)),
    };
    // Where sources have few of many classes, classes share a place: it blurs the groups a little and keeps them small.
    let p = apart.nrows();
    let places = (PLACES * cells.len() / known.len().max(1)).clamp(1, classes);
    let mut of_tasks = Mat::zeros(p * places, known.len());
    for (number, &task) in known.iter().enumerate() {
        for cell in cells.of_task(task) {
            if let Some(class) = aligned[cell] {
                let to = of_tasks.col_as_slice_mut(number)[class % places * p..].iter_mut();
                to.zip(apart.col_as_slice(cell))
                    .for_each(|(to, from)| *to += from);
            }
        }
    }
    let of_others = Mat::from_fn(p, others.len(), |i, cell| apart[(i, others[cell])]);
    drop(apart);
    let group_of_known = groups(of_tasks, for_known);
    let group_of_other = groups(of_others, for_others);
    let mut of_task = vec![0; cells.tasks().len()];
    let numbers = known.iter().zip(group_of_known);
    numbers.for_each(|(&task, group)| of_task[task] = group);
    let mut of_cell = vec![0; cells.len()];
    let numbers = others.iter().zip(group_of_other);
    numbers.for_each(|(&cell, group)| of_cell[cell] = group);
    let place = |cell: usize| match aligned[cell] {
        Some(class) => Place::Class(of_task[cells.task_of(cell)], class),
        None => Place::Other(of_cell[cell]),
    };
    Some(Joined::new(cells, target, &place))
}

/// Class means about the mean of their task, each feature over its spread (p x C).
fn apart(statistics: &Statistics<'_>) -> Mat<f64> {
    let cells = statistics.cells();
    let factor = |variance: f64| match variance > 0.0 {
        true => 1.0 / variance.sqrt(),
        false => 0.0,
    };
    let factors = statistics.pooled_variances().into_iter().map(factor);
    let factors: Vec<f64> = factors.collect();
    let mut apart = statistics.means().clone();
    for task in 0..cells.tasks().len() {
        let mean = statistics.task_mean(task);
        for cell in cells.of_task(task) {
            let column = apart.col_as_slice_mut(cell).iter_mut();
            for ((x, mean), factor) in column.zip(&mean).zip(&factors) {
                *x = (*x - mean) * factor;
            }
        }
    }
    apart
}

/// The group of each column by its direction; numbers without a gap.
fn groups(mut points: Mat<f64>, most: usize) -> Vec<usize> {
    let count = points.ncols();
    if count <= most {
        return (0..count).collect();
    }
    normalise(&mut points);
    let mut centres = far_apart(&points, most);
    let mut nearest = Vec::new();
    for _ in 0..ROUNDS {
        nearest = nearest_of(&points, &centres);
        let mut sums = Mat::<f64>::zeros(points.nrows(), centres.ncols());
        for (point, &group) in nearest.iter().enumerate() {
            let to = sums.col_as_slice_mut(group).iter_mut();
            to.zip(points.col_as_slice(point))
                .for_each(|(to, from)| *to += from);
        }
        normalise(&mut sums);
        centres = sums;
    }
    let mut number: Vec<Option<usize>> = vec![None; centres.ncols()];
    let mut used = 0;
    nearest
        .into_iter()
        .map(|group| {
            *number[group].get_or_insert_with(|| {
                used += 1;
                used - 1
            })
        })
        .collect()
}

/// Columns of length one, but for those of length zero.
fn normalise(points: &mut Mat<f64>) {
    for j in 0..points.ncols() {
        let column = points.col_as_slice_mut(j);
        let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            column.iter_mut().for_each(|x| *x /= length);
        }
    }
}

/// The one that is most like all others, then always the one that is least like those chosen.
fn far_apart(points: &Mat<f64>, most: usize) -> Mat<f64> {
    let count = points.ncols();
    let ones = Mat::from_fn(count, 1, |_, _| 1.0);
    let sum = dense::times(points.as_ref(), ones.as_ref());
    let like = |to: MatRef<'_, f64>| dense::times(points.transpose(), to);
    let first = like(sum.as_ref());
    let mut chosen = vec![largest(first.col_as_slice(0))];
    let mut likeness = vec![f64::NEG_INFINITY; count];
    while chosen.len() < most {
        let last = chosen[chosen.len() - 1];
        let like = like(points.as_ref().subcols(last, 1));
        for (known, like) in likeness.iter_mut().zip(like.col_as_slice(0)) {
            *known = known.max(*like);
        }
        let unlike: Vec<f64> = likeness.iter().map(|like| -like).collect();
        chosen.push(largest(&unlike));
    }
    Mat::from_fn(points.nrows(), chosen.len(), |i, j| points[(i, chosen[j])])
}

/// The centre that each point is most like.
fn nearest_of(points: &Mat<f64>, centres: &Mat<f64>) -> Vec<usize> {
    let like = dense::times(centres.transpose(), points.as_ref());
    (0..points.ncols())
        .map(|point| largest(like.col_as_slice(point)))
        .collect()
}

/// The first of the largest.
fn largest(values: &[f64]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = index;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points around a few directions are grouped by these, whatever their order and length.
    #[test]
    fn directions_are_told_apart() {
        let direction = |number: usize, i: usize| match number {
            0 => f64::from(u8::from(i == 0)),
            1 => -f64::from(u8::from(i == 0)),
            2 => f64::from(u8::from(i == 1)),
            _ => f64::from(u8::from(i == 2)),
        };
        let of = |point: usize| (point * 7) % 4;
        let points = Mat::from_fn(5, 60, |i, point| {
            let noise = 0.1 * (((point * 31 + i * 17) % 13) as f64 - 6.0) / 6.0;
            (1 + point % 3) as f64 * (direction(of(point), i) + noise)
        });
        let found = groups(points, 4);
        for a in 0..60 {
            for b in 0..60 {
                assert_eq!(found[a] == found[b], of(a) == of(b), "{a} {b}");
            }
        }
        assert_eq!(found.iter().max(), Some(&3));
    }

    #[test]
    fn few_points_are_their_own_groups_and_zeros_are_no_trouble() {
        assert_eq!(groups(Mat::zeros(3, 4), 4), [0, 1, 2, 3]);
        assert_eq!(groups(Mat::zeros(3, 5), 4), [0; 5]);
        assert!(groups(Mat::zeros(3, 0), 4).is_empty());
    }
}
