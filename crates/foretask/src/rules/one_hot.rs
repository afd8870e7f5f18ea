//! One score per class, all label scores chosen together.
//!
//! Column j of Y (C x m) holds the label scores of class j, and the class of the largest class score
//! φ·Y_j + o_j is chosen. With equal covariances the best Y is closed-form (`docs/5-many-classes.md#one-hot`): it
//! is the linear
//! discriminant in the space of responses, which no other Y beats.

use faer::Mat;

use super::averages::{average, centre, shares};
use crate::data::Cells;
use crate::decision::{Discriminant, Form};
use crate::moments::Moments;
use crate::numerics::pseudo_solve;

/// The classical labels: column c is one on every cell that stands for class c, zero elsewhere.
pub fn classical(cells: &Cells, target: usize) -> Discriminant {
    let aligned = cells.aligned(target);
    let classes = cells.of_task(target).len();
    Discriminant {
        label_scores: Mat::from_fn(cells.len(), classes, |cell, class| {
            f64::from(u8::from(aligned[cell] == Some(class)))
        }),
        form: Form::Linear {
            offsets: vec![0.0; classes],
        },
    }
}

/// The label scores of least expected error for equal covariances, Y_j = S⁺ (μ_j - μ̄), with offsets
/// ln π_j - ½ (μ_j + μ̄)·Y_j that make the class scores log-posteriors, up to a constant per sample.
///
/// S is the average covariance and μ̄ the average mean, weighted by the priors. Y_j - Y_l is the optimal
/// label vector of the pair j, l ([`super::binary::optimal_labels`]).
pub fn optimal(moments: &Moments, priors: &[f64]) -> Discriminant {
    let shares = shares(priors);
    let (m, c) = moments.mean.shape();
    let centre = centre(&moments.mean, &shares);
    let contrasts = Mat::from_fn(c, m, |cell, class| {
        moments.mean[(class, cell)] - centre[cell]
    });
    let s = average(&moments.covariance, &shares);
    let label_scores = pseudo_solve(s.as_ref(), contrasts.as_ref());
    let offsets = (0..m)
        .map(|class| {
            let midway = |cell: usize| centre[cell] + 0.5 * contrasts[(cell, class)];
            let at_midway: f64 = (0..c)
                .map(|cell| midway(cell) * label_scores[(cell, class)])
                .sum();
            shares[class].ln() - at_midway
        })
        .collect();
    Discriminant {
        label_scores,
        form: Form::Linear { offsets },
    }
}
