//! The vector kernels: dot, axpy and friends on slices, and the one dispatch to the CPU's vector width.
//!
//! Every kernel is plain Rust over blocks of [`LANES`] numbers, `#[inline(always)]`, without fused multiply-add.
//! Two things follow. Compiled inside [`dispatch`], a kernel uses the widest vectors that the CPU has; and the
//! order of the additions is fixed by the source, so that the bits of a result are the same on any CPU and for
//! any vector width.

use pulp::{Arch, WithSimd};

/// Numbers handled side by side: one AVX-512 register, two of AVX2, four of SSE2 or NEON.
pub const LANES: usize = 8;

/// Runs `work` compiled for the CPU at hand. Call it once around many steps, not once per kernel; only what is
/// inlined into `work` profits.
#[inline]
pub fn dispatch<R, W: FnOnce() -> R>(work: W) -> R {
    struct Work<W>(W);
    impl<R, W: FnOnce() -> R> WithSimd for Work<W> {
        type Output = R;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> R {
            (self.0)()
        }
    }
    Arch::new().dispatch(Work(work))
}

/// Adds up the lanes in a fixed order.
#[inline(always)]
fn sum_lanes(s: &[f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// `<a, b>`
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sum = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sum[l] += a[l] * b[l];
        }
    }
    let tail: f64 = a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum();
    sum_lanes(&sum) + tail
}

/// `<a - b, p - q>`: by how much an affine f differs between two points, in one sweep.
#[inline(always)]
pub fn dot_of_differences(a: &[f64], b: &[f64], p: &[f64], q: &[f64]) -> f64 {
    let n = a.len();
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<LANES>(), b[..n].as_chunks::<LANES>());
    let ((p, p_tail), (q, q_tail)) = (p[..n].as_chunks::<LANES>(), q[..n].as_chunks::<LANES>());
    let mut sum = [0.0; LANES];
    for ((a, b), (p, q)) in a.iter().zip(b).zip(p.iter().zip(q)) {
        for l in 0..LANES {
            sum[l] += (a[l] - b[l]) * (p[l] - q[l]);
        }
    }
    let mut tail = 0.0;
    for ((a, b), (p, q)) in a_tail.iter().zip(b_tail).zip(p_tail.iter().zip(q_tail)) {
        tail += (a - b) * (p - q);
    }
    sum_lanes(&sum) + tail
}

/// `|a|^2`
#[inline(always)]
pub fn norm_squared(a: &[f64]) -> f64 {
    dot(a, a)
}

/// `|a - b|^2`
#[inline(always)]
pub fn distance_squared(a: &[f64], b: &[f64]) -> f64 {
    dot_of_differences(a, b, a, b)
}

/// `y += c x`
#[inline(always)]
pub fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += c * x;
    }
}

/// `y += c (a - b)`
#[inline(always)]
pub fn axpy_of_difference(c: f64, a: &[f64], b: &[f64], y: &mut [f64]) {
    for (y, (a, b)) in y.iter_mut().zip(a.iter().zip(b)) {
        *y += c * (a - b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, salt: u32) -> Vec<f64> {
        (0..n as u32).map(|l| f64::from((l * 7919 + salt * 104_729) % 1000) / 137.0 - 3.0).collect()
    }

    #[test]
    fn kernels_equal_their_formulas_for_every_tail_length() {
        for n in 0..40 {
            let (a, b, p, q) = (numbers(n, 1), numbers(n, 2), numbers(n, 3), numbers(n, 4));
            let plain: f64 = (0..n).map(|l| a[l] * b[l]).sum();
            assert!((dot(&a, &b) - plain).abs() <= 1e-12 * (1.0 + plain.abs()), "dot, n = {n}");
            let plain: f64 = (0..n).map(|l| (a[l] - b[l]) * (p[l] - q[l])).sum();
            let got = dot_of_differences(&a, &b, &p, &q);
            assert!((got - plain).abs() <= 1e-11 * (1.0 + plain.abs()), "dot_of_differences, n = {n}");
            let (mut y, mut z) = (p.clone(), p.clone());
            axpy(0.3, &a, &mut y);
            axpy_of_difference(-0.7, &a, &b, &mut z);
            for l in 0..n {
                assert_eq!(y[l], p[l] + 0.3 * a[l]);
                assert_eq!(z[l], p[l] + -0.7 * (a[l] - b[l]));
            }
        }
    }

    #[test]
    fn the_vector_width_does_not_change_the_bits() {
        for n in [1, 8, 25, 100, 1001] {
            let (a, b) = (numbers(n, 5), numbers(n, 6));
            assert_eq!(dot(&a, &b).to_bits(), dispatch(|| dot(&a, &b)).to_bits(), "n = {n}");
            let plain = dot_of_differences(&a, &b, &b, &a);
            assert_eq!(plain.to_bits(), dispatch(|| dot_of_differences(&a, &b, &b, &a)).to_bits(), "n = {n}");
        }
    }
}
