//! Blocks of data rows, packed into panels and multiplied tile by tile; narrow ones, whose tiles
//! would lie above the diagonal for the most part, strip by strip.

use std::ops::Range;

use super::Weight;
use crate::linalg::vector::{
    Aligned, HEIGHT, LANES, Panels, STRIP, Tile, WIDTH, add_triangle, prefetch, tiles,
    update_with_dispatched,
};
use crate::model::row_data::RowData;

/// Data rows packed at once: a panel of them and what it meets stay in the nearest cache.
const DEPTH: usize = 192;
/// The same for narrow rows, all of which stay there.
const DEPTH_OF_NARROW: usize = 96;
const NARROW: usize = 32;
/// Numbers that the second cache holds beside the panels.
const CACHED_NUMBERS: usize = 1 << 16;

/// Where the data rows come from.
pub(super) trait DataRows {
    /// Packs row r as term l; `scratch` is as long as a row.
    fn pack(&self, r: usize, weight: f64, l: usize, packed: &mut impl Pack, scratch: &mut [f64]);

    /// Asks for number k of those of row r and all that follow to be brought near.
    fn prefetch(&self, r: usize, k: usize);
}

/// Rows as both factors of a product.
pub(super) trait Pack {
    /// Sets term l to `value(a, b)`, number by number.
    fn set(
        &mut self,
        l: usize,
        weight: f64,
        rows: (&[f64], &[f64]),
        value: impl Fn(f64, f64) -> f64,
    );
}

/// One after the other, each with zeros up to a multiple of [`STRIP`].
struct Narrow {
    stride: usize,
    right: Aligned,
    weights: Vec<f64>,
    /// The same times the weights, where these are not all 1.
    left: Aligned,
}

impl Narrow {
    fn zeros(d: usize, depth: usize) -> Self {
        let stride = d.next_multiple_of(STRIP);
        let (right, left) = (Aligned::zeros(depth * stride), Aligned::zeros(0));
        Narrow { stride, right, weights: vec![0.0; depth], left }
    }

    /// The first terms as both factors.
    #[inline(always)]
    fn factors(&mut self, count: usize) -> (&[f64], &[f64]) {
        let Narrow { stride, right, weights, left } = self;
        if weights[..count].iter().all(|weight| *weight == 1.0) {
            return (right, right);
        }
        if left.is_empty() {
            *left = Aligned::zeros(right.len());
        }
        let rows = left.chunks_exact_mut(*stride).zip(right.chunks_exact(*stride));
        for ((left, right), weight) in rows.zip(&weights[..count]) {
            update_with_dispatched(left, right, |_, x| weight * x);
        }
        (left, right)
    }
}

impl Pack for Narrow {
    #[inline(always)]
    fn set(
        &mut self,
        l: usize,
        weight: f64,
        (a, b): (&[f64], &[f64]),
        value: impl Fn(f64, f64) -> f64,
    ) {
        self.weights[l] = weight;
        let own = &mut self.right[l * self.stride..(l + 1) * self.stride];
        let d = a.len();
        let chunks = a.as_chunks::<STRIP>().0.iter().zip(b.as_chunks::<STRIP>().0);
        for (out, (a, b)) in own.as_chunks_mut::<STRIP>().0.iter_mut().zip(chunks) {
            *out = std::array::from_fn(|j| value(a[j], b[j]));
        }
        // What is left with some numbers that are there: a whole vector again.
        if let (Some(a), Some(b)) = (a.last_chunk::<STRIP>(), b[..d].last_chunk::<STRIP>()) {
            let out: [f64; STRIP] = std::array::from_fn(|j| value(a[j], b[j]));
            own[d - STRIP..d].copy_from_slice(&out);
        } else {
            for (out, (a, b)) in own.iter_mut().zip(a.iter().zip(b)) {
                *out = value(*a, *b);
            }
        }
    }
}

/// In panels.
struct Packed {
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
}

impl Pack for Packed {
    #[inline(always)]
    fn set(
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
    fn pack(&self, r: usize, weight: f64, l: usize, packed: &mut impl Pack, _: &mut [f64]) {
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
    fn pack(&self, r: usize, weight: f64, l: usize, packed: &mut impl Pack, _: &mut [f64]) {
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
    fn pack(&self, r: usize, weight: f64, l: usize, packed: &mut impl Pack, _: &mut [f64]) {
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
    if d <= NARROW {
        return add_narrow(d, data, rows, weight, out);
    }
    let depth = DEPTH.min(rows.len());
    let mut scratch = vec![0.0; d];
    let mut packed = Packed::zeros(strip.clone(), depth);
    let mut after = rows.start;
    while after < rows.end {
        let count = pack(data, rows.end, &mut after, weight, depth, &mut packed, &mut scratch);
        // While tiles are computed the next rows arrive: this many lines of the cache with every
        // eighth term.
        let Packed { right, left, .. } = &packed;
        let next = Some(DEPTH.min(rows.end - after) * d)
            .filter(|next| *next <= CACHED_NUMBERS)
            .unwrap_or(0);
        let mut asked = 0;
        let panels = strip.end.div_ceil(WIDTH);
        for q in (0..panels).step_by(2) {
            // Tiles that begin above the diagonal and do not reach it are left out.
            let above = (q * WIDTH).saturating_sub(strip.start) / HEIGHT;
            for p in above..strip.len().div_ceil(HEIGHT) {
                let soon = |l: usize| {
                    if asked + 2 * l < next {
                        data.prefetch(after, asked + 2 * l);
                        data.prefetch(after, asked + 2 * l + LANES);
                    }
                };
                let (numbers, places) = (left.numbers(), left.places(p * HEIGHT));
                let reaches = strip.start + (p + 1) * HEIGHT > (q + 1) * WIDTH;
                let mut add = |q: usize, sums: &Tile| {
                    let out = out[p * HEIGHT * d..].chunks_mut(d);
                    for (out, sums) in out.zip(sums) {
                        let own = &mut out[q * WIDTH..d.min((q + 1) * WIDTH)];
                        update_with_dispatched(own, sums, |out, sum| out + sum);
                    }
                };
                if reaches && q + 1 < panels {
                    let right = [right.panel(q), right.panel(q + 1)];
                    let [one, two] = tiles(count, numbers, places, right, soon);
                    add(q, &one);
                    add(q + 1, &two);
                    asked += 4 * count;
                } else {
                    let [one] = tiles(count, numbers, places, [right.panel(q)], soon);
                    add(q, &one);
                    asked += 2 * count;
                }
            }
        }
    }
}

/// [`add`] for a result that is one strip.
#[inline(always)]
fn add_narrow(
    d: usize,
    data: &impl DataRows,
    rows: Range<usize>,
    weight: &Weight<'_>,
    out: &mut [f64],
) {
    let depth = DEPTH_OF_NARROW.min(rows.len());
    let mut scratch = vec![0.0; d];
    let mut packed = Narrow::zeros(d, depth);
    let mut after = rows.start;
    while after < rows.end {
        let count = pack(data, rows.end, &mut after, weight, depth, &mut packed, &mut scratch);
        add_triangle(count, d, packed.factors(count), out);
    }
}

/// Packs the next rows with a weight, up to this many, and returns how many they are.
#[inline(always)]
fn pack(
    data: &impl DataRows,
    end: usize,
    next: &mut usize,
    weight: &Weight<'_>,
    most: usize,
    packed: &mut impl Pack,
    scratch: &mut [f64],
) -> usize {
    let mut count = 0;
    while *next < end && count < most {
        let weight = weight(*next);
        if weight != 0.0 {
            data.pack(*next, weight, count, packed, scratch);
            count += 1;
        }
        *next += 1;
    }
    count
}
