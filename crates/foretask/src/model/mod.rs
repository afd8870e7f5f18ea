//! [`Model`]: a trained decision for one task.
//!
//! All candidates and label scores of linear views have been folded into one weight vector per score, so that a
//! model is p x d numbers, as many again for cosine, and for rbf its landmarks with d numbers each: d = 1 for two
//! classes (large for the first, as with labels ±1), d = m for more; one per pair of classes where pairs vote, and the
//! rank of the responses where the rule is quadratic.
//! Files are safetensors: loading runs no code. Writing goes to a temporary file in the same folder,
//! which takes the final name only when it is whole and on the disk.

mod check;
pub(crate) mod file;
pub(crate) mod rule;
pub(crate) mod scores;

pub use rule::{CandidateWeight, Rule};
pub use scores::Term;
pub(crate) use scores::{Scores, to_raw};

use faer::Mat;
use rayon::prelude::*;

use crate::data::prepare::Preparation;
use crate::data::{Rows, Task};
use crate::decision::{Decision, judged_score};
use crate::error::{Error, Result};
use crate::forecast::Forecast;

/// Scores beyond this are refused: their squares, and products with a slope, would not be finite.
const LARGEST_SCORE: f64 = 1e150;

/// A trained decision for one task, with its forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    description: Description,
    scores: Scores,
    decision: Decision,
}

/// The part of a model that is text in its file.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Description {
    pub(crate) target: String,
    pub(crate) tasks: Vec<Task>,
    pub(crate) feature_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preparation: Option<Preparation>,
    pub(crate) rule: Rule,
    pub(crate) forecast: Forecast,
}

impl Model {
    pub(crate) fn new(description: Description, scores: Scores, decision: Decision) -> Self {
        Self {
            description,
            scores,
            decision,
        }
    }

    /// The task it decides for.
    pub fn target(&self) -> &str {
        &self.description.target
    }

    /// The classes it decides between, in the order of scores and probabilities.
    pub fn classes(&self) -> &[String] {
        let target = self
            .description
            .tasks
            .iter()
            .find(|task| task.name == self.description.target);
        target.map_or(&[], |task| &task.classes)
    }

    /// The index of a class by name.
    ///
    /// # Errors
    /// [`Error::UnknownClass`], with the known names.
    pub(crate) fn find_class(&self, name: &str) -> Result<usize> {
        let classes = self.classes();
        let position = classes.iter().position(|class| class == name);
        position.ok_or_else(|| Error::UnknownClass {
            task: self.target().to_owned(),
            name: name.to_owned(),
            known: classes.to_vec(),
        })
    }

    /// The tasks it was trained on.
    pub fn tasks(&self) -> &[Task] {
        &self.description.tasks
    }

    /// The number of features it expects.
    pub fn features(&self) -> usize {
        self.scores.weights.nrows()
    }

    /// The names of its features, if it was told.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.description.feature_names.as_deref()
    }

    /// Tells the model the names of its features.
    ///
    /// # Errors
    /// If their number is wrong.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self> {
        if names.len() != self.features() {
            return Err(Error::Shape {
                what: "feature names",
                expected: self.features(),
                got: names.len(),
            });
        }
        self.description.feature_names = Some(names);
        Ok(self)
    }

    /// Tells the model how its features come from the columns of a table.
    ///
    /// # Errors
    /// If the number of features is another one.
    pub fn with_preparation(self, preparation: Preparation) -> Result<Self> {
        let mut model = self.with_feature_names(preparation.feature_names())?;
        model.description.preparation = Some(preparation);
        Ok(model)
    }

    /// How its features come from the columns of a table, if it was told.
    pub fn preparation(&self) -> Option<&Preparation> {
        self.description.preparation.as_ref()
    }

    /// What it was expected to do on new data when it was trained.
    pub fn forecast(&self) -> &Forecast {
        &self.description.forecast
    }

    /// How its scores were made.
    pub fn rule(&self) -> &Rule {
        &self.description.rule
    }

    /// Weights on raw features (p x d): score = weightsᵀ x + intercept, and what [`Model::terms`] add.
    pub fn weights(&self) -> &Mat<f64> {
        &self.scores.weights
    }

    /// The score at the origin.
    pub fn intercept(&self) -> &[f64] {
        &self.scores.intercept
    }

    /// What views that are not linear add to the scores; empty where one weight per feature is all there is.
    pub fn terms(&self) -> &[Term] {
        &self.scores.terms
    }

    /// How its scores become a class and probabilities.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// For two classes, the score above which the first is chosen.
    pub fn threshold(&self) -> Option<f64> {
        self.decision.threshold()
    }

    /// Decision scores: one for two classes and a threshold, one per class otherwise.
    ///
    /// # Errors
    /// If the number of features differs or a value is not finite.
    pub fn scores(&self, rows: Rows<'_>) -> Result<Mat<f64>> {
        let scores = self.decision.class_scores(self.raw_scores(rows)?);
        self.bounded(rows, scores)
    }

    /// The d scores of each row (n x d). The offsets of a linear rule are in the intercept.
    fn raw_scores(&self, rows: Rows<'_>) -> Result<Mat<f64>> {
        if rows.features() != self.features() {
            return Err(Error::Shape {
                what: "features",
                expected: self.features(),
                got: rows.features(),
            });
        }
        let intercept = &self.scores.intercept;
        let mut scores = Mat::from_fn(rows.len(), intercept.len(), |_, j| intercept[j]);
        if rows.is_sparse() && self.scores.are_of_entries() {
            scores.par_row_iter_mut().enumerate().for_each(|(row, to)| {
                let mut entries = Vec::new();
                rows.for_entries(row, |column, value| entries.push((column as usize, value)));
                self.scores.add_entries_to(to, &entries);
            });
            return self.bounded(rows, scores);
        }
        let index: Vec<usize> = (0..rows.len()).collect();
        let zero = vec![0.0; self.features()];
        // Through panels whatever the layout: rows and columns, single and double give the same bits.
        rows.for_panels(
            &index,
            |_| &zero,
            1.0,
            |start, panel| {
                let to = scores.as_mut().subrows_mut(start, panel.ncols());
                self.scores.add_to(to, panel);
            },
        );
        self.bounded(rows, scores)
    }

    /// Scores that can be compared. A value that is not finite makes a score that is not finite: no pass over the data
    /// of its own.
    fn bounded(&self, rows: Rows<'_>, scores: Mat<f64>) -> Result<Mat<f64>> {
        // Not the other way round: NaN compares with nothing.
        if scores.norm_max() <= LARGEST_SCORE && scores.is_all_finite() {
            return Ok(scores);
        }
        rows.check_finite()?;
        Err(Error::Scores)
    }

    /// The class of each row (an index into [`Model::classes`]).
    ///
    /// # Errors
    /// As [`Model::scores`].
    pub fn predict(&self, rows: Rows<'_>) -> Result<Vec<usize>> {
        Ok(self.decide(&self.scores(rows)?))
    }

    /// The class that scores stand for.
    pub fn decide(&self, scores: &Mat<f64>) -> Vec<usize> {
        self.decision.decide(scores)
    }

    /// What is compared to decide: score - threshold, positive for the first class (n x 1), or the
    /// cost-weighted log-posteriors up to a constant, the largest of which wins (n x m).
    pub fn margins(&self, scores: &Mat<f64>) -> Mat<f64> {
        self.decision.margins(scores)
    }

    /// The [margins](Model::margins) as a linear function of the raw features: weights (p x d) and values
    /// at the origin; `None` where pairs of classes vote, the rule is quadratic, or a view is not linear.
    pub fn linear_margins(&self) -> Option<(Mat<f64>, Vec<f64>)> {
        let slope = self.decision.linear_slope()?;
        if !self.terms().is_empty() {
            return None;
        }
        let bias = self.intercept();
        let at_origin = Mat::from_fn(1, bias.len(), |_, j| bias[j]);
        let intercept = self.margins(&at_origin).row(0).iter().copied().collect();
        let weights = Mat::from_fn(self.features(), bias.len(), |i, j| {
            slope * self.weights()[(i, j)]
        });
        Some((weights, intercept))
    }

    /// The quantity whose law [`Forecast::densities`] foretells, for samples of known class: the score
    /// (two classes), or the score of the right class less the best other (more).
    pub fn foretold_scores(&self, scores: &Mat<f64>, truth: &[usize]) -> Vec<f64> {
        let samples = truth.iter().enumerate();
        samples
            .map(|(l, &class)| judged_score(scores, l, class))
            .collect()
    }

    /// Class probabilities, n x m.
    ///
    /// # Errors
    /// As [`Model::scores`].
    pub fn probabilities(&self, rows: Rows<'_>) -> Result<Mat<f64>> {
        Ok(self.calibrate(&self.scores(rows)?))
    }

    /// The class probabilities that scores stand for.
    pub fn calibrate(&self, scores: &Mat<f64>) -> Mat<f64> {
        self.decision.probabilities(scores)
    }
}
