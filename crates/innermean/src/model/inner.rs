//! The inner function f: what is averaged.
//!
//! `f_theta(x_i, y_ij)` maps theta in `R^d` to `R^ell`. Its Jacobian `f'` is taken as d x ell, so
//! that every product reads `f' w`; of the methods, only those that keep tables of Jacobians ask
//! for one itself.

use std::fmt;
use std::ops::Range;

use crate::model::collapse::Collapsed;
use crate::model::row_data::{Made, RowData};

mod at_once;
mod block;
mod common_gram;
mod facts;
mod fused;
mod in_memory;
mod jacobians;
mod lost;
mod passes;
mod pointers;
mod summed;

pub use block::{block_of, stretches};
pub use common_gram::CommonGram;
pub use facts::{Bounds, Facts, Rows, Sample};
pub use fused::Fused;
pub(crate) use in_memory::gradient as gradient_in_two_passes;
pub(crate) use in_memory::{blocks, is_single, mean_jacobian, mean_support, pieces, sampled_mean};
pub(crate) use jacobians::sampled_mean_jacobians;
pub(crate) use jacobians::{Jacobians, jacobian_scatter};
pub use jacobians::{jacobian_spread, mean_jacobian_norm, typical_mean_jacobian};
pub use lost::Lost;
pub(crate) use lost::{Recording, recorded};
pub use passes::Passes;
pub use summed::{Columns, Summed};

/// Transitions t as they were given, from which averages `b - A theta` are made: with shares `s_t`,
/// their weights by the sum of all,
///
/// ```text
/// A = sum_t s_t z_t (phi_t - discount phi'_t)',   b = sum_t s_t r_t z_t,   C = sum_t s_t phi_t phi_t'
/// ```
///
/// with `z_t = phi_t` unless there are traces or left factors of their own.
#[derive(Debug, Clone, Copy)]
pub struct ProjectedRows<'a> {
    /// What multiplies the difference of features in place of them, ell numbers for each transition,
    /// such as instruments.
    pub left: Option<&'a [f64]>,
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
    /// What makes `z_t`.
    pub traces: Option<Traces<'a>>,
}

/// What the eligibility traces of a log are made of. Along an episode, which begins with `z = 0`,
///
/// ```text
/// z_t = rho_t (gamma lambda z_{t-1} + phi_t)
/// ```
///
/// `lambda = 0` gives LSTD, and `lambda = 1` with complete episodes the regression of returns on
/// features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traces<'a> {
    /// How much of a step's error its predecessors answer for, from 0 to 1.
    pub lambda: f64,
    /// All transitions, episode after episode, each in the order of time.
    pub order: &'a [usize],
    /// Where episodes begin in `order`, and its length.
    pub starts: &'a [usize],
    /// `rho_t`: how much likelier the action is under the policy that is evaluated than under the
    /// one that was followed; none if both are the same.
    pub ratios: Option<&'a [f64]>,
}

/// What is behind a pair of a Bellman error, `f_theta(x_i, y_ij) = <now, theta> - odds (reward +
/// discount <next, theta>)`, as it was given: differences of features are rounded in single values.
#[derive(Debug, Clone, Copy)]
pub struct TransitionRow<'a> {
    /// The features of the state that is left.
    pub now: &'a [f64],
    /// Those of the state that is entered; none after an end.
    pub next: Option<&'a [f64]>,
    /// On the way.
    pub reward: f64,
    /// Of what comes next.
    pub discount: f64,
    /// How much the transition counts among those of its term.
    pub weight: f64,
    /// Whether the weight is a probability; otherwise it is divided by the sum of those of its term.
    pub is_probability: bool,
}

/// The pairs of an affine f with one number each, as rows in memory, for steps without calls.
#[derive(Debug, Clone, Copy)]
pub enum PairRows<'a> {
    /// `f_theta(x_i, y_i1) = <row i, theta>` and a constant, with one sample for each term.
    Own(&'a [f64]),
    /// `f_theta(x_i, y_j) = <row i - row j, theta>`, with the mean of all rows
    Differences(&'a [f64], &'a [f64]),
}

/// Rows with their mean, rounded, where `fbar_i(theta) = <x_i - m, theta> + b_i`.
#[derive(Debug, Clone, Copy)]
pub struct CentredRows<'a> {
    /// `x_i`, one after the other.
    pub rows: &'a RowData,
    /// m
    pub mean: &'a [f64],
    /// The weights of the rows in the mean, of mean 1; empty where all are 1.
    pub weights: &'a [f64],
    /// `b_i`; empty where all are 0.
    pub offsets: &'a [f64],
}

impl CentredRows<'_> {
    /// `x_i - m` with these columns alone, which rise, and offsets of 0.
    pub(crate) fn columns(&self, set: &[usize]) -> Collapsed {
        let (mean, columns) = (self.mean.to_vec(), set.to_vec());
        let row = move |row: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(&columns).for_each(|(out, &l)| *out = row[l] - mean[l]);
        };
        let (d, n) = (self.mean.len(), self.rows.len() / self.mean.len().max(1));
        let rows = Made::where_they_are((self.rows, d), set.len(), row);
        Collapsed::from_rows(set.len(), rows, vec![0.0; n])
    }
}

/// What a gradient does with averages: `duals(terms, f_bar, w)` writes `w_i = phi_i'(f_bar_i)` for
/// some terms, whose averages and duals are given, and returns `sum_i phi_i(f_bar_i)` over them.
/// Called for a few dozen terms at a time, or more, it costs nothing to go through a pointer.
pub type Duals<'a> = dyn Fn(Range<usize>, &[f64], &mut [f64]) -> f64 + Sync + 'a;

/// The inner function. Five calls describe it; the rest are provided. One that is affine should say
/// so in [`Inner::facts`]: it saves half of the work, and a gap of a phi with kinks is proven only
/// then.
///
/// ```
/// use innermean::{Facts, Inner, Problem, Ridge, Square};
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
///     fn facts(&self) -> Facts { Facts::affine() }
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
/// `add_...` accumulates into `out`, a bare noun overwrites it. `work` is scratch of length `ell`
/// lent by the caller, so that nothing is allocated in a step. Vectors over all i lie flat: i owns
/// `[i * ell..(i + 1) * ell]`.
pub trait Inner: Send + Sync {
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

    /// What is known of f. It does not change while f is in use, and is cheap to ask for.
    fn facts(&self) -> Facts {
        Facts::default()
    }

    /// `out = f_theta(x_i, y_ij)`
    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]);

    /// `out += c f'_theta(x_i, y_ij) w`
    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]);

    /// What f does better than one pair at a time: [`Fused`] queries, and [`Passes`] over all its
    /// data. None: both are made of the calls above.
    fn passes(&self) -> Option<&dyn Passes> {
        None
    }
}

impl fmt::Debug for dyn Inner + '_ {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} terms, d = {}, ell = {}", self.n_x(), self.d(), self.ell())
    }
}
