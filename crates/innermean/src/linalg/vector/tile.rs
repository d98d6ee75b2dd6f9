//! The kernel of matrix products: a tile of sums that stays in registers while it runs along the
//! depth.

use super::Aligned;

/// Rows of a tile.
pub(crate) const HEIGHT: usize = 6;
/// Columns of a tile: with [`HEIGHT`] rows twelve AVX2 registers, enough that no multiply-add waits
/// for the last one, and some left for the factors.
pub(crate) const WIDTH: usize = 8;

/// `HEIGHT x WIDTH` sums.
pub(crate) type Tile = [[f64; WIDTH]; HEIGHT];

/// Where the left factor of a product lies: entry (i, l) is at `i * row + l * step`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strides {
    /// From one row of the result to the next.
    pub(crate) row: usize,
    /// From one term of the sum to the next.
    pub(crate) step: usize,
}

/// `tile_ij = sum_l left(i, l) right(l, j)` over `l < depth`, where `right` holds [`WIDTH`] numbers
/// for each l. Every sum runs from 0 in the order of l, one fused multiply-add after the other: the
/// bits are those of a plain loop.
///
/// `soon(l)` is called now and then, before every eighth term: the place for a prefetch or two,
/// which cost nothing there. Many at once would queue up and stop the loop.
///
/// # Panics
/// If a factor is too short.
#[inline(always)]
pub(crate) fn tile(
    depth: usize,
    left: &[f64],
    strides: Strides,
    right: &[f64],
    soon: impl Fn(usize),
) -> Tile {
    if depth == 0 {
        return [[0.0; WIDTH]; HEIGHT];
    }
    assert!(left.len() > (HEIGHT - 1) * strides.row + (depth - 1) * strides.step);
    assert!(right.len() >= depth * WIDTH);
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = super::avx2::available() {
        return avx2::tile(cpu, depth, left, strides, right, soon);
    }
    plain(depth, left, strides, right)
}

fn plain(depth: usize, left: &[f64], strides: Strides, right: &[f64]) -> Tile {
    let mut sums = [[0.0; WIDTH]; HEIGHT];
    for (l, right) in right.as_chunks::<WIDTH>().0[..depth].iter().enumerate() {
        for (i, sums) in sums.iter_mut().enumerate() {
            let left = left[i * strides.row + l * strides.step];
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum = left.mul_add(*right, *sum);
            }
        }
    }
    sums
}

/// Columns of a right factor side by side as [`tile`] wants them: panels of [`WIDTH`] columns, each
/// with room for this many terms. Zeros fill the last one.
#[derive(Debug)]
pub(crate) struct Panels {
    /// From one panel to the next, in rows of [`WIDTH`]. Odd: panels a power of two apart would
    /// share a few places in the cache.
    stride: usize,
    numbers: Aligned,
}

impl Panels {
    /// Zeros for this many columns and terms.
    pub(crate) fn zeros(columns: usize, depth: usize) -> Self {
        let stride = depth | 1;
        Panels { stride, numbers: Aligned::zeros(columns.div_ceil(WIDTH) * stride * WIDTH) }
    }

    /// Sets term l of the first columns.
    ///
    /// # Panics
    /// If there is no such term or there are too few columns.
    #[inline(always)]
    pub(crate) fn set(&mut self, l: usize, row: &[f64]) {
        let stride = self.stride;
        let panels = self.numbers.as_chunks_mut::<WIDTH>().0;
        let (whole, rest) = row.as_chunks::<WIDTH>();
        for (p, row) in whole.iter().enumerate() {
            panels[p * stride + l] = *row;
        }
        if !rest.is_empty() {
            panels[whole.len() * stride + l][..rest.len()].copy_from_slice(rest);
        }
    }

    /// Columns `p WIDTH` and on.
    ///
    /// # Panics
    /// If there are not this many.
    #[inline(always)]
    pub(crate) fn panel(&self, p: usize) -> &[f64] {
        &self.numbers[p * self.stride * WIDTH..(p + 1) * self.stride * WIDTH]
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

    use super::{HEIGHT, Strides, Tile, WIDTH};
    use crate::linalg::vector::{LANES, avx2::Avx2};

    const REGISTERS: usize = WIDTH / 4;

    #[inline(always)]
    pub(super) fn tile(
        _: Avx2,
        depth: usize,
        left: &[f64],
        strides: Strides,
        right: &[f64],
        soon: impl Fn(usize),
    ) -> Tile {
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        fn compiled(
            depth: usize,
            left: &[f64],
            strides: Strides,
            right: &[f64],
            soon: impl Fn(usize),
        ) -> Tile {
            let mut sums = [[_mm256_setzero_pd(); REGISTERS]; HEIGHT];
            let mut tile = [[0.0; WIDTH]; HEIGHT];
            let (mut left, mut right) = (left.as_ptr(), right.as_ptr());
            let mut l = 0;
            while l < depth {
                soon(l);
                let end = depth.min(l + LANES);
                while l < end {
                    // SAFETY: the caller has seen to it that both factors reach as far as the last
                    // term.
                    unsafe {
                        let mut numbers = [_mm256_setzero_pd(); REGISTERS];
                        for j in 0..REGISTERS {
                            numbers[j] = _mm256_loadu_pd(right.add(4 * j));
                        }
                        for i in 0..HEIGHT {
                            let factor = _mm256_broadcast_sd(&*left.add(i * strides.row));
                            for j in 0..REGISTERS {
                                sums[i][j] = _mm256_fmadd_pd(factor, numbers[j], sums[i][j]);
                            }
                        }
                    }
                    left = left.wrapping_add(strides.step);
                    right = right.wrapping_add(WIDTH);
                    l += 1;
                }
            }
            for i in 0..HEIGHT {
                for j in 0..REGISTERS {
                    // SAFETY: twice four numbers in a row of eight.
                    unsafe { _mm256_storeu_pd(tile[i].as_mut_ptr().add(4 * j), sums[i][j]) }
                }
            }
            tile
        }
        // SAFETY: `Avx2` proves that the CPU has both features.
        unsafe { compiled(depth, left, strides, right, soon) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_is_bit_for_bit_the_plain_loop() {
        for depth in [0, 1, 2, 7, 64] {
            for strides in [Strides { row: 1, step: HEIGHT }, Strides { row: depth + 3, step: 1 }] {
                let number = |k: usize| ((k * 7919 + depth) % 1000) as f64 / 137.0 - 3.0;
                let left: Vec<f64> = (0..HEIGHT * (depth + 3)).map(number).collect();
                let right: Vec<f64> = (0..WIDTH * depth).map(|k| number(k + 5)).collect();
                assert_eq!(
                    tile(depth, &left, strides, &right, |_| ()),
                    plain(depth, &left, strides, &right)
                );
            }
        }
    }

    #[test]
    fn panels_hold_columns_side_by_side() {
        let mut panels = Panels::zeros(10, 3);
        let row: Vec<f64> = (1..=10).map(f64::from).collect();
        panels.set(2, &row);
        assert_eq!(panels.panel(0)[2 * WIDTH..], row[..WIDTH]);
        assert_eq!(panels.panel(1)[2 * WIDTH..2 * WIDTH + 3], [9.0, 10.0, 0.0]);
        assert!(panels.panel(0)[..2 * WIDTH].iter().all(|x| *x == 0.0));
    }
}
