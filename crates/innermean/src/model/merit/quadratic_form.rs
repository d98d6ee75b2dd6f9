//! `u' C^-1 u / 2`

use std::sync::Arc;

use super::Merit;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::precise;
use crate::linalg::tridiagonal::Tridiagonal;
use crate::linalg::vector::{axpy, dot, norm_squared};
use crate::model::setting::InvalidSetting;

/// A quadratic form on `R^ell`, given by the matrix of its conjugate: the projected Bellman error.
///
/// ```text
/// phi(u)               = u' C^-1 u / 2
/// phi'(u)              = C^-1 u
/// phi*(w)              = w' C w / 2
/// prox_{alpha phi*}(w) = (I + alpha C)^-1 w
/// gamma                = smallest eigenvalue of C
/// B_w                  = inf
/// ```
///
/// C is positive definite. It may be an average `C = (1/T) sum_t c_t c_t'` of which the rows `c_t`
/// are kept, so that a stochastic method samples `c_t c_t' w` in `O(ell)`. The prox costs
/// `O(ell^2)` for any alpha, and no memory.
#[derive(Debug, Clone)]
pub struct QuadraticForm {
    ell: usize,
    /// C
    matrix: Vec<f64>,
    /// `C = L L'`
    factor: Cholesky,
    /// `C = Q T Q'`
    tridiagonal: Tridiagonal,
    /// The smallest and the largest eigenvalue of C
    eigenvalues: (f64, f64),
    /// `c_t`, one after the other; none if only C is known
    rows: Option<Arc<[f64]>>,
    /// Terms that were added up for an entry of C, or as many as its roundings; 1 if C is what was
    /// meant, to the last digit
    terms: usize,
    /// The same as `rows` where they are not to be sampled: of what C is rounded
    exact: Option<Arc<[f64]>>,
}

impl QuadraticForm {
    /// `u' C^-1 u / 2` for a symmetric C given row by row.
    ///
    /// # Errors
    /// Unless the entries make a square, and C is symmetric and positive definite.
    pub fn new(matrix: Vec<f64>) -> Result<Self, InvalidSetting> {
        let ell = matrix.len().isqrt();
        if ell == 0 || ell * ell != matrix.len() {
            let entries = format!("{} numbers", matrix.len());
            return Err(InvalidSetting::new(
                "matrix",
                entries,
                "as many rows as columns, at least one",
            ));
        }
        let largest = matrix.iter().fold(0.0_f64, |most, c| most.max(c.abs()));
        for r in 0..ell {
            for c in 0..r {
                let (below, above) = (matrix[r * ell + c], matrix[c * ell + r]);
                if (below - above).abs() > 1e-12 * largest {
                    let entries = format!("{below:?} at {r},{c} and {above:?} at {c},{r}");
                    return Err(InvalidSetting::new("matrix", entries, "a symmetric matrix"));
                }
            }
        }
        let factor = Cholesky::new(&matrix, ell).map_err(|error| {
            InvalidSetting::new("matrix", error.to_string(), "a positive definite matrix")
        })?;
        let tridiagonal = Tridiagonal::new(&matrix, ell);
        let (least, most) = tridiagonal.extreme_eigenvalues();
        // An eigenvalue below the rounding of the largest is only known to be above zero.
        let eigenvalues = (least.max(f64::EPSILON * most), most);
        Ok(QuadraticForm {
            ell,
            matrix,
            factor,
            tridiagonal,
            eigenvalues,
            rows: None,
            terms: 1,
            exact: None,
        })
    }

    /// `C = (1/T) sum_t c_t c_t'` for rows `c_t` of length `ell`.
    ///
    /// # Errors
    /// Unless there is at least one whole row and the rows span `R^ell`.
    pub fn from_rows(ell: usize, rows: impl Into<Arc<[f64]>>) -> Result<Self, InvalidSetting> {
        let rows = rows.into();
        if ell == 0 || rows.is_empty() || !rows.len().is_multiple_of(ell) {
            let shape = format!("{} numbers in rows of {ell}", rows.len());
            return Err(InvalidSetting::new(
                "rows",
                shape,
                "at least one whole row of at least one number",
            ));
        }
        let mut matrix = vec![0.0; ell * ell];
        let scale = 1.0 / (rows.len() / ell) as f64;
        for c_t in rows.chunks_exact(ell) {
            // Unit vectors and the like have many zeros.
            for (row, c) in matrix.chunks_exact_mut(ell).zip(c_t).filter(|(_, c)| **c != 0.0) {
                axpy(scale * c, c_t, row);
            }
        }
        // c_r c_s and c_s c_r may be rounded differently.
        for r in 0..ell {
            for c in 0..r {
                matrix[c * ell + r] = matrix[r * ell + c];
            }
        }
        let form = QuadraticForm::new(matrix).map_err(|error| {
            InvalidSetting::new(
                "rows",
                error.value(),
                "rows that span the space: more of them, or fewer columns",
            )
        })?;
        let terms = rows.len() / ell;
        Ok(QuadraticForm { rows: Some(rows), terms, ..form })
    }

    /// The same for a C that is `(1/T) sum_t c_t c_t'`, rounded, of which nothing is sampled: what
    /// is proven holds for the exact one.
    #[must_use]
    pub(crate) fn rounded_of(self, rows: &[f64]) -> Self {
        let terms = (rows.len() / self.ell).max(1);
        let few = precise::is_few(terms, self.ell);
        QuadraticForm { terms, exact: few.then(|| rows.into()), ..self }
    }

    /// The same for rows that stand for others up to this many roundings of an entry of C.
    #[must_use]
    pub(crate) fn with_roundings(self, roundings: u32) -> Self {
        QuadraticForm { terms: self.terms + roundings as usize, ..self }
    }

    /// Terms that were added up for an entry of C, or the roundings of as many.
    pub(crate) fn terms(&self) -> usize {
        self.terms
    }

    /// `c_t`, one after the other, if C is their average and they are at hand.
    pub(crate) fn addends(&self) -> Option<&[f64]> {
        self.rows.as_deref().or(self.exact.as_deref())
    }

    /// Whether C is known without the rounding of its entries.
    pub(crate) fn is_exact(&self) -> bool {
        self.addends().is_some() || self.terms == 1
    }

    /// The dimension.
    #[inline(always)]
    pub fn ell(&self) -> usize {
        self.ell
    }

    /// C, row by row.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// `C = L L'`
    pub fn factor(&self) -> &Cholesky {
        &self.factor
    }

    /// `c_t`, one after the other, if C is known as an average.
    pub(crate) fn rows(&self) -> Option<&[f64]> {
        self.rows.as_deref()
    }

    /// T, if C is known as an average.
    pub fn samples(&self) -> Option<usize> {
        self.rows.as_ref().map(|rows| rows.len() / self.ell)
    }

    /// The smallest and the largest eigenvalue of C.
    pub fn eigenvalues(&self) -> (f64, f64) {
        self.eigenvalues
    }

    /// The largest eigenvalue among the `c_t c_t'`, `max_t |c_t|^2`; that of C, if it is not known
    /// as an average.
    pub fn largest_sample(&self) -> f64 {
        let most =
            |rows: &Arc<[f64]>| rows.chunks_exact(self.ell).map(norm_squared).fold(0.0, f64::max);
        self.rows.as_ref().map_or(self.eigenvalues.1, most)
    }

    /// `out += c C w`
    #[inline(always)]
    pub fn add_product(&self, w: &[f64], c: f64, out: &mut [f64]) {
        for (row, w) in self.matrix.chunks_exact(self.ell).zip(w) {
            axpy(c * w, row, out);
        }
    }

    /// `out += c c_t c_t' w`, an unbiased sample of `c C w`; `c C w` itself if C is not known as an
    /// average.
    #[inline(always)]
    pub fn add_sample_product(&self, t: usize, w: &[f64], c: f64, out: &mut [f64]) {
        match &self.rows {
            Some(rows) => {
                let c_t = &rows[t * self.ell..(t + 1) * self.ell];
                axpy(c * dot(c_t, w), c_t, out);
            }
            None => self.add_product(w, c, out),
        }
    }
}

/// Dimensions up to which a value takes no memory.
const SMALL: usize = 64;

impl Merit for QuadraticForm {
    /// `|L^-1 u|^2 / 2`
    fn value(&self, _: usize, u: &[f64]) -> f64 {
        // On the stack where there is room: it is asked for in steps.
        let (mut small, mut large) = ([0.0; SMALL], Vec::new());
        let x = if u.len() <= SMALL {
            &mut small[..u.len()]
        } else {
            large.resize(u.len(), 0.0);
            &mut large[..]
        };
        x.copy_from_slice(u);
        self.factor.solve_lower(x);
        0.5 * norm_squared(x)
    }

    fn gradient(&self, _: usize, u: &[f64], out: &mut [f64]) {
        out.copy_from_slice(u);
        self.factor.solve(out);
    }

    fn conjugate(&self, _: usize, w: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (row, w_r) in self.matrix.chunks_exact(self.ell).zip(w) {
            sum += w_r * dot(row, w);
        }
        0.5 * sum
    }

    fn prox_conjugate(&self, _: usize, alpha: f64, w: &mut [f64]) {
        self.tridiagonal.solve_shifted(alpha, w);
    }

    fn gamma(&self) -> f64 {
        self.eigenvalues.0
    }

    fn lipschitz(&self, _: usize) -> f64 {
        f64::INFINITY
    }

    fn quadratic_form(&self) -> Option<&QuadraticForm> {
        Some(self)
    }
}
