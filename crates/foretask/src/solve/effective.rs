//! How many independent errors a leave-one-out sum of squares holds
//! (`docs/4-when-to-trust-a-forecast.md#effective-number`).
//!
//! Q = I - 11ᵀ/n - Z R Zᵀ/(kp) makes residuals of labels; its diagonal is G, and leave-one-out errors are
//! D Q y with D = diag(1/G). For labels of independent signs their squares have a sum of mean tr M and variance
//! near 2 tr M², M = D Q² D, as a sum of
//!
//! ```text
//! ν = (tr M)²/tr M²
//! ```
//!
//! independent squares would. Where samples have weights w, all is of rows and labels times √w: 11ᵀ/n is √w √wᵀ/Σw,
//! and M = D Q diag(w) Q D. Near interpolation ν is small: all errors depend on a few residual directions,
//! and shrink together by luck.
//!
//! Up to [`HAT_ROWS`] rows Q is formed, which leaving out folds needs, too. Beyond [`EXPLICIT_ROWS`] both traces come
//! from [`PROBES`] vectors of signs, and beyond [`PROBED_ROWS`] ν is tr Q, which it comes near to where rows outnumber
//! what is fitted. Time n² r + n³ per coupling, or 8 n r times the probes.

use faer::{Accum, Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::block_tridiagonal::Shifted;
use super::leave_fold_out::HAT_ROWS;
use crate::data::Importance;
use crate::numerics::dense;

/// Up to here the traces are computed.
const EXPLICIT_ROWS: usize = 128;
/// Vectors of signs.
const PROBES: usize = 8;
/// Up to here ν is estimated.
pub(super) const PROBED_ROWS: usize = 2000;
/// G below this is taken for this.
const LEAST_LEFT: f64 = 1e-10;

/// The samples of a target at one γ.
pub(super) struct Residuals {
    /// Z̃ᵀ and F Z̃ᵀ, r x n.
    z: Mat<f64>,
    fz: Mat<f64>,
    g: f64,
    /// I - 11ᵀ/n - g Z̃ F Z̃ᵀ, where rows are few.
    alone: Option<Mat<f64>>,
    pub(super) probes: Probes,
    importance: Importance,
    /// The sum of the weights.
    total: f64,
}

/// Signs of the samples (n x probes), where they are many.
pub(super) struct Probes(Option<Mat<f64>>);

/// What makes residuals of labels at one coupling.
pub(super) enum Operator<'r> {
    Explicit(Mat<f64>),
    /// With λ > 0 the factor of I + λT and Qᵀ F Z̃ᵀ.
    Implicit(&'r Residuals, Option<(&'r Shifted, &'r Mat<f64>)>),
}

impl Residuals {
    pub(super) fn new(
        z: Mat<f64>,
        fz: Mat<f64>,
        g: f64,
        importance: Importance,
        total: f64,
    ) -> Self {
        let n = z.ncols();
        let alone = (n <= HAT_ROWS).then(|| {
            let mut q = Mat::from_fn(n, n, |i, j| unfitted(&importance, total, i, j));
            if g != 0.0 {
                dense::add_symmetric(q.as_mut(), z.transpose(), fz.as_ref(), -g);
                dense::mirror(&mut q);
            }
            q
        });
        let lengths: Vec<f64> = z.col_iter().map(|z| z.squared_norm_l2()).collect();
        Self {
            probes: Probes::new(&lengths),
            z,
            fz,
            g,
            alone,
            importance,
            total,
        }
    }

    /// Q at one coupling, from the factor of I + λT and Qᵀ F Z̃ᵀ where λ > 0; where it is formed also
    /// |L⁻¹ Qᵀ F z|² of every sample.
    pub(super) fn operator<'r>(
        &'r self,
        shared: Option<(&'r Shifted, &'r Mat<f64>)>,
    ) -> (Operator<'r>, Option<Vec<f64>>) {
        let Some(alone) = &self.alone else {
            return (Operator::Implicit(self, shared), None);
        };
        let mut q = alone.clone();
        let forms = shared.map(|(shifted, rotated)| {
            let mut solved = rotated.clone();
            shifted.forward(solved.as_mut());
            dense::add_outer(q.as_mut(), solved.transpose(), -shifted.lambda);
            dense::mirror(&mut q);
            solved.col_iter().map(|x| x.squared_norm_l2()).collect()
        });
        (Operator::Explicit(q), forms)
    }
}

impl Probes {
    /// For samples of these lengths.
    pub(super) fn new(lengths: &[f64]) -> Self {
        Self((lengths.len() > EXPLICIT_ROWS).then(|| signs(lengths)))
    }

    /// ν at one coupling, given Q and its diagonal.
    pub(super) fn effective_errors(
        &self,
        operator: &Operator<'_>,
        left: &[f64],
        importance: &Importance,
    ) -> f64 {
        let d: Vec<f64> = left.iter().map(|g| 1.0 / g.max(LEAST_LEFT)).collect();
        let n = d.len();
        let scaled = |v: &Mat<f64>| Mat::from_fn(n, v.ncols(), |i, j| d[i] * v[(i, j)]);
        let roots = importance.roots();
        let weigh = |v: Mat<f64>| match roots {
            None => v,
            Some(roots) => Mat::from_fn(n, v.ncols(), |i, j| roots[i] * v[(i, j)]),
        };
        let (trace, square) = match (&self.0, operator) {
            (None, Operator::Explicit(q)) => {
                let q = match roots {
                    None => scaled(q),
                    Some(roots) => Mat::from_fn(n, n, |i, j| d[i] * q[(i, j)] * roots[j]),
                };
                let m = dense::times(q.as_ref(), q.transpose());
                ((0..n).map(|i| m[(i, i)]).sum(), m.squared_norm_l2())
            }
            // Few rows have an explicit Q.
            (None, Operator::Implicit(..)) => return left.iter().sum::<f64>().max(1.0),
            (Some(signs), operator) => {
                let once = weigh(operator.times(&scaled(signs)));
                let (square, once) = (once.squared_norm_l2(), weigh(once));
                let twice = scaled(&operator.times(&once));
                (
                    square / PROBES as f64,
                    twice.squared_norm_l2() / PROBES as f64,
                )
            }
        };
        if square > 0.0 {
            (trace * trace / square).clamp(1.0, n as f64)
        } else {
            1.0
        }
    }
}

/// An entry of I - √w √wᵀ/Σw.
pub(super) fn unfitted(importance: &Importance, total: f64, i: usize, j: usize) -> f64 {
    f64::from(u8::from(i == j)) - importance.root(i) * importance.root(j) / total
}

impl Operator<'_> {
    /// The block of Q of some samples.
    pub(super) fn block(&self, members: &[usize]) -> Mat<f64> {
        let size = members.len();
        let (residuals, shared) = match self {
            Self::Explicit(q) => {
                return Mat::from_fn(size, size, |i, j| q[(members[i], members[j])]);
            }
            Self::Implicit(residuals, shared) => (residuals, shared),
        };
        let Residuals {
            importance, total, ..
        } = residuals;
        let of = |from: &Mat<f64>| Mat::from_fn(from.nrows(), size, |i, j| from[(i, members[j])]);
        let (z, fz) = (of(&residuals.z), of(&residuals.fz));
        let mut block = Mat::from_fn(size, size, |i, j| {
            unfitted(importance, *total, members[i], members[j])
        });
        dense::product(
            block.as_mut(),
            Accum::Add,
            z.transpose(),
            fz.as_ref(),
            -residuals.g,
        );
        if let Some((shifted, rotated)) = shared {
            let mut solved = of(rotated);
            shifted.forward(solved.as_mut());
            let solved = solved.as_ref();
            dense::product(
                block.as_mut(),
                Accum::Add,
                solved.transpose(),
                solved,
                -shifted.lambda,
            );
        }
        block
    }

    /// Q v.
    fn times(&self, v: &Mat<f64>) -> Mat<f64> {
        let (residuals, shared) = match self {
            Self::Explicit(q) => return dense::times(q.as_ref(), v.as_ref()),
            Self::Implicit(residuals, shared) => (residuals, shared),
        };
        let Residuals {
            importance, total, ..
        } = residuals;
        let mean = |v: faer::ColRef<'_, f64>| {
            let terms = v.iter().enumerate().map(|(i, x)| importance.root(i) * x);
            terms.sum::<f64>() / total
        };
        let means: Vec<f64> = v.col_iter().map(mean).collect();
        let mut result = Mat::from_fn(v.nrows(), v.ncols(), |i, j| {
            v[(i, j)] - importance.root(i) * means[j]
        });
        let mut subtract = |left: MatRef<'_, f64>, right: &Mat<f64>, factor: f64| {
            dense::product(
                result.as_mut(),
                Accum::Add,
                left.transpose(),
                right.as_ref(),
                -factor,
            );
        };
        subtract(
            residuals.z.as_ref(),
            &dense::times(residuals.fz.as_ref(), v.as_ref()),
            residuals.g,
        );
        if let Some((shifted, rotated)) = shared {
            let mut inner = dense::times(rotated.as_ref(), v.as_ref());
            shifted.solve(inner.as_mut());
            subtract(rotated.as_ref(), &inner, shifted.lambda);
        }
        result
    }
}

/// A sign for each sample and probe. Samples take them in the order of their lengths, so that the order of rows,
/// units and rotations of the features change nothing.
fn signs(lengths: &[f64]) -> Mat<f64> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by(|&a, &b| lengths[a].total_cmp(&lengths[b]));
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut signs = Mat::zeros(lengths.len(), PROBES);
    for sample in order {
        for probe in 0..PROBES {
            signs[(sample, probe)] = if random.random::<bool>() { 1.0 } else { -1.0 };
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, StandardNormal};

    fn drawn(rows: usize, columns: usize) -> Mat<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut random))
    }

    /// The target alone: R = g F, F = (I + g Z̃ᵀZ̃)⁻¹.
    fn alone(rows: usize, features: usize, g: f64) -> (Residuals, Vec<f64>) {
        let z = drawn(features, rows);
        let mut inverse = Mat::<f64>::identity(features, features);
        dense::product(inverse.as_mut(), Accum::Add, z.as_ref(), z.transpose(), g);
        let fz = dense::solve_general(inverse.as_ref(), z.as_ref());
        let left = (0..rows)
            .map(|l| {
                let form: f64 = z
                    .col(l)
                    .iter()
                    .zip(fz.col(l).iter())
                    .map(|(a, b)| a * b)
                    .sum();
                1.0 - g * form - 1.0 / rows as f64
            })
            .collect();
        let residuals = Residuals::new(z, fz, g, Importance::default(), rows as f64);
        (residuals, left)
    }

    fn effective(residuals: &Residuals, left: &[f64]) -> f64 {
        let (operator, _) = residuals.operator(None);
        let Residuals {
            probes, importance, ..
        } = residuals;
        probes.effective_errors(&operator, left, importance)
    }

    #[test]
    fn nothing_fitted_leaves_all_errors_but_the_mean() {
        let (residuals, left) = alone(40, 3, 1e-12);
        assert!((effective(&residuals, &left) - 39.0).abs() < 1e-6);
    }

    #[test]
    fn interpolation_leaves_few() {
        let few = |features: usize| {
            let (residuals, left) = alone(60, features, 1e4);
            effective(&residuals, &left)
        };
        // The rows less what 50 features take: 60 - 1 - 50.
        assert!((few(50) - 9.0).abs() < 3.0, "{}", few(50));
        assert!(few(50) < few(20));
    }

    #[test]
    fn probes_come_near_to_the_traces() {
        for g in [0.01, 1.0, 100.0] {
            let (probed, left) = alone(EXPLICIT_ROWS + 60, 100, g);
            let exact = Residuals {
                probes: Probes(None),
                z: probed.z.clone(),
                fz: probed.fz.clone(),
                alone: probed.alone.clone(),
                g,
                importance: Importance::default(),
                total: probed.total,
            };
            let implicit = Residuals {
                alone: None,
                z: probed.z.clone(),
                fz: probed.fz.clone(),
                probes: Probes(probed.probes.0.clone()),
                g,
                importance: Importance::default(),
                total: probed.total,
            };
            let (near, exact) = (effective(&probed, &left), effective(&exact, &left));
            assert!((near / exact - 1.0).abs() < 0.15, "{near} {exact}");
            let same = effective(&implicit, &left);
            assert!((near / same - 1.0).abs() < 1e-9, "{near} {same}");
        }
    }
}
