//! One task's share of the arrowhead system: F_i = (I + γ_i B_i)⁻¹ and F_i B_i (THEORY 3.1).
//!
//! B_i = Z_iᵀ Z_i / N is the scatter of the task's centred and scaled rows over the normaliser N.
//! With fewer rows than features F_i is factorised on the side of the rows: with
//! L Lᵀ = I + γ Z Zᵀ/N and U = L⁻¹ Z/√N, F v = v - γ Uᵀ U v and F B = Uᵀ U.
//!
//! | form | time | memory |
//! |---|---|---|
//! | primal | p³ (factor, inverse, product) | p² (+ p² while it is made) |
//! | dual | 2 n² p + n³/3 + n p² | n p (+ n² while it is made) |

use faer::{Accum, Mat, MatMut, MatRef};

use crate::dense;
use crate::statistics::RowBlock;

/// B_i of one task, ready to be factorised for any γ.
#[derive(Clone, Debug)]
pub(crate) enum Block<'a> {
    /// B_i itself, lower triangle.
    Scatter(Mat<f64>),
    /// The rows it is made of.
    Rows(CentredRows<'a>),
}

/// Rows of a task with what makes Z_i/√N of them.
#[derive(Clone, Debug)]
pub(crate) struct CentredRows<'a> {
    pub(crate) rows: RowBlock<'a>,
    pub(crate) mean: Vec<f64>,
    /// 1/(s_i √N).
    pub(crate) scale: f64,
}

impl CentredRows<'_> {
    /// Z_iᵀ/√N, p x n_i.
    pub(crate) fn pack_all(&self) -> Mat<f64> {
        let (p, n) = (self.mean.len(), self.rows.len());
        let mut panel = Mat::zeros(p, n);
        self.rows
            .pack(0..n, 0..p, &self.mean, self.scale, panel.as_mut());
        panel
    }
}

/// Where the rows are fewer than this share of the features the dual form is cheaper:
/// 2 x² + x³/3 < 1.
const DUAL_SHARE: f64 = 0.66;

impl Block<'_> {
    /// sum += weight B_i (lower triangle).
    pub(crate) fn add_to(&self, weight: f64, mut sum: MatMut<'_, f64>) {
        match self {
            Self::Scatter(b) => add_lower(sum, b.as_ref(), weight),
            Self::Rows(rows) => dense::add_outer(sum.as_mut(), rows.pack_all().as_ref(), weight),
        }
    }
}

fn add_lower(mut sum: MatMut<'_, f64>, term: MatRef<'_, f64>, weight: f64) {
    for j in 0..term.ncols() {
        let from = term.col(j).subrows(j, term.nrows() - j);
        let to = sum.as_mut().col_mut(j).subrows_mut(j, term.nrows() - j);
        to.iter_mut()
            .zip(from.iter())
            .for_each(|(to, from)| *to += weight * from);
    }
}

/// F_i, factorised.
#[derive(Clone, Debug)]
pub(crate) enum Factor {
    /// γ = 0: F = I.
    Identity,
    /// L with L Lᵀ = I + γ B.
    Primal(Mat<f64>),
    /// Uᵀ (p x n_i), L and γ.
    Dual {
        u: Mat<f64>,
        l: Mat<f64>,
        gamma: f64,
    },
}

/// (I - F)/γ gives F B without a product of its own, but loses weight/γ units in the last place of
/// `sum`; beyond this ratio F B is solved for.
const CANCELLATION: f64 = 1e3;

impl Factor {
    /// Factorises I + γ B and adds weight * F B to the lower triangle of `sum`; `None` if the
    /// matrix is not positive definite (overflow).
    pub(crate) fn new(
        block: Block<'_>,
        gamma: f64,
        weight: f64,
        mut sum: MatMut<'_, f64>,
    ) -> Option<Self> {
        if gamma == 0.0 {
            if weight != 0.0 {
                block.add_to(weight, sum);
            }
            return Some(Self::Identity);
        }
        match block {
            Block::Rows(rows) if (rows.rows.len() as f64) < DUAL_SHARE * rows.mean.len() as f64 => {
                let mut u = rows.pack_all();
                let n = u.ncols();
                let mut gram = Mat::identity(n, n);
                dense::add_outer(gram.as_mut(), u.transpose(), gamma);
                dense::cholesky(gram.as_mut())?;
                dense::solve_lower(gram.as_ref(), u.as_mut().transpose_mut());
                if weight != 0.0 {
                    dense::add_outer(sum, u.as_ref(), weight);
                }
                Some(Self::Dual { u, l: gram, gamma })
            }
            Block::Rows(rows) => {
                let mut b = Mat::zeros(rows.mean.len(), rows.mean.len());
                Block::Rows(rows).add_to(1.0, b.as_mut());
                Self::new(Block::Scatter(b), gamma, weight, sum)
            }
            Block::Scatter(mut b) => {
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
        }
    }

    /// x ← F x.
    pub(crate) fn apply(&self, mut x: MatMut<'_, f64>) {
        match self {
            Self::Identity => {}
            Self::Primal(l) => dense::solve_cholesky(l.as_ref(), x),
            Self::Dual { u, gamma, .. } => {
                let inner = dense::times(u.transpose(), x.as_ref());
                dense::product(x.as_mut(), Accum::Add, u.as_ref(), inner.as_ref(), -gamma);
            }
        }
    }
}

/// F Z_iᵀ/√N for the very rows F was made of, a few columns at a time.
///
/// On the side of the rows it is Uᵀ L⁻¹, solved once for all: cheaper than [`Factor::apply`], and
/// without its cancellation where γ is large. The other forms apply F as columns are asked for.
#[derive(Debug)]
pub(crate) enum AppliedRows {
    Solved(Mat<f64>),
    OnDemand(Factor),
}

impl AppliedRows {
    pub(crate) fn new(factor: Factor) -> Self {
        match factor {
            Factor::Dual { mut u, l, .. } => {
                // u L⁻¹ is the transpose of L⁻ᵀ uᵀ.
                dense::solve_lower_transposed(l.as_ref(), u.as_mut().transpose_mut());
                Self::Solved(u)
            }
            factor => Self::OnDemand(factor),
        }
    }

    /// The columns from `start` on, given those of Z_iᵀ/√N.
    pub(crate) fn columns(&self, start: usize, z: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Self::Solved(solved) => solved.subcols(start, z.ncols()).to_owned(),
            Self::OnDemand(factor) => {
                let mut applied = z.to_owned();
                factor.apply(applied.as_mut());
                applied
            }
        }
    }
}
