//! `innermean sequences`: a classifier of the steps of sequences from a language model, without
//! labels.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use innermean::Status;
use innermean::problems::sequences::search::{Found, Search};
use innermean_apps::Place;
use innermean_apps::run::Task;
use innermean_apps::sequences::{FIRST_STEP, SequencesSettings, SequencesTask};
use innermean_data::{LanguageOptions, generate_language};

use self::columns::{ColumnFlags, Table};
use self::language::Spoken;
use self::report::SequencesApplication;
use crate::flags::input::fits_into_memory;
use crate::flags::number;
use crate::flags::output::OutputFlags;
use crate::flags::solver::SolverFlags;
use crate::flags::spelling::refused_at;
use crate::output::model::ModelFlags;
use crate::output::predictions::PredictionFlags;
use crate::output::progress;
use crate::run::application::solve;
use crate::run::checkpoint::Resumed;
use crate::run::plan::Plan;
use crate::run::request::Request;
use crate::run::start::Start;
use crate::run::{deadline, interrupt};

mod columns;
mod language;
mod report;

/// Classify the steps of sequences without labels, from a language model
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
#[command(mut_arg("start", |arg| arg.default_value("auto").value_name("auto|zeros|uniform|FILE").help(START)))]
pub(crate) struct SequencesArgs {
    /// Steps: one row for each, with a column for the sequence it belongs to and columns of
    /// features [default: sequences in a generated language]
    file: Option<PathBuf>,

    #[command(flatten)]
    problem: ProblemFlags,

    #[command(flatten)]
    columns: ColumnFlags,

    #[command(flatten)]
    generator: GeneratorFlags,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    predictions: PredictionFlags,

    #[command(flatten)]
    model: ModelFlags,

    /// Write the probabilities of all classes with the predictions
    #[arg(long, requires = "predictions", help_heading = "Output")]
    all_probabilities: bool,

    #[command(flatten)]
    solver: SolverFlags,
}

/// What is minimised, and from where.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct ProblemFlags {
    /// The language: n-grams in columns token1, token2 and, of trigrams, token3, with a column
    /// probability or count
    #[arg(long, value_name = "FILE", conflicts_with = "corpus")]
    language_model: Option<PathBuf>,

    /// The language as a text to be counted: tokens with blanks between them, one sequence a line
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,

    /// The length of the n-grams, 2 or 3 [default: that of the language model; otherwise 2]
    #[arg(long, value_name = "N", value_parser = order, allow_hyphen_values = true)]
    order: Option<usize>,

    /// The weight of |theta|^2 / 2, which keeps theta small
    #[arg(long, value_name = "WEIGHT", default_value = "1e-4", value_parser = number::non_negative)]
    #[arg(allow_hyphen_values = true)]
    l2: f64,

    /// How many starts the search tries, half of them from clusters of the steps and half at random
    #[arg(long, value_name = "N", default_value = "24", value_parser = number::positive_size)]
    #[arg(allow_hyphen_values = true)]
    starts: usize,
}

/// What is generated where there is no file.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Generated data (without FILE)")]
pub(crate) struct GeneratorFlags {
    /// Classes of the language [default: 10]
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    classes: Option<usize>,

    /// Steps of all sequences together [default: 20000]
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    generated_steps: Option<usize>,

    /// Steps of each sequence [default: 100]
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    length: Option<usize>,

    /// Features of each step [default: 10]
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    features: Option<usize>,

    /// The deviation of a feature from its class's mean, where two means are about 1 apart
    /// [default: 0.25]
    #[arg(long, value_name = "DEVIATION", value_parser = number::non_negative, allow_hyphen_values = true)]
    noise: Option<f64>,

    /// The seed of the generated data [default: 1]
    #[arg(long, value_name = "SEED", value_parser = number::seed, allow_hyphen_values = true)]
    data_seed: Option<u64>,
}

const START: &str = "Where to begin: auto (what a search over many starts finds), zeros, uniform \
    (each coordinate uniform in [0, 1), by the seed), or a file with one number for each \
    coordinate; what --json prints is such a file";

/// A paragraph a line: clap breaks lines at the terminal's width.
const LONG_ABOUT: &str = "\
Classify the steps of sequences without labels, from a language model.

  min over theta of  -sum_i p_i log( (1/T) sum_t prod_k P_theta(c_ik | x_t+k) ) + sum_i p_i log p_i + l2/2 |theta|^2

A language model knows how often each n-gram i of classes occurs, p_i. A classifier P_theta(c | x), a softmax of linear scores \
of a step's features, is fitted so that the n-grams of what it predicts over the T windows of the sequences occur as often: the \
objective is the divergence from the language model (Empirical-ODM, Liu, Chen and Deng 2017). No label is used; where there \
are some, they score the result.

Features are brought to mean 0 and deviation 1. The objective has many local minima, so that a search over --starts \
starts comes first; the method goes on from the best of them until the norm of the gradient is at most --tolerance of that at \
an ordinary point. Ctrl-C and the signals TERM and HUP end the search or the run, and a second one the program.";

const AFTER_HELP: &str = "\
Examples:
  innermean sequences                 # a generated language
  innermean sequences steps.csv --language-model bigrams.csv --label truth
  innermean sequences steps.csv --corpus text.txt --order 3 --predictions out.csv
  innermean sequences steps.csv --corpus text.txt --json > answer.json

Exit codes: 0 solved, 1 stopped at a limit, diverged or interrupted, 2 bad usage, input or output.";

fn order(text: &str) -> Result<usize, String> {
    match text.trim() {
        "2" => Ok(2),
        "3" => Ok(3),
        _ => Err("expected 2 or 3".to_owned()),
    }
}

impl GeneratorFlags {
    /// The flags that were given, which do nothing with a file.
    fn given(&self) -> Vec<&'static str> {
        let GeneratorFlags { classes, generated_steps, length, features, noise, data_seed } = self;
        let flags = [
            ("--classes", classes.is_some()),
            ("--generated-steps", generated_steps.is_some()),
            ("--length", length.is_some()),
            ("--features", features.is_some()),
            ("--noise", noise.is_some()),
            ("--data-seed", data_seed.is_some()),
        ];
        flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
    }

    fn options(&self) -> LanguageOptions {
        let usual = LanguageOptions::default();
        LanguageOptions {
            classes: self.classes.unwrap_or(usual.classes),
            steps: self.generated_steps.unwrap_or(usual.steps),
            length: self.length.unwrap_or(usual.length),
            features: self.features.unwrap_or(usual.features),
            noise: self.noise.unwrap_or(usual.noise),
            seed: self.data_seed.unwrap_or(usual.seed),
        }
    }
}

impl SequencesArgs {
    /// Reads the files, or generates both steps and language.
    fn read(&self) -> Result<(Table, Spoken)> {
        let ProblemFlags { language_model, corpus, order, .. } = &self.problem;
        let Some(file) = &self.file else {
            for (flag, path) in [("--language-model", language_model), ("--corpus", corpus)] {
                if let Some(path) = path {
                    bail!("{flag} {}: needs the steps as well; give FILE", path.display());
                }
            }
            self.columns.refuse_without_file()?;
            let (options, order) = (self.generator.options(), order.unwrap_or(2));
            for (flag, given, least) in [
                ("--classes", options.classes, 2),
                ("--length", options.length, order),
                ("--generated-steps", options.steps, order),
            ] {
                if given < least {
                    bail!("{flag} {given}: expected at least {least}");
                }
            }
            let LanguageOptions { classes, steps, features, .. } = options;
            fits_into_memory(&format!("--classes {classes}"), &vec![classes; order])?;
            let sizes = format!("--generated-steps {steps}, --features {features}");
            fits_into_memory(&sizes, &[steps, features])?;
            let spoken = generate_language(&options);
            let language = Spoken::generated(&spoken, order)?;
            return Ok((Table::generated(spoken), language));
        };
        if let Some(flag) = self.generator.given().first() {
            bail!("{flag} does nothing with a file; leave out {flag} or {}", file.display());
        }
        let language = match (language_model, corpus) {
            (Some(path), _) => Spoken::read(path, *order)?,
            (None, Some(path)) => Spoken::count(path, order.unwrap_or(2))?,
            (None, None) => bail!(
                "{}: without labels a language is needed; give --language-model FILE or --corpus \
                 FILE",
                file.display()
            ),
        };
        let table = self.columns.read(file, &language.language)?;
        Ok((table, language))
    }

    fn inputs(&self) -> Vec<&Path> {
        let ProblemFlags { language_model, corpus, .. } = &self.problem;
        [&self.file, language_model, corpus]
            .into_iter()
            .filter_map(|path| path.as_deref())
            .collect()
    }
}

/// Solves and reports.
pub(crate) fn run(args: &SequencesArgs) -> Result<Status> {
    let starts = args.problem.starts;
    // What became of each of them.
    fits_into_memory(&format!("--starts {starts}"), &[starts, 8])?;
    let request = Request::new(&args.solver, &args.output, args.inputs(), &args.predictions)?
        .keeping("--model", args.model.model.as_ref())?;
    let (mut table, Spoken { language, origin }) = args.read()?;
    let mut settings = SequencesSettings::default();
    settings.l2 = args.problem.l2;
    let steps = std::mem::take(&mut table.steps);
    let mut task = SequencesTask::new(steps, language, &settings).map_err(|error| {
        match (error.place(), &args.file) {
            (Some(Place::Data), Some(file)) => refused_at(file.display(), &error),
            _ => error.into(),
        }
    })?;
    // Before the search; the run looks again.
    request.outputs(Some(report::PREDICTED))?;
    let mut solver = args.solver.clone();
    if solver.start == Start::Auto {
        if solver.method == "lbfgs" && solver.knobs.alpha_theta.is_none() {
            solver.knobs.alpha_theta = Some(FIRST_STEP);
        }
        match Resumed::read(&solver.checkpoint)? {
            Some(run) => task.begin_at(found_before(&run)?),
            None => search(args, &solver, &mut task)?,
        }
    }
    let application = SequencesApplication::new(args, &table, &origin, &task);
    solve(&application, &Request { solver: &solver, ..request })
}

/// Searches for a start.
fn search(args: &SequencesArgs, solver: &SolverFlags, task: &mut SequencesTask) -> Result<()> {
    // Whatever is wrong with the flags is said before the search, not after it.
    let plan = Plan::new(solver, None, task.problem(), &vec![0.0; task.coordinates().len()])?;
    let search = Search {
        starts: args.problem.starts,
        seed: solver.seed,
        interrupt: Some(interrupt::listen()?),
        max_seconds: deadline::left(solver.stop.max_seconds),
    };
    let waiting = progress::spinner(&format!("searching from {} starts", args.problem.starts));
    plan.pool().install(|| task.search(&search))?;
    waiting.finish_and_clear();
    Ok(())
}

/// What the search of an earlier run has found.
fn found_before(run: &Resumed) -> Result<Found> {
    postcard::from_bytes(&run.note.aside).map_err(|_| {
        anyhow!(
            "--resume {}: was written by a run that has not searched for a start; expected the \
             command and the --start of that run",
            run.path.display()
        )
    })
}
