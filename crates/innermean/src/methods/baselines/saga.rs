//! SAGA with exact inner averages: Defazio, Bach and Lacoste-Julien, "SAGA: A Fast Incremental
//! Gradient Method With Support for Non-Strongly Convex Composite Objectives", NIPS 2014, with
//! `phi_i(fbar_i(theta))` as one component.
//!
//! Asks of the problem: a smooth phi and a prox of g. An affine f is averaged first, so that a
//! component is a linear predictor and its gradient `fbar_i' w_i` is remembered by `w_i =
//! phi_i'(fbar_i)` alone. Per step: 1 f, 1 f' and 1 phi with affine f, otherwise `n_Yi` f, `n_Yi`
//! f' and 1 phi; time O(d ell). Before the first, a whole gradient. Storage: `n_X ell` numbers with
//! affine f, otherwise `n_X d`. Where an affine f tells which coordinates a term looks at, these
//! are few and g is a sum over coordinates, a step takes time in proportion to their number.

use serde::{Deserialize, Serialize};

use super::component::{AHEAD, Component, step};
use crate::draws::Stream;
use crate::linalg::vector::{Aligned, axpy, prefetch, update_with};
use crate::methods::lagged::Lagged;
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};

/// From this outer iteration on, the mean is taken anew whenever their number is a power of two.
const REFRESH: u64 = 16;

/// SAGA with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Saga {
    /// The step.
    pub alpha_theta: f64,
    /// Steps between two looks of the driver.
    pub inner_iterations: usize,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of all random draws.
    pub seed: u64,
}

/// Theta, the table of gradients and its mean.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Aligned,
    /// The gradient of each component where it was last taken: `w_i` if f is affine, otherwise
    /// `fbar_i' w_i`
    table: Vec<f64>,
    /// The mean of these gradients
    mean: Aligned,
    /// Outer iterations begun
    outer: u64,
    i: Stream,
    component: Component,
    delta: Aligned,
    lagged: Lagged,
}

impl Listed for Saga {
    const INFO: MethodInfo = MethodInfo {
        name: "saga",
        title: "SAGA",
        family: Family::Composition,
        summary: "steps along one component, with the last gradient of every component remembered",
        reference: "Defazio, Bach and Lacoste-Julien 2014",
        storage: "n_X ell; n_X d if f is not affine",
        rate: Rate::Linear,
        form: Form::Collapsed,
        asks: &[Ask::SmoothMerit],
        settings: &[Knob::AlphaTheta, Knob::InnerIterations],
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        Ok(Saga {
            alpha_theta: choice.alpha_theta(|| step(problem, theta))?,
            inner_iterations: choice.inner_iterations(problem.inner.n_x())?,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

impl Method for Saga {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        State {
            theta: theta.into(),
            table: vec![0.0; n_x * if oracle.facts().affine { ell } else { d }],
            mean: Aligned::zeros(d),
            outer: 0,
            i: Stream::new(self.seed, 0),
            component: Component::new(ell),
            delta: Aligned::zeros(d),
            lagged: Lagged::new(oracle, true),
        }
    }

    /// The first fills the table with the gradients at the start. Now and then the mean is taken
    /// anew: what rounding has added to it would stay for ever.
    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let State { theta, table, mean, outer, component, lagged, .. } = s;
        lagged.catch_up_all(oracle, self.alpha_theta, mean, theta);
        *outer += 1;
        let first = *outer == 1;
        let due = *outer >= REFRESH && outer.is_power_of_two();
        if !(first || due) {
            return;
        }
        mean.fill(0.0);
        if oracle.facts().affine {
            if first {
                let mut f_bar = vec![0.0; table.len()];
                oracle.pass().gradient(theta, &mut f_bar, table, mean);
            } else {
                oracle.pass().add_weighted_jac_t(theta, table, mean);
            }
        } else {
            for (i, gradient) in table.chunks_exact_mut(oracle.d()).enumerate() {
                if first {
                    let w = component.dual(oracle, theta, i);
                    oracle.add_mean_jac_t(theta, i, w, 1.0, gradient);
                }
                axpy(oracle.one_over_n_x(), gradient, mean);
            }
        }
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.inner_iterations
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let State { theta, table, mean, i, component, delta, lagged, .. } = s;
        let width = table.len() / oracle.n_x();
        let ahead = i.ahead(AHEAD, oracle.n_x());
        oracle.prefetch(ahead, 0);
        prefetch(table, ahead * width, width);
        let i = i.index(oracle.n_x());
        let old = &mut table[i * width..(i + 1) * width];
        let share = oracle.one_over_n_x();
        if lagged.is_on() {
            // The same at the coordinates of term i; along the others the direction is the mean,
            // which does not change there.
            let support = oracle.support(i).unwrap_or_default();
            lagged.catch_up(oracle, support, self.alpha_theta, mean, theta);
            let change = component.dual_change(oracle, theta, i, old);
            oracle.add_mean_jac_t(theta, i, change, 1.0, delta);
            axpy(1.0, change, old);
            for l in support.iter().map(|&l| l as usize) {
                mean[l] += share * delta[l];
                delta[l] = mean[l] + (1.0 - share) * delta[l];
            }
            lagged.step_ahead(oracle, support, self.alpha_theta, delta, theta);
            return lagged.tick();
        }
        // delta = F_i'(theta) - F_i'(theta_i), and the table takes F_i'(theta)
        delta.fill(0.0);
        if oracle.facts().affine {
            let change = component.dual_change(oracle, theta, i, old);
            oracle.add_mean_jac_t(theta, i, change, 1.0, delta);
            axpy(1.0, change, old);
        } else {
            let w = component.dual(oracle, theta, i);
            oracle.add_mean_jac_t(theta, i, w, 1.0, delta);
            update_with(delta, old, |new, old| new - old);
            axpy(1.0, delta, old);
        }
        // theta <- prox_{alpha g}(theta - alpha (delta + mean)), with the mean of the table before
        // this step
        axpy(share, delta, mean);
        update_with(delta, mean, |delta, mean| mean + (1.0 - share) * delta);
        oracle.g().step(self.alpha_theta, delta, theta);
    }

    fn show(&self, oracle: &Oracle<'_>, s: &mut State) {
        s.lagged.show(oracle, self.alpha_theta, &s.mean, &s.theta);
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.guarded.then_some(Guarded::new(&mut self.alpha_theta, &mut self.seed))
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        s.lagged.shown(&s.theta)
    }
}
