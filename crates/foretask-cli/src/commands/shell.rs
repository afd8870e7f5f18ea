//! `foretask completions` and `foretask man`: what shells and manuals want to know of the options.

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::arguments::{Cli, Completions, Man};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;

/// Prints a completion script.
pub fn completions(arguments: &Completions) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Cli::command(),
        "foretask",
        &mut script,
    );
    output::standard(&script)?;
    Ok(Answer::Yes)
}

/// Prints a manual page.
pub fn manual(arguments: &Man) -> Result<Answer, Failure> {
    let mut command = Cli::command();
    // Gives the pages of subcommands their full names.
    command.build();
    if let Some(name) = &arguments.command {
        command = match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                let message = format!("there is no command '{name}'");
                return Err(command.error(ErrorKind::InvalidSubcommand, message).into());
            }
        };
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|source| Failure::Write {
            to: "the manual page".into(),
            source,
        })?;
    output::standard(&page)?;
    Ok(Answer::Yes)
}
