//! Words and settings between the library and Python.

use innermean_apps::wording::Face;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::de::DeserializeOwned;
use serde_json::Value;

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
        PyValueError::new_err(named(sentence, text).unwrap_or_else(|| sentence.to_owned()))
    })
}

/// What serde says of a value, with the name of the setting: the one that has this value.
fn named(sentence: &str, text: &str) -> Option<String> {
    let (found, expected) = sentence.split_once(", expected ")?;
    let said = found.split(['`', '"']).nth(1)?;
    let settings: Value = serde_json::from_str(text).ok()?;
    let (name, value) = setting_of(&settings, said)?;
    let shown = value.to_string().replace('"', "'");
    let expected = match expected {
        "f64" => "a number",
        "u64" | "usize" | "u32" => "a whole number, 0 or above",
        other => other,
    };
    Some(format!("{name}={shown}: expected {}", expected.replace('`', "'")))
}

/// The setting whose value reads so.
fn setting_of<'v>(settings: &'v Value, said: &str) -> Option<(&'v str, &'v Value)> {
    let reads_so = |value: &Value| match value {
        Value::String(text) => text == said,
        Value::Number(number) => number.to_string() == said,
        _ => false,
    };
    let fields = settings.as_object()?;
    let own = fields.iter().find(|(_, value)| reads_so(value));
    own.map(|(name, value)| (name.as_str(), value))
        .or_else(|| fields.values().find_map(|value| setting_of(value, said)))
}

/// Plain data as what `json.loads` makes of them.
pub(crate) fn json<'py>(
    py: Python<'py>,
    data: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let data =
        serde_json::to_value(data).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    plain(py, &data)
}

fn plain<'py>(py: Python<'py>, data: &Value) -> PyResult<Bound<'py, PyAny>> {
    match data {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_bound_py_any(py),
            (None, Some(whole)) => whole.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(plain(py, value)?)?;
            }
            Ok(list.into_any())
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, plain(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
