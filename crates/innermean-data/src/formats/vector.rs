//! A start point: one number per asset, from a file.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::error::{Place, ReadError};
use crate::formats::vector::error::VectorError;
use crate::limits::Limits;
use crate::source::Source;
use crate::text::cell::{Meaning, meaning};
use crate::text::line::{Delimiter, Line, Lines};

pub(crate) mod error;

/// Reads one number per asset, in any of these forms:
///
/// - numbers apart by commas, semicolons, blanks or line ends, in the order of the assets;
/// - one line per asset, `name,value` (or apart by a semicolon, a tab or blanks), in any order, a
///   header being optional;
/// - a JSON array of numbers;
/// - a JSON object whose `theta` is such an array, or an object from names to numbers. With `names`
///   beside an array, as in what the command line prints, its numbers go to these names.
///
/// Lines that begin with `#` are skipped in the first two.
///
/// # Errors
///
/// [`ReadError`]: anything else, a number of numbers other than `expected_len`, or names other than
/// `names`.
pub fn read_vector(
    path: &Path,
    expected_len: usize,
    names: &[String],
) -> Result<Vec<f64>, ReadError> {
    Limits::default().read_vector(path, expected_len, names)
}

impl Limits {
    /// [`read_vector`] within these limits.
    ///
    /// # Errors
    ///
    /// As [`read_vector`].
    pub fn read_vector(
        &self,
        path: &Path,
        expected_len: usize,
        names: &[String],
    ) -> Result<Vec<f64>, ReadError> {
        vector_of(Source::open(path, *self)?, expected_len, names)
    }
}

/// [`read_vector`] from bytes; `name` stands for the file in messages.
///
/// # Errors
///
/// As [`read_vector`], but for those about opening a file.
pub fn parse_vector(
    bytes: &[u8],
    name: &str,
    expected_len: usize,
    names: &[String],
) -> Result<Vec<f64>, ReadError> {
    vector_of(Source::of_bytes(bytes, name)?, expected_len, names)
}

fn vector_of(
    source: Source<'_>,
    expected_len: usize,
    names: &[String],
) -> Result<Vec<f64>, ReadError> {
    let name = &source.file.clone();
    let text = &source.whole_text()?;
    let numbers = if text.trim_start().starts_with(['[', '{']) {
        from_json(text, name, names)?
    } else {
        let lines: Vec<Line<'_>> =
            Lines::of(text).filter(|l| !l.is_blank() && !l.is_comment()).collect();
        // Of nothing at all it is said how many numbers there should be.
        match pairs(&lines, names).filter(|_| !lines.is_empty()) {
            Some(pairs) => from_pairs(&pairs, name, names)?,
            None => from_numbers(&lines, name)?,
        }
    };
    let (file, found) = (name.to_owned(), numbers.len());
    if found != expected_len {
        return Err(VectorError::WrongLength { file, found, expected: expected_len }.into());
    }
    Ok(numbers)
}

/// A name and what stands for its number.
struct Pair<'a> {
    line: Line<'a>,
    name: String,
    value: String,
}

/// The lines as names with values, if they are such: every line but a header has two cells, and the
/// first cells are known names or no numbers.
fn pairs<'a>(lines: &[Line<'a>], names: &[String]) -> Option<Vec<Pair<'a>>> {
    let pair = |line: Line<'a>| {
        let delimiter =
            [b',', b';', b'\t'].into_iter().find(|&byte| line.text.contains(byte as char));
        let cells = match delimiter {
            Some(byte) => Delimiter::Byte(byte).cells(line.text),
            None => Delimiter::Blanks.cells(line.text),
        };
        // Blanks inside a name, blanks before its value.
        let (value, name) = cells.split_last()?;
        let name: Vec<&str> = name.iter().map(|cell| cell.text.as_ref()).collect();
        if name.is_empty() || (delimiter.is_some() && name.len() > 1) {
            return None;
        }
        Some(Pair { line, name: name.join(" "), value: value.text.clone().into_owned() })
    };
    let mut pairs: Vec<Pair<'a>> = lines.iter().map(|&line| pair(line)).collect::<Option<_>>()?;
    let is_known = |name: &str| names.iter().any(|known| known == name);
    if pairs.len() > 1
        && !is_known(&pairs[0].name)
        && meaning(&pairs[0].value, b'.') == Meaning::Text
    {
        pairs.remove(0);
    }
    let is_name = |pair: &Pair<'_>| {
        is_known(&pair.name) || meaning(first_word(&pair.name), b'.') == Meaning::Text
    };
    pairs.iter().all(is_name).then_some(pairs)
}

fn first_word(name: &str) -> &str {
    name.split(' ').next().unwrap_or(name)
}

fn from_pairs(pairs: &[Pair<'_>], file: &str, names: &[String]) -> Result<Vec<f64>, ReadError> {
    let mut values = Vec::with_capacity(pairs.len());
    for Pair { line, name, value } in pairs {
        let place = || Place {
            file: file.to_owned(),
            line: line.number,
            column: 2,
            name: Some(name.clone()),
            by_row: false,
        };
        values.push((name.as_str(), number(value, place)?));
    }
    by_name(&values, file, names)
}

/// Values in the order of `names`.
fn by_name(values: &[(&str, f64)], file: &str, names: &[String]) -> Result<Vec<f64>, ReadError> {
    let file = || file.to_owned();
    let mut given = HashMap::new();
    for &(name, value) in values {
        if given.insert(name, value).is_some() {
            return Err(VectorError::RepeatedName { file: file(), name: name.to_owned() }.into());
        }
    }
    let unknown = |name: &&str| !names.iter().any(|known| known == name);
    let unknown: Vec<String> =
        values.iter().map(|(name, _)| *name).filter(unknown).map(str::to_owned).collect();
    if !unknown.is_empty() {
        let example = names.first().cloned().unwrap_or_default();
        return Err(VectorError::UnknownNames { file: file(), names: unknown, example }.into());
    }
    let absent: Vec<String> =
        names.iter().filter(|name| !given.contains_key(name.as_str())).cloned().collect();
    if !absent.is_empty() {
        return Err(VectorError::AbsentNames { file: file(), names: absent }.into());
    }
    Ok(names.iter().filter_map(|name| given.get(name.as_str()).copied()).collect())
}

fn from_numbers(lines: &[Line<'_>], file: &str) -> Result<Vec<f64>, ReadError> {
    let mut numbers = Vec::new();
    for line in lines {
        let words = line.text.split(|c: char| matches!(c, ',' | ';') || c.is_whitespace());
        for (column, word) in words.filter(|word| !word.is_empty()).enumerate() {
            let place = || Place {
                file: file.to_owned(),
                line: line.number,
                column: column + 1,
                name: None,
                by_row: false,
            };
            numbers.push(number(word, place)?);
        }
    }
    Ok(numbers)
}

/// A start point has no missing values: they are no numbers.
fn number(text: &str, place: impl FnOnce() -> Place) -> Result<f64, ReadError> {
    // A coordinate of a start point may well be -999, which is a missing value only among returns.
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) if value.is_infinite() => {
            Err(ReadError::NotFinite { place: place(), text: text.to_owned() })
        }
        _ => Err(ReadError::NotANumber { place: place(), text: text.to_owned() }),
    }
}

fn from_json(text: &str, file: &str, names: &[String]) -> Result<Vec<f64>, ReadError> {
    let failed =
        |reason: String| ReadError::from(VectorError::Json { file: file.to_owned(), reason });
    let value: Value = serde_json::from_str(text)
        .map_err(|error| failed(format!("is not valid JSON ({error})")))?;
    let theta = match &value {
        Value::Object(members) => {
            members.get("theta").ok_or_else(|| failed("has no \"theta\"".to_owned()))?
        }
        other => other,
    };
    let number = |value: &Value, which: String| {
        value.as_f64().ok_or_else(|| failed(format!("{which} is {}, not a number", kind(value))))
    };
    match theta {
        Value::Array(items) => {
            let numbers: Vec<f64> = items
                .iter()
                .enumerate()
                .map(|(k, item)| number(item, format!("element {}", k + 1)))
                .collect::<Result<_, ReadError>>()?;
            // An answer names its coordinates; the columns of the table at hand may be in
            // another order.
            match names_beside(&value) {
                Some(given) if given.len() == numbers.len() => {
                    let values: Vec<(&str, f64)> = given.into_iter().zip(numbers).collect();
                    by_name(&values, file, names)
                }
                _ => Ok(numbers),
            }
        }
        Value::Object(members) => {
            let values: Vec<(&str, f64)> = members
                .iter()
                .map(|(name, item)| Ok((name.as_str(), number(item, format!("'{name}'"))?)))
                .collect::<Result<_, ReadError>>()?;
            by_name(&values, file, names)
        }
        other => Err(failed(format!("\"theta\" is {}", kind(other)))),
    }
}

/// The texts of the member `names`, if there is one and all are texts.
fn names_beside(value: &Value) -> Option<Vec<&str>> {
    value.get("names")?.as_array()?.iter().map(Value::as_str).collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a single number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
