//! What methods ask of [`SoftmaxBags`].

use std::ops::Range;

use super::{MOST_CLASSES, SCORES, SoftmaxBags};
use crate::linalg::vector::{axpy, dot, update, update_with};
use crate::model::inner::{
    Bounds, Duals, Facts, Fused, Inner, Lost, Passes, gradient_in_two_passes,
    sampled_mean_jacobians,
};

impl Inner for SoftmaxBags {
    fn d(&self) -> usize {
        self.classes * self.groups.coefficients()
    }

    fn ell(&self) -> usize {
        self.classes
    }

    fn n_x(&self) -> usize {
        self.groups.count()
    }

    fn n_y(&self, i: usize) -> usize {
        self.groups.size(i)
    }

    fn facts(&self) -> Facts {
        Facts { block: self.groups.block(), ..Facts::default() }
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let place = self.groups.starts[i] + j;
        self.groups.with_row(place, |row| self.of_row(theta, row, out));
        let factor = self.groups.factor(place);
        update(out, |p| factor * p);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let place = self.groups.starts[i] + j;
        let c = c * self.groups.factor(place);
        let mut p = [0.0; MOST_CLASSES];
        let p = &mut p[..self.classes];
        self.groups.with_row(place, |row| {
            self.of_row(theta, row, p);
            let inner = dot(p, w);
            for (k, p) in p.iter().enumerate() {
                let weight = c * p * (w[k] - inner);
                axpy(weight, row, &mut out[k * row.len()..(k + 1) * row.len()]);
                if self.groups.intercept {
                    out[self.penalised() + k] += weight;
                }
            }
        });
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for SoftmaxBags {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn prefetch(&self, i: usize, j: usize) {
        self.groups.prefetch(self.groups.starts[i] + j);
    }

    fn block_mean(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        _: &mut [f64],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        self.add_probabilities(theta, self.groups.block_rows(i, &js), out);
        update(out, |sum| sum / js.len() as f64);
    }

    fn block_difference(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        js: Range<usize>,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        work.fill(0.0);
        let mut p = [0.0; SCORES];
        self.groups.tiles(
            self.groups.block_rows(i, &js),
            self.tile(),
            #[inline(always)]
            |rows, places| {
                let len = places.len();
                let p = &mut p[..len * self.classes];
                self.probabilities(theta, rows, len, p);
                self.add_sums(&places, p, out);
                self.probabilities(theta_ref, rows, len, p);
                self.add_sums(&places, p, work);
            },
        );
        update_with(out, work, |here, there| (here - there) / js.len() as f64);
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
        let share = c / js.len() as f64;
        self.add_products(
            theta,
            self.groups.block_rows(i, &js),
            w,
            share,
            &mut [0.0; MOST_CLASSES],
            out,
        );
    }

    /// In one sweep: the Jacobian of a row is made of its probabilities.
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
        mean.fill(0.0);
        jacobian.fill(0.0);
        self.add_jacobians(theta, self.groups.block_rows(i, &js), mean, jacobian);
        self.complete(jacobian);
        update(mean, |sum| share * sum);
        update(jacobian, |sum| share * sum);
    }

    /// Both weights of a row first, so that it is added once.
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
        let share = c / js.len() as f64;
        let (mut here, mut there) = ([0.0; SCORES], [0.0; SCORES]);
        self.groups.tiles(
            self.groups.block_rows(i, &js),
            self.tile(),
            #[inline(always)]
            |rows, places| {
                let len = places.len();
                let (here, there) =
                    (&mut here[..len * self.classes], &mut there[..len * self.classes]);
                self.probabilities(theta, rows, len, here);
                self.weights(&places, w, share, here);
                self.probabilities(theta_ref, rows, len, there);
                self.weights(&places, w, share, there);
                update_with(here, there, |here, there| here - there);
                self.add_rows(rows, len, here, out);
            },
        );
    }

    fn mean(&self, theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]) {
        self.block_mean(theta, i, 0..self.n_y(i), work, out);
    }

    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let share = c / self.n_y(i) as f64;
        self.add_products(theta, self.groups.range(i), w, share, &mut [0.0; MOST_CLASSES], out);
    }
}

impl Passes for SoftmaxBags {
    /// The Jacobian of a softmax, `diag(p) - p p'`, is at most 1/2.
    fn bounds(&self) -> Bounds {
        Bounds { b_f: Some(self.groups.longest / 2.0), ..Bounds::default() }
    }

    fn some_mean_jacobians(&self, theta: &[f64]) -> Result<Option<Vec<f64>>, Lost> {
        Ok(Some(sampled_mean_jacobians(self, theta)))
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let (classes, segments) = (self.classes, &self.groups.segments);
        let mut sums = vec![0.0; segments.len() * classes];
        self.groups.blocks.fill(
            classes,
            &mut sums,
            #[inline(always)]
            |range, sums| {
                for (segment, sums) in segments[range].iter().zip(sums.chunks_exact_mut(classes)) {
                    self.add_probabilities(theta, segment.rows.clone(), sums);
                }
            },
        );
        self.groups.reduce(classes, &sums, out);
        self.groups.rows.check()
    }

    /// In one sweep over the rows.
    fn means_and_jacobians(
        &self,
        theta: &[f64],
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        let (classes, segments) = (self.classes, &self.groups.segments);
        let size = classes * self.d();
        // The sum of the probabilities, and that of their gradients.
        let mut sums = vec![0.0; segments.len() * (classes + size)];
        self.groups.blocks.fill(
            classes + size,
            &mut sums,
            #[inline(always)]
            |range, sums| {
                let own = sums.chunks_exact_mut(classes + size);
                for (segment, sums) in segments[range].iter().zip(own) {
                    let (mean, jacobian) = sums.split_at_mut(classes);
                    self.add_jacobians(theta, segment.rows.clone(), mean, jacobian);
                }
            },
        );
        f_bar.fill(0.0);
        jacobians.fill(0.0);
        for (segment, sums) in segments.iter().zip(sums.chunks_exact(classes + size)) {
            let (i, share) = (segment.group, 1.0 / self.n_y(segment.group) as f64);
            let (mean, jacobian) = sums.split_at(classes);
            axpy(share, mean, &mut f_bar[i * classes..(i + 1) * classes]);
            axpy(share, jacobian, &mut jacobians[i * size..(i + 1) * size]);
        }
        jacobians.chunks_exact_mut(size).for_each(|jacobian| self.complete(jacobian));
        Ok(())
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let (classes, segments) = (self.classes, &self.groups.segments);
        self.groups.blocks.add(
            1.0 / self.n_x() as f64,
            out,
            #[inline(always)]
            |range, partial| {
                let mut sums = [0.0; MOST_CLASSES];
                for segment in &segments[range] {
                    let w = &w[segment.group * classes..(segment.group + 1) * classes];
                    let share = 1.0 / self.n_y(segment.group) as f64;
                    self.add_products(theta, segment.rows.clone(), w, share, &mut sums, partial);
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
        let (classes, segments) = (self.classes, &self.groups.segments);
        let mut sums = vec![0.0; segments.len() * classes];
        u.fill(0.0);
        self.groups.blocks.fill_and_add(
            classes,
            &mut sums,
            1.0 / self.n_x() as f64,
            u,
            #[inline(always)]
            |range, sums, partial| {
                for (segment, sums) in segments[range].iter().zip(sums.chunks_exact_mut(classes)) {
                    let w = &w[segment.group * classes..(segment.group + 1) * classes];
                    let share = 1.0 / self.n_y(segment.group) as f64;
                    self.add_products(theta, segment.rows.clone(), w, share, sums, partial);
                }
            },
        );
        self.groups.reduce(classes, &sums, f_bar);
        self.groups.rows.check()
    }

    /// Group by group: its rows are near when its dual is known, and its probabilities are kept
    /// until then.
    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        let largest = (0..self.n_x()).map(|i| self.n_y(i)).max().unwrap_or(0);
        if !self.groups.are_whole() || largest * (self.groups.width + self.classes) > CACHED_NUMBERS
        {
            return gradient_in_two_passes(self, theta, duals, f_bar, w, out);
        }
        let (d, classes) = (self.d(), self.classes);
        // The loss follows the sum.
        let mut sum = vec![0.0; d + 1];
        self.groups.blocks.fill_both_and_add(
            classes,
            (f_bar, w),
            1.0 / self.n_x() as f64,
            &mut sum,
            #[inline(always)]
            |groups, f_bar, w, partial| {
                let (partial, loss) = partial.split_at_mut(d);
                let mut kept = vec![0.0; largest * classes];
                let own = f_bar.chunks_exact_mut(classes).zip(w.chunks_exact_mut(classes));
                for (i, (f_bar, w)) in groups.zip(own) {
                    let (rows, share) = (self.groups.range(i), 1.0 / self.n_y(i) as f64);
                    f_bar.fill(0.0);
                    let mut done = 0;
                    self.groups.tiles(
                        rows.clone(),
                        self.tile(),
                        #[inline(always)]
                        |rows, places| {
                            let len = places.len();
                            let p = &mut kept[done..done + len * classes];
                            self.probabilities(theta, rows, len, p);
                            self.add_sums(&places, p, f_bar);
                            done += len * classes;
                        },
                    );
                    update(f_bar, |sum| sum * share);
                    loss[0] += duals(i..i + 1, f_bar, w);
                    done = 0;
                    self.groups.tiles(
                        rows,
                        self.tile(),
                        #[inline(always)]
                        |rows, places| {
                            let len = places.len();
                            let p = &mut kept[done..done + len * classes];
                            self.weights(&places, w, share, p);
                            self.add_rows(rows, len, p, partial);
                            done += len * classes;
                        },
                    );
                }
            },
        );
        out.copy_from_slice(&sum[..d]);
        self.groups.rows.check()?;
        Ok(sum[d])
    }
}

/// Numbers of a group, features and probabilities, that stay near while its dual is found: half a
/// megabyte.
const CACHED_NUMBERS: usize = 1 << 16;
