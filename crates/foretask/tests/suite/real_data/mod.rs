//! Real data, printed as tables: `cargo test -p foretask --lib real_data -- --nocapture`.

#[path = "../../../../foretask-cli/src/digits.rs"]
mod digits;
mod images;
mod problems;
mod real;
