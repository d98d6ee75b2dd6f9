//! What methods ask of [`Bags`].

use std::ops::Range;

use super::Bags;
use crate::linalg::blocks::Blocks;
use crate::linalg::vector::{add_weighted_rows, axpy, prefetch, sum, update_with};
use crate::model::collapse::Collapsed;
use crate::model::inner::{
    Bounds, Duals, Facts, Fused, Inner, Lost, Passes, sampled_mean_jacobians,
};
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
        let link = self.link.value(self.score(self.row(i, j), theta));
        out[0] = self.factor(i, j) * link - self.target(i);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let row = self.row(i, j);
        let slope = match self.link {
            Link::Identity => 1.0,
            link => link.slope(link.value(self.score(row, theta))),
        };
        self.add_row(c * w[0] * self.factor(i, j) * slope, row, out);
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
        let row = self.groups.row_at(self.groups.starts[i] + j);
        prefetch(&self.groups.rows, row * self.groups.width, self.groups.width);
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
        let row = self.row(i, j);
        let value = |theta: &[f64]| self.link.value(self.score(row, theta));
        out[0] = self.factor(i, j) * (value(theta) - value(theta_ref));
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
            let row = self.row(i, j);
            let slope = |theta: &[f64]| self.link.slope(self.link.value(self.score(row, theta)));
            let c = c * w[0] * self.factor(i, j);
            self.add_row(c * (slope(theta) - slope(theta_ref)), row, out);
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

impl Passes for Bags {
    /// The slope of the logistic function is at most 1/4 and its curvature `1 / (6 sqrt 3)`; those
    /// of the exponential have no bound.
    fn bounds(&self) -> Bounds {
        let longest = self.groups.longest;
        match self.link {
            Link::Identity => Bounds {
                b_f: Some(longest),
                b_theta: Some(0.0),
                mean_jacobian: self
                    .averages
                    .as_ref()
                    .and_then(|averages| averages.bounds().mean_jacobian),
            },
            Link::Logistic => Bounds {
                b_f: Some(longest / 4.0),
                b_theta: Some(longest * longest / 108.0_f64.sqrt()),
                mean_jacobian: None,
            },
            Link::Exp => Bounds::default(),
        }
    }

    fn some_mean_jacobians(&self, theta: &[f64]) -> Result<Option<Vec<f64>>, Lost> {
        Ok(Some(sampled_mean_jacobians(self, theta)))
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        if let Some(averages) = &self.averages {
            return averages.means(theta, out);
        }
        let segments = &self.groups.segments;
        let mut sums = vec![0.0; segments.len()];
        self.groups.blocks.fill(
            1,
            &mut sums,
            #[inline(always)]
            |range, sums| {
                for (segment, sum) in segments[range].iter().zip(sums) {
                    *sum = self.sum_of_links(theta, segment.rows.clone());
                }
            },
        );
        self.averages_of(&sums, out);
        Ok(())
    }

    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        if let Some(averages) = &self.averages {
            return averages.mean_jacobians(theta, out);
        }
        let (d, segments) = (self.d(), &self.groups.segments);
        let mut sums = vec![0.0; segments.len() * d];
        self.groups.blocks.fill(
            d,
            &mut sums,
            #[inline(always)]
            |range, sums| {
                for (segment, sum) in segments[range].iter().zip(sums.chunks_exact_mut(d)) {
                    self.add_slopes(theta, segment.rows.clone(), 1.0, sum);
                }
            },
        );
        self.groups.reduce(d, &sums, out);
        Ok(())
    }

    /// In one sweep over the rows: the slopes of a row come with its link.
    fn means_and_jacobians(
        &self,
        theta: &[f64],
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        if let Some(averages) = &self.averages {
            return averages.means_and_jacobians(theta, f_bar, jacobians);
        }
        let (d, segments) = (self.d(), &self.groups.segments);
        // The sum of the links, and that of their gradients.
        let mut sums = vec![0.0; segments.len() * (1 + d)];
        self.groups.blocks.fill(
            1 + d,
            &mut sums,
            #[inline(always)]
            |range, sums| {
                for (segment, sums) in segments[range].iter().zip(sums.chunks_exact_mut(1 + d)) {
                    sums[0] = self.add_slopes(theta, segment.rows.clone(), 1.0, &mut sums[1..]);
                }
            },
        );
        f_bar.fill(0.0);
        jacobians.fill(0.0);
        for (segment, sums) in segments.iter().zip(sums.chunks_exact(1 + d)) {
            let (i, share) = (segment.group, 1.0 / self.n_y(segment.group) as f64);
            f_bar[i] += share * sums[0];
            axpy(share, &sums[1..], &mut jacobians[i * d..(i + 1) * d]);
        }
        self.take_targets_off(f_bar);
        Ok(())
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        if let Some(averages) = &self.averages {
            return averages.add_weighted_jac_t(theta, w, out);
        }
        let segments = &self.groups.segments;
        self.groups.blocks.add(
            1.0 / self.n_x() as f64,
            out,
            #[inline(always)]
            |range, partial| {
                for segment in &segments[range] {
                    let c = w[segment.group] / self.n_y(segment.group) as f64;
                    self.add_slopes(theta, segment.rows.clone(), c, partial);
                }
            },
        );
        Ok(())
    }

    /// Averages and weighted Jacobians in one sweep over the rows.
    fn snapshot(
        &self,
        theta: &[f64],
        w: &[f64],
        f_bar: &mut [f64],
        u: &mut [f64],
    ) -> Result<(), Lost> {
        if let Some(averages) = &self.averages {
            return averages.snapshot(theta, w, f_bar, u);
        }
        let segments = &self.groups.segments;
        let mut sums = vec![0.0; segments.len()];
        u.fill(0.0);
        self.groups.blocks.fill_and_add(
            1,
            &mut sums,
            1.0 / self.n_x() as f64,
            u,
            #[inline(always)]
            |range, sums, partial| {
                for (segment, sum) in segments[range].iter().zip(sums) {
                    let c = w[segment.group] / self.n_y(segment.group) as f64;
                    *sum = self.add_slopes(theta, segment.rows.clone(), c, partial);
                }
            },
        );
        self.averages_of(&sums, f_bar);
        Ok(())
    }

    /// In one sweep over the rows: gradients of links are added up before the dual of their group
    /// is known, and multiplied by it.
    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        if let Some(averages) = &self.averages {
            return averages.gradient(theta, duals, f_bar, w, out);
        }
        let (d, share) = (self.d(), 1.0 / self.n_x() as f64);
        // The loss follows the sum.
        let mut sum = vec![0.0; d + 1];
        if self.groups.are_whole() {
            self.groups.blocks.fill_both_and_add(
                1,
                (f_bar, w),
                share,
                &mut sum,
                #[inline(always)]
                |groups, f_bar, w, partial| {
                    let (partial, loss) = partial.split_at_mut(d);
                    let mut jacobians = vec![0.0; d * TERMS.min(w.len())];
                    let terms = f_bar.chunks_mut(TERMS).zip(w.chunks_mut(TERMS));
                    for (first, (f_bar, w)) in groups.step_by(TERMS).zip(terms) {
                        jacobians.fill(0.0);
                        for (i, (f_bar, jacobian)) in
                            (first..).zip(f_bar.iter_mut().zip(jacobians.chunks_exact_mut(d)))
                        {
                            let share = 1.0 / self.n_y(i) as f64;
                            let links =
                                self.add_slopes(theta, self.groups.range(i), share, jacobian);
                            *f_bar = links * share - self.target(i);
                        }
                        loss[0] += duals(first..first + w.len(), f_bar, w);
                        add_weighted_rows(&jacobians, w, partial);
                    }
                },
            );
        } else {
            let mut jacobians = vec![0.0; self.n_x() * d];
            self.means_and_jacobians(theta, f_bar, &mut jacobians)?;
            Blocks::with_least(self.n_x(), d, d).fill_and_add(
                1,
                w,
                share,
                &mut sum,
                |terms, w, partial| {
                    let (partial, loss) = partial.split_at_mut(d);
                    let rows = &jacobians[terms.start * d..];
                    loss[0] = duals(terms.clone(), &f_bar[terms], w);
                    add_weighted_rows(rows, w, partial);
                },
            );
        }
        out.copy_from_slice(&sum[..d]);
        Ok(sum[d])
    }
}

/// Terms whose duals are asked for at once; their mean Jacobians should stay near.
const TERMS: usize = 32;
