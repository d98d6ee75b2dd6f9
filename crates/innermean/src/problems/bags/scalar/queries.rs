//! What methods ask of [`Bags`].

use std::ops::Range;

use super::Bags;
use crate::linalg::vector::{add_weighted_rows, sum, update_with};
use crate::model::collapse::Collapsed;
use crate::model::inner::{Facts, Fused, Inner, Passes};
use crate::problems::bags::Link;

impl Inner for Bags {
    fn d(&self) -> usize {
        self.groups.coefficients()
    }

    fn n_x(&self) -> usize {
        self.groups.count()
    }

    fn n_y(&self, i: usize) -> usize {
        self.groups.size(i)
    }

    fn facts(&self) -> Facts {
        match self.link {
            Link::Identity => Facts::affine(),
            link => Facts {
                mirrored: link == Link::Logistic && self.targets.is_empty(),
                block: self.groups.block(),
                ..Facts::default()
            },
        }
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let link = self.link.value(self.with_row(i, j, |row| self.score(row, theta)));
        out[0] = self.factor(i, j) * link - self.target(i);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.with_row(i, j, |row| {
            let slope = match self.link {
                Link::Identity => 1.0,
                link => link.slope(link.value(self.score(row, theta))),
            };
            self.add_row(c * w[0] * self.factor(i, j) * slope, row, out);
        });
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Bags {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn averages(&self) -> Option<&Collapsed> {
        self.averages.as_ref()
    }

    fn prefetch(&self, i: usize, j: usize) {
        self.groups.prefetch(self.groups.starts[i] + j);
    }

    /// Without the target, which cancels.
    fn difference(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        j: usize,
        _: &mut [f64],
        out: &mut [f64],
    ) {
        self.with_row(i, j, |row| {
            let value = |theta: &[f64]| self.link.value(self.score(row, theta));
            out[0] = self.factor(i, j) * (value(theta) - value(theta_ref));
        });
    }

    /// Both slopes first, so that the row is added once.
    fn add_jac_t_difference(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        j: usize,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        if self.link != Link::Identity {
            self.with_row(i, j, |row| {
                let value = |theta: &[f64]| self.link.value(self.score(row, theta));
                let slope = |theta: &[f64]| self.link.slope(value(theta));
                let c = c * w[0] * self.factor(i, j);
                self.add_row(c * (slope(theta) - slope(theta_ref)), row, out);
            });
        }
    }

    fn block_mean(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        _: &mut [f64],
        out: &mut [f64],
    ) {
        out[0] = self.sum_of_links(theta, self.groups.block_rows(i, &js)) / js.len() as f64
            - self.target(i);
    }

    /// In one sweep: the slope of a row comes with its link.
    fn block_mean_and_jacobian(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        _: &mut [f64],
        mean: &mut [f64],
        jacobian: &mut [f64],
    ) {
        let share = 1.0 / js.len() as f64;
        jacobian.fill(0.0);
        let links = self.add_slopes(theta, self.groups.block_rows(i, &js), share, jacobian);
        mean[0] = links * share - self.target(i);
    }

    fn block_difference(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        js: Range<usize>,
        _: &mut [f64],
        out: &mut [f64],
    ) {
        let mut total = 0.0;
        self.at_both(
            theta,
            theta_ref,
            self.groups.block_rows(i, &js),
            #[inline(always)]
            |_, places, here, there| {
                update_with(here, there, |here, there| here - there);
                total += self.groups.weighted_sum(places, here);
            },
        );
        out[0] = total / js.len() as f64;
    }

    fn add_block_jac_t(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        self.add_slopes(theta, self.groups.block_rows(i, &js), c * w[0] / js.len() as f64, out);
    }

    fn add_block_jac_t_difference(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        js: Range<usize>,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        if self.link == Link::Identity {
            return;
        }
        let (width, share) = (self.groups.width, c * w[0] / js.len() as f64);
        self.at_both(
            theta,
            theta_ref,
            self.groups.block_rows(i, &js),
            #[inline(always)]
            |rows, places, here, there| {
                self.link.slopes(share, here);
                self.link.slopes(share, there);
                update_with(here, there, |here, there| here - there);
                self.groups.weigh(places, here);
                add_weighted_rows(rows, here, &mut out[..width]);
                if self.groups.intercept {
                    out[width] += sum(here);
                }
            },
        );
    }

    fn mean(&self, theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]) {
        if let Some(averages) = &self.averages {
            return averages.mean(theta, i, work, out);
        }
        out[0] =
            self.sum_of_links(theta, self.groups.range(i)) / self.n_y(i) as f64 - self.target(i);
    }

    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        if let Some(averages) = &self.averages {
            return averages.add_mean_jac_t(theta, i, w, c, out);
        }
        self.add_slopes(theta, self.groups.range(i), c * w[0] / self.n_y(i) as f64, out);
    }
}
