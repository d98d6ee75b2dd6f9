//! How long work may go on that takes long by itself: a step in a batch of a billion, a
//! factorisation.
//!
//! Between steps the driver looks at the time. Within a step only the method does, once in many
//! queries, and leaves the rest of the work where
//! there is no time left. What it leaves behind is good for nothing: the driver throws it away, and
//! the answer is the best point from before.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::linalg::cholesky::{Cholesky, NotPositiveDefinite};
use crate::linalg::gram::Weight;

/// A limit on time, and someone who may say stop.
#[derive(Debug, Clone, Default)]
pub struct Patience<'a> {
    deadline: Option<Instant>,
    interrupt: Option<&'a AtomicBool>,
    /// Once it is over it stays over.
    over: Cell<bool>,
}

/// Queries that take about a millisecond: there is no need to look more often.
const CHECK_EVERY: usize = 1 << 12;
/// The factor of a smaller matrix takes a millisecond or so.
const SMALL_FACTOR: usize = 256;
/// Rows of a Gram matrix between two looks, at least, and products of numbers.
const LEAST_ROWS: usize = 16;
const LEAST_PRODUCTS: usize = 1 << 24;

impl<'a> Patience<'a> {
    /// Until that time, or until the flag is set.
    pub fn new(deadline: Option<Instant>, interrupt: Option<&'a AtomicBool>) -> Self {
        Patience { deadline, interrupt, over: Cell::new(false) }
    }

    /// Looks whether to leave the work at hand.
    pub fn ends(&self) -> bool {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
        {
            self.over.set(true);
        }
        self.over.get()
    }

    /// [`Self::ends`] for the k-th of many queries: the time is looked at for few of them.
    #[inline(always)]
    pub fn ends_at(&self, k: usize) -> bool {
        self.over.get() || (k % CHECK_EVERY == CHECK_EVERY - 1 && self.ends())
    }

    /// A Gram matrix of d coordinates, whose weights of rows become 0 once time is up: rows without
    /// weight cost next to nothing, so that it is made soon, good for nothing. What takes no longer
    /// than a few milliseconds is never cut.
    pub(crate) fn within<T>(
        &self,
        d: usize,
        weight: &Weight<'_>,
        gram: impl FnOnce(&Weight<'_>) -> T,
    ) -> T {
        let (deadline, interrupt) = (self.deadline, self.interrupt);
        let every = Self::rows_between_looks(d);
        let cut = AtomicBool::new(false);
        let made = gram(&|r| {
            let is_up = || {
                interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
                    || deadline.is_some_and(|deadline| Instant::now() >= deadline)
            };
            if r & (every - 1) == every - 1 && is_up() {
                cut.store(true, Ordering::Relaxed);
            }
            if cut.load(Ordering::Relaxed) { 0.0 } else { weight(r) }
        });
        self.over.set(self.over.get() || cut.into_inner());
        made
    }

    /// A power of two, so that a row costs no division.
    fn rows_between_looks(d: usize) -> usize {
        (LEAST_PRODUCTS / (d * d).max(1)).max(LEAST_ROWS).next_power_of_two()
    }

    /// Whether [`Self::within`] would look at the time at all, for so many rows.
    pub(crate) fn would_look(d: usize, rows: usize) -> bool {
        rows >= Self::rows_between_looks(d)
    }

    /// Cholesky's factor, given up once time is up: an error that says nothing then.
    pub(crate) fn factor(&self, matrix: &[f64], d: usize) -> Result<Cholesky, NotPositiveDefinite> {
        let (deadline, interrupt) = (self.deadline, self.interrupt);
        let cut = AtomicBool::new(self.over.get());
        let ends = || {
            let is_up = interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
                || deadline.is_some_and(|deadline| Instant::now() >= deadline);
            cut.fetch_or(is_up, Ordering::Relaxed) || is_up
        };
        // What takes a millisecond is made.
        let made = if d < SMALL_FACTOR {
            Cholesky::new(matrix, d)
        } else {
            Cholesky::unless(&ends, matrix, d)
        };
        self.over.set(cut.into_inner());
        made
    }

    /// Takes over that a copy of it is over.
    pub(crate) fn join(&self, other: &Self) {
        self.over.set(self.over.get() || other.over.get());
    }

    /// Whether work was left.
    pub fn is_over(&self) -> bool {
        self.over.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;

    /// A large factor is given up, a small one is made; a copy's end is its own until it is joined.
    #[test]
    fn a_factor_is_given_up_where_time_is_up() {
        let identity = |d: usize| -> Vec<f64> {
            (0..d * d).map(|k| f64::from(u8::from(k % (d + 1) == 0))).collect()
        };
        let stop = AtomicBool::new(false);
        let patience = Patience::new(None, Some(&stop));
        let d = SMALL_FACTOR;
        assert!(patience.factor(&identity(d), d).is_ok() && !patience.is_over());
        stop.store(true, Ordering::Relaxed);
        assert!(patience.factor(&identity(d - 1), d - 1).is_ok() && !patience.is_over());
        let copy = patience.clone();
        assert!(copy.factor(&identity(d), d).is_err() && copy.is_over());
        assert!(!patience.is_over());
        patience.join(&copy);
        assert!(patience.is_over());
    }

    /// A flag that is set while the third row is looked at ends the pass at the next look, and
    /// nothing changes without a flag.
    #[test]
    fn a_pass_over_rows_ends_where_it_is_cut() {
        let stop = AtomicBool::new(false);
        let patience = Patience::new(None, Some(&stop));
        let weight = |r: usize| {
            stop.store(r >= 3, Ordering::Relaxed);
            1.0
        };
        let counted = |weight: &Weight<'_>| -> f64 { (0..1000).map(weight).sum() };
        assert_eq!(patience.within(2000, &weight, counted), (LEAST_ROWS - 1) as f64);
        assert!(patience.is_over());
        // What is short is made.
        let patience = Patience::new(None, Some(&stop));
        assert_eq!(patience.within(20, &weight, counted), 1000.0);
        assert!(!patience.is_over() && patience.ends());
        let rows: Vec<f64> = (0..3000).map(|k| f64::from(k % 17) - 8.0).collect();
        let own = |r: usize| 1.0 + (r % 3) as f64;
        let whole = |weight: &Weight<'_>| gram::of_rows(3, &rows, weight);
        assert_eq!(whole(&own), Patience::default().within(3, &own, whole));
    }
}
