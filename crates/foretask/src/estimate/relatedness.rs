//! How alike tasks are, from their class means alone.

use faer::Mat;

use super::gram::MeansApart;
use crate::data::{Cells, Statistics};
use crate::solve::Scaling;

/// How alike the class differences of each task (row) are to those of each target (column), from -1
/// (opposed) over 0 (unrelated) to 1 (the same); `None` where classes do not correspond.
///
/// ```text
/// Σ_c μ_qc·μ_tc / √(Σ_c |μ_qc|² Σ_c |μ_tc|²),   μ the class means less their centre
/// ```
///
/// The inner products are freed of the sampling noise of the means (`MeansApart::estimate`).
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
    /// What noise adds to the square of each cell's mean.
    noise: Vec<f64>,
    /// As many features of one variance would be as noisy.
    features: f64,
}

enum Known {
    /// Of all cells.
    Products(Mat<f64>),
    Means(MeansApart),
}

impl<'c> Likeness<'c> {
    pub(crate) fn new(statistics: &'c Statistics<'_>, scales: &[f64]) -> Self {
        let cells = statistics.cells();
        let apart = MeansApart::new(statistics, scales);
        let variances = statistics.pooled_variances();
        let (sum, squares) =
            (variances.iter()).fold((0.0, 0.0), |(sum, squares), v| (sum + v, squares + v * v));
        Self {
            noise: apart.noise.clone(),
            features: if squares > 0.0 {
                sum * sum / squares
            } else {
                1.0
            },
            known: match cells.len() <= MOST_PRODUCTS {
                true => Known::Products(apart.estimate()),
                false => Known::Means(apart),
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
            self.alike(&theirs, &own).map(|(likeness, _)| likeness)
        };
        (0..self.cells.tasks().len()).map(of_task).collect()
    }

    /// Of each two of some tasks, the first of which is the target, with the deviation that noise gives it. All classes
    /// are matched through the target's, so that all speak of the same differences.
    pub(crate) fn among(&self, tasks: &[usize]) -> Vec<Vec<Option<(f64, f64)>>> {
        let Some(&target) = tasks.first() else {
            return Vec::new();
        };
        let aligned = self.cells.aligned(target);
        let classes = self.cells.tasks()[target].classes.len();
        let cells_of = |&task: &usize| {
            let mut cells = vec![None; classes];
            for cell in self.cells.of_task(task).rev() {
                if let Some(class) = aligned[cell] {
                    cells[class] = Some(cell);
                }
            }
            cells
        };
        let cells: Vec<Vec<Option<usize>>> = tasks.iter().map(cells_of).collect();
        let of_two = |a: &[Option<usize>], b: &[Option<usize>]| {
            let both = a.iter().zip(b).filter_map(|(a, b)| a.zip(*b));
            let (a, b): (Vec<usize>, Vec<usize>) = both.unzip();
            self.alike(&a, &b)
        };
        let of_task = |a: &Vec<_>| cells.iter().map(|b| of_two(a, b)).collect();
        cells.iter().map(of_task).collect()
    }

    /// The likeness of two tasks by cells that correspond, and its deviation by the noise of their means, to second
    /// order and as if features were independent; none where nothing is known to differ.
    fn alike(&self, a: &[usize], b: &[usize]) -> Option<(f64, f64)> {
        let cross = self.product(a, b);
        let (own, other) = (self.product(a, a), self.product(b, b));
        // One class has no differences, and then nothing is above zero.
        if !(own > 0.0 && other > 0.0) {
            return None;
        }
        let likeness = (cross / (own * other).sqrt()).clamp(-1.0, 1.0);
        // In each direction, over what there is in all.
        let noise = |cells: &[usize], all: f64| {
            let sum: f64 = cells.iter().map(|&cell| self.noise[cell]).sum();
            sum / cells.len() as f64 / self.features / all
        };
        let (u, v) = (noise(a, own), noise(b, other));
        let directions = self.features * (a.len() as f64 - 1.0);
        let square = likeness * likeness;
        let variance =
            (1.0 - square) * (u + v) + directions * (u * v + 0.5 * square * (u * u + v * v));
        Some((likeness, variance.sqrt().min(1.0)))
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
        let of = |known: Known| Likeness {
            known,
            ..Likeness::new(&statistics, &scales)
        };
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
