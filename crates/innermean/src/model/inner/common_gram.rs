//! One Gram matrix for many problems on the same rows, and what was found out about it.

use std::sync::{Arc, OnceLock};

use crate::certificate::definite::Definite;
use crate::linalg::cholesky::Cholesky;

/// `K = sum_r a_r a_r'` of the rows of all mean Jacobians. Problems that differ by the weight of a
/// square have the same one, but for a factor: whether it is positive definite, and the proof of
/// that, need not be found again.
#[derive(Debug, Clone)]
pub struct CommonGram(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    d: usize,
    matrix: Vec<f64>,
    is_definite: OnceLock<bool>,
    /// The largest relative error of entries that a proof has allowed for, and the proof.
    proof: OnceLock<(f64, Option<Definite>)>,
}

impl CommonGram {
    /// Of a d x d matrix.
    pub(crate) fn new(matrix: Vec<f64>, d: usize) -> Self {
        let (is_definite, proof) = (OnceLock::new(), OnceLock::new());
        CommonGram(Arc::new(Kept { d, matrix, is_definite, proof }))
    }

    /// K
    pub(crate) fn matrix(&self) -> &[f64] {
        &self.0.matrix
    }

    /// Whether Cholesky's algorithm factors it to its end.
    pub(crate) fn is_definite(&self) -> bool {
        let Kept { d, matrix, is_definite, .. } = &*self.0;
        *is_definite.get_or_init(|| Cholesky::new(matrix, *d).is_ok())
    }

    /// `factor K` with a proof that it is positive definite, where entries of K are within
    /// `relative_error`: `M = D K D` does not depend on the factor, but for the rounding of the
    /// roots of the diagonal.
    pub(crate) fn definite(&self, factor: f64, relative_error: f64) -> Option<Definite> {
        let Kept { d, matrix, proof, .. } = &*self.0;
        let prove = |error: f64| Definite::new(matrix.clone(), *d, error);
        // With some room: errors of different problems differ by rounding.
        let room = 1.01 * relative_error + 4.0 * f64::EPSILON;
        let (allowed, found) = proof.get_or_init(|| (room, prove(room)));
        if relative_error + 4.0 * f64::EPSILON <= *allowed {
            return found.as_ref().map(|definite| definite.scaled(factor.sqrt()));
        }
        prove(room).map(|definite| definite.scaled(factor.sqrt()))
    }
}
