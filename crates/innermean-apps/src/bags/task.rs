//! From groups and settings to a model of rows.

use innermean::problems::scaling::Scaling;
use innermean::{Groups, Merit, Objective, Regularizer, RowData, Solution};
use serde::{Deserialize, Serialize};

use super::averages::{self, Averages};
use super::fit::{self, GroupFit, RowScores, WorstGroup};
use super::model::{MOST_COPIED, Model};
use super::{BagData, BagLink, BagLoss, BagsError};
use crate::error::{Error, same_length};
use crate::penalty::Penalty;
use crate::run::Task;
use crate::wording::Note;

/// What is minimised: the mean loss of groups, and norms of the coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BagSettings {
    /// What a row's score becomes, and so what a group's label is.
    pub link: BagLink,
    /// The loss of a group's average; by default square for identity, poisson for exp,
    /// cross-entropy for the others.
    pub loss: Option<BagLoss>,
    /// Whether there is an intercept. It is never penalised.
    pub intercept: bool,
    /// Whether columns of very different size are brought to one scale for the run, which changes
    /// its speed alone.
    pub scaling: bool,
    /// Norms of the coefficients.
    #[serde(flatten)]
    pub penalty: Penalty,
}

impl Default for BagSettings {
    fn default() -> Self {
        BagSettings {
            link: BagLink::default(),
            loss: None,
            intercept: true,
            scaling: true,
            penalty: Penalty::default(),
        }
    }
}

impl BagSettings {
    /// The loss that was asked for, or that goes with the link.
    ///
    /// # Errors
    /// If the loss does not go with the link.
    pub fn loss(&self) -> Result<BagLoss, Error> {
        let usual = self.link.usual_loss();
        match self.loss {
            None => Ok(usual),
            Some(loss) if loss == usual => Ok(loss),
            Some(BagLoss::Square) if self.link == BagLink::Logistic => Ok(BagLoss::Square),
            Some(loss) => Err(BagsError::OtherLoss {
                loss,
                link: self.link,
                expected: if self.link == BagLink::Logistic {
                    "cross-entropy or square".to_owned()
                } else {
                    usual.to_string()
                },
            }
            .into()),
        }
    }
}

/// What theta means.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BagAnswer {
    /// Groups that are fitted, single rows with a label of their own among them.
    pub groups: usize,
    /// How many of them are single rows.
    pub single_rows: usize,
    /// The rows of all of them, each counted once.
    pub rows: usize,
    /// How near the averages of groups come to their labels.
    pub group_fit: GroupFit,
    /// The groups that are missed most.
    pub worst_groups: Vec<WorstGroup>,
    /// The same of groups whose labels are held out.
    pub held_out_groups: Option<HeldOutGroups>,
    /// How well single rows are predicted, where their labels are known: rows of groups that are
    /// fitted, whose own labels the fit has not seen.
    pub row_scores: Option<RowScores>,
    /// The same of rows that take no part in the fit: of weight 0, or of no group that is fitted.
    pub held_out_rows: Option<RowScores>,
    /// The same of rows whose own labels are fitted.
    pub fitted_rows: Option<RowScores>,
    /// Predictions averaged by the columns that were asked for.
    pub averages: Vec<Averages>,
    /// Whether coefficients may grow without end.
    #[serde(skip)]
    pub warning: Option<Note>,
    /// Of all rows, one number or one for each class; empty where features were not kept.
    #[serde(skip)]
    pub predictions: Vec<f64>,
    /// Of all labelled groups, one number or one for each class.
    #[serde(skip)]
    pub fitted: Vec<f64>,
}

/// Groups with labels that the fit has not seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HeldOutGroups {
    /// How many.
    pub groups: usize,
    /// How near their averages come to their labels.
    #[serde(flatten)]
    pub fit: GroupFit,
}

/// The problem as the library has it, seen through pointers.
pub type BagProblem<'a> = Objective<'a>;

/// Groups and settings made into a problem.
pub struct BagTask {
    settings: BagSettings,
    loss: BagLoss,
    data: BagData,
    /// Of all rows, in units of the run, if they are needed again.
    features: RowData,
    pub(super) model: Model,
    merit: Box<dyn Merit>,
    regularizer: Box<dyn Regularizer>,
    pub(super) scaling: Scaling,
    /// Of the coordinates.
    names: Vec<String>,
}

/// Of the objective: a smaller rise is none.
const FLAT: f64 = 1e-6;
/// Groups that are named because they are fitted badly.
const WORST: usize = 3;

impl BagTask {
    /// The problem of these groups; `features` holds a row of numbers for each row of the data.
    ///
    /// # Errors
    /// If settings contradict each other or are out of their range, or numbers are not finite.
    pub fn new(
        data: BagData,
        features: impl Into<RowData>,
        settings: &BagSettings,
    ) -> Result<Self, Error> {
        let mut features = features.into();
        let loss = settings.loss()?;
        let BagSettings { link, intercept, penalty, .. } = *settings;
        let width = data.feature_names.len();
        same_length("numbers in the rows", features.len(), width * data.members.rows())?;
        let scaling = if settings.scaling && !features.is_empty() {
            let classes = if link == BagLink::Softmax { data.label_names.len() } else { 1 };
            Scaling::of_rows(&mut features, width, intercept).of_classes(classes)
        } else {
            Scaling::default()
        };
        if features.len() > MOST_COPIED {
            features = features.into_shared();
        }
        let model = Model::new(&data, &features, link, loss, intercept)?;
        let g = penalty.regularizer_of_head(intercept.then(|| model.penalised()))?;
        let merit = model.merit(&data, loss)?;
        let regularizer = scaling.regularizer(g)?;
        let names = model.coordinates(&data);
        let settings = *settings;
        Ok(BagTask { settings, loss, data, features, model, merit, regularizer, scaling, names })
    }

    /// Gives the features back to memory: rows are then not predicted, nor scored.
    #[must_use]
    pub fn without_rows(mut self) -> Self {
        self.features = RowData::default();
        self
    }

    /// The same with other norms, without building it again.
    ///
    /// # Errors
    /// If a weight is negative or not finite.
    pub fn set_penalty(&mut self, penalty: Penalty) -> Result<(), Error> {
        let head = self.settings.intercept.then(|| self.model.penalised());
        self.regularizer = self.scaling.regularizer(penalty.regularizer_of_head(head)?)?;
        self.settings.penalty = penalty;
        Ok(())
    }

    /// The settings that it was made with.
    pub fn settings(&self) -> &BagSettings {
        &self.settings
    }

    /// The loss, given or that of the link.
    pub fn loss(&self) -> BagLoss {
        self.loss
    }

    /// The units of the run.
    pub(crate) fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Groups and labels.
    pub fn data(&self) -> &BagData {
        &self.data
    }

    /// The labelled groups as the library has them.
    pub fn groups(&self) -> &Groups {
        self.model.groups()
    }

    /// How many rows take part in the fit.
    pub fn fitted_rows(&self) -> usize {
        (0..self.data.members.rows()).filter(|&row| self.data.is_fitted(row)).count()
    }

    /// The objective in words.
    pub fn formula(&self) -> String {
        let is_weighted = self.data.weights.is_some() || self.data.by_size;
        let mut terms = vec![
            match self.loss {
                BagLoss::CrossEntropy if is_weighted => "weighted mean cross-entropy of groups",
                BagLoss::CrossEntropy => "mean cross-entropy of groups",
                BagLoss::Square if is_weighted => "weighted mean square of (average - label)",
                BagLoss::Square => "mean square of (average - label)",
                BagLoss::Poisson if is_weighted => {
                    "half the weighted deviance of counts for each row"
                }
                BagLoss::Poisson => "half the deviance of counts for each row",
            }
            .to_owned(),
        ];
        terms.extend(self.settings.penalty.terms("coefficients"));
        terms.join(" + ")
    }
}

impl Task for BagTask {
    type Answer = BagAnswer;

    fn problem(&self) -> BagProblem<'_> {
        Objective {
            inner: self.model.inner(),
            merit: &*self.merit,
            regularizer: &*self.regularizer,
        }
    }

    fn coordinates(&self) -> &[String] {
        &self.names
    }

    /// Those of the data first.
    fn notes(&self) -> Vec<Note> {
        let mut notes = self.data.notes().to_vec();
        let members = &self.data.members;
        let outside = (0..members.rows()).filter(|&row| members.of(row).is_empty()).count();
        notes.extend((outside > 0).then_some(Note::NoGroup(outside)));
        notes.extend(self.scaling.is_on().then_some(Note::Scaled));
        notes.extend(self.extreme_labels());
        let (labels, coefficients) = (self.data.labels().len(), self.names.len());
        if self.settings.penalty.l2 == 0.0 && labels < coefficients {
            notes.push(Note::FewerLabels { coefficients });
        }
        notes
    }

    fn start(&self) -> Option<Vec<f64>> {
        Some(self.model.start(&self.data))
    }

    fn scaled(&self, theta: Vec<f64>) -> Vec<f64> {
        self.scaling.scaled(&theta)
    }

    fn restate(&self, tolerance: f64, solution: &mut Solution) {
        self.scaling.restate(self.problem(), tolerance, solution);
    }

    fn answer(&self, solution: &Solution) -> Result<BagAnswer, Error> {
        let BagSettings { link, penalty, .. } = self.settings;
        // In units of the run, as the features are.
        let (data, z) = (&self.data, self.scaling.scaled(&solution.theta));
        let (labels, fitted) = (data.labels(), self.model.fitted(data, self.loss, &z));
        let (groups, totals) = (self.model.groups(), self.model.totals());
        let counts = link == BagLink::Exp;
        let ell = data.label_names.len();
        let worst = fit::worst(labels, &fitted, &totals, counts, WORST);
        let worst_groups = worst.into_iter().map(|(i, c)| WorstGroup {
            group: data.group_names[i].clone(),
            rows: groups.size(i),
            label: labels[i * ell + c],
            fitted: fitted[i * ell + c] * if counts { totals[i] } else { 1.0 },
            class: (ell > 1).then(|| data.label_names[c].clone()),
        });
        let least: Vec<f64> = (0..groups.count()).map(|i| groups.least_share(i)).collect();
        let separated = fit::separated(link, labels, &fitted, &least);
        let predictions = if self.features.is_empty() {
            Vec::new()
        } else {
            self.model.predictions(link, &self.features, &z)?
        };
        let weights = data.group_weights(&totals).unwrap_or_default();
        let [row_scores, held_out_rows, fitted_rows] = self.row_scores(&predictions);
        Ok(BagAnswer {
            groups: totals.len(),
            single_rows: data.singles,
            rows: self.fitted_rows(),
            group_fit: fit::of_groups(link, self.loss, labels, &fitted, &totals, &weights),
            worst_groups: worst_groups.collect(),
            held_out_groups: self.held_out_groups(&predictions),
            row_scores,
            held_out_rows,
            fitted_rows,
            averages: averages::of(data, &predictions),
            warning: penalty
                .warning_if_separated(separated)
                .or_else(|| self.is_saturated(&z).then_some(Note::Saturated)),
            predictions,
            fitted,
        })
    }
}

impl BagTask {
    /// Scores of rows with known labels: those of fitted groups, those that take no part, and those
    /// whose own labels are fitted. The first are there even if there are no such rows.
    fn row_scores(&self, predictions: &[f64]) -> [Option<RowScores>; 3] {
        let data = &self.data;
        let labels = data.row_labels.as_ref().filter(|_| !predictions.is_empty());
        let Some(labels) = labels else { return [None, None, None] };
        let mut rows = [const { Vec::new() }; 3];
        for row in (0..labels.len()).filter(|&row| !labels[row].is_nan()) {
            let kind = match (data.is_fitted(row), data.is_single(row)) {
                (false, _) => 1,
                (true, false) => 0,
                (true, true) => 2,
            };
            rows[kind].push(row);
        }
        // Of rows that are held out, none has a weight where one has none.
        let weight = |row: usize| match data.row_weight(row) {
            0.0 => 1.0,
            weight => weight,
        };
        let is_any = [true, !rows[1].is_empty(), !rows[2].is_empty()];
        let mut kinds = rows.iter().zip(is_any).map(|(rows, any)| {
            any.then(|| fit::of_rows(self.settings.link, rows, labels, predictions, weight))
        });
        [0; 3].map(|_| kinds.next().flatten())
    }

    /// Whether all labels are the same 0 or 1, or all shares of groups are 0 or 1, as those of
    /// several rows are not by chance.
    fn extreme_labels(&self) -> Option<Note> {
        let data = &self.data;
        if self.settings.link != BagLink::Logistic {
            return None;
        }
        let one = data.labels()[0];
        let is_same = data.labels().iter().all(|q| *q == one);
        if self.settings.intercept && is_same && (one == 0.0 || one == 1.0) {
            return Some(Note::OneLabel(one));
        }
        let groups = self.model.groups();
        let wholes = data.labelled - data.singles;
        let labels = &data.labels()[..wholes];
        let several = (0..wholes).filter(|&i| groups.size(i) > 1).count();
        let is_extreme = labels.iter().all(|q| *q == 0.0 || *q == 1.0);
        (several > 1 && 2 * several > wholes && is_extreme).then(|| Note::ExtremeLabels {
            groups: wholes,
            ones: labels.iter().filter(|q| **q == 1.0).count(),
        })
    }

    /// Whether twice the coefficients have no larger loss of probabilities, and no penalty holds them:
    /// nearly all predictions are then 0 or 1.
    fn is_saturated(&self, z: &[f64]) -> bool {
        let link = self.settings.link;
        if !self.settings.penalty.is_zero() || !link.is_of_proportions() {
            return false;
        }
        let twice: Vec<f64> = z.iter().map(|z| 2.0 * z).collect();
        let problem = self.problem();
        let (here, there) = (problem.objective(z), problem.objective(&twice));
        z.iter().any(|z| *z != 0.0) && there <= here + FLAT * here.abs()
    }

    /// How well labels are predicted that are held out.
    fn held_out_groups(&self, predictions: &[f64]) -> Option<HeldOutGroups> {
        let (data, ell) = (&self.data, self.data.label_names.len());
        if data.held_out == 0 || predictions.is_empty() {
            return None;
        }
        let held = data.labelled..data.labelled + data.held_out;
        let (mut sums, mut totals) = (vec![0.0; ell * held.len()], vec![0.0; held.len()]);
        for (row, p) in predictions.chunks_exact(ell).enumerate() {
            let groups = data.members.of(row).iter().map(|&group| group as usize);
            for i in groups.filter(|group| held.contains(group)).map(|group| group - held.start) {
                let weight = data.row_weight(row);
                totals[i] += weight;
                let own = &mut sums[i * ell..(i + 1) * ell];
                own.iter_mut().zip(p).for_each(|(sum, p)| *sum += weight * p);
            }
        }
        for (sums, total) in sums.chunks_exact_mut(ell).zip(&totals) {
            for sum in sums.iter_mut() {
                *sum /= total;
            }
        }
        let (link, labels) = (self.settings.link, data.held_out_labels());
        let fit = fit::of_groups(link, self.loss, labels, &sums, &totals, &[]);
        Some(HeldOutGroups { groups: held.len(), fit })
    }
}
