//! [`Rule`]: how a model's scores were made, for people.

use crate::data::Coupling;
use crate::recipe::Family;
use crate::settings::{Labels, RuleName};
use crate::views::View;

/// How a rule's scores are made.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Rule {
    /// Its name.
    #[serde(default)]
    pub name: RuleName,
    /// Which label scores were asked for.
    #[serde(default)]
    pub labels: Labels,
    /// The coupling, if there is one only.
    pub coupling: Option<Coupling>,
    /// Label scores of the cells, in order: one number for two classes, one per class for more; if
    /// there is one coupling only.
    pub label_scores: Option<Vec<Vec<f64>>>,
    /// For two classes, the score above which the first is chosen; `None` if that is always or never.
    pub threshold: Option<f64>,
    /// The weight of each family of label scores in an average.
    pub weights: Vec<(Family, f64)>,
    /// The weight of each view of the features in an average.
    #[serde(default)]
    pub views: Vec<(View, f64)>,
    /// The candidates of an average, heaviest first.
    pub candidates: Vec<CandidateWeight>,
    /// How many candidates were tried.
    pub tried: usize,
}

impl Rule {
    /// A rule at one coupling, its label scores and threshold to be told.
    pub(crate) fn at(name: RuleName, labels: Labels, coupling: &Coupling) -> Self {
        Self {
            name,
            labels,
            coupling: Some(coupling.clone()),
            label_scores: None,
            threshold: None,
            weights: Vec::new(),
            views: Vec::new(),
            candidates: Vec::new(),
            tried: 1,
        }
    }
}

/// One candidate of an average.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CandidateWeight {
    /// The view of the features that it looks through.
    pub view: View,
    /// Its family of label scores.
    pub family: Family,
    /// Its coupling.
    pub coupling: Coupling,
    /// Its weight.
    pub weight: f64,
    /// The share of the label variance that its leave-one-out scores miss.
    pub press: f64,
}
