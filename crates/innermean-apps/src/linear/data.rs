//! Rows, targets and weights.

use innermean_data::{Keys, SparseTable};

use super::{ClassWeights, LinearError, Loss, Rows, Target};
use crate::error::{Error, same_length};
use crate::validation::Folds;
use crate::wording::Note;

mod design;

/// What is fitted.
#[derive(Debug, Clone)]
pub struct LinearData {
    /// One for each feature.
    names: Vec<String>,
    /// Taken by [`Self::predictors`].
    rows: Rows,
    target: Target,
    /// With mean 1 over the rows that are fitted.
    weights: Option<Vec<f64>>,
    class_weights: Option<ClassWeights>,
    aside: Option<Aside>,
    notes: Vec<Note>,
}

/// Rows that are predicted and not fitted: without a target, or of weight 0.
#[derive(Debug, Clone)]
pub(super) struct Aside {
    /// For each row of the data, whether it is fitted.
    pub(super) fitted: Vec<bool>,
    pub(super) rows: Rows,
    /// NaN where there is none.
    pub(super) targets: Vec<f64>,
}

/// Rows that score a fit to others.
pub(crate) struct Held {
    pub(crate) rows: Rows,
    pub(crate) target: Target,
    /// With mean 1.
    pub(crate) weights: Option<Vec<f64>>,
}

/// This many columns may be kept as they are, though most of them hold nothing.
const FEW_COLUMNS: usize = 100_000;
/// Rows of which at least one number in this many is there are kept dense.
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
            Rows::Dense(numbers) | Rows::Wide(numbers) => {
                let expected = n * rows.width(names.len());
                same_length("numbers in the rows", numbers.len(), expected)?;
            }
            Rows::Sparse { indptr, .. } => {
                same_length("sparse rows", indptr.len().saturating_sub(1), n)?;
            }
        }
        Ok(LinearData {
            names,
            rows,
            target,
            weights: None,
            class_weights: None,
            aside: None,
            notes: Vec::new(),
        })
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
            Rows::dense(dense)
        } else {
            Rows::Sparse { indptr: table.indptr, indices: table.indices, values: table.values }
        };
        // As the file counts them.
        let place = |l: usize| kept.as_ref().map_or(l, |kept| kept[l] as usize);
        let names = (0..d).map(|l| format!("x{}", place(l) + table.first_index as usize)).collect();
        Ok(LinearData { notes, ..Self::new(names, rows, target).map_err(E::from)? })
    }

    /// The same with a weight for each row, of which only the ratios matter; rows of weight 0 are
    /// predicted and not fitted.
    ///
    /// # Errors
    /// If a weight is negative, all are 0, or what is left is of one class.
    pub fn weighted(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        same_length("weights of rows", weights.len(), self.len())?;
        if let Some(row) = weights.iter().position(|w| *w < 0.0) {
            return Err(LinearError::NegativeWeight { row, weight: weights[row] }.into());
        }
        let left_out = weights.iter().filter(|w| **w == 0.0).count();
        if left_out == weights.len() {
            return Err(LinearError::NoWeights.into());
        }
        if left_out > 0 {
            self.notes.push(Note::NoWeight(left_out));
        }
        self.weights = Some(weights);
        self.separate()?;
        self.weights.as_mut().map_or(Ok(()), |weights| to_mean_one(weights))?;
        Ok(self)
    }

    /// The same with weights of the classes, which multiply those of the rows.
    ///
    /// # Errors
    /// If the targets are no classes, or a class has no weight.
    pub fn with_class_weights(mut self, weights: ClassWeights) -> Result<Self, Error> {
        let classes = self.target.class_names();
        if classes.is_empty() {
            return Err(LinearError::ClassWeightsOfNumbers.into());
        }
        weights.check(&classes)?;
        self.class_weights = Some(weights);
        Ok(self)
    }

    /// Sets rows aside that have no target or no weight, if that has not been done.
    ///
    /// # Errors
    /// If no row is left, or rows of one class alone.
    pub(crate) fn separate(&mut self) -> Result<(), Error> {
        let targets = self.target.numbers();
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let fitted: Vec<bool> =
            (0..targets.len()).map(|i| !targets[i].is_nan() && weight(i) > 0.0).collect();
        let without = targets.iter().filter(|t| t.is_nan()).count();
        if self.aside.is_none() && fitted.iter().any(|fitted| !fitted) {
            if without == targets.len() {
                return Err(LinearError::NoTargets.into());
            }
            if !fitted.contains(&true) {
                return Err(LinearError::NoWeights.into());
            }
            if without > 0 {
                self.notes.push(Note::NoTarget(without));
            }
            let d = self.names.len();
            let others: Vec<usize> = (0..fitted.len()).filter(|&i| !fitted[i]).collect();
            let rows = self.rows.select(&others, d);
            self.rows.retain(&fitted, d);
            let targets = self.target.numbers_mut();
            let of_others = others.iter().map(|&i| targets[i]).collect();
            keep(targets, &fitted);
            self.weights.iter_mut().for_each(|weights| keep(weights, &fitted));
            self.aside = Some(Aside { fitted, rows, targets: of_others });
            self.refuse_one_class()?;
        }
        Ok(())
    }

    /// The same with rows set aside that have no target or no weight.
    ///
    /// # Errors
    /// If no row is left, or rows of one class alone.
    pub fn separated(mut self) -> Result<Self, Error> {
        self.separate()?;
        Ok(self)
    }

    /// Whether a row of the data is fitted, after [`separated`](Self::separated).
    pub fn is_fitted(&self, row: usize) -> bool {
        self.aside.as_ref().is_none_or(|aside| aside.fitted[row])
    }

    /// This many folds of the rows that are fitted, drawn by the seed, with classes spread evenly;
    /// rows that are not have been set aside ([`separated`](Self::separated)).
    ///
    /// # Errors
    /// If there are fewer rows than folds.
    pub fn folds(&self, folds: usize, seed: u64) -> Result<Folds, Error> {
        let stratum = |y: &f64| self.target.class(*y).unwrap_or(0) as u32;
        let strata: Vec<u32> = self.target.numbers().iter().map(stratum).collect();
        Folds::draw(&strata, folds, seed)
    }

    /// The folds of the rows that are fitted, by a text for each row of the data.
    ///
    /// # Errors
    /// If there is one fold alone, or not a text for each row.
    pub fn folds_of(&self, keys: &Keys) -> Result<Folds, Error> {
        let Some(aside) = &self.aside else {
            same_length("folds of rows", keys.codes.len(), self.len())?;
            return Folds::of_codes(&keys.codes);
        };
        same_length("folds of rows", keys.codes.len(), aside.fitted.len())?;
        let fitted = keys.codes.iter().zip(&aside.fitted).filter(|(_, fitted)| **fitted);
        Folds::of_codes(&fitted.map(|(code, _)| *code).collect::<Vec<_>>())
    }

    fn refuse_one_class(&self) -> Result<(), Error> {
        let labels = self.target.numbers();
        let classes = !matches!(self.target, Target::Numbers(_));
        if classes && labels.iter().all(|y| *y == labels[0]) {
            return Err(LinearError::OneClassCounts.into());
        }
        Ok(())
    }

    /// Some of the rows that are fitted, without those set aside.
    ///
    /// # Errors
    /// If they are of one class.
    pub(crate) fn subset(&self, places: &[usize]) -> Result<Self, Error> {
        let of = |values: &[f64]| places.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let target = self.target.with_numbers(of(self.target.numbers()));
        let mut weights = self.weights.as_deref().map(of);
        if let Some(weights) = &mut weights {
            to_mean_one(weights)?;
        }
        let subset = LinearData {
            names: self.names.clone(),
            rows: self.rows.select(places, self.names.len()),
            target,
            weights,
            class_weights: self.class_weights.clone(),
            aside: None,
            notes: Vec::new(),
        };
        subset.refuse_one_class()?;
        Ok(subset)
    }

    /// Rows that are fitted, to be scored: they may be of one class.
    pub(crate) fn held(&self, places: &[usize]) -> Held {
        let of = |values: &[f64]| places.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let mut weights = self.weights.as_deref().map(of);
        if let Some(weights) = &mut weights {
            let mean = weights.iter().sum::<f64>() / weights.len() as f64;
            for weight in weights.iter_mut() {
                *weight /= mean;
            }
        }
        let target = self.target.with_numbers(of(self.target.numbers()));
        Held { rows: self.rows.select(places, self.names.len()), target, weights }
    }

    /// The same targets and weights with other features.
    pub(crate) fn with_rows(self, names: Vec<String>, rows: Rows) -> Self {
        LinearData { names, rows, ..self }
    }

    /// The features of the rows, until a task takes them.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The rows that are predicted and not fitted, if there are some.
    pub(super) fn aside(&self) -> Option<&Aside> {
        self.aside.as_ref()
    }

    /// The weights of rows and classes together, with mean 1.
    pub(super) fn all_weights(&self) -> Result<Option<Vec<f64>>, Error> {
        let Some(of_classes) = &self.class_weights else { return Ok(self.weights.clone()) };
        let (labels, classes) = (self.target.numbers(), self.target.class_names());
        let mut counts = vec![0; classes.len()];
        let class = |i: usize| self.target.class(labels[i]).unwrap_or(0);
        (0..labels.len()).for_each(|i| counts[class(i)] += 1);
        let of_classes = of_classes.numbers(&classes, &counts);
        let of_row = |i: usize| of_classes[class(i)];
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let mut weights: Vec<f64> = (0..labels.len()).map(|i| of_row(i) * weight(i)).collect();
        to_mean_one(&mut weights)?;
        Ok(Some(weights))
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
}

/// Only those that are kept.
fn keep(values: &mut Vec<f64>, kept: &[bool]) {
    let mut kept = kept.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Divides weights by their mean.
fn to_mean_one(weights: &mut [f64]) -> Result<(), Error> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    for weight in weights.iter_mut() {
        *weight /= mean;
    }
    if weights.iter().all(|w| w.is_finite() && *w > 0.0) {
        Ok(())
    } else {
        Err(LinearError::UnevenWeights.into())
    }
}
