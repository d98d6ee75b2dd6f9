//! What is said about a portfolio, to people and to programs.

use anyhow::Result;
use innermean::{Inner, Solution};
use innermean_data::Returns;
use serde::Serialize;

use super::risk::Risk;
use super::{MissingChoice, PortfolioProblem, ProblemFlags};
use crate::human::{self, grouped, significant};
use crate::json;
use crate::plan::Plan;
use crate::start::Start;
use crate::weights;

/// All that the report draws on.
pub(super) struct Report<'a> {
    /// Names, source and notes; the values are in the problem.
    pub(super) returns: &'a Returns,
    /// Whether nobody gave a file.
    pub(super) generated: bool,
    pub(super) flags: &'a ProblemFlags,
    /// h of the Huber function.
    pub(super) width: Option<f64>,
    pub(super) start: &'a Start,
    /// Whether the start given was not allowed by the constraint.
    pub(super) moved: bool,
    pub(super) problem: &'a PortfolioProblem,
    pub(super) plan: &'a Plan,
}

#[derive(Serialize)]
struct Answer<'a> {
    names: &'a [String],
    expected_return: f64,
    risk: f64,
    risk_measure: Risk,
    standard_deviation: Option<f64>,
    source: &'a str,
    generated: bool,
    dropped: Dropped<'a>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Dropped<'a> {
    rows: usize,
    assets: &'a [String],
}

#[derive(Serialize)]
struct Settings {
    risk: Risk,
    risk_aversion: f64,
    huber_width: Option<f64>,
    constraint: String,
    l1: f64,
    l2: f64,
    start: String,
    missing: MissingChoice,
}

impl Report<'_> {
    /// What is known before the run.
    pub(super) fn head(&self) -> String {
        let (n, d) = (self.problem.inner.n_x(), self.problem.inner.d());
        let source = if self.generated {
            format!("{} (no FILE was given)", self.returns.source)
        } else {
            self.returns.source.clone()
        };
        let assets = if d == 1 { "asset" } else { "assets" };
        let mut text =
            format!("Portfolio of {} {assets} over {} periods\n", grouped(d as u64), grouped(n as u64));
        text.push_str(&source);
        text.push('\n');
        for note in self.notes() {
            text.push_str(&human::paragraph("note:", &note));
        }
        text + "\n"
    }

    /// The answer for people.
    pub(super) fn body(&self, solution: &Solution) -> Result<String> {
        let numbers = self.numbers(solution)?;
        let mut text = weights::table("asset", &self.returns.names, &solution.theta, human::width());
        text.push('\n');
        let mut facts = human::Facts::default();
        facts.line("expected return", &format!("{} per period", significant(numbers.expected_return, 6)));
        let deviation = numbers.standard_deviation.map_or(String::new(), |deviation| {
            format!(" (standard deviation {})", significant(deviation, 6))
        });
        let risk = self.flags.risk.risk;
        facts.line(risk.title(), &format!("{}{deviation}", significant(numbers.risk, 6)));
        facts
            .line("objective", &format!("{} = {}", significant(solution.objective, 8), self.flags.formula()));
        facts.run(self.plan, solution);
        Ok(text + &facts.text())
    }

    /// The answer for programs.
    pub(super) fn json(&self, solution: &Solution) -> Result<String> {
        let n = self.problem.inner.n_x();
        let ProblemFlags { risk, regularizer, .. } = self.flags;
        let facts = json::Facts {
            problem: "portfolio",
            n_x: n,
            n_y: n,
            answer: self.numbers(solution)?,
            settings: Settings {
                risk: risk.risk,
                risk_aversion: risk.risk_aversion,
                huber_width: self.width,
                constraint: regularizer.constraint.to_string(),
                l1: regularizer.l1,
                l2: regularizer.l2,
                start: self.start.to_string(),
                missing: self.flags.missing,
            },
        };
        json::document(self.plan, solution, &facts)
    }

    fn numbers(&self, solution: &Solution) -> Result<Answer<'_>> {
        let portfolio = &self.problem.inner;
        let risk_measure = self.flags.risk.risk;
        let risk = self.flags.risk.value(self.width, portfolio, &solution.theta)?;
        let dropped = &self.returns.dropped;
        Ok(Answer {
            names: &self.returns.names,
            expected_return: portfolio.expected_return(&solution.theta),
            risk,
            risk_measure,
            standard_deviation: (risk_measure == Risk::Variance).then(|| risk.sqrt()),
            source: &self.returns.source,
            generated: self.generated,
            dropped: Dropped { rows: dropped.rows, assets: &dropped.columns },
            notes: self.notes(),
        })
    }

    /// What was decided without being asked, in whole sentences.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.returns.notes.clone();
        let dropped = &self.returns.dropped;
        if dropped.rows > 0 {
            notes.push(format!("Rows left out because of missing values: {}.", grouped(dropped.rows as u64)));
        }
        if !dropped.columns.is_empty() {
            notes.push(format!("Assets left out because of missing values: {}.", dropped.columns.join(", ")));
        }
        if let Some(width) = self.width {
            notes.push(format!("The Huber function bends at {} (--huber-width).", significant(width, 4)));
        }
        if !self.flags.regularizer.holds_theta() {
            notes.extend(self.flags.risk.note().map(str::to_owned));
            let (periods, assets) = (self.problem.inner.n_x(), self.problem.inner.d());
            if periods <= assets {
                notes.push(format!(
                    "With {periods} periods for {assets} assets some portfolio has return and no risk at all, so that the objective has no minimum: give a --constraint, or --l2."
                ));
            } else {
                notes
                    .push("Without a constraint the weights need not sum to 1; see --constraint.".to_owned());
            }
        }
        notes.extend(self.flags.regularizer.note());
        if self.moved {
            notes.push(
                "The start given is not allowed by the constraint; the run begins at the allowed point next to it."
                    .to_owned(),
            );
        }
        notes
    }
}
