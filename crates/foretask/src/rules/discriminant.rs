//! [`Discriminant`]: label scores, and how the scores they make become a class.

use faer::Mat;

use crate::forecast::argmax;

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
    /// is a vote for the first class of the pair, otherwise for the second.
    Votes {
        /// One per pair.
        thresholds: Vec<f64>,
        /// What is done where several classes have most votes.
        ties: Ties,
    },
    /// Log-posteriors of Gaussian classes of unequal covariance.
    Quadratic(Quadratic),
}

/// How equal numbers of votes are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The larger sum of margins over all pairs of the class.
    #[default]
    Margins,
    /// The class that comes first, as in the paper.
    First,
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

/// The pairs of m classes in the order of their scores.
pub fn pairs(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |a| (a + 1..classes).map(move |b| (a, b)))
}

impl Form {
    /// The number of classes.
    pub fn classes(&self) -> usize {
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
                    votes[if z > threshold { a } else { b }] += 1.0;
                    let margin = z - threshold;
                    margins[a] += margin;
                    margins[b] -= margin;
                }
                if *ties == Ties::Margins {
                    // Within ±1/3, so that it never outweighs a vote.
                    votes
                        .iter_mut()
                        .zip(&margins)
                        .for_each(|(v, s)| *v += s / (3.0 * (s.abs() + 1.0)));
                }
                votes
            }
            Self::Quadratic(quadratic) => quadratic.class_scores(scores),
        }
    }
}

impl Form {
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
    pub fn scores(&self, responses: &[f64]) -> Vec<f64> {
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
