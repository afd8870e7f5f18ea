//! How responses become a class: label scores and thresholds.
//!
//! [`binary`] holds the closed forms for two classes; [`families`] the restricted families of label
//! scores, for any number of classes, that the default recipe averages over.

pub mod binary;
pub mod families;
