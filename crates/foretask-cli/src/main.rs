//! `foretask`, the command line: parse, read, call the library, print.
//!
//! ```text
//!  arguments ──► commands ──► read (tables) ──► the library ──► show (text) or json ──► output
//!                   │                                                                      │
//!                   └──────────────── Answer or Failure ──► exit (code, message) ◄─────────┘
//! ```
//!
//! There is no mathematics here. Every command returns an [`Answer`](exit::Answer) or a
//! [`Failure`](failure::Failure), and only [`exit`] knows what number that is for the shell.

mod arguments;
mod commands;
mod digits;
mod exit;
mod failure;
mod json;
mod output;
mod plot;
mod progress;
mod read;
mod show;
mod summary;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    exit::code(match arguments::Cli::try_parse() {
        Ok(cli) => commands::run(cli.command),
        Err(usage) => Err(usage.into()),
    })
}
