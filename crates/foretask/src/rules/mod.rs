//! How responses become a class: label scores and thresholds.
//!
//! | module | rule |
//! |---|---|
//! | [`binary`] | two classes, one score and a threshold: closed forms |
//! | [`false_alarm`] | two classes, one of them the null hypothesis: a rate that is held |
//! | [`one_vs_all`] | one score per class, each against all others |
//! | [`one_vs_one`] | one score per pair of classes, and votes |
//! | [`one_hot`] | one score per class, all optimised together |
//! | [`bayes`] | the posterior of Gaussian responses |
//! | [`families`] | restricted label scores for few labels, averaged by the default recipe |
//!
//! All but the first two are [`Discriminant`]s.

pub mod bayes;
pub mod binary;
mod discriminant;
pub mod false_alarm;
pub mod families;
pub mod one_hot;
pub mod one_vs_all;
pub mod one_vs_one;

pub use discriminant::{Discriminant, Form, Quadratic, Ties, pairs};
