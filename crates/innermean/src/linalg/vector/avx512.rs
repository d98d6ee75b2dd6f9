//! The proof that the CPU has vectors of eight numbers.
//!
//! Only what is limited by multiply-adds has kernels for them: tiles and triangles. Their sums run
//! in the order of those of `avx2.rs`, and have the same bits.

use super::avx2;

/// No kernel for eight numbers can be called without it, and only [`available`] makes one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

/// Whether the CPU has AVX-512, beside AVX2.
#[inline]
pub(super) fn available() -> Option<Avx512> {
    #[cfg(test)]
    if AVOIDED.get() {
        return None;
    }
    avx2::available()?;
    is_x86_feature_detected!("avx512f").then_some(Avx512(()))
}

#[cfg(test)]
thread_local! {
    static AVOIDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs a test on this thread as on a CPU that has none of it.
#[cfg(test)]
pub(super) fn without(test: impl Fn()) {
    AVOIDED.set(true);
    test();
    AVOIDED.set(false);
}
