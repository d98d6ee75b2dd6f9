//! The rows of steps as passes take them: with a 1 behind the features, for the intercept.

use crate::model::row_data::{Made, RowData};
use crate::model::setting::InvalidSetting;
use crate::problems::scaling::Standard;

/// Rows of finite numbers, as many as the lengths say.
pub(super) fn checked(
    features: usize,
    rows: RowData,
    lengths: &[usize],
) -> Result<RowData, InvalidSetting> {
    let steps: usize = lengths.iter().sum();
    if features == 0 || !rows.is_of(features) || rows.len() != features * steps {
        let given = format!("{} numbers for {steps} steps of {features} features", rows.len());
        let expected = "at least one feature, and all for each step";
        return Err(InvalidSetting::new("rows", given, expected));
    }
    let bad = rows.first_bad(features);
    if let Err(lost) = rows.check() {
        return Err(InvalidSetting::new("rows", lost.to_string(), "rows that can be read"));
    }
    match bad {
        None => Ok(rows),
        Some((bad, x)) => {
            let place = format!("{x} at step {}, feature {}", bad / features, bad % features);
            Err(InvalidSetting::new("rows", place, "finite numbers"))
        }
    }
}

/// With a 1 behind each row, and features brought to a scale. Rows of their own memory stay there:
/// there is no second copy of them.
pub(super) fn widened(rows: RowData, d: usize, standard: Option<&Standard>) -> RowData {
    if rows.is_shared() {
        let standard = standard.cloned();
        return Made::rows((&rows, d), d + 1, move |row, out| {
            out[..d].copy_from_slice(row);
            out[d] = 1.0;
            if let Some(standard) = &standard {
                standard.bring(&mut out[..d]);
            }
        });
    }
    let mut rows = rows.into_vec();
    let n = rows.len() / d;
    rows.reserve_exact(n);
    rows.resize(n * (d + 1), 1.0);
    // From the last on, so that none is written over before it is moved.
    for i in (0..n).rev() {
        rows.copy_within(i * d..(i + 1) * d, i * (d + 1));
        rows[i * (d + 1) + d] = 1.0;
        let own = &mut rows[i * (d + 1)..i * (d + 1) + d];
        if let Some(standard) = standard {
            standard.bring(own);
        }
    }
    RowData::from(rows).into_shared()
}
