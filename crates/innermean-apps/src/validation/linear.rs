//! Linear models.

use super::{Score, Validation, ValidationError, ValidationTable};
use crate::error::{Error, same_length};
use crate::linear::{LinearData, LinearError, LinearFit, LinearSettings, LinearTask, Loss, Target};
use crate::model::LinearModel;
use crate::run::{Solver, Watch};

impl Validation {
    /// Scores of linear models of these rows, of which those that are not fitted have been set
    /// aside ([`LinearData::separated`]).
    ///
    /// # Errors
    /// If the rows or settings are refused, a fold leaves one class to the others, or it is
    /// interrupted.
    pub fn linear(
        &self,
        data: &LinearData,
        settings: &LinearSettings,
        solver: &Solver,
        mut watch: Watch<'_>,
    ) -> Result<ValidationTable, Error> {
        settings.check()?;
        same_length("folds of rows", self.folds.units(), data.len())?;
        let score = self.score(match settings.loss {
            Loss::Square | Loss::Huber => {
                &[Score::SquaredError, Score::AbsoluteError, Score::RSquared]
            }
            Loss::Logistic => &[Score::LogLoss, Score::Accuracy],
            _ => &[Score::Accuracy],
        })?;
        let mut folds = Vec::with_capacity(self.folds.count());
        for fold in 0..self.folds.count() {
            let (outside, inside) = self.folds.parted(fold);
            let others = data.subset(&outside).map_err(|error| match error {
                Error::Linear(LinearError::OneClassCounts) => {
                    ValidationError::OneClassOutside(fold + 1).into()
                }
                error => error,
            })?;
            let held = data.held(&inside);
            let mut task = LinearTask::new(others, settings)?;
            let judge = |task: &LinearTask, solution: &innermean::Solution| {
                let model = LinearModel::of(task, solution);
                let scores = model.scores_of(&held.rows);
                let nonzeros = model.coefficients.iter().flatten().filter(|c| **c != 0.0).count();
                let weights = held.weights.as_deref();
                Ok((of_fold(&held.target, &scores, weights, settings.loss, score), nonzeros))
            };
            let set = LinearTask::set_penalty;
            folds.push(self.along(&mut task, solver, &mut watch, set, judge)?);
        }
        Ok(self.table(score, &folds))
    }
}

/// The score of a fold.
fn of_fold(
    target: &Target,
    scores: &[f64],
    weights: Option<&[f64]>,
    loss: Loss,
    score: Score,
) -> f64 {
    match (LinearFit::new(target, scores, weights, loss), score) {
        (LinearFit::Numbers { root_mean_square_error, .. }, Score::SquaredError) => {
            root_mean_square_error * root_mean_square_error
        }
        (LinearFit::Numbers { mean_absolute_error, .. }, Score::AbsoluteError) => {
            mean_absolute_error
        }
        (LinearFit::Numbers { r_squared, .. }, _) => r_squared.unwrap_or(f64::NAN),
        (LinearFit::Classes { accuracy, .. }, Score::Accuracy) => accuracy,
        (LinearFit::Classes { log_loss, .. }, _) => log_loss.unwrap_or(f64::NAN),
    }
}
