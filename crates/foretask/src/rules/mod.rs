//! How responses become scores that can be compared: label scores, offsets and thresholds from moments.
//!
//! | module | rule |
//! |---|---|
//! | [`binary`] | two classes, one score and a threshold: closed forms |
//! | `false_alarm` | two classes, one of them the null hypothesis: a rate that is held |
//! | [`one_vs_all`] | one score per class, each against all others |
//! | `one_vs_one` | one score per pair of classes, and votes |
//! | [`one_hot`] | one score per class, all optimised together |
//! | [`bayes`] | the posterior of Gaussian responses |
//!
//! All but the first two are [`crate::decision::Discriminant`]s.

pub mod bayes;
pub mod binary;
pub(crate) mod false_alarm;
pub mod one_hot;
pub mod one_vs_all;
pub(crate) mod one_vs_one;

mod averages;
mod pencil;
mod score_law;

pub use binary::BinaryRule;
pub use false_alarm::Tail;
pub(crate) use one_vs_one::PairScore;
pub use score_law::ScoreLaw;
