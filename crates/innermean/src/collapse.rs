//! An affine f averaged once: `fbar_i(theta) = Abar_i theta + bbar_i` as rows of a matrix, so that nothing is left to
//! sample. For any f, its linear model at a point.

use serde::{Deserialize, Serialize};

use crate::blocks::Blocks;
use crate::inner::{Bounds, Inner, Structure};
use crate::vector::{
    add_weighted_rows, axpy, dot, norm_squared, prefetch, row_dots, row_dots_and_weighted_rows, update,
};

/// Rows that a sweep takes at once: near when they are read again.
const TILE: usize = 32;

/// Linear predictors: `n_Y = 1`, affine, ell rows for each outer term.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Collapsed {
    d: usize,
    ell: usize,
    /// `Abar_i`, ell rows of d for each i
    rows: Vec<f64>,
    /// `bbar_i`
    offsets: Vec<f64>,
    /// `max_i |Abar_i|` (Frobenius)
    reach: f64,
}

impl Collapsed {
    /// `fbar_i` for all i, exactly if f is affine, otherwise linearised at theta:
    /// `fbar_i(theta) + fbar_i'(theta)' (. - theta)`.
    pub fn new<F: Inner + ?Sized>(f: &F, theta: &[f64]) -> Self {
        let mut collapsed = Self::empty(f.d(), f.ell(), f.n_x());
        collapsed.linearise(f, theta);
        collapsed
    }

    /// Predictors `<a_i, theta> + b_i` at hand as rows `a_i` of length `d`, ell = 1.
    ///
    /// # Panics
    /// Unless there is one offset for each row.
    pub fn from_rows(d: usize, rows: Vec<f64>, offsets: Vec<f64>) -> Self {
        assert_eq!(rows.len(), d * offsets.len(), "one offset for each row");
        let mut collapsed = Collapsed { d, ell: 1, rows, offsets, reach: 0.0 };
        collapsed.measure();
        collapsed
    }

    /// Room for a linear model, all zeros.
    pub fn empty(d: usize, ell: usize, n_x: usize) -> Self {
        Collapsed { d, ell, rows: vec![0.0; n_x * ell * d], offsets: vec![0.0; n_x * ell], reach: 0.0 }
    }

    /// Takes the linear model at another point, in place.
    pub fn linearise<F: Inner + ?Sized>(&mut self, f: &F, theta: &[f64]) {
        f.mean_jacobians(theta, &mut self.rows);
        f.means(theta, &mut self.offsets);
        for (offset, row) in self.offsets.iter_mut().zip(self.rows.chunks_exact(self.d)) {
            *offset -= dot(row, theta);
        }
        self.measure();
    }

    /// Finds the reach.
    fn measure(&mut self) {
        let size = self.d * self.ell;
        let rows = &self.rows;
        self.reach = Blocks::new(self.n_x(), size)
            .max(|| (), |(), i| norm_squared(&rows[i * size..(i + 1) * size]).sqrt());
    }

    /// `out = (1/n_X) sum_i Abar_i w_i` with `w_i = dual(i, Abar_i theta + bbar_i, w_i)`, which are left in `w`, in one sweep over
    /// the rows on this thread, without an allocation. The duals find the averages in `w`.
    #[inline(always)]
    pub(crate) fn sweep(
        &self,
        theta: &[f64],
        w: &mut [f64],
        out: &mut [f64],
        mut dual: impl FnMut(usize, &mut [f64]),
    ) {
        out.fill(0.0);
        let (d, ell) = (self.d, self.ell);
        let terms = TILE.div_ceil(ell);
        for (tile, w) in w.chunks_mut(terms * ell).enumerate() {
            let first = tile * terms * ell;
            let rows = &self.rows[first * d..(first + w.len()) * d];
            row_dots(rows, d, theta, w);
            axpy(1.0, &self.offsets[first..first + w.len()], w);
            for (k, w_i) in w.chunks_exact_mut(ell).enumerate() {
                dual(tile * terms + k, w_i);
            }
            add_weighted_rows(rows, w, out);
        }
        let share = 1.0 / self.n_x() as f64;
        update(out, |out| out * share);
    }

    /// `Abar_i`, ell rows of d for each i.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// `bbar_i`
    pub fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    #[inline(always)]
    fn row(&self, r: usize) -> &[f64] {
        &self.rows[r * self.d..(r + 1) * self.d]
    }

    fn blocks(&self) -> Blocks {
        Blocks::new(self.offsets.len(), self.d)
    }
}

impl Inner for Collapsed {
    #[inline(always)]
    fn d(&self) -> usize {
        self.d
    }

    #[inline(always)]
    fn ell(&self) -> usize {
        self.ell
    }

    #[inline(always)]
    fn n_x(&self) -> usize {
        self.offsets.len() / self.ell
    }

    #[inline(always)]
    fn n_y(&self, _: usize) -> usize {
        1
    }

    fn structure(&self) -> Structure {
        Structure { affine: true, ..Structure::default() }
    }

    fn bounds(&self) -> Bounds {
        Bounds { b_f: Some(self.reach), b_theta: Some(0.0), mean_jacobian: Some(self.reach) }
    }

    #[inline(always)]
    fn prefetch(&self, i: usize, _: usize) {
        prefetch(&self.rows, i * self.ell * self.d, self.ell * self.d);
    }

    #[inline(always)]
    fn value(&self, theta: &[f64], i: usize, _: usize, out: &mut [f64]) {
        for (c, out) in out.iter_mut().enumerate() {
            let r = i * self.ell + c;
            *out = dot(self.row(r), theta) + self.offsets[r];
        }
    }

    #[inline(always)]
    fn add_jac_t(&self, _: &[f64], i: usize, _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (k, w) in w.iter().enumerate() {
            axpy(c * w, self.row(i * self.ell + k), out);
        }
    }

    #[inline(always)]
    fn mean(&self, theta: &[f64], i: usize, _: &mut [f64], out: &mut [f64]) {
        self.value(theta, i, 0, out);
    }

    #[inline(always)]
    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.add_jac_t(theta, i, 0, w, c, out);
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) {
        self.blocks().fill(
            1,
            out,
            #[inline(always)]
            |range, f_bar| {
                row_dots(&self.rows[range.start * self.d..range.end * self.d], self.d, theta, f_bar);
                axpy(1.0, &self.offsets[range], f_bar);
            },
        );
    }

    fn mean_jacobians(&self, _: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.rows);
    }

    fn add_weighted_jac_t(&self, _: &[f64], w: &[f64], out: &mut [f64]) {
        self.blocks().add(
            1.0 / self.n_x() as f64,
            out,
            #[inline(always)]
            |range, partial| {
                let rows = &self.rows[range.start * self.d..range.end * self.d];
                add_weighted_rows(rows, &w[range], partial);
            },
        );
    }

    /// Averages and weighted Jacobians in one sweep over the rows.
    fn snapshot(&self, theta: &[f64], w: &[f64], f_bar: &mut [f64], u: &mut [f64]) {
        u.fill(0.0);
        self.blocks().fill_and_add(
            1,
            f_bar,
            1.0 / self.n_x() as f64,
            u,
            #[inline(always)]
            |range, f_bar, partial| {
                let rows = &self.rows[range.start * self.d..range.end * self.d];
                row_dots_and_weighted_rows(rows, theta, &w[range.clone()], f_bar, partial);
                axpy(1.0, &self.offsets[range], f_bar);
            },
        );
    }
}
