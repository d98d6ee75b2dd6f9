//! What methods and passes ask of [`Collapsed`].

use super::Collapsed;
use super::matrix::Matrix;
use crate::linalg::vector::axpy;
use crate::model::inner::{Bounds, Duals, Facts, Fused, Inner, Lost, PairRows, Passes};

impl Inner for Collapsed {
    fn d(&self) -> usize {
        self.shape.d
    }

    fn ell(&self) -> usize {
        self.shape.ell
    }

    fn n_x(&self) -> usize {
        self.offsets.len() / self.shape.ell
    }

    fn n_y(&self, _: usize) -> usize {
        1
    }

    fn facts(&self) -> Facts {
        Facts::affine().with_roundings(self.roundings)
    }

    fn value(&self, theta: &[f64], i: usize, _: usize, out: &mut [f64]) {
        for (c, out) in out.iter_mut().enumerate() {
            *out = self.with_row(i, c, |row| row.dot(theta)) + self.offsets[i * self.shape.ell + c];
        }
    }

    fn add_jac_t(&self, _: &[f64], i: usize, _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (k, w) in w.iter().enumerate() {
            self.with_row(i, k, |row| row.add_to(c * w, out));
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Collapsed {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn averages(&self) -> Option<&Collapsed> {
        Some(self)
    }

    fn support(&self, i: usize) -> Option<&[u32]> {
        match &self.rows {
            Matrix::Dense(_) => None,
            Matrix::Sparse(rows) => Some(rows.columns(i)),
        }
    }

    fn support_sizes(&self) -> Option<(usize, usize)> {
        match &self.rows {
            Matrix::Dense(_) => None,
            Matrix::Sparse(rows) => Some(rows.support_sizes()),
        }
    }

    fn pairs(&self) -> usize {
        self.n_x()
    }

    fn pair_rows(&self) -> Option<PairRows<'_>> {
        self.dense().filter(|_| self.shape.ell == 1).map(PairRows::Own)
    }

    fn prefetch(&self, i: usize, _: usize) {
        self.rows.prefetch(self.shape, i);
    }

    fn mean(&self, theta: &[f64], i: usize, _: &mut [f64], out: &mut [f64]) {
        self.value(theta, i, 0, out);
    }

    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.add_jac_t(theta, i, 0, w, c, out);
    }
}

impl Passes for Collapsed {
    fn bounds(&self) -> Bounds {
        let reach = self.reach();
        Bounds { b_f: Some(reach), b_theta: Some(0.0), mean_jacobian: Some(reach) }
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.blocks(false).fill(
            self.shape.ell,
            out,
            #[inline(always)]
            |terms, f_bar| {
                let own = self.own(&terms);
                self.rows.dots(self.shape, terms, theta, f_bar);
                axpy(1.0, &self.offsets[own], f_bar);
            },
        );
        self.check()
    }

    fn mean_jacobians(&self, _: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        match &self.rows {
            Matrix::Dense(rows) => rows.copy_to(self.shape.d, 0, out),
            Matrix::Sparse(_) => {
                out.fill(0.0);
                for (r, out) in out.chunks_exact_mut(self.shape.d).enumerate() {
                    self.row(r / self.shape.ell, r % self.shape.ell).add_to(1.0, out);
                }
            }
        }
        self.check()
    }

    fn add_weighted_jac_t(&self, _: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.blocks(true).add(
            1.0 / self.n_x() as f64,
            out,
            #[inline(always)]
            |terms, partial| {
                let own = self.own(&terms);
                self.rows.add_weighted(self.shape, terms, &w[own], partial);
            },
        );
        self.check()
    }

    /// Averages and weighted Jacobians in one sweep over the rows.
    fn snapshot(
        &self,
        theta: &[f64],
        w: &[f64],
        f_bar: &mut [f64],
        u: &mut [f64],
    ) -> Result<(), Lost> {
        u.fill(0.0);
        self.blocks(true).fill_and_add(
            self.shape.ell,
            f_bar,
            1.0 / self.n_x() as f64,
            u,
            #[inline(always)]
            |terms, f_bar, partial| {
                let own = self.own(&terms);
                self.rows.dots_and_weighted(
                    self.shape,
                    terms,
                    theta,
                    &w[own.clone()],
                    f_bar,
                    partial,
                );
                axpy(1.0, &self.offsets[own], f_bar);
            },
        );
        self.check()
    }

    /// Tile by tile: the rows of a tile are near when its duals are there.
    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        let (d, ell) = (self.shape.d, self.shape.ell);
        let tile = self.tile();
        // The loss is behind the sum.
        let mut sum = vec![0.0; d + 1];
        self.blocks(true).fill_both_and_add(
            ell,
            (f_bar, w),
            1.0 / self.n_x() as f64,
            &mut sum,
            #[inline(always)]
            |terms, f_bar, w, partial| {
                let (partial, loss) = partial.split_at_mut(d);
                let tiles = f_bar.chunks_mut(tile * ell).zip(w.chunks_mut(tile * ell));
                for (first, (f_bar, w)) in (terms.start..).step_by(tile).zip(tiles) {
                    let terms = first..first + w.len() / ell;
                    self.rows.dots(self.shape, terms.clone(), theta, f_bar);
                    axpy(1.0, &self.offsets[self.own(&terms)], f_bar);
                    loss[0] += duals(terms.clone(), f_bar, w);
                    self.rows.add_weighted(self.shape, terms, w, partial);
                }
            },
        );
        out.copy_from_slice(&sum[..d]);
        self.check()?;
        Ok(sum[d])
    }
}
