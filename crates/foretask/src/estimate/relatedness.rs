//! How alike tasks are, from their class means alone.

use faer::Mat;

use super::gram::{self, MeansApart};
use crate::data::{Cells, Statistics};
use crate::solve::Scaling;

/// How alike the class differences of each task (row) are to those of each target (column), from -1
/// (opposed) over 0 (unrelated) to 1 (the same); `None` where classes do not correspond.
///
/// ```text
/// Σ_c μ_qc·μ_tc / √(Σ_c |μ_qc|² Σ_c |μ_tc|²),   μ the class means less their centre
/// ```
///
/// The inner products are freed of the sampling noise of the means (`gram::estimate`).
///
/// ```
/// use foretask::{Rows, Scaling, Statistics, relatedness};
/// let mut statistics = Statistics::new(1);
/// let values = [0.0, 0.1, 1.0, 1.1, 5.0, 5.1, 2.0, 2.1];
/// let task = ["t", "t", "t", "t", "u", "u", "u", "u"];
/// let class = ["a", "a", "b", "b", "a", "a", "b", "b"];
/// statistics.add(Rows::row_major(&values, 1)?, &task, &class)?;
/// let alike = relatedness(&statistics, Scaling::Auto);
/// assert!(alike[0][0].unwrap_or(0.0) > 0.999 && alike[0][1].unwrap_or(0.0) < -0.9);
/// # Ok::<(), foretask::Error>(())
/// ```
pub fn relatedness(statistics: &Statistics<'_>, scaling: Scaling) -> Vec<Vec<Option<f64>>> {
    let tasks = 0..statistics.cells().tasks().len();
    let likeness = Likeness::new(statistics, &scaling.scales(statistics));
    let mut table = vec![Vec::with_capacity(tasks.len()); tasks.len()];
    for target in tasks {
        let column = table.iter_mut().zip(likeness.to(target));
        column.for_each(|(row, value)| row.push(value));
    }
    table
}

/// Up to so many cells the inner products of all class means are made and kept; beyond, those of a task and a target
/// are made when they are asked for, and are neither shrunk nor projected.
const MOST_PRODUCTS: usize = 1000;

/// What tells how alike tasks are.
pub(crate) struct Likeness<'c> {
    cells: &'c Cells,
    known: Known,
}

enum Known {
    /// Of all cells.
    Products(Mat<f64>),
    Means(MeansApart),
}

impl<'c> Likeness<'c> {
    pub(crate) fn new(statistics: &'c Statistics<'_>, scales: &[f64]) -> Self {
        let cells = statistics.cells();
        Self {
            known: match cells.len() <= MOST_PRODUCTS {
                true => Known::Products(gram::estimate(statistics, scales)),
                false => Known::Means(MeansApart::new(statistics, scales)),
            },
            cells,
        }
    }

    /// Of each task to a target.
    pub(crate) fn to(&self, target: usize) -> Vec<Option<f64>> {
        let aligned = self.cells.aligned(target);
        let first = self.cells.of_task(target).start;
        let of_task = |task: usize| {
            let pairs: Vec<(usize, usize)> = self
                .cells
                .of_task(task)
                .filter_map(|cell| aligned[cell].map(|class| (cell, first + class)))
                .collect();
            let (theirs, own): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
            let cross = self.product(&theirs, &own);
            let (theirs, own) = (self.product(&theirs, &theirs), self.product(&own, &own));
            // One class has no differences, and then nothing is above zero.
            (own > 0.0 && theirs > 0.0).then(|| (cross / (own * theirs).sqrt()).clamp(-1.0, 1.0))
        };
        (0..self.cells.tasks().len()).map(of_task).collect()
    }

    /// Σ_i (μ_ai - μ̄_a)·(μ_bi - μ̄_b) over cells of two tasks, or of one: differences within the shared classes,
    /// whatever the origin of each task.
    fn product(&self, a: &[usize], b: &[usize]) -> f64 {
        let n = a.len() as f64;
        if a.len() < 2 {
            return 0.0;
        }
        match &self.known {
            Known::Products(gram) => {
                let own: f64 = a.iter().zip(b).map(|(&a, &b)| gram[(a, b)]).sum();
                let row = |&a: &usize| b.iter().map(|&b| gram[(a, b)]).sum::<f64>();
                own - a.iter().map(row).sum::<f64>() / n
            }
            Known::Means(apart) => {
                let (mut own, mut sums) = (0.0, (vec![0.0; apart.means.nrows()], Vec::new()));
                sums.1.clone_from(&sums.0);
                for (&a, &b) in a.iter().zip(b) {
                    let (x, y) = (apart.means.col_as_slice(a), apart.means.col_as_slice(b));
                    for (i, (x, y)) in x.iter().zip(y).enumerate() {
                        own += x * y;
                        sums.0[i] += x;
                        sums.1[i] += y;
                    }
                }
                let both = sums.0.iter().zip(&sums.1);
                let product = own - both.map(|(x, y)| x * y).sum::<f64>() / n;
                match a == b {
                    false => product,
                    // Centring within these cells takes the noise of n - 1 of n of them along.
                    true => {
                        let noise: f64 = a.iter().map(|&a| apart.noise[a]).sum();
                        product - noise * (1.0 - 1.0 / n)
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Likeness from means is that from their unbiased inner products.
    #[test]
    fn means_and_their_products_tell_the_same() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let (p, n) = (4, 360);
        // Tasks with three, three and two classes of unequal size.
        let task: Vec<usize> = (0..n).map(|row| row % 3).collect();
        let class: Vec<usize> = (0..n)
            .map(|row| (row / 3 * row / 7) % if row % 3 == 2 { 2 } else { 3 })
            .collect();
        let values: Vec<f64> = (0..n * p)
            .map(|i| {
                let (row, feature) = (i / p, i % p);
                let noise: f64 = StandardNormal.sample(&mut random);
                noise + 2.0 * f64::from(u8::from(feature == (class[row] + task[row]) % p))
            })
            .collect();
        let mut statistics = Statistics::new(p);
        let names = |of: &[usize]| of.iter().map(|i| format!("{i}")).collect::<Vec<_>>();
        let rows = Rows::row_major(&values, p).unwrap();
        statistics.add(rows, &names(&task), &names(&class)).unwrap();
        let scales = Scaling::Auto.scales(&statistics);
        let cells = statistics.cells();
        let of = |known: Known| Likeness { cells, known };
        let products = of(Known::Products(statistics.mean_products(&scales)));
        let means = of(Known::Means(MeansApart::new(&statistics, &scales)));
        let mut told = 0;
        for target in 0..3 {
            for (a, b) in products.to(target).iter().zip(means.to(target)) {
                assert_eq!(a.is_some(), b.is_some());
                if let (Some(a), Some(b)) = (a, b) {
                    assert!((a - b).abs() < 1e-12, "{a} {b}");
                    told += usize::from(b.abs() < 0.999);
                }
            }
        }
        assert!(told > 2);
    }
}
