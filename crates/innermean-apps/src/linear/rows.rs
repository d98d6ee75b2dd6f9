//! The features of rows, dense or sparse.

use innermean::RowData;

/// The features of all rows.
#[derive(Debug, Clone)]
pub enum Rows {
    /// Row after row.
    Dense(RowData),
    /// Row after row with a 1 behind each, as an intercept takes them.
    Wide(RowData),
    /// Compressed sparse rows (CSR).
    Sparse {
        /// Where each row begins and the last one ends.
        indptr: Vec<usize>,
        /// The column of each entry, from 0.
        indices: Vec<u32>,
        /// The entries.
        values: Vec<f64>,
    },
}

impl Rows {
    /// Row after row: a vector, memory that is shared, or rows that are read when they are
    /// looked at.
    pub fn dense(rows: impl Into<RowData>) -> Rows {
        Rows::Dense(rows.into())
    }

    /// How many numbers stand in a dense row of `d` features.
    pub(crate) fn width(&self, d: usize) -> usize {
        d + usize::from(matches!(self, Rows::Wide(_)))
    }

    /// These rows of `d` features, in this order.
    pub(crate) fn select(&self, places: &[usize], d: usize) -> Rows {
        match self {
            Rows::Dense(rows) | Rows::Wide(rows) => {
                let width = self.width(d);
                let mut chosen = Vec::with_capacity(places.len() * d);
                for &i in places {
                    rows.with(width, i..i + 1, |row| chosen.extend_from_slice(&row[..d]));
                }
                Rows::dense(chosen)
            }
            Rows::Sparse { indptr, indices, values } => {
                let (mut starts, mut columns, mut entries) = (vec![0], Vec::new(), Vec::new());
                for &i in places {
                    let own = indptr[i]..indptr[i + 1];
                    columns.extend_from_slice(&indices[own.clone()]);
                    entries.extend_from_slice(&values[own]);
                    starts.push(columns.len());
                }
                Rows::Sparse { indptr: starts, indices: columns, values: entries }
            }
        }
    }

    /// Leaves out the rows that are not kept.
    pub(crate) fn retain(&mut self, kept: &[bool], d: usize) {
        let d = self.width(d);
        match self {
            Rows::Dense(rows) | Rows::Wide(rows) => {
                let mut left = Vec::with_capacity(kept.iter().filter(|kept| **kept).count() * d);
                rows.each_row(d, |i, row| {
                    left.extend_from_slice(if kept[i] { row } else { &[] });
                });
                *rows = left.into();
            }
            Rows::Sparse { indptr, indices, values } => {
                let (mut starts, mut end) = (vec![0], 0);
                for (row, _) in indptr.windows(2).zip(kept).filter(|(_, kept)| **kept) {
                    indices.copy_within(row[0]..row[1], end);
                    values.copy_within(row[0]..row[1], end);
                    end += row[1] - row[0];
                    starts.push(end);
                }
                indices.truncate(end);
                values.truncate(end);
                *indptr = starts;
            }
        }
    }

    /// The largest variance of a column of `d`, over `n` rows.
    pub(crate) fn largest_variance(&self, n: usize, d: usize) -> f64 {
        let (mut sums, mut squares) = (vec![0.0; d], vec![0.0; d]);
        let mut add = |l: usize, x: f64| {
            sums[l] += x / n as f64;
            squares[l] += x * x / n as f64;
        };
        match self {
            Rows::Dense(rows) | Rows::Wide(rows) => {
                rows.each_row(self.width(d), |_, row| {
                    row[..d].iter().enumerate().for_each(|(l, x)| add(l, *x));
                });
            }
            Rows::Sparse { indices, values, .. } => {
                indices.iter().zip(values).for_each(|(l, x)| add(*l as usize, *x));
            }
        }
        sums.iter().zip(&squares).map(|(mean, square)| square - mean * mean).fold(0.0, f64::max)
    }
}
