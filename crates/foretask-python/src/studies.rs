//! Fitting and foretelling. Each call groups the data, studies every target and returns what was asked for.

use foretask::{Statistics, Study};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;

use crate::choices::{Choices, Chosen};
use crate::errors::run;
use crate::forecast::Forecast;
use crate::model::Model;
use crate::samples::Samples;

/// One model per target, and the likeness of all tasks.
type Fitted<'py> = (Vec<Model>, Bound<'py, PyArray2<f64>>);

/// Trains on rows.
#[pyfunction]
pub fn fit<'py>(py: Python<'py>, samples: Samples<'py>, choices: Choices) -> PyResult<Fitted<'py>> {
    let (named, chosen) = (samples.named()?, choices.settings()?);
    let (models, likeness) = run(py, || trained(Statistics::of(&named.tasks()?), &chosen))?;
    Ok((models, table(py, &likeness)))
}

/// Trains on statistics.
#[pyfunction]
pub fn fit_statistics<'py>(
    py: Python<'py>,
    statistics: &Bound<'py, crate::statistics::Statistics>,
    choices: Choices,
) -> PyResult<Fitted<'py>> {
    let chosen = choices.settings()?;
    let statistics = statistics.try_borrow()?.0.clone();
    let (models, likeness) = run(py, || trained(statistics, &chosen))?;
    Ok((models, table(py, &likeness)))
}

type Likeness = Vec<Vec<Option<f64>>>;

fn trained(
    statistics: Statistics<'_>,
    chosen: &Chosen,
) -> foretask::Result<(Vec<Model>, Likeness)> {
    let likeness = foretask::relatedness(&statistics, chosen.scaling());
    let models = targets(statistics, chosen)?
        .iter()
        .map(|study| study.model().map(Model))
        .collect::<foretask::Result<_>>()?;
    Ok((models, likeness))
}

/// NaN where classes do not correspond.
pub fn table<'py>(py: Python<'py>, likeness: &Likeness) -> Bound<'py, PyArray2<f64>> {
    let shape = (likeness.len(), likeness.len());
    Array2::from_shape_fn(shape, |(i, j)| likeness[i][j].unwrap_or(f64::NAN)).into_pyarray(py)
}

/// A target, its classes, the threshold and the forecast.
type Foretold = (String, Vec<String>, Option<f64>, Forecast);

/// What is expected of each target; nothing is trained.
#[pyfunction]
pub fn forecast(py: Python<'_>, samples: Samples<'_>, choices: Choices) -> PyResult<Vec<Foretold>> {
    studied(py, &samples, &choices, |study| {
        let target = &study.cells().tasks()[study.target()];
        Ok((
            target.name.clone(),
            target.classes.clone(),
            study.rule().threshold,
            Forecast(study.forecast().clone()),
        ))
    })
}

/// Labels added, expected error and its interval.
type Point = (usize, f64, [f64; 2]);

/// The expected error with more labels in the target.
#[pyfunction]
pub fn learning_curve(
    py: Python<'_>,
    samples: Samples<'_>,
    choices: Choices,
    added: Vec<usize>,
) -> PyResult<Vec<(String, Vec<Point>)>> {
    studied(py, &samples, &choices, |study| {
        let points = study.learning_curve(&added)?.into_iter();
        let points = points.map(|point| (point.added, point.error, point.interval));
        Ok((target_of(study), points.collect()))
    })
}

/// Source, expected error without it and its interval.
type Value = (String, f64, [f64; 2]);

/// A target, its expected error with all sources and the interval, and the values of the sources.
type Values = (String, f64, [f64; 2], Vec<Value>);

/// The expected error with all sources, and without each.
#[pyfunction]
pub fn source_values(
    py: Python<'_>,
    samples: Samples<'_>,
    choices: Choices,
) -> PyResult<Vec<Values>> {
    studied(py, &samples, &choices, |study| {
        let values = study.source_values(&|_| {})?.into_iter();
        let values = values.map(|value| (value.task, value.error_without, value.interval));
        let all = study.forecast();
        Ok((target_of(study), all.error, all.interval, values.collect()))
    })
}

fn target_of(study: &Study<'_>) -> String {
    study.cells().tasks()[study.target()].name.clone()
}

fn studied<T: Send>(
    py: Python<'_>,
    samples: &Samples<'_>,
    choices: &Choices,
    each: impl Fn(&Study<'_>) -> foretask::Result<T> + Send,
) -> PyResult<Vec<T>> {
    let (named, chosen) = (samples.named()?, choices.settings()?);
    run(py, || {
        let studies = targets(Statistics::of(&named.tasks()?), &chosen)?;
        studies.iter().map(each).collect()
    })
}

/// The study of the target, or of every task that has classes to tell apart.
fn targets<'a>(statistics: Statistics<'a>, chosen: &Chosen) -> foretask::Result<Vec<Study<'a>>> {
    let settings = chosen.of(statistics.cells())?;
    match settings.target {
        Some(_) => Ok(vec![Study::new(statistics, &settings)?]),
        None => Study::all(statistics, &settings, &|_| {}),
    }
}
