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
use crate::numerics::dense::{self, Transposed};

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

/// What is left of the target's labels at one coupling, and the residuals of the C unit labels.
#[derive(Clone, Debug)]
pub(crate) struct Hat {
    /// Q = I - H, n x n.
    left: Mat<f64>,
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
        left: Mat<f64>,
        residuals: Mat<f64>,
        cell: Vec<usize>,
        importance: Importance,
    ) -> Self {
        Self {
            left,
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
        let q = &self.left;
        // With L Lᵀ = Q_FF all that is asked for are products of L⁻¹ E_F and of Q_RF L⁻ᵀ. The columns of the fold are
        // few and its rows are spread over all: Q_RF, not Q_FR, is what is read.
        let mut root = picked(q, held_out, held_out.iter().copied());
        factorise(&mut root);
        let mut across = picked(q, others, held_out.iter().copied());
        dense::solve_lower_right(root.as_ref(), across.as_mut(), Transposed::Yes);
        let mut errors = picked(&self.residuals, held_out, 0..c);
        dense::solve_lower(root.as_ref(), errors.as_mut());
        let mut residuals = picked(&self.residuals, others, 0..c);
        // H_RF = -Q_RF.
        dense::product(
            residuals.as_mut(),
            Accum::Add,
            across.as_ref(),
            errors.as_ref(),
            -1.0,
        );
        match groups.members() {
            None => {
                let mut taken = vec![0.0; others.len()];
                for column in across.col_iter() {
                    let both = taken.iter_mut().zip(column.iter());
                    both.for_each(|(taken, x)| *taken += x * x);
                }
                let left: Vec<f64> = (others.iter().zip(taken))
                    .map(|(&l, taken)| q[(l, l)] - taken)
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
                        let taken = dot(across.row(a).transpose(), across.row(b).transpose());
                        q[(others[a], others[b])] - taken
                    });
                    let cell = |l: usize| self.cell[others[l]];
                    leave_group_out(&mut residuals, members, block, cell);
                }
            }
        }
        dense::solve_lower_transposed(root.as_ref(), errors.as_mut());
        FoldLeftOut {
            held_out: Mat::from_fn(f, c, |i, j| {
                let l = held_out[i];
                f64::from(u8::from(j == self.cell[l])) - errors[(i, j)] / self.importance.root(l)
            }),
            others: residuals,
        }
    }
}

/// Some rows and columns of a matrix.
fn picked(
    of: &Mat<f64>,
    rows: &[usize],
    columns: impl ExactSizeIterator<Item = usize>,
) -> Mat<f64> {
    let mut some = Mat::zeros(rows.len(), columns.len());
    for (j, column) in columns.enumerate() {
        let from = of.col_as_slice(column);
        let entries = some.col_as_slice_mut(j).iter_mut().zip(rows);
        entries.for_each(|(x, &row)| *x = from[row]);
    }
    some
}
