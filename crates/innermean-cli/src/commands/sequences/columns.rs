//! The table of steps: which rows belong to a sequence, in which order, and where it is broken.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use innermean_apps::Error;
use innermean_apps::sequences::{Gaps, Language, SequencesError, Steps};
use innermean_data::{Ask, Columns, Frame, Keys, SpokenLanguage};

use crate::flags::columns::{FeatureFlags, MissingChoice, other_columns};
use crate::flags::input::fits_copied;
use crate::flags::spelling::by_name;
use crate::output::human::grouped;

const SEQUENCE: &str = "sequence";
const STEP: &str = "step";
const LABEL: &str = "label";

/// What the columns of the file are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnFlags {
    /// The sequence that a row belongs to [default: sequence; without such a column all rows are
    /// one]
    #[arg(long, value_name = "COLUMN")]
    sequence: Option<String>,

    /// The number or time of a step in its sequence [default: step; without such a column rows come
    /// in the order of the file]
    #[arg(long, value_name = "COLUMN")]
    step: Option<String>,

    /// The true class of a row, which scores the result and is used for nothing else [default:
    /// label, if there is such a column]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,

    /// What is done where steps are further apart than the nearest two are
    #[arg(long, value_name = "WHAT", value_parser = by_name::<Gaps>())]
    gaps: Option<Gaps>,

    #[command(flatten)]
    features: FeatureFlags,
}

/// Steps, and where they come from.
pub(super) struct Table {
    pub(super) steps: Steps,
    pub(super) source: String,
    pub(super) generated: bool,
    /// The sequence of each row of the file; none if all rows are one
    sequence: Option<Keys>,
    /// What the reader decided, in whole sentences
    pub(super) notes: Vec<String>,
    pub(super) missing: MissingChoice,
    pub(super) gaps: Gaps,
    /// Columns of the file that are no features
    pub(super) other_columns: Vec<String>,
}

impl ColumnFlags {
    pub(super) fn refuse_without_file(&self) -> Result<()> {
        let given = [
            ("--sequence", self.sequence.is_some()),
            ("--step", self.step.is_some()),
            ("--label", self.label.is_some()),
            ("--gaps", self.gaps.is_some()),
        ];
        let given = given.into_iter().find_map(|(flag, given)| given.then_some(flag));
        match given.or(self.features.given()) {
            Some(flag) => bail!("{flag} needs a file; give FILE"),
            None => Ok(()),
        }
    }

    /// Reads the steps.
    pub(super) fn read(&self, file: &Path, language: &Language) -> Result<Table> {
        let ask = |given: &Option<String>, usual: &str| match given {
            Some(name) => Ask::required(name.clone()),
            None => Ask::optional(usual),
        };
        let columns = Columns {
            keys: vec![ask(&self.sequence, SEQUENCE), ask(&self.label, LABEL).or_blank()],
            numbers: vec![ask(&self.step, STEP)],
            features: self.features.features(&[]),
        };
        let missing = self.features.missing();
        // One column scores; another by that name holds labels as well.
        let aside: Vec<String> = self.label.iter().map(|_| LABEL.to_owned()).collect();
        let (mut frame, features) = self.features.read_rows(file, columns, &aside)?;
        if frame.feature_names.is_empty() {
            bail!(
                "{}: has no columns of features; expected numbers that describe a step",
                file.display()
            );
        }
        let mut notes = std::mem::take(&mut frame.notes);
        if frame.dropped.rows > 0 {
            let rows = grouped(frame.dropped.rows as u64);
            notes.push(format!("Rows left out because of missing values: {rows}."));
        }
        if !frame.dropped.columns.is_empty() {
            let names = frame.dropped.columns.join(", ");
            notes.push(format!("Features left out because of missing values: {names}."));
        }
        let (sequence, step) = (frame.keys[0].take(), frame.numbers[0].take());
        if sequence.is_none() {
            notes.push(format!(
                "There is no column {SEQUENCE}: all rows are one sequence (--sequence)."
            ));
        }
        if step.is_none() {
            notes.push(format!(
                "There is no column {STEP}: steps come in the order of the file (--step)."
            ));
        }
        // Lines without a row count as left out too, for there is no telling.
        let lines: Option<Vec<usize>> = (frame.dropped.rows > 0)
            .then(|| (0..frame.rows).map(|row| frame.line(row).1).collect());
        let gaps = self.gaps.unwrap_or_default();
        let other_columns = other_columns(&frame);
        let is_sorted = sequence.as_ref().is_none_or(|keys| keys.codes.is_sorted());
        if !is_sorted {
            fits_copied("a file whose sequences do not stand one after the other", &features)?;
        }
        let steps = Steps::new(
            std::mem::take(&mut frame.feature_names),
            features,
            sequence.as_ref(),
            step.as_deref(),
            lines.as_deref(),
            gaps,
        );
        let mut steps = steps.map_err(|error| refused_in(&frame, error))?;
        if let Some(keys) = frame.keys[1].take() {
            steps = steps.labelled(&keys, language)?;
        }
        let source = frame.source;
        Ok(Table { steps, source, generated: false, sequence, notes, missing, gaps, other_columns })
    }
}

/// A refusal with its place in the file.
fn refused_in(frame: &Frame, error: Error) -> anyhow::Error {
    match &error {
        Error::Sequences(SequencesError::StepTwice { what, first, row }) => anyhow!(
            "{}: {what} is in {} already; expected each step of a sequence once",
            frame.place(*row),
            frame.place(*first)
        ),
        _ => error.into(),
    }
}

/// Sequences of one length, called by their numbers.
fn numbered(steps: usize, length: usize) -> Keys {
    let codes: Vec<u32> = (0..steps).map(|t| (t / length) as u32).collect();
    let names = (1..=steps.div_ceil(length)).map(|number| number.to_string()).collect();
    let mut keys = Keys::default();
    (keys.codes, keys.names) = (codes, names);
    keys
}

impl Table {
    /// The sequence of a row, as it is written out.
    pub(super) fn id(&self, row: usize) -> &str {
        self.sequence.as_ref().map_or("1", |keys| keys.text(row))
    }

    pub(super) fn generated(spoken: SpokenLanguage) -> Self {
        let length = spoken.lengths[0];
        Table {
            source: spoken.source.clone(),
            generated: true,
            sequence: Some(numbered(spoken.labels.len(), length)),
            steps: Steps::generated(spoken),
            notes: Vec::new(),
            missing: MissingChoice::Error,
            gaps: Gaps::Break,
            other_columns: Vec::new(),
        }
    }
}
