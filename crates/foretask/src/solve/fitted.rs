//! [`Fitted`]: a target at one coupling, from what its samples respond when they are left out.

use faer::{Mat, MatMut};

use super::effective::{Operator, Probes};
use super::grid::GridPoint;
use super::leave_fold_out::{HAT_ROWS, Hat, leave_group_out, left_out};
use super::leave_one_out::stratify;
use super::weights::{Coordinates, Weights};
use crate::data::{Cells, Groups, Importance, Joined};

/// The target's fit at one coupling.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) point: GridPoint,
    /// Stratified responses of the target's samples, each left out with its group, n_t x C.
    pub(crate) responses: Mat<f64>,
    /// How many independent errors the leave-one-out responses hold (`effective.rs`).
    pub(crate) effective: f64,
    /// What leaving out several samples at once needs, unless they are many.
    pub(crate) hat: Option<Hat>,
    /// Of the target for the C unit labels.
    pub(crate) weights: Weights,
    /// The same without each fold, where the target is in folds (`fold_grid.rs`).
    pub(crate) without: Vec<Mat<f64>>,
}

impl Fitted {
    /// The same where sources share columns.
    pub(crate) fn joined(mut self, joined: &Joined) -> Self {
        self.responses = joined.sums(&self.responses);
        self.hat = self.hat.map(|hat| hat.joined(joined));
        self.weights.values = joined.sums(&self.weights.values);
        self
    }
}

/// The samples of a target, as every coupling sees them.
pub(super) struct Sampled<'r> {
    pub(super) task: usize,
    /// Of the columns of the responses.
    pub(super) cells: &'r Cells,
    /// By sample, its class in the task.
    pub(super) class: Vec<usize>,
    pub(super) groups: &'r Groups,
    pub(super) importance: &'r Importance,
}

/// What a coupling makes of them.
pub(super) struct LeftOut<'r> {
    pub(super) point: GridPoint,
    /// Responses of samples that are left out one by one, n_t x C.
    pub(super) responses: Mat<f64>,
    /// G, by sample.
    pub(super) left: Vec<f64>,
    /// What makes residuals of labels, unless samples are many.
    pub(super) operator: Option<(Operator<'r>, &'r Probes)>,
    /// Weights in reduced coordinates.
    pub(super) weights: Mat<f64>,
}

impl Sampled<'_> {
    /// The cell of a sample.
    pub(super) fn cell(&self, sample: usize) -> usize {
        self.cells.of_task(self.task).start + self.class[sample]
    }

    /// Puts the responses of samples without themselves, from `start` on, in the place of those that all samples make
    /// (times the roots of weights), given their G.
    pub(super) fn leave_out(&self, start: usize, left: &[f64], mut responses: MatMut<'_, f64>) {
        for (l, &left) in left.iter().enumerate() {
            let (root, own) = (self.importance.root(start + l), self.cell(start + l));
            for cell in 0..responses.ncols() {
                let response = &mut responses[(l, cell)];
                let label = f64::from(u8::from(cell == own));
                let residual = label - self.cells.share_in(self.task, cell) - *response / root;
                *response = left_out(cell == own, residual, left);
            }
        }
    }

    /// The fit at one coupling: groups are left out together, and class sizes have no say.
    pub(super) fn fitted(&self, of: LeftOut<'_>) -> Fitted {
        let Self {
            task,
            cells,
            class,
            groups,
            importance,
        } = self;
        let LeftOut {
            point,
            mut responses,
            left,
            operator,
            weights,
        } = of;
        let (n, c) = (class.len(), cells.len());
        let effective = match &operator {
            Some((operator, probes)) => probes.effective_errors(operator, &left, importance),
            None => {
                let share = importance.independent().map_or(1.0, |own| own / n as f64);
                (share * left.iter().sum::<f64>()).max(1.0)
            }
        };
        let blocks = groups.members().zip(operator.as_ref());
        let blocks: Option<Vec<Mat<f64>>> = blocks.map(|(groups, (operator, _))| {
            let blocks = groups.iter().map(|members| operator.block(members));
            blocks.collect()
        });
        let hat = match operator {
            Some((Operator::Explicit(q), _)) if n <= HAT_ROWS => {
                let cell: Vec<usize> = (0..n).map(|l| self.cell(l)).collect();
                let residuals = Mat::from_fn(n, c, |l, j| {
                    let error = f64::from(u8::from(j == cell[l])) - responses[(l, j)];
                    error * left[l] * importance.root(l)
                });
                Some(Hat::new(q, residuals, cell, (*importance).clone()))
            }
            _ => None,
        };
        if let (Some(groups), Some(blocks)) = (groups.members(), blocks) {
            for l in 0..n {
                for j in 0..c {
                    let label = f64::from(u8::from(j == self.cell(l)));
                    responses[(l, j)] = (label - responses[(l, j)]) * left[l];
                }
            }
            for (members, block) in groups.iter().zip(blocks) {
                leave_group_out(&mut responses, members, block, |l| self.cell(l));
            }
        }
        stratify(&mut responses, class, groups, importance, cells, *task);
        Fitted {
            point,
            responses,
            effective,
            hat,
            weights: Weights {
                coordinates: Coordinates::Reduced,
                values: weights,
            },
            without: Vec::new(),
        }
    }
}
