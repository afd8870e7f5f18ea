//! Any covariances: the blocks R_ab in arrowhead form (THEORY 3.1), never a kp x kp matrix.
//!
//! With B_i = Σ_j δ_ij Σ_ij and L Lᵀ = I + λ Σ_i F_i B_i,
//!
//! ```text
//! F_i = (I + γ_i B_i)⁻¹,     G_i = L⁻¹ F_i,     R_ab = 1{a=b} γ_a F_a + λ G_aᵀ G_b,
//! ```
//!
//! which divides by nothing, so γ_i or λ may be zero. F_i B_i is (I - F_i)/γ_i, without a product,
//! unless γ_i is so small beside λ that the difference would cancel.

use faer::{Accum, Mat, MatMut, MatRef};

use super::{Covariances, Problem, Shape, Spread};
use crate::dense;
use crate::error::Result;

/// (I - F)/γ loses λ/γ units in the last place; beyond this ratio F B is multiplied out.
const CANCELLATION: f64 = 1e3;

/// The blocks of R that all others are made of.
pub(super) struct Blocks<'a> {
    /// p x C.
    means: &'a Mat<f64>,
    /// The covariances of each task, one after the other; cells of a task may share one.
    kinds: Vec<Kind<'a>>,
    /// Which of them is a cell's.
    of_cell: Vec<usize>,
    /// R_ii, lower triangle.
    own: Vec<Mat<f64>>,
    /// G_i; none where λ = 0.
    shared: Vec<Mat<f64>>,
}

/// A covariance as seen from one task.
struct Kind<'a> {
    task: usize,
    covariance: MatRef<'a, f64>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        problem: &Problem,
        covariances: &'a Covariances,
        means: &'a Mat<f64>,
    ) -> Self {
        let mut seen: Vec<(usize, usize)> = Vec::new();
        let of_cell = (0..problem.cells.len())
            .map(|cell| {
                let kind = (problem.cells.task_of(cell), covariances.index_of(cell));
                seen.iter()
                    .position(|&other| other == kind)
                    .unwrap_or_else(|| {
                        seen.push(kind);
                        seen.len() - 1
                    })
            })
            .collect();
        let kind = |&(task, index): &(usize, usize)| Kind {
            task,
            covariance: covariances.distinct(index),
        };
        Self {
            means,
            kinds: seen.iter().map(kind).collect(),
            of_cell,
            own: Vec::new(),
            shared: Vec::new(),
        }
    }

    fn kinds_of(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.kinds.len()).filter(move |&kind| self.kinds[kind].task == task)
    }

    /// B_i, lower triangle.
    fn strength(&self, task: usize, delta: &[f64]) -> Mat<f64> {
        let p = self.means.nrows();
        let mut strength = Mat::zeros(p, p);
        for kind in self.kinds_of(task) {
            let cells = (0..delta.len()).filter(|&cell| self.of_cell[cell] == kind);
            let weight = cells.map(|cell| delta[cell]).sum();
            add_lower(strength.as_mut(), self.kinds[kind].covariance, weight);
        }
        strength
    }

    /// F_i, and λ F_i B_i added to `sum` (both lower triangles); `None` for F = I.
    fn factor(
        &self,
        problem: &Problem,
        task: usize,
        delta: &[f64],
        sum: &mut Mat<f64>,
    ) -> Result<Option<Mat<f64>>> {
        let (gamma, lambda) = (problem.coupling.gamma()[task], problem.coupling.lambda());
        let mut b = self.strength(task, delta);
        if gamma == 0.0 {
            add_lower(sum.as_mut(), b.as_ref(), lambda);
            return Ok(None);
        }
        let p = b.nrows();
        let mut l = Mat::identity(p, p);
        add_lower(l.as_mut(), b.as_ref(), gamma);
        dense::cholesky(l.as_mut()).ok_or_else(|| problem.overflow(task))?;
        let inverse = dense::invert_lower(l.as_ref());
        let mut f = Mat::zeros(p, p);
        dense::add_inverse_outer(f.as_mut(), inverse.as_ref(), 1.0);
        if lambda > CANCELLATION * gamma {
            dense::mirror(&mut b);
            dense::mirror(&mut f);
            let product = dense::times(f.as_ref(), b.as_ref());
            add_lower(sum.as_mut(), product.as_ref(), 0.5 * lambda);
            add_lower(sum.as_mut(), product.transpose(), 0.5 * lambda);
        } else if lambda > 0.0 {
            add_lower(sum.as_mut(), f.as_ref(), -lambda / gamma);
            (0..p).for_each(|i| sum[(i, i)] += lambda / gamma);
        }
        Ok(Some(f))
    }

    /// R_ab, both triangles.
    fn block(&self, problem: &Problem, a: usize, b: usize) -> Mat<f64> {
        if a == b {
            let mut own = self.own[a].clone();
            dense::mirror(&mut own);
            return own;
        }
        let p = self.means.nrows();
        let mut block = Mat::zeros(p, p);
        if !self.shared.is_empty() {
            dense::product(
                block.as_mut(),
                Accum::Replace,
                self.shared[a].transpose(),
                self.shared[b].as_ref(),
                problem.coupling.lambda(),
            );
        }
        block
    }

    /// Σ_b R_ab μ_s for every cell s of task b (p x C).
    fn seen_from(&self, problem: &Problem, a: usize, means: &Mat<f64>, g: &Mat<f64>) -> Mat<f64> {
        let lambda = problem.coupling.lambda();
        let mut seen = Mat::zeros(means.nrows(), means.ncols());
        if let Some(shared) = self.shared.get(a) {
            dense::product(
                seen.as_mut(),
                Accum::Replace,
                shared.transpose(),
                g.as_ref(),
                lambda,
            );
        }
        let range = problem.cells.of_task(a);
        let block = self.block(problem, a, a);
        dense::product(
            seen.as_mut().subcols_mut(range.start, range.len()),
            Accum::Replace,
            block.as_ref(),
            means.subcols(range.start, range.len()),
            1.0,
        );
        seen
    }
}

impl Shape for Blocks<'_> {
    fn resolve(&mut self, problem: &Problem, tau: &[f64]) -> Result<()> {
        let p = self.means.nrows();
        let (gamma, lambda) = (problem.coupling.gamma(), problem.coupling.lambda());
        let delta = problem.strengths(tau);
        (self.own, self.shared) = (Vec::new(), Vec::new());
        let mut l = Mat::identity(p, p);
        let factors = (0..problem.tasks())
            .map(|task| self.factor(problem, task, &delta, &mut l))
            .collect::<Result<Vec<_>>>()?;
        if lambda > 0.0 {
            dense::cholesky(l.as_mut()).ok_or_else(|| problem.overflow(0))?;
        }
        for (task, factor) in factors.into_iter().enumerate() {
            let mut own = factor.unwrap_or_else(|| Mat::identity(p, p));
            if lambda > 0.0 {
                dense::mirror(&mut own);
                let mut shared = own.clone();
                dense::solve_lower(l.as_ref(), shared.as_mut());
                self.shared.push(shared);
            }
            scale_lower(own.as_mut(), gamma[task]);
            if let Some(shared) = self.shared.last() {
                dense::add_outer(own.as_mut(), shared.transpose(), lambda);
            }
            self.own.push(own);
        }
        Ok(())
    }

    fn map(&self, problem: &Problem) -> Vec<f64> {
        let trace = |kind: &Kind<'_>| {
            trace_of_product(kind.covariance, self.own[kind.task].as_ref()) / problem.normaliser
        };
        let traces: Vec<f64> = self.kinds.iter().map(trace).collect();
        self.of_cell.iter().map(|&kind| traces[kind]).collect()
    }

    fn traces(&self, problem: &Problem) -> Mat<f64> {
        let mut traces = Mat::zeros(self.kinds.len(), self.kinds.len());
        for b in 0..problem.tasks() {
            for a in b..problem.tasks() {
                // tr(Σ_s R_ba Σ_r R_ab) is the inner product of Σ_r R_ab and R_ab Σ_s.
                let block = self.block(problem, a, b);
                let right: Vec<(usize, Mat<f64>)> = self
                    .kinds_of(b)
                    .map(|s| (s, dense::times(block.as_ref(), self.kinds[s].covariance)))
                    .collect();
                for (position, r) in self.kinds_of(a).enumerate() {
                    let left = if a == b {
                        right[position].1.transpose().to_owned()
                    } else {
                        dense::times(self.kinds[r].covariance, block.as_ref())
                    };
                    for (s, right) in &right {
                        let trace = inner_product(left.as_ref(), right.as_ref());
                        traces[(r, *s)] = trace / problem.normaliser;
                        traces[(*s, r)] = trace / problem.normaliser;
                    }
                }
            }
        }
        let c = self.of_cell.len();
        Mat::from_fn(c, c, |r, s| traces[(self.of_cell[r], self.of_cell[s])])
    }

    fn align(self, problem: &Problem, centring: &Mat<f64>) -> (Mat<f64>, Spread) {
        let means = dense::times(self.means.as_ref(), centring.transpose());
        let c = means.ncols();
        // G_s μ_s.
        let mut g = Mat::zeros(means.nrows(), c);
        for (task, shared) in self.shared.iter().enumerate() {
            let range = problem.cells.of_task(task);
            dense::product(
                g.as_mut().subcols_mut(range.start, range.len()),
                Accum::Replace,
                shared.as_ref(),
                means.subcols(range.start, range.len()),
                1.0,
            );
        }
        let mut alignment = Mat::zeros(c, c);
        let mut distinct = Vec::with_capacity(self.kinds.len());
        for task in 0..problem.tasks() {
            let seen = self.seen_from(problem, task, &means, &g);
            let range = problem.cells.of_task(task);
            dense::product(
                alignment.as_mut().subrows_mut(range.start, range.len()),
                Accum::Replace,
                means.subcols(range.start, range.len()).transpose(),
                seen.as_ref(),
                1.0,
            );
            for kind in self.kinds_of(task) {
                let spread = dense::times(self.kinds[kind].covariance, seen.as_ref());
                distinct.push(dense::times(seen.transpose(), spread.as_ref()));
            }
        }
        let alignment = Mat::from_fn(c, c, |r, s| 0.5 * (alignment[(r, s)] + alignment[(s, r)]));
        let spread = Spread::Each {
            distinct,
            of_cell: self.of_cell,
        };
        (alignment, spread)
    }
}

/// Lower triangle of sum += weight term.
fn add_lower(mut sum: MatMut<'_, f64>, term: MatRef<'_, f64>, weight: f64) {
    for j in 0..term.ncols() {
        let from = term.col(j).subrows(j, term.nrows() - j);
        let to = sum.as_mut().col_mut(j).subrows_mut(j, term.nrows() - j);
        to.iter_mut()
            .zip(from.iter())
            .for_each(|(to, from)| *to += weight * from);
    }
}

fn scale_lower(mut a: MatMut<'_, f64>, factor: f64) {
    for j in 0..a.ncols() {
        let below = a.nrows() - j;
        let column = a.as_mut().col_mut(j).subrows_mut(j, below);
        column.iter_mut().for_each(|x| *x *= factor);
    }
}

/// tr(a b) of two symmetric matrices given by their lower triangles.
pub(super) fn trace_of_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    (0..a.ncols())
        .map(|j| {
            let below = a.nrows() - j - 1;
            let (a, b) = (a.col(j), b.col(j));
            let off = a.subrows(j + 1, below).transpose() * b.subrows(j + 1, below);
            a[j] * b[j] + 2.0 * off
        })
        .sum()
}

/// tr(aᵀ b).
fn inner_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    (0..a.ncols())
        .map(|j| a.col(j).transpose() * b.col(j))
        .sum()
}
