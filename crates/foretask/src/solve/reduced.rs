//! [`Reduced`]: the tasks in at most min(n, p) coordinates.
//!
//! Where features outnumber rows training goes by their inner products (`row_grid.rs`), weights are sums of rows, and
//! estimates see the rows in coordinates of the space that they span (`row_space.rs`). Both are n² numbers: inner
//! products are let go after a grid and made again for another, coordinates are made where they are asked for. Lengths are counted in units of √p, so that with z̃ = z/√p and w̃ = √p w scores are z̃ᵀ w̃ and neither p nor k appears
//! in the formulas.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use faer::Mat;

use super::block::{Block, CentredRows, blocks, gram, right_hand_sides};
use super::fitted::Sampled;
use super::row_space::RowSpace;
use super::scaling::Scaling;
use crate::data::{Cells, Groups, Importance, Joined, RowBlock, Statistics, classes_in_order};
use crate::error::{Error, Result};
use crate::numerics::dense;

/// The tasks in at most min(n, p) coordinates: the same for every target.
#[derive(Debug)]
pub(crate) struct Reduced<'a> {
    pub(crate) cells: Cells,
    space: OnceLock<Space<'a>>,
    /// Samples of each task that are left out together.
    pub(super) groups: Vec<Groups>,
    /// How much each of them counts.
    pub(super) importance: Vec<Importance>,
    /// Where features outnumber rows.
    pub(super) kernel: Option<Kernel<'a>>,
    features: usize,
    /// Within-class variance per feature of each task, after scaling.
    variances: Vec<f64>,
}

/// The tasks in coordinates.
#[derive(Debug)]
pub(super) struct Space<'a> {
    pub(super) blocks: Vec<Block<'a>>,
    /// Z̃_iᵀ y for the unit labels of the task's own cells, r x m_i.
    pub(super) right: Vec<Mat<f64>>,
    /// Z̃_i, where the rows are at hand.
    pub(super) samples: Vec<Option<CentredRows<'a>>>,
}

/// The rows of all tasks, and their inner products.
#[derive(Debug)]
pub(super) struct Kernel<'a> {
    /// Z̃ of every task.
    rows: Vec<CentredRows<'a>>,
    gram: Mutex<Option<Arc<Mat<f64>>>>,
}

impl Kernel<'_> {
    /// K = Z̃ Z̃ᵀ, lower triangle, task after task.
    pub(super) fn gram(&self) -> Arc<Mat<f64>> {
        let mut held = self.gram.lock().unwrap_or_else(PoisonError::into_inner);
        held.get_or_insert_with(|| Arc::new(gram(&self.rows)))
            .clone()
    }

    /// Lets go of K, which is made again for whoever asks.
    pub(super) fn let_go(&self) {
        *self.gram.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
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
            return Self::by_rows(cells, groups, importance, blocks, features, variances);
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
        let space = Space {
            blocks: blocks(statistics, &scales, p),
            right,
            samples,
        };
        Ok(Self {
            cells,
            space: space.into(),
            groups,
            importance,
            kernel: None,
            features,
            variances,
        })
    }

    fn by_rows(
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
        let kernel = Kernel {
            rows,
            gram: Mutex::default(),
        };
        let gram = kernel.gram();
        // An inner product is at most the longer length squared.
        if (0..gram.nrows()).any(|row| !gram[(row, row)].is_finite()) {
            return Err(Error::Factorisation { task: "all".into() });
        }
        Ok(Self {
            cells,
            space: OnceLock::new(),
            groups,
            importance,
            kernel: Some(kernel),
            features,
            variances,
        })
    }

    /// The tasks in min(n, p) coordinates.
    pub(super) fn space(&self) -> &Space<'a> {
        self.space.get_or_init(|| {
            let kernel = self.kernel.as_ref();
            let gram = kernel.map_or_else(Mat::new, |kernel| Mat::clone(&kernel.gram()));
            self.row_space(&RowSpace::new(gram))
        })
    }

    fn row_space(&self, space: &RowSpace) -> Space<'a> {
        let (cells, rank) = (&self.cells, space.dimension());
        let mut start = 0;
        let (mut reduced, mut right) = (Vec::new(), Vec::new());
        for task in 0..cells.tasks().len() {
            let n = cells.samples(task);
            let mut own = vec![0.0; n * rank];
            for (l, point) in own.chunks_exact_mut(rank).enumerate() {
                space.write(start + l, point);
            }
            let class = classes_in_order(&cells.tasks()[task]);
            let mut sums = Mat::zeros(rank, cells.of_task(task).len());
            for (l, (point, &class)) in own.chunks_exact(rank).zip(&class).enumerate() {
                let root = self.importance[task].root(l);
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
        Space {
            blocks: reduced.iter().cloned().map(Block::Rows).collect(),
            right,
            samples: reduced.into_iter().map(Some).collect(),
        }
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

    /// The means of all cells less those of their tasks (r x C), and the rows of a task (r x n_i), one a column over √p,
    /// if they are at hand; in any coordinates that have their inner products.
    pub(crate) fn means_and_rows(&self, task: usize) -> Option<(Mat<f64>, Mat<f64>)> {
        if let Some(kernel) = &self.kernel {
            return Some(self.among_few(&kernel.gram(), task));
        }
        let rows = self.space().samples[task].as_ref()?.pack_all();
        let mut means = Mat::zeros(rows.nrows(), self.cells.len());
        for cell in 0..self.cells.len() {
            let entries = means.col_mut(cell).iter_mut().zip(self.cell_mean(cell));
            entries.for_each(|(to, from)| *to = from);
        }
        Some((means, rows))
    }

    /// The same where features outnumber rows: in the space that these few span, by W K Wᵀ, where W has the shares of the rows in
    /// each mean, and ones for the rows of the task.
    fn among_few(&self, gram: &Mat<f64>, task: usize) -> (Mat<f64>, Mat<f64>) {
        let cells = &self.cells;
        let n = gram.nrows();
        // The cell of each row, and its share in the cell's mean.
        let mut shares: Vec<(usize, f64)> = Vec::with_capacity(n);
        let mut start = 0;
        for own in 0..cells.tasks().len() {
            if own == task {
                start = shares.len();
            }
            let first = cells.of_task(own).start;
            for (l, class) in classes_in_order(&cells.tasks()[own])
                .into_iter()
                .enumerate()
            {
                let cell = first + class;
                shares.push((cell, self.importance[own].root(l) / cells.mass(cell)));
            }
        }
        let mut with_means: Mat<f64> = Mat::zeros(n, cells.len());
        for j in 0..n {
            let (cell, share) = shares[j];
            for (i, &x) in gram.col_as_slice(j).iter().enumerate().skip(j) {
                with_means[(i, cell)] += share * x;
                if i != j {
                    with_means[(j, shares[i].0)] += shares[i].1 * x;
                }
            }
        }
        let (c, rows) = (cells.len(), cells.samples(task));
        let mut few: Mat<f64> = Mat::zeros(c + rows, c + rows);
        for (row, &(cell, share)) in shares.iter().enumerate() {
            for other in 0..=cell {
                few[(cell, other)] += share * with_means[(row, other)];
            }
        }
        for l in 0..rows {
            for cell in 0..c {
                few[(c + l, cell)] = with_means[(start + l, cell)];
            }
            let column = &gram.col_as_slice(start + l)[start + l..start + rows];
            few.col_as_slice_mut(c + l)[c + l..].copy_from_slice(column);
        }
        let space = RowSpace::new(few);
        let coordinates = |first: usize, count: usize| {
            let mut all = Mat::zeros(space.dimension(), count);
            (0..count).for_each(|place| space.write(first + place, all.col_as_slice_mut(place)));
            all
        };
        (coordinates(0, c), coordinates(c, rows))
    }

    /// The scatter within the classes of one task over p (r x r, lower triangle) is added to `sum`;
    /// returns its trace.
    pub(crate) fn add_within(&self, task: usize, sum: &mut Mat<f64>) -> f64 {
        let trace = |sum: &Mat<f64>| (0..sum.nrows()).map(|i| sum[(i, i)]).sum::<f64>();
        let before = trace(sum);
        self.space().blocks[task].add_to(1.0, sum.as_mut());
        for (class, cell) in self.cells.of_task(task).enumerate() {
            let column = self.space().right[task].col(class);
            dense::add_outer(sum.as_mut(), column.as_mat(), -1.0 / self.cells.mass(cell));
        }
        trace(sum) - before
    }

    /// Mean of a cell less its task's mean, over √p (r numbers).
    pub(crate) fn cell_mean(&self, cell: usize) -> Vec<f64> {
        let task = self.cells.task_of(cell);
        let class = cell - self.cells.of_task(task).start;
        self.space().right[task]
            .col(class)
            .iter()
            .map(|x| x / self.cells.mass(cell))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::data::{Rows, Tasks};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    #[test]
    fn means_and_rows_have_the_inner_products_that_they_have_among_all_rows() {
        const FEATURES: usize = 60;
        let task = [
            "a", "b", "b", "a", "b", "c", "a", "a", "c", "b", "c", "c", "b",
        ];
        let class = [
            "x", "y", "x", "y", "y", "x", "x", "x", "y", "z", "x", "y", "z",
        ];
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut values: Vec<f64> = (0..task.len() * FEATURES)
            .map(|_| StandardNormal.sample(&mut random))
            .collect();
        // One row twice: the space has fewer directions than rows.
        values.copy_within(FEATURES..2 * FEATURES, 4 * FEATURES);
        let rows = Rows::row_major(&values, FEATURES).unwrap();
        let tasks = Tasks::new(rows, &task, &class).unwrap();
        let reduced = Reduced::new((&tasks).into(), Scaling::default()).unwrap();
        assert!(reduced.kernel.is_some());
        let cells = &reduced.cells;
        for target in 0..3 {
            let (means, rows) = reduced.means_and_rows(target).unwrap();
            let few = Mat::from_fn(means.nrows(), cells.len() + rows.ncols(), |i, j| {
                match j.checked_sub(cells.len()) {
                    None => means[(i, j)],
                    Some(row) => rows[(i, row)],
                }
            });
            let samples = reduced.space().samples[target].as_ref().unwrap().pack_all();
            let whole = Mat::from_fn(samples.nrows(), few.ncols(), |i, j| {
                match j.checked_sub(cells.len()) {
                    None => reduced.cell_mean(j)[i],
                    Some(row) => samples[(i, row)],
                }
            });
            let (few, whole) = (few.transpose() * &few, whole.transpose() * &whole);
            assert!(whole.norm_max() > 0.1);
            assert!((&few - &whole).norm_max() < 1e-12 * whole.norm_max());
        }
        // What was let go is made again.
        let kernel = reduced.kernel.as_ref().unwrap();
        let before = kernel.gram();
        kernel.let_go();
        assert!(!Arc::ptr_eq(&before, &kernel.gram()) && before == kernel.gram());
    }
}
