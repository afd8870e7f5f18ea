//! Columns of a data frame, and how they become features.

use foretask::prepare::{self, Column, Encoding, Features, Frame, Prepared, Texts, Wishes};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{exception, json, mistake, run};
use crate::samples::whole;

/// A column as `foretask._frames` hands it over.
#[derive(FromPyObject)]
pub enum Given<'py> {
    /// Numbers; NaN is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Levels, and which of them each row has; -1 is missing.
    Texts(Vec<String>, PyReadonlyArray1<'py, i64>),
}

fn frame(names: Vec<String>, columns: &[Given<'_>], rows: usize) -> PyResult<Frame> {
    let column = |given: &Given<'_>| match given {
        Given::Numbers(values) => Ok(Column::Numbers(values.as_array().iter().copied().collect())),
        Given::Texts(levels, codes) => {
            let codes: Vec<i64> = codes.as_array().iter().copied().collect();
            let names: Vec<String> = levels
                .iter()
                .map(|level| prepare::text_name(level))
                .collect();
            Texts::coded(&names, &codes)
                .map(Column::Texts)
                .map_err(exception)
        }
    };
    let columns: PyResult<Vec<Column>> = columns.iter().map(column).collect();
    Frame::new(names, columns?, rows).map_err(exception)
}

type Applied<'py> = (Bound<'py, PyArray2<f64>>, Vec<(String, usize)>);

fn features<'py>(py: Python<'py>, prepared: Prepared) -> PyResult<Applied<'py>> {
    let Prepared {
        features,
        width,
        rows,
        unknown,
        ..
    } = prepared;
    let values = match features {
        Features::Doubles(values) => values,
        Features::Singles(values) => values.into_iter().map(f64::from).collect(),
        // Frames of Python have no sparse columns.
        Features::Entries { .. } => return Err(mistake()),
    };
    let flat: Bound<'py, PyArray1<f64>> = values.into_pyarray(py);
    // Stored feature by feature: the transpose of a table of rows.
    let table = flat.reshape([width, rows])?.transpose()?;
    Ok((table, unknown))
}

/// How columns become features.
#[pyclass(frozen, module = "foretask._foretask")]
pub struct Preparation(pub prepare::Preparation);

#[pymethods]
impl Preparation {
    /// Learns from training rows; numbers in `chosen` columns are never left out.
    #[staticmethod]
    fn learn(
        py: Python<'_>,
        names: Vec<String>,
        columns: Vec<Given<'_>>,
        task_codes: PyReadonlyArray1<'_, i64>,
        tasks: usize,
        max_levels: usize,
        chosen: Vec<String>,
    ) -> PyResult<Self> {
        let task = whole(&task_codes)?;
        let frame = frame(names, &columns, task.len())?;
        let wishes = Wishes {
            max_levels,
            chosen,
            ..Wishes::default()
        };
        run(py, || {
            prepare::Preparation::learn(&frame, &task, tasks, &wishes)
        })
        .map(Self)
    }

    /// Makes features (n x p) of rows, and counts texts that training never saw by column.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        columns: Vec<Given<'py>>,
        task_codes: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Applied<'py>> {
        let task = whole(&task_codes)?;
        let frame = frame(names, &columns, task.len())?;
        let prepared = run(py, || self.0.apply(self.0.select(frame)?, Some(&task)))?;
        features(py, prepared)
    }

    /// That of one task alone.
    fn of_task(&self, task: usize) -> Self {
        Self(self.0.clone().of_task(task))
    }

    /// Reads what `to_json` wrote.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let wrong = |why: String| PyValueError::new_err(format!("this is no preparation: {why}"));
        let read: prepare::Preparation =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        read.verify().map_err(wrong)?;
        Ok(Self(read))
    }

    /// As JSON.
    fn to_json(&self) -> PyResult<String> {
        json(&self.0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let restore = slf.get_type().getattr("from_json")?;
        Ok((restore, (slf.get().to_json()?,)))
    }

    /// The columns that become features.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let columns = self.0.columns.iter();
        columns.map(|column| column.name.clone()).collect()
    }

    /// Of these, the ones that hold texts.
    #[getter]
    fn texts(&self) -> Vec<String> {
        let columns = self.0.columns.iter();
        let texts = columns.filter(|column| column.encoding != Encoding::Number);
        texts.map(|column| column.name.clone()).collect()
    }

    /// The columns that do not, and why.
    #[getter]
    fn left_out(&self) -> Vec<(String, String)> {
        let columns = self.0.left_out.iter();
        columns
            .map(|column| (column.name.clone(), column.why.to_string()))
            .collect()
    }

    /// The names of the features.
    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.0.feature_names()
    }
}
