//! Any covariances: the blocks R_ab in arrowhead form (`docs/2-the-theory.md#the-general-case`), never a kp x kp
//! matrix.
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

use super::covariances::Covariances;
use super::directions::{Shape, Spread};
use super::problem::Problem;
use crate::error::Result;
use crate::numerics::dense::{self, CANCELLATION, trace_of_product};
use crate::stop::Stop;

/// The blocks of R that all others are made of.
pub(super) struct Blocks<'a> {
    /// p x C.
    means: &'a Mat<f64>,
    /// The covariances of each task, one after the other; cells of a task may share one.
    kinds: Vec<Kind<'a>>,
    /// Which of them is a cell's.
    of_cell: Vec<usize>,
    /// Looked at before each step that costs p³.
    stop: &'a Stop,
    /// R_ii, lower triangle.
    own: Vec<Mat<f64>>,
    /// G_i; none where λ = 0.
    shared: Vec<Mat<f64>>,
    /// L.
    head: Mat<f64>,
    /// The factor of one task after the other.
    factor: Mat<f64>,
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
        let (p, k) = (means.nrows(), problem.tasks());
        let shared = if problem.coupling.lambda() > 0.0 {
            k
        } else {
            0
        };
        Self {
            means,
            kinds: seen.iter().map(kind).collect(),
            of_cell,
            stop: covariances.stop(),
            own: vec![Mat::zeros(p, p); k],
            shared: vec![Mat::zeros(p, p); shared],
            head: Mat::zeros(p, p),
            factor: Mat::zeros(p, p),
        }
    }

    fn kinds_of(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.kinds.len()).filter(move |&kind| self.kinds[kind].task == task)
    }

    /// The covariances of a task with the sum of their cells' δ.
    fn strengths(&self, task: usize, delta: &[f64]) -> Vec<(MatRef<'a, f64>, f64)> {
        self.kinds_of(task)
            .map(|kind| {
                let cells = (0..delta.len()).filter(|&cell| self.of_cell[cell] == kind);
                let weight = cells.map(|cell| delta[cell]).sum();
                (self.kinds[kind].covariance, weight)
            })
            .collect()
    }

    /// F_i takes the place of R_ii, and λ F_i B_i is added to the head (lower triangles).
    fn factorise(&mut self, problem: &Problem, task: usize, delta: &[f64]) -> Result<()> {
        let (gamma, lambda) = (problem.coupling.gamma()[task], problem.coupling.lambda());
        let strengths = self.strengths(task, delta);
        let (f, head) = (&mut self.own[task], &mut self.head);
        let p = f.nrows();
        if gamma == 0.0 {
            set_identity(f);
            for (covariance, weight) in strengths {
                dense::add_lower(head.as_mut(), covariance, lambda * weight);
            }
            return Ok(());
        }
        set_identity(&mut self.factor);
        for &(covariance, weight) in &strengths {
            dense::add_lower(self.factor.as_mut(), covariance, gamma * weight);
        }
        dense::cholesky(self.factor.as_mut()).ok_or_else(|| problem.overflow(task))?;
        let inverse = dense::invert_lower(self.factor.as_ref());
        f.fill(0.0);
        dense::add_inverse_outer(f.as_mut(), inverse.as_ref(), 1.0);
        if lambda > CANCELLATION * gamma {
            let mut b = Mat::zeros(p, p);
            for (covariance, weight) in strengths {
                dense::add_lower(b.as_mut(), covariance, weight);
            }
            dense::mirror(&mut b);
            dense::mirror(f);
            let product = dense::times(f.as_ref(), b.as_ref());
            dense::add_lower(head.as_mut(), product.as_ref(), 0.5 * lambda);
            dense::add_lower(head.as_mut(), product.transpose(), 0.5 * lambda);
        } else if lambda > 0.0 {
            dense::add_lower(head.as_mut(), f.as_ref(), -lambda / gamma);
            (0..p).for_each(|i| head[(i, i)] += lambda / gamma);
        }
        Ok(())
    }

    /// R_ab, both triangles; for a ≠ b where λ > 0.
    fn block(&self, problem: &Problem, a: usize, b: usize) -> Mat<f64> {
        if a == b {
            let mut own = self.own[a].clone();
            dense::mirror(&mut own);
            return own;
        }
        let p = self.means.nrows();
        let mut block = Mat::zeros(p, p);
        dense::product(
            block.as_mut(),
            Accum::Replace,
            self.shared[a].transpose(),
            self.shared[b].as_ref(),
            problem.coupling.lambda(),
        );
        block
    }

    /// R_ab μ_s for every cell s, b its task (p x C), given all G_b μ_s.
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
        let (gamma, lambda) = (problem.coupling.gamma(), problem.coupling.lambda());
        let delta = problem.strengths(tau);
        set_identity(&mut self.head);
        for task in 0..problem.tasks() {
            self.stop.check()?;
            self.factorise(problem, task, &delta)?;
        }
        if lambda > 0.0 {
            dense::cholesky(self.head.as_mut()).ok_or_else(|| problem.overflow(0))?;
        }
        for (task, own) in self.own.iter_mut().enumerate() {
            self.stop.check()?;
            if let Some(shared) = self.shared.get_mut(task) {
                dense::mirror(own);
                shared.copy_from(&*own);
                dense::solve_lower(self.head.as_ref(), shared.as_mut());
            }
            scale_lower(own.as_mut(), gamma[task]);
            if let Some(shared) = self.shared.get(task) {
                dense::add_outer(own.as_mut(), shared.transpose(), lambda);
            }
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

    fn traces(&self, problem: &Problem) -> Result<Mat<f64>> {
        let mut traces = Mat::zeros(self.kinds.len(), self.kinds.len());
        for b in 0..problem.tasks() {
            for a in b..problem.tasks() {
                if a != b && self.shared.is_empty() {
                    continue;
                }
                self.stop.check()?;
                // tr(Σ_s R_ba Σ_r R_ab) is the inner product of Σ_r R_ab and R_ab Σ_s.
                let block = self.block(problem, a, b);
                let right: Vec<(usize, Mat<f64>)> = self
                    .kinds_of(b)
                    .map(|s| (s, dense::times(block.as_ref(), self.kinds[s].covariance)))
                    .collect();
                for (position, r) in self.kinds_of(a).enumerate() {
                    self.stop.check()?;
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
        Ok(Mat::from_fn(c, c, |r, s| {
            traces[(self.of_cell[r], self.of_cell[s])]
        }))
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

fn set_identity(a: &mut Mat<f64>) {
    a.fill(0.0);
    (0..a.nrows()).for_each(|i| a[(i, i)] = 1.0);
}

fn scale_lower(mut a: MatMut<'_, f64>, factor: f64) {
    for j in 0..a.ncols() {
        let below = a.nrows() - j;
        let column = a.as_mut().col_mut(j).subrows_mut(j, below);
        column.iter_mut().for_each(|x| *x *= factor);
    }
}

/// tr(aᵀ b).
fn inner_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    (0..a.ncols())
        .map(|j| a.col(j).transpose() * b.col(j))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::cells::{Cells, Task};
    use crate::data::coupling::Coupling;
    use crate::theory::{Corrections, Theory};

    const FEATURES: usize = 12;
    /// Two ways that share nothing but the formulas.
    const AGREEMENT: f64 = 1e-9;

    fn problem(lambda: f64, gamma: [f64; 2]) -> Problem {
        let task = |name: &str, counts: &[usize]| Task {
            name: name.into(),
            classes: (0..counts.len()).map(|class| class.to_string()).collect(),
            counts: counts.to_vec(),
        };
        let cells = Cells::new(vec![task("source", &[30, 8, 15]), task("target", &[5, 9])]);
        let coupling = Coupling::new(lambda, gamma.to_vec()).unwrap();
        let corrections = Corrections::DegreesOfFreedom;
        Problem::new(&cells, FEATURES, &coupling, corrections).unwrap()
    }

    fn problems() -> Vec<Problem> {
        [
            (2.0, [1.0, 0.5]),
            (0.0, [1.0, 3.0]),
            (2.0, [0.0, 1.0]),
            (5e3, [1e-2, 0.0]),
            (1e-2, [100.0, 1e4]),
        ]
        .map(|(lambda, gamma)| problem(lambda, gamma))
        .into()
    }

    fn means() -> Mat<f64> {
        Mat::from_fn(FEATURES, 5, |i, r| {
            (1.7 * i as f64 + (3 * r * r) as f64).sin()
        })
    }

    /// A covariance of each cell, none like the other.
    fn unlike() -> Covariances {
        let of_cell = |r: usize| {
            let factor = Mat::from_fn(FEATURES, 4 + 3 * r, |i, j| {
                ((r + 2) as f64 * (i * i) as f64 + (5 * j + 1) as f64 * i as f64).cos()
            });
            &factor * factor.transpose()
        };
        Covariances::new((0..5).map(of_cell).collect()).unwrap()
    }

    fn multiples(shape: impl Fn(usize, usize) -> f64) -> Covariances {
        let alpha = [1.0, 0.3, 2.5, 1.0, 4.0];
        let times = |alpha: f64| Mat::from_fn(FEATURES, FEATURES, |i, j| alpha * shape(i, j));
        Covariances::new(alpha.map(times).into()).unwrap()
    }

    #[test]
    fn shorter_ways_lead_to_the_same_theory() {
        let same = |i: usize, j: usize| f64::from(u8::from(i == j));
        for covariances in [
            multiples(same),
            multiples(|i, j| same(i, j) * (1.0 + i as f64)),
            multiples(|i, j| 0.6_f64.powi(i.abs_diff(j) as i32)),
            // Rank two.
            multiples(|i, j| 1.0 + (i * j) as f64),
        ] {
            for problem in problems() {
                let (cells, coupling) = (&problem.cells, &problem.coupling);
                let corrections = Corrections::DegreesOfFreedom;
                let short =
                    Theory::general(cells, coupling, &covariances, &means(), corrections).unwrap();
                assert!(matches!(short.spread, Spread::Directions(_)));
                let long = Theory::in_blocks(problem, &covariances, &means(), corrections).unwrap();
                assert!(matches!(long.spread, Spread::Each { .. }));
                // Responses are compared to labels of size one: a covariance that is nearly zero has
                // lost more digits.
                let near = |a: &Mat<f64>, b: &Mat<f64>, size: f64| {
                    assert!((a - b).norm_max() <= AGREEMENT * size);
                };
                near(&long.mean, &short.mean, 1.0);
                near(&long.traces, &short.traces, short.traces.norm_max());
                for r in 0..5 {
                    assert!((long.tau[r] / short.tau[r] - 1.0).abs() <= AGREEMENT);
                    near(&long.covariance(r), &short.covariance(r), 1.0);
                }
            }
        }
    }

    #[test]
    fn the_plain_map_leads_to_the_same_fixed_point_from_above_and_from_below() {
        let (covariances, means) = (unlike(), means());
        for problem in problems() {
            let theory =
                Theory::in_blocks(problem.clone(), &covariances, &means, Corrections::None)
                    .unwrap();
            let mut blocks = Blocks::new(&problem, &covariances, &means);
            for start in [0.0, f64::INFINITY] {
                let mut tau = vec![start; 5];
                for _ in 0..400 {
                    blocks.resolve(&problem, &tau).unwrap();
                    let mapped = blocks.map(&problem);
                    let towards = if start == 0.0 { 1.0 } else { -1.0 };
                    // Monotone until rounding.
                    assert!((0..5).all(|r| towards * (mapped[r] - tau[r]) >= -1e-12 * mapped[r]));
                    tau = mapped;
                }
                for r in 0..5 {
                    assert!((theory.tau[r] / tau[r] - 1.0).abs() < AGREEMENT);
                }
            }
        }
    }

    #[test]
    fn few_evaluations_of_the_map_are_enough() {
        let (covariances, means) = (unlike(), means());
        for problem in problems() {
            let theory =
                Theory::in_blocks(problem, &covariances, &means, Corrections::None).unwrap();
            assert!(theory.iterations <= 20, "{}", theory.iterations);
        }
    }

    #[test]
    fn cells_without_variance_are_cells_like_others() {
        let mut matrices: Vec<Mat<f64>> = (0..5).map(|r| unlike().of(r).to_owned()).collect();
        matrices[1] = Mat::zeros(FEATURES, FEATURES);
        let covariances = Covariances::new(matrices).unwrap();
        for problem in problems() {
            let corrections = Corrections::DegreesOfFreedom;
            let theory = Theory::in_blocks(problem, &covariances, &means(), corrections).unwrap();
            assert_eq!(theory.tau[1], 0.0);
            assert!(theory.mean.is_all_finite());
            assert!(theory.covariance(1).norm_max() < AGREEMENT);
        }
    }

    #[test]
    fn values_too_large_for_double_precision_are_an_error() {
        let huge = multiples(|i, j| 1e300 * (1.0 + (i * j) as f64));
        let means = means();
        let theory = Theory::in_blocks(problem(1e9, [1e9, 1e9]), &huge, &means, Corrections::None);
        assert!(theory.is_err());
    }
}
