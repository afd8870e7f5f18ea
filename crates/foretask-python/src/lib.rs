//! `foretask._foretask`: the library for Python.
//!
//! Converts arrays and words, lets other Python threads run meanwhile, and turns errors into exceptions.
//! There is no mathematics here. The Python package `foretask` is the face; this module is not meant to
//! be called by hand.
#![forbid(unsafe_code)]

mod arrays;
mod choices;
mod errors;
mod forecast;
mod model;
mod pool;
mod prepare;
mod samples;
mod statistics;
mod studies;
mod watch;

use pyo3::prelude::*;

/// The bridge from Python to the Rust library. It was never run without the interpreter's lock, so it asks for it.
#[pymodule(gil_used = true)]
mod _foretask {
    use super::*;
    #[pymodule_export]
    use crate::choices::vocabulary;
    #[pymodule_export]
    use crate::forecast::Forecast;
    #[pymodule_export]
    use crate::model::{Model, write_file};
    #[pymodule_export]
    use crate::prepare::Preparation;
    #[pymodule_export]
    use crate::statistics::Statistics;
    #[pymodule_export]
    use crate::studies::{Study, fit, fit_statistics};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        pool::remember();
        module.add("MAX_LEVELS", foretask::prepare::MAX_LEVELS)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
