//! What is made of the data for a run: the scale of its columns, f and phi.

use innermean::collapse::SparseRows;
use innermean::problems::linear::{predictors, sparse_predictors};
use innermean::problems::scaling::Scaling;
use innermean::{Collapsed, Merit, Multinomial, Weighted};

use super::LinearData;
use crate::error::Error;
use crate::linear::{LinearError, Loss, Rows, Target};

impl LinearData {
    /// Brings the columns of dense rows to one scale, if they need it.
    pub(in crate::linear) fn scale(&mut self, intercept: bool) -> Scaling {
        match &mut self.rows {
            Rows::Dense(rows) if !rows.is_empty() => {
                Scaling::of_rows(rows, self.names.len(), intercept)
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
