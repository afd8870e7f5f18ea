//! The theory taken literally (`docs/2-the-theory.md#the-moments` with its kp x kp matrices, the fixed point by
//! plain
//! iteration), and random problems for it.

use std::ops::Range;

use faer::{Mat, Side};
use foretask::theory::{Common, Corrections, Covariances, Theory};
use foretask::{Cells, Coupling, Task};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::oracle::solve;

/// Cells of tasks named in order; `counts[task][class]` samples of each.
pub fn cells(counts: &[Vec<usize>]) -> Cells {
    let tasks = counts
        .iter()
        .enumerate()
        .map(|(task, counts)| Task {
            name: format!("task{task}"),
            classes: (0..counts.len())
                .map(|class| format!("class{class}"))
                .collect(),
            counts: counts.clone(),
        })
        .collect();
    Cells::new(tasks)
}

/// Inner products of the columns.
pub fn gram(means: &Mat<f64>) -> Mat<f64> {
    means.transpose() * means
}

/// α_r I for every cell.
pub fn spherical(alpha: &[f64], p: usize) -> Vec<Mat<f64>> {
    alpha
        .iter()
        .map(|&alpha| Mat::from_fn(p, p, |i, j| if i == j { alpha } else { 0.0 }))
        .collect()
}

/// By what weights the cells of a task are centred.
#[derive(Clone, Copy, PartialEq)]
pub enum Centring {
    Delta,
    /// As the paper prints it; right only where the cells of a task share their covariance.
    Counts,
}

/// What [`dense`] computes; names as in `docs/2-the-theory.md#the-moments`.
pub struct Dense {
    pub tau: Vec<f64>,
    pub traces: Mat<f64>,
    pub kappa: Mat<f64>,
    pub kappa_residual: Mat<f64>,
    pub mean: Mat<f64>,
    pub covariance: Vec<Mat<f64>>,
}

/// The theory of cells with means (p x C) and one covariance (p x p) each; of sample means without the
/// positive part.
pub fn dense(
    cells: &Cells,
    coupling: &Coupling,
    means: &Mat<f64>,
    sigma: &[Mat<f64>],
    corrections: Corrections,
    centring: Centring,
) -> Dense {
    let (c, k, p) = (cells.len(), cells.tasks().len(), means.nrows());
    let kp = (k * p) as f64;
    let counts: Vec<f64> = (0..c).map(|r| cells.count(r) as f64).collect();
    let noisy: Vec<f64> = (0..c)
        .map(|r| {
            let n = cells.samples(cells.task_of(r)) as f64;
            match corrections {
                Corrections::None => counts[r],
                _ => counts[r] * (n - 1.0) / n,
            }
        })
        .collect();
    let block = |r: usize| rows_of(cells.task_of(r), p);

    let (mut tau, mut before) = (vec![0.0; c], f64::INFINITY);
    let r = loop {
        let delta: Vec<f64> = (0..c).map(|s| noisy[s] / (kp * (1.0 + tau[s]))).collect();
        let r = resolvent(cells, coupling, sigma, &delta);
        let next: Vec<f64> = (0..c)
            .map(|s| trace(&(&sigma[s] * part(&r, block(s), block(s)))) / kp)
            .collect();
        let change = next
            .iter()
            .zip(&tau)
            .map(|(a, b)| (a - b).abs() / a)
            .fold(0.0, f64::max);
        tau = next;
        // Steps shrink by a constant factor until only rounding is left of them.
        if change < 1e-10 && change >= before {
            break r;
        }
        before = change;
    };

    let delta: Vec<f64> = (0..c).map(|s| counts[s] / (kp * (1.0 + tau[s]))).collect();
    let through = |a: usize, q: usize, b: usize| {
        part(&r, block(a), block(q)) * &sigma[q] * part(&r, block(q), block(b))
    };
    let traces = Mat::from_fn(c, c, |a, b| trace(&(through(b, a, b) * &sigma[b])) / kp);
    let weighted = |n: &[f64]| {
        Mat::from_fn(c, c, |a, b| {
            traces[(a, b)] * n[b] / (kp * (1.0 + tau[b]).powi(2))
        })
    };
    let identity = Mat::<f64>::identity(c, c);
    let propagate = &identity - weighted(&noisy);
    let kappa = solve(propagate.clone(), weighted(&noisy));
    let kappa_residual = solve(propagate, weighted(&counts));

    let weights = if centring == Centring::Delta {
        &delta
    } else {
        &counts
    };
    let centre = Mat::from_fn(c, c, |a, b| {
        let own = f64::from(u8::from(a == b));
        if cells.task_of(a) != cells.task_of(b) {
            return own;
        }
        let total: f64 = cells.of_task(cells.task_of(b)).map(|s| weights[s]).sum();
        own - weights[b] / total
    });
    let centred = means * centre.transpose();
    let form = |a: usize, m: &Mat<f64>, b: usize| centred.col(a).transpose() * m * centred.col(b);
    // What averages of samples add to a form m for the noise of their own.
    let averages = corrections == Corrections::UnbiasedSampleMeans;
    let noise = |m: &dyn Fn(usize) -> Mat<f64>| {
        let traces = Mat::from_fn(c, c, |a, b| {
            if a == b && averages && counts[a] > 0.0 {
                trace(&(&sigma[a] * m(a))) / counts[a]
            } else {
                0.0
            }
        });
        &centre * traces * centre.transpose()
    };
    let d = Mat::from_fn(c, c, |a, b| if a == b { delta[a] } else { 0.0 });
    let h = Mat::from_fn(c, c, |a, b| form(a, &part(&r, block(a), block(b)), b))
        - noise(&|a| part(&r, block(a), block(a)));
    let spread: Vec<Mat<f64>> = (0..c)
        .map(|q| {
            Mat::from_fn(c, c, |a, b| form(a, &through(a, q, b), b)) - noise(&|a| through(a, q, a))
        })
        .collect();
    let residual = solve(&identity + h * &d, centre.clone());
    let covariance = (0..c)
        .map(|q| {
            let total = Mat::from_fn(c, c, |a, b| {
                spread[q][(a, b)]
                    + (0..c)
                        .map(|s| kappa[(q, s)] * spread[s][(a, b)])
                        .sum::<f64>()
            });
            let noise = Mat::from_fn(
                c,
                c,
                |a, b| if a == b { kappa_residual[(q, a)] } else { 0.0 },
            );
            residual.transpose() * (noise + &d * total * &d) * &residual
        })
        .collect();
    Dense {
        tau,
        traces,
        kappa,
        kappa_residual,
        mean: identity - residual,
        covariance,
    }
}

/// (A⁻¹ ⊗ I + blockdiag(Σ_j δ_ij Σ_ij))⁻¹, written A (I + blockdiag A)⁻¹ so that γ or λ may be zero.
pub fn resolvent(
    cells: &Cells,
    coupling: &Coupling,
    sigma: &[Mat<f64>],
    delta: &[f64],
) -> Mat<f64> {
    let p = sigma[0].nrows();
    let size = cells.tasks().len() * p;
    let a = Mat::from_fn(size, size, |i, j| match (i / p == j / p, i % p == j % p) {
        (true, true) => coupling.lambda() + coupling.gamma()[i / p],
        (false, true) => coupling.lambda(),
        _ => 0.0,
    });
    let blocks = Mat::from_fn(size, size, |i, j| {
        if i / p != j / p {
            return 0.0;
        }
        cells
            .of_task(i / p)
            .map(|s| delta[s] * sigma[s][(i % p, j % p)])
            .sum()
    });
    // R = A (I + B A)⁻¹ is symmetric, so that it equals (I + A B)⁻¹ A.
    solve(Mat::<f64>::identity(size, size) + &a * blocks, a)
}

fn rows_of(task: usize, p: usize) -> Range<usize> {
    task * p..(task + 1) * p
}

fn part(r: &Mat<f64>, rows: Range<usize>, columns: Range<usize>) -> Mat<f64> {
    Mat::from_fn(rows.len(), columns.len(), |i, j| {
        r[(rows.start + i, columns.start + j)]
    })
}

fn trace(m: &Mat<f64>) -> f64 {
    (0..m.nrows()).map(|i| m[(i, i)]).sum()
}

/// Dimensions in which the class means differ.
pub const DIRECTIONS: usize = 4;

/// Everything the theory of spherical cells is a function of.
#[derive(Clone, Debug)]
pub struct Case {
    pub counts: Vec<Vec<usize>>,
    pub features: usize,
    pub gamma: Vec<f64>,
    pub lambda: f64,
    /// DIRECTIONS x C.
    pub means: Mat<f64>,
    pub alpha: Vec<f64>,
    pub corrections: Corrections,
}

impl Case {
    pub fn cells(&self) -> Cells {
        cells(&self.counts)
    }

    pub fn coupling(&self) -> Coupling {
        Coupling::new(self.lambda, self.gamma.clone()).unwrap()
    }

    pub fn theory(&self) -> Theory {
        Theory::spherical(
            &self.cells(),
            self.features,
            &self.coupling(),
            &gram(&self.means),
            Some(&self.alpha),
            self.corrections,
        )
        .unwrap()
    }

    pub fn isotropic(mut self) -> Self {
        self.alpha.fill(1.0);
        self
    }

    pub fn common(&self, values: Vec<f64>, multiplicity: Vec<f64>, means: Mat<f64>) -> Theory {
        let common = Common {
            values,
            multiplicity,
            alpha: self.alpha.clone(),
            means,
        };
        Theory::common(
            &self.cells(),
            self.features,
            &self.coupling(),
            &common,
            self.corrections,
        )
        .unwrap()
    }
}

/// Cells with covariances of any kind.
#[derive(Clone, Debug)]
pub struct General {
    pub counts: Vec<Vec<usize>>,
    pub gamma: Vec<f64>,
    pub lambda: f64,
    /// p x C.
    pub means: Mat<f64>,
    pub distinct: Vec<Mat<f64>>,
    pub of_cell: Vec<usize>,
    pub corrections: Corrections,
}

impl General {
    pub fn cells(&self) -> Cells {
        cells(&self.counts)
    }

    pub fn coupling(&self) -> Coupling {
        Coupling::new(self.lambda, self.gamma.clone()).unwrap()
    }

    pub fn covariances(&self) -> Covariances {
        Covariances::shared(self.distinct.clone(), self.of_cell.clone()).unwrap()
    }

    pub fn theory(&self) -> Theory {
        Theory::general(
            &self.cells(),
            &self.coupling(),
            &self.covariances(),
            &self.means,
            self.corrections,
        )
        .unwrap()
    }

    pub fn dense(&self) -> Dense {
        let sigma: Vec<Mat<f64>> = self
            .of_cell
            .iter()
            .map(|&index| self.distinct[index].clone())
            .collect();
        dense(
            &self.cells(),
            &self.coupling(),
            &self.means,
            &sigma,
            self.corrections,
            Centring::Delta,
        )
    }

    /// The same in another basis.
    pub fn turned(&self, basis: &Mat<f64>) -> Self {
        let turn = |sigma: &Mat<f64>| basis * sigma * basis.transpose();
        Self {
            means: basis * &self.means,
            distinct: self.distinct.iter().map(turn).collect(),
            ..self.clone()
        }
    }
}

/// 1 to 3 tasks of 1 to 3 classes with 0 to 40 samples, 2 to 7 features; γ and λ over five decades or
/// zero, never both. Covariances are full, rank-deficient, or shared between cells.
pub fn general_problems() -> impl Strategy<Value = General> {
    let strength = || prop_oneof![1 => Just(0.0), 5 => decades(-3.0, 2.0)];
    let task = (vec(0..40_usize, 1..=3), strength());
    let corrections = select(vec![
        Corrections::None,
        Corrections::DegreesOfFreedom,
        Corrections::UnbiasedSampleMeans,
    ]);
    (vec(task, 1..=3), 2..=7_usize, strength(), corrections).prop_flat_map(
        |(tasks, p, lambda, corrections)| {
            let (mut counts, mut gamma): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
            counts
                .iter_mut()
                .for_each(|counts: &mut Vec<usize>| counts[0] += 2);
            if lambda == 0.0 {
                let positive = |gamma: &mut f64| *gamma = gamma.max(0.1);
                gamma.iter_mut().for_each(positive);
            }
            let c: usize = counts.iter().map(Vec::len).sum();
            let factor = (1..=p + 2).prop_flat_map(move |rank| vec(-1.5..1.5_f64, p * rank));
            (vec(-2.0..2.0_f64, p * c), vec(factor, c), vec(0..c, c)).prop_map(
                move |(means, factors, of_cell)| {
                    let product = |factor: &Vec<f64>| {
                        let factor = Mat::from_fn(p, factor.len() / p, |i, j| factor[j * p + i]);
                        &factor * factor.transpose()
                    };
                    General {
                        counts: counts.clone(),
                        gamma: gamma.clone(),
                        lambda,
                        means: Mat::from_fn(p, c, |i, r| means[r * p + i]),
                        distinct: factors.iter().map(product).collect(),
                        of_cell,
                        corrections,
                    }
                },
            )
        },
    )
}

/// Powers of ten with exponents in a range.
pub fn decades(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(|exponent| 10_f64.powf(exponent))
}

/// 1 to 3 tasks of 1 to 3 classes with 1 to 60 samples, γ and λ in 0.01..100.
pub fn problems() -> impl Strategy<Value = Case> {
    let task = (vec(1..60_usize, 1..=3), decades(-2.0, 2.0));
    (
        vec(task, 1..=3),
        5..60_usize,
        decades(-2.0, 2.0),
        any::<bool>(),
    )
        .prop_flat_map(|(tasks, features, lambda, corrected)| {
            let (mut counts, gamma): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
            // A task needs two samples.
            counts.iter_mut().for_each(|counts| counts[0] += 1);
            let c: usize = counts.iter().map(Vec::len).sum();
            (
                vec(-2.0..2.0_f64, c * DIRECTIONS),
                vec(select(vec![0.5, 1.0, 3.0]), c),
            )
                .prop_map(move |(means, alpha)| Case {
                    counts: counts.clone(),
                    features,
                    gamma: gamma.clone(),
                    lambda,
                    means: Mat::from_fn(DIRECTIONS, c, |i, r| means[r * DIRECTIONS + i]),
                    alpha,
                    corrections: if corrected {
                        Corrections::DegreesOfFreedom
                    } else {
                        Corrections::None
                    },
                })
        })
}

/// 1 for the cells of a task, 0 for others.
pub fn indicator(cells: &Cells, task: usize) -> Mat<f64> {
    Mat::from_fn(cells.len(), 1, |r, _| {
        f64::from(u8::from(cells.task_of(r) == task))
    })
}

pub fn smallest_eigenvalue(m: &Mat<f64>) -> f64 {
    m.self_adjoint_eigenvalues(Side::Lower).unwrap()[0]
}
