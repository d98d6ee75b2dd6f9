//! L-BFGS for any g with a prox: PANOC, Algorithm 1 of Stella, Themelis, Sopasakis and Patrinos, "A
//! Simple and Efficient Algorithm for Nonlinear Model Predictive Control", CDC 2017. Quasi-Newton
//! steps for the fixed-point residual of proximal gradient descent, with a line search on the
//! forward-backward envelope, in which the prox-gradient step is the fallback. Without g, or with a
//! tilt or a ridge, the residual is (a multiple of) the gradient, and this is L-BFGS (Nocedal
//! 1980).
//!
//! Asks of the problem: a smooth phi and a prox of g; f may be asked for points that g does not
//! allow, but none is reported. Every accumulation point is stationary; the rate is linear and
//! often better. Per step: one whole gradient for each trial point, which is the next point in most
//! steps. Storage: `2 n_X ell` for averages and duals, `2 memory d` for pairs.
//!
//! Differs: where f is not affine, gamma is tested between a point and the next trial point, whose
//! loss is at hand, and not at the prox-gradient point between them. Where g is smooth, the point
//! itself is reported and not its prox-gradient step: its gradient is known, so that an evaluation
//! costs no pass over the data.

use serde::Serialize;

use self::pairs::Pairs;
use self::point::Point;
use super::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::linalg::long::zeros;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;
use crate::model::setting::at_least_one;
use crate::oracle::Oracle;
use crate::run::evaluate::Gradient;
use crate::tuning::choice::{Choice, Knob};
use crate::tuning::curvature;

pub(super) mod pairs;
mod point;
mod state;

pub use state::State;

/// Pairs of differences kept. To a gap of 1e-6 on the paper's 18 portfolios 5, 10, 20 and 40 take
/// 48, 26, 18 and 18 gradients; with a constraint there is little to choose.
const MEMORY: usize = 20;
/// gamma times L: below 1, as the envelope asks.
const GAMMA: f64 = 0.95;
/// How many moves must pass before gamma may grow, at first.
const MOVES_BEFORE_GROWTH: usize = 10;
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

impl Listed for Lbfgs {
    const INFO: MethodInfo = MethodInfo {
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

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        Ok(Lbfgs {
            alpha_theta: choice.alpha_theta(|| GAMMA * curvature::step(problem, theta))?,
            memory: at_least_one("memory", choice.memory.unwrap_or(MEMORY))?,
        })
    }
}

impl Method for Lbfgs {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (d, size) = (oracle.d(), oracle.n_x() * oracle.ell());
        State {
            here: Point::new(theta),
            trial: Point::new(theta),
            gamma: self.alpha_theta,
            pairs: Pairs::new(self.memory, d),
            direction: vec![0.0; d],
            tau: 0.0,
            moved: false,
            smooth: oracle.problem().parts().as_ref().is_some_and(Parts::are_smooth),
            known: false,
            quiet: 0,
            steepest: 0.0,
            patience: MOVES_BEFORE_GROWTH,
            f_bar: zeros(size),
            w: zeros(size),
            work: vec![0.0; d],
        }
    }

    /// F and F' at the trial point.
    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        s.known = false;
        let State { trial, f_bar, w, .. } = s;
        trial.loss = oracle.pass().gradient(&trial.x, f_bar, w, &mut trial.gradient);
    }

    /// Accepts the trial point or not, and takes the next.
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        s.trial.forward_backward(oracle, s.gamma);
        let first = s.here.loss == f64::INFINITY;
        if first || s.falls() && s.gamma_holds(oracle) {
            s.move_on(first);
            if !first && !oracle.facts().affine {
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
        if s.moved && !s.smooth { &s.here.x_bar } else { &s.here.x }
    }

    fn gradient<'s>(&self, s: &'s State) -> Option<Gradient<'s>> {
        let State { here, f_bar, w, known, smooth, .. } = s;
        (*known && *smooth).then_some(Gradient { f_bar, w, gradient: &here.gradient })
    }
}
