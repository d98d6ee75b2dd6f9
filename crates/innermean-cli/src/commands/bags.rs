//! `innermean bags`: a model of single rows from labels that are known for groups of rows alone.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use innermean::Status;
use innermean_apps::bags::{BagLink, BagLoss, BagSettings, BagTask};
use innermean_apps::validation::Validation;

use self::columns::ColumnFlags;
use self::report::BagsApplication;
use self::table::Read;
use crate::flags::inference::{Asked, InferenceFlags};
use crate::flags::input::fits_copied;
use crate::flags::number;
use crate::flags::output::OutputFlags;
use crate::flags::solver::SolverFlags;
use crate::flags::spelling::by_name;
use crate::flags::validation::{Compared, PenaltyListFlags, ValidationFlags};
use crate::output::model::ModelFlags;
use crate::output::predictions::PredictionFlags;
use crate::output::validation::Validated;
use crate::run::application::solve;
use crate::run::request::Request;
use crate::run::validation::validate;

mod columns;
mod generate;
mod labels;
mod report;
mod table;

/// Learn about single rows from labels of groups
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
#[command(mut_arg("start", |arg| arg.default_value("auto").value_name("auto|zeros|uniform|FILE").help(START)))]
pub(crate) struct BagsArgs {
    /// The rows: a column that names each row's group, and columns of features [default: generated
    /// groups, see --groups]
    #[arg(value_name = "ROWS")]
    file: Option<PathBuf>,

    #[command(flatten)]
    columns: ColumnFlags,

    #[command(flatten)]
    problem: ProblemFlags,

    /// Groups are held out as a whole
    #[command(flatten)]
    validation: ValidationFlags,

    #[command(flatten)]
    inference: InferenceFlags,

    #[command(flatten)]
    generated: GeneratorFlags,

    #[command(flatten)]
    predictions: PredictionFlags,

    #[command(flatten)]
    model: ModelFlags,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    solver: SolverFlags,
}

/// What is minimised.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct ProblemFlags {
    /// What is made of a row's score <features, theta> + intercept, and so what a group's label is
    #[arg(long, default_value = "logistic", value_parser = by_name::<BagLink>())]
    link: BagLink,

    /// The loss of a group's average [default: square for identity, poisson for exp, cross-entropy
    /// for the others]
    #[arg(long, value_parser = by_name::<BagLoss>())]
    loss: Option<BagLoss>,

    /// Leave the intercept out
    #[arg(long)]
    no_intercept: bool,

    /// Take columns of very different size as they are; otherwise they are brought to one scale for
    /// the run, which changes its speed alone
    #[arg(long)]
    no_scaling: bool,

    /// The intercept is never penalised
    #[command(flatten)]
    penalty: PenaltyListFlags,
}

/// Groups that stand in where no file is given.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Generated groups (without ROWS)")]
pub(crate) struct GeneratorFlags {
    /// The number of groups [default: 2000]
    #[arg(long, value_name = "N", value_parser = number::positive_size, conflicts_with = "file")]
    groups: Option<usize>,

    /// The smallest and the largest number of rows in a group [default: 20..80]
    #[arg(long, value_name = "LO..HI", value_parser = range, conflicts_with = "file")]
    rows: Option<(usize, usize)>,

    /// The number of features [default: 30]
    #[arg(long, value_name = "N", value_parser = number::positive_size, conflicts_with = "file")]
    features: Option<usize>,

    /// The number of classes, for --link softmax [default: 3]
    #[arg(long, value_name = "N", value_parser = classes, conflicts_with = "file")]
    classes: Option<usize>,

    /// Of the data, not of the run: --seed does not change the problem [default: 1]
    #[arg(long, value_name = "SEED", value_parser = number::seed, conflicts_with = "file")]
    data_seed: Option<u64>,
}

const LONG_ABOUT: &str = "\
Learn about single rows from labels of groups.

  min over theta of  (1/n) sum_i phi_i( mean over the rows j of group i of link(<y_ij, theta> + intercept) ) + g(theta)

Rows y_ij of features form n groups, and one label of each group is known. The link makes a row's score a prediction, \
phi compares the average prediction of a group with its label:

  logistic  label: proportion q of positive rows  phi(u) = -q log u - (1 - q) log(1 - u), or (u - q)^2 by --loss square
  softmax   label: proportions of the classes     phi(u) = -sum over c of q_c log u_c
  identity  label: mean of a target               phi(u) = (u - label)^2
  exp       label: sum of the counts of the rows  phi(u) = half the deviance of that sum from (rows of the group) u, over the \
mean size of groups

Rows with weights (--weight) have a weighted mean. Every group counts the same, but with exp, where every row does; --by-size, --label-weight \
and --label-variance change that. A row may belong to several groups (--group a,b), or have a label of its own (--single-label). g is an l1 norm and a ridge on the coefficients. Columns of \
very different size, or far from zero, are brought to one scale for the run; coefficients, penalties and objective are those of the columns as they are.

Not of this form: bags that are positive if any of their rows is (multiple-instance learning), where the loss looks at the largest prediction of a group and \
not at its average; and random effects, where a group has an intercept of its own that is integrated out (a column for each group with --l2 is a ridge on fixed effects, \
which is not the same).";

const START: &str = "\
Where to begin: auto (no coefficients, and the intercept that predicts the mean of the labels), zeros, uniform (each coordinate \
uniform in [0, 1), by the seed), or a file with one number for each coordinate; what --json prints is such a file";

const AFTER_HELP: &str = "\
Examples:
  innermean bags                      # generated groups
  innermean bags voters.csv --group precinct --labels results.csv --label share
  innermean bags cells.csv --group precinct --weight persons --labels results.csv --by-size --average-by district
  innermean bags rows.csv --group bag --label proportion --predictions rows-predicted.csv
  innermean bags visits.csv --group clinic --labels cases.csv --link exp --l2 0.001 --json

Exit codes: 0 solved, 1 stopped at a limit, diverged or interrupted, 2 bad usage, input or output.";

/// `20..80`, or one number for both.
fn range(text: &str) -> Result<(usize, usize), String> {
    let (lo, hi) = text.split_once("..").unwrap_or((text, text));
    match (number::positive_size(lo), number::positive_size(hi)) {
        (Ok(lo), Ok(hi)) if lo <= hi => Ok((lo, hi)),
        _ => {
            Err("expected two whole numbers above 0 such as 20..80, the smaller one first"
                .to_owned())
        }
    }
}

fn classes(text: &str) -> Result<usize, String> {
    let expected =
        || format!("expected a whole number from 2 to {}", innermean::problems::bags::MOST_CLASSES);
    let classes = number::positive_size(text).map_err(|_| expected())?;
    if (2..=innermean::problems::bags::MOST_CLASSES).contains(&classes) {
        Ok(classes)
    } else {
        Err(expected())
    }
}

impl From<&ProblemFlags> for BagSettings {
    fn from(flags: &ProblemFlags) -> Self {
        let mut settings = BagSettings::default();
        settings.link = flags.link;
        settings.loss = flags.loss;
        settings.intercept = !flags.no_intercept;
        settings.scaling = !flags.no_scaling;
        settings.penalty = flags.penalty.first();
        settings
    }
}

/// Solves and reports.
pub(crate) fn run(args: &BagsArgs) -> Result<Status> {
    let BagsArgs { file, columns, problem: flags, generated, predictions, .. } = args;
    let inference = args.inference.settings_of_groups()?;
    let solver = &args.inference.tightened(&args.solver);
    let inputs: Vec<&Path> = file.as_deref().into_iter().chain(columns.labels()).collect();
    let request = Request::new(solver, &args.output, inputs, predictions)?
        .keeping("--model", args.model.model.as_ref())?;
    let mut settings = BagSettings::from(flags);
    settings.loss()?;
    args.validation.check(&flags.penalty)?;
    let read = if let Some(file) = file {
        columns.read(file, flags.link, args.validation.fold_column.as_deref())?
    } else {
        columns.refuse_without_file()?;
        if let Some(column) = &args.validation.fold_column {
            bail!("--fold-column {column}: there are no columns without ROWS; expected --cv");
        }
        generated.data(flags.link)?
    };
    let mut validated = None;
    if args.validation.is_on() {
        let Some(found) = args.validated(&read, &settings)? else {
            return Ok(Status::Interrupted);
        };
        settings.penalty = found.table.rows[found.chosen].penalty;
        validated = Some(found);
    }
    let Read { data, features, origin, .. } = read;
    if inference.is_on() {
        data.refuse_overlap(inference.parameter())?;
    }
    let keeps_rows = predictions.predictions.is_some() || data.needs_predictions();
    let task = BagTask::new(data, features, &settings)?;
    let task = if keeps_rows { task } else { task.without_rows() };
    let inference = Asked::new(inference, None, &task, solver)?;
    let application = BagsApplication {
        origin: &origin,
        task: &task,
        start: &solver.start,
        validated: validated.as_ref(),
        generated: file.is_none(),
        inference,
    };
    solve(&application, &request)
}

impl BagsArgs {
    /// The penalties compared; none if interrupted.
    fn validated(&self, read: &Read, settings: &BagSettings) -> Result<Option<Validated>> {
        let (flags, solver) = (&self.validation, &self.solver);
        let Read { data, features, folds, origin } = read;
        fits_copied(&format!("{}: a choice of penalties", origin.source), features)?;
        let features = &*features.numbers();
        let folds = match folds {
            Some(keys) => data.folds_of(keys)?,
            None => data.folds(flags.folds(), solver.seed)?,
        };
        let penalties = match flags.compared(&self.problem.penalty)? {
            Compared::These(penalties) => penalties,
            Compared::Along(path) => path.of_bags(data, features, settings)?,
        };
        let validation = Validation::new(folds, penalties, flags.score())?;
        validate(flags, solver, |solver, watch| {
            validation.bags(data, features, settings, solver, watch)
        })
    }
}
