//! Convex functions of one number that Python has compiled to machine code: C functions by address.
//!
//! ```text
//! double value(const double* parameters_i, double t)
//! double slope(const double* parameters_i, double t)
//! ```

use std::sync::Arc;

use innermean::merit::{Merit, Numerical};
use innermean::regularizer::{self, Coordinate};
use innermean::{InvalidSetting, Regularizer};
use numpy::PyReadonlyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::kernel::Rows;
use crate::arrays::numbers;
use crate::errors::refused;

type One = unsafe extern "C" fn(*const f64, f64) -> f64;

/// The functions, and the parameters of each term or coordinate.
#[pyclass(frozen, module = "innermean._innermean")]
#[derive(Clone)]
pub(crate) struct Curve(Arc<Compiled>);

struct Compiled {
    value: One,
    slope: One,
    parameters: Rows,
    /// None: all are the same.
    count: Option<usize>,
}

impl Compiled {
    fn at(&self, function: One, i: usize, t: f64) -> f64 {
        let i = if self.count.is_some() { i } else { 0 };
        // SAFETY: `innermean.own.curve` compiles functions of this signature and keeps them; they
        // read a row of parameters, and the slice panics where there is none.
        #[expect(unsafe_code, reason = "a function by address")]
        unsafe {
            function(self.parameters.from(i), t)
        }
    }
}

impl innermean::merit::Curve for Curve {
    fn count(&self) -> Option<usize> {
        self.0.count
    }

    fn value(&self, i: usize, t: f64) -> f64 {
        self.0.at(self.0.value, i, t)
    }

    fn slope(&self, i: usize, t: f64) -> f64 {
        self.0.at(self.0.slope, i, t)
    }
}

#[pymethods]
impl Curve {
    /// By the addresses of compiled functions, which must outlive it; `parameters` have a row of
    /// `width` numbers for each function, unless all are the same.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "an argument of a call from Python")]
    fn new(
        value: usize,
        slope: usize,
        parameters: PyReadonlyArrayDyn<'_, f64>,
        width: usize,
    ) -> PyResult<Self> {
        let parameters = Rows { numbers: numbers("parameters", &parameters)?, width };
        if width > 0 && !parameters.numbers.len().is_multiple_of(width) {
            return Err(PyValueError::new_err("parameters: expected whole rows"));
        }
        let count = (width > 0).then(|| parameters.numbers.len() / width);
        // SAFETY: `innermean.own.curve` compiles functions of this signature and keeps them.
        #[expect(unsafe_code, reason = "functions by address")]
        let (value, slope) = unsafe {
            (std::mem::transmute::<usize, One>(value), std::mem::transmute::<usize, One>(slope))
        };
        Ok(Curve(Arc::new(Compiled { value, slope, parameters, count })))
    }

    /// A value and a slope, as the library asks for them.
    fn at(&self, i: usize, t: f64) -> PyResult<(f64, f64)> {
        use innermean::merit::Curve as _;

        if self.0.count.is_some_and(|count| i >= count) {
            return Err(PyValueError::new_err("parameters: there is no such row"));
        }
        Ok((self.value(i, t), self.slope(i, t)))
    }
}

impl Curve {
    /// As a phi.
    pub(crate) fn merit(
        &self,
        max_curvature: Option<f64>,
        max_slope: Option<f64>,
        kinks: bool,
        (lo, hi): (f64, f64),
    ) -> PyResult<Arc<dyn Merit>> {
        let make = || -> Result<Numerical<Curve>, InvalidSetting> {
            let mut merit = Numerical::new(self.clone()).between(lo, hi)?;
            if let Some(most) = max_curvature {
                merit = merit.with_max_curvature(most)?;
            }
            if let Some(most) = max_slope {
                merit = merit.with_max_slope(most)?;
            }
            Ok(if kinks { merit.with_kinks() } else { merit })
        };
        Ok(Arc::new(make().map_err(|error| refused(&error))?))
    }

    /// As a g with these parts beside it.
    pub(crate) fn regularizer(
        &self,
        parts: Vec<Coordinate>,
    ) -> Result<Arc<dyn Regularizer>, InvalidSetting> {
        Ok(Arc::new(regularizer::Numerical::new(self.clone(), parts)?))
    }
}
