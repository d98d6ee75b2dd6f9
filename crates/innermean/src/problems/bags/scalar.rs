//! One number for each row: identity, logistic and exponential links.

use serde::{Deserialize, Serialize};

use super::{Groups, TILE};
use crate::collapse::Collapsed;
use crate::exponential::{exp, sigmoid};
use crate::inner::{Bounds, Inner, Structure};
use crate::setting::{InvalidSetting, all_finite};
use crate::vector::{add_weighted_rows, axpy, dot, prefetch, sum, update};

/// What is made of a score `t = <y, theta> + intercept`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// t
    Identity,
    /// `1 / (1 + e^-t)`
    Logistic,
    /// `e^t`
    Exp,
}

impl Link {
    /// The value at a score.
    #[inline(always)]
    pub fn value(self, t: f64) -> f64 {
        match self {
            Link::Identity => t,
            Link::Logistic => sigmoid(t),
            Link::Exp => exp(t),
        }
    }

    /// The slope where the value is `v`: 1, `v (1 - v)` or v.
    #[inline(always)]
    fn slope(self, v: f64) -> f64 {
        match self {
            Link::Identity => 1.0,
            Link::Logistic => v * (1.0 - v),
            Link::Exp => v,
        }
    }

    /// [`Link::value`] of many scores, in place.
    #[inline(always)]
    fn values(self, scores: &mut [f64]) {
        match self {
            Link::Identity => {}
            Link::Logistic => update(scores, sigmoid),
            Link::Exp => update(scores, exp),
        }
    }

    /// c times [`Link::slope`] of many values, in place.
    #[inline(always)]
    fn slopes(self, c: f64, values: &mut [f64]) {
        match self {
            Link::Identity => values.fill(c),
            Link::Logistic => update(values, |v| c * v * (1.0 - v)),
            Link::Exp => update(values, |v| c * v),
        }
    }
}

/// `f_theta(x_i, y_ij) = link( <y_ij, theta> + intercept ) - b_i` with targets `b_i`, zero unless given.
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
    pub fn with_targets(groups: Groups, link: Link, targets: Vec<f64>) -> Result<Self, InvalidSetting> {
        if targets.len() != groups.count() {
            let expected = format!("one for each of {} groups", groups.count());
            return Err(InvalidSetting::new("targets", format!("{} numbers", targets.len()), expected));
        }
        let mut bags = Bags { groups, link, targets: all_finite("targets", targets)?, averages: None };
        bags.collapse();
        Ok(bags)
    }

    /// Averages the rows of every group once, for the identity.
    fn collapse(&mut self) {
        if self.link == Link::Identity {
            let origin = vec![0.0; self.d()];
            let mut rows = vec![0.0; self.n_x() * self.d()];
            self.mean_jacobians(&origin, &mut rows);
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
        self.groups.tiles(0..self.groups.rows(), |rows, len| {
            let scores = &mut out[done..done + len];
            self.groups.scores(rows, coefficients, intercept, scores);
            self.link.values(scores);
            done += len;
        });
        out
    }

    /// Where to begin: no coefficients, and the intercept at which every row is predicted as `average`, that of the labels.
    pub fn start(&self, average: f64) -> Vec<f64> {
        let mut theta = vec![0.0; self.d()];
        if self.groups.intercept {
            theta[self.groups.width] = match self.link {
                Link::Identity => average,
                Link::Logistic => {
                    let q = average.clamp(1e-3, 1.0 - 1e-3);
                    (q / (1.0 - q)).ln()
                }
                Link::Exp => average.max(1e-3).ln(),
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
    fn row(&self, i: usize, j: usize) -> &[f64] {
        self.groups.row(self.groups.starts[i] + j)
    }

    #[inline(always)]
    fn score(&self, row: &[f64], theta: &[f64]) -> f64 {
        let (coefficients, intercept) = self.split(theta);
        dot(row, coefficients) + intercept
    }

    /// `out += c (y, 1)`
    #[inline(always)]
    fn add_row(&self, c: f64, row: &[f64], out: &mut [f64]) {
        axpy(c, row, &mut out[..row.len()]);
        if self.groups.intercept {
            out[row.len()] += c;
        }
    }

    /// The sum of the links of some rows.
    #[inline(always)]
    fn sum_of_links(&self, theta: &[f64], range: std::ops::Range<usize>) -> f64 {
        let (coefficients, intercept) = self.split(theta);
        let mut scores = [0.0; TILE];
        let mut total = 0.0;
        self.groups.tiles(
            range,
            #[inline(always)]
            |rows, len| {
                let scores = &mut scores[..len];
                self.groups.scores(rows, coefficients, intercept, scores);
                self.link.values(scores);
                total += sum(scores);
            },
        );
        total
    }

    /// `out += c sum_r link'(r) (y_r, 1)` over some rows, and the sum of their links as what is returned.
    #[inline(always)]
    fn add_slopes(&self, theta: &[f64], range: std::ops::Range<usize>, c: f64, out: &mut [f64]) -> f64 {
        let (coefficients, intercept) = self.split(theta);
        let width = self.groups.width;
        let mut scores = [0.0; TILE];
        let mut total = 0.0;
        self.groups.tiles(
            range,
            #[inline(always)]
            |rows, len| {
                let scores = &mut scores[..len];
                self.groups.scores(rows, coefficients, intercept, scores);
                self.link.values(scores);
                total += sum(scores);
                self.link.slopes(c, scores);
                add_weighted_rows(rows, scores, &mut out[..width]);
                if self.groups.intercept {
                    out[width] += sum(scores);
                }
            },
        );
        total
    }

    /// Averages from the segments' sums.
    fn averages_of(&self, sums: &[f64], out: &mut [f64]) {
        self.groups.reduce(1, sums, out);
        for (out, target) in out.iter_mut().zip(&self.targets) {
            *out -= target;
        }
    }
}

impl Inner for Bags {
    #[inline(always)]
    fn d(&self) -> usize {
        self.groups.coefficients()
    }

    #[inline(always)]
    fn n_x(&self) -> usize {
        self.groups.count()
    }

    #[inline(always)]
    fn n_y(&self, i: usize) -> usize {
        self.groups.size(i)
    }

    fn structure(&self) -> Structure {
        Structure { affine: self.link == Link::Identity, ..Structure::default() }
    }

    /// The slope of the logistic function is at most 1/4 and its curvature `1 / (6 sqrt 3)`; those of the exponential have no bound.
    fn bounds(&self) -> Bounds {
        let longest = self.groups.longest;
        match self.link {
            Link::Identity => Bounds {
                b_f: Some(longest),
                b_theta: Some(0.0),
                mean_jacobian: self.averages.as_ref().and_then(|averages| averages.bounds().mean_jacobian),
            },
            Link::Logistic => Bounds {
                b_f: Some(longest / 4.0),
                b_theta: Some(longest * longest / 108.0_f64.sqrt()),
                mean_jacobian: None,
            },
            Link::Exp => Bounds::default(),
        }
    }

    #[inline(always)]
    fn prefetch(&self, i: usize, j: usize) {
        let row = self.groups.starts[i] + j;
        prefetch(&self.groups.rows, row * self.groups.width, self.groups.width);
    }

    #[inline(always)]
    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        out[0] = self.link.value(self.score(self.row(i, j), theta)) - self.target(i);
    }

    #[inline(always)]
    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let row = self.row(i, j);
        let slope = match self.link {
            Link::Identity => 1.0,
            link => link.slope(link.value(self.score(row, theta))),
        };
        self.add_row(c * w[0] * slope, row, out);
    }

    /// Without the target, which cancels.
    #[inline(always)]
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
        out[0] = value(theta) - value(theta_ref);
    }

    /// Both slopes first, so that the row is added once.
    #[inline(always)]
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
            self.add_row(c * w[0] * (slope(theta) - slope(theta_ref)), row, out);
        }
    }

    #[inline(always)]
    fn mean(&self, theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]) {
        if let Some(averages) = &self.averages {
            return averages.mean(theta, i, work, out);
        }
        out[0] = self.sum_of_links(theta, self.groups.range(i)) / self.n_y(i) as f64 - self.target(i);
    }

    #[inline(always)]
    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        if let Some(averages) = &self.averages {
            return averages.add_mean_jac_t(theta, i, w, c, out);
        }
        self.add_slopes(theta, self.groups.range(i), c * w[0] / self.n_y(i) as f64, out);
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) {
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
    }

    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) {
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
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) {
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
    }

    /// Averages and weighted Jacobians in one sweep over the rows.
    fn snapshot(&self, theta: &[f64], w: &[f64], f_bar: &mut [f64], u: &mut [f64]) {
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
    }
}
