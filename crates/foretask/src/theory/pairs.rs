//! The joint law of scores whose classifiers were trained on different samples, as the pairs of
//! one-versus-one are (`docs/5-many-classes.md#one-versus-one`).
//!
//! Two classifiers s and t share the samples of some cells. With ρ = y - m the mean residuals, w̄_a the mean
//! weights of task a and R the resolvent of each, the scores of a new sample of cell j have covariance
//!
//! ```text
//! v_j = w̄_aᵀ Σ_j w̄'_a + Σ_r K_jr (ρ_r ρ'_r + v_r),     r over the shared cells, a the task of j,
//! K_jr = n_r/(kp kp' (1 + τ_r)(1 + τ'_r)) tr(Σ_r R_ra Σ_j R'_ar),
//! ```
//!
//! a linear system in the v of the shared cells. For s = t it is the variance of
//! `docs/2-the-theory.md#the-moments`. All
//! covariances are multiples of one shape here, so that traces are sums over its eigenvalues.

use faer::Mat;

use super::{Common, Corrections, Theory};
use crate::data::{Cells, Coupling};
use crate::error::Result;
use crate::moments::Moments;
use crate::numerics::dense;

/// One classifier: the cells it was trained on, and with which labels.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Its cells, as indices of all cells, in order.
    pub(crate) cells: Vec<usize>,
    /// The tasks and classes that are left.
    pub(crate) tasks: Cells,
    /// The target among them.
    pub(crate) target: usize,
    /// Its coupling.
    pub(crate) coupling: Coupling,
    /// One label per cell of its own.
    pub(crate) labels: Vec<f64>,
}

/// What is needed of one classifier, in the indices of all cells and tasks.
struct Law<'m> {
    member: &'m Member,
    theory: Theory,
    /// All tasks -> its own.
    task: Vec<Option<usize>>,
    /// All cells -> its own.
    cell: Vec<Option<usize>>,
    /// ρ, by its own cells.
    residual: Vec<f64>,
    /// w̄ in the basis of the shape (L x its tasks).
    weights: Mat<f64>,
    /// R per direction: L matrices of its tasks.
    resolvent: Vec<Mat<f64>>,
    normaliser: f64,
}

/// The moments of the scores of all members for a new sample of each class of `target`: one row, and one
/// matrix, per class.
///
/// # Errors
/// If a coupling does not fit its member's tasks.
pub(crate) fn joint_law(
    cells: &Cells,
    features: usize,
    common: &Common,
    target: usize,
    members: &[Member],
    corrections: Corrections,
) -> Result<Moments> {
    let laws = members
        .iter()
        .map(|member| Law::new(cells, features, common, member, corrections))
        .collect::<Result<Vec<_>>>()?;
    let classes: Vec<usize> = cells.of_task(target).collect();
    let mean = Mat::from_fn(classes.len(), laws.len(), |class, s| {
        laws[s].mean(common, classes[class])
    });
    let mut covariance = vec![Mat::zeros(laws.len(), laws.len()); classes.len()];
    for s in 0..laws.len() {
        for t in s..laws.len() {
            let between = covariances(cells, common, &laws[s], &laws[t], &classes, corrections);
            for (class, value) in between.into_iter().enumerate() {
                covariance[class][(s, t)] = value;
                covariance[class][(t, s)] = value;
            }
        }
    }
    Ok(Moments { mean, covariance })
}

impl<'m> Law<'m> {
    fn new(
        cells: &Cells,
        features: usize,
        common: &Common,
        member: &'m Member,
        corrections: Corrections,
    ) -> Result<Self> {
        let own = common.restricted(&member.cells);
        let tasks = &member.tasks;
        let theory = Theory::common(tasks, features, &member.coupling, &own, corrections)?;
        let expected = dense::times(
            theory.mean.as_ref(),
            Mat::from_fn(member.labels.len(), 1, |c, _| member.labels[c]).as_ref(),
        );
        let residual: Vec<f64> = (0..member.labels.len())
            .map(|c| member.labels[c] - expected[(c, 0)])
            .collect();
        let k = tasks.tasks().len();
        let normaliser = (k * features) as f64;
        let strength: Vec<f64> = (0..k)
            .map(|task| {
                tasks
                    .of_task(task)
                    .map(|r| {
                        noise_count(tasks, r, corrections) * own.alpha[r]
                            / (normaliser * (1.0 + theory.tau[r]))
                    })
                    .sum()
            })
            .collect();
        let resolvent: Vec<Mat<f64>> = common
            .values
            .iter()
            .map(|&value| resolvent(&member.coupling, &strength, value))
            .collect();
        let centred = dense::times(own.means.as_ref(), theory.centring.transpose());
        let weights = Mat::from_fn(common.values.len(), k, |l, task| {
            (0..member.labels.len())
                .map(|r| {
                    resolvent[l][(task, tasks.task_of(r))]
                        * centred[(l, r)]
                        * theory.delta[r]
                        * residual[r]
                })
                .sum()
        });
        let mut cell = vec![None; cells.len()];
        let mut task = vec![None; cells.tasks().len()];
        for (own, &full) in member.cells.iter().enumerate() {
            cell[full] = Some(own);
            task[cells.task_of(full)] = Some(tasks.task_of(own));
        }
        Ok(Self {
            member,
            theory,
            task,
            cell,
            residual,
            weights,
            resolvent,
            normaliser,
        })
    }

    /// The mean score of a new sample of a cell of the target, seen in training or not: scores are linear
    /// in x, so m_j = m_r + w̄ᵀ(μ_j - μ_r) for any cell r of the target.
    fn mean(&self, common: &Common, cell: usize) -> f64 {
        let target = self.member.target;
        let own = self.member.tasks.of_task(target).start;
        let known = self.member.cells[own];
        let step: f64 = (0..common.values.len())
            .map(|l| {
                self.weights[(l, target)] * (common.means[(l, cell)] - common.means[(l, known)])
            })
            .sum();
        self.member.labels[own] - self.residual[own] + step
    }
}

/// R = (A⁻¹ + diag(strength value))⁻¹ for the tasks of one direction.
fn resolvent(coupling: &Coupling, strength: &[f64], value: f64) -> Mat<f64> {
    let (gamma, lambda) = (coupling.gamma(), coupling.lambda());
    let f: Vec<f64> = (strength.iter().zip(gamma))
        .map(|(s, g)| 1.0 / (1.0 + g * s * value))
        .collect();
    let h = 1.0
        + lambda
            * (f.iter().zip(strength))
                .map(|(f, s)| f * s * value)
                .sum::<f64>();
    Mat::from_fn(f.len(), f.len(), |a, b| {
        let own = if a == b { gamma[a] * f[a] } else { 0.0 };
        own + lambda * f[a] * f[b] / h
    })
}

/// Samples of a cell that carry noise: task centring costs a degree of freedom.
fn noise_count(cells: &Cells, cell: usize, corrections: Corrections) -> f64 {
    let n = cells.samples(cells.task_of(cell)) as f64;
    let lost = match corrections {
        Corrections::None => 0.0,
        _ => 1.0 / n,
    };
    cells.count(cell) as f64 * (1.0 - lost)
}

/// The covariance of two scores for a sample of each of `wanted`.
fn covariances(
    cells: &Cells,
    common: &Common,
    s: &Law<'_>,
    t: &Law<'_>,
    wanted: &[usize],
    corrections: Corrections,
) -> Vec<f64> {
    let shared: Vec<usize> = (0..cells.len())
        .filter(|&cell| s.cell[cell].is_some() && t.cell[cell].is_some())
        .collect();
    // (own cell, own task) of a shared cell; tasks of shared cells are in both.
    let own = |law: &Law<'_>, cell: usize| law.cell[cell].unwrap_or(0);
    let task = |law: &Law<'_>, cell: usize| law.task[cells.task_of(cell)].unwrap_or(0);
    let signal = |j: usize| -> f64 {
        let (a, b) = (task(s, j), task(t, j));
        common.alpha[j]
            * (0..common.values.len())
                .map(|l| common.values[l] * s.weights[(l, a)] * t.weights[(l, b)])
                .sum::<f64>()
    };
    // K_jr without its count.
    let transfer = |j: usize, r: usize| -> f64 {
        let trace: f64 = (0..common.values.len())
            .map(|l| {
                common.multiplicity[l]
                    * common.values[l].powi(2)
                    * s.resolvent[l][(task(s, r), task(s, j))]
                    * t.resolvent[l][(task(t, j), task(t, r))]
            })
            .sum();
        common.alpha[j] * common.alpha[r] * trace
            / (s.normaliser
                * t.normaliser
                * (1.0 + s.theory.tau[own(s, r)])
                * (1.0 + t.theory.tau[own(t, r)]))
    };
    let noisy: Vec<f64> = shared
        .iter()
        .map(|&r| {
            let of = |law: &Law<'_>| noise_count(&law.member.tasks, own(law, r), corrections);
            (of(s) * of(t)).sqrt()
        })
        .collect();
    let residual: Vec<f64> = shared
        .iter()
        .map(|&r| cells.count(r) as f64 * s.residual[own(s, r)] * t.residual[own(t, r)])
        .collect();
    let from_residuals = |j: usize| -> f64 {
        signal(j)
            + (shared.iter().zip(&residual))
                .map(|(&r, x)| transfer(j, r) * x)
                .sum::<f64>()
    };
    let q = shared.len();
    let system = Mat::from_fn(q, q, |i, r| {
        f64::from(u8::from(i == r)) - transfer(shared[i], shared[r]) * noisy[r]
    });
    let right = Mat::from_fn(q, 1, |i, _| from_residuals(shared[i]));
    let v = dense::solve_general(system.as_ref(), right.as_ref());
    wanted
        .iter()
        .map(|&j| {
            from_residuals(j)
                + (0..q)
                    .map(|r| transfer(j, shared[r]) * noisy[r] * v[(r, 0)])
                    .sum::<f64>()
        })
        .collect()
}
