//! NumPy arrays in and out. Contiguous tables in C or Fortran order are borrowed, not copied.

use faer::Mat;
use foretask::Rows;
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The attributes of `foretask._data.SparseTable`.
#[derive(FromPyObject)]
pub struct SparseTable<'py> {
    starts: PyReadonlyArray1<'py, usize>,
    columns: PyReadonlyArray1<'py, u32>,
    values: Values<'py>,
    features: usize,
}

/// Numbers of single or double precision.
#[derive(FromPyObject)]
enum Values<'py> {
    #[pyo3(transparent)]
    Double(PyReadonlyArray1<'py, f64>),
    #[pyo3(transparent)]
    Single(PyReadonlyArray1<'py, f32>),
}

impl SparseTable<'_> {
    fn rows(&self) -> PyResult<Rows<'_>> {
        let (starts, columns) = (self.starts.as_slice()?, self.columns.as_slice()?);
        let rows = match &self.values {
            Values::Double(values) => Rows::csr(starts, columns, values.as_slice()?, self.features),
            Values::Single(values) => Rows::csr(starts, columns, values.as_slice()?, self.features),
        };
        rows.map_err(crate::errors::exception)
    }
}

/// A two-dimensional array of single or double precision, or sparse rows.
#[derive(FromPyObject)]
pub enum Table<'py> {
    /// `float64`
    #[pyo3(transparent, annotation = "float64 array")]
    Double(PyReadonlyArray2<'py, f64>),
    /// `float32`
    #[pyo3(transparent, annotation = "float32 array")]
    Single(PyReadonlyArray2<'py, f32>),
    /// Sparse rows
    #[pyo3(transparent, annotation = "sparse table")]
    Sparse(SparseTable<'py>),
}

impl Table<'_> {
    /// The rows, as the library sees them.
    pub fn rows(&self) -> PyResult<Rows<'_>> {
        match self {
            Self::Double(array) => rows(array.as_array()),
            Self::Single(array) => rows(array.as_array()),
            Self::Sparse(table) => table.rows(),
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
