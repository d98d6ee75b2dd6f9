//! Models from files, and what is known of a process, wherever it comes from.

use std::path::Path;

use anyhow::{Result, bail};
use innermean::Moves;
use innermean_apps::policy::{Process, ProcessMoves};
use innermean_apps::{Error, Place};
use innermean_data::{Ask, Columns, FeatureRows, Frame, ReadError};

use super::flags::PolicyFlags;
use super::log::Roles;

use crate::flags::input::limits;
use crate::flags::spelling::refused_at;

/// A process, and where it comes from.
pub(super) struct Known {
    pub(super) process: Process,
    pub(super) source: String,
    /// Features that belong to the process.
    pub(super) features: Option<FeatureRows>,
    /// What the reader decided, in whole sentences.
    pub(super) notes: Vec<String>,
    /// The file that transitions come from, for messages.
    pub(super) frame: Option<Frame>,
    /// Whether the transitions have features of their own.
    pub(super) own: bool,
}

/// How far the sum of a state's probabilities may lie from 1: rounding, also of numbers written in
/// decimals.
const ROW_SUM: f64 = 1e-9;

/// The two columns of states, of which the second may be empty, and these numbers.
fn read(path: &Path, flags: &PolicyFlags, numbers: Vec<Ask>) -> Result<Frame, ReadError> {
    let columns = &flags.columns;
    let keys =
        vec![Ask::required(&columns.state_column), Ask::required(&columns.next_column).or_blank()];
    limits().read_frame(
        path,
        &Columns { keys, numbers, ..Columns::default() },
        columns.features.missing().into(),
    )
}

impl Known {
    /// Reads or generates.
    pub(super) fn new(flags: &PolicyFlags) -> Result<Self> {
        if let Some(log) = &flags.log {
            Self::log(Roles::new(flags, log)?, log)
        } else if let Some(model) = &flags.model {
            Self::model(flags, model)
        } else {
            Ok(Self::generated(flags))
        }
    }

    /// Where transition t is in its file, if it comes from one.
    pub(super) fn place(&self, t: usize) -> String {
        self.frame.as_ref().map_or_else(|| self.source.clone(), |frame| frame.place(t))
    }

    /// A refusal with its place in the file.
    pub(super) fn refused(&self, error: Error) -> anyhow::Error {
        match error.place() {
            Some(Place::Transition(t)) => refused_at(self.place(t), &error),
            _ => error.into(),
        }
    }

    /// Transitions with their probabilities, or a matrix of these.
    fn model(flags: &PolicyFlags, path: &Path) -> Result<Self> {
        let weight = flags.columns.weight_column.as_deref().unwrap_or("probability");
        let numbers = vec![Ask::optional(&flags.columns.reward_column), Ask::required(weight)];
        if path.extension().is_some_and(|extension| extension == "npy") {
            return Self::matrix(flags, path, "an array has no columns of names");
        }
        match read(path, flags, numbers) {
            Ok(frame) => Self::triplets(flags, frame),
            // No table of transitions; it may be a matrix.
            Err(error @ ReadError::UnknownColumn { .. }) => {
                Self::matrix(flags, path, &error.to_string())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn triplets(flags: &PolicyFlags, mut frame: Frame) -> Result<Self> {
        if let Some(rewards) = &flags.rewards {
            bail!(
                "--rewards {}: goes with a matrix of probabilities, and {} is a table of transitions; expected a column of rewards there (--reward-column)",
                rewards.display(),
                frame.source
            );
        }
        let mut numbers = std::mem::take(&mut frame.numbers).into_iter();
        let Some(rewards) = numbers.next().flatten() else {
            bail!(
                "{}: has no column {}; expected one, or its name by --reward-column",
                frame.source,
                flags.columns.reward_column
            );
        };
        let probabilities = numbers.next().flatten().unwrap_or_default();
        if let Some(t) = probabilities.iter().position(|p| !(0.0..=1.0).contains(p)) {
            bail!(
                "{}: a probability of {}; expected a number from 0 to 1",
                frame.place(t),
                probabilities[t]
            );
        }
        let known = Self::of_frame(frame, rewards, Some(probabilities));
        known.check_sums()?;
        Ok(known)
    }

    /// Transitions from one column of states to the other.
    pub(super) fn of_frame(mut frame: Frame, rewards: Vec<f64>, weights: Option<Vec<f64>>) -> Self {
        let mut keys = std::mem::take(&mut frame.keys).into_iter();
        let from = keys.next().flatten().unwrap_or_default();
        let next = keys.next().flatten().unwrap_or_default();
        Self::of_process(frame, Process::of_transitions(from, &next, rewards, weights))
    }

    /// A process that was read from a table.
    pub(super) fn of_process(mut frame: Frame, process: Process) -> Self {
        let mut notes = std::mem::take(&mut frame.notes);
        if frame.dropped.rows > 0 {
            notes.push(format!("Rows left out because of missing values: {}.", frame.dropped.rows));
        }
        let source = frame.source.clone();
        Known { process, source, features: None, notes, frame: Some(frame), own: false }
    }

    fn check_sums(&self) -> Result<()> {
        let Process { names, moves, .. } = &self.process;
        let ProcessMoves::List(Moves { from, weights: Some(weights), .. }) = moves else {
            return Ok(());
        };
        let (mut sums, mut first) = (vec![0.0; names.len()], vec![usize::MAX; names.len()]);
        for (t, (&s, weight)) in from.iter().zip(weights).enumerate() {
            sums[s as usize] += weight;
            first[s as usize] = first[s as usize].min(t);
        }
        for (s, sum) in sums.iter().enumerate() {
            if first[s] != usize::MAX && (sum - 1.0_f64).abs() > ROW_SUM {
                bail!(
                    "{}: the probabilities of leaving state '{}' sum to {sum}; expected 1",
                    self.place(first[s]),
                    names[s]
                );
            }
        }
        Ok(())
    }

    /// All pairs of states; `as_table` says why it is no table of transitions.
    fn matrix(flags: &PolicyFlags, path: &Path, as_table: &str) -> Result<Self> {
        let matrix = match limits().read_matrix(path) {
            Ok(matrix) if matrix.rows == matrix.columns => matrix,
            Ok(matrix) => bail!(
                "{}: is neither a square matrix of probabilities ({} rows of {}) nor a table of transitions ({as_table})",
                path.display(),
                matrix.rows,
                matrix.columns
            ),
            // Text among the numbers: it was meant to be a table.
            Err(ReadError::TextAmongFeatures { .. } | ReadError::NotANumber { .. }) => {
                bail!("{as_table}")
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(flag) = flags.of_transitions_alone() {
            bail!(
                "{flag}: {} is a matrix of probabilities, not a table of transitions ({as_table})",
                path.display()
            );
        }
        let states = matrix.rows;
        let probabilities = matrix.values;
        let Some(rewards_file) = &flags.rewards else {
            bail!(
                "--model {}: a matrix of probabilities says nothing of rewards; expected --rewards FILE with one for each state or for each pair",
                path.display()
            );
        };
        let rewards = limits().read_matrix(rewards_file)?;
        let shape = (rewards.rows, rewards.columns);
        if ![(states, 1), (1, states), (states, states)].contains(&shape) {
            bail!(
                "--rewards {}: found {} rows of {}, expected one number for each of {states} states, or {states} rows of {states}",
                rewards_file.display(),
                rewards.rows,
                rewards.columns
            );
        }
        for (i, row) in probabilities.chunks_exact(states).enumerate() {
            if let Some(j) = row.iter().position(|p| !(0.0..=1.0).contains(p)) {
                bail!(
                    "{}, row {}, column {}: a probability of {}; expected a number from 0 to 1",
                    path.display(),
                    i + 1,
                    j + 1,
                    row[j]
                );
            }
            let sum: f64 = row.iter().sum();
            if (sum - 1.0).abs() > ROW_SUM {
                bail!(
                    "{}, row {}: the probabilities sum to {sum}; expected 1",
                    path.display(),
                    i + 1
                );
            }
        }
        let names = (0..states).map(|s| s.to_string()).collect();
        let moves = ProcessMoves::Matrix { probabilities, rewards: rewards.values };
        Ok(Known {
            process: Process::new(names, moves),
            source: format!("{}, {}", path.display(), rewards_file.display()),
            features: None,
            notes: vec!["The states of a matrix are called by their rows, from 0 on.".to_owned()],
            frame: None,
            own: false,
        })
    }
}
