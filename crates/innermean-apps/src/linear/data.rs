//! Rows, targets and weights.

use innermean::collapse::SparseRows;
use innermean::problems::linear::{predictors, sparse_predictors};
use innermean::problems::scaling::Scaling;
use innermean::{Collapsed, Merit, Weighted};
use innermean_data::SparseTable;

use super::classes::{Classes, not_two};
use super::loss::Loss;
use crate::error::{Error, Place, same_length};
use crate::wording::Note;

/// What is fitted.
#[derive(Debug, Clone)]
pub struct LinearData {
    /// One for each feature.
    names: Vec<String>,
    /// Taken by [`Self::predictors`].
    rows: Rows,
    target: Target,
    /// With mean 1.
    weights: Option<Vec<f64>>,
    notes: Vec<Note>,
}

/// The features of all rows.
#[derive(Debug, Clone)]
pub enum Rows {
    /// Row after row.
    Dense(Vec<f64>),
    /// Compressed sparse rows (CSR).
    Sparse {
        /// Where each row begins and the last one ends.
        indptr: Vec<usize>,
        /// The column of each entry, from 0.
        indices: Vec<u32>,
        /// The entries.
        values: Vec<f64>,
    },
}

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Classes, and a label for each row: -1 or 1.
    Classes(Classes, Vec<f64>),
}

impl Target {
    /// Numbers as the loss asks for them: as they are, or as two classes.
    ///
    /// # Errors
    /// If the loss is one of two classes and there are not two.
    pub fn new(values: Vec<f64>, loss: Loss) -> Result<Self, LinearError> {
        if !loss.is_of_classes() {
            return Ok(Target::Numbers(values));
        }
        let (classes, labels) = Classes::of_numbers(&values)?;
        Ok(Target::Classes(classes, labels))
    }

    /// The targets or labels.
    pub fn numbers(&self) -> &[f64] {
        match self {
            Target::Numbers(targets) | Target::Classes(_, targets) => targets,
        }
    }

    /// The classes, if it has some.
    pub fn classes(&self) -> Option<&Classes> {
        match self {
            Target::Numbers(_) => None,
            Target::Classes(classes, _) => Some(classes),
        }
    }
}

/// Why rows, targets or weights are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearError {
    /// The targets are not two classes; up to six of those that were found.
    #[error("{}", not_two(.0))]
    NotTwoClasses(Vec<String>),
    /// The loss and the targets do not belong together.
    #[error("`loss={0}`: the targets are {1}; expected {2}")]
    OtherTarget(Loss, &'static str, &'static str),
    /// No feature.
    #[error("there are no features; expected a column of numbers besides the target")]
    NoFeatures,
    /// A weight is negative.
    #[error("the weight is {weight}; expected 0 or above")]
    NegativeWeight {
        /// In which row.
        row: usize,
        /// What it is.
        weight: f64,
    },
    /// No row counts.
    #[error("all weights are 0; expected some above")]
    NoWeights,
    /// The rows that count are of one class.
    #[error("all rows with a weight above 0 are of one class; expected two classes")]
    OneClassCounts,
    /// Weights overflow or vanish beside their mean.
    #[error("weights are too far apart; expected numbers of ordinary size")]
    UnevenWeights,
    /// Sparse rows that are all empty.
    #[error("no row has an entry; expected rows such as `1 3:0.5 7:-1`")]
    NoEntries,
}

impl LinearError {
    pub(crate) fn place(&self) -> Option<Place> {
        match self {
            LinearError::NegativeWeight { row, .. } => Some(Place::Row(*row)),
            LinearError::OtherTarget(..) => None,
            _ => Some(Place::Data),
        }
    }
}

/// So many columns may be kept as they are, though most of them hold nothing.
const FEW_COLUMNS: usize = 100_000;
/// Rows of which at least one number in so many is there are kept dense.
const DENSE: usize = 4;

impl LinearData {
    /// Rows with a column for each of `names`, and a target for each.
    ///
    /// # Errors
    /// If there are no features, or the lengths do not belong together.
    pub fn new(names: Vec<String>, rows: Rows, target: Target) -> Result<Self, Error> {
        if names.is_empty() {
            return Err(LinearError::NoFeatures.into());
        }
        let n = target.numbers().len();
        match &rows {
            Rows::Dense(rows) => same_length("numbers in the rows", rows.len(), n * names.len())?,
            Rows::Sparse { indptr, .. } => {
                same_length("sparse rows", indptr.len().saturating_sub(1), n)?;
            }
        }
        Ok(LinearData { names, rows, target, weights: None, notes: Vec::new() })
    }

    /// Sparse rows with their targets, made dense if they are not sparse. Columns that no row
    /// mentions are left out where they are most of all; `room` is asked whether there is memory
    /// for the number of columns that is left.
    ///
    /// # Errors
    /// If no row has an entry, the targets do not suit the loss, or `room` refuses.
    pub fn of_sparse<E: From<Error>>(
        mut table: SparseTable,
        loss: Loss,
        room: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Self, E> {
        if table.d == 0 {
            return Err(Error::Linear(LinearError::NoEntries).into());
        }
        let all = table.d;
        let kept =
            (all > FEW_COLUMNS && all / 2 > table.values.len()).then(|| table.leave_out_unused());
        let d = table.d;
        room(d)?;
        let mut seen = vec![false; d];
        table.indices.iter().zip(&table.values).for_each(|(&l, &x)| seen[l as usize] |= x != 0.0);
        let zero = seen.iter().filter(|seen| !**seen).count();
        let target = Target::new(table.labels.clone(), loss).map_err(Error::Linear)?;
        let mut notes = Vec::new();
        if kept.is_some() {
            notes.push(Note::UnusedColumns { left_out: all - d, all });
        }
        if zero > 0 {
            notes.push(Note::ZeroFeatures { zero, all: d });
        }
        let rows = if table.values.len() * DENSE >= d * table.rows() {
            let mut dense = vec![0.0; d * table.rows()];
            for (i, row) in dense.chunks_exact_mut(d).enumerate() {
                let (columns, values) = table.row(i);
                columns.iter().zip(values).for_each(|(&l, &x)| row[l as usize] = x);
            }
            Rows::Dense(dense)
        } else {
            Rows::Sparse { indptr: table.indptr, indices: table.indices, values: table.values }
        };
        // As the file counts them.
        let place = |l: usize| kept.as_ref().map_or(l, |kept| kept[l] as usize);
        let names = (0..d).map(|l| format!("x{}", place(l) + table.first_index as usize)).collect();
        Ok(LinearData { names, rows, target, weights: None, notes })
    }

    /// The same with a weight for each row, of which only the ratios matter; rows of weight 0 are
    /// left out.
    ///
    /// # Errors
    /// If a weight is negative, all are 0, or what is left is of one class.
    pub fn weighted(mut self, mut weights: Vec<f64>) -> Result<Self, Error> {
        same_length("weights of rows", weights.len(), self.len())?;
        if let Some(row) = weights.iter().position(|w| *w < 0.0) {
            return Err(LinearError::NegativeWeight { row, weight: weights[row] }.into());
        }
        let kept: Vec<bool> = weights.iter().map(|w| *w > 0.0).collect();
        let left_out = kept.iter().filter(|kept| !**kept).count();
        if left_out == weights.len() {
            return Err(LinearError::NoWeights.into());
        }
        if left_out > 0 {
            match &mut self.rows {
                Rows::Dense(rows) => keep(rows, self.names.len(), &kept),
                Rows::Sparse { indptr, indices, values } => {
                    keep_sparse(indptr, indices, values, &kept);
                }
            }
            let (Target::Numbers(targets) | Target::Classes(_, targets)) = &mut self.target;
            keep(targets, 1, &kept);
            keep(&mut weights, 1, &kept);
            self.notes.push(Note::NoWeight(left_out));
            let labels = self.target.numbers();
            if self.target.classes().is_some() && labels.iter().all(|y| *y == labels[0]) {
                return Err(LinearError::OneClassCounts.into());
            }
        }
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        for weight in &mut weights {
            *weight /= mean;
        }
        if !weights.iter().all(|w| w.is_finite() && *w > 0.0) {
            return Err(LinearError::UnevenWeights.into());
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.target.numbers().len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One for each feature.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What is to be predicted.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// With mean 1, if rows have weights.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// What was left out.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Brings the columns of dense rows to one scale, if they need it.
    pub(super) fn scale(&mut self, intercept: bool) -> Scaling {
        match &mut self.rows {
            Rows::Dense(rows) if !rows.is_empty() => {
                Scaling::of_rows(rows, self.names.len(), intercept)
            }
            _ => Scaling::default(),
        }
    }

    /// The merit of every row.
    pub(super) fn merit(&self, loss: Loss, width: Option<f64>) -> Result<Box<dyn Merit>, Error> {
        let labels = match (&self.target, loss.is_of_classes()) {
            (Target::Numbers(_), false) => Vec::new(),
            (Target::Classes(_, labels), true) => labels.clone(),
            (Target::Numbers(_), true) => {
                return Err(LinearError::OtherTarget(loss, "numbers", "two classes").into());
            }
            (Target::Classes(..), false) => {
                return Err(LinearError::OtherTarget(loss, "classes", "numbers").into());
            }
        };
        let merit = loss.merit(width, labels)?;
        Ok(match &self.weights {
            Some(weights) => Box::new(Weighted::new(merit, weights.clone())?),
            None => merit,
        })
    }

    /// f, which takes the rows: targets that are numbers are its offsets, and the intercept is a
    /// column of ones at the end.
    pub(super) fn predictors(&mut self, intercept: bool) -> Result<Collapsed, Error> {
        let d = self.names.len();
        let offsets = match &self.target {
            Target::Numbers(targets) => targets.iter().map(|t| -t).collect(),
            Target::Classes(_, labels) => vec![0.0; labels.len()],
        };
        Ok(match std::mem::replace(&mut self.rows, Rows::Dense(Vec::new())) {
            Rows::Dense(rows) if intercept => {
                let mut wider = Vec::with_capacity(offsets.len() * (d + 1));
                for row in rows.chunks_exact(d) {
                    wider.extend_from_slice(row);
                    wider.push(1.0);
                }
                predictors(d + 1, wider, offsets)?
            }
            Rows::Dense(rows) => predictors(d, rows, offsets)?,
            Rows::Sparse { indptr, indices, values } if intercept => {
                let room = indices.len() + offsets.len();
                let (mut wider, mut with_ones) =
                    (Vec::with_capacity(room), Vec::with_capacity(room));
                for row in indptr.windows(2) {
                    wider.extend_from_slice(&indices[row[0]..row[1]]);
                    with_ones.extend_from_slice(&values[row[0]..row[1]]);
                    wider.push(d as u32);
                    with_ones.push(1.0);
                }
                let indptr = indptr.iter().enumerate().map(|(i, start)| start + i).collect();
                sparse_predictors(SparseRows::new(d + 1, indptr, wider, with_ones)?, offsets)?
            }
            Rows::Sparse { indptr, indices, values } => {
                sparse_predictors(SparseRows::new(d, indptr, indices, values)?, offsets)?
            }
        })
    }
}

/// Only the rows that are kept.
fn keep(values: &mut Vec<f64>, width: usize, kept: &[bool]) {
    let mut k = 0;
    values.retain(|_| {
        k += 1;
        kept[(k - 1) / width]
    });
}

/// The same of sparse rows.
fn keep_sparse(
    indptr: &mut Vec<usize>,
    indices: &mut Vec<u32>,
    values: &mut Vec<f64>,
    kept: &[bool],
) {
    let (mut starts, mut end) = (vec![0], 0);
    for (row, _) in indptr.windows(2).zip(kept).filter(|(_, kept)| **kept) {
        indices.copy_within(row[0]..row[1], end);
        values.copy_within(row[0]..row[1], end);
        end += row[1] - row[0];
        starts.push(end);
    }
    indices.truncate(end);
    values.truncate(end);
    *indptr = starts;
}
