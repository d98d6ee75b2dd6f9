//! From rows and settings to coefficients.

use innermean::problems::scaling::Scaling;
use innermean::{Collapsed, Fused, Merit, Objective, Problem, Regularizer, Solution};
use serde::{Deserialize, Serialize};

use super::loss::{HINGE_WIDTH, median_distance};
use super::{Classes, INTERCEPT, LinearData, LinearFit, Loss, Target};
use crate::error::Error;
use crate::penalty::Penalty;
use crate::run::Task;
use crate::wording::Note;

/// What is minimised: the mean loss of rows, and norms of the coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LinearSettings {
    /// The loss of a row.
    pub loss: Loss,
    /// h of [`Loss::Huber`]; by default the median distance of targets from their median.
    pub huber_width: Option<f64>,
    /// h of [`Loss::SmoothedHinge`]; by default 1.
    pub hinge_width: Option<f64>,
    /// Whether there is an intercept. It is never penalised.
    pub intercept: bool,
    /// Whether columns of very different size are brought to one scale for the run, which changes
    /// its speed alone.
    pub scaling: bool,
    /// Norms of the coefficients.
    #[serde(flatten)]
    pub penalty: Penalty,
}

impl Default for LinearSettings {
    fn default() -> Self {
        LinearSettings {
            loss: Loss::default(),
            huber_width: None,
            hinge_width: None,
            intercept: true,
            scaling: true,
            penalty: Penalty::default(),
        }
    }
}

/// What theta means, in the units of the data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LinearAnswer {
    /// One for each feature.
    #[serde(skip)]
    pub coefficients: Vec<f64>,
    /// If there is one.
    pub intercept: Option<f64>,
    /// Coefficients that are exactly zero.
    pub zeros: usize,
    /// How well the rows are fitted.
    #[serde(flatten)]
    pub fit: LinearFit,
    /// The classes of scores below and above 0.
    pub classes: Option<Classes>,
    /// Whether coefficients may grow without end.
    #[serde(skip)]
    pub warning: Option<Note>,
    /// `<x_i, coefficients> + intercept` for all rows.
    #[serde(skip)]
    pub scores: Vec<f64>,
}

/// The problem as the library has it.
pub type LinearProblem = Problem<Collapsed, Box<dyn Merit>, Box<dyn Regularizer>>;

/// Rows and settings made into a problem.
pub struct LinearTask {
    settings: LinearSettings,
    /// Without the rows, which are in the problem.
    data: LinearData,
    /// h of the loss.
    width: Option<f64>,
    pub(super) scaling: Scaling,
    /// Of the coordinates, an intercept last.
    names: Vec<String>,
    problem: LinearProblem,
}

impl LinearSettings {
    /// What can be found out without data.
    ///
    /// # Errors
    /// If a width was given for another loss.
    pub fn check(&self) -> Result<(), Error> {
        for (parameter, given, loss) in [
            ("huber_width", self.huber_width, Loss::Huber),
            ("hinge_width", self.hinge_width, Loss::SmoothedHinge),
        ] {
            if given.is_some() && self.loss != loss {
                return Err(Error::IdleWithout { parameter, needed: format!("loss={loss}") });
            }
        }
        Ok(())
    }

    /// The objective in words.
    pub fn formula(&self) -> String {
        let mut terms = vec![self.loss.title().to_owned()];
        terms.extend(self.penalty.terms("theta"));
        terms.join(" + ")
    }

    /// h, for a loss that has one.
    fn width(&self, target: &Target) -> Option<f64> {
        match (self.loss, target) {
            (Loss::Huber, Target::Numbers(targets)) => {
                Some(self.huber_width.unwrap_or_else(|| median_distance(targets)))
            }
            (Loss::SmoothedHinge, _) => Some(self.hinge_width.unwrap_or(HINGE_WIDTH)),
            _ => None,
        }
    }
}

impl LinearTask {
    /// The problem of these rows.
    ///
    /// # Errors
    /// If settings contradict each other or are out of their range, there are no rows or features,
    /// or numbers are not finite.
    pub fn new(mut data: LinearData, settings: &LinearSettings) -> Result<Self, Error> {
        settings.check()?;
        let LinearSettings { loss, intercept, penalty, .. } = *settings;
        let width = if data.is_empty() { None } else { settings.width(data.target()) };
        let scaling = if settings.scaling { data.scale(intercept) } else { Scaling::default() };
        let g = penalty.regularizer_of_head(intercept.then_some(data.names().len()))?;
        let problem = LinearProblem {
            merit: data.merit(loss, width)?,
            inner: data.predictors(intercept)?,
            regularizer: scaling.regularizer(g)?,
        };
        let mut names = data.names().to_vec();
        names.extend(intercept.then(|| INTERCEPT.to_owned()));
        Ok(LinearTask { settings: *settings, data, width, scaling, names, problem })
    }

    /// The settings that it was made with.
    pub fn settings(&self) -> &LinearSettings {
        &self.settings
    }

    /// Names, targets and weights.
    pub fn data(&self) -> &LinearData {
        &self.data
    }

    /// h of the loss, given or found.
    pub fn width(&self) -> Option<f64> {
        self.width
    }

    /// Whether rows are kept sparse.
    pub fn is_sparse(&self) -> bool {
        self.problem.inner.support(0).is_some()
    }

    /// `<x_i, theta> + intercept` for all rows.
    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.data.len()];
        self.problem.inner.f().means(&self.scaling.scaled(theta), &mut scores);
        for (score, offset) in scores.iter_mut().zip(self.problem.inner.offsets()) {
            *score -= offset;
        }
        scores
    }

    /// Whether coefficients grow without end.
    fn warning(&self, scores: &[f64]) -> Option<Note> {
        let Target::Classes(_, labels) = self.data.target() else { return None };
        let separated = labels.iter().zip(scores).all(|(y, score)| y * score > 0.0);
        let LinearSettings { loss, penalty, .. } = self.settings;
        penalty.warning_if_separated(separated && loss == Loss::Logistic)
    }
}

impl Task for LinearTask {
    type Answer = LinearAnswer;

    fn problem(&self) -> Objective<'_> {
        self.problem.erased()
    }

    fn coordinates(&self) -> &[String] {
        &self.names
    }

    /// Those of the data first.
    fn notes(&self) -> Vec<Note> {
        let mut notes = self.data.notes().to_vec();
        if let Some(Classes { negative, positive }) = self.data.target().classes() {
            let (negative, positive) = (negative.clone(), positive.clone());
            notes.push(Note::Classes { positive, negative });
        }
        if self.settings.loss == Loss::Huber && self.settings.huber_width.is_none() {
            notes.extend(self.width.map(Note::LossWidth));
        }
        notes.extend(self.scaling.is_on().then_some(Note::Scaled));
        let coefficients = self.names.len();
        if self.settings.penalty.is_zero() && self.data.len() < coefficients {
            notes.push(Note::FewerRows { coefficients });
        }
        notes
    }

    fn scaled(&self, theta: Vec<f64>) -> Vec<f64> {
        self.scaling.scaled(&theta)
    }

    fn restate(&self, tolerance: f64, solution: &mut Solution) {
        self.scaling.restate(&self.problem, tolerance, solution);
    }

    fn answer(&self, solution: &Solution) -> Result<LinearAnswer, Error> {
        let (coefficients, rest) = solution.theta.split_at(self.data.names().len());
        let scores = self.scores(&solution.theta);
        let loss = self.settings.loss;
        Ok(LinearAnswer {
            coefficients: coefficients.to_vec(),
            intercept: rest.first().copied(),
            zeros: coefficients.iter().filter(|c| **c == 0.0).count(),
            fit: LinearFit::new(self.data.target(), &scores, self.data.weights(), loss),
            classes: self.data.target().classes().cloned(),
            warning: self.warning(&scores),
            scores,
        })
    }
}
