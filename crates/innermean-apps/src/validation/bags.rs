//! Models of rows in groups: a group is held out as a whole.

use innermean::elementary::Elementary;

use super::{Score, Validation, ValidationTable};
use crate::bags::{BagData, BagLink, BagLoss, BagSettings, BagTask};
use crate::error::{Error, same_length};
use crate::model::BagModel;
use crate::run::{Solver, Watch};

impl Validation {
    /// Scores of models of these rows by the labels of groups that were held out; the folds are
    /// those of the labelled groups.
    ///
    /// # Errors
    /// If the groups or settings are refused, or it is interrupted.
    pub fn bags(
        &self,
        data: &BagData,
        features: &[f64],
        settings: &BagSettings,
        solver: &Solver,
        mut watch: Watch<'_>,
    ) -> Result<ValidationTable, Error> {
        let loss = settings.loss()?;
        same_length("folds of groups", self.folds.units(), data.labelled())?;
        let score = self.score(match (settings.link, loss) {
            (BagLink::Exp, _) => &[Score::Deviance, Score::AbsoluteError, Score::SquaredError],
            (BagLink::Identity, _) | (_, BagLoss::Square) => {
                &[Score::SquaredError, Score::AbsoluteError]
            }
            _ => &[Score::LogLoss, Score::SquaredError, Score::AbsoluteError],
        })?;
        let mut folds = Vec::with_capacity(self.folds.count());
        for fold in 0..self.folds.count() {
            let (outside, inside) = self.folds.parted(fold);
            let (others, rows) = data.subset(features, &outside);
            let (held, held_rows) = data.subset(features, &inside);
            let mut task = BagTask::new(others, rows, settings)?.without_rows();
            let judge = |task: &BagTask, solution: &innermean::Solution| {
                let model = BagModel::of(task, solution);
                let nonzeros = model.coefficients.iter().flatten().filter(|c| **c != 0.0).count();
                let predictions = model.predictions(&held_rows)?;
                Ok((of_fold(settings.link, &held, &predictions, score), nonzeros))
            };
            folds.push(self.along(&mut task, solver, &mut watch, BagTask::set_penalty, judge)?);
        }
        Ok(self.table(score, &folds))
    }
}

/// The score of groups that were held out, whose rows are predicted so.
fn of_fold(link: BagLink, data: &BagData, predictions: &[f64], score: Score) -> f64 {
    let ell = data.label_names().len();
    let (mut sums, mut totals) = (vec![0.0; data.labels().len()], vec![0.0; data.labelled()]);
    for (row, p) in predictions.chunks_exact(ell).enumerate() {
        let weight = data.row_weight(row);
        for &group in data.members().of(row) {
            totals[group as usize] += weight;
            let own = &mut sums[group as usize * ell..(group as usize + 1) * ell];
            own.iter_mut().zip(p).for_each(|(sum, p)| *sum += weight * p);
        }
    }
    let weights = data.group_weights(&totals);
    let weight = |k: usize| weights.as_ref().map_or(1.0, |weights| weights[k / ell]);
    let mean = |k: usize| sums[k] / totals[k / ell];
    let error = |k: usize| {
        let size = if link == BagLink::Exp { totals[k / ell] } else { 1.0 };
        size * mean(k) - data.labels()[k]
    };
    let cross = |q: f64, u: f64| if q == 0.0 { 0.0 } else { -q * u.natural_log() };
    let sum_of =
        |term: &dyn Fn(usize) -> f64| -> f64 { (0..sums.len()).map(|k| weight(k) * term(k)).sum() };
    match score {
        Score::AbsoluteError => sum_of(&|k| error(k).abs()) / sums.len() as f64,
        Score::LogLoss => {
            let term = |k: usize| {
                let (q, u) = (data.labels()[k], mean(k));
                cross(q, u) + if ell == 1 { cross(1.0 - q, 1.0 - u) } else { 0.0 }
            };
            sum_of(&term) / totals.len() as f64
        }
        Score::Deviance => {
            let term = |k: usize| {
                let (y, mu) = (data.labels()[k], sums[k]);
                mu - y + if y == 0.0 { 0.0 } else { y * (y / mu).natural_log() }
            };
            sum_of(&term) / totals.iter().sum::<f64>()
        }
        _ => sum_of(&|k| error(k).powi(2)) / sums.len() as f64,
    }
}
