//! Rows and targets, from whatever file they come.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Result, bail};
use innermean::collapse::SparseRows;
use innermean::problems::linear::{predictors, sparse_predictors};
use innermean::{Collapsed, Merit, Weighted};
use innermean_data::{Ask, Columns, Dropped, Frame, SparseTable};

use super::classes::Classes;
use super::loss::Loss;
use super::{ColumnFlags, Format};
use crate::flags::input::{fits_into_memory, limits};
use crate::output::human::grouped;
use innermean::problems::scaling::Scaling;

/// What is fitted.
pub(crate) struct Data {
    /// Where it comes from.
    pub(super) source: String,
    /// What the reader decided, in whole sentences.
    pub(super) notes: Vec<String>,
    pub(super) dropped: Dropped,
    /// One for each feature.
    pub(super) names: Vec<String>,
    /// Taken by [`Self::predictors`].
    pub(super) rows: Rows,
    pub(super) target: Target,
    /// With mean 1.
    pub(super) weights: Option<Vec<f64>>,
}

/// The features of all rows.
pub(crate) enum Rows {
    Dense(Vec<f64>),
    Sparse { indptr: Vec<usize>, indices: Vec<u32>, values: Vec<f64> },
}

/// What is to be predicted.
pub(crate) enum Target {
    Numbers(Vec<f64>),
    /// Labels are -1 and 1.
    Classes(Classes, Vec<f64>),
}

impl Target {
    /// The targets or labels.
    pub(super) fn numbers(&self) -> &[f64] {
        match self {
            Target::Numbers(targets) | Target::Classes(_, targets) => targets,
        }
    }

    fn new(values: Vec<f64>, loss: Loss, place: &str) -> Result<Self> {
        if !loss.is_of_classes() {
            return Ok(Target::Numbers(values));
        }
        let (classes, labels) = Classes::of_numbers(&values, place)?;
        Ok(Target::Classes(classes, labels))
    }
}

/// So many columns may be kept as they are, though most of them hold nothing.
const FEW_COLUMNS: usize = 100_000;
/// Numbers of 8 bytes that a column takes without an entry: its name, theta, gradients, what
/// methods remember.
pub(super) const OF_A_COLUMN: usize = 20;
/// Rows of which at least one number in so many is there are kept dense.
const DENSE: usize = 4;

impl Data {
    /// Reads a table or sparse rows.
    pub(super) fn read(file: &Path, flags: &ColumnFlags, loss: Loss) -> Result<Self> {
        if file == Path::new("-") {
            bail!(
                "-: standard input is not read; expected the path of a file, or no FILE for generated rows"
            );
        }
        match format(file, flags)? {
            Format::Table => Self::of_frame(file, flags, loss),
            Format::Libsvm => {
                let role = [("--target", &flags.target), ("--weight", &flags.weight)];
                let role =
                    role.into_iter().find_map(|(flag, given)| given.is_some().then_some(flag));
                if let Some(flag) = role.or(flags.features.given()) {
                    bail!(
                        "{flag}: {} holds sparse rows, whose columns have no names; expected the flag with a table",
                        file.display()
                    );
                }
                Self::of_sparse(limits().read_libsvm(file)?, loss)
            }
        }
    }

    fn of_frame(file: &Path, flags: &ColumnFlags, loss: Loss) -> Result<Self> {
        let Some(target) = &flags.target else {
            bail!(
                "{}: --target COLUMN is missing; expected the column to be predicted, by name or number",
                file.display()
            );
        };
        let asked = Ask::required(target.as_str());
        let (keys, mut numbers) =
            if loss.is_of_classes() { (vec![asked], vec![]) } else { (vec![], vec![asked]) };
        numbers.extend(flags.weight.as_deref().map(Ask::required));
        let columns = Columns { keys, numbers, features: flags.features.features(&[]) };
        let mut frame = limits().read_frame(file, &columns, flags.features.missing().into())?;
        let mut numbers = std::mem::take(&mut frame.numbers).into_iter().flatten();
        let target = match frame.keys.iter().flatten().next() {
            Some(keys) => {
                let place = format!("{}, column {}", frame.source, keys.name);
                let (classes, labels) = Classes::of_texts(keys, &place)?;
                Target::Classes(classes, labels)
            }
            None => Target::Numbers(numbers.next().unwrap_or_default()),
        };
        let weights = numbers.next();
        if frame.feature_names.is_empty() {
            bail!(
                "{}: there are no features; expected a column of numbers besides the target",
                frame.source
            );
        }
        let mut data = Data {
            source: frame.source.clone(),
            notes: frame.notes.clone(),
            dropped: frame.dropped.clone(),
            names: std::mem::take(&mut frame.feature_names),
            rows: Rows::Dense(std::mem::take(&mut frame.features)),
            target,
            weights: None,
        };
        if let Some(weights) = weights {
            data.weigh(weights, &frame)?;
        }
        Ok(data)
    }

    /// Takes the weights, without the rows that have none.
    fn weigh(&mut self, mut weights: Vec<f64>, frame: &Frame) -> Result<()> {
        if let Some(row) = weights.iter().position(|w| *w < 0.0) {
            bail!("{}: the weight is {}; expected 0 or above", frame.place(row), weights[row]);
        }
        let kept: Vec<bool> = weights.iter().map(|w| *w > 0.0).collect();
        let left_out = kept.iter().filter(|kept| !**kept).count();
        if left_out == weights.len() {
            bail!("{}: all weights are 0; expected some above", frame.source);
        }
        if left_out > 0 {
            let d = self.names.len();
            if let Rows::Dense(rows) = &mut self.rows {
                keep(rows, d, &kept);
            }
            let (Target::Numbers(targets) | Target::Classes(_, targets)) = &mut self.target;
            keep(targets, 1, &kept);
            keep(&mut weights, 1, &kept);
            self.notes.push(format!(
                "Rows left out because their weight is 0: {}.",
                grouped(left_out as u64)
            ));
            if matches!(self.target, Target::Classes(..))
                && let Some(first) = self.target.numbers().first().copied()
                && self.target.numbers().iter().all(|y| *y == first)
            {
                bail!(
                    "{}: all rows with a weight above 0 are of one class; expected two classes",
                    frame.source
                );
            }
        }
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        for weight in &mut weights {
            *weight /= mean;
        }
        if !weights.iter().all(|w| w.is_finite() && *w > 0.0) {
            bail!("{}: weights are too far apart; expected numbers of ordinary size", frame.source);
        }
        self.weights = Some(weights);
        Ok(())
    }

    /// Sparse rows, made dense if they are not sparse.
    pub(super) fn of_sparse(mut table: SparseTable, loss: Loss) -> Result<Self> {
        if table.d == 0 {
            bail!("{}: no row has an entry; expected rows such as `1 3:0.5 7:-1`", table.source);
        }
        let all = table.d;
        // What no row mentions has a coefficient of zero: where that is most of all columns,
        // nothing is kept of them.
        let kept =
            (all > FEW_COLUMNS && all / 2 > table.values.len()).then(|| table.leave_out_unused());
        let d = table.d;
        let size = format!("{}: {} columns", table.source, grouped(d as u64));
        fits_into_memory(&size, &[d, OF_A_COLUMN])?;
        let mut seen = vec![false; d];
        table.indices.iter().zip(&table.values).for_each(|(&l, &x)| seen[l as usize] |= x != 0.0);
        let never = seen.iter().filter(|seen| !**seen).count();
        let target = Target::new(table.labels.clone(), loss, &table.source)?;
        let mut notes = table.notes.clone();
        if kept.is_some() {
            notes.push(format!(
                "Columns that no row mentions are left out: {} of {}; their coefficients are zero.",
                grouped((all - d) as u64),
                grouped(all as u64)
            ));
        }
        if never > 0 {
            notes.push(format!(
                "Features that are zero in every row: {} of {}; their coefficients say nothing.",
                grouped(never as u64),
                grouped(d as u64)
            ));
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
        let (dropped, weights) = (Dropped::default(), None);
        Ok(Data { source: table.source, notes, dropped, names, rows, target, weights })
    }

    /// Brings the columns of dense rows to one scale, if they need it.
    pub(super) fn scale(&mut self, intercept: bool) -> Scaling {
        match &mut self.rows {
            Rows::Dense(rows) => Scaling::of_rows(rows, self.names.len(), intercept),
            Rows::Sparse { .. } => Scaling::default(),
        }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.target.numbers().len()
    }

    /// The merit of every row.
    pub(super) fn merit(&self, loss: Loss, width: Option<f64>) -> Result<Box<dyn Merit>> {
        let labels = match &self.target {
            Target::Numbers(_) => Vec::new(),
            Target::Classes(_, labels) => labels.clone(),
        };
        let merit = loss.merit(width, labels)?;
        Ok(match &self.weights {
            Some(weights) => Box::new(Weighted::new(merit, weights.clone())?),
            None => merit,
        })
    }

    /// f, which takes the rows: targets that are numbers are its offsets, and the intercept is a
    /// column of ones at the end.
    pub(super) fn predictors(&mut self, intercept: bool) -> Result<Collapsed> {
        let d = self.names.len();
        let offsets = match &self.target {
            Target::Numbers(targets) => targets.iter().map(|t| -t).collect(),
            Target::Classes(_, labels) => vec![0.0; labels.len()],
        };
        match std::mem::replace(&mut self.rows, Rows::Dense(Vec::new())) {
            Rows::Dense(rows) if intercept => {
                let mut wider = Vec::with_capacity(offsets.len() * (d + 1));
                for row in rows.chunks_exact(d) {
                    wider.extend_from_slice(row);
                    wider.push(1.0);
                }
                Ok(predictors(d + 1, wider, offsets)?)
            }
            Rows::Dense(rows) => Ok(predictors(d, rows, offsets)?),
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
                Ok(sparse_predictors(SparseRows::new(d + 1, indptr, wider, with_ones)?, offsets)?)
            }
            Rows::Sparse { indptr, indices, values } => {
                Ok(sparse_predictors(SparseRows::new(d, indptr, indices, values)?, offsets)?)
            }
        }
    }

    /// What was left out because of missing values, in sentences.
    pub(super) fn dropped_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.dropped.rows > 0 {
            notes.push(format!(
                "Rows left out because of missing values: {}.",
                grouped(self.dropped.rows as u64)
            ));
        }
        if !self.dropped.columns.is_empty() {
            notes.push(format!(
                "Features left out because of missing values: {}.",
                self.dropped.columns.join(", ")
            ));
        }
        notes
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

/// What the file is: as said, or by its name, or by a look at it.
fn format(file: &Path, flags: &ColumnFlags) -> Result<Format> {
    if let Some(format) = flags.format {
        return Ok(format);
    }
    let name = file.to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    Ok(match Path::new(name).extension().and_then(OsStr::to_str) {
        Some("svm" | "libsvm") => Format::Libsvm,
        Some("txt") if limits().looks_like_libsvm(file)? => Format::Libsvm,
        _ => Format::Table,
    })
}
