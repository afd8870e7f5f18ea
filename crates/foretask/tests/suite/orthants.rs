//! Orthant probabilities: golden values, invariants on random problems, and simulation.

use super::common;

use std::f64::consts::PI;

use common::generate::{cases, normals};
use common::golden::{array, load, matrix, numbers};
use faer::Mat;
use foretask::numerics::normal::{cumulative, density, tail};
use foretask::numerics::orthant::{Orthant, orthant};
use foretask::numerics::points::{factor, normal_points};
use proptest::collection::vec;
use proptest::prelude::*;

/// What the issue asks of three dimensions and more, up to twenty.
const TOLERANCE: f64 = 1e-4;
/// What it asks of one and two, whose probabilities have closed forms.
const EXACT: f64 = 1e-12;
/// The tolerance stated in `gaussian_helpers`.
const HELPERS: f64 = 1e-9;

/// The probability is `expected` within its error, which keeps the tolerance asked for. `slack` is the
/// accuracy of the expected value.
#[track_caller]
fn assert_covers(actual: Orthant, expected: f64, tolerance: f64, slack: f64) {
    let off = (actual.probability - expected).abs();
    assert!(
        actual.error <= tolerance && off <= actual.error + slack,
        "{actual:?} is {off:e} from {expected}"
    );
}

/// Covariance `one` off the diagonal and `one` + 1 on it.
fn equicorrelated(d: usize, one: f64) -> Mat<f64> {
    Mat::from_fn(d, d, |i, j| one + if i == j { 1.0 } else { 0.0 })
}

fn pair(rho: f64) -> Mat<f64> {
    Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { rho })
}

/// The covariance a aᵀ.
fn outer(a: &Mat<f64>) -> Mat<f64> {
    a * a.transpose()
}

/// x = mean + loading z + √noise e of independent normal z and e.
struct OneFactor {
    mean: Vec<f64>,
    loading: Vec<f64>,
    noise: Vec<f64>,
}

impl OneFactor {
    fn covariance(&self) -> Mat<f64> {
        Mat::from_fn(self.mean.len(), self.mean.len(), |i, j| {
            self.loading[i] * self.loading[j] + if i == j { self.noise[i] } else { 0.0 }
        })
    }

    fn orthant(&self, tolerance: f64) -> Orthant {
        orthant(&self.mean, self.covariance().as_ref(), tolerance)
    }

    /// ∫ φ(z) Π Φ((mean + loading z)/√noise) dz by the trapezoidal rule, whose error is below 1e-12 for
    /// slopes up to ten.
    fn probability(&self) -> f64 {
        const STEP: f64 = 0.01;
        (-1000..=1000)
            .map(|step| {
                let z = STEP * f64::from(step);
                let product: f64 = (0..self.mean.len())
                    .map(|i| {
                        cumulative((self.mean[i] + self.loading[i] * z) / self.noise[i].sqrt())
                    })
                    .product();
                STEP * density(z) * product
            })
            .sum()
    }
}

#[test]
fn no_dimension_is_certain_and_one_is_the_tail() {
    let empty = orthant(&[], Mat::zeros(0, 0).as_ref(), TOLERANCE);
    assert_eq!((empty.probability, empty.error), (1.0, 0.0));
    for (mean, variance) in [(0.0, 3.0), (1.3, 0.2), (-2.0, 1.0), (-30.0, 1.0)] {
        let covariance = Mat::full(1, 1, variance);
        let expected = tail(-mean / f64::sqrt(variance));
        let one = orthant(&[mean], covariance.as_ref(), TOLERANCE);
        assert!((one.probability / expected - 1.0).abs() < EXACT, "{one:?}");
        assert!(one.error < EXACT);
    }
}

/// (h, k, ρ, P(x > h, y > k)) by mpmath 1.3 with 40 digits:
/// `quad(lambda x: npdf(x) * erfc((k - rho*x)/sqrt(2*(1-rho)*(1+rho)))/2, cuts)` with cuts from h to 40
/// at every second integer and at k/ρ + {0, ±1, ±3, ±6, ±12, ±40} √(1-ρ²)/ρ.
const QUADRANTS: [(f64, f64, f64, f64); 17] = [
    (0.0, 0.0, 0.5, 0.3333333333333333),
    (1.0, 1.0, 0.5, 0.06251409470966383),
    (-1.0, 2.0, -0.3, 0.014062234533459903),
    (0.0, 1.3, 0.7, 0.09181667306611711),
    (-0.5, 0.0, -0.999, 0.1914624612740131),
    (0.3, 0.3, 0.9999999999, 0.3820864260606306),
    (0.3, 0.3, 0.9999999999999858, 0.38208855216018456),
    (
        0.3,
        0.3000002384185791,
        0.9999999999999858,
        0.3820884845962884,
    ),
    (-0.7, 0.7, -0.9999999999999858, 2.1001150206010578e-08),
    (
        -0.7,
        0.7000002384185791,
        -0.9999999999,
        1.7247308729639008e-06,
    ),
    (-1.2, -0.4, 0.9999, 0.6554217416103242),
    (2.5, -1.5, 0.925, 0.006209665325776135),
    (5.0, 6.0, 0.8, 4.453806238358185e-10),
    (1e-09, -1e-09, 0.3, 0.2984933420103391),
    (1e-160, 2.0, 0.4, 0.019275574272184577),
    (-6.0, -7.0, -0.9, 0.9999999990121325),
    (4.0, -4.5, -0.999999, 2.827356870838986e-05),
];

#[test]
fn two_dimensions_are_exact() {
    for (h, k, rho, expected) in QUADRANTS {
        for mean in [[-h, -k], [-k, -h]] {
            let two = orthant(&mean, pair(rho).as_ref(), TOLERANCE);
            let off = (two.probability - expected).abs();
            assert!(off < EXACT, "{h} {k} {rho}: {two:?}, off by {off:e}");
        }
    }
}

#[test]
fn perfect_correlation_in_two_dimensions_is_an_interval() {
    let same = orthant(&[0.3, 0.5], pair(1.0).as_ref(), TOLERANCE);
    assert!((same.probability - cumulative(0.3)).abs() < EXACT);
    let opposed = orthant(&[0.3, 0.5], pair(-1.0).as_ref(), TOLERANCE);
    assert!((opposed.probability - (cumulative(0.5) - cumulative(-0.3))).abs() < EXACT);
    let contradictory = orthant(&[0.3, -0.4], pair(-1.0).as_ref(), TOLERANCE);
    assert_eq!(contradictory.probability, 0.0);
}

#[test]
fn quadrants_are_the_golden_ones() {
    let golden = load("gaussian_helpers");
    let entries = array(&golden["expected"]["bivariate"]);
    assert!(entries.len() > 10);
    for entry in entries {
        let two = orthant(&numbers(&entry["mu"]), matrix(&entry["C"]).as_ref(), 1.0);
        let expected = numbers(&entry["p"])[0];
        assert!((two.probability - expected).abs() < HELPERS, "{two:?}");
    }
}

#[test]
fn equal_classes_are_equally_likely() {
    for d in 3..=20 {
        let all = orthant(&vec![0.0; d], equicorrelated(d, 1.0).as_ref(), TOLERANCE);
        assert_covers(all, 1.0 / (d as f64 + 1.0), TOLERANCE, 0.0);
    }
}

#[test]
fn independent_components_multiply() {
    for d in 3..=20 {
        let mean: Vec<f64> = (0..d).map(|i| 0.3 * i as f64 - 1.0).collect();
        let covariance = Mat::from_fn(d, d, |i, j| if i == j { 1.0 + i as f64 } else { 0.0 });
        let expected: f64 = (0..d)
            .map(|i| cumulative(mean[i] / covariance[(i, i)].sqrt()))
            .product();
        let all = orthant(&mean, covariance.as_ref(), TOLERANCE);
        assert!((all.probability - expected).abs() < EXACT, "{d}: {all:?}");
    }
}

/// (d, probability) for the covariance I + 11ᵀ and means 3 i/(d - 1), by mpmath 1.3 with 25 digits:
/// `quad(lambda z: npdf(z)*fprod(ncdf(mpf(3)*i/(d-1) + z) for i in range(d)), linspace(-14, 14, 57))`.
const ONE_FACTOR: [(usize, f64); 6] = [
    (3, 0.47175205860845093),
    (5, 0.402544188046493),
    (9, 0.30950559708580805),
    (14, 0.24312444739464972),
    (19, 0.20199168532921383),
    (20, 0.19553826589312098),
];

#[test]
fn one_factor_probabilities_are_the_golden_ones() {
    for (d, expected) in ONE_FACTOR {
        let mean: Vec<f64> = (0..d).map(|i| 3.0 * i as f64 / (d as f64 - 1.0)).collect();
        let all = orthant(&mean, equicorrelated(d, 1.0).as_ref(), TOLERANCE);
        assert_covers(all, expected, TOLERANCE, 0.0);
    }
}

/// (d, probability) for means ½ + (i mod 3)/2, loadings (-1)ⁱ (1 + i/d) and noise ½ + (i mod 4)/4, by
/// the same command.
const OPPOSED_FACTOR: [(usize, f64); 4] = [
    (3, 0.35608069556624966),
    (6, 0.14812366821193174),
    (12, 0.0333887146514767),
    (20, 0.005256035171775899),
];

#[test]
fn opposed_loadings_give_the_golden_probabilities() {
    for (d, expected) in OPPOSED_FACTOR {
        let problem = OneFactor {
            mean: (0..d).map(|i| 0.5 + 0.5 * (i % 3) as f64).collect(),
            loading: (0..d)
                .map(|i| (1.0 - 2.0 * (i % 2) as f64) * (1.0 + i as f64 / d as f64))
                .collect(),
            noise: (0..d).map(|i| 0.5 + 0.25 * (i % 4) as f64).collect(),
        };
        assert!((problem.probability() - expected).abs() < EXACT);
        assert_covers(problem.orthant(TOLERANCE), expected, TOLERANCE, 0.0);
        assert_covers(problem.orthant(1e-5), expected, 1e-5, 0.0);
    }
}

/// (d, probability) for the covariance 0.9^k cos(0.7 k) + 0.1 [k = 0], k = |i - j|, and means
/// 0.5 + 0.3 (7 i mod 5), by scipy 1.17 (three seeds agree to 5e-8):
/// `multivariate_normal.cdf(zeros(d), mean=-m, cov=c, maxpts=40_000_000, abseps=1e-7, releps=0)`.
const GENERAL: [(usize, f64); 4] = [
    (3, 0.6252281094),
    (4, 0.475693105),
    (5, 0.447142806),
    (8, 0.245319947),
];
const SCIPY: f64 = 1e-7;

#[test]
fn general_covariances_give_the_golden_probabilities() {
    for (d, expected) in GENERAL {
        let mean: Vec<f64> = (0..d).map(|i| 0.5 + 0.3 * (7 * i % 5) as f64).collect();
        let covariance = Mat::from_fn(d, d, |i, j| {
            let k = i.abs_diff(j);
            0.9_f64.powi(k as i32) * (0.7 * k as f64).cos() + if k == 0 { 0.1 } else { 0.0 }
        });
        for tolerance in [TOLERANCE, 1e-5] {
            let all = orthant(&mean, covariance.as_ref(), tolerance);
            assert_covers(all, expected, tolerance, SCIPY);
        }
    }
}

/// Central octants: 1/8 + (asin ρ_12 + asin ρ_13 + asin ρ_23)/(4π).
fn central_octant(covariance: &Mat<f64>) -> f64 {
    let angle = |i: usize, j: usize| {
        (covariance[(i, j)] / (covariance[(i, i)] * covariance[(j, j)]).sqrt()).asin()
    };
    0.125 + (angle(0, 1) + angle(0, 2) + angle(1, 2)) / (4.0 * PI)
}

/// Covariances of 1 to `most` components made of fewer, as many or more independent ones, so that some
/// are singular; entries of the factor are in [-1, 1].
fn covariances(fewest: usize, most: usize) -> impl Strategy<Value = Mat<f64>> {
    (fewest..=most, 1..=8_usize).prop_flat_map(|(d, rank)| {
        vec(-1.0..1.0_f64, d * rank)
            .prop_map(move |a| outer(&Mat::from_fn(d, rank, |i, j| a[i * rank + j])))
    })
}

/// Means within two and a half standard deviations of zero, and a covariance.
fn laws(fewest: usize, most: usize) -> impl Strategy<Value = (Vec<f64>, Mat<f64>)> {
    covariances(fewest, most).prop_flat_map(|covariance| {
        vec(-1.0..2.5_f64, covariance.nrows()).prop_map(move |levels| {
            let mean = (0..levels.len())
                .map(|i| levels[i] * covariance[(i, i)].sqrt())
                .collect();
            (mean, covariance.clone())
        })
    })
}

/// The law of `of` the components, component i times scale i.
fn transformed(
    (mean, covariance): (&[f64], &Mat<f64>),
    of: &[usize],
    scale: &[f64],
) -> (Vec<f64>, Mat<f64>) {
    let d = of.len();
    (
        (0..d).map(|i| scale[i] * mean[of[i]]).collect(),
        Mat::from_fn(d, d, |i, j| {
            scale[i] * scale[j] * covariance[(of[i], of[j])]
        }),
    )
}

/// Coarser than [`TOLERANCE`] for the sake of speed; errors are checked against each other.
const COARSE: f64 = 1e-3;

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn central_octants_are_sums_of_angles(a in vec(-1.0..1.0_f64, 9)) {
        let covariance = outer(&Mat::from_fn(3, 3, |i, j| a[3 * i + j]));
        let three = orthant(&[0.0; 3], covariance.as_ref(), TOLERANCE);
        assert_covers(three, central_octant(&covariance), TOLERANCE, 0.0);
    }

    #[test]
    fn the_order_of_components_does_not_matter((mean, covariance) in laws(2, 8), shift in 1..7_usize) {
        let d = mean.len();
        let of: Vec<usize> = (0..d).map(|i| (i + shift) % d).rev().collect();
        let here = orthant(&mean, covariance.as_ref(), COARSE);
        let (mean, covariance) = transformed((&mean, &covariance), &of, &vec![1.0; d]);
        let there = orthant(&mean, covariance.as_ref(), COARSE);
        assert_covers(here, there.probability, COARSE, there.error);
    }

    #[test]
    fn all_orthants_together_are_certain((mean, covariance) in laws(1, 4)) {
        let d = mean.len();
        let of: Vec<usize> = (0..d).collect();
        let (mut sum, mut error) = (0.0, 0.0);
        for pattern in 0..1_usize << d {
            let signs: Vec<f64> =
                (0..d).map(|i| if pattern >> i & 1 == 0 { 1.0 } else { -1.0 }).collect();
            let (mean, covariance) = transformed((&mean, &covariance), &of, &signs);
            let one = orthant(&mean, covariance.as_ref(), TOLERANCE);
            sum += one.probability;
            error += one.error;
        }
        prop_assert!((sum - 1.0_f64).abs() <= error, "{sum} with error {error:e}");
        prop_assert!(error <= TOLERANCE * f64::from(1_u32 << d));
    }

    #[test]
    fn a_larger_mean_is_more_probable(
        (mean, covariance) in laws(1, 8), which in 0..8_usize, by in 0.05..1.0_f64,
    ) {
        let which = which % mean.len();
        let mut larger = mean.clone();
        larger[which] += by * covariance[(which, which)].sqrt();
        let below = orthant(&mean, covariance.as_ref(), COARSE);
        let above = orthant(&larger, covariance.as_ref(), COARSE);
        let most = below.probability + by * density(0.0);
        prop_assert!(below.probability <= above.probability + above.error + below.error);
        prop_assert!(above.probability <= most + above.error + below.error);
    }

    /// Powers of two are exact, so that not a bit may change.
    #[test]
    fn the_scale_of_a_component_does_not_matter(
        (mean, covariance) in laws(1, 8), powers in vec(-30..30_i32, 8),
    ) {
        let of: Vec<usize> = (0..mean.len()).collect();
        let scale: Vec<f64> = powers.iter().map(|&power| 2_f64.powi(power)).collect();
        let here = orthant(&mean, covariance.as_ref(), COARSE);
        let (mean, covariance) = transformed((&mean, &covariance), &of, &scale);
        prop_assert_eq!(here, orthant(&mean, covariance.as_ref(), COARSE));
    }

    #[test]
    fn a_component_twice_counts_once(
        (mean, covariance) in laws(1, 7), which in 0..7_usize, scale in 0.1..10.0_f64,
    ) {
        let d = mean.len();
        let mut of: Vec<usize> = (0..d).collect();
        of.push(which % d);
        let mut scales = vec![1.0; d];
        scales.push(scale);
        let once = orthant(&mean, covariance.as_ref(), TOLERANCE);
        let (mean, covariance) = transformed((&mean, &covariance), &of, &scales);
        let twice = orthant(&mean, covariance.as_ref(), TOLERANCE);
        assert_covers(twice, once.probability, TOLERANCE, once.error);
    }

    /// x > 0 and y > 0 imply a x + b y > 0.
    #[test]
    fn a_component_that_others_imply_changes_nothing(
        a in vec(-1.0..1.0_f64, 9), weights in vec(0.1..2.0_f64, 6),
    ) {
        let free = Mat::from_fn(3, 3, |i, j| a[3 * i + j]);
        let implied = Mat::from_fn(5, 3, |i, j| match i {
            0..3 => free[(i, j)],
            _ => (0..3).map(|k| weights[3 * (i - 3) + k] * free[(k, j)]).sum(),
        });
        let five = orthant(&[0.0; 5], outer(&implied).as_ref(), TOLERANCE);
        assert_covers(five, central_octant(&outer(&free)), TOLERANCE, 0.0);
    }

    /// Half planes through the origin of the plane: what they share is a sector.
    #[test]
    fn components_of_rank_two_share_a_sector(angles in vec(-1.4..1.4_f64, 3..9)) {
        let rays = Mat::from_fn(angles.len(), 2, |i, j| match j {
            0 => angles[i].cos(),
            _ => angles[i].sin(),
        });
        let largest = angles.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = angles.iter().copied().fold(f64::INFINITY, f64::min);
        let all = orthant(&vec![0.0; angles.len()], outer(&rays).as_ref(), 1e-5);
        assert_covers(all, (PI - (largest - least)) / (2.0 * PI), 1e-5, 0.0);
    }

    /// One variable, bounded from both sides by many components.
    #[test]
    fn components_of_rank_one_share_an_interval(
        loading in vec(0.1..2.0_f64, 6), level in vec(-0.5..2.0_f64, 6),
    ) {
        let signed: Vec<f64> =
            loading.iter().enumerate().map(|(i, x)| if i % 2 == 0 { *x } else { -x }).collect();
        let mean: Vec<f64> = (0..6).map(|i| level[i] * loading[i]).collect();
        let covariance = Mat::from_fn(6, 6, |i, j| signed[i] * signed[j]);
        let low = -level[0].min(level[2]).min(level[4]);
        let high = level[1].min(level[3]).min(level[5]);
        let expected = (cumulative(high) - cumulative(low)).max(0.0);
        let all = orthant(&mean, covariance.as_ref(), TOLERANCE);
        prop_assert!((all.probability - expected).abs() < 1e-7, "{all:?} {expected}");
        prop_assert!((all.probability - expected).abs() <= all.error, "{all:?} {expected}");
    }
}

/// The error is four standard errors of eight scramblings, so that a few in a thousand may exceed it,
/// but not by much.
#[test]
fn the_error_covers_the_truth() {
    const PROBLEMS: usize = 600;
    let (mut exceeded, mut worst, mut ratios) = (0, 0.0_f64, 0.0);
    for index in 0..PROBLEMS {
        let d = 3 + index % 18;
        let draws = normals(index as u64, d, 3);
        let problem = OneFactor {
            mean: draws[0].iter().map(|x| 0.7 + x).collect(),
            loading: draws[1].clone(),
            noise: draws[2].iter().map(|x| 0.05 + x * x).collect(),
        };
        let tolerance = [1e-2, 1e-3, 1e-4][index % 3];
        let all = problem.orthant(tolerance);
        assert!(all.error <= tolerance, "{all:?}");
        let ratio = (all.probability - problem.probability()).abs() / all.error;
        worst = worst.max(ratio);
        ratios += ratio;
        if ratio > 1.0 {
            exceeded += 1;
        }
    }
    println!(
        "exceeded {exceeded} of {PROBLEMS}, worst {worst:.2}, mean {:.3}",
        ratios / PROBLEMS as f64
    );
    assert!(exceeded <= 3 && worst < 2.0, "{exceeded}, worst {worst}");
    // Nor is it idle: an error ten times too large would be useless.
    assert!(ratios / PROBLEMS as f64 > 0.03);
}

/// The share of `count` pseudo-random draws that are positive in every component.
fn simulated(mean: &[f64], factor: &Mat<f64>, seed: u64, count: usize) -> f64 {
    const BATCH: usize = 10_000;
    let mut positive = 0;
    for batch in 0..count / BATCH {
        let draws = normals(seed + batch as u64, factor.ncols(), BATCH);
        positive += draws
            .iter()
            .filter(|z| {
                (0..mean.len()).all(|i| {
                    mean[i] + (0..z.len()).map(|k| factor[(i, k)] * z[k]).sum::<f64>() > 0.0
                })
            })
            .count();
    }
    positive as f64 / count as f64
}

/// Four and a half standard deviations of simulation: one in 150,000 comparisons fails by chance.
const SIMULATION: f64 = 4.5;

#[test]
fn simulation_agrees() {
    const DRAWS: usize = 400_000;
    for (seed, d, rank) in [(1, 5, 5), (2, 5, 3), (3, 12, 12), (4, 12, 20), (5, 12, 7)] {
        let a = normals(100 * seed, rank, d);
        let a = Mat::from_fn(d, rank, |i, j| a[i][j] + 0.5);
        let covariance = outer(&a);
        let mean: Vec<f64> = (0..d)
            .map(|i| covariance[(i, i)].sqrt() * (0.5 + 0.2 * (i % 6) as f64))
            .collect();
        let all = orthant(&mean, covariance.as_ref(), TOLERANCE);
        let p = simulated(&mean, &a, 1000 * seed, DRAWS);
        assert!((0.02..0.98).contains(&p), "{p} tells little");
        let deviation = (p * (1.0 - p) / DRAWS as f64).sqrt();
        println!("{d} of rank {rank}: {all:?}, simulated {p} ± {deviation:.5}");
        assert!(all.error <= TOLERANCE);
        assert!((all.probability - p).abs() < SIMULATION * deviation + all.error);
    }
}

#[test]
fn components_without_variance_are_their_means() {
    let mut covariance = equicorrelated(4, 1.0);
    for i in 0..4 {
        covariance[(2, i)] = 0.0;
        covariance[(i, 2)] = 0.0;
    }
    let at = |mean: f64| orthant(&[0.1, 0.2, mean, 0.3], covariance.as_ref(), TOLERANCE);
    let three = orthant(&[0.1, 0.2, 0.3], equicorrelated(3, 1.0).as_ref(), TOLERANCE);
    assert_eq!(at(1e-9), three);
    assert_eq!(at(0.0).probability, 0.0);
    assert_eq!(at(-1e-9).probability, 0.0);
    covariance[(2, 2)] = -1e-18;
    assert_eq!(
        orthant(&[0.1, 0.2, 0.5, 0.3], covariance.as_ref(), TOLERANCE),
        three
    );
    assert_eq!(
        orthant(&[1.0; 3], Mat::zeros(3, 3).as_ref(), TOLERANCE).probability,
        1.0
    );
}

#[test]
fn dependence_up_to_rounding_is_dependence() {
    // Margins of five classes whose scores are combinations of two, computed in another order.
    let a = normals(7, 2, 5);
    let mean = [0.4, 0.9, 0.2, 1.1, 0.6];
    let exact = Mat::from_fn(5, 5, |i, j| a[i][0] * a[j][0] + a[i][1] * a[j][1]);
    let rounded = Mat::from_fn(5, 5, |i, j| {
        exact[(i, j)] * (1.0 + 1e-15 * ((3 * i + 3 * j + i * j) % 7) as f64)
    });
    let here = orthant(&mean, exact.as_ref(), 1e-5);
    let there = orthant(&mean, rounded.as_ref(), 1e-5);
    assert_covers(there, here.probability, 1e-5, here.error);
    let factor = Mat::from_fn(5, 2, |i, j| a[i][j]);
    let p = simulated(&mean, &factor, 70, 200_000);
    assert!((here.probability - p).abs() < SIMULATION * (p * (1.0 - p) / 200_000.0).sqrt());
}

/// x and width - x + noise e are positive together with a small probability, exact in two dimensions;
/// others are independent of both. The points must not miss the narrow interval.
#[test]
fn near_dependence_is_accurate() {
    for noise in [0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8] {
        for width in [-0.01, 0.0, 1e-4, 1e-3, 1e-2, 0.3] {
            let rows = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [-1.0, noise, 0.0]];
            let covariance = outer(&Mat::from_fn(3, 3, |i, j| rows[i][j]));
            let mean = [-0.5, 0.4, width - 0.4];
            let two = orthant(&mean[1..], covariance.submatrix(1, 1, 2, 2), TOLERANCE);
            let expected = cumulative(-0.5) * two.probability;
            let three = orthant(&mean, covariance.as_ref(), TOLERANCE);
            assert_covers(three, expected, TOLERANCE, two.error);
        }
    }
}

#[test]
fn far_means_are_certain_or_impossible() {
    let covariance = equicorrelated(5, 1.0);
    let certain = orthant(&[1e200; 5], covariance.as_ref(), TOLERANCE);
    assert_eq!(certain.probability, 1.0);
    let impossible = orthant(
        &[1.0, 1.0, -1e200, 1.0, 1.0],
        covariance.as_ref(),
        TOLERANCE,
    );
    assert_eq!(impossible.probability, 0.0);
    let infinite = [f64::INFINITY, 0.1, f64::INFINITY, 0.2, 0.3];
    assert_eq!(
        orthant(&infinite, covariance.as_ref(), TOLERANCE),
        orthant(&[0.1, 0.2, 0.3], equicorrelated(3, 1.0).as_ref(), TOLERANCE)
    );
    let never = [0.0, 0.1, f64::NEG_INFINITY, 0.2, 0.3];
    assert_eq!(
        orthant(&never, covariance.as_ref(), TOLERANCE).probability,
        0.0
    );
    // Far below zero the probability is tiny, but neither zero nor negative.
    let far = OneFactor {
        mean: vec![-12.0; 4],
        loading: vec![1.0; 4],
        noise: vec![0.5; 4],
    };
    let tiny = far.orthant(TOLERANCE);
    assert!(
        tiny.probability > 0.0 && tiny.probability < tail(9.0),
        "{tiny:?}"
    );
    for level in [-37.9, -20.0, -8.0, 8.0, 8.9] {
        let at = orthant(&[level; 3], equicorrelated(3, 0.0).as_ref(), TOLERANCE);
        assert!((at.probability - cumulative(level).powi(3)).abs() < EXACT);
    }
}

#[test]
fn extreme_scales_are_no_obstacle() {
    let expected = orthant(
        &[0.5, 0.1, -0.2],
        equicorrelated(3, 1.0).as_ref(),
        TOLERANCE,
    );
    for scale in [1e-150, 1e150] {
        let (mean, covariance) = transformed(
            (&[0.5, 0.1, -0.2], &equicorrelated(3, 1.0)),
            &[0, 1, 2],
            &[scale, 1.0, scale],
        );
        let scaled = orthant(&mean, covariance.as_ref(), TOLERANCE);
        assert!((scaled.probability - expected.probability).abs() < EXACT);
    }
    let at = |mean: [f64; 2]| orthant(&mean, pair(0.5).as_ref(), TOLERANCE).probability;
    for tiny in [1e-150, 1e-250, 5e-324] {
        assert!((at([tiny, -tiny]) - 1.0 / 3.0).abs() < EXACT);
        assert!((at([tiny, 0.0]) - 1.0 / 3.0).abs() < EXACT);
        assert!((at([-tiny, 1.3]) - at([0.0, 1.3])).abs() < EXACT);
    }
}

#[test]
fn what_is_no_law_is_unknown() {
    let good = equicorrelated(3, 1.0);
    let mut bad = good.clone();
    bad[(2, 1)] = f64::INFINITY;
    let unknown = Orthant {
        probability: 0.5,
        error: 1.0,
    };
    assert_eq!(
        orthant(&[f64::NAN, 0.0, 0.0], good.as_ref(), TOLERANCE),
        unknown
    );
    assert_eq!(orthant(&[0.0; 3], bad.as_ref(), TOLERANCE), unknown);
    assert_eq!(orthant(&[0.0; 2], good.as_ref(), TOLERANCE), unknown);
    assert_eq!(orthant(&[0.0; 3], good.subrows(0, 2), TOLERANCE), unknown);
    // Not a covariance, but numbers come out.
    let indefinite = Mat::from_fn(4, 4, |i, j| if i == j { 1e-300 } else { -1.0 });
    let some = orthant(&[0.0; 4], indefinite.as_ref(), 1e-2);
    assert!((0.0..=1.0).contains(&some.probability) && some.error.is_finite());
}

#[test]
fn a_tolerance_out_of_reach_ends_with_an_honest_error() {
    let (d, expected) = ONE_FACTOR[0];
    let mean: Vec<f64> = (0..d).map(|i| 1.5 * i as f64).collect();
    for tolerance in [0.0, f64::NAN] {
        let all = orthant(&mean, equicorrelated(d, 1.0).as_ref(), tolerance);
        assert!(all.error > 0.0 && all.error < 1e-6);
        assert_covers(all, expected, 1e-6, 0.0);
    }
}

#[test]
fn more_dimensions_than_sobol_numbers_work() {
    let d = 300;
    let all = orthant(&vec![0.0; d], equicorrelated(d, 1.0).as_ref(), 1e-3);
    assert_covers(all, 1.0 / 301.0, 1e-3, 0.0);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let a = normals(9, 9, 9);
    let covariance = outer(&Mat::from_fn(9, 9, |i, j| a[i][j]));
    let results: Vec<(Orthant, Mat<f64>, Mat<f64>)> = [1, 2, 3]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                (
                    orthant(&[1.0; 9], covariance.as_ref(), COARSE),
                    normal_points(4, 300),
                    factor(covariance.as_ref()),
                )
            })
        })
        .collect();
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}
