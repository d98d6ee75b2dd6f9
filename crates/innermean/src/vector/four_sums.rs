//! Weighted sums of the same rows for four sets of weights: with twelve sums in registers, no addition waits for the last.

use super::axpy;

/// [`super::add_weighted_rows`] for four sets of weights, bit for bit: `out_k += sum_r w_k[r] (row r)`, where `out` is four rows of length d.
///
/// # Panics
/// Unless the weights are equally many, there is a row of length d for each, and four rows in `out`.
#[inline(always)]
pub fn add_four_weighted_rows(rows: &[f64], d: usize, w: [&[f64]; 4], out: &mut [f64]) {
    let n = w[0].len();
    assert!(w.iter().all(|w| w.len() == n) && out.len() == 4 * d, "four of each");
    let rows = &rows[..n * d];
    #[cfg(target_arch = "x86_64")]
    if super::avx2::available() {
        return avx2::add_four_weighted_rows(rows, d, w, out);
    }
    for (w, out) in w.iter().zip(out.chunks_exact_mut(d.max(1))) {
        for (r, w) in w.iter().enumerate() {
            axpy(*w, &rows[r * d..(r + 1) * d], out);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    #![expect(unsafe_code, reason = "vector loads, and calls that are sound because the CPU was asked")]
    #![expect(clippy::needless_range_loop, reason = "registers are numbered")]

    use std::arch::x86_64::{
        _mm256_add_pd, _mm256_loadu_pd, _mm256_maskload_pd, _mm256_maskstore_pd, _mm256_mul_pd,
        _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd,
    };

    use crate::vector::avx2::mask;

    #[inline(always)]
    pub(super) fn add_four_weighted_rows(rows: &[f64], d: usize, w: [&[f64]; 4], out: &mut [f64]) {
        #[target_feature(enable = "avx2")]
        fn compiled(rows: &[f64], d: usize, w: [&[f64]; 4], out: &mut [f64]) {
            let mut column = 0;
            while column < d {
                column += match (d - column).div_ceil(4) {
                    1 => columns::<1>(rows, d, column, w, out),
                    2 => columns::<2>(rows, d, column, w, out),
                    _ => columns::<3>(rows, d, column, w, out),
                };
            }
        }
        // SAFETY: the caller has asked `available`.
        unsafe { compiled(rows, d, w, out) }
    }

    /// The `4 V` columns from `first` on (or as many as there are, the last register then being used in part). Returns how many were done.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn columns<const V: usize>(
        rows: &[f64],
        d: usize,
        first: usize,
        w: [&[f64]; 4],
        out: &mut [f64],
    ) -> usize {
        let (n, columns) = (w[0].len(), (d - first).min(4 * V));
        assert!(rows.len() >= n * d && out.len() >= 4 * d && w.iter().all(|w| w.len() == n));
        let last = mask(columns - 4 * (V - 1));
        // SAFETY: columns `first` to `first + 4 V - 5` are whole registers, the last is masked to what a row has left; every row and each of the four
        // in `out` has them, and every weight is there.
        unsafe {
            let load = |from: *const f64, v: usize| {
                if v + 1 < V {
                    _mm256_loadu_pd(from.add(4 * v))
                } else {
                    _mm256_maskload_pd(from.add(4 * v), last)
                }
            };
            let mut sums = [[_mm256_setzero_pd(); V]; 4];
            for k in 0..4 {
                for v in 0..V {
                    sums[k][v] = load(out.as_ptr().add(k * d + first), v);
                }
            }
            for r in 0..n {
                let mut row = [_mm256_setzero_pd(); V];
                for v in 0..V {
                    row[v] = load(rows.as_ptr().add(r * d + first), v);
                }
                for k in 0..4 {
                    let weight = _mm256_set1_pd(*w[k].get_unchecked(r));
                    for v in 0..V {
                        sums[k][v] = _mm256_add_pd(sums[k][v], _mm256_mul_pd(weight, row[v]));
                    }
                }
            }
            for k in 0..4 {
                let to = out.as_mut_ptr().add(k * d + first);
                for v in 0..V - 1 {
                    _mm256_storeu_pd(to.add(4 * v), sums[k][v]);
                }
                _mm256_maskstore_pd(to.add(4 * (V - 1)), last, sums[k][V - 1]);
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::add_weighted_rows;

    #[test]
    fn four_at_once_are_bit_for_bit_one_after_the_other() {
        for (n, d) in [(0, 3), (1, 1), (7, 4), (5, 10), (9, 12), (6, 13), (4, 25), (3, 24)] {
            let number = |k: usize| ((k * 7919 + d) % 1000) as f64 / 137.0 - 3.0;
            let rows: Vec<f64> = (0..n * d).map(number).collect();
            let w: Vec<f64> = (0..4 * n).map(|k| number(k + 5)).collect();
            let mut out: Vec<f64> = (0..4 * d).map(|k| number(k + 11)).collect();
            let mut one = out.clone();
            let sets = std::array::from_fn(|k| &w[k * n..(k + 1) * n]);
            add_four_weighted_rows(&rows, d, sets, &mut out);
            for (w, one) in sets.iter().zip(one.chunks_exact_mut(d)) {
                add_weighted_rows(&rows, w, one);
            }
            assert_eq!(out, one, "n = {n}, d = {d}");
        }
    }
}
