//! Settings are checked once, when the thing they set is made.

use serde::de::{Deserialize, Deserializer, Error, Unexpected};

/// A setting outside its range: quotes the value and says what is expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} = {value}, expected {expected}")]
pub struct InvalidSetting {
    name: String,
    value: String,
    expected: String,
}

impl InvalidSetting {
    /// The setting `name` was given as `value` where `expected` (a noun phrase, as in "a number
    /// above 0") is asked for.
    pub fn new(
        name: impl Into<String>,
        value: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), value: value.into(), expected: expected.into() }
    }

    /// The setting's name, spelled as in the constructor that refused it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The refused value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What would have been accepted.
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

/// Debug formatting, because `1e-300` printed in full would be no quote anyone recognises.
fn refuse(name: &str, value: f64, expected: &str) -> InvalidSetting {
    InvalidSetting::new(name, format!("{value:?}"), expected)
}

const POSITIVE: &str = "a finite number above 0";
const NON_NEGATIVE: &str = "a finite number, 0 or above";
const FINITE: &str = "a finite number";

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn is_non_negative(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// `value` if it is finite and above 0.
pub(crate) fn positive(name: &str, value: f64) -> Result<f64, InvalidSetting> {
    if is_positive(value) { Ok(value) } else { Err(refuse(name, value, POSITIVE)) }
}

/// `value` if it is finite and 0 or above.
pub(crate) fn non_negative(name: &str, value: f64) -> Result<f64, InvalidSetting> {
    if is_non_negative(value) { Ok(value) } else { Err(refuse(name, value, NON_NEGATIVE)) }
}

/// `count` if it is above 0.
pub(crate) fn at_least_one(name: &str, count: usize) -> Result<usize, InvalidSetting> {
    if count > 0 {
        Ok(count)
    } else {
        Err(InvalidSetting::new(name, "0", "a whole number above 0"))
    }
}

/// `values` if all are finite; the error names the first that is not, as `name[l]`.
pub(crate) fn all_finite(name: &str, values: Vec<f64>) -> Result<Vec<f64>, InvalidSetting> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(values),
        Some(l) => Err(refuse(&format!("{name}[{l}]"), values[l], FINITE)),
    }
}

/// A bound of an interval: `value` unless it is NaN or the `empty` infinity, which no number lies
/// beyond.
pub(crate) fn bound(name: &str, value: f64, empty: f64) -> Result<f64, InvalidSetting> {
    if value.is_nan() || value == empty {
        let expected = if empty > 0.0 { "a number or -inf" } else { "a number or inf" };
        return Err(refuse(name, value, expected));
    }
    Ok(value)
}

/// For `#[serde(deserialize_with)]`: what is read from a file is checked like what is given to a
/// constructor.
pub(crate) fn read_positive<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let value = f64::deserialize(from)?;
    if is_positive(value) {
        Ok(value)
    } else {
        Err(Error::invalid_value(Unexpected::Float(value), &POSITIVE))
    }
}

/// As [`read_positive`], for a number that may be 0.
pub(crate) fn read_non_negative<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let value = f64::deserialize(from)?;
    if is_non_negative(value) {
        Ok(value)
    } else {
        Err(Error::invalid_value(Unexpected::Float(value), &NON_NEGATIVE))
    }
}

/// As [`read_positive`], for a vector of finite numbers.
pub(crate) fn read_all_finite<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    all_finite("entry", Vec::deserialize(from)?).map_err(Error::custom)
}
