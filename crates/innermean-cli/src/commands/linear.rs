//! `innermean linear`: linear predictors of a number or a class, from a table or from sparse rows.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use innermean::Status;
use innermean_apps::linear::{ClassWeights, LinearData, LinearSettings, LinearTask, Loss, Rows};
use innermean_apps::validation::Validation;
use innermean_data::Keys;
use serde::Serialize;

use self::data::Read;
pub(crate) use self::data::format_of;
use self::generate::GeneratorFlags;
use self::report::LinearApplication;
use crate::flags::columns::{FeatureFlags, MissingChoice};
use crate::flags::inference::{Asked, InferenceFlags, kept};
use crate::flags::input::{fits_copied, takes_moments};
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

mod data;
mod generate;
mod moments;
mod report;

/// Predict a number or a class by a linear function
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
pub(crate) struct LinearArgs {
    /// The rows: a table with a column for the target and columns of features, or sparse rows as
    /// LIBSVM has them [default: generated rows, see --generate]
    file: Option<PathBuf>,

    #[command(flatten)]
    columns: ColumnFlags,

    #[command(flatten)]
    problem: ProblemFlags,

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

/// What the columns of the file are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnFlags {
    /// The column to be predicted, by name or number; sparse rows begin with it
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// A column of weights: a row of weight 2 counts as two rows, one of weight 0 is left out
    /// [default: all rows count the same]
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,

    /// A column that names the cluster of each row: those of one cluster may depend on each other,
    /// for --standard-errors and --bootstrap
    #[arg(long, value_name = "COLUMN")]
    cluster: Option<String>,

    /// What the file is [default: libsvm if its name ends in .svm or .libsvm, with or without .gz,
    /// or in .txt and its cells are index:value; otherwise table]
    #[arg(long, value_name = "WHAT", value_enum)]
    format: Option<Format>,

    #[command(flatten)]
    features: FeatureFlags,

    /// Read the file once and keep only the means and covariances of its columns: memory does not
    /// grow with the rows, and the answer is the same. For --loss square [default: where the file
    /// would not fit into memory]
    #[arg(long)]
    moments: bool,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// Columns of numbers and texts: CSV and other text, npy, npz; see docs/linear.md
    Table,
    /// A target and index:value in each line
    Libsvm,
}

/// What is minimised.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct ProblemFlags {
    #[command(flatten)]
    loss: LossFlags,

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

    /// How much the classes count beside the weights of rows: balanced for all alike, or a weight
    /// for each, as in no=1,yes=3
    #[arg(long, value_name = "balanced|NAME=WEIGHT,...")]
    class_weights: Option<ClassWeights>,
}

/// Which loss, and how wide its parabola is.
#[derive(Debug, Clone, Args)]
struct LossFlags {
    /// The loss of a row: square and huber for a target that is a number, the others for two
    /// classes, logistic for several as well
    #[arg(long, value_name = "LOSS", default_value = "square", value_parser = by_name::<Loss>())]
    loss: Loss,

    /// h of the Huber loss, up to which it is a square [default: the median distance of targets
    /// from their median]
    #[arg(long, value_name = "H", value_parser = number::positive, allow_hyphen_values = true)]
    huber_width: Option<f64>,

    /// h of the smoothed hinge loss, the width of its parabola [default: 1]
    #[arg(long, value_name = "H", value_parser = number::positive, allow_hyphen_values = true)]
    hinge_width: Option<f64>,
}

/// A paragraph a line: clap breaks lines at the terminal's width.
const LONG_ABOUT: &str = "\
Predict a number or a class by a linear function.

  min over theta of  (1/n) sum_i loss_i(<x_i, theta> + intercept) + l1 |theta|_1 + (l2/2) |theta|^2

x_i are the features of row i. The loss of a score u, with t the target that is a number and y = -1 or 1 for one of two classes:

  square          (u - t)^2 / 2
  huber           (u - t)^2 / 2 if |u - t| <= h, h (|u - t| - h/2) otherwise
  logistic        log(1 + e^(-y u))
  squared-hinge   max(1 - y u, 0)^2
  smoothed-hinge  0 if y u >= 1, (1 - y u)^2 / (2h) if y u >= 1 - h, 1 - y u - h/2 otherwise

With more than two classes, logistic is log(sum over classes c of e^(u_c)) - u_y, where each class has coefficients and an intercept of its own.

The intercept is not penalised. The loss is a mean over rows, so that weights do not depend on the number of rows: \
scikit-learn's Lasso(alpha) is --l1 alpha, its Ridge(alpha) is --l2 alpha/n, and its LogisticRegression(C) is --l2 1/(C n).

The run stops as solved when the objective is proven to be within --tolerance of its minimum, relative to its scale. Columns of a table that are of \
very different size, or far from zero, are brought to one scale for the run; coefficients, penalties and objective are those of the columns as they \
are. Sparse rows are taken as they are.";

const AFTER_HELP: &str = "\
Examples:
  innermean linear                    # generated rows
  innermean linear houses.csv --target price --l2 0.01
  innermean linear patients.csv --target outcome --loss logistic --except id,name --predictions out.csv
  innermean linear news20.svm.gz --loss logistic --l1 1e-5 --method saga --json > answer.json

Exit codes: 0 solved, 1 stopped at a limit, diverged or interrupted, 2 bad usage, input or output.";

impl From<&ProblemFlags> for LinearSettings {
    fn from(flags: &ProblemFlags) -> Self {
        let mut settings = LinearSettings::default();
        settings.loss = flags.loss.loss;
        settings.huber_width = flags.loss.huber_width;
        settings.hinge_width = flags.loss.hinge_width;
        settings.intercept = !flags.no_intercept;
        settings.scaling = !flags.no_scaling;
        settings.penalty = flags.penalty.first();
        settings
    }
}

/// Solves and reports.
pub(crate) fn run(args: &LinearArgs) -> Result<Status> {
    let LinearArgs { file, columns, problem: flags, generated, output, .. } = args;
    let inference = args.inference.settings(columns.cluster.is_some())?;
    let solver = &args.inference.tightened(&args.solver);
    let inputs = file.as_deref().into_iter().collect();
    let request = Request::new(solver, output, inputs, &args.predictions)?
        .keeping("--model", args.model.model.as_ref())?;
    let mut settings = LinearSettings::from(flags);
    settings.check()?;
    args.validation.check(&flags.penalty)?;
    let hindrance = args.needs_rows(settings.loss);
    if takes_moments(columns.moments, file.as_deref(), hindrance)?
        && let Some(file) = file
    {
        let (origin, names, moments) = args.moments(file)?;
        let task = LinearTask::of_moments(names, &moments, &settings)?;
        let application = LinearApplication {
            origin: &origin,
            task: &task,
            args,
            validated: None,
            generated: false,
            asked: false,
            inference: None,
        };
        return solve(&application, &request);
    }
    let read = if let Some(file) = file {
        Read::file(file, args, settings.loss)?
    } else {
        let roles =
            [&columns.target, &columns.weight, &columns.cluster, &args.validation.fold_column];
        let roles = roles.into_iter().any(Option::is_some) || columns.format.is_some();
        if roles || columns.features.given().is_some() {
            bail!(
                "--target, --weight, --cluster, --fold-column, --format, --columns, --except and \
                 --missing speak of a file; expected a FILE with them"
            );
        }
        generated.data(settings.loss)?
    };
    let Read { data, origin, folds, clusters } = read;
    let mut data = data.separated()?;
    if let Some(weights) = &flags.class_weights {
        data = data.with_class_weights(weights.clone())?;
    }
    let clusters = clusters.map(|keys| kept(keys, |row| data.is_fitted(row)));
    let mut validated = None;
    if args.validation.is_on() {
        let Some(found) = args.validated(&data, folds.as_ref(), &settings)? else {
            return Ok(Status::Interrupted);
        };
        settings.penalty = found.table.rows[found.chosen].penalty;
        validated = Some(found);
    }
    let task = LinearTask::new(data, &settings)?;
    let inference = Asked::new(inference, clusters, &task, solver)?;
    let application = LinearApplication {
        origin: &origin,
        task: &task,
        args,
        validated: validated.as_ref(),
        generated: file.is_none(),
        asked: generated.is_asked_for(),
        inference,
    };
    solve(&application, &request)
}

impl LinearArgs {
    /// A flag that is given and needs the rows themselves.
    fn needs_rows(&self, loss: Loss) -> Option<&'static str> {
        let libsvm =
            |file: &PathBuf| matches!(format_of(file, self.columns.format), Ok(Format::Libsvm));
        let given = [
            ("--loss", loss != Loss::Square),
            ("a file of sparse rows", self.file.as_ref().is_some_and(libsvm)),
            ("--cluster", self.columns.cluster.is_some()),
            ("--class-weights", self.problem.class_weights.is_some()),
            ("--predictions", self.predictions.predictions.is_some()),
            ("a choice of penalties", self.validation.is_on()),
            ("--fold-column", self.validation.fold_column.is_some()),
            ("--standard-errors or --bootstrap", self.inference.is_on()),
            (
                "--missing drop-columns",
                self.columns.features.missing() == MissingChoice::DropColumns,
            ),
        ];
        given.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }

    /// The penalties compared; none if interrupted.
    fn validated(
        &self,
        data: &LinearData,
        folds: Option<&Keys>,
        settings: &LinearSettings,
    ) -> Result<Option<Validated>> {
        let (flags, solver) = (&self.validation, &self.solver);
        if let Rows::Dense(rows) | Rows::Wide(rows) = data.rows() {
            fits_copied("a choice of penalties", rows)?;
        }
        let folds = match folds {
            Some(keys) => data.folds_of(keys)?,
            None => data.folds(flags.folds(), solver.seed)?,
        };
        let penalties = match flags.compared(&self.problem.penalty)? {
            Compared::These(penalties) => penalties,
            Compared::Along(path) => path.of_linear(data, settings)?,
        };
        let validation = Validation::new(folds, penalties, flags.score())?;
        validate(flags, solver, |solver, watch| validation.linear(data, settings, solver, watch))
    }
}
