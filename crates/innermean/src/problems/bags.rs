//! Labels known for groups alone: learning from label proportions, counts or means.
//!
//! Rows `y_ij` of features form groups i; of each group one label is known: which part of its
//! rows is positive, how many events they had together, the mean of their targets, or the
//! proportions of several classes. A model of single rows is fitted to that:
//!
//! ```text
//! min over theta of  (1/n_X) sum_i phi_i( (1/n_Yi) sum_j link( <y_ij, theta> + intercept ) ) + g(theta)
//! ```
//!
//! | label of a group | link | phi |
//! |---|---|---|
//! | proportion of positive rows | [`Link::Logistic`] | [`Bernoulli`](crate::model::merit::Bernoulli) |
//! | proportions of classes | softmax: [`SoftmaxBags`] | [`NegativeLog`](crate::model::merit::NegativeLog) |
//! | mean of a target | [`Link::Identity`] with targets | [`Square`](crate::model::merit::Square) |
//! | sum of counts | [`Link::Exp`] | [`Poisson`](crate::model::merit::Poisson) |
//!
//! The intercept is the last coordinate of theta (the last C with C classes), for
//! [`FreeTail`](crate::model::regularizer::FreeTail) to leave free. Rows lie group after group: a
//! pass over the data is a stream of tiles of rows, each with its products, its links and its sums
//! in the nearest cache. Threads share rows, not groups: a group of a million rows is cut into
//! segments.
//!
//! Rows may have weights ([`Groups::with_weights`]): the mean of a group is then the weighted one.
//! With `c_ij = n_Yi omega_ij / sum_k omega_ik` it is the plain mean of `c_ij link(...)`, so that f
//! is scaled row by row and every method, pass and certificate holds as it is. A row may belong to
//! several groups ([`Groups::of_members`]), without being copied.

use std::ops::Range;

use crate::linalg::blocks::Blocks;
use crate::linalg::vector::{norm_squared, prefetch, row_dots, update};
use crate::model::row_data::RowData;
use crate::model::setting::InvalidSetting;

mod link;
mod members;
mod order;
mod scalar;
mod softmax;

pub use link::Link;
pub use scalar::Bags;
pub use softmax::{MOST_CLASSES, SoftmaxBags};

/// Rows of features, group after group.
#[derive(Debug, Clone)]
pub struct Groups {
    /// Features of a row.
    width: usize,
    rows: RowData,
    /// Where the rows of the groups lie among all rows; empty where row k is that of place k.
    members: Vec<u32>,
    /// Group i has the places `starts[i]..starts[i + 1]`, each of which is a row.
    starts: Vec<usize>,
    /// `c_ij` of every place; empty where all are 1.
    factors: Vec<f64>,
    /// The sum of the weights of every group; empty without weights.
    totals: Vec<f64>,
    intercept: bool,
    segments: Vec<Segment>,
    /// Of segments, with about equally many rows.
    blocks: Blocks,
    /// `max |(y_ij, 1)|`, the 1 where there is an intercept, times the largest `c_ij`.
    longest: f64,
    /// Whether a block of consecutive rows of a group is as good as a random sample of them.
    in_random_order: bool,
}

/// Rows of one group that are handled in one go.
#[derive(Debug, Clone)]
struct Segment {
    group: usize,
    rows: Range<usize>,
}

/// A pass is cut into at least this many segments, if it has as many rows.
const SEGMENTS: usize = 128;
/// A shorter segment is not worth its overhead.
const SHORTEST: usize = 512;
/// Rows that are handled at once, at most.
const TILE: usize = 64;
/// Numbers in a tile: they should stay in the nearest cache.
const TILE_NUMBERS: usize = 2048;
/// Rows that a step of SVRPDA-I or II takes at once by default, at most.
const BLOCK: usize = 16;
/// A group has this many blocks at least, on average. In `experiments/src/bin/blocks.rs`, of blocks
/// of 1, 4, 16 and 64 rows, 16 were the fastest for groups of 20 000 and of 2000 rows, and 4 for
/// groups of 200.
const PIECES: usize = 64;
/// The mean number of rows of a group from which on there are blocks.
const WORTH_BLOCKS: usize = 2 * PIECES;

impl Groups {
    /// Takes rows of `width` features, as a vector, memory that is shared, or rows that are
    /// read when they are looked at; group i has those from `starts[i]` to `starts[i + 1]`, so that
    /// there is one start more than there are groups.
    ///
    /// # Errors
    /// Unless there are whole rows of one feature or more, all finite, and the starts rise from 0
    /// to the number of rows.
    pub fn new(
        width: usize,
        rows: impl Into<RowData>,
        starts: Vec<usize>,
        intercept: bool,
    ) -> Result<Self, InvalidSetting> {
        Self::of_places(width, rows.into(), Vec::new(), starts, intercept)
    }

    /// [`Groups::new`], with the row of each place where there are `members`.
    fn of_places(
        width: usize,
        rows: RowData,
        members: Vec<u32>,
        starts: Vec<usize>,
        intercept: bool,
    ) -> Result<Self, InvalidSetting> {
        if width == 0 || rows.is_empty() || !rows.is_of(width) {
            return Err(InvalidSetting::new(
                "rows",
                format!("{} numbers in rows of {width}", rows.len()),
                "at least one whole row of at least one number",
            ));
        }
        let all = rows.len() / width;
        let count = if members.is_empty() { all } else { members.len() };
        if starts.first() != Some(&0) || starts.last() != Some(&count) {
            let given = format!("{:?} to {:?}", starts.first(), starts.last());
            return Err(InvalidSetting::new("starts", given, format!("numbers from 0 to {count}")));
        }
        if let Some(i) = (1..starts.len()).find(|&i| starts[i] <= starts[i - 1]) {
            let given = format!("{} after {}", starts[i], starts[i - 1]);
            return Err(InvalidSetting::new(
                format!("starts[{i}]"),
                given,
                "a larger number: no group is empty",
            ));
        }
        // The square of the longest row, infinite if a number is not finite (or so large that its
        // square is not).
        let squares = Blocks::new(all, width).max(
            || (),
            #[inline(always)]
            |(), r| {
                let square = rows.with(width, r..r + 1, norm_squared);
                if square.is_nan() { f64::INFINITY } else { square }
            },
        );
        if squares == f64::INFINITY
            && let Some((bad, x)) = rows.first_bad(width)
        {
            let place = format!("{x} in row {}, column {}", bad / width, bad % width);
            return Err(InvalidSetting::new("rows", place, "finite numbers"));
        }
        let longest_segment = count.div_ceil(SEGMENTS).max(SHORTEST);
        let mut segments = Vec::new();
        for (group, ends) in starts.windows(2).enumerate() {
            let pieces = (ends[1] - ends[0]).div_ceil(longest_segment);
            let cut = |k: usize| ends[0] + k * (ends[1] - ends[0]) / pieces;
            segments.extend((0..pieces).map(|k| Segment { group, rows: cut(k)..cut(k + 1) }));
        }
        let blocks = Blocks::balanced(segments.len(), 0, |s| segments[s].rows.len() * width);
        let longest = (squares + f64::from(u8::from(intercept))).sqrt();
        let in_random_order = members.is_empty()
            && count >= WORTH_BLOCKS * (starts.len() - 1)
            && order::is_random(width, &rows, &starts);
        Ok(Groups {
            width,
            rows,
            members,
            starts,
            factors: Vec::new(),
            totals: Vec::new(),
            intercept,
            segments,
            blocks,
            longest,
            in_random_order,
        })
    }

    /// Rows in any order, with the number of the group of each: sorts them by group. Comes back
    /// with where each sorted row stood before. Rows of large groups are brought into an order that
    /// is drawn, the same each time, so that steps may take blocks of consecutive rows.
    ///
    /// # Errors
    /// As [`Groups::new`], and if a group below `count` has no rows or a row is of none of them.
    pub fn gather(
        width: usize,
        rows: &[f64],
        groups: &[u32],
        count: usize,
        intercept: bool,
    ) -> Result<(Self, Vec<usize>), InvalidSetting> {
        if rows.len() != width * groups.len() {
            let expected = format!("one for each of {} rows", rows.len() / width.max(1));
            return Err(InvalidSetting::new(
                "groups",
                format!("{} numbers", groups.len()),
                expected,
            ));
        }
        let mut starts = vec![0; count + 1];
        for &group in groups {
            if group as usize >= count {
                return Err(InvalidSetting::new(
                    "groups",
                    group.to_string(),
                    format!("a number below {count}"),
                ));
            }
            starts[group as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut order = vec![0; groups.len()];
        for (row, &group) in groups.iter().enumerate() {
            order[next[group as usize]] = row;
            next[group as usize] += 1;
        }
        if groups.len() >= WORTH_BLOCKS * count {
            order::draw(&starts, &mut order);
        }
        let mut sorted = vec![0.0; rows.len()];
        Blocks::new(order.len(), width).fill(width, &mut sorted, |range, sorted| {
            for (&row, out) in order[range].iter().zip(sorted.chunks_exact_mut(width)) {
                out.copy_from_slice(&rows[row * width..(row + 1) * width]);
            }
        });
        Ok((Self::new(width, sorted, starts, intercept)?, order))
    }

    /// The number of groups.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of rows of all groups together: one that belongs to two counts twice.
    pub fn rows(&self) -> usize {
        self.starts[self.count()]
    }

    /// Features of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether a model of these rows has an intercept.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// The places of the rows of group i.
    #[inline(always)]
    pub fn range(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The number of rows of group i.
    #[inline(always)]
    pub fn size(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    /// The rows of a block of samples of group i.
    #[inline(always)]
    fn block_rows(&self, i: usize, js: &Range<usize>) -> Range<usize> {
        self.starts[i] + js.start..self.starts[i] + js.end
    }

    /// Whether no group is cut into segments: segment i is group i.
    fn are_whole(&self) -> bool {
        self.segments.len() == self.count()
    }

    /// See [`Facts::block`](crate::model::inner::Facts::block).
    fn block(&self) -> usize {
        if self.in_random_order {
            (self.rows() / self.count() / PIECES).min(TILE_NUMBERS / self.width).clamp(1, BLOCK)
        } else {
            1
        }
    }

    /// Runs `work` on the features of the row at place r.
    #[inline(always)]
    pub fn with_row<R>(&self, r: usize, work: impl FnOnce(&[f64]) -> R) -> R {
        let r = self.row_at(r);
        self.rows.with(self.width, r..r + 1, work)
    }

    /// A hint: the row at place r will be asked for soon.
    #[inline(always)]
    fn prefetch(&self, r: usize) {
        if let Some(rows) = self.rows.held() {
            prefetch(rows, self.row_at(r) * self.width, self.width);
        }
    }

    /// Numbers in theta for one score: features and intercept.
    fn coefficients(&self) -> usize {
        self.width + usize::from(self.intercept)
    }

    /// Runs `work(rows, their places)` for tiles of the rows at the places in `range`, of at most
    /// `most` rows. The rows of a tile lie one after the other: those of groups that overlap may
    /// come in tiles of a single row.
    #[inline(always)]
    fn tiles(&self, range: Range<usize>, most: usize, mut work: impl FnMut(&[f64], Range<usize>)) {
        let tile = (TILE_NUMBERS / self.width).clamp(8, TILE).min(most);
        let mut first = range.start;
        while first < range.end {
            let end = self.end_of_run(first, (first + tile).min(range.end));
            let row = self.row_at(first);
            self.rows.with(
                self.width,
                row..row + end - first,
                #[inline(always)]
                |rows| work(rows, first..end),
            );
            first = end;
        }
    }

    /// `scores_r = <row r, theta> + intercept`
    #[inline(always)]
    fn scores(&self, rows: &[f64], theta: &[f64], intercept: f64, scores: &mut [f64]) {
        row_dots(rows, self.width, theta, scores);
        if self.intercept {
            update(scores, |t| t + intercept);
        }
    }

    /// Adds up, segment by segment in order, what segments have of their groups: `out_i = (1/n_Yi)
    /// sum of parts`.
    fn reduce(&self, width: usize, parts: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (segment, part) in self.segments.iter().zip(parts.chunks_exact(width)) {
            let share = 1.0 / self.size(segment.group) as f64;
            let own = &mut out[segment.group * width..(segment.group + 1) * width];
            crate::linalg::vector::axpy(share, part, own);
        }
    }
}
