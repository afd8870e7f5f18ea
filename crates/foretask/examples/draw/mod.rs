//! Gaussian classes to try things on: two of them, 40 features, along a direction that each task has of its own.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Features of every sample.
pub const FEATURES: usize = 40;

/// Rows with their task and class.
#[derive(Default)]
pub struct Drawn {
    pub values: Vec<f64>,
    pub task: Vec<&'static str>,
    pub class: Vec<&'static str>,
}

impl Drawn {
    /// Adds `samples` of each class. `likeness` is the cosine between this task's direction and the target's:
    /// 1 the same problem, 0 another one, -1 the same with its classes swapped.
    pub fn add(&mut self, task: &'static str, samples: usize, likeness: f64, seed: u64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let across = (1.0 - likeness * likeness).sqrt();
        for _ in 0..samples {
            for (class, side) in [("ash", 1.0), ("oak", -1.0)] {
                for feature in 0..FEATURES {
                    let noise: f64 = StandardNormal.sample(&mut random);
                    let shift = match feature {
                        0 => 1.2 * likeness,
                        1 => 1.2 * across,
                        _ => 0.0,
                    };
                    self.values.push(side * shift + noise);
                }
                self.task.push(task);
                self.class.push(class);
            }
        }
    }
}
