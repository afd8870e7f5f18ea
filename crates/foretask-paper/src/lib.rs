//! Reproduces every figure and table of *Large Dimensional Analysis and Improvement of Multi Task Learning*
//! (Tiomoko, Couillet, Tiomoko Ali) with the `foretask` library.
//!
//! ```text
//! experiments ─► Report (numbers, settings, printed values, verdicts) ─► NAME.json, NAME.svg
//!      │                                                            └─► index.html, docs/7-reproduction.md, docs/reproduction/
//!      ├── population: Gaussian classes with known means      data: the real data sets, read where they are
//!      ├── hog, pca: what the paper does to images            authors: the paper's own theory, term by term
//!      └── baselines: what the paper compares with
//! ```
//!
//! One file under [`experiments`] is one figure or table and reads like the paper's paragraph about it. An
//! experiment draws its trials in parallel, each from a seed of its own, so that the numbers do not depend on
//! the number of threads. Test data are only tested: nothing is fitted on them.
#![forbid(unsafe_code)]

pub mod authors;
pub mod baselines;
pub mod data;
pub mod docs;
pub mod error;
pub mod experiments;
pub mod figure;
pub mod hog;
pub mod page;
pub mod pca;
pub mod population;
pub mod report;
pub mod trials;

pub use error::{Error, Result};
