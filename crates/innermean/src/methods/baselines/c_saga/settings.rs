//! How C-SAGA finds its step, and how many outer terms it draws.

use super::CSaga;
use crate::methods::{Ask, Chosen, Family, Form, Listed, MethodInfo, Rate};
use crate::model::inner::{Inner, Sample, jacobian_spread};
use crate::model::problem::Objective;
use crate::model::setting::{InvalidSetting, at_least_one};
use crate::model::shared::shared_form;
use crate::tuning::choice::{Choice, Knob};
use crate::tuning::curvature;

/// The step times the smoothness: without samples to draw, C-SAGA is gradient descent, whose best
/// step it is.
const STEP: f64 = 1.0;
/// The weight of the spread of samples in the smoothness. On a generated portfolio, Bellman
/// residuals of 10 and 100 states, groups that scatter and softplus of softplus, half and twice the
/// step cost up to twice the calls.
const SPREAD: f64 = 2.0;

/// Differs: the paper's outer function is a single one, of which all terms are asked for in each
/// step. Where they would cost more than a hundred times what f does (the portfolio: thousands
/// against one call), a tenth of that is drawn.
fn terms_to_draw(problem: Objective<'_>, batch: usize) -> Option<usize> {
    let f = problem.inner;
    let per_query = match f.facts().sample {
        Sample::Shared => f.facts().calls_per_query,
        _ => shared_form(f).map_or(1, |form| (&*form as &dyn Inner).facts().calls_per_query),
    };
    let per_step = batch * per_query as usize;
    (f.n_x() > 100 * per_step).then_some(10 * per_step)
}

/// Samples or terms that a step may draw.
const MOST_DRAWN: usize = 1 << 20;

impl Listed for CSaga {
    const INFO: MethodInfo = MethodInfo {
        name: "c-saga",
        title: "C-SAGA",
        family: Family::Composition,
        summary: "a table of the inner function's values and Jacobians",
        reference: "Zhang and Xiao 2019, Algorithm 1",
        storage: "n_Y d ell",
        rate: Rate::Linear,
        form: Form::Shared,
        asks: &[Ask::SmoothMerit, Ask::SharedSample],
        settings: &[Knob::AlphaTheta, Knob::Batch, Knob::OuterBatch],
    };

    /// `s = 1`; the step from the curvature of the mean, the spread of the samples and, where they
    /// are drawn, the curvature of the terms.
    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let batch = choice.batch(1)?;
        let outer_batch = match choice.outer_batch {
            Some(terms) => Some(at_least_one("outer_batch", terms)?),
            None => terms_to_draw(problem, batch),
        };
        for (name, drawn) in [("batch", batch), ("outer_batch", outer_batch.unwrap_or(1))] {
            if drawn > MOST_DRAWN {
                // What is drawn in a step is kept until its end.
                let expected = format!("at most {MOST_DRAWN}");
                return Err(InvalidSetting::new(name, drawn.to_string(), expected).into());
            }
        }
        let alpha_theta = choice.alpha_theta(|| {
            let start = problem.allowed(theta);
            let spread = jacobian_spread(problem.inner, &start) / problem.gamma_at(&start);
            let terms =
                outer_batch.map_or(0.0, |b| curvature::of_terms(problem, &start) / b as f64);
            STEP / (curvature::of_mean(problem, &start) + SPREAD * spread / batch as f64 + terms)
        })?;
        Ok(CSaga {
            alpha_theta,
            batch,
            outer_batch,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}
