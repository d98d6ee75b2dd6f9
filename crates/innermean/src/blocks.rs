//! Parallel passes whose result does not depend on the number of threads.
//!
//! The index range is cut into blocks by its length alone. Threads take blocks as they come; partial sums are
//! kept per block and added up in the order of the blocks.

use std::ops::Range;

use rayon::prelude::*;

use crate::vector::{axpy, dispatch};

/// At most this many blocks, so that partial sums stay small and every core of a large machine finds work.
const MOST_BLOCKS: usize = 128;
/// A block smaller than this is not worth handing to a thread.
const SHORTEST: usize = 32;

/// The length of the blocks into which `0..n` is cut.
pub fn block_len(n: usize) -> usize {
    n.div_ceil(MOST_BLOCKS).max(SHORTEST)
}

/// Runs `work(range, rows of out)` for every block of `0..n`, where index `i` owns
/// `out[i * width..(i + 1) * width]`.
///
/// # Panics
/// Unless `out` has `n * width` entries.
pub fn fill_blocks(n: usize, width: usize, out: &mut [f64], work: impl Fn(Range<usize>, &mut [f64]) + Sync) {
    assert_eq!(out.len(), n * width, "one slot of {width} for each of {n}");
    if n == 0 || width == 0 {
        return;
    }
    let len = block_len(n);
    out.par_chunks_mut(len * width).enumerate().for_each(|(b, rows)| {
        let start = b * len;
        let range = start..start + rows.len() / width;
        dispatch(|| work(range, rows));
    });
}

/// `out += scale * sum over blocks of partial`, where `work(range, partial)` adds its block to a zeroed vector.
pub fn add_blocks(n: usize, scale: f64, out: &mut [f64], work: impl Fn(Range<usize>, &mut [f64]) + Sync) {
    let len = block_len(n);
    let partials: Vec<Vec<f64>> = (0..n.div_ceil(len))
        .into_par_iter()
        .map(|b| {
            let mut partial = vec![0.0; out.len()];
            dispatch(|| work(b * len..((b + 1) * len).min(n), &mut partial));
            partial
        })
        .collect();
    for partial in &partials {
        axpy(scale, partial, out);
    }
}

/// `sum over i < n of term(i)`.
pub fn sum(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let mut total = [0.0];
    add_blocks(n, 1.0, &mut total, |range, partial| partial[0] = range.map(&term).sum());
    total[0]
}

/// `max over i < n of term(i)`, `-inf` for none. Scratch for `term` is made once per block by `scratch`.
pub fn max<S>(n: usize, scratch: impl Fn() -> S + Sync, term: impl Fn(&mut S, usize) -> f64 + Sync) -> f64 {
    let len = block_len(n);
    (0..n.div_ceil(len))
        .into_par_iter()
        .map(|b| {
            let mut scratch = scratch();
            let range = b * len..((b + 1) * len).min(n);
            dispatch(|| range.map(|i| term(&mut scratch, i)).fold(f64::NEG_INFINITY, f64::max))
        })
        .reduce(|| f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_range_once_and_do_not_depend_on_threads() {
        for n in [0, 1, 31, 32, 33, 4096, 4097, 7240] {
            let run = || {
                let mut seen = vec![0.0; n];
                fill_blocks(n, 1, &mut seen, |range, rows| {
                    for (i, slot) in range.zip(rows) {
                        *slot += i as f64;
                    }
                });
                assert!(seen.iter().enumerate().all(|(i, &s)| s == i as f64), "n = {n}");
                sum(n, |i| 1.0 / (1.0 + i as f64)).to_bits()
            };
            let on = |threads| {
                rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .expect("a thread pool")
                    .install(run)
            };
            assert_eq!(on(1), on(2), "n = {n}");
            assert_eq!(on(1), on(5), "n = {n}");
        }
        assert_eq!(max(0, || (), |(), _| 0.0), f64::NEG_INFINITY);
        assert_eq!(max(1000, || (), |(), i| -(i as f64 - 700.0).abs()), 0.0);
    }
}
