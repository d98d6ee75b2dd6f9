//! `innermean portfolio`: weights for assets from a table of their returns.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use innermean::{AnyMerit, AnyRegularizer, Inner, Portfolio, Problem, Ridged, Status, Tilted};
use innermean_data::{ReadOptions, Returns, generate_factor_model};

use self::report::PortfolioApplication;
use self::risk::{Risk, RiskFlags, mean_absolute_deviation};
use crate::flags::columns::{MissingChoice, MissingFlags};
use crate::flags::input::limits;
use crate::flags::output::OutputFlags;
use crate::flags::regularizer::{Constraint, PenaltyFlags, RegularizerFlags};
use crate::flags::solver::SolverFlags;
use crate::run::application::{Request, solve};
use crate::run::plan::Plan;

mod report;
mod risk;

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

g is a constraint, an l1 norm and a ridge, none of them by default.

The run stops as solved when the answer is proven to be within --tolerance of the optimum, relative to the objective's scale: \
by the duality gap, or for variance by a bound that is exact. Semivariance and huber without a constraint, an l1 norm or a ridge that holds \
theta have no such proof; there the norm of the gradient over its norm at zero is compared. It is looked at after each outer iteration. A limit may end \
the run before; then the answer is the best point so far. So do Ctrl-C and the signals TERM and HUP; a second one ends the program.";

const AFTER_HELP: &str = "\
Examples:
  innermean portfolio                 # a generated market
  innermean portfolio returns.csv --constraint long-only --risk-aversion 2
  innermean portfolio returns.csv --json --trace run.jsonl > answer.json
  innermean portfolio returns.csv --start answer.json --tolerance 1e-10

Exit codes: 0 solved, 1 stopped at a limit, diverged or interrupted, 2 bad usage, input or output.";

/// The problem as the library has it.
type PortfolioProblem = Problem<Portfolio, AnyMerit, Tilted<Ridged<AnyRegularizer>>>;

/// Returns and flags made into a problem.
pub(crate) struct Market {
    /// Names, source and notes; the values are in the problem.
    pub(crate) returns: Returns,
    /// h of the Huber function.
    width: Option<f64>,
    pub(crate) problem: PortfolioProblem,
}

impl ProblemFlags {
    /// Whether it is the objective of the paper, for which it gives settings: mean and variance,
    /// alike in weight, and nothing else.
    pub(crate) fn is_papers(&self) -> bool {
        let RegularizerFlags { constraint, penalty: PenaltyFlags { l1, l2 } } = self.regularizer;
        self.risk.risk == Risk::Variance
            && self.risk.risk_aversion == 1.0
            && constraint == Constraint::None
            && l1 == 0.0
            && l2 == 0.0
    }

    /// The objective in words.
    pub(crate) fn formula(&self) -> String {
        let ProblemFlags { risk, regularizer, .. } = self;
        let measure = match risk.risk {
            Risk::Absolute => "absolute deviation",
            other => other.title(),
        };
        let weight = if risk.risk_aversion == 1.0 {
            String::new()
        } else {
            format!("{} ", risk.risk_aversion)
        };
        let mut terms = vec!["-return".to_owned(), format!("{weight}{measure}")];
        let PenaltyFlags { l1, l2 } = regularizer.penalty;
        // The l1 norm of what is long-only is always 1.
        let l1 = if regularizer.constraint == Constraint::LongOnly { 0.0 } else { l1 };
        terms.extend(PenaltyFlags { l1, l2 }.terms("theta"));
        let formula = terms.join(" + ");
        match regularizer.constraint {
            Constraint::None => formula,
            Constraint::LongOnly => formula + ", theta >= 0, sum 1",
            Constraint::SumToOne { lo: f64::NEG_INFINITY, hi: f64::INFINITY } => {
                formula + ", sum 1"
            }
            Constraint::SumToOne { lo, hi } => formula + &format!(", {lo} <= theta <= {hi}, sum 1"),
            Constraint::Box { lo, hi } => formula + &format!(", {lo} <= theta <= {hi}"),
        }
    }

    /// Reads the file, or generates a market.
    pub(crate) fn market(&self, file: Option<&Path>) -> Result<Market> {
        if !self.regularizer.holds_theta() {
            self.risk.refuse_without_bounds()?;
        }
        let mut returns = returns(file, self.missing.missing)?;
        let portfolio = Portfolio::new(returns.assets(), std::mem::take(&mut returns.values))?;
        let d = portfolio.d();
        let width = self.risk.width(|| mean_absolute_deviation(&portfolio))?;
        let problem =
            portfolio.problem(self.risk.merit(width)?, self.regularizer.regularizer(d)?)?;
        Ok(Market { returns, width, problem })
    }
}

/// Solves and reports.
pub(crate) fn run(args: &PortfolioArgs) -> Result<Status> {
    let PortfolioArgs { file, problem: flags, solver, output } = args;
    let request = Request::new(solver, output, file.as_deref().into_iter().collect(), None)?;
    let Market { returns, width, problem } = flags.market(file.as_deref())?;
    let application = PortfolioApplication {
        returns: &returns,
        generated: file.is_none(),
        flags,
        width,
        start: &solver.start,
        problem: &problem,
    };
    solve(&application, &problem, &request, Plan::run)
}

fn returns(file: Option<&Path>, missing: MissingChoice) -> Result<Returns> {
    let Some(file) = file else {
        return Ok(generate_factor_model(GENERATED_ROWS, GENERATED_ASSETS, GENERATED_SEED));
    };
    if file == Path::new("-") {
        bail!(
            "-: standard input is not read; expected the path of a file, or no FILE for a generated market"
        );
    }
    Ok(limits().read_returns(file, &ReadOptions { missing: missing.into() })?)
}
