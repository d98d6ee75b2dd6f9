//! What is said about a policy, to people and to programs.

use anyhow::Result;
use innermean::Solution;
use innermean_apps::model::{ModelKind, PolicyModel};
use innermean_apps::policy::{
    AutoReset, ClosedForm, NeverLeft, PolicyAnswer, PolicyObjective, PolicyTask,
};
use innermean_apps::run::Task;
use innermean_apps::run::inference::{Inference, InferenceSettings};
use innermean_apps::wording::Note;
use rayon::ThreadPool;
use serde::Serialize;

use super::Evaluation;
use super::flags::{Generator, PolicyFlags};
use crate::flags::inference::time_left;
use crate::flags::solver::SolverFlags;
use crate::flags::spelling::spelled;
use crate::output::estimates::Units;
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::Heading;
use crate::output::predictions::{OutColumn, OutTable};
use crate::run::application::{Application, Source};
use crate::run::page::Page;

/// A policy that is being evaluated.
pub(super) struct PolicyApplication<'a> {
    pub(super) evaluation: &'a Evaluation,
    pub(super) flags: &'a PolicyFlags,
    pub(super) solver: &'a SolverFlags,
    /// How sure one wants to be.
    pub(super) inference: InferenceSettings,
}

/// How the problem was set up.
#[derive(Serialize)]
pub(super) struct Settings<'a> {
    objective: PolicyObjective,
    lambda: f64,
    intercept: bool,
    auto_reset: AutoReset,
    initial_states: Option<&'a str>,
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
    const UNITS: Units = Units { single: "transitions", clusters: "episodes" };
    type Task = PolicyTask;
    type Answer<'a>
        = PolicyAnswer
    where
        Self: 'a;
    type Settings<'a>
        = Settings<'a>
    where
        Self: 'a;

    fn task(&self) -> &PolicyTask {
        &self.evaluation.task
    }

    fn title(&self) -> String {
        format!("Policy evaluation of {}", self.task().size())
    }

    fn source(&self) -> Source<'_> {
        Source {
            text: &self.evaluation.source,
            generated: self.flags.generated(),
            asked: self.flags.generator.generate.is_some(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let (of_transitions, of_features) = &self.evaluation.notes;
        let is_last = |note: &&Note| **note == Note::IdleL1;
        let found = self.task().notes();
        let mut notes = of_transitions.clone();
        notes.extend(found.iter().filter(|note| !is_last(note)).map(spelled));
        notes.extend_from_slice(of_features);
        notes.extend(found.iter().filter(is_last).map(spelled));
        notes
    }

    fn answer<'a>(&'a self, found: PolicyAnswer, _: &'a Solution) -> Result<PolicyAnswer> {
        let mut answer = found;
        answer.closed_form.source = spelled(&answer.closed_form.source);
        Ok(answer)
    }

    fn inference(&self, solution: &Solution, threads: &ThreadPool) -> Result<Option<Inference>> {
        if !self.inference.is_on() {
            return Ok(None);
        }
        let (task, seed) = (self.task(), self.solver.seed);
        let left = time_left(self.solver.stop.max_seconds)?;
        Ok(Some(threads.install(|| task.infer(&self.inference, solution, seed, &left))))
    }

    fn estimated<'a>(&'a self, found: &'a Inference) -> Vec<(&'a [String], &'a Inference)> {
        let values = found.values.as_deref().map(|values| (self.task().states(), values));
        // Where every state has a value of its own, theta is these values.
        let theta = (!self.task().is_one_hot()).then_some((self.coordinates(), found));
        values.into_iter().chain(theta).collect()
    }

    fn settings(&self) -> Settings<'_> {
        let flags = self.flags;
        let generated = flags.generated();
        Settings {
            objective: self.task().settings().objective.unwrap_or_default(),
            lambda: flags.lambda,
            intercept: flags.intercept,
            auto_reset: flags.auto_reset,
            initial_states: flags.initial_states.as_deref(),
            discount: self.task().discount(),
            features: if self.task().is_one_hot() { "one-hot" } else { "rows" },
            generate: generated.then(|| flags.generator.generate.unwrap_or(Generator::Random)),
            data_seed: generated.then_some(flags.generator.data_seed),
            terminal: &flags.terminal,
            never_left: flags.never_left,
            constraint: flags.regularizer.constraint.to_string(),
            l1: flags.regularizer.penalty.l1,
            l2: flags.regularizer.penalty.l2,
            start: self.solver.start.to_string(),
        }
    }

    fn describe<'a>(
        &'a self,
        answer: &'a PolicyAnswer,
        solution: &'a Solution,
        page: &mut Page<'a>,
    ) {
        let has_names = !answer.states.is_empty();
        if has_names {
            let heading = Heading { name: "state", number: "value", sum: false };
            page.numbers(heading, &answer.states, &answer.values);
        }
        if !self.task().is_one_hot() {
            let heading = Heading { name: "feature", number: "theta", sum: false };
            page.numbers(heading, self.coordinates(), &solution.theta);
        }
        let facts = &mut page.facts;
        let left = if self.task().is_of_moments() {
            self.task().transitions()
        } else {
            answer.residuals.iter().flatten().count() as u64
        };
        if let Some(initial) = &answer.initial {
            let states = grouped(initial.states as u64);
            let what = if initial.states == 1 { "state" } else { "states" };
            let value = significant(initial.value, 6);
            facts.line("initial value", &format!("{value} in the mean over {states} {what}"));
        }
        let (label, what) = if has_names {
            ("squared residual", "states that are left")
        } else {
            ("squared TD error", "transitions")
        };
        facts.line(
            label,
            &format!(
                "{} in the mean over {} {what}",
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
            &format!(
                "{} = {}",
                significant(solution.objective, 8),
                self.task().settings().formula()
            ),
        );
    }

    fn model(&self, solution: &Solution) -> Option<ModelKind> {
        Some(PolicyModel::of(self.task(), solution).into())
    }

    fn predicts_texts(&self) -> Option<&str> {
        (!self.task().states().is_empty()).then_some("state")
    }

    fn predictions(&self, answer: &PolicyAnswer, _: &Solution) -> Result<OutTable> {
        let residuals = answer.residuals.iter().map(|r| r.unwrap_or(f64::NAN)).collect();
        if answer.states.is_empty() {
            return Ok(OutTable {
                columns: vec![
                    ("value".to_owned(), OutColumn::Numbers(answer.values.clone())),
                    ("residual".to_owned(), OutColumn::Numbers(residuals)),
                ],
            });
        }
        let count = if self.task().is_seen() { "visits" } else { "successors" };
        Ok(OutTable {
            columns: vec![
                ("state".to_owned(), OutColumn::Texts(answer.states.clone())),
                ("value".to_owned(), OutColumn::Numbers(answer.values.clone())),
                ("residual".to_owned(), OutColumn::Numbers(residuals)),
                (count.to_owned(), OutColumn::Whole(self.task().visits().to_vec())),
            ],
        })
    }
}
