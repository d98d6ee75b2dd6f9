//! The order of the rows within their groups: a block of consecutive rows should be as good as a
//! random sample.

use rayon::prelude::*;

use super::BLOCK;
use crate::draws::Stream;
use crate::model::row_data::RowData;

/// The stream that orders the rows of group i is that of number i from here on, far from those that
/// methods take.
const STREAM: u64 = 1 << 40;
/// Groups and blocks, all in all, at which [`is_random`] looks.
const GROUPS: usize = 8;
const BLOCKS: usize = 256;
/// By how much more blocks may scatter than random samples would. Of samples, the ratio is 1 up to
/// 0.09, so that among ten thousand features none that is in random order goes beyond.
const MOST_SCATTER: f64 = 1.5;

/// Brings the rows of every group into an order that is drawn, the same each time.
pub(super) fn draw(starts: &[usize], mut order: &mut [usize]) {
    let mut parts = Vec::with_capacity(starts.len());
    for ends in starts.windows(2) {
        let (part, rest) = order.split_at_mut(ends[1] - ends[0]);
        parts.push(part);
        order = rest;
    }
    parts.into_par_iter().enumerate().for_each(|(i, part)| {
        let mut draws = Stream::new(0, STREAM + i as u64);
        // Fisher and Yates
        for last in (1..part.len()).rev() {
            part.swap(last, draws.index(last + 1));
        }
    });
}

/// Whether averages over blocks of consecutive rows scatter as those of random samples do, in every
/// feature: b times their variance over the variance within blocks, at blocks that are spread
/// evenly over some groups. Rows that are sorted, that drift with time, or that come in clusters
/// fail.
pub(super) fn is_random(width: usize, rows: &RowData, starts: &[usize]) -> bool {
    let count = starts.len() - 1;
    let groups = (0..count.min(GROUPS)).map(|k| k * count / count.min(GROUPS));
    let groups: Vec<usize> = groups.filter(|&i| starts[i + 1] - starts[i] >= 2 * BLOCK).collect();
    if groups.is_empty() {
        return false;
    }
    let blocks = BLOCKS / groups.len();
    // Sums of the two variances over groups, one after the other.
    let (mut between, mut within) = (vec![0.0; width], vec![0.0; width]);
    for &i in &groups {
        let (start, size) = (starts[i], starts[i + 1] - starts[i]);
        let blocks = blocks.min(size / BLOCK);
        let mut means = vec![0.0; blocks * width];
        for (k, means) in means.chunks_exact_mut(width).enumerate() {
            let first = start + k * (size - BLOCK) / (blocks - 1).max(1);
            rows.with(width, first..first + BLOCK, |block| {
                for (l, mean) in means.iter_mut().enumerate() {
                    let column = || block[l..].iter().step_by(width);
                    *mean = column().sum::<f64>() / BLOCK as f64;
                    let squares: f64 = column().map(|y| (y - *mean).powi(2)).sum();
                    within[l] += squares / (BLOCK - 1) as f64 / blocks as f64;
                }
            });
        }
        for l in 0..width {
            let column = || means[l..].iter().step_by(width);
            let mean = column().sum::<f64>() / blocks as f64;
            let squares: f64 = column().map(|y| (y - mean).powi(2)).sum();
            between[l] += BLOCK as f64 * squares / (blocks - 1).max(1) as f64;
        }
    }
    between.iter().zip(&within).all(|(between, within)| *between <= MOST_SCATTER * within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_random_order_are_told_from_others() {
        let (width, starts) = (3, [0, 5000, 12_000, 12_001, 20_000]);
        let mut draws = Stream::new(3, 0);
        let random: Vec<f64> = (0..20_000 * width).map(|_| draws.unit()).collect();
        let is_random =
            |width, rows: &[f64], starts: &[usize]| is_random(width, &rows.to_vec().into(), starts);
        assert!(is_random(width, &random, &starts));
        assert!(is_random(width, &random, &[0, 20_000]));
        // A constant feature, as of dummies, is in any order.
        let mut constant = random.clone();
        constant.iter_mut().step_by(width).for_each(|y| *y = 7.0);
        assert!(is_random(width, &constant, &starts));
        let with = |feature: fn(usize, f64) -> f64| {
            let mut rows = random.clone();
            for (r, row) in rows.chunks_exact_mut(width).enumerate() {
                row[1] = feature(r, row[1]);
            }
            is_random(width, &rows, &starts)
        };
        assert!(!with(|r, _| r as f64), "sorted");
        assert!(!with(|r, noise| noise + r as f64 / 5000.0), "drifting");
        assert!(!with(|r, noise| noise + 0.5 * ((r / 40) % 2) as f64), "in clusters");
        assert!(!with(|r, _| (r / 40) as f64), "constant for long");
        assert!(
            with(|r, noise| noise + 0.5 * (r % 2) as f64),
            "alternating rows are as good as random ones"
        );
        let mut order: Vec<usize> = (0..20_000).collect();
        draw(&starts, &mut order);
        let shuffled: Vec<f64> =
            order.iter().flat_map(|&r| [r as f64, random[3 * r], 1.0]).collect();
        assert!(is_random(width, &shuffled, &starts));
    }
}
