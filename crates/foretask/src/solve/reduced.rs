//! [`Reduced`]: the tasks in at most min(n, p) coordinates.
//!
//! Where features outnumber rows training goes by their inner products (`row_grid.rs`), weights are sums of rows, and
//! estimates see the rows in coordinates of the space that they span (`row_space.rs`). Lengths are counted in units of √p, so that with z̃ = z/√p and w̃ = √p w scores are z̃ᵀ w̃ and neither p nor k appears
//! in the formulas.

use faer::Mat;

use super::block::{Block, CentredRows, blocks, gram, right_hand_sides};
use super::fitted::Sampled;
use super::row_space::RowSpace;
use super::scaling::Scaling;
use crate::data::{Cells, Groups, Importance, Joined, RowBlock, Statistics, classes_in_order};
use crate::error::{Error, Result};
use crate::numerics::dense;

/// The tasks in at most min(n, p) coordinates: the same for every target.
#[derive(Clone, Debug)]
pub(crate) struct Reduced<'a> {
    pub(crate) cells: Cells,
    pub(super) blocks: Vec<Block<'a>>,
    /// Z̃_iᵀ y for the unit labels of the task's own cells, r x m_i.
    pub(super) right: Vec<Mat<f64>>,
    /// Samples of each task that are left out together.
    pub(super) groups: Vec<Groups>,
    /// How much each of them counts.
    pub(super) importance: Vec<Importance>,
    /// Z̃_i, where the rows are at hand.
    pub(super) samples: Vec<Option<CentredRows<'a>>>,
    /// Where features outnumber rows.
    pub(super) kernel: Option<Kernel<'a>>,
    features: usize,
    /// Within-class variance per feature of each task, after scaling.
    variances: Vec<f64>,
}

/// The rows of all tasks, and their inner products.
#[derive(Clone, Debug)]
pub(super) struct Kernel<'a> {
    /// Z̃ of every task.
    rows: Vec<CentredRows<'a>>,
    /// K = Z̃ Z̃ᵀ, lower triangle, task after task.
    pub(super) gram: Mat<f64>,
}

impl<'a> Reduced<'a> {
    pub(crate) fn new(statistics: Statistics<'a>, scaling: Scaling) -> Result<Self> {
        let cells = statistics.cells().clone();
        let features = statistics.features();
        let p = features as f64;
        let scales = scaling.scales(&statistics);
        let variances: Vec<f64> = statistics
            .scales()
            .iter()
            .zip(&scales)
            .map(|(own, scale)| (own / scale).powi(2))
            .collect();
        let groups = (0..scales.len()).map(|task| statistics.groups_of(task));
        let groups: Vec<Groups> = groups.collect();
        let importance = (0..scales.len()).map(|task| statistics.importance_of(task));
        let importance: Vec<Importance> = importance.collect();
        let rows: usize = (0..scales.len()).map(|task| cells.samples(task)).sum();
        if features > rows {
            let blocks = blocks(statistics, &scales, p);
            return Self::in_row_space(cells, groups, importance, blocks, features, variances);
        }
        let right = right_hand_sides(&cells, statistics.means(), &scales, p.sqrt());
        let samples = (0..scales.len())
            .map(|task| {
                statistics.rows_of(task).map(|rows| CentredRows {
                    rows: rows.clone(),
                    mean: statistics.task_mean(task),
                    scale: 1.0 / (scales[task] * p.sqrt()),
                    importance: importance[task].clone(),
                })
            })
            .collect();
        Ok(Self {
            cells,
            blocks: blocks(statistics, &scales, p),
            right,
            groups,
            importance,
            samples,
            kernel: None,
            features,
            variances,
        })
    }

    fn in_row_space(
        cells: Cells,
        groups: Vec<Groups>,
        importance: Vec<Importance>,
        blocks: Vec<Block<'a>>,
        features: usize,
        variances: Vec<f64>,
    ) -> Result<Self> {
        let rows: Vec<CentredRows<'a>> = blocks
            .into_iter()
            .filter_map(|block| match block {
                Block::Rows(rows) => Some(rows),
                Block::Scatter { .. } => None,
            })
            .collect();
        let gram = gram(&rows);
        let failed = || Error::Factorisation { task: "all".into() };
        let space = RowSpace::new(gram.clone()).ok_or_else(failed)?;
        let rank = space.dimension();
        let mut start = 0;
        let mut reduced = Vec::new();
        let mut right = Vec::new();
        for (task, block) in rows.iter().enumerate() {
            let n = block.rows.len();
            let mut own = vec![0.0; n * rank];
            for (l, point) in own.chunks_exact_mut(rank).enumerate() {
                space.write(start + l, point);
            }
            let class = classes_in_order(&cells.tasks()[task]);
            let mut sums = Mat::zeros(rank, cells.of_task(task).len());
            for (l, (point, &class)) in own.chunks_exact(rank).zip(&class).enumerate() {
                let root = importance[task].root(l);
                let to = sums.col_as_slice_mut(class).iter_mut();
                to.zip(point).for_each(|(to, x)| *to += root * x);
            }
            right.push(sums);
            reduced.push(CentredRows {
                rows: RowBlock::owned(own, rank),
                mean: vec![0.0; rank],
                scale: 1.0,
                // The rows have the roots of their weights in them.
                importance: Importance::default(),
            });
            start += n;
        }
        Ok(Self {
            cells,
            blocks: reduced.iter().cloned().map(Block::Rows).collect(),
            right,
            groups,
            importance,
            samples: reduced.into_iter().map(Some).collect(),
            kernel: Some(Kernel { rows, gram }),
            features,
            variances,
        })
    }

    /// The samples of a target, whose sources may share columns.
    pub(super) fn sampled<'s>(&'s self, task: usize, joined: Option<&'s Joined>) -> Sampled<'s> {
        let cells = joined.map_or(&self.cells, |joined| &joined.cells);
        Sampled {
            task,
            cells,
            class: classes_in_order(&cells.tasks()[task]),
            groups: &self.groups[task],
            importance: &self.importance[task],
        }
    }

    /// Weights on the centred and scaled features (p x q) from w̃ (p x q), or from what each row counts in it (n x q).
    pub(crate) fn to_features(&self, reduced: &Mat<f64>) -> Mat<f64> {
        let unit = 1.0 / (self.features as f64).sqrt();
        match &self.kernel {
            None => Mat::from_fn(reduced.nrows(), reduced.ncols(), |i, j| {
                reduced[(i, j)] * unit
            }),
            Some(kernel) => {
                let mut weights = Mat::zeros(self.features, reduced.ncols());
                let mut start = 0;
                for block in &kernel.rows {
                    let n = block.rows.len();
                    block.add_weighted(reduced.subrows(start, n), unit, &mut weights);
                    start += n;
                }
                weights
            }
        }
    }

    /// Features of the original data, p.
    pub(crate) fn features(&self) -> usize {
        self.features
    }

    /// Within-class variance per feature of each task, after scaling.
    pub(crate) fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// The rows of a task over √p, one a column (r x n_i), if they are at hand.
    pub(crate) fn rows_of(&self, task: usize) -> Option<Mat<f64>> {
        self.samples[task].as_ref().map(CentredRows::pack_all)
    }

    /// The scatter within the classes of one task over p (r x r, lower triangle) is added to `sum`;
    /// returns its trace.
    pub(crate) fn add_within(&self, task: usize, sum: &mut Mat<f64>) -> f64 {
        let trace = |sum: &Mat<f64>| (0..sum.nrows()).map(|i| sum[(i, i)]).sum::<f64>();
        let before = trace(sum);
        self.blocks[task].add_to(1.0, sum.as_mut());
        for (class, cell) in self.cells.of_task(task).enumerate() {
            let column = self.right[task].col(class);
            dense::add_outer(sum.as_mut(), column.as_mat(), -1.0 / self.cells.mass(cell));
        }
        trace(sum) - before
    }

    /// Mean of a cell less its task's mean, over √p (r numbers).
    pub(crate) fn cell_mean(&self, cell: usize) -> Vec<f64> {
        let task = self.cells.task_of(cell);
        let class = cell - self.cells.of_task(task).start;
        self.right[task]
            .col(class)
            .iter()
            .map(|x| x / self.cells.mass(cell))
            .collect()
    }
}
