//! How the work of a Gram matrix is shared out: by the sizes alone, so that the bits do not depend
//! on the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use crate::linalg::vector::{axpy, dispatch};

/// Rows of the result that one task fills.
const STRIP: usize = 192;
/// This many strips keep every core busy; fewer get help from groups of data rows.
const MANY_STRIPS: usize = 16;
/// At most this many groups.
const MOST_GROUPS: usize = 64;
/// At least this many products in a group: less is not worth handing to a thread.
const LEAST_PRODUCTS: usize = 1 << 19;
/// Fewer products stay on the thread that asks for them: to hand them to others takes a tenth of
/// their time.
const WORTH_THREADS: usize = 1 << 23;
/// At least this many data rows in a group: adding up the groups stays cheap, also where a partial
/// sum does not fit into the second cache.
const LEAST_ROWS: usize = 1024;
const LEAST_ROWS_LARGE: usize = 4096;
const SECOND_CACHE: usize = 1 << 14;

/// `matrix = sum over groups of data rows`, where `work(rows, strip, out)` adds to the rows `strip`
/// of the result, on and below the diagonal, what its data rows give. What it leaves above the
/// diagonal does not matter.
pub(super) fn fill(
    n: usize,
    d: usize,
    work: impl Fn(Range<usize>, Range<usize>, &mut [f64]) + Sync,
) -> Vec<f64> {
    // Through a pointer, so that what hands tasks to threads is compiled once.
    fill_by(n, d, &|rows, strip, out| {
        dispatch(
            #[inline(always)]
            || work(rows, strip, out),
        );
    })
}

/// `work(rows, strip, out)`
type Work<'a> = dyn Fn(Range<usize>, Range<usize>, &mut [f64]) + Sync + 'a;

fn fill_by(n: usize, d: usize, work: &Work<'_>) -> Vec<f64> {
    if d == 0 {
        return Vec::new();
    }
    let strip = STRIP.max(d.div_ceil(2 * MANY_STRIPS));
    let len = group_len(n, d, d.div_ceil(strip));
    let groups = n.div_ceil(len).max(1);
    let mut partials = vec![0.0; groups * d * d];
    let mut tasks: Vec<(usize, usize, &mut [f64])> = Vec::new();
    for (group, partial) in partials.chunks_exact_mut(d * d).enumerate() {
        tasks.extend(
            partial.chunks_mut(strip * d).enumerate().map(|(s, out)| (group, s * strip, out)),
        );
    }
    let task = |(group, first, out): (usize, usize, &mut [f64])| {
        work(group * len..((group + 1) * len).min(n), first..first + out.len() / d, out);
    };
    if tasks.len() == 1 || n * d * d < WORTH_THREADS {
        tasks.into_iter().for_each(task);
    } else {
        tasks.into_par_iter().with_max_len(1).for_each(task);
    }
    let (matrix, others) = partials.split_at_mut(d * d);
    let add = |(s, out): (usize, &mut [f64])| {
        for other in others.chunks_exact(d * d) {
            axpy(1.0, &other[s * strip * d..s * strip * d + out.len()], out);
        }
    };
    if others.len() < LEAST_PRODUCTS {
        matrix.chunks_mut(strip * d).enumerate().for_each(add);
    } else {
        matrix.par_chunks_mut(strip * d).enumerate().for_each(add);
    }
    partials.truncate(d * d);
    partials.shrink_to_fit();
    mirror(d, &mut partials);
    partials
}

/// Data rows in a group. Partial sums take no more memory than the data, or than is nothing.
fn group_len(n: usize, d: usize, strips: usize) -> usize {
    let size = d * d;
    let most =
        if strips >= MANY_STRIPS { 1 } else { MOST_GROUPS.min((n * d).max(1 << 20) / size).max(1) };
    let least = if size <= SECOND_CACHE { LEAST_ROWS } else { LEAST_ROWS_LARGE };
    n.div_ceil(most).max(least).max(LEAST_PRODUCTS / size)
}

/// Copies what lies below the diagonal to above it, square by square: a whole column at once would
/// leave the cache at every step.
fn mirror(d: usize, matrix: &mut [f64]) {
    const SIDE: usize = 16;
    for first in (0..d).step_by(SIDE) {
        for column in (first..d).step_by(SIDE) {
            for r in first..(first + SIDE).min(d) {
                for c in column.max(r + 1)..(column + SIDE).min(d) {
                    matrix[r * d + c] = matrix[c * d + r];
                }
            }
        }
    }
}
