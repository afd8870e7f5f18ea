//! Exceptions that Python users know, and never a panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use foretask::Error;
use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};
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
        Err(why) if is_allocation(why.as_ref()) => Err(no_memory()),
        Err(_) => Err(mistake()),
    }
}

/// Bytes that the product of matrices takes for itself in each thread, once; where they cannot be had it ends the process.
const BUFFER: usize = 64 << 20;

/// Refuses work for which there is not even that much memory.
pub fn room() -> PyResult<()> {
    let mut probe: Vec<u8> = Vec::new();
    probe.try_reserve_exact(BUFFER).map_err(|_| no_memory())
}

/// Whether a panic is that of a matrix which found no memory: the library of matrices has no other way to say so.
fn is_allocation(why: &(dyn Any + Send)) -> bool {
    why.downcast_ref::<String>()
        .is_some_and(|text| text.contains("AllocError"))
}

fn no_memory() -> PyErr {
    PyMemoryError::new_err(
        "there is not enough memory: give fewer rows or features (views='linear' needs less), or add the rows \
         to Statistics in parts; memory_budget bounds what many targets hold together",
    )
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
