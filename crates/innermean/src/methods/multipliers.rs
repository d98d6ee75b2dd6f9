//! The method of multipliers with Newton's method inside: Rockafellar, "Augmented Lagrangians and
//! Applications of the Proximal Point Algorithm in Convex Programming", 1976; with steps of a
//! semismooth Newton method, Li, Sun and Toh, "A Highly Efficient Semismooth Newton Augmented
//! Lagrangian Method for Solving Lasso Problems", 2018.
//!
//! With duals `w_i` and a penalty sigma, `phi_i` is replaced by its envelope around them, which is
//! smooth:
//!
//! ```text
//! e_i(z)   = min over u of  phi_i(u) + <w_i, z - u> + (sigma/2) |z - u|^2
//! e_i'(z)  = prox_{sigma phi_i*}(w_i + sigma z),   e_i'' = sigma times the slope of the prox
//! theta   <- argmin  (1/n_X) sum_i e_i(fbar_i(theta)) + g(theta)
//! w_i     <- prox_{sigma phi_i*}(w_i + sigma fbar_i(theta)),   sigma <- 3 sigma
//! ```
//!
//! Where phi is piecewise linear and g has kinks and bounds, both loops end after finitely many
//! steps, at the optimum and with the duals that prove it. The first minimum is that of a
//! Huber-like loss; from one to the next fewer and fewer terms lie where the prox moves, and only
//! these make up the matrix of a Newton step.
//!
//! Asks of the problem: an affine f, a phi with kinks that is a sum over coordinates, and a g that
//! is a sum over coordinates, with or without a budget. Per outer iteration: a handful of Newton
//! steps, each `fbar` at one point, one sum of weighted Jacobians, a Gram matrix of the terms where
//! the prox moves, and a quadratic program of d variables (`methods/program.rs`). Where g is a sum
//! with corners, the matrix and the program are those of the coordinates that move (`set.rs`).
//! Storage: `6 n_X ell` and `d^2`, or the square of those.
//!
//! Differs: the papers solve for a step by conjugate gradients or by the smaller of two systems;
//! with d this small g stays what it is and the program is solved exactly. The length of a step is
//! found where the slope along it vanishes, which costs no look at f.

use serde::{Deserialize, Serialize};

use self::set::{Set, Step};
use super::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate, program};
use crate::linalg::gram;
use crate::linalg::long;
use crate::linalg::vector::axpy;
use crate::model::collapse::Collapsed;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;
use crate::oracle::Oracle;
use crate::run::evaluate::Gradient;
use crate::tuning::choice::Choice;

mod set;

/// The growth of sigma after each outer iteration; see `experiments/src/bin/multipliers.rs`.
const GROWTH: f64 = 3.0;
/// The largest sigma, for the size of phi' over that of the averages as 1: what rounds an average
/// then rounds a dual by 1e-10 or so.
const LARGEST: f64 = 1e5;
/// The widest envelopes after the first, in terms of what averages vary by.
const WIDEST: f64 = 1e6;
/// Of what is there in general: no more than rounding.
const NOTHING: f64 = 1e-9;
/// Newton steps of an outer iteration, at most.
const MOST_STEPS: usize = 40;
/// What may be left to gain of the envelopes, for what the duals' change is worth as 1.
const LEFT_OF_ENVELOPES: f64 = 0.1;
/// A gain that is lost in rounding, of the size of P.
const ROUNDING: f64 = 1e-13;
/// The least ridge of a Newton step, of the diagonal; by which it grows after a step that was cut
/// short, and the most.
const LEAST_RIDGE: f64 = 1e-9;
const DAMP: f64 = 100.0;
/// Where the envelopes are straight lines along a step the ridge alone ends it: how far it falls
/// then.
const NO_RIDGE: f64 = 1e-19;
const MOST_RIDGE: f64 = 1e-3;
/// A step is cut short if less than this part of it is taken.
const SHORT_STEP: f64 = 0.1;
/// The slope that may be left where a step ends, below 0 and above, for that at its start as 1; and
/// how often it is looked at.
const BELOW: f64 = 0.2;
const ABOVE: f64 = 1e-3;
const MOST_LOOKS: usize = 40;

/// The method of multipliers, which finds its own settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Multipliers {
    /// The growth of sigma after each outer iteration.
    pub growth: f64,
}

/// Theta and the duals, with what the next step needs of the data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    /// `w_i`, flat
    w: Vec<f64>,
    sigma: f64,
    /// `fbar_i(theta)`, flat
    f_bar: Vec<f64>,
    /// `(1/n_X) sum_i fbar_i' w_i`; within an outer iteration, with the duals to come
    u: Vec<f64>,
    /// The duals to come: `e_i'`
    next: Vec<f64>,
    /// The slopes of the prox there, and at the Newton step before
    slopes: Vec<f64>,
    last_slopes: Vec<f64>,
    /// The averages at the end of a Newton step, and how far it is to them
    there: Vec<f64>,
    moved: Vec<f64>,
    /// The rows of an f that does not make Gram matrices
    model: Option<Collapsed>,
    /// The coordinates of the last Newton step
    #[serde(skip)]
    set: Set,
}

impl Listed for Multipliers {
    const INFO: MethodInfo = MethodInfo {
        name: "multipliers",
        title: "Method of multipliers",
        family: Family::PrimalDual,
        summary: "smooths phi around the duals and minimises by Newton steps, for a phi with kinks \
            and any g with parts",
        reference: "Rockafellar 1976; with Newton steps, Li, Sun and Toh 2018",
        storage: "n_X ell + d^2",
        rate: Rate::Linear,
        form: Form::Collapsed,
        asks: &[Ask::Kinks, Ask::AffineInner, Ask::PartsAndTail, Ask::FewThatMove],
        settings: &[],
    };

    fn settings(_: &Choice, _: Objective<'_>, _: &[f64]) -> Chosen<Self> {
        Ok(Multipliers { growth: GROWTH })
    }
}

impl Method for Multipliers {
    type State = State;

    /// The duals start at 0, or next to it, and sigma so that envelopes are as wide as the averages
    /// vary.
    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let size = oracle.n_x() * oracle.ell();
        let mut state = State {
            theta: theta.to_vec(),
            w: long::zeros(size),
            sigma: 1.0,
            f_bar: long::zeros(size),
            u: vec![0.0; oracle.d()],
            next: long::zeros(size),
            slopes: long::zeros(size),
            last_slopes: long::zeros(size),
            there: long::zeros(size),
            moved: long::zeros(size),
            model: Set::lacks_rows(oracle).then(|| oracle.pass().collapsed(theta)),
            set: Set::default(),
        };
        oracle.pass().means(theta, &mut state.f_bar);
        state.sigma = if is_nothing(oracle, theta, &state.f_bar) {
            steepness(oracle)
        } else {
            first_penalty(oracle, &state.f_bar)
        };
        // Where phi* is finite.
        oracle.problem().envelope(f64::MIN_POSITIVE, &state.next, &state.f_bar, &mut state.w);
        oracle.pass().add_weighted_jac_t(theta, &state.w, &mut state.u);
        state
    }

    /// What a step needs is at hand.
    /// The minimum of the envelopes, the duals there, and another sigma.
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let solved = s.minimise(oracle);
        s.follow(oracle, solved, self.growth);
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.theta
    }

    fn duals<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        Some(&s.w)
    }

    fn gradient<'s>(&self, s: &'s State) -> Option<Gradient<'s>> {
        Some(Gradient { f_bar: &s.f_bar, w: &s.w, gradient: &s.u })
    }
}

/// Moves theta to the minimum of a problem that it would solve, from duals and a penalty that may be
/// known from a problem like it (none: 0), where P is `start`; leaves behind those at the end. As
/// accurate as a model needs it.
pub(crate) fn minimise(
    oracle: &mut Oracle<'_>,
    start: f64,
    w: &mut [f64],
    sigma: &mut f64,
    theta: &mut [f64],
) {
    let method = Multipliers { growth: GROWTH };
    let mut s = method.init(oracle, theta);
    if *sigma > 0.0 {
        s.w.copy_from_slice(w);
        // The envelopes are to lead there, not to end there.
        s.sigma = s.sigma.max(*sigma / (GROWTH * GROWTH));
    }
    for _ in 0..MOST_OF_MODEL {
        let solved = s.minimise(oracle);
        let change = s.change(oracle.n_x());
        // The mean of the envelopes and g: below P, and next to it at the end.
        let [conjugates, _] = oracle.phi().conjugates(0..oracle.n_x(), &s.next);
        let envelopes =
            (long::dot(&s.next, &s.f_bar) - conjugates) * oracle.one_over_n_x() - change;
        let here = envelopes + oracle.g().value(&s.theta);
        let size = envelopes.abs() + (here - envelopes).abs();
        let is_there = change <= LEFT_OF_MODEL * (start - here).abs() + ROUNDING * size;
        s.follow(oracle, solved, method.growth);
        if solved && is_there || oracle.patience.ends() {
            break;
        }
    }
    w.copy_from_slice(&s.w);
    *sigma = s.sigma;
    theta.copy_from_slice(&s.theta);
}

/// Of what a model promises, what its duals may still change, and how often they do at most.
const LEFT_OF_MODEL: f64 = 1e-7;
const MOST_OF_MODEL: usize = 30;

/// Whether theta is 0 but for rounding, and its averages say as little of their size.
fn is_nothing(oracle: &Oracle<'_>, theta: &[f64], f_bar: &[f64]) -> bool {
    let columns = || oracle.mean_squares().iter().sum::<f64>().sqrt();
    theta.iter().all(|x| x.abs() <= NOTHING) && size(f_bar) <= NOTHING * columns()
}

/// Where a Newton step leads.
struct Aimed {
    target: Vec<f64>,
    /// `<u, x - theta> + g(x) - g(theta)`: at most 0, and twice the gain where g is straight.
    slope: f64,
    /// Twice what the ridge takes from the gain.
    held: f64,
}

/// So that envelopes are as wide as the averages vary.
pub(super) fn first_penalty(oracle: &Oracle<'_>, f_bar: &[f64]) -> f64 {
    steepness(oracle) / deviation(f_bar).unwrap_or(1.0)
}

/// So that they are no wider than that by orders of magnitude: where all averages are the same at
/// the start, nothing was known of their size.
pub(super) fn least_penalty(oracle: &Oracle<'_>, f_bar: &[f64]) -> f64 {
    let least = deviation(f_bar).map(|deviation| steepness(oracle) / (WIDEST * deviation));
    least.filter(|least| least.is_finite()).unwrap_or(0.0)
}

/// About the size of phi'.
fn steepness(oracle: &Oracle<'_>) -> f64 {
    let lipschitz = oracle.phi().lipschitz(1);
    if lipschitz > 0.0 && lipschitz.is_finite() { lipschitz } else { 1.0 }
}

/// The root of the mean square.
fn size(x: &[f64]) -> f64 {
    (long::norm_squared(x) / x.len().max(1) as f64).sqrt()
}

/// The standard deviation, if there is one.
fn deviation(x: &[f64]) -> Option<f64> {
    let (mean, variance) = long::mean_and_variance(x);
    Some(variance.sqrt())
        .filter(|deviation| *deviation > 1e-9 * mean.abs() && deviation.is_finite())
}

impl State {
    /// The next duals and another sigma, once the minimum has been found or not.
    fn follow(&mut self, oracle: &Oracle<'_>, solved: bool, growth: f64) {
        std::mem::swap(&mut self.w, &mut self.next);
        let largest = LARGEST * steepness(oracle) / size(&self.f_bar);
        self.sigma = if solved {
            let least = least_penalty(oracle, &self.f_bar);
            (growth * self.sigma).max(least).min(largest.max(self.sigma))
        } else {
            (self.sigma / growth).min(largest)
        };
    }

    /// Newton steps to the minimum of the envelopes and g. Leaves the duals there in `next`, and
    /// what belongs to them in `u`. False if it is not reached.
    fn minimise(&mut self, oracle: &mut Oracle<'_>) -> bool {
        let g = oracle.problem().parts().expect("the method has been chosen for this problem");
        let (mut ridge, mut whole, mut pieces, mut solved) = (LEAST_RIDGE, false, false, false);
        let (mut apart, mut is_held) = (false, false);
        self.look(oracle);
        for _ in 0..MOST_STEPS {
            if oracle.patience.ends() {
                break;
            }
            std::mem::swap(&mut self.slopes, &mut self.last_slopes);
            oracle.problem().envelope_slopes(self.sigma, &self.w, &self.f_bar, &mut self.slopes);
            // A whole step to where the envelopes are the parabolas that it was made from: it led
            // to the minimum, unless the ridge ended it.
            if whole && self.slopes == self.last_slopes && !(apart && self.is_short(&g)) {
                if !is_held || ridge <= NO_RIDGE {
                    solved = true;
                    break;
                }
                ridge /= DAMP;
            }
            let State { theta, u, set, .. } = &mut *self;
            apart = set.choose(oracle, &g, (theta, u));
            let Aimed { target, slope, held } = self.aim(oracle, &g, ridge, apart);
            let products = long::dot(&self.next, &self.f_bar) / oracle.n_x() as f64;
            let size = products.abs() + oracle.g().value(&self.theta).abs();
            let is_rounding = -slope <= ROUNDING * size;
            let is_left = -slope <= LEFT_OF_ENVELOPES * self.change(oracle.n_x());
            let is_all = !(apart && self.is_short(&g));
            if slope.is_nan() || !is_rounding && is_left && is_all {
                solved = !slope.is_nan();
                break;
            }
            oracle.pass().means(&target, &mut self.there);
            long::subtract(&self.there, &self.f_bar, &mut self.moved);
            let direction: Vec<f64> =
                target.iter().zip(&self.theta).map(|(x, theta)| x - theta).collect();
            // A gain that is rounding says nothing about the length.
            let tau = if is_rounding { 1.0 } else { self.length(oracle, &g, &direction, slope) };
            whole = tau == 1.0 && ridge <= LEAST_RIDGE;
            is_held = held > ROUNDING * size;
            if tau == 1.0 {
                self.theta.copy_from_slice(&target);
                std::mem::swap(&mut self.f_bar, &mut self.there);
            } else {
                axpy(tau, &direction, &mut self.theta);
                long::axpy(tau, &self.moved, &mut self.f_bar);
                pieces = true;
            }
            self.look(oracle);
            if is_rounding || tau == 0.0 {
                solved = is_rounding;
                break;
            }
            ridge = if tau < SHORT_STEP {
                (DAMP * ridge).min(MOST_RIDGE)
            } else {
                ridge.min((ridge / DAMP).max(LEAST_RIDGE))
            };
        }
        if pieces {
            // What was put together from them, without their rounding.
            oracle.pass().means(&self.theta, &mut self.f_bar);
        }
        solved
    }

    /// The duals to come at theta, and their sum.
    fn look(&mut self, oracle: &mut Oracle<'_>) {
        let State { theta, w, sigma, f_bar, u, next, .. } = self;
        oracle.problem().envelope(*sigma, w, f_bar, next);
        u.fill(0.0);
        oracle.pass().add_weighted_jac_t(theta, next, u);
    }

    /// `(1/n_X) sum_i |next_i - w_i|^2 / (2 sigma)`
    fn change(&self, n_x: usize) -> f64 {
        long::distance_squared(&self.next, &self.w) / (2.0 * self.sigma * n_x as f64)
    }

    fn is_short(&self, g: &Parts) -> bool {
        self.set.is_short(g, &self.theta, &self.u)
    }

    /// Where the parabolas and g are least, along the coordinates of the set if it stands apart.
    fn aim(&mut self, oracle: &mut Oracle<'_>, g: &Parts, ridge: f64, apart: bool) -> Aimed {
        let (d, share) = (oracle.d(), self.sigma * oracle.one_over_n_x());
        let mut held = 0.0;
        let target = if apart {
            let weights: Vec<f64> = self.slopes.iter().map(|slope| share * slope).collect();
            let State { theta, u, sigma, set, model, .. } = &mut *self;
            let at = Step { theta, u, weights: &weights, ridge, sigma: *sigma };
            set.aim(oracle, g, model.as_ref(), at)
        } else {
            let weight = |r: usize| share * self.slopes[r];
            let mut matrix = match &self.model {
                Some(model) => gram::weighted(model, &weight),
                None => oracle.pass().gram(&weight).expect("averages are at hand"),
            };
            let diagonal: Vec<f64> = matrix.iter().step_by(d + 1).copied().collect();
            gram::add_ridge(ridge, self.sigma, d, &mut matrix);
            let mut target = self.theta.clone();
            let step = |alpha: f64, v: &[f64], x: &mut [f64]| oracle.g().step(alpha, v, x);
            program::solve(&matrix, &self.u, g, step, &mut target);
            let ridges = matrix.iter().step_by(d + 1).zip(&diagonal).map(|(with, own)| with - own);
            let moves = target.iter().zip(&self.theta).map(|(x, theta)| (x - theta) * (x - theta));
            held = ridges.zip(moves).map(|(ridge, square)| ridge * square).sum();
            target
        };
        let along: f64 = self
            .u
            .iter()
            .zip(&target)
            .zip(&self.theta)
            .map(|((u, x), theta)| u * (x - theta))
            .sum();
        let slope = along + oracle.g().value(&target) - oracle.g().value(&self.theta);
        Aimed { target, slope, held }
    }

    /// How much of a step to take: where the slope of the envelopes and g along it, which rises
    /// from `first`, is about 0.
    fn length(&mut self, oracle: &Oracle<'_>, g: &Parts, direction: &[f64], first: f64) -> f64 {
        let State { theta, w, sigma, f_bar, next, moved, .. } = self;
        let mut slope_at = |tau: f64| {
            oracle.problem().envelope_along(*sigma, w, (f_bar, moved, tau), next)
                + g.slope_along(theta, direction, tau)
        };
        let mut end = (1.0, slope_at(1.0));
        if end.1 <= -ABOVE * first {
            return 1.0;
        }
        let mut begin = (0.0, first);
        for k in 1..MOST_LOOKS {
            let secant = begin.0 + (end.0 - begin.0) * begin.1 / (begin.1 - end.1);
            let inside = begin.0 < secant && secant < end.0 && !k.is_multiple_of(3);
            let tau = if inside { secant } else { 0.5 * (begin.0 + end.0) };
            let slope = slope_at(tau);
            if slope >= BELOW * first && slope <= -ABOVE * first {
                return tau;
            }
            if slope < 0.0 {
                begin = (tau, slope);
            } else {
                end = (tau, slope);
            }
        }
        // At a kink of g. So far P falls.
        begin.0
    }
}
