//! One covariance for all classes of all tasks, estimated from the data at hand.
//!
//! The within-class scatter of all (scaled) tasks is pooled and its spectrum pulled toward the mean
//! by the oracle-approximating rule (OAS). The theory built on it is good for *relative* statements,
//! such as how the separation grows with the number of labels; its absolute errors are not to be
//! trusted.
//!
//! Time one eigen-decomposition of size r = min(n, p); memory 2 r² doubles.

use faer::Mat;

use super::covariance::oas;
use crate::data::cells::Cells;
use crate::numerics::dense;
use crate::solve::reduced::Reduced;
use crate::theory::Common;

/// Contrasts keep at least this share of their squared length.
const LEAST_CONTRAST: f64 = 0.05;

/// The pooled covariance of all classes of all tasks, with the class means of the samples in its eigenbasis,
/// for [`crate::theory::Theory::common`] at any coupling; `None` if there is no within-class variance.
pub(crate) fn pooled(reduced: &Reduced<'_>) -> Option<Common> {
    let cells = &reduced.cells;
    let p = reduced.features() as f64;
    let r = reduced.cell_mean(0).len();
    let mut scatter = Mat::zeros(r, r);
    let traces: Vec<f64> = (0..cells.tasks().len())
        .map(|task| p * reduced.add_within(task, &mut scatter))
        .collect();
    let freedom: Vec<f64> = cells
        .tasks()
        .iter()
        .map(|task| {
            task.counts
                .iter()
                .map(|&n| n.saturating_sub(1) as f64)
                .sum()
        })
        .collect();
    let total: f64 = freedom.iter().sum();
    if total < 1.0 || traces.iter().sum::<f64>() <= 0.0 {
        return None;
    }
    let (sample, vectors) = dense::symmetric_eigen(scatter.as_ref())?;
    let sample: Vec<f64> = sample
        .iter()
        .map(|value| (value * p / total).max(0.0))
        .collect();

    // OAS, counting the p - r directions that no sample has seen.
    let (trace, squares): (f64, f64) = (sample.iter().sum(), sample.iter().map(|x| x * x).sum());
    let weight = oas(p, total, trace, squares);
    let level = trace / p;
    let mut values: Vec<f64> = sample
        .iter()
        .map(|x| (1.0 - weight) * x + weight * level)
        .collect();
    let mut multiplicity = vec![1.0; r];
    let unseen = p - r as f64;
    if unseen > 0.0 {
        values.push(weight * level);
        multiplicity.push(unseen);
    }

    let by_task: Vec<f64> = (0..cells.tasks().len())
        .map(|task| {
            if freedom[task] > 0.0 && traces[task] > 0.0 {
                traces[task] / (freedom[task] * p * level)
            } else {
                1.0
            }
        })
        .collect();
    let alpha = (0..cells.len())
        .map(|cell| by_task[cells.task_of(cell)])
        .collect();
    let mut means = Mat::zeros(values.len(), cells.len());
    for task in 0..cells.tasks().len() {
        let range = cells.of_task(task);
        let mut raw = Mat::zeros(r, range.len());
        for (class, cell) in range.clone().enumerate() {
            for (i, x) in reduced.cell_mean(cell).iter().enumerate() {
                raw[(i, class)] = x * p.sqrt();
            }
        }
        let rotated = dense::times(vectors.transpose(), raw.as_ref());
        for (class, cell) in range.enumerate() {
            for i in 0..r {
                means[(i, cell)] = rotated[(i, class)];
            }
        }
    }
    Some(Common {
        values,
        multiplicity,
        alpha,
        means,
    })
}

impl Common {
    /// The same with the differences between class means shrunk by what noise alone would give them; the means
    /// are those of samples, less their task's.
    pub(crate) fn shrunk(&self, cells: &Cells) -> Self {
        let mut shrunk = self.clone();
        let p: f64 = self.multiplicity.iter().sum();
        for task in 0..cells.tasks().len() {
            let range = cells.of_task(task);
            // Σ_j n_j |x̄_j - x̄|² in whitened coordinates is p (m - 1) from noise alone.
            let whitened: f64 = range
                .clone()
                .map(|cell| {
                    let squared: f64 = (0..self.values.len())
                        .filter(|&i| self.values[i] > 0.0)
                        .map(|i| {
                            self.means[(i, cell)].powi(2) / (self.alpha[cell] * self.values[i])
                        })
                        .sum();
                    cells.count(cell) as f64 * squared
                })
                .sum();
            if whitened > 0.0 {
                let noise = p * (range.len() - 1) as f64;
                let keep = (1.0 - noise / whitened).max(LEAST_CONTRAST).sqrt();
                for cell in range {
                    let column = shrunk.means.col_mut(cell);
                    column.iter_mut().for_each(|x| *x *= keep);
                }
            }
        }
        shrunk
    }
}
