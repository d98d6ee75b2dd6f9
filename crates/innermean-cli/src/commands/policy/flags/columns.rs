//! The flags that say where things are in files.

use clap::Args;

use crate::flags::columns::FeatureFlags;

/// Where things are in files.
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

    /// The column that is set where a step ends an episode, so that nothing follows; none for none
    /// [default: terminated, terminal or done, if there is one]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) done_column: Option<String>,

    /// The column that is set where an episode was cut off, so that the value of the next state
    /// counts; none for none [default: truncated or timeout, if there is one]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) truncated_column: Option<String>,

    /// The column of the episode, or of the environment where rows of several are mixed; none for
    /// none [default: episode, if there is one]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) episode_column: Option<String>,

    /// The column of the importance ratio: how much likelier the action is under the policy that is
    /// evaluated than under the one that was followed
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["target_column", "behaviour_column"])]
    pub(crate) ratio_column: Option<String>,

    /// The column of the action's probability under the policy that is evaluated
    #[arg(long, value_name = "COLUMN", requires = "behaviour_column")]
    pub(crate) target_column: Option<String>,

    /// The column of the action's probability under the policy that was followed
    #[arg(long, value_name = "COLUMN", requires = "target_column", alias = "behavior-column")]
    pub(crate) behaviour_column: Option<String>,

    /// The column of the state in the file of features [default: as --state-column]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) feature_key: Option<String>,

    /// Those of the file of features.
    #[command(flatten)]
    pub(crate) features: FeatureFlags,
}

impl ColumnFlags {
    /// A flag that was given and speaks of the file of features.
    pub(crate) fn of_features(&self) -> Option<&'static str> {
        self.feature_key.as_ref().map(|_| "--feature-key").or(self.features.given())
    }

    /// A flag that was given and speaks of the steps of a log.
    pub(crate) fn of_steps(&self) -> Option<&'static str> {
        let given = [
            ("--done-column", &self.done_column),
            ("--truncated-column", &self.truncated_column),
            ("--episode-column", &self.episode_column),
            ("--ratio-column", &self.ratio_column),
            ("--target-column", &self.target_column),
        ];
        given.into_iter().find_map(|(flag, given)| given.as_ref().map(|_| flag))
    }
}
