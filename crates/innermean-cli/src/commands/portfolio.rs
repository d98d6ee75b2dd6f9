//! `innermean portfolio`: weights for assets from a table of their returns.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use innermean::Status;
use innermean_apps::portfolio::{Aim, PortfolioSettings, PortfolioTask, Risk};
use innermean_data::{ReadOptions, Returns, generate_factor_model};

use self::desk::DeskFlags;
use self::report::PortfolioApplication;
use crate::flags::columns::{MissingChoice, MissingFlags};
use crate::flags::input::limits;
use crate::flags::number;
use crate::flags::output::OutputFlags;
use crate::flags::regularizer::RegularizerFlags;
use crate::flags::solver::SolverFlags;
use crate::flags::spelling::by_name;
use crate::run::application::{Request, solve};

mod desk;
mod report;

/// The market that stands in where no file is given.
const GENERATED_ROWS: usize = 7240;
const GENERATED_ASSETS: usize = 25;
/// Of the data, not of the run: `--seed` must not change the problem.
const GENERATED_SEED: u64 = 1;

/// Choose a portfolio: much return, little risk
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
pub(crate) struct PortfolioArgs {
    /// Returns: one row for each period, one column for each asset; header and dates are found by
    /// themselves [default: a generated market of 25 portfolios over 7240 days]
    file: Option<PathBuf>,

    #[command(flatten)]
    problem: ProblemFlags,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    solver: SolverFlags,
}

/// What is minimised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct ProblemFlags {
    #[command(flatten)]
    risk: RiskFlags,

    #[command(flatten)]
    regularizer: RegularizerFlags,

    #[command(flatten)]
    missing: MissingFlags,

    #[command(flatten)]
    desk: DeskFlags,
}

/// What risk is, and what it weighs.
#[derive(Debug, Args)]
struct RiskFlags {
    /// What is sought: much return and little risk, or the least risk
    #[arg(long, value_name = "AIM", default_value = "utility", value_parser = by_name::<Aim>())]
    objective: Aim,

    /// The measure of risk
    #[arg(long, value_name = "MEASURE", default_value = "variance", value_parser = by_name::<Risk>())]
    risk: Risk,

    /// c, the weight of risk against expected return
    #[arg(long, value_name = "C", default_value = "1", value_parser = number::positive)]
    #[arg(allow_hyphen_values = true)]
    risk_aversion: f64,

    /// h of --risk huber, in the unit of the returns [default: the mean absolute deviation of all
    /// returns]
    #[arg(long, value_name = "H", value_parser = number::positive, allow_hyphen_values = true)]
    huber_width: Option<f64>,
}

/// A paragraph a line: clap breaks lines at the terminal's width.
const LONG_ABOUT: &str = "\
Choose a portfolio: much return, little risk.

  min over theta of  -<m, theta> + (1/n) sum_i phi(<x_i - m, theta>) + g(theta)

x_i are the returns of the d assets in period i, m is their mean, theta the weights. phi makes the risk:

  variance      phi(u) = c u^2
  semivariance  phi(u) = c min(u, 0)^2
  absolute      phi(u) = c |u|, which makes the mean absolute deviation
  huber         phi(u) = c u^2 / (2h) if |u| <= h, c (|u| - h/2) otherwise

g is a constraint, an l1 norm and a ridge, none of them by default, and whatever limits and costs are given. With --objective min-risk the first term is left out. \
Weights are real numbers: limits on the number of assets, lots and whole shares are not convex and not for this program; round the answer, fix what must be \
zero with --limits, and solve again.

The run stops as solved when the answer is proven to be within --tolerance of the optimum, relative to the objective's scale: \
by the duality gap, or for variance by a bound that is exact. Semivariance and huber without a constraint, an l1 norm or a ridge that holds \
theta have no such proof; there the norm of the gradient over its norm at zero is compared. It is looked at after each outer iteration. A limit may end \
the run before; then the answer is the best point so far. So do Ctrl-C and the signals TERM and HUP; a second one ends the program.";

const AFTER_HELP: &str = "\
Examples:
  innermean portfolio                 # a generated market
  innermean portfolio returns.csv --constraint long-only --risk-aversion 2
  innermean portfolio returns.csv --constraint long-only --objective min-risk --target-return 0.05
  innermean portfolio returns.csv --constraint long-only --limits limits.csv --current held.csv --turnover 0.2
  innermean portfolio returns.csv --json --trace run.jsonl > answer.json
  innermean portfolio returns.csv --start answer.json --tolerance 1e-10

Exit codes: 0 solved, 1 stopped at a limit, diverged or interrupted, 2 bad usage, input or output.";

/// What is minimised.
impl From<&ProblemFlags> for PortfolioSettings {
    fn from(flags: &ProblemFlags) -> Self {
        let &RegularizerFlags { constraint, penalty } = &flags.regularizer;
        let mut settings = PortfolioSettings::default();
        settings.aim = flags.risk.objective;
        settings.risk = flags.risk.risk;
        settings.risk_aversion = flags.risk.risk_aversion;
        settings.huber_width = flags.risk.huber_width;
        settings.constraint = constraint;
        settings.penalty = penalty.into();
        settings
    }
}

/// Returns and flags made into a problem.
pub(crate) struct Market {
    /// Names, source and notes; the values are in the problem.
    pub(crate) returns: Returns,
    pub(crate) task: PortfolioTask,
}

impl ProblemFlags {
    /// Reads the file, or generates a market.
    pub(crate) fn market(&self, file: Option<&Path>) -> Result<Market> {
        let settings = PortfolioSettings::from(self);
        let limits = self.desk.limits()?;
        if limits.is_empty() {
            settings.check()?;
        }
        let mut returns = returns(file, self.missing.missing)?;
        let values = std::mem::take(&mut returns.values);
        let task = PortfolioTask::within(returns.names.clone(), values, &settings, limits)?;
        Ok(Market { returns, task })
    }
}

/// Solves and reports.
pub(crate) fn run(args: &PortfolioArgs) -> Result<Status> {
    let PortfolioArgs { file, problem: flags, solver, output } = args;
    let request = Request::new(solver, output, file.as_deref().into_iter().collect(), None)?;
    let Market { returns, task } = flags.market(file.as_deref())?;
    let application = PortfolioApplication {
        returns: &returns,
        generated: file.is_none(),
        flags,
        start: &solver.start,
        task: &task,
    };
    solve(&application, &request)
}

fn returns(file: Option<&Path>, missing: MissingChoice) -> Result<Returns> {
    let Some(file) = file else {
        return Ok(generate_factor_model(GENERATED_ROWS, GENERATED_ASSETS, GENERATED_SEED));
    };
    if file == Path::new("-") {
        bail!(
            "-: standard input is not read; expected the path of a file, or no FILE for a \
             generated market"
        );
    }
    Ok(limits().read_returns(file, &ReadOptions { missing: missing.into() })?)
}
