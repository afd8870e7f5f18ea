//! One task's share of the arrowhead system: F_i = (I + γ_i B_i)⁻¹ and F_i B_i
//! (`docs/3-the-solver.md#the-arrowhead`).
//!
//! B_i = Z_iᵀ Z_i / N is the scatter of the task's centred and scaled rows over the normaliser N.
//! With fewer rows than features F_i is factorised on the side of the rows:
//! G = F Zᵀ/√N = Zᵀ/√N (I + γ Z Zᵀ/N)⁻¹ is all that needs to be kept, for F B = G Z/√N and
//! F v = v - γ G Z v/√N.
//!
//! | form | multiplications | memory |
//! |---|---|---|
//! | primal | p³/2 (factor, inverse, product) | p² (+ p² while it is made) |
//! | dual | 3/2 n² p + n³/6 + n p²/2 | n p (+ n² while it is made) |

use std::sync::Arc;

use faer::{Accum, Mat, MatMut, MatRef};

use super::block::{Block, CentredRows};
use crate::numerics::dense::{self, CANCELLATION, Transposed};

/// Where the rows are fewer than this share of the features the dual form is taken. Counting
/// multiplications the two break even at 0.55; up to here the dual form is as fast and needs less memory.
const DUAL_SHARE: f64 = 0.66;

/// F_i, factorised.
#[derive(Clone, Debug)]
pub(crate) enum Factor<'a> {
    /// γ = 0: F = I.
    Identity,
    /// L with L Lᵀ = I + γ B.
    Primal(Mat<f64>),
    /// G = F Zᵀ/√N (p x n_i), the rows, and γ.
    Dual {
        applied: Mat<f64>,
        rows: CentredRows<'a>,
        gamma: f64,
    },
}

impl<'a> Factor<'a> {
    /// Factorises I + γ B and adds weight * F B to the lower triangle of `sum`; `None` if the
    /// matrix is not positive definite (overflow).
    pub(crate) fn new(
        block: Block<'a>,
        gamma: f64,
        weight: f64,
        sum: MatMut<'_, f64>,
    ) -> Option<Self> {
        if gamma == 0.0 {
            if weight != 0.0 {
                block.add_to(weight, sum);
            }
            return Some(Self::Identity);
        }
        match block {
            Block::Rows(rows) if (rows.rows.len() as f64) < DUAL_SHARE * rows.mean.len() as f64 => {
                Self::dual(rows, gamma, weight, sum)
            }
            Block::Rows(rows) => {
                let mut b = Mat::zeros(rows.mean.len(), rows.mean.len());
                Block::Rows(rows).add_to(1.0, b.as_mut());
                Self::primal(b, gamma, weight, sum)
            }
            Block::Scatter { scatter, scale } => {
                // In place, if nobody else needs the scatter.
                let mut b = Arc::unwrap_or_clone(scatter);
                b.col_iter_mut()
                    .for_each(|column| column.iter_mut().for_each(|x| *x *= scale));
                Self::primal(b, gamma, weight, sum)
            }
        }
    }

    fn dual(rows: CentredRows<'a>, gamma: f64, weight: f64, sum: MatMut<'_, f64>) -> Option<Self> {
        let mut u = rows.pack_all();
        let mut l = Mat::identity(u.ncols(), u.ncols());
        dense::add_outer(l.as_mut(), u.transpose(), gamma);
        dense::cholesky(l.as_mut())?;
        // U = L⁻¹ Z/√N gives F B = Uᵀ U, and then G = Uᵀ L⁻¹; both as solves from the right.
        dense::solve_lower_right(l.as_ref(), u.as_mut(), Transposed::Yes);
        if weight != 0.0 {
            dense::add_outer(sum, u.as_ref(), weight);
        }
        dense::solve_lower_right(l.as_ref(), u.as_mut(), Transposed::No);
        Some(Self::Dual {
            applied: u,
            rows,
            gamma,
        })
    }

    fn primal(mut b: Mat<f64>, gamma: f64, weight: f64, mut sum: MatMut<'_, f64>) -> Option<Self> {
        let p = b.nrows();
        let mut plain = (weight > CANCELLATION * gamma).then(|| b.clone());
        for j in 0..p {
            b.col_mut(j)
                .subrows_mut(j, p - j)
                .iter_mut()
                .for_each(|x| *x *= gamma);
            b[(j, j)] += 1.0;
        }
        dense::cholesky(b.as_mut())?;
        if let Some(plain) = &mut plain {
            dense::mirror(plain);
            dense::solve_cholesky(b.as_ref(), plain.as_mut());
            for j in 0..p {
                for i in j..p {
                    sum[(i, j)] += 0.5 * weight * (plain[(i, j)] + plain[(j, i)]);
                }
            }
        } else if weight != 0.0 {
            let inverse = dense::invert_lower(b.as_ref());
            dense::add_inverse_outer(sum.as_mut(), inverse.as_ref(), -weight / gamma);
            (0..p).for_each(|j| sum[(j, j)] += weight / gamma);
        }
        Some(Self::Primal(b))
    }

    /// x ← F x.
    pub(crate) fn apply(&self, mut x: MatMut<'_, f64>) {
        match self {
            Self::Identity => {}
            Self::Primal(l) => dense::solve_cholesky(l.as_ref(), x),
            Self::Dual {
                applied,
                rows,
                gamma,
            } => {
                let inner = rows.times(x.as_ref());
                dense::product(
                    x.as_mut(),
                    Accum::Add,
                    applied.as_ref(),
                    inner.as_ref(),
                    -gamma,
                );
            }
        }
    }

    /// F applied to the task's own samples from `start` on, given those samples (p x some, in units
    /// of √N). On the side of the rows it is there already, without the cancellation that
    /// [`Factor::apply`] has where γ is large.
    pub(crate) fn apply_to_samples(&self, start: usize, z: MatRef<'_, f64>) -> Mat<f64> {
        if let Self::Dual { applied, .. } = self {
            return applied.subcols(start, z.ncols()).to_owned();
        }
        let mut result = z.to_owned();
        self.apply(result.as_mut());
        result
    }
}
