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
    let (mut sums, mut sizes) = (vec![0.0; data.labels().len()], vec![0.0; data.labelled()]);
    for (&group, row) in data.groups().iter().zip(predictions.chunks_exact(ell)) {
        sizes[group as usize] += 1.0;
        let own = &mut sums[group as usize * ell..(group as usize + 1) * ell];
        own.iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
    }
    let mean = |k: usize| sums[k] / sizes[k / ell];
    let error = |k: usize| {
        let size = if link == BagLink::Exp { sizes[k / ell] } else { 1.0 };
        size * mean(k) - data.labels()[k]
    };
    let cross = |q: f64, u: f64| if q == 0.0 { 0.0 } else { -q * u.natural_log() };
    let numbers = 0..data.labels().len();
    match score {
        Score::AbsoluteError => numbers.map(|k| error(k).abs()).sum::<f64>() / sums.len() as f64,
        Score::LogLoss => {
            let term = |k: usize| {
                let (q, u) = (data.labels()[k], mean(k));
                cross(q, u) + if ell == 1 { cross(1.0 - q, 1.0 - u) } else { 0.0 }
            };
            numbers.map(term).sum::<f64>() / sizes.len() as f64
        }
        Score::Deviance => {
            let term = |k: usize| {
                let (y, mu) = (data.labels()[k], sums[k]);
                mu - y + if y == 0.0 { 0.0 } else { y * (y / mu).natural_log() }
            };
            numbers.map(term).sum::<f64>() / sizes.iter().sum::<f64>()
        }
        _ => numbers.map(|k| error(k).powi(2)).sum::<f64>() / sums.len() as f64,
    }
}
