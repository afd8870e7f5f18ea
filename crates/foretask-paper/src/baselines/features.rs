//! What the baselines do to features before they learn.

use faer::Mat;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{Labelled, Problem};
use crate::error::{Error, Result};

/// Does the work of a baseline on one thread.
///
/// Matrix products on several threads add up in another order, and the guesses of CDLS and the steps of
/// ILS make another answer of the last digit. Trials run side by side anyway. The thread is a new one with a
/// pool of itself, because a worker that waits for another pool would start the next trial meanwhile.
///
/// # Errors
/// That of the work, or that the thread could not be made.
pub(super) fn on_one_thread<T: Send>(
    baseline: &str,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    let failed = |what: String| Error::Baseline {
        baseline: baseline.to_owned(),
        what,
    };
    let in_pool = || {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread();
        let pool = pool.build().map_err(|error| failed(error.to_string()))?;
        pool.install(work)
    };
    std::thread::scope(|scope| scope.spawn(in_pool).join())
        .unwrap_or_else(|_| Err(failed("its thread ended early".to_owned())))
}

/// The rows of a problem, one matrix row each.
pub(super) struct Parts {
    pub source: Mat<f64>,
    pub target: Mat<f64>,
    pub test: Mat<f64>,
}

impl Parts {
    /// # Errors
    /// If lengths do not fit together or a class has no row in the source or in the target.
    pub fn of(problem: &Problem, baseline: &str) -> Result<Self> {
        let p = problem.features;
        let bad = |what: String| Error::Baseline {
            baseline: baseline.to_owned(),
            what,
        };
        for (name, Labelled { values, class }) in
            [("source", &problem.source), ("target", &problem.target)]
        {
            if p == 0 || values.len() != p * class.len() {
                return Err(bad(format!(
                    "the {name} has {} values, which is not {p} for each of its {} rows",
                    values.len(),
                    class.len()
                )));
            }
            if let Some(missing) = (0..problem.classes).find(|c| !class.contains(c)) {
                return Err(bad(format!(
                    "the {name} has no row of class {missing}; it needs one of every class"
                )));
            }
            if let Some(unknown) = class.iter().find(|&&class| class >= problem.classes) {
                return Err(bad(format!(
                    "the {name} has a row of class {unknown}, but there are only {} classes",
                    problem.classes
                )));
            }
        }
        if !problem.test.len().is_multiple_of(p) {
            return Err(bad(format!(
                "the test rows have {} values, which is no multiple of {p}",
                problem.test.len()
            )));
        }
        let matrix = |values: &[f64]| Mat::from_fn(values.len() / p, p, |i, j| values[i * p + j]);
        Ok(Self {
            source: matrix(&problem.source.values),
            target: matrix(&problem.target.values),
            test: matrix(&problem.test),
        })
    }

    /// The same with rows of length one; rows of zeros stay.
    pub fn unit_rows(mut self) -> Self {
        for rows in [&mut self.source, &mut self.target, &mut self.test] {
            let mut squares = vec![0.0; rows.nrows()];
            for column in rows.col_iter() {
                let entries = squares.iter_mut().zip(column.iter());
                entries.for_each(|(square, x)| *square += x * x);
            }
            for column in rows.col_iter_mut() {
                let entries = column.iter_mut().zip(&squares);
                entries
                    .filter(|(_, square)| **square > 0.0)
                    .for_each(|(x, square)| *x /= square.sqrt());
            }
        }
        self
    }
}

/// Mean and standard deviation of each feature.
pub(super) struct Standard {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl Standard {
    /// Those of some rows. A feature that is the same in all of them has deviation one.
    pub fn of(rows: &Mat<f64>) -> Self {
        let n = rows.nrows().max(1) as f64;
        let (mut mean, mut deviation) = (Vec::new(), Vec::new());
        for j in 0..rows.ncols() {
            let column = rows.col(j);
            let centre = column.iter().sum::<f64>() / n;
            let squares: f64 = column.iter().map(|x| (x - centre).powi(2)).sum();
            let spread = (squares / n).sqrt();
            mean.push(centre);
            deviation.push(if spread > ROUNDING * centre.abs() {
                spread
            } else {
                1.0
            });
        }
        Self { mean, deviation }
    }

    /// (x - mean)/deviation.
    pub fn apply(&self, rows: &mut Mat<f64>) {
        for j in 0..rows.ncols() {
            for i in 0..rows.nrows() {
                rows[(i, j)] = (rows[(i, j)] - self.mean[j]) / self.deviation[j];
            }
        }
    }
}

/// Subtracts the mean row.
pub(super) fn centre(rows: &mut Mat<f64>) {
    for j in 0..rows.ncols() {
        let mean = rows.col(j).iter().sum::<f64>() / rows.nrows().max(1) as f64;
        rows.col_mut(j).iter_mut().for_each(|x| *x -= mean);
    }
}

/// Rows under each other.
pub(super) fn stacked(parts: &[&Mat<f64>]) -> Mat<f64> {
    let columns = parts.first().map_or(0, |part| part.ncols());
    let mut all = Mat::zeros(parts.iter().map(|part| part.nrows()).sum(), columns);
    let mut start = 0;
    for part in parts {
        all.subrows_mut(start, part.nrows()).copy_from(part);
        start += part.nrows();
    }
    all
}

/// The values row after row, each followed by `extra`.
pub(super) fn flat(rows: &Mat<f64>, extra: Option<f64>) -> Vec<f64> {
    (0..rows.nrows())
        .flat_map(|i| rows.row(i).iter().copied().chain(extra))
        .collect()
}

/// An orthonormal basis (p x d) of the `count` directions in which centred rows vary most; fewer if there are
/// fewer rows or features.
///
/// By subspace iteration from a fixed start: each pass costs one product with the rows and one with their
/// transpose, and the last directions, which differ little in what they explain, are approximate.
///
/// # Errors
/// If the eigenvalues cannot be computed, which finite values do not let happen.
pub(super) fn principal(rows: &Mat<f64>, count: usize) -> Result<Mat<f64>> {
    let most = rows.nrows().saturating_sub(1).min(rows.ncols());
    let (count, block) = (count.min(most), (count + EXTRA_DIRECTIONS).min(most));
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut basis = Mat::from_fn(rows.ncols(), block, |_, _| {
        StandardNormal.sample(&mut random)
    });
    for _ in 0..SUBSPACE_PASSES {
        let image: Mat<f64> = rows.transpose() * (rows * &basis);
        basis = image.qr().compute_thin_Q();
    }
    let image = rows * &basis;
    let small = image.transpose() * &image;
    let eigen = small
        .self_adjoint_eigen(faer::Side::Lower)
        .map_err(|error| Error::Components(format!("{error:?}")))?;
    // Ascending.
    let leading = eigen.U().subcols(block - count, count);
    Ok(basis * leading.reverse_cols())
}

/// Deviations below this share of the mean are rounding.
const ROUNDING: f64 = 1e-12;
/// Directions carried along so that the wanted ones converge.
const EXTRA_DIRECTIONS: usize = 20;
/// After four passes what is left of a direction with half the variance of the last wanted one is 2⁻⁴ of it,
/// and the subspace is used, not single directions.
const SUBSPACE_PASSES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_directions_are_those_of_a_known_covariance() {
        // Rows ± s_j e_j rotated by 30 degrees in the plane of the first two features.
        let (cos, sin) = (0.75_f64.sqrt(), 0.5);
        let scales = [5.0, 3.0, 0.5, 0.1];
        let mut rows = Mat::zeros(8, 4);
        for (j, scale) in scales.iter().enumerate() {
            for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
                match j {
                    0 => (rows[(k, 0)], rows[(k, 1)]) = (sign * scale * cos, sign * scale * sin),
                    1 => {
                        rows[(2 + k, 0)] = -sign * scale * sin;
                        rows[(2 + k, 1)] = sign * scale * cos;
                    }
                    _ => rows[(2 * j + k, j)] = sign * scale,
                }
            }
        }
        let basis = principal(&rows, 2).unwrap();
        assert_eq!((basis.nrows(), basis.ncols()), (4, 2));
        let expected = [[cos, sin], [-sin, cos]];
        for (i, axis) in expected.iter().enumerate() {
            let along = axis[0] * basis[(0, i)] + axis[1] * basis[(1, i)];
            assert!((along.abs() - 1.0).abs() < 1e-12, "{i}: {along}");
        }
    }

    #[test]
    fn a_constant_feature_is_only_centred() {
        let mut rows = Mat::from_fn(3, 2, |i, j| if j == 0 { 0.1 } else { i as f64 });
        let standard = Standard::of(&rows);
        standard.apply(&mut rows);
        assert!((0..3).all(|i| rows[(i, 0)].abs() < 1e-15));
        assert!((rows[(2, 1)] - 1.5_f64.sqrt()).abs() < 1e-15);
    }
}
