//! The vector kernels: dot, axpy and friends on slices, and the one dispatch to the CPU's vector
//! width.
//!
//! Two rules hold throughout. Sums run in [`LANES`] lanes that are added up in a fixed order, and a
//! product that is added is always fused with the addition, which rounds once: so the bits of a
//! result are the same on any CPU, with or without vector instructions. (An x86-64 CPU without
//! fused multiply-adds, from before 2013, gets the same bits from the C library, slowly.) And every
//! kernel is inlined into its caller: inside [`dispatch`] a whole loop of steps is compiled for
//! AVX2 where the CPU has it.
//!
//! Tiles of matrix products have kernels for AVX-512 as well (`avx512.rs`).
//!
//! This is the only room with `unsafe`: the sums are written with AVX2 intrinsics, because the
//! compiler may not reorder floating-point additions and finds only half of the width by itself.

mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;
mod tile;
mod triangle;
mod update;

pub use aligned::Aligned;
use plain::{scatter, sparse_lane_sum};
pub(crate) use tile::{HEIGHT, Panels, Places, Tile, WIDTH, tile, tiles};
pub(crate) use triangle::{STRIP, add_triangle};
pub use update::{
    axpy, axpy_axpy, axpy_of_difference, update, update_two, update_with, update_with_both,
};
pub(crate) use update::{update_two_dispatched, update_with_dispatched};

/// Numbers handled side by side: two AVX2 registers, four of SSE2 or NEON.
pub const LANES: usize = 8;

/// Runs `work` compiled for the CPU at hand. Call it once around many steps, not once per kernel.
/// Only what is inlined into `work` profits, so mark closures on the way `#[inline(always)]`.
#[inline]
pub fn dispatch<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::with(cpu, work);
    }
    work()
}

/// `<a, b>`
///
/// # Panics
/// If b is shorter than a.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::dot(cpu, a, b);
    }
    plain::dot(a, b)
}

/// `<a - b, p - q>`: by how much an affine f differs between two points, in one sweep.
///
/// # Panics
/// If b, p or q is shorter than a.
#[inline(always)]
pub fn dot_of_differences(a: &[f64], b: &[f64], p: &[f64], q: &[f64]) -> f64 {
    let n = a.len();
    let (b, p, q) = (&b[..n], &p[..n], &q[..n]);
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::dot_of_differences(cpu, a, b, p, q);
    }
    plain::dot_of_differences(a, b, p, q)
}

/// `<a, p - q>`: the same for one row.
///
/// # Panics
/// If p or q is shorter than a.
#[inline(always)]
pub fn dot_with_difference(a: &[f64], p: &[f64], q: &[f64]) -> f64 {
    let (p, q) = (&p[..a.len()], &q[..a.len()]);
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::dot_with_difference(cpu, a, p, q);
    }
    plain::dot_with_difference(a, p, q)
}

/// `sum_l a_l`
#[inline(always)]
pub fn sum(a: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::sum(cpu, a);
    }
    plain::sum(a)
}

/// `out_r = <row r, x>` for as many rows of length d as `out` is long: bit for bit [`dot`], but
/// with x at hand for all.
///
/// # Panics
/// If there are fewer rows, or x is shorter than d.
#[inline(always)]
pub fn row_dots(rows: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
    let (rows, x) = (&rows[..out.len() * d], &x[..d]);
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::row_dots(cpu, rows, d, x, out);
    }
    for (r, out) in out.iter_mut().enumerate() {
        *out = dot(&rows[r * d..(r + 1) * d], x);
    }
}

/// `out += sum_r w_r (row r)`, added row by row, where out has the length of a row.
///
/// # Panics
/// If there are fewer rows than weights.
#[inline(always)]
pub fn add_weighted_rows(rows: &[f64], w: &[f64], out: &mut [f64]) {
    let d = out.len();
    let rows = &rows[..w.len() * d];
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::add_weighted_rows(cpu, rows, w, out);
    }
    for (r, w) in w.iter().enumerate() {
        axpy(*w, &rows[r * d..(r + 1) * d], out);
    }
}

/// [`row_dots`] and [`add_weighted_rows`] for the same rows, read once.
///
/// # Panics
/// Unless there is a weight and a row for each entry of `out`, and x and `sum` have the length of a
/// row.
#[inline(always)]
pub fn row_dots_and_weighted_rows(
    rows: &[f64],
    x: &[f64],
    w: &[f64],
    out: &mut [f64],
    sum: &mut [f64],
) {
    assert!(x.len() == sum.len() && w.len() == out.len(), "a weight for each row");
    let d = x.len();
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::row_dots_and_weighted_rows(cpu, &rows[..out.len() * d], x, w, out, sum);
    }
    for (r, (out, w)) in out.iter_mut().zip(w).enumerate() {
        let row = &rows[r * d..(r + 1) * d];
        *out = dot(row, x);
        axpy(*w, row, sum);
    }
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

/// `<a, x>` for a sparse row a: its columns, and the values at these.
///
/// # Panics
/// If a column is not below the length of x.
#[inline(always)]
pub fn sparse_dot(columns: &[u32], values: &[f64], x: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::with(
            cpu,
            #[inline(always)]
            || sparse_lane_sum(columns, values, x),
        );
    }
    plain::sparse_dot(columns, values, x)
}

/// `y += c a` for a sparse row a.
///
/// # Panics
/// If a column is not below the length of y.
#[inline(always)]
pub fn sparse_axpy(c: f64, columns: &[u32], values: &[f64], y: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::with(
            cpu,
            #[inline(always)]
            || scatter(c, columns, values, y),
        );
    }
    plain::sparse_axpy(c, columns, values, y);
}

/// Asks for `x[start..start + len]` to be brought near before it is read; it need not exist. Of a
/// long stretch only the beginning: the hardware sees the rest coming.
#[inline(always)]
pub fn prefetch<T>(x: &[T], start: usize, len: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let from = x.as_ptr().wrapping_add(start).cast();
        avx2::prefetch_lines::<0, 1>(from);
        if len > LANES {
            avx2::prefetch_lines::<1, 4>(from);
        }
        if len > 4 * LANES {
            avx2::prefetch_lines::<4, 8>(from);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, start, len);
}

/// 48 multiply-adds, this many times, none of which waits for another or for the memory: what other
/// loops are measured against.
pub fn bare_multiply_adds(times: usize) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::bare_multiply_adds(cpu, times);
    }
    let mut sums = std::hint::black_box([0.0_f64; 48]);
    for _ in 0..times {
        sums = sums.map(|sum| sum.mul_add(0.999, 0.001));
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, salt: u32) -> Vec<f64> {
        (0..n as u32).map(|l| f64::from((l * 7919 + salt * 104_729) % 1000) / 137.0 - 3.0).collect()
    }

    /// The sum that the kernels promise, term by term.
    fn promised(terms: impl Iterator<Item = (f64, f64)>) -> f64 {
        let mut lanes = [0.0_f64; LANES];
        for (l, (a, b)) in terms.enumerate() {
            lanes[l % LANES] = a.mul_add(b, lanes[l % LANES]);
        }
        ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
            + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
    }

    /// Runs a test with the vector instructions of this CPU, if it has any, and without.
    fn on_both_paths(test: impl Fn()) {
        dispatch(&test);
        #[cfg(target_arch = "x86_64")]
        avx2::without(&test);
    }

    /// The same, and with the narrower ones of a CPU that has wider ones.
    pub(super) fn on_every_path(test: impl Fn()) {
        on_both_paths(&test);
        #[cfg(target_arch = "x86_64")]
        avx512::without(&test);
    }

    #[test]
    fn sums_have_the_bits_of_their_formulas() {
        on_both_paths(|| {
            for (n, offset) in (0..70).flat_map(|n| (0..5).map(move |offset| (n, offset))) {
                let vectors = [1, 2, 3, 4].map(|salt| numbers(n + offset, salt));
                let [a, b, p, q] = [0, 1, 2, 3].map(|k| &vectors[k][offset..]);
                let same = |got: f64, terms: &dyn Fn(usize) -> (f64, f64), name: &str| {
                    let plain = promised((0..n).map(terms));
                    assert_eq!(got.to_bits(), plain.to_bits(), "{name}, n = {n}, offset {offset}");
                };
                same(dot(a, b), &|l| (a[l], b[l]), "dot");
                same(sum(a), &|l| (1.0, a[l]), "sum");
                same(
                    dot_of_differences(a, b, p, q),
                    &|l| (a[l] - b[l], p[l] - q[l]),
                    "differences",
                );
                same(dot_with_difference(a, p, q), &|l| (a[l], p[l] - q[l]), "one difference");
                same(distance_squared(a, b), &|l| (a[l] - b[l], a[l] - b[l]), "distance");
            }
        });
    }

    #[test]
    fn updates_have_the_bits_of_their_formulas() {
        on_both_paths(|| {
            for (n, offset) in (0..70).flat_map(|n| (0..5).map(move |offset| (n, offset))) {
                let vectors = [5, 6, 7].map(|salt| numbers(n + offset, salt));
                let [a, b, y] = [0, 1, 2].map(|k| &vectors[k][offset..]);
                let (mut one, mut two) = (y.to_vec(), y.to_vec());
                axpy(0.3, a, &mut one);
                axpy_of_difference(-0.7, a, b, &mut two);
                let (mut first, mut second) = (y.to_vec(), b.to_vec());
                axpy_axpy(0.3, a, &mut first, -0.2, &mut second);
                let (mut third, mut fourth) = (y.to_vec(), b.to_vec());
                update_two(&mut third, &mut fourth, [a, b], |y, z, [a, b]| {
                    (a.mul_add(0.3, y), a.mul_add(-0.2, y * z + b))
                });
                for l in 0..n {
                    assert_eq!(first[l].to_bits(), one[l].to_bits(), "n = {n}");
                    assert_eq!(
                        second[l].to_bits(),
                        one[l].mul_add(-0.2, b[l]).to_bits(),
                        "n = {n}"
                    );
                    assert_eq!(one[l].to_bits(), a[l].mul_add(0.3, y[l]).to_bits(), "n = {n}");
                    assert_eq!(third[l].to_bits(), one[l].to_bits(), "n = {n}");
                    let swept = a[l].mul_add(-0.2, y[l] * b[l] + b[l]);
                    assert_eq!(fourth[l].to_bits(), swept.to_bits(), "n = {n}");
                    assert_eq!(
                        two[l].to_bits(),
                        (a[l] - b[l]).mul_add(-0.7, y[l]).to_bits(),
                        "n = {n}"
                    );
                }
            }
        });
    }

    #[test]
    fn sparse_rows_have_the_bits_of_their_formulas() {
        on_both_paths(|| {
            for n in 0..23 {
                let (values, x) = (numbers(n, 1), numbers(3 * n, 2));
                let columns: Vec<u32> = (0..n as u32).map(|k| 3 * k + k % 3).collect();
                let mut lanes = [0.0_f64; 4];
                let (mut y, mut plain) = (x.clone(), x.clone());
                for k in 0..n {
                    let l = columns[k] as usize;
                    lanes[k % 4] = values[k].mul_add(x[l], lanes[k % 4]);
                    plain[l] = values[k].mul_add(0.3, plain[l]);
                }
                let sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
                assert_eq!(sparse_dot(&columns, &values, &x).to_bits(), sum.to_bits(), "n = {n}");
                sparse_axpy(0.3, &columns, &values, &mut y);
                assert_eq!(y, plain, "n = {n}");
            }
        });
    }

    #[test]
    fn many_rows_at_once_are_bit_for_bit_one_after_the_other() {
        on_both_paths(|| {
            for (n, d) in (0..70).map(|d| (5 + d % 7, d)).chain([
                (0, 3),
                (130, 25),
                (64, 32),
                (70, 100),
                (67, 171),
            ]) {
                let (rows, x, w) = (numbers(n * d, 1), numbers(d, 2), numbers(n, 3));
                let mut out = vec![0.0; n];
                row_dots(&rows, d, &x, &mut out);
                for r in 0..n {
                    let plain = promised((0..d).map(|l| (rows[r * d + l], x[l])));
                    assert_eq!(out[r].to_bits(), plain.to_bits(), "row {r}, d = {d}");
                }
                let (mut sum, mut plain) = (x.clone(), x.clone());
                add_weighted_rows(&rows, &w, &mut sum);
                for r in 0..n {
                    for l in 0..d {
                        plain[l] = rows[r * d + l].mul_add(w[r], plain[l]);
                    }
                }
                assert_eq!(sum, plain, "n = {n}, d = {d}");
                let (mut out2, mut sum2) = (vec![0.0; n], x.clone());
                row_dots_and_weighted_rows(&rows, &x, &w, &mut out2, &mut sum2);
                assert_eq!((out2, sum2), (out, sum), "n = {n}, d = {d}");
            }
        });
    }
}
