//! The flags that say what is evaluated: a log, a model or a generated process, its features,
//! discount and objective.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use innermean_apps::policy::{NeverLeft, PolicyObjective, PolicySettings};
use serde::Serialize;

use crate::flags::columns::FeatureFlags;
use crate::flags::input::fits_into_memory;
use crate::flags::number;
use crate::flags::regularizer::RegularizerFlags;
use crate::flags::spelling::by_name;

/// What is evaluated, shared with `compare policy`.
#[expect(clippy::doc_markdown, reason = "help is no markdown")]
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct PolicyFlags {
    /// A log of transitions: a row for each, with columns state, next_state (empty where an episode
    /// ends), reward and, if there is one, weight [default: a generated process]
    #[arg(value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,

    /// A model instead of a log: a square matrix of probabilities (.npy, .npz or text), or a table
    /// with columns state, next_state, probability and reward
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    pub(crate) model: Option<PathBuf>,

    /// The rewards of a matrix of probabilities: one for each state, or as many as probabilities
    #[arg(long, value_name = "FILE", requires = "model")]
    pub(crate) rewards: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) generator: GeneratorFlags,

    /// What describes a state: one-hot (a value of its own for each), D (so many random numbers, of
    /// a generated process) or a file with a row for each state [default: one-hot; those that
    /// belong to a generated process]
    #[arg(long, value_name = "one-hot|D|FILE")]
    pub(crate) features: Option<FeatureChoice>,

    /// The weight of what comes a step later, from 0 to 1; 1 only where every state leads to an end
    /// [default: 0.9; that of a generated process]
    #[arg(long, value_name = "WEIGHT", value_parser = number::non_negative, allow_hyphen_values = true)]
    pub(crate) discount: Option<f64>,

    /// What is minimised
    #[arg(long, value_name = "WHICH", default_value = "bellman")]
    #[arg(value_parser = by_name::<PolicyObjective>())]
    pub(crate) objective: PolicyObjective,

    /// States that end an episode, with value 0; may be given several times, and with commas
    /// between names
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) terminal: Vec<String>,

    /// What to make of states that are entered and never left
    #[arg(long, value_name = "WHAT", default_value = "error", value_parser = by_name::<NeverLeft>())]
    pub(crate) never_left: NeverLeft,

    #[command(flatten)]
    pub(crate) columns: ColumnFlags,

    #[command(flatten)]
    pub(crate) regularizer: RegularizerFlags,
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

    /// Walk so many transitions through the process, and evaluate this log in its stead [default:
    /// the process itself; 1000 for --objective projected with random features]
    #[arg(long, value_name = "T", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) transitions: Option<usize>,

    /// The seed of the process; --seed is that of the run
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = number::seed, allow_hyphen_values = true)]
    pub(crate) data_seed: u64,
}

/// Where things stand in files.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnFlags {
    /// The column of the state that a transition leaves, by name or by number from 1
    #[arg(long, value_name = "COLUMN", default_value = "state")]
    pub(crate) state_column: String,

    /// The column of the state that it enters
    #[arg(long, value_name = "COLUMN", default_value = "next_state")]
    pub(crate) next_column: String,

    /// The column of the reward
    #[arg(long, value_name = "COLUMN", default_value = "reward")]
    pub(crate) reward_column: String,

    /// The column of a transition's weight, or of its probability in a model [default: weight if
    /// there is one; probability]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight_column: Option<String>,

    /// The column of the state in the file of features [default: as --state-column]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) feature_key: Option<String>,

    /// Those of the file of features.
    #[command(flatten)]
    pub(crate) features: FeatureFlags,
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
    /// So many random numbers.
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

/// P and the rewards of a random process are dense: this many states take 40 GB.
const MOST_DENSE_STATES: usize = 50_000;
const MOST_STATES: usize = 100_000_000;
const MOST_FEATURES: usize = 10_000;
const MOST_TRANSITIONS: usize = 1_000_000_000;

impl From<&PolicyFlags> for PolicySettings {
    fn from(flags: &PolicyFlags) -> Self {
        let mut settings = PolicySettings::default();
        settings.discount = flags.discount;
        settings.objective = flags.objective;
        settings.terminal.clone_from(&flags.terminal);
        settings.never_left = flags.never_left;
        settings.constraint = flags.regularizer.constraint;
        settings.penalty = flags.regularizer.penalty.into();
        settings
    }
}

impl PolicyFlags {
    /// The files that are read.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        let features = match &self.features {
            Some(FeatureChoice::File(path)) => Some(path),
            _ => None,
        };
        [self.log.as_ref(), self.model.as_ref(), self.rewards.as_ref(), features]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect()
    }

    /// Whether nobody gave a file.
    pub(crate) fn generated(&self) -> bool {
        self.log.is_none() && self.model.is_none()
    }

    /// Sizes that fit into memory, and nothing that would be ignored.
    pub(crate) fn check(&self) -> Result<()> {
        let GeneratorFlags { states, successors, feature_kind, grid, policy, transitions, .. } =
            &self.generator;
        let random = if let Some(FeatureChoice::Random(d)) = self.features { d } else { 0 };
        let dense = self.generator.generate.unwrap_or(Generator::Random) == Generator::Random;
        let most = if dense && successors.is_none() { MOST_DENSE_STATES } else { MOST_STATES };
        let pairs = states.unwrap_or(0).saturating_mul(successors.unwrap_or(0));
        let sizes = [
            ("states", states.unwrap_or(0), most),
            ("successors", if pairs > MOST_TRANSITIONS { pairs } else { 0 }, MOST_TRANSITIONS),
            ("features", random, MOST_FEATURES),
            ("transitions", transitions.unwrap_or(0), MOST_TRANSITIONS),
        ];
        if let Some((flag, given, most)) = sizes.into_iter().find(|(_, given, most)| given > most) {
            bail!("--{flag} {given}: expected at most {most}, for all of it is kept in memory");
        }
        let pairs = if dense && successors.is_none() {
            states.unwrap_or(0)
        } else {
            successors.unwrap_or(2)
        };
        let counts = format!("--states {}", states.unwrap_or(0));
        // A probability, a reward and a place for each pair of states that may follow each other.
        fits_into_memory(&counts, &[3, states.unwrap_or(0), pairs])?;
        let walk = transitions.unwrap_or(0);
        fits_into_memory(&format!("--transitions {walk}"), &[3, walk])?;
        if let Some(GridSize { rows, columns }) = *grid {
            // Names, transitions and rewards of a cell.
            fits_into_memory(&format!("--grid {rows}x{columns}"), &[rows, columns, 50])?;
        }
        if random > 0 {
            let states = states.unwrap_or(grid.map_or(0, |grid| grid.rows * grid.columns));
            fits_into_memory(
                &format!("--features {random} of {states} states"),
                &[random, states],
            )?;
        }
        PolicySettings::from(self).check()?;
        // What belongs to some processes alone.
        let generator = self.generator.generate.unwrap_or(Generator::Random);
        let idle = [
            (
                "--states",
                states.is_some(),
                matches!(generator, Generator::Random | Generator::Walk),
            ),
            ("--successors", successors.is_some(), generator == Generator::Random),
            (
                "--feature-kind",
                feature_kind.is_some(),
                random > 0 || generator == Generator::Random,
            ),
            ("--grid", grid.is_some(), generator == Generator::Grid),
            ("--policy", policy.is_some(), generator == Generator::Grid),
            ("--transitions", transitions.is_some(), true),
        ];
        for (flag, given, used) in idle {
            if given && !self.generated() {
                bail!("{flag} does nothing with a file; expected it with a generated process");
            }
            if given && !used {
                let name = generator
                    .to_possible_value()
                    .map_or(String::new(), |v| v.get_name().to_owned());
                bail!(
                    "{flag} does nothing with --generate {name}; see --help for what it belongs to"
                );
            }
        }
        if random > 0 && !self.generated() {
            bail!(
                "--features {random}: random features are for generated processes; expected one-hot or a file (./{random} for one of that name)"
            );
        }
        self.refuse_idle_columns()
    }

    /// A flag that was given and speaks of nothing but a table of transitions.
    pub(super) fn of_transitions_alone(&self) -> Option<&'static str> {
        let ColumnFlags { state_column, next_column, reward_column, weight_column, .. } =
            &self.columns;
        let described = matches!(self.features, Some(FeatureChoice::File(_)));
        let given = [
            // It names the state in the file of features too.
            ("--state-column", state_column != "state" && !described),
            ("--next-column", next_column != "next_state"),
            ("--reward-column", reward_column != "reward"),
            ("--weight-column", weight_column.is_some()),
        ];
        given.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }

    /// Columns of files that there are not.
    fn refuse_idle_columns(&self) -> Result<()> {
        let columns = &self.columns;
        let described = matches!(self.features, Some(FeatureChoice::File(_)));
        if self.generated()
            && let Some(flag) = self.of_transitions_alone()
        {
            bail!("{flag} does nothing without a file; expected LOG or --model FILE");
        }
        match columns.of_features() {
            // Missing values may stand in either file.
            Some("--missing") if !self.generated() => Ok(()),
            Some(flag) if !described => {
                bail!("{flag} does nothing without a file of features; expected --features FILE")
            }
            _ => Ok(()),
        }
    }
}

impl ColumnFlags {
    /// A flag that was given and speaks of the file of features.
    pub(super) fn of_features(&self) -> Option<&'static str> {
        self.feature_key.as_ref().map(|_| "--feature-key").or(self.features.given())
    }
}
