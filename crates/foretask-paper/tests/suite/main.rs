//! The reproduction in small. One file alone: `cargo test -p foretask-paper --test suite synthetic::`.

// A failure here is a failed test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod command;
mod document;
mod synthetic;
