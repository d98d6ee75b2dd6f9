//! Blocks of consecutive samples of a term: how a term is cut into them, and what they are by default.

use std::ops::Range;

use super::Inner;
use crate::linalg::vector::axpy;

/// The block to which sample j of `n_y` belongs, if blocks have at most `most` samples, all but the last equally many. A j that is drawn uniformly
/// draws a block with a probability in proportion to its size: the mean over the block has the mean over all samples as its
/// expectation.
#[inline(always)]
pub fn block_of(j: usize, n_y: usize, most: usize) -> Range<usize> {
    if most >= n_y {
        return 0..n_y;
    }
    let size = n_y.div_ceil(n_y.div_ceil(most));
    let start = j - j % size;
    start..(start + size).min(n_y)
}

/// `out = (1/b) sum_j f_theta(x_i, y_ij)`
#[inline(always)]
pub(super) fn mean<F: Inner + ?Sized>(
    f: &F,
    theta: &[f64],
    i: usize,
    js: Range<usize>,
    work: &mut [f64],
    out: &mut [f64],
) {
    let count = js.len() as f64;
    out.fill(0.0);
    for j in js {
        f.value(theta, i, j, work);
        axpy(1.0, work, out);
    }
    for out in out {
        *out /= count;
    }
}

/// `out = (1/b) sum_j f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij)`
#[inline(always)]
pub(super) fn difference<F: Inner + ?Sized>(
    f: &F,
    theta: &[f64],
    theta_ref: &[f64],
    i: usize,
    js: Range<usize>,
    work: &mut [f64],
    out: &mut [f64],
) {
    let count = js.len() as f64;
    out.fill(0.0);
    for j in js {
        f.value(theta, i, j, work);
        axpy(1.0, work, out);
        f.value(theta_ref, i, j, work);
        axpy(-1.0, work, out);
    }
    for out in out {
        *out /= count;
    }
}

/// The mean, and that of the Jacobians by one product for each coordinate.
pub(super) fn mean_and_jacobian<F: Inner + ?Sized>(
    f: &F,
    theta: &[f64],
    i: usize,
    js: Range<usize>,
    work: &mut [f64],
    mean: &mut [f64],
    jacobian: &mut [f64],
) {
    f.block_mean(theta, i, js.clone(), work, mean);
    work.fill(0.0);
    jacobian.fill(0.0);
    for (c, row) in jacobian.chunks_exact_mut(f.d()).enumerate() {
        work[c] = 1.0;
        f.add_block_jac_t(theta, i, js.clone(), work, 1.0, row);
        work[c] = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks cover the samples, nearly equal in size, and each holds the samples that lead to it.
    #[test]
    fn samples_lead_to_the_block_in_which_they_stand() {
        for n_y in 1..80 {
            for most in [1, 2, 3, 7, 16, 64, 79, 80, 1000] {
                let mut next = 0;
                while next < n_y {
                    let block = block_of(next, n_y, most);
                    assert!(block.start == next && block.len() <= most.max(1) && block.end <= n_y);
                    assert!(block.clone().all(|j| block_of(j, n_y, most) == block));
                    next = block.end;
                }
            }
        }
    }
}
