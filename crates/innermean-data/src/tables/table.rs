//! A table while it is read: its columns in their roles, and what is missing in them.

use crate::error::Place;
use crate::tables::keys::KeyColumn;
use crate::tables::row_lines::RowLines;

/// Bytes that a text of its own takes at least.
const SMALLEST_TEXT: usize = 16;

/// What becomes of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is not looked at.
    Skip,
    /// It labels the rows.
    Label,
    /// The text column of this number.
    Key(usize),
    /// The text column of this number, where a missing text is the empty one.
    KeyOrBlank(usize),
    /// The number column of this number.
    Number(usize),
    /// The number column of this number, where a missing one is NaN and no gap.
    NumberOrNan(usize),
    /// A number of the matrix, in a column that somebody asked for.
    Value,
    /// A number of the matrix, in a column that is there.
    Other,
}

/// The rows as they are in the file; a missing value is NaN.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The columns of the matrix, row after row.
    pub(crate) values: Vec<f64>,
    pub(crate) numbers: Vec<Vec<f64>>,
    /// Which of `numbers` may hold NaN.
    pub(crate) blank: Vec<bool>,
    pub(crate) keys: Vec<KeyColumn>,
    pub(crate) labels: Vec<String>,
    pub(crate) rows: usize,
    pub(crate) lines: RowLines,
    /// Missing values in the matrix.
    pub(crate) gaps: Gaps,
    /// Missing values in the columns of numbers and texts, which cannot be done without.
    pub(crate) needed_gaps: Gaps,
    /// Whether all values carry a percent sign.
    pub(crate) percent: bool,
    pub(crate) notes: Vec<String>,
}

/// Missing values of some columns.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    pub(crate) count: usize,
    /// The first one and the text it was written as.
    pub(crate) first: Option<(Place, String)>,
}

impl Gaps {
    pub(crate) fn add(&mut self, place: impl FnOnce() -> Place, text: &str) {
        if self.count == 0 {
            self.first = Some((place(), text.to_owned()));
        }
        self.count += 1;
    }
}

impl Table {
    /// The memory it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let numbers = self.values.len() + self.numbers.iter().map(Vec::len).sum::<usize>();
        let labels = size_of_val(&self.labels[..])
            + self.labels.first().map_or(0, |label| label.len().max(SMALLEST_TEXT))
                * self.labels.len();
        let keys: u64 = self.keys.iter().map(KeyColumn::bytes).sum();
        (size_of::<f64>() * numbers + labels) as u64 + keys + self.lines.bytes()
    }

    /// Which rows have no missing value.
    fn complete_rows(&self) -> Vec<bool> {
        let mut kept = vec![true; self.rows];
        let width = self.values.len().checked_div(self.rows).unwrap_or(0);
        if width > 0 {
            for (keep, row) in kept.iter_mut().zip(self.values.chunks_exact(width)) {
                *keep = !row.iter().any(|value| value.is_nan());
            }
        }
        let blank = self.blank.iter().copied().chain(std::iter::repeat(false));
        for (column, _) in self.numbers.iter().zip(blank).filter(|(_, blank)| !blank) {
            for (keep, value) in kept.iter_mut().zip(column) {
                *keep &= !value.is_nan();
            }
        }
        for column in &self.keys {
            for (row, keep) in kept.iter_mut().enumerate() {
                *keep &= !column.is_missing(row);
            }
        }
        kept
    }

    /// Leaves out rows with missing values, and says how many.
    pub(crate) fn drop_rows(&mut self) -> usize {
        let kept = self.complete_rows();
        let dropped = kept.iter().filter(|&&keep| !keep).count();
        let width = self.values.len().checked_div(self.rows).unwrap_or(0);
        let mut to = 0;
        for row in (0..self.rows).filter(|&row| kept[row]) {
            self.values.copy_within(row * width..(row + 1) * width, to * width);
            to += 1;
        }
        self.values.truncate(to * width);
        let mut keep = kept.iter().cycle();
        let mut next = |_: &f64| keep.next().copied().unwrap_or(true);
        for column in &mut self.numbers {
            column.retain(&mut next);
        }
        let mut keep = kept.iter();
        self.labels.retain(|_| keep.next().copied().unwrap_or(true));
        for column in &mut self.keys {
            column.keep(&kept);
        }
        self.lines.keep(&kept);
        self.rows -= dropped;
        dropped
    }

    /// Leaves out columns of the matrix with missing values: `names` loses their names, which are
    /// handed back.
    pub(crate) fn drop_columns(&mut self, names: &mut Vec<String>) -> Vec<String> {
        if names.is_empty() {
            return Vec::new();
        }
        let mut kept = vec![true; names.len()];
        for row in self.values.chunks_exact(names.len()) {
            for (keep, value) in kept.iter_mut().zip(row) {
                *keep &= !value.is_nan();
            }
        }
        let mut keep = kept.iter().cycle();
        self.values.retain(|_| keep.next().copied().unwrap_or(true));
        let (left, dropped) =
            std::mem::take(names).into_iter().zip(kept).partition::<Vec<_>, _>(|(_, k)| *k);
        *names = left.into_iter().map(|(name, _)| name).collect();
        dropped.into_iter().map(|(name, _)| name).collect()
    }
}
