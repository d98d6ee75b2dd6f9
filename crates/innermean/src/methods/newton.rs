//! Proximal Newton with a Hessian from a part of the terms, corrected by quasi-Newton pairs: sub-sampled Newton (Byrd, Chin, Neveitt and
//! Nocedal, "On the Use of Stochastic Hessian Information in Optimization Methods for Machine Learning", 2011) as the matrix from
//! which BFGS starts; for a g that is not smooth, the proximal step of Lee, Sun and Saunders, "Proximal Newton-Type Methods for Minimizing
//! Composite Functions", 2014.
//!
//! ```text
//! x      = argmin over x of  <F'(theta), x - theta> + (x - theta)' B (x - theta) / 2 + g(x)
//! theta <- theta + tau (x - theta),   tau = 1, 1/2, ... until P falls enough
//! ```
//!
//! B begins as `F''`: from some thousand terms drawn where d is moderate, for which the problem is solved first; from all of them where they
//! are few or phi is quadratic; from its diagonal where d is large. Every step improves it by BFGS with the gradients that are there anyway. After
//! steps that helped little it is made anew, from more terms. With all terms at every step this is Newton's method, with its quadratic
//! convergence; otherwise every step takes off a digit or more, for one pass over the data where a whole Hessian would cost d/8 of them.
//!
//! Asks of the problem: an affine f, a smooth phi that knows its second derivatives, and a g that is a sum over coordinates, with or without a
//! budget. Converges from any start: every step descends, and B stays positive definite.
//! Per step: one whole gradient. Storage: `2 n_X ell` for averages and duals, `d^2` for B, or `2 memory d` where d is large.
//!
//! Differs: the papers solve for the step by conjugate gradients or coordinate descent; with d this small it is exact, by Cholesky's factor.

use serde::{Deserialize, Serialize};

use self::model::Model;
use super::backtracking::SLACK;
use super::lbfgs::pairs::Pairs;
use super::{Ask, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::choice::{Choice, ChoiceError, Knob};
use crate::cholesky::Cholesky;
use crate::evaluate::Gradient;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::oracle::Oracle;
use crate::problem::Problem;
use crate::regularizer::{Parts, Regularizer};
use crate::sample::spread;
use crate::setting::at_least_one;
use crate::vector::{axpy, dot, norm_squared, update_with_both};

mod model;
mod orthant;

/// The table's row.
pub const INFO: MethodInfo = MethodInfo {
    name: "newton",
    title: "Newton",
    family: Family::Batch,
    summary: "steps by the Hessian of a part of the terms, corrected by later gradients, for any g with parts",
    reference: "Byrd, Chin, Neveitt and Nocedal 2011; with a prox, Lee, Sun and Saunders 2014",
    storage: "n_X ell + d^2, or memory d where d is large",
    rate: Rate::Linear,
    form: Form::Collapsed,
    asks: &[Ask::SmoothMerit, Ask::AffineInner, Ask::SecondDerivatives, Ask::Parts],
    settings: &[Knob::Memory],
};

/// Pairs of differences kept where B is known by its inverse.
const MEMORY: usize = 20;
/// Rows for each coordinate from which the first Hessian is made, at least and at most; see `experiments/src/bin/newton.rs`.
const FIRST: usize = 40;
const MANY: usize = 200;
/// Steps on the first part of the terms, at most, and the part of P that is not worth another.
const MOST_AT_START: usize = 20;
const ROUGHLY: f64 = 1e-3;
/// A whole pass over the data costs as much as the Hessian of so many times `n_X / d` terms.
const PASS: usize = 8;
/// The most passes that the first Hessian may cost.
const AT_FIRST: usize = 6;
/// Up to so many coordinates a Hessian costs hardly more than a gradient.
const FEW: usize = 32;
/// Up to so many coordinates there is a matrix, however few the data.
const SMALL: usize = 256;
/// Products of a factor for each number of the data.
const DOZENS: f64 = 300.0;
/// The most coordinates for which there may be one.
pub(super) const MOST: usize = 2000;
/// The part of the slope by which P must fall.
const SIGMA: f64 = 1e-4;
/// A step is slow if what is left to gain is more than this part of what was.
const SLOW: f64 = 0.3;
/// The shortest part of a step that was cut off at bounds before the prox step is tried instead.
const STEEP: f64 = 0.1;
/// The first ridge of a damped model, and the most, for the mean of its diagonal as 1; by which it grows after a step that did not
/// help, and shrinks where the next model is made after one that did.
const FIRST_DAMPING: f64 = 0.01;
const MOST_DAMPING: f64 = 0.999;
const DAMP: f64 = 8.0;
const UNDAMP: f64 = 16.0;
const LEAST_DAMPING: f64 = 1e-30;
/// The shortest step that is tried.
const SHORTEST: f64 = 1e-10;

/// Newton's method with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Newton {
    /// Pairs of differences that are kept.
    pub memory: usize,
    /// Of the terms that the Hessian is made from.
    pub seed: u64,
    /// Rows for each coordinate from which the first Hessian is made.
    pub rows: usize,
    /// Newton's method proper: the Hessian of all terms at every step.
    pub whole: bool,
}

/// A point with F and F' there.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Point {
    x: Vec<f64>,
    loss: f64,
    gradient: Vec<f64>,
    g: f64,
}

impl Point {
    fn new(x: &[f64]) -> Self {
        Point { x: x.to_vec(), loss: f64::INFINITY, gradient: vec![0.0; x.len()], g: 0.0 }
    }

    /// `P(x)`
    fn objective(&self) -> f64 {
        self.loss + self.g
    }
}

/// The current point, the one on trial, and the model that leads from one to the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    here: Point,
    trial: Point,
    /// x, x - theta, and how far along it the trial point lies
    target: Vec<f64>,
    direction: Vec<f64>,
    tau: f64,
    /// `<F'(theta), x - theta> + g(x) - g(theta)`: at most 0; twice what a whole step gains
    slope: f64,
    model: Model,
    pairs: Pairs,
    /// Terms from which the Hessian was made; all, for a diagonal
    terms: usize,
    /// Whether the Hessian is the same everywhere and known
    exact: bool,
    /// The ridge that has been added to the model, and whether since the last move
    damping: f64,
    damped: bool,
    /// Whether the last gradient is that of the current point
    moved: bool,
    /// Gradients so far, and slow steps since the model was made
    passes: usize,
    slow: usize,
    f_bar: Vec<f64>,
    w: Vec<f64>,
}

impl Listed for Newton {
    const INFO: MethodInfo = INFO;

    fn settings<F: Inner, P: Merit, G: Regularizer>(
        choice: &Choice,
        problem: &Problem<F, P, G>,
        _: &[f64],
    ) -> Result<Self, ChoiceError> {
        let memory = at_least_one("memory", choice.memory.unwrap_or(MEMORY))?;
        let (d, n_x) = (problem.inner.d().max(1), problem.inner.n_x());
        // For half a pass.
        let rows = (PASS * n_x / (2 * d * d)).clamp(FIRST, MANY);
        Ok(Newton { memory, seed: choice.seed, rows, whole: false })
    }
}

impl<F: Inner, P: Merit, G: Regularizer> Method<F, P, G> for Newton {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_, F, P, G>, theta: &[f64]) -> State {
        let (d, size) = (oracle.d(), oracle.n_x() * oracle.ell());
        let mut start = Point::new(theta);
        start.g = oracle.regularizer_value(theta);
        let g = parts(oracle);
        // A matrix has its pairs inside.
        let pairs = if g.are_smooth() || !has_matrix(oracle, &g) { self.memory } else { 1 };
        State {
            here: start.clone(),
            trial: start,
            target: theta.to_vec(),
            direction: vec![0.0; d],
            tau: 1.0,
            slope: 0.0,
            model: Model::Diagonal(Vec::new()),
            pairs: Pairs::new(pairs, d),
            terms: 0,
            exact: false,
            damping: 0.0,
            damped: false,
            moved: false,
            passes: 0,
            slow: 0,
            f_bar: vec![0.0; size],
            w: vec![0.0; size],
        }
    }

    /// F and F' at the trial point.
    fn outer(&self, oracle: &mut Oracle<'_, F, P, G>, s: &mut State) {
        if s.passes == 0 && !self.whole {
            self.start_on_a_part(oracle, s);
        }
        let State { trial, f_bar, w, .. } = s;
        trial.loss = oracle.gradient(&trial.x, f_bar, w, &mut trial.gradient);
        trial.g = oracle.regularizer_value(&trial.x);
        s.passes += 1;
        s.moved = false;
    }

    fn inner_iterations(&self, _: &State) -> usize {
        1
    }

    /// Accepts the trial point or not, and takes the next.
    fn inner(&self, oracle: &mut Oracle<'_, F, P, G>, s: &mut State) {
        let g = parts(oracle);
        if s.here.loss == f64::INFINITY {
            if s.terms > 0 && !s.trial.objective().is_finite() {
                // What suits a part of the terms does not suit all: from the start, then.
                s.terms = 0;
                s.trial.x.copy_from_slice(&s.here.x);
                return;
            }
            s.arrive();
            if s.terms == 0 {
                self.make_model(oracle, &g, s);
            }
            s.aim(oracle, &g);
        } else if s.falls(&g) {
            self.move_on(oracle, &g, s);
        } else if s.damps() {
            s.aim(oracle, &g);
        } else if s.tau < STEEP && !g.are_smooth() && !s.pairs.is_empty() {
            s.fall_back(oracle, &g);
        } else if s.tau > SHORTEST {
            s.shorten();
        } else {
            // Nothing is left but rounding.
            s.target.copy_from_slice(&s.here.x);
            s.tau = 1.0;
        }
        s.look_ahead();
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.here.x
    }

    fn gradient<'s>(&self, s: &'s State) -> Option<Gradient<'s>> {
        let State { here, f_bar, w, moved, .. } = s;
        moved.then_some(Gradient { f_bar, w, gradient: &here.gradient })
    }

    fn factor<'s>(&self, s: &'s State) -> Option<&'s Cholesky> {
        match &s.model {
            Model::Factor(factor, _) if s.exact && s.damping == 0.0 => Some(factor),
            _ => None,
        }
    }
}

impl Newton {
    /// To the trial point, with a better model and a new aim.
    fn move_on<F: Inner, P: Merit, G: Regularizer>(
        &self,
        oracle: &mut Oracle<'_, F, P, G>,
        g: &Parts,
        s: &mut State,
    ) {
        if !s.exact {
            s.learn(g);
        }
        s.arrive();
        if !std::mem::take(&mut s.damped) {
            s.damping = if s.damping > LEAST_DAMPING { s.damping / UNDAMP } else { 0.0 };
        }
        let gain = s.slope;
        let every_step = self.whole || oracle.d() <= FEW && s.terms == oracle.n_x();
        if every_step && !s.exact {
            self.make_model(oracle, g, s);
            return s.aim(oracle, g);
        }
        s.aim(oracle, g);
        s.slow = if s.slope < SLOW * gain { s.slow + 1 } else { 0 };
        if s.slow > 1 && !s.exact {
            self.make_model(oracle, g, s);
            s.aim(oracle, g);
        }
    }

    /// Terms for the first Hessian, unless they cost too many passes.
    fn first_terms<F: Inner, P: Merit, G: Regularizer>(&self, oracle: &Oracle<'_, F, P, G>) -> usize {
        let (d, n_x) = (oracle.d(), oracle.n_x());
        let pass = PASS * n_x / d.max(1);
        let rows = (self.rows * d).min(AT_FIRST * pass).max(2 * d);
        rows.div_ceil(oracle.ell()).min(n_x)
    }

    /// Solves the problem of the first part of the terms, roughly: from there on F is close to its quadratic model, and the model is
    /// there as well.
    fn start_on_a_part<F: Inner, P: Merit, G: Regularizer>(
        &self,
        oracle: &mut Oracle<'_, F, P, G>,
        s: &mut State,
    ) {
        let (g, n_x, terms) = (parts(oracle), oracle.n_x(), self.first_terms(oracle));
        if 4 * terms >= n_x || !has_matrix(oracle, &g) || oracle.quadratic_merit() {
            return;
        }
        let newton = Newton { whole: true, ..self.clone() };
        let start = &s.here.x;
        let end = oracle.on_terms(&spread(n_x, terms, self.seed), |oracle| {
            let mut part = newton.init(oracle, start);
            for _ in 0..MOST_AT_START {
                newton.outer(oracle, &mut part);
                newton.inner(oracle, &mut part);
                if -part.slope <= ROUGHLY * (part.here.loss.abs() + part.here.g.abs()) {
                    break;
                }
            }
            part
        });
        if end.here.objective().is_finite() {
            s.trial.x.copy_from_slice(&end.trial.x);
            s.model = end.model;
            s.terms = terms;
        }
    }

    /// The Hessian at the point whose averages are at hand.
    fn make_model<F: Inner, P: Merit, G: Regularizer>(
        &self,
        oracle: &mut Oracle<'_, F, P, G>,
        g: &Parts,
        s: &mut State,
    ) {
        let (d, n_x) = (oracle.d(), oracle.n_x());
        s.pairs.clear();
        s.slow = 0;
        if !has_matrix(oracle, g) {
            s.terms = n_x;
            s.model = Model::diagonal(oracle.hessian_diagonal(&s.f_bar));
            return;
        }
        s.exact = oracle.quadratic_merit();
        let most = PASS * n_x / d * s.passes;
        let wanted = self.first_terms(oracle);
        s.terms = if self.whole || s.exact { n_x } else { wanted.max((4 * s.terms).min(most)) };
        if 4 * s.terms >= n_x {
            s.terms = n_x;
        }
        s.model = Model::dense(oracle.hessian(&s.f_bar, s.terms, self.seed), g);
        if s.damping > 0.0 {
            s.model.damp(s.damping, d);
        }
    }
}

/// Whether d is so moderate that there is a matrix: Cholesky's factor costs `d^3/6` products and should cost no more than a few dozen
/// passes.
fn has_matrix<F: Inner, P: Merit, G: Regularizer>(oracle: &Oracle<'_, F, P, G>, g: &Parts) -> bool {
    let (d, numbers) = (oracle.d(), (oracle.n_x() * oracle.ell() * oracle.d()) as f64);
    g.budget || d <= SMALL || d <= MOST && (d as f64).powi(3) <= DOZENS * numbers
}

/// g along its coordinates.
fn parts<F: Inner, P: Merit, G: Regularizer>(oracle: &Oracle<'_, F, P, G>) -> Parts {
    oracle.parts().expect("the method has been chosen for this problem")
}

impl State {
    /// The trial point becomes the current one.
    fn arrive(&mut self) {
        std::mem::swap(&mut self.here, &mut self.trial);
        self.moved = true;
    }

    /// Adds to the ridge of a matrix, after a step that did not help: where few terms bend, as those of a hinge, a Hessian says too
    /// little about the others. Whether there was anything to add to.
    fn damps(&mut self) -> bool {
        let d = self.here.x.len();
        match self.model.size(d) {
            Some(size) if size.is_finite() && self.damping < MOST_DAMPING * size => {
                let more =
                    if self.damping > 0.0 { (DAMP - 1.0) * self.damping } else { FIRST_DAMPING * size };
                self.model.damp(more, d);
                self.damping += more;
                self.damped = true;
                true
            }
            _ => false,
        }
    }

    /// Whether P has fallen enough at the trial point. Where that is lost in rounding, whether it has not risen and, where g is smooth, `P'` has
    /// become shorter.
    fn falls(&self, g: &Parts) -> bool {
        let State { here, trial, .. } = self;
        let slack = SLACK * (here.loss.abs() + here.g.abs());
        let asked = SIGMA * self.tau * self.slope;
        if trial.objective() <= here.objective() + asked && -self.slope > slack {
            return true;
        }
        trial.objective() <= here.objective() + slack
            && -self.tau * self.slope <= 10.0 * slack
            && (!g.are_smooth() || norm_squared(&trial.slope(g)) <= norm_squared(&here.slope(g)))
    }

    /// The pair of differences between here and the trial point.
    fn learn(&mut self, g: &Parts) {
        let State { here, trial, pairs, model, .. } = self;
        let difference = |s: &mut [f64], y: &mut [f64]| {
            update_with_both(s, &trial.x, &here.x, |_, next, x| next - x);
            update_with_both(y, &trial.gradient, &here.gradient, |_, next, v| next - v);
        };
        if matches!(model, Model::Matrix(_)) {
            let (mut s, mut y) = (vec![0.0; here.x.len()], vec![0.0; here.x.len()]);
            difference(&mut s, &mut y);
            model.update(&s, &y);
        } else {
            pairs.add(|s, y| {
                difference(s, y);
                for ((y, s), part) in y.iter_mut().zip(&*s).zip(&g.parts) {
                    *y += part.l2 * s;
                }
            });
        }
    }

    /// The direction to where the model is least.
    fn aim<F: Inner, P: Merit, G: Regularizer>(&mut self, oracle: &Oracle<'_, F, P, G>, g: &Parts) {
        let State { here, target, direction, model, pairs, .. } = self;
        self.tau = 1.0;
        target.copy_from_slice(&here.x);
        if g.are_smooth() {
            let slope = here.slope(g);
            direction.copy_from_slice(&slope);
            pairs.descend_from(direction, |q| model.solve(g, q));
            axpy(1.0, direction, target);
            self.slope = dot(direction, &slope);
        } else {
            model.minimise(oracle, g, &here.gradient, target);
            let quasi = match model {
                Model::Diagonal(diagonal) if !pairs.is_empty() => {
                    orthant::improve(g, diagonal, pairs, (&here.x, &here.gradient), target);
                    true
                }
                _ => false,
            };
            self.head_for_target(oracle);
            if quasi && (self.slope.is_nan() || self.slope >= 0.0) {
                self.fall_back(oracle, g);
            }
        }
    }

    /// The direction and the slope from here to the target.
    fn head_for_target<F: Inner, P: Merit, G: Regularizer>(&mut self, oracle: &Oracle<'_, F, P, G>) {
        let State { here, target, direction, .. } = self;
        update_with_both(direction, target, &here.x, |_, target, x| target - x);
        self.slope = dot(&here.gradient, direction) + oracle.regularizer_value(target) - here.g;
    }

    /// To the prox step by the model alone, which always leads downwards.
    fn fall_back<F: Inner, P: Merit, G: Regularizer>(&mut self, oracle: &Oracle<'_, F, P, G>, g: &Parts) {
        self.pairs.clear();
        self.tau = 1.0;
        self.target.copy_from_slice(&self.here.x);
        self.model.minimise(oracle, g, &self.here.gradient, &mut self.target);
        self.head_for_target(oracle);
    }

    /// A shorter step: to the least of the parabola through what is known, within bounds.
    fn shorten(&mut self) {
        let risen = self.trial.objective() - self.here.objective() - self.tau * self.slope;
        let least = -0.5 * self.slope * self.tau / risen;
        // Not a number where P is infinite.
        self.tau *= if least > 0.1 { least.min(0.5) } else { 0.1 };
    }

    /// `theta + tau (x - theta)`, which is x itself for tau = 1: it may stand at a bound.
    fn look_ahead(&mut self) {
        let State { here, trial, target, direction, tau, .. } = self;
        if *tau == 1.0 {
            trial.x.copy_from_slice(target);
        } else {
            update_with_both(&mut trial.x, &here.x, direction, |_, x, v| x + *tau * v);
        }
    }
}

impl Point {
    /// `P'(x)` where g is smooth.
    fn slope(&self, g: &Parts) -> Vec<f64> {
        let mut slope = self.gradient.clone();
        g.add_gradient(&self.x, &mut slope);
        slope
    }
}
