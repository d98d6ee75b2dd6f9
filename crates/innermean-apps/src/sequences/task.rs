//! From steps and a language to a classifier.

use std::sync::atomic::AtomicBool;

use innermean::problems::scaling::Standard;
use innermean::problems::sequences::search::{Found, Search};
use innermean::{
    AnyMethod, Choice, Driver, Fused, Inner, NegativeLog, Objective, Problem, Ridge, Sequences,
    Solution, Status, Stop,
};
use serde::{Deserialize, Serialize};

use super::scores::likeliest;
use super::{Language, Scale, Scores, SearchSummary, SequencesError, Steps};
use crate::error::Error;
use crate::linear::INTERCEPT;
use crate::run::{RunError, Task};
use crate::wording::Note;

/// The first step of L-BFGS after a search, as in the search itself; it is lengthened or shortened
/// on the way.
pub const FIRST_STEP: f64 = 0.5;
/// Starts so near to the best count as having found it too.
pub const NEAR: f64 = 0.01;
/// Outer iterations of the classifier that is fitted with labels: it is convex, and its accuracy
/// settles long before.
const WITH_LABELS: u64 = 150;
/// Its ridge.
const RIDGE_WITH_LABELS: f64 = 1e-6;

/// What is minimised: the divergence from the language model, and a ridge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SequencesSettings {
    /// The weight of `|theta|^2 / 2`.
    pub l2: f64,
}

impl Default for SequencesSettings {
    fn default() -> Self {
        SequencesSettings { l2: 1e-4 }
    }
}

/// What theta means.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SequencesAnswer {
    /// The classes.
    pub classes: Vec<String>,
    /// The length of an n-gram.
    pub order: usize,
    /// How many n-grams the language has.
    pub ngrams: usize,
    /// How many steps there are.
    pub steps: usize,
    /// In how many sequences.
    pub sequences: usize,
    /// The names of the features.
    pub features: Vec<String>,
    /// The units of theta.
    #[serde(flatten)]
    pub scale: Scale,
    /// From the language model to the predictions: the objective without the ridge.
    pub divergence: f64,
    /// Of the language.
    pub entropy: f64,
    /// The two together.
    pub cross_entropy: f64,
    /// N-grams predicted so seldom that the tangent is taken for the logarithm.
    pub ngrams_below_floor: usize,
    /// How often each class occurs in the language.
    pub class_frequencies: Vec<f64>,
    /// How often each class is the likeliest.
    pub predicted_frequencies: Vec<f64>,
    /// What labels say, where there are some.
    pub scores: Option<Scores>,
    /// What became of the starts, where there was a search.
    pub search: Option<SearchSummary>,
    /// Of each class at each step, in the order of the steps.
    #[serde(skip)]
    pub probabilities: Vec<f64>,
}

impl SequencesAnswer {
    /// The likeliest class of a step, and its probability.
    pub fn likeliest(&self, step: usize) -> (usize, f64) {
        let classes = self.classes.len();
        likeliest(&self.probabilities[step * classes..(step + 1) * classes])
    }
}

/// The problem as the library has it.
pub type SequencesProblem = Problem<Sequences, NegativeLog, Ridge>;

/// Steps and a language made into a problem.
pub struct SequencesTask {
    settings: SequencesSettings,
    /// Without the rows, which are in the problem.
    steps: Steps,
    language: Language,
    scale: Scale,
    problem: SequencesProblem,
    found: Option<Found>,
    /// `class: feature`
    coordinates: Vec<String>,
}

impl SequencesTask {
    /// The problem of these steps and this language.
    ///
    /// # Errors
    /// If no sequence is long enough for an n-gram, numbers are too large, or settings are out of
    /// their range.
    pub fn new(
        mut steps: Steps,
        language: Language,
        settings: &SequencesSettings,
    ) -> Result<Self, Error> {
        steps.check_lengths(language.model.order())?;
        let (rows, names) = (std::mem::take(&mut steps.rows), &steps.feature_names);
        let width = names.len();
        let standard = Standard::of_rows(&rows, width)
            .map_err(|k| SequencesError::TooLarge(names[k].clone()))?;
        let scale = Scale::of(names, &standard);
        let model = language.model.clone();
        let inner = Sequences::standardized(width, rows, &standard, &steps.lengths, model)?;
        let problem = inner.problem(Ridge::from_weight(settings.l2)?)?;
        let features = steps.feature_names.iter().map(String::as_str).chain([INTERCEPT]);
        let features: Vec<&str> = features.collect();
        let names =
            |class: &String| features.iter().map(|k| format!("{class}: {k}")).collect::<Vec<_>>();
        let coordinates = language.names.iter().flat_map(names).collect();
        let (settings, found) = (*settings, None);
        Ok(SequencesTask { settings, steps, language, scale, problem, found, coordinates })
    }

    /// Searches for a start; the objective has many local minima. Without this, a fit begins at
    /// zero unless told otherwise.
    ///
    /// # Errors
    /// If a start cannot be descended from.
    pub fn search(&mut self, search: &Search<'_>) -> Result<(), Error> {
        self.found = Some(search.run(&self.problem)?);
        Ok(())
    }

    /// Takes what an earlier search has found.
    pub fn begin_at(&mut self, found: Found) {
        self.found = Some(found);
    }

    /// What a search has found.
    pub fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// The settings that it was made with.
    pub fn settings(&self) -> &SequencesSettings {
        &self.settings
    }

    /// Which rows are the steps of which sequence.
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// The language.
    pub fn language(&self) -> &Language {
        &self.language
    }

    /// The means and deviations of the features.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// f.
    pub fn sequences(&self) -> &Sequences {
        &self.problem.inner
    }

    /// The accuracy of the same classifier fitted with the labels, by some hundred iterations; none
    /// without labels, or where it was interrupted.
    ///
    /// # Errors
    /// If the labelled problem is refused.
    pub fn accuracy_with_labels(
        &self,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Option<f64>, Error> {
        let Some(labels) = self.steps.labels() else { return Ok(None) };
        let f = &self.problem.inner;
        let problem = f.labelled(labels, Ridge::from_weight(RIDGE_WITH_LABELS)?)?;
        let zeros = vec![0.0; f.d()];
        let choice = Choice { alpha_theta: Some(FIRST_STEP), ..Choice::default() };
        let method = AnyMethod::named("lbfgs", &choice, &problem, &zeros)
            .map_err(|error| RunError::of(error, &choice))?;
        let stop = Stop { max_outer: Some(WITH_LABELS), tolerance: None, ..Stop::default() };
        let driver = Driver { stop, interrupt, ..Driver::default() };
        let fitted = method.run(&driver, &problem, &zeros, &mut ());
        if fitted.status == Status::Interrupted {
            return Ok(None);
        }
        let probabilities = f.probabilities(&fitted.theta);
        let scores = Scores::of(labels, &probabilities, self.language.names.len());
        Ok(scores.map(|scores| scores.accuracy))
    }
}

impl Task for SequencesTask {
    type Answer = SequencesAnswer;

    fn problem(&self) -> Objective<'_> {
        self.problem.erased()
    }

    fn coordinates(&self) -> &[String] {
        &self.coordinates
    }

    /// Those of the steps first.
    fn notes(&self) -> Vec<Note> {
        let mut notes = self.steps.notes().to_vec();
        if !self.scale.constant.is_empty() {
            notes.push(Note::ConstantFeatures(self.scale.constant.clone()));
        }
        if self.found.as_ref().is_some_and(|found| found.cut_short) {
            notes.push(Note::SearchCutShort);
        }
        notes
    }

    fn start(&self) -> Option<Vec<f64>> {
        self.found.as_ref().map(|found| found.theta.clone())
    }

    fn answer(&self, solution: &Solution) -> Result<SequencesAnswer, Error> {
        let f = &self.problem.inner;
        let mut averages = vec![0.0; f.n_x()];
        f.f().means(&solution.theta, &mut averages);
        let merit = &self.problem.merit;
        let below = (0..f.n_x()).filter(|&i| !merit.is_exact_for(i, averages[i])).count();
        let divergence = self.problem.erased().loss(&averages);
        let probabilities = f.probabilities(&solution.theta);
        let classes = self.language.names.len();
        let mut predicted_frequencies = vec![0.0; classes];
        for row in probabilities.chunks_exact(classes) {
            predicted_frequencies[likeliest(row).0] += 1.0 / f.steps() as f64;
        }
        let entropy = self.language.model.entropy();
        let labels = self.steps.labels();
        Ok(SequencesAnswer {
            classes: self.language.names.clone(),
            order: self.language.model.order(),
            ngrams: f.n_x(),
            steps: f.steps(),
            sequences: self.steps.sequences,
            features: self.steps.feature_names.clone(),
            scale: self.scale.clone(),
            divergence,
            entropy,
            cross_entropy: divergence + entropy,
            ngrams_below_floor: below,
            class_frequencies: self.language.model.class_frequencies(),
            predicted_frequencies,
            scores: labels.and_then(|labels| Scores::of(labels, &probabilities, classes)),
            search: self.found.as_ref().map(SearchSummary::from),
            probabilities,
        })
    }
}
