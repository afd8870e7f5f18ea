//! Counting right and wrong decisions.

use foretask::Forecast;
use foretask::forecast::interval;

/// Class shares that differ by less than this are the same for a reader of percents.
const SAME_SHARE: f64 = 0.01;

/// What a model did on labelled data.
#[derive(Debug)]
pub struct Measured {
    /// The share of wrong decisions.
    pub error: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// The number of decisions.
    pub samples: usize,
    /// The share of wrong decisions in each class; `None` for a class without samples.
    pub class_errors: Vec<Option<f64>>,
    /// The samples of each class.
    pub class_samples: Vec<usize>,
    /// How often each true class (row) was called each class (column).
    pub confusion: Vec<Vec<usize>>,
    /// The error if classes occurred as often as the forecast assumes; `None` if a class that it
    /// assumes has no samples.
    pub at_priors: Option<f64>,
    /// Whether classes occur noticeably more or less often than the forecast assumes.
    pub shares_differ: bool,
    /// The error that the forecast speaks of: at its class shares where these differ.
    pub comparable: f64,
    /// Whether the forecast's interval contains it.
    pub within: bool,
}

impl Measured {
    /// Counts the decisions on samples of known classes; there is at least one.
    pub fn new(truth: &[usize], decisions: &[usize], forecast: &Forecast) -> Self {
        let classes = forecast.priors.len();
        let mut confusion = vec![vec![0; classes]; classes];
        for (&truth, &decision) in truth.iter().zip(decisions) {
            confusion[truth][decision] += 1;
        }
        let samples = truth.len();
        let class_samples: Vec<usize> = confusion.iter().map(|row| row.iter().sum()).collect();
        let wrong: Vec<usize> = (0..classes)
            .map(|class| class_samples[class] - confusion[class][class])
            .collect();
        let class_errors: Vec<Option<f64>> = wrong
            .iter()
            .zip(&class_samples)
            .map(|(&wrong, &all)| (all > 0).then(|| wrong as f64 / all as f64))
            .collect();
        let error = wrong.iter().sum::<usize>() as f64 / samples as f64;
        let at_priors = (class_errors.iter().zip(&forecast.priors))
            .map(|(error, prior)| error.map(|error| error * prior))
            .sum();
        let shares_differ = (class_samples.iter().zip(&forecast.priors))
            .any(|(&count, prior)| (count as f64 / samples as f64 - prior).abs() > SAME_SHARE);
        let comparable = match at_priors {
            Some(reweighted) if shares_differ => reweighted,
            _ => error,
        };
        let [low, high] = forecast.interval;
        Self {
            error,
            interval: interval(error, samples as f64, 1.0),
            samples,
            class_errors,
            class_samples,
            confusion,
            at_priors,
            shares_differ,
            comparable,
            within: (low..=high).contains(&comparable),
        }
    }
}
