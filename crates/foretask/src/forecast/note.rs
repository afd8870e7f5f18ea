//! [`Note`]: what a person should know before trusting a forecast.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::views::{Skipped, View};
use crate::words::Word;

/// What a person should know before trusting a forecast. As text by `Display`; in JSON with the `kind` of the
/// note, its numbers, and the `text`.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Note {
    /// A class of the target has few samples.
    FewSamples {
        /// The class.
        class: String,
        /// Its samples.
        samples: usize,
    },
    /// The Gaussian theory would foretell another error for the same rule.
    TheoryDisagrees {
        /// What it would foretell.
        theory: f64,
        /// What was foretold.
        error: f64,
    },
    /// The classes differ so much in spread that two thresholds would do better.
    TwoThresholds {
        /// By how much less they would cost.
        saves: f64,
    },
    /// A false-alarm rate is smaller than the samples can show.
    TailExtrapolated {
        /// The rate asked for.
        rate: f64,
        /// The class that raises no alarm.
        class: String,
        /// Its samples.
        samples: usize,
    },
    /// A view of the features was left out of the average.
    ViewLeftOut {
        /// The view.
        view: View,
        /// Why.
        why: Skipped,
    },
    /// There are so many sources that those alike share their label values.
    SourcesJoined {
        /// Sources.
        sources: usize,
        /// Groups of them.
        groups: usize,
    },
    /// Folds that lack a class were joined with others.
    FoldsJoined {
        /// The class that fewest have.
        class: String,
        /// Folds that rows were dealt to.
        folds: usize,
        /// Folds that are left.
        left: usize,
    },
    /// No row of the target was kept to count errors among.
    FromMoments,
    /// Every class of the target has one sample.
    OneLabel,
    /// A class of the target is in one group, and cannot be left out.
    OneGroup {
        /// The class.
        class: String,
    },
    /// Samples of the target are exact copies of others, and nothing was said about groups.
    Copies {
        /// Copies, not counting the first of each.
        samples: usize,
    },
    /// Samples that follow each other are alike, and nothing was said about groups.
    NearCopies {
        /// The distance of a sample to the next of its class, over that to any other.
        ratio: f64,
    },
    /// Sources in the target's place have another error than the target's samples tell of.
    UnlikeSources {
        /// What the target's samples tell.
        error: f64,
        /// What the sources have.
        rehearsed: f64,
    },
}

/// Below this many target samples in a class, a forecast is called rough.
pub(crate) const FEW: usize = 5;

impl Note {
    fn kind(&self) -> &'static str {
        match self {
            Self::FewSamples { .. } => "few-samples",
            Self::TheoryDisagrees { .. } => "theory-disagrees",
            Self::TwoThresholds { .. } => "two-thresholds",
            Self::TailExtrapolated { .. } => "tail-extrapolated",
            Self::ViewLeftOut { .. } => "view-left-out",
            Self::UnlikeSources { .. } => "unlike-sources",
            Self::SourcesJoined { .. } => "sources-joined",
            Self::FoldsJoined { .. } => "folds-joined",
            Self::FromMoments => "from-moments",
            Self::OneLabel => "one-label",
            Self::OneGroup { .. } => "one-group",
            Self::Copies { .. } => "copies",
            Self::NearCopies { .. } => "near-copies",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewSamples { class, samples } => {
                let noun = if *samples == 1 { "sample" } else { "samples" };
                write!(
                    f,
                    "class '{class}' of the target has {samples} {noun} only: the forecast is rough below {FEW} per class"
                )
            }
            Self::TheoryDisagrees { theory, error } => write!(
                f,
                "Gaussian theory would foretell {:.2} %, leave-one-out says {:.2} %: the features are not isotropic and Gaussian, and the forecast uses leave-one-out",
                100.0 * theory,
                100.0 * error
            ),
            Self::TwoThresholds { saves } => write!(
                f,
                "the classes differ in spread: two thresholds instead of one would cost {:.2} % less (the rule 'bayes' uses them)",
                100.0 * saves
            ),
            Self::TailExtrapolated {
                rate,
                class,
                samples,
            } => write!(
                f,
                "a false-alarm rate of {} % needs about {:.0} samples of '{class}' to be seen; there are {samples}: the tail beyond them is extrapolated",
                100.0 * rate,
                (1.0 / rate).ceil()
            ),
            Self::ViewLeftOut { view, why } => {
                write!(f, "the view '{view}' was left out: {}", why.meaning())
            }
            Self::SourcesJoined { sources, groups } => write!(
                f,
                "{sources} sources are too many for label values of their own: those whose classes differ alike share them, in {groups} groups, and no theory was asked for comparison"
            ),
            Self::FoldsJoined { class, folds, left } => write!(
                f,
                "class '{class}' of the target is rare: of {folds} folds those without a class were joined with their neighbours, and {left} are left out in turn"
            ),
            Self::FromMoments => write!(
                f,
                "no row of the target was kept: its error is that of Gaussian scores with the means and covariances of folds left out, and mostly too small; count it where the rows are (foretask tally)"
            ),
            Self::OneLabel => write!(
                f,
                "the error cannot be told from one label in each class: none can be left out, and which way the sources point is taken on trust"
            ),
            Self::OneGroup { class } => write!(
                f,
                "the error cannot be told: all samples of class '{class}' are in one group, and none is left when it is left out"
            ),
            Self::Copies { samples } => {
                let noun = if *samples == 1 {
                    "sample of the target is an exact copy of another"
                } else {
                    "samples of the target are exact copies of others"
                };
                write!(
                    f,
                    "{samples} {noun}: left out, they are known all the same, and the forecast is too good; drop them, or say which rows belong together (group)"
                )
            }
            Self::NearCopies { ratio } => write!(
                f,
                "samples that follow each other are alike (their distance is {:.0} % of that to others of their class): if they are of one patient, writer or recording, say so (group), or the forecast is too good",
                100.0 * ratio
            ),
            Self::UnlikeSources { error, rehearsed } => write!(
                f,
                "the target is unlike its sources: by its own samples {:.1} %, while sources in its place have {:.1} %; the forecast lies in between, and more labels of the target will tell",
                100.0 * error,
                100.0 * rehearsed
            ),
        }
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.kind())?;
        match self {
            Self::FewSamples { class, samples } => {
                map.serialize_entry("class", class)?;
                map.serialize_entry("samples", samples)?;
            }
            Self::TheoryDisagrees { theory, error } => {
                map.serialize_entry("theory", theory)?;
                map.serialize_entry("error", error)?;
            }
            Self::TwoThresholds { saves } => map.serialize_entry("saves", saves)?,
            Self::TailExtrapolated {
                rate,
                class,
                samples,
            } => {
                map.serialize_entry("rate", rate)?;
                map.serialize_entry("class", class)?;
                map.serialize_entry("samples", samples)?;
            }
            Self::ViewLeftOut { view, why } => {
                map.serialize_entry("view", view)?;
                map.serialize_entry("why", why)?;
            }
            Self::SourcesJoined { sources, groups } => {
                map.serialize_entry("sources", sources)?;
                map.serialize_entry("groups", groups)?;
            }
            Self::FoldsJoined { class, folds, left } => {
                map.serialize_entry("class", class)?;
                map.serialize_entry("folds", folds)?;
                map.serialize_entry("left", left)?;
            }
            Self::FromMoments | Self::OneLabel => {}
            Self::OneGroup { class } => map.serialize_entry("class", class)?,
            Self::Copies { samples } => map.serialize_entry("samples", samples)?,
            Self::NearCopies { ratio } => map.serialize_entry("ratio", ratio)?,
            Self::UnlikeSources { error, rehearsed } => {
                map.serialize_entry("error", error)?;
                map.serialize_entry("rehearsed", rehearsed)?;
            }
        }
        map.serialize_entry("text", &self.to_string())?;
        map.end()
    }
}
