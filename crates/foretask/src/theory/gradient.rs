//! How the forecast of fixed labels changes with the coupling: derivatives of the isotropic theory
//! with respect to ln γ_1 … ln γ_k and ln λ (THEORY 8).
//!
//! With optimal labels the envelope theorem applies: the labels may be held fixed. Trust it on
//! near-isotropic data only.

use faer::Mat;

use super::{Corrections, Spread, Theory, identity_minus};
use crate::cells::Cells;
use crate::coupling::Coupling;
use crate::dense;
use crate::error::Result;

/// Means and variances of the scores of fixed labels, per cell, with their derivatives.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// Mean score of a sample of each cell.
    pub mean: Vec<f64>,
    /// Variance of that score.
    pub variance: Vec<f64>,
    /// d mean / d (ln γ_1, …, ln γ_k, ln λ): one row per parameter, one column per cell.
    pub mean_slopes: Mat<f64>,
    /// d variance / d (the same).
    pub variance_slopes: Mat<f64>,
}

/// Scores of `labels` (one per cell) under the isotropic theory, and their derivatives.
///
/// # Errors
/// If the coupling has not one γ per task.
pub fn gradient(
    cells: &Cells,
    features: usize,
    coupling: &Coupling,
    gram: &Mat<f64>,
    labels: &[f64],
) -> Result<Gradient> {
    let theory = Theory::spherical(cells, features, coupling, gram, None, Corrections::None)?;
    let (c, k) = (cells.len(), cells.tasks().len());
    let task = |cell: usize| cells.task_of(cell);
    let Spread::Directions(directions) = &theory.spread else {
        return Ok(Gradient::empty());
    };
    let Some(gram) = directions.gram() else {
        return Ok(Gradient::empty());
    };
    let problem = &theory.problem;
    let r = Mat::from_fn(k, k, |a, b| directions.r(problem, 0, a, b));
    let d: Vec<f64> = (0..c)
        .map(|s| problem.counts[s] / (problem.normaliser * (1.0 + theory.tau[s]).powi(2)))
        .collect();
    let column = |values: &[f64]| Mat::from_fn(values.len(), 1, |i, _| values[i]);
    let solve = |matrix: &Mat<f64>, values: &[f64]| -> Vec<f64> {
        dense::solve_general(matrix.as_ref(), column(values).as_ref())
            .col(0)
            .iter()
            .copied()
            .collect()
    };

    let system = Mat::from_fn(c, c, |i, j| {
        f64::from(u8::from(i == j)) + theory.alignment[(i, j)] * theory.delta[j]
    });
    let rho: Vec<f64> = dense::times(theory.residual.as_ref(), column(labels).as_ref())
        .col(0)
        .iter()
        .copied()
        .collect();
    let pull: Vec<f64> = (0..c).map(|s| theory.delta[s] * rho[s]).collect();
    let bilinear = |x: &[f64], y: &[f64]| -> f64 {
        (0..c)
            .map(|i| x[i] * (0..c).map(|j| gram[(i, j)] * y[j]).sum::<f64>())
            .sum()
    };
    let seen_from = |r: &Mat<f64>, a: usize, v: &[f64]| -> Vec<f64> {
        (0..c).map(|s| r[(task(s), a)] * v[s]).collect()
    };
    let propagate = identity_minus(&theory.jacobian);
    let norms: Vec<f64> = (0..k)
        .map(|a| bilinear(&seen_from(&r, a, &pull), &seen_from(&r, a, &pull)))
        .collect();
    let source: Vec<f64> = (0..c)
        .map(|q| {
            norms[task(q)]
                + (0..c)
                    .map(|s| theory.jacobian[(q, s)] * rho[s] * rho[s])
                    .sum::<f64>()
        })
        .collect();
    let variance = solve(&propagate, &source);
    let mean: Vec<f64> = (0..c).map(|s| labels[s] - rho[s]).collect();

    let strength: Vec<f64> = (0..k)
        .map(|a| cells.of_task(a).map(|s| theory.delta[s]).sum())
        .collect();
    let explicit = Mat::from_fn(k, k, |a, b| {
        f64::from(u8::from(a == b)) - r[(a, b)] * strength[b]
    });
    let mut mean_slopes = Mat::zeros(k + 1, c);
    let mut variance_slopes = Mat::zeros(k + 1, c);
    for parameter in 0..=k {
        let change = Mat::from_fn(k, k, |a, b| {
            if parameter == k {
                coupling.lambda()
            } else if a == b && a == parameter {
                coupling.gamma()[a]
            } else {
                0.0
            }
        });
        let direct = dense::times(
            dense::times(explicit.as_ref(), change.as_ref()).as_ref(),
            explicit.transpose(),
        );
        let dtau = solve(
            &propagate,
            &(0..c)
                .map(|s| direct[(task(s), task(s))] / k as f64)
                .collect::<Vec<_>>(),
        );
        let ddelta: Vec<f64> = (0..c).map(|s| -d[s] * dtau[s]).collect();
        let dstrength: Vec<f64> = (0..k)
            .map(|a| cells.of_task(a).map(|s| ddelta[s]).sum())
            .collect();
        let dr = Mat::from_fn(k, k, |a, b| {
            direct[(a, b)]
                - (0..k)
                    .map(|q| r[(a, q)] * dstrength[q] * r[(q, b)])
                    .sum::<f64>()
        });
        let right: Vec<f64> = (0..c)
            .map(|i| {
                -(0..c)
                    .map(|j| {
                        dr[(task(i), task(j))] * gram[(i, j)] * pull[j]
                            + theory.alignment[(i, j)] * ddelta[j] * rho[j]
                    })
                    .sum::<f64>()
            })
            .collect();
        let drho = solve(&system, &right);
        let dpull: Vec<f64> = (0..c)
            .map(|s| ddelta[s] * rho[s] + theory.delta[s] * drho[s])
            .collect();
        let dnorms: Vec<f64> = (0..k)
            .map(|a| {
                let moved: Vec<f64> = (0..c)
                    .map(|s| dr[(task(s), a)] * pull[s] + r[(task(s), a)] * dpull[s])
                    .collect();
                2.0 * bilinear(&moved, &seen_from(&r, a, &pull))
            })
            .collect();
        let right: Vec<f64> = (0..c)
            .map(|q| {
                let inner: f64 = (0..c)
                    .map(|s| {
                        let (rqs, drqs) = (r[(task(q), task(s))], dr[(task(q), task(s))]);
                        let dd = -2.0 * d[s] * dtau[s] / (1.0 + theory.tau[s]);
                        let djacobian = (2.0 * rqs * drqs * d[s] + rqs * rqs * dd) / k as f64;
                        djacobian * (rho[s] * rho[s] + variance[s])
                            + theory.jacobian[(q, s)] * 2.0 * rho[s] * drho[s]
                    })
                    .sum();
                dnorms[task(q)] + inner
            })
            .collect();
        let dvariance = solve(&propagate, &right);
        for s in 0..c {
            mean_slopes[(parameter, s)] = -drho[s];
            variance_slopes[(parameter, s)] = dvariance[s];
        }
    }
    Ok(Gradient {
        mean,
        variance,
        mean_slopes,
        variance_slopes,
    })
}

impl Gradient {
    fn empty() -> Self {
        Self {
            mean: Vec::new(),
            variance: Vec::new(),
            mean_slopes: Mat::new(),
            variance_slopes: Mat::new(),
        }
    }
}
