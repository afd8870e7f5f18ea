//! Two classes, one score: closed-form label scores and thresholds
//! (`docs/2-the-theory.md#optimal-labels-and-thresholds`).
//!
//! A sample is decided to be of the first class when its score exceeds the threshold ζ. With label
//! scores y the score of class c is Gaussian with mean m_c = μ_c·y and variance C_c = yᵀ S_c y.

use faer::Mat;

use super::pencil::Pencil;
use super::score_law::ScoreLaw;
use crate::data::Cells;
use crate::moments::Moments;
use crate::numerics::pseudo_solve;

/// A binary rule: label scores and threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryRule {
    /// One score per cell.
    pub label_scores: Vec<f64>,
    /// First class above, second below.
    pub threshold: f64,
}

/// The classical labels: +1 for the cells that stand for the target's first class, -1 for the second,
/// 0 for cells that stand for neither.
pub fn classical_labels(cells: &Cells, target: usize) -> Vec<f64> {
    cells
        .aligned(target)
        .iter()
        .map(|class| match class {
            Some(0) => 1.0,
            Some(1) => -1.0,
            _ => 0.0,
        })
        .collect()
}

/// The target alone: its classical labels, zero in every other task.
pub(crate) fn alone_labels(cells: &Cells, target: usize) -> Vec<f64> {
    let range = cells.of_task(target);
    let mut labels = classical_labels(cells, target);
    (0..labels.len())
        .filter(|cell| !range.contains(cell))
        .for_each(|cell| labels[cell] = 0.0);
    labels
}

/// The label scores of least expected cost, of unit norm, with their threshold. `weights` are prior
/// times cost of each class.
///
/// Equal covariances: y = S⁺ (μ_1 - μ_2), the k exact null directions of S (task shifts) left out.
/// Unequal ones: at the best threshold both weighted densities are equal, and there the cost is
/// stationary in y where
///
/// ```text
///  [ (m_1 - ζ)/C_1 S_1 + (ζ - m_2)/C_2 S_2 ] y = μ_1 - μ_2.
/// ```
///
/// One search over the ratio of the two coefficients finds y. One of them is negative where ζ lies
/// beyond a mean, as it does for very unequal priors or variances: positive ones alone may lose nearly
/// all that there is to gain over deciding always for one class.
pub fn optimal_labels(moments: &Moments, weights: [f64; 2], noise: f64) -> BinaryRule {
    let label_scores = least_cost_labels(moments, noise, |law| {
        law.cost(weights, law.threshold(weights))
    });
    BinaryRule {
        threshold: ScoreLaw::new(moments, &label_scores, noise).threshold(weights),
        label_scores,
    }
}

/// The labels, of unit norm, of least `cost`, a function of m_1 - m_2 and both variances that does not
/// grow with the first.
///
/// It is stationary in y where (t_1 S_1 + t_2 S_2) y is parallel to μ_1 - μ_2, t being its slopes with
/// respect to the variances: one of the directions of a pencil.
pub(super) fn least_cost_labels(
    moments: &Moments,
    noise: f64,
    cost: impl Fn(&ScoreLaw) -> f64,
) -> Vec<f64> {
    let c = moments.mean.ncols();
    let difference = Mat::from_fn(c, 1, |cell, _| {
        moments.mean[(0, cell)] - moments.mean[(1, cell)]
    });
    let (s1, s2) = (&moments.covariance[0], &moments.covariance[1]);
    if !moments.has_equal_covariances()
        && let Some(pencil) = Pencil::new(s1, s2, &difference)
    {
        return normalised(pencil.least_cost(noise, cost));
    }
    let mean = Mat::from_fn(c, c, |i, j| 0.5 * (s1[(i, j)] + s2[(i, j)]));
    normalised(pseudo_solve(mean.as_ref(), difference.as_ref()))
}

fn normalised(vector: Mat<f64>) -> Vec<f64> {
    let norm = vector.norm_l2();
    vector
        .col(0)
        .iter()
        .map(|x| if norm > 0.0 { x / norm } else { *x })
        .collect()
}
