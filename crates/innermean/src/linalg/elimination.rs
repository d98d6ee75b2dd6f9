//! A small dense system with any matrix, solved by Gauss's elimination with row pivots.

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
    Some(x)
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
        // A zero first pivot is no obstacle.
        assert_eq!(solve(&[0.0, 2.0, 1.0, 0.0], &[4.0, 3.0]), Some(vec![3.0, 2.0]));
        assert_eq!(solve(&[1.0, 2.0, 2.0, 4.0], &[1.0, 1.0]), None);
        assert_eq!(solve(&[f64::NAN], &[1.0]), None);
    }
}
