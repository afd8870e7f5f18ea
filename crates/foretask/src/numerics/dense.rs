//! The few verbs of dense linear algebra that the rest of the crate speaks, all by `faer`.
//!
//! Symmetric matrices live in their lower triangle. Products and Cholesky factorisations use all
//! threads and give the same bits for any number of them; eigenvectors do not, so
//! [`symmetric_eigen`] runs on one.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{matmul, triangular_solve};
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;

/// All threads of the pool we run in for work of so many multiplications; one for little work, which
/// waking the others would only delay.
pub(crate) fn par(multiplications: usize) -> Par {
    const WORTH_SHARING: usize = 1 << 22;
    if multiplications < WORTH_SHARING {
        Par::Seq
    } else {
        Par::rayon(0)
    }
}

/// dst = alpha a b, or dst += alpha a b.
pub(crate) fn product(
    dst: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
) {
    let par = par(a.nrows() * a.ncols() * b.ncols());
    matmul::matmul(dst, accum, a, b, alpha, par);
}

/// a b.
pub(crate) fn times(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut dst = Mat::zeros(a.nrows(), b.ncols());
    product(dst.as_mut(), Accum::Replace, a, b, 1.0);
    dst
}

/// Lower triangle of dst += alpha a aᵀ.
pub(crate) fn add_outer(dst: MatMut<'_, f64>, a: MatRef<'_, f64>, alpha: f64) {
    let par = par(a.nrows() * a.nrows() * a.ncols() / 2);
    add_outer_by(dst, a, alpha, par);
}

/// The same on one thread, for those who have many such products to make side by side: that is faster than many
/// threads on one small product after the other.
pub(crate) fn add_outer_alone(dst: MatMut<'_, f64>, a: MatRef<'_, f64>, alpha: f64) {
    add_outer_by(dst, a, alpha, Par::Seq);
}

/// Lower triangle of dst += alpha a b, where the product is symmetric.
pub(crate) fn add_symmetric(
    dst: MatMut<'_, f64>,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
) {
    let par = par(a.nrows() * a.nrows() * a.ncols() / 2);
    add_lower_product(dst, a, b, alpha, par);
}

fn add_outer_by(dst: MatMut<'_, f64>, a: MatRef<'_, f64>, alpha: f64, par: Par) {
    add_lower_product(dst, a, a.transpose(), alpha, par);
}

fn add_lower_product(
    dst: MatMut<'_, f64>,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
    par: Par,
) {
    triangular::matmul(
        dst,
        BlockStructure::TriangularLower,
        Accum::Add,
        a,
        BlockStructure::Rectangular,
        b,
        BlockStructure::Rectangular,
        alpha,
        par,
    );
}

/// The lower triangle of a symmetric matrix whose rows and columns `places[j]` move to place j.
pub(crate) fn moved_lower(lower: &Mat<f64>, places: &[usize]) -> Mat<f64> {
    Mat::from_fn(places.len(), places.len(), |i, j| {
        let (a, b) = (places[i].max(places[j]), places[i].min(places[j]));
        if i >= j { lower[(a, b)] } else { 0.0 }
    })
}

/// Lower triangle of dst += alpha L⁻ᵀ L⁻¹, where `inverse` holds L⁻¹ (lower).
pub(crate) fn add_inverse_outer(dst: MatMut<'_, f64>, inverse: MatRef<'_, f64>, alpha: f64) {
    let par = par(inverse.nrows().pow(3) / 3);
    triangular::matmul(
        dst,
        BlockStructure::TriangularLower,
        Accum::Add,
        inverse.transpose(),
        BlockStructure::TriangularUpper,
        inverse,
        BlockStructure::TriangularLower,
        alpha,
        par,
    );
}

/// Lower triangle of sum += weight term.
pub(crate) fn add_lower(mut sum: MatMut<'_, f64>, term: MatRef<'_, f64>, weight: f64) {
    for j in 0..term.ncols() {
        let from = term.col(j).subrows(j, term.nrows() - j);
        let to = sum.as_mut().col_mut(j).subrows_mut(j, term.nrows() - j);
        to.iter_mut()
            .zip(from.iter())
            .for_each(|(to, from)| *to += weight * from);
    }
}

/// Overwrites the lower triangle by L with a = L Lᵀ; `None` if a is not positive definite.
pub(crate) fn cholesky(a: MatMut<'_, f64>) -> Option<()> {
    let par = par(a.nrows().pow(3) / 6);
    let mut memory = MemBuffer::new(factor::cholesky_in_place_scratch::<f64>(
        a.nrows(),
        par,
        Default::default(),
    ));
    factor::cholesky_in_place(
        a,
        Default::default(),
        par,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .ok()
    .map(|_| ())
}

/// Overwrites the lower triangle by L with P a Pᵀ = L Lᵀ, the longest remainder first. Returns the row of `a` that
/// each row of L belongs to, and how many columns of L are not rounding; `None` if a is no such product.
pub(crate) fn pivoted_cholesky(a: MatMut<'_, f64>) -> Option<(Vec<usize>, usize)> {
    use faer::linalg::cholesky::llt_pivoting::factor as pivoting;
    let n = a.nrows();
    let par = par(n.pow(3) / 6);
    // A remainder of nothing is no pivot: the first is not compared with the largest.
    if (0..n).all(|i| a[(i, i)] == 0.0) {
        return Some(((0..n).collect(), 0));
    }
    let (mut order, mut inverse) = (vec![0_usize; n], vec![0_usize; n]);
    let scratch = pivoting::cholesky_in_place_scratch::<usize, f64>(n, par, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let (info, _) = pivoting::cholesky_in_place(
        a,
        &mut order,
        &mut inverse,
        par,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .ok()?;
    Some((order, info.rank))
}

/// L⁻¹ of a lower-triangular L; the upper triangle of the result is zero.
pub(crate) fn invert_lower(l: MatRef<'_, f64>) -> Mat<f64> {
    let mut inverse = Mat::zeros(l.nrows(), l.nrows());
    faer::linalg::triangular_inverse::invert_lower_triangular(
        inverse.as_mut(),
        l,
        par(l.nrows().pow(3) / 6),
    );
    inverse
}

/// x ← L⁻¹ x.
pub(crate) fn solve_lower(l: MatRef<'_, f64>, x: MatMut<'_, f64>) {
    let par = par(l.nrows() * l.nrows() * x.ncols() / 2);
    triangular_solve::solve_lower_triangular_in_place(l, x, par);
}

/// x ← L⁻ᵀ x.
pub(crate) fn solve_lower_transposed(l: MatRef<'_, f64>, x: MatMut<'_, f64>) {
    let par = par(l.nrows() * l.nrows() * x.ncols() / 2);
    triangular_solve::solve_upper_triangular_in_place(l.transpose(), x, par);
}

/// Whether a factor is meant as it is or transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transposed {
    Yes,
    No,
}

/// x ← x L⁻ᵀ or x L⁻¹ for a tall x, whose rows are independent: strips of them are solved in parallel.
/// Strips have one size, whatever the number of threads, and so the same bits.
pub(crate) fn solve_lower_right(l: MatRef<'_, f64>, x: MatMut<'_, f64>, transposed: Transposed) {
    const STRIP: usize = 128;
    let strips: Vec<MatMut<'_, f64>> = x.par_row_chunks_mut(STRIP).collect();
    strips.into_par_iter().for_each(|strip| {
        // x L⁻ᵀ is the transpose of L⁻¹ xᵀ.
        let strip = strip.transpose_mut();
        match transposed {
            Transposed::Yes => {
                triangular_solve::solve_lower_triangular_in_place(l, strip, Par::Seq)
            }
            Transposed::No => {
                triangular_solve::solve_upper_triangular_in_place(l.transpose(), strip, Par::Seq)
            }
        }
    });
}

/// x ← (L Lᵀ)⁻¹ x.
pub(crate) fn solve_cholesky(l: MatRef<'_, f64>, mut x: MatMut<'_, f64>) {
    solve_lower(l, x.as_mut());
    solve_lower_transposed(l, x);
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror(a: &mut Mat<f64>) {
    // Tile by tile, so that both stay in the cache.
    const TILE: usize = 32;
    let n = a.ncols();
    for first in (0..n).step_by(TILE) {
        for start in (0..=first).step_by(TILE) {
            for j in first..n.min(first + TILE) {
                for i in start..j.min(start + TILE) {
                    a[(i, j)] = a[(j, i)];
                }
            }
        }
    }
}

/// Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix given by its lower
/// triangle, on one thread so that the bits do not depend on their number.
pub(crate) fn symmetric_eigen(a: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    use faer::linalg::evd;
    let n = a.nrows();
    if n == 0 {
        return Some((Vec::new(), Mat::new()));
    }
    let mut vectors = Mat::zeros(n, n);
    let mut values = faer::Mat::<f64>::zeros(n, 1);
    let mut memory = MemBuffer::new(evd::self_adjoint_evd_scratch::<f64>(
        n,
        evd::ComputeEigenvectors::Yes,
        Par::Seq,
        Default::default(),
    ));
    evd::self_adjoint_evd(
        a,
        values.col_mut(0).as_diagonal_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .ok()?;
    Some((values.col(0).iter().copied().collect(), vectors))
}

/// Solves a general square system; used on C x C matrices of the theory.
pub(crate) fn solve_general(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    use faer::linalg::solvers::Solve;
    if a.nrows() <= FEW {
        return solve_pivoted(a, b);
    }
    a.partial_piv_lu().solve(b)
}

/// Systems of so few rows are solved in place: setting up a factorisation costs more than the solution, and there are
/// thousands of them.
const FEW: usize = 12;

/// Gauss with partial pivoting, rows of a and b side by side.
fn solve_pivoted(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let (n, m) = (a.nrows(), b.ncols());
    let width = n + m;
    let mut rows = vec![0.0; n * width];
    for j in 0..n {
        let column = a.col(j).iter().enumerate();
        column.for_each(|(i, x)| rows[i * width + j] = *x);
    }
    for j in 0..m {
        let column = b.col(j).iter().enumerate();
        column.for_each(|(i, x)| rows[i * width + n + j] = *x);
    }
    for j in 0..n {
        let size = |i: usize| rows[i * width + j].abs();
        let pivot = (j + 1..n).fold(j, |best, i| if size(i) > size(best) { i } else { best });
        if pivot != j {
            let (head, tail) = rows.split_at_mut(pivot * width);
            head[j * width..(j + 1) * width].swap_with_slice(&mut tail[..width]);
        }
        let (head, tail) = rows.split_at_mut((j + 1) * width);
        let own = &head[j * width..];
        for row in tail.chunks_exact_mut(width) {
            let factor = row[j] / own[j];
            if factor != 0.0 {
                let both = row[j..].iter_mut().zip(&own[j..]);
                both.for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    for j in (0..n).rev() {
        let (head, tail) = rows.split_at_mut(j * width);
        let (own, _) = tail.split_at_mut(width);
        let pivot = own[j];
        own[n..].iter_mut().for_each(|x| *x /= pivot);
        for row in head.chunks_exact_mut(width) {
            let factor = row[j];
            let both = row[n..].iter_mut().zip(&own[n..]);
            both.for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut solved = Mat::zeros(n, m);
    for j in 0..m {
        let column = solved.col_mut(j).iter_mut().enumerate();
        column.for_each(|(i, x)| *x = rows[i * width + n + j]);
    }
    solved
}

/// x ← a⁻¹ x for a definite matrix of few rows, which is overwritten: asks for no memory, since there may be as many
/// systems as samples.
pub(crate) fn solve_few(a: &mut [f64], x: &mut [f64]) {
    let n = x.len();
    for j in 0..n {
        let before: f64 = (0..j).map(|k| a[j * n + k].powi(2)).sum();
        // Rounding may take a pivot that is nearly zero below it.
        let least = f64::EPSILON * a[j * n + j].abs() + f64::MIN_POSITIVE;
        let pivot = (a[j * n + j] - before).max(least).sqrt();
        a[j * n + j] = pivot;
        for i in j + 1..n {
            let before: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            a[i * n + j] = (a[i * n + j] - before) / pivot;
        }
        let before: f64 = (0..j).map(|k| a[j * n + k] * x[k]).sum();
        x[j] = (x[j] - before) / pivot;
    }
    for j in (0..n).rev() {
        let after: f64 = (j + 1..n).map(|k| a[k * n + j] * x[k]).sum();
        x[j] = (x[j] - after) / a[j * n + j];
    }
}

/// The Cholesky factor of a small symmetric matrix given by its lower triangle, if definite.
pub(crate) fn small_cholesky(a: MatRef<'_, f64>) -> Option<faer::linalg::solvers::Llt<f64>> {
    a.llt(Side::Lower).ok()
}

/// tr(a b) of two symmetric matrices given by their lower triangles.
pub(crate) fn trace_of_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    (0..a.ncols())
        .map(|j| {
            let below = a.nrows() - j - 1;
            let (a, b) = (a.col(j), b.col(j));
            let off = a.subrows(j + 1, below).transpose() * b.subrows(j + 1, below);
            a[j] * b[j] + 2.0 * off
        })
        .sum()
}

/// With F = (I + γ B)⁻¹, (I - F)/γ gives F B without a product of its own, but loses weight/γ units in the
/// last place of what it is added to with a weight; beyond this ratio F B is multiplied out or solved for.
pub(crate) const CANCELLATION: f64 = 1e3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_equations_are_solved_as_any_others() {
        for n in 1..8 {
            let root = Mat::from_fn(n, n, |i, j| ((3 * i + 5 * j + 1) as f64).sin());
            let mut definite = times(root.as_ref(), root.transpose());
            (0..n).for_each(|i| definite[(i, i)] += 0.1);
            let right = Mat::from_fn(n, 1, |i, _| (i as f64).cos());
            let expected = solve_general(definite.as_ref(), right.as_ref());
            let mut a: Vec<f64> = definite
                .col_iter()
                .flat_map(|c| c.iter().copied())
                .collect();
            let mut x: Vec<f64> = right.col(0).iter().copied().collect();
            solve_few(&mut a, &mut x);
            for (i, x) in x.iter().enumerate() {
                assert!((x - expected[(i, 0)]).abs() < 1e-11, "{n} {i}");
            }
        }
    }
}
