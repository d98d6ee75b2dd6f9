//! Small dense linear algebra in f64.

/// `<x, y>`
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// `|x - y|^2`
pub(crate) fn distance_squared(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// A symmetric positive definite d x d matrix, row by row.
#[derive(Debug, Clone)]
pub(crate) struct Symmetric {
    d: usize,
    entries: Vec<f64>,
}

impl Symmetric {
    /// `c I`
    pub(crate) fn scaled_identity(d: usize, c: f64) -> Self {
        let mut entries = vec![0.0; d * d];
        for l in 0..d {
            entries[l * d + l] = c;
        }
        Symmetric { d, entries }
    }

    /// `self += c a a'`
    pub(crate) fn add_outer(&mut self, c: f64, a: &[f64]) {
        assert_eq!(a.len(), self.d);
        for (row, a_l) in self.entries.chunks_exact_mut(self.d).zip(a) {
            for (entry, a_m) in row.iter_mut().zip(a) {
                *entry += c * a_l * a_m;
            }
        }
    }

    /// `self[r, c] += value`; the caller sees to the other half.
    pub(crate) fn add_entry(&mut self, r: usize, c: usize, value: f64) {
        self.entries[r * self.d + c] += value;
    }

    /// The x with `self x = b`, by Cholesky's factor.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let d = self.d;
        assert_eq!(b.len(), d);
        // self = L L', L below the diagonal and on it.
        let mut l = vec![0.0; d * d];
        for r in 0..d {
            for c in 0..=r {
                let rest =
                    self.entries[r * d + c] - dot(&l[r * d..r * d + c], &l[c * d..c * d + c]);
                l[r * d + c] = if r == c {
                    assert!(rest > 0.0, "the matrix is positive definite");
                    rest.sqrt()
                } else {
                    rest / l[c * d + c]
                };
            }
        }
        let mut x = b.to_vec();
        for r in 0..d {
            x[r] = (x[r] - dot(&l[r * d..r * d + r], &x[..r])) / l[r * d + r];
        }
        for r in (0..d).rev() {
            let below: f64 = (r + 1..d).map(|c| l[c * d + r] * x[c]).sum();
            x[r] = (x[r] - below) / l[r * d + r];
        }
        x
    }
}
