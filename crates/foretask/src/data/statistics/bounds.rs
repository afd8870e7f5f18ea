//! Between what the features of a task are.

/// A spread below this share of the size of the values is rounding.
pub(crate) const NO_SPREAD: f64 = 1e-14;

/// The least and the largest value of each feature in a task.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) least: Vec<f64>,
    pub(super) most: Vec<f64>,
}

impl Bounds {
    /// The largest squared distance of a feature from `mean`; zero where rounding of the mean is all there is.
    pub(super) fn farthest(&self, feature: usize, mean: f64) -> f64 {
        let ends = [self.least[feature], self.most[feature]];
        let largest = |of: &dyn Fn(f64) -> f64| ends.map(of).into_iter().fold(0.0, f64::max);
        let apart = largest(&|end| (end - mean).abs());
        let varies = ends[0] < ends[1] && apart > NO_SPREAD * largest(&f64::abs);
        if varies { apart * apart } else { 0.0 }
    }

    pub(super) fn join(&mut self, other: &Self) {
        let pairs = |own: &mut [f64], other: &[f64], of: fn(f64, f64) -> f64| {
            let both = own.iter_mut().zip(other);
            both.for_each(|(own, other)| *own = of(*own, *other));
        };
        pairs(&mut self.least, &other.least, f64::min);
        pairs(&mut self.most, &other.most, f64::max);
    }
}
