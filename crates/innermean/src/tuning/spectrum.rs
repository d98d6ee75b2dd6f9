//! What a symmetric matrix looks like from a vector: Lanczos' method.

use crate::linalg::elementary::Elementary;
use serde::{Deserialize, Serialize};

use crate::linalg::vector::{axpy, dot, norm_squared};

/// An eigenvalue and the part of a vector that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mode {
    /// The eigenvalue, or one that represents several.
    pub(crate) eigenvalue: f64,
    /// The square of the vector's part along it.
    pub(crate) weight: f64,
}

/// What Lanczos' method has found of `H` and g.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum {
    /// Gauss' quadrature: `g' p(H) g = sum of weight p(eigenvalue)` for polynomials p up to degree
    /// 2k - 1.
    pub(crate) modes: Vec<Mode>,
    /// About `H^-1 g`, as conjugate gradients would have found it.
    pub(crate) solution: Vec<f64>,
}

/// Eigenvalues below this part of the largest are rounding.
const ROUNDING: f64 = 1e-12;

impl Spectrum {
    /// At most `steps` steps from g, which is not zero, for an H without eigenvalues below zero;
    /// `product(v, out)` adds `H v` to `out`. Every vector is made orthogonal to all before it,
    /// twice: there are few, and copies of eigenvalues would mislead.
    pub(crate) fn new(g: &[f64], steps: usize, product: impl Fn(&[f64], &mut [f64])) -> Self {
        let d = g.len();
        let norm = norm_squared(g).sqrt();
        let mut v: Vec<f64> = g.iter().map(|x| x / norm).collect();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut largest = 0.0_f64;
        for _ in 0..steps.min(d) {
            let mut next = vec![0.0; d];
            product(&v, &mut next);
            let along = dot(&v, &next);
            largest = largest.max(along);
            diagonal.push(along);
            basis.push(v);
            for _ in 0..2 {
                for b in &basis {
                    axpy(-dot(b, &next), b, &mut next);
                }
            }
            let rest = norm_squared(&next).sqrt();
            if rest.is_nan() || rest <= ROUNDING * largest {
                break;
            }
            beside.push(rest);
            v = next.iter().map(|x| x / rest).collect();
        }
        beside.truncate(diagonal.len() - 1);
        let least = ROUNDING * largest;
        let modes = eigenvalues(&diagonal, &beside)
            .into_iter()
            .map(|(value, share)| Mode {
                eigenvalue: value.max(least),
                weight: share * norm * norm,
            })
            .collect();
        let mut solution = vec![0.0; d];
        for (y, b) in solve(&diagonal, &beside, norm, least).iter().zip(&basis) {
            axpy(*y, b, &mut solution);
        }
        Spectrum { modes, solution }
    }
}

/// y with `T y = first e_0` for a tridiagonal T, by elimination with pivots of at least `least`.
fn solve(diagonal: &[f64], beside: &[f64], first: f64, least: f64) -> Vec<f64> {
    let least = least.max(f64::MIN_POSITIVE);
    let k = diagonal.len();
    let (mut pivots, mut y) = (diagonal.to_vec(), vec![0.0; k]);
    y[0] = first;
    pivots[0] = pivots[0].max(least);
    for l in 1..k {
        let factor = beside[l - 1] / pivots[l - 1];
        pivots[l] = (diagonal[l] - factor * beside[l - 1]).max(least);
        y[l] = -factor * y[l - 1];
    }
    for l in (0..k).rev() {
        let below = if l + 1 < k { beside[l] * y[l + 1] } else { 0.0 };
        y[l] = (y[l] - below) / pivots[l];
    }
    y
}

/// Sweeps of Jacobi's rotations, at most: ten are enough for any matrix of a few dozen rows.
const SWEEPS: usize = 40;

/// The eigenvalues of a small symmetric tridiagonal matrix, each with the square of its vector's
/// first entry, by Jacobi's rotations.
fn eigenvalues(diagonal: &[f64], beside: &[f64]) -> Vec<(f64, f64)> {
    let k = diagonal.len();
    let mut m = vec![0.0; k * k];
    for l in 0..k {
        m[l * k + l] = diagonal[l];
        if l + 1 < k {
            m[l * k + l + 1] = beside[l];
            m[(l + 1) * k + l] = beside[l];
        }
    }
    let mut first = vec![0.0; k];
    first[0] = 1.0;
    for _ in 0..SWEEPS {
        let all = norm_squared(&m);
        let on: f64 = (0..k).map(|l| m[l * k + l].powi(2)).sum();
        if all - on <= f64::EPSILON * f64::EPSILON * all || !all.is_finite() {
            break;
        }
        for p in 0..k {
            for q in p + 1..k {
                if m[p * k + q] != 0.0 {
                    rotate(&mut m, k, p, q, &mut first);
                }
            }
        }
    }
    (0..k).map(|l| (m[l * k + l], first[l] * first[l])).collect()
}

/// Makes entry (p, q) zero.
fn rotate(m: &mut [f64], k: usize, p: usize, q: usize, first: &mut [f64]) {
    let ratio = (m[q * k + q] - m[p * k + p]) / (2.0 * m[p * k + q]);
    let tangent = 1.0_f64.copysign(ratio) / (ratio.abs() + ratio.hypotenuse(1.0));
    let cosine = 1.0 / tangent.hypotenuse(1.0);
    let sine = tangent * cosine;
    let turn =
        |x: &mut f64, y: &mut f64| (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    for l in 0..k {
        let (mut x, mut y) = (m[l * k + p], m[l * k + q]);
        turn(&mut x, &mut y);
        (m[l * k + p], m[l * k + q]) = (x, y);
    }
    for l in 0..k {
        let (mut x, mut y) = (m[p * k + l], m[q * k + l]);
        turn(&mut x, &mut y);
        (m[p * k + l], m[q * k + l]) = (x, y);
    }
    let (mut x, mut y) = (first[p], first[q]);
    turn(&mut x, &mut y);
    (first[p], first[q]) = (x, y);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_steps_find_all_that_a_vector_sees() {
        let h = [
            [4.0, 1.0, 0.0, 0.5],
            [1.0, 3.0, 0.2, 0.0],
            [0.0, 0.2, 0.5, 0.1],
            [0.5, 0.0, 0.1, 2.0],
        ];
        let g = [1.0, -2.0, 0.5, 0.0];
        let product = |v: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(&h).for_each(|(out, row)| *out += dot(row, v));
        };
        let spectrum = Spectrum::new(&g, 10, product);
        assert_eq!(spectrum.modes.len(), 4);
        // g' p(H) g for p = 1, x, x^2 and 1/x.
        let mut hg = vec![0.0; 4];
        product(&g, &mut hg);
        let mut back = vec![0.0; 4];
        product(&spectrum.solution, &mut back);
        assert!(g.iter().zip(&back).all(|(g, b)| (g - b).abs() < 1e-12), "{back:?}");
        let sum = |p: &dyn Fn(f64) -> f64| {
            spectrum.modes.iter().map(|m| m.weight * p(m.eigenvalue)).sum::<f64>()
        };
        assert!((sum(&|_| 1.0) - norm_squared(&g)).abs() < 1e-12);
        assert!((sum(&|x| x) - dot(&g, &hg)).abs() < 1e-12);
        assert!((sum(&|x| x * x) - norm_squared(&hg)).abs() < 1e-12);
        assert!((sum(&|x| 1.0 / x) - dot(&g, &spectrum.solution)).abs() < 1e-12);
    }

    #[test]
    fn a_vector_in_one_direction_sees_one_eigenvalue() {
        let spectrum = Spectrum::new(&[0.0, 3.0], 5, |v, out| {
            out[0] += 2.0 * v[0];
            out[1] += 5.0 * v[1];
        });
        assert_eq!(spectrum.modes, [Mode { eigenvalue: 5.0, weight: 9.0 }]);
        assert_eq!(spectrum.solution, [0.0, 0.6]);
    }
}
