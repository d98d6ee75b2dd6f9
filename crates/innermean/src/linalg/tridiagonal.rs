//! A symmetric matrix made tridiagonal once, `M = Q T Q'`, so that `(I + alpha M)^-1 x` costs
//! `O(d^2)` for every alpha: a step that changes from one iteration to the next needs no new
//! factorisation, and none needs memory.

use crate::linalg::vector::{axpy, dot, norm_squared};

/// Pivots of T that are kept at a time, on the stack.
const KEPT: usize = 64;

/// `M = Q T Q'` with `Q = H_0 H_1 ...`, each `H_k = I - 2 v_k v_k'` a reflection that leaves the
/// first k + 1 coordinates alone.
#[derive(Debug, Clone)]
pub(crate) struct Tridiagonal {
    /// `v_k` in row k, of length 1 or all zeros
    reflections: Vec<f64>,
    diagonal: Vec<f64>,
    /// What is beside the diagonal, in rows 0 and 1, 1 and 2, ...
    beside: Vec<f64>,
}

impl Tridiagonal {
    /// Of a symmetric d x d matrix given row by row: Householder's reflections, about `4 d^3 / 3`
    /// products.
    ///
    /// # Panics
    /// Unless there are `d * d` entries.
    pub(crate) fn new(matrix: &[f64], d: usize) -> Self {
        assert_eq!(matrix.len(), d * d, "d rows of d entries");
        let mut m = matrix.to_vec();
        let mut reflections = vec![0.0; d * d.saturating_sub(2)];
        let mut p = vec![0.0; d];
        for (k, v) in reflections.chunks_exact_mut(d).enumerate() {
            // v takes row k, beyond its diagonal, to a multiple of the unit vector of k + 1.
            v[k + 1..].copy_from_slice(&m[k * d + k + 1..(k + 1) * d]);
            let norm = norm_squared(v).sqrt();
            v[k + 1] += norm.copysign(v[k + 1]);
            let length = norm_squared(v).sqrt();
            if length == 0.0 {
                continue;
            }
            for v in v.iter_mut() {
                *v /= length;
            }
            // H M H = M - v q' - q v'  with  p = 2 M v,  q = p - <v, p> v
            for (p, row) in p.iter_mut().zip(m.chunks_exact(d)) {
                *p = 2.0 * dot(row, v);
            }
            axpy(-dot(v, &p), v, &mut p);
            for (row, (v_r, q_r)) in m.chunks_exact_mut(d).zip(v.iter().zip(&p)) {
                axpy(-v_r, &p, row);
                axpy(-q_r, v, row);
            }
        }
        Tridiagonal {
            reflections,
            diagonal: (0..d).map(|l| m[l * d + l]).collect(),
            beside: (1..d).map(|l| m[l * d + l - 1]).collect(),
        }
    }

    /// `x <- (I + alpha M)^-1 x = Q (I + alpha T)^-1 Q' x`, where M has no eigenvalue below zero.
    #[inline(always)]
    pub(crate) fn solve_shifted(&self, alpha: f64, x: &mut [f64]) {
        for v in self.reflections.chunks_exact(x.len()) {
            axpy(-2.0 * dot(v, x), v, x);
        }
        self.solve_tridiagonal(alpha, x);
        for v in self.reflections.chunks_exact(x.len()).rev() {
            axpy(-2.0 * dot(v, x), v, x);
        }
    }

    /// `x <- (I + alpha T)^-1 x` by elimination downwards and substitution upwards. The pivots are
    /// needed again on the way up; they are made anew from the top for each stretch, rather than
    /// kept.
    #[inline(always)]
    fn solve_tridiagonal(&self, alpha: f64, x: &mut [f64]) {
        let d = x.len();
        let mut pivot = 1.0;
        for l in 0..d {
            if l > 0 {
                let factor = alpha * self.beside[l - 1] / pivot;
                x[l] -= factor * x[l - 1];
            }
            pivot = self.pivot(alpha, l, pivot);
        }
        let mut pivots = [0.0; KEPT];
        for first in (0..d).step_by(KEPT).rev() {
            let end = (first + KEPT).min(d);
            let mut pivot = 1.0;
            for l in 0..end {
                pivot = self.pivot(alpha, l, pivot);
                if l >= first {
                    pivots[l - first] = pivot;
                }
            }
            for l in (first..end).rev() {
                let below = if l + 1 < d { alpha * self.beside[l] * x[l + 1] } else { 0.0 };
                x[l] = (x[l] - below) / pivots[l - first];
            }
        }
    }

    /// Pivot l of `I + alpha T`, after the pivot before it.
    #[inline(always)]
    fn pivot(&self, alpha: f64, l: usize, before: f64) -> f64 {
        let eliminated = if l == 0 { 0.0 } else { (alpha * self.beside[l - 1]).powi(2) / before };
        1.0 + alpha * self.diagonal[l] - eliminated
    }

    /// The smallest and the largest eigenvalue of M, by bisection on the number of eigenvalues
    /// below.
    pub(crate) fn extreme_eigenvalues(&self) -> (f64, f64) {
        let d = self.diagonal.len();
        // Gershgorin: every eigenvalue lies within |T_l,l-1| + |T_l,l+1| of some T_ll.
        let around = |l: usize| {
            let before = if l > 0 { self.beside[l - 1].abs() } else { 0.0 };
            before + self.beside.get(l).map_or(0.0, |b| b.abs())
        };
        let lo = (0..d).map(|l| self.diagonal[l] - around(l)).fold(f64::INFINITY, f64::min);
        let hi = (0..d).map(|l| self.diagonal[l] + around(l)).fold(f64::NEG_INFINITY, f64::max);
        (self.eigenvalue(1, lo, hi), self.eigenvalue(d, lo, hi))
    }

    /// The `rank`-th smallest eigenvalue, between the bounds.
    fn eigenvalue(&self, rank: usize, mut lo: f64, mut hi: f64) -> f64 {
        loop {
            let middle = 0.5 * (lo + hi);
            if middle <= lo || middle >= hi || middle.is_nan() {
                return middle;
            }
            if self.eigenvalues_below(middle) >= rank {
                hi = middle;
            } else {
                lo = middle;
            }
        }
    }

    /// Sturm: as many eigenvalues lie below x as `T - x I` has negative pivots.
    fn eigenvalues_below(&self, x: f64) -> usize {
        let mut count = 0;
        let mut pivot = 1.0;
        for (l, diagonal) in self.diagonal.iter().enumerate() {
            let eliminated = if l == 0 { 0.0 } else { self.beside[l - 1].powi(2) / pivot };
            pivot = diagonal - x - eliminated;
            if pivot == 0.0 {
                pivot = -f64::MIN_POSITIVE;
            }
            count += usize::from(pivot < 0.0);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;

    #[test]
    fn shifted_systems_are_solved_for_every_alpha() {
        for d in [1, 2, 3, 7, 63, 64, 65, 130, 200] {
            let mut draws = Stream::new(5, d as u64);
            let b: Vec<f64> = (0..d * d).map(|_| draws.unit() - 0.5).collect();
            let m: Vec<f64> = (0..d * d)
                .map(|e| dot(&b[e / d * d..(e / d + 1) * d], &b[e % d * d..(e % d + 1) * d]))
                .collect();
            let tridiagonal = Tridiagonal::new(&m, d);
            let x: Vec<f64> = (0..d).map(|_| draws.unit() - 0.5).collect();
            for alpha in [1e-6, 0.1, 1.0, 30.0] {
                let mut y: Vec<f64> = m
                    .chunks_exact(d)
                    .zip(&x)
                    .map(|(row, x_r)| x_r + alpha * dot(row, &x))
                    .collect();
                tridiagonal.solve_shifted(alpha, &mut y);
                assert!(
                    y.iter().zip(&x).all(|(y, x)| (y - x).abs() < 1e-9),
                    "d = {d}, alpha = {alpha}"
                );
            }
        }
    }

    #[test]
    fn extreme_eigenvalues_of_a_known_matrix() {
        // 2 on the diagonal and -1 beside it has the eigenvalues 2 - 2 cos(k pi / (d + 1)); here
        // turned by a reflection.
        let d = 30;
        let v: Vec<f64> = (0..d).map(|l| 1.0 + (l as f64).sin()).collect();
        let h =
            |r: usize, c: usize| f64::from(u8::from(r == c)) - 2.0 * v[r] * v[c] / norm_squared(&v);
        let t = |r: usize, c: usize| match r.abs_diff(c) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let mut m = vec![0.0; d * d];
        for (e, m) in m.iter_mut().enumerate() {
            for k in 0..d {
                for l in 0..d {
                    *m += h(e / d, k) * t(k, l) * h(l, e % d);
                }
            }
        }
        let (least, most) = Tridiagonal::new(&m, d).extreme_eigenvalues();
        let angle = std::f64::consts::PI / (d + 1) as f64;
        assert!((least - (2.0 - 2.0 * angle.cos())).abs() < 1e-12, "{least}");
        assert!((most - (2.0 + 2.0 * angle.cos())).abs() < 1e-12, "{most}");
        assert_eq!(Tridiagonal::new(&[3.0], 1).extreme_eigenvalues(), (3.0, 3.0));
    }
}
