//! [`Rehearsal`]: what the default does on sources that take the target's place
//! (`docs/4-when-to-trust-a-forecast.md#rehearsal`).

use crate::words::words;

words! {
    /// Why nothing was rehearsed.
    pub enum Unrehearsed("unrehearsed") {
        /// fewer than two sources have the target's classes and enough rows
        FewSources = "few-sources",
        /// the target has labels enough to be judged by itself
        ManyLabels = "many-labels",
        /// samples come in groups, and those of sources may be of another kind
        Grouped = "grouped",
        /// samples have weights, and those of sources may mean something else
        Weighted = "weighted",
        /// only the default is rehearsed
        ByName = "by-name",
        /// it was switched off
        SwitchedOff = "switched-off",
    }
}

/// A source in the target's place: as many labels as the target has, tested on its other rows.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Rehearsed {
    /// The source.
    pub task: String,
    /// The share of wrong decisions on its other rows, with the priors of the target; where a false-alarm rate is
    /// held, the share of the other class that is missed.
    pub error: f64,
    /// The same for the source alone.
    pub alone: f64,
    /// The rows that it was tested on.
    pub tested: usize,
}

/// All rehearsals of a forecast, or why there are none.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rehearsal {
    /// Nothing was rehearsed.
    Skipped(Unrehearsed),
    /// Sources took the target's place.
    Done {
        /// The mean error of the sources.
        error: f64,
        /// What they lose without other tasks.
        alone: f64,
        /// Each of them.
        sources: Vec<Rehearsed>,
        /// The forecast from the target's samples by themselves, and its interval.
        own_error: f64,
        /// Of that.
        own_interval: [f64; 2],
    },
}

impl Default for Rehearsal {
    fn default() -> Self {
        Self::Skipped(Unrehearsed::ByName)
    }
}
