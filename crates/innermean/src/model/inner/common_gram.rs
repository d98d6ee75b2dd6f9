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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;
    use crate::linalg::gram;

    #[test]
    fn what_is_proven_once_is_what_is_proven_of_every_multiple() {
        let (n, d, mut draws) = (40, 5, Stream::new(8, 0));
        let rows: Vec<f64> = (0..n * d).map(|k| (k % d) as f64 + draws.unit()).collect();
        let zeros = vec![0.0; d];
        let matrix = gram::of_centred_rows(d, &rows, &zeros, &|_| 1.0);
        let common = CommonGram::new(matrix.clone(), d);
        assert!(common.is_definite());
        let s: Vec<f64> = (0..d).map(|_| draws.unit() - 0.5).collect();
        for (factor, error) in [(1.0, 1e-15), (3e-7, 1e-15), (2e9, 1e-14), (0.25, 1e-13)] {
            let scaled: Vec<f64> = matrix.iter().map(|entry| factor * entry).collect();
            let alone = Definite::new(scaled, d, error).expect("definite").norm(&s, &zeros).0;
            let found = common.definite(factor, error).expect("definite").norm(&s, &zeros).0;
            assert!((found - alone).abs() <= 1e-9 * alone, "{factor}: {found} {alone}");
        }
        // Of a matrix that is not definite nothing is proven, whatever is asked first.
        let flat = CommonGram::new(vec![1.0; d * d], d);
        assert!(!flat.is_definite() && flat.definite(2.0, 1e-15).is_none());
    }
}
