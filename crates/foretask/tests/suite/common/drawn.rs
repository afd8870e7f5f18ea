//! Tasks drawn from Gaussians with known class means, and studies of them.

use foretask::{Labels, Model, Rows, Settings, Study, Tasks};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// The mean of a class at a feature.
pub type Mean = dyn Fn(usize, usize) -> f64;

#[derive(Clone)]
pub struct Data {
    pub values: Vec<f64>,
    pub features: usize,
    pub task: Vec<String>,
    pub class: Vec<String>,
}

impl Data {
    /// Each task: name, samples per class, and the direction along which its classes differ.
    pub fn new(features: usize, tasks: &[(&str, &[usize], &Mean)], seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut values, mut task, mut class) = (Vec::new(), Vec::new(), Vec::new());
        for (name, counts, mean) in tasks {
            for (c, &count) in counts.iter().enumerate() {
                for _ in 0..count {
                    values.extend((0..features).map(|feature| {
                        let noise: f64 = StandardNormal.sample(&mut random);
                        noise + mean(c, feature)
                    }));
                    task.push((*name).to_owned());
                    class.push(format!("c{c}"));
                }
            }
        }
        Self {
            values,
            features,
            task,
            class,
        }
    }

    pub fn rows(&self) -> Rows<'_> {
        Rows::row_major(&self.values, self.features).unwrap()
    }

    pub fn tasks(&self) -> Tasks<'_> {
        Tasks::new(self.rows(), &self.task, &self.class).unwrap()
    }
}

/// Class c has its mean at `size` along feature c.
pub fn along(size: f64) -> impl Fn(usize, usize) -> f64 {
    move |class, feature| if feature == class { size } else { 0.0 }
}

/// As [`along`], with the classes rotated by one.
pub fn permuted(size: f64, classes: usize) -> impl Fn(usize, usize) -> f64 {
    move |class, feature| {
        if feature == (class + 1) % classes {
            size
        } else {
            0.0
        }
    }
}

pub fn settings(labels: Labels) -> Settings {
    Settings {
        target: Some("target".into()),
        labels,
        ..Settings::default()
    }
}

pub fn study<'a>(tasks: &'a Tasks<'a>, labels: Labels) -> Study<'a> {
    Study::new(tasks, &settings(labels)).unwrap()
}

pub fn error_of(model: &Model, test: &Data) -> f64 {
    let decided = model.predict(test.rows()).unwrap();
    let wrong = decided
        .iter()
        .zip(&test.class)
        .filter(|(c, truth)| &model.classes()[**c] != *truth)
        .count();
    wrong as f64 / test.class.len() as f64
}
