//! Blocks of consecutive samples of a term: how a term is cut into them.

use std::ops::Range;

/// The block to which sample j of `n_y` belongs, if blocks have at most `most` samples, all but the
/// last equally many. A j that is drawn uniformly draws a block with a probability in proportion to
/// its size: the mean over the block has the mean over all samples as its expectation.
#[inline(always)]
pub fn block_of(j: usize, n_y: usize, most: usize) -> Range<usize> {
    if most >= n_y {
        return 0..n_y;
    }
    let size = n_y.div_ceil(n_y.div_ceil(most));
    let start = j - j % size;
    start..(start + size).min(n_y)
}

/// A term with more than `most` samples is averaged over samples from this many places: they may be
/// in any order.
pub(crate) const PLACES: usize = 16;

/// The samples that stand for a term of `n_y` where at most `most` of them, but at least 16, are
/// looked at: 16 stretches of consecutive samples, equally long and evenly spread. None: all.
pub fn stretches(n_y: usize, most: usize) -> Option<impl ExactSizeIterator<Item = Range<usize>>> {
    let most = most.max(PLACES);
    let len = most / PLACES;
    (n_y > most).then(|| {
        (0..PLACES).map(move |place| {
            let first = place * (n_y - len) / (PLACES - 1);
            first..first + len
        })
    })
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
