//! What methods and passes ask of [`Portfolio`].

use super::{Portfolio, shared};
use crate::linalg::gram;
use crate::linalg::vector::{
    add_weighted_rows, axpy, axpy_of_difference, dot, dot_of_differences, prefetch, row_dots,
    row_dots_and_weighted_rows, sum,
};
use crate::model::inner::{
    Bounds, CentredRows, CommonGram, Duals, Facts, Fused, Inner, Lost, PairRows, Passes, Rows,
    Sample,
};
use crate::model::shared::SharedForm;
use crate::run::checkpoint::Hash;

impl Portfolio {
    /// Runs `work` on the rows of two periods.
    #[inline(always)]
    fn with_both<R>(&self, i: usize, j: usize, work: impl FnOnce(&[f64], &[f64]) -> R) -> R {
        self.with_row(
            i,
            #[inline(always)]
            |row| {
                self.with_row(
                    j,
                    #[inline(always)]
                    |other| work(row, other),
                )
            },
        )
    }
}

/// Rows that a gradient takes at once: near when they are read again.
const TILE: usize = 64;

impl Inner for Portfolio {
    fn d(&self) -> usize {
        self.d
    }

    fn n_x(&self) -> usize {
        self.n
    }

    fn n_y(&self, _: usize) -> usize {
        self.n
    }

    fn facts(&self) -> Facts {
        let rows = Rows { pair: 2, all: self.n as u64, merit: 0 };
        let roundings = self.moved.as_ref().map_or(0, |moved| moved.roundings);
        Facts::affine().with_sample(Sample::Separable).with_rows(rows).with_roundings(roundings)
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let dot = |i| self.with_row(i, |row| dot(row, theta));
        out[0] = dot(i) - self.weight(j) * dot(j);
        if !self.offsets.is_empty() {
            out[0] += self.offsets[i];
        }
    }

    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        if self.weights.is_empty() {
            return self
                .with_both(i, j, |row, other| axpy_of_difference(c * w[0], row, other, out));
        }
        self.with_row(i, |row| axpy(c * w[0], row, out));
        self.with_row(j, |row| axpy(-c * w[0] * self.weights[j], row, out));
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Portfolio {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn shared_form(&self) -> Option<Box<dyn SharedForm + '_>> {
        self.is_plain().then(|| Box::new(shared::SharedPortfolio(self)) as Box<dyn SharedForm>)
    }

    fn pair_rows(&self) -> Option<PairRows<'_>> {
        let held = self.returns.held().filter(|_| self.is_plain());
        held.map(|returns| PairRows::Differences(returns, &self.mean))
    }

    fn centred_rows(&self) -> Option<CentredRows<'_>> {
        let Portfolio { returns, mean, weights, offsets, .. } = self;
        Some(CentredRows { rows: returns, mean, weights, offsets })
    }

    fn prefetch(&self, i: usize, j: usize) {
        if let Some(returns) = self.returns.held() {
            prefetch(returns, i * self.d, self.d);
            prefetch(returns, j * self.d, self.d);
        }
    }

    /// `<x_i - x_j, theta - theta_ref>` in one sweep.
    fn difference(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        j: usize,
        _: &mut [f64],
        out: &mut [f64],
    ) {
        if self.weights.is_empty() {
            let dot = |row: &[f64], other: &[f64]| dot_of_differences(row, other, theta, theta_ref);
            out[0] = self.with_both(i, j, dot);
            return;
        }
        let moved = |row: &[f64]| -> f64 {
            row.iter().zip(theta).zip(theta_ref).map(|((x, to), from)| x * (to - from)).sum()
        };
        out[0] = self.with_row(i, moved) - self.weights[j] * self.with_row(j, moved);
    }

    /// `fbar_i = <x_i - m, theta>`
    fn mean(&self, theta: &[f64], i: usize, _: &mut [f64], out: &mut [f64]) {
        out[0] = self.with_row(i, |row| dot(row, theta)) - dot(&self.mean, theta);
        if !self.offsets.is_empty() {
            out[0] += self.offsets[i];
        }
    }

    /// `fbar_i' = x_i - m`
    fn add_mean_jac_t(&self, _: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.with_row(i, |row| axpy_of_difference(c * w[0], row, &self.mean, out));
    }
}

impl Passes for Portfolio {
    /// `|x_i - omega_j x_j| <= |x_i - m| + |omega_j x_j - m|`
    fn bounds(&self) -> Bounds {
        let reach = self.reach();
        let other = if self.weights.is_empty() { reach } else { self.weighted_reach() };
        Bounds { b_f: Some(reach + other), b_theta: Some(0.0), mean_jacobian: Some(reach) }
    }

    fn gram(&self, weight: &(dyn Fn(usize) -> f64 + Sync)) -> Result<Option<Vec<f64>>, Lost> {
        let products = self.products.as_ref().map(CommonGram::matrix).or_else(|| self.squares());
        if let Some(products) = products {
            let common = weight(0);
            if (1..self.n).all(|i| weight(i) == common) {
                return Ok(Some(products.iter().map(|entry| common * entry).collect()));
            }
        }
        Ok(Some(gram::of_data(self.d, &self.returns, Some(&self.mean), weight)))
    }

    fn common_gram(&self) -> Option<&CommonGram> {
        self.products.as_ref()
    }

    fn hash_data(&self, hash: &mut Hash) -> Result<bool, Lost> {
        hash.rows(self.d, &self.returns);
        if let Some(moved) = &self.moved {
            hash.numbers(&moved.mean);
        }
        if !self.is_plain() {
            hash.numbers(&self.weights);
            hash.numbers(&self.offsets);
        }
        Ok(true)
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let shared = dot(&self.mean, theta);
        self.blocks().fill(
            1,
            out,
            #[inline(always)]
            |range, f_bar| {
                let first = range.start;
                self.returns.visit(
                    self.d,
                    range.clone(),
                    #[inline(always)]
                    |own, rows| {
                        row_dots(
                            rows,
                            self.d,
                            theta,
                            &mut f_bar[own.start - first..own.end - first],
                        );
                    },
                );
                self.shift(range, shared, f_bar);
            },
        );
        self.returns.check()
    }

    /// `(1/n) sum_i w_i (x_i - m) = (1/n) [ sum_i w_i x_i - (sum_i w_i) m ]`
    fn add_weighted_jac_t(&self, _: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.blocks().add(
            1.0 / self.n as f64,
            out,
            #[inline(always)]
            |range, partial| {
                self.returns.visit(
                    self.d,
                    range.clone(),
                    #[inline(always)]
                    |own, rows| add_weighted_rows(rows, &w[own], partial),
                );
                axpy(-sum(&w[range]), &self.mean, partial);
            },
        );
        self.returns.check()
    }

    /// Averages and weighted Jacobians in one sweep over the rows.
    fn snapshot(
        &self,
        theta: &[f64],
        w: &[f64],
        f_bar: &mut [f64],
        u: &mut [f64],
    ) -> Result<(), Lost> {
        let shared = dot(&self.mean, theta);
        u.fill(0.0);
        self.blocks().fill_and_add(
            1,
            f_bar,
            1.0 / self.n as f64,
            u,
            #[inline(always)]
            |range, f_bar, partial| {
                let first = range.start;
                self.returns.visit(
                    self.d,
                    range.clone(),
                    #[inline(always)]
                    |own, rows| {
                        let f_bar = &mut f_bar[own.start - first..own.end - first];
                        row_dots_and_weighted_rows(rows, theta, &w[own], f_bar, partial);
                    },
                );
                self.shift(range.clone(), shared, f_bar);
                axpy(-sum(&w[range]), &self.mean, partial);
            },
        );
        self.returns.check()
    }

    /// Tile by tile, as [`Collapsed`](crate::model::collapse::Collapsed) does.
    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        let (d, shared) = (self.d, dot(&self.mean, theta));
        // At the origin, where most runs begin, all products are 0.
        let is_origin = theta.iter().all(|x| *x == 0.0);
        // The loss is behind the sum.
        let mut total = vec![0.0; d + 1];
        self.blocks().fill_both_and_add(
            1,
            (f_bar, w),
            1.0 / self.n as f64,
            &mut total,
            #[inline(always)]
            |terms, f_bar, w, partial| {
                let (partial, loss) = partial.split_at_mut(d);
                let tiles = f_bar.chunks_mut(TILE).zip(w.chunks_mut(TILE));
                for (first, (f_bar, w)) in terms.step_by(TILE).zip(tiles) {
                    let terms = first..first + w.len();
                    self.with_rows(
                        terms.clone(),
                        #[inline(always)]
                        |rows| {
                            if is_origin {
                                f_bar.fill(0.0);
                            } else {
                                row_dots(rows, d, theta, f_bar);
                            }
                            self.shift(terms.clone(), shared, f_bar);
                            loss[0] += duals(terms.clone(), f_bar, w);
                            if w.iter().any(|w| *w != 0.0) {
                                add_weighted_rows(rows, w, partial);
                            }
                        },
                    );
                    axpy(-sum(w), &self.mean, partial);
                }
            },
        );
        out.copy_from_slice(&total[..d]);
        self.returns.check()?;
        Ok(total[d])
    }
}
