//! [`Plan`]: how columns become features, in a file beside statistics.
//!
//! Statistics know features; which columns they come from, which texts are which feature and what stands for a gap is
//! not in them. The file has the name of the statistics with another extension, `all.stats` and `all.columns.json`.
//!
//! Two files do not change at once. So that a plan is never taken for that of other statistics, it says which ones it
//! is of; and while statistics are replaced it holds the earlier plan as well, so that those which are there, earlier
//! or new, have theirs whenever the process ends.

use std::path::{Path, PathBuf};

use foretask::Model;
use foretask::prepare::{Encoded, Frame, Preparation};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::read;

/// The name of the format.
const FORMAT: &str = "foretask-columns-1";

/// How columns become features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    format: String,
    /// The tasks by whose places gaps are filled.
    tasks: Vec<String>,
    /// The rest.
    pub preparation: Preparation,
    /// What the statistics that it lies beside are known by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    /// The plan of the statistics that are being replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Box<Plan>>,
}

impl Plan {
    /// For tasks in the order of their names.
    pub fn new(preparation: Preparation, tasks: Vec<String>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            tasks,
            preparation,
            of: None,
            before: None,
        }
    }

    /// The same beside statistics that are known by `digest`, while those of `before` may still be there.
    pub fn of(self, digest: &str, before: Option<Self>) -> Self {
        Self {
            of: Some(digest.to_owned()),
            before: before.map(Box::new),
            ..self
        }
    }

    /// The plan that lies beside statistics that are known by `digest`; none if it is of others.
    pub fn read_of(path: &Path, digest: &str) -> Result<Option<Self>, Failure> {
        let plan = Self::read_all(path)?;
        let before = plan.before.as_deref().cloned();
        let is_theirs = |plan: &Self| plan.of.as_deref().is_none_or(|of| of == digest);
        let found = [Some(plan), before].into_iter().flatten().find(is_theirs);
        Ok(found.map(Self::alone))
    }

    /// Whatever statistics it is of.
    fn alone(self) -> Self {
        Self::new(self.preparation, self.tasks)
    }

    /// The file of the plan of a file of statistics.
    pub fn beside(statistics: &Path) -> PathBuf {
        statistics.with_extension("columns.json")
    }

    /// Reads a plan.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        Ok(Self::read_all(path)?.alone())
    }

    fn read_all(path: &Path) -> Result<Self, Failure> {
        let bytes = read::bytes(path).map_err(|source| Failure::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let wrong = |why: String| Failure::Columns {
            path: path.to_owned(),
            why,
        };
        let plan: Self =
            serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        let both = [Some(&plan), plan.before.as_deref()];
        let flaw = both.into_iter().flatten().find_map(Self::flaw);
        match flaw {
            Some(why) => Err(wrong(why)),
            None => Ok(plan),
        }
    }

    /// What contradicts itself.
    fn flaw(&self) -> Option<String> {
        if self.format != FORMAT {
            return Some(format!("its format is '{}', not '{FORMAT}'", self.format));
        }
        if !self.tasks.is_sorted_by(|a, b| a < b) {
            return Some("its tasks are not in the order of their names".into());
        }
        let odd = |column: &&Encoded| ![0, self.tasks.len()].contains(&column.fills.len());
        let column = self.preparation.columns.iter().find(odd)?;
        Some(format!(
            "the gaps of column '{}' are filled for {} tasks of {}",
            column.name,
            column.fills.len(),
            self.tasks.len()
        ))
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The places of tasks among those of the plan; that of one that is not known is the first.
    pub fn places<S: AsRef<str>>(&self, tasks: &[S]) -> Vec<usize> {
        let place = |task: &S| self.place(task.as_ref()).unwrap_or(0);
        tasks.iter().map(place).collect()
    }

    /// The first row with a gap that is to be filled, of a task that the plan does not know; and the column.
    pub fn unfillable<S: AsRef<str>>(&self, frame: &Frame, tasks: &[S]) -> Option<(usize, String)> {
        let known = |task: &S| self.place(task.as_ref()).is_some();
        if tasks.iter().all(known) {
            return None;
        }
        let columns = self.preparation.columns.iter().zip(frame.columns());
        columns
            .filter(|(encoded, _)| !encoded.fills.is_empty())
            .find_map(|(encoded, column)| {
                let mut gaps = column.gaps().into_iter();
                let row = gaps.find(|&row| tasks.get(row).is_some_and(|task| !known(task)));
                row.map(|row| (row, encoded.name.clone()))
            })
    }

    fn place(&self, task: &str) -> Option<usize> {
        let place = self.tasks.binary_search_by(|own| own.as_str().cmp(task));
        place.ok()
    }

    /// The model with the way its features come from columns; gaps of a task that is not known cannot be filled.
    pub fn taught(&self, model: Model) -> foretask::Result<Model> {
        let mut preparation = self.preparation.clone();
        match self.place(model.target()) {
            Some(place) => preparation = preparation.of_task(place),
            None => {
                let columns = preparation.columns.iter_mut();
                columns.for_each(|column| column.fills = Vec::new());
            }
        }
        model.with_preparation(preparation)
    }

    /// The plan of statistics that are merged; why there is none if they contradict each other. A task that both know
    /// has the gaps of the first filled.
    pub fn joined(self, other: &Self) -> Result<Self, String> {
        let mut tasks: Vec<String> = self.tasks.iter().chain(&other.tasks).cloned().collect();
        tasks.sort();
        tasks.dedup();
        let mut preparation = self.preparation.clone();
        for column in &mut preparation.columns {
            let mut others = other.preparation.columns.iter();
            let Some(second) = others.find(|other| other.name == column.name) else {
                return Err(format!("column '{}' is in one of them only", column.name));
            };
            if (&column.encoding, column.indicator) != (&second.encoding, second.indicator) {
                return Err(format!("column '{}' becomes other features", column.name));
            }
            if column.fills.is_empty() || second.fills.is_empty() {
                column.fills = Vec::new();
                continue;
            }
            let fill = |task: &String| {
                let own = self.fill(&column.fills, task);
                own.or_else(|| other.fill(&second.fills, task))
                    .unwrap_or(0.0)
            };
            column.fills = tasks.iter().map(fill).collect();
        }
        Ok(Self::new(preparation, tasks))
    }

    fn fill(&self, fills: &[f64], task: &str) -> Option<f64> {
        fills.get(self.place(task)?).copied()
    }
}
