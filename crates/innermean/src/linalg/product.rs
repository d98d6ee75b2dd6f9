//! Many long rows times a narrow matrix, as fast as the rows can be read.

use std::ops::Range;

use crate::linalg::blocks::Blocks;
use crate::linalg::vector::{HEIGHT, LANES, Panels, Places, WIDTH, prefetch, tile, update_with};

/// Columns of the rows that one tile runs along.
const DEPTH: usize = 256;
/// How far ahead numbers are asked for.
const PREFETCH_AHEAD: usize = 512;
/// This many of these before the next rows: the part of B that they meet stays in the second cache,
/// and rows are read in long stretches.
const ROWS_PER_STRETCH: usize = 8 * DEPTH;

/// `out = rows B`, where `rows` are as many rows of length d as `out` has rows of length k, and B
/// is d rows of length k. Meant for small k. Parallel over the rows; the bits do not depend on the
/// number of threads.
///
/// # Panics
/// Unless the sizes agree.
pub fn product(rows: &[f64], d: usize, b: &[f64], k: usize, out: &mut [f64]) {
    product_and_look(
        rows,
        d,
        b,
        k,
        (out, &mut []),
        #[inline(always)]
        |_, _, _| 0.0,
    );
}

/// [`product`] with a look at every number of the rows while it is near: `sums[r]`, if there are
/// any, is what `look(r, first, part)` returns for all parts of row r, the numbers from `first` on,
/// added up.
pub(crate) fn product_and_look(
    rows: &[f64],
    d: usize,
    b: &[f64],
    k: usize,
    (out, sums): (&mut [f64], &mut [f64]),
    look: impl Fn(usize, usize, &[f64]) -> f64 + Sync,
) {
    let n = out.len() / k.max(1);
    assert!(
        rows.len() == n * d && b.len() == d * k && out.len() == n * k,
        "{n} rows of {d} times {d} rows of {k}"
    );
    let mut panels = Panels::zeros(k, d);
    for (l, row) in b.chunks_exact(k.max(1)).enumerate() {
        panels.set(l, row);
    }
    Blocks::new(n, d).fill_both(
        [k, usize::from(!sums.is_empty())],
        (out, sums),
        #[inline(always)]
        |range, out, sums| {
            let first = range.start;
            block(
                &rows[first * d..range.end * d],
                d,
                &panels,
                k,
                (out, sums),
                #[inline(always)]
                |r, column, part| look(first + r, column, part),
            );
        },
    );
}

/// Some of the rows, on one thread.
#[inline(always)]
fn block(
    rows: &[f64],
    d: usize,
    panels: &Panels,
    k: usize,
    (out, sums): (&mut [f64], &mut [f64]),
    look: impl Fn(usize, usize, &[f64]) -> f64,
) {
    out.fill(0.0);
    sums.fill(0.0);
    let n = out.len() / k.max(1);
    let whole = n - n % HEIGHT;
    let mut last = [0.0; HEIGHT * DEPTH];
    for stretch in (0..d).step_by(ROWS_PER_STRETCH) {
        for r in (0..n).step_by(HEIGHT) {
            for first in (stretch..d.min(stretch + ROWS_PER_STRETCH)).step_by(DEPTH) {
                let terms = first..d.min(first + DEPTH);
                let own = &mut out[r * k..k * n.min(r + HEIGHT)];
                if r < whole {
                    add_tiles(&rows[r * d + first..], d, terms, panels, k, own);
                } else {
                    for i in r..n {
                        last[(i - r) * DEPTH..(i - r) * DEPTH + terms.len()]
                            .copy_from_slice(&rows[i * d + first..i * d + terms.end]);
                    }
                    add_tiles(&last, DEPTH, terms, panels, k, own);
                }
            }
            for i in r..n.min(r + HEIGHT) {
                let part = &rows[i * d + stretch..i * d + d.min(stretch + ROWS_PER_STRETCH)];
                let found = look(i, stretch, part);
                sums.get_mut(i).into_iter().for_each(|sum| *sum += found);
            }
        }
    }
}

/// `out += (HEIGHT rows, so far apart) B` for some of the terms; `out` may have fewer rows.
#[inline(always)]
fn add_tiles(
    rows: &[f64],
    stride: usize,
    terms: Range<usize>,
    panels: &Panels,
    k: usize,
    out: &mut [f64],
) {
    let lines = HEIGHT.div_ceil(k.div_ceil(WIDTH));
    for p in 0..k.div_ceil(WIDTH) {
        let right = &panels.panel(p)[terms.start * WIDTH..];
        // What comes next is asked for in the order in which it lies: short rows follow each other,
        // of long ones the next pieces, one after the other.
        let soon = |l: usize| {
            for k in 0..lines {
                let line = (p * DEPTH + l) / LANES * lines + k;
                let at = if stride <= DEPTH {
                    PREFETCH_AHEAD + LANES * line
                } else {
                    line / (DEPTH / LANES) * stride + DEPTH + line % (DEPTH / LANES) * LANES
                };
                prefetch(rows, at, 1);
            }
        };
        let sums = tile(terms.len(), rows, Places::of_rows(stride), right, soon);
        for (out, sums) in out.chunks_exact_mut(k).zip(&sums) {
            update_with(&mut out[p * WIDTH..k.min((p + 1) * WIDTH)], sums, |out, sum| out + sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_that_of_the_textbook_on_any_number_of_threads() {
        for (n, d, k) in [
            (0, 3, 2),
            (1, 1, 1),
            (6, 5, 8),
            (13, 300, 10),
            (100, 2500, 17),
            (7, 0, 2),
            (64, 4100, 3),
        ] {
            let number = |l: usize| ((l * 7919 + d) % 1000) as f64 / 137.0 - 3.0;
            let rows: Vec<f64> = (0..n * d).map(number).collect();
            let b: Vec<f64> = (0..d * k).map(|l| number(l + 5)).collect();
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .expect("a thread pool");
                let mut out = vec![f64::NAN; n * k];
                pool.install(|| product(&rows, d, &b, k, &mut out));
                out
            };
            let out = on(1);
            assert_eq!(out, on(3), "{n} x {d} x {k}");
            for (r, c) in (0..n).flat_map(|r| (0..k).map(move |c| (r, c))) {
                let terms = (0..d).map(|l| rows[r * d + l] * b[l * k + c]);
                let (plain, size) =
                    terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
                assert!(
                    (out[r * k + c] - plain).abs() <= 1e-13 * size,
                    "entry ({r}, {c}) of {n} x {d} x {k}"
                );
            }
        }
    }
}
