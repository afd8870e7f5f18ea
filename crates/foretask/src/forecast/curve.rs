//! What more labels would bring: [`CurvePoint`], [`LabelsNeeded`] and [`Budget`].

use crate::words::words;

/// A point of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CurvePoint {
    /// Labels added to each class of the target.
    pub added: usize,
    /// Expected error then; where a false-alarm rate is held, the expected share of the other class that is missed.
    pub error: f64,
    /// 90 % interval of that error.
    pub interval: [f64; 2],
    /// The 90 % interval that a forecast of `error` will have once the labels are there.
    pub foretold_interval: [f64; 2],
}

/// How many labels an error asks for.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LabelsNeeded {
    /// The error asked for.
    pub error: f64,
    /// Labels to be added to each class; none where it cannot be reached by so many as anybody would label.
    pub added: Option<usize>,
    /// The least and the most that may be needed (90 %).
    pub interval: [Option<usize>; 2],
}

/// How to spend labels.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Budget {
    /// Labels to be spent.
    pub labels: usize,
    /// How many of them on each class of the target.
    pub added: Vec<usize>,
    /// Expected error then.
    pub error: f64,
    /// 90 % interval of that error.
    pub interval: [f64; 2],
    /// The expected error if classes were labelled as they come.
    pub as_they_come: f64,
    /// What the same labels would do in the sources, where two of them or more were rehearsed.
    pub in_sources: Option<InSources>,
}

/// Labels that are spent on the sources, as they are, instead of the target.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct InSources {
    /// Expected error of the target then.
    pub error: f64,
    /// Where the labels are worth more.
    pub better: WorthMore,
}

words! {
    /// Where labels are worth more.
    pub enum WorthMore("better") {
        /// In the target
        Target = "target",
        /// In its sources
        Sources = "sources",
        /// The rehearsals do not tell
        Unknown = "cannot be told",
    }
}
