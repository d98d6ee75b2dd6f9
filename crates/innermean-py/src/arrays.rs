//! Arrays of Python as numbers of the library, read where they are, and back.

use std::sync::Arc;

use innermean::Numbers;
use numpy::{
    PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The numbers of an array, which lives as long as they do.
struct Borrowed {
    /// Keeps the memory; never read.
    _owner: Py<PyAny>,
    first: *const f64,
    length: usize,
}

// SAFETY: the memory is only read, and the owner is only held, not touched.
#[expect(unsafe_code, reason = "memory of an array that is kept alive")]
unsafe impl Send for Borrowed {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "memory of an array that is kept alive")]
unsafe impl Sync for Borrowed {}

impl AsRef<[f64]> for Borrowed {
    fn as_ref(&self) -> &[f64] {
        // SAFETY: `numbers` has checked that the array is contiguous, aligned and of this length.
        #[expect(unsafe_code, reason = "memory of an array that is kept alive")]
        unsafe {
            std::slice::from_raw_parts(self.first, self.length)
        }
    }
}

/// The numbers of a C-contiguous array of float64, without a copy. It must not be written to while
/// they are in use.
pub(crate) fn numbers(name: &str, array: &PyReadonlyArrayDyn<'_, f64>) -> PyResult<Numbers> {
    if !array.is_c_contiguous() {
        let sentence = format!("{name}: expected an array in C order; use numpy.ascontiguousarray");
        return Err(PyValueError::new_err(sentence));
    }
    let first = array.data().cast_const();
    let owner = array.as_any().clone().unbind();
    Ok(Numbers::from(Arc::new(Borrowed { _owner: owner, first, length: array.len() })))
}

/// A copy of a vector, whatever its stride.
pub(crate) fn vector(array: &PyReadonlyArray1<'_, f64>) -> Vec<f64> {
    array.as_array().to_vec()
}

/// A vector as an array, without a copy.
pub(crate) fn array(py: Python<'_>, values: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_vec(py, values)
}
