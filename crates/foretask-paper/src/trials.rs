//! Trials in parallel, each from its own seed; their mean and spread.

use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::{Error, Result};

/// What an experiment is run with.
#[derive(Clone, Debug)]
pub struct Context {
    /// The folder of the real data sets.
    pub data: PathBuf,
    /// How many trials, instead of the experiment's own number.
    pub trials: Option<usize>,
    bar: ProgressBar,
}

impl Context {
    /// Without a progress bar.
    pub fn new(data: impl Into<PathBuf>, trials: Option<usize>) -> Self {
        Self {
            data: data.into(),
            trials,
            bar: ProgressBar::hidden(),
        }
    }

    /// The same with a bar named `what`, shown if standard error is a terminal.
    pub fn with_progress(mut self, what: &'static str) -> Self {
        self.bar =
            ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{msg:16} {bar:40} {pos}/{len} trials") {
            self.bar.set_style(style);
        }
        self
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Where a data file is.
    ///
    /// # Errors
    /// [`Error::Missing`] if it is not there.
    pub fn file(&self, file: &'static str) -> Result<PathBuf> {
        let path = self.data.join(file);
        if path.is_file() {
            Ok(path)
        } else {
            Err(Error::Missing {
                file,
                folder: self.data.clone(),
            })
        }
    }

    /// The folder of the data.
    pub fn folder(&self) -> &Path {
        &self.data
    }

    /// Runs `count` trials of the part of an experiment called `what`, as many at a time as there are
    /// threads; results are in the order of the trials.
    ///
    /// # Errors
    /// The first error of a trial.
    pub fn run<T: Send>(
        &self,
        what: &str,
        count: usize,
        trial: impl Fn(Random) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.bar.inc_length(count as u64);
        (0..count)
            .into_par_iter()
            .map(|number| {
                let result = trial(Random::new(what, number));
                self.bar.inc(1);
                result
            })
            .collect()
    }
}

/// The random numbers of one trial.
#[derive(Clone, Debug)]
pub struct Random {
    /// Where they start.
    pub seed: u64,
    /// The generator.
    pub source: ChaCha8Rng,
}

impl Random {
    /// Those of a trial of `what`.
    pub fn new(what: &str, trial: usize) -> Self {
        let seed = seed(what, trial);
        Self {
            seed,
            source: ChaCha8Rng::seed_from_u64(seed),
        }
    }
}

/// The seed of a trial: the FNV-1a hash of the part's name, plus the number of the trial.
pub fn seed(what: &str, trial: usize) -> u64 {
    let hash = what.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // 53 bits, so that JSON holds it exactly.
    (hash >> 11).wrapping_add(trial as u64)
}

/// Mean and standard deviation over trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of a single trial; zero if there is only one.
    pub deviation: f64,
    /// How many trials.
    pub trials: usize,
}

impl Spread {
    /// Of some values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        Self {
            mean,
            deviation: (squares / (n - 1.0).max(1.0)).sqrt(),
            trials: values.len(),
        }
    }

    /// The standard error of the mean.
    pub fn error(&self) -> f64 {
        self.deviation / (self.trials.max(1) as f64).sqrt()
    }

    /// The same in other units.
    pub fn times(self, factor: f64) -> Self {
        Self {
            mean: factor * self.mean,
            deviation: factor.abs() * self.deviation,
            trials: self.trials,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_a_sample() {
        let spread = Spread::of([1.0, 2.0, 3.0, 6.0]);
        assert_eq!((spread.mean, spread.trials), (3.0, 4));
        // Squares 4 + 1 + 0 + 9 over three degrees of freedom.
        assert!((spread.deviation - (14.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Spread::of([5.0]).deviation, 0.0);
    }

    #[test]
    fn seeds_differ_between_parts_and_trials_and_fit_json() {
        let seeds = [seed("a", 0), seed("a", 1), seed("b", 0), seed("b", 1)];
        for (i, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..i].contains(seed));
            assert!(*seed < 1 << 53);
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_trials() {
        let context = Context::new("", None);
        let run = || context.run("order", 20, |random| Ok(random.seed)).unwrap();
        let expected: Vec<u64> = (0..20).map(|trial| seed("order", trial)).collect();
        assert_eq!(run(), expected);
    }
}
