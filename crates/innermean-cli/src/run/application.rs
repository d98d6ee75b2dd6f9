//! What every solving command does once its problem is built: it checks what could go wrong, says
//! what is known, runs, and reports.
//!
//! A command is a file with its flags, which make a [`Task`], and an [`Application`]: its words
//! about that task and about the answer. [`solve`] does the rest, so that all commands feel the
//! same. The flags that commands share: `SolverFlags`, `OutputFlags`, `PredictionFlags`,
//! `PenaltyFlags` or `RegularizerFlags`, `FeatureFlags`, `MissingFlags`.

use std::time::Duration;

use anyhow::Result;
use innermean::{Solution, Status};
use innermean_apps::model::ModelKind;
use innermean_apps::run::Task;
use innermean_apps::run::inference::Inference;
use innermean_apps::wording::Note as Remark;
use innermean_data::visible;
use rayon::ThreadPool;
use serde::Serialize;

use crate::flags::spelling::spelled;
use crate::output::estimates::{self, Units};
use crate::output::predictions::OutTable;
use crate::output::{human, json, stdout};
use crate::report::run::report;
use crate::run::checkpoint::clerk::{CheckpointFile, Keeping};
use crate::run::checkpoint::{Note, Resumed};
use crate::run::digits::{self, Known};
use crate::run::page::Page;
use crate::run::plan::Plan;
use crate::run::request::{Outputs, Request};

/// A command's words about its problem and its answer.
pub(crate) trait Application {
    /// The command's name.
    const NAME: &'static str;

    /// The task that its flags and data make.
    type Task: Task;

    /// What theta means for this problem: is beside theta in what `--json` prints.
    type Answer<'a>: Serialize
    where
        Self: 'a;

    /// How the problem was set up: is in `settings` of what `--json` prints, and is enough to
    /// do it again.
    type Settings<'a>: Serialize
    where
        Self: 'a;

    /// Data and settings, made into a problem.
    fn task(&self) -> &Self::Task;

    /// The first line: what is solved, and how large it is.
    fn title(&self) -> String;

    /// Where the data come from.
    fn source(&self) -> Source<'_>;

    /// What was decided without being asked, in whole sentences.
    fn notes(&self) -> Vec<String>;

    /// A name for each coordinate of theta; `--start FILE` may use them.
    fn coordinates(&self) -> &[String] {
        self.task().coordinates()
    }

    /// What a checkpoint is to hold for the command beside the run.
    fn aside(&self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// What is printed of what the task says that `solution` means.
    fn answer<'a>(
        &'a self,
        found: <Self::Task as Task>::Answer,
        solution: &'a Solution,
    ) -> Result<Self::Answer<'a>>;

    /// How sure the answer is, where that was asked for.
    fn inference(&self, solution: &Solution, threads: &ThreadPool) -> Result<Option<Inference>> {
        let _ = (solution, threads);
        Ok(None)
    }

    /// The words for the independent observations.
    const UNITS: Units = Units::ROWS;

    /// What `found` says about each of the numbers that [`Self::describe`] puts on the page, in
    /// their order, with the names of its estimates.
    fn estimated<'a>(&'a self, found: &'a Inference) -> Vec<(&'a [String], &'a Inference)> {
        vec![(self.coordinates(), found)]
    }

    /// Whether coordinates of theta are printed, whose digits should all be known.
    const PRINTS_THETA: bool = true;

    /// What makes the answer doubtful, in a whole sentence that precedes it.
    fn warning<'a>(&self, answer: &'a Self::Answer<'_>) -> Option<&'a str> {
        let _ = answer;
        None
    }

    /// How the problem was set up.
    fn settings(&self) -> Self::Settings<'_>;

    /// The answer for people; the lines about the run follow by themselves.
    fn describe<'a>(
        &'a self,
        answer: &'a Self::Answer<'_>,
        solution: &'a Solution,
        page: &mut Page<'a>,
    );

    /// What `--model` writes; asked for only where the command has that flag.
    fn model(&self, solution: &Solution) -> Option<ModelKind> {
        let _ = solution;
        None
    }

    /// A column of texts in what `--predictions` writes, if there is one.
    fn predicts_texts(&self) -> Option<&str> {
        None
    }

    /// What `--predictions` writes; asked for only where the command has that flag.
    fn predictions(&self, answer: &Self::Answer<'_>, solution: &Solution) -> Result<OutTable> {
        let _ = (answer, solution);
        Ok(OutTable::default())
    }
}

/// Where data come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    /// The file or files, or how they were generated.
    pub(crate) text: &'a str,
    /// Whether no file was given.
    pub(crate) generated: bool,
    /// Whether it was asked for that they be generated.
    pub(crate) asked: bool,
}

/// Runs the method that was asked for, or that suits, and reports.
pub(crate) fn solve<A: Application>(application: &A, request: &Request<'_>) -> Result<Status> {
    let task = application.task();
    let problem = task.problem();
    let Request { solver, output, .. } = request;
    let note = Note::new(A::NAME, solver, output, &application.settings(), application.aside()?)?;
    let resumed = Resumed::read(&solver.checkpoint)?;
    resumed.as_ref().map_or(Ok(()), |resumed| resumed.check(&note))?;
    let start = solver.start.point(task.coordinates(), solver.seed, task.start())?;
    let start = task.scaled(start);
    let mut plan = Plan::new(solver, output.trace_every, problem, &start)?;
    plan.bounds = A::Task::BOUNDS;
    let Outputs { trace, checkpoint, predictions, model, pictures } =
        request.outputs(application.predicts_texts())?;
    let rows = problem.inner.rows().all;
    plan.keeping = Keeping {
        trace: trace.map(|trace| (trace, rows)),
        checkpoint: checkpoint.map(|file| {
            let every = Duration::try_from_secs_f64(solver.checkpoint.checkpoint_every);
            let every = every.unwrap_or(Duration::MAX);
            CheckpointFile { file, every, note }
        }),
        resumed,
        failed: None,
    };
    plan.pool().install(|| plan.keeping.check(problem))?;

    let mut notes = application.notes();
    let undetermined = task.undetermined();
    let doubts: Vec<String> = task
        .notes()
        .iter()
        .chain(&undetermined)
        .filter(|note| note.is_warning())
        .map(spelled)
        .collect();
    notes.extend(undetermined.map(spelled));
    if solver.start.file().is_some() && start != plan.run.start {
        notes.push(spelled(Remark::StartMoved));
    }
    if !output.json {
        // Before the run: what is to be known while one waits.
        stdout::print(&head(application, &notes, &doubts))?;
    }
    let mut solution = plan.run(problem)?;
    let known = if A::PRINTS_THETA {
        digits::settle(task, &plan, solver.stop.tolerance, &mut solution)
    } else {
        task.restate(solver.stop.tolerance, &mut solution);
        Known::default()
    };
    let answer = application.answer(task.answer(&solution)?, &solution)?;
    let inference = application.inference(&solution, plan.pool())?;
    // Whichever of the outputs cannot be written, the others are.
    let kept = plan.keeping.failed.take().map_or(Ok(()), Err);
    let predicted = predictions
        .map_or(Ok(()), |file| file.write(&application.predictions(&answer, &solution)?));
    let modelled = model.map_or(Ok(()), |file| {
        file.write(application.model(&solution), &solution, plan.run.info.name)
    });
    let mut page = Page { known, theta: &solution.theta, ..Page::default() };
    page.warn(application.warning(&answer), &doubts, &solution);
    application.describe(&answer, &solution, &mut page);
    if let Some(found) = &inference {
        estimates::describe(found, A::UNITS, &mut page.facts);
        page.estimates(&application.estimated(found));
        if let Some(initial) = &found.initial {
            page.initial_value(initial);
        }
    }
    let warnings: Vec<String> = page.warnings.iter().chain(&doubts).cloned().collect();
    page.facts.run(&plan, &solution, !warnings.is_empty());
    if let Some(direction) = &solution.endless {
        page.facts.line("falls along", &human::direction(application.coordinates(), direction));
    }
    let text = if output.json {
        let mut facts =
            json::Facts::of(application, problem, &answer, application.settings(), &notes);
        facts.inference = inference.as_ref();
        facts.warnings = &warnings;
        json::document(&plan, &solution, &facts)?
    } else {
        page.text()
    };
    page.warnings = warnings;
    let pictured = if pictures.is_empty() {
        Ok(())
    } else {
        pictures.write(&report(
            application,
            problem,
            &plan,
            &solution,
            page,
            &request.inputs,
            notes,
        )?)
    };
    stdout::print(&text)?;
    kept?;
    predicted?;
    modelled?;
    pictured?;
    let is_whole = inference.is_none_or(|found| found.is_whole());
    Ok(if is_whole || !solution.status.is_solved() { solution.status } else { Status::Stopped })
}

/// What is known before the run.
fn head<A: Application>(application: &A, notes: &[String], doubts: &[String]) -> String {
    let Source { text, generated, asked } = application.source();
    let source =
        if generated && !asked { format!("{text} (no FILE was given)") } else { text.to_owned() };
    let mut head = format!("{}\n{}\n", visible(&application.title()), visible(&source));
    for note in notes {
        let label = if doubts.contains(note) { "warning:" } else { "note:" };
        head.push_str(&human::paragraph(label, note));
    }
    head + "\n"
}
