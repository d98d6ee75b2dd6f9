//! The only door from a method to f and phi: every query passes here and is counted. Queries of
//! single pairs and terms are asked of [`Oracle`] itself; of blocks of samples by
//! [`Oracle::block`], of all data by [`Oracle::pass`], of a linear model by [`Oracle::model`].
//!
//! One call is one query of `f_theta`, of `f'_theta` (as a product) or of `phi_i` at one index and
//! one point. The prox of the conjugate, g and its prox, and values that a method has stored are
//! free. `docs/oracle-calls.md` has the convention in full and the count of every method.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::collapse::Collapsed;
use crate::model::inner::{Facts, Inner, PairRows, Rows, mean_support};
use crate::model::problem::Objective;

mod block;
mod calls;
mod envelope;
mod linear_model;
mod merits;
mod outside;
mod part;
mod pass;
mod patience;
mod survey;

pub use block::Block;
pub use calls::{Calls, gradient_calls, snapshot_calls};
pub use linear_model::LinearModel;
pub(crate) use merits::{Curvature, Merits};
pub use pass::Pass;
pub use patience::Patience;

/// See [`Oracle::lags`].
fn lags(problem: Objective<'_>) -> bool {
    let f = problem.inner;
    if !f.facts().affine || f.n_x() == 0 || problem.regularizer.coordinate(0).is_none() {
        return false;
    }
    mean_support(f).is_some_and(|mean| mean * LAG <= f.d() as f64)
}

/// A coordinate that lags costs as much as this many that do not.
const LAG: f64 = 100.0;

/// A problem seen through the counter.
#[derive(Debug)]
pub struct Oracle<'p> {
    problem: Objective<'p>,
    /// f for queries of single pairs, which do not fail; passes go through the problem's, whose
    /// failures are recorded.
    f: &'p dyn Inner,
    /// Calls made so far.
    pub calls: Calls,
    /// Rows of data read so far: by a query at a pair those of the pair, but not again by a product
    /// that follows the value; by a pass over all pairs all of them.
    pub rows: u64,
    /// How long work that takes long may go on.
    pub patience: Patience<'p>,
    /// The pair whose rows have been read last.
    last: (usize, usize),
    pub(crate) snapshot: Calls,
    pub(crate) gradient: Calls,
    /// Calls that a query counts as.
    weight: u64,
    rows_of: Rows,
    facts: Facts,
    lags: bool,
    pair_rows: Option<PairRows<'p>>,
    /// lambda and tilt of a g that is `(lambda/2) |theta|^2 + <tilt, theta>`.
    quadratic_g: Option<(f64, Arc<[f64]>)>,
    d: usize,
    ell: usize,
    n_x: usize,
    one_over_n_x: f64,
}

/// What an oracle has counted.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Memory {
    calls: Calls,
    rows: u64,
    last: (u64, u64),
}

impl<'p> Oracle<'p> {
    /// A fresh counter in front of `problem`.
    pub fn new(problem: impl Into<Objective<'p>>) -> Self {
        let problem = problem.into();
        let f = problem.inner.queried();
        let facts = f.facts();
        Oracle {
            problem,
            f,
            calls: Calls::default(),
            rows: 0,
            patience: Patience::default(),
            last: (usize::MAX, usize::MAX),
            snapshot: snapshot_calls(f),
            gradient: gradient_calls(f),
            weight: facts.calls_per_query,
            rows_of: f.rows(),
            facts,
            lags: lags(problem),
            pair_rows: f.pair_rows().filter(|_| f.ell() == 1 && f.facts().affine),
            quadratic_g: problem
                .regularizer
                .quadratic(f.d())
                .map(|(lambda, tilt)| (lambda, tilt.into())),
            d: f.d(),
            ell: f.ell(),
            n_x: f.n_x(),
            one_over_n_x: 1.0 / f.n_x() as f64,
        }
    }

    /// What was counted so far.
    pub(crate) fn memory(&self) -> Memory {
        let Oracle { calls, rows, last, .. } = *self;
        // None so far is the largest number: 0 in a checkpoint, whose numbers are counts.
        let [i, j] = [last.0, last.1].map(|at| at.wrapping_add(1) as u64);
        Memory { calls, rows, last: (i, j) }
    }

    /// Goes on counting from there.
    pub(crate) fn remember(&mut self, memory: Memory) {
        let Memory { calls, rows, last } = memory;
        let [i, j] = [last.0, last.1].map(|at| (at as usize).wrapping_sub(1));
        (self.calls, self.rows, self.last) = (calls, rows, (i, j));
    }

    /// The problem behind the counter, for what is free: g, `phi*`, and what is made of averages or
    /// Jacobians that have been counted.
    #[inline(always)]
    pub(crate) fn problem(&self) -> Objective<'p> {
        self.problem
    }

    /// Queries over a block of consecutive samples of a term.
    #[inline(always)]
    pub fn block(&mut self) -> Block<'_, 'p> {
        Block(self)
    }

    /// Passes over the whole data.
    #[inline(always)]
    pub fn pass(&mut self) -> Pass<'_, 'p> {
        Pass(self)
    }

    /// A linear model of f in its place, which stores what f says: phi alone is asked.
    #[inline(always)]
    pub fn model<'o>(&'o mut self, model: &'o Collapsed) -> LinearModel<'o, 'p> {
        LinearModel { oracle: self, model }
    }

    /// What is known of f.
    #[inline(always)]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The length of theta.
    #[inline(always)]
    pub fn d(&self) -> usize {
        self.d
    }

    /// The length of a value of f.
    #[inline(always)]
    pub fn ell(&self) -> usize {
        self.ell
    }

    /// The number of outer terms.
    #[inline(always)]
    pub fn n_x(&self) -> usize {
        self.n_x
    }

    /// `1/n_X`
    #[inline(always)]
    pub fn one_over_n_x(&self) -> f64 {
        self.one_over_n_x
    }

    /// The number of inner samples of term i.
    #[inline(always)]
    pub fn n_y(&self, i: usize) -> usize {
        self.f.n_y(i)
    }

    /// The coordinates that term i looks at, where f tells them.
    #[inline(always)]
    pub fn support(&self, i: usize) -> Option<&'p [u32]> {
        self.f.support(i)
    }

    /// Whether it pays to leave the coordinates that a step does not look at for later: f is affine
    /// and tells the coordinates that a term looks at, which are few, and g is a sum over
    /// coordinates.
    #[inline(always)]
    pub fn lags(&self) -> bool {
        self.lags
    }

    /// The rows behind the pairs of an affine f with `ell = 1`, where they lie in memory. Whoever
    /// reads them counts what he asks for.
    #[inline(always)]
    pub(crate) fn pair_rows(&self) -> Option<PairRows<'p>> {
        self.pair_rows
    }

    /// Counts [`Self::difference`] of a pair that was found in [`Self::pair_rows`].
    #[inline(always)]
    pub(crate) fn count_difference(&mut self, i: usize, j: usize) {
        self.calls.f += 2 * self.weight;
        self.read(i, j);
    }

    /// Counts [`Self::add_jac_t`] likewise.
    #[inline(always)]
    pub(crate) fn count_product(&mut self, i: usize, j: usize) {
        self.calls.jacobian += self.weight;
        self.read_again(i, j);
    }

    /// Counts the rows of a pair for a value.
    #[inline(always)]
    fn read(&mut self, i: usize, j: usize) {
        self.rows += self.rows_of.pair;
        self.last = (i, j);
    }

    /// Counts the rows of a pair for a product, unless its value has just been asked for.
    #[inline(always)]
    fn read_again(&mut self, i: usize, j: usize) {
        self.rows += self.rows_of.pair * u64::from(self.last != (i, j));
        self.last = (i, j);
    }

    /// `out = f_theta(x_i, y_ij)`: one call.
    #[inline(always)]
    pub fn value(&mut self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        self.calls.f += self.weight;
        self.read(i, j);
        self.f.value(theta, i, j, out);
    }

    /// `out = f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij)`: two calls.
    #[inline(always)]
    pub fn difference(
        &mut self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        j: usize,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        self.calls.f += 2 * self.weight;
        self.read(i, j);
        self.f.difference(theta, theta_ref, i, j, work, out);
    }

    /// `out += c f'_theta(x_i, y_ij) w`: one call.
    #[inline(always)]
    pub fn add_jac_t(
        &mut self,
        theta: &[f64],
        i: usize,
        j: usize,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        self.calls.jacobian += self.weight;
        self.read_again(i, j);
        self.f.add_jac_t(theta, i, j, w, c, out);
    }

    /// `out += (f'_theta(x_i, y_ij) - f'_theta_ref(x_i, y_ij)) w`: two calls. For affine f it is
    /// zero: do not ask.
    #[inline(always)]
    pub fn add_jac_t_difference(
        &mut self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        j: usize,
        w: &[f64],
        out: &mut [f64],
    ) {
        self.calls.jacobian += 2 * self.weight;
        self.read_again(i, j);
        self.f.add_jac_t_difference(theta, theta_ref, i, j, w, 1.0, out);
    }

    /// `out = f'_theta(x_i, y_ij)` as ell rows of length d, with scratch of length ell: one call.
    #[inline(always)]
    pub fn jacobian(
        &mut self,
        theta: &[f64],
        i: usize,
        j: usize,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        self.calls.jacobian += self.weight;
        self.read_again(i, j);
        self.f.jacobian(theta, i, j, work, out);
    }

    /// A hint that pair (i, j) will be asked for soon: free.
    #[inline(always)]
    pub fn prefetch(&self, i: usize, j: usize) {
        self.f.prefetch(i, j);
    }

    /// `(1/n_X) sum_r a_rl^2` for every column l of the mean Jacobians of an affine f, where they
    /// are at hand; otherwise 1.
    pub(crate) fn mean_squares(&self) -> Cow<'p, [f64]> {
        let averages = self.problem.inner.averages();
        averages.map_or_else(|| vec![1.0; self.d].into(), |rows| rows.mean_squares().into())
    }

    /// Samples that a pass over the data looks at, but at least one for each term.
    pub(crate) fn samples(&self) -> usize {
        (self.snapshot.f / self.weight.max(1)).max(self.n_x as u64) as usize
    }

    /// `out = fbar_i(theta)`: `n_Yi` calls.
    #[inline(always)]
    pub fn mean(&mut self, theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]) {
        let n_y = self.n_y(i) as u64;
        self.calls.f += n_y * self.weight;
        self.rows += n_y * self.rows_of.pair;
        self.last = (i, usize::MAX);
        self.f.mean(theta, i, work, out);
    }

    /// `out += c fbar_i'(theta) w`: `n_Yi` calls.
    #[inline(always)]
    pub fn add_mean_jac_t(&mut self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let n_y = self.n_y(i) as u64;
        self.calls.jacobian += n_y * self.weight;
        self.rows += n_y * self.rows_of.pair * u64::from(self.last != (i, usize::MAX));
        self.last = (i, usize::MAX);
        self.f.add_mean_jac_t(theta, i, w, c, out);
    }

    /// `out += c fbar_i' w` of an affine f with supports, where the mean Jacobian is at hand in f
    /// itself, as it is if `n_Yi = 1`: free, as what is stored.
    #[inline(always)]
    pub fn add_known_mean_jac_t(
        &self,
        theta: &[f64],
        i: usize,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        self.f.add_mean_jac_t(theta, i, w, c, out);
    }
}
