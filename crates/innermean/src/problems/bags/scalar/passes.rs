//! Passes over all groups of [`Bags`].

use super::Bags;
use crate::linalg::blocks::Blocks;
use crate::linalg::vector::{add_weighted_rows, axpy};
use crate::model::inner::{Bounds, Duals, Inner, Lost, Passes, sampled_mean_jacobians};
use crate::problems::bags::Link;

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
        self.groups.rows.check()
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
        self.groups.rows.check()
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
        self.groups.rows.check()
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
        self.groups.rows.check()
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
        self.groups.rows.check()
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
        self.groups.rows.check()?;
        Ok(sum[d])
    }
}

/// Terms whose duals are asked for at once; their mean Jacobians should stay near.
const TERMS: usize = 32;
