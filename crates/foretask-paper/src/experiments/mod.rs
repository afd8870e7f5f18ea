//! One file per figure or table of the paper.

mod binary_label;
mod digits;
mod mnist_lambda;
mod more_tasks;
mod multi_class;
mod office;
mod one_vs_all;
mod optimal_labels;
mod roc;

use crate::error::{Error, Result};
use crate::report::{Report, Skipped};
use crate::trials::Context;

/// A figure or table of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Where in the paper.
    pub paper: &'static str,
    /// The data file it needs; `None` if it draws its data.
    pub needs: Option<&'static str>,
    /// Whether a part of it needs no data file.
    pub synthetic: bool,
    /// Trials of a full run.
    pub trials: usize,
    run: fn(&Context, usize, &mut Report) -> Result<()>,
}

/// All experiments, in the order of the paper.
pub const ALL: &[Experiment] = &[
    Experiment {
        name: "office-vgg",
        title: "Accuracy on Office+Caltech, VGG features",
        paper: "Table 1 (compare)",
        needs: Some("office_caltech_vgg.npz"),
        synthetic: false,
        trials: 20,
        run: office::vgg,
    },
    Experiment {
        name: "one-vs-all",
        title: "Scores of one-versus-all: classical, scaled, optimised labels",
        paper: "Figure 1 (one-vs_all_explain)",
        needs: None,
        synthetic: true,
        trials: 100,
        run: one_vs_all::run,
    },
    Experiment {
        name: "binary-label",
        title: "Scores of two classes with classical and optimised labels",
        paper: "Figure 2 (binary_label)",
        needs: None,
        synthetic: true,
        trials: 100,
        run: binary_label::run,
    },
    Experiment {
        name: "mnist-lambda",
        title: "Error against λ on digits",
        paper: "Figure 3 (Mnist_binary)",
        needs: Some("mnist.npz"),
        synthetic: false,
        trials: 20,
        run: mnist_lambda::run,
    },
    Experiment {
        name: "optimal-labels",
        title: "Optimal labels and task correlation on digits",
        paper: "Table 2 (sufficient_satitstics)",
        needs: Some("mnist.npz"),
        synthetic: false,
        trials: 20,
        run: optimal_labels::run,
    },
    Experiment {
        name: "more-tasks",
        title: "Error as tasks are added",
        paper: "Figure 4 (adding_more_tasks)",
        needs: Some("mnist.npz"),
        synthetic: true,
        trials: 20,
        run: more_tasks::run,
    },
    Experiment {
        name: "roc",
        title: "Missed detections against the false-alarm rate",
        paper: "Figure 5 (ROC)",
        needs: Some("mitbih.npz"),
        synthetic: true,
        trials: 20,
        run: roc::run,
    },
    Experiment {
        name: "multi-class",
        title: "Accuracy of the rules for many classes",
        paper: "Table 3 (multi_extension)",
        needs: None,
        synthetic: true,
        trials: 10,
        run: multi_class::run,
    },
    Experiment {
        name: "office-surf",
        title: "Accuracy on Office+Caltech, SURF features",
        paper: "Table 4 (compare_2)",
        needs: Some("office_caltech_surf.npz"),
        synthetic: false,
        trials: 20,
        run: office::surf,
    },
];

/// The experiment of a name.
///
/// # Errors
/// [`Error::Unknown`], with the names there are.
pub fn find(name: &str) -> Result<&'static Experiment> {
    let found = ALL.iter().find(|experiment| experiment.name == name);
    found.ok_or_else(|| Error::Unknown {
        name: name.to_owned(),
        known: ALL
            .iter()
            .map(|experiment| experiment.name)
            .collect::<Vec<_>>()
            .join(", "),
    })
}

impl Experiment {
    /// Runs it. Parts whose data file is missing are recorded as skipped.
    ///
    /// # Errors
    /// If a data file is not as described, or the library refuses.
    pub fn run(&self, context: &Context) -> Result<Report> {
        let trials = context.trials.unwrap_or(self.trials).max(1);
        let mut report = Report {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            paper: self.paper.to_owned(),
            trials,
            ..Report::default()
        };
        (self.run)(context, trials, &mut report)?;
        Ok(report)
    }
}

/// What `read` gives; if its file is missing the part is recorded as skipped.
fn available<T>(report: &mut Report, part: &str, read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(data) => Ok(Some(data)),
        Err(Error::Missing { file, .. }) => {
            report.skipped.push(Skipped {
                part: part.to_owned(),
                file: file.to_owned(),
            });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The offset of a score is an average over the n samples of its task: variances grow by 1 + 1/n.
fn centre_noise(task: &foretask::Task) -> f64 {
    1.0 + 1.0 / task.samples() as f64
}
