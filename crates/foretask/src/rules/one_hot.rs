//! One score per class, all label scores chosen together.
//!
//! Column j of Y (C x m) holds the label scores of class j, and the class of the largest class score
//! φ·Y_j + o_j is chosen. With equal covariances the best Y is closed-form (THEORY 6): it is the linear
//! discriminant in the space of responses, which no other Y beats. With unequal ones [`search`] may.

use std::collections::VecDeque;

use faer::{Accum, ColRef, Mat, MatRef};
use rayon::prelude::*;

use super::bayes::{Whitened, average, centre, shares};
use super::{Discriminant, Form};
use crate::cells::Cells;
use crate::dense;
use crate::forecast::argmax;
use crate::gaussian::normal_points;
use crate::moments::Moments;

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
    let label_scores = dense::pseudo_solve(s.as_ref(), contrasts.as_ref());
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

/// The search goes through these stages, each from the end of the one before.
///
/// Temperatures are in units of the log-posterior: a high one has no bad local optima but blurs the
/// loss by as much as it smooths it, a low one leaves a loss that depends on fewer of the points, so
/// that more are needed.
const STAGES: [Stage; 3] = [
    Stage {
        temperature: 0.5,
        points: SEARCHED >> 4,
        steps: 30,
    },
    Stage {
        temperature: 0.25,
        points: SEARCHED >> 2,
        steps: 30,
    },
    Stage {
        temperature: 0.125,
        points: SEARCHED,
        steps: 30,
    },
];
/// Points per class of the search: with fewer it fits their accidents (a tenth of a per cent of errors
/// is lost to them for m = 10, C = 20).
const SEARCHED: usize = 1 << 14;
/// Other points per class, that judge its result.
const JUDGED: usize = 1 << 16;
/// A result replaces the start if it is better by so many standard errors of the judgement.
const CLEARLY: f64 = 3.0;

struct Stage {
    temperature: f64,
    points: usize,
    steps: usize,
}

/// Searches for label scores and offsets that maximise Σ_j w_j P(correct | class j), where `noise`
/// multiplies the covariances ([`crate::moments::centre_noise`]).
///
/// Fixed points stand for the Gaussian laws of the classes, in coordinates in which the average
/// covariance is the identity; the loss is 1 - softmax(scores/T)_j with falling T, minimised by L-BFGS.
/// The result is judged on points of its own: `start` is returned unless it is clearly better, and
/// always if `start` is not linear. For equal covariances [`optimal`] cannot be improved on.
///
/// Cost: some 2²⁰ m² C multiplications, a second or two for m = 10 and C = 20.
pub fn search(
    moments: &Moments,
    weights: &[f64],
    noise: f64,
    start: &Discriminant,
) -> Discriminant {
    let Form::Linear { offsets } = &start.form else {
        return start.clone();
    };
    let shares = shares(weights);
    let white = Whitened::new(moments, &shares);
    let dimension = white.basis.ncols();
    let centre = centre(&white.mean, &shares);
    let classes = offsets.len();
    // The size of the closed form's label scores: with them the scores are log-posteriors.
    let size = (0..classes)
        .flat_map(|class| (0..dimension).map(move |i| (class, i)))
        .map(|(class, i)| (white.mean[(class, i)] - centre[i]).powi(2))
        .sum::<f64>()
        .sqrt();
    let mut parameters = parameters(moments, &white, &centre, &shares, start, offsets);
    let length = norm_of_slopes(&parameters, dimension);
    // A class of weight zero may have an infinite offset.
    let finite = parameters.iter().all(|x| x.is_finite());
    if !(finite && size > 0.0 && length > 0.0) {
        return start.clone();
    }
    parameters.iter_mut().for_each(|x| *x *= size / length);

    let normal = normal_points(dimension, SEARCHED + JUDGED);
    let spectra = white.spectra(moments);
    let factors: Vec<Mat<f64>> = spectra.iter().map(|spectrum| spectrum.factor()).collect();
    let judge = Judge {
        moments,
        white: &white,
        factors: &factors,
        normal: normal.submatrix(SEARCHED, 0, JUDGED, dimension),
        noise,
        shares: &shares,
    };
    for stage in STAGES {
        let normal = normal.submatrix(0, 0, stage.points, dimension);
        let loss = Loss {
            points: (0..classes)
                .map(|class| {
                    let mut points = drawn(&factors[class], normal, noise);
                    for i in 0..dimension {
                        let shift = white.mean[(class, i)] - centre[i];
                        points.row_mut(i).iter_mut().for_each(|x| *x += shift);
                    }
                    points
                })
                .collect(),
            shares: &shares,
            size,
            temperature: stage.temperature,
        };
        descend(&mut parameters, 0.1 * size, stage.steps, |x| loss.at(x));
    }
    let found = discriminant(&parameters, &white, &centre, size);
    if judge.prefers(&found, start) {
        found
    } else {
        start.clone()
    }
}

/// Column l of the (d + 1) x m parameters: the slopes of class score l in whitened coordinates about
/// the centre, and its value there. A constant common to all classes decides nothing and is left out.
fn parameters(
    moments: &Moments,
    white: &Whitened,
    centre: &[f64],
    shares: &[f64],
    start: &Discriminant,
    offsets: &[f64],
) -> Vec<f64> {
    let (d, m) = (centre.len(), offsets.len());
    let slopes = dense::times(white.dual.transpose(), start.label_scores.as_ref());
    let means = dense::times(moments.mean.as_ref(), start.label_scores.as_ref());
    let mut parameters = Vec::with_capacity((d + 1) * m);
    for l in 0..m {
        parameters.extend(slopes.col(l).iter());
        let at_centre: f64 = (0..m).map(|j| shares[j] * means[(j, l)]).sum();
        parameters.push(at_centre + offsets[l]);
    }
    for i in 0..=d {
        let common = (0..m).map(|l| parameters[l * (d + 1) + i]).sum::<f64>() / m as f64;
        (0..m).for_each(|l| parameters[l * (d + 1) + i] -= common);
    }
    parameters
}

/// The rule of the parameters, its label scores of the closed form's size.
fn discriminant(parameters: &[f64], white: &Whitened, centre: &[f64], size: f64) -> Discriminant {
    let d = centre.len();
    let columns: Vec<&[f64]> = parameters.chunks_exact(d + 1).collect();
    let scale = size / norm_of_slopes(parameters, d);
    let slopes = Mat::from_fn(d, columns.len(), |i, l| scale * columns[l][i]);
    let offsets = columns
        .iter()
        .map(|column| {
            scale * (column[d] - column.iter().zip(centre).map(|(a, u)| a * u).sum::<f64>())
        })
        .collect();
    Discriminant {
        label_scores: dense::times(white.basis.as_ref(), slopes.as_ref()),
        form: Form::Linear { offsets },
    }
}

fn norm_of_slopes(parameters: &[f64], dimension: usize) -> f64 {
    parameters
        .chunks_exact(dimension + 1)
        .flat_map(|column| &column[..dimension])
        .map(|x| x * x)
        .sum::<f64>()
        .sqrt()
}

/// One column per point: √noise F ε, and a one for the constant.
fn drawn(factor: &Mat<f64>, normal: MatRef<'_, f64>, noise: f64) -> Mat<f64> {
    let d = factor.nrows();
    let mut points = Mat::full(d + 1, normal.nrows(), 1.0);
    dense::product(
        points.as_mut().submatrix_mut(0, 0, d, normal.nrows()),
        Accum::Replace,
        factor.as_ref(),
        normal.transpose(),
        noise.sqrt(),
    );
    points
}

/// The smoothed loss on the points of every class.
struct Loss<'a> {
    /// (d + 1) x points, one matrix per class.
    points: Vec<Mat<f64>>,
    shares: &'a [f64],
    /// Slopes are rescaled to this norm, or they would grow without end and leave nothing smooth.
    size: f64,
    temperature: f64,
}

impl Loss<'_> {
    /// The loss and its gradient.
    fn at(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let m = self.points.len();
        let d = parameters.len() / m - 1;
        let length = norm_of_slopes(parameters, d);
        let scale = self.size / (length * self.temperature);
        let matrix = MatRef::from_column_major_slice(parameters, d + 1, m);
        let parts: Vec<(f64, Mat<f64>)> = (0..m)
            .into_par_iter()
            .map(|class| {
                let points = self.points[class].as_ref();
                let weight = self.shares[class] / points.ncols() as f64;
                let mut scores = dense::times(matrix.transpose(), points);
                let correct: f64 = (0..points.ncols())
                    .map(|point| slopes_of_softmax(scores.col_as_slice_mut(point), class, scale))
                    .sum();
                let slopes = dense::times(points, scores.transpose());
                (weight * correct, faer::Scale(weight * scale) * slopes)
            })
            .collect();
        let mut gradient = vec![0.0; parameters.len()];
        for (_, part) in &parts {
            for l in 0..m {
                let column = gradient[l * (d + 1)..(l + 1) * (d + 1)].iter_mut();
                column.zip(part.col(l).iter()).for_each(|(g, x)| *g -= x);
            }
        }
        // The scale depends on the slopes too: d scale/dA = -scale A/|A|².
        let along: f64 = gradient.iter().zip(parameters).map(|(g, x)| g * x).sum();
        for (g, x) in gradient
            .chunks_exact_mut(d + 1)
            .zip(parameters.chunks_exact(d + 1))
        {
            let slopes = g[..d].iter_mut().zip(x);
            slopes.for_each(|(g, x)| *g -= along * x / (length * length));
        }
        (1.0 - parts.iter().map(|part| part.0).sum::<f64>(), gradient)
    }
}

/// p = softmax(scale s)_class; overwrites s by d p/d(scale s).
fn slopes_of_softmax(scores: &mut [f64], class: usize, scale: f64) -> f64 {
    /// exp of less than this is rounding next to exp(0), and most are less at a low temperature.
    const NOTHING: f64 = -37.0;
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for s in scores.iter_mut() {
        let exponent = scale * (*s - most);
        *s = if exponent > NOTHING {
            exponent.exp()
        } else {
            0.0
        };
        total += *s;
    }
    let p = scores[class] / total;
    scores.iter_mut().for_each(|s| *s *= -p / total);
    scores[class] += p;
    p
}

/// Points on which two rules are compared.
struct Judge<'a> {
    moments: &'a Moments,
    white: &'a Whitened,
    factors: &'a [Mat<f64>],
    normal: MatRef<'a, f64>,
    noise: f64,
    shares: &'a [f64],
}

impl Judge<'_> {
    /// Whether a linear rule is right clearly more often than another.
    fn prefers(&self, rule: &Discriminant, other: &Discriminant) -> bool {
        let (mut gain, mut variance) = (0.0, 0.0);
        let (after, before) = (self.correct(rule), self.correct(other));
        for ((after, before), share) in after.iter().zip(&before).zip(self.shares) {
            let weight = share / after.len() as f64;
            for (after, before) in after.iter().zip(before).filter(|(a, b)| a != b) {
                gain += weight * (f64::from(*after) - f64::from(*before));
                variance += weight * weight;
            }
        }
        gain > CLEARLY * variance.sqrt()
    }

    /// For each class, whether each point of it is decided rightly.
    fn correct(&self, rule: &Discriminant) -> Vec<Vec<bool>> {
        let means = dense::times(self.moments.mean.as_ref(), rule.label_scores.as_ref());
        let slopes = dense::times(self.white.dual.transpose(), rule.label_scores.as_ref());
        (0..self.factors.len())
            .into_par_iter()
            .map(|class| {
                let mut through = dense::times(self.factors[class].transpose(), slopes.as_ref());
                through *= faer::Scale(self.noise.sqrt());
                let noise = dense::times(through.transpose(), self.normal.transpose());
                let mean: Vec<f64> = means.row(class).iter().copied().collect();
                let mean = rule.form.class_scores(&mean);
                let decided = |noise: ColRef<'_, f64>| {
                    argmax(noise.iter().zip(&mean).map(|(noise, mean)| noise + mean))
                };
                noise
                    .col_iter()
                    .map(|noise| decided(noise) == class)
                    .collect()
            })
            .collect()
    }
}

/// Minimises by L-BFGS, in place: at most so many steps, the first of the given length.
fn descend(
    x: &mut Vec<f64>,
    first_step: f64,
    steps: usize,
    evaluate: impl Fn(&[f64]) -> (f64, Vec<f64>),
) {
    /// Pairs of steps and changes of gradient that stand for the curvature.
    const MEMORY: usize = 10;
    /// Armijo's share of the decrease foretold that a step must achieve.
    const DECREASE: f64 = 1e-4;
    /// Relative decrease below which a step is the last.
    const NEGLIGIBLE: f64 = 1e-7;
    const HALVINGS: usize = 20;

    let (mut value, mut gradient) = evaluate(x);
    let mut pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::with_capacity(MEMORY + 1);
    for _ in 0..steps {
        // The two loops: direction = -(inverse Hessian) gradient.
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut along = Vec::with_capacity(pairs.len());
        for (s, y, curvature) in pairs.iter().rev() {
            let a = dot(s, &direction) / curvature;
            add(&mut direction, -a, y);
            along.push(a);
        }
        let scale = match pairs.back() {
            Some((_, y, curvature)) => curvature / dot(y, y),
            None => first_step / dot(&gradient, &gradient).sqrt().max(f64::MIN_POSITIVE),
        };
        direction.iter_mut().for_each(|x| *x *= scale);
        for ((s, y, curvature), a) in pairs.iter().zip(along.iter().rev()) {
            let b = dot(y, &direction) / curvature;
            add(&mut direction, a - b, s);
        }

        let slope = dot(&gradient, &direction);
        if slope.is_nan() || slope >= 0.0 {
            return;
        }
        let mut step = 1.0;
        let accepted = (0..HALVINGS).find_map(|_| {
            let mut trial = x.clone();
            add(&mut trial, step, &direction);
            let (trial_value, trial_gradient) = evaluate(&trial);
            let enough = trial_value <= value + DECREASE * step * slope;
            step *= 0.5;
            enough.then_some((trial, trial_value, trial_gradient))
        });
        let Some((next, next_value, next_gradient)) = accepted else {
            return;
        };
        let s: Vec<f64> = next.iter().zip(x.iter()).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = next_gradient
            .iter()
            .zip(&gradient)
            .map(|(a, b)| a - b)
            .collect();
        let curvature = dot(&s, &y);
        let done = value - next_value <= NEGLIGIBLE * value.abs();
        (*x, value, gradient) = (next, next_value, next_gradient);
        if done {
            return;
        }
        if curvature > 0.0 {
            pairs.push_back((s, y, curvature));
            if pairs.len() > MEMORY {
                pairs.pop_front();
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
