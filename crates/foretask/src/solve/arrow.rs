//! The arrowhead form of a trained system: one factor per task, one head for what they share.

use faer::{Accum, Mat, MatRef};

use super::block::{Block, CentredRows};
use super::factor::Factor;
use super::leave_fold_out::dot;
use super::leave_one_out::Residuals;
use crate::data::{Cells, Coupling, Groups, Importance, RowBlock};
use crate::error::{Error, Result};
use crate::numerics::dense;

/// The F_i, the Cholesky factor of H, and w_0.
#[derive(Debug)]
pub(super) struct Arrow<'a> {
    factors: Vec<Factor<'a>>,
    /// L with L Lᵀ = H.
    head: Mat<f64>,
    /// w_0 for the C unit labels, p x C.
    shared: Mat<f64>,
}

/// The rows of a task whose samples are left out, what centres and scales them, and their weights.
pub(super) struct Own<'r> {
    pub(super) rows: &'r RowBlock<'r>,
    pub(super) mean: Vec<f64>,
    pub(super) scale: f64,
    pub(super) importance: &'r Importance,
    /// The sum of the weights.
    pub(super) total: f64,
}

/// What of I - H is asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'g> {
    /// All of it.
    pub(super) whole: bool,
    /// The blocks of these.
    pub(super) groups: &'g Groups,
}

impl<'a> Arrow<'a> {
    pub(super) fn new(
        cells: &Cells,
        coupling: &Coupling,
        blocks: Vec<Block<'a>>,
        right: &[Mat<f64>],
    ) -> Result<Self> {
        let p = right[0].nrows();
        let lambda = coupling.lambda();
        let mut head = Mat::identity(p, p);
        let mut shared = Mat::zeros(p, cells.len());
        let mut factors = Vec::with_capacity(blocks.len());
        for (task, block) in blocks.into_iter().enumerate() {
            let factor = Factor::new(block, coupling.gamma()[task], lambda, head.as_mut())
                .ok_or_else(|| Error::Factorisation {
                    task: cells.tasks()[task].name.clone(),
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
        Ok(Self {
            factors,
            head,
            shared,
        })
    }

    /// w_i of a task for the C unit labels (p x C); `right` is r_i for its own cells.
    pub(super) fn weights(
        &self,
        task: usize,
        first: usize,
        gamma: f64,
        right: &Mat<f64>,
    ) -> Mat<f64> {
        let mut weights = self.shared.clone();
        for class in 0..right.ncols() {
            for feature in 0..right.nrows() {
                weights[(feature, first + class)] += gamma * right[(feature, class)];
            }
        }
        self.factors[task].apply(weights.as_mut());
        weights
    }

    /// α of a task's samples, given the centred labels √w (J - ȳ) (n_i x C) and its weights, the G_ll, the `whole` of
    /// I - H if asked for, and its blocks where samples come in groups.
    pub(super) fn residuals(
        &self,
        coupling: &Coupling,
        task: usize,
        own: Own<'_>,
        mut labels: Mat<f64>,
        weights: &Mat<f64>,
        asked: Asked<'_>,
    ) -> Residuals {
        let Asked { whole, groups } = asked;
        let normaliser = (self.factors.len() * weights.nrows()) as f64;
        let (lambda, gamma) = (coupling.lambda(), coupling.gamma()[task]);
        let Own {
            importance, total, ..
        } = own;
        let intercept = |i: usize, j: usize| importance.root(i) * importance.root(j) / total;
        let mut g = Vec::with_capacity(labels.nrows());
        let centred = CentredRows {
            rows: own.rows.clone(),
            mean: own.mean,
            scale: 1.0 / (own.scale * normaliser.sqrt()),
            importance: importance.clone(),
        };
        let gathered = whole || groups.members().is_some();
        let rows = if gathered { labels.nrows() } else { 0 };
        let (mut all, mut half) = (
            Mat::<f64>::zeros(weights.nrows(), rows),
            Mat::<f64>::zeros(weights.nrows(), rows),
        );
        let unfitted = |i: usize, j: usize| f64::from(u8::from(i == j)) - intercept(i, j);
        let mut q = whole.then(|| Mat::from_fn(rows, rows, unfitted));
        centred.for_panels(|start, z| {
            dense::product(
                labels.as_mut().subrows_mut(start, z.ncols()),
                Accum::Add,
                z.transpose(),
                weights.as_ref(),
                -normaliser.sqrt(),
            );
            let mut fz = self.factors[task].apply_to_samples(start, z);
            let own: Vec<f64> = (0..z.ncols()).map(|l| dot(z.col(l), fz.col(l))).collect();
            if gathered {
                let part = |of: &mut Mat<f64>, from: MatRef<'_, f64>| {
                    of.as_mut().subcols_mut(start, z.ncols()).copy_from(from);
                };
                part(&mut all, z);
                part(&mut half, fz.as_ref());
            }
            if lambda > 0.0 {
                dense::solve_lower(self.head.as_ref(), fz.as_mut());
            }
            for (l, own) in own.iter().enumerate() {
                let quadratic = gamma * own
                    + if lambda > 0.0 {
                        lambda * fz.col(l).squared_norm_l2()
                    } else {
                        0.0
                    };
                g.push(1.0 - quadratic - importance.of(start + l) / total);
            }
        });
        if let Some(q) = &mut q {
            let mut subtract = |left: MatRef<'_, f64>, right: MatRef<'_, f64>, factor: f64| {
                dense::product(q.as_mut(), Accum::Add, left.transpose(), right, -factor);
            };
            subtract(all.as_ref(), half.as_ref(), gamma);
            if lambda > 0.0 {
                let mut half = half.clone();
                dense::solve_lower(self.head.as_ref(), half.as_mut());
                subtract(half.as_ref(), half.as_ref(), lambda);
            }
        }
        let block = |members: &Vec<usize>| {
            let size = members.len();
            let of =
                |from: &Mat<f64>| Mat::from_fn(from.nrows(), size, |i, j| from[(i, members[j])]);
            let (z, mut fz) = (of(&all), of(&half));
            let mut block = Mat::from_fn(size, size, |i, j| unfitted(members[i], members[j]));
            dense::product(
                block.as_mut(),
                Accum::Add,
                z.transpose(),
                fz.as_ref(),
                -gamma,
            );
            if lambda > 0.0 {
                dense::solve_lower(self.head.as_ref(), fz.as_mut());
                let fz = fz.as_ref();
                dense::product(block.as_mut(), Accum::Add, fz.transpose(), fz, -lambda);
            }
            block
        };
        Residuals {
            alpha: labels,
            g,
            q,
            blocks: groups
                .members()
                .unwrap_or_default()
                .iter()
                .map(block)
                .collect(),
        }
    }
}
