//! `foretask`, the command line: parse, read, call the library, print.
//!
//! ```text
//!  arguments ──► commands ──► read (tables) ──► the library ──► show (text) or json ──► output
//!                   │                                                                      │
//!                   └──────────────── Answer or Failure ──► exit (code, message) ◄─────────┘
//! ```
//!
//! Every file may use only files above it (`crates/foretask/tests/architecture.rs` reads this tree):
//!
//! ```text
//! read/
//!   error.rs              what can be wrong with a table
//!   category.rs           names of classes and tasks, which rows share
//!   table.rs              what reading arrives at, and what is asked of it
//!   batch.rs              the rows of a file, some at a time
//!   input.rs              bytes as they are read
//!   packed.rs             how much may come of packed bytes
//!   source.rs             what a file holds, and how it is packed
//!   builder.rs            a column as it is read, cell by cell
//!   decoder.rs            panics of a decoder, caught
//!   roles.rs              which column is what
//!   growing.rs            a table of text as it grows, row by row
//!   records.rs            lines of text, in cells
//!   csv.rs                text with separators
//!   jsonl.rs              JSON lines
//!   svmlight.rs           svmlight lines
//!   member.rs             one file of an archive, beside others
//!   npz.rs                .npz
//!   pages.rs              what pages of Parquet say they hold
//!   vectors.rs            vectors of Spark
//!   arrow.rs              batches of columns
//!   parquet.rs            .parquet
//!   ipc.rs                Arrow, Feather
//!   mod.rs                a table from files, whole or in batches
//! plot/
//!   error.rs              why there is no picture
//!   palette.rs            the colours
//!   letters.rs            how wide a text is, and its outlines
//!   scene.rs              lines, areas and texts of a picture
//!   axes.rs               headings, legends, axes
//!   scores.rs             scores by class
//!   histogram.rs          bars of them
//!   densities.rs          bars and what was foretold
//!   dots.rs               values with intervals, by row
//!   confusion.rs          what each class is called
//!   curve.rs              what more labels bring
//!   roc.rs                detections against false alarms
//!   png.rs                a scene as pixels
//!   svg.rs                a scene as text
//!   mod.rs                panels under a title, as a file
//! failure.rs              what can stop a command
//! exit.rs                 what number that is for the shell
//! progress.rs             a bar on a terminal
//! output.rs               to a file, whole or not at all, or to standard output
//! digits.rs               the embedded images
//! arguments/
//!   choices.rs            the settings of the library as options
//!   mod.rs                commands and their options
//! summary.rs              what there is to say of a study or a model, from foretask-page
//! show/
//!   words.rs              numbers and names as people read them
//!   table.rs              columns
//!   reliability.rs        how far probabilities can be believed
//!   rehearsal.rs          what sources do in the target's place
//!   expected.rs           confusions, probabilities, alarms
//!   mod.rs                a study for people
//! json.rs                 a study for machines, from foretask-page
//! commands/
//!   statistics/
//!     digest.rs           what some bytes are known by
//!     plan.rs             how columns became their features
//!     mod.rs              files of statistics, and their union
//!   load.rs               a table or statistics, its study, a model
//!   figures.rs            the panels of --plot
//!   gather/
//!     gaps.rs             rows with missing values, dropped or refused
//!     store.rs            parts that were gathered before
//!     survey.rs           what becomes of the columns of all parts
//!     sum.rs              rows become statistics, batch by batch
//!     at_once.rs          one pass where columns are features as they are
//!     tally.rs            foretask tally
//!     mod.rs              foretask gather
//!   evaluate/
//!     alarm.rs            a held rate as it came out
//!     scores.rs           the picture of a test
//!     mod.rs              foretask evaluate
//!   forecast/
//!     questions.rs        what is asked beyond the forecast
//!     compare.rs          other rules and theories
//!     labels.rs           what more labels would bring
//!     sources.rs          whether the sources help
//!     mod.rs              foretask forecast
//!   check.rs              foretask check
//!   report/
//!     origin.rs           the command and the files of a page
//!     mod.rs              foretask report
//!   demo/
//!     draw.rs             labels drawn at random
//!     story.rs            what all draws say together
//!     mod.rs              foretask demo
//!   count.rs              foretask count
//!   export.rs             foretask export
//!   fit.rs                foretask fit
//!   inspect.rs            foretask inspect
//!   merge.rs              foretask merge
//!   predict.rs            foretask predict
//!   shell.rs              foretask completions, man
//!   mod.rs                which command
//! ```
//!
//! There is no mathematics here. Every command returns an [`Answer`](exit::Answer) or a
//! [`Failure`](failure::Failure), and only [`exit`] knows what number that is for the shell.
#![forbid(unsafe_code)]

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
