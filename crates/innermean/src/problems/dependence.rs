//! Columns that say nothing new.
//!
//! With a Gram matrix of the columns scaled to a unit diagonal, the pivot of column l in Cholesky's
//! algorithm is the part of it that columns before it do not explain, `1 - R^2`. Where that is
//! nearly 0 the data do not tell the coefficients of these columns apart, and unless g does, many
//! answers are equally good.

use crate::linalg::gram;
use crate::linalg::vector::{axpy, norm_squared};
use crate::model::collapse::Collapsed;
use crate::model::inner::Inner;
use crate::model::regularizer::{Regularizer, Unregularized};

/// A pivot up to this is none: columns agree to five digits.
const DEPENDENT: f64 = 1e-10;
/// Products beyond which the matrix takes too long.
const MOST_PRODUCTS: f64 = 2e8;
const MOST_COLUMNS: usize = 1000;

/// The coordinates of an affine f whose columns are 0 or, to about five digits, combinations of
/// those before them, where the equations that g holds theta to do not tell them apart: cash
/// beside assets with risk is known from a sum of 1. None where that is too dear to find out, or f
/// is not affine.
pub fn dependent(f: &dyn Inner, g: &dyn Regularizer) -> Option<Vec<usize>> {
    if let Some(scores) = f.class_scores() {
        // The same of every class.
        let found = dependent(scores.rows(), &Unregularized)?;
        let is_found = |(l, place): (usize, usize)| found.contains(&l).then_some(place);
        let of_class = |c: usize| scores.columns_of(c).enumerate().filter_map(is_found);
        return Some((0..f.ell()).flat_map(of_class).collect());
    }
    let (d, rows) = (f.d(), (f.n_x() * f.ell()) as f64);
    if !f.facts().affine || d > MOST_COLUMNS || rows * (d * d) as f64 > MOST_PRODUCTS {
        return None;
    }
    let share = 1.0 / rows;
    let weight = |_: usize| share;
    let mut matrix = f
        .gram(&weight)
        .unwrap_or_else(|| gram::weighted(&Collapsed::new(f, &vec![0.0; d]), &weight));
    for equation in equations(g, d) {
        // As large along the equation as what the data say.
        let size = gram::size_across(d, &matrix);
        let scale = size / norm_squared(&equation).max(f64::MIN_POSITIVE) * d as f64;
        for (row, a) in matrix.chunks_exact_mut(d).zip(&equation) {
            axpy(scale * a, &equation, row);
        }
    }
    Some(small_pivots(matrix, d))
}

/// The rows a of the equations `<a, theta> = b` that g holds theta to.
fn equations(g: &dyn Regularizer, d: usize) -> Vec<Vec<f64>> {
    let has_budget = g.coordinate(0).is_none() && g.constrained_coordinate(0).is_some();
    let budgeted = g.budgeted(d);
    let ones = (0..d).map(|l| if l < budgeted { 1.0 } else { 0.0 }).collect();
    let mut found = if has_budget { vec![ones] } else { Vec::new() };
    if let Some(constraints) = g.constraints() {
        let rows = constraints.rows.iter().filter(|row| row.lo == row.hi);
        found.extend(rows.map(|row| row.coefficients.clone()));
    }
    found
}

/// The rows of a symmetric matrix, of which what is on and below the diagonal counts, whose pivots
/// nearly vanish.
fn small_pivots(mut matrix: Vec<f64>, d: usize) -> Vec<usize> {
    let roots: Vec<f64> = matrix.iter().step_by(d + 1).map(|entry| entry.sqrt()).collect();
    let mut found = Vec::new();
    for r in 0..d {
        let is_none = |root: f64| root.is_nan() || root <= 0.0;
        if is_none(roots[r]) {
            found.push(r);
            matrix[r * d..(r + 1) * d].fill(0.0);
            continue;
        }
        let mut left = 1.0;
        for c in 0..r {
            let scaled =
                if is_none(roots[c]) { 0.0 } else { matrix[r * d + c] / roots[r] / roots[c] };
            let (above, below) = matrix.split_at(r * d);
            let products = above[c * d..c * d + c].iter().zip(below).map(|(a, b)| a * b);
            let pivot = above[c * d + c];
            let entry = if pivot > 0.0 { (scaled - products.sum::<f64>()) / pivot } else { 0.0 };
            matrix[r * d + c] = entry;
            left -= entry * entry;
        }
        let is_small = left <= DEPENDENT;
        if is_small {
            found.push(r);
        }
        // A column that says nothing explains nothing.
        matrix[r * d + r] = if is_small { 0.0 } else { left.sqrt() };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::regularizer::Simplex;
    use crate::problems::linear::predictors;

    /// Rows of x, 1e6 times a number of its own, 0, x plus the second, something else, and two
    /// constants.
    #[test]
    fn sums_copies_and_zeros_are_found_whatever_the_units() {
        let mut draws = crate::draws::Stream::new(7, 0);
        let rows: Vec<f64> = (0..40)
            .flat_map(|_| {
                let [a, b, c] = [0; 3].map(|_| draws.unit() - 0.5);
                [a, 1e6 * b, 0.0, 1e-6 * (a + b), c, 3.0, 1.0]
            })
            .collect();
        let f = predictors(7, rows, vec![0.0; 40]).expect("rows");
        assert_eq!(dependent(&f, &Unregularized), Some(vec![2, 3, 6]));
        let independent =
            predictors(2, vec![1.0, 2.0, 2.0, 1.0, 0.0, 1.0], vec![0.0; 3]).expect("rows");
        assert_eq!(dependent(&independent, &Unregularized), Some(Vec::new()));
        // A column without risk, where weights add up to 1: one is determined, two are not.
        let zero = |count: usize| {
            let row = |k: usize| {
                let risky = [[1.0, 2.0], [2.0, 1.0], [0.0, 1.0], [3.0, -1.0]][k];
                risky.into_iter().chain(std::iter::repeat_n(0.0, count))
            };
            let rows: Vec<f64> = (0..4).flat_map(row).collect();
            predictors(2 + count, rows, vec![0.0; 4]).expect("rows")
        };
        assert_eq!(dependent(&zero(1), &Unregularized), Some(vec![2]));
        assert_eq!(dependent(&zero(1), &Simplex), Some(Vec::new()));
        assert_eq!(dependent(&zero(2), &Simplex), Some(vec![3]));
    }
}
