//! A trained model: bytes, scores, decisions.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::arrays::{Table, array};
use crate::errors::{exception, json, run};
use crate::forecast::Forecast;
use crate::prepare::Preparation;
use crate::samples::{TaskCounts, names, tasks_of, whole};

/// A trained decision for one task.
#[pyclass(frozen, module = "foretask._foretask")]
pub struct Model(pub foretask::Model);

type Linear<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Writes a file, whole or not at all.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    run(py, || foretask::write_atomically(&path, text.as_bytes()))
}

#[pymethods]
impl Model {
    /// Reads what `to_bytes` wrote.
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
        foretask::Model::from_bytes(bytes)
            .map(Self)
            .map_err(exception)
    }

    /// Reads a model file.
    #[classmethod]
    fn load(_: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        run(py, || foretask::Model::load(&path)).map(Self)
    }

    /// Writes a model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        run(py, || self.0.save(&path))
    }

    /// As a safetensors file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_bytes().map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// As an ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = foretask_onnx::to_onnx(&self.0).map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let restore = slf.get_type().getattr("from_bytes")?;
        Ok((restore, (slf.get().to_bytes(slf.py())?,)))
    }

    /// The same with names for its features.
    fn with_feature_names(&self, names: Vec<String>) -> PyResult<Self> {
        let named = self.0.clone().with_feature_names(names);
        named.map(Self).map_err(exception)
    }

    /// The same with the way its features come from columns.
    fn with_preparation(&self, preparation: &Preparation) -> PyResult<Self> {
        let told = self.0.clone().with_preparation(preparation.0.clone());
        told.map(Self).map_err(exception)
    }

    /// How its features come from columns, if it was told.
    #[getter]
    fn preparation(&self) -> Option<Preparation> {
        self.0.preparation().cloned().map(Preparation)
    }

    /// The task it decides for.
    #[getter]
    fn target(&self) -> &str {
        self.0.target()
    }

    /// The classes it decides between.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// Name, classes and counts of every task.
    #[getter]
    fn tasks(&self) -> Vec<TaskCounts> {
        tasks_of(self.0.tasks())
    }

    /// The number of features.
    #[getter]
    fn features(&self) -> usize {
        self.0.features()
    }

    /// The names of its features, if it was told.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.0.feature_names().map(<[String]>::to_vec)
    }

    /// How its scores are made, as JSON.
    #[getter]
    fn rule(&self) -> PyResult<String> {
        json(self.0.rule())
    }

    /// What it is expected to do.
    #[getter]
    fn forecast(&self) -> Forecast {
        Forecast(self.0.forecast().clone())
    }

    /// For two classes, the score above which the first is chosen.
    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.0.threshold()
    }

    /// Weights (d x p) and values at the origin of the margins, where they are linear.
    fn linear_margins<'py>(&self, py: Python<'py>) -> Option<Linear<'py>> {
        let (weights, intercept) = self.0.linear_margins()?;
        let weights = weights.transpose().to_owned();
        Some((array(py, &weights), intercept.into_pyarray(py)))
    }

    /// What is compared to decide.
    fn margins<'py>(
        &self,
        py: Python<'py>,
        rows: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.rows()?;
        let margins = run(py, || Ok(self.0.margins(&self.0.scores(rows)?)))?;
        Ok(array(py, &margins))
    }

    /// The class of each row, an index of `classes`.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let rows = rows.rows()?;
        let classes = run(py, || self.0.predict(rows))?;
        let codes: Vec<i64> = classes.into_iter().map(|class| class as i64).collect();
        Ok(codes.into_pyarray(py))
    }

    /// The probabilities of the classes of each row.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.rows()?;
        let probabilities = run(py, || self.0.probabilities(rows))?;
        Ok(array(py, &probabilities))
    }

    /// The scores whose law the forecast's densities are, for rows of known class.
    fn foretold_scores<'py>(
        &self,
        py: Python<'py>,
        rows: Table<'py>,
        truth: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (rows, truth) = (rows.rows()?, whole(&truth)?);
        let scores = run(py, || {
            Ok(self.0.foretold_scores(&self.0.scores(rows)?, &truth))
        })?;
        Ok(scores.into_pyarray(py))
    }

    /// What it did on rows of known classes, next to what was foretold, as JSON.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        rows: Table<'py>,
        class_codes: PyReadonlyArray1<'py, i64>,
        class_names: Vec<String>,
    ) -> PyResult<String> {
        let (rows, classes) = (rows.rows()?, names(&class_codes, &class_names)?);
        json(&run(py, || foretask::evaluate(&self.0, rows, &classes))?)
    }
}
