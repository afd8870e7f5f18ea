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

pub mod cells;
pub mod coupling;
mod dense;
pub mod error;
pub mod forecast;
pub mod gaussian;
pub mod model;
pub mod moments;
mod onnx;
mod relatedness;
pub mod rules;
pub mod settings;
pub mod solve;
pub mod statistics;
pub mod study;
pub mod tasks;
pub mod theory;
mod tune;

pub use cells::{Cells, Task};
pub use coupling::Coupling;
pub use error::{Error, Result};
pub use forecast::Forecast;
pub use model::Model;
pub use moments::{Moments, Source};
pub use relatedness::relatedness;
pub use rules::Ties;
pub use rules::false_alarm::Tail;
pub use settings::{Evidence, FalseAlarm, Labels, Prior, RuleName, Settings};
pub use solve::{LeaveOneOut, Scaling, System};
pub use statistics::Statistics;
pub use study::Study;
pub use tasks::{Rows, Tasks};
pub use theory::covariance::Estimate;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
