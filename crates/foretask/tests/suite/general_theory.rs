//! The theory of cells with any covariances: it equals `docs/2-the-theory.md#the-moments` taken literally, has the
//! invariances
//! of the method, and agrees with simulation. Run with `--nocapture` for the table.

use super::common;

use common::generate::{cases, normals, orthogonal};
use common::simulation::{Average, entries};
use common::theory::{cells, general_problems, indicator, smallest_eigenvalue};
use common::{assert_close, column};
use faer::{Mat, Side};
use foretask::estimate::covariance;
use foretask::estimate::covariance::Estimate;
use foretask::theory::{Corrections, Covariances, Theory};
use foretask::{Cells, Coupling, Rows, Scaling, Statistics, System, Tasks};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StudentT};

/// Rounding times the condition of problems with γ, λ up to 100 and covariances of any rank.
const ROUNDING: f64 = 1e-9;

/// The same fixed point and moments. Responses are compared to labels of size one: classes that are told
/// apart for certain have next to no variance.
#[track_caller]
fn assert_same(actual: &Theory, expected: &Theory) {
    assert_close(&column(&actual.tau), &column(&expected.tau), ROUNDING);
    assert_close(&actual.traces, &expected.traces, ROUNDING);
    assert_close(&actual.mean, &expected.mean, ROUNDING);
    for q in 0..expected.tau.len() {
        let gap = actual.covariance(q) - expected.covariance(q);
        assert!(gap.norm_max() <= ROUNDING * expected.covariance(q).norm_max().max(1.0));
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn blocks_give_what_the_whole_matrix_gives(case in general_problems()) {
        let (theory, expected) = (case.theory(), case.dense());
        assert_close(&column(&theory.tau), &column(&expected.tau), ROUNDING);
        assert_close(&theory.traces, &expected.traces, ROUNDING);
        assert_close(&theory.kappa, &expected.kappa, ROUNDING);
        assert_close(&theory.kappa_residual, &expected.kappa_residual, ROUNDING);
        assert_close(&theory.mean, &expected.mean, ROUNDING);
        for (q, expected) in expected.covariance.iter().enumerate() {
            assert_close(&theory.covariance(q), expected, ROUNDING);
        }
    }

    #[test]
    fn the_basis_does_not_matter(case in general_problems(), seed in any::<u64>()) {
        let basis = orthogonal(seed, case.means.nrows());
        assert_same(&case.turned(&basis).theory(), &case.theory());
    }

    #[test]
    fn diagonal_covariances_are_general_ones_in_another_basis(case in general_problems(), seed in any::<u64>()) {
        let mut case = case;
        for sigma in &mut case.distinct {
            let p = sigma.nrows();
            *sigma = Mat::from_fn(p, p, |i, j| if i == j { sigma[(i, i)] } else { 0.0 });
        }
        let basis = orthogonal(seed, case.means.nrows());
        assert_same(&case.turned(&basis).theory(), &case.theory());
    }

    #[test]
    fn each_task_may_have_its_own_origin(case in general_problems(), shift in -5.0..5.0_f64) {
        let cells = case.cells();
        let mut moved = case.clone();
        for r in 0..cells.len() {
            moved.means[(1, r)] += shift * (1 + cells.task_of(r)) as f64;
        }
        assert_same(&moved.theory(), &case.theory());
    }

    #[test]
    fn a_constant_added_to_the_labels_of_a_task_moves_its_own_scores_and_no_variance(case in general_problems()) {
        let (theory, cells) = (case.theory(), case.cells());
        for task in 0..cells.tasks().len() {
            let ones = indicator(&cells, task);
            assert_close(&(&theory.mean * &ones), &ones, ROUNDING);
            for q in 0..cells.len() {
                let covariance = theory.covariance(q);
                let moved = (&covariance * &ones).norm_max();
                prop_assert!(moved <= ROUNDING * covariance.norm_max().max(1.0), "{moved}");
            }
        }
    }

    #[test]
    fn covariances_are_symmetric_and_positive_whatever_the_means(case in general_problems()) {
        let mut case = case;
        // Means without truth in them: nothing but the noise of the average is expected of them, and
        // half of the time less than that is found.
        if case.corrections == Corrections::UnbiasedSampleMeans {
            case.corrections = Corrections::SampleMeans;
        }
        let (theory, cells) = (case.theory(), case.cells());
        for q in 0..cells.len() {
            let covariance = theory.covariance(q);
            assert_close(&covariance.transpose().to_owned(), &covariance, 1e-12);
            let smallest = smallest_eigenvalue(&covariance);
            prop_assert!(smallest >= -1e-12 * covariance.norm_max(), "{smallest}");
        }
        // In coordinates of equal noise the mean response is a shrinkage of the label.
        let scale: Vec<f64> = theory.delta.iter().map(|d| d.max(1e-9).sqrt()).collect();
        let shrinkage = Mat::from_fn(cells.len(), cells.len(), |r, s| {
            let centred = f64::from(u8::from(r == s)) - theory.mean[(r, s)];
            if theory.delta[r] * theory.delta[s] > 0.0 { scale[r] * centred / scale[s] } else { 0.0 }
        });
        prop_assert!(shrinkage.norm_l2() <= (cells.len() as f64).sqrt() * (1.0 + ROUNDING));
    }

    #[test]
    fn the_spectral_radius_of_the_jacobian_is_below_one(case in general_problems()) {
        let theory = case.theory();
        // J τ < τ for a positive τ bounds it.
        for (r, mapped) in (&theory.jacobian * column(&theory.tau)).col(0).iter().enumerate() {
            prop_assert!(*mapped < theory.tau[r], "{mapped} {}", theory.tau[r]);
        }
    }

    #[test]
    fn the_positive_part_changes_nothing_that_is_positive(case in general_problems()) {
        let mut case = case;
        case.corrections = Corrections::UnbiasedSampleMeans;
        // Means far apart, so that their noise is small beside them.
        case.means = faer::Scale(100.0) * &case.means;
        let unbiased = case.theory();
        case.corrections = Corrections::SampleMeans;
        let positive = case.theory();
        let h = Mat::from_fn(unbiased.tau.len(), unbiased.tau.len(), |r, s| {
            unbiased.delta[r].sqrt() * unbiased.alignment[(r, s)] * unbiased.delta[s].sqrt()
        });
        let unchanged = (&positive.alignment - &unbiased.alignment).norm_max()
            <= ROUNDING * unbiased.alignment.norm_max();
        prop_assert_eq!(unchanged, smallest_eigenvalue(&h) >= -1e-9 * h.norm_max());
    }
}

/// Averages of n_r samples instead of the true means: without their noise H' is unbiased.
#[test]
fn the_noise_of_sample_means_is_what_is_taken_out_of_them() {
    let population = Population::new("sample means", 40, &[&[8, 12], &[6, 9, 7]], |r, i, j| {
        toeplitz([0.2, 0.5, -0.4, 0.3, 0.7][r], i, j) * [1.0, 2.0, 0.5, 1.0, 1.5][r]
    });
    let truth = population.theory();
    let general = |means: &Mat<f64>, corrections: Corrections| {
        Theory::general(
            &population.cells(),
            &population.coupling(),
            &population.covariances,
            means,
            corrections,
        )
        .unwrap()
    };
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let [mut raw, mut unbiased, mut separation] = [(); 3].map(|()| Average::default());
    let first = population.cells().of_task(1).start;
    // How far apart the target's first two classes are expected to be, in their standard deviations.
    let apart = |theory: &Theory| {
        let y = Mat::from_fn(5, 1, |r, _| [1.0, -1.0, 1.0, -1.0, 0.0][r]);
        let scores = &theory.mean * &y;
        let variance = (y.transpose() * theory.covariance(first) * &y)[(0, 0)];
        (scores[(first, 0)] - scores[(first + 1, 0)]) / variance.sqrt()
    };
    for _ in 0..400 {
        let means = population.sample_means(&mut random);
        let at = |corrections: Corrections| general(&means, corrections);
        raw.add(entries(&at(Corrections::DegreesOfFreedom).alignment));
        unbiased.add(entries(&at(Corrections::UnbiasedSampleMeans).alignment));
        separation.add([
            apart(&at(Corrections::DegreesOfFreedom)),
            apart(&at(Corrections::SampleMeans)),
        ]);
    }
    let expected = entries(&truth.alignment);
    unbiased.assert_near("H'", &expected, 0.0);
    let diagonal = |r: usize| raw.mean(6 * r) / truth.alignment[(r, r)];
    assert!(
        (0..5).all(|r| diagonal(r) > 1.2),
        "the noise is worth a test"
    );
    println!(
        "separation {:.3}; foretold from sample means {:.3}, without their noise {:.3}",
        apart(&truth),
        separation.mean(0),
        separation.mean(1)
    );
    let gap = |i: usize| (separation.mean(i) - apart(&truth)).abs();
    assert!(gap(1) < 0.5 * gap(0));
}

/// With many rows to a feature every estimate of the covariances is near the truth, and so is the theory.
#[test]
fn the_theory_of_estimated_covariances_is_near_that_of_the_true_ones() {
    let counts: &[&[usize]] = &[&[900, 700], &[500, 600]];
    let population = Population::new("estimated", 15, counts, |r, i, j| {
        toeplitz([0.2, 0.5, -0.4, 0.3][r], i, j) * [1.0, 2.0, 0.5, 1.0][r]
    });
    let truth = population.theory();
    let samples = population.draw(&mut ChaCha8Rng::seed_from_u64(8));
    let (task, class) = population.names();
    let tasks = Tasks::new(samples.transpose().into(), &task, &class).unwrap();
    let statistics = Statistics::of(&tasks);
    let scales = [1.0, 1.0];
    for how in [Estimate::Sample, Estimate::Oas, Estimate::LedoitWolf] {
        let theory = Theory::general(
            tasks.cells(),
            &population.coupling(),
            &covariance::estimate(&statistics, &scales, how).unwrap(),
            &covariance::means(&statistics, &scales),
            Corrections::SampleMeans,
        )
        .unwrap();
        // 500 rows know a covariance and a mean to about 1/√500.
        assert_close(&theory.mean, &truth.mean, 0.05);
        for r in 0..4 {
            assert_close(&theory.covariance(r), &truth.covariance(r), 0.1);
        }
    }
}

/// The finite-size bias of a mean at p = 100: up to .0046 in `docs/2-the-theory.md#theory-against-simulation`.
/// Both fall like 1/p.
const MEAN_BIAS: f64 = 0.005;
/// That of a covariance, of its largest entry: up to 1.7 % in `docs/2-the-theory.md#theory-against-simulation`.
const COVARIANCE_BIAS: f64 = 0.02;

/// The law of the noise before it is given its covariance; all have unit variance.
#[derive(Clone, Copy, Debug)]
enum Noise {
    Gaussian,
    Rademacher,
    /// Student's law with five degrees of freedom, cut off at six: heavy tails, but concentrated.
    CutStudent,
}

impl Noise {
    fn sample(self, random: &mut ChaCha8Rng) -> f64 {
        let normal: f64 = StandardNormal.sample(random);
        match self {
            Self::Gaussian => normal,
            Self::Rademacher => normal.signum(),
            Self::CutStudent => loop {
                let student: f64 = StudentT::new(5.0).unwrap().sample(random);
                if student.abs() < 6.0 {
                    return student / CUT_STUDENT_DEVIATION;
                }
            },
        }
    }
}

/// The standard deviation of Student's law with five degrees of freedom given that it is below six.
const CUT_STUDENT_DEVIATION: f64 = 1.2464;

/// Cells with means that are spread over all features and covariances of any kind.
struct Population {
    name: &'static str,
    counts: Vec<Vec<usize>>,
    gamma: f64,
    lambda: f64,
    means: Mat<f64>,
    covariances: Covariances,
    /// Σ^{1/2} of each cell.
    roots: Vec<Mat<f64>>,
    noise: Noise,
    draws: usize,
}

fn toeplitz(base: f64, i: usize, j: usize) -> f64 {
    base.powi(i.abs_diff(j) as i32)
}

impl Population {
    /// `covariance(r, i, j)` is the entry (i, j) of cell r. Means lie along cosines of a few
    /// frequencies, two thirds of which a class shares with the same class of other tasks.
    fn new(
        name: &'static str,
        features: usize,
        counts: &[&[usize]],
        covariance: impl Fn(usize, usize, usize) -> f64,
    ) -> Self {
        let counts: Vec<Vec<usize>> = counts.iter().map(|counts| counts.to_vec()).collect();
        let cells = cells(&counts);
        let p = features as f64;
        let wave = |frequency: usize, i: usize| {
            let phase = std::f64::consts::PI * (i as f64 + 0.5) * (frequency + 1) as f64 / p;
            (2.0 / p).sqrt() * phase.cos()
        };
        let means = Mat::from_fn(features, cells.len(), |i, r| {
            let task = cells.task_of(r);
            let class = r - cells.of_task(task).start;
            1.6 * wave(class, i) + 0.8 * wave(5 + r, i) + 0.3 * task as f64
        });
        let sigma: Vec<Mat<f64>> = (0..cells.len())
            .map(|r| Mat::from_fn(features, features, |i, j| covariance(r, i, j)))
            .collect();
        Self {
            name,
            counts,
            gamma: 1.0,
            lambda: 3.0,
            means,
            roots: sigma.iter().map(root).collect(),
            covariances: Covariances::new(sigma).unwrap(),
            noise: Noise::Gaussian,
            draws: 250,
        }
    }

    fn with(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    fn cells(&self) -> Cells {
        cells(&self.counts)
    }

    fn coupling(&self) -> Coupling {
        Coupling::uniform(self.lambda, self.gamma, self.counts.len()).unwrap()
    }

    fn theory(&self) -> Theory {
        Theory::general(
            &self.cells(),
            &self.coupling(),
            &self.covariances,
            &self.means,
            Corrections::DegreesOfFreedom,
        )
        .unwrap()
    }

    /// Samples of all cells, one a column.
    fn draw(&self, random: &mut ChaCha8Rng) -> Mat<f64> {
        let (cells, p) = (self.cells(), self.means.nrows());
        let total: usize = (0..cells.len()).map(|r| cells.count(r)).sum();
        let mut samples = Mat::zeros(p, total);
        let mut start = 0;
        for (r, root) in self.roots.iter().enumerate() {
            let n = cells.count(r);
            let noise = Mat::from_fn(p, n, |_, _| self.noise.sample(random));
            let coloured = root * noise;
            for (sample, i) in (0..n).flat_map(|sample| (0..p).map(move |i| (sample, i))) {
                samples[(i, start + sample)] = self.means[(i, r)] + coloured[(i, sample)];
            }
            start += n;
        }
        samples
    }

    /// The task and the class of each sample.
    fn names(&self) -> (Vec<String>, Vec<String>) {
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
        (task, class)
    }

    fn sample_means(&self, random: &mut ChaCha8Rng) -> Mat<f64> {
        let (cells, samples) = (self.cells(), self.draw(random));
        let start = |r: usize| (0..r).map(|s| cells.count(s)).sum::<usize>();
        Mat::from_fn(samples.nrows(), cells.len(), |i, r| {
            let own = samples.row(i).subcols(start(r), cells.count(r));
            own.iter().sum::<f64>() / cells.count(r) as f64
        })
    }

    /// Trains on draws, and compares mean and covariance of the responses of new samples, which are
    /// known exactly for each draw, with the theory.
    fn check(&self) {
        let (theory, cells, p) = (self.theory(), self.cells(), self.means.nrows());
        let (task, class) = self.names();
        let mut means = Average::default();
        let mut covariances: Vec<Average> = (0..cells.len()).map(|_| Average::default()).collect();
        for draw in 0..self.draws {
            let mut random = ChaCha8Rng::seed_from_u64(draw as u64);
            let samples = self.draw(&mut random);
            let tasks = Tasks::new(samples.transpose().into(), &task, &class).unwrap();
            let statistics = Statistics::of(&tasks);
            let system = System::new(statistics, Scaling::None, &self.coupling()).unwrap();
            means.add((0..cells.len()).flat_map(|r| {
                let mean: Vec<f64> = self.means.col(r).iter().copied().collect();
                let rows = Rows::row_major(&mean, p).unwrap();
                entries(&system.responses(cells.task_of(r), rows).unwrap())
            }));
            for (r, average) in covariances.iter_mut().enumerate() {
                let w = system.weights(cells.task_of(r));
                average.add(entries(&(w.transpose() * self.covariances.of(r) * &w)));
            }
        }
        let size = 100.0 / p as f64;
        let rows = entries(&theory.mean.transpose().to_owned());
        let (mean_gap, mean_error) = means.assert_near("mean", &rows, size * MEAN_BIAS);
        let (mut gap, mut error) = (0.0_f64, 0.0_f64);
        for (r, average) in covariances.iter().enumerate() {
            let expected = theory.covariance(r);
            let largest = expected.norm_max();
            let bias = size * COVARIANCE_BIAS * largest;
            let (own_gap, own_error) = average.assert_near("covariance", &entries(&expected), bias);
            gap = gap.max(own_gap / largest);
            error = error.max(own_error / largest);
        }
        println!(
            "{:<22} {:<10} {p:>4} | {mean_gap:.4} ({mean_error:.4}) | {:>4.1} % ({:.1}) | {} evaluations",
            self.name,
            format!("{:?}", self.noise),
            100.0 * gap,
            100.0 * error,
            theory.iterations,
        );
    }
}

/// The symmetric root of a covariance.
fn root(sigma: &Mat<f64>) -> Mat<f64> {
    let eigen = sigma.self_adjoint_eigen(Side::Lower).unwrap();
    let (u, s) = (eigen.U(), eigen.S());
    let scaled = Mat::from_fn(u.nrows(), u.ncols(), |i, j| {
        u[(i, j)] * s[j].max(0.0).sqrt()
    });
    scaled * u.transpose()
}

#[test]
fn toeplitz_classes() {
    let population = || {
        let base = [0.3, 0.6, -0.5, 0.4, 0.7, 0.0];
        Population::new(
            "Toeplitz m = 3",
            100,
            &[&[90, 60, 110], &[40, 50, 45]],
            move |r, i, j| toeplitz(base[r], i, j),
        )
    };
    for noise in [Noise::Gaussian, Noise::Rademacher, Noise::CutStudent] {
        population().with(noise).check();
    }
}

/// A few directions of large variance, others for every class, spread over all features.
#[test]
fn spiked_classes() {
    let population = || {
        let p = 100;
        let spikes: Vec<Vec<f64>> = (0..6)
            .flat_map(|r| normals(40 + r, p, 2))
            .map(|x| x.iter().map(|x| x / (p as f64).sqrt()).collect())
            .collect();
        Population::new(
            "spikes m = 3",
            p,
            &[&[70, 80, 100], &[50, 40, 60]],
            move |r, i, j| {
                let own = f64::from(u8::from(i == j));
                own + 8.0 * spikes[2 * r][i] * spikes[2 * r][j]
                    + 4.0 * spikes[2 * r + 1][i] * spikes[2 * r + 1][j]
            },
        )
    };
    for noise in [Noise::Gaussian, Noise::Rademacher] {
        population().with(noise).check();
    }
}

/// Sizes, correlations and ranks that differ from class to class.
#[test]
fn five_classes_of_their_own_covariance() {
    let population = || {
        let counts: &[&[usize]] = &[&[60, 80, 50, 70, 90], &[30, 25, 40, 35, 30]];
        Population::new("own m = 5", 100, counts, |r, i, j| {
            let scale = [0.5, 1.0, 2.0, 1.5, 0.7][r % 5];
            match r % 3 {
                0 => scale * toeplitz(0.5, i, j),
                1 if i == j => 2.0 * scale * (i % 2) as f64,
                1 => 0.0,
                _ => scale * (toeplitz(0.0, i, j) + toeplitz(-0.8, i, j)) / 2.0,
            }
        })
    };
    for noise in [Noise::Gaussian, Noise::CutStudent] {
        population().with(noise).check();
    }
}

/// A task with one covariance for all its classes, and one that has a class less.
#[test]
fn unequal_class_lists() {
    Population::new(
        "m = 3 and 2",
        100,
        &[&[80, 60, 70], &[30, 45]],
        |r, i, j| {
            if r < 3 {
                toeplitz(0.5, i, j)
            } else {
                (r - 1) as f64 * toeplitz(-0.3, i, j)
            }
        },
    )
    .check();
}
