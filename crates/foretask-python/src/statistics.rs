//! Mergeable statistics of rows that need not be in memory together.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use foretask::Scaling;
use numpy::PyArray2;

use crate::errors::{exception, room, run};
use crate::samples::{Samples, TaskCounts, tasks_of};
use crate::studies::table;

/// What training needs to know of the rows.
#[pyclass(module = "foretask._foretask")]
pub struct Statistics(pub foretask::Statistics<'static>);

#[pymethods]
impl Statistics {
    /// No rows yet. The rows of the tasks in `keep` are kept, and what `targets` need, in so many folds; of all tasks if
    /// it is None.
    #[new]
    #[pyo3(signature = (features, keep, targets, folds = None))]
    fn new(
        features: usize,
        keep: Option<Vec<String>>,
        targets: Option<Vec<String>>,
        folds: Option<usize>,
    ) -> PyResult<Self> {
        let mut empty = foretask::Statistics::new(features);
        if let Some(folds) = folds {
            empty = empty.with_folds(folds).map_err(exception)?;
        }
        let empty = match keep {
            None => empty.keeping_all_rows(),
            Some(tasks) => tasks
                .iter()
                .fold(empty, |empty, task| empty.keeping_rows_of(task)),
        };
        Ok(Self(match targets {
            None => empty.with_all_targets(),
            Some(tasks) => tasks
                .iter()
                .fold(empty, |empty, task| empty.with_target(task)),
        }))
    }

    /// Adds rows; with names, columns are matched by them.
    #[pyo3(signature = (samples, names = None))]
    fn add(
        &mut self,
        py: Python<'_>,
        samples: Samples<'_>,
        names: Option<Vec<String>>,
    ) -> PyResult<()> {
        room()?;
        let named = samples.named()?;
        let statistics = &mut self.0;
        run(py, || match names {
            Some(names) => statistics.add_named(named.rows, &names, &named.task, &named.class),
            None => statistics.add(named.rows, &named.task, &named.class),
        })
    }

    /// Adds the statistics of other rows; those that are there already only if they are to count again.
    #[pyo3(signature = (other, again = false))]
    fn merge(&mut self, py: Python<'_>, other: &Bound<'_, Self>, again: bool) -> PyResult<()> {
        let other = other.try_borrow()?.0.clone();
        let statistics = &mut self.0;
        run(py, || match again {
            true => statistics.merge_again(other),
            false => statistics.merge(other),
        })
    }

    /// The same once more; numbers are shared.
    fn copy(&self) -> Self {
        Self(self.0.clone())
    }

    /// The union of parts in the canonical order.
    #[staticmethod]
    fn merge_all(py: Python<'_>, parts: Vec<Bound<'_, Self>>) -> PyResult<Self> {
        let parts: Result<Vec<_>, _> = parts
            .iter()
            .map(|part| part.try_borrow().map(|part| part.0.clone()))
            .collect();
        let parts = parts?;
        run(py, || foretask::Statistics::merge_all(parts)).map(Self)
    }

    /// As a safetensors file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_bytes().map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The same for others to see: no class has fewer rows, and none is shown. And the targets that lost their folds.
    fn shareable(&self, py: Python<'_>, min_cell: usize) -> PyResult<(Self, Vec<String>)> {
        let (shared, given_up) = run(py, || self.0.shareable(min_cell))?;
        Ok((Self(shared), given_up))
    }

    /// The names of the features, if they have any.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.0.feature_names().map(<[String]>::to_vec)
    }

    /// The identities of the parts.
    #[getter]
    fn parts(&self) -> Vec<String> {
        self.0.parts().into_iter().collect()
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
