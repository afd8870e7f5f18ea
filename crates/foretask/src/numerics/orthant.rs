//! The probability that every component of a Gaussian vector is positive.
//!
//! With x = mean + L y, y of independent N(0, 1) and L lower triangular, x > 0 is a chain of bounds:
//! given y_1, …, y_{j-1} the next variable is above low_j and, where components depend on each other,
//! below high_j. Genz's transform draws each variable within its bounds, so that
//!
//! ```text
//! P(x > 0) = E Π_j p_j,  p_j = Φ(high_j) - Φ(low_j),  y_j = Φ⁻¹(Φ(low_j) + u_j p_j),  u_j uniform
//! ```
//!
//! is the mean of a smooth function over a cube of one dimension less than the rank of the covariance:
//! the last factor needs no draw. Variables come in the order of Genz and Bretz, the least probable
//! first. The mean is over Sobol points of several independent scramblings, whose spread tells the
//! error. One and two dimensions have closed forms. A point costs one tail, one quantile and d/2
//! multiplications per dimension.

use std::f64::consts::PI;

use faer::{Mat, MatRef};
use owens_t::owens_t;

use super::normal::{density, tail, upper_quantile};
use super::points::Uniform;

/// A probability, and by how much it may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orthant {
    /// Between 0 and 1.
    pub probability: f64,
    /// Rounding, and four standard errors of the points where there are any; 1 if nothing is known.
    pub error: f64,
}

/// P(N(mean, covariance) > 0 in every component).
///
/// Only the lower triangle of the covariance is read, which may be singular. A component without
/// variance is its mean, and zero is not positive; an infinite mean is certain. In three dimensions and
/// more points are doubled until the error is within `tolerance`, from 2,048 to 524,288; no tolerance is
/// asked of fewer dimensions, where the error is of rounding. A NaN, an infinite covariance or sizes
/// that differ have probability ½ with error 1.
///
/// ```
/// use foretask::normal::orthant;
/// // Correlations ½ and means zero: each of d + 1 equal classes is as likely to be chosen.
/// let covariance = faer::Mat::<f64>::from_fn(4, 4, |i, j| if i == j { 2.0 } else { 1.0 });
/// let chosen = orthant(&[0.0; 4], covariance.as_ref(), 1e-4);
/// assert!(chosen.error <= 1e-4 && (chosen.probability - 0.2).abs() <= chosen.error);
/// ```
pub fn orthant(mean: &[f64], covariance: MatRef<'_, f64>, tolerance: f64) -> Orthant {
    let d = mean.len();
    let known = covariance.nrows() == d
        && covariance.ncols() == d
        && !mean.iter().any(|m| m.is_nan())
        && (0..d).all(|j| (j..d).all(|i| covariance[(i, j)].is_finite()));
    if !known {
        return Orthant {
            probability: 0.5,
            error: 1.0,
        };
    }
    let mut components = Vec::with_capacity(d);
    for (i, &m) in mean.iter().enumerate() {
        let deviation = covariance[(i, i)].max(0.0).sqrt();
        if m <= 0.0 && (deviation == 0.0 || m < -FARTHEST * deviation) {
            return Orthant {
                probability: 0.0,
                error: 0.0,
            };
        }
        if deviation > 0.0 && m <= CERTAIN * deviation {
            components.push((i, deviation));
        }
    }
    let levels: Vec<f64> = components.iter().map(|&(i, s)| mean[i] / s).collect();
    let correlation = Mat::from_fn(levels.len(), levels.len(), |a, b| {
        let ((i, s), (j, t)) = (components[a], components[b]);
        (covariance[(i.max(j), i.min(j))] / s / t).clamp(-1.0, 1.0)
    });
    let (probability, error) = match levels[..] {
        [] => (1.0, 0.0),
        [level] => (tail(-level), rounding(correlation.as_ref(), 0.0)),
        [first, second] => (
            quadrant(-first, -second, correlation[(1, 0)]),
            rounding(correlation.as_ref(), 0.0),
        ),
        _ => {
            let (chain, dropped) = chain(&levels, correlation.as_ref());
            let rounding = rounding(correlation.as_ref(), dropped);
            let (probability, spread) = integrate(&chain, tolerance - rounding);
            (probability, spread + rounding)
        }
    };
    Orthant { probability, error }
}

/// Q(38) = 3e-316, where doubles end: less is impossible.
const FARTHEST: f64 = 38.0;
/// Q(9) = 1e-19 is nothing beside one: more is certain.
const CERTAIN: f64 = 9.0;

/// What rounding may do to the probability, when entries of the correlation matrix have moved by
/// `dropped` besides.
///
/// By Plackett's identity a correlation ρ moves it by at most 1/(2π √(1 - ρ²)), a mean by less.
fn rounding(correlation: MatRef<'_, f64>, dropped: f64) -> f64 {
    let d = correlation.nrows();
    let own = d as f64 * f64::EPSILON;
    let moved = own + dropped;
    let pairs = (0..d).flat_map(|j| (j + 1..d).map(move |i| (i, j)));
    own + pairs
        .map(|(i, j)| {
            let rho = correlation[(i, j)].abs();
            moved / (2.0 * PI * ((1.0 - rho) * (1.0 + rho)).max(moved).sqrt())
        })
        .sum::<f64>()
}

/// P(x > h, y > k) for standard normal x and y of correlation ρ, by Owen's function T:
///
/// ```text
/// ½ (Q(h) + Q(k)) - T(h, (k - ρh)/(h √(1-ρ²))) - T(k, (h - ρk)/(k √(1-ρ²))) - ½ [h < 0 ≤ k or k < 0 ≤ h]
/// ```
fn quadrant(h: f64, k: f64, rho: f64) -> f64 {
    if rho >= 1.0 {
        return tail(h.max(k));
    }
    if rho <= -1.0 {
        return (tail(h) - tail(-k)).max(0.0);
    }
    // Quotients by less would overflow.
    let [h, k] = [h, k].map(|x| if x.abs() < 1e-200 { 0.0 } else { x });
    if h == 0.0 && k == 0.0 {
        return 0.25 + rho.asin() / (2.0 * PI);
    }
    // k - ρh as (k - h) + (1 - ρ) h, which does not cancel where it is small because ρ is near one.
    let sign = 1.0_f64.copysign(rho);
    let short = 1.0 - rho.abs();
    let root = (short * (1.0 + rho.abs())).sqrt();
    let owen = |h: f64, k: f64| {
        if h == 0.0 {
            0.25_f64.copysign(k)
        } else {
            owens_t(h, ((k - sign * h) + sign * short * h) / (h * root))
        }
    };
    let opposed = if (h < 0.0) == (k < 0.0) { 0.0 } else { 0.5 };
    (0.5 * (tail(h) + tail(k)) - owen(h, k) - owen(k, h) - opposed).clamp(0.0, 1.0)
}

/// A bound that one component sets to a variable, given those before it.
struct Bound {
    side: Side,
    /// The mean of the component, over its coefficient of the variable.
    level: f64,
    /// Its coefficients of the variables before, over the same.
    weights: Vec<f64>,
}

/// Which bound of a variable: y > -(level + weights · before), or y < level + weights · before.
#[derive(Clone, Copy)]
enum Side {
    Low,
    High,
}

/// The bounds of one variable; there may be none.
type Variable = Vec<Bound>;

/// A component with so little of its variance left depends on the variables before. The probability may
/// be wrong by 5e-6 for it, which its error tells; rounding, in which small variances drown, does less.
const DEPENDENT: f64 = 1e-9;
/// The root of that: the weight of a variable that is not depended on.
const NEGLIGIBLE: f64 = 3e-5;
/// A component is nearly dependent on a variable if it has at most this share of what the variable
/// adds to its variance left. On random problems anything from 0.01 to 0.1 does as well.
const NEAR: f64 = 0.05;

/// The variables in order with the bounds that components set to them, and the largest variance that was
/// dropped.
///
/// This is a Cholesky factorisation with pivots. The next variable is that of the component which,
/// given the expected values of the variables before, is least probably positive. Components nearly
/// dependent on it bound it too, and what is left of them are variables without bounds that are drawn
/// before it: bounded themselves, their probability would be all but a step, and points would miss what
/// lies in a narrow corner behind it.
fn chain(levels: &[f64], correlation: MatRef<'_, f64>) -> (Vec<Variable>, f64) {
    let d = levels.len();
    let mut factor = Factor {
        correlation,
        weights: Mat::zeros(d, d),
        variance: vec![1.0; d],
        columns: 0,
    };
    let mut order = Vec::with_capacity(d);
    let mut centre = levels.to_vec();
    let mut left: Vec<usize> = (0..d).collect();
    while let Some(pivot) = left.iter().copied().min_by(|&a, &b| {
        let standardised = |i: usize| centre[i] / factor.variance[i].sqrt();
        standardised(a).total_cmp(&standardised(b))
    }) {
        let own = factor.columns;
        factor.eliminate(pivot, &left);
        let (mut near, rest): (Vec<usize>, Vec<usize>) = left.iter().partition(|&&i| {
            let added = factor.weights[(i, own)].powi(2);
            factor.variance[i] <= (NEAR * added).max(DEPENDENT)
        });
        near.sort_by(|&a, &b| factor.variance[b].total_cmp(&factor.variance[a]));
        for &i in &near {
            if factor.variance[i] > DEPENDENT {
                order.push(factor.columns);
                factor.eliminate(i, &left);
            }
        }
        order.push(own);
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        for &i in &near {
            let weight = factor.weights[(i, own)];
            if weight > NEGLIGIBLE {
                low = low.max(-centre[i] / weight);
            } else if weight < -NEGLIGIBLE {
                high = high.min(-centre[i] / weight);
            }
        }
        let expected = Interval::new(low, high).mean(low, high);
        left = rest;
        left.retain(|&i| factor.variance[i] > DEPENDENT);
        for &i in &left {
            centre[i] += factor.weights[(i, own)] * expected;
        }
    }
    factor.bounds(levels, &order)
}

/// Components as combinations of independent variables, one column each.
struct Factor<'a> {
    correlation: MatRef<'a, f64>,
    weights: Mat<f64>,
    /// What the columns so far leave of each component.
    variance: Vec<f64>,
    columns: usize,
}

impl Factor<'_> {
    /// A new column for what is left of `pivot`, and its share in what is left of the others.
    fn eliminate(&mut self, pivot: usize, left: &[usize]) {
        let column = self.columns;
        let root = self.variance[pivot].sqrt();
        self.weights[(pivot, column)] = root;
        self.variance[pivot] = 0.0;
        for &i in left {
            if self.variance[i] > DEPENDENT {
                let inner: f64 = (0..column)
                    .map(|k| self.weights[(i, k)] * self.weights[(pivot, k)])
                    .sum();
                let weight = (self.correlation[(i, pivot)] - inner) / root;
                self.weights[(i, column)] = weight;
                self.variance[i] -= weight * weight;
            }
        }
        self.columns += 1;
    }

    /// Every component bounds the last variable, in the `order` of columns, that it depends on.
    fn bounds(&self, levels: &[f64], order: &[usize]) -> (Vec<Variable>, f64) {
        let mut variables: Vec<Variable> = order.iter().map(|_| Variable::new()).collect();
        let mut dropped: f64 = 0.0;
        for (i, &level) in levels.iter().enumerate() {
            let weight = |position: usize| self.weights[(i, order[position])];
            // There is one: the squares of the weights add up to one.
            let Some(last) = (0..order.len()).rfind(|&at| weight(at).abs() > NEGLIGIBLE) else {
                continue;
            };
            dropped = dropped.max(
                self.variance[i]
                    .abs()
                    .max((last + 1..order.len()).map(|at| weight(at).powi(2)).sum()),
            );
            let own = weight(last);
            variables[last].push(Bound {
                side: if own > 0.0 { Side::Low } else { Side::High },
                level: level / own.abs(),
                weights: (0..last).map(|at| weight(at) / own.abs()).collect(),
            });
        }
        (variables, dropped)
    }
}

/// A variable between two bounds, mirrored if that is needed to have it in the upper tail, where Q is
/// accurate.
struct Interval {
    sign: f64,
    /// Q at the upper end.
    beyond: f64,
    /// The probability of the interval.
    mass: f64,
}

impl Interval {
    #[inline]
    fn new(low: f64, high: f64) -> Self {
        let (sign, low, high) = if low + high < 0.0 {
            (-1.0, -high, -low)
        } else {
            (1.0, low, high)
        };
        let beyond = if high < FARTHEST {
            quick_tail(high)
        } else {
            0.0
        };
        Self {
            sign,
            beyond,
            mass: (quick_tail(low) - beyond).max(0.0),
        }
    }

    /// The point with the share `u` of the mass on its far side.
    #[inline]
    fn at(&self, u: f64) -> f64 {
        self.sign * upper_quantile(self.beyond + u * self.mass).clamp(-FARTHEST, FARTHEST)
    }

    /// The mean of the variable within its bounds, or its median where that is too improbable to tell.
    fn mean(&self, low: f64, high: f64) -> f64 {
        if self.mass > f64::MIN_POSITIVE {
            ((density(low) - density(high)) / self.mass).clamp(-FARTHEST, FARTHEST)
        } else {
            self.at(0.5)
        }
    }
}

/// Q to an absolute 1e-15 in a third of the time of [`tail`]: Hart's rational approximation 5666 of
/// Q(x) exp(x²/2), for which see West, "Better approximations to cumulative normal functions" (2005).
#[inline]
fn quick_tail(x: f64) -> f64 {
    const ABOVE: [f64; 7] = [
        220.206867912376,
        221.213596169931,
        112.079291497871,
        33.912866078383,
        6.37396220353165,
        0.700383064443688,
        3.52624965998911e-2,
    ];
    const BELOW: [f64; 8] = [
        440.413735824752,
        793.826512519948,
        637.333633378831,
        296.564248779674,
        86.7807322029461,
        16.064177579207,
        1.75566716318264,
        8.83883476483184e-2,
    ];
    // Further out only the absolute error stays small.
    const WITHIN: f64 = 5.0;
    let size = x.abs();
    if size > WITHIN {
        return tail(x);
    }
    let above = ABOVE.iter().rev().fold(0.0, |sum, c| sum * size + c);
    let below = BELOW.iter().rev().fold(0.0, |sum, c| sum * size + c);
    let upper = (-0.5 * x * x).exp() * above / below;
    if x < 0.0 { 1.0 - upper } else { upper }
}

/// Independent scramblings.
const SCRAMBLINGS: u32 = 8;
/// The error is so many standard errors, and at least half of what it was with half the points: a
/// spread that is small by luck would end the work too soon. Random problems have exceeded it about once
/// in a thousand times.
const SPREAD: f64 = 4.0;
/// The fewest points of a scrambling; fewer may all miss a corner where the product falls.
const FEWEST: usize = 256;
/// The most: the length of the sequence.
const MOST: usize = 1 << 16;
/// Points that are worked at together.
const BLOCK: usize = 64;
/// Points are of 32 bits.
const RESOLUTION: f64 = 1.0 / (1_u64 << 32) as f64;

/// The mean of the product of probabilities, and its error.
fn integrate(chain: &[Variable], tolerance: f64) -> (f64, f64) {
    let draws = chain.len() - 1;
    let mut drawn = vec![[0.0; BLOCK]; draws];
    if draws == 0 {
        return (block(chain, &mut [], &mut drawn) / BLOCK as f64, 0.0);
    }
    let mut sequences: Vec<Vec<Uniform>> = (1..=SCRAMBLINGS)
        .map(|seed| (0..draws).map(|j| Uniform::new(j, seed)).collect())
        .collect();
    let mut sums = vec![0.0; sequences.len()];
    let (mut points, mut wanted) = (0, FEWEST / 2);
    let mut spread: f64 = 0.0;
    loop {
        for (sum, sequence) in sums.iter_mut().zip(&mut sequences) {
            for _ in (points..wanted).step_by(BLOCK) {
                *sum += block(chain, sequence, &mut drawn);
            }
        }
        points = wanted;
        let count = sums.len() as f64;
        let mean = sums.iter().sum::<f64>() / count;
        let squares: f64 = sums.iter().map(|sum| (sum - mean).powi(2)).sum();
        let standard_error = (squares / (count * (count - 1.0))).sqrt() / points as f64;
        spread = (SPREAD * standard_error).max(0.5 * spread);
        let error = spread + draws as f64 * RESOLUTION;
        if (error <= tolerance && points >= FEWEST) || points >= MOST {
            return (mean / points as f64, error);
        }
        wanted = 2 * points;
    }
}

/// The sum of the product over the next points of a sequence.
fn block(chain: &[Variable], sequence: &mut [Uniform], drawn: &mut [[f64; BLOCK]]) -> f64 {
    let mut product = [1.0; BLOCK];
    for (j, bounds) in chain.iter().enumerate() {
        let (before, now) = drawn.split_at_mut(j);
        let (mut low, mut high) = ([f64::NEG_INFINITY; BLOCK], [f64::INFINITY; BLOCK]);
        for bound in bounds {
            let mut at = [bound.level; BLOCK];
            for (weight, y) in bound.weights.iter().zip(before.iter()) {
                at.iter_mut().zip(y).for_each(|(at, y)| *at += weight * y);
            }
            match bound.side {
                Side::Low => low.iter_mut().zip(at).for_each(|(l, at)| *l = l.max(-at)),
                Side::High => high.iter_mut().zip(at).for_each(|(h, at)| *h = h.min(at)),
            }
        }
        let mut draw = now.first_mut().zip(sequence.get_mut(j));
        for point in 0..BLOCK {
            let interval = Interval::new(low[point], high[point]);
            product[point] *= interval.mass;
            if let Some((y, uniform)) = &mut draw {
                y[point] = interval.at(uniform.draw());
            }
        }
    }
    product.iter().sum()
}
