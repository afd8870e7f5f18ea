//! One file per command: each reads, calls the library, and prints.

mod check;
mod count;
mod demo;
mod evaluate;
mod export;
mod figures;
mod fit;
mod forecast;
mod gather;
mod inspect;
mod load;
mod merge;
mod predict;
mod report;
mod shell;
mod statistics;

use crate::arguments::Command;
use crate::exit::Answer;
use crate::failure::Failure;

/// Runs a command.
pub fn run(command: Command) -> Result<Answer, Failure> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Forecast(arguments) => forecast::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Gather(arguments) => gather::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Tally(arguments) => gather::tally::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::manual(&arguments),
        Command::Count(arguments) => count::run(&arguments),
    }
}
