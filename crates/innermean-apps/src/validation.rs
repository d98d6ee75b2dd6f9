//! Cross-validation: penalties compared by rows that were held out.
//!
//! The rows (or groups of rows) are parted into folds. For every fold, models are fitted to the
//! others along a path of penalties, each begun where the last one ended, and score the fold.
//!
//! ```
//! use innermean_apps::linear::{LinearData, LinearSettings, Rows, Target};
//! use innermean_apps::penalty::Penalty;
//! use innermean_apps::run::{Solver, Watch};
//! use innermean_apps::validation::{Folds, Validation};
//!
//! let x: Vec<f64> = (0..30).map(f64::from).collect();
//! let y = x.iter().map(|x| 2.0 * x + (x * 7.0) % 3.0).collect();
//! let data = LinearData::new(vec!["x".to_owned()], Rows::dense(x), Target::Numbers(y))?;
//! let penalties = [1000.0, 1.0].map(|l2| Penalty { l1: 0.0, l2 }).to_vec();
//! let validation = Validation::new(Folds::draw(&[0; 30], 5, 0)?, penalties, None)?;
//! let table = validation.linear(
//!     &data,
//!     &LinearSettings::default(),
//!     &Solver::default(),
//!     Watch::by(&mut ()),
//! )?;
//! assert_eq!(table.rows[table.best].penalty.l2, 1.0);
//! # Ok::<(), innermean_apps::Error>(())
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use innermean::Status;
use serde::Serialize;

use crate::error::Error;
use crate::penalty::Penalty;
use crate::run::{Solver, Start, Task, Watch};
use crate::wording::named;

mod bags;
mod folds;
mod linear;
mod path;

pub use folds::Folds;
pub use path::{Path, PathOf};

named! {
    /// What a fold is scored by: the mean over its rows or groups.
    pub enum Score, default SquaredError {
        /// The square of the error
        SquaredError = "mse",
        /// The size of the error
        AbsoluteError = "mae",
        /// The share of the variance that is explained
        RSquared = "r2",
        /// The negative logarithm of the probability of what is true
        LogLoss = "log-loss",
        /// The share of rows whose class is right
        Accuracy = "accuracy",
        /// Half the deviance of counts, for each row
        Deviance = "deviance",
    }
}

impl Score {
    /// Whether more is better.
    pub fn is_gain(self) -> bool {
        matches!(self, Score::RSquared | Score::Accuracy)
    }

    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            Score::SquaredError => "mean squared error",
            Score::AbsoluteError => "mean absolute error",
            Score::RSquared => "R squared",
            Score::LogLoss => "log loss",
            Score::Accuracy => "accuracy",
            Score::Deviance => "half the deviance for each row",
        }
    }
}

/// Why rows cannot be validated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidationError {
    /// Too few or too many folds.
    #[error(
        "`cv={folds}`: expected a number of folds from 2 to {units}, of which each has a {unit}"
    )]
    Folds {
        /// How many were asked for.
        folds: usize,
        /// How many there can be.
        units: usize,
        /// Of what.
        unit: &'static str,
    },
    /// One fold alone.
    #[error("`fold_column`: all rows are of one fold; expected two or more")]
    OneFold,
    /// A group whose rows are in several folds.
    #[error(
        "`fold_column`: group '{0}' has rows in two folds; expected all rows of a group in one"
    )]
    Divided(String),
    /// A score that is not one of these targets.
    #[error("`score={0}` is not for such targets; expected {1}")]
    OtherScore(Score, String),
    /// Nothing to choose from.
    #[error("`cv` has no penalties to compare; expected some")]
    NoPenalties,
    /// The others are of one class.
    #[error(
        "without fold {0} all rows are of one class; expected fewer folds, or others by \
         `fold_column`"
    )]
    OneClassOutside(usize),
    /// It was interrupted.
    #[error(
        "cross-validation was interrupted before it ended; expected more time, fewer folds or \
         fewer penalties"
    )]
    Interrupted,
}

/// Folds, and the penalties to choose from.
#[derive(Debug, Clone)]
pub struct Validation {
    folds: Folds,
    /// The strongest first.
    penalties: Vec<Penalty>,
    score: Option<Score>,
    /// Limits of time count from here, for all fits together.
    begun: Instant,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValidationTable {
    /// How many folds there were.
    pub folds: usize,
    /// What they were scored by.
    pub score: Score,
    /// A row for each penalty, in the order of the path.
    pub rows: Vec<ValidationRow>,
    /// The row of the best mean.
    pub best: usize,
    /// The first row of the path, and so the most penalised, whose mean is within a standard error
    /// of the best.
    pub one_standard_error: usize,
}

/// The scores of one penalty.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValidationRow {
    /// The penalty.
    #[serde(flatten)]
    pub penalty: Penalty,
    /// The mean score of the folds.
    pub mean: f64,
    /// The deviation of the scores over the root of their number.
    pub standard_error: f64,
    /// The score of each fold.
    pub scores: Vec<f64>,
    /// Coefficients that are not zero, in the mean over the folds.
    pub nonzeros: f64,
    /// Whether all fits ended as solved.
    pub solved: bool,
}

/// What is known of a fold and a penalty.
struct Scored {
    score: f64,
    nonzeros: usize,
    solved: bool,
}

impl Validation {
    /// Compares these penalties; without a score, by the usual one of the loss.
    ///
    /// # Errors
    /// If there are no penalties.
    pub fn new(
        folds: Folds,
        mut penalties: Vec<Penalty>,
        score: Option<Score>,
    ) -> Result<Self, Error> {
        if penalties.is_empty() {
            return Err(ValidationError::NoPenalties.into());
        }
        // Warm starts go from few coefficients to many.
        penalties.sort_by(|a, b| b.l1.total_cmp(&a.l1).then(b.l2.total_cmp(&a.l2)));
        penalties.dedup();
        Ok(Validation { folds, penalties, score, begun: Instant::now() })
    }

    /// The score that was asked for, if it is one of `allowed`; else the first of these.
    fn score(&self, allowed: &[Score]) -> Result<Score, Error> {
        match self.score {
            None => Ok(allowed[0]),
            Some(score) if allowed.contains(&score) => Ok(score),
            Some(score) => {
                let names: Vec<String> = allowed.iter().map(Score::to_string).collect();
                Err(ValidationError::OtherScore(score, names.join(", ")).into())
            }
        }
    }

    /// The path of one fold: `set` changes the task's penalty, `judge` scores the coefficients.
    fn along<T: Task>(
        &self,
        task: &mut T,
        solver: &Solver,
        watch: &mut Watch<'_>,
        set: impl Fn(&mut T, Penalty) -> Result<(), Error>,
        judge: impl Fn(&T, &innermean::Solution) -> Result<(f64, usize), Error>,
    ) -> Result<Vec<Scored>, Error> {
        let (mut solver, most) = (solver.clone(), solver.stop.max_seconds);
        let mut scored = Vec::with_capacity(self.penalties.len());
        for &penalty in &self.penalties {
            set(task, penalty)?;
            solver.stop.max_seconds = most.map(|most| most - self.begun.elapsed().as_secs_f64());
            if solver.stop.max_seconds.is_some_and(|left| left <= 0.0) {
                return Err(ValidationError::Interrupted.into());
            }
            let (observer, interrupt) = (&mut *watch.observer, watch.interrupt);
            let solution = task.run(&solver, Watch { observer, interrupt })?.solution;
            if solution.status == Status::Interrupted || is_set(interrupt) {
                return Err(ValidationError::Interrupted.into());
            }
            let (score, nonzeros) = judge(task, &solution)?;
            scored.push(Scored { score, nonzeros, solved: solution.status.is_solved() });
            if solution.theta.iter().all(|x| x.is_finite()) {
                solver.start = Some(Start::Given(solution.theta));
            }
        }
        Ok(scored)
    }

    /// The table of the scores of all folds.
    fn table(&self, score: Score, folds: &[Vec<Scored>]) -> ValidationTable {
        let k = folds.len() as f64;
        let row = |(place, &penalty): (usize, &Penalty)| {
            let scores: Vec<f64> = folds.iter().map(|fold| fold[place].score).collect();
            let mean = scores.iter().sum::<f64>() / k;
            let square = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (k - 1.0);
            let nonzeros = folds.iter().map(|fold| fold[place].nonzeros as f64).sum::<f64>() / k;
            let solved = folds.iter().all(|fold| fold[place].solved);
            let standard_error = (square / k).sqrt();
            ValidationRow { penalty, mean, standard_error, scores, nonzeros, solved }
        };
        let rows: Vec<ValidationRow> = self.penalties.iter().enumerate().map(row).collect();
        let sign = if score.is_gain() { -1.0 } else { 1.0 };
        let cost =
            |row: &ValidationRow| if row.mean.is_nan() { f64::INFINITY } else { sign * row.mean };
        // Of equal ones the most penalised.
        let best = (0..rows.len())
            .fold(0, |best, k| if cost(&rows[k]) < cost(&rows[best]) { k } else { best });
        let most = cost(&rows[best]) + rows[best].standard_error;
        let one_standard_error = rows.iter().position(|row| cost(row) <= most).unwrap_or(best);
        ValidationTable { folds: folds.len(), score, rows, best, one_standard_error }
    }
}

fn is_set(interrupt: Option<&AtomicBool>) -> bool {
    interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
}
