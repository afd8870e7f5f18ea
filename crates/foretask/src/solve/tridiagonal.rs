//! The path over λ: one reduction to tridiagonal form makes every further λ cheap.
//!
//! At fixed γ the head of the arrowhead system is H(λ) = I + λ N with N = Σ_i F_i B_i. Householder
//! reflections give N = Q T Qᵀ with T tridiagonal, so that H(λ)⁻¹ = Q (I + λ T)⁻¹ Qᵀ: after the
//! reduction (4/3 r³, a third of what an eigen-decomposition costs) a solve is O(r) per right-hand
//! side for each λ. I + λ T is symmetric positive definite: its L D Lᵀ needs no pivoting.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{evd::tridiag, householder};
use faer::{Conj, Mat, MatMut, MatRef, Par};

/// N = Q T Qᵀ.
#[derive(Debug)]
pub(crate) struct Tridiagonal {
    /// Householder vectors below the diagonal; T on and next to it.
    reflectors: Mat<f64>,
    coefficients: Mat<f64>,
    diagonal: Vec<f64>,
    off_diagonal: Vec<f64>,
}

/// Reflections are applied in blocks of this many.
const BLOCK: usize = 32;

impl Tridiagonal {
    /// Reduces a symmetric matrix given by its lower triangle; on one thread, so that the result
    /// does not depend on their number.
    pub(crate) fn new(mut matrix: Mat<f64>) -> Self {
        let n = matrix.nrows();
        let mut coefficients =
            Mat::zeros(BLOCK.min(n.saturating_sub(1)).max(1), n.saturating_sub(1));
        let mut memory = MemBuffer::new(tridiag::tridiag_in_place_scratch::<f64>(
            n,
            Par::Seq,
            Default::default(),
        ));
        tridiag::tridiag_in_place(
            matrix.as_mut(),
            coefficients.as_mut(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        let diagonal = (0..n).map(|i| matrix[(i, i)]).collect();
        let off_diagonal = (1..n).map(|i| matrix[(i, i - 1)]).collect();
        Self {
            reflectors: matrix,
            coefficients,
            diagonal,
            off_diagonal,
        }
    }

    /// x ← Qᵀ x.
    pub(crate) fn rotate(&self, x: MatMut<'_, f64>) {
        self.reflect(x, true);
    }

    /// x ← Q x.
    pub(crate) fn rotate_back(&self, x: MatMut<'_, f64>) {
        self.reflect(x, false);
    }

    fn reflect(&self, x: MatMut<'_, f64>, transpose: bool) {
        let n = self.diagonal.len();
        if n < 2 {
            return;
        }
        let basis = self.reflectors.submatrix(1, 0, n - 1, n - 1);
        let rows = x.subrows_mut(1, n - 1);
        let columns = rows.ncols();
        let block = self.coefficients.nrows();
        if transpose {
            let scratch = householder::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<f64>(n - 1, block, columns);
            let mut memory = MemBuffer::new(scratch);
            householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
                basis,
                self.coefficients.as_ref(),
                Conj::No,
                rows,
                Par::Seq,
                MemStack::new(&mut memory),
            );
        } else {
            let scratch =
                householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
                    n - 1,
                    block,
                    columns,
                );
            let mut memory = MemBuffer::new(scratch);
            householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                basis,
                self.coefficients.as_ref(),
                Conj::No,
                rows,
                Par::Seq,
                MemStack::new(&mut memory),
            );
        }
    }

    /// L D Lᵀ = I + λ T.
    pub(crate) fn factor(&self, lambda: f64) -> Shifted {
        let n = self.diagonal.len();
        let mut pivots = Vec::with_capacity(n);
        let mut multipliers = Vec::with_capacity(n);
        let mut pivot = 1.0 + lambda * self.diagonal[0];
        for (&off, &diagonal) in self.off_diagonal.iter().zip(&self.diagonal[1..]) {
            let multiplier = lambda * off / pivot;
            pivots.push(pivot);
            multipliers.push(multiplier);
            pivot = 1.0 + lambda * diagonal - multiplier * lambda * off;
        }
        pivots.push(pivot);
        Shifted {
            lambda,
            pivots,
            multipliers,
        }
    }
}

/// The factorised I + λ T for one λ.
#[derive(Debug)]
pub(crate) struct Shifted {
    pub(crate) lambda: f64,
    pivots: Vec<f64>,
    multipliers: Vec<f64>,
}

impl Shifted {
    /// x ← (I + λ T)⁻¹ x.
    pub(crate) fn solve(&self, mut x: MatMut<'_, f64>) {
        let n = self.pivots.len();
        for j in 0..x.ncols() {
            for i in 1..n {
                let previous = x[(i - 1, j)];
                x[(i, j)] -= self.multipliers[i - 1] * previous;
            }
            x[(n - 1, j)] /= self.pivots[n - 1];
            for i in (0..n - 1).rev() {
                let next = x[(i + 1, j)];
                x[(i, j)] = x[(i, j)] / self.pivots[i] - self.multipliers[i] * next;
            }
        }
    }
}

/// vᵀ (I + λ T)⁻¹ v for every column v and every λ at hand: entry (column, λ).
///
/// The recurrences of all λ run side by side, which hides the latency of each.
pub(crate) fn quadratic_forms(shifted: &[Shifted], v: MatRef<'_, f64>) -> Mat<f64> {
    let n = v.nrows();
    let count = shifted.len();
    // By step first, so that one step reads the values of all λ together.
    let by_step = |of: &dyn Fn(&Shifted, usize) -> f64| -> Vec<f64> {
        (0..n)
            .flat_map(|i| shifted.iter().map(move |s| (s, i)))
            .map(|(s, i)| of(s, i))
            .collect()
    };
    let inverse_pivots = by_step(&|s, i| 1.0 / s.pivots[i]);
    let multipliers = by_step(&|s, i| if i == 0 { 0.0 } else { s.multipliers[i - 1] });
    let mut forms = Mat::zeros(v.ncols(), count);
    let mut state = vec![0.0; count];
    let mut sum = vec![0.0; count];
    for column in 0..v.ncols() {
        state.fill(0.0);
        sum.fill(0.0);
        for (i, &value) in v.col(column).iter().enumerate() {
            let step = i * count..(i + 1) * count;
            let weights = multipliers[step.clone()].iter().zip(&inverse_pivots[step]);
            for ((state, sum), (multiplier, inverse)) in state.iter_mut().zip(&mut sum).zip(weights)
            {
                *state = value - multiplier * *state;
                *sum += *state * *state * inverse;
            }
        }
        for (j, &sum) in sum.iter().enumerate() {
            forms[(column, j)] = sum;
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense;

    #[test]
    fn solves_and_forms_agree_with_a_direct_solve() {
        for n in [1, 2, 3, 40, 97] {
            let mut state = 1_u64;
            let mut next = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5
            };
            let root = Mat::from_fn(n, n, |_, _| next());
            let right = Mat::from_fn(n, 3, |_, _| next());
            let matrix = dense::times(root.as_ref(), root.transpose());
            let path = Tridiagonal::new(matrix.clone());
            for lambda in [0.0, 0.01, 1.0, 100.0] {
                let mut head = Mat::<f64>::identity(n, n);
                for j in 0..n {
                    for i in 0..n {
                        head[(i, j)] += lambda * matrix[(i, j)];
                    }
                }
                let direct = dense::solve_general(head.as_ref(), right.as_ref());
                let mut by_path = right.clone();
                path.rotate(by_path.as_mut());
                let shifted = [path.factor(lambda)];
                let forms = quadratic_forms(&shifted, by_path.as_ref());
                shifted[0].solve(by_path.as_mut());
                path.rotate_back(by_path.as_mut());
                for j in 0..3 {
                    let form: f64 = (0..n).map(|i| right[(i, j)] * direct[(i, j)]).sum();
                    assert!(
                        (forms[(j, 0)] - form).abs() < 1e-12 * (1.0 + form.abs()),
                        "{n} {lambda}"
                    );
                    for i in 0..n {
                        assert!(
                            (by_path[(i, j)] - direct[(i, j)]).abs() < 1e-11,
                            "{n} {lambda}"
                        );
                    }
                }
            }
        }
    }
}
