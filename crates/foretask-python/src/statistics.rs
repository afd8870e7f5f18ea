//! Mergeable statistics of rows that need not be in memory together.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use foretask::Scaling;
use numpy::PyArray2;

use crate::errors::{exception, run};
use crate::samples::{Samples, TaskCounts, tasks_of};
use crate::studies::table;

/// What training needs to know of the rows.
#[pyclass(module = "foretask._foretask")]
pub struct Statistics(pub foretask::Statistics<'static>);

#[pymethods]
impl Statistics {
    /// No rows yet. The rows of the tasks in `keep` are kept, of all tasks if it is None.
    #[new]
    fn new(features: usize, keep: Option<Vec<String>>) -> Self {
        let empty = foretask::Statistics::new(features);
        Self(match keep {
            None => empty.keeping_all_rows(),
            Some(tasks) => tasks
                .iter()
                .fold(empty, |empty, task| empty.keeping_rows_of(task)),
        })
    }

    /// Adds rows.
    fn add(&mut self, py: Python<'_>, samples: Samples<'_>) -> PyResult<()> {
        let named = samples.named()?;
        let statistics = &mut self.0;
        run(py, || statistics.add(named.rows, &named.task, &named.class))
    }

    /// Adds the statistics of other rows.
    fn merge(&mut self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        let other = other.try_borrow()?.0.clone();
        let statistics = &mut self.0;
        run(py, || statistics.merge(other))
    }

    /// As a safetensors file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_bytes().map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads what `to_bytes` wrote.
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
        let statistics = foretask::Statistics::from_bytes(bytes).map_err(exception)?;
        Ok(Self(statistics))
    }

    /// The number of features.
    #[getter]
    fn features(&self) -> usize {
        self.0.features()
    }

    /// Name, classes and counts of every task.
    #[getter]
    fn tasks(&self) -> Vec<TaskCounts> {
        tasks_of(self.0.cells().tasks())
    }

    /// How alike the tasks are.
    fn relatedness<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        table(py, &foretask::relatedness(&self.0, Scaling::Auto))
    }
}
