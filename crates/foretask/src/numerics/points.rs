//! Quasi-random standard normal points, and the factor that gives them a covariance.
//!
//! Points are Sobol's with Owen's scrambling, the same at every call: n of them integrate smooth
//! functions with an error that falls faster than 1/n, random ones with 1/√n. Dimensions past the table
//! of Sobol numbers (256) are pseudo-random. Past the hundredth some pairs of dimensions are worse
//! spread than random ones, though the average pair is three times better.

use faer::{Mat, MatRef};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sobol_burley::parts;

use super::normal::upper_quantile;
use super::spectrum::Spectrum;

/// The j-th of numbers between a half and three halves, evenly spread, of which no few have a simple ratio: sums of features
/// that are weighted by them tell rows apart.
pub(crate) fn uneven(j: usize) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    0.5 + (GOLDEN * (j + 1) as f64).fract()
}

/// `count` points of N(0, I) in so many dimensions, one per row (count x dimension).
///
/// Every column is centred: its mean is zero but for rounding. With L a [`factor`] of a covariance, the
/// rows of `points` Lᵀ are points of that covariance. Mirrored pairs would make all odd moments zero,
/// but leave probabilities in many dimensions a quarter less accurate.
pub(crate) fn normal_points(dimension: usize, count: usize) -> Mat<f64> {
    let mut points = Mat::zeros(count, dimension);
    for (index, column) in points.col_iter_mut().enumerate() {
        let mut uniform = Uniform::new(index, SEED);
        let drawn: Vec<f64> = (0..count).map(|_| upper_quantile(uniform.draw())).collect();
        let mean = drawn.iter().sum::<f64>() / count as f64;
        column
            .iter_mut()
            .zip(drawn)
            .for_each(|(x, y)| *x = y - mean);
    }
    points
}

/// L (d x rank) with L Lᵀ = `covariance`, of which only the lower triangle is read.
///
/// Null directions are left out, and so is everything if a number is not finite.
pub(crate) fn factor(covariance: MatRef<'_, f64>) -> Mat<f64> {
    let d = covariance.nrows();
    let known = (0..d).all(|j| (j..d).all(|i| covariance[(i, j)].is_finite()));
    if d == 0 || !known {
        return Mat::zeros(d, 0);
    }
    match Spectrum::of(covariance) {
        Some(spectrum) => spectrum.columns(|x, value| x * value.sqrt()),
        None => Mat::zeros(d, 0),
    }
}

/// Any number: the points are to be the same at every call.
const SEED: u32 = 0;

/// The length of the Sobol sequence as `sobol_burley` tabulates it, in bits. A longer one goes on with
/// another scrambling.
const LENGTH_BITS: usize = 16;

/// One coordinate of a sequence of points in the unit cube.
#[derive(Clone, Debug)]
pub(super) enum Uniform {
    /// Sobol's sequence in Gray code order, bits reversed as the crate has them.
    Sobol {
        /// What is added (without carry) as each bit of the Gray code changes.
        directions: [u32; LENGTH_BITS],
        dimension: u32,
        seed: u32,
        /// Of the point that comes next.
        index: u32,
        unscrambled: u32,
        scramble: u32,
    },
    /// Past Sobol's dimensions.
    Random(Box<ChaCha8Rng>),
}

impl Uniform {
    /// Coordinate number `dimension`; sequences of different seeds are independent.
    pub(super) fn new(dimension: usize, seed: u32) -> Self {
        match u32::try_from(dimension) {
            Ok(dimension) if dimension < sobol_burley::NUM_DIMENSIONS => Self::Sobol {
                directions: std::array::from_fn(|bit| {
                    parts::sobol_rev((1_u32 << bit).reverse_bits(), dimension)
                }),
                dimension,
                seed,
                index: 0,
                unscrambled: 0,
                scramble: scramble(dimension, seed, 0),
            },
            _ => Self::Random(Box::new(ChaCha8Rng::seed_from_u64(
                (u64::from(seed) << 32) + dimension as u64,
            ))),
        }
    }

    /// The next number, strictly between 0 and 1.
    #[inline]
    pub(super) fn draw(&mut self) -> f64 {
        let bits = match self {
            Self::Sobol {
                directions,
                dimension,
                seed,
                index,
                unscrambled,
                scramble: current,
            } => {
                let bits = parts::owen_scramble_rev(*unscrambled, *current).reverse_bits();
                *index += 1;
                match directions.get(index.trailing_zeros() as usize) {
                    Some(direction) => *unscrambled ^= direction,
                    None => {
                        *unscrambled = 0;
                        *current = scramble(*dimension, *seed, *index);
                    }
                }
                bits
            }
            Self::Random(random) => random.next_u32(),
        };
        (f64::from(bits) + 0.5) / (u32::MAX as f64 + 1.0)
    }
}

/// The scrambling of a coordinate, by a hash that tells apart whatever differs.
fn scramble(dimension: u32, seed: u32, start: u32) -> u32 {
    parts::hash(parts::hash(parts::hash(seed) ^ start) ^ dimension)
}
