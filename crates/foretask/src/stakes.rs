//! [`Stakes`]: how often classes occur where the model will be used, and what a mistake in each costs.

/// The decision problem of the place of use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stakes {
    pub(crate) priors: Vec<f64>,
    pub(crate) costs: Vec<f64>,
    /// Class shares among the training samples of the target.
    pub(crate) shares: Vec<f64>,
}

impl Stakes {
    /// Prior times cost.
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.priors
            .iter()
            .zip(&self.costs)
            .map(|(p, c)| p * c)
            .collect()
    }

    /// ln(prior/share): what must be added to log-posteriors of the training proportions.
    pub(crate) fn shift(&self, class: usize) -> f64 {
        (self.priors[class] / self.shares[class]).ln()
    }

    /// The theory knows no training proportions: its rules are learnt for the priors of use.
    pub(crate) fn in_use(&self) -> Self {
        Self {
            shares: self.priors.clone(),
            ..self.clone()
        }
    }
}

/// Σ_c weight_c value_c.
pub(crate) fn weighted(weights: &[f64], values: &[f64]) -> f64 {
    weights.iter().zip(values).map(|(w, v)| w * v).sum()
}
