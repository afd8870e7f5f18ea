//! What mean and covariance the responses of a new sample will have, before anything is trained.
//!
//! For n and p large and of one order, the responses of a sample of cell q concentrate: their mean
//! is row q of a C x C matrix and their covariance Cov_q (`docs/2-the-theory.md#the-moments`). With Σ_r the
//! covariance of
//! cell r, one of task i,
//!
//! ```text
//! δ_r = n_r/(kp (1 + τ_r)),   τ_r = (1/kp) tr(Σ_r R_ii),   R = (A⁻¹ ⊗ I + diag(Σ_r δ_r Σ_r))⁻¹,
//! T_rs = (1/kp) tr(Σ_s R_ts,tr Σ_r R_tr,ts),   J = T diag(d),   κ = J (I - J)⁻¹,
//! P = (I + H' D)⁻¹ C,   Mean = I - P,   Cov_q = Pᵀ [diag(κ_q) + D (W'_q + Σ_s κ_qs W'_s) D] P.
//! ```
//!
//! | covariances | constructor | time |
//! |---|---|---|
//! | Σ_r = α_r I | [`Theory::spherical`] | O(C³): microseconds |
//! | Σ_r = α_r Σ | `Theory::common` | O(L C² + C³) for L distinct eigenvalues |
//! | Σ_r diagonal in one basis | `Theory::diagonal` | the same |
//! | any | [`Theory::general`] | about 14 k + C k products of p x p matrices |
//!
//! No step divides by a count, a γ or λ. Finite-size corrections are built in ([`Corrections`]), and
//! errors use `crate::moments::centre_noise`.

pub(crate) mod pairs;

mod covariances;
mod directions;
mod fixed_point;
mod general;
mod problem;
mod sample_means;

use faer::Mat;

pub use covariances::Covariances;
pub use problem::Corrections;

use covariances::check_finite;
use directions::{Directions, Means, Shape, Spread};
use fixed_point::Fixed;
use general::Blocks;
use problem::{Problem, centring, identity_minus};
use sample_means::SampleMeans;

use crate::data::{Cells, Coupling};
use crate::error::Result;
use crate::moments::Moments;
use crate::numerics::dense;

pub(crate) use problem::check;

/// The theory at one coupling.
#[derive(Clone, Debug)]
pub struct Theory {
    problem: Problem,
    spread: Spread,
    sample_means: Option<SampleMeans>,
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
    /// How often the fixed point's map was evaluated.
    pub iterations: usize,
}

/// Cells that share one covariance shape, Σ_r = α_r U diag(values) Uᵀ.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// Distinct eigenvalues of the shape.
    pub(crate) values: Vec<f64>,
    /// How often each occurs; they sum to the number of features.
    pub(crate) multiplicity: Vec<f64>,
    /// α_r, one per cell.
    pub(crate) alpha: Vec<f64>,
    /// Class means in the basis U, one row per eigenvalue, one column per cell.
    pub(crate) means: Mat<f64>,
}

impl Common {
    /// The same shape for some of the cells.
    pub(crate) fn restricted(&self, cells: &[usize]) -> Self {
        Self {
            values: self.values.clone(),
            multiplicity: self.multiplicity.clone(),
            alpha: cells.iter().map(|&cell| self.alpha[cell]).collect(),
            means: Mat::from_fn(self.means.nrows(), cells.len(), |l, c| {
                self.means[(l, cells[c])]
            }),
        }
    }
}

/// Cells whose covariances are diagonal in one basis, Σ_r = U diag(variances of r) Uᵀ.
#[derive(Clone, Debug)]
pub(crate) struct Diagonal {
    /// One row per direction, one column per cell.
    pub(crate) variances: Mat<f64>,
    /// How many features each direction stands for; they sum to the number of features.
    pub(crate) multiplicity: Vec<f64>,
    /// Class means in the basis U, one row per direction, one column per cell.
    pub(crate) means: Mat<f64>,
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
        let problem = Problem::new(cells, features, coupling, corrections)?;
        let variance = |cell: usize| alpha.map_or(1.0, |alpha| alpha[cell]);
        let directions = Directions::new(
            Mat::from_fn(cells.len(), 1, |cell, _| variance(cell)),
            vec![features as f64],
            Means::Gram(gram.clone()),
        );
        Self::in_directions(problem, directions, corrections)
    }

    /// One covariance shape for all cells.
    ///
    /// # Errors
    /// If the coupling has not one γ per task, or the parts of `common` do not fit together.
    pub(crate) fn common(
        cells: &Cells,
        features: usize,
        coupling: &Coupling,
        common: &Common,
        corrections: Corrections,
    ) -> Result<Self> {
        check(
            "values of alpha (one per cell)",
            cells.len(),
            common.alpha.len(),
        )?;
        let diagonal = Diagonal {
            variances: Mat::from_fn(common.values.len(), cells.len(), |l, cell| {
                common.alpha[cell] * common.values[l]
            }),
            multiplicity: common.multiplicity.clone(),
            means: common.means.clone(),
        };
        Self::diagonal(cells, features, coupling, &diagonal, corrections)
    }

    /// Covariances that are diagonal in one basis.
    ///
    /// # Errors
    /// If the coupling has not one γ per task, or the parts of `diagonal` do not fit together.
    pub(crate) fn diagonal(
        cells: &Cells,
        features: usize,
        coupling: &Coupling,
        diagonal: &Diagonal,
        corrections: Corrections,
    ) -> Result<Self> {
        let problem = Problem::new(cells, features, coupling, corrections)?;
        let (variances, means) = (&diagonal.variances, &diagonal.means);
        let directions = diagonal.multiplicity.len();
        check(
            "columns of variances (one per cell)",
            cells.len(),
            variances.ncols(),
        )?;
        check(
            "rows of variances (one per direction)",
            directions,
            variances.nrows(),
        )?;
        check(
            "columns of means (one per cell)",
            cells.len(),
            means.ncols(),
        )?;
        check(
            "rows of means (one per direction)",
            directions,
            means.nrows(),
        )?;
        let directions = Directions::new(
            variances.transpose().to_owned(),
            diagonal.multiplicity.clone(),
            Means::Coordinates(means.clone()),
        );
        Self::in_directions(problem, directions, corrections)
    }

    /// Any covariances. `means` holds the class means, one a column (p x C).
    ///
    /// With p x p products as the unit, each evaluation of the fixed point's map costs k times a
    /// Cholesky factorisation (1/6), an inverse (1/3) and two half products, and one factorisation
    /// more; about nine are needed. The second-order traces cost C k + k(k - 1)/2 products, once.
    /// Memory 2 k + m + 4 matrices of p x p beside the covariances, for m classes a task. Covariances
    /// that are multiples of one matrix, or all diagonal, take the shorter ways of
    /// [`Theory::spherical`], `Theory::common` and `Theory::diagonal`.
    ///
    /// # Errors
    /// If the coupling has not one γ per task, the sizes differ, a mean is not finite, or values are
    /// so large that a factorisation overflows.
    pub fn general(
        cells: &Cells,
        coupling: &Coupling,
        covariances: &Covariances,
        means: &Mat<f64>,
        corrections: Corrections,
    ) -> Result<Self> {
        let features = covariances.features();
        check(
            "covariances (one per cell)",
            cells.len(),
            covariances.cells(),
        )?;
        check(
            "columns of means (one per cell)",
            cells.len(),
            means.ncols(),
        )?;
        check("rows of means (one per feature)", features, means.nrows())?;
        check_finite("the class means", means)?;
        let problem = Problem::new(cells, features, coupling, corrections)?;
        match covariances.directions(cells, means) {
            Some(directions) => Self::in_directions(problem, directions, corrections),
            None => Self::in_blocks(problem, covariances, means, corrections),
        }
    }

    fn in_directions(
        problem: Problem,
        mut directions: Directions,
        corrections: Corrections,
    ) -> Result<Self> {
        let fixed = fixed_point::newton(&problem, &mut directions)?;
        Ok(Self::new(problem, directions, fixed, corrections))
    }

    fn in_blocks(
        problem: Problem,
        covariances: &Covariances,
        means: &Mat<f64>,
        corrections: Corrections,
    ) -> Result<Self> {
        let start = fixed_point::newton(&problem, &mut covariances.surrogate())?;
        let mut blocks = Blocks::new(&problem, covariances, means);
        let fixed = fixed_point::broyden(&problem, &mut blocks, start)?;
        Ok(Self::new(problem, blocks, fixed, corrections))
    }

    fn new(problem: Problem, shape: impl Shape, fixed: Fixed, corrections: Corrections) -> Self {
        let Fixed {
            tau,
            traces,
            iterations,
        } = fixed;
        let c = problem.counts.len();
        let delta: Vec<f64> = (0..c)
            .map(|r| problem.counts[r] / (problem.normaliser * (1.0 + tau[r])))
            .collect();
        let centring = centring(&problem.cells, &delta);
        let (mut alignment, spread) = shape.align(&problem, &centring);
        let sample_means =
            SampleMeans::correct(&problem, corrections, &tau, &centring, &mut alignment);

        let jacobian = problem.weighted(&traces, &problem.noise_counts, &tau);
        let propagate = identity_minus(&jacobian);
        let residual_weights = problem.weighted(&traces, &problem.counts, &tau);
        let kappa = dense::solve_general(propagate.as_ref(), jacobian.as_ref());
        let kappa_residual = dense::solve_general(propagate.as_ref(), residual_weights.as_ref());
        let system = Mat::from_fn(c, c, |r, s| {
            f64::from(u8::from(r == s)) + alignment[(r, s)] * delta[s]
        });
        let residual = dense::solve_general(system.as_ref(), centring.as_ref());
        let mean = identity_minus(&residual);
        Self {
            problem,
            spread,
            sample_means,
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
        }
    }

    /// Cov_q: the covariance of the responses of a sample of a cell (C x C).
    pub(crate) fn covariance(&self, cell: usize) -> Mat<f64> {
        let c = self.delta.len();
        let coefficients: Vec<f64> = (0..c)
            .map(|s| self.kappa[(cell, s)] + f64::from(u8::from(s == cell)))
            .collect();
        let mut spread = self.spread.sum(&self.problem, &coefficients);
        if let Some(sample_means) = &self.sample_means {
            sample_means.correct_spread(&self.centring, &self.traces, &coefficients, &mut spread);
        }
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
        let cells = &self.problem.cells;
        let range = cells.of_task(target);
        let mean = Mat::from_fn(range.len(), cells.len(), |class, cell| {
            self.mean[(range.start + class, cell)]
        });
        let mut covariance: Vec<Mat<f64>> = Vec::with_capacity(range.len());
        for cell in range {
            match covariance.last() {
                Some(last) if self.spread.alike(cell, cell - 1) => covariance.push(last.clone()),
                _ => covariance.push(self.covariance(cell)),
            }
        }
        Moments { mean, covariance }
    }
}
