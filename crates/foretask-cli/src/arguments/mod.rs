//! The command line as types: what may be written, and what it means to the library.

mod choices;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use foretask::prepare::{MAX_LEVELS, Wishes};

use crate::read::{Columns, Format, Keep, Written};
pub use choices::Choices;

const EXAMPLES: &str = "\
Examples:
  foretask demo
  foretask check data.csv
  foretask forecast data.csv --target webcam
  foretask report data.csv --target webcam -o report.html
  foretask fit data.csv --target webcam -o model.safetensors
  foretask evaluate model.safetensors test.csv
  foretask predict model.safetensors new.csv -o predictions.csv
  foretask gather parts/ --target webcam -o all.stats
  foretask fit all.stats --target webcam -o model.safetensors

Exit codes: 0 done, 1 the answer is no (evaluate --fail-above), 2 error.";

const DEMO_EXAMPLES: &str = "\
Examples:
  foretask demo
  foretask demo --plot demo.svg
  foretask demo --html demo.html
  foretask demo --json";

const CHECK_EXAMPLES: &str = "\
Examples:
  foretask check data.csv
  foretask check visits.csv.gz --label outcome --task hospital
  foretask check parts/ --ignore patient_id --categorical ward --json";

const FORECAST_FIRST: &str = "\
Examples:
  foretask forecast data.csv --target webcam
  foretask forecast data.csv --target webcam --reach 0.05

--help has all options, and more examples.";

const FORECAST_EXAMPLES: &str = "\
Examples:
  foretask forecast data.csv --target webcam
      data.csv has the columns 'task' and 'label'; all others are features.
  foretask forecast amazon.csv dslr.csv webcam.csv --target webcam
      Without a task column every file is a task, named after the file.
  foretask forecast data.parquet --label species --task site --target north --json
  foretask forecast data.npz --features X --label y --task domain --target 3
      Of an .npz file the options name arrays.
  foretask forecast data.csv --target webcam --labels optimal --lambda 10 --gamma 1
  foretask forecast data.csv --target webcam --plot forecast.svg
      A picture: scores, the learning curve, what each source brings, detections. Also .png and .html.
  foretask forecast data.csv --target webcam --details
      How the decision is made, and what theories would foretell.
  foretask forecast data.csv --target webcam --compare
      What every rule and every theory would foretell, next to the choice that was made.
  foretask forecast data.csv --target webcam --rule one-vs-one --theory pooled
  foretask forecast ecg.csv --target ann --null normal --false-alarm 0.01
      A test: 1 % of the class 'normal' may raise an alarm; how many others will be detected?
  foretask forecast data.csv --target webcam --reach 0.1,0.05 --budget 40
      How many labels per class an error of 10 % and one of 5 % need; how to spread 40 labels over the classes.
  foretask forecast '*.stats' --target north
      Statistics that `foretask gather` made of rows that need not be here.
  foretask forecast visits.csv.gz --label outcome --task hospital --target north --group patient_id
      All visits of a patient are left out together: what to expect of new patients.";

const REPORT_EXAMPLES: &str = "\
Examples:
  foretask report data.csv --target webcam -o report.html
      One file that any browser opens, without a network: drag the threshold, change priors and costs, add labels.
  foretask report data.csv --target webcam --test test.csv -o report.html
      With what was measured beside what was foretold.
  foretask report data.csv --target webcam --views linear --force -o report.html
      With the weight of each feature; in place of the report that is there.
  foretask report ecg.csv --target ann --null normal --false-alarm 0.01 -o report.html";

const FIT_FIRST: &str = "\
Examples:
  foretask fit data.csv --target webcam -o model.safetensors

--help has all options, and more examples.";

const FIT_EXAMPLES: &str = "\
Examples:
  foretask fit data.csv --target webcam -o model.safetensors
  foretask fit data.csv --target webcam -o model.safetensors --plot forecast.png
  foretask fit data.csv --target webcam --prior cat=0.9,dog=0.1 -o model.safetensors
  foretask fit data.csv --target webcam --cost cat=5,dog=1 -o model.safetensors
      A mistake in the class 'cat' costs five times as much.
  foretask fit data.csv --target webcam --rule one-vs-one -o model.safetensors
      One score for every pair of classes, and votes.
  foretask fit ecg.csv --target ann --null normal --false-alarm 0.01 -o model.safetensors
      A test: the class 'normal' may raise an alarm in 1 % of the cases.
  foretask fit north.stats south.stats --target north -o model.safetensors
      Statistics that `foretask gather` made of rows that need not be here.";

const GATHER_EXAMPLES: &str = "\
Examples:
  foretask gather parts/ --task site --label outcome --target north -o all.stats
      Any number of rows, in bounded memory; then foretask fit all.stats --target north -o model.safetensors
  foretask gather 'visits-*.parquet' --target north -o all.stats
      If a part is bad, or the power fails, the same command goes on: parts that were gathered are known by
      their content.
  foretask gather south.csv --columns all.columns.json --rows never -o south.stats
      On another machine: the features of all.stats, and no row in the file.
  foretask gather parts/ --parts gathered/ -o all.stats
      What was gathered of each part stays in a folder, for when there are more of them.

Files are read in batches; an array of .npz in Fortran order is read whole.
Parts are read twice: once to learn what becomes of columns, once to add up.";

const MERGE_EXAMPLES: &str = "\
Examples:
  foretask merge north.stats south.stats -o all.stats
  foretask merge 'sites/*.stats' -o all.stats

Features are matched by name. The order of the files is that of the sums: in the same order the same bits
come out, whether parts are gathered together or merged in pairs (1 with 2, 3 with 4, ...).";

const TALLY_EXAMPLES: &str = "\
Examples:
  foretask gather north.csv --target hearts --rows never -o north.stats
      At each site; the files hold no row. Then, in one place: foretask merge north.stats south.stats -o all.stats
  foretask tally north.csv --statistics all.stats --target hearts -o north.tally
      At each site again: rows are scored by models without their fold, and counts leave the site.
  foretask forecast all.stats --target hearts --tally north.tally south.tally
      Without them the error is told by means and covariances, and mostly too small.";

const PREDICT_EXAMPLES: &str = "\
Examples:
  foretask predict model.safetensors new.csv
  foretask predict model.safetensors new.csv --scores --probabilities -o predictions.csv
  cat new.csv | foretask predict model.safetensors - | head -5

Rows are read and decided in batches: memory does not grow with the rows.
Columns are found by the names of the model's features; others are ignored.";

const EVALUATE_EXAMPLES: &str = "\
Examples:
  foretask evaluate model.safetensors test.csv
  foretask evaluate model.safetensors test.csv --plot scores.png
  foretask evaluate model.safetensors test.csv --fail-above 0.05
      Exits with 1 if more than 5 % of the decisions are wrong.
  foretask evaluate test.safetensors test.csv
      Of a model with a false-alarm rate: the realised rates next to the expected ones.

If the file has a task column, only the rows of the model's target count.";

const INSPECT_EXAMPLES: &str = "\
Examples:
  foretask inspect model.safetensors
  foretask inspect model.safetensors --json";

const EXPORT_EXAMPLES: &str = "\
Examples:
  foretask export model.safetensors --onnx model.onnx

The graph takes X, the features as doubles in the order that `foretask inspect` lists. Where columns
hold texts, or a feature says that a value is missing, it takes one N x 1 input per column instead,
by name: doubles, or strings for yes and no and for texts. A missing number is NaN, a missing text
is empty; both are filled in as `foretask predict` does. Texts must be written as `foretask inspect`
lists them ('island=Biscoe' is Biscoe; 2, not 2.0); one that training never saw is none of them.

It gives label, probabilities and decision: positive for the first of two classes, or one number per
class, of which the largest wins. It cannot refuse a row as `foretask predict` does: what is neither
yes nor no, and a gap that nothing fills, make decision NaN.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  foretask completions --install
      For the shell that is used, in the user's own folders, with the manual pages; says what it wrote.
  foretask completions bash > ~/.local/share/bash-completion/completions/foretask
  foretask completions zsh > ~/.zfunc/_foretask
  foretask completions fish > ~/.config/fish/completions/foretask.fish";

/// Learn several related classification tasks together, and know the error before testing.
#[derive(Debug, Parser)]
#[command(name = "foretask", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what foretask does, on handwritten digits that are built in
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Demo),
    /// Look at a table: what each column becomes, what may be wrong, and the command that goes on
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Foretell the error on new data, what more labels would bring and what each source is worth
    #[command(after_help = FORECAST_FIRST, after_long_help = FORECAST_EXAMPLES)]
    Forecast(Forecast),
    /// Write what is foretold as one page to look at and play with
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Page),
    /// Train a model for the target and save it
    #[command(after_help = FIT_FIRST, after_long_help = FIT_EXAMPLES)]
    Fit(Fit),
    /// Add up tables of any size, in parts, to statistics that models are trained from
    #[command(after_help = GATHER_EXAMPLES)]
    Gather(Gather),
    /// Make one file of several files of statistics
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(Merge),
    /// Count errors where the rows are, for statistics that were gathered without any
    #[command(after_help = TALLY_EXAMPLES)]
    Tally(Tally),
    /// Decide the class of each row of a table
    #[command(after_help = PREDICT_EXAMPLES)]
    Predict(Predict),
    /// Measure a model's error on labelled data, next to its forecast
    #[command(after_help = EVALUATE_EXAMPLES)]
    Evaluate(Evaluate),
    /// Say what is in a model file
    #[command(after_help = INSPECT_EXAMPLES)]
    Inspect(Inspect),
    /// Write a model in a format that other programs run
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Export),
    /// Print a completion script for a shell, or install it with the manual pages
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(Completions),
    /// Print the manual page, or that of one command, in troff
    #[command(hide = true)]
    Man(Man),
    /// Read a table and say how many rows it has: what reading costs by itself
    #[command(hide = true)]
    Count(Count),
}

/// `foretask demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// Draw the errors of the methods and how alike the sources are
    #[arg(long, value_name = "FILE.svg|png|html")]
    pub plot: Option<PathBuf>,
    /// Write the report of the first draw, a page to play with (as `foretask report` does)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print JSON (docs/json.md) instead of tables
    #[arg(long)]
    pub json: bool,
}

/// `foretask check`
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub report: Report,
}

/// `foretask count`
#[derive(Debug, Args)]
pub struct Count {
    #[command(flatten)]
    pub data: Data,
}

/// `foretask forecast`
#[derive(Debug, Args)]
pub struct Forecast {
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub choices: Choices,
    /// Labels added per class of the target, for the learning curve
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "5,10,20,50,100",
        help_heading = "Questions",
        hide_short_help = true
    )]
    pub added: Vec<usize>,
    /// Errors to reach, such as 0.05: say how many labels each class of the target needs for them; where a false-alarm
    /// rate is held, shares of the other class that may be missed
    #[arg(
        long,
        value_name = "ERROR,...",
        value_delimiter = ',',
        value_parser = share,
        help_heading = "Questions"
    )]
    pub reach: Vec<f64>,
    /// Labels that can be paid for: say how to spread them over the classes of the target
    #[arg(long, value_name = "N", help_heading = "Questions")]
    pub budget: Option<usize>,
    /// Add how the decision is made: families of labels, views, couplings; and what theories would foretell
    #[arg(long, help_heading = "Questions", conflicts_with = "no_details")]
    pub details: bool,
    /// Skip the learning curve and the value of each source
    #[arg(long, help_heading = "Questions")]
    pub no_details: bool,
    /// Add what every rule is expected to do, and what every theory would foretell
    #[arg(long, help_heading = "Questions", hide_short_help = true)]
    pub compare: bool,
    /// Draw what is foretold, in up to four pictures
    #[arg(long, value_name = "FILE.svg|png|html", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub report: Report,
}

/// `foretask report`
#[derive(Debug, Args)]
pub struct Page {
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub choices: Choices,
    /// Labelled rows that were not trained on: add what is measured on them
    #[arg(long, value_name = "FILE", num_args = 1, help_heading = "Questions")]
    pub test: Vec<PathBuf>,
    /// Skip the learning curve and the value of each source
    #[arg(long, help_heading = "Questions")]
    pub no_details: bool,
    /// Where to write the page
    #[arg(short, long, value_name = "FILE.html", help_heading = "Output")]
    pub output: PathBuf,
    /// Write over a file that is there
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}

/// `foretask fit`
#[derive(Debug, Args)]
pub struct Fit {
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub choices: Choices,
    /// Where to save the model
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: PathBuf,
    /// Draw the scores or confusions to expect, detections against false alarms, and how alike the sources are
    #[arg(long, value_name = "FILE.svg|png|html", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Add the tasks and how the decision is made: families of labels, views, couplings
    #[arg(long, help_heading = "Output")]
    pub details: bool,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// `foretask gather`
#[derive(Debug, Args)]
pub struct Gather {
    #[command(flatten)]
    pub data: Data,
    /// The task that will be decided for [default: any]; of the others no more rows are kept than features
    #[arg(long, value_name = "TASK", help_heading = "Statistics")]
    pub target: Option<String>,
    /// Which rows the file holds
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "while-few",
        help_heading = "Statistics"
    )]
    pub rows: RowsKept,
    /// How many folds the rows of a target are dealt to where they are many, 2 to 50, alike in all parts [default: 10]
    #[arg(long, value_name = "K", help_heading = "Statistics")]
    pub folds: Option<usize>,
    /// How columns become features, as an earlier run wrote it beside its statistics [default: learnt from all parts]
    #[arg(long, value_name = "FILE", help_heading = "Statistics")]
    pub columns: Option<PathBuf>,
    /// A folder for the statistics of each part [default: one that is gone when all parts are gathered]
    #[arg(long, value_name = "FOLDER", help_heading = "Statistics")]
    pub parts: Option<PathBuf>,
    /// Let rows of parts that are the same count again
    #[arg(long, help_heading = "Statistics")]
    pub again: bool,
    /// Where to save the statistics
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: PathBuf,
    /// Values that are held at a time
    #[arg(long, value_name = "N", default_value_t = BATCH, hide = true)]
    pub batch: usize,
}

/// Which rows statistics hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RowsKept {
    /// None, for others to see: a task with fewer rows than features is an error
    Never,
    /// What a fit for --target needs, or for any task without it: its rows while they are few, then folds and a sample
    WhileFew,
    /// All of --target, or of every task without it: the views cosine and rbf need those of every task
    Keep,
}

/// `foretask tally`
#[derive(Debug, Args)]
pub struct Tally {
    #[command(flatten)]
    pub data: Data,
    /// The statistics of all parts, which `foretask gather --rows never` wrote
    #[arg(
        long,
        value_name = "FILE",
        required = true,
        num_args = 1..,
        help_heading = "Statistics"
    )]
    pub statistics: Vec<PathBuf>,
    #[command(flatten)]
    pub choices: Choices,
    /// Where to save the counts
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: PathBuf,
}

/// `foretask merge`
#[derive(Debug, Args)]
pub struct Merge {
    /// Files that `foretask gather` or `foretask merge` wrote
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Let rows that are in several files count again
    #[arg(long)]
    pub again: bool,
    /// Where to save the union
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// `foretask predict`
#[derive(Debug, Args)]
pub struct Predict {
    /// A model that `foretask fit` saved
    pub model: PathBuf,
    /// The rows: files of any format that `foretask fit` reads, or - for standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The feature array of an .npz file [default: X]
    #[arg(long, value_name = "ARRAY")]
    pub features: Option<String>,
    /// Add the decision score (above the threshold it is the first of two classes) or one per class
    #[arg(long)]
    pub scores: bool,
    /// Add the probability of each class
    #[arg(long)]
    pub probabilities: bool,
    /// Copy these columns of the input to the output, such as an identifier
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// Copy all columns of the input to the output
    #[arg(long, conflicts_with = "keep")]
    pub append: bool,
    /// Print JSON, an object a row, instead of CSV
    #[arg(long)]
    pub json: bool,
    /// Put ' before texts that a spreadsheet takes for a formula: those that begin with = + - @, a tab or a carriage
    /// return and are no number
    #[arg(long, conflicts_with = "json")]
    pub safe_csv: bool,
    #[command(flatten)]
    pub written: Files,
    /// Write to a file, which appears whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Values that are held at a time
    #[arg(long, value_name = "N", default_value_t = BATCH, hide = true)]
    pub batch: usize,
}

/// Values that are held at a time (16 MB): enough to amortise a batch, little beside anything else.
pub const BATCH: usize = 1 << 21;

/// `foretask evaluate`
#[derive(Debug, Args)]
pub struct Evaluate {
    /// A model that `foretask fit` saved
    pub model: PathBuf,
    /// Labelled rows: files of any format that `foretask fit` reads, or - for standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The column of class names [default: as in training, or label, y, class or target]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub label: Option<String>,
    /// The column of task names, if there is one [default: as in training, or task or domain]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub task: Option<String>,
    /// The feature array of an .npz file [default: X]
    #[arg(long, value_name = "ARRAY", help_heading = "Data")]
    pub features: Option<String>,
    /// Exit with 1 if the measured error is larger than this share
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Output")]
    pub fail_above: Option<f64>,
    /// Draw what was foretold over what was measured: scores or confusions, detections, errors by class
    #[arg(long, value_name = "FILE.svg|png|html", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub written: Files,
    #[command(flatten)]
    pub report: Report,
}

/// `foretask inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// A model that `foretask fit` saved
    pub model: PathBuf,
    #[command(flatten)]
    pub report: Report,
}

/// `foretask export`
#[derive(Debug, Args)]
pub struct Export {
    /// A model that `foretask fit` saved
    pub model: PathBuf,
    /// The ONNX file to write
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub onnx: PathBuf,
}

/// `foretask completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell [default with --install: the one that is used]
    #[arg(required_unless_present = "install")]
    pub shell: Option<Shell>,
    /// Write it where the shell looks for it (bash, zsh, fish), and the manual pages, in XDG_DATA_HOME or ~/.local/share
    #[arg(long)]
    pub install: bool,
}

/// `foretask man`
#[derive(Debug, Args)]
pub struct Man {
    /// One command; the page of foretask itself if left out
    pub command: Option<String>,
}

/// How the files are written.
#[derive(Clone, Debug, Args)]
pub struct Files {
    /// What the files hold [default: told by their names]
    #[arg(
        long,
        value_name = "FORMAT",
        help_heading = "Data",
        hide_short_help = true
    )]
    pub format: Option<Format>,
    /// What separates the cells of text: one character, or 'tab' [default: told by the first lines]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter, help_heading = "Data", hide_short_help = true)]
    pub delimiter: Option<u8>,
}

impl Files {
    /// For the reader.
    pub fn written(&self) -> Written {
        Written {
            format: self.format,
            delimiter: self.delimiter,
        }
    }
}

/// Tables to learn from.
#[derive(Clone, Debug, Args)]
pub struct Data {
    /// Tables: CSV (any separator), Parquet, Arrow, JSON lines, .npz or svmlight, also .gz and .zst, folders of
    /// parts, or - for standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The column of class names [default: label, y, class or target]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub label: Option<String>,
    /// The column of task names [default: task or domain; without one every file is a task]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub task: Option<String>,
    /// The column of groups: rows of one patient, writer or recording, which are left out together
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub group: Option<String>,
    /// The feature columns [default: all others]; of an .npz file the one array [default: X]
    #[arg(
        long,
        value_name = "COLUMN,...",
        value_delimiter = ',',
        help_heading = "Data",
        hide_short_help = true
    )]
    pub features: Option<Vec<String>>,
    /// Columns that are not features
    #[arg(
        long,
        value_name = "COLUMN,...",
        value_delimiter = ',',
        help_heading = "Data"
    )]
    pub ignore: Vec<String>,
    /// Columns in which everything must be a number
    #[arg(
        long,
        value_name = "COLUMN,...",
        value_delimiter = ',',
        help_heading = "Data",
        hide_short_help = true
    )]
    pub numeric: Vec<String>,
    /// Columns whose numbers are names, such as codes
    #[arg(
        long,
        value_name = "COLUMN,...",
        value_delimiter = ',',
        help_heading = "Data",
        hide_short_help = true
    )]
    pub categorical: Vec<String>,
    /// Different texts of a column that may become features
    #[arg(long, value_name = "N", default_value_t = MAX_LEVELS, help_heading = "Data", hide_short_help = true)]
    pub max_levels: usize,
    /// What to do about missing values: fill them with the task's median, drop their rows, or refuse them
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "impute",
        help_heading = "Data",
        hide_short_help = true
    )]
    pub missing: Missing,
    /// Tables that take more memory are read in batches, twice, and statistics of them are kept: 500MB, 16GB
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "4GB",
        value_parser = size,
        help_heading = "Data",
        hide_short_help = true
    )]
    pub memory: u64,
    #[command(flatten)]
    pub written: Files,
}

/// Bytes, from a number with or without KB, MB or GB.
fn size(text: &str) -> Result<u64, String> {
    let text = text.trim().to_uppercase();
    let digits = text.trim_end_matches(['B', 'K', 'M', 'G']);
    let unit = match text[digits.len()..].trim() {
        "" | "B" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1_u64 << 30,
        _ => return Err("write a size as 500MB or 16GB".into()),
    };
    let number: u64 = digits
        .trim()
        .parse()
        .map_err(|_| "write a size as 500MB or 16GB")?;
    number
        .checked_mul(unit)
        .ok_or_else(|| "that is too large".into())
}

/// What to do about missing values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Missing {
    /// Fill them with the median of the row's task
    Impute,
    /// Drop the rows that have any
    Drop,
    /// Stop
    Refuse,
}

impl Data {
    /// The named columns.
    pub fn columns(&self) -> Columns {
        Columns {
            label: self.label.clone(),
            task: self.task.clone(),
            group: self.group.clone(),
            features: self.features.clone(),
            ignore: self.ignore.clone(),
            numeric: self.numeric.clone(),
            categorical: self.categorical.clone(),
            keep: Keep::default(),
        }
    }

    /// What is wanted of the columns.
    pub fn wishes(&self) -> Wishes {
        let chosen = self.features.iter().flatten().chain(&self.numeric);
        Wishes {
            max_levels: self.max_levels,
            chosen: chosen.cloned().collect(),
            categorical: self.categorical.clone(),
        }
    }
}

impl Predict {
    /// The named columns.
    pub fn columns(&self) -> Columns {
        Columns {
            features: self.features.clone().map(|array| vec![array]),
            keep: match self.append {
                true => Keep::All,
                false => Keep::Named(self.keep.clone()),
            },
            ..Columns::default()
        }
    }
}

impl Evaluate {
    /// The named columns.
    pub fn columns(&self) -> Columns {
        Columns {
            label: self.label.clone(),
            task: self.task.clone(),
            features: self.features.clone().map(|array| vec![array]),
            ..Columns::default()
        }
    }
}

/// How a result is printed.
#[derive(Debug, Args)]
pub struct Report {
    /// Print JSON (docs/json.md) instead of tables
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && *byte != b'"' => Ok(*byte),
        b"tab" | b"\\t" => Ok(b'\t'),
        _ => Err("write one character, such as ';', or 'tab'".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("write a share from 0 to 1, such as 0.05 for 5 %".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
