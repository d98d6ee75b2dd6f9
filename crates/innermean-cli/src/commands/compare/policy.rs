//! The evaluation of a policy, on which methods are compared.

use anyhow::Result;
use clap::Args;
use innermean::{Choice, METHODS, Status};

use super::CompareFlags;
use super::contest::Named;
use crate::commands::policy::flags::PolicyFlags;
use crate::commands::policy::task::Task;

/// What is evaluated, and by which methods.
#[derive(Debug, Args)]
pub(super) struct PolicyArgs {
    #[command(flatten)]
    problem: PolicyFlags,

    #[command(flatten)]
    compare: CompareFlags,
}

/// Builds the problem and compares.
pub(super) fn run(PolicyArgs { problem: flags, compare }: &PolicyArgs) -> Result<Status> {
    compare.pictures.check(&flags.inputs())?;
    let task = Task::new(flags)?;
    let problem = task.problem();
    let paper = |name: &str| task.bellman().and_then(|f| f.paper_choice(name));
    let papers: Vec<(&str, Option<Choice>)> =
        METHODS.iter().map(|row| (row.name, paper(row.name))).collect();
    let named = Named {
        problem: "policy",
        title: format!("policy evaluation of {}", task.size()),
        objective: task.formula(flags),
        source: task.source.clone(),
        coordinates: &task.coordinates,
        inputs: flags.inputs(),
        paper: &|name| {
            papers.iter().find(|(paper, _)| *paper == name).and_then(|(_, choice)| *choice)
        },
    };
    compare.run(problem, &named)
}
