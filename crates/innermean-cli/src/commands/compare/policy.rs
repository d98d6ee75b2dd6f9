//! The evaluation of a policy, on which methods are compared.

use anyhow::Result;
use clap::Args;
use innermean::{Choice, METHODS, Status};
use innermean_apps::run::Task;

use super::CompareFlags;
use super::comparison::Named;
use crate::commands::policy::Evaluation;
use crate::commands::policy::flags::PolicyFlags;

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
    let Evaluation { task, source, .. } = flags.evaluation()?;
    let paper = |name: &str| task.bellman().and_then(|f| f.paper_choice(name));
    let papers: Vec<(&str, Option<Choice>)> =
        METHODS.iter().map(|row| (row.name, paper(row.name))).collect();
    let named = Named {
        problem: "policy",
        title: format!("policy evaluation of {}", task.size()),
        objective: task.settings().formula(),
        source,
        coordinates: task.coordinates(),
        inputs: flags.inputs(),
        paper: &|name| {
            papers.iter().find(|(paper, _)| *paper == name).and_then(|(_, choice)| *choice)
        },
    };
    compare.run(task.problem(), &named)
}
