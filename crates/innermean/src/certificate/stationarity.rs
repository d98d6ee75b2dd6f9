//! Where nothing can be proven: what a Newton step from theta would gain.
//!
//! ```text
//! max over x of  -<F'(theta), x - theta> - (1/2) (x - theta)' H (x - theta) - g(x) + g(theta)
//! ```
//!
//! with Gauss-Newton's matrix H, which is never indefinite. It is a difference of objectives, so
//! that the units of the columns do not count; divided by the size of the objective, nor does its
//! unit. A first look takes the diagonal of H, a second one, where that says that little is left,
//! the whole of it: along columns that are nearly the same, much may be left where no single
//! coordinate shows it.

use serde::{Deserialize, Serialize};

use super::sizes::UNIT;
use super::{dual, promise};
use crate::certificate::bent::{self, Reach};
use crate::certificate::hessian;
use crate::linalg::vector::{dot, norm_squared};
use crate::methods::program;
use crate::model::inner::mean_jacobian_norm;
use crate::model::problem::Objective;
use crate::model::regularizer::{Coordinate, Parts};

/// Coordinates up to which a whole matrix is made.
const MOST_COLUMNS: usize = 300;
/// Of its diagonal: a ridge for a matrix that may be singular.
const RIDGE: f64 = 1e-13;
/// Of the sizes of what a slope is the sum of: what may be rounding.
const ROUNDING: f64 = 1024.0 * UNIT;

/// Of the most that F has bent by along a coordinate, at a point or at the origin: what nothing but
/// an underflow leaves of it, as `fbar_i'` itself is the square root of that.
const CEASED: f64 = 1e-150;

/// Points at which the objective has hardly fallen after which what steps promise is looked at.
const POINTS_WITHOUT_FALL: u64 = 8;

/// Points after the first that go by its diagonal.
const POINTS_BY_DIAGONAL: u64 = 16;

/// What is known of a point.
#[derive(Clone, Copy)]
pub(crate) struct Slope<'a> {
    pub(crate) theta: &'a [f64],
    pub(crate) f_bar: &'a [f64],
    pub(crate) w: &'a [f64],
    /// `F'(theta)`
    pub(crate) gradient: &'a [f64],
}

/// What is asked of a measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// A gain that need not be told more precisely.
    pub(crate) enough: f64,
    /// The size of the objective.
    pub(crate) scale: f64,
}

/// Measures points of one problem.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stationarity {
    /// The diagonal of H where it was made last: it is made anew where little seems to be left.
    diagonal: Vec<f64>,
    /// The sizes of what each slope is the sum of, there.
    sizes: Vec<f64>,
    /// The largest entries of the diagonal so far.
    reach: Vec<f64>,
    /// Points that were measured, and the next at which both are made in any case: twice as many.
    asked: u64,
    due: u64,
    /// The last objective that was visibly below those before it, and points since then.
    lowest: f64,
    idle: u64,
}

impl Default for Stationarity {
    fn default() -> Self {
        let (diagonal, sizes, reach) = (Vec::new(), Vec::new(), Vec::new());
        Stationarity { diagonal, sizes, reach, asked: 0, due: 0, lowest: f64::INFINITY, idle: 0 }
    }
}

impl Stationarity {
    /// Whether it measures problems of this many coordinates.
    pub(crate) fn is_of(&self, d: usize) -> bool {
        [&self.diagonal, &self.sizes, &self.reach].iter().all(|x| x.is_empty() || x.len() == d)
    }

    /// What a Newton step would gain; `enough` is what need not be told more precisely. Never no
    /// number: where slopes or bends are none, or have no end, as after iterates that blew up,
    /// nothing says that little is left.
    pub(crate) fn gain(&mut self, problem: Objective<'_>, at: Slope<'_>, enough: f64) -> f64 {
        let mut gain = self.gain_of_numbers(problem, at, enough);
        if (gain <= enough || gain == f64::INFINITY) && self.has_ceased(problem) {
            gain = all_that_is_left(problem, at);
        }
        if gain.is_nan() || !are_finite(at.gradient) { f64::INFINITY } else { gain }
    }

    fn gain_of_numbers(&mut self, problem: Objective<'_>, at: Slope<'_>, enough: f64) -> f64 {
        let f = problem.inner;
        let mut curvatures = vec![0.0; f.ell()];
        let known = problem.merit.quadratic_form().is_some()
            || f.n_x() > 0
                && problem.merit.hessian_diagonal(0..1, &at.f_bar[..f.ell()], &mut curvatures);
        let Some(g) = Parts::of(problem.regularizer, f.d()).filter(|g| known && !g.budget) else {
            return by_mapping(problem, at);
        };
        self.asked += 1;
        let due = self.asked >= self.due;
        if due {
            self.due = (2 * self.asked).max(POINTS_BY_DIAGONAL);
        }
        // A checkpoint may hold lists of nothing.
        let made = [&self.diagonal, &self.sizes].iter().all(|x| x.len() == f.d());
        if !due && made && self.is_finite() {
            let as_made = self.along_coordinates(&g, at);
            if as_made > enough {
                return as_made;
            }
        }
        self.look(problem, at);
        if !self.is_finite() {
            return f64::INFINITY;
        }
        let first = self.along_coordinates(&g, at);
        if first > enough || f.d() > MOST_COLUMNS || first.is_nan() {
            return first;
        }
        let stiff = |l: usize| self.stiff(l, enough);
        let (_, whole) = newton_step(problem, &g, at, matrix(problem, at), RIDGE, stiff);
        first.max(whole)
    }

    /// What makes a coordinate so stiff that rounding alone would not gain `enough`.
    fn stiff(&self, l: usize, enough: f64) -> f64 {
        if enough > 0.0 { self.sizes.len() as f64 * self.noise(l).powi(2) / enough } else { 0.0 }
    }

    /// [`Self::gain`] where nothing moves any more: by the whole of `F''`, or what a step is seen
    /// to gain. `gain` is that of a diagonal that may have been made elsewhere.
    pub(crate) fn kept(
        &mut self,
        problem: Objective<'_>,
        at: Slope<'_>,
        asked: Asked,
        gain: f64,
    ) -> f64 {
        let d = problem.inner.d();
        let parts = Parts::of(problem.regularizer, d);
        let Some(g) = parts.filter(|g| !g.budget && d <= MOST_COLUMNS) else { return gain };
        self.look(problem, at);
        let known = self.is_finite() && are_finite(at.gradient);
        if !known {
            return gain;
        }
        if self.has_ceased(problem) {
            // Where nothing answers, no step is seen to break its promise.
            return all_that_is_left(problem, at);
        }
        let stiff = |l: usize| self.stiff(l, asked.enough);
        let (kept, fallen) = promise::kept(problem, &g, at, &self.diagonal, stiff, asked);
        if fallen > asked.enough {
            // Whatever else is said.
            return gain.max(kept).max(fallen);
        }
        // Gauss-Newton's steps may promise more than there is where f bends.
        let kept = if kept > asked.enough {
            kept.min(self.by_whole_hessian(problem, &g, at, asked))
        } else {
            kept
        };
        gain.min(kept)
    }

    /// Whether the time has come to look whether a step gains what it promises: the objective has
    /// fallen by less than that for a while, and twice as long as the last time.
    pub(crate) fn is_idle(&mut self, objective: f64, enough: f64) -> bool {
        self.idle += 1;
        if objective < self.lowest - enough {
            (self.lowest, self.idle) = (objective, 0);
        }
        self.idle >= POINTS_WITHOUT_FALL && self.idle.is_power_of_two()
    }

    /// Makes both anew.
    fn look(&mut self, problem: Objective<'_>, at: Slope<'_>) {
        (self.diagonal, self.sizes) =
            hessian::diagonal_and_sizes(problem, at.theta, at.f_bar, at.w);
        self.reach.resize(self.diagonal.len(), 0.0);
        for (most, bend) in
            self.reach.iter_mut().zip(&self.diagonal).filter(|(_, bend)| bend.is_finite())
        {
            *most = most.max(*bend);
        }
    }

    /// Whether averages have ceased to answer to a coordinate that nothing penalises, as where
    /// predictions are 0 or 1 to the last digit: a slope of 0 there says nothing, for it is one on
    /// the way to infinity.
    fn has_ceased(&mut self, problem: Objective<'_>) -> bool {
        let d = problem.inner.d();
        let Some(g) = Parts::of(problem.regularizer, d) else { return false };
        let is_free = |l: usize| {
            let part = &g.parts[l];
            part.l2 == 0.0 && part.l1 == 0.0 && part.lo < part.hi
        };
        let suspects: Vec<usize> = (0..self.diagonal.len().min(d))
            .filter(|&l| is_free(l) && self.diagonal[l] <= CEASED * self.reach[l].max(1.0))
            .collect();
        if suspects.is_empty() {
            return false;
        }
        let origin = problem.allowed(&vec![0.0; d]);
        let size = problem.inner.n_x() * problem.inner.ell();
        let (mut f_bar, mut w, mut slope) = (vec![0.0; size], vec![0.0; size], vec![0.0; d]);
        problem.loss_and_gradient(&origin, &mut f_bar, &mut w, &mut slope);
        let there = hessian::diagonal_and_sizes(problem, &origin, &f_bar, &w).0;
        suspects.iter().any(|&l| {
            let most = self.reach[l].max(there[l]);
            most > 0.0 && self.diagonal[l] <= CEASED * most
        })
    }

    /// What a Newton step gains by the whole of `F''`, with what f bends by.
    fn by_whole_hessian(
        &self,
        problem: Objective<'_>,
        g: &Parts,
        at: Slope<'_>,
        asked: Asked,
    ) -> f64 {
        if at.theta.len() > bent::MOST {
            return f64::INFINITY;
        }
        let (mut f_bar, mut w) = (at.f_bar.to_vec(), at.w.to_vec());
        let gradient = |x: &[f64], out: &mut [f64]| {
            problem.loss_and_gradient(x, &mut f_bar, &mut w, out);
            true
        };
        let reach = Reach { bends: &self.reach, size: asked.scale };
        let hessian = bent::whole(gradient, g, at.theta, matrix(problem, at), reach);
        let stiff = |l: usize| self.stiff(l, asked.enough);
        hessian.map_or(f64::INFINITY, |hessian| newton_step(problem, g, at, hessian, 0.0, stiff).1)
    }

    /// Whether what was made last says anything.
    fn is_finite(&self) -> bool {
        are_finite(&self.diagonal) && are_finite(&self.sizes)
    }

    /// What of the slope along coordinate l may be rounding.
    fn noise(&self, l: usize) -> f64 {
        ROUNDING * self.sizes[l]
    }

    /// The sum of what each coordinate alone would gain.
    fn along_coordinates(&self, g: &Parts, at: Slope<'_>) -> f64 {
        let along = |l: usize| {
            let (slope, bend) = (at.gradient[l], self.diagonal[l]);
            let slope = if slope.abs() <= self.noise(l) { 0.0 } else { slope };
            alone(&g.parts[l], at.theta[l], slope, bend).1
        };
        (0..at.theta.len()).map(along).sum()
    }
}

/// All that phi and g leave: an upper bound on what is left, whatever f does.
fn all_that_is_left(problem: Objective<'_>, at: Slope<'_>) -> f64 {
    problem.loss(at.f_bar) + problem.regularizer.value(at.theta) - dual::at_zero(problem)
}

fn are_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| x.is_finite())
}

/// Along one coordinate: where a step ends, and what it gains.
pub(super) fn alone(part: &Coordinate, x: f64, slope: f64, bend: f64) -> (f64, f64) {
    if bend + part.l2 <= 0.0 && slope + part.tilt == 0.0 && part.l1 == 0.0 {
        return (x, 0.0);
    }
    let next = part.step(1.0 / bend.max(f64::MIN_POSITIVE), slope, x);
    let moved = next - x;
    let gained = part.value(x) - part.value(next) - slope * moved - 0.5 * bend * moved * moved;
    (next, if gained < 0.0 { 0.0 } else { gained })
}

/// Gauss-Newton's matrix at a point.
pub(super) fn matrix(problem: Objective<'_>, at: Slope<'_>) -> Vec<f64> {
    let d = at.theta.len();
    let mut matrix = hessian::estimate(problem, at.theta, at.f_bar);
    for r in 0..d {
        for c in 0..r {
            matrix[c * d + r] = matrix[r * d + c];
        }
    }
    matrix
}

/// Along all coordinates: where a Newton step ends, and what it gains, without end where none was
/// found. To the diagonal of the matrix a ridge is added, and to each of its entries what makes it
/// stiff.
pub(super) fn newton_step(
    problem: Objective<'_>,
    g: &Parts,
    at: Slope<'_>,
    mut matrix: Vec<f64>,
    ridge: f64,
    stiff: impl Fn(usize) -> f64,
) -> (Vec<f64>, f64) {
    let d = at.theta.len();
    let least = matrix.iter().step_by(d + 1).fold(0.0_f64, |most, x| most.max(*x))
        * f64::MIN_POSITIVE.sqrt();
    for (l, entry) in matrix.iter_mut().step_by(d + 1).enumerate() {
        *entry += ridge * *entry + least + stiff(l);
    }
    let mut x = at.theta.to_vec();
    let step = |alpha: f64, v: &[f64], x: &mut [f64]| problem.regularizer.step(alpha, v, x);
    if !program::solve(&matrix, at.gradient, g, step, &mut x) {
        return (x, f64::INFINITY);
    }
    let moved: Vec<f64> = x.iter().zip(at.theta).map(|(next, x)| next - x).collect();
    let bent: f64 = (0..d).map(|l| moved[l] * dot(&matrix[l * d..(l + 1) * d], &moved)).sum();
    let left = problem.regularizer.value(at.theta) - problem.regularizer.value(&x);
    let gained = left - dot(at.gradient, &moved) - 0.5 * bent;
    (x, if gained.is_finite() { gained.max(0.0) } else { f64::INFINITY })
}

/// By a prox-gradient step, where phi has no second derivatives or g is no sum over coordinates.
fn by_mapping(problem: Objective<'_>, at: Slope<'_>) -> f64 {
    let f = problem.inner;
    let bend = match f.summed() {
        Some(summed) => summed.smoothness(at.theta).unwrap_or(f64::NAN),
        None => mean_jacobian_norm(f, at.theta).powi(2) / problem.gamma_of(at.f_bar),
    };
    let alpha = if bend > 0.0 && bend.is_finite() { 1.0 / bend } else { 1.0 };
    0.5 * alpha * norm_squared(&problem.mapping(at.theta, at.gradient, alpha))
}
