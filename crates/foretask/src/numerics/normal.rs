//! The normal distribution: tail, cumulative function, density and quantile.
//!
//! Tails come from `erfc`, which keeps its relative accuracy far out; a cumulative function by
//! subtraction from one would not. The quantile is Wichura's (algorithm AS 241, 1988): with p the
//! probability of the tail, one rational approximation in (½ - p)² around the median and two in
//! √(-ln p) for the tail on either side; their relative error is below 1e-15.

use std::f64::consts::{PI, SQRT_2};

/// Q(x) = P(N(0, 1) > x).
///
/// ```
/// assert!((foretask::normal::tail(1.959963984540054) - 0.025).abs() < 1e-15);
/// ```
pub fn tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / SQRT_2)
}

/// Φ(x) = P(N(0, 1) < x).
pub fn cumulative(x: f64) -> f64 {
    tail(-x)
}

/// The density of N(0, 1) at x.
pub fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// The x with Q(x) = probability; infinite at 0 and 1.
pub(crate) fn upper_quantile(probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    let from_median = 0.5 - probability;
    if from_median.abs() <= CENTRE {
        let r = CENTRE * CENTRE - from_median * from_median;
        return from_median * ratio(&CENTRE_ABOVE, &CENTRE_BELOW, r);
    }
    let nearer = probability.min(1.0 - probability);
    if nearer == 0.0 {
        return f64::INFINITY.copysign(from_median);
    }
    let r = (-nearer.ln()).sqrt();
    let x = if r <= FAR {
        ratio(&NEAR_ABOVE, &NEAR_BELOW, r - NEAR_START)
    } else {
        ratio(&FAR_ABOVE, &FAR_BELOW, r - FAR)
    };
    x.copysign(from_median)
}

/// Polynomials of `above` and `below`, coefficients from the constant up, divided.
fn ratio(above: &[f64; 8], below: &[f64; 8], x: f64) -> f64 {
    let polynomial =
        |coefficients: &[f64; 8]| coefficients.iter().rev().fold(0.0, |s, c| s * x + c);
    polynomial(above) / polynomial(below)
}

/// Probabilities this close to ½ use the central approximation.
const CENTRE: f64 = 0.425;
/// √(-ln p) where the near tail begins.
const NEAR_START: f64 = 1.6;
/// √(-ln p) where the far tail begins.
const FAR: f64 = 5.0;

const CENTRE_ABOVE: [f64; 8] = [
    3.387_132_872_796_366_5,
    133.141_667_891_784_38,
    1_971.590_950_306_551_3,
    13_731.693_765_509_46,
    45_921.953_931_549_87,
    67_265.770_927_008_7,
    33_430.575_583_588_13,
    2_509.080_928_730_122_7,
];
const CENTRE_BELOW: [f64; 8] = [
    1.0,
    42.313_330_701_600_91,
    687.187_007_492_057_9,
    5_394.196_021_424_751,
    21_213.794_301_586_597,
    39_307.895_800_092_71,
    28_729.085_735_721_943,
    5_226.495_278_852_854,
];
const NEAR_ABOVE: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    2.417_807_251_774_506e-1,
    2.272_384_498_926_918_4e-2,
    7.745_450_142_783_414e-4,
];
const NEAR_BELOW: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    6.897_673_349_851e-1,
    1.481_039_764_274_800_8e-1,
    1.519_866_656_361_645_7e-2,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const FAR_ABOVE: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    2.965_605_718_285_048_7e-1,
    2.653_218_952_657_612_4e-2,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const FAR_BELOW: [f64; 8] = [
    1.0,
    5.998_322_065_558_88e-1,
    1.369_298_809_227_358e-1,
    1.487_536_129_085_061_5e-2,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];
