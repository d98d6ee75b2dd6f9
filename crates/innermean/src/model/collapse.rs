//! An affine f averaged once: `fbar_i(theta) = Abar_i theta + bbar_i` as rows of a matrix, so that
//! nothing is left to sample. For any f, its linear model at a point.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use self::matrix::{Matrix, Shape};
use crate::linalg::blocks::Blocks;
use crate::linalg::gram;
use crate::linalg::vector::update_with;
use crate::model::inner::{CentredRows, Inner, Lost};
use crate::model::row_data::RowData;

mod columns;
mod matrix;
mod queries;
mod sparse;
mod transposed;

pub use matrix::Row;
pub use sparse::SparseRows;

/// Linear predictors: `n_Y = 1`, affine, ell rows for each outer term, dense or sparse.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Collapsed {
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    shape: Shape,
    /// `Abar_i`, ell rows of d for each i
    rows: Matrix,
    /// `bbar_i`
    offsets: Vec<f64>,
    /// Of the data that the rows stand for ([`Facts::roundings`](crate::Facts::roundings))
    #[serde(default)]
    roundings: u32,
    /// `max_i |Abar_i|` (Frobenius), once asked for
    #[serde(skip)]
    reach: OnceLock<f64>,
    /// `(1/n_X) sum_r a_rl^2` for every column l, once asked for
    #[serde(skip)]
    mean_squares: OnceLock<Vec<f64>>,
}

impl Collapsed {
    /// `fbar_i` for all i, exactly if f is affine, otherwise linearised at theta:
    /// `fbar_i(theta) + fbar_i'(theta)' (. - theta)`. Its rows are sparse if f knows its supports.
    pub fn new(f: &dyn Inner, theta: &[f64]) -> Self {
        let mut collapsed = Self::room_for(f);
        collapsed.linearise(f, theta);
        collapsed
    }

    /// Zeros, sparse where f knows its supports; of many rows, or of those that are read when they
    /// are looked at, the rows less their mean, which are made then.
    pub(crate) fn room_for(f: &dyn Inner) -> Self {
        let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
        let late = |centred: &CentredRows<'_>| centred.rows.is_copied_late(n_x * d);
        if let Some(centred) = f.centred_rows().filter(late) {
            return centred.columns(&(0..d).collect::<Vec<_>>());
        }
        match SparseRows::zeros(f) {
            Some(rows) => {
                Self::of_parts(Shape { d, ell }, Matrix::Sparse(rows), vec![0.0; n_x * ell])
            }
            None => Self::empty(d, ell, n_x),
        }
    }

    /// Predictors `<a_i, theta> + b_i` at hand as rows `a_i` of length `d`, ell = 1: a vector,
    /// memory that is shared, or rows that are read when they are looked at.
    ///
    /// # Panics
    /// Unless there is one offset for each row.
    pub fn from_rows(d: usize, rows: impl Into<RowData>, offsets: Vec<f64>) -> Self {
        let rows = rows.into();
        assert_eq!(rows.len(), d * offsets.len(), "one offset for each row");
        Self::of_parts(Shape { d, ell: 1 }, Matrix::Dense(rows), offsets)
    }

    /// [`Self::from_rows`] with sparse rows.
    ///
    /// # Panics
    /// Unless there is one offset for each row.
    pub fn from_sparse_rows(rows: SparseRows, offsets: Vec<f64>) -> Self {
        assert_eq!(rows.terms(), offsets.len(), "one offset for each row");
        Self::of_parts(Shape { d: rows.d(), ell: 1 }, Matrix::Sparse(rows), offsets)
    }

    fn of_parts(shape: Shape, rows: Matrix, offsets: Vec<f64>) -> Self {
        let (reach, mean_squares) = (OnceLock::new(), OnceLock::new());
        Collapsed { shape, rows, offsets, roundings: 0, reach, mean_squares }
    }

    /// The same where the rows stand for other data, whose mean products theirs may be off by so
    /// many roundings ([`Facts::roundings`](crate::Facts::roundings)).
    #[must_use]
    pub fn with_roundings(self, roundings: u32) -> Self {
        Collapsed { roundings, ..self }
    }

    /// Room for a linear model, all zeros.
    pub fn empty(d: usize, ell: usize, n_x: usize) -> Self {
        let rows = Matrix::Dense(vec![0.0; n_x * ell * d].into());
        Self::of_parts(Shape { d, ell }, rows, vec![0.0; n_x * ell])
    }

    /// ell dense rows for each term, with offsets of 0.
    pub(crate) fn from_terms(d: usize, ell: usize, rows: Vec<f64>) -> Self {
        let offsets = vec![0.0; rows.len() / d.max(1)];
        Self::of_parts(Shape { d, ell }, Matrix::Dense(rows.into()), offsets)
    }

    /// [`Self::new`] with offsets of 0, for those who need the rows alone: half the work.
    pub(crate) fn without_offsets(f: &dyn Inner, theta: &[f64]) -> Self {
        let mut collapsed = Self::room_for(f);
        collapsed.take_rows(f, theta);
        collapsed
    }

    fn take_rows(&mut self, f: &dyn Inner, theta: &[f64]) {
        match &mut self.rows {
            Matrix::Dense(rows) if rows.held().is_none() => {}
            Matrix::Dense(rows) => f.mean_jacobians(theta, rows.to_mut()),
            Matrix::Sparse(rows) => rows.linearise(f, theta),
        }
    }

    /// Takes the linear model at another point, in place.
    pub fn linearise(&mut self, f: &dyn Inner, theta: &[f64]) {
        let mut f_bar = vec![0.0; self.offsets.len()];
        self.take_rows_and_means(f, theta, &mut f_bar);
        let blocks = self.blocks(false);
        let mut offsets = std::mem::take(&mut self.offsets);
        blocks.fill(
            self.shape.ell,
            &mut offsets,
            #[inline(always)]
            |terms, offsets| {
                self.dots(terms.clone(), theta, offsets);
                let own = self.own(&terms);
                update_with(offsets, &f_bar[own], |product, f| f - product);
            },
        );
        self.offsets = offsets;
    }

    /// Takes the mean Jacobians at another point, and gives the averages there; the offsets stay.
    pub(crate) fn take_rows_and_means(&mut self, f: &dyn Inner, theta: &[f64], f_bar: &mut [f64]) {
        match &mut self.rows {
            Matrix::Dense(rows) if rows.held().is_none() => f.means(theta, f_bar),
            Matrix::Dense(rows) => f.means_and_jacobians(theta, f_bar, rows.to_mut()),
            Matrix::Sparse(rows) => {
                rows.linearise(f, theta);
                f.means(theta, f_bar);
            }
        }
        (self.reach, self.mean_squares) = (OnceLock::new(), OnceLock::new());
    }

    /// Other offsets.
    ///
    /// # Panics
    /// Unless there are as many.
    pub(crate) fn set_offsets(&mut self, offsets: Vec<f64>) {
        assert_eq!(self.offsets.len(), offsets.len(), "one offset for each row");
        self.offsets = offsets;
    }

    /// `(1/n_X) sum_r a_rl^2` for every column l.
    pub(crate) fn mean_squares(&self) -> &[f64] {
        let share = 1.0 / self.n_x() as f64;
        self.mean_squares.get_or_init(|| gram::weighted_diagonal(self, &|_| share))
    }

    /// `max_i |Abar_i|` (Frobenius)
    fn reach(&self) -> f64 {
        let Collapsed { shape, rows, .. } = self;
        *self.reach.get_or_init(|| {
            self.blocks(false).max(|| (), |(), i| rows.size_squared(*shape, i).sqrt())
        })
    }

    /// `out_r = <row r, x>` for the rows of some terms, without offsets.
    #[inline(always)]
    pub(crate) fn dots(&self, terms: std::ops::Range<usize>, x: &[f64], out: &mut [f64]) {
        self.rows.dots(self.shape, terms, x, out);
    }

    /// `sum += sum_r w_r (row r)` over the rows of some terms.
    #[inline(always)]
    pub(crate) fn add_weighted(&self, terms: std::ops::Range<usize>, w: &[f64], sum: &mut [f64]) {
        self.rows.add_weighted(self.shape, terms, w, sum);
    }

    /// Terms whose rows stay near between two uses.
    pub(crate) fn tile(&self) -> usize {
        self.rows.tile(self.shape)
    }

    /// Row c of `Abar_i`.
    ///
    /// # Panics
    /// If rows are read when they are looked at, and lie nowhere: see [`Self::with_row`].
    #[inline(always)]
    pub fn row(&self, i: usize, c: usize) -> Row<'_> {
        self.rows.row(self.shape, i, c)
    }

    /// Runs `work` on row c of `Abar_i`.
    #[inline(always)]
    pub fn with_row<R>(&self, i: usize, c: usize, work: impl FnOnce(Row<'_>) -> R) -> R {
        self.rows.with_row(self.shape, i, c, work)
    }

    /// All rows one after the other, unless they are sparse or not in memory.
    pub fn dense(&self) -> Option<&[f64]> {
        self.data().and_then(RowData::held)
    }

    /// All rows, unless they are sparse.
    pub fn data(&self) -> Option<&RowData> {
        match &self.rows {
            Matrix::Dense(rows) => Some(rows),
            Matrix::Sparse(_) => None,
        }
    }

    /// What could not be read of the rows.
    fn check(&self) -> Result<(), Lost> {
        self.data().map_or(Ok(()), RowData::check)
    }

    /// How many numbers the rows hold.
    pub fn numbers(&self) -> usize {
        self.rows.numbers()
    }

    /// `bbar_i`
    pub fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// The terms in blocks, for passes that fill, or for those that add up vectors of length d.
    pub(crate) fn blocks(&self, adding: bool) -> Blocks {
        self.rows.blocks(self.shape, self.n_x(), adding)
    }

    /// What belongs to some terms in a vector over all i.
    #[inline(always)]
    fn own(&self, terms: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        terms.start * self.shape.ell..terms.end * self.shape.ell
    }
}

/// Writes the calls of `impl Fused` or `impl Passes` about averages, for an affine f that keeps
/// them as a [`Collapsed`] in its field `averages`.
macro_rules! by_averages {
    (fused) => {
        fn averages(&self) -> Option<&Collapsed> {
            Some(&self.averages)
        }

        fn mean(&self, theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]) {
            self.averages.mean(theta, i, work, out);
        }

        fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
            self.averages.add_mean_jac_t(theta, i, w, c, out);
        }
    };
    (passes) => {
        fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
            self.averages.means(theta, out)
        }

        fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
            self.averages.mean_jacobians(theta, out)
        }

        fn add_weighted_jac_t(
            &self,
            theta: &[f64],
            w: &[f64],
            out: &mut [f64],
        ) -> Result<(), Lost> {
            self.averages.add_weighted_jac_t(theta, w, out)
        }

        fn snapshot(
            &self,
            theta: &[f64],
            w: &[f64],
            f_bar: &mut [f64],
            u: &mut [f64],
        ) -> Result<(), Lost> {
            self.averages.snapshot(theta, w, f_bar, u)
        }

        fn gradient(
            &self,
            theta: &[f64],
            duals: &crate::model::inner::Duals<'_>,
            f_bar: &mut [f64],
            w: &mut [f64],
            out: &mut [f64],
        ) -> Result<f64, Lost> {
            self.averages.gradient(theta, duals, f_bar, w, out)
        }
    };
}
pub(crate) use by_averages;
