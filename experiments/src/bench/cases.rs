//! The problems that are compared.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use innermean::{AnyMethod, Choice, Driver, Measure, Objective, Solution, Stop, auto};
use serde::Serialize;
use serde_json::Value;

use super::machine::cpu_seconds;

pub mod bellman;
pub mod groups;
pub mod linear;
pub mod portfolio;

/// A problem, or several that are solved one after the other: arrays in memory.
pub trait Case {
    /// The file of `experiments/bench/peers` that knows the peers.
    fn family(&self) -> &'static str;

    /// The sizes, in words.
    fn sizes(&self) -> String;

    /// Writes the arrays for the peers into a folder, and returns what else they must know.
    ///
    /// # Errors
    /// If something cannot be written.
    fn export(&self, folder: &Path) -> Result<Value>;

    /// Solves with ours.
    fn solve(&self, task: &Task) -> Run;

    /// The objective of each problem at the parts of theta, moved to where g allows, by the plain
    /// formula: neither our code nor a peer's.
    fn objectives(&self, theta: &[f64]) -> Vec<f64>;
}

/// What ours is asked to do.
#[derive(Debug, Clone)]
pub struct Task {
    /// The method, by name.
    pub method: &'static str,
    /// When it counts as solved.
    pub tolerance: f64,
    /// When it has taken too long.
    pub max_seconds: f64,
}

/// What came out of it.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// From arrays in memory to the solution and its certificate.
    pub seconds: f64,
    /// The same, of all threads.
    pub cpu_seconds: f64,
    /// The solution; of several problems, one after the other.
    #[serde(skip)]
    pub theta: Vec<f64>,
    /// Rows read, of all rows there are.
    pub passes: f64,
    /// The method that solved it.
    pub method: String,
    /// What was measured, and how small it was in the end; of several problems, the worst.
    pub measure: Measure,
    /// The value of the measure.
    pub optimality: Option<f64>,
    /// Whether the tolerance was reached.
    pub solved: bool,
    /// The objective as ours has it; of several problems, that of the last.
    pub objective: f64,
}

/// Builds a problem by `build`, solves it from the origin and takes the time of both.
pub(crate) fn solve<Q>(task: &Task, rows: usize, build: impl FnOnce() -> Q) -> Run
where
    for<'p> &'p Q: Into<Objective<'p>>,
{
    solve_from(task, rows, || {
        let problem = build();
        let start = vec![0.0; (&problem).into().inner.d()];
        (problem, start)
    })
}

/// [`solve`] from a start that is built with the problem.
pub(crate) fn solve_from<Q>(task: &Task, rows: usize, build: impl FnOnce() -> (Q, Vec<f64>)) -> Run
where
    for<'p> &'p Q: Into<Objective<'p>>,
{
    // The driver counts the method's own seconds; this counts all.
    let too_late = AtomicBool::new(false);
    let limit = Duration::from_secs_f64(task.max_seconds);
    let (done, waiting) = channel::<()>();
    let flag = &too_late;
    thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::Relaxed);
            }
        });
        let run = solve_until(task, rows, build, flag);
        drop(done);
        run
    })
}

fn solve_until<Q>(
    task: &Task,
    rows: usize,
    build: impl FnOnce() -> (Q, Vec<f64>),
    too_late: &AtomicBool,
) -> Run
where
    for<'p> &'p Q: Into<Objective<'p>>,
{
    let (cpu, begun) = (cpu_seconds(), Instant::now());
    let (problem, start) = build();
    let stop = Stop { max_outer: None, tolerance: Some(task.tolerance), ..Stop::default() };
    let driver = Driver { stop, interrupt: Some(too_late), ..Driver::default() };
    let (method, solution): (AnyMethod, Solution) = if task.method == "auto" {
        let outcome = auto::solve(&driver, &problem, &start, &mut (), 0).expect("a method");
        (outcome.method, outcome.solution)
    } else {
        let method = AnyMethod::named(task.method, &Choice::default(), &problem, &start)
            .unwrap_or_else(|error| panic!("{}: {error}", task.method));
        let solution = method.run(&driver, &problem, &start, &mut ());
        (method, solution)
    };
    let seconds = begun.elapsed().as_secs_f64();
    Run {
        seconds,
        cpu_seconds: cpu_seconds() - cpu,
        passes: solution.rows as f64 / rows as f64,
        method: method.info().name.to_owned(),
        measure: solution.certificate.measure,
        optimality: solution.certificate.relative,
        solved: solution.status.is_solved(),
        objective: solution.objective,
        theta: solution.theta,
    }
}

impl Run {
    /// Two runs one after the other.
    #[must_use]
    pub fn then(mut self, next: Run) -> Run {
        self.theta.extend_from_slice(&next.theta);
        let worse = |a: Option<f64>, b: Option<f64>| Some(a?.max(b?));
        Run {
            seconds: self.seconds + next.seconds,
            cpu_seconds: self.cpu_seconds + next.cpu_seconds,
            theta: self.theta,
            passes: self.passes.max(next.passes),
            optimality: worse(self.optimality, next.optimality),
            solved: self.solved && next.solved,
            ..next
        }
    }
}

/// The mean of `term(i)` over `0..n`, in parallel.
pub(crate) fn mean(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    use rayon::prelude::*;
    const PIECE: usize = 1024;
    let pieces: Vec<f64> = (0..n.div_ceil(PIECE))
        .into_par_iter()
        .map(|piece| (piece * PIECE..((piece + 1) * PIECE).min(n)).map(&term).sum())
        .collect();
    pieces.iter().sum::<f64>() / n as f64
}

/// `<a, b>`
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::bellman::BellmanCase;
    use super::groups::GroupsCase;
    use super::linear::{LinearCase, Loss};
    use super::portfolio::{PortfolioCase, PortfolioTask};
    use super::*;

    /// The plain formula says of our solution what ours says, and a point nearby is worse.
    fn check(case: &dyn Case) {
        check_by(case, "lbfgs");
    }

    fn check_by(case: &dyn Case, method: &'static str) {
        let run = case.solve(&Task { method, tolerance: 1e-9, max_seconds: 60.0 });
        assert!(run.solved, "{}", case.sizes());
        let objectives = case.objectives(&run.theta);
        let last = objectives[objectives.len() - 1];
        assert!(
            (last - run.objective).abs() <= 1e-10 * last.abs(),
            "{} {last} {}",
            case.sizes(),
            run.objective
        );
        let nearby: Vec<f64> =
            run.theta.iter().enumerate().map(|(k, t)| t + 0.01 * (k as f64).cos()).collect();
        for (here, there) in objectives.iter().zip(case.objectives(&nearby)) {
            assert!(*here < there, "{} {here} {there}", case.sizes());
        }
    }

    #[test]
    fn formulas_agree_with_the_library() {
        check(&PortfolioCase::generated(2, 300, 5, PortfolioTask::Free));
        check(&PortfolioCase::generated(1, 300, 5, PortfolioTask::LongOnly));
        check_by(&PortfolioCase::generated(1, 300, 5, PortfolioTask::Absolute), "auto");
        check_by(&PortfolioCase::generated(1, 303, 5, PortfolioTask::Cvar), "auto");
        check(&LinearCase::dense(200, 4, Loss::Logistic, 1));
        check(&LinearCase::dense(200, 4, Loss::SquaredHinge, 1));
        check(&LinearCase::sparse(300, 40, 5, Loss::Logistic, 1));
        check(&LinearCase::elastic_net(200, 6, 1));
        check(&GroupsCase::new(20, 10, 3, false, 1));
        check(&BellmanCase::new(20, 3, 1));
    }
}
