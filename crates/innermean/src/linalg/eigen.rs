//! Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi's rotations: slow, and
//! precise to the last digits whatever the matrix.

use crate::linalg::elementary::Elementary;

/// Sweeps over all pairs; a handful is usual.
const MOST_SWEEPS: usize = 40;

/// `A = Q diag(values) Q'`
#[derive(Debug, Clone)]
pub(crate) struct Eigen {
    /// In no order.
    pub(crate) values: Vec<f64>,
    /// `Q'`, row by row: the eigenvector of the first value, of the second, ...
    pub(crate) vectors: Vec<f64>,
}

impl Eigen {
    /// Of a symmetric matrix of d rows.
    pub(crate) fn new(mut a: Vec<f64>, d: usize) -> Self {
        let mut q = vec![0.0; d * d];
        q.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
        for _ in 0..MOST_SWEEPS {
            let mut rotated = false;
            for k in 1..d {
                for l in 0..k {
                    rotated |= rotate(&mut a, &mut q, d, k, l);
                }
            }
            if !rotated {
                break;
            }
        }
        Eigen { values: a.into_iter().step_by(d + 1).collect(), vectors: q }
    }
}

/// Makes `a_kl` zero by a rotation in the plane of k and l; false if it was, but for rounding.
fn rotate(a: &mut [f64], q: &mut [f64], d: usize, k: usize, l: usize) -> bool {
    let (off, first, second) = (a[k * d + l], a[k * d + k], a[l * d + l]);
    if off.abs() <= f64::EPSILON * (first * second).abs().sqrt() || !off.is_finite() {
        return false;
    }
    // tan of the smaller angle of `cot(2 angle) = (a_ll - a_kk) / 2 a_kl`
    let cot = (second - first) / (2.0 * off);
    let tan = if cot.is_finite() { cot.signum() / (cot.abs() + cot.hypotenuse(1.0)) } else { 0.0 };
    if tan == 0.0 {
        return false;
    }
    let cos = 1.0 / tan.hypotenuse(1.0);
    let sin = tan * cos;
    let turn = |x: f64, y: f64| (cos * x - sin * y, sin * x + cos * y);
    for m in 0..d {
        (a[k * d + m], a[l * d + m]) = turn(a[k * d + m], a[l * d + m]);
        (q[k * d + m], q[l * d + m]) = turn(q[k * d + m], q[l * d + m]);
    }
    for m in 0..d {
        (a[m * d + k], a[m * d + l]) = turn(a[m * d + k], a[m * d + l]);
    }
    (a[k * d + l], a[l * d + k]) = (0.0, 0.0);
    true
}

#[cfg(test)]
mod tests {
    use super::Eigen;

    #[test]
    fn a_matrix_with_known_eigenvalues() {
        // 2 on the diagonal and -1 beside it: 2 - 2 cos(k pi / (d + 1)).
        let d = 6;
        let entry = |k: usize, l: usize| match k.abs_diff(l) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let a: Vec<f64> = (0..d * d).map(|k| entry(k / d, k % d)).collect();
        let Eigen { mut values, vectors } = Eigen::new(a.clone(), d);
        for (k, q) in vectors.chunks_exact(d).enumerate() {
            for (row, own) in a.chunks_exact(d).zip(q) {
                let product: f64 = row.iter().zip(q).map(|(a, q)| a * q).sum();
                assert!(
                    (product - values[k] * own).abs() < 1e-14,
                    "{product} is not {} {own}",
                    values[k]
                );
            }
        }
        values.sort_by(f64::total_cmp);
        for (k, value) in values.iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (d + 1) as f64;
            assert!((value - (2.0 - 2.0 * angle.cos())).abs() < 1e-14, "{value}");
        }
    }

    #[test]
    fn an_indefinite_matrix_of_uneven_size() {
        // Eigenvalues 1e10 + 1e-10 or so, and their product the determinant -3.
        let Eigen { values, .. } = Eigen::new(vec![1e10, 2.0, 2.0, 1e-10], 2);
        let (most, least) = (values[0].max(values[1]), values[0].min(values[1]));
        assert!((most / 1e10 - 1.0).abs() < 1e-15, "{most}");
        assert!((least * 1e10 / -3.0 - 1.0).abs() < 1e-14, "{least}");
    }
}
