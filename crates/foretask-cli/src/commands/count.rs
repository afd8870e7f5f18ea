//! `foretask count`: a table is read, and nothing else; `python/benchmarks/reading.py` times it.

use crate::arguments;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::read::{self, Purpose};
use crate::show::words;

/// Runs the command.
pub fn run(arguments: &arguments::Count) -> Result<Answer, Failure> {
    let data = &arguments.data;
    let table = read::read(
        &data.files,
        data.written.written(),
        &data.columns(),
        Purpose::Look,
    )?;
    let rows = words::count(table.rows(), "row");
    let columns = words::count(table.frame.names().len(), "column");
    output::text(None, &format!("{rows}, {columns} to make features of\n"))?;
    Ok(Answer::Yes)
}
