//! The exit code, in one place.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | done, and the answer is no: `evaluate --fail-above` measured a larger error |
//! | 2 | not done: standard error says why |
//!
//! Two things are not errors although they look like one. Help and version text arrive from the
//! parser as an "error" that goes to standard output. And a reader that closes the pipe early, as
//! `head` does, has all it wants: nobody is helped by a message, so it is code 0 and silence.

use std::io::{self, Write};
use std::process::ExitCode;

use foretask_words::printable;

use crate::failure::Failure;

/// What a command that did its work says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Done.
    Yes,
    /// Done, and what was asked for does not hold.
    No,
}

/// Says what went wrong, if anything, and gives the code.
pub fn code(result: Result<Answer, Failure>) -> ExitCode {
    match result {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(Failure::Usage(usage)) => {
            // Help to a closed pipe, or an error message to a closed terminal: nobody is reading.
            let _ = usage.print();
            ExitCode::from(if usage.use_stderr() { 2 } else { 0 })
        }
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            // Standard error may be closed too; the code still tells.
            let _ = complain(&failure);
            ExitCode::from(2)
        }
    }
}

fn complain(failure: &Failure) -> io::Result<()> {
    let mut out = io::stderr().lock();
    // Messages name what files hold; their own lines stay lines.
    let message = failure.to_string();
    let lines: Vec<_> = message.split('\n').map(printable).collect();
    writeln!(out, "error: {}", lines.join("\n"))?;
    match failure.help() {
        Some(help) => writeln!(out, "help: {help}"),
        None => Ok(()),
    }
}
