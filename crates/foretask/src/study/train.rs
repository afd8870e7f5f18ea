//! Step 5: weights of the rule, and a model of them.

use super::outcome::Folded;
use super::schedule::Done;
use crate::error::Result;
use crate::model::{Description, Model, Scores};
use crate::numerics::dense;

impl Done<'_> {
    /// Folds the rule into a model.
    pub(super) fn model(&self) -> Result<Model> {
        let scores = self.scores()?;
        let (cells, outcome) = (self.shared.cells(), &self.outcome);
        let description = Description {
            target: cells.tasks()[self.plan.target].name.clone(),
            tasks: cells.tasks().to_vec(),
            feature_names: self.shared.raw.feature_names().map(<[String]>::to_vec),
            preparation: None,
            rule: outcome.rule.clone(),
            forecast: outcome.forecast.clone(),
        };
        let decision = outcome.decision.clone();
        Ok(Model::new(description, scores, decision))
    }

    /// The rule's scores as functions of the raw features.
    fn scores(&self) -> Result<Scores> {
        let Self {
            shared, outcome, ..
        } = self;
        let weights = match &outcome.folded {
            Folded::Trained(weights) => shared.to_features(weights)?,
            Folded::Untrained(coupling, label_scores) => {
                let weights = shared.system(coupling)?.weights(self.plan.target);
                dense::times(weights.as_ref(), label_scores.as_ref())
            }
            Folded::Raw(scores) => return Ok(scores.clone()),
            Folded::UntrainedPairs(rules) => {
                let (weights, intercept) = self.target().train_pairs(rules)?;
                return Ok(Scores {
                    weights: shared.to_columns(weights),
                    intercept,
                    terms: Vec::new(),
                });
            }
        };
        Ok(shared.to_raw(weights, outcome.bias.clone(), self.plan.target))
    }
}
