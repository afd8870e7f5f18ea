//! From a table as people keep it to features: what is learnt from the training rows of all tasks, kept with a
//! model, and done again to new rows.
//!
//! | column | becomes |
//! |---|---|
//! | numbers | a feature; a gap is filled with the median of the row's task |
//! | `true`/`false`, `yes`/`no` | 0 or 1, gaps likewise |
//! | texts of few kinds | one feature per kind, 1 where the text is that; a text never seen is 0 everywhere |
//! | gaps in more than [`MANY_MISSING`] of the rows | one feature more: 1 where the value is missing |
//! | constants, dates, free text, row numbers, identifiers | nothing, and it is said why |
//!
//! Everything depends on the content of the columns only, never on the order of the rows.

mod apply;
mod check;
mod column;
mod learn;
mod naming;
mod plan;
mod survey;

pub use apply::{Features, Prepared, nearest};
pub use check::{DROWNS, Warning};
pub use column::{Column, Frame, MOST_TEXTS, Texts, WhyLeftOut};
pub use learn::{FLAGS, MANY_MISSING, MAX_LEVELS, Wishes};
pub use naming::{number_name, single_name, text_name};
pub use plan::{Encoded, Encoding, LeftOutColumn, Preparation};
pub use survey::Survey;
