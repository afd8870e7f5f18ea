//! The dual form of a trained system: one n x n system for the rows of all tasks, K = A\[t, t'\] z·z'/(kp) + I.

use faer::Mat;

use super::block::{Block, CentredRows, gram};
use super::leave_fold_out::dot;
use super::leave_one_out::Residuals;
use crate::data::{Cells, Coupling, Groups};
use crate::error::{Error, Result};
use crate::numerics::dense;

/// The Cholesky factor of K, and K⁻¹ y.
#[derive(Debug)]
pub(super) struct Dual<'a> {
    /// L with L Lᵀ = K.
    kernel: Mat<f64>,
    /// K⁻¹ y for the centred unit labels, n x C.
    alpha: Mat<f64>,
    rows: Vec<CentredRows<'a>>,
}

/// Whether the dual form takes fewer multiplications than the arrowhead; it needs the rows of every task.
pub(super) fn is_cheaper(cells: &Cells, features: usize, blocks: &[Block<'_>]) -> bool {
    if blocks
        .iter()
        .any(|block| matches!(block, Block::Scatter { .. }))
    {
        return false;
    }
    let p = features as f64;
    let counts: Vec<f64> = (0..cells.tasks().len())
        .map(|task| cells.samples(task) as f64)
        .collect();
    let n: f64 = counts.iter().sum();
    let arrow: f64 = counts
        .iter()
        .map(|n| {
            (0.5 * n * p * p + 0.5 * p.powi(3))
                .min(1.5 * n * n * p + 0.5 * n.powi(3) + 0.5 * n * p * p)
        })
        .sum();
    0.5 * n * n * p + n.powi(3) / 6.0 < arrow + p.powi(3) / 6.0
}

impl<'a> Dual<'a> {
    pub(super) fn new(cells: &Cells, coupling: &Coupling, blocks: Vec<Block<'a>>) -> Result<Self> {
        let rows: Vec<CentredRows<'a>> = blocks
            .into_iter()
            .filter_map(|block| match block {
                Block::Rows(rows) => Some(rows),
                Block::Scatter { .. } => None,
            })
            .collect();
        let mut kernel = gram(&rows);
        let n = kernel.nrows();
        let task: Vec<usize> = (0..rows.len())
            .flat_map(|task| std::iter::repeat_n(task, rows[task].rows.len()))
            .collect();
        for j in 0..n {
            for i in j..n {
                kernel[(i, j)] *= coupling.lambda()
                    + if task[i] == task[j] {
                        coupling.gamma()[task[i]]
                    } else {
                        0.0
                    };
            }
            kernel[(j, j)] += 1.0;
        }
        dense::cholesky(kernel.as_mut())
            .ok_or_else(|| Error::Factorisation { task: "all".into() })?;
        let cell: Vec<usize> = (0..cells.len())
            .flat_map(|cell| std::iter::repeat_n(cell, cells.count(cell)))
            .collect();
        let roots: Vec<f64> = rows
            .iter()
            .flat_map(|block| (0..block.rows.len()).map(|l| block.importance.root(l)))
            .collect();
        let mut alpha = Mat::from_fn(n, cells.len(), |sample, c| {
            let share = if cells.task_of(c) == task[sample] {
                cells.share(c)
            } else {
                0.0
            };
            roots[sample] * (f64::from(u8::from(cell[sample] == c)) - share)
        });
        dense::solve_cholesky(kernel.as_ref(), alpha.as_mut());
        Ok(Self {
            kernel,
            alpha,
            rows,
        })
    }

    /// w_i = Σ_j A_ij Z_jᵀ α_j/(kp) of a task for the C unit labels (p x C).
    pub(super) fn weights(&self, coupling: &Coupling, task: usize) -> Mat<f64> {
        let features = self.rows.first().map_or(0, |block| block.mean.len());
        let normaliser = (self.rows.len() * features) as f64;
        let mut weights = Mat::zeros(features, self.alpha.ncols());
        let mut start = 0;
        for (other, block) in self.rows.iter().enumerate() {
            let n = block.rows.len();
            let own = if other == task {
                coupling.gamma()[task]
            } else {
                0.0
            };
            let strength = coupling.lambda() + own;
            if strength != 0.0 {
                // One more 1/√(kp) than the packed rows hold.
                let strength = strength / normaliser.sqrt();
                block.add_weighted(self.alpha.subrows(start, n), strength, &mut weights);
            }
            start += n;
        }
        weights
    }

    /// α of a task's samples, and the G_ll: (K⁻¹)_ll is the squared norm of column l of L⁻¹.
    /// The `whole` of I - H if asked for, and its blocks where samples come in groups. `total` are their weights.
    pub(super) fn residuals(
        &self,
        task: usize,
        total: f64,
        whole: bool,
        groups: &Groups,
    ) -> Residuals {
        let start: usize = self.rows[..task].iter().map(|block| block.rows.len()).sum();
        let n = self.rows[task].rows.len();
        let inverse = dense::invert_lower(self.kernel.as_ref());
        let own = inverse.subcols(start, n);
        let importance = &self.rows[task].importance;
        let intercept = |i: usize, j: usize| importance.root(i) * importance.root(j) / total;
        let q = whole.then(|| {
            let mut q = dense::times(own.transpose(), own);
            for (j, column) in q.col_iter_mut().enumerate() {
                let entries = column.iter_mut().enumerate();
                entries.for_each(|(i, x)| *x -= intercept(i, j));
            }
            q
        });
        let block = |members: &Vec<usize>| {
            Mat::from_fn(members.len(), members.len(), |i, j| {
                dot(own.col(members[i]), own.col(members[j])) - intercept(members[i], members[j])
            })
        };
        Residuals {
            blocks: groups
                .members()
                .unwrap_or_default()
                .iter()
                .map(block)
                .collect(),
            g: (0..n)
                .map(|l| own.col(l).squared_norm_l2() - importance.of(l) / total)
                .collect(),
            alpha: self.alpha.subrows(start, n).to_owned(),
            q,
        }
    }
}
