//! A process and its features made into a problem: states that end an episode are set apart, f is
//! built.

use innermean::problems::transitions::END;
use innermean::{
    AnyRegularizer, Bellman, Fused, Inner, Merit, Mspbe, Objective, QuadraticForm, Ridged,
    Solution, StateFeatures,
};

use super::closed_form::ClosedForm;
use super::features::Described;
use super::initial::{Initial, Known};
use super::model::{Build, Model};
use super::{
    Episodes, InitialStates, PolicyAnswer, PolicyError, PolicyFeatures, PolicyObjective,
    PolicySettings, Process, ProcessMoves,
};
use crate::error::Error;
use crate::run::Task;
use crate::wording::Note;
use crate::wording::numbers::grouped;

/// A policy to be evaluated.
pub struct PolicyTask {
    pub(super) settings: PolicySettings,
    pub(super) notes: Vec<Note>,
    /// The names of all states; none if they have no names.
    pub(super) states: Vec<String>,
    /// Where each state stands among those that have features; none if its value is zero.
    pub(super) places: Vec<Option<u32>>,
    /// The names of theta's coordinates.
    pub(super) coordinates: Vec<String>,
    pub(super) one_hot: bool,
    pub(super) discount: f64,
    pub(super) seen: bool,
    pub(super) visits: Vec<u64>,
    /// Of a log.
    pub(super) episodes: Option<Episodes>,
    pub(super) initial: Option<Initial>,
    pub(super) model: Model,
    pub(super) regularizer: Ridged<AnyRegularizer>,
}

impl PolicyTask {
    /// The problem of a process: what states are worth under the policy that made its transitions.
    ///
    /// # Errors
    /// If it cannot be told where episodes end, a state is not described, values need not be
    /// finite, or settings are out of their range.
    pub fn new(
        process: Process,
        features: PolicyFeatures,
        settings: &PolicySettings,
    ) -> Result<Self, Error> {
        Self::starting_at(None, process, features, settings)
    }

    /// The same, with states whose mean value is asked for.
    ///
    /// # Errors
    /// As [`Self::new`], and if initial states are not known, or described by other features.
    pub fn starting_at(
        initial: Option<&InitialStates>,
        mut process: Process,
        features: PolicyFeatures,
        settings: &PolicySettings,
    ) -> Result<Self, Error> {
        settings.check()?;
        process.settle(settings, features == PolicyFeatures::OneHot)?;
        let mut notes = process.notes().to_vec();
        let discount = settings.discount.or(process.discount).unwrap_or(DISCOUNT);
        if settings.discount.is_none() {
            notes.push(Note::Discount(discount));
        }
        let episodes = process.episodes();
        if settings.lambda > 0.0 {
            match &episodes {
                None => return Err(PolicyError::NoOrder("`lambda`").into()),
                Some(episodes) if episodes.count() == 1 && !process.log.has_marks() => {
                    notes.push(Note::OneEpisode);
                }
                Some(_) => {}
            }
        }
        let described = features.describe(&mut process, settings)?;
        let Process { moves, seen, log, .. } = process;
        let Described { names: states, places, coordinates, features } = described;
        let visits = visits(&moves, places.len());
        let one_hot = matches!(features, StateFeatures::OneHot { .. });
        let mut settings = settings.clone();
        let (objective, note) = choose(&settings, seen && !one_hot, &visits);
        settings.objective = Some(objective);
        notes.extend(note);
        let regularizer = settings.bounds().regularizer(features.d())?;
        let from = match (&moves, &episodes) {
            (ProcessMoves::List(moves), Some(episodes)) => {
                // Which of the states with features each transition leaves.
                let place = |&s: &u32| {
                    if states.is_empty() { s } else { places[s as usize].unwrap_or(END) }
                };
                Some((episodes, moves.from.iter().map(place).collect::<Vec<u32>>()))
            }
            _ => None,
        };
        let known = Known {
            names: &states,
            places: &places,
            features: &features,
            intercept: settings.intercept,
            log: from.as_ref().map(|(episodes, from)| (*episodes, &from[..])),
        };
        let initial = initial.map(|states| states.found(&known)).transpose()?;
        let build = Build {
            states: &states,
            places: &places,
            discount,
            lambda: settings.lambda,
            ratios: log.ratios.as_deref(),
            episodes: episodes.as_ref(),
        };
        let model = match objective {
            PolicyObjective::Bellman => build.bellman(features, moves)?,
            PolicyObjective::Projected => build.projected(features, moves)?,
        };
        Ok(PolicyTask {
            settings,
            notes,
            states,
            places,
            coordinates,
            one_hot,
            discount,
            seen,
            visits,
            episodes,
            initial,
            model,
            regularizer,
        })
    }

    /// The settings that it was made with, and the objective that was chosen.
    pub fn settings(&self) -> &PolicySettings {
        &self.settings
    }

    /// The names of all states; none where the rows of a log are described by their own features.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// Whether every state has a value of its own.
    pub fn is_one_hot(&self) -> bool {
        self.one_hot
    }

    /// The discount, given or found.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// Whether transitions were seen, rather than known by their probabilities.
    pub fn is_seen(&self) -> bool {
        self.seen
    }

    /// For each state, the transitions that leave it.
    pub fn visits(&self) -> &[u64] {
        &self.visits
    }

    /// The episodes of a log. Its transitions are those that are left.
    pub fn episodes(&self) -> Option<&Episodes> {
        self.episodes.as_ref()
    }

    /// How large it is: so many states, features and transitions, and the discount.
    pub fn size(&self) -> String {
        let features = match self.coordinates.len() {
            _ if self.one_hot => "one-hot features".to_owned(),
            1 => "1 feature".to_owned(),
            d => format!("{} features", grouped(d as u64)),
        };
        let count = self.transitions();
        if self.states.is_empty() {
            return format!(
                "{} transitions with {features}, discount {}",
                grouped(count),
                self.discount
            );
        }
        let transitions =
            if self.seen { format!(" from {} transitions", grouped(count)) } else { String::new() };
        format!(
            "{} states with {features}{transitions}, discount {}",
            grouped(self.states.len() as u64),
            self.discount
        )
    }

    /// The f of the mean squared Bellman error with all pairs, for which the paper has settings.
    pub fn bellman(&self) -> Option<&Bellman> {
        if let Model::Dense(f, _) = &self.model { Some(f) } else { None }
    }

    /// The f and phi of the projected error.
    pub fn projected(&self) -> Option<(&Mspbe, &QuadraticForm)> {
        match &self.model {
            Model::Projected { f, form, .. } | Model::Condensed { f, form, .. } => Some((f, form)),
            _ => None,
        }
    }

    /// The value of every state, zero where an episode ends.
    pub fn values(&self, theta: &[f64]) -> Vec<f64> {
        let described = match &self.model {
            Model::Dense(f, _) => f.values(theta),
            Model::Sparse(f, ..) => f.values(theta),
            Model::Projected { features, .. } => features.values(theta),
            Model::Condensed { .. } => Vec::new(),
        };
        self.places
            .iter()
            .map(|place| place.map_or(0.0, |place| described[place as usize]))
            .collect()
    }

    /// `V(s) - E[r + discount V(next)]` of every state that is left, NaN for others.
    pub fn residuals(&self, theta: &[f64]) -> Vec<f64> {
        let mut described = vec![f64::NAN; self.places.iter().flatten().count()];
        match &self.model {
            Model::Dense(f, _) => f.f().means(theta, &mut described),
            Model::Sparse(f, ..) => {
                let mut means = vec![0.0; f.n_x()];
                f.f().means(theta, &mut means);
                f.states().iter().zip(means).for_each(|(&s, mean)| described[s as usize] = mean);
            }
            Model::Projected { features, moves, .. } => {
                let values = features.values(theta);
                let (mut sums, mut weights) = (vec![0.0; values.len()], vec![0.0; values.len()]);
                for (t, (&s, &next)) in moves.from.iter().zip(&moves.next).enumerate() {
                    let weight = moves.weights.as_ref().map_or(1.0, |weights| weights[t]);
                    let after = if next == END { 0.0 } else { values[next as usize] };
                    let error = values[s as usize] - moves.rewards[t] - self.discount * after;
                    sums[s as usize] += weight * error;
                    weights[s as usize] += weight;
                }
                for ((described, sum), weight) in described.iter_mut().zip(sums).zip(weights) {
                    *described = sum / weight;
                }
            }
            Model::Condensed { .. } => {}
        }
        self.places
            .iter()
            .map(|place| place.map_or(f64::NAN, |place| described[place as usize]))
            .collect()
    }
}

impl Task for PolicyTask {
    type Answer = PolicyAnswer;

    fn problem(&self) -> Objective<'_> {
        let (inner, merit): (&dyn Inner, &dyn Merit) = match &self.model {
            Model::Dense(f, merit) => (&**f, merit),
            Model::Sparse(f, merit, _) => (&**f, merit),
            Model::Projected { f, form, .. } | Model::Condensed { f, form, .. } => (&**f, &**form),
        };
        Objective { inner, merit, regularizer: &self.regularizer }
    }

    fn coordinates(&self) -> &[String] {
        &self.coordinates
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = self.notes.clone();
        notes.extend(self.settings.bounds().note());
        notes
    }

    fn answer(&self, solution: &Solution) -> Result<PolicyAnswer, Error> {
        let residuals = self.residuals(&solution.theta);
        let left = residuals.iter().filter(|residual| !residual.is_nan());
        let (sum, count) = left.fold((0.0, 0.0), |(sum, count), r| (sum + r * r, count + 1.0));
        let (mean_squared_residual, episodes) = match &self.model {
            Model::Condensed { f, episodes, .. } => {
                (f.mean_squared_error(&solution.theta), Some(*episodes))
            }
            _ => (sum / count, self.episodes.as_ref().map(Episodes::count)),
        };
        Ok(PolicyAnswer {
            states: self.states.clone(),
            values: self.values(&solution.theta),
            residuals: residuals.iter().map(|r| (!r.is_nan()).then_some(*r)).collect(),
            visits: (self.seen && !self.states.is_empty()).then(|| self.visits.clone()),
            mean_squared_residual,
            initial: self.initial.as_ref().map(|initial| initial.value(&solution.theta)),
            episodes,
            closed_form: ClosedForm::new(self, &solution.theta),
        })
    }
}

/// What is minimised where nothing is said, and a note about states that are seen once: with one
/// successor for each, the square of the mean Bellman error is the mean of squared TD errors, whose
/// minimum also keeps their variance low. With `free` features (no value of its own for each state)
/// this is decided by whether more than half of the transitions leave such a state.
fn choose(
    settings: &PolicySettings,
    free: bool,
    visits: &[u64],
) -> (PolicyObjective, Option<Note>) {
    let once = visits.iter().filter(|count| **count == 1).count();
    let transitions = visits.iter().sum::<u64>() as usize;
    let biased = free && 2 * once > transitions;
    match settings.objective {
        None if settings.lambda > 0.0 => (PolicyObjective::Projected, None),
        None if biased => (PolicyObjective::Projected, Some(Note::Projected { once, transitions })),
        Some(PolicyObjective::Bellman) if biased => {
            (PolicyObjective::Bellman, Some(Note::DoubleSampling { once, transitions }))
        }
        given => (given.unwrap_or_default(), None),
    }
}

/// Where nothing is said.
pub(super) const DISCOUNT: f64 = 0.9;

/// The transitions that leave each state.
fn visits(moves: &ProcessMoves, states: usize) -> Vec<u64> {
    match moves {
        ProcessMoves::List(moves) => {
            let mut visits = vec![0; states];
            moves.from.iter().for_each(|&s| visits[s as usize] += 1);
            visits
        }
        ProcessMoves::Matrix { probabilities, .. } => {
            let rows = probabilities.chunks_exact(states);
            rows.map(|row| row.iter().filter(|p| **p > 0.0).count() as u64).collect()
        }
    }
}
