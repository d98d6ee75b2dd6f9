//! The prox-linear method, or Gauss-Newton for a convex phi, with its model solved to the end:
//! Drusvyatskiy and Paquette, "Efficiency of Minimizing Compositions of Convex Functions and Smooth
//! Maps", Math. Programming 2019, Algorithm 5. Each outer iteration linearises all averages at
//! `theta_ref`,
//!
//! ```text
//! m(theta) = (1/n_X) sum_i phi_i( fbar_i + fbar_i'^T (theta - theta_ref) ) + g(theta)
//! theta+   = argmin over theta of  m(theta) + (rho/2) |theta - theta_ref|^2
//! ```
//!
//! and the minimiser is found exactly: by damped Newton steps on the stored Jacobians
//! (`newton.rs`), d x d or m x m with `m = n_X ell`, whichever is smaller, or by conjugate gradients where
//! both are large; with the program solver where g has corners; around duals, by the method of
//! multipliers, where phi has kinks (`kinks.rs`). The model stores what f says: how its numbers are
//! conditioned costs no call.
//!
//! rho begins at 0 and learns from what the model missed, `miss = 2 (P(theta+) - m(theta+)) /
//! |theta+ - theta_ref|^2`, and from r, the fall of P over what the model promised:
//!
//! ```text
//! r < 3/4:   rho <- max(rho, miss)
//! r > 0.95:  rho <- rho/4, and 0 once it is next to nothing
//! P rose:    back to theta_ref, whose Jacobians are kept
//! ```
//!
//! A run begins at the solution of a part of the data where that pays (`start.rs`). The first outer
//! iterations may look at a part of the samples of each term (`growing`), and each may correct its
//! model at `theta+` by fresh samples, with the linear model as control variate (`samples.rs`).
//!
//! Asks of the problem: a smooth phi; or one with kinks that is a sum over coordinates, a g with
//! parts and moderate d. f may be curved in any way: the reference points never rise, and become
//! stationary. With affine f the model is exact and one snapshot enough. Per outer iteration: a
//! snapshot, and `n_X` phi for each point at which the model is looked at, a handful. Storage: `2
//! n_X d ell`.
//!
//! Differs: the paper has a fixed rho, and solves its model to a tolerance by first-order steps;
//! these are left here for a g that is neither quadratic nor a sum over coordinates, and for
//! corners in many coordinates (`first_order.rs`).

use serde::Serialize;

use super::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::model::setting::at_least_one;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};

mod first_order;
mod kinks;
mod newton;
mod samples;
mod snapshot;
mod start;
mod state;
mod system;

pub use state::State;

/// Points at which one model is looked at by default, at most. A handful is usual; near the ends of
/// a logarithm there are more.
const MOST_LOOKS: usize = 60;

/// Stages of growing samples by default.
const GROWING: usize = 0;

/// The prox-linear method with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProxLinear {
    /// Points at which one model is looked at, at most.
    pub inner_iterations: usize,
    /// Stages of two outer iterations in which a part of the samples is looked at: before all, a
    /// quarter of them, before that a sixteenth, and so on, where that is 16 or more.
    pub growing: usize,
    /// Corrections of each model.
    pub correction: usize,
    /// Of the samples that correct.
    pub seed: u64,
}

impl Listed for ProxLinear {
    const INFO: MethodInfo = MethodInfo {
        name: "prox-linear",
        title: "Prox-linear (Gauss-Newton)",
        family: Family::Batch,
        summary: "linearises the averages and solves the convex problem that remains to its end",
        reference: "Drusvyatskiy and Paquette 2019, Algorithm 5",
        storage: "2 n_X d ell",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::Linearisable],
        settings: &[Knob::InnerIterations, Knob::Growing, Knob::Correction],
    };

    fn settings(choice: &Choice, _: Objective<'_>, _: &[f64]) -> Chosen<Self> {
        let most = choice.inner_iterations.unwrap_or(MOST_LOOKS);
        Ok(ProxLinear {
            inner_iterations: at_least_one("inner_iterations", most)?,
            growing: choice.growing.unwrap_or(GROWING),
            correction: choice.correction.unwrap_or(0),
            seed: choice.seed,
        })
    }
}

impl Method for ProxLinear {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        State::new(oracle, theta)
    }

    /// The snapshot at the candidate, and whether it becomes the reference point.
    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        s.take_snapshot(oracle, self);
    }

    /// The model's minimiser, the next candidate.
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        s.model(oracle, self);
        s.correct(oracle, self);
    }

    /// A candidate at which P rises, or is no number, is left again.
    fn recovers(&self) -> bool {
        true
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        s.candidate()
    }
}
