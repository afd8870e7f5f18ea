//! Real data, printed as tables: `cargo test -p foretask --test real_data -- --nocapture`.

// A failure here is a failed test.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../foretask-cli/src/digits.rs"]
mod digits;
mod images;
mod problems;
mod real;
