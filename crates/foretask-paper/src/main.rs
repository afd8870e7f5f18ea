//! `foretask-paper`: reruns the paper's experiments and writes what came out.
//!
//! Exit codes: 0 done, 1 done but a part was skipped because its data file is missing, 2 not done.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use foretask_paper::experiments::{ALL, Experiment, find};
use foretask_paper::report::Report;
use foretask_paper::trials::Context;
use foretask_paper::{Error, Result, docs, page};

/// Reproduces every figure and table of the paper behind foretask.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Examples:
  foretask-paper list
  foretask-paper run multi-class --trials 5
  foretask-paper run roc office-surf --data data --out paper-out
  foretask-paper all --data data --out paper-out
  foretask-paper docs

Exit codes: 0 done; 1 done, but a part was skipped because its data file is missing; 2 not done."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists the experiments.
    List,
    /// Runs some experiments.
    #[command(
        after_help = "Example:\n  foretask-paper run one-vs-all binary-label --trials 10 --out paper-out"
    )]
    Run {
        /// Their names, as in the list.
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        options: Options,
    },
    /// Runs all experiments and writes the page of all of them.
    #[command(after_help = "Example:\n  foretask-paper all --data data --out paper-out")]
    All {
        #[command(flatten)]
        options: Options,
    },
    /// Writes the documents of a full run that was written to a folder.
    #[command(after_help = "Example:\n  foretask-paper docs --from paper-out --to docs")]
    Docs {
        /// The folder that the run was written to.
        #[arg(long, value_name = "DIR", default_value = "paper-out")]
        from: PathBuf,
        /// The folder to write 7-reproduction.md and reproduction/ to.
        #[arg(long, value_name = "DIR", default_value = "docs")]
        to: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Options {
    /// Trials of every experiment, instead of its own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: Option<u32>,
    /// The folder with the data files; $FORETASK_DATA, or `data`, if it is not named.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The folder to write NAME.json, NAME.svg and index.html to.
    #[arg(long, value_name = "DIR", default_value = "paper-out")]
    out: PathBuf,
}

impl Options {
    fn folder(&self) -> PathBuf {
        let named = || std::env::var_os("FORETASK_DATA").map(PathBuf::from);
        let data = self.data.clone().or_else(named);
        data.unwrap_or_else(|| PathBuf::from("data"))
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether everything was run.
fn run(command: Command) -> Result<bool> {
    match command {
        Command::List => {
            for experiment in ALL {
                let needs = match (experiment.needs, experiment.synthetic) {
                    (Some(file), true) => format!(" [a part needs {file}]"),
                    (Some(file), false) => format!(" [needs {file}]"),
                    (None, _) => String::new(),
                };
                say(format_args!(
                    "{:16}{}{needs}",
                    experiment.name, experiment.title
                ));
            }
            Ok(true)
        }
        Command::Run { names, options } => {
            let experiments = names
                .iter()
                .map(|name| find(name))
                .collect::<Result<Vec<_>>>()?;
            run_all(&experiments, &options)
        }
        Command::All { options } => run_all(&ALL.iter().collect::<Vec<_>>(), &options),
        Command::Docs { from, to } => {
            write_documents(&from, &to)?;
            Ok(true)
        }
    }
}

fn run_all(experiments: &[&'static Experiment], options: &Options) -> Result<bool> {
    create(&options.out)?;
    let mut complete = true;
    for experiment in experiments {
        let trials = options.trials.map(|trials| trials as usize);
        let context = Context::new(options.folder(), trials).with_progress(experiment.name);
        let started = std::time::Instant::now();
        let report = experiment.run(&context);
        context.finish();
        let report = report?;
        write_report(&options.out, &report)?;
        say(format_args!(
            "{} ({:.1} s)",
            report.name,
            started.elapsed().as_secs_f64()
        ));
        for verdict in &report.verdicts {
            say(format_args!(
                "  {}: {}",
                verdict.part,
                verdict.judgement.words()
            ));
        }
        for skipped in &report.skipped {
            complete = false;
            say(format_args!(
                "  {}: skipped, needs {}",
                skipped.part, skipped.file
            ));
        }
    }
    // The page has all that is in the folder, in the order of the list.
    write(
        &options.out.join("index.html"),
        &page::html(&stored(&options.out)?)?,
    )?;
    say(format_args!("written to {}", options.out.display()));
    Ok(complete)
}

fn write_report(folder: &Path, report: &Report) -> Result<()> {
    let path = folder.join(format!("{}.json", report.name));
    let json = serde_json::to_string_pretty(report).map_err(|source| Error::Json {
        path: path.clone(),
        source,
    })?;
    write(&path, &json)?;
    match page::picture(report)? {
        Some(picture) => write(&folder.join(format!("{}.svg", report.name)), &picture),
        None => Ok(()),
    }
}

/// The documents, of which each needs its report: a run of all experiments.
fn write_documents(from: &Path, to: &Path) -> Result<()> {
    let reports = ALL
        .iter()
        .map(|experiment| read_report(&report_path(from, experiment)))
        .collect::<Result<Vec<_>>>()?;
    let pages = to.join("reproduction");
    create(&pages)?;
    write(&to.join("7-reproduction.md"), &docs::summary(&reports))?;
    for (experiment, report) in ALL.iter().zip(&reports) {
        let name = experiment.name;
        write(
            &pages.join(format!("{name}.md")),
            &docs::page(experiment, report)?,
        )?;
        for (figure, suffix) in [(&report.figure, ""), (&report.paper_figure, "-paper")] {
            if let Some(figure) = figure {
                write(&pages.join(format!("{name}{suffix}.svg")), &figure.svg()?)?;
            }
        }
    }
    Ok(())
}

/// The reports in a folder, in the order of the list.
fn stored(folder: &Path) -> Result<Vec<Report>> {
    ALL.iter()
        .map(|experiment| report_path(folder, experiment))
        .filter(|path| path.is_file())
        .map(|path| read_report(&path))
        .collect()
}

fn report_path(folder: &Path, experiment: &Experiment) -> PathBuf {
    folder.join(format!("{}.json", experiment.name))
}

fn read_report(path: &Path) -> Result<Report> {
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|source| Error::Json {
        path: path.to_owned(),
        source,
    })
}

fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|source| Error::File {
        path: folder.to_owned(),
        source,
    })
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

/// A line on standard output. A reader that has closed the pipe has all it wants, and the files are written.
fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
