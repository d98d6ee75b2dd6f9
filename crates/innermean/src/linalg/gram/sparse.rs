//! Outer products of sparse rows, scattered.

use std::ops::Range;

use super::Weight;
use crate::linalg::vector::sparse_axpy;

/// Adds `sum over r of weight(r) a_rk a_rl` to rows k of `strip`, columns l up to the diagonal, for
/// rows given as columns and values.
#[inline(always)]
pub(super) fn add<'r>(
    d: usize,
    rows: Range<usize>,
    strip: Range<usize>,
    weight: &Weight<'_>,
    row: impl Fn(usize) -> (&'r [u32], &'r [f64]),
    out: &mut [f64],
) {
    for r in rows {
        let weight = weight(r);
        if weight == 0.0 {
            continue;
        }
        let (columns, values) = row(r);
        let first = columns.partition_point(|l| (*l as usize) < strip.start);
        for k in first..columns.len() {
            let l = columns[k] as usize;
            if l >= strip.end {
                break;
            }
            let own = (l - strip.start) * d;
            sparse_axpy(weight * values[k], &columns[..=k], &values[..=k], &mut out[own..own + d]);
        }
    }
}
