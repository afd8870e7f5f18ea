//! The words of the settings that only they have, and the one list of all words.

use crate::decision::Ties;
use crate::estimate::Estimate;
use crate::moments::Provenance;
use crate::recipe::Family;
use crate::rules::Tail;
use crate::solve::{GridPoint, Scaling};
use crate::views::{Skipped, View};
use crate::words::{Word, words};

words! {
    /// How responses become a class.
    pub enum RuleName("rule", default Auto) {
        /// The weighted average of all ways to share and to label (the measured default); with labels or a
        /// theory by name, one score and a threshold for two classes and one-hot for more
        Auto = "auto",
        /// One score per class, all optimised together; the largest wins
        OneHot = "one-hot",
        /// One score per class, each optimised against all others and standardised; the largest wins
        OneVsAll = "one-vs-all",
        /// One score per class against all others together, as it is; the largest wins
        NaiveOneVsAll = "naive-one-vs-all",
        /// One score per pair of classes, trained on the samples of that pair; most votes win
        OneVsOne = "one-vs-one",
        /// The most probable class if responses are Gaussian
        Bayes = "bayes",
    }
}

impl RuleName {
    /// The rules that are not an average, in the order they are compared in.
    pub(crate) const NAMED: [Self; 5] = [
        Self::Bayes,
        Self::OneHot,
        Self::OneVsAll,
        Self::NaiveOneVsAll,
        Self::OneVsOne,
    ];
}

words! {
    /// Which label scores to train with.
    pub enum Labels("labels", default Auto) {
        /// A weighted average of all ways to use the sources; optimal where a rule or a theory is named
        Auto = "auto",
        /// The label values of least forecast error, in closed form
        Optimal = "optimal",
        /// The same labels in every task
        Classical = "classical",
        /// The target only; the sources are not used
        Alone = "alone",
        /// The same labels in every task and one set of weights for all of them; a given gamma is taken for 0
        Pooled = "pooled",
    }
}

impl Labels {
    /// Whether label scores are known before any data are seen.
    pub(crate) fn are_classical(self) -> bool {
        matches!(self, Self::Classical | Self::Alone | Self::Pooled)
    }

    /// Whether tasks may be coupled like this, where there are several.
    pub(crate) fn allow(self, point: GridPoint) -> bool {
        match self {
            Self::Alone => point.shared == 0.0,
            Self::Pooled => point.is_pooled(),
            _ => true,
        }
    }
}

words! {
    /// Where moments and forecast come from.
    pub enum Evidence("theory", default Auto) {
        /// Leave-one-out, steadied by the theory where labels are computed
        Auto = "auto",
        /// Random matrix theory alone: one variance per task, as in the paper's first theorem
        Isotropic = "isotropic",
        /// The same for one variance per class of each task
        Spherical = "spherical",
        /// The same for one covariance shape that all classes have in common: pooled within them, and shrunk
        Common = "common" | "pooled",
        /// The same for one covariance per class of each task, as in the paper's second theorem, each shrunk
        /// by OAS
        General = "general",
        /// As general, each covariance shrunk by Ledoit and Wolf's rule
        LedoitWolf = "ledoit-wolf",
        /// As general, with the plain sample covariances of the paper
        Sample = "sample",
        /// Leave-one-out alone, however many rows the target has
        LeaveOneOut = "leave-one-out",
        /// Leave-fold-out, which the default takes where the target has many rows
        LeaveFoldOut = "leave-fold-out",
    }
}

impl Evidence {
    /// Whether forecasts come from the theory alone.
    pub(crate) fn is_theory(self) -> bool {
        !matches!(self, Self::Auto | Self::LeaveOneOut | Self::LeaveFoldOut)
    }

    /// How covariances are estimated, for the general theory.
    pub(crate) fn estimate(self) -> Option<Estimate> {
        match self {
            Self::General => Some(Estimate::Oas),
            Self::LedoitWolf => Some(Estimate::LedoitWolf),
            Self::Sample => Some(Estimate::Sample),
            _ => None,
        }
    }
}

/// Every option and answer that is one of a list of words, with the words: what all faces know.
pub fn vocabulary() -> Vec<(&'static str, Vec<&'static str>)> {
    fn of<W: Word>() -> (&'static str, Vec<&'static str>) {
        (W::OPTION, W::ALL.iter().map(|named| named.word).collect())
    }
    vec![
        of::<RuleName>(),
        of::<Labels>(),
        of::<Evidence>(),
        of::<Scaling>(),
        of::<Ties>(),
        of::<Tail>(),
        of::<View>(),
        of::<Skipped>(),
        of::<Family>(),
        of::<Provenance>(),
    ]
}
