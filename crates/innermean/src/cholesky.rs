//! Small dense systems with a symmetric positive definite matrix: `M = L L'` with a lower triangular L.

use serde::{Deserialize, Serialize};

use crate::vector::{axpy, dot};

/// The matrix is not positive definite to working precision, or holds something that is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite: pivot {row} of {d} is not above zero")]
pub struct NotPositiveDefinite {
    /// The row at which it shows, from 0.
    pub row: usize,
    /// The number of rows.
    pub d: usize,
}

/// `M = L L'`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cholesky {
    d: usize,
    /// L row by row; what lies above the diagonal is zero.
    l: Vec<f64>,
}

impl Cholesky {
    /// Factors a d x d matrix given row by row, of which only the part on and below the diagonal is read: `d^3 / 3` products.
    ///
    /// # Errors
    /// If the matrix is not positive definite to working precision: a pivot must keep some of its digits.
    ///
    /// # Panics
    /// Unless there are `d * d` entries.
    pub fn new(matrix: &[f64], d: usize) -> Result<Self, NotPositiveDefinite> {
        assert_eq!(matrix.len(), d * d, "d rows of d entries");
        let mut l = vec![0.0; d * d];
        for r in 0..d {
            let (above, rest) = l.split_at_mut(r * d);
            let row = &mut rest[..d];
            for (c, row_c) in above.chunks_exact(d).enumerate() {
                // L_rc = (M_rc - sum_{k < c} L_rk L_ck) / L_cc
                row[c] = (matrix[r * d + c] - dot(&row[..c], &row_c[..c])) / row_c[c];
            }
            // L_rr^2 = M_rr - sum_{k < r} L_rk^2
            let diagonal = matrix[r * d + r];
            let pivot = diagonal - dot(&row[..r], &row[..r]);
            if !(pivot > ROUNDING * d as f64 * diagonal && pivot.is_finite()) {
                return Err(NotPositiveDefinite { row: r, d });
            }
            row[r] = pivot.sqrt();
        }
        Ok(Cholesky { d, l })
    }

    /// The number of rows.
    pub fn d(&self) -> usize {
        self.d
    }

    /// L row by row, zeros above the diagonal.
    pub fn factor(&self) -> &[f64] {
        &self.l
    }

    #[inline(always)]
    fn row(&self, r: usize) -> &[f64] {
        &self.l[r * self.d..(r + 1) * self.d]
    }

    /// `x <- L^-1 x`
    #[inline(always)]
    pub fn solve_lower(&self, x: &mut [f64]) {
        for r in 0..self.d {
            let row = self.row(r);
            x[r] = (x[r] - dot(&row[..r], &x[..r])) / row[r];
        }
    }

    /// `x <- L'^-1 x`
    #[inline(always)]
    pub fn solve_upper(&self, x: &mut [f64]) {
        for r in (0..self.d).rev() {
            let row = self.row(r);
            x[r] /= row[r];
            let x_r = x[r];
            axpy(-x_r, &row[..r], &mut x[..r]);
        }
    }

    /// `x <- M^-1 x`: `2 d^2` products and no memory.
    #[inline(always)]
    pub fn solve(&self, x: &mut [f64]) {
        self.solve_lower(x);
        self.solve_upper(x);
    }

    /// `x <- L x`
    #[inline(always)]
    pub fn apply_lower(&self, x: &mut [f64]) {
        for r in (0..self.d).rev() {
            x[r] = dot(&self.row(r)[..=r], &x[..=r]);
        }
    }

    /// `x <- L' x`
    #[inline(always)]
    pub fn apply_upper(&self, x: &mut [f64]) {
        for r in 0..self.d {
            let x_r = std::mem::replace(&mut x[r], 0.0);
            axpy(x_r, &self.row(r)[..=r], &mut x[..=r]);
        }
    }
}

/// A pivot that is smaller than the rounding of what it is the remainder of says nothing.
const ROUNDING: f64 = f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;

    /// `B B' + ridge I` for a random square B.
    fn matrix(d: usize, ridge: f64, seed: u64) -> Vec<f64> {
        let mut draws = Stream::new(seed, 0);
        let b: Vec<f64> = (0..d * d).map(|_| draws.unit() - 0.5).collect();
        let mut m = vec![0.0; d * d];
        for r in 0..d {
            for c in 0..d {
                m[r * d + c] = dot(&b[r * d..(r + 1) * d], &b[c * d..(c + 1) * d]);
            }
            m[r * d + r] += ridge;
        }
        m
    }

    #[test]
    fn factor_solve_and_apply_undo_each_other() {
        for d in [1, 2, 3, 8, 17, 40] {
            let m = matrix(d, 0.1, 3);
            let cholesky = Cholesky::new(&m, d).expect("positive definite");
            let x: Vec<f64> = (0..d).map(|l| (l as f64).cos()).collect();
            let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10);
            let product: Vec<f64> = m.chunks_exact(d).map(|row| dot(row, &x)).collect();
            let mut y = x.clone();
            cholesky.apply_upper(&mut y);
            cholesky.apply_lower(&mut y);
            assert!(close(&y, &product), "L L' x = M x, d = {d}");
            cholesky.solve(&mut y);
            assert!(close(&y, &x), "M^-1 M x = x, d = {d}");
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert_eq!(Cholesky::new(&[1.0, 2.0, 2.0, 1.0], 2).err(), Some(NotPositiveDefinite { row: 1, d: 2 }));
        assert_eq!(Cholesky::new(&[0.0], 1).err(), Some(NotPositiveDefinite { row: 0, d: 1 }));
        assert!(Cholesky::new(&[f64::NAN], 1).is_err());
        assert!(Cholesky::new(&[f64::INFINITY], 1).is_err());
        // Of rank one, whatever rounding makes of the second pivot.
        assert!(Cholesky::new(&[0.01, 0.03, 0.03, 0.09], 2).is_err());
        assert!(Cholesky::new(&[1e-300, 0.0, 0.0, 1e300], 2).is_ok());
    }
}
