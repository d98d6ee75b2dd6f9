//! The flags that say what is evaluated: a log, a model or a generated process, its features,
//! discount and objective.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use innermean_apps::policy::{AutoReset, NeverLeft, PolicyObjective, PolicySettings};
use serde::Serialize;

use crate::flags::number;
use crate::flags::regularizer::RegularizerFlags;
use crate::flags::spelling::by_name;

mod check;
mod columns;

pub(crate) use columns::ColumnFlags;

/// What is evaluated, shared with `compare policy`.
#[expect(clippy::doc_markdown, reason = "help is no markdown")]
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct PolicyFlags {
    /// A log of transitions: a row for each, with columns state, next_state (empty where an episode
    /// ends), reward and, if there are such, weight, done and truncated; or a file of D4RL or
    /// Minari (HDF5, Parquet) [default: a generated process]
    #[arg(value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,

    /// A model instead of a log: a square matrix of probabilities (.npy, .npz or text), or a table
    /// with columns state, next_state, probability and reward
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    pub(crate) model: Option<PathBuf>,

    /// The rewards of a matrix of probabilities: one for each state, or as many as probabilities
    #[arg(long, value_name = "FILE", requires = "model")]
    pub(crate) rewards: Option<PathBuf>,

    /// What describes a state: one-hot (a value of its own for each), D (D random numbers, of
    /// a generated process), a file with a row for each state, or, with --next-features, columns of
    /// the log [default: one-hot; those that belong to a generated process]
    #[arg(long, value_name = "one-hot|D|FILE|COLUMNS")]
    pub(crate) features: Option<FeatureChoice>,

    /// The columns of the log that describe the next state, in the order of those that --features
    /// names, with commas between them; states need no names then
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "features")]
    pub(crate) next_features: Vec<String>,

    /// Add a coordinate to the features that is 1 in every state
    #[arg(long)]
    pub(crate) intercept: bool,

    /// The weight of what comes a step later, from 0 to 1; 1 only where every state leads to an end
    /// [default: 0.9; that of a generated process]
    #[arg(long, value_name = "WEIGHT", value_parser = number::non_negative, allow_hyphen_values = true)]
    pub(crate) discount: Option<f64>,

    /// What is minimised [default: bellman; projected with --lambda, and where features describe
    /// the states of a log and more than half of its transitions leave a state that is seen once]
    #[arg(long, value_name = "WHICH")]
    #[arg(value_parser = by_name::<PolicyObjective>())]
    pub(crate) objective: Option<PolicyObjective>,

    /// Eligibility traces along the episodes of a log, from 0 (TD) to 1 (Monte Carlo): LSTD(lambda)
    #[arg(long, value_name = "LAMBDA", default_value = "0", value_parser = number::non_negative, allow_hyphen_values = true)]
    pub(crate) lambda: f64,

    /// Also print the mean value of these states: first (of every episode of the log), names with
    /// commas between them, or a file of states, with the columns of --features if these are
    /// columns of the log
    #[arg(long, value_name = "first|NAMES|FILE")]
    pub(crate) initial_states: Option<String>,

    /// States that end an episode, with value 0; may be given several times, and with commas
    /// between names
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) terminal: Vec<String>,

    /// What to make of states that are entered and never left
    #[arg(long, value_name = "WHAT", default_value = "error", value_parser = by_name::<NeverLeft>())]
    pub(crate) never_left: NeverLeft,

    /// What the row behind the end of an episode is
    #[arg(long, value_name = "WHAT", default_value = "detect", value_parser = by_name::<AutoReset>())]
    pub(crate) auto_reset: AutoReset,

    #[command(flatten)]
    pub(crate) regularizer: RegularizerFlags,

    // These have headings of their own, which flags below them would get as well.
    #[command(flatten)]
    pub(crate) columns: ColumnFlags,

    #[command(flatten)]
    pub(crate) generator: GeneratorFlags,
}

/// Processes without a file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Generated processes")]
pub(crate) struct GeneratorFlags {
    /// The process that is generated [default: random]
    #[arg(long, value_name = "WHICH", value_enum, conflicts_with_all = ["log", "model"])]
    pub(crate) generate: Option<Generator>,

    /// S, the states of a random process [default: 10] or of a walk [default: 19]
    #[arg(long, value_name = "S", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) states: Option<usize>,

    /// The states that may follow each state of a random process [default: all of them]
    #[arg(long, value_name = "K", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) successors: Option<usize>,

    /// How random features are drawn [default: uniform]
    #[arg(long, value_name = "KIND", value_enum)]
    pub(crate) feature_kind: Option<FeatureKind>,

    /// The rows and columns of a grid [default: 4x4]
    #[arg(long, value_name = "ROWSxCOLUMNS")]
    pub(crate) grid: Option<GridSize>,

    /// How one moves through a grid [default: random]
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(crate) policy: Option<GridPolicy>,

    /// Walk this many transitions through the process, and evaluate this log in its stead [default:
    /// the process itself; 1000 for --objective projected with random features]
    #[arg(long, value_name = "T", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) transitions: Option<usize>,

    /// The seed of the process; --seed is that of the run
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = number::seed, allow_hyphen_values = true)]
    pub(crate) data_seed: u64,
}

/// Which process is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Generator {
    /// The paper's: random probabilities, rewards and features
    Random,
    /// Steps to the left and to the right, between two ends
    Walk,
    /// Boyan's chain: 13 states, 4 features
    Boyan,
    /// Cells of a grid, two corners of which end an episode
    Grid,
}

/// [`innermean_data::Features`] as a flag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeatureKind {
    /// Uniform in [0, 1), as in the paper
    #[default]
    Uniform,
    /// Standard normal
    Gaussian,
    /// Uniform in [-1, 1)
    MixedSign,
}

impl From<FeatureKind> for innermean_data::Features {
    fn from(kind: FeatureKind) -> Self {
        match kind {
            FeatureKind::Uniform => innermean_data::Features::Uniform,
            FeatureKind::Gaussian => innermean_data::Features::Gaussian,
            FeatureKind::MixedSign => innermean_data::Features::MixedSign,
        }
    }
}

/// [`innermean_data::GridPolicy`] as a flag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GridPolicy {
    /// Each direction alike
    #[default]
    Random,
    /// Towards the nearer corner
    Shortest,
    /// Four times in five towards the nearer corner, otherwise in a random direction
    Noisy,
}

impl From<GridPolicy> for innermean_data::GridPolicy {
    fn from(policy: GridPolicy) -> Self {
        match policy {
            GridPolicy::Random => innermean_data::GridPolicy::Random,
            GridPolicy::Shortest => innermean_data::GridPolicy::Shortest,
            GridPolicy::Noisy => innermean_data::GridPolicy::Noisy,
        }
    }
}

/// What describes a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FeatureChoice {
    OneHot,
    /// This many random numbers.
    Random(usize),
    File(PathBuf),
}

impl FromStr for FeatureChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            _ if text == "one-hot" => Ok(FeatureChoice::OneHot),
            Ok(_) => number::positive_size(text).map(FeatureChoice::Random),
            Err(_) => Ok(FeatureChoice::File(text.into())),
        }
    }
}

/// Rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GridSize {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Cells beyond which nothing is to be seen any more.
const MOST_CELLS: usize = 10_000_000;

impl FromStr for GridSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sizes = text.split_once('x').map(|(rows, columns)| (rows.parse(), columns.parse()));
        match sizes {
            Some((Ok(rows), Ok(columns)))
                if usize::checked_mul(rows, columns)
                    .is_some_and(|cells| (3..=MOST_CELLS).contains(&cells)) =>
            {
                Ok(GridSize { rows, columns })
            }
            _ => Err(format!("expected ROWSxCOLUMNS, such as 4x4, with 3 to {MOST_CELLS} cells")),
        }
    }
}

impl From<&PolicyFlags> for PolicySettings {
    fn from(flags: &PolicyFlags) -> Self {
        let mut settings = PolicySettings::default();
        settings.discount = flags.discount;
        settings.objective = flags.objective;
        settings.terminal.clone_from(&flags.terminal);
        settings.never_left = flags.never_left;
        settings.lambda = flags.lambda;
        settings.intercept = flags.intercept;
        settings.auto_reset = flags.auto_reset;
        settings.constraint = flags.regularizer.constraint;
        settings.penalty = flags.regularizer.penalty.into();
        settings
    }
}

impl PolicyFlags {
    /// The files that are read.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        let own = [&self.log, &self.model, &self.rewards];
        let own = own.into_iter().flatten().map(PathBuf::as_path);
        own.chain(self.feature_file()).chain(self.initial_file()).collect()
    }

    /// The file of features.
    pub(crate) fn feature_file(&self) -> Option<&Path> {
        match &self.features {
            Some(FeatureChoice::File(path)) if self.next_features.is_empty() => Some(path),
            _ => None,
        }
    }

    /// The columns of the log that are features.
    pub(crate) fn feature_columns(&self) -> Option<Vec<String>> {
        let text = match &self.features {
            _ if self.next_features.is_empty() => return None,
            None => return Some(Vec::new()),
            Some(FeatureChoice::OneHot) => "one-hot".to_owned(),
            Some(FeatureChoice::Random(d)) => d.to_string(),
            Some(FeatureChoice::File(path)) => path.to_string_lossy().into_owned(),
        };
        Some(text.split(',').map(|name| name.trim().to_owned()).collect())
    }

    /// The file of initial states.
    pub(crate) fn initial_file(&self) -> Option<&Path> {
        let path = self.initial_states.as_deref().filter(|text| *text != "first").map(Path::new);
        path.filter(|path| path.is_file())
    }

    /// Whether no file was given.
    pub(crate) fn generated(&self) -> bool {
        self.log.is_none() && self.model.is_none()
    }
}
