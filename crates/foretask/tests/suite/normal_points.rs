//! Quantiles of the normal distribution, quasi-random normal points, factors of covariances.

use super::common;

use common::generate::cases;
use faer::Mat;
use foretask::numerics::normal::{cumulative, density, tail, upper_quantile};
use foretask::numerics::points::{factor, normal_points};
use proptest::collection::vec;
use proptest::prelude::*;

/// (p, x with Q(x) = p), by mpmath 1.3 with 40 digits: `findroot(lambda x: log(erfc(x/sqrt(2))/2/p), x0)`.
const QUANTILES: [(f64, f64); 11] = [
    (1e-300, 37.0470962993612),
    (1e-50, 14.933337534788489),
    (1e-20, 9.262340089798407),
    (1e-12, 7.034483825301132),
    (1e-6, 4.753424308822899),
    (0.01, 2.326347874040841),
    (0.075, 1.439531470938456),
    (0.2, 0.8416212335729142),
    (0.4999, 0.00025066283008800747),
    (0.7, -0.5244005127080407),
    (0.999, -3.090232306167813),
];

#[test]
fn quantiles_are_the_golden_ones() {
    for (p, expected) in QUANTILES {
        let x = upper_quantile(p);
        assert!((x / expected - 1.0).abs() < 2e-15, "{p}: {x}");
    }
    assert_eq!(upper_quantile(0.0), f64::INFINITY);
    assert_eq!(upper_quantile(1.0), f64::NEG_INFINITY);
    assert_eq!(upper_quantile(0.5), 0.0);
    assert!(upper_quantile(5e-324).is_finite());
    assert!(upper_quantile(-1e-9).is_nan() && upper_quantile(f64::NAN).is_nan());
}

#[test]
fn quantiles_invert_the_tail() {
    for step in -500..=3750 {
        let x = 0.01 * f64::from(step);
        // Below the median a tail near one has lost digits: its rounding over the density.
        let lost = if x < 0.0 { 2e-16 / density(x) } else { 0.0 };
        let back = upper_quantile(tail(x));
        assert!(
            (back - x).abs() <= 1e-14 * x.abs().max(1.0) + lost,
            "{x}: {back}"
        );
    }
}

/// The covariance a aᵀ.
fn outer(a: &Mat<f64>) -> Mat<f64> {
    a * a.transpose()
}

/// Sample moments of normal points.
fn second_moments(points: &Mat<f64>) -> Mat<f64> {
    let mut moments = points.transpose() * points;
    let count = points.nrows() as f64;
    moments
        .col_iter_mut()
        .for_each(|column| column.iter_mut().for_each(|x| *x /= count));
    moments
}

#[test]
fn normal_points_are_centred_and_independent() {
    let points = normal_points(20, 8192);
    for column in points.col_iter() {
        assert!(column.iter().sum::<f64>().abs() / 8192.0 < 1e-15);
        // Shares below some levels, far better than the 0.005 of random points.
        for level in [-2.0, -0.5, 0.0, 1.0] {
            let share = column.iter().filter(|x| **x < level).count() as f64 / 8192.0;
            assert!((share - cumulative(level)).abs() < 5e-4, "{level}: {share}");
        }
    }
    let off = second_moments(&points) - Mat::<f64>::identity(20, 20);
    // Random points would be off by 0.03 somewhere among 210.
    assert!(off.norm_max() < 0.01, "{}", off.norm_max());
    assert_eq!(points, normal_points(20, 8192));
}

#[test]
fn normal_points_go_on_past_the_tables() {
    // 256 dimensions, 65,536 points; random beyond the first, scrambled anew beyond the second.
    let wide = normal_points(260, 4096);
    let off = second_moments(&wide) - Mat::<f64>::identity(260, 260);
    // Correlations of random points have deviation 1/64. There are 1034 of them here.
    let worst = off.subcols(256, 4).norm_max();
    assert!(worst < 5.0 / 64.0, "{worst}");
    // Those of Sobol's are smaller on average, though not one by one.
    let typical = off.submatrix(0, 0, 256, 256).norm_l2() / 256.0;
    assert!(typical < 0.5 / 64.0, "{typical}");
    let long = normal_points(2, 70_000);
    assert!((second_moments(&long) - Mat::<f64>::identity(2, 2)).norm_max() < 1e-3);
    let again = (0..4_464)
        .filter(|&i| long[(i, 0)] == long[(65_536 + i, 0)])
        .count();
    assert_eq!(again, 0);
    assert_eq!(normal_points(3, 0).nrows(), 0);
    assert_eq!(normal_points(0, 5).ncols(), 0);
    assert_eq!(normal_points(2, 1), Mat::<f64>::zeros(1, 2));
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn factors_have_the_covariance_and_its_rank(a in vec(-1.0..1.0_f64, 12), rank in 1..=3_usize) {
        let a = Mat::from_fn(4, rank, |i, j| a[3 * i + j]);
        let covariance = outer(&a);
        let factor = factor(covariance.as_ref());
        prop_assert_eq!(factor.ncols(), rank);
        prop_assert!((outer(&factor) - &covariance).norm_max() < 1e-14);
        let points = normal_points(rank, 4096) * factor.transpose();
        prop_assert!((second_moments(&points) - &covariance).norm_max() < 0.02);
    }
}

#[test]
fn factors_of_nothing_are_empty() {
    assert_eq!(factor(Mat::zeros(3, 3).as_ref()).ncols(), 0);
    assert_eq!(factor(Mat::full(3, 3, f64::NAN).as_ref()).ncols(), 0);
    assert_eq!(factor(Mat::zeros(0, 0).as_ref()).ncols(), 0);
}
