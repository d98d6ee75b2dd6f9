//! Vectors as long as the data, on all threads. Sums are those of blocks in their order; a vector
//! of one block is added up as `vector.rs` does it.

use rayon::prelude::*;

use crate::linalg::blocks::Blocks;
use crate::linalg::vector;

/// Numbers that a thread writes at once, and from how many on it is not done by one alone: pages of
/// memory that are seen for the first time take longer than what is written to them.
const ZEROS_PER_TASK: usize = 1 << 15;
const WORTH_THREADS: usize = 1 << 19;

/// This many zeros.
pub(crate) fn zeros(n: usize) -> Vec<f64> {
    if n < WORTH_THREADS {
        return vec![0.0; n];
    }
    let mut zeros = Vec::new();
    (0..n).into_par_iter().with_min_len(ZEROS_PER_TASK).map(|_| 0.0).collect_into_vec(&mut zeros);
    zeros
}

/// `<a, b>`
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    add_up(a.len(), |range| vector::dot(&a[range.clone()], &b[range]))
}

/// `|a|^2`
pub(crate) fn norm_squared(a: &[f64]) -> f64 {
    add_up(a.len(), |range| vector::norm_squared(&a[range]))
}

/// `|a - b|^2`
pub(crate) fn distance_squared(a: &[f64], b: &[f64]) -> f64 {
    add_up(a.len(), |range| vector::distance_squared(&a[range.clone()], &b[range]))
}

/// The mean, and the mean of the squares about it.
pub(crate) fn mean_and_variance(a: &[f64]) -> (f64, f64) {
    let n = a.len().max(1) as f64;
    let mean = add_up(a.len(), |range| vector::sum(&a[range])) / n;
    let squares = Blocks::new(a.len(), 1).sum(
        #[inline(always)]
        |i| (a[i] - mean) * (a[i] - mean),
    );
    (mean, squares / n)
}

/// `out <- a - b`
pub(crate) fn subtract(a: &[f64], b: &[f64], out: &mut [f64]) {
    Blocks::new(out.len(), 3).fill(
        1,
        out,
        #[inline(always)]
        |range, out| {
            vector::update_with_both(out, &a[range.clone()], &b[range], |_, a, b| a - b);
        },
    );
}

/// `out += c a`
pub(crate) fn axpy(c: f64, a: &[f64], out: &mut [f64]) {
    Blocks::new(out.len(), 2).fill(
        1,
        out,
        #[inline(always)]
        |range, out| vector::axpy(c, &a[range], out),
    );
}

/// The sum over all blocks of `0..n`.
fn add_up(n: usize, block: impl Fn(std::ops::Range<usize>) -> f64 + Sync) -> f64 {
    let mut total = [0.0];
    Blocks::new(n, 1).add(
        1.0,
        &mut total,
        #[inline(always)]
        |range, total| total[0] = block(range),
    );
    total[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;

    /// A short vector to the bit, a long one up to the order of its sums.
    #[test]
    fn long_vectors_add_up_as_short_ones_do() {
        for n in [0, 1, 1000, 600_001] {
            let mut draws = Stream::new(n as u64, 0);
            let mut numbers = || (0..n).map(|_| draws.unit() - 0.3).collect::<Vec<f64>>();
            let (a, b) = (numbers(), numbers());
            assert!(zeros(n).len() == n && zeros(n).iter().all(|x| *x == 0.0));
            let near = |x: f64, y: f64| {
                let off = if n > 1000 { 1e-12 * n as f64 } else { 0.0 };
                assert!((x - y).abs() <= off, "{n}: {x} {y}");
            };
            near(dot(&a, &b), vector::dot(&a, &b));
            near(norm_squared(&a), vector::norm_squared(&a));
            near(distance_squared(&a, &b), vector::distance_squared(&a, &b));
            let (mean, variance) = mean_and_variance(&a);
            let plain = a.iter().sum::<f64>() / n.max(1) as f64;
            assert!((mean - plain).abs() < 1e-12);
            let squares = a.iter().map(|x| (x - plain) * (x - plain)).sum::<f64>();
            assert!((variance - squares / n.max(1) as f64).abs() < 1e-12);
            let mut out = vec![7.0; n];
            subtract(&a, &b, &mut out);
            assert!(out.iter().zip(a.iter().zip(&b)).all(|(out, (a, b))| *out == a - b));
            let (before, c) = (out.clone(), 0.5);
            axpy(c, &a, &mut out);
            assert!(out.iter().zip(before.iter().zip(&a)).all(|(x, (y, a))| *x == c * a + y));
        }
    }
}
