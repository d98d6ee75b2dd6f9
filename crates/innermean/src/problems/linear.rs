//! Linear predictors: rows `a_i` in `R^d`, one average for each that is no average, `n_Y = 1`.
//!
//! ```text
//! min over theta of  (1/n) sum_i phi_i( <a_i, theta> + b_i ) + g(theta)
//! ```
//!
//! Ridge regression puts its targets into the offsets, `b_i = -target_i`, and takes `phi = u^2`;
//! logistic regression has labels in `phi_i`. f is a [`Collapsed`] whose rows are the data
//! themselves, dense or sparse. An intercept is a column of ones at the end, which
//! [`FreeTail`](crate::model::regularizer::FreeTail) leaves out of g.

use crate::model::collapse::{Collapsed, SparseRows};
use crate::model::merit::{Logistic, Square};
use crate::model::problem::Problem;
use crate::model::regularizer::Ridge;
use crate::model::row_data::RowData;
use crate::model::setting::InvalidSetting;

/// `f_i = <a_i, theta> + b_i` with `rows` of length `d`: a vector, memory that is
/// shared, or rows that are read when they are looked at.
///
/// # Errors
/// Unless there is at least one whole row and an offset for each, of finite numbers.
pub fn predictors(
    d: usize,
    rows: impl Into<RowData>,
    offsets: Vec<f64>,
) -> Result<Collapsed, InvalidSetting> {
    let rows = rows.into();
    check_rows(d, &rows, &offsets)?;
    checked(d, Collapsed::from_rows(d, rows, offsets))
}

fn check_rows(d: usize, rows: &RowData, offsets: &[f64]) -> Result<(), InvalidSetting> {
    if d == 0 || rows.is_empty() || !rows.is_of(d) {
        return Err(InvalidSetting::new(
            "rows",
            format!("{} numbers in rows of {d}", rows.len()),
            "at least one whole row of at least one number",
        ));
    }
    check_offsets(rows.len() / d, offsets)
}

/// The predictors, if all numbers of their rows are finite.
fn checked(d: usize, predictors: Collapsed) -> Result<Collapsed, InvalidSetting> {
    // The pass that a certificate needs anyway: squares are finite if all numbers are, unless some
    // are beyond 1e150.
    if !predictors.mean_squares().iter().all(|x| x.is_finite())
        && let Some(rows) = predictors.data()
        && let Some((bad, x)) = rows.first_bad(d)
    {
        let place = format!("{x} in row {}, column {}", bad / d, bad % d);
        return Err(InvalidSetting::new("rows", place, "finite numbers"));
    }
    Ok(predictors)
}

/// [`predictors`] with rows of which most numbers are zero.
///
/// # Errors
/// Unless there is at least one row of at least one column, and a finite offset for each.
pub fn sparse_predictors(rows: SparseRows, offsets: Vec<f64>) -> Result<Collapsed, InvalidSetting> {
    if rows.d() == 0 || rows.terms() == 0 {
        return Err(InvalidSetting::new(
            "rows",
            format!("{} rows of {}", rows.terms(), rows.d()),
            "at least one row of at least one number",
        ));
    }
    check_offsets(rows.terms(), &offsets)?;
    Ok(Collapsed::from_sparse_rows(rows, offsets))
}

fn check_offsets(rows: usize, offsets: &[f64]) -> Result<(), InvalidSetting> {
    if offsets.len() != rows {
        let expected = format!("one for each of {rows} rows");
        return Err(InvalidSetting::new("offsets", format!("{} numbers", offsets.len()), expected));
    }
    if let Some(bad) = offsets.iter().position(|x| !x.is_finite()) {
        return Err(InvalidSetting::new(
            format!("offsets[{bad}]"),
            offsets[bad].to_string(),
            "a finite number",
        ));
    }
    Ok(())
}

/// `(1/n) sum_i (<a_i, theta> - target_i)^2 + (lambda/2) |theta|^2`
///
/// # Errors
/// As [`predictors`], and unless lambda is finite and 0 or above.
pub fn ridge_regression(
    d: usize,
    rows: Vec<f64>,
    targets: &[f64],
    lambda: f64,
) -> Result<Problem<Collapsed, Square, Ridge>, InvalidSetting> {
    Ok(Problem {
        inner: predictors(d, rows, targets.iter().map(|b| -b).collect())?,
        merit: Square::new(1.0)?,
        regularizer: Ridge::from_weight(lambda)?,
    })
}

/// `(1/n) sum_i log(1 + exp(-y_i <a_i, theta>)) + (lambda/2) |theta|^2` with labels `y_i` of -1 or 1.
///
/// # Errors
/// As [`predictors`], if a label is anything else, and unless lambda is finite and 0 or above.
pub fn logistic_regression(
    d: usize,
    rows: Vec<f64>,
    labels: Vec<f64>,
    lambda: f64,
) -> Result<Problem<Collapsed, Logistic, Ridge>, InvalidSetting> {
    let inner = predictors(d, rows, vec![0.0; labels.len()])?;
    Ok(Problem { inner, merit: Logistic::new(labels)?, regularizer: Ridge::from_weight(lambda)? })
}
