//! What is refused, in Python's words.

use innermean_apps::wording::Face;
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// Parameters as Python spells them: `l2`, `risk='huber'`.
pub(crate) struct Keywords;

impl Face for Keywords {
    fn parameter(&self, name: &str) -> String {
        name.to_owned()
    }

    fn setting(&self, name: &str, value: &str) -> String {
        match value.parse::<f64>() {
            Ok(_) => format!("{name}={value}"),
            Err(_) => format!("{name}={value:?}"),
        }
    }
}

/// The library or an application refuses something.
pub(crate) fn refused(error: &impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(innermean_apps::wording::spell(&error.to_string(), &Keywords))
}
