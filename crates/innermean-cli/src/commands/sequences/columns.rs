//! The table of steps: which rows belong to a sequence, in which order, and where it is broken.

use std::path::Path;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use innermean_data::{Ask, Columns, Frame, Keys, SpokenLanguage};
use serde::Serialize;

use super::language::Language;
use crate::flags::columns::{FeatureFlags, MissingChoice, place_in_file};
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
    #[arg(long, value_name = "WHAT", value_enum)]
    gaps: Option<Gaps>,

    #[command(flatten)]
    features: FeatureFlags,
}

/// What becomes of a sequence with a gap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Gaps {
    /// No n-gram lies across it: the default
    #[default]
    Break,
    /// The steps on its sides count as neighbours
    Ignore,
}

/// Steps, sequence after sequence. Where a sequence is broken by a gap, its parts count as
/// sequences of their own.
pub(super) struct Table {
    pub(super) source: String,
    pub(super) generated: bool,
    pub(super) feature_names: Vec<String>,
    /// The features of each step
    pub(super) rows: Vec<f64>,
    /// Of the unbroken parts
    pub(super) lengths: Vec<usize>,
    /// How many sequences there are, broken or not
    pub(super) sequences: usize,
    /// Which row of the file each step is
    pub(super) places: Vec<usize>,
    /// The sequence and the step of each row of the file, as they are written out
    pub(super) ids: Vec<String>,
    pub(super) steps: Vec<f64>,
    /// The class of each step, where a label is one
    pub(super) labels: Option<Vec<Option<u32>>>,
    pub(super) notes: Vec<String>,
    pub(super) missing: MissingChoice,
    pub(super) gaps: Gaps,
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
        let mut frame = self.features.read(file, columns, &aside)?;
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
        let gaps = self.gaps.unwrap_or_default();
        let (order, sequences) = order(&frame, &mut notes)?;
        let (lengths, broken) = parts(&frame, &order, &sequences, gaps);
        if broken > 0 {
            notes.push(format!(
                "Gaps between steps: {}; no n-gram lies across one (--gaps ignore).",
                grouped(broken as u64)
            ));
        }
        note_short(&lengths, language.model.order(), file, broken, &mut notes)?;
        let labels = frame.keys[1].take().map(|keys| labels(&keys, &order, language, &mut notes));
        let mut rows = Vec::with_capacity(frame.features.len());
        for &row in &order {
            rows.extend_from_slice(frame.row(row));
        }
        let (ids, steps) = written(&mut frame, &order, &sequences);
        Ok(Table {
            source: frame.source,
            generated: false,
            feature_names: frame.feature_names,
            rows,
            lengths,
            sequences: sequences.len(),
            places: order,
            ids,
            steps,
            labels,
            notes,
            missing,
            gaps,
        })
    }
}

/// The rows of the file in the order of sequences and steps, and how many each sequence has.
fn order(frame: &Frame, notes: &mut Vec<String>) -> Result<(Vec<usize>, Vec<usize>)> {
    let sequence = frame.keys[0].as_ref();
    if sequence.is_none() {
        notes.push(format!(
            "There is no column {SEQUENCE}: all rows are one sequence (--sequence)."
        ));
    }
    let code = |row: usize| sequence.map_or(0, |keys| keys.codes[row]);
    let mut order: Vec<usize> = (0..frame.rows).collect();
    // Both sorts keep the order of the file among equals.
    if let Some(steps) = &frame.numbers[0] {
        order.sort_by(|&a, &b| code(a).cmp(&code(b)).then(steps[a].total_cmp(&steps[b])));
        let same =
            |pair: &&[usize]| code(pair[0]) == code(pair[1]) && steps[pair[0]] == steps[pair[1]];
        if let Some(pair) = order.windows(2).find(same) {
            let name =
                sequence.map_or(String::new(), |keys| format!(" of '{}'", keys.text(pair[1])));
            bail!(
                "{}: step {}{name} stands in {} already; expected each step of a sequence once",
                frame.place(pair[1]),
                steps[pair[1]],
                frame.place(pair[0])
            );
        }
    } else {
        order.sort_by_key(|&row| code(row));
        notes.push(format!(
            "There is no column {STEP}: steps come in the order of the file (--step)."
        ));
    }
    let mut lengths = vec![0; sequence.map_or(1, |keys| keys.names.len())];
    (0..frame.rows).for_each(|row| lengths[code(row) as usize] += 1);
    Ok((order, lengths))
}

/// The sequence and the step of each row of the file, for what is written out.
fn written(frame: &mut Frame, order: &[usize], sequences: &[usize]) -> (Vec<String>, Vec<f64>) {
    let ids = (0..frame.rows)
        .map(|row| frame.keys[0].as_ref().map_or("1".to_owned(), |keys| keys.text(row).to_owned()))
        .collect();
    let steps = frame.numbers[0].take().unwrap_or_else(|| {
        let mut steps = vec![0.0; frame.rows];
        let numbers = sequences.iter().flat_map(|&length| 1..=length);
        order.iter().zip(numbers).for_each(|(&row, number)| steps[row] = number as f64);
        steps
    });
    (ids, steps)
}

/// The lengths of the unbroken parts, and how many gaps there are.
fn parts(frame: &Frame, order: &[usize], sequences: &[usize], gaps: Gaps) -> (Vec<usize>, usize) {
    let mut rest = order;
    let sequence = |length: &usize| {
        let (own, others) = rest.split_at(*length);
        rest = others;
        own
    };
    let own: Vec<&[usize]> =
        sequences.iter().map(sequence).filter(|rows| !rows.is_empty()).collect();
    let is_gap: Box<dyn Fn(usize, usize) -> bool> = match &frame.numbers[0] {
        _ if gaps == Gaps::Ignore => Box::new(|_, _| false),
        Some(steps) => {
            // Steps are neighbours if they are no further apart than the nearest two, with a margin
            // for rounding.
            let pairs = own.iter().flat_map(|rows| rows.windows(2));
            let nearest =
                pairs.map(|pair| steps[pair[1]] - steps[pair[0]]).fold(f64::INFINITY, f64::min);
            Box::new(move |a, b| steps[b] - steps[a] > 1.5 * nearest)
        }
        None if frame.dropped.rows > 0 => {
            // What was left out between two rows may have been a step of theirs. Lines without a
            // row count too, for nobody can tell.
            let lines: Vec<usize> =
                (0..frame.rows).map(|row| place_in_file(frame, row).1).collect();
            Box::new(move |a, b| lines[b] - lines[a] > b - a)
        }
        None => Box::new(|_, _| false),
    };
    let parts = own.iter().flat_map(|rows| rows.chunk_by(|&a, &b| !is_gap(a, b)));
    let lengths: Vec<usize> = parts.map(<[usize]>::len).collect();
    let broken = lengths.len() - own.len();
    (lengths, broken)
}

/// Says how many sequences are too short to hold an n-gram, and refuses if all are.
fn note_short(
    lengths: &[usize],
    order: usize,
    file: &Path,
    broken: usize,
    notes: &mut Vec<String>,
) -> Result<()> {
    let short: Vec<usize> = lengths.iter().copied().filter(|length| *length < order).collect();
    if short.len() == lengths.len() {
        let advice = if broken > 0 { " (--gaps ignore does not break them at gaps)" } else { "" };
        bail!(
            "{}: no sequence has {order} steps in a row, as the n-grams have; expected longer ones{advice}",
            file.display()
        );
    }
    if !short.is_empty() {
        notes.push(format!(
            "Sequences or parts of fewer than {order} steps: {}; they hold no n-gram and are classified, but not learnt from.",
            grouped(short.len() as u64)
        ));
    }
    Ok(())
}

/// The class of each step. A label that is no class of the language is none, and said so; an empty
/// one is none as well.
fn labels(
    keys: &Keys,
    order: &[usize],
    language: &Language,
    notes: &mut Vec<String>,
) -> Vec<Option<u32>> {
    let classes: Vec<Option<u32>> = keys.names.iter().map(|name| language.class(name)).collect();
    let is_unknown = |code: usize| classes[code].is_none() && !keys.names[code].is_empty();
    let unknown: Vec<usize> = (0..keys.names.len()).filter(|&code| is_unknown(code)).collect();
    if !unknown.is_empty() {
        let rows = keys.codes.iter().filter(|code| is_unknown(**code as usize)).count();
        let shown: Vec<String> =
            unknown.iter().take(5).map(|&code| format!("'{}'", keys.names[code])).collect();
        let more = if unknown.len() > 5 { ", ..." } else { "" };
        notes.push(format!(
            "Labels that are no class of the language: {}{more} in {} rows, which are not scored.",
            shown.join(", "),
            grouped(rows as u64)
        ));
    }
    order.iter().map(|&row| classes[keys.codes[row] as usize]).collect()
}

impl Table {
    pub(super) fn generated(spoken: SpokenLanguage) -> Self {
        let steps = spoken.labels.len();
        let width = spoken.features.to_string().len();
        let sequence = |t: usize| t / spoken.lengths[0] + 1;
        Table {
            generated: true,
            feature_names: (1..=spoken.features).map(|k| format!("x{k:0width$}")).collect(),
            sequences: spoken.lengths.len(),
            places: (0..steps).collect(),
            ids: (0..steps).map(|t| sequence(t).to_string()).collect(),
            steps: (0..steps).map(|t| (t % spoken.lengths[0] + 1) as f64).collect(),
            labels: Some(spoken.labels.into_iter().map(Some).collect()),
            source: spoken.source,
            rows: spoken.rows,
            lengths: spoken.lengths,
            notes: Vec::new(),
            missing: MissingChoice::Error,
            gaps: Gaps::Break,
        }
    }
}
