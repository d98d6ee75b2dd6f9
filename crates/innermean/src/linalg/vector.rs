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
//! This is the only room with `unsafe`: the sums are written with AVX2 intrinsics, because the
//! compiler may not reorder floating-point additions and finds only half of the width by itself.

mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod plain;
mod tile;

pub use aligned::Aligned;
use plain::{scatter, sparse_lane_sum};
pub(crate) use tile::{HEIGHT, Panels, Strides, WIDTH, tile};

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

/// `y_l <- map(y_l, [x_0[l], x_1[l], ...])` for all l, in blocks of eight, four, two and one, as
/// the sums read them: a load that covers a store only in part would wait until the store has
/// reached the cache. Left to itself the compiler unrolls such a loop so far that a vector of 25
/// falls through to its scalar end.
#[inline(always)]
fn update_from<const K: usize>(
    y: &mut [f64],
    streams: [&[f64]; K],
    map: impl Fn(f64, [f64; K]) -> f64,
) {
    dispatch(
        #[inline(always)]
        || update_all(y, streams, map),
    );
}

#[inline(always)]
fn update_all<const K: usize>(
    y: &mut [f64],
    streams: [&[f64]; K],
    map: impl Fn(f64, [f64; K]) -> f64,
) {
    let n = y.len();
    for stream in streams {
        assert!(stream.len() >= n, "a vector is shorter than the one it is added to");
    }
    let whole = n - n % LANES;
    let mut l = 0;
    // SAFETY: every block ends at or before n, and no stream is shorter.
    #[expect(unsafe_code, reason = "checks in this loop would cost as much as its work")]
    unsafe {
        while l < whole {
            update_block::<8, K>(y, streams, l, &map);
            l += LANES;
        }
        if n & 4 != 0 {
            update_block::<4, K>(y, streams, l, &map);
            l += 4;
        }
        if n & 2 != 0 {
            update_block::<2, K>(y, streams, l, &map);
            l += 2;
        }
        if n & 1 != 0 {
            update_block::<1, K>(y, streams, l, &map);
        }
    }
}

/// The N numbers from l on. All of the block is read before any of it is written: then it need not
/// be known that the vectors lie apart.
///
/// # Safety
/// `l + N` is at most the length of y and of every stream.
#[inline(always)]
#[expect(unsafe_code, reason = "see `update_from`")]
unsafe fn update_block<const N: usize, const K: usize>(
    y: &mut [f64],
    streams: [&[f64]; K],
    l: usize,
    map: &impl Fn(f64, [f64; K]) -> f64,
) {
    // SAFETY: the caller has seen to it that the block lies within the slices; an array is aligned
    // like its numbers.
    unsafe {
        let y = y.as_mut_ptr().add(l).cast::<[f64; N]>();
        let mut new = *y;
        let mut x = [[0.0; N]; K];
        for (x, stream) in x.iter_mut().zip(streams) {
            *x = *stream.as_ptr().add(l).cast::<[f64; N]>();
        }
        for lane in 0..N {
            let mut at_lane = [0.0; K];
            for k in 0..K {
                at_lane[k] = x[k][lane];
            }
            new[lane] = map(new[lane], at_lane);
        }
        *y = new;
    }
}

/// `y_l <- map(y_l)` for all l.
#[inline(always)]
pub fn update(y: &mut [f64], map: impl Fn(f64) -> f64) {
    update_from(
        y,
        [],
        #[inline(always)]
        |y, []| map(y),
    );
}

/// `y_l <- map(y_l, x_l)` for all l.
///
/// # Panics
/// If x is shorter than y.
#[inline(always)]
pub fn update_with(y: &mut [f64], x: &[f64], map: impl Fn(f64, f64) -> f64) {
    update_from(
        y,
        [x],
        #[inline(always)]
        |y, [x]| map(y, x),
    );
}

/// `y_l <- map(y_l, a_l, b_l)` for all l.
///
/// # Panics
/// If a or b is shorter than y.
#[inline(always)]
pub fn update_with_both(y: &mut [f64], a: &[f64], b: &[f64], map: impl Fn(f64, f64, f64) -> f64) {
    update_from(
        y,
        [a, b],
        #[inline(always)]
        |y, [a, b]| map(y, a, b),
    );
}

/// `y += c x`
#[inline(always)]
pub fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::axpy(cpu, c, x, y);
    }
    plain::axpy(c, x, y);
}

/// `y += c (a - b)`
#[inline(always)]
pub fn axpy_of_difference(c: f64, a: &[f64], b: &[f64], y: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::axpy_of_difference(cpu, c, a, b, y);
    }
    plain::axpy_of_difference(c, a, b, y);
}

/// `y += c x`, then `z += b y`, in one sweep: z does not wait for y to reach the cache and come
/// back.
///
/// # Panics
/// If x or z is shorter than y.
#[inline(always)]
pub fn axpy_axpy(c: f64, x: &[f64], y: &mut [f64], b: f64, z: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::axpy_axpy(cpu, c, x, y, b, z);
    }
    plain::axpy_axpy(c, x, y, b, z);
}

/// `(y_l, z_l) <- map(y_l, z_l, [x_0[l], x_1[l], ...])` for all l, in one sweep, block by block as
/// [`update`].
///
/// # Panics
/// If z or a stream is shorter than y.
#[inline(always)]
pub fn update_two<const K: usize>(
    y: &mut [f64],
    z: &mut [f64],
    streams: [&[f64]; K],
    map: impl Fn(f64, f64, [f64; K]) -> (f64, f64),
) {
    dispatch(
        #[inline(always)]
        || {
            let n = y.len();
            let z = &mut z[..n];
            let streams = streams.map(|stream| &stream[..n]);
            let whole = n - n % LANES;
            let mut l = 0;
            while l < whole {
                update_two_blocks::<8, K>(y, z, streams, l, &map);
                l += LANES;
            }
            if n & 4 != 0 {
                update_two_blocks::<4, K>(y, z, streams, l, &map);
                l += 4;
            }
            if n & 2 != 0 {
                update_two_blocks::<2, K>(y, z, streams, l, &map);
                l += 2;
            }
            if n & 1 != 0 {
                update_two_blocks::<1, K>(y, z, streams, l, &map);
            }
        },
    );
}

/// The N numbers from l on, read before any is written, as in [`update_block`].
#[inline(always)]
fn update_two_blocks<const N: usize, const K: usize>(
    y: &mut [f64],
    z: &mut [f64],
    streams: [&[f64]; K],
    l: usize,
    map: &impl Fn(f64, f64, [f64; K]) -> (f64, f64),
) {
    let block = l..l + N;
    let (mut new_y, mut new_z) = ([0.0; N], [0.0; N]);
    new_y.copy_from_slice(&y[block.clone()]);
    new_z.copy_from_slice(&z[block.clone()]);
    for lane in 0..N {
        let at_lane = streams.map(|stream| stream[l + lane]);
        (new_y[lane], new_z[lane]) = map(new_y[lane], new_z[lane], at_lane);
    }
    y[block.clone()].copy_from_slice(&new_y);
    z[block].copy_from_slice(&new_z);
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
