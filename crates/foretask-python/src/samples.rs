//! Training data as the Python side hands it over: codes and their names instead of a name per row.

use foretask::{Rows, Task, Tasks};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::Table;

/// The attributes of `foretask._data.Samples`.
#[derive(FromPyObject)]
pub struct Samples<'py> {
    table: Table<'py>,
    task_codes: PyReadonlyArray1<'py, i64>,
    task_names: Vec<String>,
    class_codes: PyReadonlyArray1<'py, i64>,
    class_names: Vec<String>,
    /// How often each row counts; once if absent.
    times: Option<PyReadonlyArray1<'py, i64>>,
    /// How much each row counts; not together with `times`.
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// The group of each row, where rows belong together.
    groups: Option<Vec<String>>,
}

/// The same without Python in it.
pub struct Named<'a> {
    /// The table.
    pub rows: Rows<'a>,
    /// The task of each row.
    pub task: Vec<&'a str>,
    /// The class of each row.
    pub class: Vec<&'a str>,
    times: Option<Vec<usize>>,
    weights: Option<Vec<f64>>,
    groups: Option<&'a [String]>,
}

impl Samples<'_> {
    /// Names for codes.
    pub fn named(&self) -> PyResult<Named<'_>> {
        Ok(Named {
            rows: self.table.rows()?,
            task: names(&self.task_codes, &self.task_names)?,
            class: names(&self.class_codes, &self.class_names)?,
            times: self.times.as_ref().map(whole).transpose()?,
            weights: self
                .weights
                .as_ref()
                .map(|weights| weights.as_array().iter().copied().collect()),
            groups: self.groups.as_deref(),
        })
    }
}

impl<'a> Named<'a> {
    /// Grouped and checked.
    pub fn tasks(&self) -> foretask::Result<Tasks<'a>> {
        let (rows, task, class) = (self.rows, &self.task, &self.class);
        let tasks = match (&self.times, &self.weights) {
            (Some(times), _) => Tasks::repeated(rows, task, class, times),
            (None, Some(weights)) => Tasks::weighted(rows, task, class, weights),
            (None, None) => Tasks::new(rows, task, class),
        }?;
        match self.groups {
            Some(groups) => tasks.with_groups(groups),
            None => Ok(tasks),
        }
    }
}

/// The name of each code.
pub fn names<'a>(codes: &PyReadonlyArray1<'_, i64>, names: &'a [String]) -> PyResult<Vec<&'a str>> {
    let name = |code: usize| names.get(code).map(String::as_str);
    let named: Option<Vec<&str>> = whole(codes)?.into_iter().map(name).collect();
    named.ok_or_else(|| PyValueError::new_err("a code has no name"))
}

/// Numbers that count or index.
pub fn whole(codes: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    let codes = codes.as_array();
    let whole: Result<Vec<usize>, _> = codes.iter().map(|&code| usize::try_from(code)).collect();
    whole.map_err(|_| PyValueError::new_err("a code is negative"))
}

/// A task's name, its classes and their counts.
pub type TaskCounts = (String, Vec<String>, Vec<usize>);

/// Name, classes and counts of every task.
pub fn tasks_of(tasks: &[Task]) -> Vec<TaskCounts> {
    let tasks = tasks.iter();
    tasks
        .map(|task| (task.name.clone(), task.classes.clone(), task.counts.clone()))
        .collect()
}
