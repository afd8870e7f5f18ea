//! The fixed point τ_r = (1/kp) tr(Σ_r R_ii(τ)) (`docs/2-the-theory.md#the-fixed-point`).
//!
//! The map is increasing, concave and scalable, so that it has one solution, and it brings any two
//! points nearer in the metric max_r |ln τ_r - ln τ'_r|. Its Jacobian is J = T diag(d).
//!
//! * [`newton`], for shapes whose T costs next to nothing, starts from above and decreases
//!   monotonically to the solution.
//! * [`broyden`], for shapes whose T is dear, starts from a nearby problem with its Jacobian, and
//!   learns the Jacobian from its own steps, in ln τ, where the solution is positive by itself.

use faer::Mat;

use super::directions::Shape;
use super::problem::{Problem, identity_minus};
use crate::error::Result;
use crate::numerics::dense;

/// The solution with its second-order traces T; the shape it was found for is left resolved there.
pub(super) struct Fixed {
    pub(super) tau: Vec<f64>,
    pub(super) traces: Mat<f64>,
    pub(super) iterations: usize,
}

/// Relative change of τ at which it has converged.
const TOLERANCE: f64 = 1e-13;
/// Ten Newton steps and thirty of Broyden's are enough for couplings from 1e-3 to 1e4; this bound only
/// guards against overflow.
const MOST_ITERATIONS: usize = 100;
/// A step by more than this in ln τ says that the learnt Jacobian is of no use.
const LONGEST_STEP: f64 = 10.0;

/// Newton's method from τ_max, the map's value where B = 0.
pub(super) fn newton<S: Shape>(problem: &Problem, shape: &mut S) -> Result<Fixed> {
    let c = problem.counts.len();
    shape.resolve(problem, &vec![f64::INFINITY; c])?;
    let mut tau = shape.map(problem);
    let mut iterations = 0;
    loop {
        iterations += 1;
        shape.resolve(problem, &tau)?;
        let traces = shape.traces(problem)?;
        let jacobian = problem.weighted(&traces, &problem.noise_counts, &tau);
        let mapped = shape.map(problem);
        let difference = Mat::from_fn(c, 1, |r, _| mapped[r] - tau[r]);
        let step = dense::solve_general(identity_minus(&jacobian).as_ref(), difference.as_ref());
        let mut change = 0.0_f64;
        for r in 0..c {
            let next = (tau[r] + step[(r, 0)]).max(0.0);
            change = change.max((next - tau[r]).abs() / next.max(1e-12));
            tau[r] = next;
        }
        if change < TOLERANCE || iterations == MOST_ITERATIONS {
            return Ok(Fixed {
                tau,
                traces,
                iterations,
            });
        }
    }
}

/// Broyden's method from the solution of a nearby problem.
///
/// A step that does not come nearer to a fixed point is not taken; the plain map takes its place,
/// which in exact arithmetic always does. So it converges from anywhere, and where neither comes
/// nearer only rounding is left.
pub(super) fn broyden<S: Shape>(problem: &Problem, shape: &mut S, start: Fixed) -> Result<Fixed> {
    let c = problem.counts.len();
    let mut tau = start.tau;
    // d ln map / d ln τ, and the inverse of what it lacks to the identity.
    let slopes = problem.weighted(&start.traces, &problem.noise_counts, &tau);
    let jacobian = Mat::from_fn(c, c, |r, s| {
        if tau[r] > 0.0 {
            slopes[(r, s)] * tau[s] / tau[r]
        } else {
            0.0
        }
    });
    let mut inverse = dense::solve_general(
        identity_minus(&jacobian).as_ref(),
        Mat::<f64>::identity(c, c).as_ref(),
    );

    let mut residual = evaluate(problem, shape, &tau)?;
    let mut iterations = 1;
    // Whether the map is to be taken as it is, and whether the shape is resolved at τ.
    let (mut plain, mut resolved) = (false, true);
    while iterations < MOST_ITERATIONS {
        let learnt = dense::times(inverse.as_ref(), residual.as_ref());
        let step = if plain || learnt.norm_max() > LONGEST_STEP {
            residual.clone()
        } else {
            learnt
        };
        if step.norm_max() <= TOLERANCE {
            break;
        }
        let next: Vec<f64> = (0..c).map(|r| tau[r] * step[(r, 0)].exp()).collect();
        let next_residual = evaluate(problem, shape, &next)?;
        iterations += 1;
        learn(&mut inverse, &step, &(&residual - &next_residual));
        resolved = next_residual.norm_max() < residual.norm_max();
        if resolved {
            (tau, residual, plain) = (next, next_residual, false);
        } else if plain {
            break;
        } else {
            plain = true;
        }
    }
    if !resolved {
        shape.resolve(problem, &tau)?;
    }
    Ok(Fixed {
        traces: shape.traces(problem)?,
        tau,
        iterations,
    })
}

/// ln map(τ) - ln τ; zero for a cell without variance, whose τ is zero.
fn evaluate<S: Shape>(problem: &Problem, shape: &mut S, tau: &[f64]) -> Result<Mat<f64>> {
    shape.resolve(problem, tau)?;
    let mapped = shape.map(problem);
    if let Some(cell) = mapped.iter().position(|mapped| !mapped.is_finite()) {
        return Err(problem.overflow(problem.cells.task_of(cell)));
    }
    Ok(Mat::from_fn(tau.len(), 1, |r, _| {
        if tau[r] > 0.0 {
            (mapped[r] / tau[r]).ln()
        } else {
            0.0
        }
    }))
}

/// The least change of the inverse Jacobian that maps `change` of the residual to `step`.
fn learn(inverse: &mut Mat<f64>, step: &Mat<f64>, change: &Mat<f64>) {
    let mapped = dense::times(inverse.as_ref(), change.as_ref());
    let row = dense::times(step.transpose(), inverse.as_ref());
    let size = dense::times(step.transpose(), mapped.as_ref())[(0, 0)];
    // Nothing can be learnt from steps within rounding.
    if size.abs() > f64::EPSILON * step.norm_l2() * mapped.norm_l2() {
        for s in 0..inverse.ncols() {
            for r in 0..inverse.nrows() {
                inverse[(r, s)] += (step[(r, 0)] - mapped[(r, 0)]) * row[(0, s)] / size;
            }
        }
    }
}
