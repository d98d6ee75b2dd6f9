//! Rows that are made of others, row by row, when they are looked at.

use super::{ReadRows, RowData};
use crate::linalg::blocks::Blocks;
use crate::model::inner::Lost;

/// Makes a row of another.
type Formula = dyn Fn(&[f64], &mut [f64]) + Send + Sync;

/// Numbers that are kept although they could be made again: 64 MiB.
const MOST_KEPT: usize = 1 << 23;

/// Rows of `width` numbers made of as many rows of other data.
pub(crate) struct Made {
    of: RowData,
    of_width: usize,
    width: usize,
    formula: Box<Formula>,
}

impl Made {
    /// `formula(row, out)` writes the row that is made of one of `of`.
    pub(crate) fn rows(
        (of, of_width): (&RowData, usize),
        width: usize,
        formula: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> RowData {
        let (of, formula) = (of.clone(), Box::new(formula));
        RowData::read(Made { of, of_width, width, formula })
    }

    /// The same, kept in memory if those are that they are made of: but for many that are made of
    /// shared ones, so that memory does not hold them twice.
    pub(crate) fn where_they_are(
        (of, of_width): (&RowData, usize),
        width: usize,
        formula: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> RowData {
        let n = of.len() / of_width.max(1);
        let held = of.held().filter(|_| !of.is_copied_late(n * width));
        let Some(held) = held else { return Self::rows((of, of_width), width, formula) };
        let mut made = vec![0.0; n * width];
        Blocks::new(n, of_width + width).fill(width, &mut made, |rows, made| {
            let rows =
                held[rows.start * of_width..rows.end * of_width].chunks_exact(of_width.max(1));
            rows.zip(made.chunks_exact_mut(width.max(1))).for_each(|(row, out)| formula(row, out));
        });
        made.into()
    }
}

impl RowData {
    /// Whether so many numbers that are made of these are made when they are looked at.
    pub(crate) fn is_copied_late(&self, numbers: usize) -> bool {
        self.held().is_none() || self.is_shared() && numbers > MOST_KEPT
    }
}

impl ReadRows for Made {
    fn width(&self) -> usize {
        self.width
    }

    fn rows(&self) -> usize {
        self.of.len() / self.of_width.max(1)
    }

    fn read(&self, first: usize, out: &mut [f64]) -> Result<(), Lost> {
        let (width, of_width) = (self.width.max(1), self.of_width.max(1));
        self.of.visit(of_width, first..first + out.len() / width, |rows, numbers| {
            let own = &mut out[(rows.start - first) * width..(rows.end - first) * width];
            let rows = numbers.chunks_exact(of_width).zip(own.chunks_exact_mut(width));
            rows.for_each(|(row, out)| (self.formula)(row, out));
        });
        self.of.check()
    }
}
