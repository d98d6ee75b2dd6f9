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

/// Where the left factor of a product lies: entry (i, l) is at `rows[i] + l * step`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    /// Where the rows of the result begin.
    pub(crate) rows: [usize; HEIGHT],
    /// From one term of the sum to the next.
    pub(crate) step: usize,
}

impl Places {
    /// Rows of `length` numbers one after the other.
    #[inline(always)]
    pub(crate) fn of_rows(length: usize) -> Self {
        Places { rows: std::array::from_fn(|i| i * length), step: 1 }
    }
}

/// `tile_ij = sum_l left(i, l) right(l, j)` over `l < depth`, for right factors side by side, each
/// of which holds [`WIDTH`] numbers for each l. Every sum runs from 0 in the order of l, one fused
/// multiply-add after the other: the bits are those of a plain loop.
///
/// `soon(l)` is called now and then, before every eighth of `V depth` terms: the place for a
/// prefetch or two, which cost nothing there. Many at once would queue up and stop the loop.
///
/// # Panics
/// If a factor is too short.
#[inline(always)]
pub(crate) fn tiles<const V: usize>(
    depth: usize,
    left: &[f64],
    places: Places,
    right: [&[f64]; V],
    soon: impl Fn(usize),
) -> [Tile; V] {
    if depth == 0 {
        return [[[0.0; WIDTH]; HEIGHT]; V];
    }
    let reach = left.len().saturating_sub((depth - 1) * places.step);
    assert!(places.rows.iter().all(|row| *row < reach));
    assert!(right.iter().all(|right| right.len() >= depth * WIDTH));
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(cpu) = super::avx512::available() {
            return avx512::tiles(cpu, depth, left, places, right, soon);
        }
        if let Some(cpu) = super::avx2::available() {
            return std::array::from_fn(|v| {
                let soon = |l: usize| soon(v * depth + l);
                avx2::tile(cpu, depth, left, places, right[v], soon)
            });
        }
    }
    right.map(|right| plain(depth, left, places, right))
}

/// One of [`tiles`].
#[inline(always)]
pub(crate) fn tile(depth: usize, left: &[f64], places: Places, right: &[f64]) -> Tile {
    let [tile] = tiles(depth, left, places, [right], |_| ());
    tile
}

fn plain(depth: usize, left: &[f64], places: Places, right: &[f64]) -> Tile {
    let mut sums = [[0.0; WIDTH]; HEIGHT];
    for (l, right) in right.as_chunks::<WIDTH>().0[..depth].iter().enumerate() {
        for (i, sums) in sums.iter_mut().enumerate() {
            let left = left[places.rows[i] + l * places.step];
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
        self.set_with(l, row, row, |x, _| x);
    }

    /// Sets term l of the first columns to `map(a, b)`, number by number.
    ///
    /// # Panics
    /// If there is no such term, or there are too few columns, or b is shorter than a.
    #[inline(always)]
    pub(crate) fn set_with(
        &mut self,
        l: usize,
        a: &[f64],
        b: &[f64],
        map: impl Fn(f64, f64) -> f64,
    ) {
        let stride = self.stride;
        let panels = self.numbers.as_chunks_mut::<WIDTH>().0;
        let b = &b[..a.len()];
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<WIDTH>(), b.as_chunks::<WIDTH>());
        let whole = a.len();
        for (panel, (a, b)) in panels[l..].iter_mut().step_by(stride).zip(a.iter().zip(b)) {
            // All of it is read before any of it is written, so that it is one step of vectors.
            let new: [f64; WIDTH] = std::array::from_fn(|j| map(a[j], b[j]));
            *panel = new;
        }
        // Number by number: a copy of unknown length would be a call.
        if !a_rest.is_empty() {
            let panel = &mut panels[whole * stride + l];
            for (x, (a, b)) in panel.iter_mut().zip(a_rest.iter().zip(b_rest)) {
                *x = map(*a, *b);
            }
        }
    }

    /// Columns `first..first + HEIGHT` as the left factor of a product, in [`Self::numbers`].
    #[inline(always)]
    pub(crate) fn places(&self, first: usize) -> Places {
        let place = |column: usize| column / WIDTH * self.stride * WIDTH + column % WIDTH;
        Places { rows: std::array::from_fn(|i| place(first + i)), step: WIDTH }
    }

    /// All of them.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers
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

    use super::{HEIGHT, Places, Tile, WIDTH};
    use crate::linalg::vector::{LANES, avx2::Avx2};

    const REGISTERS: usize = WIDTH / 4;

    #[inline(always)]
    pub(super) fn tile(
        _: Avx2,
        depth: usize,
        left: &[f64],
        places: Places,
        right: &[f64],
        soon: impl Fn(usize),
    ) -> Tile {
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        fn compiled(
            depth: usize,
            left: &[f64],
            places: Places,
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
                            let factor = _mm256_broadcast_sd(&*left.add(places.rows[i]));
                            for j in 0..REGISTERS {
                                sums[i][j] = _mm256_fmadd_pd(factor, numbers[j], sums[i][j]);
                            }
                        }
                    }
                    left = left.wrapping_add(places.step);
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
        unsafe { compiled(depth, left, places, right, soon) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    #![expect(
        unsafe_code,
        reason = "vector loads, and calls that are sound because the CPU was asked"
    )]
    #![expect(clippy::needless_range_loop, reason = "registers are numbered")]

    use std::arch::x86_64::{
        _mm512_fmadd_pd, _mm512_loadu_pd, _mm512_set1_pd, _mm512_setzero_pd, _mm512_storeu_pd,
    };

    use super::{HEIGHT, Places, Tile, WIDTH};
    use crate::linalg::vector::{LANES, avx512::Avx512};

    /// Two tiles side by side: twelve sums, as many as the multiply-adds take to wait for none.
    #[inline(always)]
    pub(super) fn tiles<const V: usize>(
        _: Avx512,
        depth: usize,
        left: &[f64],
        places: Places,
        right: [&[f64]; V],
        soon: impl Fn(usize),
    ) -> [Tile; V] {
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn compiled<const V: usize>(
            depth: usize,
            left: &[f64],
            places: Places,
            right: [&[f64]; V],
            soon: impl Fn(usize),
        ) -> [Tile; V] {
            let mut sums = [[_mm512_setzero_pd(); V]; HEIGHT];
            let mut tiles = [[[0.0; WIDTH]; HEIGHT]; V];
            let (mut left, mut right) = (left.as_ptr(), right.map(<[f64]>::as_ptr));
            let mut l = 0;
            while l < depth {
                for v in 0..V {
                    soon(v * depth + l);
                }
                let end = depth.min(l + LANES);
                while l < end {
                    // SAFETY: the caller has seen to it that all factors reach as far as the last
                    // term.
                    unsafe {
                        let mut numbers = [_mm512_setzero_pd(); V];
                        for v in 0..V {
                            numbers[v] = _mm512_loadu_pd(right[v]);
                        }
                        for i in 0..HEIGHT {
                            let factor = _mm512_set1_pd(*left.add(places.rows[i]));
                            for v in 0..V {
                                sums[i][v] = _mm512_fmadd_pd(factor, numbers[v], sums[i][v]);
                            }
                        }
                    }
                    left = left.wrapping_add(places.step);
                    right = right.map(|right| right.wrapping_add(WIDTH));
                    l += 1;
                }
            }
            for i in 0..HEIGHT {
                for v in 0..V {
                    // SAFETY: eight numbers in a row of eight.
                    unsafe { _mm512_storeu_pd(tiles[v][i].as_mut_ptr(), sums[i][v]) }
                }
            }
            tiles
        }
        // SAFETY: `Avx512` proves that the CPU has it.
        unsafe { compiled(depth, left, places, right, soon) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::tests::on_every_path;

    #[test]
    fn tiles_are_bit_for_bit_the_plain_loop() {
        on_every_path(|| {
            for depth in [0, 1, 2, 7, 64] {
                let across = Places { rows: std::array::from_fn(|i| i), step: HEIGHT };
                for places in [across, Places::of_rows(depth + 3)] {
                    let number = |k: usize| ((k * 7919 + depth) % 1000) as f64 / 137.0 - 3.0;
                    let left: Vec<f64> = (0..HEIGHT * (depth + 3)).map(number).collect();
                    let right = [5, 11].map(|salt| -> Vec<f64> {
                        (0..WIDTH * depth).map(|k| number(k + salt)).collect()
                    });
                    let right = [&*right[0], &*right[1]];
                    let expected = right.map(|right| plain(depth, &left, places, right));
                    assert_eq!(tile(depth, &left, places, right[1]), expected[1]);
                    let asked = std::cell::RefCell::new(Vec::new());
                    let soon = |l: usize| asked.borrow_mut().push(l);
                    assert_eq!(tiles(depth, &left, places, right, soon), expected);
                    let eighths = |v: usize| (0..depth).step_by(8).map(move |l| v * depth + l);
                    let all: Vec<usize> = (0..2).flat_map(eighths).collect();
                    let mut asked = asked.into_inner();
                    asked.sort_unstable();
                    assert!(asked == all || asked.is_empty());
                }
            }
        });
    }

    #[test]
    fn panels_hold_columns_side_by_side() {
        let mut panels = Panels::zeros(10, 3);
        let row: Vec<f64> = (1..=10).map(f64::from).collect();
        panels.set(2, &row);
        assert_eq!(panels.panel(0)[2 * WIDTH..], row[..WIDTH]);
        assert_eq!(panels.panel(1)[2 * WIDTH..2 * WIDTH + 3], [9.0, 10.0, 0.0]);
        assert!(panels.panel(0)[..2 * WIDTH].iter().all(|x| *x == 0.0));
        panels.set_with(0, &row, &row, |a, b| a - 2.0 * b);
        // Columns 6 to 8, of which the last lies in the next panel.
        let Places { rows, step } = panels.places(6);
        let column = |i: usize, l: usize| panels.numbers()[rows[i] + l * step];
        assert_eq!([column(0, 2), column(1, 2), column(2, 2)], [7.0, 8.0, 9.0]);
        assert_eq!([column(2, 0), column(3, 0)], [-9.0, -10.0]);
    }
}
