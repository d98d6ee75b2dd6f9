//! How ALEXR finds its steps.

use super::Alexr;
use crate::methods::decay::Decay;
use crate::methods::estimates::{Batches, sampled_curvature};
use crate::methods::{Chosen, Family, Form, Listed, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::model::setting::InvalidSetting;
use crate::tuning::choice::{Choice, Knob, Mirror};
use crate::tuning::steps::scaled;

/// The first step on theta times the curvature of a sampled term; found as in `sox.rs`. More than 2
/// diverges with extrapolation.
const PRIMAL: f64 = 0.125;
/// The first step on the duals times gamma. A quarter or twice as much makes little difference.
const DUAL: f64 = 1.0;
/// Passes until the steps have begun to fall.
const PASSES: f64 = 4.0;
/// Of the decay of the steps on theta.
const POWER: f64 = 0.75;

impl Listed for Alexr {
    const INFO: MethodInfo = MethodInfo {
        name: "alexr",
        title: "ALEXR",
        family: Family::PrimalDual,
        summary: "primal-dual steps over mini-batches of terms, looking ahead",
        reference: "Wang and Yang 2025, Algorithm 1",
        storage: "n_X ell",
        rate: Rate::Sublinear,
        form: Form::Given,
        asks: &[],
        settings: &[
            Knob::AlphaTheta,
            Knob::AlphaW,
            Knob::Extrapolation,
            Knob::Batch,
            Knob::OuterBatch,
            Knob::Mirror,
        ],
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let batches = Batches::choose(choice)?;
        let pass = batches.pass(problem.inner);
        let mirror = choice.mirror.unwrap_or_default();
        let gamma = problem.gamma_at(&problem.allowed(theta));
        if mirror == Mirror::Conjugate && gamma <= 0.0 {
            let expected = "euclidean: phi has a kink, and the conjugate mirror needs its gradient";
            return Err(InvalidSetting::new("mirror", "conjugate", expected).into());
        }
        let (alpha_theta, alpha_w) = if gamma > 0.0 {
            let unit = if mirror == Mirror::Conjugate { 1.0 } else { gamma };
            (PRIMAL / sampled_curvature(problem, &problem.allowed(theta)), DUAL / unit)
        } else {
            let steps = scaled(problem, theta);
            (steps.alpha_theta, steps.alpha_w)
        };
        let period = PASSES * pass as f64;
        Ok(Alexr {
            alpha_theta: choice.alpha_theta(|| alpha_theta)?,
            alpha_w: choice.alpha_w(alpha_w)?,
            decay: Decay { period, power: POWER },
            extrapolation: choice.extrapolation(1.0)?,
            mirror,
            batches,
            inner_iterations: pass,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}
