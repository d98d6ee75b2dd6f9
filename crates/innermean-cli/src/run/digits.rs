//! How many digits of an answer are known.
//!
//! A tolerance on the objective says little about theta: near an optimum, a gap of 1e-6 leaves
//! coefficients that are off in their third digit. So a run that is solved goes on for a few steps
//! more, to a tolerance at which every digit that is printed is right, as long as that is nearly
//! free. Where the method was left to the problem, theta is then the point that was found; where it
//! was asked for, its answer stays, and the distance says how many of its digits are known.

use innermean::{AnyMethod, Begin, Choice, Driver, Objective, Solution, Status, Stop};
use innermean_apps::run::Task;

use crate::output::human::significant;
use crate::run::plan::Plan;
use crate::run::{deadline, interrupt};

/// The tolerance at which five digits are right, even of coefficients that are hard to tell apart.
const TIGHT: f64 = 1e-13;
/// The same for the normal equations and programs, which are solved to rounding at once: only the
/// multipliers still improve, and further steps do not change theta.
const TIGHT_AT_ONCE: f64 = 1e-11;
/// Of the oracle calls of the run, what the steps beyond its tolerance may cost.
const SHARE: u64 = 2;
/// Numbers that are read in no time to speak of, some ten milliseconds: a call reads d of them.
const FREE: u64 = 20_000_000;
/// Products in the Hessian of a Newton step that take no more than a tenth of a second.
const SMALL: f64 = 2e8;
/// A relative decrease of the objective by this many tolerances refutes a run that took a small
/// gradient for convergence.
const REFUTED: f64 = 10.0;

/// What is known of theta.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// By how much each coordinate may be off; empty where all printed digits are right.
    pub(crate) errors: Vec<f64>,
    /// What is wrong with the claim of the run, in a whole sentence.
    pub(crate) warning: Option<String>,
}

impl Known {
    /// All but its size: where no finite theta is best, or many are, digits mean nothing.
    pub(crate) fn forget(&mut self, theta: &[f64]) {
        self.errors = theta.iter().map(|x| x.abs()).collect();
    }

    /// By how much the largest of these numbers may be off: those of theta from the first on, or
    /// others that follow from theta.
    pub(crate) fn error_of(&self, numbers: &[f64], theta: &[f64]) -> f64 {
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        if self.errors.is_empty() {
            0.0
        } else if theta.starts_with(numbers) {
            largest(&self.errors[..numbers.len()])
        } else {
            let whole = largest(theta);
            if whole > 0.0 { largest(&self.errors) / whole * largest(numbers) } else { 0.0 }
        }
    }

    /// `x`, coordinate `l` of theta, with at most `most` digits, all of them known.
    pub(crate) fn text(&self, x: f64, l: usize, most: i32) -> String {
        let error = self.errors.get(l).copied().unwrap_or(0.0);
        let digits = (x.abs() / (10.0 * error)).log10().floor() + 1.0;
        let known = if digits.is_nan() { most } else { digits.clamp(1.0, f64::from(most)) as i32 };
        significant(x, known)
    }
}

/// Brings a run that is solved to the units of the data, with the digits that can be had.
pub(crate) fn settle<T: Task>(
    task: &T,
    plan: &Plan,
    tolerance: f64,
    solution: &mut Solution,
) -> Known {
    let further = further(task.problem(), plan, solution);
    let status = solution.status;
    task.restate(tolerance, solution);
    let Some(mut further) = further else { return fallback(solution, tight(plan)) };
    let has_ended = further.status.is_solved();
    // Solved it was before; whether what was asked for is proven may be another matter now.
    further.status = status;
    task.restate(tolerance, &mut further);
    let moved: Vec<f64> =
        further.theta.iter().zip(&solution.theta).map(|(to, from)| (to - from).abs()).collect();
    let fall = solution.objective - further.objective;
    let is_refuted = fall > REFUTED * tolerance * further.objective.abs();
    let is_proven = solution.certificate.measure.is_gap();
    let is_auto = plan.run.chosen.is_some();
    // The remaining share of the distance once the measure has fallen: a gap is its square.
    let share = match (solution.certificate.relative, further.certificate.relative) {
        _ if further.certificate.is_rounding => 0.0,
        (Some(before), Some(after)) if is_proven => (after / before).sqrt(),
        (Some(before), Some(after)) => after / before,
        _ => 1.0,
    };
    let warning = (is_refuted && !is_proven && (!is_auto || !has_ended)).then(|| {
        format!(
            "A few steps of Newton's method from this point lower the objective by {fall:.1e}, to {}: it is nearly flat here, and a small gradient says little. Give --l2, lower --tolerance, or leave --method to the problem.",
            significant(further.objective, 6)
        )
    });
    if !is_auto {
        return Known { errors: moved, warning };
    }
    add_counts(solution, &mut further);
    *solution = further;
    Known { errors: moved.iter().map(|moved| share.min(1.0) * moved).collect(), warning }
}

/// The relative gap at which every digit that is printed is right.
fn tight(plan: &Plan) -> f64 {
    if plan.run.info.name == "direct" { TIGHT_AT_ONCE } else { TIGHT }
}

/// The steps beyond the tolerance, if they come nearer.
fn further(problem: Objective<'_>, plan: &Plan, solution: &Solution) -> Option<Solution> {
    let relative = solution.certificate.relative?;
    let d = problem.inner.d();
    let is_wanted = solution.status == Status::Solved
        && !solution.certificate.is_rounding
        && relative > tight(plan)
        && plan.run.stop.tolerance.is_some_and(|tolerance| tolerance > TIGHT);
    if !is_wanted {
        return None;
    }
    let seconds = deadline::left(plan.run.stop.max_seconds);
    let named = |name| AnyMethod::named(name, &Choice::default(), problem, &solution.theta).ok();
    let products = (problem.inner.n_x() * problem.inner.ell()) as f64 * (d as f64).powi(2);
    let is_cheap = products <= SMALL || plan.run.info.name == "newton";
    let newton = if is_cheap { named("newton") } else { None };
    let method = newton.or_else(|| named(plan.run.info.name))?;
    let used = solution.calls.total();
    let left = plan.run.stop.max_calls.map_or(u64::MAX, |most| most.saturating_sub(used));
    let calls = (used / SHARE).max(FREE / d as u64).min(left);
    let stop = Stop {
        tolerance: Some(TIGHT),
        max_calls: Some(calls),
        max_seconds: seconds.map(|left| left.min(solution.seconds.max(0.01))),
        ..Stop::default()
    };
    let driver = Driver { stop, interrupt: interrupt::listen().ok(), ..Driver::default() };
    let begin = Begin::At(&solution.theta);
    let found = plan.pool().install(|| method.run_from(&driver, problem, begin, &mut ())).ok()?;
    let is_nearer = found.certificate.relative.is_some_and(|after| after < relative)
        && found.certificate.measure.is_gap() >= solution.certificate.measure.is_gap()
        && found.objective <= solution.objective + 1e-12 * solution.objective.abs();
    is_nearer.then_some(found)
}

/// Where no steps beyond the tolerance came nearer: a relative gap is about the square of the
/// relative distance.
fn fallback(solution: &Solution, tight: f64) -> Known {
    let largest = solution.theta.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    match solution.certificate.relative {
        Some(relative) if !solution.certificate.is_rounding && relative > tight => {
            Known { errors: vec![relative.sqrt() * largest; solution.theta.len()], warning: None }
        }
        _ => Known::default(),
    }
}

/// What the run before it has cost, and its course.
fn add_counts(before: &Solution, further: &mut Solution) {
    let mut trace = before.trace.clone();
    for record in further.trace.iter().skip(1) {
        let mut record = *record;
        record.outer += before.outer;
        record.inner += before.inner;
        record.calls = record.calls + before.calls;
        record.rows += before.rows;
        record.seconds += before.seconds;
        trace.push(record);
    }
    further.trace = trace;
    further.outer += before.outer;
    further.inner += before.inner;
    further.calls = further.calls + before.calls;
    further.rows += before.rows;
    further.seconds += before.seconds;
    further.duals = None;
}
