//! `innermean policy`: the value of every state under a policy, from a log of transitions or a
//! model.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use innermean::Status;
use innermean_apps::policy::{PolicySettings, PolicyTask};
use innermean_apps::run::Task;

use self::features::Described;
use self::flags::PolicyFlags;
use self::read::Known;
use self::report::PolicyApplication;
use crate::flags::inference::{InferenceFlags, covariance_fits};
use crate::flags::output::OutputFlags;
use crate::flags::solver::SolverFlags;
use crate::output::predictions::PredictionFlags;
use crate::run::application::solve;
use crate::run::request::Request;

mod features;
pub(crate) mod flags;
mod generate;
mod initial;
mod log;
mod moments;
mod read;
mod report;

/// Evaluate a policy: the value of every state
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
#[command(mut_arg("tolerance", |arg| arg.default_value(TOLERANCE)))]
pub(crate) struct PolicyArgs {
    #[command(flatten)]
    problem: PolicyFlags,

    /// Read the log once and keep only means of products of features and rewards: memory does not
    /// grow with the rows, and the answer is the same. For --objective projected with
    /// --next-features [default: where the numbers of the file take more than 64 MiB and nothing
    /// asks for the rows: --predictions, --standard-errors, a method]
    #[arg(long, help_heading = "Columns")]
    moments: bool,

    #[command(flatten)]
    inference: InferenceFlags,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    predictions: PredictionFlags,

    /// Write the values to a file, as JSON, for innermean predict to apply to other states
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    save_model: Option<PathBuf>,

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
takes the mean squared projected Bellman error instead, whose minimum is the LSTD solution, or LSTD(lambda) with --lambda.

A state that is seen once has one next state, and the square of its mean error is the squared TD error, whose minimum is biased by the noise \
of the steps: the double-sampling problem of all logs with continuous states. So where features describe the states of a log and more than \
half of its transitions leave a state that is seen once, the projected error is the default, and a note says so. --objective bellman takes \
the other, which is right if steps are deterministic.

Without features every state has a value of its own (one-hot features), and the error can be made zero.

--standard-errors and --bootstrap say how sure the values are. Episodes are the independent observations where a log has several; of one \
episode they are the transitions, which is right where states are Markov.

The answer is compared with the solution of the normal equations, or LSTD, wherever that is not too large. The run stops as solved when \
the objective is proven to be within --tolerance of its minimum, relative to what it is at zero.";

const AFTER_HELP: &str = "\
Examples:
  innermean policy                                     # the paper's random process
  innermean policy --generate grid --grid 5x5 --policy shortest
  innermean policy log.csv --discount 0.99 --features features.csv --predictions values.csv
  innermean policy --model P.npy --rewards r.npy --discount 0.95 --json
  innermean policy log.csv --never-left terminal --objective projected
  innermean policy log.csv --features x,y --next-features x2,y2 --intercept --lambda 0.9
  innermean policy hopper.hdf5 --discount 0.99 --initial-states first
  innermean policy log.csv --features x,y --next-features x2,y2 --standard-errors --initial-states first

Exit codes: 0 solved, 1 stopped at a limit, diverged or interrupted, 2 bad usage, input or output.";

/// A task, and where it comes from.
pub(crate) struct Evaluation {
    pub(crate) task: PolicyTask,
    pub(crate) source: String,
    /// What the readers of transitions and of features decided, in whole sentences.
    notes: (Vec<String>, Vec<String>),
}

impl PolicyFlags {
    /// Reads or generates, checks and builds.
    pub(crate) fn evaluation(&self) -> Result<Evaluation> {
        self.check()?;
        let settings = PolicySettings::from(self);
        let mut known = Known::new(self)?;
        let one_hot = features::is_one_hot(self, &known);
        if let Err(error) = known.process.settle(&settings, one_hot) {
            return Err(known.refused(error));
        }
        let mut features = features::features(self, &mut known)?;
        let notes = (std::mem::take(&mut known.notes), std::mem::take(&mut features.notes));
        let (features, source, table) = features.into_parts();
        let process = std::mem::take(&mut known.process);
        let initial = initial::initial_states(self, process.own_names())?;
        let task = PolicyTask::starting_at(initial.as_ref(), process, features, &settings)
            .map_err(|error| Described::refused(table.as_ref(), &known, error))?;
        let source = match source {
            Some(file) => format!("{}, {file}", known.source),
            None => known.source,
        };
        Ok(Evaluation { task, source, notes })
    }
}

/// Solves and reports.
pub(crate) fn run(args: &PolicyArgs) -> Result<Status> {
    let PolicyArgs { problem: flags, inference, output, predictions, save_model, .. } = args;
    let solver = &inference.tightened(&args.solver);
    let request = Request::new(solver, output, flags.inputs(), predictions)?
        .keeping("--save-model", save_model.as_ref())?;
    inference.check()?;
    let evaluation = match args.of_moments()? {
        Some(evaluation) => evaluation,
        None => flags.evaluation()?,
    };
    let task = &evaluation.task;
    let inference = inference.settings_by(task.usual_errors())?;
    task.check_inference(&inference)?;
    if inference.standard_errors.is_some() {
        covariance_fits(task.coordinates().len())?;
    }
    let application = PolicyApplication { evaluation: &evaluation, flags, inference, solver };
    solve(&application, &request)
}
