//! The kernels of `vector.rs` in AVX2, bit for bit.
#![expect(unsafe_code, reason = "vector loads, and calls that are sound because the CPU was asked")]
#![expect(clippy::needless_range_loop, reason = "registers are numbered")]

use std::arch::x86_64::{
    __m256d, __m256i, _MM_HINT_T0, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64, _mm_fmadd_pd,
    _mm_load_sd, _mm_loadu_pd, _mm_prefetch, _mm_set1_pd, _mm_storeu_pd, _mm_unpackhi_pd,
    _mm256_add_pd, _mm256_castpd256_pd128, _mm256_extractf128_pd, _mm256_fmadd_pd, _mm256_loadu_pd,
    _mm256_loadu_si256, _mm256_maskload_pd, _mm256_maskstore_pd, _mm256_permute2f128_pd,
    _mm256_set_m128d, _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd, _mm256_sub_pd,
    _mm256_unpackhi_pd, _mm256_unpacklo_pd, _mm256_zextpd128_pd256,
};

use std::hint::black_box;
use std::sync::atomic::{AtomicU8, Ordering};

use super::LANES;

/// The proof that the CPU has AVX2 and fused multiply-adds: no safe function here can be called
/// without it, and only [`available`] makes one. It has no size, so that handing it on costs
/// nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

/// Whether the CPU has AVX2 and fused multiply-adds: a load and a test, always taken the same way.
#[inline(always)]
pub(super) fn available() -> Option<Avx2> {
    #[cfg(test)]
    if AVOIDED.get() {
        return None;
    }
    let found = match FOUND.load(Ordering::Relaxed) {
        YES => true,
        NO => false,
        _ => look(),
    };
    found.then_some(Avx2(()))
}

/// What has been found, once it has been looked for.
static FOUND: AtomicU8 = AtomicU8::new(0);
const YES: u8 = 1;
const NO: u8 = 2;

#[cold]
#[inline(never)]
fn look() -> bool {
    let found = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    FOUND.store(if found { YES } else { NO }, Ordering::Relaxed);
    found
}

#[cfg(test)]
thread_local! {
    static AVOIDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs a test on this thread as on a CPU that has none of it.
#[cfg(test)]
pub(super) fn without(test: impl Fn()) {
    AVOIDED.set(true);
    test();
    AVOIDED.set(false);
}

#[inline(always)]
pub(super) fn with<R>(_: Avx2, work: impl FnOnce() -> R) -> R {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn compiled<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    // SAFETY: `Avx2` proves that the CPU has both features.
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
pub(super) fn dot(_: Avx2, a: &[f64], b: &[f64]) -> f64 {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn compiled(n: usize, streams: [*const f64; 2]) -> f64 {
        // SAFETY: as below.
        unsafe { lane_sum(n, streams, |[a, b], sum| _mm256_fmadd_pd(a, b, sum)) }
    }
    assert!(b.len() >= a.len());
    // SAFETY: `Avx2` proves that the CPU has both features, and no stream is shorter than the
    // first.
    unsafe { compiled(a.len(), [a.as_ptr(), b.as_ptr()]) }
}

#[inline(always)]
pub(super) fn sum(_: Avx2, a: &[f64]) -> f64 {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn compiled(n: usize, streams: [*const f64; 1]) -> f64 {
        // SAFETY: as below.
        unsafe { lane_sum(n, streams, |[a], sum| _mm256_add_pd(sum, a)) }
    }
    // SAFETY: `Avx2` proves that the CPU has both features.
    unsafe { compiled(a.len(), [a.as_ptr()]) }
}

#[inline(always)]
pub(super) fn dot_of_differences(_: Avx2, a: &[f64], b: &[f64], p: &[f64], q: &[f64]) -> f64 {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn compiled(n: usize, streams: [*const f64; 4]) -> f64 {
        // SAFETY: as below.
        unsafe {
            lane_sum(n, streams, |[a, b, p, q], sum| {
                _mm256_fmadd_pd(_mm256_sub_pd(a, b), _mm256_sub_pd(p, q), sum)
            })
        }
    }
    let n = a.len();
    assert!(b.len() >= n && p.len() >= n && q.len() >= n);
    // SAFETY: `Avx2` proves that the CPU has both features, and no stream is shorter than the
    // first.
    unsafe { compiled(n, [a.as_ptr(), b.as_ptr(), p.as_ptr(), q.as_ptr()]) }
}

#[inline(always)]
pub(super) fn dot_with_difference(_: Avx2, a: &[f64], p: &[f64], q: &[f64]) -> f64 {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn compiled(n: usize, streams: [*const f64; 3]) -> f64 {
        // SAFETY: as below.
        unsafe {
            lane_sum(n, streams, |[a, p, q], sum| _mm256_fmadd_pd(a, _mm256_sub_pd(p, q), sum))
        }
    }
    let n = a.len();
    assert!(p.len() >= n && q.len() >= n);
    // SAFETY: `Avx2` proves that the CPU has both features, and no stream is shorter than the
    // first.
    unsafe { compiled(n, [a.as_ptr(), p.as_ptr(), q.as_ptr()]) }
}

#[inline(always)]
pub(super) fn row_dots(cpu: Avx2, rows: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
    #[target_feature(enable = "avx2,fma")]
    fn compiled(cpu: Avx2, rows: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
        assert!(rows.len() >= out.len() * d && x.len() >= d);
        let (fours, rest) = out.as_chunks_mut::<4>();
        let whole = fours.len() * 4;
        let from = x.as_ptr();
        for (r, out) in fours.iter_mut().enumerate() {
            // SAFETY: rows 4 r to 4 r + 3 lie within `rows`, and `out` holds four numbers.
            unsafe {
                let four = rows.as_ptr().add(4 * r * d);
                let sums = if d > SHORT && d <= LONG {
                    four_dots::<true>(four, d, from)
                } else {
                    four_dots::<false>(four, d, from)
                };
                _mm256_storeu_pd(out.as_mut_ptr(), sums);
            }
        }
        for (r, out) in rest.iter_mut().enumerate() {
            *out = dot(cpu, &rows[(whole + r) * d..(whole + r + 1) * d], x);
        }
    }
    // SAFETY: `Avx2` proves that the CPU has both features.
    unsafe { compiled(cpu, rows, d, x, out) }
}

#[inline(always)]
pub(super) fn add_weighted_rows(cpu: Avx2, rows: &[f64], w: &[f64], out: &mut [f64]) {
    #[target_feature(enable = "avx2,fma")]
    fn compiled(cpu: Avx2, rows: &[f64], w: &[f64], out: &mut [f64]) {
        match out.len().div_ceil(4) {
            0 => {}
            1 => weighted_columns::<1>(rows, w, out),
            2 => weighted_columns::<2>(rows, w, out),
            3 => weighted_columns::<3>(rows, w, out),
            4 => weighted_columns::<4>(rows, w, out),
            5 => weighted_columns::<5>(rows, w, out),
            6 => weighted_columns::<6>(rows, w, out),
            7 => weighted_columns::<7>(rows, w, out),
            8 => weighted_columns::<8>(rows, w, out),
            _ if out.len() <= LONG => long_rows::<false, true>(cpu, rows, &[], w, &mut [], out),
            _ => long_rows::<false, false>(cpu, rows, &[], w, &mut [], out),
        }
    }
    // SAFETY: `Avx2` proves that the CPU has both features.
    unsafe { compiled(cpu, rows, w, out) }
}

/// Rows of at most `4 V` numbers, the last register used in part, with their sums in V registers.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn weighted_columns<const V: usize>(rows: &[f64], w: &[f64], out: &mut [f64]) {
    let d = out.len();
    assert!(4 * (V - 1) < d && d <= 4 * V && rows.len() >= w.len() * d);
    let last = mask(d - 4 * (V - 1));
    // SAFETY: columns 0 to 4 V - 5 are whole registers, the last is masked to what a row has; `out`
    // has as many, and there is a row for every weight.
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
                sums[v] = _mm256_fmadd_pd(w, load(row, v), sums[v]);
            }
        }
        for v in 0..V - 1 {
            _mm256_storeu_pd(out.as_mut_ptr().add(4 * v), sums[v]);
        }
        _mm256_maskstore_pd(out.as_mut_ptr().add(4 * (V - 1)), last, sums[V - 1]);
    }
}

/// Rows whose sums do not fit into registers, four at a time: `sum += sum_r w_r (row r)` and, if
/// `DOTS`, `out_r = <row r, x>`; if `AHEAD`, the next ones are asked for.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn long_rows<const DOTS: bool, const AHEAD: bool>(
    cpu: Avx2,
    rows: &[f64],
    x: &[f64],
    w: &[f64],
    out: &mut [f64],
    sum: &mut [f64],
) {
    let d = sum.len();
    assert!(rows.len() >= w.len() * d && (!DOTS || (x.len() == d && out.len() == w.len())));
    let whole = w.len() - w.len() % 4;
    let (first, second) = (mask(d % LANES), mask((d % LANES).saturating_sub(4)));
    for r in (0..whole).step_by(4) {
        let four = rows[r * d..].as_ptr();
        let (mut low, mut high) = ([_mm256_setzero_pd(); 4], [_mm256_setzero_pd(); 4]);
        // SAFETY: four rows, `sum` and, if there is one, x reach as far as column d, and so do all
        // loads and stores, which are masked at the end.
        unsafe {
            let mut weights = [_mm256_setzero_pd(); 4];
            for k in 0..4 {
                weights[k] = _mm256_set1_pd(*w.get_unchecked(r + k));
            }
            let mut l = 0;
            while l + LANES <= d {
                let x = x.as_ptr().wrapping_add(l);
                let at = sum.as_mut_ptr().add(l);
                let mut new = [_mm256_loadu_pd(at), _mm256_loadu_pd(at.add(4))];
                for k in 0..4 {
                    let row = four.add(k * d + l);
                    if AHEAD {
                        prefetch_lines::<0, 1>(
                            four.wrapping_add(PREFETCH_AHEAD + 4 * l + LANES * k),
                        );
                    }
                    let (row0, row1) = (_mm256_loadu_pd(row), _mm256_loadu_pd(row.add(4)));
                    if DOTS {
                        low[k] = _mm256_fmadd_pd(row0, _mm256_loadu_pd(x), low[k]);
                        high[k] = _mm256_fmadd_pd(row1, _mm256_loadu_pd(x.add(4)), high[k]);
                    }
                    new[0] = _mm256_fmadd_pd(weights[k], row0, new[0]);
                    new[1] = _mm256_fmadd_pd(weights[k], row1, new[1]);
                }
                _mm256_storeu_pd(at, new[0]);
                _mm256_storeu_pd(at.add(4), new[1]);
                l += LANES;
            }
            // The tail, in two parts; each lane belongs to one of them.
            for (part, (mask, l)) in [(first, l), (second, l + 4)].into_iter().enumerate() {
                if l >= d {
                    break;
                }
                let at = sum.as_mut_ptr().add(l);
                let mut new = _mm256_maskload_pd(at, mask);
                for k in 0..4 {
                    let row = _mm256_maskload_pd(four.add(k * d + l), mask);
                    if DOTS {
                        let lanes = if part == 0 { &mut low[k] } else { &mut high[k] };
                        *lanes = _mm256_fmadd_pd(
                            row,
                            _mm256_maskload_pd(x.as_ptr().add(l), mask),
                            *lanes,
                        );
                    }
                    new = _mm256_fmadd_pd(weights[k], row, new);
                }
                _mm256_maskstore_pd(at, mask, new);
            }
            if DOTS {
                for k in 0..4 {
                    low[k] = _mm256_add_pd(low[k], high[k]);
                }
                _mm256_storeu_pd(out[r..r + 4].as_mut_ptr(), across4(low));
            }
        }
    }
    for r in whole..w.len() {
        let row = &rows[r * d..(r + 1) * d];
        if DOTS {
            out[r] = dot(cpu, row, x);
        }
        super::axpy(w[r], row, sum);
    }
}

/// A mask for the first `count` of four lanes, all of them for `count >= 4`.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn mask(count: usize) -> __m256i {
    const WINDOW: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
    // SAFETY: at most four past the start, four are read.
    unsafe { _mm256_loadu_si256(WINDOW.as_ptr().add(4 - count.min(4)).cast()) }
}

/// `plain::lane_sum` with lanes 0 to 3 in one register and 4 to 7 in another: the same additions in
/// the same order. Kept small, so that the compiler puts it where it is called.
///
/// # Safety
/// Every stream holds n numbers.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn lane_sum<const K: usize>(
    n: usize,
    streams: [*const f64; K],
    add: impl Fn([__m256d; K], __m256d) -> __m256d,
) -> f64 {
    let (mut low, mut high) = (_mm256_setzero_pd(), _mm256_setzero_pd());
    let mut l = 0;
    // SAFETY: every load ends at or before number n.
    unsafe {
        while l + LANES <= n {
            low = add(streams.map(|s| _mm256_loadu_pd(s.add(l))), low);
            high = add(streams.map(|s| _mm256_loadu_pd(s.add(l + 4))), high);
            l += LANES;
        }
        if n & 4 != 0 {
            low = add(streams.map(|s| _mm256_loadu_pd(s.add(l))), low);
            l += 4;
            // The other half's turn. At the end they are added, and it does not matter which is
            // which.
            (low, high) = (high, low);
        }
        // The tail, up to three. Lanes beyond it are zeros and add zero.
        if n & 3 == 1 {
            low = add(streams.map(|s| _mm256_zextpd128_pd256(_mm_load_sd(s.add(l)))), low);
        } else if n & 2 != 0 {
            let two = streams.map(|s| _mm_loadu_pd(s.add(l)));
            let rest = if n & 1 == 0 {
                two.map(|two| _mm256_zextpd128_pd256(two))
            } else {
                let mut k = 0;
                two.map(|two| {
                    k += 1;
                    _mm256_set_m128d(_mm_load_sd(streams[k - 1].add(l + 2)), two)
                })
            };
            low = add(rest, low);
        }
    }
    across(_mm256_add_pd(low, high))
}

/// [`super::axpy`] is the same on all CPUs but for the compiler's leave to use their instructions.
#[inline(always)]
pub(super) fn axpy(cpu: Avx2, c: f64, x: &[f64], y: &mut [f64]) {
    with(
        cpu,
        #[inline(always)]
        || super::update_with(y, x, |y, x| x.mul_add(c, y)),
    );
}

#[inline(always)]
pub(super) fn axpy_of_difference(cpu: Avx2, c: f64, a: &[f64], b: &[f64], y: &mut [f64]) {
    with(
        cpu,
        #[inline(always)]
        || super::update_with_both(y, a, b, |y, a, b| (a - b).mul_add(c, y)),
    );
}

#[inline(always)]
pub(super) fn axpy_axpy(_: Avx2, c: f64, x: &[f64], y: &mut [f64], b: f64, z: &mut [f64]) {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn compiled(n: usize, c: f64, x: *const f64, y: *mut f64, b: f64, z: *mut f64) {
        let (mut l, cs, bs) = (0, _mm256_set1_pd(c), _mm256_set1_pd(b));
        // SAFETY: as below. Fours, a two and a one, as the sums read them: see `update_from`.
        unsafe {
            while l + 4 <= n {
                let new = _mm256_fmadd_pd(_mm256_loadu_pd(x.add(l)), cs, _mm256_loadu_pd(y.add(l)));
                _mm256_storeu_pd(y.add(l), new);
                _mm256_storeu_pd(z.add(l), _mm256_fmadd_pd(new, bs, _mm256_loadu_pd(z.add(l))));
                l += 4;
            }
            if n & 2 != 0 {
                let (c, b) = (_mm_set1_pd(c), _mm_set1_pd(b));
                let new = _mm_fmadd_pd(_mm_loadu_pd(x.add(l)), c, _mm_loadu_pd(y.add(l)));
                _mm_storeu_pd(y.add(l), new);
                _mm_storeu_pd(z.add(l), _mm_fmadd_pd(new, b, _mm_loadu_pd(z.add(l))));
                l += 2;
            }
            if n & 1 != 0 {
                let new = (*x.add(l)).mul_add(c, *y.add(l));
                *y.add(l) = new;
                *z.add(l) = new.mul_add(b, *z.add(l));
            }
        }
    }
    let n = y.len();
    assert!(x.len() >= n && z.len() >= n);
    // SAFETY: `Avx2` proves that the CPU has both features, and no vector is shorter than y.
    unsafe { compiled(n, c, x.as_ptr(), y.as_mut_ptr(), b, z.as_mut_ptr()) }
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
        let (low, high) =
            (_mm256_permute2f128_pd::<0x20>(p, q), _mm256_permute2f128_pd::<0x31>(p, q));
        _mm256_add_pd(low, high)
    };
    let even = halves(_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d));
    let odd = halves(_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d));
    _mm256_add_pd(even, odd)
}

/// Rows up to this length are all but one stretch, and the CPU sees the next ones coming. So it
/// does beyond the second length, where each row is a long stretch of its own. In between, four
/// rows read side by side confuse it: numbers so far ahead are asked for, in the order in which
/// they lie.
const SHORT: usize = 32;
const LONG: usize = 512;
const PREFETCH_AHEAD: usize = 512;

/// The dots of four adjacent rows of length d with x, each added up as in [`lane_sum`]; if `AHEAD`,
/// the next ones are asked for.
///
/// # Safety
/// `rows` points to 4 d numbers and x to d.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn four_dots<const AHEAD: bool>(rows: *const f64, d: usize, x: *const f64) -> __m256d {
    let (mut low, mut high) = ([_mm256_setzero_pd(); 4], [_mm256_setzero_pd(); 4]);
    let mut l = 0;
    // SAFETY: every load of a row or of x ends at or before its d-th number, or is masked to do so.
    unsafe {
        while l + LANES <= d {
            let (x0, x1) = (_mm256_loadu_pd(x.add(l)), _mm256_loadu_pd(x.add(l + 4)));
            for k in 0..4 {
                let row = rows.add(k * d + l);
                if AHEAD {
                    prefetch_lines::<0, 1>(rows.wrapping_add(PREFETCH_AHEAD + 4 * l + LANES * k));
                }
                low[k] = _mm256_fmadd_pd(_mm256_loadu_pd(row), x0, low[k]);
                high[k] = _mm256_fmadd_pd(_mm256_loadu_pd(row.add(4)), x1, high[k]);
            }
            l += LANES;
        }
        if l < d {
            let first = mask(d - l);
            let x0 = _mm256_maskload_pd(x.add(l), first);
            for k in 0..4 {
                let row = _mm256_maskload_pd(rows.add(k * d + l), first);
                low[k] = _mm256_fmadd_pd(row, x0, low[k]);
            }
        }
        if l + 4 < d {
            let second = mask(d - l - 4);
            let x1 = _mm256_maskload_pd(x.add(l + 4), second);
            for k in 0..4 {
                let row = _mm256_maskload_pd(rows.add(k * d + l + 4), second);
                high[k] = _mm256_fmadd_pd(row, x1, high[k]);
            }
        }
    }
    for k in 0..4 {
        low[k] = _mm256_add_pd(low[k], high[k]);
    }
    across4(low)
}

#[inline(always)]
pub(super) fn row_dots_and_weighted_rows(
    cpu: Avx2,
    rows: &[f64],
    x: &[f64],
    w: &[f64],
    out: &mut [f64],
    sum: &mut [f64],
) {
    #[target_feature(enable = "avx2,fma")]
    fn compiled(cpu: Avx2, rows: &[f64], x: &[f64], w: &[f64], out: &mut [f64], sum: &mut [f64]) {
        match x.len().div_ceil(4) {
            0 => out.fill(0.0),
            1 => both::<1>(cpu, rows, x, w, out, sum),
            2 => both::<2>(cpu, rows, x, w, out, sum),
            3 => both::<3>(cpu, rows, x, w, out, sum),
            4 => both::<4>(cpu, rows, x, w, out, sum),
            5 => both::<5>(cpu, rows, x, w, out, sum),
            6 => both::<6>(cpu, rows, x, w, out, sum),
            7 => both::<7>(cpu, rows, x, w, out, sum),
            8 => both::<8>(cpu, rows, x, w, out, sum),
            _ if x.len() <= LONG => long_rows::<true, true>(cpu, rows, x, w, out, sum),
            _ => long_rows::<true, false>(cpu, rows, x, w, out, sum),
        }
    }
    // SAFETY: `Avx2` proves that the CPU has both features.
    unsafe { compiled(cpu, rows, x, w, out, sum) }
}

/// Rows of at most `4 V` numbers, the last register used in part.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn both<const V: usize>(
    cpu: Avx2,
    rows: &[f64],
    x: &[f64],
    w: &[f64],
    out: &mut [f64],
    sum: &mut [f64],
) {
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
    // SAFETY: registers 0 to V - 2 end before number d of a row or of `sum`, and the last is masked
    // to do so; rows, weights and `out` are there up to `out.len()`.
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
                let (from, w) =
                    (rows.as_ptr().add((r + k) * d), _mm256_set1_pd(*w.as_ptr().add(r + k)));
                let mut lanes = [_mm256_setzero_pd(); 2];
                for v in 0..V {
                    let number = load(from, v);
                    let x = _mm256_loadu_pd(padded[v].as_ptr());
                    lanes[v % 2] = _mm256_fmadd_pd(number, x, lanes[v % 2]);
                    sums[v] = _mm256_fmadd_pd(w, number, sums[v]);
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
        out[r] = dot(cpu, row, x);
        super::axpy(w[r], row, sum);
        r += 1;
    }
}

#[inline(always)]
pub(super) fn bare_multiply_adds(_: Avx2, times: usize) -> f64 {
    #[target_feature(enable = "avx2,fma")]
    fn compiled(times: usize) -> f64 {
        let (factor, term) = (_mm256_set1_pd(black_box(0.999)), _mm256_set1_pd(black_box(0.001)));
        let mut sums = [_mm256_setzero_pd(); 12];
        for _ in 0..times {
            for sum in &mut sums {
                *sum = _mm256_fmadd_pd(*sum, factor, term);
            }
        }
        across(sums.into_iter().fold(_mm256_setzero_pd(), |total, sum| _mm256_add_pd(total, sum)))
    }
    // SAFETY: `Avx2` proves that the CPU has both features.
    unsafe { compiled(times) }
}
