//! What every solving command does once its problem stands: it checks what could go wrong, says
//! what is known, runs, and reports.
//!
//! A command is a file with its flags, which make a [`Task`], and an [`Application`]: its words
//! about that task and about the answer. [`solve`] does the rest, so that all commands feel the
//! same. The flags that commands share: `SolverFlags`, `OutputFlags`, `PredictionFlags`,
//! `PenaltyFlags` or `RegularizerFlags`, `FeatureFlags`, `MissingFlags`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use innermean::{Solution, Status};
use innermean_apps::model::ModelKind;
use innermean_apps::run::Task;
use innermean_apps::run::inference::Inference;
use innermean_apps::wording::Note as Remark;
use innermean_data::{OutFile, visible};
use rayon::ThreadPool;
use serde::Serialize;

use crate::flags::output::OutputFlags;
use crate::flags::solver::SolverFlags;
use crate::flags::spelling::spelled;
use crate::output::estimates::{self, Units};
use crate::output::grid::Grid;
use crate::output::human::{self, Facts};
use crate::output::json;
use crate::output::model::ModelFile;
use crate::output::named_numbers::{Beside, Heading, NamedNumbers};
use crate::output::predictions::{OutTable, PredictionFile, PredictionFlags};
use crate::output::stdout;
use crate::output::trace::TraceFile;
use crate::report::run::report;
use crate::report::{Chart, OutputFiles};
use crate::run::checkpoint::clerk::{CheckpointFile, Keeping};
use crate::run::checkpoint::{Note, Resumed};
use crate::run::deadline;
use crate::run::digits::{self, Known};
use crate::run::plan::Plan;

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

/// The answer for people: tables first, then labelled lines.
#[derive(Default)]
pub(crate) struct Page<'a> {
    pub(crate) parts: Vec<Part<'a>>,
    pub(crate) facts: Facts,
    /// What is known of the digits of theta.
    pub(crate) known: Known,
    /// What makes the answer doubtful, in whole sentences.
    pub(crate) warnings: Vec<String>,
    theta: &'a [f64],
}

/// A part of an answer.
pub(crate) enum Part<'a> {
    /// Numbers with names, to be seen as bars.
    Numbers(NamedNumbers<'a>),
    Table(Grid),
    /// The same under a title, for pages alone.
    Bars(String, NamedNumbers<'a>),
    /// For pages alone.
    Picture(Chart),
}

impl<'a> Page<'a> {
    /// One more table of numbers with names.
    pub(crate) fn numbers(&mut self, heading: Heading, names: &'a [String], numbers: &'a [f64]) {
        self.compared(heading, names, numbers, None);
    }

    /// The same beside others on a page.
    pub(crate) fn compared(
        &mut self,
        heading: Heading,
        names: &'a [String],
        numbers: &'a [f64],
        beside: Option<Beside<'a>>,
    ) {
        let error = self.known.error_of(numbers, self.theta);
        self.parts.push(Part::Numbers(NamedNumbers {
            heading,
            names,
            numbers,
            error,
            intervals: &[],
            has_table: false,
            beside,
        }));
    }

    /// What makes the answer doubtful, beside what was known before the run. Where no finite theta
    /// is best, or many are, no more than the size of theta is shown.
    fn warn(&mut self, own: Option<&str>, doubts: &[String], solution: &Solution) {
        if own.is_some() || !(doubts.is_empty() || solution.certificate.measure.is_gap()) {
            self.known.forget(&solution.theta);
        }
        let own = own.map(str::to_owned).into_iter();
        self.warnings = own.chain(self.known.warning.clone()).collect();
    }

    /// Standard errors and intervals of the numbers, which then need no table of their own on a
    /// terminal.
    fn estimates(&mut self, of: &[(&[String], &'a Inference)]) {
        let mut after = 0;
        for (names, found) in of {
            let later = self.parts[after..].iter_mut().enumerate();
            let mut numbers = later.filter_map(|(k, part)| match part {
                Part::Numbers(numbers) => Some((k, numbers)),
                Part::Table(_) | Part::Bars(..) | Part::Picture(_) => None,
            });
            let Some((place, numbers)) = numbers.next() else { return };
            after += place + 1;
            let formula = found.standard_errors.as_ref().map(|found| &found.intervals);
            let drawn = found.bootstrap.as_ref().map(|found| &found.intervals);
            // Not those of several classes, which are about their mean.
            if let Some(intervals) = formula.or(drawn)
                && found.estimates.starts_with(numbers.numbers)
            {
                numbers.intervals = intervals;
            }
            let tables = estimates::tables(numbers.heading, names, found);
            numbers.has_table = !tables.is_empty();
            let count = tables.len();
            self.parts.splice(after..after, tables.into_iter().map(Part::Table));
            after += count;
        }
    }

    /// The same of the mean of initial states.
    fn initial_value(&mut self, found: &Inference) {
        let heading = Heading { name: "mean of", number: "value", sum: false };
        let tables = estimates::tables(heading, &["initial states".to_owned()], found);
        self.parts.extend(tables.into_iter().map(Part::Table));
    }

    /// For a terminal.
    fn text(&self) -> String {
        let parts = self.parts.iter().filter_map(|part| match part {
            Part::Numbers(numbers) if numbers.has_table => None,
            Part::Numbers(numbers) => Some(numbers.text(human::width()) + "\n"),
            Part::Table(grid) => Some(grid.text() + "\n"),
            Part::Bars(..) | Part::Picture(_) => None,
        });
        let warnings = self.warnings.iter().map(|text| human::paragraph("warning:", text));
        let mut above = warnings.collect::<String>();
        if !above.is_empty() {
            above.push('\n');
        }
        above + &parts.collect::<String>() + &self.facts.text()
    }
}

/// What was asked of the run and its output.
pub(crate) struct Request<'a> {
    pub(crate) solver: &'a SolverFlags,
    pub(crate) output: &'a OutputFlags,
    /// The files that are read, which must not be overwritten.
    pub(crate) inputs: Vec<&'a Path>,
    /// Where predictions or weights go, and the flag that says so, for a command that has them.
    pub(crate) predictions: Option<(&'static str, &'a Path)>,
    /// Where the model goes, and the flag that says so, for a command that has one.
    pub(crate) model: Option<(&'static str, &'a Path)>,
}

impl<'a> Request<'a> {
    /// The first thing a command does: its clock starts, and what could not be written is found out
    /// before anything is read.
    pub(crate) fn new(
        solver: &'a SolverFlags,
        output: &'a OutputFlags,
        inputs: Vec<&'a Path>,
        predictions: impl Into<Option<&'a PredictionFlags>>,
    ) -> Result<Self> {
        deadline::start(solver.stop.max_seconds);
        let predictions = predictions.into().and_then(|flags| flags.predictions.as_deref());
        let predictions = predictions.map(|path| ("--predictions", path));
        let request = Request { solver, output, inputs, predictions, model: None };
        request.outputs(None)?;
        Ok(request)
    }

    /// The same for a command that keeps its model.
    pub(crate) fn keeping(self, flag: &'static str, model: Option<&'a PathBuf>) -> Result<Self> {
        let request = Request { model: model.map(|path| (flag, path.as_path())), ..self };
        request.outputs(None)?;
        Ok(request)
    }

    /// The same for a command that has a table of another name for predictions.
    pub(crate) fn tabling(self, flag: &'static str, table: Option<&'a PathBuf>) -> Result<Self> {
        let request = Request { predictions: table.map(|path| (flag, path.as_path())), ..self };
        request.outputs(None)?;
        Ok(request)
    }

    /// The files that are written, which are looked at before anything that takes time; `texts` is
    /// a column of texts in the predictions.
    pub(crate) fn outputs(&self, texts: Option<&str>) -> Result<Outputs<'a>> {
        let inputs: Vec<&Path> =
            self.inputs.iter().copied().chain(self.solver.start.file()).collect();
        let OutputFlags { trace, pictures, .. } = self.output;
        let trace = trace.as_deref().map(|path| ("--trace", path));
        let predictions = self.predictions;
        let checkpoint =
            self.solver.checkpoint.checkpoint.as_deref().map(|path| ("--checkpoint", path));
        let single = trace.into_iter().chain(predictions).chain(checkpoint).chain(self.model);
        all_different(single.chain(pictures.paths()))?;
        Ok(Outputs {
            trace: trace.map(|(flag, path)| TraceFile::check(flag, path, &inputs)).transpose()?,
            predictions: predictions
                .map(|(flag, path)| PredictionFile::check(flag, path, texts, &inputs))
                .transpose()?,
            model: self
                .model
                .map(|(flag, path)| ModelFile::check(flag, path, &inputs))
                .transpose()?,
            pictures: pictures.check(&inputs)?,
            checkpoint: checkpoint
                .map(|(flag, path)| {
                    OutFile::check(path, &inputs).map_err(|error| anyhow!("{flag} {error}"))
                })
                .transpose()?,
        })
    }
}

/// Files that can be written.
pub(crate) struct Outputs<'a> {
    trace: Option<TraceFile>,
    checkpoint: Option<OutFile>,
    predictions: Option<PredictionFile<'a>>,
    model: Option<ModelFile>,
    pictures: OutputFiles,
}

/// Refuses to write two things to one file.
pub(crate) fn all_different<'p>(
    paths: impl Iterator<Item = (&'static str, &'p Path)>,
) -> Result<()> {
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for (flag, path) in paths {
        let target = target(path);
        if let Some((other, _)) = seen.iter().find(|(_, seen)| *seen == target) {
            bail!("{flag} {}: is the path of {other} too; expected another one", path.display());
        }
        seen.push((flag, target));
    }
    Ok(())
}

/// Where a path leads to, whether there is a file yet or not.
fn target(path: &Path) -> PathBuf {
    let new = || {
        let folder =
            path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(new).unwrap_or_else(|| path.to_owned())
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
