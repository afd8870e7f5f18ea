//! Fitting and foretelling. Each call groups the data, studies every target and returns what was asked for.

use foretask::{Settings, Statistics, Study, Tasks};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;

use crate::choices::Choices;
use crate::errors::run;
use crate::forecast::Forecast;
use crate::model::Model;
use crate::samples::Samples;

/// One model per target, and the likeness of every pair of tasks (NaN where classes do not correspond).
#[pyfunction]
pub fn fit<'py>(
    py: Python<'py>,
    samples: Samples<'py>,
    choices: Choices,
) -> PyResult<(Vec<Model>, Bound<'py, PyArray2<f64>>)> {
    let (named, chosen) = (samples.named()?, choices.settings()?);
    let (models, likeness) = run(py, || {
        let tasks = named.tasks()?;
        let settings = chosen.of(tasks.cells())?;
        let studies = targets(&tasks, &settings)?;
        let models: foretask::Result<Vec<_>> = studies.iter().map(Study::model).collect();
        Ok((models?, foretask::relatedness(&Statistics::of(&tasks))))
    })?;
    let shape = (likeness.len(), likeness.len());
    let likeness = Array2::from_shape_fn(shape, |(i, j)| likeness[i][j].unwrap_or(f64::NAN));
    let models = models.into_iter().map(Model).collect();
    Ok((models, likeness.into_pyarray(py)))
}

/// Target, classes and forecast of each target; nothing is trained.
#[pyfunction]
pub fn forecast(
    py: Python<'_>,
    samples: Samples<'_>,
    choices: Choices,
) -> PyResult<Vec<(String, Vec<String>, Option<f64>, Forecast)>> {
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

/// The expected error with all sources, and without each.
#[pyfunction]
pub fn source_values(
    py: Python<'_>,
    samples: Samples<'_>,
    choices: Choices,
) -> PyResult<Vec<(String, f64, [f64; 2], Vec<Value>)>> {
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
        let tasks = named.tasks()?;
        let settings = chosen.of(tasks.cells())?;
        targets(&tasks, &settings)?.iter().map(each).collect()
    })
}

/// The study of the target, or of every task that has classes to tell apart.
fn targets<'a>(tasks: &'a Tasks<'a>, settings: &Settings) -> foretask::Result<Vec<Study<'a>>> {
    Ok(vec![Study::new(tasks, settings)?])
}
