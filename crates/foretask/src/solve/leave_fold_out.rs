//! Exact responses without a whole fold of the target, from one hat matrix
//! (`docs/3-the-solver.md#leaving-a-fold-out`).
//!
//! H maps the target's labels to its fitted values, intercept included; J are the unit labels and E = J - responses
//! the residuals. For a fold F and the others R:
//!
//! ```text
//! e_F  = (I - H_FF)⁻¹ E_F                        the fold without itself: J_F - e_F
//! E_R' = E_R + H_RF e_F                          the others' residuals without the fold
//! h_l' = H_ll + H_lF (I - H_FF)⁻¹ H_Fl           and their leverages
//! ```
//!
//! so that leave-one-out among the others, without the fold, is J_l - E_l'/(1 - h_l'). Where samples come in groups,
//! groups of the others are left out in the same way, with H' in the place of H. No factorisation is repeated;
//! only the scale of the data has seen the fold. Where samples have weights, H and E are those of rows and labels times
//! the roots of their weights. Time n |F| (|F| + C) per fold; memory n².

use faer::{Accum, Mat};

use crate::data::{Groups, Importance, Joined};
use crate::numerics::dense;

/// Up to so many samples of the target the hat matrix is kept. Beyond, what a sample tells about its own rule is
/// below a tenth of a point of error.
pub(crate) const HAT_ROWS: usize = 500;

/// G_ll is a variance ratio in (0, 1); below this a sample determines its own fit and leaving it out
/// says nothing.
const SMALLEST_G: f64 = 1e-12;

/// Φ = J - α/G: the response that a sample has to a unit label when it is left out. `own` is whether the
/// label is that of the sample's cell.
pub(super) fn left_out(own: bool, residual: f64, g: f64) -> f64 {
    f64::from(u8::from(own)) - residual / g.max(SMALLEST_G)
}

/// Q_gg⁻¹ E_g: the errors of samples that are left out together, from their block of Q = I - H and their residuals.
pub(super) fn errors_without(mut block: Mat<f64>, mut residuals: Mat<f64>) -> Mat<f64> {
    factorise(&mut block);
    dense::solve_lower(block.as_ref(), residuals.as_mut());
    dense::solve_lower_transposed(block.as_ref(), residuals.as_mut());
    residuals
}

/// Cholesky. A fold that determines its own fit leaves nothing to be learnt about it.
fn factorise(block: &mut Mat<f64>) {
    if dense::cholesky(block.as_mut()).is_none() {
        for i in 0..block.ncols() {
            block.col_as_slice_mut(i).fill(0.0);
            block[(i, i)] = LEAST_LEFT;
        }
    }
}

pub(crate) fn dot(a: faer::ColRef<'_, f64>, b: faer::ColRef<'_, f64>) -> f64 {
    a.iter().zip(b.iter()).map(|(a, b)| a * b).sum()
}

/// √(1 - h) of a fold that determines its own fit.
const LEAST_LEFT: f64 = 1e-6;

/// Puts the responses without a group in the place of its residuals; `cell` is that of a sample.
pub(super) fn leave_group_out(
    residuals: &mut Mat<f64>,
    members: &[usize],
    block: Mat<f64>,
    cell: impl Fn(usize) -> usize,
) {
    let c = residuals.ncols();
    let own = Mat::from_fn(members.len(), c, |i, j| residuals[(members[i], j)]);
    let errors = errors_without(block, own);
    for (i, &l) in members.iter().enumerate() {
        for j in 0..c {
            residuals[(l, j)] = f64::from(u8::from(j == cell(l))) - errors[(i, j)];
        }
    }
}

/// The target's hat matrix at one coupling, and the residuals of the C unit labels.
#[derive(Clone, Debug)]
pub(crate) struct Hat {
    /// H, n x n.
    matrix: Mat<f64>,
    /// E, n x C, times the roots of the weights.
    residuals: Mat<f64>,
    /// The cell of each sample.
    cell: Vec<usize>,
    importance: Importance,
}

/// Responses (plain, not stratified) by models without a fold.
pub(crate) struct FoldLeftOut {
    /// Of the fold, |F| x C.
    pub(crate) held_out: Mat<f64>,
    /// Of the others, each left out of them with its group, |R| x C.
    pub(crate) others: Mat<f64>,
}

impl Hat {
    /// From Q = I - H.
    pub(super) fn new(
        q: &Mat<f64>,
        residuals: Mat<f64>,
        cell: Vec<usize>,
        importance: Importance,
    ) -> Self {
        let n = q.nrows();
        Self {
            matrix: Mat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) - q[(i, j)]),
            residuals,
            cell,
            importance,
        }
    }

    /// The same where sources share columns.
    pub(super) fn joined(self, joined: &Joined) -> Self {
        Self {
            residuals: joined.sums(&self.residuals),
            cell: self.cell.iter().map(|&cell| joined.column(cell)).collect(),
            ..self
        }
    }

    /// Responses without a fold; `groups` are of the others, by position among them.
    pub(crate) fn without(
        &self,
        held_out: &[usize],
        others: &[usize],
        groups: &Groups,
    ) -> FoldLeftOut {
        let (f, c) = (held_out.len(), self.residuals.ncols());
        let h = &self.matrix;
        let mut rest = Mat::from_fn(f, f, |i, j| {
            f64::from(u8::from(i == j)) - h[(held_out[i], held_out[j])]
        });
        // [E_F, H_FR]: with L Lᵀ = I - H_FF all that is asked for are products of L⁻¹ of these.
        let mut half = Mat::zeros(f, c + others.len());
        for j in 0..c {
            let from = self.residuals.col_as_slice(j);
            let column = half.col_as_slice_mut(j).iter_mut().zip(held_out);
            column.for_each(|(x, &l)| *x = from[l]);
        }
        for (j, &other) in others.iter().enumerate() {
            let from = h.col_as_slice(other);
            let column = half.col_as_slice_mut(c + j).iter_mut().zip(held_out);
            column.for_each(|(x, &l)| *x = from[l]);
        }
        factorise(&mut rest);
        dense::solve_lower(rest.as_ref(), half.as_mut());
        let across = half.subcols(c, others.len());
        let mut residuals = Mat::from_fn(others.len(), c, |l, j| self.residuals[(others[l], j)]);
        dense::product(
            residuals.as_mut(),
            Accum::Add,
            across.transpose(),
            half.subcols(0, c),
            1.0,
        );
        match groups.members() {
            None => {
                let left: Vec<f64> = (others.iter().enumerate())
                    .map(|(l, &sample)| 1.0 - h[(sample, sample)] - across.col(l).squared_norm_l2())
                    .collect();
                let roots: Vec<f64> = others.iter().map(|&l| self.importance.root(l)).collect();
                for j in 0..c {
                    let column = residuals.col_as_slice_mut(j).iter_mut().enumerate();
                    column.for_each(|(l, x)| {
                        *x = left_out(j == self.cell[others[l]], *x / roots[l], left[l]);
                    });
                }
            }
            Some(groups) => {
                for members in groups {
                    let block = Mat::from_fn(members.len(), members.len(), |i, j| {
                        let (a, b) = (members[i], members[j]);
                        f64::from(u8::from(i == j))
                            - h[(others[a], others[b])]
                            - dot(across.col(a), across.col(b))
                    });
                    let cell = |l: usize| self.cell[others[l]];
                    leave_group_out(&mut residuals, members, block, cell);
                }
            }
        }
        let mut errors = half.subcols(0, c).to_owned();
        dense::solve_lower_transposed(rest.as_ref(), errors.as_mut());
        FoldLeftOut {
            held_out: Mat::from_fn(f, c, |i, j| {
                let l = held_out[i];
                f64::from(u8::from(j == self.cell[l])) - errors[(i, j)] / self.importance.root(l)
            }),
            others: residuals,
        }
    }
}
