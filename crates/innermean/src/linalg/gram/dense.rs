//! Blocks of data rows, packed into panels and multiplied tile by tile.

use std::ops::Range;

use super::Weight;
use crate::linalg::vector::{HEIGHT, LANES, Panels, WIDTH, prefetch, tile, update_with_dispatched};
use crate::model::row_data::RowData;

/// Data rows packed at once: a panel of them and what it meets stay in the nearest cache.
const DEPTH: usize = 192;
/// The same for narrow rows, all of whose panels stay there.
const DEPTH_OF_NARROW: usize = 96;
const NARROW: usize = 32;
/// Numbers that the second cache holds beside the panels.
const CACHED_NUMBERS: usize = 1 << 16;

/// Where the data rows come from.
pub(super) trait DataRows {
    /// Packs row r as term l; `scratch` is as long as a row.
    fn pack(&self, r: usize, weight: f64, l: usize, packed: &mut Packed, scratch: &mut [f64]);

    /// Asks for number k of those of row r and all that follow to be brought near.
    fn prefetch(&self, r: usize, k: usize);
}

/// Rows as both factors of a product.
pub(super) struct Packed {
    strip: Range<usize>,
    /// Their columns up to the end of the strip.
    right: Panels,
    /// Those of the strip, times the weight.
    left: Panels,
}

impl Packed {
    fn zeros(strip: Range<usize>, depth: usize) -> Self {
        let right = Panels::zeros(strip.end, depth);
        let left = Panels::zeros(strip.len().next_multiple_of(HEIGHT), depth);
        Packed { strip, right, left }
    }

    /// Sets term l to `value(a, b)`, number by number.
    #[inline(always)]
    pub(super) fn set(
        &mut self,
        l: usize,
        weight: f64,
        (a, b): (&[f64], &[f64]),
        value: impl Fn(f64, f64) -> f64,
    ) {
        let Packed { strip, right, left } = self;
        right.set_with(l, &a[..strip.end], b, &value);
        left.set_with(l, &a[strip.clone()], &b[strip.clone()], |a, b| weight * value(a, b));
    }
}

/// Rows of length d one after the other.
pub(super) struct Contiguous<'r> {
    pub(super) d: usize,
    pub(super) rows: &'r [f64],
}

impl DataRows for Contiguous<'_> {
    #[inline(always)]
    fn pack(&self, r: usize, weight: f64, l: usize, packed: &mut Packed, _: &mut [f64]) {
        let row = &self.rows[r * self.d..(r + 1) * self.d];
        packed.set(l, weight, (row, row), |x, _| x);
    }

    #[inline(always)]
    fn prefetch(&self, r: usize, k: usize) {
        prefetch(self.rows, r * self.d + k, 1);
    }
}

/// The same with a vector taken off each.
pub(super) struct Centred<'r> {
    pub(super) rows: Contiguous<'r>,
    pub(super) center: &'r [f64],
}

impl DataRows for Centred<'_> {
    #[inline(always)]
    fn pack(&self, r: usize, weight: f64, l: usize, packed: &mut Packed, _: &mut [f64]) {
        let row = &self.rows.rows[r * self.rows.d..(r + 1) * self.rows.d];
        packed.set(l, weight, (row, self.center), |x, center| x - center);
    }

    #[inline(always)]
    fn prefetch(&self, r: usize, k: usize) {
        self.rows.prefetch(r, k);
    }
}

/// Rows of length d that are read when they are looked at, with a vector taken off if there is one.
pub(super) struct Read<'r> {
    pub(super) d: usize,
    pub(super) data: &'r RowData,
    pub(super) center: Option<&'r [f64]>,
}

impl DataRows for Read<'_> {
    #[inline(always)]
    fn pack(&self, r: usize, weight: f64, l: usize, packed: &mut Packed, _: &mut [f64]) {
        self.data.with(self.d, r..r + 1, |row| match self.center {
            Some(center) => packed.set(l, weight, (row, center), |x, center| x - center),
            None => packed.set(l, weight, (row, row), |x, _| x),
        });
    }

    #[inline(always)]
    fn prefetch(&self, _: usize, _: usize) {}
}

/// Adds `sum over r of weight(r) a_rk a_rl` to rows k of `strip`, columns l up to the diagonal.
/// Rows without weight cost next to nothing.
#[inline(always)]
pub(super) fn add(
    d: usize,
    data: &impl DataRows,
    rows: Range<usize>,
    strip: Range<usize>,
    weight: &Weight<'_>,
    out: &mut [f64],
) {
    let most = if strip.end <= NARROW { DEPTH_OF_NARROW } else { DEPTH };
    let depth = most.min(rows.len());
    let mut scratch = vec![0.0; d];
    let mut packed = Packed::zeros(strip.clone(), depth);
    let mut after = rows.start;
    while after < rows.end {
        let mut count = 0;
        while after < rows.end && count < depth {
            let weight = weight(after);
            if weight != 0.0 {
                data.pack(after, weight, count, &mut packed, &mut scratch);
                count += 1;
            }
            after += 1;
        }
        // While tiles are computed the next rows arrive: this many lines of the cache with every
        // eighth term.
        let Packed { right, left, .. } = &packed;
        let next = Some(most.min(rows.end - after) * d)
            .filter(|next| *next <= CACHED_NUMBERS)
            .unwrap_or(0);
        let mut asked = 0;
        for q in 0..strip.end.div_ceil(WIDTH) {
            // Tiles that begin above the diagonal and do not reach it are left out.
            let above = (q * WIDTH).saturating_sub(strip.start) / HEIGHT;
            for p in above..strip.len().div_ceil(HEIGHT) {
                let soon = |l: usize| {
                    if asked + 2 * l < next {
                        data.prefetch(after, asked + 2 * l);
                        data.prefetch(after, asked + 2 * l + LANES);
                    }
                };
                let places = left.places(p * HEIGHT);
                let sums = tile(count, left.numbers(), places, right.panel(q), soon);
                asked += 2 * count;
                let out = out[p * HEIGHT * d..].chunks_mut(d);
                for (out, sums) in out.zip(&sums) {
                    let own = &mut out[q * WIDTH..d.min((q + 1) * WIDTH)];
                    update_with_dispatched(own, sums, |out, sum| out + sum);
                }
            }
        }
    }
}
