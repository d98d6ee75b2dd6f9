//! What is said about a portfolio, to people and to programs.

use anyhow::Result;
use innermean::{Inner, Solution};
use innermean_apps::portfolio::{
    Aim, Annual, DEFAULT_EXPONENT, DEFAULT_LEVEL, PortfolioAnswer, PortfolioTask, Risk, Sought,
};
use innermean_apps::run::Task;
use innermean_data::{OutColumn, OutTable, Returns};
use serde::Serialize;

use super::ProblemFlags;
use super::input::FileSettings;
use super::pictures;
use super::story::Story;
use super::study::{Study, StudyFlags};
use crate::flags::columns::MissingChoice;
use crate::flags::spelling::spelled;
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::{Beside, Heading};
use crate::run::application::{Application, Source};
use crate::run::page::Page;
use crate::run::start::Start;

/// All that the report draws on.
pub(super) struct PortfolioApplication<'a> {
    /// Names, source and notes; the values are in the problem.
    pub(super) returns: &'a Returns,
    /// Whether no file was given.
    pub(super) generated: bool,
    pub(super) flags: &'a ProblemFlags,
    pub(super) start: &'a Start,
    pub(super) task: &'a PortfolioTask,
    /// What was computed beside the answer.
    pub(super) study: &'a Study,
    pub(super) asked: &'a StudyFlags,
    /// Whether there is a page to draw on.
    pub(super) has_page: bool,
}

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    #[serde(flatten)]
    found: PortfolioAnswer,
    #[serde(flatten)]
    study: &'a Study,
    /// For pages alone: programs have theta and their file.
    #[serde(skip)]
    story: Option<Story>,
    dropped: Dropped<'a>,
}

#[derive(Serialize)]
struct Dropped<'a> {
    rows: usize,
    assets: &'a [String],
}

#[derive(Serialize)]
pub(super) struct Settings<'a> {
    objective: Aim,
    risk: Risk,
    risk_aversion: f64,
    huber_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exponent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    percent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    half_life: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    benchmark: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk_budget: Option<String>,
    constraint: String,
    l1: f64,
    l2: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gross: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turnover: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_return: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk_free: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frontier: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    walk_forward: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annualize: Option<f64>,
    limited_assets: usize,
    limited_groups: usize,
    start: String,
    missing: MissingChoice,
    #[serde(flatten)]
    file: FileSettings<'a>,
}

impl Application for PortfolioApplication<'_> {
    const NAME: &'static str = "portfolio";
    type Task = PortfolioTask;
    type Answer<'a>
        = Answer<'a>
    where
        Self: 'a;
    type Settings<'a>
        = Settings<'a>
    where
        Self: 'a;

    fn task(&self) -> &PortfolioTask {
        self.task
    }

    fn title(&self) -> String {
        let portfolio = self.task.portfolio();
        let d = portfolio.d();
        let assets = if d == 1 { "asset" } else { "assets" };
        let d = grouped(d as u64);
        match self.task.periods() {
            None => format!("Portfolio of {d} {assets} by mean and covariance"),
            Some(n) => format!("Portfolio of {d} {assets} over {} periods", grouped(n)),
        }
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.returns.source, generated: self.generated, asked: false }
    }

    fn answer<'a>(&'a self, found: PortfolioAnswer, solution: &'a Solution) -> Result<Answer<'a>> {
        let dropped = &self.returns.dropped;
        let dropped = Dropped { rows: dropped.rows, assets: &dropped.columns };
        let growth = (self.asked.unit, self.flags.file.are_logs());
        let story = || Story::new(self.task, &solution.theta, self.returns, growth);
        let story = self.has_page.then(story);
        Ok(Answer { found, study: self.study, story, dropped })
    }

    fn settings(&self) -> Settings<'_> {
        let ProblemFlags { risk, regularizer, file, scenarios, .. } = self.flags;
        let of = |wanted: Risk| risk.risk == wanted;
        let limits = self.task.limits();
        Settings {
            objective: risk.objective,
            gross: limits.gross,
            turnover: limits.turnover,
            cost: limits.cost,
            target_return: limits.target_return,
            max_risk: risk.sought.max_risk,
            risk_free: risk.sought.risk_free,
            frontier: self.asked.frontier,
            walk_forward: self.asked.walk_forward.map(|(train, test)| format!("{train},{test}")),
            annualize: self.asked.annualize,
            limited_assets: limits.assets.len(),
            limited_groups: limits.groups.len(),
            risk: risk.risk,
            risk_aversion: self.task.settings().risk_aversion,
            huber_width: self.task.width(),
            level: of(Risk::Cvar).then(|| risk.level.unwrap_or(DEFAULT_LEVEL)),
            exponent: of(Risk::Entropic).then(|| risk.exponent.unwrap_or(DEFAULT_EXPONENT)),
            percent: of(Risk::Kelly).then_some(risk.percent),
            weight: scenarios.weight.clone(),
            half_life: scenarios.half_life,
            benchmark: scenarios.benchmark.clone(),
            risk_budget: scenarios.risk_budget.clone(),
            constraint: regularizer.constraint.to_string(),
            l1: regularizer.penalty.l1,
            l2: regularizer.penalty.l2,
            start: self.start.to_string(),
            missing: file.missing.missing,
            file: file.settings(),
        }
    }

    fn describe<'a>(&'a self, answer: &'a Answer<'_>, solution: &'a Solution, page: &mut Page<'a>) {
        let heading = Heading { name: "asset", number: "weight", sum: true };
        let (words, difference) = ("what is held now", Some("the trade"));
        let beside = self.task.current().map(|numbers| Beside { numbers, words, difference });
        page.compared(heading, &self.returns.names, &solution.theta, beside);
        if let Some(story) = &answer.story {
            story.describe(page);
        }
        let facts = &mut page.facts;
        facts.line(
            "expected return",
            &format!("{} per period", significant(answer.found.expected_return, 6)),
        );
        let deviation = answer.found.standard_deviation.map_or(String::new(), |deviation| {
            format!(" (standard deviation {})", significant(deviation, 6))
        });
        let risk = self.flags.risk.risk;
        if let (Some(name), Some(earned)) = (self.task.benchmark(), answer.found.benchmark_return) {
            let beyond = answer.found.expected_return - earned;
            let text =
                format!("{} beyond {name}'s {}", significant(beyond, 6), significant(earned, 6));
            facts.line("difference", &text);
        }
        let tail = answer.found.value_at_risk.map_or(String::new(), |at| {
            let level = self.flags.risk.level.unwrap_or(DEFAULT_LEVEL);
            format!(" (at {level}; value at risk {})", significant(at, 6))
        });
        let of_what =
            self.task.benchmark().map_or(String::new(), |_| " of the difference".to_owned());
        let text = format!("{}{of_what}{deviation}{tail}", significant(answer.found.risk, 6));
        facts.line(risk.title(), &text);
        if let Some(parts) = &answer.found.risk_contributions {
            let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
            let most = parts.iter().copied().fold(0.0, f64::max);
            let text =
                format!("{} to {} of the variance", significant(least, 6), significant(most, 6));
            facts.line("contributions", &text);
        }
        if let Some(turnover) = answer.found.turnover {
            facts.line("turnover", &format!("{} (sum of all trades)", significant(turnover, 6)));
        }
        if let Some(ratio) = answer.found.sharpe_ratio {
            let free = significant(answer.found.risk_free.unwrap_or(0.0), 6);
            facts.line("Sharpe ratio", &format!("{} above {free}", significant(ratio, 6)));
        }
        if let Some(annual) = &answer.found.annual {
            facts.line("by the year", &by_the_year(annual));
        }
        if let Some(sought) = &answer.found.sought {
            facts.line("sought", &self.sought(sought));
        }
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.task.formula()),
        );
        pictures::describe(self.study, &answer.found, self.task, self.returns, page);
    }

    fn predicts_texts(&self) -> Option<&str> {
        Some("asset")
    }

    /// What `--weights` writes.
    fn predictions(&self, _: &Answer<'_>, solution: &Solution) -> Result<OutTable> {
        let theta = &solution.theta;
        let mut columns = vec![
            ("asset".to_owned(), OutColumn::Texts(self.returns.names.clone())),
            ("weight".to_owned(), OutColumn::Numbers(theta.clone())),
        ];
        if let Some(current) = self.task.current() {
            let trades = theta.iter().zip(current).map(|(x, held)| x - held).collect();
            columns.push(("current".to_owned(), OutColumn::Numbers(current.to_vec())));
            columns.push(("trade".to_owned(), OutColumn::Numbers(trades)));
        }
        Ok(OutTable { columns })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.returns.notes.clone();
        let dropped = &self.returns.dropped;
        if dropped.rows > 0 {
            notes.push(format!(
                "Rows left out because of missing values: {}.",
                grouped(dropped.rows as u64)
            ));
        }
        if !dropped.columns.is_empty() {
            notes.push(format!(
                "Assets left out because of missing values: {}.",
                dropped.columns.join(", ")
            ));
        }
        notes.extend(self.task.notes().iter().map(spelled));
        notes
    }
}

impl PortfolioApplication<'_> {
    /// What was searched for, and what is proven of it.
    fn sought(&self, sought: &Sought) -> String {
        let Sought { objective, value, at_most, max_risk, tried, .. } = *sought;
        let measure = self.flags.risk.risk;
        let has_costs = self.task.limits().cost.is_some();
        let net = if has_costs { " less costs" } else { "" };
        let what = match (objective, measure) {
            (Aim::MaxSharpe, Risk::Variance) => "ratio of return to standard deviation".to_owned(),
            (Aim::MaxSharpe, risk) if risk.is_square() => {
                format!("ratio of return to the root of the {}", risk.title())
            }
            (Aim::MaxSharpe, risk) => format!("ratio of return to {}", risk.title()),
            _ => "return".to_owned(),
        };
        let within = max_risk.map_or(String::new(), |most| format!(" within a risk of {most}"));
        let proven = if at_most.is_finite() {
            format!("proven to be within {:.1e} of any other", (at_most - value).max(0.0))
        } else {
            "without a proof that no other is larger".to_owned()
        };
        format!(
            "the largest {what}{net}{within}: {}, {proven} (weights of risk tried: {tried})",
            significant(value, 6)
        )
    }
}

fn by_the_year(annual: &Annual) -> String {
    format!(
        "return {}, standard deviation {}, Sharpe ratio {} ({} periods)",
        significant(annual.expected_return, 6),
        significant(annual.standard_deviation, 6),
        significant(annual.sharpe_ratio, 4),
        annual.periods
    )
}
