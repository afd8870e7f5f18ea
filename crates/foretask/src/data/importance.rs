//! [`Importance`]: how much each sample of a task counts.

use std::sync::Arc;

/// The weight of each sample of a task. Everyone counts one by default, and then nothing is stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Importance(Option<Arc<Weighed>>);

/// Weights that are not all equal, and their roots.
#[derive(Debug, PartialEq)]
struct Weighed {
    weights: Vec<f64>,
    roots: Vec<f64>,
}

impl Importance {
    /// Positive weights, scaled to a mean of one: what a task counts against others, and against the penalty, is the
    /// coupling's to say. Equal weights are none.
    pub(crate) fn scaled(weights: &[f64]) -> Self {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        // Of numbers up to one: sums of any weights are finite.
        let relative: Vec<f64> = weights.iter().map(|weight| weight / largest).collect();
        let mean = relative.iter().sum::<f64>() / relative.len().max(1) as f64;
        Self::new(relative.iter().map(|weight| weight / mean).collect())
    }

    fn new(weights: Vec<f64>) -> Self {
        let uneven = weights.windows(2).any(|pair| pair[0] != pair[1]);
        Self(uneven.then(|| {
            let roots = weights.iter().map(|weight| weight.sqrt()).collect();
            Arc::new(Weighed { weights, roots })
        }))
    }

    /// Whether anybody counts more than others.
    pub(crate) fn is_given(&self) -> bool {
        self.0.is_some()
    }

    /// The weight of a sample.
    pub(crate) fn of(&self, sample: usize) -> f64 {
        self.0.as_ref().map_or(1.0, |own| own.weights[sample])
    }

    /// Its root, which least squares multiplies rows and labels by.
    pub(crate) fn root(&self, sample: usize) -> f64 {
        self.0.as_ref().map_or(1.0, |own| own.roots[sample])
    }

    /// The roots of all samples, where they are not all one.
    pub(crate) fn roots(&self) -> Option<&[f64]> {
        self.0.as_ref().map(|own| own.roots.as_slice())
    }

    /// Those of some samples, by position among them. They are not scaled again: what is left counts as it did.
    pub(crate) fn among(&self, samples: &[usize]) -> Self {
        Self(self.0.as_ref().map(|own| {
            let some = |of: &[f64]| samples.iter().map(|&sample| of[sample]).collect();
            Arc::new(Weighed {
                weights: some(&own.weights),
                roots: some(&own.roots),
            })
        }))
    }

    /// (Σ w)²/Σ w²: as many samples of equal weight would tell as much. None where weights are equal.
    pub(crate) fn independent(&self) -> Option<f64> {
        let weights = &self.0.as_ref()?.weights;
        let (total, squares) = weights.iter().fold((0.0, 0.0), |(total, squares), w| {
            (total + w, squares + w * w)
        });
        Some(total * total / squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_a_mean_of_one_and_follow_their_samples() {
        let importance = Importance::scaled(&[1.0, 2.0, 3.0, 2.0]);
        let weights: Vec<f64> = (0..4).map(|l| importance.of(l)).collect();
        for (weight, expected) in weights.iter().zip([0.5, 1.0, 1.5, 1.0]) {
            assert!((weight - expected).abs() < 1e-15);
            assert!((importance.independent().unwrap() - 64.0 / 18.0).abs() < 1e-14);
        }
        let some = importance.among(&[2, 0]);
        assert_eq!([some.of(0), some.of(1)], [weights[2], weights[0]]);
        assert!((some.root(0).powi(2) - 1.5).abs() < 1e-15);
    }

    #[test]
    fn equal_weights_are_none() {
        assert_eq!(Importance::scaled(&[0.3; 7]), Importance::default());
        assert_eq!(Importance::scaled(&[1e300; 3]), Importance::default());
        assert!(Importance::scaled(&[1e300, 5e299]).is_given());
    }
}
