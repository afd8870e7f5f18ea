//! [`Sums`]: means, squares, scatter and bounds of rows in one pass over them.
//!
//! Rows are summed about a point `near` to the mean of their class, that of a few rows spread over all of them, and what
//! is left of the mean, d_c = Σ (x_l - near_c)/n_c, is taken off at the end:
//!
//! ```text
//! x̄_c = near_c + d_c,     W = Σ_l (x_l - near_c)(x_l - near_c)ᵀ - Σ_c n_c d_c d_cᵀ.
//! ```
//!
//! With s of n rows looked at, d² is at most n/s variances wherever they lie (Σ over s of n deviations, by Cauchy and
//! Schwarz), and about 1/s where they are like the others: the difference costs no digits worth the name, and a large
//! mean none at all. What does not vary is its own mean, to the bit.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::bounds::Bounds;
use super::rows::RowBlock;
use crate::data::rows::{PANEL, panel_samples};
use crate::numerics::dense;
use crate::stop::Stop;

/// What is asked of rows.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'s> {
    /// The squares of each feature by class.
    Squares,
    /// The scatter of all classes too, unless the switch is thrown.
    Scatter(&'s Stop),
}

/// Of the rows of a task.
pub(super) struct Sums {
    /// By class; zero where there is no row.
    pub(super) means: Vec<Vec<f64>>,
    /// By class, about its mean.
    pub(super) squares: Vec<Vec<f64>>,
    /// Of all classes about their means, lower triangle; empty if it is not wanted.
    pub(super) scatter: Mat<f64>,
    pub(super) bounds: Bounds,
}

/// Rows of a class whose mean is near to that of all: so many, or the root of their number if that is more.
const LOOKED_AT: usize = 64;

/// A point near to the mean of each class, whose rows follow each other.
pub(super) fn near(rows: &RowBlock<'_>, counts: &[usize]) -> Vec<Vec<f64>> {
    let p = rows.features();
    let mut start = 0;
    let of_class = |&count: &usize| {
        let few = count.min(LOOKED_AT.max(count.isqrt()));
        let spread = rows.select((0..few).map(|place| start + place * count / few));
        start += count;
        let origin = match few {
            0 => vec![0.0; p],
            _ => spread.select(0..1).values(),
        };
        let mut sums = vec![0.0; p];
        spread.for_panels(&origin, 1.0, |_, panel| {
            for row in panel.col_iter() {
                sums.iter_mut()
                    .zip(row.iter())
                    .for_each(|(sum, x)| *sum += x);
            }
        });
        let both = origin.iter().zip(sums);
        both.map(|(origin, sum)| origin + sum / few.max(1) as f64)
            .collect()
    };
    counts.iter().map(of_class).collect()
}

impl Sums {
    /// Of rows with their classes, whose means are near to `near`. Time n p²/2 with the scatter, n p without.
    pub(super) fn of(
        rows: &RowBlock<'_>,
        class: &[usize],
        near: &[Vec<f64>],
        wanted: Wanted<'_>,
    ) -> Self {
        match wanted {
            Wanted::Scatter(stop) if rows.is_sparse() => {
                let mut sums = About::of(rows, class, near, Wanted::Squares).less_the_rest(class);
                sums.scatter = match stop.check() {
                    Ok(()) => rows.sparse_scatter(class, &sums.means),
                    Err(_) => Mat::zeros(rows.features(), rows.features()),
                };
                sums
            }
            wanted => About::of(rows, class, near, wanted).less_the_rest(class),
        }
    }
}

/// Lanes that rows are dealt to at most. Their number follows from the shape alone, so that the bits do not depend on
/// the number of threads.
const LANES: usize = 8;
/// Samples in a panel that is only summed.
const SUMMED: usize = 64;
/// Samples that are summed together, so that the sums of a feature are read and written once for all of them.
const TOGETHER: usize = 4;

/// As many lanes as keep, all together, an eighth of what the rows take. Sparse rows may take less than one lane.
fn lanes(rows: &RowBlock<'_>, numbers_of_a_lane: usize) -> usize {
    if rows.is_sparse() {
        return 1;
    }
    let values = rows.len().saturating_mul(rows.features());
    (values / 8 / numbers_of_a_lane.max(1)).clamp(1, LANES)
}

/// What rows add up to about the points near to the means of their classes.
struct About<'n> {
    near: &'n [Vec<f64>],
    /// By class: of values and of their squares.
    values: Vec<Vec<f64>>,
    squares: Vec<Vec<f64>>,
    /// Lower triangle, of all classes.
    outer: Mat<f64>,
    bounds: Bounds,
}

impl<'n> About<'n> {
    fn none(features: usize, near: &'n [Vec<f64>], size: usize) -> Self {
        Self {
            near,
            values: vec![vec![0.0; features]; near.len()],
            squares: vec![vec![0.0; features]; near.len()],
            outer: Mat::zeros(size, size),
            bounds: Bounds {
                least: vec![f64::INFINITY; features],
                most: vec![f64::NEG_INFINITY; features],
            },
        }
    }

    /// Panels of rows are dealt to lanes, in runs; lanes work in parallel, panels of a lane in their order.
    fn of(rows: &RowBlock<'_>, class: &[usize], near: &'n [Vec<f64>], wanted: Wanted<'_>) -> Self {
        let (n, p) = (rows.len(), rows.features());
        let (size, most) = match wanted {
            Wanted::Squares => (0, SUMMED),
            Wanted::Scatter(_) => (p, PANEL),
        };
        let lanes = lanes(rows, 2 * (near.len() + 1) * p + size * size);
        let product = match lanes {
            1 => dense::add_outer,
            _ => dense::add_outer_alone,
        };
        let samples = panel_samples(most, p);
        let panels = n.div_ceil(samples);
        let zero = vec![0.0; p];
        let lane = |lane: usize| {
            let mut sums = Self::none(p, near, size);
            let mut buffer = vec![0.0; p * samples.min(n)];
            for panel in lane * panels / lanes..(lane + 1) * panels / lanes {
                let own = panel * samples..((panel + 1) * samples).min(n);
                let panel = &mut buffer[..p * own.len()];
                let columns = MatMut::from_column_major_slice_mut(panel, p, own.len());
                rows.pack(own.clone(), 0..p, &zero, 1.0, columns);
                sums.add(panel, &class[own.clone()]);
                match wanted {
                    Wanted::Scatter(stop) if stop.check().is_ok() => {
                        let panel = MatRef::from_column_major_slice(panel, p, own.len());
                        product(sums.outer.as_mut(), panel, 1.0);
                    }
                    _ => {}
                }
            }
            sums
        };
        let parts: Vec<Self> = (0..lanes).into_par_iter().map(lane).collect();
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_else(|| Self::none(p, near, size));
        parts.fold(first, Self::joined)
    }

    /// With the samples of a panel, from which what is near to the mean of their class is taken off.
    fn add(&mut self, panel: &mut [f64], class: &[usize]) {
        let p = self.bounds.least.len();
        let mut rest = panel;
        for run in class.chunk_by(|a, b| a == b) {
            let (own, more) = rest.split_at_mut(run.len() * p);
            rest = more;
            let mut groups = own.chunks_exact_mut((TOGETHER * p).max(1));
            for group in groups.by_ref() {
                self.add_several::<TOGETHER>(run[0], group);
            }
            for sample in groups.into_remainder().chunks_exact_mut(p.max(1)) {
                self.add_several::<1>(run[0], sample);
            }
        }
    }

    /// Samples of one class, one after the other.
    fn add_several<const N: usize>(&mut self, class: usize, samples: &mut [f64]) {
        let p = self.bounds.least.len();
        let near = &self.near[class][..p];
        let (values, squares) = (&mut self.values[class][..p], &mut self.squares[class][..p]);
        let (least, most) = (&mut self.bounds.least[..p], &mut self.bounds.most[..p]);
        let mut samples = samples.chunks_exact_mut(p);
        let mut samples: [&mut [f64]; N] =
            std::array::from_fn(|_| samples.next().unwrap_or_default());
        for sample in &mut samples {
            *sample = &mut std::mem::take(sample)[..p];
        }
        for feature in 0..p {
            for sample in &mut samples {
                let x = sample[feature];
                // Values are finite; in this form the compiler does several at once.
                least[feature] = if x < least[feature] {
                    x
                } else {
                    least[feature]
                };
                most[feature] = if x > most[feature] { x } else { most[feature] };
                let x = x - near[feature];
                sample[feature] = x;
                values[feature] += x;
                squares[feature] += x * x;
            }
        }
    }

    fn joined(mut self, other: Self) -> Self {
        let add = |to: &mut Vec<Vec<f64>>, more: &[Vec<f64>]| {
            let both = to.iter_mut().flatten().zip(more.iter().flatten());
            both.for_each(|(to, x)| *to += x);
        };
        add(&mut self.values, &other.values);
        add(&mut self.squares, &other.squares);
        dense::add_lower(self.outer.as_mut(), other.outer.as_ref(), 1.0);
        self.bounds.join(&other.bounds);
        self
    }

    /// Less what is left of the means.
    fn less_the_rest(mut self, class: &[usize]) -> Sums {
        let mut counts = vec![0_usize; self.near.len()];
        class.iter().for_each(|&class| counts[class] += 1);
        if self.outer.nrows() > 0 {
            let rest = Mat::from_fn(self.outer.nrows(), counts.len(), |feature, class| {
                self.values[class][feature] / (counts[class].max(1) as f64).sqrt()
            });
            dense::add_outer(self.outer.as_mut(), rest.as_ref(), -1.0);
        }
        let mut means = self.near.to_vec();
        for (class, mean) in means.iter_mut().enumerate() {
            if counts[class] == 0 {
                mean.fill(0.0);
                continue;
            }
            let n = counts[class] as f64;
            let sums = self.values[class].iter().zip(&mut self.squares[class]);
            for (mean, (sum, squares)) in mean.iter_mut().zip(sums) {
                *mean += sum / n;
                *squares = (*squares - sum * (sum / n)).max(0.0);
            }
        }
        Sums {
            means,
            squares: self.squares,
            scatter: self.outer,
            bounds: self.bounds,
        }
    }
}
