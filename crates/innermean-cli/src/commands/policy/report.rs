//! What is said about a policy, to people and to programs.

use anyhow::Result;
use innermean::Solution;
use serde::Serialize;

use super::closed_form::ClosedForm;
use super::flags::{Generator, NeverLeft, Objective, PolicyFlags};
use super::task::Task;
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::Heading;
use crate::output::predictions::{OutColumn, OutTable};
use crate::run::application::{Application, Page, Source};
use crate::run::start::Start;

/// A policy that is being evaluated.
pub(super) struct PolicyApplication<'a> {
    pub(super) task: &'a Task,
    pub(super) flags: &'a PolicyFlags,
    pub(super) start: &'a Start,
}

/// What theta says about the states.
#[derive(Serialize)]
pub(super) struct Answer<'a> {
    states: &'a [String],
    values: Vec<f64>,
    /// None for a state that no transition leaves.
    residuals: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visits: Option<&'a [u64]>,
    mean_squared_residual: f64,
    closed_form: ClosedForm,
}

/// How the problem was set up.
#[derive(Serialize)]
pub(super) struct Settings<'a> {
    objective: Objective,
    discount: f64,
    features: &'static str,
    generate: Option<Generator>,
    data_seed: Option<u64>,
    terminal: &'a [String],
    never_left: NeverLeft,
    constraint: String,
    l1: f64,
    l2: f64,
    start: String,
}

impl Application for PolicyApplication<'_> {
    const NAME: &'static str = "policy";
    type Answer<'a>
        = Answer<'a>
    where
        Self: 'a;
    type Settings<'a>
        = Settings<'a>
    where
        Self: 'a;

    fn title(&self) -> String {
        format!("Policy evaluation of {}", self.task.size())
    }

    fn source(&self) -> Source<'_> {
        Source {
            text: &self.task.source,
            generated: self.flags.generated(),
            asked: self.flags.generator.generate.is_some(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.task.notes.clone();
        notes.extend(self.flags.regularizer.note());
        notes
    }

    fn coordinates(&self) -> &[String] {
        &self.task.coordinates
    }

    fn answer<'a>(&'a self, solution: &'a Solution) -> Result<Answer<'a>> {
        let task = self.task;
        let residuals = task.residuals(&solution.theta);
        let left = residuals.iter().filter(|residual| !residual.is_nan());
        let (sum, count) = left.fold((0.0, 0.0), |(sum, count), r| (sum + r * r, count + 1.0));
        Ok(Answer {
            states: &task.states,
            values: task.values(&solution.theta),
            residuals: residuals.iter().map(|r| (!r.is_nan()).then_some(*r)).collect(),
            visits: task.seen.then_some(&task.visits[..]),
            mean_squared_residual: sum / count,
            closed_form: ClosedForm::new(task, self.flags, &solution.theta),
        })
    }

    fn settings(&self) -> Settings<'_> {
        let flags = self.flags;
        let generated = flags.generated();
        Settings {
            objective: flags.objective,
            discount: self.task.discount,
            features: if self.task.one_hot { "one-hot" } else { "rows" },
            generate: generated.then(|| flags.generator.generate.unwrap_or(Generator::Random)),
            data_seed: generated.then_some(flags.generator.data_seed),
            terminal: &flags.terminal,
            never_left: flags.never_left,
            constraint: flags.regularizer.constraint.to_string(),
            l1: flags.regularizer.penalty.l1,
            l2: flags.regularizer.penalty.l2,
            start: self.start.to_string(),
        }
    }

    fn describe<'a>(&'a self, answer: &'a Answer<'_>, solution: &'a Solution, page: &mut Page<'a>) {
        let heading = Heading { name: "state", number: "value", sum: false };
        page.numbers(heading, answer.states, &answer.values);
        if !self.task.one_hot {
            let heading = Heading { name: "feature", number: "theta", sum: false };
            page.numbers(heading, &self.task.coordinates, &solution.theta);
        }
        let facts = &mut page.facts;
        let left = answer.residuals.iter().flatten().count() as u64;
        facts.line(
            "squared residual",
            &format!(
                "{} in the mean over {} states that are left",
                significant(answer.mean_squared_residual, 6),
                grouped(left)
            ),
        );
        let ClosedForm { source, theta_distance, values_distance } = &answer.closed_form;
        facts.line(
            "closed form",
            &match (theta_distance, values_distance) {
                (Some(theta), Some(values)) => {
                    format!(
                        "theta within {theta:.1e} and values within {values:.1e} of it, relative ({source})"
                    )
                }
                _ => source.clone(),
            },
        );
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.task.formula(self.flags)),
        );
    }

    fn predicts_texts(&self) -> Option<&str> {
        Some("state")
    }

    fn predictions(&self, answer: &Answer<'_>, _: &Solution) -> Result<OutTable> {
        let residuals = answer.residuals.iter().map(|r| r.unwrap_or(f64::NAN)).collect();
        let count = if self.task.seen { "visits" } else { "successors" };
        Ok(OutTable {
            columns: vec![
                ("state".to_owned(), OutColumn::Texts(answer.states.to_vec())),
                ("value".to_owned(), OutColumn::Numbers(answer.values.clone())),
                ("residual".to_owned(), OutColumn::Numbers(residuals)),
                (count.to_owned(), OutColumn::Whole(self.task.visits.clone())),
            ],
        })
    }
}
