//! The linear systems of Newton steps on stored Jacobians:
//!
//! ```text
//! H = A' C A + D,   A: the m = n_X ell rows,   C = phi''/n_X,   D = g'' + rho
//! ```
//!
//! d x d by Cholesky; or, where m is smaller, by the factor of `I + sqrt(C) A D^-1 A' sqrt(C)`, m x
//! m (Woodbury), which conjugate gradients make exact where D is nearly 0 somewhere, as along an
//! intercept; or by conjugate gradients with the diagonal alone where both are large.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::linalg::cholesky::Cholesky;
use crate::linalg::gram;
use crate::linalg::vector::{axpy, dot, norm_squared};
use crate::model::collapse::Collapsed;
use crate::model::inner::{Fused, Inner};
use crate::oracle::{Curvature, Oracle, Patience};

use super::snapshot::Snapshot;

/// The largest matrix that is factored.
const MOST_IN_FACTOR: usize = 2000;
/// Up to this many coordinates, d x d whatever m is.
const FEW_COORDINATES: usize = 64;
/// The first ridge, of the diagonal, for a matrix without full rank.
const RIDGE: f64 = 1e-13;
/// Of the mean of the diagonal of `A' C A`, the least D that Woodbury's formula divides by.
const LEAST_WOODBURY: f64 = 1e-8;
/// What is left of the residual, and after how many products at most.
const LEFT_OF_RESIDUAL: f64 = 1e-10;
const MOST_PRODUCTS: usize = 500;

/// `A' C A`, with what has been made of it and one D
pub(super) struct System<'s> {
    rows: Cow<'s, Collapsed>,
    /// C, a number for each row
    weights: Vec<f64>,
    matrix: OnceLock<Vec<f64>>,
    factor: OnceLock<Cholesky>,
    woodbury: OnceLock<Woodbury>,
}

impl<'s> System<'s> {
    /// At a snapshot, with these second derivatives of phi.
    pub(super) fn new(oracle: &Oracle<'_>, here: &'s Snapshot, hessians: &[f64]) -> Self {
        let share = oracle.one_over_n_x();
        if Curvature::of(oracle.problem()) != Curvature::Tied {
            // Rounding may leave less than nothing.
            let weights = hessians.iter().map(|c| share * c.max(0.0)).collect();
            return System::of(Cow::Borrowed(&here.rows), weights);
        }
        // phi_i'' = L L': the rows of L' A_i have no weights.
        let (d, ell) = (oracle.d(), oracle.ell());
        let mut rows = vec![0.0; here.f_bar.len() * d];
        for (i, out) in rows.chunks_exact_mut(ell * d).enumerate() {
            let mut factor = hessians[i * ell * ell..(i + 1) * ell * ell].to_vec();
            factor_in_place(&mut factor, ell);
            for (c, out) in out.chunks_exact_mut(d).enumerate() {
                for r in c..ell {
                    here.rows.row(i, r).add_to(factor[r * ell + c], out);
                }
            }
        }
        let m = here.f_bar.len();
        let rows = Collapsed::from_rows(d, rows, vec![0.0; m]);
        System::of(Cow::Owned(rows), vec![share; m])
    }

    fn of(rows: Cow<'s, Collapsed>, weights: Vec<f64>) -> Self {
        let (matrix, factor, woodbury) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        System { rows, weights, matrix, factor, woodbury }
    }

    /// `A' C A + rho`, with a little more where it lacks rank.
    pub(super) fn matrix(&self, rho: f64) -> &[f64] {
        self.matrix.get_or_init(|| {
            let d = self.rows.d();
            let mut matrix = gram::weighted(&self.rows, &|r| self.weights[r]);
            matrix.iter_mut().step_by(d + 1).for_each(|entry| *entry += rho);
            gram::add_ridge(RIDGE, 1.0, d, &mut matrix);
            matrix
        })
    }

    /// `x <- (A' C A + D)^-1 x`, for the same D each time
    pub(super) fn solve(&self, diagonal: &[f64], patience: &Patience<'_>, x: &mut [f64]) {
        let (m, d) = (self.weights.len(), diagonal.len());
        if d <= FEW_COORDINATES || d <= m && d <= MOST_IN_FACTOR {
            self.factor.get_or_init(|| self.factored(diagonal)).solve(x);
        } else if m <= MOST_IN_FACTOR {
            let woodbury = self.woodbury.get_or_init(|| Woodbury::new(self, diagonal));
            self.iterate(diagonal, |r| woodbury.solve(self, r), patience, x);
        } else {
            let mut whole = gram::weighted_diagonal(&self.rows, &|r| self.weights[r]);
            axpy(1.0, diagonal, &mut whole);
            let least = LEAST_WOODBURY * whole.iter().sum::<f64>() / d as f64;
            let divide = |r: &[f64]| -> Vec<f64> {
                r.iter().zip(&whole).map(|(r, h)| r / h.max(least)).collect()
            };
            self.iterate(diagonal, divide, patience, x);
        }
    }

    fn factored(&self, diagonal: &[f64]) -> Cholesky {
        let d = diagonal.len();
        let mut matrix = gram::weighted(&self.rows, &|r| self.weights[r]);
        matrix.iter_mut().step_by(d + 1).zip(diagonal).for_each(|(entry, more)| *entry += more);
        let mut ridge = RIDGE;
        loop {
            match Cholesky::new(&matrix, d) {
                Ok(factor) => return factor,
                // What is no number will not become one.
                Err(_) if ridge > 1e6 => matrix = identity(d),
                Err(_) => gram::add_ridge(ridge, 1.0, d, &mut matrix),
            }
            ridge *= 100.0;
        }
    }

    /// `(A' C A + D) p`
    fn product(&self, diagonal: &[f64], p: &[f64]) -> Vec<f64> {
        let m = self.weights.len();
        let mut along = vec![0.0; m];
        self.rows.f().means(p, &mut along);
        // The sum is a mean over terms.
        let terms = self.rows.n_x() as f64;
        along.iter_mut().zip(&self.weights).for_each(|(along, c)| *along *= terms * c);
        let mut out: Vec<f64> = p.iter().zip(diagonal).map(|(p, d)| p * d).collect();
        self.rows.f().add_weighted_jac_t(p, &along, &mut out);
        out
    }

    /// Conjugate gradients from 0.
    fn iterate(
        &self,
        diagonal: &[f64],
        precondition: impl Fn(&[f64]) -> Vec<f64>,
        patience: &Patience<'_>,
        x: &mut [f64],
    ) {
        let mut residual = x.to_vec();
        x.fill(0.0);
        let enough = LEFT_OF_RESIDUAL * LEFT_OF_RESIDUAL * norm_squared(&residual);
        let mut z = precondition(&residual);
        let (mut p, mut rz) = (z.clone(), dot(&residual, &z));
        for _ in 0..MOST_PRODUCTS {
            let product = self.product(diagonal, &p);
            let bend = dot(&p, &product);
            if bend.is_nan() || bend <= 0.0 || rz <= 0.0 || patience.ends() {
                break;
            }
            axpy(rz / bend, &p, x);
            axpy(-rz / bend, &product, &mut residual);
            if norm_squared(&residual) <= enough {
                break;
            }
            z = precondition(&residual);
            let next = dot(&residual, &z);
            for (p, z) in p.iter_mut().zip(&z) {
                *p = z + next / rz * *p;
            }
            rz = next;
        }
    }
}

/// `(A' C A + D)^-1` with a D that is nowhere nearly 0.
struct Woodbury {
    inverse: Vec<f64>,
    roots: Vec<f64>,
    factor: Cholesky,
}

impl Woodbury {
    fn new(system: &System<'_>, diagonal: &[f64]) -> Self {
        let (m, d) = (system.weights.len(), diagonal.len());
        let bends = gram::weighted_diagonal(&system.rows, &|r| system.weights[r]);
        let least = LEAST_WOODBURY * bends.iter().sum::<f64>() / d as f64;
        let least = if least > 0.0 { least } else { 1.0 };
        let inverse: Vec<f64> = diagonal.iter().map(|d| 1.0 / d.max(least)).collect();
        let roots: Vec<f64> = system.weights.iter().map(|c| c.sqrt()).collect();
        // A' as d rows of length m, with the roots of C.
        let mut columns = vec![0.0; d * m];
        let ell = system.rows.ell();
        let mut row = vec![0.0; d];
        for (r, root) in roots.iter().enumerate() {
            row.fill(0.0);
            system.rows.row(r / ell, r % ell).add_to(*root, &mut row);
            row.iter().enumerate().for_each(|(l, a)| columns[l * m + r] = *a);
        }
        let mut matrix = gram::of_rows(m, &columns, &|l| inverse[l]);
        matrix.iter_mut().step_by(m + 1).for_each(|entry| *entry += 1.0);
        let factor = Cholesky::new(&matrix, m)
            .or_else(|_| Cholesky::new(&identity(m), m))
            .expect("1 is positive");
        Woodbury { inverse, roots, factor }
    }

    fn solve(&self, system: &System<'_>, r: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = r.iter().zip(&self.inverse).map(|(r, i)| r * i).collect();
        let mut along = vec![0.0; self.roots.len()];
        system.rows.f().means(&scaled, &mut along);
        along.iter_mut().zip(&self.roots).for_each(|(along, root)| *along *= root);
        self.factor.solve(&mut along);
        let terms = system.rows.n_x() as f64;
        along.iter_mut().zip(&self.roots).for_each(|(along, root)| *along *= terms * root);
        let mut back = vec![0.0; r.len()];
        system.rows.f().add_weighted_jac_t(r, &along, &mut back);
        scaled.iter().zip(&back).zip(&self.inverse).map(|((s, b), i)| s - b * i).collect()
    }
}

fn identity(d: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; d * d];
    matrix.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
    matrix
}

/// `M = L L'` of a positive semidefinite matrix, in place: a pivot that is rounding is 0, with its
/// column.
fn factor_in_place(matrix: &mut [f64], n: usize) {
    let most = (0..n).map(|c| matrix[c * n + c]).fold(0.0, f64::max);
    for c in 0..n {
        let pivot = matrix[c * n + c] - (0..c).map(|k| matrix[c * n + k].powi(2)).sum::<f64>();
        let root = if pivot > 1e-14 * most { pivot.sqrt() } else { 0.0 };
        matrix[c * n + c] = root;
        for r in c + 1..n {
            let sum: f64 = (0..c).map(|k| matrix[r * n + k] * matrix[c * n + k]).sum();
            let entry = matrix[r * n + c] - sum;
            matrix[r * n + c] = if root > 0.0 { entry / root } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;

    /// All three ways solve the same equations.
    #[test]
    fn every_way_solves_the_equations() {
        for (m, d, free) in [(30, 5, 0), (6, 90, 0), (6, 90, 1), (40, 40, 1)] {
            let mut draws = Stream::new(m as u64, d as u64);
            let mut number = || draws.unit() - 0.5;
            let rows: Vec<f64> = (0..m * d).map(|_| number()).collect();
            let b: Vec<f64> = (0..d).map(|_| number()).collect();
            let weights: Vec<f64> = (0..m).map(|r| (r % 4) as f64).collect();
            let rows = Collapsed::from_rows(d, rows, vec![0.0; m]);
            let system = System::of(Cow::Borrowed(&rows), weights);
            let mut diagonal = vec![0.1; d];
            diagonal[d - free..].fill(0.0);
            let patience = Patience::default();
            let check = |way: &str, x: &[f64]| {
                let back = system.product(&diagonal, x);
                for (back, b) in back.iter().zip(&b) {
                    assert!((back - b).abs() < 1e-8, "{way}, {m} x {d}: {back}, not {b}");
                }
            };
            let mut x = b.clone();
            system.solve(&diagonal, &patience, &mut x);
            check("chosen", &x);
            x.copy_from_slice(&b);
            system.factored(&diagonal).solve(&mut x);
            check("Cholesky", &x);
            x.copy_from_slice(&b);
            let woodbury = Woodbury::new(&system, &diagonal);
            system.iterate(&diagonal, |r| woodbury.solve(&system, r), &patience, &mut x);
            check("Woodbury", &x);
            x.copy_from_slice(&b);
            system.iterate(&diagonal, <[f64]>::to_vec, &patience, &mut x);
            check("conjugate gradients", &x);
        }
    }

    #[test]
    fn a_semidefinite_matrix_has_a_factor() {
        // 1 1' has rank 1.
        let mut matrix = [1.0; 9];
        factor_in_place(&mut matrix, 3);
        assert_eq!([matrix[0], matrix[3], matrix[6], matrix[4], matrix[8]], [1., 1., 1., 0., 0.]);
    }
}
