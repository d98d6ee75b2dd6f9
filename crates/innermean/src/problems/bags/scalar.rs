//! One number for each row: identity, logistic and exponential links.

use crate::linalg::elementary::Elementary;
use std::ops::Range;

use super::{Groups, Link, TILE};
use crate::linalg::vector::{add_weighted_rows, axpy, dot, sum};
use crate::model::collapse::Collapsed;
use crate::model::inner::{Fused, Inner};
use crate::model::setting::{InvalidSetting, all_finite};

mod passes;
mod queries;

/// `f_theta(x_i, y_ij) = c_ij link( <y_ij, theta> + intercept ) - b_i` with targets `b_i`, zero
/// unless given, and `c_ij = 1` without weights.
#[derive(Debug, Clone)]
pub struct Bags {
    groups: Groups,
    link: Link,
    /// `b_i`, empty for zeros
    targets: Vec<f64>,
    /// All averages, for the identity: f is affine.
    averages: Option<Collapsed>,
}

impl Bags {
    /// f without targets, as phi with labels of its own asks for.
    pub fn new(groups: Groups, link: Link) -> Self {
        let mut bags = Bags { groups, link, targets: Vec::new(), averages: None };
        bags.collapse();
        bags
    }

    /// f with the group's label taken off, for a phi that is least at 0.
    ///
    /// # Errors
    /// Unless there is a finite target for each group.
    pub fn with_targets(
        groups: Groups,
        link: Link,
        targets: Vec<f64>,
    ) -> Result<Self, InvalidSetting> {
        if targets.len() != groups.count() {
            let expected = format!("one for each of {} groups", groups.count());
            return Err(InvalidSetting::new(
                "targets",
                format!("{} numbers", targets.len()),
                expected,
            ));
        }
        let mut bags =
            Bags { groups, link, targets: all_finite("targets", targets)?, averages: None };
        bags.collapse();
        Ok(bags)
    }

    /// Averages the rows of every group once, for the identity.
    fn collapse(&mut self) {
        if self.link == Link::Identity {
            let origin = vec![0.0; self.d()];
            let mut rows = vec![0.0; self.n_x() * self.d()];
            self.f().mean_jacobians(&origin, &mut rows);
            let offsets = (0..self.n_x()).map(|i| -self.target(i)).collect();
            self.averages = Some(Collapsed::from_rows(self.d(), rows, offsets));
        }
    }

    /// The rows.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// What is made of a score.
    pub fn link(&self) -> Link {
        self.link
    }

    /// `link( <y_ij, theta> + intercept )` of all rows, group after group.
    pub fn predictions(&self, theta: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.groups.rows()];
        let (coefficients, intercept) = self.split(theta);
        let mut done = 0;
        self.groups.tiles(0..self.groups.rows(), TILE, |rows, places| {
            let len = places.len();
            let scores = &mut out[done..done + len];
            self.groups.scores(rows, coefficients, intercept, scores);
            self.link.values(scores);
            done += len;
        });
        out
    }

    /// Where to begin: no coefficients, and the intercept at which every row is predicted as
    /// `average`, that of the labels.
    pub fn start(&self, average: f64) -> Vec<f64> {
        let mut theta = vec![0.0; self.d()];
        if self.groups.intercept {
            theta[self.groups.width] = match self.link {
                Link::Identity => average,
                Link::Logistic => {
                    let q = average.clamp(1e-3, 1.0 - 1e-3);
                    (q / (1.0 - q)).natural_log()
                }
                Link::Exp => average.max(1e-3).natural_log(),
            };
        }
        theta
    }

    /// Coefficients and intercept.
    #[inline(always)]
    fn split<'t>(&self, theta: &'t [f64]) -> (&'t [f64], f64) {
        let width = self.groups.width;
        (&theta[..width], if self.groups.intercept { theta[width] } else { 0.0 })
    }

    #[inline(always)]
    fn target(&self, i: usize) -> f64 {
        if self.targets.is_empty() { 0.0 } else { self.targets[i] }
    }

    #[inline(always)]
    fn with_row<R>(&self, i: usize, j: usize, work: impl FnOnce(&[f64]) -> R) -> R {
        self.groups.with_row(self.groups.starts[i] + j, work)
    }

    #[inline(always)]
    fn score(&self, row: &[f64], theta: &[f64]) -> f64 {
        let (coefficients, intercept) = self.split(theta);
        dot(row, coefficients) + intercept
    }

    /// `c_ij`
    #[inline(always)]
    fn factor(&self, i: usize, j: usize) -> f64 {
        self.groups.factor(self.groups.starts[i] + j)
    }

    /// `out += c (y, 1)`
    #[inline(always)]
    fn add_row(&self, c: f64, row: &[f64], out: &mut [f64]) {
        axpy(c, row, &mut out[..row.len()]);
        if self.groups.intercept {
            out[row.len()] += c;
        }
    }

    /// `sum_r c_r link(r)` over some rows.
    #[inline(always)]
    fn sum_of_links(&self, theta: &[f64], range: Range<usize>) -> f64 {
        let (coefficients, intercept) = self.split(theta);
        let mut scores = [0.0; TILE];
        let mut total = 0.0;
        self.groups.tiles(
            range,
            TILE,
            #[inline(always)]
            |rows, places| {
                let scores = &mut scores[..places.len()];
                self.groups.scores(rows, coefficients, intercept, scores);
                self.link.values(scores);
                total += self.groups.weighted_sum(&places, scores);
            },
        );
        total
    }

    /// `out += c sum_r c_r link'(r) (y_r, 1)` over some rows, and `sum_r c_r link(r)` as what is
    /// returned.
    #[inline(always)]
    fn add_slopes(&self, theta: &[f64], range: Range<usize>, c: f64, out: &mut [f64]) -> f64 {
        let (coefficients, intercept) = self.split(theta);
        let width = self.groups.width;
        let mut scores = [0.0; TILE];
        let mut total = 0.0;
        self.groups.tiles(
            range,
            TILE,
            #[inline(always)]
            |rows, places| {
                let scores = &mut scores[..places.len()];
                self.groups.scores(rows, coefficients, intercept, scores);
                self.link.values(scores);
                total += self.groups.weighted_sum(&places, scores);
                self.link.slopes(c, scores);
                self.groups.weigh(&places, scores);
                add_weighted_rows(rows, scores, &mut out[..width]);
                if self.groups.intercept {
                    out[width] += sum(scores);
                }
            },
        );
        total
    }

    /// Runs `work(rows, their places, links at theta, links at theta_ref)` for tiles of some rows,
    /// each of which is near for both points.
    #[inline(always)]
    fn at_both(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        range: Range<usize>,
        mut work: impl FnMut(&[f64], &Range<usize>, &mut [f64], &mut [f64]),
    ) {
        let (here, there) = (self.split(theta), self.split(theta_ref));
        let mut links = [0.0; 2 * TILE];
        self.groups.tiles(
            range,
            TILE,
            #[inline(always)]
            |rows, places| {
                let len = places.len();
                // Side by side, so that one loop makes links of both.
                let links = &mut links[..2 * len];
                let (at_theta, at_ref) = links.split_at_mut(len);
                self.groups.scores(rows, here.0, here.1, at_theta);
                self.groups.scores(rows, there.0, there.1, at_ref);
                self.link.values(links);
                let (at_theta, at_ref) = links.split_at_mut(len);
                work(rows, &places, at_theta, at_ref);
            },
        );
    }

    /// Averages from the segments' sums.
    fn averages_of(&self, sums: &[f64], out: &mut [f64]) {
        self.groups.reduce(1, sums, out);
        self.take_targets_off(out);
    }

    fn take_targets_off(&self, out: &mut [f64]) {
        for (out, target) in out.iter_mut().zip(&self.targets) {
            *out -= target;
        }
    }
}
