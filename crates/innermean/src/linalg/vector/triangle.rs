//! The product of narrow rows with themselves: the lower triangle of a matrix, in strips of four
//! columns from the diagonal down, whose sums stay in registers.
//!
//! Tiles of six rows and eight columns compute twice what a triangle of 25 columns has; strips a
//! tenth more.

/// Columns of a strip: a vector.
pub(crate) const STRIP: usize = 4;
/// Sums of a piece of a strip, or of two strips side by side: with a vector of the right factor and
/// a number of the left one they fill the registers.
const MOST: usize = 13;

type Sums = [[f64; STRIP]; MOST];

/// Two factors, `depth` rows of `stride` numbers each, one after the other.
#[derive(Debug, Clone, Copy)]
struct Factors<'f> {
    depth: usize,
    stride: usize,
    left: &'f [f64],
    right: &'f [f64],
}

/// Adds `sum_l left_l right_l'` over `l < depth` to what is on and below the diagonal of `out`, `d`
/// rows of d; what is above it may change. The factors have rows of `d.next_multiple_of(STRIP)`
/// numbers, those behind d zeros. Every sum runs from 0 in the order of l, one fused multiply-add
/// after the other: the bits are those of a plain loop.
///
/// `between` is called before every piece: the place for a few prefetches.
///
/// # Panics
/// If a factor or `out` is too short.
#[inline(always)]
pub(crate) fn add_triangle(
    depth: usize,
    d: usize,
    (left, right): (&[f64], &[f64]),
    out: &mut [f64],
    mut between: impl FnMut(),
) {
    let stride = d.next_multiple_of(STRIP);
    assert!(left.len() >= depth * stride && right.len() >= depth * stride, "{depth} rows");
    let factors = Factors { depth, stride, left, right };
    let mut column = 0;
    while column < d {
        let below = d - column;
        let width = if below > STRIP && 2 * below <= MOST { 2 } else { 1 };
        let pieces = (below * width).div_ceil(MOST);
        for piece in 0..pieces {
            let [from, to] = [piece, piece + 1].map(|k| column + k * below / pieces);
            between();
            let sums = sums(factors, [from, to], column, width);
            for (r, sums) in (from..to).zip(sums.chunks_exact(width)) {
                let end = d.min(column + width * STRIP);
                let own = &mut out[r * d + column..r * d + end];
                own.iter_mut().zip(sums.as_flattened()).for_each(|(out, sum)| *out += sum);
            }
        }
        column += width * STRIP;
    }
}

/// Those of rows `from..to` and of `width` strips from a column on, row by row.
fn sums(factors: Factors<'_>, [from, to]: [usize; 2], column: usize, width: usize) -> Sums {
    let mut sums = [[0.0; STRIP]; MOST];
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = super::avx2::available() {
        avx2::sums(cpu, factors, [from, to], column, width, &mut sums);
        return sums;
    }
    plain(factors, [from, to], column, width, &mut sums);
    sums
}

fn plain(
    factors: Factors<'_>,
    [from, to]: [usize; 2],
    column: usize,
    width: usize,
    sums: &mut Sums,
) {
    let Factors { depth, stride, left, right } = factors;
    for l in 0..depth {
        let right = &right[l * stride + column..];
        for (r, sums) in (from..to).zip(sums.chunks_exact_mut(width)) {
            let left = left[l * stride + r];
            for (sum, right) in sums.as_flattened_mut().iter_mut().zip(right) {
                *sum = left.mul_add(*right, *sum);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    #![expect(
        unsafe_code,
        reason = "vector loads, and calls that are sound because the CPU was asked"
    )]
    #![expect(clippy::needless_range_loop, reason = "registers are numbered")]

    use std::arch::x86_64::{
        _mm256_broadcast_sd, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_setzero_pd, _mm256_storeu_pd,
    };

    use super::{Factors, STRIP, Sums};
    use crate::linalg::vector::avx2::Avx2;

    /// `sums` of R rows and V strips.
    #[target_feature(enable = "avx2,fma")]
    fn piece<const R: usize, const V: usize>(
        factors: Factors<'_>,
        from: usize,
        column: usize,
        out: &mut Sums,
    ) {
        let Factors { depth, stride, left, right } = factors;
        assert!(from + R <= stride && column + V * STRIP <= stride && R * V <= out.len());
        assert!(left.len() >= depth * stride && right.len() >= depth * stride);
        let mut sums = [[_mm256_setzero_pd(); V]; R];
        for l in 0..depth {
            // SAFETY: row l lies within both factors, and what is read of it within the row.
            unsafe {
                let left = left.as_ptr().add(l * stride + from);
                let right = right.as_ptr().add(l * stride + column);
                let mut numbers = [_mm256_setzero_pd(); V];
                for v in 0..V {
                    numbers[v] = _mm256_loadu_pd(right.add(v * STRIP));
                }
                for i in 0..R {
                    let factor = _mm256_broadcast_sd(&*left.add(i));
                    for v in 0..V {
                        sums[i][v] = _mm256_fmadd_pd(factor, numbers[v], sums[i][v]);
                    }
                }
            }
        }
        for i in 0..R {
            for v in 0..V {
                // SAFETY: four numbers in an array of four.
                unsafe { _mm256_storeu_pd(out[i * V + v].as_mut_ptr(), sums[i][v]) }
            }
        }
    }

    pub(super) fn sums(
        _: Avx2,
        factors: Factors<'_>,
        [from, to]: [usize; 2],
        column: usize,
        width: usize,
        out: &mut Sums,
    ) {
        macro_rules! piece {
            ($($width:literal: $($rows:literal)*;)*) => {
                match (width, to - from) {
                    // SAFETY: `Avx2` proves that the CPU has both features.
                    $($(($width, $rows) => unsafe {
                        piece::<$rows, $width>(factors, from, column, out);
                    },)*)*
                    (width, rows) => unreachable!("{rows} rows of {width} strips"),
                }
            };
        }
        piece! {
            1: 1 2 3 4 5 6 7 8 9 10 11 12 13;
            2: 5 6;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_is_bit_for_bit_the_plain_loop() {
        for (d, depth) in
            [(1_usize, 3), (4, 1), (5, 9), (6, 2), (13, 4), (25, 64), (31, 7), (32, 5)]
        {
            let stride = d.next_multiple_of(STRIP);
            let number = |seed: usize| {
                move |k: usize| {
                    let is_behind = k % stride >= d;
                    if is_behind { 0.0 } else { ((k * 7919 + seed) % 1000) as f64 / 137.0 - 3.0 }
                }
            };
            let left: Vec<f64> = (0..depth * stride).map(number(d)).collect();
            let right: Vec<f64> = (0..depth * stride).map(number(d + 1)).collect();
            let mut out = vec![0.5; d * d];
            let mut pieces = 0;
            add_triangle(depth, d, (&left, &right), &mut out, || pieces += 1);
            assert!(pieces >= d.div_ceil(2 * STRIP), "{d}: {pieces}");
            for r in 0..d {
                for c in 0..=r {
                    let term = |l: usize| (left[l * stride + r], right[l * stride + c]);
                    let sum = (0..depth).map(term).fold(0.0, |sum, (a, b)| a.mul_add(b, sum));
                    assert_eq!(out[r * d + c], 0.5 + sum, "{d}: {r}, {c}");
                }
            }
        }
    }

    #[test]
    fn pieces_without_vectors_have_the_same_bits() {
        let (d, depth) = (25_usize, 10);
        let stride = d.next_multiple_of(STRIP);
        let numbers: Vec<f64> = (0..depth * stride).map(|k| (k as f64).sin()).collect();
        let factors = Factors { depth, stride, left: &numbers, right: &numbers };
        for (rows, column, width) in [([0, 13], 0, 1), ([17, 25], 8, 1), ([20, 25], 20, 2)] {
            let mut expected = [[0.0; STRIP]; MOST];
            plain(factors, rows, column, width, &mut expected);
            assert_eq!(sums(factors, rows, column, width), expected, "{rows:?}");
        }
    }
}
