//! What is made of the data for a run: the scale of its columns, f and phi.

use innermean::collapse::SparseRows;
use innermean::problems::linear::{predictors, sparse_predictors};
use innermean::problems::scaling::Scaling;
use innermean::{Collapsed, Merit, Numbers, Weighted};

use super::LinearData;
use crate::error::Error;
use crate::linear::{LinearError, Loss, Rows, Target};

/// Rows of more numbers are not copied for the sake of the order of groups: in
/// memory of their own steps are faster, and 16 MB of it are cheap.
pub(crate) const MOST_COPIED: usize = 1 << 21;
/// As many numbers are made of sparse rows where only dense ones can be taken.
const MOST_DENSE: usize = 100_000_000;

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
        let labels = match (&self.target, loss.is_of_classes()) {
            (Target::Numbers(_), false) => Vec::new(),
            (Target::Classes(_, labels), true) => labels.clone(),
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
        let merit = loss.merit(width, labels)?;
        Ok(match self.all_weights()? {
            Some(weights) => Box::new(Weighted::new(merit, weights)?),
            None => merit,
        })
    }

    /// The rows as numbers, which are taken; sparse ones become dense if there are not too many.
    pub(in crate::linear) fn dense_rows(&mut self) -> Result<Numbers, Error> {
        let (n, d) = (self.len(), self.names.len());
        match std::mem::replace(&mut self.rows, Rows::dense(Vec::new())) {
            Rows::Dense(rows) => Ok(rows),
            Rows::Sparse { .. } if n.saturating_mul(d) > MOST_DENSE => {
                Err(LinearError::SparseClasses { rows: n, columns: d }.into())
            }
            Rows::Sparse { indptr, indices, values } => {
                let mut dense = vec![0.0; n * d];
                for (row, ends) in dense.chunks_exact_mut(d).zip(indptr.windows(2)) {
                    let own = ends[0]..ends[1];
                    let entries = indices[own.clone()].iter().zip(&values[own]);
                    entries.for_each(|(&l, &x)| row[l as usize] = x);
                }
                Ok(dense.into())
            }
        }
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
