//! Dense systems with a symmetric positive definite matrix: `M = L L'` with a lower triangular L.

use serde::{Deserialize, Serialize};

use crate::linalg::vector::{axpy, dot};

mod blocked;

/// The matrix is not positive definite to working precision, or holds something that is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite: pivot {row} of {d} is not above zero")]
#[non_exhaustive]
pub struct NotPositiveDefinite {
    /// The row at which it shows, from 0.
    pub row: usize,
    /// The number of rows.
    pub d: usize,
}

/// `M = L L'`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cholesky {
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    d: usize,
    /// L row by row; what lies above the diagonal is zero.
    l: Vec<f64>,
}

impl Cholesky {
    /// Whether it is whole, and that of a d x d matrix.
    pub(crate) fn is_of(&self, d: usize) -> bool {
        self.d == d && self.l.len() == d * d
    }

    /// Factors a d x d matrix given row by row, of which only the part on and below the diagonal
    /// counts: `d^3 / 6` products, in parallel for large d, with the same bits on any number of
    /// threads.
    ///
    /// # Errors
    /// If the matrix is not positive definite to working precision: a pivot must keep some of its
    /// digits.
    ///
    /// # Panics
    /// Unless there are `d * d` entries.
    pub fn new(matrix: &[f64], d: usize) -> Result<Self, NotPositiveDefinite> {
        Self::unless(&|| false, matrix, d)
    }

    /// The same, given up where `ends` says so, as if the pivot that comes next were not above
    /// zero. It is asked once for every block of columns.
    pub(crate) fn unless(
        ends: &(dyn Fn() -> bool + Sync),
        matrix: &[f64],
        d: usize,
    ) -> Result<Self, NotPositiveDefinite> {
        assert_eq!(matrix.len(), d * d, "d rows of d entries");
        let mut l = matrix.to_vec();
        blocked::factor(&mut l, d, ends)?;
        Ok(Cholesky { d, l })
    }

    /// That of `x I` for x above zero.
    pub(crate) fn multiple_of_identity(x: f64, d: usize) -> Self {
        let mut l = vec![0.0; d * d];
        l.iter_mut().step_by(d + 1).for_each(|entry| *entry = x.sqrt());
        Cholesky { d, l }
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
        // On both sides of a tile, of a block and of a strip.
        for d in [1, 2, 3, 8, 17, 40, 63, 64, 65, 70, 128, 129, 171, 300] {
            let m = matrix(d, 0.1 * d as f64, 3);
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
            let above = |k: &usize| k % d > k / d;
            assert!(
                (0..d * d).filter(above).all(|k| cholesky.factor()[k] == 0.0),
                "zeros above, d = {d}"
            );
        }
    }

    #[test]
    fn factors_do_not_depend_on_the_number_of_threads_nor_on_what_lies_above_the_diagonal() {
        let d = 300;
        let mut m = matrix(d, 1.0, 5);
        let on = |threads: usize, m: &[f64]| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a thread pool");
            pool.install(|| Cholesky::new(m, d)).expect("positive definite").l
        };
        let alone = on(1, &m);
        assert_eq!(alone, on(3, &m));
        for r in 0..d {
            m[r * d + r + 1..(r + 1) * d].fill(f64::NAN);
        }
        assert_eq!(alone, on(2, &m));
        // A pivot that fails in the last block names its row.
        m[(d - 2) * d + d - 2] = -1.0;
        assert_eq!(Cholesky::new(&m, d).err(), Some(NotPositiveDefinite { row: d - 2, d }));
    }

    /// It is asked before each block of columns, and no block comes after.
    #[test]
    fn a_factor_is_given_up_between_blocks() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let d = 300;
        let m = matrix(d, 1.0, 5);
        let asked = AtomicUsize::new(0);
        let count = |most: usize| {
            asked.store(0, Ordering::Relaxed);
            let ends = || asked.fetch_add(1, Ordering::Relaxed) + 1 == most;
            Cholesky::unless(&ends, &m, d).map(|factor| factor.l)
        };
        assert_eq!(count(1).err(), Some(NotPositiveDefinite { row: 0, d }));
        let third = count(3).expect_err("given up");
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        assert!(third.row > 0 && third.row < d, "{third}");
        assert_eq!(count(usize::MAX), Cholesky::new(&m, d).map(|factor| factor.l));
        let identity = Cholesky::multiple_of_identity(4.0, 3);
        let plain = [4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0];
        assert_eq!(Some(identity.l), Cholesky::new(&plain, 3).ok().map(|factor| factor.l));
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert_eq!(
            Cholesky::new(&[1.0, 2.0, 2.0, 1.0], 2).err(),
            Some(NotPositiveDefinite { row: 1, d: 2 })
        );
        assert_eq!(Cholesky::new(&[0.0], 1).err(), Some(NotPositiveDefinite { row: 0, d: 1 }));
        assert!(Cholesky::new(&[f64::NAN], 1).is_err());
        assert!(Cholesky::new(&[f64::INFINITY], 1).is_err());
        // Of rank one, whatever rounding makes of the second pivot.
        assert!(Cholesky::new(&[0.01, 0.03, 0.03, 0.09], 2).is_err());
        assert!(Cholesky::new(&[1e-300, 0.0, 0.0, 1e300], 2).is_ok());
    }
}
