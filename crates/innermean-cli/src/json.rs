//! The answer for programs: one JSON object.

use std::num::NonZeroU64;

use anyhow::Result;
use innermean::{Measure, Solution, Status, Stop};
use serde::Serialize;

use crate::advice::advice;
use crate::plan::Plan;

/// What a command adds to the run's own numbers.
pub(crate) struct Facts<A, S> {
    /// The command's name.
    pub(crate) problem: &'static str,
    /// The number of outer terms.
    pub(crate) n_x: usize,
    /// The number of inner samples of each.
    pub(crate) n_y: usize,
    /// What theta means for this problem; stands beside theta.
    pub(crate) answer: A,
    /// How the problem was set up; stands in `settings`.
    pub(crate) settings: S,
}

#[derive(Serialize)]
struct Document<'a, A, S> {
    version: &'static str,
    problem: &'static str,
    method: &'static str,
    status: Status,
    advice: String,
    n_x: usize,
    n_y: usize,
    d: usize,
    theta: &'a [f64],
    objective: f64,
    optimality: Option<f64>,
    measure: Measure,
    #[serde(flatten)]
    answer: &'a A,
    calls: Calls,
    outer: u64,
    inner: u64,
    seconds: f64,
    seed: u64,
    settings: Settings<'a, S>,
}

#[derive(Serialize)]
struct Calls {
    f: u64,
    jacobian: u64,
    merit: u64,
    total: u64,
    rows: u64,
}

/// All that it takes to do the run again.
#[derive(Serialize)]
struct Settings<'a, S> {
    #[serde(flatten)]
    method: &'a crate::settings::Settings,
    threads: usize,
    trace_every: Option<NonZeroU64>,
    #[serde(flatten)]
    stop: &'a Stop,
    #[serde(flatten)]
    problem: &'a S,
}

/// The object on one line. Numbers that are not finite, which JSON does not have, become null.
pub(crate) fn document<A: Serialize, S: Serialize>(
    plan: &Plan,
    solution: &Solution,
    facts: &Facts<A, S>,
) -> Result<String> {
    let calls = solution.calls;
    let document = Document {
        version: env!("CARGO_PKG_VERSION"),
        problem: facts.problem,
        method: plan.info.name,
        status: solution.status,
        advice: advice(solution.status, plan),
        n_x: facts.n_x,
        n_y: facts.n_y,
        d: solution.theta.len(),
        theta: &solution.theta,
        objective: solution.objective,
        optimality: solution.optimality,
        measure: solution.measure,
        answer: &facts.answer,
        calls: Calls {
            f: calls.f,
            jacobian: calls.jacobian,
            merit: calls.merit,
            total: calls.total(),
            rows: solution.rows,
        },
        outer: solution.outer,
        inner: solution.inner,
        seconds: solution.seconds,
        seed: plan.seed,
        settings: Settings {
            method: &plan.settings,
            threads: plan.threads(),
            trace_every: plan.evaluate_every,
            stop: &plan.stop,
            problem: &facts.settings,
        },
    };
    Ok(serde_json::to_string(&document)? + "\n")
}
