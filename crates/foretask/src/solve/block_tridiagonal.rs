//! The path over λ: one reduction to block-tridiagonal form makes every further λ cheap.
//!
//! At fixed γ the head of the arrowhead system is H(λ) = I + λ N with N = Σ_i F_i B_i. Blocks of
//! Householder reflections, Q_j = I - V_j S_j V_jᵀ, give N = Q T Qᵀ with T block-tridiagonal, so that
//! H(λ)⁻¹ = Q (I + λ T)⁻¹ Qᵀ. After the reduction a solve costs O(r b) per right-hand side for each λ:
//! I + λ T is symmetric positive definite and its block Cholesky factor is bidiagonal.
//!
//! An eigen-decomposition would do the same with blocks of size one, but half of its work moves memory
//! instead of computing. Stopping at blocks of [`BLOCK`] leaves matrix products only: 2/3 r³
//! multiplications at full speed, with the same bits for any number of threads. The reflections take
//! the place of the matrix; no further memory of its size is needed.

use faer::linalg::householder::make_householder_in_place;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatMut, MatRef};

use crate::error::Result;
use crate::numerics::dense;
use crate::stop::Stop;

/// Size of the blocks of T.
const BLOCK: usize = 32;

/// N = Q T Qᵀ.
#[derive(Debug)]
pub(crate) struct BlockTridiagonal {
    /// V_j fills the rows below block j + 1 of block column j, explicitly: ones on its diagonal,
    /// zeros above.
    reflections: Mat<f64>,
    /// S_j.
    s: Vec<Mat<f64>>,
    /// Diagonal blocks, lower triangle.
    diagonal: Vec<Mat<f64>>,
    /// Blocks below the diagonal.
    below: Vec<Mat<f64>>,
}

impl BlockTridiagonal {
    /// Reduces a symmetric matrix given by its lower triangle.
    ///
    /// # Errors
    /// If it is to stop.
    pub(crate) fn new(mut matrix: Mat<f64>, stop: &Stop) -> Result<Self> {
        let n = matrix.nrows();
        let starts: Vec<usize> = (0..n).step_by(BLOCK).collect();
        let size = |i: usize| BLOCK.min(n - starts[i]);
        let mut s = Vec::new();
        let mut diagonal = Vec::new();
        let mut below = Vec::new();
        for (i, &start) in starts.iter().enumerate() {
            stop.check()?;
            diagonal.push(matrix.submatrix(start, start, size(i), size(i)).to_owned());
            let first = start + BLOCK;
            if first >= n {
                break;
            }
            let rows = n - first;
            if rows > BLOCK {
                let (left, mut rest) = matrix
                    .as_mut()
                    .subrows_mut(first, rows)
                    .split_at_col_mut(first);
                let mut v = left.subcols_mut(start, BLOCK);
                let (triangle, factor) = reduce_panel(v.as_mut());
                reflect_both_sides(rest.as_mut(), v.as_ref(), factor.as_ref());
                below.push(triangle);
                s.push(factor);
            } else {
                below.push(matrix.submatrix(first, start, rows, BLOCK).to_owned());
            }
        }
        Ok(Self {
            reflections: matrix,
            s,
            diagonal,
            below,
        })
    }

    /// x ← Qᵀ x.
    pub(crate) fn rotate(&self, mut x: MatMut<'_, f64>) {
        for (j, s) in self.s.iter().enumerate() {
            self.reflect(j, s.transpose(), x.as_mut());
        }
    }

    /// x ← Q x.
    pub(crate) fn rotate_back(&self, mut x: MatMut<'_, f64>) {
        for (j, s) in self.s.iter().enumerate().rev() {
            self.reflect(j, s.as_ref(), x.as_mut());
        }
    }

    /// x ← (I - V_j s V_jᵀ) x.
    fn reflect(&self, j: usize, s: MatRef<'_, f64>, x: MatMut<'_, f64>) {
        let first = (j + 1) * BLOCK;
        let rows = x.nrows() - first;
        let v = self.reflections.submatrix(first, j * BLOCK, rows, BLOCK);
        let mut x = x.subrows_mut(first, rows);
        let inner = dense::times(s, dense::times(v.transpose(), x.as_ref()).as_ref());
        dense::product(x.as_mut(), Accum::Add, v, inner.as_ref(), -1.0);
    }

    /// The block Cholesky factor of I + λ T; `None` if it overflows.
    pub(crate) fn factor(&self, lambda: f64) -> Option<Shifted> {
        let mut diagonal: Vec<Mat<f64>> = Vec::with_capacity(self.diagonal.len());
        let mut below: Vec<Mat<f64>> = Vec::with_capacity(self.below.len());
        for (i, block) in self.diagonal.iter().enumerate() {
            let mut pivot = Mat::from_fn(block.nrows(), block.nrows(), |r, c| {
                f64::from(u8::from(r == c)) + lambda * block[(r, c)]
            });
            if let Some(previous) = i.checked_sub(1) {
                // M = λ E L⁻ᵀ, by solving with its transpose.
                let e = &self.below[previous];
                let mut m = Mat::from_fn(e.nrows(), e.ncols(), |r, c| lambda * e[(r, c)]);
                dense::solve_lower(diagonal[previous].as_ref(), m.as_mut().transpose_mut());
                dense::add_outer(pivot.as_mut(), m.as_ref(), -1.0);
                below.push(m);
            }
            dense::cholesky(pivot.as_mut())?;
            diagonal.push(pivot);
        }
        Some(Shifted {
            lambda,
            diagonal,
            below,
        })
    }
}

/// QᵀAQ = A - V Wᵀ - W Vᵀ with W = A V S - ½ V Sᵀ (Vᵀ A V) S, for the lower triangle of A.
fn reflect_both_sides(mut a: MatMut<'_, f64>, v: MatRef<'_, f64>, s: MatRef<'_, f64>) {
    let mut w = dense::times(symmetric_times(a.as_ref(), v).as_ref(), s);
    let inner = dense::times(
        dense::times(s.transpose(), v.transpose()).as_ref(),
        w.as_ref(),
    );
    dense::product(w.as_mut(), Accum::Add, v, inner.as_ref(), -0.5);
    let (left, right) = (side_by_side(v, w.as_ref()), side_by_side(w.as_ref(), v));
    let par = dense::par(v.nrows() * v.nrows() * v.ncols());
    triangular::matmul(
        a.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Add,
        left.as_ref(),
        BlockStructure::Rectangular,
        right.transpose(),
        BlockStructure::Rectangular,
        -1.0,
        par,
    );
}

/// Householder reflections that make a tall panel upper triangular. The panel is overwritten by V;
/// the triangle and S with Q = I - V S Vᵀ are returned.
fn reduce_panel(mut panel: MatMut<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    let columns = panel.ncols();
    let mut inverse_tau = vec![0.0; columns];
    let mut triangle = Mat::zeros(columns, columns);
    // Plain slices: the loops below are short and vectorise.
    let mut work: Vec<Vec<f64>> = (0..columns)
        .map(|j| panel.as_ref().col(j).iter().copied().collect())
        .collect();
    for j in 0..columns {
        let (done, rest) = work.split_at_mut(j + 1);
        let (head, tail) = done[j][j..].split_at_mut(1);
        let info = make_householder_in_place(&mut head[0], faer::ColMut::from_slice_mut(tail));
        // A column that is zero already needs no reflection: tau is infinite.
        inverse_tau[j] = if info.tau.is_finite() {
            1.0 / info.tau
        } else {
            0.0
        };
        for i in 0..=j {
            triangle[(i, j)] = done[j][i];
            done[j][i] = f64::from(u8::from(i == j));
        }
        let column = &done[j][j..];
        for other in rest {
            let other = &mut other[j..];
            let along: f64 = column.iter().zip(other.iter()).map(|(a, b)| a * b).sum();
            let step = along * inverse_tau[j];
            other
                .iter_mut()
                .zip(column)
                .for_each(|(x, v)| *x -= step * v);
        }
    }
    for (j, column) in work.iter().enumerate() {
        panel
            .as_mut()
            .col_mut(j)
            .iter_mut()
            .zip(column)
            .for_each(|(to, from)| *to = *from);
    }
    let v = panel.as_ref();
    // S = T⁻¹ with T upper triangular: τ on the diagonal, VᵀV above it.
    let gram = dense::times(v.transpose(), v);
    let mut s = Mat::zeros(columns, columns);
    for c in 0..columns {
        s[(c, c)] = inverse_tau[c];
        for r in (0..c).rev() {
            let sum: f64 = (r + 1..=c).map(|k| gram[(r, k)] * s[(k, c)]).sum();
            s[(r, c)] = -sum * inverse_tau[r];
        }
    }
    (triangle, s)
}

/// a v for a symmetric a given by its lower triangle.
fn symmetric_times(a: MatRef<'_, f64>, v: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::zeros(v.nrows(), v.ncols());
    for (accum, part, structure) in [
        (Accum::Replace, a, BlockStructure::TriangularLower),
        (
            Accum::Add,
            a.transpose(),
            BlockStructure::StrictTriangularUpper,
        ),
    ] {
        triangular::matmul(
            product.as_mut(),
            BlockStructure::Rectangular,
            accum,
            part,
            structure,
            v,
            BlockStructure::Rectangular,
            1.0,
            dense::par(a.nrows() * a.nrows() * v.ncols() / 2),
        );
    }
    product
}

fn side_by_side(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut both = Mat::zeros(a.nrows(), a.ncols() + b.ncols());
    both.as_mut().subcols_mut(0, a.ncols()).copy_from(a);
    both.as_mut().subcols_mut(a.ncols(), b.ncols()).copy_from(b);
    both
}

/// The factorised I + λ T for one λ.
#[derive(Debug)]
pub(crate) struct Shifted {
    pub(crate) lambda: f64,
    diagonal: Vec<Mat<f64>>,
    below: Vec<Mat<f64>>,
}

impl Shifted {
    /// x ← L⁻¹ x.
    pub(super) fn forward(&self, mut x: MatMut<'_, f64>) {
        let mut start = 0;
        for (i, pivot) in self.diagonal.iter().enumerate() {
            let size = pivot.nrows();
            let (before, rest) = x.as_mut().split_at_row_mut(start);
            let mut own = rest.subrows_mut(0, size);
            if let Some(previous) = i.checked_sub(1) {
                let m = &self.below[previous];
                let solved = before.as_ref().subrows(start - m.ncols(), m.ncols());
                dense::product(own.as_mut(), Accum::Add, m.as_ref(), solved, -1.0);
            }
            dense::solve_lower(pivot.as_ref(), own);
            start += size;
        }
    }

    /// x ← (I + λ T)⁻¹ x.
    pub(crate) fn solve(&self, mut x: MatMut<'_, f64>) {
        self.forward(x.as_mut());
        self.backward(x);
    }

    /// x ← L⁻ᵀ x.
    pub(super) fn backward(&self, mut x: MatMut<'_, f64>) {
        let mut end = x.nrows();
        for (i, pivot) in self.diagonal.iter().enumerate().rev() {
            let start = end - pivot.nrows();
            let (before, after) = x.as_mut().split_at_row_mut(end);
            let mut own = before.subrows_mut(start, pivot.nrows());
            if let Some(m) = self.below.get(i) {
                let solved = after.as_ref().subrows(0, m.nrows());
                dense::product(own.as_mut(), Accum::Add, m.transpose(), solved, -1.0);
            }
            dense::solve_lower_transposed(pivot.as_ref(), own);
            end = start;
        }
    }

    /// vᵀ (I + λ T)⁻¹ v = |L⁻¹ v|² for every column v.
    pub(crate) fn quadratic_forms(&self, v: MatRef<'_, f64>) -> Vec<f64> {
        let mut x = v.to_owned();
        self.forward(x.as_mut());
        x.col_iter()
            .map(|column| column.squared_norm_l2())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut state = seed;
        Mat::from_fn(rows, columns, |_, _| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5
        })
    }

    #[test]
    fn solves_and_forms_agree_with_a_direct_solve() {
        for (n, rank) in [
            (1, 1),
            (3, 3),
            (64, 64),
            (65, 65),
            (97, 97),
            (200, 200),
            (200, 7),
            (150, 0),
        ] {
            let root = random(n, rank, 1);
            let right = random(n, 3, 2);
            let matrix = dense::times(root.as_ref(), root.transpose());
            let path = BlockTridiagonal::new(matrix.clone(), &Stop::default()).unwrap();
            for lambda in [0.0, 0.01, 1.0, 100.0] {
                let head = Mat::from_fn(n, n, |i, j| {
                    f64::from(u8::from(i == j)) + lambda * matrix[(i, j)]
                });
                let direct = dense::solve_general(head.as_ref(), right.as_ref());
                let mut by_path = right.clone();
                path.rotate(by_path.as_mut());
                let shifted = path.factor(lambda).expect("definite");
                let forms = shifted.quadratic_forms(by_path.as_ref());
                shifted.solve(by_path.as_mut());
                path.rotate_back(by_path.as_mut());
                for j in 0..3 {
                    let form: f64 = (0..n).map(|i| right[(i, j)] * direct[(i, j)]).sum();
                    assert!(
                        (forms[j] - form).abs() < 1e-12 * (1.0 + form.abs()),
                        "{n} {rank} {lambda}"
                    );
                    for i in 0..n {
                        assert!(
                            (by_path[(i, j)] - direct[(i, j)]).abs() < 1e-11,
                            "{n} {rank} {lambda}"
                        );
                    }
                }
            }
        }
    }
}
