//! The rows of linear predictors, dense or sparse.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::sparse::SparseRows;
use crate::linalg::blocks::Blocks;
use crate::linalg::vector::{
    add_weighted_rows, axpy, dot, norm_squared, prefetch, row_dots, row_dots_and_weighted_rows,
    sparse_axpy, sparse_dot,
};
use crate::model::row_data::RowData;

/// One row of a [`Collapsed`](super::Collapsed).
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// All numbers.
    Dense(&'a [f64]),
    /// Columns, and the numbers at these.
    Sparse(&'a [u32], &'a [f64]),
}

impl Row<'_> {
    /// `<row, x>`
    #[inline(always)]
    pub fn dot(self, x: &[f64]) -> f64 {
        match self {
            Row::Dense(row) => dot(row, x),
            Row::Sparse(columns, values) => sparse_dot(columns, values, x),
        }
    }

    /// `out += c row`
    #[inline(always)]
    pub fn add_to(self, c: f64, out: &mut [f64]) {
        match self {
            Row::Dense(row) => axpy(c, row, out),
            Row::Sparse(columns, values) => sparse_axpy(c, columns, values, out),
        }
    }
}

/// How many numbers a block touches for each of the vector that it adds up.
const NUMBERS_PER_SUM: usize = 8;
/// Numbers that stay in the nearest cache: half of it.
const CACHED_NUMBERS: usize = 1 << 11;

/// ell rows of length d for each term.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Matrix {
    Dense(RowData),
    Sparse(SparseRows),
}

/// d and ell.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) d: usize,
    pub(super) ell: usize,
}

impl Shape {
    /// The rows of the terms of a range.
    #[inline(always)]
    pub(super) fn rows(self, terms: &Range<usize>) -> Range<usize> {
        terms.start * self.ell..terms.end * self.ell
    }
}

impl Matrix {
    /// Row c of term i.
    #[inline(always)]
    pub(super) fn row(&self, shape: Shape, i: usize, c: usize) -> Row<'_> {
        match self {
            Matrix::Dense(rows) => {
                let r = i * shape.ell + c;
                let held = rows.held().expect("rows that are read are lent by `with_row`");
                Row::Dense(&held[r * shape.d..(r + 1) * shape.d])
            }
            Matrix::Sparse(rows) => Row::Sparse(rows.columns(i), rows.values(i, c)),
        }
    }

    /// Runs `work` on row c of term i.
    #[inline(always)]
    pub(super) fn with_row<R>(
        &self,
        shape: Shape,
        i: usize,
        c: usize,
        work: impl FnOnce(Row<'_>) -> R,
    ) -> R {
        match self {
            Matrix::Dense(rows) => {
                let r = i * shape.ell + c;
                rows.with(
                    shape.d,
                    r..r + 1,
                    #[inline(always)]
                    |row| work(Row::Dense(row)),
                )
            }
            Matrix::Sparse(rows) => work(Row::Sparse(rows.columns(i), rows.values(i, c))),
        }
    }

    /// All numbers that are stored.
    pub(super) fn numbers(&self) -> usize {
        match self {
            Matrix::Dense(rows) => rows.len(),
            Matrix::Sparse(rows) => rows.numbers(),
        }
    }

    /// The terms in blocks, for passes that fill; and for those that add up vectors of length d, of
    /// which every block has one: it must be worth it.
    pub(super) fn blocks(&self, shape: Shape, terms: usize, adding: bool) -> Blocks {
        match self {
            Matrix::Dense(_) => Blocks::new(terms, shape.d * shape.ell),
            Matrix::Sparse(rows) => {
                let cost = rows.numbers().div_ceil(terms.max(1));
                Blocks::with_least(terms, cost, if adding { NUMBERS_PER_SUM * shape.d } else { 0 })
            }
        }
    }

    /// Terms whose rows, all together, stay near between two uses, and are enough to be worth a
    /// call.
    pub(super) fn tile(&self, shape: Shape) -> usize {
        let size = match self {
            Matrix::Dense(_) => shape.d * shape.ell,
            Matrix::Sparse(rows) => 2 * rows.numbers().div_ceil(rows.terms().max(1)),
        };
        (CACHED_NUMBERS / size.max(1)).clamp(16, 256)
    }

    /// `|rows of term i|^2`
    #[inline(always)]
    pub(super) fn size_squared(&self, shape: Shape, i: usize) -> f64 {
        match self {
            Matrix::Dense(rows) => rows.with(shape.d, shape.rows(&(i..i + 1)), norm_squared),
            Matrix::Sparse(rows) => norm_squared(rows.term(i)),
        }
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, shape: Shape, i: usize) {
        match self {
            Matrix::Dense(rows) => {
                let size = shape.ell * shape.d;
                rows.held().into_iter().for_each(|rows| prefetch(rows, i * size, size));
            }
            Matrix::Sparse(rows) => rows.prefetch(i),
        }
    }

    /// `out_r = <row r, x>` for the rows of some terms.
    #[inline(always)]
    pub(super) fn dots(&self, shape: Shape, terms: Range<usize>, x: &[f64], out: &mut [f64]) {
        match self {
            Matrix::Dense(rows) => {
                let all = shape.rows(&terms);
                let first = all.start;
                rows.visit(
                    shape.d,
                    all,
                    #[inline(always)]
                    |own, rows| {
                        row_dots(rows, shape.d, x, &mut out[own.start - first..own.end - first]);
                    },
                );
            }
            Matrix::Sparse(rows) => {
                for (i, out) in terms.zip(out.chunks_exact_mut(shape.ell)) {
                    for (c, out) in out.iter_mut().enumerate() {
                        *out = sparse_dot(rows.columns(i), rows.values(i, c), x);
                    }
                }
            }
        }
    }

    /// `sum += sum_r w_r (row r)` over the rows of some terms.
    #[inline(always)]
    pub(super) fn add_weighted(
        &self,
        shape: Shape,
        terms: Range<usize>,
        w: &[f64],
        sum: &mut [f64],
    ) {
        match self {
            Matrix::Dense(rows) => {
                let all = shape.rows(&terms);
                let first = all.start;
                rows.visit(
                    shape.d,
                    all,
                    #[inline(always)]
                    |own, rows| {
                        add_weighted_rows(rows, &w[own.start - first..own.end - first], sum);
                    },
                );
            }
            Matrix::Sparse(rows) => {
                for (i, w) in terms.zip(w.chunks_exact(shape.ell)) {
                    for (c, w) in w.iter().enumerate() {
                        sparse_axpy(*w, rows.columns(i), rows.values(i, c), sum);
                    }
                }
            }
        }
    }

    /// Both in one sweep.
    #[inline(always)]
    pub(super) fn dots_and_weighted(
        &self,
        shape: Shape,
        terms: Range<usize>,
        x: &[f64],
        w: &[f64],
        out: &mut [f64],
        sum: &mut [f64],
    ) {
        match self {
            Matrix::Dense(rows) => {
                let all = shape.rows(&terms);
                let first = all.start;
                rows.visit(
                    shape.d,
                    all,
                    #[inline(always)]
                    |own, rows| {
                        let own = own.start - first..own.end - first;
                        let (w, out) = (&w[own.clone()], &mut out[own]);
                        row_dots_and_weighted_rows(rows, x, w, out, sum);
                    },
                );
            }
            Matrix::Sparse(rows) => {
                let (out, w) = (out.chunks_exact_mut(shape.ell), w.chunks_exact(shape.ell));
                for (i, (out, w)) in terms.zip(out.zip(w)) {
                    for (c, (out, w)) in out.iter_mut().zip(w).enumerate() {
                        let (columns, values) = (rows.columns(i), rows.values(i, c));
                        *out = sparse_dot(columns, values, x);
                        sparse_axpy(*w, columns, values, sum);
                    }
                }
            }
        }
    }
}
