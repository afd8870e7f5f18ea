//! Draws from a population of spherical classes, and what a system trained on them will do: for
//! every draw the mean w_i·(μ - x̄_i) + b_i and the covariance w_iᵀ Σ w_i of the responses of new
//! samples are known exactly.

use faer::Mat;
use foretask::numerics::normal::tail;
use foretask::rules::binary::BinaryRule;
use foretask::theory::{Corrections, Theory};
use foretask::{Cells, Coupling, Rows, Scaling, Statistics, System, Tasks};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardNormal};

use super::column;
use super::theory::{cells, gram};

/// Standard errors that chance is allowed.
pub const STANDARD_ERRORS: f64 = 3.0;
/// New samples of each class on which a non-Gaussian error is counted, per draw.
const FRESH: usize = 200;

/// The law of a feature about its mean; all have unit variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    Gaussian,
    Rademacher,
    Laplace,
}

impl Noise {
    fn sample(self, random: &mut ChaCha8Rng) -> f64 {
        let normal: f64 = StandardNormal.sample(random);
        match self {
            Self::Gaussian => normal,
            Self::Rademacher => normal.signum(),
            Self::Laplace => {
                let size: f64 = Exp1.sample(random);
                normal.signum() * size / 2.0_f64.sqrt()
            }
        }
    }
}

/// A population, the target being the last task.
pub struct Setting {
    pub name: &'static str,
    pub features: usize,
    pub counts: Vec<Vec<usize>>,
    pub gamma: Vec<f64>,
    pub lambda: f64,
    /// The coordinates of each cell's mean along the first directions of [`direction`].
    pub means: Vec<Vec<f64>>,
    /// The variance of each cell.
    pub alpha: Vec<f64>,
    pub noise: Noise,
    pub draws: usize,
}

/// Orthonormal directions spread over all features (cosines). Along a single feature the score of
/// non-Gaussian data would not be Gaussian: most of it would be that feature's noise.
fn direction(i: usize, feature: usize, features: usize) -> f64 {
    let p = features as f64;
    (2.0 / p).sqrt() * (std::f64::consts::PI * (feature as f64 + 0.5) * (i + 1) as f64 / p).cos()
}

/// Two classes at ±`half` in every task.
pub fn opposite_means(halves: &[&[f64]]) -> Vec<Vec<f64>> {
    let times = |half: &[f64], sign: f64| half.iter().map(|x| sign * x).collect();
    let both = |half: &&[f64]| [times(half, 1.0), times(half, -1.0)];
    halves.iter().flat_map(both).collect()
}

impl Setting {
    pub fn new(
        name: &'static str,
        features: usize,
        counts: &[&[usize]],
        means: Vec<Vec<f64>>,
    ) -> Self {
        Self {
            name,
            features,
            counts: counts.iter().map(|counts| counts.to_vec()).collect(),
            gamma: vec![1.0; counts.len()],
            lambda: 3.0,
            alpha: vec![1.0; means.len()],
            means,
            noise: Noise::Gaussian,
            draws: 300,
        }
    }

    pub fn with(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    pub fn coupled(mut self, gamma: f64, lambda: f64) -> Self {
        self.gamma.fill(gamma);
        self.lambda = lambda;
        self
    }

    pub fn cells(&self) -> Cells {
        cells(&self.counts)
    }

    pub fn coupling(&self) -> Coupling {
        Coupling::new(self.lambda, self.gamma.clone()).unwrap()
    }

    pub fn target(&self) -> usize {
        self.counts.len() - 1
    }

    /// Coordinates of all means, `rows` x C.
    pub fn mean_matrix(&self, rows: usize) -> Mat<f64> {
        Mat::from_fn(rows, self.means.len(), |i, r| {
            self.means[r].get(i).copied().unwrap_or(0.0)
        })
    }

    pub fn theory(&self) -> Theory {
        Theory::spherical(
            &self.cells(),
            self.features,
            &self.coupling(),
            &gram(&self.mean_matrix(self.features)),
            Some(&self.alpha),
            Corrections::DegreesOfFreedom,
        )
        .unwrap()
    }

    /// The mean of a cell.
    fn mean(&self, cell: usize) -> Vec<f64> {
        let along = |feature: usize| {
            let coordinates = self.means[cell].iter().enumerate();
            coordinates
                .map(|(i, x)| x * direction(i, feature, self.features))
                .sum()
        };
        (0..self.features).map(along).collect()
    }

    /// `count` samples of a cell, one after the other.
    fn samples(&self, cell: usize, count: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
        let (mean, deviation) = (self.mean(cell), self.alpha[cell].sqrt());
        (0..count)
            .flat_map(|_| mean.iter())
            .map(|mean| mean + deviation * self.noise.sample(random))
            .collect()
    }

    /// Trains on `draws` samples of the population, each from a seed of its own.
    pub fn simulate(&self, mut see: impl FnMut(&System<'_>, &Tasks<'_>, &mut ChaCha8Rng)) {
        let cells = self.cells();
        let (mut task, mut class) = (Vec::new(), Vec::new());
        for r in 0..cells.len() {
            let own = &cells.tasks()[cells.task_of(r)];
            let position = r - cells.of_task(cells.task_of(r)).start;
            for _ in 0..cells.count(r) {
                task.push(own.name.clone());
                class.push(own.classes[position].clone());
            }
        }
        for draw in 0..self.draws {
            let mut random = ChaCha8Rng::seed_from_u64(draw as u64);
            let values: Vec<f64> = (0..cells.len())
                .flat_map(|r| self.samples(r, cells.count(r), &mut random))
                .collect();
            let rows = Rows::row_major(&values, self.features).unwrap();
            let tasks = Tasks::new(rows, &task, &class).unwrap();
            assert_eq!(tasks.cells(), &cells);
            let statistics = Statistics::of(&tasks);
            let system = System::new(statistics, Scaling::None, &self.coupling()).unwrap();
            see(&system, &tasks, &mut random);
        }
    }

    /// The exact mean response of a new sample of a cell to a trained system.
    pub fn mean_response(&self, system: &System<'_>, cell: usize) -> Mat<f64> {
        let mean = self.mean(cell);
        let rows = Rows::row_major(&mean, self.features).unwrap();
        system.responses(self.cells().task_of(cell), rows).unwrap()
    }

    /// The exact covariance of the responses of a new sample of a cell.
    pub fn covariance(&self, system: &System<'_>, cell: usize) -> Mat<f64> {
        let w = system.weights(self.cells().task_of(cell));
        faer::Scale(self.alpha[cell]) * (w.transpose() * &w)
    }

    /// The error of a rule of a trained system for a target with two equally likely classes.
    pub fn error(&self, system: &System<'_>, rule: &BinaryRule, random: &mut ChaCha8Rng) -> f64 {
        let first = self.cells().of_task(self.target()).start;
        let missed = 1.0 - self.above(system, rule, first, random);
        0.5 * (missed + self.above(system, rule, first + 1, random))
    }

    /// How often new samples of a cell score above the threshold: exact for Gaussian noise, counted
    /// otherwise.
    fn above(
        &self,
        system: &System<'_>,
        rule: &BinaryRule,
        cell: usize,
        random: &mut ChaCha8Rng,
    ) -> f64 {
        let y = column(&rule.label_scores);
        if self.noise == Noise::Gaussian {
            let mean = (self.mean_response(system, cell) * &y)[(0, 0)];
            let variance = (y.transpose() * self.covariance(system, cell) * &y)[(0, 0)];
            return tail((rule.threshold - mean) / variance.sqrt());
        }
        let points = self.samples(cell, FRESH, random);
        let rows = Rows::row_major(&points, self.features).unwrap();
        let scores = system.responses(self.target(), rows).unwrap() * &y;
        let above = (0..FRESH).filter(|&l| scores[(l, 0)] > rule.threshold);
        above.count() as f64 / FRESH as f64
    }
}

/// Averages of many numbers over draws, with their standard errors.
#[derive(Default)]
pub struct Average {
    draws: f64,
    sum: Vec<f64>,
    squares: Vec<f64>,
}

impl Average {
    pub fn add(&mut self, values: impl IntoIterator<Item = f64>) {
        self.draws += 1.0;
        for (i, value) in values.into_iter().enumerate() {
            if i == self.sum.len() {
                self.sum.push(0.0);
                self.squares.push(0.0);
            }
            self.sum[i] += value;
            self.squares[i] += value * value;
        }
    }

    pub fn mean(&self, i: usize) -> f64 {
        self.sum[i] / self.draws
    }

    pub fn standard_error(&self, i: usize) -> f64 {
        let variance = (self.squares[i] / self.draws - self.mean(i).powi(2)).max(0.0);
        (variance / (self.draws - 1.0)).sqrt()
    }

    /// Whether all expected values are within chance and `bias`; the worst deviation and the
    /// largest standard error.
    #[track_caller]
    pub fn assert_near(&self, what: &str, expected: &[f64], bias: f64) -> (f64, f64) {
        assert_eq!(self.sum.len(), expected.len());
        let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
        for (i, &expected) in expected.iter().enumerate() {
            let (mean, error) = (self.mean(i), self.standard_error(i));
            assert!(
                (mean - expected).abs() <= STANDARD_ERRORS * error + bias,
                "{what} {i}: theory {expected}, simulation {mean} (s.e. {error}, bias {bias})"
            );
            worst = worst.max((mean - expected).abs());
            largest = largest.max(error);
        }
        (worst, largest)
    }
}

pub fn entries(m: &Mat<f64>) -> Vec<f64> {
    m.col_iter()
        .flat_map(|c| c.iter().copied().collect::<Vec<_>>())
        .collect()
}
