//! L-BFGS for any g with a prox: PANOC, Algorithm 1 of Stella, Themelis, Sopasakis and Patrinos, "A Simple and Efficient Algorithm for
//! Nonlinear Model Predictive Control", CDC 2017. Quasi-Newton steps for the fixed-point residual of proximal gradient descent,
//! with a line search on the forward-backward envelope, in which the prox-gradient step is the fallback. Without g, or
//! with a tilt or a ridge, the residual is (a multiple of) the gradient, and this is L-BFGS (Nocedal 1980).
//!
//! Asks of the problem: a smooth phi and a prox of g; f may be asked for points that g does not allow, but none is reported.
//! Every accumulation point is stationary; the rate is linear and often better.
//! Per step: one whole gradient for each trial point, which is the next point in most steps. Storage: `2 n_X ell` for averages
//! and duals, `2 memory d` for pairs.
//!
//! Differs: where f is not affine, gamma is tested between a point and the next trial point, whose loss is at hand, and not at the
//! prox-gradient point between them.

use std::mem;

use serde::{Deserialize, Serialize};

use self::pairs::Pairs;
use self::point::Point;
use super::backtracking::{SLACK, is_below_parabola};
use super::{Ask, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::choice::{Choice, ChoiceError, Knob};
use crate::curvature;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::oracle::Oracle;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::setting::{at_least_one, positive};
use crate::vector::{distance_squared, norm_squared, update_with_both};

mod pairs;
mod point;

/// The table's row.
pub const INFO: MethodInfo = MethodInfo {
    name: "lbfgs",
    title: "L-BFGS",
    family: Family::Batch,
    summary: "quasi-Newton steps from the last few gradients, for any g with a prox",
    reference: "Stella, Themelis, Sopasakis and Patrinos 2017 (PANOC); without g, Nocedal 1980",
    storage: "n_X ell + memory d",
    rate: Rate::Linear,
    form: Form::Given,
    asks: &[Ask::SmoothMerit],
    settings: &[Knob::AlphaTheta, Knob::Memory],
};

/// Pairs of differences kept, as nearly everywhere. To a gap of 1e-6 on the paper's 18 portfolios 5, 10, 20 and 40 take 48, 26, 18 and
/// 18 gradients; with a constraint there is little to choose.
const MEMORY: usize = 10;
/// gamma times L: below 1, as the envelope asks.
const GAMMA: f64 = 0.95;
/// The part of `gamma |r|^2 / 2` by which the envelope must fall; below `1 - gamma L`.
const SIGMA: f64 = 0.02;
/// gamma may grow where gamma times the curvature seen stays below this, for so many moves at first.
const FLAT: f64 = 0.1;
const PATIENCE: usize = 10;
/// The shortest part of a quasi-Newton step that is tried before the prox-gradient step.
const SHORTEST: f64 = 0.1;

/// L-BFGS with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lbfgs {
    /// gamma, the step of the forward-backward envelope; the first one where f is not affine.
    pub alpha_theta: f64,
    /// Pairs of differences that are kept.
    pub memory: usize,
}

/// The current point, the one on trial, and the line between them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    here: Point,
    trial: Point,
    gamma: f64,
    pairs: Pairs,
    /// `-H r`
    direction: Vec<f64>,
    tau: f64,
    /// Whether the start has been left
    moved: bool,
    /// Moves since curvature was last judged, the largest `|F'(x^+) - F'(x)| / |x^+ - x|` in them, and how many must pass before gamma may grow
    quiet: usize,
    steepest: f64,
    patience: usize,
    f_bar: Vec<f64>,
    w: Vec<f64>,
    work: Vec<f64>,
}

impl State {
    /// Whether gamma has proved short enough between the two points. For affine f it is by choice.
    fn gamma_holds<F: Inner, P: Merit, G: Regularizer>(&mut self, oracle: &Oracle<'_, F, P, G>) -> bool {
        let State { here, trial, gamma, work, .. } = self;
        oracle.affine()
            || is_below_parabola((&here.x, here.loss, &here.gradient), (&trial.x, trial.loss), *gamma, work)
    }

    /// Whether the envelope has fallen by `sigma |r|^2`. Where that is lost in rounding, whether r has become shorter.
    fn falls(&self) -> bool {
        let State { here, trial, gamma, .. } = self;
        let square = norm_squared(&here.residual);
        let asked = 0.5 * SIGMA * gamma * square;
        let slack = SLACK * here.magnitude();
        trial.envelope <= here.envelope - asked
            || trial.envelope <= here.envelope + slack && norm_squared(&trial.residual) <= square
    }

    /// To the trial point, with a new direction.
    fn move_on(&mut self, first: bool) {
        let State { here, trial, pairs, direction, .. } = self;
        if !first {
            pairs.add(|s, y| {
                update_with_both(s, &trial.x, &here.x, |_, next, x| next - x);
                update_with_both(y, &trial.residual, &here.residual, |_, next, r| next - r);
            });
        }
        self.moved = !first;
        mem::swap(here, trial);
        direction.copy_from_slice(&here.residual);
        pairs.descend(direction);
        self.tau = if pairs.is_empty() { 0.0 } else { 1.0 };
    }

    /// Another gamma, for which the residuals are others.
    fn set_gamma<F: Inner, P: Merit, G: Regularizer>(&mut self, oracle: &Oracle<'_, F, P, G>, gamma: f64) {
        self.gamma = gamma;
        self.here.forward_backward(oracle, gamma);
        self.pairs.clear();
        self.tau = 0.0;
        (self.quiet, self.steepest) = (0, 0.0);
    }

    /// Differs: where f is not affine and F has been far flatter than gamma supposes for a while, gamma grows; the residual of a tiny
    /// gamma is lost in rounding. As this may be a mistake, every time takes twice the patience of the last.
    fn grow<F: Inner, P: Merit, G: Regularizer>(&mut self, oracle: &Oracle<'_, F, P, G>) {
        let State { here, trial, .. } = self;
        // After the move, the trial point is the last one.
        let change = distance_squared(&here.gradient, &trial.gradient) / distance_squared(&here.x, &trial.x);
        self.steepest = self.steepest.max(change.sqrt());
        self.quiet += 1;
        if self.quiet < self.patience {
            return;
        }
        if self.steepest > 0.0 && self.gamma * self.steepest < FLAT {
            self.patience *= 2;
            self.set_gamma(oracle, 0.5 / self.steepest);
        }
        (self.quiet, self.steepest) = (0, 0.0);
    }

    /// `x^+ = (1 - tau) x_bar + tau (x - H r)`
    fn look_ahead(&mut self) {
        let State { here, trial, direction, tau, .. } = self;
        trial.x.copy_from_slice(&here.x_bar);
        if *tau > 0.0 {
            update_with_both(&mut trial.x, &here.x, direction, |x_bar, x, v| x_bar + *tau * (x + v - x_bar));
        }
    }
}

impl Listed for Lbfgs {
    const INFO: MethodInfo = INFO;

    fn settings<F: Inner, P: Merit, G: Regularizer>(
        choice: &Choice,
        problem: &Problem<F, P, G>,
        theta: &[f64],
    ) -> Result<Self, ChoiceError> {
        let alpha_theta = choice.alpha_theta.unwrap_or_else(|| GAMMA * curvature::step(problem, theta));
        Ok(Lbfgs {
            alpha_theta: positive("alpha_theta", alpha_theta)?,
            memory: at_least_one("memory", choice.memory.unwrap_or(MEMORY))?,
        })
    }
}

impl<F: Inner, P: Merit, G: Regularizer> Method<F, P, G> for Lbfgs {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_, F, P, G>, theta: &[f64]) -> State {
        let (d, size) = (oracle.d(), oracle.n_x() * oracle.ell());
        State {
            here: Point::new(theta),
            trial: Point::new(theta),
            gamma: self.alpha_theta,
            pairs: Pairs::new(self.memory, d),
            direction: vec![0.0; d],
            tau: 0.0,
            moved: false,
            quiet: 0,
            steepest: 0.0,
            patience: PATIENCE,
            f_bar: vec![0.0; size],
            w: vec![0.0; size],
            work: vec![0.0; d],
        }
    }

    /// F and F' at the trial point.
    fn outer(&self, oracle: &mut Oracle<'_, F, P, G>, s: &mut State) {
        let State { trial, f_bar, w, .. } = s;
        trial.loss = oracle.gradient(&trial.x, f_bar, w, &mut trial.gradient);
    }

    fn inner_iterations(&self, _: &State) -> usize {
        1
    }

    /// Accepts the trial point or not, and takes the next.
    fn inner(&self, oracle: &mut Oracle<'_, F, P, G>, s: &mut State) {
        s.trial.forward_backward(oracle, s.gamma);
        let first = s.here.loss == f64::INFINITY;
        if first || s.falls() && s.gamma_holds(oracle) {
            s.move_on(first);
            if !first && !oracle.affine() {
                s.grow(oracle);
            }
        } else if s.tau > 0.0 && !s.falls() {
            // tau = 1, 1/2, ..., and at last the prox-gradient step
            s.tau = if s.tau > SHORTEST { 0.5 * s.tau } else { 0.0 };
        } else {
            s.set_gamma(oracle, 0.5 * s.gamma);
        }
        s.look_ahead();
    }

    /// The start until a step from it has proved short enough.
    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        if s.moved { &s.here.x_bar } else { &s.here.x }
    }
}
