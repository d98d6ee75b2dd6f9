//! What is made of the data for a run: the scale of its columns, f and phi.

use innermean::collapse::SparseRows;
use innermean::problems::linear::{predictors, sparse_predictors};
use innermean::problems::scaling::Scaling;
use innermean::{Collapsed, Merit, Multinomial, RowData, Weighted};

use super::LinearData;
use crate::error::Error;
use crate::linear::{LinearError, Loss, Rows, Target};

impl LinearData {
    /// Brings the columns of dense rows to one scale, if they need it.
    pub(in crate::linear) fn scale(&mut self, intercept: bool) -> Scaling {
        let (d, width) = (self.names.len(), self.rows.width(self.names.len()));
        match &mut self.rows {
            Rows::Dense(rows) | Rows::Wide(rows) if !rows.is_empty() => {
                Scaling::of_wide_rows(rows, d, width, intercept)
            }
            _ => Scaling::default(),
        }
    }

    /// The merit of every row.
    pub(in crate::linear) fn merit(
        &self,
        loss: Loss,
        width: Option<f64>,
    ) -> Result<Box<dyn Merit>, Error> {
        let merit = match (&self.target, loss.is_of_classes()) {
            (Target::Numbers(_), false) => loss.merit(width, Vec::new())?,
            (Target::Classes(_, labels), true) => loss.merit(width, labels.clone())?,
            (Target::Several(names, labels), true) if loss == Loss::Logistic => {
                let classes = labels.iter().map(|label| *label as u32).collect();
                Box::new(Multinomial::new(names.len(), classes)?)
            }
            (Target::Numbers(_), true) => {
                return Err(LinearError::OtherTarget(loss, "numbers", "two classes").into());
            }
            (Target::Several(..), true) => {
                return Err(LinearError::OtherTarget(loss, "several classes", "two classes").into());
            }
            (Target::Classes(..) | Target::Several(..), false) => {
                return Err(LinearError::OtherTarget(loss, "classes", "numbers").into());
            }
        };
        Ok(match self.all_weights()? {
            Some(weights) => Box::new(Weighted::new(merit, weights)?),
            None => merit,
        })
    }

    /// f, which takes the rows: targets that are numbers are its offsets, and the intercept is a
    /// column of ones at the end.
    pub(in crate::linear) fn predictors(&mut self, intercept: bool) -> Result<Collapsed, Error> {
        let d = self.names.len();
        let offsets = match &self.target {
            Target::Numbers(targets) => targets.iter().map(|t| -t).collect(),
            Target::Classes(_, labels) | Target::Several(_, labels) => vec![0.0; labels.len()],
        };
        Ok(match std::mem::replace(&mut self.rows, Rows::dense(Vec::new())) {
            Rows::Dense(rows) if intercept => predictors(d + 1, widened(rows, d), offsets)?,
            Rows::Wide(rows) if !intercept => {
                let features = move |row: &[f64], out: &mut [f64]| out.copy_from_slice(&row[..d]);
                predictors(d, rows.each_made(d + 1, d, features), offsets)?
            }
            Rows::Dense(rows) => predictors(d, rows, offsets)?,
            Rows::Wide(rows) => predictors(d + 1, rows, offsets)?,
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

/// The same rows with a 1 behind each. Those in memory are moved within it, from the last one on.
fn widened(rows: RowData, d: usize) -> RowData {
    if rows.held().is_none() {
        return rows.each_made(d, d + 1, move |row, out| {
            out[..d].copy_from_slice(row);
            out[d] = 1.0;
        });
    }
    let mut rows = rows.into_vec();
    let n = rows.len() / d;
    rows.reserve_exact(n);
    rows.resize(n * (d + 1), 1.0);
    for i in (0..n).rev() {
        rows.copy_within(i * d..(i + 1) * d, i * (d + 1));
        rows[i * (d + 1) + d] = 1.0;
    }
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_moves_rows_and_adds_ones() {
        for d in 1..5 {
            for n in 0..6 {
                let rows: Vec<f64> = (0..n * d).map(|k| k as f64 + 2.0).collect();
                let mut expected = Vec::new();
                for row in rows.chunks_exact(d) {
                    expected.extend_from_slice(row);
                    expected.push(1.0);
                }
                assert_eq!(widened(rows.into(), d).into_vec(), expected, "{n} rows of {d}");
            }
        }
    }
}
