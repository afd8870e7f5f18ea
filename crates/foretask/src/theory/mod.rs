//! What mean and covariance the responses of a new sample will have, before anything is trained.
//!
//! For n and p large and of one order, the responses of a sample of cell q concentrate: their mean
//! is row q of a C x C matrix and their covariance Cov_q (THEORY 4). This module treats cells with
//! covariances Σ_r = α_r Σ of one common shape: isotropic data (Σ = I, α = 1), spherical classes
//! (Σ = I), and one pooled covariance. Everything is then C x C:
//!
//! ```text
//! δ_r = n_r/(kp (1 + τ_r)),   τ_r = (1/kp) tr(Σ_r R_ii),   R = (A⁻¹ + diag(β))⁻¹ per direction,
//! T_rs = (1/kp) tr(Σ_s R_ts,tr Σ_r R_tr,ts),   J = T diag(d),   κ = J (I - J)⁻¹,
//! P = (I + H' D)⁻¹ C,   Mean = I - P,   Cov_q = Pᵀ [diag(κ_q) + D (W'_q + Σ_s κ_qs W'_s) D] P.
//! ```
//!
//! The fixed point for τ is solved by Newton's method from above, which decreases monotonically to
//! the only solution (the map is increasing, concave and scalable). No step divides by a count, a γ
//! or λ. Two finite-size corrections are built in: task centring costs a degree of freedom, so noise
//! counts are n_r (n_i - 1)/n_i; and errors use [`crate::moments::centre_noise`].
//!
//! Time O(L k² + C³) for L distinct eigenvalues (L = 1 when isotropic): microseconds.

mod gradient;
pub mod gram;
mod pooled;

use faer::Mat;

pub use gradient::{Gradient, gradient};
pub(crate) use pooled::pooled;

use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::dense;
use crate::error::Result;
use crate::moments::Moments;

/// Which finite-size corrections to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrections {
    /// The leading order as written in the paper, for comparison.
    None,
    /// Task centring costs one degree of freedom (THEORY 4.5).
    DegreesOfFreedom,
}

/// The theory at one coupling.
#[derive(Clone, Debug)]
pub struct Theory {
    cells: Cells,
    normaliser: f64,
    coupling: Coupling,
    shape: Shape,
    means: Means,
    /// τ_r.
    pub tau: Vec<f64>,
    /// δ_r.
    pub delta: Vec<f64>,
    /// T.
    pub traces: Mat<f64>,
    /// κ, the weight of other cells' mean weights in a variance.
    pub kappa: Mat<f64>,
    /// The weight of squared residuals; equals κ without corrections.
    pub kappa_residual: Mat<f64>,
    /// J = T diag(d); its spectral radius is below one.
    pub jacobian: Mat<f64>,
    /// H', the weighted inner products of the centred means.
    pub alignment: Mat<f64>,
    /// Row q: the mean responses of a sample of cell q.
    pub mean: Mat<f64>,
    /// P = I - Mean.
    residual: Mat<f64>,
    /// C, the δ-weighted task centring.
    pub centring: Mat<f64>,
    /// Newton steps taken.
    pub iterations: usize,
}

/// Cells that share one covariance shape, Σ_r = α_r U diag(values) Uᵀ.
#[derive(Clone, Debug)]
pub struct Common {
    /// Distinct eigenvalues of the shape.
    pub values: Vec<f64>,
    /// How often each occurs; they sum to the number of features.
    pub multiplicity: Vec<f64>,
    /// α_r, one per cell.
    pub alpha: Vec<f64>,
    /// Class means in the basis U, one row per eigenvalue, one column per cell.
    pub means: Mat<f64>,
}

/// The common shape Σ by its distinct eigenvalues, and the multiples α_r.
#[derive(Clone, Debug)]
struct Shape {
    values: Vec<f64>,
    multiplicity: Vec<f64>,
    alpha: Vec<f64>,
    /// f_i per direction (L x k) and h per direction: R_ab = 1{a=b} γ_a f_a + λ f_a f_b/h.
    f: Mat<f64>,
    h: Vec<f64>,
}

/// Centred class means: their inner products (isotropic), or their coordinates in the eigenbasis of
/// Σ (L x C).
#[derive(Clone, Debug)]
enum Means {
    Gram(Mat<f64>),
    Coordinates(Mat<f64>),
}

impl Theory {
    /// Isotropic or spherical data: Σ_r = α_r I. `gram` holds the inner products of the class means
    /// (any origin per task), `alpha` one variance per cell (1 if `None`).
    ///
    /// # Errors
    /// If the coupling has not one γ per task.
    pub fn spherical(
        cells: &Cells,
        features: usize,
        coupling: &Coupling,
        gram: &Mat<f64>,
        alpha: Option<&[f64]>,
        corrections: Corrections,
    ) -> Result<Self> {
        let shape = Shape::new(
            vec![1.0],
            vec![features as f64],
            alpha.map_or_else(|| vec![1.0; cells.len()], <[f64]>::to_vec),
        );
        Self::new(
            cells,
            features,
            coupling,
            shape,
            Means::Gram(gram.clone()),
            corrections,
        )
    }

    /// One covariance shape for all cells.
    ///
    /// # Errors
    /// If the coupling has not one γ per task.
    pub fn common(
        cells: &Cells,
        features: usize,
        coupling: &Coupling,
        common: &Common,
        corrections: Corrections,
    ) -> Result<Self> {
        let shape = Shape::new(
            common.values.clone(),
            common.multiplicity.clone(),
            common.alpha.clone(),
        );
        Self::new(
            cells,
            features,
            coupling,
            shape,
            Means::Coordinates(common.means.clone()),
            corrections,
        )
    }

    fn new(
        cells: &Cells,
        features: usize,
        coupling: &Coupling,
        mut shape: Shape,
        means: Means,
        corrections: Corrections,
    ) -> Result<Self> {
        let k = cells.tasks().len();
        coupling.check(k)?;
        let c = cells.len();
        let normaliser = (k * features) as f64;
        let counts: Vec<f64> = (0..c).map(|cell| cells.count(cell) as f64).collect();
        let noise_counts: Vec<f64> = (0..c)
            .map(|cell| {
                let n = cells.samples(cells.task_of(cell)) as f64;
                counts[cell]
                    * if corrections == Corrections::None {
                        1.0
                    } else {
                        (n - 1.0) / n
                    }
            })
            .collect();

        // τ by Newton from above.
        let mut tau: Vec<f64> = (0..c)
            .map(|cell| {
                let trace: f64 = shape
                    .values
                    .iter()
                    .zip(&shape.multiplicity)
                    .map(|(e, w)| e * w)
                    .sum();
                (coupling.gamma()[cells.task_of(cell)] + coupling.lambda())
                    * shape.alpha[cell]
                    * trace
                    / normaliser
            })
            .collect();
        let mut iterations = 0;
        let (traces, jacobian) = loop {
            iterations += 1;
            shape.resolve(cells, coupling, normaliser, &noise_counts, &tau);
            let traces = shape.traces(cells, coupling, normaliser);
            let jacobian = Mat::from_fn(c, c, |r, s| {
                traces[(r, s)] * noise_counts[s] / (normaliser * (1.0 + tau[s]).powi(2))
            });
            let mapped = shape.map(cells, coupling, normaliser);
            let difference = Mat::from_fn(c, 1, |r, _| mapped[r] - tau[r]);
            let step =
                dense::solve_general(identity_minus(&jacobian).as_ref(), difference.as_ref());
            let mut change = 0.0_f64;
            for r in 0..c {
                let next = (tau[r] + step[(r, 0)]).max(0.0);
                change = change.max((next - tau[r]).abs() / next.max(1e-12));
                tau[r] = next;
            }
            if change < TAU_TOLERANCE || iterations == MOST_ITERATIONS {
                break (traces, jacobian);
            }
        };

        let delta: Vec<f64> = (0..c)
            .map(|r| counts[r] / (normaliser * (1.0 + tau[r])))
            .collect();
        let centring = centring(cells, &delta);
        let means = match means {
            Means::Gram(gram) => Means::Gram(dense::times(
                dense::times(centring.as_ref(), gram.as_ref()).as_ref(),
                centring.transpose(),
            )),
            Means::Coordinates(means) => {
                Means::Coordinates(dense::times(means.as_ref(), centring.transpose()))
            }
        };
        let alignment = shape.alignment(cells, coupling, &means);

        let propagate = identity_minus(&jacobian);
        let residual_weights = Mat::from_fn(c, c, |r, s| {
            traces[(r, s)] * counts[s] / (normaliser * (1.0 + tau[s]).powi(2))
        });
        let kappa = dense::solve_general(propagate.as_ref(), jacobian.as_ref());
        let kappa_residual = dense::solve_general(propagate.as_ref(), residual_weights.as_ref());
        let system = Mat::from_fn(c, c, |r, s| {
            f64::from(u8::from(r == s)) + alignment[(r, s)] * delta[s]
        });
        let residual = dense::solve_general(system.as_ref(), centring.as_ref());
        let mean = identity_minus(&residual);
        Ok(Self {
            cells: cells.clone(),
            normaliser,
            coupling: coupling.clone(),
            shape,
            means,
            tau,
            delta,
            traces,
            kappa,
            kappa_residual,
            jacobian,
            alignment,
            mean,
            residual,
            centring,
            iterations,
        })
    }

    /// Cov_q: the covariance of the responses of a sample of a cell (C x C).
    pub fn covariance(&self, cell: usize) -> Mat<f64> {
        let c = self.cells.len();
        let coefficients: Vec<f64> = (0..c)
            .map(|s| self.kappa[(cell, s)] + f64::from(u8::from(s == cell)))
            .collect();
        let spread = self
            .shape
            .spread(&self.cells, &self.coupling, &self.means, &coefficients);
        let inner = Mat::from_fn(c, c, |r, s| {
            let noise = if r == s {
                self.kappa_residual[(cell, s)]
            } else {
                0.0
            };
            noise + self.delta[r] * 0.5 * (spread[(r, s)] + spread[(s, r)]) * self.delta[s]
        });
        let half = dense::times(inner.as_ref(), self.residual.as_ref());
        dense::times(self.residual.transpose(), half.as_ref())
    }

    /// The moments of the target's classes.
    pub fn moments(&self, target: usize) -> Moments {
        let range = self.cells.of_task(target);
        let mean = Mat::from_fn(range.len(), self.cells.len(), |class, cell| {
            self.mean[(range.start + class, cell)]
        });
        let mut covariance: Vec<Mat<f64>> = Vec::with_capacity(range.len());
        for cell in range {
            // Equal noise in a task means equal covariances.
            match covariance.last() {
                Some(last) if self.shape.alpha[cell] == self.shape.alpha[cell - 1] => {
                    covariance.push(last.clone());
                }
                _ => covariance.push(self.covariance(cell)),
            }
        }
        Moments { mean, covariance }
    }
}

/// Relative change of τ at which Newton's method has converged.
const TAU_TOLERANCE: f64 = 1e-13;
/// Ten are enough for couplings from 1e-3 to 1e4; this bound only guards against overflow.
const MOST_ITERATIONS: usize = 100;

fn identity_minus(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| {
        f64::from(u8::from(i == j)) - a[(i, j)]
    })
}

/// C = I - 1 ωᵀ per task, ω the weights normalised to one. With unequal covariances the weights are
/// the δ, not the counts.
fn centring(cells: &Cells, weights: &[f64]) -> Mat<f64> {
    let mut centring = Mat::identity(cells.len(), cells.len());
    for task in 0..cells.tasks().len() {
        let range = cells.of_task(task);
        let total: f64 = weights[range.clone()].iter().sum();
        for r in range.clone() {
            for s in range.clone() {
                centring[(r, s)] -= weights[s] / total;
            }
        }
    }
    centring
}

impl Shape {
    fn new(values: Vec<f64>, multiplicity: Vec<f64>, alpha: Vec<f64>) -> Self {
        Self {
            values,
            multiplicity,
            alpha,
            f: Mat::new(),
            h: Vec::new(),
        }
    }

    /// R per direction for the current τ.
    fn resolve(
        &mut self,
        cells: &Cells,
        coupling: &Coupling,
        normaliser: f64,
        noise_counts: &[f64],
        tau: &[f64],
    ) {
        let k = cells.tasks().len();
        let strength: Vec<f64> = (0..k)
            .map(|task| {
                cells
                    .of_task(task)
                    .map(|r| noise_counts[r] / (normaliser * (1.0 + tau[r])) * self.alpha[r])
                    .sum()
            })
            .collect();
        self.f = Mat::from_fn(self.values.len(), k, |l, task| {
            1.0 / (1.0 + coupling.gamma()[task] * strength[task] * self.values[l])
        });
        self.h = (0..self.values.len())
            .map(|l| {
                1.0 + coupling.lambda()
                    * (0..k)
                        .map(|task| self.f[(l, task)] * strength[task] * self.values[l])
                        .sum::<f64>()
            })
            .collect();
    }

    fn r(&self, coupling: &Coupling, l: usize, a: usize, b: usize) -> f64 {
        let own = if a == b {
            coupling.gamma()[a] * self.f[(l, a)]
        } else {
            0.0
        };
        own + coupling.lambda() * self.f[(l, a)] * self.f[(l, b)] / self.h[l]
    }

    /// (1/kp) tr(Σ_r R_ii).
    fn map(&self, cells: &Cells, coupling: &Coupling, normaliser: f64) -> Vec<f64> {
        let by_task: Vec<f64> = (0..cells.tasks().len())
            .map(|a| {
                (0..self.values.len())
                    .map(|l| self.multiplicity[l] * self.values[l] * self.r(coupling, l, a, a))
                    .sum::<f64>()
                    / normaliser
            })
            .collect();
        (0..cells.len())
            .map(|cell| self.alpha[cell] * by_task[cells.task_of(cell)])
            .collect()
    }

    /// T.
    fn traces(&self, cells: &Cells, coupling: &Coupling, normaliser: f64) -> Mat<f64> {
        let k = cells.tasks().len();
        let mut by_task = Mat::zeros(k, k);
        for a in 0..k {
            for b in a..k {
                let trace: f64 = (0..self.values.len())
                    .map(|l| {
                        self.multiplicity[l] * (self.values[l] * self.r(coupling, l, a, b)).powi(2)
                    })
                    .sum();
                by_task[(a, b)] = trace / normaliser;
                by_task[(b, a)] = trace / normaliser;
            }
        }
        Mat::from_fn(cells.len(), cells.len(), |r, s| {
            self.alpha[r] * self.alpha[s] * by_task[(cells.task_of(r), cells.task_of(s))]
        })
    }

    /// H'_rs = μ_rᵀ R_ab μ_s.
    fn alignment(&self, cells: &Cells, coupling: &Coupling, means: &Means) -> Mat<f64> {
        let c = cells.len();
        match means {
            Means::Gram(gram) => Mat::from_fn(c, c, |r, s| {
                self.r(coupling, 0, cells.task_of(r), cells.task_of(s)) * gram[(r, s)]
            }),
            Means::Coordinates(means) => {
                self.weighted(cells, means, |l, a, b| self.r(coupling, l, a, b))
            }
        }
    }

    /// Σ_s coefficient_s W'_s with W'_q,rs = μ_rᵀ R_{r,q} Σ_q R_{q,s} μ_s.
    fn spread(
        &self,
        cells: &Cells,
        coupling: &Coupling,
        means: &Means,
        coefficients: &[f64],
    ) -> Mat<f64> {
        let (c, k) = (cells.len(), cells.tasks().len());
        let strength: Vec<f64> = (0..k)
            .map(|task| {
                cells
                    .of_task(task)
                    .map(|s| coefficients[s] * self.alpha[s])
                    .sum()
            })
            .collect();
        let through = |l: usize, a: usize, b: usize| -> f64 {
            (0..k)
                .map(|q| strength[q] * self.r(coupling, l, a, q) * self.r(coupling, l, q, b))
                .sum()
        };
        match means {
            Means::Gram(gram) => {
                let by_task = Mat::from_fn(k, k, |a, b| through(0, a, b));
                Mat::from_fn(c, c, |r, s| {
                    by_task[(cells.task_of(r), cells.task_of(s))] * gram[(r, s)]
                })
            }
            Means::Coordinates(means) => {
                self.weighted(cells, means, |l, a, b| self.values[l] * through(l, a, b))
            }
        }
    }

    /// The sum over directions l of weight(l, a, b) times the l-th coordinates of μ_r and μ_s.
    fn weighted(
        &self,
        cells: &Cells,
        means: &Mat<f64>,
        weight: impl Fn(usize, usize, usize) -> f64,
    ) -> Mat<f64> {
        let (c, k) = (cells.len(), cells.tasks().len());
        let mut sum = Mat::zeros(c, c);
        for l in 0..self.values.len() {
            for a in 0..k {
                for b in 0..k {
                    let weight = weight(l, a, b);
                    for r in cells.of_task(a) {
                        for s in cells.of_task(b) {
                            sum[(r, s)] += weight * means[(l, r)] * means[(l, s)];
                        }
                    }
                }
            }
        }
        sum
    }
}
