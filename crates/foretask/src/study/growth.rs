//! [`Growth`]: how many times the labels some more labels are worth.
//!
//! A rule tells two classes apart by their means, whose noise is 1/n_c + 1/n_d; a sample is of one of them with
//! probability π_c π_d. Over all pairs that is Σ π_c (1 - π_c)/n_c: for two classes, or for as many labels of each, the
//! same as Σ 1/n_c, and of many classes those that hardly occur hardly matter.

/// Labels of each class, and how much their number matters.
pub(super) struct Growth {
    counts: Vec<f64>,
    weights: Vec<f64>,
}

impl Growth {
    /// Of classes that occur with these probabilities in use.
    pub(super) fn new(counts: &[usize], priors: &[f64]) -> Self {
        let pairs = priors.iter().map(|prior| prior * (1.0 - prior));
        let mut weights: Vec<f64> = pairs.collect();
        // Where only one class occurs all matter alike.
        if weights.iter().sum::<f64>() <= 0.0 {
            weights.fill(1.0);
        }
        Self {
            counts: counts.iter().map(|&n| n.max(1) as f64).collect(),
            weights,
        }
    }

    /// With so many more labels of each class.
    pub(super) fn with(&self, added: impl IntoIterator<Item = f64>) -> f64 {
        let after: f64 = (self.counts.iter().zip(added))
            .zip(&self.weights)
            .map(|((n, more), weight)| weight / (n + more))
            .sum();
        let before = self.counts.iter().zip(&self.weights);
        before.map(|(n, weight)| weight / n).sum::<f64>() / after
    }

    /// With as many more of all.
    pub(super) fn with_each(&self, added: usize) -> f64 {
        self.with(std::iter::repeat_n(added as f64, self.counts.len()))
    }

    /// The fewest labels to add to each class to be worth so many times those that there are.
    pub(super) fn needed(&self, times: f64) -> usize {
        if times <= 1.0 {
            return 0;
        }
        let (mut too_few, mut enough) = (0, 1);
        while self.with_each(enough) < times {
            enough *= 2;
        }
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            match self.with_each(middle) >= times {
                true => enough = middle,
                false => too_few = middle,
            }
        }
        enough
    }

    /// How to spread labels over the classes: one after the other to the class in which it does most against the noise.
    pub(super) fn spread(&self, labels: usize) -> Vec<usize> {
        let mut added = vec![0_usize; self.counts.len()];
        for _ in 0..labels {
            let gain = |c: usize| {
                let n = self.counts[c] + added[c] as f64;
                self.weights[c] / (n * (n + 1.0))
            };
            let better = |best: usize, c: usize| if gain(c) > gain(best) { c } else { best };
            if let Some(best) = (0..added.len()).reduce(better) {
                added[best] += 1;
            }
        }
        added
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(counts: &[f64]) -> f64 {
        counts.iter().map(|n| n.recip()).sum()
    }

    #[test]
    fn of_two_classes_or_equal_ones_it_is_the_ratio_of_the_noise_of_their_means() {
        let two = Growth::new(&[4, 40], &[0.3, 0.7]);
        let expected = noise(&[4.0, 40.0]) / noise(&[9.0, 45.0]);
        assert!((two.with_each(5) - expected).abs() < 1e-12);
        let ten = Growth::new(&[7; 10], &[0.1; 10]);
        assert!((ten.with_each(14) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn classes_that_hardly_occur_hardly_matter() {
        let counts = [1000, 1000, 1];
        let growth = Growth::new(&counts, &[0.4995, 0.4995, 0.001]);
        // (1/4000 + 1/4000 + 1/1000)/(1/4000 + 1/4000 + 1/2000), nearly; twice the labels by the plain sum, and eleven times
        // with ten more of each.
        assert!((growth.with([0.0, 0.0, 1.0]) - 1.5).abs() < 0.01);
        assert!(growth.with_each(10) < 2.6);
        assert!(noise(&[1000.0, 1000.0, 1.0]) / noise(&[1010.0, 1010.0, 11.0]) > 10.0);
    }

    #[test]
    fn needed_is_the_fewest_and_a_spread_is_the_best_there_is() {
        let growth = Growth::new(&[4, 9, 20], &[0.2, 0.3, 0.5]);
        for times in [1.0, 1.01, 1.5, 3.0, 50.0, 1000.0] {
            let needed = growth.needed(times);
            assert!(growth.with_each(needed) >= times);
            assert!(needed == 0 || growth.with_each(needed - 1) < times);
        }
        let spread = growth.spread(6);
        let worth = |added: &[usize]| growth.with(added.iter().map(|&more| more as f64));
        for first in 0..=6 {
            for second in 0..=6 - first {
                let other = [first, second, 6 - first - second];
                assert!(worth(&other) <= worth(&spread) + 1e-12, "{other:?}");
            }
        }
        let alike = Growth::new(&[4, 9], &[1.0, 0.0]);
        assert_eq!(alike.spread(5), [5, 0]);
    }
}
