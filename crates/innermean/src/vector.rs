//! The vector kernels: dot, axpy and friends on slices, and the one dispatch to the CPU's vector width.
//!
//! Every kernel is plain Rust over blocks of [`LANES`] numbers, `#[inline(always)]`, without fused multiply-add.
//! Two things follow. Compiled inside [`dispatch`], a kernel uses the widest vectors that the CPU has; and the
//! order of the additions is fixed by the source, so that the bits of a result are the same on any CPU and for
//! any vector width.

use pulp::{Arch, WithSimd};

/// Numbers handled side by side: one AVX-512 register, two AVX2 ones, four of SSE2 or NEON.
pub const LANES: usize = 8;

/// Runs `work` compiled for the CPU at hand. Call it once around many steps, not once per kernel; what should
/// profit must be inlined into `work`.
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
fn sum_lanes(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// `sum_l term(l)` over `l < n`, with `term` on slices of [`LANES`] so that it vectorises.
macro_rules! lane_sum {
    ($term:expr, $first:expr $(, $rest:expr)*) => {{
        let n = $first.len();
        let whole = n - n % LANES;
        let mut sum = [0.0; LANES];
        let mut l = 0;
        while l < whole {
            for lane in 0..LANES {
                sum[lane] += $term($first[l + lane] $(, $rest[l + lane])*);
            }
            l += LANES;
        }
        for lane in 0..n - whole {
            sum[lane] += $term($first[whole + lane] $(, $rest[whole + lane])*);
        }
        sum_lanes(sum)
    }};
}

/// `<a, b>`
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    lane_sum!(|a: f64, b: f64| a * b, a, b)
}

/// `<a - b, c - d>`: the difference of an affine f between two points, in one sweep.
#[inline(always)]
pub fn dot_of_differences(a: &[f64], b: &[f64], c: &[f64], d: &[f64]) -> f64 {
    let (b, c, d) = (&b[..a.len()], &c[..a.len()], &d[..a.len()]);
    lane_sum!(|a: f64, b: f64, c: f64, d: f64| (a - b) * (c - d), a, b, c, d)
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
