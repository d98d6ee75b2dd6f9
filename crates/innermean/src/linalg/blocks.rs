//! Parallel passes whose result does not depend on the number of threads.
//!
//! The index range is cut into blocks by its length and the costs of its indices alone. Threads
//! take blocks as they come; partial sums are kept per block and added up in the order of the
//! blocks.

use std::ops::Range;

use rayon::prelude::*;

use crate::linalg::vector::{axpy, dispatch};

/// At most this many blocks: partial sums stay small, and every core of a large machine finds work.
const MOST_BLOCKS: usize = 128;
/// At least this many numbers touched in a block, a few microseconds: less is not worth handing to
/// a thread.
const LEAST_WORK: usize = 1 << 15;
/// A pass that touches fewer numbers stays on the thread that asks for it: to hand it to others
/// takes 10 to 15 microseconds, as long as these numbers (with two threads, half of them) take from
/// the cache.
const WORTH_THREADS: usize = 1 << 18;

/// Entries of a sum that a thread adds up at once.
const ENTRIES_PER_TASK: usize = 1 << 12;

/// This many numbers touched take about as long as a value or a derivative of phi, of which some
/// are logarithms and exponentials.
pub(crate) const MERIT: usize = 8;

/// The indices `0..n` cut into blocks. Closures given to its methods run inside [`dispatch`]: mark
/// them `#[inline(always)]`.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    n: usize,
    cuts: Cuts,
    /// Numbers that all indices touch.
    work: usize,
}

/// Work on a block by its number: rows to fill, and a partial sum. Through a pointer, which costs
/// nothing for a whole block: so what hands blocks to threads is compiled once, and not for every
/// kind of work.
type FillBlock<'a, const K: usize> = dyn Fn(usize, [&mut [f64]; K], &mut [f64]) + Sync + 'a;

/// Where a block ends.
#[derive(Debug, Clone)]
enum Cuts {
    /// After this many indices each.
    Every(usize),
    /// Where indices differ in their costs: block b is `ends[b - 1]..ends[b]`.
    At(Vec<usize>),
}

impl Blocks {
    /// Cuts `0..n`, where the work of one index touches about `cost` numbers.
    pub(crate) fn new(n: usize, cost: usize) -> Self {
        Self::with_least(n, cost, 0)
    }

    /// [`Self::new`] with at least this many numbers touched in a block, as is right where every
    /// block brings a vector of that length.
    pub(crate) fn with_least(n: usize, cost: usize, least: usize) -> Self {
        let len = n.div_ceil(MOST_BLOCKS).max(LEAST_WORK.max(least).div_ceil(cost.max(1)));
        Blocks { n, cuts: Cuts::Every(len.min(n.max(1))), work: n * cost }
    }

    /// [`Self::with_least`] where the work of index i touches about `cost(i)` numbers: blocks of
    /// about equal work. An index is never cut: one that costs more than all others is a block of
    /// its own.
    pub(crate) fn balanced(n: usize, least: usize, cost: impl Fn(usize) -> usize) -> Self {
        let first = if n > 0 { cost(0) } else { 1 };
        if (1..n).all(|i| cost(i) == first) {
            return Self::with_least(n, first, least);
        }
        let total: usize = (0..n).map(|i| cost(i).max(1)).sum();
        let share = total.div_ceil(MOST_BLOCKS).max(LEAST_WORK).max(least);
        let (mut ends, mut work) = (Vec::new(), 0);
        for i in 0..n {
            // A long index does not take the short ones before it along.
            if work > 0 && work + cost(i) > share {
                ends.push(i);
                work = 0;
            }
            work += cost(i).max(1);
        }
        ends.push(n);
        Blocks { n, cuts: Cuts::At(ends), work: total }
    }

    fn range(&self, block: usize) -> Range<usize> {
        match &self.cuts {
            Cuts::Every(len) => block * len..((block + 1) * len).min(self.n),
            Cuts::At(ends) => (if block == 0 { 0 } else { ends[block - 1] })..ends[block],
        }
    }

    fn count(&self) -> usize {
        match &self.cuts {
            Cuts::Every(len) => self.n.div_ceil(*len),
            Cuts::At(ends) => ends.len(),
        }
    }

    /// What every block owns of `out`, where an index owns `width` numbers.
    fn parts<'o>(&self, width: usize, mut out: &'o mut [f64]) -> Vec<&'o mut [f64]> {
        let mut parts = Vec::with_capacity(self.count());
        for block in 0..self.count() {
            let (part, rest) = out.split_at_mut(self.range(block).len() * width);
            parts.push(part);
            out = rest;
        }
        parts
    }

    /// Runs `work(range, rows of out)` for every block, where index i owns the `width` numbers of
    /// `out` from `i * width` on.
    ///
    /// # Panics
    /// Unless `out` has `n * width` entries.
    pub(crate) fn fill(
        &self,
        width: usize,
        out: &mut [f64],
        work: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) {
        self.fill_and_add(
            width,
            out,
            0.0,
            &mut [],
            #[inline(always)]
            |range, rows, _| work(range, rows),
        );
    }

    /// `sum += scale * (partials of all blocks)`, where `work(range, partial)` adds its block to a
    /// zeroed vector.
    pub(crate) fn add(
        &self,
        scale: f64,
        sum: &mut [f64],
        work: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) {
        self.add_blocks(scale, sum, &|b, partial| {
            dispatch(
                #[inline(always)]
                || work(self.range(b), partial),
            );
        });
    }

    /// [`Self::add`] by the number of the block.
    fn add_blocks(&self, scale: f64, sum: &mut [f64], work: &(dyn Fn(usize, &mut [f64]) + Sync)) {
        let width = sum.len();
        let mut partials = vec![0.0; self.count() * width];
        let block = |(b, partial): (usize, &mut [f64])| work(b, partial);
        if self.work < WORTH_THREADS {
            partials.chunks_mut(width.max(1)).enumerate().for_each(block);
        } else {
            partials.par_chunks_mut(width.max(1)).enumerate().for_each(block);
        }
        add_up(scale, &partials, width.max(1), sum);
    }

    /// [`Self::fill`] and [`Self::add`] in one pass: `work(range, rows of out, partial)`.
    ///
    /// # Panics
    /// Unless `out` has `n * width` entries.
    pub(crate) fn fill_and_add(
        &self,
        width: usize,
        out: &mut [f64],
        scale: f64,
        sum: &mut [f64],
        work: impl Fn(Range<usize>, &mut [f64], &mut [f64]) + Sync,
    ) {
        self.pass(
            [width],
            [out],
            scale,
            sum,
            #[inline(always)]
            |range, [rows], partial| work(range, rows, partial),
        );
    }

    /// [`Self::fill_and_add`] with two vectors to fill: `work(range, rows of a, rows of b,
    /// partial)`.
    ///
    /// # Panics
    /// Unless `a` and `b` have `n * width` entries.
    pub(crate) fn fill_both_and_add(
        &self,
        width: usize,
        (a, b): (&mut [f64], &mut [f64]),
        scale: f64,
        sum: &mut [f64],
        work: impl Fn(Range<usize>, &mut [f64], &mut [f64], &mut [f64]) + Sync,
    ) {
        self.pass(
            [width; 2],
            [a, b],
            scale,
            sum,
            #[inline(always)]
            |range, [a, b], partial| work(range, a, b, partial),
        );
    }

    /// [`Self::fill`] of two vectors, of which an index owns so many numbers each: `work(range,
    /// rows of a, rows of b)`.
    ///
    /// # Panics
    /// Unless `a` and `b` have n times as many entries.
    pub(crate) fn fill_both(
        &self,
        widths: [usize; 2],
        (a, b): (&mut [f64], &mut [f64]),
        work: impl Fn(Range<usize>, &mut [f64], &mut [f64]) + Sync,
    ) {
        self.pass(
            widths,
            [a, b],
            0.0,
            &mut [],
            #[inline(always)]
            |range, [a, b], _| work(range, a, b),
        );
    }

    /// One pass that fills K vectors, of which an index owns so many numbers each, and adds up
    /// another.
    fn pass<const K: usize>(
        &self,
        widths: [usize; K],
        outs: [&mut [f64]; K],
        scale: f64,
        sum: &mut [f64],
        work: impl Fn(Range<usize>, [&mut [f64]; K], &mut [f64]) + Sync,
    ) {
        self.pass_blocks(widths, outs, scale, sum, &|b, rows, partial| {
            dispatch(
                #[inline(always)]
                || work(self.range(b), rows, partial),
            );
        });
    }

    /// [`Self::pass`] by the number of the block.
    fn pass_blocks<const K: usize>(
        &self,
        widths: [usize; K],
        outs: [&mut [f64]; K],
        scale: f64,
        sum: &mut [f64],
        work: &FillBlock<'_, K>,
    ) {
        let mut parts: Vec<[&mut [f64]; K]> = Vec::with_capacity(self.count());
        let mut next = widths.into_iter();
        let mut outs = outs.map(|out| {
            let width = next.next().unwrap_or(0);
            assert_eq!(out.len(), self.n * width, "one slot of {width} for each of {}", self.n);
            self.parts(width, out).into_iter()
        });
        for _ in 0..self.count() {
            parts.push(outs.each_mut().map(|parts| parts.next().expect("a part for each block")));
        }
        let partial_len = sum.len();
        // One number more for each block, so that there is something to hand out where nothing is
        // summed.
        let mut partials = vec![0.0; self.count() * (partial_len + 1)];
        let block = |(b, (rows, partial)): (usize, ([&mut [f64]; K], &mut [f64]))| {
            work(b, rows, &mut partial[..partial_len]);
        };
        if self.work < WORTH_THREADS {
            parts.into_iter().zip(partials.chunks_mut(partial_len + 1)).enumerate().for_each(block);
        } else {
            parts
                .into_par_iter()
                .zip(partials.par_chunks_mut(partial_len + 1))
                .enumerate()
                .for_each(block);
        }
        add_up(scale, &partials, partial_len + 1, sum);
    }

    /// `sum over i of term(i)`
    pub(crate) fn sum(&self, term: impl Fn(usize) -> f64 + Sync) -> f64 {
        let mut total = [0.0];
        self.add(
            1.0,
            &mut total,
            #[inline(always)]
            |range, partial| {
                for i in range {
                    partial[0] += term(i);
                }
            },
        );
        total[0]
    }

    /// `max over i of term(i)`, `-inf` for none. Scratch for `term` is made once per block by
    /// `scratch`.
    pub(crate) fn max<S>(
        &self,
        scratch: impl Fn() -> S + Sync,
        term: impl Fn(&mut S, usize) -> f64 + Sync,
    ) -> f64 {
        self.max_of_blocks(&|b| {
            let (mut scratch, mut most) = (scratch(), f64::NEG_INFINITY);
            dispatch(
                #[inline(always)]
                || {
                    for i in self.range(b) {
                        most = most.max(term(&mut scratch, i));
                    }
                },
            );
            most
        })
    }

    /// [`Self::max`] by the number of the block.
    fn max_of_blocks(&self, block: &(dyn Fn(usize) -> f64 + Sync)) -> f64 {
        if self.work < WORTH_THREADS {
            (0..self.count()).map(block).fold(f64::NEG_INFINITY, f64::max)
        } else {
            (0..self.count()).into_par_iter().map(block).reduce(|| f64::NEG_INFINITY, f64::max)
        }
    }
}

/// `sum += scale * (every partial)` in their order, where one begins after this many numbers each.
/// Long sums are shared out by their entries, which changes no order.
fn add_up(scale: f64, partials: &[f64], every: usize, sum: &mut [f64]) {
    let add = |(part, sum): (usize, &mut [f64])| {
        let own = part * ENTRIES_PER_TASK..part * ENTRIES_PER_TASK + sum.len();
        for partial in partials.chunks_exact(every) {
            axpy(scale, &partial[own.clone()], sum);
        }
    };
    if sum.len() > ENTRIES_PER_TASK {
        sum.par_chunks_mut(ENTRIES_PER_TASK).enumerate().for_each(add);
    } else {
        add((0, sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_range_once_and_do_not_depend_on_threads() {
        for (n, cost) in
            [(0, 1), (1, 1), (31, 1000), (4096, 100), (4097, 25), (7240, 25), (100_000, 1)]
        {
            check(&Blocks::new(n, cost), n);
            check(&Blocks::balanced(n, 0, |_| cost), n);
            check(&Blocks::balanced(n, 0, |i| if i % 100 == 7 { 300 * cost } else { cost }), n);
        }
        assert_eq!(Blocks::new(0, 1).max(|| (), |(), _| 0.0), f64::NEG_INFINITY);
        assert_eq!(Blocks::new(1000, 100).max(|| (), |(), i| -(i as f64 - 700.0).abs()), 0.0);
    }

    /// One index of half the work is a block of its own, and the others are shared out as if it
    /// were not there.
    #[test]
    fn blocks_are_balanced_by_cost_and_not_by_number() {
        let cost = |i: usize| if i == 500 { 1_000_000 } else { 1000 };
        let blocks = Blocks::balanced(1001, 0, cost);
        let work = |b: usize| blocks.range(b).map(cost).sum::<usize>();
        assert!((0..blocks.count()).any(|b| blocks.range(b) == (500..501)));
        assert!(
            (0..blocks.count()).all(|b| blocks.range(b) == (500..501) || work(b) <= LEAST_WORK)
        );
        assert!(blocks.count() >= 30);
    }

    fn check(blocks: &Blocks, n: usize) {
        let run = || {
            let (mut seen, mut total) = (vec![0.0; n], [0.0, 0.0]);
            blocks.fill_and_add(1, &mut seen, 2.0, &mut total, |range, rows, partial| {
                for (i, slot) in range.zip(rows) {
                    *slot += i as f64;
                    partial[1] += 1.0 / (1.0 + i as f64);
                }
            });
            assert!(seen.iter().enumerate().all(|(i, &s)| s == i as f64), "n = {n}");
            let alone = blocks.sum(|i| 1.0 / (1.0 + i as f64));
            assert_eq!(total, [0.0, 2.0 * alone]);
            alone.to_bits()
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
}
