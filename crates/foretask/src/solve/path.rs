//! The grid of couplings: leave-one-out responses of the target and its weights for every coupling
//! of the default recipe, from one reduction per γ (THEORY 3.4, RECIPE S1-S3).
//!
//! Where features outnumber rows everything is first rotated to the row space (exact, `row_space.rs`).
//! Lengths are counted in units of √p, so that
//! with z̃ = z/√p and w̃ = √p w scores are z̃ᵀ w̃ and neither p nor k appears in the formulas: a grid
//! point (g, l) is γ = k g, λ = k l of the paper's scaling, and adding a task does not change the
//! penalty.
//!
//! Everything but the asymmetric path and the samples that are left out is the same for every target.
//! Several targets share it, γ by γ, and get the very bits that each would get alone.
//!
//! Time, with r = min(n, p): per γ the factorisations of `factor.rs`, 2/3 r³ for the symmetric path and
//! 2/3 r³ per target for its asymmetric one; a further λ costs O(r b n_t + r² C), b the size of a block.
//! Memory (k + 2) r² doubles and 2 r² more per target at most (a task with few rows needs none of its
//! own), n_t C + r C per coupling.

use std::sync::Arc;

use faer::{Mat, MatMut};
use rayon::prelude::*;

use super::block_tridiagonal::{BlockTridiagonal, Shifted};
use super::row_space::RowSpace;
use super::{
    Block, CentredRows, Factor, Scaling, add_weighted_rows, blocks, gram, right_hand_sides,
};
use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::dense;
use crate::error::{Error, Result};
use crate::solve::leave_one_out::{SMALLEST_G, dot, needs_rows, stratify};
use crate::statistics::{RowBlock, Statistics};
use crate::tasks::classes_in_order;

/// A coupling of the grid, per task and per feature: γ = k g, λ = k l in the units of
/// [`crate::Coupling`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridPoint {
    /// How freely the sources may differ.
    pub source: f64,
    /// How freely the target may differ.
    pub target: f64,
    /// How strongly the tasks share.
    pub shared: f64,
}

impl GridPoint {
    /// The coupling of k tasks it stands for.
    pub(crate) fn coupling(self, tasks: usize, target: usize) -> Result<Coupling> {
        let k = tasks as f64;
        let gamma = (0..tasks)
            .map(|task| {
                k * if task == target {
                    self.target
                } else {
                    self.source
                }
            })
            .collect();
        Coupling::new(k * self.shared, gamma)
    }
}

/// The couplings that are tried.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// g of the target alone (l = 0).
    pub(crate) alone: Vec<f64>,
    /// g of all tasks alike.
    pub(crate) symmetric: Vec<f64>,
    /// g of the target where the sources have none.
    pub(crate) asymmetric: Vec<f64>,
    /// l of both.
    pub(crate) shared: Vec<f64>,
}

impl Grid {
    /// The measured default: RECIPE S2 less the symmetric g = 100 and the asymmetric g = 0.1, which cost
    /// a fifth of the time and changed no accuracy by more than noise.
    pub(crate) fn default_for(tasks: usize) -> Self {
        let alone = vec![0.01, 0.1, 1.0, 10.0, 100.0];
        if tasks == 1 {
            return Self {
                alone,
                symmetric: Vec::new(),
                asymmetric: Vec::new(),
                shared: Vec::new(),
            };
        }
        Self {
            alone,
            symmetric: vec![0.0, 0.01, 0.1, 1.0, 10.0],
            asymmetric: vec![1.0, 10.0, 100.0],
            shared: vec![0.01, 0.1, 1.0, 10.0, 100.0],
        }
    }

    /// Every g of the target, once.
    fn gammas(&self) -> Vec<f64> {
        let mut gammas = [&self.alone[..], &self.symmetric, &self.asymmetric].concat();
        gammas.sort_by(f64::total_cmp);
        gammas.dedup();
        gammas
    }

    /// All its points.
    pub(crate) fn points(&self) -> Vec<GridPoint> {
        let alone = self.alone.iter().map(|&g| GridPoint {
            source: g,
            target: g,
            shared: 0.0,
        });
        let couplings = |gammas: &[f64], of: fn(f64, f64) -> GridPoint| -> Vec<GridPoint> {
            gammas
                .iter()
                .flat_map(|&g| self.shared.iter().map(move |&l| of(g, l)))
                .collect()
        };
        let symmetric = couplings(&self.symmetric, |g, l| GridPoint {
            source: g,
            target: g,
            shared: l,
        });
        let asymmetric = couplings(&self.asymmetric, |g, l| GridPoint {
            source: 0.0,
            target: g,
            shared: l,
        });
        alone.chain(symmetric).chain(asymmetric).collect()
    }
}

/// The target's fit at one coupling.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) point: GridPoint,
    /// Stratified leave-one-out responses of the target's samples, n_t x C.
    pub(crate) responses: Mat<f64>,
    /// w̃ of the target for the C unit labels, r x C.
    pub(crate) weights: Mat<f64>,
}

/// The tasks in at most min(n, p) coordinates: the same for every target.
#[derive(Clone, Debug)]
pub(crate) struct Reduced<'a> {
    pub(crate) cells: Cells,
    blocks: Vec<Block<'a>>,
    /// Z̃_iᵀ y for the unit labels of the task's own cells, r x m_i.
    right: Vec<Mat<f64>>,
    /// Z̃_i, where the rows are at hand.
    samples: Vec<Option<CentredRows<'a>>>,
    basis: Option<Basis<'a>>,
    features: usize,
}

/// The way back from the row space: w̃ = Z̃ᵀ A w̃_r.
#[derive(Clone, Debug)]
struct Basis<'a> {
    coefficients: Mat<f64>,
    rows: Vec<CentredRows<'a>>,
}

impl<'a> Reduced<'a> {
    pub(crate) fn new(statistics: Statistics<'a>, scaling: Scaling) -> Result<Self> {
        let cells = statistics.cells().clone();
        let features = statistics.features();
        let p = features as f64;
        let scales = scaling.scales(&statistics);
        let rows: usize = (0..scales.len()).map(|task| cells.samples(task)).sum();
        if features > rows {
            let blocks = blocks(statistics, &scales, p);
            return Self::in_row_space(cells, blocks, features);
        }
        let right = right_hand_sides(&cells, statistics.means(), &scales, p.sqrt());
        let samples = (0..scales.len())
            .map(|task| {
                statistics.rows_of(task).map(|rows| CentredRows {
                    rows: rows.clone(),
                    mean: statistics.task_mean(task),
                    scale: 1.0 / (scales[task] * p.sqrt()),
                })
            })
            .collect();
        Ok(Self {
            cells,
            blocks: blocks(statistics, &scales, p),
            right,
            samples,
            basis: None,
            features,
        })
    }

    fn in_row_space(cells: Cells, blocks: Vec<Block<'a>>, features: usize) -> Result<Self> {
        let rows: Vec<CentredRows<'a>> = blocks
            .into_iter()
            .filter_map(|block| match block {
                Block::Rows(rows) => Some(rows),
                Block::Scatter { .. } | Block::Diagonal(_) => None,
            })
            .collect();
        let counts: Vec<usize> = rows.iter().map(|block| block.rows.len()).collect();
        let failed = || Error::Factorisation { task: "all".into() };
        let RowSpace {
            coordinates,
            coefficients,
            diagonal,
        } = RowSpace::new(gram(&rows), &counts).ok_or_else(failed)?;
        // All rows of every task alike: one empty direction stands for the missing ones.
        let rank = coordinates.ncols().max(1);
        let entry = |of: &Mat<f64>, sample: usize, i: usize| {
            if i < of.ncols() { of[(sample, i)] } else { 0.0 }
        };
        let mut start = 0;
        let mut reduced = Vec::new();
        let mut right = Vec::new();
        for (task, &n) in counts.iter().enumerate() {
            let own: Vec<f64> = (start..start + n)
                .flat_map(|sample| (0..rank).map(move |i| (sample, i)))
                .map(|(sample, i)| entry(&coordinates, sample, i))
                .collect();
            let class = classes_in_order(&cells.tasks()[task]);
            let mut sums = Mat::zeros(rank, cells.of_task(task).len());
            for (point, &class) in own.chunks_exact(rank).zip(&class) {
                for (i, x) in point.iter().enumerate() {
                    sums[(i, class)] += x;
                }
            }
            right.push(sums);
            reduced.push(CentredRows {
                rows: RowBlock::owned(own, rank),
                mean: vec![0.0; rank],
                scale: 1.0,
            });
            start += n;
        }
        let mut blocks: Vec<Block<'a>> = reduced.iter().cloned().map(Block::Rows).collect();
        if let Some((task, scatter)) = diagonal {
            blocks[task] = Block::Diagonal(Arc::new(scatter));
        }
        let coefficients = Mat::from_fn(start, rank, |sample, i| entry(&coefficients, sample, i));
        Ok(Self {
            cells,
            blocks,
            right,
            samples: reduced.into_iter().map(Some).collect(),
            basis: Some(Basis { coefficients, rows }),
            features,
        })
    }

    /// Weights on the centred and scaled features (p x q) from w̃ (r x q).
    pub(crate) fn to_features(&self, reduced: &Mat<f64>) -> Mat<f64> {
        let unit = 1.0 / (self.features as f64).sqrt();
        match &self.basis {
            None => Mat::from_fn(reduced.nrows(), reduced.ncols(), |i, j| {
                reduced[(i, j)] * unit
            }),
            Some(basis) => {
                let coefficients = dense::times(basis.coefficients.as_ref(), reduced.as_ref());
                let mut weights = Mat::zeros(self.features, reduced.ncols());
                let mut start = 0;
                for block in &basis.rows {
                    let n = block.rows.len();
                    add_weighted_rows(block, coefficients.subrows(start, n), unit, &mut weights);
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

    /// The scatter within the classes of one task over p (r x r, lower triangle) is added to `sum`;
    /// returns its trace.
    pub(crate) fn add_within(&self, task: usize, sum: &mut Mat<f64>) -> f64 {
        let trace = |sum: &Mat<f64>| (0..sum.nrows()).map(|i| sum[(i, i)]).sum::<f64>();
        let before = trace(sum);
        self.blocks[task].add_to(1.0, sum.as_mut());
        for (class, cell) in self.cells.of_task(task).enumerate() {
            let column = self.right[task].col(class);
            dense::add_outer(
                sum.as_mut(),
                column.as_mat(),
                -1.0 / self.cells.count(cell) as f64,
            );
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
            .map(|x| x / self.cells.count(cell) as f64)
            .collect()
    }

    /// Fits every coupling of the grid for some targets, one γ after the other; `each` takes the fits of
    /// the targets (ascending) at a γ and the share of the work that is done.
    ///
    /// # Errors
    /// If a factorisation fails, or a target's rows are not at hand.
    pub(crate) fn grid(
        &self,
        grid: &Grid,
        targets: &[usize],
        each: &mut dyn FnMut(Vec<Vec<Fitted>>, f64),
    ) -> Result<()> {
        let gammas = grid.gammas();
        for (step, &g) in gammas.iter().enumerate() {
            let fitted = self.at_gamma(g, grid, targets)?;
            each(fitted, (step + 1) as f64 / gammas.len() as f64);
        }
        Ok(())
    }

    /// All couplings with γ_target = g.
    fn at_gamma(&self, g: f64, grid: &Grid, targets: &[usize]) -> Result<Vec<Vec<Fitted>>> {
        let r = self.right[0].nrows();
        let (symmetric, asymmetric) = (grid.symmetric.contains(&g), grid.asymmetric.contains(&g));

        // Σ F_i B_i and F_i Z̃_iᵀ y of all tasks, in an order that no target changes.
        let mut sum = Mat::zeros(r, r);
        let mut gathered = Mat::zeros(r, self.cells.len());
        let mut sides: Vec<Side<'_, '_>> = Vec::with_capacity(targets.len());
        for (task, block) in self.blocks.iter().enumerate() {
            let rows = match targets.contains(&task) {
                true => Some(
                    self.samples[task]
                        .as_ref()
                        .ok_or_else(|| needs_rows(&self.cells.tasks()[task].name))?,
                ),
                false if symmetric => None,
                false => continue,
            };
            let weight = f64::from(u8::from(symmetric || asymmetric));
            let mut product = Mat::zeros(r, r);
            let factor = Factor::new(block.clone(), g, weight, product.as_mut())
                .ok_or_else(|| self.failed(task))?;
            let mut own = self.right[task].clone();
            factor.apply(own.as_mut());
            if symmetric {
                dense::add_lower(sum.as_mut(), product.as_ref(), 1.0);
                self.gather(&mut gathered, task, &own);
            }
            sides.extend(rows.map(|rows| Side {
                task,
                rows,
                factor,
                own,
                product: asymmetric.then_some(product),
            }));
        }

        let (symmetric, asymmetric) = rayon::join(
            || symmetric.then(|| Path::new(sum, gathered, g)),
            || -> Vec<Option<Path>> {
                let sides = sides.par_iter_mut();
                sides.map(|side| self.asymmetric_path(side)).collect()
            },
        );
        sides
            .into_iter()
            .zip(asymmetric)
            .map(|(side, asymmetric)| {
                let mut fitted = Vec::new();
                if grid.alone.contains(&g) {
                    let mut weights = Mat::zeros(r, self.cells.len());
                    let first = self.cells.of_task(side.task).start;
                    add_scaled(weights.as_mut(), first, &side.own, g);
                    fitted.extend(self.left_out(g, &side, None, g, &weights));
                }
                for path in symmetric.iter().chain(&asymmetric) {
                    fitted.extend(self.along(path, g, &grid.shared, &side)?);
                }
                Ok(fitted)
            })
            .collect()
    }

    /// The path of a target where no source differs from what is shared: F_t B_t + Σ B_i.
    fn asymmetric_path(&self, side: &mut Side<'_, '_>) -> Option<Path> {
        let mut sum = side.product.take()?;
        let mut gathered = Mat::zeros(sum.nrows(), self.cells.len());
        for (task, block) in self.blocks.iter().enumerate() {
            if task == side.task {
                self.gather(&mut gathered, task, &side.own);
            } else {
                // The scatter of the sources is added up anew: keeping it would cost more memory than
                // it saves time.
                block.add_to(1.0, sum.as_mut());
                self.gather(&mut gathered, task, &self.right[task]);
            }
        }
        Some(Path::new(sum, gathered, 0.0))
    }

    /// The fits of a target along one path.
    fn along(
        &self,
        path: &Path,
        g: f64,
        shared: &[f64],
        side: &Side<'_, '_>,
    ) -> Result<Vec<Fitted>> {
        let shifted: Vec<Shifted> = shared
            .iter()
            .map(|&lambda| path.reduction.factor(lambda))
            .collect::<Option<_>>()
            .ok_or_else(|| self.failed(side.task))?;
        // w̃ = F (g r + λ H⁻¹ Σ F r), for all λ side by side.
        let c = self.cells.len();
        let mut weights = Mat::zeros(path.gathered.nrows(), c * shifted.len());
        for (index, shifted) in shifted.iter().enumerate() {
            let mut part = weights.as_mut().subcols_mut(index * c, c);
            add_scaled(part.as_mut(), 0, &path.gathered, shifted.lambda);
            shifted.solve(part);
        }
        path.reduction.rotate_back(weights.as_mut());
        side.factor.apply(weights.as_mut());
        let first = self.cells.of_task(side.task).start;
        for index in 0..shifted.len() {
            add_scaled(weights.as_mut(), index * c + first, &side.own, g);
        }
        Ok(self.left_out(g, side, Some((path, &shifted)), path.source, &weights))
    }

    /// Puts what belongs to the cells of one task into its place among all.
    fn gather(&self, gathered: &mut Mat<f64>, task: usize, own: &Mat<f64>) {
        let range = self.cells.of_task(task);
        gathered
            .as_mut()
            .subcols_mut(range.start, range.len())
            .copy_from(own);
    }

    fn failed(&self, task: usize) -> Error {
        Error::Factorisation {
            task: self.cells.tasks()[task].name.clone(),
        }
    }

    /// The fits of one path (of the target alone if there is none): `weights` for its λ side by side,
    /// with the stratified leave-one-out responses.
    fn left_out(
        &self,
        g: f64,
        side: &Side<'_, '_>,
        path: Option<(&Path, &[Shifted])>,
        source: f64,
        weights: &Mat<f64>,
    ) -> Vec<Fitted> {
        let r = weights.nrows();
        let class = classes_in_order(&self.cells.tasks()[side.task]);
        let (n, c) = (class.len(), self.cells.len());
        let range = self.cells.of_task(side.task);
        let share = |cell: usize| {
            if range.contains(&cell) {
                self.cells.share(cell)
            } else {
                0.0
            }
        };
        // Panels are independent; each gives its samples' responses at all couplings side by side.
        let starts: Vec<usize> = (0..n).step_by(LEFT_OUT_PANEL).collect();
        let panel = |&start: &usize| -> Mat<f64> {
            let count = LEFT_OUT_PANEL.min(n - start);
            let rows = side.rows;
            let mut z = Mat::zeros(r, count);
            rows.rows.pack(
                start..start + count,
                0..r,
                &rows.mean,
                rows.scale,
                z.as_mut(),
            );
            let mut responses = dense::times(z.transpose(), weights.as_ref());
            let mut fz = side.factor.apply_to_samples(start, z.as_ref());
            let own: Vec<f64> = (0..count).map(|l| g * dot(z.col(l), fz.col(l))).collect();
            let quadratic: Vec<Vec<f64>> = match path {
                None => vec![own],
                Some((path, shifted)) => {
                    path.reduction.rotate(fz.as_mut());
                    let forms = |shifted: &Shifted| {
                        let forms = shifted.quadratic_forms(fz.as_ref());
                        own.iter()
                            .zip(forms)
                            .map(|(own, form)| own + shifted.lambda * form)
                            .collect()
                    };
                    shifted.iter().map(forms).collect()
                }
            };
            for (index, quadratic) in quadratic.iter().enumerate() {
                for (l, quadratic) in quadratic.iter().enumerate() {
                    let left_out = (1.0 - quadratic - 1.0 / n as f64).max(SMALLEST_G);
                    for cell in 0..c {
                        let indicator = f64::from(u8::from(cell == range.start + class[start + l]));
                        let response = &mut responses[(l, index * c + cell)];
                        *response = indicator - (indicator - share(cell) - *response) / left_out;
                    }
                }
            }
            responses
        };
        let panels: Vec<Mat<f64>> = starts.par_iter().map(panel).collect();
        let lambdas: Vec<f64> = match path {
            None => vec![0.0],
            Some((_, shifted)) => shifted.iter().map(|shifted| shifted.lambda).collect(),
        };
        let fit = |(index, shared): (usize, f64)| {
            let mut responses = Mat::zeros(n, c);
            for (&start, panel) in starts.iter().zip(&panels) {
                let part = panel.subcols(index * c, c);
                responses
                    .as_mut()
                    .subrows_mut(start, panel.nrows())
                    .copy_from(part);
            }
            stratify(&mut responses, &class, &self.cells, side.task);
            Fitted {
                point: GridPoint {
                    source,
                    target: g,
                    shared,
                },
                responses,
                weights: weights.subcols(index * c, c).to_owned(),
            }
        };
        lambdas.into_iter().enumerate().map(fit).collect()
    }
}

/// Samples whose leave-one-out responses are computed together; panels run in parallel.
const LEFT_OUT_PANEL: usize = 64;

/// The columns of `to` from `first` on += factor * term.
fn add_scaled(to: MatMut<'_, f64>, first: usize, term: &Mat<f64>, factor: f64) {
    let mut to = to.subcols_mut(first, term.ncols());
    for j in 0..term.ncols() {
        for i in 0..term.nrows() {
            to[(i, j)] += factor * term[(i, j)];
        }
    }
}

/// A target at one γ.
struct Side<'s, 'a> {
    task: usize,
    rows: &'s CentredRows<'a>,
    factor: Factor<'a>,
    /// F_t Z̃_tᵀ y, r x m_t.
    own: Mat<f64>,
    /// F_t B_t, until the asymmetric path takes it.
    product: Option<Mat<f64>>,
}

/// One γ, ready for any λ.
struct Path {
    reduction: BlockTridiagonal,
    /// Qᵀ Σ_i F_i Z̃_iᵀ y, r x C.
    gathered: Mat<f64>,
    source: f64,
}

impl Path {
    fn new(sum: Mat<f64>, mut gathered: Mat<f64>, source: f64) -> Self {
        let reduction = BlockTridiagonal::new(sum);
        reduction.rotate(gathered.as_mut());
        Self {
            reduction,
            gathered,
            source,
        }
    }
}
