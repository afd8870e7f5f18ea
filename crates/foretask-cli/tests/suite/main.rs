//! The command as its user has it. One file alone: `cargo test -p foretask-cli --test suite rules::`.

// A failure here is a failed test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod alarm;
mod bad_input;
mod commands;
mod common;
mod export;
mod faults;
mod fuzzed;
mod groups;
mod hygiene;
mod in_batches;
mod limits;
mod output;
mod pictures;
mod prediction;
mod raw_files;
mod report;
mod rules;
mod streams;
mod tally;
mod told;
mod verdict;
