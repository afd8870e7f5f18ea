//! [`LikenessMap`]: tasks placed in a plane by how alike their class differences are.
//!
//! The class differences of every task, over their length, are a unit vector; likenesses are the inner products
//! (`docs/report.md#the-map`). The first coordinate is along the target's vector, so that it is the likeness itself.
//! What is left of the sources has the inner products
//!
//! ```text
//! R_qs = ρ_qs - ρ_qt ρ_st
//! ```
//!
//! and the second coordinate is along its leading direction: classical scaling of what the first does not show.

use faer::Mat;

use super::relatedness::Likeness;
use crate::numerics::dense;

/// Where the sources are; the target is at (1, 0).
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LikenessMap {
    /// In the order of the tasks.
    pub places: Vec<Place>,
    /// The share that `y` has of what tells sources apart beside their likeness to the target.
    pub shown: f64,
}

/// One source of a [`LikenessMap`].
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Place {
    /// The source.
    pub task: String,
    /// Its likeness to the target ([`crate::relatedness()`]).
    pub x: f64,
    /// Across: sources that are alike in what the target does not have are on one side.
    pub y: f64,
    /// The standard deviation that the noise of class means gives to the likeness.
    pub deviation: f64,
}

impl LikenessMap {
    /// The sources most like a target, or most opposed to it, at most so many. None where fewer than two can be
    /// compared with it.
    pub(crate) fn new(
        likeness: &Likeness<'_>,
        target: usize,
        most: usize,
        name: impl Fn(usize) -> String,
    ) -> Option<Self> {
        let known = likeness.to(target).into_iter().enumerate();
        let mut known: Vec<(usize, f64)> = known
            .filter(|(task, _)| *task != target)
            .filter_map(|(task, value)| Some((task, value?)))
            .collect();
        known.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        known.truncate(most);
        known.sort_by_key(|(task, _)| *task);
        if known.len() < 2 {
            return None;
        }
        let tasks: Vec<usize> = std::iter::once(target)
            .chain(known.iter().map(|(task, _)| *task))
            .collect();
        let table = likeness.among(&tasks);
        let left = Mat::from_fn(known.len(), known.len(), |q, s| {
            let both = known[q].1 * known[s].1;
            match table[q + 1][s + 1] {
                _ if q == s => 1.0 - both,
                // Of sources without classes in common no more is known than what the target says.
                None => 0.0,
                // One of the two orders, so that rounding cannot tell them apart.
                Some(_) => table[q.min(s) + 1][q.max(s) + 1].map_or(0.0, |(value, _)| value - both),
            }
        });
        let (across, shown) = leading(&left);
        let place = |(q, &(task, x)): (usize, &(usize, f64))| {
            let room = (1.0 - x * x).max(0.0).sqrt();
            Place {
                task: name(task),
                x,
                y: across[q].clamp(-room, room),
                deviation: table[q + 1][0].map_or(1.0, |(_, deviation)| deviation),
            }
        };
        Some(Self {
            places: known.iter().enumerate().map(place).collect(),
            shown,
        })
    }
}

/// Coordinates along the leading direction of inner products, the first of the farthest on the positive side, and the
/// share of the whole that they have.
fn leading(products: &Mat<f64>) -> (Vec<f64>, f64) {
    let n = products.nrows();
    let nothing = || (vec![0.0; n], 1.0);
    let Some((values, vectors)) = dense::symmetric_eigen(products.as_ref()) else {
        return nothing();
    };
    let all: f64 = values.iter().filter(|value| **value > 0.0).sum();
    let best = (0..n).max_by(|&a, &b| values[a].total_cmp(&values[b]));
    let Some(best) = best.filter(|&best| values[best] > ROUNDING) else {
        return nothing();
    };
    let mut across: Vec<f64> = (0..n)
        .map(|q| values[best].sqrt() * vectors[(q, best)])
        .collect();
    let farthest = across.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    let first = (across.iter()).find(|y| y.abs() >= (1.0 - ROUNDING) * farthest);
    if first.is_some_and(|y| *y < 0.0) {
        across.iter_mut().for_each(|y| *y = -*y);
    }
    (across, values[best] / all)
}

/// Inner products of unit vectors are not known better than this.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, Statistics};
    use crate::solve::Scaling;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Two classes a task at ± half a difference, with noise; of so many features, the first of which differ.
    fn drawn(
        features: usize,
        each: usize,
        noise: f64,
        tasks: &[&[f64]],
        seed: u64,
    ) -> Statistics<'static> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut statistics = Statistics::new(features);
        for (task, difference) in tasks.iter().enumerate() {
            let values: Vec<f64> = (0..2 * each * features)
                .map(|i| {
                    let (row, feature) = (i / features, i % features);
                    let side = if row % 2 == 0 { 0.5 } else { -0.5 };
                    let own: f64 = StandardNormal.sample(&mut random);
                    noise * own + side * difference.get(feature).copied().unwrap_or(0.0)
                })
                .collect();
            let class: Vec<&str> = (0..2 * each).map(|row| ["a", "b"][row % 2]).collect();
            let rows = Rows::row_major(&values, features).unwrap();
            let names = vec![format!("{task}"); 2 * each];
            statistics.add(rows, &names, &class).unwrap();
        }
        statistics
    }

    fn map(statistics: &Statistics<'_>, target: usize, most: usize) -> Option<LikenessMap> {
        let scales = Scaling::Auto.scales(statistics);
        let likeness = Likeness::new(statistics, &scales);
        LikenessMap::new(&likeness, target, most, |task| task.to_string())
    }

    /// Differences in one plane are shown as they are.
    #[test]
    fn a_plane_is_shown_as_it_is() {
        let at = |degrees: f64| [degrees.to_radians().cos(), degrees.to_radians().sin()];
        let angles = [0.0, 60.0, -50.0, 150.0, 180.0];
        let vectors = angles.map(at);
        let tasks: Vec<&[f64]> = vectors.iter().map(|vector| &vector[..]).collect();
        let statistics = drawn(4, 50, 1e-5, &tasks, 1);
        let map = map(&statistics, 0, 40).unwrap();
        assert_eq!(map.places.len(), 4);
        assert!((map.shown - 1.0).abs() < 1e-6, "{}", map.shown);
        // The first of the farthest is on the positive side.
        for (place, vector) in map.places.iter().zip(&vectors[1..]) {
            assert!((place.x - vector[0]).abs() < 1e-3, "{place:?} {vector:?}");
            assert!((place.y - vector[1]).abs() < 1e-3, "{place:?} {vector:?}");
            assert!(place.deviation < 1e-3);
        }
    }

    /// Those that say most are kept; one source, or none that can be compared, is no map.
    #[test]
    fn few_sources_have_no_map() {
        let tasks: [&[f64]; 4] = [&[1.0], &[1.0, 0.2], &[0.1, 1.0], &[-1.0, 0.1]];
        let statistics = drawn(3, 30, 0.01, &tasks, 2);
        let named = |map: Option<LikenessMap>| -> Vec<String> {
            let places = map.into_iter().flat_map(|map| map.places);
            places.map(|place| place.task).collect()
        };
        assert_eq!(named(map(&statistics, 0, 2)), ["1", "3"]);
        assert_eq!(map(&statistics, 0, 1), None);
        assert_eq!(map(&drawn(3, 30, 0.01, &tasks[..2], 2), 0, 40), None);
    }

    /// What is outside the plane is left out and said; nothing leaves the circle.
    #[test]
    fn what_a_plane_cannot_show_is_said() {
        let tasks: [&[f64]; 4] = [&[1.0], &[0.0, 1.0], &[0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 1.0]];
        let statistics = drawn(6, 40, 0.01, &tasks, 3);
        let map = map(&statistics, 0, 40).unwrap();
        // Three directions at right angles to the target and to one another.
        assert!((map.shown - 1.0 / 3.0).abs() < 0.02, "{}", map.shown);
        for place in &map.places {
            assert!(place.x.powi(2) + place.y.powi(2) <= 1.0 + 1e-12);
        }
    }

    /// The deviation is what draws of the same tasks show, with more and with fewer samples.
    #[test]
    fn deviations_are_those_of_draws() {
        let tasks: [&[f64]; 3] = [&[2.0, 0.0], &[1.5, 1.5], &[-0.4, 2.0]];
        for (features, each) in [(20, 30), (20, 120), (100, 60)] {
            let draws = 200;
            let maps: Vec<LikenessMap> = (0..draws)
                .map(|seed| map(&drawn(features, each, 1.0, &tasks, 100 + seed), 0, 40).unwrap())
                .collect();
            for source in 0..2 {
                let mean = |value: &dyn Fn(&Place) -> f64| {
                    maps.iter()
                        .map(|map| value(&map.places[source]))
                        .sum::<f64>()
                        / draws as f64
                };
                let (middle, told) = (mean(&|place| place.x), mean(&|place| place.deviation));
                let seen = mean(&|place| (place.x - middle).powi(2)).sqrt();
                // 200 draws tell a deviation to 5 %, at two of them 10 %; the rest is of higher order.
                assert!(
                    (told / seen - 1.0).abs() < 0.2,
                    "{features} {each}: {told} {seen}"
                );
            }
        }
    }
}
