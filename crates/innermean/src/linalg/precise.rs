//! Double-double arithmetic: about 32 digits, for small problems whose columns double precision
//! cannot tell apart.
//!
//! Linear algebra is done in it; phi and its derivatives stay in double precision, for their
//! rounding moves predictions by rounding alone, while that of a nearly singular matrix moves them
//! by anything.

use crate::model::inner::pieces;
use crate::model::problem::Objective;

mod factor;
mod form;
mod number;
mod rows;

pub(crate) use factor::Factor;
pub(crate) use form::{Form, roundings, sizes_of_moments, sizes_of_products};
pub(crate) use number::Double;
pub(crate) use rows::Rows;

/// Products up to which it takes some hundredths of a second.
const MOST_PRODUCTS: usize = 2_000_000;

/// Whether the problem is small enough, and of the kind.
pub(crate) fn is_affordable(problem: Objective<'_>) -> bool {
    let (f, form) = (problem.inner, problem.merit.quadratic_form());
    is_small(problem)
        && problem.regularizer.constraints().is_none()
        && form.is_none_or(|form| {
            f.n_x() == 1
                && form.ell() == f.ell()
                && form.is_exact()
                && is_few(form.terms(), form.ell())
        })
}

/// Whether the matrix of a quadratic form on `R^ell`, a sum over this many rows, is made of few
/// products.
pub(crate) fn is_few(rows: usize, ell: usize) -> bool {
    rows.max(ell).saturating_mul(ell * ell) <= MOST_PRODUCTS
}

/// Whether an affine f has so few numbers, and these are the data themselves.
pub(crate) fn is_small(problem: Objective<'_>) -> bool {
    let f = problem.inner;
    let pairs = if f.centred_rows().is_some() { f.n_x() } else { f.pairs() };
    let d = f.d();
    f.facts().affine
        && f.facts().roundings == 0
        && pieces(f).max(pairs).saturating_mul(f.ell()).saturating_mul(d) <= MOST_PRODUCTS
        && (f.n_x() * f.ell()).saturating_mul(d * d).max(d * d * d) <= MOST_PRODUCTS
}
