//! How long work may go on that takes long by itself: a step in a batch of a billion, a
//! factorisation.
//!
//! Between steps the driver looks at the time. Within a step nobody does but the method, every so
//! many queries, and leaves the rest of the work where
//! there is no time left. What it leaves behind is good for nothing: the driver throws it away, and
//! the answer is the best point from before.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A limit on time, and someone who may say stop.
#[derive(Debug, Clone, Default)]
pub struct Patience<'a> {
    deadline: Option<Instant>,
    interrupt: Option<&'a AtomicBool>,
    /// Once it is over it stays over.
    over: Cell<bool>,
}

/// Queries that take less than a millisecond or so: nobody needs to look more often.
const CHECK_EVERY: usize = 1 << 12;

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

    /// Whether work was left.
    pub fn is_over(&self) -> bool {
        self.over.get()
    }
}
