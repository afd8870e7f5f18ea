//! Exceptions that Python users know, and never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use foretask::Error;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::marker::Ungil;
use pyo3::prelude::*;

/// Runs `work` while other Python threads run. A panic, which would be a mistake of ours, becomes a
/// `RuntimeError` instead of an exception that `except Exception` does not catch.
pub fn run<T: Ungil + Send>(
    py: Python<'_>,
    work: impl FnOnce() -> foretask::Result<T> + Ungil + Send,
) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(result) => result.map_err(exception),
        Err(_) => Err(PyRuntimeError::new_err(
            "foretask made a mistake; please report it with the data that led to it",
        )),
    }
}

/// The exception for an error of the library.
pub fn exception(error: Error) -> PyErr {
    match error {
        Error::Io { .. } => PyOSError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// A report as JSON.
pub fn json(report: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|error| PyValueError::new_err(error.to_string()))
}
