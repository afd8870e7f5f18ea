//! Bins that all classes share, and the share of a class in each.
//!
//! The bin width is that of Freedman and Diaconis, `2 IQR / n^(1/3)`, of the narrowest class, so that
//! no class is a single bar. A few far scores must not squeeze the others into one corner: the
//! range ends where the bulk of the scores, widened by half on both sides, ends, and what lies
//! beyond is counted.

use super::scores::Scores;

const FEWEST_BINS: usize = 12;
const MOST_BINS: usize = 80;

/// The part of the scores that may lie below or above the bulk.
const TAIL: f64 = 0.005;

/// A forecast density counts for the range where it is at least this part of its peak.
const NEGLIGIBLE: f64 = 0.005;

/// Equal bins from `low` to `high`.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    /// The left end of the axis.
    pub low: f64,
    /// The right end of the axis.
    pub high: f64,
    number: usize,
}

/// One class in the bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Densities: the bars have area one together with the scores outside.
    pub heights: Vec<f64>,
    /// How many scores lie outside the bins.
    pub outside: usize,
}

impl Histogram {
    /// Whether there is no bar to draw.
    pub fn is_empty(&self) -> bool {
        self.heights.iter().all(|&height| height == 0.0)
    }
}

impl Bins {
    /// Chooses the bins for a plot; `None` if it has neither scores nor densities.
    pub fn choose(plot: &Scores) -> Option<Self> {
        let mut range: Option<(f64, f64)> = None;
        let mut include = |low: f64, high: f64| {
            range = Some(range.map_or((low, high), |(left, right)| {
                (left.min(low), right.max(high))
            }));
        };
        let mut finest: Option<f64> = None;
        for class in &plot.classes {
            let mut scores = class.scores.to_vec();
            scores.sort_unstable_by(f64::total_cmp);
            if let (Some(&first), Some(&last)) = (scores.first(), scores.last()) {
                let (low, high) = (quantile(&scores, TAIL), quantile(&scores, 1.0 - TAIL));
                let margin = (high - low) / 2.0;
                include(first.max(low - margin), last.min(high + margin));
                let spread = quantile(&scores, 0.75) - quantile(&scores, 0.25);
                let width = 2.0 * spread / (scores.len() as f64).cbrt();
                if width > 0.0 {
                    finest = Some(finest.map_or(width, |finest| finest.min(width)));
                }
            }
            let peak = class
                .density
                .iter()
                .map(|(_, density)| *density)
                .fold(0.0, f64::max);
            let visible = class
                .density
                .iter()
                .filter(|(_, density)| *density > NEGLIGIBLE * peak);
            visible.for_each(|&(score, _)| include(score, score));
        }
        let (mut low, mut high) = range?;
        if let Some(threshold) = plot.threshold {
            (low, high) = (low.min(threshold), high.max(threshold));
        }
        // One value only, or values that differ by rounding: give them a width.
        let margin = ((high - low) * 0.02)
            .max(high.abs().max(low.abs()) * 1e-9)
            .max(1e-12);
        (low, high) = (low - margin, high + margin);
        let number = finest.map_or(FEWEST_BINS, |width| ((high - low) / width).ceil() as usize);
        Some(Self {
            low,
            high,
            number: number.clamp(FEWEST_BINS, MOST_BINS),
        })
    }

    /// Counts the scores of one class.
    pub fn count(&self, scores: &[f64]) -> Histogram {
        let mut counts = vec![0usize; self.number];
        let mut outside = 0;
        for &score in scores {
            let bin = (score - self.low) / self.width();
            match counts.get_mut(bin as usize) {
                Some(count) if bin >= 0.0 => *count += 1,
                _ => outside += 1,
            }
        }
        let unit = self.width() * scores.len().max(1) as f64;
        Histogram {
            heights: counts
                .into_iter()
                .map(|count| count as f64 / unit)
                .collect(),
            outside,
        }
    }

    /// The upper edge of the bars as a path that begins and ends on the axis.
    pub fn outline(&self, histogram: &Histogram) -> Vec<(f64, f64)> {
        let edge = |bin: usize| self.low + bin as f64 * self.width();
        let mut path = vec![(self.low, 0.0)];
        for (bin, &height) in histogram.heights.iter().enumerate() {
            path.extend([(edge(bin), height), (edge(bin + 1), height)]);
        }
        path.push((edge(self.number), 0.0));
        path
    }

    fn width(&self) -> f64 {
        (self.high - self.low) / self.number as f64
    }
}

/// The value below which a part of the sorted scores lies.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let position = (part * last as f64).round() as usize;
    sorted.get(position.min(last)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::scores::ClassScores;
    use super::*;

    fn plot(scores: &[f64]) -> Scores {
        let classes = vec![ClassScores {
            name: "u".to_owned(),
            scores: scores.to_vec(),
            density: Vec::new(),
        }];
        Scores {
            title: String::new(),
            axis: "decision score".to_owned(),
            classes,
            threshold: None,
        }
    }

    #[test]
    fn bars_have_area_one() {
        let scores: Vec<f64> = (0..1000)
            .map(|index| (f64::from(index) / 1000.0).powi(2))
            .collect();
        let bins = Bins::choose(&plot(&scores)).unwrap();
        let histogram = bins.count(&scores);
        assert_eq!(histogram.outside, 0);
        let area: f64 = histogram
            .heights
            .iter()
            .map(|height| height * bins.width())
            .sum();
        assert!((area - 1.0).abs() < 1e-12);
        assert!((FEWEST_BINS..=MOST_BINS).contains(&bins.number));
    }

    #[test]
    fn a_far_score_is_counted_and_does_not_stretch_the_axis() {
        let mut scores: Vec<f64> = (0..1000).map(|index| f64::from(index) / 1000.0).collect();
        scores.push(1e6);
        let bins = Bins::choose(&plot(&scores)).unwrap();
        assert!(bins.high < 3.0);
        assert_eq!(bins.count(&scores).outside, 1);
    }

    #[test]
    fn equal_scores_have_a_width() {
        for value in [0.0, 3.0, -1e12] {
            let scores = [value; 5];
            let bins = Bins::choose(&plot(&scores)).unwrap();
            assert!(bins.low < value && value < bins.high);
            assert_eq!(bins.count(&scores).outside, 0);
        }
        assert_eq!(Bins::choose(&plot(&[])), None);
    }
}
