//! Columns of regressors and instruments, some of them made into splines.

use innermean::problems::moments::BSpline;

use super::{Column, MomentsError, Spline};

/// The columns, those with a spline as its basis. The first function of a basis is left out: all
/// of them sum to 1, which the intercept is.
pub(super) fn expanded(
    columns: &[Column],
    splines: &[Spline],
    degree: usize,
) -> Result<Vec<Column>, MomentsError> {
    let mut out = Vec::new();
    for column in columns {
        let Some(spline) = splines.iter().find(|spline| spline.column == column.name) else {
            out.push(column.clone());
            continue;
        };
        let refused = |reason| MomentsError::Knots { column: column.name.clone(), reason };
        let basis = BSpline::at_quantiles(degree, &column.values, spline.knots).map_err(refused)?;
        let count = basis.count();
        let design = basis.design(&column.values);
        out.extend((1..count).map(|k| {
            let values = design.iter().skip(k).step_by(count).copied().collect();
            Column::new(format!("{}[{}]", column.name, k + 1), values)
        }));
    }
    Ok(out)
}

/// Row after row; with a last column of ones if there is an intercept.
pub(super) fn rows(columns: &[&Column], n: usize, intercept: bool) -> Vec<f64> {
    let mut rows = Vec::with_capacity(n * (columns.len() + 1));
    for i in 0..n {
        rows.extend(columns.iter().map(|column| column.values[i]));
        rows.extend(intercept.then_some(1.0));
    }
    rows
}
