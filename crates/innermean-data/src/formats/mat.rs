//! Variables in files of MATLAB 7.3, which are HDF5 files.
//!
//! MATLAB stores a matrix column after column, and HDF5 names the slowest dimension first: a matrix
//! of n rows and d columns has the shape (d, n). Columns are read in blocks and put where they
//! belong row after row.

use hdf5_pure::{AttrValue, DType, Dataset, Error, File};

use crate::error::ReadError;
use crate::formats::npy::{Array, scatter, zeros};
use crate::limits::Limits;
use crate::wording::{enumerated, shorten};

/// Numbers converted at a time.
const BLOCK: usize = 1 << 18;

/// Reads the variable `name`, or the only one of numbers: its name and its numbers.
pub(crate) fn read(
    input: &File,
    file: &str,
    name: Option<&str>,
    limits: &Limits,
) -> Result<(String, Array), ReadError> {
    let failed = |error: Error| damaged(file, &error);
    let root = input.root();
    let mut names = Vec::new();
    for variable in root.datasets().map_err(failed)? {
        if is_numeric(&input.dataset(&variable).map_err(failed)?) {
            names.push(variable);
        }
    }
    let name = match (name, &names[..]) {
        (Some(name), _) if names.iter().any(|variable| variable == name) => name.to_owned(),
        (Some(name), _) => {
            return Err(ReadError::UnknownArray {
                file: file.to_owned(),
                name: name.to_owned(),
                names,
            });
        }
        (None, [only]) => only.clone(),
        (None, []) => {
            return Err(ReadError::unsuitable(
                file,
                "has no full matrix of numbers",
                "save one with -v7.3",
            ));
        }
        (None, [first, ..]) => {
            let reason = format!("holds several variables ({})", enumerated(&names));
            let advice = format!("name one of them as {file}:{}", shorten(first));
            return Err(ReadError::unsuitable(file, &reason, &advice));
        }
    };
    let dataset = input.dataset(&name).map_err(failed)?;
    let file = format!("{file}:{}", shorten(&name));
    let shape = dataset.shape().map_err(|error| damaged(&file, &error))?;
    let [columns, rows] = shape[..] else {
        let reason = format!("has {} dimensions", shape.len());
        return Err(ReadError::unsuitable(&file, &reason, "expected a matrix or a vector"));
    };
    // An empty matrix is stored as its dimensions.
    if rows == 0 || columns == 0 || class(&dataset).1 {
        return Err(ReadError::unsuitable(&file, "has no numbers", "expected at least one row"));
    }
    let (rows, columns) = (rows as usize, columns as usize);
    limits.check_columns(columns, &file)?;
    let count = rows.saturating_mul(columns);
    // Parts that were never set are zeros that are not stored, so that a small file may stand for
    // many.
    let bytes = dataset.element_size().unwrap_or(1).saturating_mul(count as u64);
    limits.check_expansion(bytes, input.file_size(), &file)?;
    limits.check_numbers(count, &file)?;
    let mut values = zeros(count, &file)?;
    let block = (BLOCK / rows).max(1);
    for from in (0..columns).step_by(block) {
        let numbers = numbers(&dataset, from as u64, block.min(columns - from) as u64, &file)?;
        scatter(&numbers, from * rows, rows, &mut values);
    }
    Ok((name, Array { rows, columns: Some(columns), values }))
}

/// Some columns, one after the other.
fn numbers(dataset: &Dataset, from: u64, count: u64, file: &str) -> Result<Vec<f64>, ReadError> {
    let failed = |error: Error| damaged(file, &error);
    macro_rules! convert {
        ($read:ident) => {
            dataset.$read(from, count).map_err(failed)?.into_iter().map(f64::from).collect()
        };
    }
    let large = || {
        let advice = "a double does not hold them, so save it as double";
        ReadError::unsuitable(file, "has whole numbers above 2^53", advice)
    };
    Ok(match dataset.dtype().map_err(failed)? {
        DType::F64 => dataset.read_f64_rows(from, count).map_err(failed)?,
        DType::F32 => convert!(read_f32_rows),
        DType::I8 => convert!(read_i8_rows),
        DType::I16 => convert!(read_i16_rows),
        DType::I32 => convert!(read_i32_rows),
        DType::U8 => convert!(read_u8_rows),
        DType::U16 => convert!(read_u16_rows),
        DType::U32 => convert!(read_u32_rows),
        DType::I64 => {
            let values = dataset.read_i64_rows(from, count).map_err(failed)?;
            let exact = values.iter().all(|value| value.unsigned_abs() <= 1 << 53);
            exact
                .then(|| values.into_iter().map(|value| value as f64).collect())
                .ok_or_else(large)?
        }
        DType::U64 => {
            let values = dataset.read_u64_rows(from, count).map_err(failed)?;
            let exact = values.iter().all(|value| *value <= 1 << 53);
            exact
                .then(|| values.into_iter().map(|value| value as f64).collect())
                .ok_or_else(large)?
        }
        other => {
            let advice = "expected numbers or logical values";
            return Err(ReadError::unsuitable(
                file,
                &format!("holds values of type {other}"),
                advice,
            ));
        }
    })
}

/// The class of a variable, and whether it is empty.
fn class(dataset: &Dataset) -> (Option<String>, bool) {
    let attributes = dataset.attrs().unwrap_or_default();
    let class = attributes.get("MATLAB_class").and_then(AttrValue::as_str).map(str::to_owned);
    (class, attributes.contains_key("MATLAB_empty"))
}

/// Texts are stored as numbers, too; their class tells them.
fn is_numeric(dataset: &Dataset) -> bool {
    let texts = ["char", "string", "cell", "function_handle"];
    let is_text = class(dataset).0.is_some_and(|class| texts.contains(&class.as_str()));
    let is_number = dataset.dtype().is_ok_and(|kind| {
        use DType::{F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        matches!(kind, F32 | F64 | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64)
    });
    is_number && !is_text
}

pub(crate) fn damaged(file: &str, error: &Error) -> ReadError {
    ReadError::damaged(file, &error.to_string())
}
