//! What is said about a portfolio, to people and to programs.

use anyhow::Result;
use innermean::{Inner, Solution};
use innermean_apps::portfolio::{Aim, PortfolioAnswer, PortfolioTask, Risk};
use innermean_apps::run::Task;
use innermean_data::Returns;
use serde::Serialize;

use super::ProblemFlags;
use crate::flags::columns::MissingChoice;
use crate::flags::spelling::spelled;
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::Heading;
use crate::run::application::{Application, Page, Source};
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
}

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    #[serde(flatten)]
    found: PortfolioAnswer,
    dropped: Dropped<'a>,
}

#[derive(Serialize)]
struct Dropped<'a> {
    rows: usize,
    assets: &'a [String],
}

#[derive(Serialize)]
pub(super) struct Settings {
    objective: Aim,
    risk: Risk,
    risk_aversion: f64,
    huber_width: Option<f64>,
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
    limited_assets: usize,
    limited_groups: usize,
    start: String,
    missing: MissingChoice,
}

impl Application for PortfolioApplication<'_> {
    const NAME: &'static str = "portfolio";
    type Task = PortfolioTask;
    type Answer<'a>
        = Answer<'a>
    where
        Self: 'a;
    type Settings<'a>
        = Settings
    where
        Self: 'a;

    fn task(&self) -> &PortfolioTask {
        self.task
    }

    fn title(&self) -> String {
        let portfolio = self.task.portfolio();
        let (n, d) = (portfolio.n_x(), portfolio.d());
        let assets = if d == 1 { "asset" } else { "assets" };
        format!("Portfolio of {} {assets} over {} periods", grouped(d as u64), grouped(n as u64))
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.returns.source, generated: self.generated, asked: false }
    }

    fn answer<'a>(&'a self, found: PortfolioAnswer, _: &'a Solution) -> Result<Answer<'a>> {
        let dropped = &self.returns.dropped;
        Ok(Answer { found, dropped: Dropped { rows: dropped.rows, assets: &dropped.columns } })
    }

    fn settings(&self) -> Settings {
        let ProblemFlags { risk, regularizer, missing, .. } = self.flags;
        let limits = self.task.limits();
        Settings {
            objective: risk.objective,
            gross: limits.gross,
            turnover: limits.turnover,
            cost: limits.cost,
            target_return: limits.target_return,
            limited_assets: limits.assets.len(),
            limited_groups: limits.groups.len(),
            risk: risk.risk,
            risk_aversion: risk.risk_aversion,
            huber_width: self.task.width(),
            constraint: regularizer.constraint.to_string(),
            l1: regularizer.penalty.l1,
            l2: regularizer.penalty.l2,
            start: self.start.to_string(),
            missing: missing.missing,
        }
    }

    fn describe<'a>(&'a self, answer: &'a Answer<'_>, solution: &'a Solution, page: &mut Page<'a>) {
        let heading = Heading { name: "asset", number: "weight", sum: true };
        page.numbers(heading, &self.returns.names, &solution.theta);
        let facts = &mut page.facts;
        facts.line(
            "expected return",
            &format!("{} per period", significant(answer.found.expected_return, 6)),
        );
        let deviation = answer.found.standard_deviation.map_or(String::new(), |deviation| {
            format!(" (standard deviation {})", significant(deviation, 6))
        });
        let risk = self.flags.risk.risk;
        facts.line(risk.title(), &format!("{}{deviation}", significant(answer.found.risk, 6)));
        if let Some(turnover) = answer.found.turnover {
            facts.line("turnover", &format!("{} (sum of all trades)", significant(turnover, 6)));
        }
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.task.formula()),
        );
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
