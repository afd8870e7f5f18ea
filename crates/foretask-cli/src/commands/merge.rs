//! `foretask merge`: several files of statistics become one.

use crate::arguments;
use crate::commands::gather;
use crate::commands::statistics;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::read;

/// Runs the command.
pub fn run(arguments: &arguments::Merge) -> Result<Answer, Failure> {
    output::check(&arguments.output, &arguments.files)?;
    let files: Vec<_> = read::parts(&arguments.files)?
        .into_iter()
        .map(|part| part.path)
        .collect();
    let whole = statistics::read(&files, arguments.again)?;
    let bytes = statistics::write(&arguments.output, &whole)?;
    let text = gather::report("Merged", &whole, files.len(), &arguments.output, bytes);
    output::text(None, &text)?;
    Ok(Answer::Yes)
}
