//! A forecast, with the laws that plots are drawn from.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use foretask_words::{Facts, Verdict};

use crate::errors::json;

/// What a rule is expected to do.
#[pyclass(frozen, module = "foretask._foretask")]
pub struct Forecast(pub foretask::Forecast);

#[pymethods]
impl Forecast {
    /// Everything in it, as JSON.
    fn to_json(&self) -> PyResult<String> {
        json(&self.0)
    }

    /// What `to_json` wrote.
    #[classmethod]
    fn from_json(_: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        let wrong = |why: String| PyValueError::new_err(format!("this is no forecast: {why}"));
        let read: foretask::Forecast =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        read.verify(read.priors.len()).map_err(wrong)?;
        Ok(Self(read))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let restore = slf.get_type().getattr("from_json")?;
        Ok((restore, (slf.get().to_json()?,)))
    }

    /// Where the error in a test of so many samples will lie.
    fn in_test(&self, samples: usize) -> [f64; 2] {
        self.0.in_test(samples)
    }

    /// What it comes to, in the words of the command line; `ask` begins the sentence that ends in what was not
    /// computed.
    fn verdict(&self, classes: Vec<String>, has_sources: bool, ask: &str) -> String {
        let facts = Facts {
            classes: &classes,
            counts: &[],
            forecast: &self.0,
            labels: None,
            has_sources,
            sources: None,
            relatedness: Vec::new(),
            ask: Some(ask),
        };
        Verdict::of(&facts).to_string()
    }

    /// The expected density of each class (a row) at the given scores.
    fn densities<'py>(
        &self,
        py: Python<'py>,
        at: PyReadonlyArray1<'py, f64>,
    ) -> Bound<'py, PyArray2<f64>> {
        let (laws, at) = (&self.0.densities, at.as_array());
        Array2::from_shape_fn((laws.len(), at.len()), |(law, i)| laws[law].at(at[i]))
            .into_pyarray(py)
    }

    /// Where practically all of the scores lie.
    fn range(&self) -> Option<(f64, f64)> {
        let ranges = self.0.densities.iter().map(|law| law.range());
        ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Share of the second class called the first, of the first called the first, and the ends of their intervals
    /// (not a number of a theory), by threshold.
    fn roc<'py>(&self, py: Python<'py>, points: usize) -> Option<Bound<'py, PyArray2<f64>>> {
        let curve = self.0.roc(points)?;
        let array = Array2::from_shape_fn((curve.len(), 6), |(point, which)| {
            let point = &curve[point];
            let end =
                |interval: Option<[f64; 2]>, end: usize| interval.map_or(f64::NAN, |i| i[end]);
            match which {
                0 => point.false_alarm,
                1 => point.detection,
                2 | 3 => end(point.false_alarm_interval, which - 2),
                _ => end(point.detection_interval, which - 4),
            }
        });
        Some(array.into_pyarray(py))
    }
}
