//! `innermean policy`: the value of every state under a policy, from a log of transitions or a
//! model.

use anyhow::Result;
use clap::Args;
use innermean::Status;

use self::flags::PolicyFlags;
use self::report::PolicyApplication;
use self::task::Task;
use crate::flags::output::OutputFlags;
use crate::flags::solver::SolverFlags;
use crate::output::predictions::PredictionFlags;
use crate::run::application::{Request, solve};
use crate::run::plan::Plan;

mod closed_form;
mod features;
pub(crate) mod flags;
mod generate;
mod known;
mod read;
mod report;
pub(crate) mod task;

/// Evaluate a policy: the value of every state
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
#[command(mut_arg("tolerance", |arg| arg.default_value(TOLERANCE)))]
pub(crate) struct PolicyArgs {
    #[command(flatten)]
    problem: PolicyFlags,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    predictions: PredictionFlags,

    #[command(flatten)]
    solver: SolverFlags,
}

/// A gap is the square of an error: eight digits of values take 1e-16, and with the condition of a
/// discount of 0.99, 4e4, so much less.
const TOLERANCE: &str = "1e-20";

/// A paragraph a line: clap breaks lines at the terminal's width.
const LONG_ABOUT: &str = "\
Evaluate a policy: the value of every state.

  min over theta of  (1/n) sum_s ( V(s) - mean of (r + discount V(next)) )^2 + g(theta),  V(s) = <features of s, theta>

The mean is over the transitions that leave state s: those in the log, by their weights, or those of the model, by their probabilities. \
Where an episode ends, the value is 0. Every state that is left counts once. This is the mean squared Bellman error; --objective projected \
takes the mean squared projected Bellman error instead, whose minimum is the LSTD solution.

Without features every state has a value of its own (one-hot features), and the error can be made zero.

The answer is compared with the solution of the normal equations, or LSTD, wherever that is not too large. The run stops as solved when \
the objective is proven to be within --tolerance of its minimum, relative to what it is at zero.";

const AFTER_HELP: &str = "\
Examples:
  innermean policy                                     # the paper's random process
  innermean policy --generate grid --grid 5x5 --policy shortest
  innermean policy log.csv --discount 0.99 --features features.csv --predictions values.csv
  innermean policy --model P.npy --rewards r.npy --discount 0.95 --json
  innermean policy log.csv --never-left terminal --objective projected

Exit codes: 0 solved, 1 stopped at a limit, diverged or interrupted, 2 bad usage, input or output.";

/// Solves and reports.
pub(crate) fn run(args: &PolicyArgs) -> Result<Status> {
    let PolicyArgs { problem: flags, solver, output, predictions } = args;
    let request = Request::new(solver, output, flags.inputs(), predictions)?;
    let task = Task::new(flags)?;
    let problem = task.problem();
    let application = PolicyApplication { task: &task, flags, start: &solver.start };
    solve(&application, problem, &request, Plan::run)
}
