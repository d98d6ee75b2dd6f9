//! The steps: which rows belong to a sequence, in which order, and where it is broken.

use innermean::RowData;
use innermean_data::{Keys, SpokenLanguage};

use super::{Language, SequencesError};
use crate::error::{Error, same_length};
use crate::wording::{Note, named};

named! {
    /// What becomes of a sequence with a gap.
    pub enum Gaps, default Break {
        /// No n-gram lies across it: the default
        Break = "break",
        /// The steps on its sides count as neighbours
        Ignore = "ignore",
    }
}

/// Steps, sequence after sequence. Where a sequence is broken by a gap, its parts count as
/// sequences of their own.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    /// The names of the features.
    pub feature_names: Vec<String>,
    /// The features of each step.
    pub(super) rows: RowData,
    /// Of the unbroken parts.
    pub lengths: Vec<usize>,
    /// How many sequences there are, broken or not.
    pub sequences: usize,
    /// Which row of the data each step is.
    pub places: Vec<usize>,
    /// The number or time of each row of the data in its sequence, as given or counted from 1.
    pub numbers: Vec<f64>,
    /// The class of each step, where a label is one.
    pub(super) labels: Option<Vec<Option<u32>>>,
    pub(super) notes: Vec<Note>,
    broken: usize,
}

/// Rows of features as they are given.
#[derive(Debug, Clone, Copy)]
struct Given<'a> {
    rows: usize,
    sequence: Option<&'a Keys>,
    step: Option<&'a [f64]>,
    lines: Option<&'a [usize]>,
}

impl Steps {
    /// Orders rows of features by sequence and step; where they are in order, they stay where they
    /// are. Without `sequence` all rows are one; without
    /// `step` they are in order. `lines` are numbers of rows in whatever they come from: where they
    /// jump within a sequence without `step`, rows have been left out.
    ///
    /// # Errors
    /// If a step occurs twice in a sequence, or lengths do not belong together.
    pub fn new(
        feature_names: Vec<String>,
        features: impl Into<RowData>,
        sequence: Option<&Keys>,
        step: Option<&[f64]>,
        lines: Option<&[usize]>,
        gaps: Gaps,
    ) -> Result<Self, Error> {
        let (d, features) = (feature_names.len(), features.into());
        let rows = features.len().checked_div(d).unwrap_or(0);
        same_length("numbers in the rows", features.len(), rows * d)?;
        if let Some(keys) = sequence {
            same_length("names of sequences", keys.codes.len(), rows)?;
        }
        if let Some(step) = step {
            same_length("numbers of steps", step.len(), rows)?;
        }
        let given = Given { rows, sequence, step, lines };
        let (order, sequences) = given.order()?;
        let (lengths, broken) = given.parts(&order, &sequences, gaps);
        let notes = if broken > 0 { vec![Note::Gaps(broken)] } else { Vec::new() };
        let sorted = if order.is_sorted() { features } else { gathered(features, d, &order) };
        let numbers = step.map_or_else(
            || {
                let mut numbers = vec![0.0; rows];
                let counted = sequences.iter().flat_map(|&length| 1..=length);
                order.iter().zip(counted).for_each(|(&row, number)| numbers[row] = number as f64);
                numbers
            },
            <[f64]>::to_vec,
        );
        Ok(Steps {
            feature_names,
            rows: sorted,
            lengths,
            sequences: sequences.len(),
            places: order,
            numbers,
            labels: None,
            notes,
            broken,
        })
    }

    /// Those of a generated language, with their labels.
    pub fn generated(spoken: SpokenLanguage) -> Self {
        let steps = spoken.labels.len();
        let width = spoken.features.to_string().len();
        Steps {
            feature_names: (1..=spoken.features).map(|k| format!("x{k:0width$}")).collect(),
            sequences: spoken.lengths.len(),
            places: (0..steps).collect(),
            numbers: (0..steps).map(|t| (t % spoken.lengths[0] + 1) as f64).collect(),
            labels: Some(spoken.labels.into_iter().map(Some).collect()),
            rows: spoken.rows.into(),
            lengths: spoken.lengths,
            notes: Vec::new(),
            broken: 0,
        }
    }

    /// Says how many parts are too short to hold an n-gram.
    ///
    /// # Errors
    /// If all are.
    pub(super) fn check_lengths(&mut self, order: usize) -> Result<(), Error> {
        let short = self.lengths.iter().filter(|length| **length < order).count();
        if short == self.lengths.len() {
            return Err(SequencesError::TooShort { order, broken: self.broken > 0 }.into());
        }
        if short > 0 {
            // After the gaps, which make parts.
            let at = usize::from(self.broken > 0);
            self.notes.insert(at, Note::Short { order, parts: short });
        }
        Ok(())
    }

    /// The same with the true class of each row of the data, which scores the result and takes no
    /// part in it. A label that is not a class of the language is none, and said so; an empty one
    /// is none as well.
    ///
    /// # Errors
    /// If there are not as many as rows, or all parts are too short for the language.
    pub fn labelled(mut self, keys: &Keys, language: &Language) -> Result<Self, Error> {
        same_length("labels of rows", keys.codes.len(), self.places.len())?;
        let classes: Vec<Option<u32>> =
            keys.names.iter().map(|name| language.class(name)).collect();
        let is_unknown = |code: usize| classes[code].is_none() && !keys.names[code].is_empty();
        let unknown: Vec<String> = (0..keys.names.len())
            .filter(|&code| is_unknown(code))
            .map(|code| keys.names[code].clone())
            .collect();
        if !unknown.is_empty() {
            let rows = keys.codes.iter().filter(|code| is_unknown(**code as usize)).count();
            self.notes.push(Note::UnknownLabels { labels: unknown, rows });
        }
        let class = |&row: &usize| classes[keys.codes[row] as usize];
        self.labels = Some(self.places.iter().map(class).collect());
        Ok(self)
    }

    /// The class of each step, where a label is one.
    pub fn labels(&self) -> Option<&[Option<u32>]> {
        self.labels.as_deref()
    }

    /// What was found about gaps, lengths and labels.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

/// The rows in another order, in memory: those of their own memory stay there, and go around in
/// circles, each of which begins with a row that is put aside.
fn gathered(rows: RowData, d: usize, order: &[usize]) -> RowData {
    let mut rows = rows.into_vec();
    let mut is_placed = vec![false; order.len()];
    let mut aside = vec![0.0; d];
    for first in 0..order.len() {
        if is_placed[first] {
            continue;
        }
        aside.copy_from_slice(&rows[first * d..(first + 1) * d]);
        let mut to = first;
        while order[to] != first {
            rows.copy_within(order[to] * d..(order[to] + 1) * d, to * d);
            is_placed[to] = true;
            to = order[to];
        }
        rows[to * d..(to + 1) * d].copy_from_slice(&aside);
        is_placed[to] = true;
    }
    rows.into()
}

impl Given<'_> {
    fn code(&self, row: usize) -> u32 {
        self.sequence.map_or(0, |keys| keys.codes[row])
    }

    /// The rows in the order of sequences and steps, and how many each sequence has.
    fn order(&self) -> Result<(Vec<usize>, Vec<usize>), SequencesError> {
        let code = |row: usize| self.code(row);
        let mut order: Vec<usize> = (0..self.rows).collect();
        // Both sorts keep the order of the data among equals.
        if let Some(steps) = self.step {
            order.sort_by(|&a, &b| code(a).cmp(&code(b)).then(steps[a].total_cmp(&steps[b])));
            let same = |pair: &&[usize]| {
                code(pair[0]) == code(pair[1]) && steps[pair[0]] == steps[pair[1]]
            };
            if let Some(pair) = order.windows(2).find(same) {
                let (first, row) = (pair[0], pair[1]);
                let of =
                    self.sequence.map_or(String::new(), |keys| format!(" of '{}'", keys.text(row)));
                let what = format!("step {}{of}", steps[row]);
                return Err(SequencesError::StepTwice { what, first, row });
            }
        } else {
            order.sort_by_key(|&row| code(row));
        }
        let mut lengths = vec![0; self.sequence.map_or(1, |keys| keys.names.len())];
        (0..self.rows).for_each(|row| lengths[code(row) as usize] += 1);
        Ok((order, lengths))
    }

    /// The lengths of the unbroken parts, and how many gaps there are.
    fn parts(&self, order: &[usize], sequences: &[usize], gaps: Gaps) -> (Vec<usize>, usize) {
        let mut rest = order;
        let sequence = |length: &usize| {
            let (own, others) = rest.split_at(*length);
            rest = others;
            own
        };
        let own: Vec<&[usize]> =
            sequences.iter().map(sequence).filter(|rows| !rows.is_empty()).collect();
        let is_gap: Box<dyn Fn(usize, usize) -> bool> = match (self.step, self.lines) {
            _ if gaps == Gaps::Ignore => Box::new(|_, _| false),
            (Some(steps), _) => {
                // Steps are neighbours if they are no further apart than the nearest two, with a
                // margin for rounding.
                let pairs = own.iter().flat_map(|rows| rows.windows(2));
                let nearest =
                    pairs.map(|pair| steps[pair[1]] - steps[pair[0]]).fold(f64::INFINITY, f64::min);
                Box::new(move |a, b| steps[b] - steps[a] > 1.5 * nearest)
            }
            // What was left out between two rows may have been a step of theirs.
            (None, Some(lines)) => Box::new(|a, b| lines[b] - lines[a] > b - a),
            (None, None) => Box::new(|_, _| false),
        };
        let parts = own.iter().flat_map(|rows| rows.chunk_by(|&a, &b| !is_gap(a, b)));
        let lengths: Vec<usize> = parts.map(<[usize]>::len).collect();
        let broken = lengths.len() - own.len();
        (lengths, broken)
    }
}
