//! Covariances that are diagonal in one basis: R is a k x k matrix per direction
//! (`docs/2-the-theory.md#covariances-in-one-basis`).
//!
//! With β_i = Σ_j δ_ij s_ij the strength of task i along a direction, f_i = 1/(1 + γ_i β_i) and
//! h = 1 + λ Σ_i f_i β_i,
//!
//! ```text
//! R_ab = 1{a=b} γ_a f_a + λ f_a f_b/h.
//! ```
//!
//! Directions with equal variances are counted once, with their multiplicity; isotropic and
//! spherical cells have a single one, and of their means the inner products are enough.

use faer::Mat;

use super::problem::Problem;
use crate::error::Result;
use crate::numerics::dense;

/// Covariances of some form, as the fixed point and the moments see them.
pub(super) trait Shape {
    /// Makes R for these τ.
    fn resolve(&mut self, problem: &Problem, tau: &[f64]) -> Result<()>;

    /// (1/kp) tr(Σ_r R_ii).
    fn map(&self, problem: &Problem) -> Vec<f64>;

    /// T.
    ///
    /// # Errors
    /// If it is to stop.
    fn traces(&self, problem: &Problem) -> Result<Mat<f64>>;

    /// H'_rs = μ_rᵀ R_ab μ_s of the means centred by C, and what the W' are made of.
    fn align(self, problem: &Problem, centring: &Mat<f64>) -> (Mat<f64>, Spread);
}

/// W'_q,rs = μ_rᵀ R_{r,q} Σ_q R_{q,s} μ_s of every cell q.
#[derive(Clone, Debug)]
pub(super) enum Spread {
    /// To be summed over directions on demand.
    Directions(Directions),
    /// The distinct ones, and which is a cell's.
    Each {
        distinct: Vec<Mat<f64>>,
        of_cell: Vec<usize>,
    },
}

impl Spread {
    /// Σ_s coefficient_s W'_s.
    pub(super) fn sum(&self, problem: &Problem, coefficients: &[f64]) -> Mat<f64> {
        match self {
            Self::Directions(directions) => directions.spread(problem, coefficients),
            Self::Each { distinct, of_cell } => {
                let c = coefficients.len();
                let mut weights = vec![0.0; distinct.len()];
                for (cell, &own) in of_cell.iter().enumerate() {
                    weights[own] += coefficients[cell];
                }
                Mat::from_fn(c, c, |r, s| {
                    let terms = distinct.iter().zip(&weights);
                    terms.map(|(spread, weight)| weight * spread[(r, s)]).sum()
                })
            }
        }
    }

    /// Whether two cells of a task have one covariance, and so one Cov.
    pub(super) fn alike(&self, a: usize, b: usize) -> bool {
        match self {
            Self::Directions(directions) => directions.alike(a, b),
            Self::Each { of_cell, .. } => of_cell[a] == of_cell[b],
        }
    }
}

/// The variances of all cells along the directions, and R.
#[derive(Clone, Debug)]
pub(super) struct Directions {
    /// C x L.
    variances: Mat<f64>,
    multiplicity: Vec<f64>,
    means: Means,
    /// f_i per direction (L x k), and h.
    f: Mat<f64>,
    h: Vec<f64>,
}

/// Class means: their inner products where there is one direction only, or their coordinates (L x C).
#[derive(Clone, Debug)]
pub(super) enum Means {
    Gram(Mat<f64>),
    Coordinates(Mat<f64>),
}

impl Directions {
    /// `variances` with one row per cell and one column per direction.
    pub(super) fn new(variances: Mat<f64>, multiplicity: Vec<f64>, means: Means) -> Self {
        Self {
            variances,
            multiplicity,
            means,
            f: Mat::new(),
            h: Vec::new(),
        }
    }

    pub(super) fn alike(&self, a: usize, b: usize) -> bool {
        self.variances.row(a) == self.variances.row(b)
    }

    /// R_ab along a direction.
    pub(super) fn r(&self, problem: &Problem, l: usize, a: usize, b: usize) -> f64 {
        let coupling = &problem.coupling;
        let own = if a == b {
            coupling.gamma()[a] * self.f[(l, a)]
        } else {
            0.0
        };
        own + coupling.lambda() * self.f[(l, a)] * self.f[(l, b)] / self.h[l]
    }

    /// Σ_s coefficient_s s_s over the cells of each task, per direction (L x k).
    fn by_task(&self, problem: &Problem, coefficients: &[f64]) -> Mat<f64> {
        Mat::from_fn(self.multiplicity.len(), problem.tasks(), |l, task| {
            let cells = problem.cells.of_task(task);
            cells
                .map(|s| coefficients[s] * self.variances[(s, l)])
                .sum()
        })
    }

    /// Σ_s coefficient_s W'_s.
    pub(super) fn spread(&self, problem: &Problem, coefficients: &[f64]) -> Mat<f64> {
        let strength = self.by_task(problem, coefficients);
        self.weigh_means(problem, |l, a, b| {
            (0..problem.tasks())
                .map(|q| strength[(l, q)] * self.r(problem, l, a, q) * self.r(problem, l, q, b))
                .sum()
        })
    }

    /// The sum over directions l of weight(l, a, b) times the l-th coordinates of μ_r and μ_s.
    fn weigh_means(
        &self,
        problem: &Problem,
        weight: impl Fn(usize, usize, usize) -> f64,
    ) -> Mat<f64> {
        let (c, k) = (problem.cells.len(), problem.tasks());
        let mut sum = Mat::zeros(c, c);
        for l in 0..self.multiplicity.len() {
            for a in 0..k {
                for b in 0..k {
                    let weight = weight(l, a, b);
                    for r in problem.cells.of_task(a) {
                        for s in problem.cells.of_task(b) {
                            sum[(r, s)] += weight
                                * match &self.means {
                                    Means::Gram(gram) => gram[(r, s)],
                                    Means::Coordinates(means) => means[(l, r)] * means[(l, s)],
                                };
                        }
                    }
                }
            }
        }
        sum
    }
}

impl Shape for Directions {
    fn resolve(&mut self, problem: &Problem, tau: &[f64]) -> Result<()> {
        let strength = self.by_task(problem, &problem.strengths(tau));
        let coupling = &problem.coupling;
        self.f = Mat::from_fn(strength.nrows(), strength.ncols(), |l, task| {
            1.0 / (1.0 + coupling.gamma()[task] * strength[(l, task)])
        });
        self.h = (0..strength.nrows())
            .map(|l| {
                let shared: f64 = (0..strength.ncols())
                    .map(|task| self.f[(l, task)] * strength[(l, task)])
                    .sum();
                1.0 + coupling.lambda() * shared
            })
            .collect();
        Ok(())
    }

    fn map(&self, problem: &Problem) -> Vec<f64> {
        let mut mapped = vec![0.0; problem.cells.len()];
        for (l, multiplicity) in self.multiplicity.iter().enumerate() {
            for a in 0..problem.tasks() {
                let weight = multiplicity * self.r(problem, l, a, a) / problem.normaliser;
                for r in problem.cells.of_task(a) {
                    mapped[r] += weight * self.variances[(r, l)];
                }
            }
        }
        mapped
    }

    fn traces(&self, problem: &Problem) -> Result<Mat<f64>> {
        let (c, k) = (problem.cells.len(), problem.tasks());
        let mut traces = Mat::zeros(c, c);
        for (l, multiplicity) in self.multiplicity.iter().enumerate() {
            for b in 0..k {
                for a in b..k {
                    let weight =
                        multiplicity * self.r(problem, l, a, b).powi(2) / problem.normaliser;
                    for s in problem.cells.of_task(b) {
                        let weight = weight * self.variances[(s, l)];
                        for r in problem.cells.of_task(a) {
                            traces[(r, s)] += weight * self.variances[(r, l)];
                        }
                    }
                }
            }
        }
        dense::mirror(&mut traces);
        Ok(traces)
    }

    fn align(mut self, problem: &Problem, centring: &Mat<f64>) -> (Mat<f64>, Spread) {
        self.means = match &self.means {
            Means::Gram(gram) => Means::Gram(dense::times(
                dense::times(centring.as_ref(), gram.as_ref()).as_ref(),
                centring.transpose(),
            )),
            Means::Coordinates(means) => {
                Means::Coordinates(dense::times(means.as_ref(), centring.transpose()))
            }
        };
        let alignment = self.weigh_means(problem, |l, a, b| self.r(problem, l, a, b));
        (alignment, Spread::Directions(self))
    }
}
