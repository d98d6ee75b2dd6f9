//! The kernels of `vector.rs` in AVX2, bit for bit.
#![expect(unsafe_code, reason = "vector loads, and calls that are sound because the CPU was asked")]
#![expect(clippy::needless_range_loop, reason = "registers are numbered")]

use std::arch::x86_64::{
    __m256d, __m256i, _MM_HINT_T0, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64, _mm_loadu_pd, _mm_prefetch,
    _mm_set_sd, _mm_unpackhi_pd, _mm256_add_pd, _mm256_castpd256_pd128, _mm256_extractf128_pd,
    _mm256_loadu_pd, _mm256_loadu_si256, _mm256_maskload_pd, _mm256_maskstore_pd, _mm256_mul_pd,
    _mm256_permute2f128_pd, _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd, _mm256_sub_pd,
    _mm256_unpackhi_pd, _mm256_unpacklo_pd, _mm256_zextpd128_pd256,
};

use super::LANES;

/// Whether the CPU has AVX2 and fused multiply-adds: a load and a test, always taken the same way. The other functions here
/// are sound only where it is true.
#[inline(always)]
pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[inline(always)]
pub(super) fn with<R>(work: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx2,fma")]
    fn compiled<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    // SAFETY: the caller has asked `available`.
    unsafe { compiled(work) }
}

/// Lines `FROM..TO` from there on; a line of the cache holds [`LANES`] numbers.
#[inline(always)]
pub(super) fn prefetch_lines<const FROM: usize, const TO: usize>(from: *const f64) {
    for line in FROM..TO {
        // SAFETY: a hint that reads nothing, whatever the address; every x86-64 CPU has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line * LANES).cast()) }
    }
}

#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn compiled(a: &[f64], b: &[f64]) -> f64 {
        lane_sum([a, b], |[a, b]| _mm256_mul_pd(a, b))
    }
    // SAFETY: the caller has asked `available`.
    unsafe { compiled(a, b) }
}

#[inline(always)]
pub(super) fn sum(a: &[f64]) -> f64 {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn compiled(a: &[f64]) -> f64 {
        lane_sum([a], |[a]| a)
    }
    // SAFETY: the caller has asked `available`.
    unsafe { compiled(a) }
}

#[inline(always)]
pub(super) fn dot_of_differences(a: &[f64], b: &[f64], p: &[f64], q: &[f64]) -> f64 {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn compiled(a: &[f64], b: &[f64], p: &[f64], q: &[f64]) -> f64 {
        lane_sum([a, b, p, q], |[a, b, p, q]| _mm256_mul_pd(_mm256_sub_pd(a, b), _mm256_sub_pd(p, q)))
    }
    // SAFETY: the caller has asked `available`.
    unsafe { compiled(a, b, p, q) }
}

#[inline(always)]
pub(super) fn row_dots(rows: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
    #[target_feature(enable = "avx2,fma")]
    fn compiled(rows: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
        assert!(rows.len() >= out.len() * d && x.len() >= d);
        let (fours, rest) = out.as_chunks_mut::<4>();
        let whole = fours.len() * 4;
        for (r, out) in fours.iter_mut().enumerate() {
            // SAFETY: rows 4 r to 4 r + 3 lie within `rows`, and `out` holds four numbers.
            unsafe {
                let sums = four_dots(rows.as_ptr().add(4 * r * d), d, x.as_ptr());
                _mm256_storeu_pd(out.as_mut_ptr(), sums);
            }
        }
        for (r, out) in rest.iter_mut().enumerate() {
            *out = dot(&rows[(whole + r) * d..(whole + r + 1) * d], x);
        }
    }
    // SAFETY: the caller has asked `available`.
    unsafe { compiled(rows, d, x, out) }
}

#[inline(always)]
pub(super) fn add_weighted_rows(rows: &[f64], w: &[f64], out: &mut [f64]) {
    #[target_feature(enable = "avx2,fma")]
    fn compiled(rows: &[f64], w: &[f64], out: &mut [f64]) {
        let d = out.len();
        assert!(rows.len() >= w.len() * d);
        let mut column = 0;
        while column < d {
            let (rows, out) = (&rows[column.min(rows.len())..], &mut out[column..]);
            column += match out.len().div_ceil(4) {
                1 => weighted_columns::<1>(rows, d, w, out),
                2 => weighted_columns::<2>(rows, d, w, out),
                3 => weighted_columns::<3>(rows, d, w, out),
                4 => weighted_columns::<4>(rows, d, w, out),
                5 => weighted_columns::<5>(rows, d, w, out),
                6 => weighted_columns::<6>(rows, d, w, out),
                7 => weighted_columns::<7>(rows, d, w, out),
                _ => weighted_columns::<8>(rows, d, w, out),
            };
        }
    }
    // SAFETY: the caller has asked `available`.
    unsafe { compiled(rows, w, out) }
}

/// The first `4 V` columns (or as many as there are, the last register then being used in part) with their sums in V
/// registers; `rows` starts at the first of these columns. Returns the number of columns done.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn weighted_columns<const V: usize>(rows: &[f64], d: usize, w: &[f64], out: &mut [f64]) -> usize {
    let columns = out.len().min(4 * V);
    let last = mask(columns - 4 * (V - 1));
    if w.is_empty() {
        return columns;
    }
    assert!(rows.len() >= (w.len() - 1) * d + columns);
    // SAFETY: columns 0 to 4 V - 5 are whole registers, the last is masked to `columns`; `out` has as many, and so has
    // every row.
    unsafe {
        let load = |from: *const f64, v: usize| {
            if v + 1 < V {
                _mm256_loadu_pd(from.add(4 * v))
            } else {
                _mm256_maskload_pd(from.add(4 * v), last)
            }
        };
        let mut sums = [_mm256_setzero_pd(); V];
        for v in 0..V {
            sums[v] = load(out.as_ptr(), v);
        }
        for (r, w) in w.iter().enumerate() {
            let (row, w) = (rows.as_ptr().add(r * d), _mm256_set1_pd(*w));
            for v in 0..V {
                sums[v] = _mm256_add_pd(sums[v], _mm256_mul_pd(w, load(row, v)));
            }
        }
        for v in 0..V - 1 {
            _mm256_storeu_pd(out.as_mut_ptr().add(4 * v), sums[v]);
        }
        _mm256_maskstore_pd(out.as_mut_ptr().add(4 * (V - 1)), last, sums[V - 1]);
    }
    columns
}

/// A mask for the first `count` of four lanes, all of them for `count >= 4`.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn mask(count: usize) -> __m256i {
    const WINDOW: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
    // SAFETY: at most four past the start, four are read.
    unsafe { _mm256_loadu_si256(WINDOW.as_ptr().add(4 - count.min(4)).cast()) }
}

/// `super::lane_sum` with lanes 0 to 3 in one register and 4 to 7 in another: the same additions in the same order.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn lane_sum<const K: usize>(streams: [&[f64]; K], term: impl Fn([__m256d; K]) -> __m256d) -> f64 {
    let n = streams[0].len();
    for stream in streams {
        assert!(stream.len() >= n);
    }
    let load4 = |l: usize| {
        // SAFETY: l + 4 <= n, and no stream is shorter than n.
        streams.map(|s| unsafe { _mm256_loadu_pd(s.as_ptr().add(l)) })
    };
    let (mut low, mut high) = (_mm256_setzero_pd(), _mm256_setzero_pd());
    let whole = n - n % LANES;
    let mut l = 0;
    while l < whole {
        low = _mm256_add_pd(low, term(load4(l)));
        high = _mm256_add_pd(high, term(load4(l + 4)));
        l += LANES;
    }
    // What is left, in pieces of four, two and one. Lanes beyond a piece are zeros and add `term` of zeros, which is zero.
    if n & 4 != 0 {
        low = _mm256_add_pd(low, term(load4(l)));
        l += 4;
    }
    let mut rest = _mm256_setzero_pd();
    if n & 2 != 0 {
        // SAFETY: l + 2 <= n.
        rest = term(streams.map(|s| unsafe { _mm256_zextpd128_pd256(_mm_loadu_pd(s.as_ptr().add(l))) }));
        l += 2;
    }
    if n & 1 != 0 {
        let one = term(streams.map(|s| _mm256_zextpd128_pd256(_mm_set_sd(s[l]))));
        // With two before it, it is the third lane's turn; the others are zeros.
        rest = if n & 2 != 0 { _mm256_permute2f128_pd::<0x20>(rest, one) } else { one };
    }
    if n & 4 != 0 {
        high = _mm256_add_pd(high, rest);
    } else {
        low = _mm256_add_pd(low, rest);
    }
    across(_mm256_add_pd(low, high))
}

/// `(a0 + a2) + (a1 + a3)`
#[inline]
#[target_feature(enable = "avx2,fma")]
fn across(a: __m256d) -> f64 {
    let two = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
    _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
}

/// [`across`] of four vectors, side by side.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn across4([a, b, c, d]: [__m256d; 4]) -> __m256d {
    let halves = |p, q| {
        let (low, high) = (_mm256_permute2f128_pd::<0x20>(p, q), _mm256_permute2f128_pd::<0x31>(p, q));
        _mm256_add_pd(low, high)
    };
    let even = halves(_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d));
    let odd = halves(_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d));
    _mm256_add_pd(even, odd)
}

/// The dots of four adjacent rows of length d with x, each added up as in [`lane_sum`].
///
/// # Safety
/// `rows` points to 4 d numbers and x to d.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn four_dots(rows: *const f64, d: usize, x: *const f64) -> __m256d {
    let (mut low, mut high) = ([_mm256_setzero_pd(); 4], [_mm256_setzero_pd(); 4]);
    let mut l = 0;
    // SAFETY: every load of a row or of x ends at or before its d-th number, or is masked to do so.
    unsafe {
        while l + LANES <= d {
            let (x0, x1) = (_mm256_loadu_pd(x.add(l)), _mm256_loadu_pd(x.add(l + 4)));
            for k in 0..4 {
                let row = rows.add(k * d + l);
                low[k] = _mm256_add_pd(low[k], _mm256_mul_pd(_mm256_loadu_pd(row), x0));
                high[k] = _mm256_add_pd(high[k], _mm256_mul_pd(_mm256_loadu_pd(row.add(4)), x1));
            }
            l += LANES;
        }
        if l < d {
            let first = mask(d - l);
            let x0 = _mm256_maskload_pd(x.add(l), first);
            for k in 0..4 {
                let row = _mm256_maskload_pd(rows.add(k * d + l), first);
                low[k] = _mm256_add_pd(low[k], _mm256_mul_pd(row, x0));
            }
        }
        if l + 4 < d {
            let second = mask(d - l - 4);
            let x1 = _mm256_maskload_pd(x.add(l + 4), second);
            for k in 0..4 {
                let row = _mm256_maskload_pd(rows.add(k * d + l + 4), second);
                high[k] = _mm256_add_pd(high[k], _mm256_mul_pd(row, x1));
            }
        }
    }
    for k in 0..4 {
        low[k] = _mm256_add_pd(low[k], high[k]);
    }
    across4(low)
}

/// The longest row for which [`row_dots_and_weighted_rows`] keeps all sums in registers.
pub(super) const WIDEST: usize = 32;

#[inline(always)]
pub(super) fn row_dots_and_weighted_rows(
    rows: &[f64],
    x: &[f64],
    w: &[f64],
    out: &mut [f64],
    sum: &mut [f64],
) {
    #[target_feature(enable = "avx2,fma")]
    fn compiled(rows: &[f64], x: &[f64], w: &[f64], out: &mut [f64], sum: &mut [f64]) {
        match x.len().div_ceil(4) {
            0 => out.fill(0.0),
            1 => both::<1>(rows, x, w, out, sum),
            2 => both::<2>(rows, x, w, out, sum),
            3 => both::<3>(rows, x, w, out, sum),
            4 => both::<4>(rows, x, w, out, sum),
            5 => both::<5>(rows, x, w, out, sum),
            6 => both::<6>(rows, x, w, out, sum),
            7 => both::<7>(rows, x, w, out, sum),
            _ => both::<8>(rows, x, w, out, sum),
        }
    }
    // SAFETY: the caller has asked `available`.
    unsafe { compiled(rows, x, w, out, sum) }
}

/// Rows of at most `4 V` numbers, the last register used in part.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn both<const V: usize>(rows: &[f64], x: &[f64], w: &[f64], out: &mut [f64], sum: &mut [f64]) {
    let d = x.len();
    assert!(4 * (V - 1) < d && d <= 4 * V && sum.len() == d);
    assert!(rows.len() >= out.len() * d && w.len() == out.len());
    let last = mask(d - 4 * (V - 1));
    // x as whole registers, so that a product reads it in one go.
    let mut padded = [[0.0; 4]; V];
    padded.as_flattened_mut()[..d].copy_from_slice(x);
    let mut sums = [_mm256_setzero_pd(); V];
    let whole = out.len() - out.len() % 4;
    let mut r = 0;
    // SAFETY: registers 0 to V - 2 end before number d of a row or of `sum`, and the last is masked to do so; rows,
    // weights and `out` are there up to `out.len()`.
    unsafe {
        let load = |from: *const f64, v: usize| {
            if v + 1 < V {
                _mm256_loadu_pd(from.add(4 * v))
            } else {
                _mm256_maskload_pd(from.add(4 * v), last)
            }
        };
        for v in 0..V {
            sums[v] = load(sum.as_ptr(), v);
        }
        while r < whole {
            let mut four = [_mm256_setzero_pd(); 4];
            for k in 0..4 {
                let (from, w) = (rows.as_ptr().add((r + k) * d), _mm256_set1_pd(*w.as_ptr().add(r + k)));
                let mut lanes = [_mm256_setzero_pd(); 2];
                for v in 0..V {
                    let number = load(from, v);
                    let product = _mm256_mul_pd(number, _mm256_loadu_pd(padded[v].as_ptr()));
                    lanes[v % 2] = _mm256_add_pd(lanes[v % 2], product);
                    sums[v] = _mm256_add_pd(sums[v], _mm256_mul_pd(w, number));
                }
                four[k] = _mm256_add_pd(lanes[0], lanes[1]);
            }
            _mm256_storeu_pd(out.as_mut_ptr().add(r), across4(four));
            r += 4;
        }
        for v in 0..V - 1 {
            _mm256_storeu_pd(sum.as_mut_ptr().add(4 * v), sums[v]);
        }
        _mm256_maskstore_pd(sum.as_mut_ptr().add(4 * (V - 1)), last, sums[V - 1]);
    }
    while r < out.len() {
        let row = &rows[r * d..(r + 1) * d];
        out[r] = dot(row, x);
        super::axpy(w[r], row, sum);
        r += 1;
    }
}
