//! From rows and settings to coefficients.

use innermean::problems::scaling::Scaling;
use innermean::{Collapsed, Merit, Objective, Passes, Problem, Regularizer, Solution};
use serde::{Deserialize, Serialize};

use super::loss::{HINGE_WIDTH, median_distance};
use super::{Classes, INTERCEPT, LinearData, LinearFit, Loss, Target};
use crate::error::Error;
use crate::model::LinearModel;
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
    /// How well rows of weight 0 are predicted, where there are some that have a target.
    pub held_out: Option<HeldOut>,
    /// `<x_i, coefficients> + intercept` for all rows of the data, fitted or not.
    #[serde(skip)]
    pub scores: Vec<f64>,
    /// The targets or labels of all rows of the data, NaN where there is none.
    #[serde(skip)]
    pub targets: Vec<f64>,
    /// Which rows of the data were fitted; none if all were.
    #[serde(skip)]
    pub fitted: Option<Vec<bool>>,
}

/// How well rows are predicted that took no part in the fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOut {
    /// How many.
    pub rows: usize,
    /// In numbers.
    #[serde(flatten)]
    pub fit: LinearFit,
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
    scaling: Scaling,
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
        data.separate()?;
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

    /// The same with other norms, without building it again.
    ///
    /// # Errors
    /// If a weight is negative or not finite.
    pub fn set_penalty(&mut self, penalty: Penalty) -> Result<(), Error> {
        let head = self.settings.intercept.then_some(self.data.names().len());
        let g = penalty.regularizer_of_head(head)?;
        self.problem.regularizer = self.scaling.regularizer(g)?;
        self.settings.penalty = penalty;
        Ok(())
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

    /// The units of the run.
    pub(crate) fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Whether rows are kept sparse.
    pub fn is_sparse(&self) -> bool {
        self.problem.inner.support(0).is_some()
    }

    /// `<x_i, theta> + intercept` for all rows.
    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        // Without the offsets, whose addition would round them.
        let z = self.scaling.scaled(theta);
        (0..self.data.len()).map(|i| self.problem.inner.row(i, 0).dot(&z)).collect()
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
        let fit = LinearFit::new(self.data.target(), &scores, self.data.weights(), loss);
        let warning = self.warning(&scores);
        let mut targets = self.data.target().numbers().to_vec();
        let (mut held_out, mut fitted) = (None, None);
        let scores = match self.data.aside() {
            None => scores,
            Some(aside) => {
                let others = LinearModel::of(self, solution).scores_of(&aside.rows);
                held_out = HeldOut::new(self.data.target(), &aside.targets, &others, loss);
                targets = merged(&aside.fitted, &targets, &aside.targets);
                fitted = Some(aside.fitted.clone());
                merged(&aside.fitted, &scores, &others)
            }
        };
        Ok(LinearAnswer {
            coefficients: coefficients.to_vec(),
            intercept: rest.first().copied(),
            zeros: coefficients.iter().filter(|c| **c == 0.0).count(),
            fit,
            classes: self.data.target().classes().cloned(),
            warning,
            held_out,
            scores,
            targets,
            fitted,
        })
    }
}

impl HeldOut {
    /// Of the rows set aside that have a target; none if no row has.
    fn new(target: &Target, targets: &[f64], scores: &[f64], loss: Loss) -> Option<Self> {
        let known = targets.iter().zip(scores).filter(|(target, _)| !target.is_nan());
        let (targets, scores): (Vec<f64>, Vec<f64>) = known.unzip();
        let rows = targets.len();
        let target = match target {
            Target::Numbers(_) => Target::Numbers(targets),
            Target::Classes(classes, _) => Target::Classes(classes.clone(), targets),
        };
        (rows > 0).then(|| HeldOut { rows, fit: LinearFit::new(&target, &scores, None, loss) })
    }
}

/// What belongs to the rows that are fitted and to the others, in the order of the data.
fn merged(fitted: &[bool], of_fitted: &[f64], of_others: &[f64]) -> Vec<f64> {
    let (mut of_fitted, mut of_others) = (of_fitted.iter(), of_others.iter());
    let next = |fitted: &bool| {
        let from = if *fitted { &mut of_fitted } else { &mut of_others };
        from.next().copied().unwrap_or(f64::NAN)
    };
    fitted.iter().map(next).collect()
}
