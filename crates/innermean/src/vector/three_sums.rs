//! Passes over rows of weights, such as probabilities: the weighted sums of other rows for three of them at once, and what they are like. With nine sums in
//! registers no addition waits for the last one.

#[cfg(target_arch = "x86_64")]
use super::LANES;
use super::axpy;

/// [`super::add_weighted_rows`] for three sets of weights, bit for bit: `out_k += sum_r w_k[r] (row r)`, where `out` is three rows of length d.
///
/// While it works, weights that lie as many numbers further on come near: where `w` are pieces of long rows, the next ones.
///
/// # Panics
/// Unless the weights are equally many, there is a row of length d for each, and three rows in `out`.
#[inline(always)]
pub fn add_three_weighted_rows(rows: &[f64], d: usize, w: [&[f64]; 3], out: &mut [f64]) {
    let n = w[0].len();
    assert!(w.iter().all(|w| w.len() == n) && out.len() == 3 * d, "three of each");
    let rows = &rows[..n * d];
    #[cfg(target_arch = "x86_64")]
    if super::avx2::available() {
        return avx2::add_three_weighted_rows(rows, d, w, out);
    }
    for (w, out) in w.iter().zip(out.chunks_exact_mut(d.max(1))) {
        for (r, w) in w.iter().enumerate() {
            axpy(*w, &rows[r * d..(r + 1) * d], out);
        }
    }
}

/// The sum of some weights, the least of them and the largest product of a weight and its size; of none, `[0, inf, 0]`. Where a weight is no number,
/// the sum is none either.
///
/// # Panics
/// If there are fewer sizes than weights.
#[inline(always)]
pub fn weight_facts(weights: &[f64], sizes: &[f64]) -> [f64; 3] {
    let sizes = &sizes[..weights.len()];
    #[cfg(target_arch = "x86_64")]
    if super::avx2::available() {
        return avx2::weight_facts(weights, sizes);
    }
    some_facts(weights, sizes)
}

fn some_facts(weights: &[f64], sizes: &[f64]) -> [f64; 3] {
    weights.iter().zip(sizes).fold([0.0, f64::INFINITY, 0.0], |[sum, least, most], (w, size)| {
        [sum + w, least.min(*w), most.max(w * size)]
    })
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    #![expect(unsafe_code, reason = "vector loads, and calls that are sound because the CPU was asked")]
    #![expect(clippy::needless_range_loop, reason = "registers are numbered")]

    use std::arch::x86_64::{
        __m256d, _mm256_add_pd, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_maskload_pd, _mm256_maskstore_pd,
        _mm256_max_pd, _mm256_min_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd,
    };

    use super::{LANES, some_facts};
    use crate::vector::avx2::{mask, prefetch_lines};

    #[inline(always)]
    pub(super) fn weight_facts(weights: &[f64], sizes: &[f64]) -> [f64; 3] {
        #[target_feature(enable = "avx2,fma")]
        fn compiled(weights: &[f64], sizes: &[f64]) -> [f64; 3] {
            assert!(sizes.len() >= weights.len());
            let whole = weights.len() - weights.len() % LANES;
            let mut sum = [_mm256_setzero_pd(); 2];
            let mut least = [_mm256_set1_pd(f64::INFINITY); 2];
            let mut most = [_mm256_setzero_pd(); 2];
            let mut r = 0;
            while r < whole {
                for h in 0..2 {
                    // SAFETY: r + 8 is at most the number of weights, and sizes are no fewer.
                    let (w, size) = unsafe {
                        let at = r + 4 * h;
                        (_mm256_loadu_pd(weights.as_ptr().add(at)), _mm256_loadu_pd(sizes.as_ptr().add(at)))
                    };
                    sum[h] = _mm256_add_pd(sum[h], w);
                    least[h] = _mm256_min_pd(w, least[h]);
                    most[h] = _mm256_max_pd(_mm256_mul_pd(w, size), most[h]);
                }
                r += LANES;
            }
            let lanes = |v: __m256d| {
                let mut lanes = [0.0; 4];
                // SAFETY: four numbers go where there is room for four.
                unsafe { _mm256_storeu_pd(lanes.as_mut_ptr(), v) };
                lanes
            };
            let rest = some_facts(&weights[whole..], &sizes[whole..]);
            [
                lanes(_mm256_add_pd(sum[0], sum[1])).iter().sum::<f64>() + rest[0],
                lanes(_mm256_min_pd(least[0], least[1])).into_iter().fold(rest[1], f64::min),
                lanes(_mm256_max_pd(most[0], most[1])).into_iter().fold(rest[2], f64::max),
            ]
        }
        // SAFETY: the caller has asked `available`.
        unsafe { compiled(weights, sizes) }
    }

    #[inline(always)]
    pub(super) fn add_three_weighted_rows(rows: &[f64], d: usize, w: [&[f64]; 3], out: &mut [f64]) {
        #[target_feature(enable = "avx2,fma")]
        fn compiled(rows: &[f64], d: usize, w: [&[f64]; 3], out: &mut [f64]) {
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
    #[target_feature(enable = "avx2,fma")]
    fn columns<const V: usize>(
        rows: &[f64],
        d: usize,
        first: usize,
        w: [&[f64]; 3],
        out: &mut [f64],
    ) -> usize {
        let (n, columns) = (w[0].len(), (d - first).min(4 * V));
        assert!(rows.len() >= n * d && out.len() >= 3 * d && w.iter().all(|w| w.len() == n));
        let last = mask(columns - 4 * (V - 1));
        // SAFETY: columns `first` to `first + 4 V - 5` are whole registers, the last is masked to what a row has left; every row and each of the three
        // in `out` has them, and every weight is there.
        unsafe {
            let load = |from: *const f64, v: usize| {
                if v + 1 < V {
                    _mm256_loadu_pd(from.add(4 * v))
                } else {
                    _mm256_maskload_pd(from.add(4 * v), last)
                }
            };
            let mut sums = [[_mm256_setzero_pd(); V]; 3];
            for k in 0..3 {
                for v in 0..V {
                    sums[k][v] = load(out.as_ptr().add(k * d + first), v);
                }
            }
            let mut r = 0;
            while r < n {
                if first == 0 {
                    for k in 0..3 {
                        prefetch_lines::<0, 1>(w[k].as_ptr().wrapping_add(r + n));
                    }
                }
                let end = n.min(r + LANES);
                while r < end {
                    let mut row = [_mm256_setzero_pd(); V];
                    for v in 0..V {
                        row[v] = load(rows.as_ptr().add(r * d + first), v);
                    }
                    for k in 0..3 {
                        let weight = _mm256_set1_pd(*w[k].get_unchecked(r));
                        for v in 0..V {
                            sums[k][v] = _mm256_fmadd_pd(weight, row[v], sums[k][v]);
                        }
                    }
                    r += 1;
                }
            }
            for k in 0..3 {
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
    fn three_at_once_are_bit_for_bit_one_after_the_other() {
        for (n, d) in [(0, 3), (1, 1), (7, 4), (5, 10), (9, 12), (6, 13), (4, 25), (3, 24)] {
            let number = |k: usize| ((k * 7919 + d) % 1000) as f64 / 137.0 - 3.0;
            let rows: Vec<f64> = (0..n * d).map(number).collect();
            let w: Vec<f64> = (0..3 * n).map(|k| number(k + 5)).collect();
            let mut out: Vec<f64> = (0..3 * d).map(|k| number(k + 11)).collect();
            let mut one = out.clone();
            let sets = std::array::from_fn(|k| &w[k * n..(k + 1) * n]);
            add_three_weighted_rows(&rows, d, sets, &mut out);
            for (w, one) in sets.iter().zip(one.chunks_exact_mut(d)) {
                add_weighted_rows(&rows, w, one);
            }
            assert_eq!(out, one, "n = {n}, d = {d}");
        }
    }

    #[test]
    fn facts_are_those_of_the_weights() {
        for n in [0, 1, 7, 8, 9, 31] {
            let weights: Vec<f64> = (0..n).map(|k| f64::from((k * 37 + 11) % 17) - 3.0).collect();
            let sizes: Vec<f64> = (0..n).map(|k| f64::from((k * 5) % 7)).collect();
            assert_eq!(weight_facts(&weights, &sizes), some_facts(&weights, &sizes), "n = {n}");
        }
        let mut weights = [0.1; 20];
        weights[3] = f64::NAN;
        assert!(weight_facts(&weights, &[1.0; 20])[0].is_nan());
    }
}
