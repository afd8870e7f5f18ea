//! NumPy arrays in and out. Contiguous tables in C or Fortran order are borrowed, not copied.

use faer::Mat;
use foretask::Rows;
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A two-dimensional array of single or double precision.
#[derive(FromPyObject)]
pub enum Table<'py> {
    /// `float64`
    #[pyo3(transparent, annotation = "float64 array")]
    Double(PyReadonlyArray2<'py, f64>),
    /// `float32`
    #[pyo3(transparent, annotation = "float32 array")]
    Single(PyReadonlyArray2<'py, f32>),
}

impl Table<'_> {
    /// The rows, as the library sees them.
    pub fn rows(&self) -> PyResult<Rows<'_>> {
        match self {
            Self::Double(array) => rows(array.as_array()),
            Self::Single(array) => rows(array.as_array()),
        }
    }
}

fn rows<T: foretask::Element>(view: ArrayView2<'_, T>) -> PyResult<Rows<'_>> {
    let features = view.ncols();
    let rows = match (view.to_slice(), view.reversed_axes().to_slice()) {
        (Some(values), _) => Rows::row_major(values, features),
        (None, Some(values)) => Rows::column_major(values, features),
        (None, None) => {
            return Err(PyValueError::new_err(
                "the table must be contiguous, in C or in Fortran order",
            ));
        }
    };
    rows.map_err(crate::errors::exception)
}

/// A matrix as a NumPy array.
pub fn array<'py>(py: Python<'py>, matrix: &Mat<f64>) -> Bound<'py, PyArray2<f64>> {
    let shape = (matrix.nrows(), matrix.ncols());
    Array2::from_shape_fn(shape, |(i, j)| matrix[(i, j)]).into_pyarray(py)
}
