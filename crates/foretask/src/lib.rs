//! Train many classification tasks together, and know the test error before any test.
//!
//! # The problem
//!
//! You have few labels for the task you care about (the *target*) and plenty for related ones. Pooling
//! them may help or hurt, tuning costs a cross-validation you cannot afford, and nobody can say what
//! error to expect. foretask trains all tasks with one least-squares SVM, chooses couplings and labels
//! in closed form from exact leave-one-out algebra and random matrix theory, is not hurt by unrelated or
//! opposed sources, and foretells its own error with an interval.
//!
//! # The mathematics
//!
//! ```text
//!  minimise  ½ Σ_i |Y_i - Z_i w_i - 1 b_i|² + (kp/2) [ |w_0|²/λ + Σ_i |w_i - w_0|²/γ_i ]
//! ```
//!
//! The solution is linear in the label values. Give every *cell* (one class of one task) a label value of
//! its own: training is then one linear solve with C right-hand sides, and every classifier is a
//! combination of the C *responses* φ(x). Their mean and covariance on new samples are known, from
//! theory before training or from leave-one-out after it, so that choosing labels and thresholds and
//! foretelling errors are small problems in C dimensions.
//!
//! # Quick start
//!
//! ```
//! use foretask::{Rows, Settings, Study, Tasks};
//!
//! # let values: Vec<f64> = (0..240).map(|i| ((i * 7919) % 101) as f64 / 50.0 + if i % 4 == 1 && (i / 4) % 2 == 0 { 1.5 } else { 0.0 }).collect();
//! # let domain: Vec<&str> = (0..60).map(|i| if i < 40 { "amazon" } else { "webcam" }).collect();
//! # let label: Vec<&str> = (0..60).map(|i| if i % 2 == 0 { "bike" } else { "mug" }).collect();
//! // 60 rows of 4 features; each row has a task and a class.
//! let rows = Rows::row_major(&values, 4)?;
//! let tasks = Tasks::new(rows, &domain, &label)?;
//!
//! let settings = Settings { target: Some("webcam".into()), ..Settings::default() };
//! let study = Study::new(&tasks, &settings)?;
//! let forecast = study.forecast();
//! println!("expected error {:.1} % ({})", 100.0 * forecast.error, forecast.source);
//!
//! let model = study.model()?;
//! let class = model.predict(rows)?;
//! assert_eq!(model.classes()[class[0]], "bike");
//! # Ok::<(), foretask::Error>(())
//! ```
//!
//! # The modules
//!
//! ```text
//! rows ─► tasks ─► statistics ─► solve ────────────► responses (per task, p x C)
//!         cells                   │  leave-one-out        │
//!                                 ▼                       │
//!             theory ─► moments ◄─┤                       │
//!                          │      ▼                       │
//!                          └─► rules, tune ─► forecast    ▼
//!                                   └───── study ─────► model ─► predict
//! ```
//!
//! Data flow one way. [`solve`] never sees label scores, [`rules`] see only moments and leave-one-out
//! responses, and a [`forecast`] never sees test data.
//!
//! # Where to start
//!
//! * To use it: [`Tasks`], [`Settings`], [`Study`], [`Model`].
//! * For the linear algebra: [`System`] and [`solve`].
//! * For the theory: [`theory`], then [`moments`] and [`rules::binary`].
//! * For every task as the target: [`Study::all`].
//! * For streams and many machines: [`Statistics`], which a [`Study`] takes in place of the data.
//!
//! Everything is deterministic: the same data and seed give the same bits, whatever the number of
//! threads. Arithmetic is in `f64`; data may be `f32` or `f64`, in rows or in columns.

mod data;
mod decision;
mod error;
mod estimate;
mod evaluate;
mod forecast;
mod model;
mod moments;
mod numerics;
mod recipe;
pub mod rules;
mod settings;
mod shrink;
mod solve;
mod stakes;
mod study;
mod tensors;
pub mod theory;
mod words;

pub use data::cells::{Cells, Task};
pub use data::coupling::Coupling;
pub use data::rows::{Element, Rows};
pub use data::statistics::Statistics;
pub use data::tasks::Tasks;
pub use decision::{Discriminant, Form, Quadratic, Ties};
pub use error::{Error, Result};
pub use estimate::relatedness::relatedness;
pub use evaluate::{Measured, MeasuredAlarm, Rate, evaluate};
pub use forecast::calibrate::Reliability;
pub use forecast::curve::CurvePoint;
pub use forecast::density::{Density, RocPoint};
pub use forecast::note::Note;
pub use forecast::value::SourceValue;
pub use forecast::{AlarmForecast, Forecast};
pub use model::rule::{CandidateWeight, Rule};
pub use model::{Model, write_atomically};
pub use moments::{Moments, Provenance, centre_noise};
pub use numerics::interval::{COVERAGE, interval};
pub use recipe::families::Family;
pub use rules::false_alarm::Tail;
pub use settings::words::{Evidence, Labels, RuleName, vocabulary};
pub use settings::{FalseAlarm, Prior, Settings};
pub use solve::leave_one_out::LeaveOneOut;
pub use solve::scaling::Scaling;
pub use solve::system::System;
pub use study::{Compared, Foretold, LeftOut, Study};
pub use words::{Named, Word};

/// The normal distribution, and probabilities of orthants.
pub mod normal {
    pub use crate::numerics::normal::{cumulative, density, tail, upper_quantile};
    pub use crate::numerics::orthant::{Orthant, orthant};
}

#[cfg(test)]
extern crate self as foretask;
#[cfg(test)]
#[path = "../tests/suite/mod.rs"]
mod suite;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
