//! How alike tasks are, from their class means alone.

use faer::Mat;

use super::gram;
use crate::data::{Cells, Statistics};
use crate::solve::Scaling;

/// How alike the class differences of each task (row) are to those of each target (column), from -1
/// (opposed) over 0 (unrelated) to 1 (the same); `None` where classes do not correspond.
///
/// ```text
/// Σ_c μ_qc·μ_tc / √(Σ_c |μ_qc|² Σ_c |μ_tc|²),   μ the class means less their centre
/// ```
///
/// The inner products are freed of the sampling noise of the means (`gram::estimate`).
///
/// ```
/// use foretask::{Rows, Scaling, Statistics, relatedness};
/// let mut statistics = Statistics::new(1);
/// let values = [0.0, 0.1, 1.0, 1.1, 5.0, 5.1, 2.0, 2.1];
/// let task = ["t", "t", "t", "t", "u", "u", "u", "u"];
/// let class = ["a", "a", "b", "b", "a", "a", "b", "b"];
/// statistics.add(Rows::row_major(&values, 1)?, &task, &class)?;
/// let alike = relatedness(&statistics, Scaling::Auto);
/// assert!(alike[0][0].unwrap_or(0.0) > 0.999 && alike[0][1].unwrap_or(0.0) < -0.9);
/// # Ok::<(), foretask::Error>(())
/// ```
pub fn relatedness(statistics: &Statistics<'_>, scaling: Scaling) -> Vec<Vec<Option<f64>>> {
    let cells = statistics.cells();
    let gram = gram::estimate(statistics, &scaling.scales(statistics));
    let tasks = 0..cells.tasks().len();
    tasks
        .clone()
        .map(|task| {
            let to = |target| likeness(cells, &gram, task, target);
            tasks.clone().map(to).collect()
        })
        .collect()
}

/// The likeness of one task to a target, from the inner products of the class means.
pub(crate) fn likeness(cells: &Cells, gram: &Mat<f64>, task: usize, target: usize) -> Option<f64> {
    let aligned = cells.aligned(target);
    let first = cells.of_task(target).start;
    let pairs: Vec<(usize, usize)> = cells
        .of_task(task)
        .filter_map(|cell| aligned[cell].map(|class| (cell, first + class)))
        .collect();
    let n = pairs.len() as f64;
    // Differences within the shared classes, whatever the origin of each task.
    let centred = |of: &dyn Fn(usize) -> (usize, usize), i: usize| -> f64 {
        let (a, b) = of(i);
        let all = 0..pairs.len();
        let row: f64 = all.clone().map(|q| gram[(a, of(q).1)]).sum::<f64>() / n;
        let column: f64 = all.clone().map(|q| gram[(of(q).0, b)]).sum::<f64>() / n;
        let whole: f64 = all
            .clone()
            .flat_map(|q| all.clone().map(move |r| (q, r)))
            .map(|(q, r)| gram[(of(q).0, of(r).1)])
            .sum::<f64>()
            / (n * n);
        gram[(a, b)] - row - column + whole
    };
    let total = |of: &dyn Fn(usize) -> (usize, usize)| {
        (0..pairs.len()).map(|i| centred(of, i)).sum::<f64>()
    };
    let cross = total(&|i| pairs[i]);
    let own = total(&|i| (pairs[i].1, pairs[i].1));
    let other = total(&|i| (pairs[i].0, pairs[i].0));
    (pairs.len() > 1 && own > 0.0 && other > 0.0)
        .then(|| (cross / (own * other).sqrt()).clamp(-1.0, 1.0))
}
