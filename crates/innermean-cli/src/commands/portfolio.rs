//! `innermean portfolio`: weights for assets from a table of their returns.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{ArgGroup, Args};
use innermean::Status;
use innermean_apps::portfolio::{Aim, PortfolioSettings, PortfolioTask, Risk, Walk, WalkSettings};
use innermean_apps::run::{Solver, Task};
use innermean_data::{Missing, Returns, visible};

use self::desk::DeskFlags;
use self::input::FileFlags;
use self::report::PortfolioApplication;
use self::scenarios::ScenarioFlags;
use self::study::{Desktop, SoughtFlags, Study, StudyFlags, WeightsFlags};
use crate::flags::columns::MissingChoice;
use crate::flags::inference::share;
use crate::flags::input::fits_copied;
use crate::flags::number;
use crate::flags::output::OutputFlags;
use crate::flags::regularizer::RegularizerFlags;
use crate::flags::solver::SolverFlags;
use crate::flags::spelling::by_name;
use crate::output::human::grouped;
use crate::run::application::solve;
use crate::run::request::Request;

mod desk;
mod input;
mod pictures;
mod report;
mod scenarios;
mod story;
mod study;

/// Choose a portfolio: much return, little risk
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
#[command(group = ArgGroup::new("compounded").args(["walk_forward", "report"]).multiple(true))]
pub(crate) struct PortfolioArgs {
    /// Returns: one row for each period, one column for each asset; header and dates are found by
    /// themselves [default: a generated market of 25 portfolios over 7240 days]
    file: Option<PathBuf>,

    #[command(flatten)]
    problem: ProblemFlags,

    #[command(flatten)]
    study: StudyFlags,

    #[command(flatten)]
    weights: WeightsFlags,

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
    desk: DeskFlags,

    #[command(flatten)]
    scenarios: ScenarioFlags,

    #[command(flatten)]
    file: FileFlags,
}

/// What risk is, and what it weighs.
#[derive(Debug, Args)]
struct RiskFlags {
    /// What is sought: much return and little risk, the least risk, the largest return (with
    /// --max-risk within a risk), or the largest ratio of return to risk
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

    /// The part of all periods that is not among the worst, for --risk cvar [default: 0.95]
    #[arg(long, value_name = "PART", value_parser = share, allow_hyphen_values = true)]
    level: Option<f64>,

    /// gamma of --risk entropic, over the unit of the returns [default: 1]
    #[arg(long, value_name = "GAMMA", value_parser = number::positive, allow_hyphen_values = true)]
    exponent: Option<f64>,

    /// Returns are in percent, for --risk kelly; otherwise they are fractions
    #[arg(long)]
    percent: bool,

    #[command(flatten)]
    sought: SoughtFlags,
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

or it is one of the returns r_i = <x_i, theta> themselves, in place of the sum:

  cvar          c min over t of t + (1/n) sum_i max(-r_i - t, 0) / (1 - level), the mean of the worst losses
  entropic      (c/gamma) log (1/n) sum_i exp(-gamma r_i)
  kelly         -(c/n) sum_i log(1 + r_i), with --percent log(1 + r_i/100); with --objective min-risk the portfolio that grows fastest

With --weight or --half-life every mean is a weighted one, m too; with --benchmark r_i and x_i - m are those of the difference to the benchmark. \
With --risk-budget the problem is min over theta > 0 of theta' Sigma theta - sum_l b_l log theta_l, and theta is divided by its sum: asset l then contributes \
the part b_l / sum b of the variance.

g is a constraint, an l1 norm and a ridge, none of them by default, and whatever limits and costs are given. With --objective min-risk the first term is left out. \
max-return and max-sharpe search for the c at which the answer has the largest return within --max-risk, or the largest ratio of return above --risk-free to risk \
(to its root, where it is a mean of squares: the standard deviation), and say how much larger any other can be. \
Weights are real numbers: limits on the number of assets, lots and whole shares are not convex and not for this program, nor are drawdowns (CDaR), which \
depend on the order of periods. Round the largest weights, fix them and what must be zero by equal limits in --limits, and solve again.

The run stops as solved when the answer is proven to be within --tolerance of the optimum, relative to the objective's scale: \
by the duality gap, or for variance by a bound that is exact. Semivariance and huber without a constraint, an l1 norm or a ridge that holds \
theta have no such proof; there the norm of the gradient over its norm at zero is compared. It is looked at after each outer iteration. A limit may end \
the run before; then the answer is the best point so far. So do Ctrl-C and the signals TERM and HUP; a second one ends the program.";

const AFTER_HELP: &str = "\
Examples:
  innermean portfolio                 # a generated market
  innermean portfolio returns.csv --constraint long-only --risk-aversion 2
  innermean portfolio prices.csv --prices simple --from 2015 --except VIX --constraint long-only
  innermean portfolio returns.csv --constraint long-only --objective min-risk --target-return 0.05
  innermean portfolio returns.csv --constraint long-only --limits limits.csv --current held.csv --turnover 0.2
  innermean portfolio returns.csv --constraint long-only --risk cvar --level 0.99
  innermean portfolio returns.csv --constraint long-only --half-life 60 --benchmark SPY
  innermean portfolio returns.csv --risk-budget equal
  innermean portfolio --covariance covariance.csv --mean mean.csv --constraint long-only

  innermean portfolio returns.csv --constraint long-only --objective max-sharpe --risk-free 0.01 --weights weights.csv
  innermean portfolio returns.csv --constraint long-only --frontier 50 --annualize 252 --report page.html
  innermean portfolio returns.csv --constraint long-only --walk-forward 1000,20 --cost 0.001
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
        settings.level = flags.risk.level;
        settings.exponent = flags.risk.exponent;
        settings.percent = flags.risk.percent;
        settings.constraint = constraint;
        settings.penalty = penalty.into();
        settings.max_risk = flags.risk.sought.max_risk;
        settings.risk_free = flags.risk.sought.risk_free;
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
        if self.file.moments {
            bail!(
                "--moments: a comparison needs the rows themselves; expected it without the flag"
            );
        }
        let settings = PortfolioSettings::from(self);
        let mut limits = self.desk.limits()?;
        limits.risk_budget = self.scenarios.risk_budget()?;
        if limits.is_empty() && limits.risk_budget.is_none() {
            settings.check()?;
        }
        let (returns, scenarios) = if self.scenarios.moments().is_some() {
            let earns = settings.aim != Aim::MinRisk && limits.risk_budget.is_none();
            self.scenarios.of_moments(file, earns || limits.target_return.is_some())?
        } else {
            if let Some(path) = &self.scenarios.mean {
                bail!("--mean {}: goes with --covariance or --factors", path.display());
            }
            let (mut returns, values) = self.file.returns(file, settings.constraint, None)?;
            if self.scenarios.half_life.is_some() {
                in_order(&returns, "--half-life")?;
            }
            let scenarios = self.scenarios.scenarios(&mut returns, values)?;
            (returns, scenarios)
        };
        let task = PortfolioTask::of(scenarios, &settings, limits)?;
        Ok(Market { returns, task })
    }

    /// The same of rows that are read once and not kept, if that will do.
    fn market_of_moments(&self, file: Option<&Path>, study: &StudyFlags) -> Result<Option<Market>> {
        let settings = PortfolioSettings::from(self);
        let constraint = settings.constraint;
        let hindrance = self.scenarios.needs_rows().or_else(|| match settings.aim {
            _ if settings.risk != Risk::Variance => Some("--risk"),
            Aim::MaxReturn | Aim::MaxSharpe => Some("--objective"),
            Aim::Utility | Aim::MinRisk => study.needs_rows(),
        });
        if !self.file.takes_moments(file, constraint, hindrance)? {
            return Ok(None);
        }
        let Some(file) = file else { return Ok(None) };
        let limits = self.desk.limits()?;
        if limits.is_empty() {
            settings.check()?;
        }
        let (mut returns, moments) = self.file.moments(file, constraint)?;
        returns.notes.push(format!(
            "Read {} rows once and kept their means and covariances alone.",
            grouped(moments.rows())
        ));
        let task = PortfolioTask::of_moments(returns.names.clone(), &moments, &settings, limits)?;
        Ok(Some(Market { returns, task }))
    }

    /// The same with the weight of risk that the objective asks for.
    pub(crate) fn searched_market(&self, file: Option<&Path>) -> Result<Market> {
        let mut market = self.market(file)?;
        market.task.search(&Solver::default(), None)?;
        Ok(market)
    }
}

/// Solves and reports.
pub(crate) fn run(args: &PortfolioArgs) -> Result<Status> {
    let PortfolioArgs { file, problem: flags, solver, output, study, weights } = args;
    let request = Request::new(solver, output, file.as_deref().into_iter().collect(), None)?
        .tabling("--weights", weights.weights.as_ref())?;
    let desktop = Desktop::new(solver)?;
    let (Market { returns, mut task }, walk) = args.market(&desktop)?;
    task.annualize(study.annualize);
    let frontier = desktop.study(&mut task, study.frontier)?;
    let study = Study { frontier, walk_forward: walk };
    let application = PortfolioApplication {
        study: &study,
        asked: &args.study,
        returns: &returns,
        generated: file.is_none() && !task.are_moments(),
        flags,
        start: &solver.start,
        task: &task,
        has_page: output.pictures.report.is_some(),
    };
    solve(&application, &request)
}

impl PortfolioArgs {
    /// The market of the answer, and the walk to it where one was asked for.
    fn market(&self, desktop: &Desktop) -> Result<(Market, Option<Walk>)> {
        let (flags, file) = (&self.problem, self.file.as_deref());
        if let Some(market) = flags.market_of_moments(file, &self.study)? {
            return Ok((market, None));
        }
        let Some(walk) = self.study.walk() else { return Ok((flags.market(file)?, None)) };
        let mut settings = PortfolioSettings::from(flags);
        settings.annualize = self.study.annualize;
        let mut limits = flags.desk.limits()?;
        limits.risk_budget = flags.scenarios.risk_budget()?;
        if limits.is_empty() && limits.risk_budget.is_none() {
            settings.check()?;
        }
        let (half_life, are_logs) = (flags.scenarios.half_life, flags.file.are_logs());
        let walk = WalkSettings { half_life, are_logs, ..walk };
        // A walk looks at each window's gaps.
        let is_refused = flags.file.missing.missing == MissingChoice::Error;
        let missing = is_refused.then_some(Missing::Keep);
        let (mut returns, values) = flags.file.returns(file, settings.constraint, missing)?;
        in_order(&returns, "--walk-forward")?;
        fits_copied(&format!("{}: --walk-forward", returns.source), &values)?;
        let values = values.numbers();
        let names = returns.names.clone();
        let (walk, task) = desktop.run("walk-forward", |solver, interrupt| {
            Walk::over(&names, &values, &settings, &limits, &walk, (solver, interrupt))
        })?;
        returns.names = task.coordinates().to_vec();
        Ok((Market { returns, task }, Some(walk)))
    }
}

/// Refuses rows that go back in time where `flag` takes them for its course.
fn in_order(returns: &Returns, flag: &str) -> Result<()> {
    let Some([before, label]) = returns.step_back() else { return Ok(()) };
    bail!(
        "{}: the rows are not in the order of their dates, which {flag} goes by: '{}' follows \
         '{}'; sort the rows by date",
        returns.source,
        visible(label),
        visible(before)
    )
}
