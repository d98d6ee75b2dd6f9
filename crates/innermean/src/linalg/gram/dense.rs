//! Blocks of data rows, packed into panels and multiplied tile by tile.

use std::ops::Range;

use super::Weight;
use crate::linalg::vector::{
    Aligned, HEIGHT, LANES, Panels, Strides, WIDTH, prefetch, tile, update_with_dispatched,
};

/// Data rows packed at once: a panel of them and what it meets stay in the nearest cache.
const DEPTH: usize = 192;
/// Numbers that the second cache holds beside the panels.
const CACHED_NUMBERS: usize = 1 << 16;

/// Where the data rows come from.
pub(super) trait DataRows {
    /// Row r, made in `scratch`, which is as long as a row, where it does not lie ready.
    fn row<'a>(&'a self, r: usize, scratch: &'a mut [f64]) -> &'a [f64];

    /// Asks for number k of those of row r and all that follow to be brought near.
    fn prefetch(&self, r: usize, k: usize);
}

/// Rows of length d one after the other.
pub(super) struct Contiguous<'r> {
    pub(super) d: usize,
    pub(super) rows: &'r [f64],
}

impl DataRows for Contiguous<'_> {
    #[inline(always)]
    fn row<'a>(&'a self, r: usize, _: &'a mut [f64]) -> &'a [f64] {
        &self.rows[r * self.d..(r + 1) * self.d]
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
    fn row<'a>(&'a self, r: usize, scratch: &'a mut [f64]) -> &'a [f64] {
        let row = &self.rows.rows[r * self.rows.d..(r + 1) * self.rows.d];
        scratch.copy_from_slice(row);
        update_with_dispatched(scratch, self.center, |x, center| x - center);
        scratch
    }

    #[inline(always)]
    fn prefetch(&self, r: usize, k: usize) {
        self.rows.prefetch(r, k);
    }
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
    let depth = DEPTH.min(rows.len());
    let mut scratch = vec![0.0; d];
    let mut right = Panels::zeros(strip.end, depth);
    let mut left = Aligned::zeros(strip.len().div_ceil(HEIGHT) * depth * HEIGHT);
    let mut after = rows.start;
    while after < rows.end {
        let mut count = 0;
        while after < rows.end && count < depth {
            let weight = weight(after);
            if weight != 0.0 {
                let row = data.row(after, &mut scratch);
                right.set(count, &row[..strip.end]);
                set_left(&mut left, depth, count, weight, &row[strip.clone()]);
                count += 1;
            }
            after += 1;
        }
        // While tiles are computed the next rows arrive: this many lines of the cache with every
        // eighth term.
        let next = Some(DEPTH.min(rows.end - after) * d)
            .filter(|next| *next <= CACHED_NUMBERS)
            .unwrap_or(0);
        let mut asked = 0;
        for q in 0..strip.end.div_ceil(WIDTH) {
            // Tiles that begin above the diagonal and do not reach it are left out.
            let above = (q * WIDTH).saturating_sub(strip.start) / HEIGHT;
            for (p, left) in left.chunks_exact(depth * HEIGHT).enumerate().skip(above) {
                let soon = |l: usize| {
                    if asked + 2 * l < next {
                        data.prefetch(after, asked + 2 * l);
                        data.prefetch(after, asked + 2 * l + LANES);
                    }
                };
                let sums =
                    tile(count, left, Strides { row: 1, step: HEIGHT }, right.panel(q), soon);
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

/// Data row l times its weight, in panels of [`HEIGHT`].
#[inline(always)]
fn set_left(left: &mut [f64], depth: usize, l: usize, weight: f64, row: &[f64]) {
    let panels = left.as_chunks_mut::<HEIGHT>().0;
    let (whole, rest) = row.as_chunks::<HEIGHT>();
    for (p, row) in whole.iter().enumerate() {
        panels[p * depth + l] = row.map(|x| weight * x);
    }
    for (k, x) in rest.iter().enumerate() {
        panels[whole.len() * depth + l][k] = weight * x;
    }
}
