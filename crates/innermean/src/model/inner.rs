//! The inner function f: what is averaged.
//!
//! `f_theta(x_i, y_ij)` maps theta in `R^d` to `R^ell`. Its Jacobian `f'` is taken as d x ell, so that every
//! product reads `f' w`; of the methods, only those that keep tables of Jacobians ask for one itself.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::linalg::gram;
use crate::linalg::vector::axpy;
use crate::model::collapse::Collapsed;
use crate::model::shared::SharedForm;
use crate::run::checkpoint::Hash;

mod block;
mod jacobians;
mod passes;
mod pointers;

pub use block::block_of;
pub(crate) use jacobians::sampled_mean_jacobians;
pub(crate) use jacobians::{Jacobians, jacobian_scatter};
pub use jacobians::{jacobian_spread, mean_jacobian_norm, typical_mean_jacobian};
pub(crate) use passes::{blocks, gradient_in_two_passes, mean_jacobian, mean_support, pieces};

/// What a solver may exploit in f. A hint changes the cost of a run and never its answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// `f = A_ij theta + b_ij`: the Jacobian does not depend on theta.
    pub affine: bool,
    /// How the inner samples of different i are related.
    pub sample: Sample,
}

/// How the inner samples of different outer indices are related.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sample {
    /// Every i has its own; a snapshot evaluates f at all `sum_i n_Yi` pairs.
    #[default]
    Own,
    /// `f_theta(x_i, y_ij) = f_theta(y_j)`, problem (2) of the paper; a snapshot evaluates f at `n_Y` points, for i = 0.
    Shared,
    /// `f_theta(x_i, y_ij) = a_theta(x_i) + b_theta(y_j)`; a snapshot evaluates a and b at `n_X + n_Y` points. Only f can tell
    /// a from b: whoever says this overrides the whole-snapshot calls, which would otherwise visit all pairs.
    Separable,
}

/// What is known about f over all theta, i and j. `None`: not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// `B_f >= |f'_theta(x_i, y_ij)|`
    pub b_f: Option<f64>,
    /// `B_theta`: a Lipschitz constant of `theta -> f'_theta(x_i, y_ij)`; zero for affine f.
    pub b_theta: Option<f64>,
    /// A bound on `|fbar_i'(theta)|`, the mean Jacobians; at most `B_f`.
    pub mean_jacobian: Option<f64>,
}

/// How much of the data a query reads, in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// By a query of f or f' at one pair.
    pub pair: u64,
    /// By a pass over all pairs.
    pub all: u64,
    /// By a query of phi, where part of the data stands in it, as in a shared form.
    pub merit: u64,
}

/// Transitions t as they were given, from which averages `b - A theta` are made: with shares `s_t`, their weights by the sum of all,
///
/// ```text
/// A = sum_t s_t phi_t (phi_t - discount phi'_t)',   b = sum_t s_t r_t phi_t,   C = sum_t s_t phi_t phi_t'
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ProjectedRows<'a> {
    /// `phi_t`, one after the other
    pub features: &'a [f64],
    /// `phi'_t`, one after the other
    pub next_features: &'a [f64],
    /// `r_t`
    pub rewards: &'a [f64],
    /// None: all weigh the same.
    pub weights: Option<&'a [f64]>,
    /// Of what comes next.
    pub discount: f64,
}

/// The pairs of an affine f with one number each, as rows in memory: steps on them ask nobody.
#[derive(Debug, Clone, Copy)]
pub enum PairRows<'a> {
    /// `f_theta(x_i, y_i1) = <row i, theta>` and a constant, with one sample for each term.
    Own(&'a [f64]),
    /// `f_theta(x_i, y_j) = <row i - row j, theta>`, with the mean of all rows
    Differences(&'a [f64], &'a [f64]),
}

/// What a gradient does with averages: `duals(terms, f_bar, w)` writes `w_i = phi_i'(f_bar_i)` for some terms, whose averages and duals are
/// given, and returns `sum_i phi_i(f_bar_i)` over them. Called for a few dozen terms at a time, or more, it costs nothing to
/// go through a pointer.
pub type Duals<'a> = dyn Fn(Range<usize>, &[f64], &mut [f64]) -> f64 + Sync + 'a;

/// The inner function. Five calls describe it; the rest are provided, and a problem overrides them to fuse,
/// to vectorise or to exploit its structure. One that is affine should say so in [`Inner::structure`]: it saves half of
/// the work, and a phi with kinks has a measure of optimality only then.
///
/// ```
/// use innermean::{Inner, Problem, Ridge, Square, Structure};
///
/// /// Groups of numbers: `f_theta(x_i, y_ij) = theta_0 + theta_1 y_ij - b_i`.
/// struct Groups {
///     y: Vec<Vec<f64>>,
///     b: Vec<f64>,
/// }
///
/// impl Inner for Groups {
///     fn d(&self) -> usize { 2 }
///     fn n_x(&self) -> usize { self.y.len() }
///     fn n_y(&self, i: usize) -> usize { self.y[i].len() }
///     fn structure(&self) -> Structure { Structure { affine: true, ..Structure::default() } }
///     fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
///         out[0] = theta[0] + theta[1] * self.y[i][j] - self.b[i];
///     }
///     fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
///         out[0] += c * w[0];
///         out[1] += c * w[0] * self.y[i][j];
///     }
/// }
///
/// // The means of the groups are 1, 2 and 4: least squares finds b = 1 + 2 y.
/// let inner = Groups { y: vec![vec![0.0, 2.0], vec![2.0], vec![3.0, 4.0, 5.0]], b: vec![3.0, 5.0, 9.0] };
/// let problem = Problem { inner, merit: Square::new(1.0)?, regularizer: Ridge::from_weight(0.0)? };
/// let solution = innermean::solve(&problem, &[0.0, 0.0])?;
/// assert!((solution.theta[0] - 1.0).abs() < 1e-4 && (solution.theta[1] - 2.0).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `add_...` accumulates into `out`, a bare noun overwrites it. `work` is scratch of length `ell` lent by the
/// caller, so that nothing is allocated in a step. Vectors over all i lie flat: i owns `[i * ell..(i + 1) * ell]`.
pub trait Inner: Sync {
    /// The length of theta.
    fn d(&self) -> usize;

    /// The length of a value.
    fn ell(&self) -> usize {
        1
    }

    /// The number of outer terms.
    fn n_x(&self) -> usize;

    /// The number of inner samples of term `i`, at least 1.
    fn n_y(&self, i: usize) -> usize;

    /// What a solver may exploit.
    fn structure(&self) -> Structure {
        Structure::default()
    }

    /// What is known about the size of f'.
    fn bounds(&self) -> Bounds {
        Bounds { b_theta: self.structure().affine.then_some(0.0), ..Bounds::default() }
    }

    /// The rows of data that a query reads: one for a pair, unless f says otherwise.
    fn rows(&self) -> Rows {
        let all = match self.structure().sample {
            Sample::Own => (0..self.n_x()).map(|i| self.n_y(i)).sum(),
            Sample::Shared => self.n_y(0),
            Sample::Separable => self.n_x() + self.n_y(0),
        };
        Rows { pair: 1, all: all as u64, merit: 0 }
    }

    /// What one query of f or f' counts as, in oracle calls: more than one where f stacks several functions, as
    /// [`SharedForm`]s do.
    fn calls_per_query(&self) -> u64 {
        1
    }

    /// A hint for f of which a term looks at few coordinates of theta: those that any `f_theta(x_i, y_ij)` of term i depends on, rising.
    /// None: all of them. An f gives the coordinates of every term or of none. Methods that take it leave the other coordinates for
    /// later, so that a step costs as much as it looks at, and mean Jacobians are kept at these coordinates alone.
    #[inline(always)]
    fn support(&self, i: usize) -> Option<&[u32]> {
        let _ = i;
        None
    }

    /// An estimate of `max_i |fbar_i'(theta)|` (Frobenius) for steps and measures, where there is a cheaper way to one than a pass over the data for each
    /// coordinate of each term.
    fn mean_jacobian_size(&self, theta: &[f64]) -> Option<f64> {
        let _ = theta;
        None
    }

    /// `fbar_i'(theta)` of some terms, or averages over some of their samples, as ell rows of length d for each: for rough estimates, where they cost a
    /// fraction of a pass over the data.
    fn some_mean_jacobians(&self, theta: &[f64]) -> Option<Vec<f64>> {
        let _ = theta;
        None
    }

    /// A point whose gradient is of ordinary size, for an f that may be stationary at the origin by symmetry: stationarity is measured in the
    /// larger of the two.
    fn ordinary_point(&self) -> Option<Vec<f64>> {
        None
    }

    /// Whether every `phi_i(fbar_i(theta))` is convex in theta. An affine f is so with any phi. Another f may say so of itself and the phi that it is
    /// made for, as a convex f with a phi that never falls: then the distance to the optimum can be bounded, and a wrong word here makes
    /// that bound wrong.
    fn convex_composition(&self) -> bool {
        self.structure().affine
    }

    /// The same f with an inner sample shared by all i, where there is a better way to it than
    /// [`crate::model::shared::Stacked`].
    fn shared_form(&self) -> Option<Box<dyn SharedForm + '_>> {
        None
    }

    /// Whether `1 - f_theta = f_{-theta}`, as of probabilities by a logistic link: what averages that are nearly 1 leave to it has all its digits there.
    fn is_mirrored(&self) -> bool {
        false
    }

    /// The averages of an affine f as linear predictors, where it keeps them: then nobody needs to collapse it.
    fn averages(&self) -> Option<&Collapsed> {
        None
    }

    /// The rows behind the pairs of an affine f with `ell = 1`, where they lie in memory, each of length d.
    fn pair_rows(&self) -> Option<PairRows<'_>> {
        None
    }

    /// The rows `x_i` and their mean m, rounded, of an affine f with `fbar_i(theta) = <x_i - m, theta>`: what is rounded in them is as large as
    /// `x_i` and m, and not as their difference.
    fn centred_rows(&self) -> Option<(&[f64], &[f64])> {
        None
    }

    /// The transitions behind the averages of a projected Bellman error, as they were given: products of their features are rounded in single values.
    fn projected_rows(&self) -> Option<ProjectedRows<'_>> {
        None
    }

    /// `sum_r weight(r) a_r a_r'` over the rows of all mean Jacobians, where row `r = i ell + c` is coordinate c of `fbar_i`, for an affine f that
    /// finds it without a copy of them; d rows of length d.
    fn gram(&self, weight: &(dyn Fn(usize) -> f64 + Sync)) -> Option<Vec<f64>> {
        Some(gram::weighted(self.averages()?, weight))
    }

    /// Takes up all numbers that f is made of, for an f whose values and Jacobians may hide the last digit of one, as where they are differences. False: what
    /// pairs answer tells the data apart.
    fn hash_data(&self, hash: &mut Hash) -> bool {
        let _ = hash;
        false
    }

    /// `out = f_theta(x_i, y_ij)`
    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]);

    /// `out += c f'_theta(x_i, y_ij) w`
    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]);

    /// `out = f'_theta(x_i, y_ij)` as ell rows of length d, for the few methods that keep Jacobians of single pairs.
    fn jacobian(&self, theta: &[f64], i: usize, j: usize, work: &mut [f64], out: &mut [f64]) {
        work.fill(0.0);
        out.fill(0.0);
        for (c, row) in out.chunks_exact_mut(self.d()).enumerate() {
            work[c] = 1.0;
            self.add_jac_t(theta, i, j, work, 1.0, row);
            work[c] = 0.0;
        }
    }

    /// A hint: pair (i, j) will be asked for within a few steps. A problem with its data in memory brings it near.
    #[inline(always)]
    fn prefetch(&self, i: usize, j: usize) {
        let _ = (i, j);
    }

    /// `out = f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij)`
    #[inline(always)]
    fn difference(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        j: usize,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        self.value(theta, i, j, out);
        self.value(theta_ref, i, j, work);
        for (out, at_ref) in out.iter_mut().zip(work) {
            *out -= *at_ref;
        }
    }

    /// `out += c (f'_theta(x_i, y_ij) - f'_theta_ref(x_i, y_ij)) w`
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the formula has as many")]
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
        self.add_jac_t(theta, i, j, w, c, out);
        self.add_jac_t(theta_ref, i, j, w, -c, out);
    }

    /// How many consecutive samples of a term a step may well take at once, where f has found out: its samples stand in random order,
    /// so that a block of them is as good as a random sample, and a block costs little more than a sample does. 1: no more than one.
    fn block(&self) -> usize {
        1
    }

    /// `out = (1/b) sum of f_theta(x_i, y_ij)` over a block of b consecutive samples.
    fn block_mean(&self, theta: &[f64], i: usize, js: Range<usize>, work: &mut [f64], out: &mut [f64]) {
        block::mean(self, theta, i, js, work, out);
    }

    /// `out = (1/b) sum of f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij)` over a block of b consecutive samples.
    fn block_difference(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        js: Range<usize>,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        block::difference(self, theta, theta_ref, i, js, work, out);
    }

    /// `out += (c/b) sum of f'_theta(x_i, y_ij) w` over a block of b consecutive samples.
    fn add_block_jac_t(&self, theta: &[f64], i: usize, js: Range<usize>, w: &[f64], c: f64, out: &mut [f64]) {
        let share = c / js.len() as f64;
        for j in js {
            self.add_jac_t(theta, i, j, w, share, out);
        }
    }

    /// [`Self::block_mean`], and the mean of the Jacobians of the same samples as ell rows of length d.
    fn block_mean_and_jacobian(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        work: &mut [f64],
        mean: &mut [f64],
        jacobian: &mut [f64],
    ) {
        block::mean_and_jacobian(self, theta, i, js, work, mean, jacobian);
    }

    /// `out += (c/b) sum of (f'_theta(x_i, y_ij) - f'_theta_ref(x_i, y_ij)) w` over a block of b consecutive samples.
    #[expect(clippy::too_many_arguments, reason = "the formula has as many")]
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
        for j in js {
            self.add_jac_t_difference(theta, theta_ref, i, j, w, share, out);
        }
    }

    /// `out = fbar_i(theta) = (1/n_Yi) sum_j f_theta(x_i, y_ij)`
    fn mean(&self, theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]) {
        block::mean(self, theta, i, 0..self.n_y(i), work, out);
    }

    /// `out += c fbar_i'(theta) w`
    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let n_y = self.n_y(i);
        for j in 0..n_y {
            self.add_jac_t(theta, i, j, w, c / n_y as f64, out);
        }
    }

    /// `out = fbar_i(theta)` for all i.
    fn means(&self, theta: &[f64], out: &mut [f64]) {
        let ell = self.ell();
        if self.structure().sample == Sample::Shared {
            let (first, others) = out.split_at_mut(ell);
            self.mean(theta, 0, &mut vec![0.0; ell], first);
            return others.chunks_exact_mut(ell).for_each(|mean| mean.copy_from_slice(first));
        }
        blocks(self).fill(
            ell,
            out,
            #[inline(always)]
            |range, rows| {
                let mut work = vec![0.0; ell];
                for (i, row) in range.zip(rows.chunks_exact_mut(ell)) {
                    self.mean(theta, i, &mut work, row);
                }
            },
        );
    }

    /// `out = fbar_i'(theta)` for all i, as ell rows of length d for each i (row c belongs to coordinate c of f). Of a shared sample,
    /// whose Jacobians are all the same, `out` may also hold the first alone.
    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) {
        let (d, ell) = (self.d(), self.ell());
        if self.structure().sample == Sample::Shared {
            let (first, others) = out.split_at_mut(ell * d);
            mean_jacobian(self, theta, 0, first);
            return others.chunks_exact_mut(ell * d).for_each(|jacobian| jacobian.copy_from_slice(first));
        }
        blocks(self).fill(
            ell * d,
            out,
            #[inline(always)]
            |range, rows| {
                for (i, jacobian) in range.zip(rows.chunks_exact_mut(ell * d)) {
                    mean_jacobian(self, theta, i, jacobian);
                }
            },
        );
    }

    /// [`Self::means`] and [`Self::mean_jacobians`] at one point.
    fn means_and_jacobians(&self, theta: &[f64], f_bar: &mut [f64], jacobians: &mut [f64]) {
        self.means(theta, f_bar);
        self.mean_jacobians(theta, jacobians);
    }

    /// `out += (1/n_X) sum_i fbar_i'(theta) w_i`
    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) {
        let (n_x, ell) = (self.n_x(), self.ell());
        if self.structure().sample == Sample::Shared {
            // fbar' (1/n_X) sum_i w_i
            let mut mean = vec![0.0; ell];
            w.chunks_exact(ell).for_each(|w_i| axpy(1.0 / n_x as f64, w_i, &mut mean));
            return self.add_mean_jac_t(theta, 0, &mean, 1.0, out);
        }
        blocks(self).add(
            1.0 / n_x as f64,
            out,
            #[inline(always)]
            |range, partial| {
                for i in range {
                    self.add_mean_jac_t(theta, i, &w[i * ell..(i + 1) * ell], 1.0, partial);
                }
            },
        );
    }

    /// Both batch quantities of a snapshot: `f_bar_i = fbar_i(theta)` for all i and
    /// `u = (1/n_X) sum_i fbar_i'(theta) w_i`.
    fn snapshot(&self, theta: &[f64], w: &[f64], f_bar: &mut [f64], u: &mut [f64]) {
        self.means(theta, f_bar);
        u.fill(0.0);
        self.add_weighted_jac_t(theta, w, u);
    }

    /// `out = F'(theta) = (1/n_X) sum_i fbar_i'(theta) w_i` and `F(theta)` as what is returned, where `duals` makes `w_i = phi_i'(f_bar_i)` from
    /// `f_bar_i = fbar_i(theta)`; all of them are left in `f_bar` and `w`. An f whose rows are still near when their duals are known
    /// reads them once and not twice.
    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> f64 {
        gradient_in_two_passes(self, theta, duals, f_bar, w, out)
    }
}
