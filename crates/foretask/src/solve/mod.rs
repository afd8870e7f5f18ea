//! Training: the arrowhead system, all C right-hand sides at once.
//!
//! Every sample of cell r gets the label y_r. With Z_i the centred and scaled rows of task i, the
//! method minimises (THEORY 2)
//!
//! ```text
//! ½ Σ_i |Y_i - Z_i w_i - 1 b_iᵀ|² + (kp/2) [ |w_0|²/λ + Σ_i |w_i - w_0|²/γ_i ]
//! ```
//!
//! The solution is linear in the labels, so [`System`] solves for the C unit labels e_r once and
//! every classifier is a combination of the C *responses*. With B_i = Z_iᵀ Z_i/(kp),
//! r_i = Z_iᵀ y/(kp) (THEORY 3.1):
//!
//! ```text
//! F_i = (I + γ_i B_i)⁻¹,   H = I + λ Σ_i F_i B_i,
//! w_0 = λ H⁻¹ Σ_i F_i r_i,   w_i = F_i (γ_i r_i + w_0),   b_i = mean label of task i.
//! ```
//!
//! No kp x kp matrix exists. Where the rows of all tasks together are few, the same solution comes
//! from one n x n system, K = A\[t, t'\] z·z'/(kp) + I. The cheaper is chosen by counting
//! multiplications:
//!
//! | form | multiplications | memory (doubles) |
//! |---|---|---|
//! | arrowhead | Σ_i (n_i p²/2 + p³/2) + p³/6; a task with few rows 3/2 n_i² p + n_i³/2 + n_i p²/2 | (k + 2) p² |
//! | one dual | n² p/2 + n³/6 | 2 n² |

mod block_tridiagonal;
mod factor;
mod leave_one_out;
pub(crate) mod path;
mod row_space;

use faer::{Accum, Mat, MatRef};

pub use leave_one_out::LeaveOneOut;
pub(crate) use leave_one_out::{correct_mass, needs_rows};

pub(crate) use factor::{Block, CentredRows, Factor};

use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::dense;
use crate::error::{Error, Result};
use crate::statistics::{Second, Statistics, task_mean};
use crate::tasks::{PANEL, Rows};

/// How features are scaled before training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Each task by one number, to unit average within-class variance ([`Statistics::scales`]).
    #[default]
    Auto,
    /// Not at all.
    None,
}

impl Scaling {
    /// One scale per task.
    pub fn scales(self, statistics: &Statistics<'_>) -> Vec<f64> {
        match self {
            Self::Auto => statistics.scales(),
            Self::None => vec![1.0; statistics.cells().tasks().len()],
        }
    }
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

#[derive(Debug)]
enum Form<'a> {
    Arrow {
        factors: Vec<Factor<'a>>,
        /// L with L Lᵀ = H.
        head: Mat<f64>,
        /// w_0 for the C unit labels, p x C.
        shared: Mat<f64>,
    },
    Dual {
        /// L with L Lᵀ = K.
        kernel: Mat<f64>,
        /// K⁻¹ y for the centred unit labels, n x C.
        alpha: Mat<f64>,
        rows: Vec<CentredRows<'a>>,
    },
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
        let form = if dual_is_cheaper(&cells, features, &blocks) {
            dual(&cells, coupling, blocks)
        } else {
            arrow(&cells, coupling, blocks, &right)
        }?;
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
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The scale of each task.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The mean of a task's rows.
    pub fn task_mean(&self, task: usize) -> Vec<f64> {
        task_mean(&self.cells, &self.means, task)
    }

    /// The weights w_i of a task for the C unit labels, on centred and scaled features (p x C).
    pub fn weights(&self, task: usize) -> Mat<f64> {
        let normaliser = (self.cells.tasks().len() * self.features) as f64;
        let gamma = self.coupling.gamma()[task];
        match &self.form {
            Form::Arrow {
                factors, shared, ..
            } => {
                let mut weights = shared.clone();
                let right =
                    right_hand_side(&self.cells, &self.means, &self.scales, normaliser, task);
                let first = self.cells.of_task(task).start;
                for class in 0..right.ncols() {
                    for feature in 0..self.features {
                        weights[(feature, first + class)] += gamma * right[(feature, class)];
                    }
                }
                factors[task].apply(weights.as_mut());
                weights
            }
            Form::Dual { alpha, rows, .. } => {
                // w_i = Σ_j A_ij Z_jᵀ α_j/(kp); one more 1/√(kp) than the packed rows hold.
                let mut weights = Mat::zeros(self.features, self.cells.len());
                let mut start = 0;
                for (other, block) in rows.iter().enumerate() {
                    let n = block.rows.len();
                    let strength = self.coupling.lambda() + if other == task { gamma } else { 0.0 };
                    if strength != 0.0 {
                        let strength = strength / normaliser.sqrt();
                        add_weighted_rows(block, alpha.subrows(start, n), strength, &mut weights);
                    }
                    start += n;
                }
                weights
            }
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
        Ok(self.responses_of(task, rows, &index, &self.weights(task)))
    }

    /// The responses of the rows `index`, with the task's weights at hand.
    pub(crate) fn responses_of(
        &self,
        task: usize,
        rows: Rows<'_>,
        index: &[usize],
        weights: &Mat<f64>,
    ) -> Mat<f64> {
        let mean = self.task_mean(task);
        let mut responses = project(rows, index, &mean, self.scales[task], weights);
        for cell in self.cells.of_task(task) {
            let share = self.cells.share(cell);
            responses.col_mut(cell).iter_mut().for_each(|x| *x += share);
        }
        responses
    }
}

/// (x - mean)/scale times `weights`, for the rows `index` (n x q).
pub(crate) fn project(
    rows: Rows<'_>,
    index: &[usize],
    mean: &[f64],
    scale: f64,
    weights: &Mat<f64>,
) -> Mat<f64> {
    let p = rows.features();
    let mut projected = Mat::zeros(index.len(), weights.ncols());
    let mut panel = Mat::zeros(p, PANEL.min(index.len()));
    for start in (0..index.len()).step_by(PANEL) {
        let n = PANEL.min(index.len() - start);
        let mut part = panel.as_mut().subcols_mut(0, n);
        rows.pack(
            &index[start..start + n],
            0..p,
            |_| mean,
            1.0 / scale,
            part.as_mut(),
        );
        dense::product(
            projected.as_mut().subrows_mut(start, n),
            Accum::Replace,
            part.transpose(),
            weights.as_ref(),
            1.0,
        );
    }
    projected
}

/// weights += strength * Zᵀ a, in panels of samples.
pub(crate) fn add_weighted_rows(
    block: &CentredRows<'_>,
    a: MatRef<'_, f64>,
    strength: f64,
    weights: &mut Mat<f64>,
) {
    block
        .rows
        .for_panels(&block.mean, block.scale, |start, panel| {
            let a = a.subrows(start, panel.ncols());
            dense::product(weights.as_mut(), Accum::Add, panel, a, strength);
        });
}

/// B_i of every task, as scatter or as rows.
pub(crate) fn blocks<'a>(
    statistics: Statistics<'a>,
    scales: &[f64],
    normaliser: f64,
) -> Vec<Block<'a>> {
    let means: Vec<Vec<f64>> = (0..scales.len())
        .map(|task| statistics.task_mean(task))
        .collect();
    statistics
        .into_second()
        .into_iter()
        .zip(scales)
        .zip(means)
        .map(|((second, scale), mean)| match second {
            Second::Scatter { scatter, .. } => Block::Scatter {
                scatter,
                scale: 1.0 / (scale * scale * normaliser),
            },
            Second::Rows(rows) => Block::Rows(CentredRows {
                rows,
                mean,
                scale: 1.0 / (scale * normaliser.sqrt()),
            }),
        })
        .collect()
}

/// r_i of a task for its own cells (p x m_i): n_r (x̄_r - x̄_i)/(s_i N). The unit labels of other
/// tasks' cells have r_i = 0.
fn right_hand_side(
    cells: &Cells,
    means: &Mat<f64>,
    scales: &[f64],
    normaliser: f64,
    task: usize,
) -> Mat<f64> {
    let mean = task_mean(cells, means, task);
    let range = cells.of_task(task);
    Mat::from_fn(means.nrows(), range.len(), |feature, class| {
        let cell = range.start + class;
        cells.count(cell) as f64 * (means[(feature, cell)] - mean[feature])
            / (scales[task] * normaliser)
    })
}

pub(crate) fn right_hand_sides(
    cells: &Cells,
    means: &Mat<f64>,
    scales: &[f64],
    normaliser: f64,
) -> Vec<Mat<f64>> {
    (0..cells.tasks().len())
        .map(|task| right_hand_side(cells, means, scales, normaliser, task))
        .collect()
}

fn dual_is_cheaper(cells: &Cells, features: usize, blocks: &[Block<'_>]) -> bool {
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

fn arrow<'a>(
    cells: &Cells,
    coupling: &Coupling,
    blocks: Vec<Block<'a>>,
    right: &[Mat<f64>],
) -> Result<Form<'a>> {
    let p = right[0].nrows();
    let lambda = coupling.lambda();
    let mut head = Mat::identity(p, p);
    let mut shared = Mat::zeros(p, cells.len());
    let mut factors = Vec::with_capacity(blocks.len());
    for (task, block) in blocks.into_iter().enumerate() {
        let factor =
            Factor::new(block, coupling.gamma()[task], lambda, head.as_mut()).ok_or_else(|| {
                Error::Factorisation {
                    task: cells.tasks()[task].name.clone(),
                }
            })?;
        let range = cells.of_task(task);
        let mut own = shared.as_mut().subcols_mut(range.start, range.len());
        own.copy_from(&right[task]);
        factor.apply(own);
        factors.push(factor);
    }
    if lambda > 0.0 {
        dense::cholesky(head.as_mut())
            .ok_or_else(|| Error::Factorisation { task: "all".into() })?;
        dense::solve_cholesky(head.as_ref(), shared.as_mut());
    }
    shared
        .col_iter_mut()
        .for_each(|column| column.iter_mut().for_each(|x| *x *= lambda));
    Ok(Form::Arrow {
        factors,
        head,
        shared,
    })
}

fn dual<'a>(cells: &Cells, coupling: &Coupling, blocks: Vec<Block<'a>>) -> Result<Form<'a>> {
    let rows: Vec<CentredRows<'a>> = blocks
        .into_iter()
        .filter_map(|block| match block {
            Block::Rows(rows) => Some(rows),
            Block::Scatter { .. } | Block::Diagonal(_) => None,
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
    dense::cholesky(kernel.as_mut()).ok_or_else(|| Error::Factorisation { task: "all".into() })?;
    let cell: Vec<usize> = (0..cells.len())
        .flat_map(|cell| std::iter::repeat_n(cell, cells.count(cell)))
        .collect();
    let mut alpha = Mat::from_fn(n, cells.len(), |sample, c| {
        let share = if cells.task_of(c) == task[sample] {
            cells.share(c)
        } else {
            0.0
        };
        f64::from(u8::from(cell[sample] == c)) - share
    });
    dense::solve_cholesky(kernel.as_ref(), alpha.as_mut());
    Ok(Form::Dual {
        kernel,
        alpha,
        rows,
    })
}

/// The Gram matrix Z Zᵀ/N of the rows of all tasks (lower triangle), summed over panels of features
/// so that no second copy of the data exists.
pub(crate) fn gram(rows: &[CentredRows<'_>]) -> Mat<f64> {
    let n: usize = rows.iter().map(|block| block.rows.len()).sum();
    let p = rows.first().map_or(0, |block| block.mean.len());
    let mut gram = Mat::zeros(n, n);
    let mut panel = Mat::zeros(PANEL.min(p), n);
    for first in (0..p).step_by(PANEL) {
        let count = PANEL.min(p - first);
        let mut part = panel.as_mut().subrows_mut(0, count);
        let mut start = 0;
        for block in rows {
            let own = block.rows.len();
            block.rows.pack(
                0..own,
                first..first + count,
                &block.mean,
                block.scale,
                part.as_mut().subcols_mut(start, own),
            );
            start += own;
        }
        dense::add_outer(gram.as_mut(), part.transpose(), 1.0);
    }
    gram
}
