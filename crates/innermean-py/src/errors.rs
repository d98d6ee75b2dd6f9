//! Words and settings between the library and Python.

use innermean_apps::wording::Face;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde::de::DeserializeOwned;

/// Parameters as Python spells them: `l2`, `risk='huber'`.
pub(crate) struct Keywords;

impl Face for Keywords {
    fn parameter(&self, name: &str) -> String {
        name.to_owned()
    }

    fn setting(&self, name: &str, value: &str) -> String {
        match value.parse::<f64>() {
            Ok(_) => format!("{name}={value}"),
            Err(_) => format!("{name}='{value}'"),
        }
    }
}

/// A sentence with its parameters as Python spells them.
pub(crate) fn spelled(sentence: &str) -> String {
    innermean_apps::wording::spell(sentence, &Keywords)
}

/// The library or an application refuses something.
pub(crate) fn refused(error: &impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(spelled(&error.to_string()))
}

/// Settings that Python wrote as JSON.
pub(crate) fn settings<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| {
        // Where in the JSON says nothing to whoever gave keywords.
        let error = error.to_string();
        let sentence = error.split(" at line ").next().unwrap_or(&error);
        PyValueError::new_err(sentence.to_owned())
    })
}

/// Plain data as what `json.loads` makes of them.
pub(crate) fn json<'py>(
    py: Python<'py>,
    data: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let text =
        serde_json::to_string(data).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (PyString::new(py, &text),))
}
