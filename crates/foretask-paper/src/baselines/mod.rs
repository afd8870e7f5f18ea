//! What the paper compares with: methods that are given labelled rows of a source and of a target and decide
//! for new rows of the target.
//!
//! The single-task and the pooled least-squares SVM are the library's (`Labels::Alone`, `Labels::Pooled`).
//!
//! To add one, implement [`Baseline`] in a file of its own here and list it in [`all`]: the Office tables run
//! every baseline on every trial and print its mean and deviation beside the paper's row of the same
//! [`Baseline::name`].

mod cdls;
mod features;
mod ils;
mod mmdt;
mod svm;

pub use cdls::Cdls;
pub use ils::Ils;
pub use mmdt::Mmdt;

use crate::error::Result;

/// Rows with their classes.
#[derive(Clone, Debug, Default)]
pub struct Labelled {
    /// Row after row, [`Problem::features`] values each.
    pub values: Vec<f64>,
    /// The class of each row, from 0 to [`Problem::classes`] - 1. Every class occurs.
    pub class: Vec<usize>,
}

/// One transfer problem.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// p, the same for all rows.
    pub features: usize,
    /// m, the same for source and target.
    pub classes: usize,
    /// Labelled rows of the source.
    pub source: Labelled,
    /// Labelled rows of the target.
    pub target: Labelled,
    /// New rows of the target, row after row. Their classes are nowhere in this struct. Methods that learn
    /// from unlabelled test rows (CDLS, ILS) may look at them and must say so; ours do not.
    pub test: Vec<f64>,
}

/// A method that decides for new rows of the target.
pub trait Baseline: Sync {
    /// Its name, as in the paper's tables where it is there.
    fn name(&self) -> &str;

    /// The class of each row of [`Problem::test`], in order. The same problem and seed give the same answer,
    /// whatever the number of threads; methods without chance ignore the seed.
    ///
    /// # Errors
    /// [`crate::Error::Baseline`] or the library's error, with the reason.
    fn predict(&self, problem: &Problem, seed: u64) -> Result<Vec<usize>>;
}

/// All baselines, in the order of the tables.
pub fn all() -> Vec<Box<dyn Baseline>> {
    vec![Box::new(Mmdt), Box::new(Ils), Box::new(Cdls)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    const FEATURES: usize = 12;
    const CLASSES: usize = 3;
    const TEST_ROWS: usize = 40;

    /// `rows` of each class around 4 e_class, then `moved`.
    fn rows(rows: usize, random: &mut ChaCha8Rng, moved: impl Fn(usize, f64) -> f64) -> Labelled {
        let mut some = Labelled::default();
        for class in 0..CLASSES {
            for _ in 0..rows {
                for feature in 0..FEATURES {
                    let noise: f64 = StandardNormal.sample(random);
                    let mean = if feature == class { 4.0 } else { 0.0 };
                    some.values.push(moved(feature, mean + noise));
                }
                some.class.push(class);
            }
        }
        some
    }

    /// The target is the source shifted toward the second class and scaled; few of its rows are labelled. With
    /// the classes of the test rows.
    fn easy(labelled: usize) -> (Problem, Vec<usize>) {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let target = |feature: usize, x: f64| 0.7 * x + if feature == 1 { 4.0 } else { 0.5 };
        let source = rows(60, &mut random, |_, x| x);
        let few = rows(labelled, &mut random, target);
        let test = rows(TEST_ROWS, &mut random, target);
        let problem = Problem {
            features: FEATURES,
            classes: CLASSES,
            source,
            target: few,
            test: test.values,
        };
        (problem, test.class)
    }

    fn accuracy(decided: &[usize], truth: &[usize]) -> f64 {
        assert_eq!(decided.len(), truth.len());
        let right = decided.iter().zip(truth).filter(|(a, b)| a == b).count();
        right as f64 / truth.len() as f64
    }

    #[test]
    fn competitors_solve_a_shifted_problem_that_the_source_alone_does_not() {
        let (problem, truth) = easy(8);
        let machines = svm::Training {
            values: &problem.source.values,
            features: FEATURES,
            class: &problem.source.class,
            cost: &[1.0; 60 * CLASSES],
        }
        .weights(CLASSES);
        let alone = accuracy(&svm::decide(&machines, &problem.test), &truth);
        assert!(alone < 0.6, "source alone: {alone}");
        for baseline in all() {
            let found = accuracy(&baseline.predict(&problem, 3).unwrap(), &truth);
            assert!(found > 0.85, "{}: {found}", baseline.name());
        }
    }

    #[test]
    fn the_same_problem_and_seed_give_the_same_answer_with_one_thread_and_with_many() {
        let (problem, _) = easy(8);
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        for baseline in all() {
            let alone = pool(1).unwrap().install(|| baseline.predict(&problem, 3));
            let many = pool(4).unwrap().install(|| baseline.predict(&problem, 3));
            assert_eq!(alone.unwrap(), many.unwrap(), "{}", baseline.name());
        }
    }

    #[test]
    fn one_labelled_row_of_each_class_is_enough_to_beat_chance() {
        let (problem, truth) = easy(1);
        for baseline in all() {
            let found = accuracy(&baseline.predict(&problem, 3).unwrap(), &truth);
            assert!(found > 0.5, "{}: {found}", baseline.name());
        }
    }

    #[test]
    fn what_cannot_be_answered_is_an_error_that_says_so() {
        let (problem, _) = easy(8);
        let mut missing = problem.clone();
        missing.target.class.iter_mut().for_each(|class| *class = 0);
        let mut unknown = problem.clone();
        unknown.source.class[0] = CLASSES;
        let mut short = problem.clone();
        short.source.values.pop();
        for baseline in all() {
            let error = |problem| baseline.predict(problem, 3).unwrap_err().to_string();
            let name = baseline.name();
            assert_eq!(
                error(&missing),
                format!("{name}: the target has no row of class 1; it needs one of every class")
            );
            assert_eq!(
                error(&unknown),
                format!("{name}: the source has a row of class 3, but there are only 3 classes")
            );
            assert_eq!(
                error(&short),
                format!(
                    "{name}: the source has 2159 values, which is not 12 for each of its 180 rows"
                )
            );
        }
    }

    #[test]
    fn constant_features_and_rows_of_zeros_are_no_trouble() {
        let (mut problem, truth) = easy(8);
        for values in [
            &mut problem.source.values,
            &mut problem.target.values,
            &mut problem.test,
        ] {
            values
                .iter_mut()
                .skip(FEATURES - 1)
                .step_by(FEATURES)
                .for_each(|x| *x = 0.0);
            values[..FEATURES].fill(0.0);
        }
        for baseline in all() {
            let found = accuracy(&baseline.predict(&problem, 3).unwrap(), &truth);
            assert!(found > 0.8, "{}: {found}", baseline.name());
        }
    }

    #[test]
    fn no_test_rows_no_classes() {
        let (mut problem, _) = easy(8);
        problem.test.clear();
        for baseline in all() {
            let decided = baseline.predict(&problem, 3);
            assert_eq!(decided.unwrap(), Vec::<usize>::new(), "{}", baseline.name());
        }
    }
}
