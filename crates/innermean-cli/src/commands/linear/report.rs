//! What is said about a linear predictor, to people and to programs.

use anyhow::Result;
use innermean::{Fused, Solution};
use serde::Serialize;

use super::classes::Classes;
use super::data::{Data, Target};
use super::fit::{Fit, probability};
use super::loss::Loss;
use super::{ColumnFlags, LinearProblem, ProblemFlags};
use crate::flags::columns::MissingChoice;
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::Heading;
use crate::output::predictions::{OutColumn, OutTable};
use crate::run::application::{Application, Page, Source};
use crate::run::start::Start;
use innermean::problems::scaling::Scaling;

/// All that the report draws on.
pub(super) struct LinearApplication<'a> {
    pub(super) data: &'a Data,
    /// In units of its own.
    pub(super) problem: &'a LinearProblem,
    pub(super) scaling: &'a Scaling,
    pub(super) flags: &'a ProblemFlags,
    pub(super) columns: &'a ColumnFlags,
    pub(super) loss: Loss,
    /// h of the loss.
    pub(super) width: Option<f64>,
    /// Of the coordinates, an intercept last.
    pub(super) names: Vec<String>,
    pub(super) start: &'a Start,
    /// Whether nobody gave a file.
    pub(super) generated: bool,
    /// Whether it was asked for that rows be generated.
    pub(super) asked: bool,
}

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    intercept: Option<f64>,
    /// Coefficients that are exactly zero.
    zeros: usize,
    #[serde(flatten)]
    fit: Fit,
    classes: Option<&'a Classes>,
    warning: Option<&'static str>,
    dropped: Dropped<'a>,
    /// Scores of the rows.
    #[serde(skip)]
    scores: Vec<f64>,
}

#[derive(Serialize)]
struct Dropped<'a> {
    rows: usize,
    features: &'a [String],
}

#[derive(Serialize)]
pub(super) struct Settings<'a> {
    loss: Loss,
    width: Option<f64>,
    intercept: bool,
    scaling: bool,
    l1: f64,
    l2: f64,
    target: Option<&'a str>,
    weight: Option<&'a str>,
    missing: MissingChoice,
    start: String,
}

impl LinearApplication<'_> {
    fn intercept(&self) -> bool {
        !self.flags.no_intercept
    }

    fn formula(&self) -> String {
        let mut terms = vec![self.loss.title().to_owned()];
        terms.extend(self.flags.penalty.terms("theta"));
        terms.join(" + ")
    }

    /// `<x_i, theta> + intercept` for all rows.
    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.data.len()];
        self.problem.inner.f().means(&self.scaling.scaled(theta), &mut scores);
        for (score, offset) in scores.iter_mut().zip(self.problem.inner.offsets()) {
            *score -= offset;
        }
        scores
    }

    /// Whether coefficients grow for ever.
    fn warning(&self, scores: &[f64]) -> Option<&'static str> {
        let Target::Classes(_, labels) = &self.data.target else { return None };
        let parted = labels.iter().zip(scores).all(|(y, score)| y * score > 0.0);
        self.flags.penalty.warning_if_parted(parted && self.loss == Loss::Logistic)
    }
}

impl Application for LinearApplication<'_> {
    const NAME: &'static str = "linear";
    type Answer<'a>
        = Answer<'a>
    where
        Self: 'a;
    type Settings<'a>
        = Settings<'a>
    where
        Self: 'a;

    fn title(&self) -> String {
        let (rows, features) = (self.data.len() as u64, self.data.names.len() as u64);
        let sparse = if self.problem.inner.support(0).is_some() { "sparse " } else { "" };
        format!("{} {sparse}rows of {} features", grouped(rows), grouped(features))
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.data.source, generated: self.generated, asked: self.asked }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.data.notes.clone();
        notes.extend(self.data.dropped_notes());
        if let Target::Classes(Classes { negative, positive }, _) = &self.data.target {
            notes.push(format!(
                "A score above 0 speaks for '{positive}', one below for '{negative}'."
            ));
        }
        if let Some(width) = self.width.filter(|_| self.flags.loss.width_is_found()) {
            notes.push(format!(
                "The Huber loss is a square up to {} (--huber-width).",
                significant(width, 4)
            ));
        }
        notes.extend(self.scaling.note());
        if self.flags.penalty.l2 == 0.0
            && self.flags.penalty.l1 == 0.0
            && self.data.len() < self.names.len()
        {
            notes.push(format!(
                "There are fewer rows than coefficients ({}), so that many fits are equally good: give --l2 or --l1.",
                grouped(self.names.len() as u64)
            ));
        }
        notes
    }

    fn coordinates(&self) -> &[String] {
        &self.names
    }

    fn rescaled(&self, theta: Vec<f64>) -> Vec<f64> {
        self.scaling.scaled(&theta)
    }

    fn answer<'a>(&'a self, solution: &'a Solution) -> Result<Answer<'a>> {
        let coefficients = &solution.theta[..self.data.names.len()];
        let scores = self.scores(&solution.theta);
        let fit = Fit::new(&self.data.target, &scores, self.data.weights.as_deref(), self.loss);
        Ok(Answer {
            intercept: self.intercept().then(|| solution.theta[coefficients.len()]),
            zeros: coefficients.iter().filter(|c| **c == 0.0).count(),
            warning: self.warning(&scores),
            fit,
            classes: match &self.data.target {
                Target::Numbers(_) => None,
                Target::Classes(classes, _) => Some(classes),
            },
            dropped: Dropped { rows: self.data.dropped.rows, features: &self.data.dropped.columns },
            scores,
        })
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            loss: self.loss,
            width: self.width,
            intercept: self.intercept(),
            scaling: !self.flags.no_scaling,
            l1: self.flags.penalty.l1,
            l2: self.flags.penalty.l2,
            target: self.columns.target.as_deref(),
            weight: self.columns.weight.as_deref(),
            missing: self.columns.features.missing(),
            start: self.start.to_string(),
        }
    }

    fn describe<'a>(&'a self, answer: &'a Answer<'_>, solution: &'a Solution, page: &mut Page<'a>) {
        let heading = Heading { name: "feature", number: "coefficient", sum: false };
        let coefficients = &solution.theta[..self.data.names.len()];
        page.numbers(heading, &self.data.names, coefficients);
        let facts = &mut page.facts;
        if let Some(intercept) = answer.intercept {
            facts.line("intercept", &significant(intercept, 6));
        }
        if self.flags.penalty.l1 > 0.0 {
            let (zeros, all) = (grouped(answer.zeros as u64), grouped(coefficients.len() as u64));
            facts.line("zeros", &format!("{zeros} of {all} coefficients"));
        }
        match answer.fit {
            Fit::Numbers { r_squared, root_mean_square_error, mean_absolute_error } => {
                let r_squared = r_squared
                    .map_or("none, for all targets are the same".to_owned(), |r| significant(r, 4));
                facts.line("R squared", &r_squared);
                facts.line(
                    "error",
                    &format!(
                        "{} root mean square, {} mean absolute",
                        significant(root_mean_square_error, 4),
                        significant(mean_absolute_error, 4)
                    ),
                );
            }
            Fit::Classes { accuracy, baseline, log_loss } => {
                let log_loss = log_loss
                    .map_or(String::new(), |loss| format!(", log loss {}", significant(loss, 4)));
                facts.line(
                    "accuracy",
                    &format!(
                        "{:.2} % (of the larger class alone {:.2} %){log_loss}",
                        100.0 * accuracy,
                        100.0 * baseline
                    ),
                );
            }
        }
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.formula()),
        );
        if let Some(warning) = answer.warning {
            facts.line("warning", warning);
        }
    }

    fn predicts_texts(&self) -> Option<&str> {
        matches!(self.data.target, Target::Classes(..)).then_some("target")
    }

    fn predictions(&self, answer: &Answer<'_>, _: &Solution) -> Result<OutTable> {
        let rows = OutColumn::Whole((1..=answer.scores.len() as u64).collect());
        let mut columns = vec![("row".to_owned(), rows)];
        let mut add = |name: &str, column| columns.push((name.to_owned(), column));
        match &self.data.target {
            Target::Numbers(targets) => {
                add("target", OutColumn::Numbers(targets.clone()));
                add("prediction", OutColumn::Numbers(answer.scores.clone()));
            }
            Target::Classes(classes, labels) => {
                let names = |of: &[f64]| {
                    OutColumn::Texts(of.iter().map(|y| classes.name(*y).to_owned()).collect())
                };
                add("target", names(labels));
                add("prediction", names(&answer.scores));
                add("score", OutColumn::Numbers(answer.scores.clone()));
                if self.loss == Loss::Logistic {
                    let probabilities =
                        answer.scores.iter().map(|score| probability(*score)).collect();
                    add("probability", OutColumn::Numbers(probabilities));
                }
            }
        }
        Ok(OutTable { columns })
    }
}
