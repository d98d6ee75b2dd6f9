//! Labels of single rows, from texts.

use innermean_data::Keys;

use super::BagsError;

/// Each row's class by its place among the classes, NaN where there is none.
pub(super) fn class_codes(keys: &Keys, classes: &[String]) -> Result<Vec<f64>, BagsError> {
    let mut codes = Vec::new();
    for (code, name) in keys.names.iter().enumerate() {
        if name.is_empty() {
            codes.push(f64::NAN);
            continue;
        }
        let Some(class) = classes.iter().position(|label| label == name) else {
            return Err(BagsError::NotAClass {
                row: keys.codes.iter().position(|&c| c as usize == code).unwrap_or(0),
                column: keys.name.clone(),
                value: name.clone(),
                classes: classes.to_vec(),
            });
        };
        codes.push(class as f64);
    }
    Ok(keys.codes.iter().map(|&code| codes[code as usize]).collect())
}

/// The labels of rows as numbers, NaN where there is none.
pub(super) fn row_numbers(keys: &Keys, binary: bool) -> Result<Vec<f64>, BagsError> {
    let number = |text: &String| match text.parse::<f64>() {
        _ if text.is_empty() => Some(f64::NAN),
        Ok(y) if y.is_finite() && (!binary || y == 0.0 || y == 1.0) => Some(y),
        _ => None,
    };
    let numbers: Vec<Option<f64>> = keys.names.iter().map(number).collect();
    if let Some(row) = keys.codes.iter().position(|&code| numbers[code as usize].is_none()) {
        return Err(BagsError::NotARowLabel {
            row,
            column: keys.name.clone(),
            value: keys.text(row).to_owned(),
            expected: if binary { "0 or 1" } else { "a number" },
        });
    }
    Ok(keys.codes.iter().map(|&code| numbers[code as usize].unwrap_or(f64::NAN)).collect())
}
