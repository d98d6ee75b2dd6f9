//! Matrices that are positive definite in spite of rounding.
//!
//! Let `M = D H D` be H scaled to a unit diagonal, and M^ what was computed of it, every entry
//! within eta. If Cholesky's algorithm factors `M^ - (lambda + c) I` with `c = d eta + d (d + 2) u`
//! to its end, then the smallest eigenvalue of M is at least lambda (Demmel; Rump, "Verification of
//! Positive Definiteness", 2006). No factor is believed: what is solved with it is corrected by
//! what lambda says of the residual. With `M x ~ s` and `rho = s - M x`,
//!
//! ```text
//! q^2 = s' M^-1 s = s' x + rho' M^-1 s <= s' x + (|rho| / sqrt(lambda)) q
//! ```

use super::sizes::UNIT;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::vector::{dot, norm_squared};

/// H with a proof that it is positive definite.
#[derive(Debug, Clone)]
pub(crate) struct Definite {
    d: usize,
    /// M^
    matrix: Vec<f64>,
    /// Of M^, or of something near it.
    factor: Cholesky,
    /// The square roots of the diagonal of H.
    pub(crate) roots: Vec<f64>,
    /// At most the smallest eigenvalue of M.
    lambda: f64,
    /// eta
    error: f64,
}

/// Inverse iterations that estimate the smallest eigenvalue.
const ITERATIONS: usize = 4;
/// Parts of the estimate that are tried as lambda.
const PARTS: [f64; 3] = [0.5, 0.1, 0.01];

impl Definite {
    /// Of a symmetric matrix, whose entries are within `relative_error` of `sqrt(H_kk H_ll)`; None
    /// if it is not certain that H is positive definite.
    pub(crate) fn new(mut matrix: Vec<f64>, d: usize, relative_error: f64) -> Option<Self> {
        let roots: Vec<f64> = matrix.iter().step_by(d + 1).map(|entry| entry.sqrt()).collect();
        if !roots.iter().all(|root| *root > 0.0 && root.is_finite()) {
            return None;
        }
        for (r, row) in matrix.chunks_exact_mut(d).enumerate() {
            for (entry, root) in row.iter_mut().zip(&roots) {
                *entry = *entry / roots[r] / root;
            }
        }
        // What is above the diagonal need not be there.
        for r in 0..d {
            for c in 0..r {
                matrix[c * d + r] = matrix[r * d + c];
            }
        }
        let error = relative_error + 4.0 * UNIT;
        let size = d as f64;
        let margin = size * error + size * (size + 2.0) * UNIT;
        let factor = Cholesky::new(&matrix, d).ok()?;
        let estimate = smallest(&factor);
        for part in PARTS {
            let lambda = part * estimate;
            // Not where it is no number.
            if lambda.is_nan() || lambda <= margin {
                return None;
            }
            let mut shifted = matrix.clone();
            shifted.iter_mut().step_by(d + 1).for_each(|entry| *entry -= lambda + margin);
            if Cholesky::new(&shifted, d).is_ok() {
                return Some(Definite { d, matrix, factor, roots, lambda, error });
            }
        }
        None
    }

    /// Of `root^2 H`.
    pub(crate) fn scaled(&self, root: f64) -> Self {
        let roots = self.roots.iter().map(|own| root * own).collect();
        Definite { roots, ..self.clone() }
    }

    /// At most the smallest eigenvalue of H scaled to a unit diagonal.
    pub(crate) fn lambda(&self) -> f64 {
        self.lambda
    }

    /// At least `sqrt(r' H^-1 r)` for every r within `error` of the one given, and how much of it
    /// is there for that error alone.
    pub(crate) fn norm(&self, r: &[f64], error: &[f64]) -> (f64, f64) {
        let Definite { d, matrix, factor, roots, lambda, .. } = self;
        let root = lambda.sqrt();
        let s: Vec<f64> = r.iter().zip(roots).map(|(r, root)| r / root).collect();
        let mut x = s.clone();
        factor.solve(&mut x);
        let residual: Vec<f64> =
            (0..*d).map(|l| s[l] - dot(&matrix[l * d..(l + 1) * d], &x)).collect();
        let (size_s, size_x) = (norm_squared(&s).sqrt(), norm_squared(&x).sqrt());
        // Every entry of M is at most 1, so that |M| is at most d.
        let rounding =
            (*d as f64) * (self.error + UNIT * (*d as f64 + 2.0)) * size_x + 2.0 * UNIT * size_s;
        let p = (norm_squared(&residual).sqrt() + rounding) / root;
        let product = dot(&s, &x).max(0.0) + UNIT * (*d as f64 + 2.0) * size_s * size_x;
        let q = 0.5 * (p + (p * p + 4.0 * product).sqrt());
        let scaled: f64 = error.iter().zip(roots).map(|(e, root)| (e / root).powi(2)).sum();
        let error = scaled.sqrt() / root;
        (q + error, error)
    }
}

/// About the smallest eigenvalue of `L L'`, from above as a rule.
fn smallest(factor: &Cholesky) -> f64 {
    let d = factor.d();
    let mut x: Vec<f64> = (0..d)
        .map(|l| if (l * 7 + 3) % 5 < 2 { -1.0 } else { 1.0 + l as f64 / d as f64 })
        .collect();
    let mut eigenvalue = 1.0;
    for _ in 0..ITERATIONS {
        let size = norm_squared(&x).sqrt();
        for x in &mut x {
            *x /= size;
        }
        factor.solve(&mut x);
        eigenvalue = 1.0 / norm_squared(&x).sqrt();
    }
    eigenvalue
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gram matrix of `columns` columns of random numbers, of which the last is the first and
    /// `apart` times another.
    fn nearly_singular(apart: f64) -> (Vec<f64>, usize) {
        let (n, d) = (30, 4);
        let mut draws = crate::draws::Stream::new(5, 0);
        let rows: Vec<[f64; 4]> = (0..n)
            .map(|_| {
                let x = [0; 4].map(|_| draws.unit() - 0.5);
                [x[0], 1e6 * x[1], 1e-6 * x[2], x[0] + apart * x[3]]
            })
            .collect();
        let mut matrix = vec![0.0; d * d];
        for row in &rows {
            for r in 0..d {
                for c in 0..d {
                    matrix[r * d + c] += row[r] * row[c] / f64::from(n);
                }
            }
        }
        (matrix, d)
    }

    #[test]
    fn what_may_be_singular_is_refused_whatever_the_units() {
        for apart in [1.0, 1e-2, 1e-4, 1e-5] {
            let (matrix, d) = nearly_singular(apart);
            assert!(Definite::new(matrix, d, 40.0 * UNIT).is_some(), "{apart}");
        }
        for apart in [1e-8, 1e-10, 1e-12, 0.0] {
            let (matrix, d) = nearly_singular(apart);
            assert!(Definite::new(matrix, d, 40.0 * UNIT).is_none(), "{apart}");
        }
        assert!(Definite::new(vec![0.0], 1, 0.0).is_none());
        assert!(Definite::new(vec![f64::NAN], 1, 0.0).is_none());
    }

    #[test]
    fn the_norm_is_never_too_small_and_hardly_too_large() {
        let (matrix, d) = nearly_singular(1e-3);
        let definite = Definite::new(matrix.clone(), d, 40.0 * UNIT).expect("definite");
        let x = [1.0, -2e-6, 3e6, -4.0];
        let product: Vec<f64> = matrix.chunks_exact(d).map(|row| dot(row, &x)).collect();
        let exact = dot(&product, &x).sqrt();
        let (norm, error) = definite.norm(&product, &vec![0.0; d]);
        assert!(norm >= exact * (1.0 - 1e-14) && norm <= exact * (1.0 + 1e-6), "{norm} {exact}");
        assert_eq!(error, 0.0);
        let moved: Vec<f64> = product.iter().map(|p| 1e-3 * p.abs()).collect();
        assert!(definite.norm(&product, &moved).0 > exact);
    }
}
