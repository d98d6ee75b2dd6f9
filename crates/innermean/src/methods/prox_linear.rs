//! The prox-linear method, or Gauss-Newton for a convex phi: each outer iteration linearises all
//! averages at `theta_t` and minimises `(1/n_X) sum_i phi_i(fbar_i + fbar_i'^T (theta - theta_t)) +
//! g(theta) + |theta - theta_t|^2 / (2 eta)` (Drusvyatskiy and Paquette, "Efficiency of Minimizing
//! Compositions of Convex Functions and Smooth Maps", Math. Programming 2019, Algorithm 5), here by
//! accelerated proximal steps on the stored rows.
//!
//! Asks of the problem: a smooth phi and a prox of g. f may be curved in any way: P falls from one
//! accepted point to the next, and the points become stationary. With affine f the model is exact,
//! eta infinite and one linearisation enough. Per outer iteration: a snapshot, and `n_X` phi for
//! each inner step, at a point of its own. Storage: `n_X d ell`.

use serde::Serialize;

use super::backtracking::Backtracking;
use super::momentum::Momentum;
use super::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::linalg::vector::update_with_both;
use crate::model::collapse::Collapsed;
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};
use crate::tuning::curvature;

mod state;

pub use state::State;

/// The first eta over the first inner step.
const FIRST_ETA: f64 = 10.0;
/// The least and the most inner steps by default.
const INNER: (usize, usize) = (20, 100);

/// The prox-linear method with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProxLinear {
    /// The step of the inner iterations; the first one where f is not affine.
    pub alpha_theta: f64,
    /// Inner steps on one linear model.
    pub inner_iterations: usize,
}

impl Listed for ProxLinear {
    const INFO: MethodInfo = MethodInfo {
        name: "prox-linear",
        title: "Prox-linear (Gauss-Newton)",
        family: Family::Batch,
        summary: "linearises the averages and solves the convex problem that remains",
        reference: "Drusvyatskiy and Paquette 2019, Algorithm 5",
        storage: "n_X d ell",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::SmoothMerit],
        settings: &[Knob::AlphaTheta, Knob::InnerIterations],
    };

    /// This many inner steps that they cost about what the linearisation does.
    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let f = problem.inner;
        let samples = (0..f.n_x()).map(|i| f.n_y(i)).sum::<usize>() / f.n_x().max(1);
        Ok(ProxLinear {
            alpha_theta: choice.alpha_theta(|| curvature::step(problem, theta))?,
            inner_iterations: choice.inner_iterations((2 * samples).clamp(INNER.0, INNER.1))?,
        })
    }
}

impl Method for ProxLinear {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        State {
            theta: theta.to_vec(),
            objective: f64::INFINITY,
            eta: if oracle.facts().affine { f64::INFINITY } else { FIRST_ETA * self.alpha_theta },
            length: f64::INFINITY,
            model: Collapsed::empty(d, ell, n_x),
            inner: Momentum::new(theta),
            step: Backtracking::new(d, self.alpha_theta),
            loss: 0.0,
            gradient: vec![0.0; d],
            w: vec![0.0; n_x * ell],
            direction: vec![0.0; d],
        }
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        if s.objective == f64::INFINITY {
            s.objective = s.linearise(oracle);
        } else if !oracle.facts().affine {
            let g = oracle.g().value(&s.inner.theta);
            let predicted = oracle.model(&s.model).loss(&s.inner.theta) + g;
            let objective = s.linearise(oracle);
            if s.judge(predicted, objective) {
                s.theta.copy_from_slice(&s.inner.theta);
                s.objective = objective;
            } else {
                s.inner.rest_at(&s.theta);
                s.linearise(oracle);
            }
        }
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.inner_iterations
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        if !oracle.facts().affine && !s.step.accepts(&mut s.inner.y, &mut s.gradient, &mut s.loss) {
            s.inner.step_back();
        }
        let State { theta, eta, inner, step, gradient, direction, .. } = s;
        // The prox of g + |. - theta_t|^2/(2 eta) at y - alpha F'(y) is that of g with the step
        // tau: prox_{tau g}(y - tau (F'(y) + (y - theta_t)/eta)), 1/tau = 1/alpha + 1/eta.
        let tau = 1.0 / (1.0 / step.alpha + 1.0 / *eta);
        direction.copy_from_slice(gradient);
        update_with_both(direction, &inner.y, theta, |slope, y, center| {
            slope + (y - center) / *eta
        });
        inner.step(true, |y| oracle.g().step(tau, direction, y));
        s.look(oracle);
    }

    /// `theta_t`: what the inner steps have found since is not known to be better before the next
    /// linearisation. With affine f it is.
    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        if s.eta == f64::INFINITY { &s.inner.theta } else { &s.theta }
    }
}
