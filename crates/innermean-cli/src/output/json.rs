//! The answer for programs: one JSON object.

use std::num::NonZeroU64;

use anyhow::Result;
use innermean::{Inner, Measure, Objective, Solution, Status, Stop, certificate};
use innermean_apps::run::inference::Inference;
use innermean_apps::run::{AUTO, Chosen, MethodSettings};
use serde::Serialize;

use crate::run::application::{Application, Source};
use crate::run::plan::Plan;

/// What a command adds to the run's own numbers.
pub(crate) struct Facts<'a, A, S> {
    problem: &'static str,
    n_x: usize,
    /// The inner samples of each outer term, if all have as many.
    n_y: Option<usize>,
    names: &'a [String],
    answer: &'a A,
    /// How sure it is, where that was asked for.
    pub(crate) inference: Option<&'a Inference>,
    /// What makes it doubtful.
    pub(crate) warnings: &'a [String],
    source: Source<'a>,
    notes: &'a [String],
    settings: S,
}

impl<'a, A, S> Facts<'a, A, S> {
    /// Those of `application`.
    pub(crate) fn of<T: Application>(
        application: &'a T,
        problem: Objective<'_>,
        answer: &'a A,
        settings: S,
        notes: &'a [String],
    ) -> Self {
        let f = &problem.inner;
        let n_y = f.n_y(0);
        Facts {
            problem: T::NAME,
            n_x: f.n_x(),
            n_y: (1..f.n_x()).all(|i| f.n_y(i) == n_y).then_some(n_y),
            names: application.coordinates(),
            answer,
            inference: None,
            warnings: &[],
            source: application.source(),
            notes,
            settings,
        }
    }
}

#[derive(Serialize)]
struct Document<'a, A, S> {
    version: &'static str,
    problem: &'static str,
    method: &'static str,
    chosen_by: &'static str,
    #[serde(flatten)]
    chosen: Option<&'a Chosen>,
    status: Status,
    advice: String,
    n_x: usize,
    n_y: Option<usize>,
    d: usize,
    names: &'a [String],
    theta: &'a [f64],
    objective: f64,
    certificate: Certificate,
    /// The direction in which the objective falls without end, where there is no minimum.
    #[serde(skip_serializing_if = "Option::is_none")]
    falls_along: Option<&'a [f64]>,
    #[serde(flatten)]
    answer: &'a A,
    #[serde(skip_serializing_if = "Option::is_none")]
    inference: Option<&'a Inference>,
    /// What makes the answer doubtful.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    source: &'a str,
    generated: bool,
    notes: &'a [String],
    calls: Calls,
    outer: u64,
    inner: u64,
    seconds: f64,
    seed: u64,
    settings: Settings<'a, &'a S>,
}

/// How far theta is from optimal, as far as it can be proven.
#[derive(Serialize)]
struct Certificate {
    measure: Measure,
    /// P(theta) - P* is at most this.
    gap: Option<f64>,
    /// What --tolerance is compared with.
    relative: Option<f64>,
    /// If the gap holds for no more: among all theta up to this many times as large.
    within: Option<f64>,
    /// Whether double precision can prove no better.
    is_rounding: bool,
    /// Why there is no gap, or no smaller one.
    reason: Option<String>,
}

impl From<certificate::Certificate> for Certificate {
    fn from(certificate: certificate::Certificate) -> Self {
        let certificate::Certificate {
            measure, gap, relative, within, is_rounding, reason, ..
        } = certificate;
        Certificate {
            measure,
            gap,
            relative,
            within,
            is_rounding,
            reason: reason.map(|reason| reason.to_string()),
        }
    }
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
pub(crate) struct Settings<'a, S> {
    #[serde(flatten)]
    method: &'a MethodSettings,
    threads: usize,
    trace_every: Option<NonZeroU64>,
    #[serde(flatten)]
    stop: &'a Stop,
    #[serde(flatten)]
    problem: S,
}

impl<'a, S> Settings<'a, S> {
    /// Those of a plan; `problem` is how the problem was set up.
    pub(crate) fn of(plan: &'a Plan, problem: S) -> Self {
        Settings {
            method: &plan.run.settings,
            threads: plan.threads(),
            trace_every: plan.run.evaluate_every,
            stop: &plan.run.stop,
            problem,
        }
    }
}

/// The object on one line. Numbers that are not finite, which JSON does not have, become null.
pub(crate) fn document<A: Serialize, S: Serialize>(
    plan: &Plan,
    solution: &Solution,
    facts: &Facts<'_, A, S>,
) -> Result<String> {
    let calls = solution.calls;
    let document = Document {
        version: env!("CARGO_PKG_VERSION"),
        problem: facts.problem,
        method: plan.run.info.name,
        chosen_by: if plan.run.chosen.is_some() { AUTO } else { "user" },
        chosen: plan.run.chosen.as_ref(),
        status: solution.status,
        advice: plan.advice(solution.status),
        n_x: facts.n_x,
        n_y: facts.n_y,
        d: solution.theta.len(),
        names: facts.names,
        theta: &solution.theta,
        objective: solution.objective,
        certificate: solution.certificate.into(),
        falls_along: solution.endless.as_deref(),
        answer: facts.answer,
        inference: facts.inference,
        warnings: facts.warnings,
        source: facts.source.text,
        generated: facts.source.generated,
        notes: facts.notes,
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
        seed: plan.run.seed,
        settings: Settings::of(plan, &facts.settings),
    };
    Ok(serde_json::to_string(&document)? + "\n")
}
