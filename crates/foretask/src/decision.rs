//! Scores to class, in one place: [`Decision`].
//!
//! A rule makes scores and says how they are compared ([`Discriminant`]); with a slope and the stakes of the
//! place of use that is a [`Decision`]. Forecasts judge it, models keep it, ONNX writes it.

use std::cmp::Ordering;

use faer::Mat;

use crate::data::pairs;
use crate::stakes::Stakes;
use crate::words::words;

/// A rule for any number of classes: d scores per sample, zᵀ = φᵀ Y, and from them one class score per
/// class. The class of the largest class score is chosen, the first of equals.
#[derive(Clone, Debug, PartialEq)]
pub struct Discriminant {
    /// Y, C x d.
    pub label_scores: Mat<f64>,
    /// From d scores to m class scores.
    pub form: Form,
}

/// How the d scores of a sample become class scores.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// One score per class: class score = score + offset.
    Linear {
        /// One per class.
        offsets: Vec<f64>,
    },
    /// One score per pair of classes in the order (0, 1), (0, 2), …, (1, 2), …: above its threshold it
    /// is a vote for the first class of the pair, below for the second, on it half a vote for either.
    Votes {
        /// One per pair.
        thresholds: Vec<f64>,
        /// What is done where several classes have most votes.
        ties: Ties,
    },
    /// Log-posteriors of Gaussian classes of unequal covariance.
    Quadratic(Quadratic),
}

words! {
    /// How equal numbers of votes are told apart.
    pub enum Ties("ties", default Margins) {
        /// The class with the larger sum of margins over all its pairs
        Margins = "margins",
        /// The class that comes first, as in the paper
        First = "first",
    }
}

impl Ties {
    /// How far, in votes, a class is behind the one before it where equal votes are told apart by order: less than half a
    /// vote for as many classes as there may be, and a power of two, so that votes stay exact.
    const BEHIND: f64 = 1.0 / (1 << 20) as f64;
}

/// constant_c - ½ (z - mean_c)ᵀ precision_c (z - mean_c) for each class c.
#[derive(Clone, Debug, PartialEq)]
pub struct Quadratic {
    /// ln prior - ½ ln det covariance, one per class.
    pub constants: Vec<f64>,
    /// Mean scores, m x d.
    pub means: Mat<f64>,
    /// Inverse covariances, d x d each.
    pub precisions: Vec<Mat<f64>>,
}

impl Form {
    /// The number of classes.
    pub(crate) fn classes(&self) -> usize {
        match self {
            Self::Linear { offsets } => offsets.len(),
            // m (m - 1)/2 pairs.
            Self::Votes { thresholds, .. } => {
                let mut m = 2;
                while m * (m - 1) / 2 < thresholds.len() {
                    m += 1;
                }
                m
            }
            Self::Quadratic(quadratic) => quadratic.constants.len(),
        }
    }

    /// The class scores of a sample's d scores.
    pub fn class_scores(&self, scores: &[f64]) -> Vec<f64> {
        match self {
            Self::Linear { offsets } => scores.iter().zip(offsets).map(|(z, o)| z + o).collect(),
            Self::Votes { thresholds, ties } => {
                let m = self.classes();
                let (mut votes, mut margins) = (vec![0.0; m], vec![0.0; m]);
                for ((a, b), (z, threshold)) in pairs(m).zip(scores.iter().zip(thresholds)) {
                    let margin = z - threshold;
                    let first = match margin.partial_cmp(&0.0) {
                        Some(Ordering::Equal) => 0.5,
                        Some(Ordering::Greater) => 1.0,
                        _ => 0.0,
                    };
                    votes[a] += first;
                    votes[b] += 1.0 - first;
                    margins[a] += margin;
                    margins[b] -= margin;
                }
                for (class, (votes, sum)) in votes.iter_mut().zip(&margins).enumerate() {
                    *votes += match ties {
                        // Within ±1/3, so that it never outweighs a vote.
                        Ties::Margins => sum / (3.0 * (sum.abs() + 1.0)),
                        Ties::First => -Ties::BEHIND * class as f64,
                    };
                }
                votes
            }
            Self::Quadratic(quadratic) => quadratic.class_scores(scores),
        }
    }

    /// The class scores (n x m) of the scores of many samples (n x d).
    pub(crate) fn class_scores_of(&self, scores: &Mat<f64>) -> Mat<f64> {
        let mut result = Mat::zeros(scores.nrows(), self.classes());
        let mut row = vec![0.0; scores.ncols()];
        for l in 0..scores.nrows() {
            for (j, z) in row.iter_mut().enumerate() {
                *z = scores[(l, j)];
            }
            for (c, score) in self.class_scores(&row).into_iter().enumerate() {
                result[(l, c)] = score;
            }
        }
        result
    }
}

impl Quadratic {
    fn class_scores(&self, scores: &[f64]) -> Vec<f64> {
        let d = scores.len();
        let mut from = vec![0.0; d];
        (0..self.constants.len())
            .map(|c| {
                for i in 0..d {
                    from[i] = scores[i] - self.means[(c, i)];
                }
                let precision = &self.precisions[c];
                let square: f64 = (0..d)
                    .map(|j| from[j] * (0..d).map(|i| precision[(i, j)] * from[i]).sum::<f64>())
                    .sum();
                self.constants[c] - 0.5 * square
            })
            .collect()
    }
}

impl Discriminant {
    /// The d scores of a sample with responses φ.
    pub(crate) fn scores(&self, responses: &[f64]) -> Vec<f64> {
        self.label_scores
            .col_iter()
            .map(|y| y.iter().zip(responses).map(|(y, phi)| y * phi).sum())
            .collect()
    }

    /// The class chosen for a sample with responses φ.
    pub fn decide(&self, responses: &[f64]) -> usize {
        argmax(self.form.class_scores(&self.scores(responses)))
    }
}

/// How scores become a class and probabilities.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// First class where the one score exceeds `threshold`; log-odds slope (score - centre).
    Threshold {
        /// Where the decision changes.
        threshold: f64,
        /// How fast the log-odds grow.
        slope: f64,
        /// Where both classes are equally probable.
        centre: f64,
    },
    /// The class of the largest cost-weighted posterior; log-posteriors slope score_c + offset_c of the class
    /// scores that `form` makes.
    Argmax {
        /// From d scores to m class scores.
        form: Form,
        /// How fast log-posteriors grow.
        slope: f64,
        /// Added to log-posteriors, one per class.
        offsets: Vec<f64>,
        /// What a mistake in each class costs.
        costs: Vec<f64>,
    },
}

impl Decision {
    /// By class scores of this form whose softmax, sharpened by `slope`, are the probabilities in the
    /// proportions of training.
    pub(crate) fn argmax(form: Form, slope: f64, stakes: &Stakes) -> Self {
        let offsets = vec![0.0; stakes.priors.len()];
        Self::with_offsets(form, slope, &offsets, stakes)
    }

    /// By class scores as they are; `offsets` are those of log-posteriors in the proportions of training.
    pub(crate) fn of_class_scores(slope: f64, offsets: &[f64], stakes: &Stakes) -> Self {
        let form = Form::Linear {
            offsets: vec![0.0; stakes.priors.len()],
        };
        Self::with_offsets(form, slope, offsets, stakes)
    }

    fn with_offsets(form: Form, slope: f64, offsets: &[f64], stakes: &Stakes) -> Self {
        let offsets = offsets.iter().enumerate();
        Self::Argmax {
            form,
            slope,
            offsets: offsets.map(|(c, own)| own + stakes.shift(c)).collect(),
            costs: stakes.costs.clone(),
        }
    }

    /// Of two classes by the difference of their scores, `middle` where they are equally probable in the
    /// proportions of training.
    pub(crate) fn of_difference(middle: f64, slope: f64, stakes: &Stakes) -> Self {
        let prior = stakes.shift(0) - stakes.shift(1);
        let cost = (stakes.costs[0] / stakes.costs[1]).ln();
        Self::Threshold {
            threshold: middle - (prior + cost) / slope,
            slope,
            centre: middle - prior / slope,
        }
    }

    /// For two classes and one score, the score above which the first is chosen.
    pub(crate) fn threshold(&self) -> Option<f64> {
        match self {
            Self::Threshold { threshold, .. } => Some(*threshold),
            Self::Argmax { .. } => None,
        }
    }

    /// The number of classes.
    pub(crate) fn classes(&self) -> usize {
        match self {
            Self::Threshold { .. } => 2,
            Self::Argmax { costs, .. } => costs.len(),
        }
    }

    /// The scores that are compared (n x 1, or n x m), from the d linear ones that a model makes. The offsets
    /// of a linear rule are in its intercept.
    pub(crate) fn class_scores(&self, scores: Mat<f64>) -> Mat<f64> {
        match self {
            Self::Argmax { form, .. } if !matches!(form, Form::Linear { .. }) => {
                form.class_scores_of(&scores)
            }
            _ => scores,
        }
    }

    /// What is compared to decide: score - threshold, positive for the first class (n x 1), or the
    /// cost-weighted log-posteriors up to a constant, the largest of which wins (n x m).
    pub(crate) fn margins(&self, scores: &Mat<f64>) -> Mat<f64> {
        match self {
            Self::Threshold { threshold, .. } => {
                Mat::from_fn(scores.nrows(), 1, |l, _| scores[(l, 0)] - threshold)
            }
            Self::Argmax {
                slope,
                offsets,
                costs,
                ..
            } => Mat::from_fn(scores.nrows(), offsets.len(), |l, c| {
                slope * scores[(l, c)] + offsets[c] + costs[c].ln()
            }),
        }
    }

    /// By how much the margins grow with the scores, where they do in proportion to linear ones.
    pub(crate) fn linear_slope(&self) -> Option<f64> {
        match self {
            Self::Threshold { .. } => Some(1.0),
            Self::Argmax {
                form: Form::Linear { .. },
                slope,
                ..
            } => Some(*slope),
            Self::Argmax { .. } => None,
        }
    }

    /// What each sample is taken for.
    pub(crate) fn decisions(&self, scores: &Mat<f64>) -> Vec<Decided> {
        let margins = self.margins(scores);
        (0..margins.nrows())
            .map(|l| match self {
                Self::Threshold { .. } => Decided::of_two(margins[(l, 0)]),
                Self::Argmax { .. } => Decided::of(&margins, l),
            })
            .collect()
    }

    /// The class of each sample, the first of those that nothing tells apart.
    pub(crate) fn decide(&self, scores: &Mat<f64>) -> Vec<usize> {
        let margins = self.margins(scores);
        (0..margins.nrows())
            .map(|l| match self {
                Self::Threshold { .. } => usize::from(margins[(l, 0)] <= 0.0),
                Self::Argmax { .. } => argmax(margins.row(l).iter().copied()),
            })
            .collect()
    }

    /// Class probabilities, n x m.
    pub(crate) fn probabilities(&self, scores: &Mat<f64>) -> Mat<f64> {
        let m = self.classes();
        let mut result = Mat::zeros(scores.nrows(), m);
        for l in 0..scores.nrows() {
            let logits = match self {
                Self::Threshold { slope, centre, .. } => {
                    let odds = slope * (scores[(l, 0)] - centre);
                    // An infinite slope on its centre says nothing.
                    let odds = if odds.is_nan() { 0.0 } else { odds };
                    vec![odds.clamp(-MOST_ODDS, MOST_ODDS), 0.0]
                }
                Self::Argmax { slope, offsets, .. } => (0..m)
                    .map(|c| slope * scores[(l, c)] + offsets[c])
                    .collect(),
            };
            for (c, p) in softmax(logits).into_iter().enumerate() {
                result[(l, c)] = p;
            }
        }
        result
    }
}

/// What a sample is taken for.
///
/// A model names the first of classes that nothing tells apart, as it must name one. A forecast counts each of them
/// alike, so that what classes are called does not matter to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decided {
    /// This class.
    One(usize),
    /// One of these, each as likely.
    AnyOf(Vec<usize>),
}

impl Decided {
    /// By the largest margin.
    fn of(margins: &Mat<f64>, sample: usize) -> Self {
        let first = argmax(margins.row(sample).iter().copied());
        let most = margins[(sample, first)];
        let equal = (first + 1..margins.ncols()).filter(|&c| margins[(sample, c)] == most);
        let others: Vec<usize> = equal.collect();
        match others.is_empty() {
            true => Self::One(first),
            false => Self::AnyOf([vec![first], others].concat()),
        }
    }

    /// By how far a score is above the threshold of the first of two classes.
    pub(crate) fn of_two(margin: f64) -> Self {
        match margin == 0.0 {
            true => Self::AnyOf(vec![0, 1]),
            false => Self::One(usize::from(margin < 0.0)),
        }
    }

    /// The share of it that is this class.
    pub(crate) fn share(&self, class: usize) -> f64 {
        match self {
            Self::One(one) => f64::from(u8::from(*one == class)),
            Self::AnyOf(equal) => match equal.contains(&class) {
                true => 1.0 / equal.len() as f64,
                false => 0.0,
            },
        }
    }

    /// Each class with its share.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (usize, f64)> {
        let equal = match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::AnyOf(equal) => equal,
        };
        let share = 1.0 / equal.len() as f64;
        equal.iter().map(move |&c| (c, share))
    }
}

/// Log-odds beyond this are certain.
const MOST_ODDS: f64 = 700.0;

/// The quantity whose law a forecast's densities foretell, for a sample of known class: the score of two
/// classes (one column, or the difference of two), or the score of the right class less the best other.
pub(crate) fn judged_score(scores: &Mat<f64>, sample: usize, class: usize) -> f64 {
    match scores.ncols() {
        1 => scores[(sample, 0)],
        2 => scores[(sample, 0)] - scores[(sample, 1)],
        _ => margin(scores, sample, class),
    }
}

/// The score of a class less the best of the others.
pub(crate) fn margin(scores: &Mat<f64>, sample: usize, class: usize) -> f64 {
    let best = (0..scores.ncols())
        .filter(|&c| c != class)
        .map(|c| scores[(sample, c)])
        .fold(f64::NEG_INFINITY, f64::max);
    scores[(sample, class)] - best
}

/// exp(logit) normalised to sum one.
pub(crate) fn softmax(mut logits: Vec<f64>) -> Vec<f64> {
    to_shares(&mut logits);
    logits
}

/// The same in place. Returns the largest logit, and the sum of all exponentials over its own.
pub(crate) fn to_shares(logits: &mut [f64]) -> (f64, f64) {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The largest is one: of two classes half of the work.
    let share = |x: f64| if x == most { 1.0 } else { (x - most).exp() };
    logits.iter_mut().for_each(|x| *x = share(*x));
    let sum: f64 = logits.iter().sum();
    logits.iter_mut().for_each(|x| *x /= sum);
    (most, sum)
}

/// The index of the largest; the first of equals.
pub(crate) fn argmax(values: impl IntoIterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, value) in values.into_iter().enumerate() {
        if value > best.1 {
            best = (index, value);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_nothing_tells_apart_share_a_decision() {
        let of = |margins: [f64; 3]| Decided::of(&Mat::from_fn(1, 3, |_, c| margins[c]), 0);
        assert_eq!(of([0.0, 2.0, 1.0]), Decided::One(1));
        assert_eq!(of([1.0, 0.0, 1.0]), Decided::AnyOf(vec![0, 2]));
        let all = of([-1.0; 3]);
        assert_eq!(all.shares().count(), 3);
        for c in 0..3 {
            assert_eq!(all.share(c), 1.0 / 3.0);
        }
        assert_eq!(of([1.0, 0.0, 1.0]).share(1), 0.0);
        assert_eq!(Decided::of_two(0.0), Decided::AnyOf(vec![0, 1]));
        assert_eq!(Decided::of_two(1e-300), Decided::One(0));
        assert_eq!(Decided::of_two(-1e-300), Decided::One(1));
    }

    #[test]
    fn a_pair_on_its_threshold_has_half_a_vote_for_either_class() {
        let votes = |ties| Form::Votes {
            thresholds: vec![0.0, 1.0, -1.0],
            ties,
        };
        let first = votes(Ties::First);
        let behind = |votes: [f64; 3]| {
            [
                votes[0],
                votes[1] - Ties::BEHIND,
                votes[2] - 2.0 * Ties::BEHIND,
            ]
        };
        assert_eq!(first.class_scores(&[0.0, 1.0, -1.0]), behind([1.0; 3]));
        assert_eq!(
            first.class_scores(&[2.0, 1.0, -2.0]),
            behind([1.5, 0.0, 1.5])
        );
        let margins = votes(Ties::Margins).class_scores(&[2.0, 1.0, -2.0]);
        assert!(margins[0] > margins[2] && margins[2] > 1.0 + margins[1]);
    }

    #[test]
    fn what_is_decided_for_one_class_is_the_decision() {
        let stakes = Stakes {
            priors: vec![0.5, 0.2, 0.3],
            costs: vec![1.0, 3.0, 2.0],
            shares: vec![0.4, 0.3, 0.3],
        };
        let decision = Decision::of_class_scores(2.0, &[0.1, 0.0, -0.2], &stakes);
        let scores = Mat::from_fn(50, 3, |l, c| ((7 * l + 3 * c) as f64).sin());
        let both = decision.decisions(&scores).into_iter();
        for (decided, class) in both.zip(decision.decide(&scores)) {
            assert_eq!(decided, Decided::One(class));
        }
    }
}
