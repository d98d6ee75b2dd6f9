//! A small dense system with any matrix, solved by Gauss's elimination with row pivots, of rows and
//! columns that are brought to one size: by powers of 2, which round nothing.

use crate::linalg::vector::axpy;

/// The solution of `M x = b` for a d x d matrix given row by row; none if M is singular to working
/// precision. Takes `d^3 / 3` products.
///
/// # Panics
/// Unless M has as many rows and columns as b has entries.
pub(crate) fn solve(matrix: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let d = b.len();
    assert_eq!(matrix.len(), d * d, "d rows of d entries");
    let (mut m, mut x) = (matrix.to_vec(), b.to_vec());
    let columns = scaled(&mut m, &mut x);
    let largest = m.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
    for k in 0..d {
        let size = |r: &usize| m[r * d + k].abs();
        let p = (k..d).max_by(|r, s| size(r).total_cmp(&size(s)))?;
        let pivot = m[p * d + k];
        if !(pivot.abs() > f64::EPSILON * largest && pivot.is_finite()) {
            return None;
        }
        x.swap(k, p);
        for c in k..d {
            m.swap(k * d + c, p * d + c);
        }
        let (above, below) = m.split_at_mut((k + 1) * d);
        let row = &above[k * d..];
        let x_k = x[k];
        for (row_r, x_r) in below.chunks_exact_mut(d).zip(&mut x[k + 1..]) {
            let factor = row_r[k] / pivot;
            axpy(-factor, &row[k..], &mut row_r[k..]);
            *x_r -= factor * x_k;
        }
    }
    for k in (0..d).rev() {
        x[k] /= m[k * d + k];
        let x_k = x[k];
        for r in 0..k {
            x[r] -= m[r * d + k] * x_k;
        }
    }
    x.iter_mut().zip(&columns).for_each(|(x, scale)| *x *= scale);
    Some(x)
}

/// Scales rows, with the right side, and then columns, so that the largest entry of each is between
/// 1 and 2; what the columns were multiplied by.
fn scaled(m: &mut [f64], b: &mut [f64]) -> Vec<f64> {
    let d = b.len();
    let scale =
        |largest: f64| if largest.is_normal() { (-largest.log2().floor()).exp2() } else { 1.0 };
    let mut columns = vec![0.0_f64; d];
    for (row, b) in m.chunks_exact_mut(d).zip(b) {
        let by = scale(row.iter().fold(0.0, |most, entry| most.max(entry.abs())));
        *b *= by;
        for (entry, most) in row.iter_mut().zip(&mut columns) {
            *entry *= by;
            *most = most.max(entry.abs());
        }
    }
    for most in &mut columns {
        *most = scale(*most);
    }
    for row in m.chunks_exact_mut(d) {
        row.iter_mut().zip(&columns).for_each(|(entry, by)| *entry *= by);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;
    use crate::linalg::vector::dot;

    #[test]
    fn a_system_is_solved_and_a_singular_one_refused() {
        for d in [1, 2, 5, 30] {
            let mut draws = Stream::new(1, d as u64);
            let m: Vec<f64> = (0..d * d).map(|_| draws.unit() - 0.5).collect();
            let x: Vec<f64> = (0..d).map(|_| draws.unit()).collect();
            let b: Vec<f64> = m.chunks_exact(d).map(|row| dot(row, &x)).collect();
            let found = solve(&m, &b).expect("regular");
            assert!(found.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-10), "d = {d}");
        }
        // Units of 1e-8 and 1e8, as those of features, make nothing singular.
        let units = [1e-8, 1.0, 1e8];
        let m = [[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.5, -1.0, 1.0]];
        let m: Vec<f64> = (0..9).map(|k| m[k / 3][k % 3] * units[k / 3] * units[k % 3]).collect();
        let b: Vec<f64> = [4.0, 10.0, 1.5].iter().zip(units).map(|(b, unit)| b * unit).collect();
        let found = solve(&m, &b).expect("regular");
        for ((x, unit), known) in found.iter().zip(units).zip([1.0, 2.0, 3.0]) {
            assert!((x * unit - known).abs() < 1e-12, "{found:?}");
        }
        // A zero first pivot is no obstacle.
        assert_eq!(solve(&[0.0, 2.0, 1.0, 0.0], &[4.0, 3.0]), Some(vec![3.0, 2.0]));
        assert_eq!(solve(&[1.0, 2.0, 2.0, 4.0], &[1.0, 1.0]), None);
        assert_eq!(solve(&[f64::NAN], &[1.0]), None);
    }
}
