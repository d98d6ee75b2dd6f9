//! Flags that do not fit together, and sizes that do not fit into memory.

use anyhow::{Result, bail};
use clap::ValueEnum;
use innermean_apps::policy::PolicySettings;

use super::{ColumnFlags, FeatureChoice, Generator, GeneratorFlags, GridSize, PolicyFlags};
use crate::flags::input::fits_into_memory;

/// P and the rewards of a random process are dense: this many states take 40 GB.
const MOST_DENSE_STATES: usize = 50_000;
const MOST_STATES: usize = 100_000_000;
const MOST_FEATURES: usize = 10_000;
const MOST_TRANSITIONS: usize = 1_000_000_000;

impl PolicyFlags {
    /// Sizes that fit into memory, and nothing that would be ignored.
    pub(crate) fn check(&self) -> Result<()> {
        let GeneratorFlags { states, successors, feature_kind, grid, policy, transitions, .. } =
            &self.generator;
        let random = match self.features {
            Some(FeatureChoice::Random(d)) if self.next_features.is_empty() => d,
            _ => 0,
        };
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
        self.check_columns_of_features()?;
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
    pub(crate) fn of_transitions_alone(&self) -> Option<&'static str> {
        let ColumnFlags { state_column, next_column, reward_column, weight_column, .. } =
            &self.columns;
        let described = self.feature_file().is_some();
        let given = [
            // It names the state in the file of features too.
            ("--state-column", state_column != "state" && !described),
            ("--next-column", next_column != "next_state"),
            ("--reward-column", reward_column != "reward"),
            ("--weight-column", weight_column.is_some()),
        ];
        given.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }

    /// Features that are columns of the log.
    fn check_columns_of_features(&self) -> Result<()> {
        if let Some(columns) = self.feature_columns() {
            if self.log.is_none() {
                bail!("--next-features does nothing without a log; expected LOG");
            }
            if let Some(flag) = self.columns.of_features().filter(|flag| *flag != "--missing") {
                bail!("{flag} does nothing with --next-features: features are columns of the log");
            }
            if columns.is_empty() {
                bail!("--next-features does nothing without --features COLUMNS");
            }
            return Ok(());
        }
        let Some(file) = self.feature_file() else { return Ok(()) };
        let text = file.to_string_lossy();
        if self.log.is_some() && !text.contains(['.', '/', '\\', ':']) && !file.exists() {
            bail!(
                "--features {text}: no such file; expected a file, or --next-features too if these are columns of the log"
            );
        }
        Ok(())
    }

    /// Columns of files that there are not.
    fn refuse_idle_columns(&self) -> Result<()> {
        let columns = &self.columns;
        let described = self.feature_file().is_some();
        if self.generated()
            && let Some(flag) = self.of_transitions_alone()
        {
            bail!("{flag} does nothing without a file; expected LOG or --model FILE");
        }
        if self.log.is_none()
            && let Some(flag) = columns.of_steps()
        {
            bail!("{flag} does nothing without a log; expected LOG");
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
