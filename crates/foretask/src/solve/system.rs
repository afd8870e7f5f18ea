//! [`System`]: all tasks trained at one coupling, in the cheaper of two forms.

use faer::{Accum, Mat};

use super::arrow::Asked;
use super::arrow::{Arrow, Own};
use super::block::{blocks, right_hand_side, right_hand_sides};
use super::dual::{self, Dual};
use super::leave_fold_out::{HAT_ROWS, Hat, leave_group_out, left_out};
use super::leave_one_out::LeaveOneOut;
use super::scaling::Scaling;
use crate::data::{
    Cells, Coupling, Groups, Importance, RowBlock, Rows, Statistics, Tasks, classes_in_order,
};
use crate::error::{Error, Result};
use crate::numerics::dense;

#[derive(Debug)]
enum Form<'a> {
    Arrow(Arrow<'a>),
    Dual(Dual<'a>),
}

/// A trained system: from it come the responses of any task at any point, and the exact
/// leave-one-out responses of every training sample.
///
/// ```
/// use foretask::{Coupling, Rows, Scaling, Statistics, System, Tasks};
/// let values = [0.0, 1.0, 0.1, 0.9, 1.0, 0.0, 0.8, 0.2];
/// let rows = Rows::row_major(&values, 2)?;
/// let tasks = Tasks::new(rows, &["t"; 4], &["a", "a", "b", "b"])?;
/// let system = System::new(Statistics::of(&tasks), Scaling::Auto, &Coupling::uniform(1.0, 1.0, 1)?)?;
/// let responses = system.responses(0, rows)?;
/// assert!(responses[(0, 0)] > responses[(0, 1)]); // the first row is of class a
/// # Ok::<(), foretask::Error>(())
/// ```
#[derive(Debug)]
pub struct System<'a> {
    cells: Cells,
    coupling: Coupling,
    features: usize,
    scales: Vec<f64>,
    /// Cell means, p x C.
    means: Mat<f64>,
    form: Form<'a>,
}

impl<'a> System<'a> {
    /// Trains on `statistics`; scatters that no clone shares are factorised in place.
    ///
    /// # Errors
    /// If the coupling has not one γ per task, a task has fewer than two rows, or the numbers
    /// overflow.
    pub fn new(statistics: Statistics<'a>, scaling: Scaling, coupling: &Coupling) -> Result<Self> {
        statistics.check()?;
        let cells = statistics.cells().clone();
        coupling.check(cells.tasks().len())?;
        let features = statistics.features();
        let scales = scaling.scales(&statistics);
        let means = statistics.means().clone();
        let normaliser = (cells.tasks().len() * features) as f64;
        let blocks = blocks(statistics, &scales, normaliser);
        let right = right_hand_sides(&cells, &means, &scales, normaliser);
        let form = if dual::is_cheaper(&cells, features, &blocks) {
            Form::Dual(Dual::new(&cells, coupling, blocks)?)
        } else {
            Form::Arrow(Arrow::new(&cells, coupling, blocks, &right)?)
        };
        Ok(Self {
            cells,
            coupling: coupling.clone(),
            features,
            scales,
            means,
            form,
        })
    }

    /// The tasks, their classes and counts.
    #[cfg(test)]
    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The scale of each task.
    pub(crate) fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The mean of a task's rows.
    pub(crate) fn task_mean(&self, task: usize) -> Vec<f64> {
        self.cells.task_mean(&self.means, task)
    }

    /// The weights w_i of a task for the C unit labels, on centred and scaled features (p x C).
    pub fn weights(&self, task: usize) -> Mat<f64> {
        let Self {
            cells,
            coupling,
            means,
            scales,
            ..
        } = self;
        match &self.form {
            Form::Arrow(arrow) => {
                let normaliser = (cells.tasks().len() * self.features) as f64;
                let right = right_hand_side(cells, means, scales, normaliser, task);
                let first = cells.of_task(task).start;
                arrow.weights(task, first, coupling.gamma()[task], &right)
            }
            Form::Dual(dual) => dual.weights(coupling, task),
        }
    }

    /// The responses of a task at each of `rows`: row l is (w_iᵀ (x_l - x̄_i)/s_i + b_i)ᵀ, one
    /// entry per cell (n x C).
    ///
    /// # Errors
    /// If the number of features differs or a value is not finite.
    pub fn responses(&self, task: usize, rows: Rows<'_>) -> Result<Mat<f64>> {
        if rows.features() != self.features {
            return Err(Error::Shape {
                what: "features",
                expected: self.features,
                got: rows.features(),
            });
        }
        rows.check_finite()?;
        let index: Vec<usize> = (0..rows.len()).collect();
        let rows = RowBlock::borrowed(rows, &index);
        Ok(self.responses_of(task, &rows, &self.weights(task)))
    }

    /// The same, with the task's weights at hand.
    pub(crate) fn responses_of(
        &self,
        task: usize,
        rows: &RowBlock<'_>,
        weights: &Mat<f64>,
    ) -> Mat<f64> {
        let mean = self.task_mean(task);
        let mut responses = project(rows, &mean, self.scales[task], weights);
        for cell in self.cells.of_task(task) {
            let share = self.cells.share(cell);
            responses.col_mut(cell).iter_mut().for_each(|x| *x += share);
        }
        responses
    }

    /// The exact leave-one-out responses of all samples of one task (n_i x C); samples of a group are left out
    /// together ([`Tasks::with_groups`]).
    ///
    /// `tasks` must be the data the system was trained on. A row that has a weight is left out as a whole. Costs n_i p² (arrowhead) or n³/3 (dual).
    pub fn leave_one_out(&self, tasks: &Tasks<'_>, task: usize) -> LeaveOneOut {
        let rows = RowBlock::borrowed(tasks.rows(), tasks.rows_of(task));
        let groups = tasks.groups().and_then(|groups| groups.get(task)).cloned();
        let importance = tasks.importance().and_then(|own| own.get(task)).cloned();
        let (groups, importance) = (groups.unwrap_or_default(), importance.unwrap_or_default());
        self.leave_one_out_of(&rows, task, false, &groups, &importance)
    }

    /// The same, given the task's rows, which of them belong together, and how much each counts; with what leaving out
    /// `folds` needs.
    pub(crate) fn leave_one_out_of(
        &self,
        rows: &RowBlock<'_>,
        task: usize,
        folds: bool,
        groups: &Groups,
        importance: &Importance,
    ) -> LeaveOneOut {
        let class = classes_in_order(&self.cells.tasks()[task]);
        let cell_of: Vec<usize> = {
            let first = self.cells.of_task(task).start;
            class.iter().map(|class| first + class).collect()
        };
        let whole = folds && class.len() <= HAT_ROWS;
        let total = self.cells.total(task);
        let residuals = match &self.form {
            Form::Arrow(arrow) => {
                let labels = Mat::from_fn(class.len(), self.cells.len(), |sample, cell| {
                    let own = f64::from(u8::from(cell == cell_of[sample]));
                    importance.root(sample) * (own - self.cells.share_in(task, cell))
                });
                let own = Own {
                    rows,
                    mean: self.task_mean(task),
                    scale: self.scales[task],
                    importance,
                    total,
                };
                let weights = self.weights(task);
                let asked = Asked { whole, groups };
                arrow.residuals(&self.coupling, task, own, labels, &weights, asked)
            }
            Form::Dual(dual) => dual.residuals(task, total, whole, groups),
        };
        let hat = residuals.q.map(|q| {
            Hat::new(
                q,
                residuals.alpha.clone(),
                cell_of.clone(),
                importance.clone(),
            )
        });
        let mut responses = residuals.alpha;
        match groups.members() {
            None => {
                for (sample, &g) in residuals.g.iter().enumerate() {
                    let root = importance.root(sample);
                    for cell in 0..self.cells.len() {
                        let own = cell == cell_of[sample];
                        let residual = responses[(sample, cell)] / root;
                        responses[(sample, cell)] = left_out(own, residual, g);
                    }
                }
            }
            Some(groups) => {
                for (members, block) in groups.iter().zip(residuals.blocks) {
                    leave_group_out(&mut responses, members, block, |l| cell_of[l]);
                }
            }
        }
        LeaveOneOut {
            responses,
            class,
            effective: residuals.g.iter().sum::<f64>().max(1.0),
            hat,
            task,
            groups: groups.clone(),
            importance: importance.clone(),
        }
    }
}

/// (x - mean)/scale times `weights` (n x q).
fn project(rows: &RowBlock<'_>, mean: &[f64], scale: f64, weights: &Mat<f64>) -> Mat<f64> {
    let mut projected = Mat::zeros(rows.len(), weights.ncols());
    rows.for_panels(mean, 1.0 / scale, |start, panel| {
        let to = projected.as_mut().subrows_mut(start, panel.ncols());
        dense::product(to, Accum::Replace, panel.transpose(), weights.as_ref(), 1.0);
    });
    projected
}
