//! What is said about a portfolio, to people and to programs.

use anyhow::Result;
use innermean::{Inner, Solution};
use innermean_data::Returns;
use serde::Serialize;

use super::risk::Risk;
use super::{PortfolioProblem, ProblemFlags};
use crate::flags::columns::MissingChoice;
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::Heading;
use crate::run::application::{Application, Page, Source};
use crate::run::start::Start;

/// All that the report draws on.
pub(super) struct PortfolioApplication<'a> {
    /// Names, source and notes; the values are in the problem.
    pub(super) returns: &'a Returns,
    /// Whether nobody gave a file.
    pub(super) generated: bool,
    pub(super) flags: &'a ProblemFlags,
    /// h of the Huber function.
    pub(super) width: Option<f64>,
    pub(super) start: &'a Start,
    pub(super) problem: &'a PortfolioProblem,
}

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    expected_return: f64,
    risk: f64,
    risk_measure: Risk,
    standard_deviation: Option<f64>,
    dropped: Dropped<'a>,
}

#[derive(Serialize)]
struct Dropped<'a> {
    rows: usize,
    assets: &'a [String],
}

#[derive(Serialize)]
pub(super) struct Settings {
    risk: Risk,
    risk_aversion: f64,
    huber_width: Option<f64>,
    constraint: String,
    l1: f64,
    l2: f64,
    start: String,
    missing: MissingChoice,
}

impl Application for PortfolioApplication<'_> {
    const NAME: &'static str = "portfolio";
    const HOLDS: &'static str = "--constraint, --l2";
    type Answer<'a>
        = Answer<'a>
    where
        Self: 'a;
    type Settings<'a>
        = Settings
    where
        Self: 'a;

    fn title(&self) -> String {
        let (n, d) = (self.problem.inner.n_x(), self.problem.inner.d());
        let assets = if d == 1 { "asset" } else { "assets" };
        format!("Portfolio of {} {assets} over {} periods", grouped(d as u64), grouped(n as u64))
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.returns.source, generated: self.generated, asked: false }
    }

    fn coordinates(&self) -> &[String] {
        &self.returns.names
    }

    fn answer<'a>(&'a self, solution: &'a Solution) -> Result<Answer<'a>> {
        let portfolio = &self.problem.inner;
        let risk_measure = self.flags.risk.risk;
        let risk = self.flags.risk.value(self.width, portfolio, &solution.theta)?;
        let dropped = &self.returns.dropped;
        Ok(Answer {
            expected_return: portfolio.expected_return(&solution.theta),
            risk,
            risk_measure,
            standard_deviation: (risk_measure == Risk::Variance).then(|| risk.sqrt()),
            dropped: Dropped { rows: dropped.rows, assets: &dropped.columns },
        })
    }

    fn settings(&self) -> Settings {
        let ProblemFlags { risk, regularizer, missing } = self.flags;
        Settings {
            risk: risk.risk,
            risk_aversion: risk.risk_aversion,
            huber_width: self.width,
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
            &format!("{} per period", significant(answer.expected_return, 6)),
        );
        let deviation = answer.standard_deviation.map_or(String::new(), |deviation| {
            format!(" (standard deviation {})", significant(deviation, 6))
        });
        let risk = self.flags.risk.risk;
        facts.line(risk.title(), &format!("{}{deviation}", significant(answer.risk, 6)));
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.flags.formula()),
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
        if let Some(width) = self.width {
            notes.push(format!(
                "The Huber function bends at {} (--huber-width).",
                significant(width, 4)
            ));
        }
        if !self.flags.regularizer.holds_theta() {
            notes.extend(self.flags.risk.note().map(str::to_owned));
            let (periods, assets) = (self.problem.inner.n_x(), self.problem.inner.d());
            if periods <= assets {
                notes.push(format!(
                    "With {periods} periods for {assets} assets some portfolio has return and no risk at all, so that the objective has no minimum: give a --constraint, or --l2."
                ));
            } else {
                notes.push(
                    "Without a constraint the weights need not sum to 1; see --constraint."
                        .to_owned(),
                );
            }
        }
        notes.extend(self.flags.regularizer.note());
        notes
    }
}
