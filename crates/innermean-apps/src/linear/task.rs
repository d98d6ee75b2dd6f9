//! From rows and settings to coefficients.

use innermean::problems::scaling::Scaling;
use innermean::{ClassScores, Collapsed, Inner, Merit, Objective, Regularizer, Solution};
use serde::{Deserialize, Serialize};

use super::condensed::Read;
use super::loss::{HINGE_WIDTH, median_distance};

use super::{Classes, INTERCEPT, LinearData, LinearFit, Loss, Probabilities, Target};
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
    /// One for each feature; of several classes, those of class after class.
    #[serde(skip)]
    pub coefficients: Vec<f64>,
    /// If there is one; of several classes there are [`intercepts`](Self::intercepts).
    pub intercept: Option<f64>,
    /// Those of several classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intercepts: Vec<f64>,
    /// Coefficients that are exactly zero.
    pub zeros: usize,
    /// How well the rows are fitted.
    #[serde(flatten)]
    pub fit: LinearFit,
    /// The classes of scores below and above 0, where there are two.
    pub classes: Option<Classes>,
    /// The names of several classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_names: Vec<String>,
    /// Whether coefficients may grow without end.
    #[serde(skip)]
    pub warning: Option<Note>,
    /// How well rows of weight 0 are predicted, where there are some that have a target.
    pub held_out: Option<HeldOut>,
    /// `<x_i, coefficients> + intercept` for all rows of the data, fitted or not; of several
    /// classes, the probabilities of all for each row.
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

/// Rows and settings made into a problem.
pub struct LinearTask {
    settings: LinearSettings,
    /// Without the rows, which are in the problem.
    pub(super) data: LinearData,
    /// h of the loss.
    width: Option<f64>,
    pub(super) scaling: Scaling,
    /// Of the coordinates, an intercept last.
    names: Vec<String>,
    scores: Scores,
    merit: Box<dyn Merit>,
    regularizer: Box<dyn Regularizer>,
    /// Where rows were read once and not kept.
    pub(super) read: Option<Read>,
}

/// f: a score for each row, or one for each class.
enum Scores {
    One(Collapsed),
    Several(ClassScores),
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
        let scaling =
            if settings.scaling { data.scale(settings.intercept) } else { Scaling::default() };
        Self::with_scaling(data, settings, scaling, None)
    }

    /// The problem of rows in these units.
    pub(super) fn with_scaling(
        mut data: LinearData,
        settings: &LinearSettings,
        scaling: Scaling,
        read: Option<Read>,
    ) -> Result<Self, Error> {
        let LinearSettings { loss, intercept, penalty, .. } = *settings;
        let width = if data.is_empty() { None } else { settings.width(data.target()) };
        let (classes, d) = (data.target().width(), data.names().len());
        let scaling = scaling.of_classes(classes);
        let g = penalty.regularizer_of_head(intercept.then_some(classes * d))?;
        let regularizer = scaling.regularizer(g)?;
        let merit = data.merit(loss, width)?;
        let names = coordinates(&data, intercept);
        let mut rows = data.predictors(intercept)?;
        if let Some(read) = &read {
            rows = rows.with_roundings(read.roundings);
        }
        let scores = if classes > 1 {
            Scores::Several(ClassScores::new(rows, classes, intercept)?)
        } else {
            Scores::One(rows)
        };
        let settings = *settings;
        Ok(LinearTask { settings, data, width, scaling, names, scores, merit, regularizer, read })
    }

    /// The same with other norms, without building it again.
    ///
    /// # Errors
    /// If a weight is negative or not finite.
    pub fn set_penalty(&mut self, penalty: Penalty) -> Result<(), Error> {
        let d = self.data.names().len() * self.data.target().width();
        let g = penalty.regularizer_of_head(self.settings.intercept.then_some(d))?;
        self.regularizer = self.scaling.regularizer(g)?;
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
        self.rows().data().is_none()
    }

    /// With a 1 at the end of each where there is an intercept.
    fn rows(&self) -> &Collapsed {
        match &self.scores {
            Scores::One(rows) => rows,
            Scores::Several(scores) => scores.rows(),
        }
    }

    /// Sets of coordinates to which a constant may be added without changing the loss.
    pub(super) fn shifts(&self) -> Vec<Vec<usize>> {
        match &self.scores {
            Scores::One(_) => Vec::new(),
            Scores::Several(scores) => scores.shifts(),
        }
    }

    /// `<x_i, theta> + intercept` for all rows, or probabilities of several classes.
    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let (z, rows) = (self.scaled(theta.to_vec()), self.rows());
        let all = 0..self.data.len();
        let classes = self.data.target().width();
        if classes == 1 {
            // Without the offsets, whose addition would round them.
            return all.map(|i| rows.with_row(i, 0, |row| row.dot(&z))).collect();
        }
        let probabilities = Probabilities::new(&z, self.data.names().len(), classes);
        let mut scores = Vec::with_capacity(all.len() * classes);
        all.for_each(|i| rows.with_row(i, 0, |row| probabilities.add(row, &mut scores)));
        scores
    }

    /// Whether coefficients grow without end.
    fn warning(&self, scores: &[f64]) -> Option<Note> {
        let separated = match self.data.target() {
            Target::Numbers(_) => false,
            Target::Classes(_, labels) => {
                labels.iter().zip(scores).all(|(y, score)| y * score > 0.0)
            }
            Target::Several(names, labels) => {
                let rows = scores.chunks_exact(names.len());
                let own_side = |(y, p): (&f64, &[f64])| {
                    let own = *y as usize;
                    (0..p.len()).all(|c| c == own || p[c] < p[own])
                };
                labels.iter().zip(rows).all(own_side)
            }
        };
        let LinearSettings { loss, penalty, .. } = self.settings;
        penalty.warning_if_separated(separated && loss == Loss::Logistic)
    }
}

impl Task for LinearTask {
    type Answer = LinearAnswer;

    fn problem(&self) -> Objective<'_> {
        let inner: &dyn Inner = match &self.scores {
            Scores::One(rows) => rows,
            Scores::Several(scores) => scores,
        };
        Objective { inner, merit: &*self.merit, regularizer: &*self.regularizer }
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
        if let Target::Several(names, _) = self.data.target() {
            notes.push(Note::SeveralClasses(names.clone()));
        }
        if self.settings.loss == Loss::Huber && self.settings.huber_width.is_none() {
            notes.extend(self.width.map(Note::LossWidth));
        }
        let is_scaled = self.scaling.is_on() && !self.is_of_moments();
        notes.extend(is_scaled.then_some(Note::Scaled));
        let coefficients = self.names.len();
        if self.settings.penalty.is_zero() && self.rows_read() < coefficients as u64 {
            notes.push(Note::FewerRows { coefficients });
        }
        notes
    }

    fn scaled(&self, mut theta: Vec<f64>) -> Vec<f64> {
        if self.settings.intercept
            && let Some(intercept) = theta.last_mut()
        {
            *intercept -= self.shift();
        }
        self.scaling.scaled(&theta)
    }

    fn restate(&self, tolerance: f64, solution: &mut Solution) {
        self.scaling.restate(self.problem(), tolerance, solution);
        if self.shift() != 0.0
            && let Some(intercept) = solution.theta.last_mut()
        {
            let before = *intercept;
            *intercept += self.shift();
            // What is left of an intercept beside a mean that is far away.
            if *intercept - self.shift() != before && solution.objective.is_finite() {
                let there = self.scaled(solution.theta.clone());
                solution.move_objective(self.problem().objective(&there), tolerance);
            }
        }
        let classes = self.data.target().width();
        if classes > 1 && self.settings.intercept {
            // What is common to all intercepts changes nothing: it is taken off.
            let first = solution.theta.len() - classes;
            let intercepts = &mut solution.theta[first..];
            let mean = intercepts.iter().sum::<f64>() / classes as f64;
            for intercept in intercepts {
                *intercept -= mean;
            }
        }
    }

    fn answer(&self, solution: &Solution) -> Result<LinearAnswer, Error> {
        let classes = self.data.target().width();
        let (coefficients, rest) = solution.theta.split_at(classes * self.data.names().len());
        let several = classes > 1;
        let mut scores = self.scores(&solution.theta);
        let loss = self.settings.loss;
        let of_moments = self.fit_of_moments(&scores);
        let of_rows = || LinearFit::new(self.data.target(), &scores, self.data.weights(), loss);
        let fit = of_moments.unwrap_or_else(of_rows);
        let warning = self.warning(&scores);
        let mut targets = self.data.target().numbers().to_vec();
        if self.is_of_moments() {
            (scores, targets) = (Vec::new(), Vec::new());
        }
        let (mut held_out, mut fitted) = (None, None);
        let scores = match self.data.aside() {
            None => scores,
            Some(aside) => {
                let others = LinearModel::of(self, solution).scores_of(&aside.rows);
                held_out = HeldOut::new(self.data.target(), &aside.targets, &others, loss);
                targets = merged(&aside.fitted, &targets, &aside.targets, 1);
                fitted = Some(aside.fitted.clone());
                merged(&aside.fitted, &scores, &others, classes)
            }
        };
        Ok(LinearAnswer {
            coefficients: coefficients.to_vec(),
            intercept: rest.first().copied().filter(|_| !several),
            intercepts: if several { rest.to_vec() } else { Vec::new() },
            zeros: coefficients.iter().filter(|c| **c == 0.0).count(),
            fit,
            classes: self.data.target().classes().cloned(),
            class_names: if several { self.data.target().class_names() } else { Vec::new() },
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
        let rows = targets.iter().zip(scores.chunks_exact(target.width()));
        let known = rows.filter(|(target, _)| !target.is_nan());
        let (targets, scores): (Vec<f64>, Vec<&[f64]>) = known.unzip();
        let (rows, scores) = (targets.len(), scores.concat());
        let target = target.with_numbers(targets);
        (rows > 0).then(|| HeldOut { rows, fit: LinearFit::new(&target, &scores, None, loss) })
    }
}

/// What belongs to the rows that are fitted and to the others, `width` numbers each, in the order
/// of the data.
fn merged(fitted: &[bool], of_fitted: &[f64], of_others: &[f64], width: usize) -> Vec<f64> {
    let mut of_fitted = of_fitted.chunks_exact(width);
    let mut of_others = of_others.chunks_exact(width);
    let next = |fitted: &bool| {
        let from = if *fitted { &mut of_fitted } else { &mut of_others };
        from.next().unwrap_or_default()
    };
    fitted.iter().flat_map(next).copied().collect()
}

/// The names of the coordinates: of several classes `class: feature`, class after class, and then
/// their intercepts.
fn coordinates(data: &LinearData, intercept: bool) -> Vec<String> {
    let (names, intercept) = (data.names(), intercept.then(|| INTERCEPT.to_owned()));
    let Target::Several(classes, _) = data.target() else {
        return names.iter().cloned().chain(intercept).collect();
    };
    let of_class = |name: &str, class: &str| format!("{class}: {name}");
    let heads = classes.iter().flat_map(|c| names.iter().map(move |name| of_class(name, c)));
    let tail = intercept.iter().flat_map(|name| classes.iter().map(move |c| of_class(name, c)));
    heads.chain(tail).collect()
}
