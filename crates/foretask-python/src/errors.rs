//! Exceptions that Python users know, and never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use foretask::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::marker::Ungil;
use pyo3::prelude::*;

use crate::pool;

/// Runs `work` while other Python threads run. A panic, which would be a mistake of ours, becomes a
/// `RuntimeError` instead of an exception that `except Exception` does not catch.
pub fn run<T: Ungil + Send>(
    py: Python<'_>,
    work: impl FnOnce() -> foretask::Result<T> + Ungil + Send,
) -> PyResult<T> {
    py.detach(|| caught(work))
}

/// Does `work`; a panic becomes an exception.
pub fn caught<T: Send>(work: impl FnOnce() -> foretask::Result<T> + Send) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(|| pool::here(work))) {
        Ok(result) => result.map_err(exception),
        Err(_) => Err(mistake()),
    }
}

/// The exception for what must not happen.
pub fn mistake() -> PyErr {
    PyRuntimeError::new_err(
        "foretask made a mistake; please report it with the data that led to it",
    )
}

/// The exception for an error of the library.
pub fn exception(error: Error) -> PyErr {
    match error {
        Error::Io { .. } => PyOSError::new_err(error.to_string()),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// A report as JSON.
pub fn json(report: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|error| PyValueError::new_err(error.to_string()))
}
