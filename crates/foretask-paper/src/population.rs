//! Gaussian classes with known means, as in all synthetic experiments: x = μ + σ ε.

use faer::Mat;
use foretask::{Cells, Coupling, Measured, Model, Rows, Task, Tasks};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::error::Result;

/// The task that is decided for; its name sorts after those of all sources.
pub const TARGET: &str = "target";

/// A population of tasks, the target last.
#[derive(Clone, Debug)]
pub struct Population {
    /// p.
    pub features: usize,
    /// σ², the variance of every feature.
    pub variance: f64,
    /// The tasks in the order of their names.
    pub tasks: Vec<Classes>,
}

/// The classes of one task.
#[derive(Clone, Debug)]
pub struct Classes {
    /// The task's name.
    pub name: String,
    /// The mean of each class: entries that are not zero.
    pub means: Vec<Vec<(usize, f64)>>,
    /// How many training samples each class has.
    pub counts: Vec<usize>,
}

/// Rows with their tasks and classes.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// p.
    pub features: usize,
    /// Row after row.
    pub values: Vec<f64>,
    /// The task of each row.
    pub task: Vec<String>,
    /// The class of each row, an index.
    pub class: Vec<usize>,
}

impl Samples {
    /// The rows.
    ///
    /// # Errors
    /// If there are none.
    pub fn rows(&self) -> Result<Rows<'_>> {
        Ok(Rows::row_major(&self.values, self.features)?)
    }

    /// As training data.
    ///
    /// # Errors
    /// As [`Tasks::new`].
    pub fn tasks(&self) -> Result<Tasks<'_>> {
        let class: Vec<String> = self.class.iter().map(|&class| class_name(class)).collect();
        Ok(Tasks::new(self.rows()?, &self.task, &class)?)
    }

    /// The share of wrong decisions of a model, classes weighing alike whatever their numbers.
    ///
    /// # Errors
    /// If the model has other features.
    pub fn error_of(&self, model: &Model) -> Result<f64> {
        let shares: Vec<f64> = self
            .measured(model)?
            .class_errors
            .into_iter()
            .flatten()
            .collect();
        Ok(shares.iter().sum::<f64>() / (shares.len() as f64).max(1.0))
    }

    /// What a model does on the samples, whose classes are numbered as the model's are.
    ///
    /// # Errors
    /// If the model has other features.
    pub fn measured(&self, model: &Model) -> Result<Measured> {
        let scores = model.scores(self.rows()?)?;
        Ok(Measured::of_scores(model, &scores, &self.class))
    }
}

/// The mean over classes of the share of wrong decisions.
pub fn balanced_error(decided: &[usize], class: &[usize]) -> f64 {
    let classes = class.iter().max().map_or(0, |most| most + 1);
    let mut count = vec![0.0; classes];
    let mut wrong = vec![0.0; classes];
    for (decision, &truth) in decided.iter().zip(class) {
        count[truth] += 1.0;
        wrong[truth] += f64::from(u8::from(*decision != truth));
    }
    let shares = wrong.iter().zip(&count).filter(|(_, n)| **n > 0.0);
    let present = count.iter().filter(|&&n| n > 0.0).count() as f64;
    shares.map(|(w, n)| w / n).sum::<f64>() / present.max(1.0)
}

/// The name of a class: names of one length sort as numbers do.
pub fn class_name(class: usize) -> String {
    format!("{class:02}")
}

impl Population {
    /// The cells, in order.
    pub fn cells(&self) -> Cells {
        let tasks = self.tasks.iter().map(|task| Task {
            name: task.name.clone(),
            classes: (0..task.counts.len()).map(class_name).collect(),
            counts: task.counts.clone(),
        });
        Cells::new(tasks.collect())
    }

    /// The index of the target.
    pub fn target(&self) -> usize {
        self.tasks.len() - 1
    }

    /// The means of all cells, p x C.
    pub fn means(&self) -> Mat<f64> {
        let cells: Vec<_> = self.tasks.iter().flat_map(|task| &task.means).collect();
        let mut means = Mat::zeros(self.features, cells.len());
        for (cell, entries) in cells.into_iter().enumerate() {
            for &(feature, value) in entries {
                means[(feature, cell)] += value;
            }
        }
        means
    }

    /// The inner products of the means.
    pub fn gram(&self) -> Mat<f64> {
        let means = self.means();
        means.transpose() * &means
    }

    /// A training set.
    pub fn training(&self, random: &mut ChaCha8Rng) -> Samples {
        let mut samples = Samples {
            features: self.features,
            ..Samples::default()
        };
        for task in &self.tasks {
            for (class, &count) in task.counts.iter().enumerate() {
                self.draw(task, class, count, random, &mut samples);
            }
        }
        samples
    }

    /// New samples of the target, as many of each class.
    pub fn test(&self, of_each: usize, random: &mut ChaCha8Rng) -> Samples {
        let mut samples = Samples {
            features: self.features,
            ..Samples::default()
        };
        if let Some(target) = self.tasks.last() {
            for class in 0..target.counts.len() {
                self.draw(target, class, of_each, random, &mut samples);
            }
        }
        samples
    }

    fn draw(
        &self,
        task: &Classes,
        class: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        samples: &mut Samples,
    ) {
        let deviation = self.variance.sqrt();
        for _ in 0..count {
            let start = samples.values.len();
            samples.values.extend((0..self.features).map(|_| {
                let noise: f64 = StandardNormal.sample(random);
                deviation * noise
            }));
            for &(feature, value) in &task.means[class] {
                samples.values[start + feature] += value;
            }
            samples.task.push(task.name.clone());
            samples.class.push(class);
        }
    }

    /// The law of score number `score` of a model for new samples of a class of the target: exact, since
    /// the score is linear and the population known. Mean and variance.
    pub fn law(&self, model: &Model, score: usize, class: usize) -> (f64, f64) {
        let weights = model.weights().col(score);
        let mean: f64 = self.tasks[self.target()].means[class]
            .iter()
            .map(|&(feature, value)| weights[feature] * value)
            .sum();
        let size: f64 = weights.iter().map(|w| w * w).sum();
        (mean + model.intercept()[score], self.variance * size)
    }
}

/// The classes of a task at 2 e_j, or at β times that and √(1 - β²) 2 e_(p-j): the paper's many classes,
/// with an orthogonal part of the norm that its numbers need.
pub fn simplex(name: &str, features: usize, counts: &[usize], beta: Option<f64>) -> Classes {
    const SIZE: f64 = 2.0;
    let means = (0..counts.len()).map(|class| match beta {
        None => vec![(class, SIZE)],
        Some(beta) => vec![
            (class, SIZE * beta),
            (features - 1 - class, SIZE * (1.0 - beta * beta).sqrt()),
        ],
    });
    Classes {
        name: name.to_owned(),
        means: means.collect(),
        counts: counts.to_vec(),
    }
}

/// Two classes at ±`mean`.
pub fn opposite(name: &str, counts: [usize; 2], mean: &[(usize, f64)]) -> Classes {
    let times = |sign: f64| {
        mean.iter()
            .map(|&(feature, x)| (feature, sign * x))
            .collect()
    };
    Classes {
        name: name.to_owned(),
        means: vec![times(1.0), times(-1.0)],
        counts: counts.to_vec(),
    }
}

/// λ and γ divided by the norm of the task matrix diag(γ) + λ 1 1ᵀ, as the authors' scripts do and the
/// paper does not say.
///
/// # Errors
/// As [`Coupling::new`].
pub fn divided(lambda: f64, gamma: &[f64]) -> Result<Coupling> {
    // The norm is the root above max γ of 1 = λ Σ 1/(x - γ_i); power iteration needs no care.
    let mut vector = vec![1.0; gamma.len()];
    let mut norm = 0.0;
    for _ in 0..POWER_STEPS {
        let shared = lambda * vector.iter().sum::<f64>();
        vector
            .iter_mut()
            .zip(gamma)
            .for_each(|(x, g)| *x = g * *x + shared);
        norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    let gamma = gamma.iter().map(|g| g / norm).collect();
    Ok(Coupling::new(lambda / norm, gamma)?)
}

/// The second eigenvalue is below the largest γ, the first above by about kλ: far fewer steps would do.
const POWER_STEPS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::Random;

    #[test]
    fn the_norm_is_that_of_the_task_matrix() {
        // γ = 1, λ = 10, two tasks: the notes say 21.
        let coupling = divided(10.0, &[1.0, 1.0]).unwrap();
        assert!((coupling.lambda() - 10.0 / 21.0).abs() < 1e-14);
        // γ = (.1, 1), λ = 1: the golden file of the one-versus-all figure has .3778….
        let coupling = divided(1.0, &[0.1, 1.0]).unwrap();
        assert!((coupling.lambda() - 0.377_845_325_022_445_5).abs() < 1e-14);
        assert!((coupling.gamma()[0] - 0.037_784_532_502_244_55).abs() < 1e-14);
    }

    #[test]
    fn classes_weigh_alike_in_a_balanced_error() {
        // Of class 0 one of three is wrong, of class 1 one of one.
        let error = balanced_error(&[0, 0, 1, 0], &[0, 0, 0, 1]);
        assert!((error - (1.0 / 3.0 + 1.0) / 2.0).abs() < 1e-15);
    }

    #[test]
    fn samples_have_the_means_of_their_classes() {
        let population = Population {
            features: 6,
            variance: 0.25,
            tasks: vec![
                simplex("source", 6, &[4000, 4000], None),
                simplex(TARGET, 6, &[4000, 4000], Some(0.6)),
            ],
        };
        let samples = population.training(&mut Random::new("means", 0).source);
        let means = population.means();
        // The mean of 4,000 values of deviation .5 is off by .008; five of these for 24 of them.
        const CHANCE: f64 = 0.04;
        for cell in 0..4 {
            for feature in 0..6 {
                let rows = cell * 4000..(cell + 1) * 4000;
                let sum: f64 = rows.map(|row| samples.values[row * 6 + feature]).sum();
                assert!((sum / 4000.0 - means[(feature, cell)]).abs() < CHANCE);
            }
        }
        assert_eq!(samples.tasks().unwrap().cells(), &population.cells());
    }
}
