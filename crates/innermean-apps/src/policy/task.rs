//! A process and its features made into a problem: states that end an episode are set apart, f is
//! built.

use innermean::problems::transitions::END;
use innermean::{
    AnyRegularizer, Bellman, Fused, Inner, InvalidSetting, Merit, Moves, Mspbe, Objective, Problem,
    QuadraticForm, Ridged, Solution, Square, StateFeatures, Transitions,
};
use serde::Serialize;

use super::closed_form::ClosedForm;
use super::features::Described;
use super::{PolicyError, PolicyFeatures, PolicyObjective, PolicySettings, Process, ProcessMoves};
use crate::error::Error;
use crate::run::Task;
use crate::wording::Note;
use crate::wording::numbers::grouped;

/// A policy to be evaluated.
pub struct PolicyTask {
    settings: PolicySettings,
    notes: Vec<Note>,
    /// The names of all states.
    states: Vec<String>,
    /// Where each state stands among those that have features; none if its value is zero.
    places: Vec<Option<u32>>,
    /// The names of theta's coordinates.
    coordinates: Vec<String>,
    one_hot: bool,
    discount: f64,
    seen: bool,
    visits: Vec<u64>,
    model: Model,
    regularizer: Ridged<AnyRegularizer>,
}

/// What theta says about the states.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyAnswer {
    /// The names of all states.
    pub states: Vec<String>,
    /// Their values, zero where an episode ends.
    pub values: Vec<f64>,
    /// `V(s) - E[r + discount V(next)]`; none for a state that no transition leaves.
    pub residuals: Vec<Option<f64>>,
    /// For each state, the transitions that leave it, where they were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visits: Option<Vec<u64>>,
    /// Over the states that are left.
    pub mean_squared_residual: f64,
    /// The answer that linear algebra gives, to hold this one against.
    pub closed_form: ClosedForm,
}

/// f and phi.
enum Model {
    /// All pairs of states.
    Dense(Box<Bellman>, Square),
    /// Few successors for each state.
    Sparse(Box<Transitions>, Square),
    /// The projected error, with what it takes to see residuals.
    Projected { f: Box<Mspbe>, form: Box<QuadraticForm>, features: StateFeatures, moves: Moves },
}

/// Of a dense matrix: d x d, and two rows of d for each transition.
const MOST_PROJECTED: usize = 500_000_000;

impl PolicyTask {
    /// The problem of a process: what states are worth under the policy that made its transitions.
    ///
    /// # Errors
    /// If it cannot be told where episodes end, a state is not described, values need not be
    /// finite, or settings are out of their range.
    pub fn new(
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
        let described = features.describe(&mut process, settings)?;
        let Process { moves, seen, .. } = process;
        let Described { names: states, places, coordinates, features } = described;
        let visits = visits(&moves, states.len());
        let one_hot = matches!(features, StateFeatures::OneHot { .. });
        let regularizer = settings.bounds().regularizer(features.d())?;
        let build = Build { states: &states, places: &places, discount };
        let model = match settings.objective {
            PolicyObjective::Bellman => build.bellman(features, moves)?,
            PolicyObjective::Projected => build.projected(features, moves)?,
        };
        Ok(PolicyTask {
            settings: settings.clone(),
            notes,
            states,
            places,
            coordinates,
            one_hot,
            discount,
            seen,
            visits,
            model,
            regularizer,
        })
    }

    /// The settings that it was made with.
    pub fn settings(&self) -> &PolicySettings {
        &self.settings
    }

    /// The names of all states.
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

    /// How large it is: so many states, features and transitions, and the discount.
    pub fn size(&self) -> String {
        let features = match self.coordinates.len() {
            _ if self.one_hot => "one-hot features".to_owned(),
            1 => "1 feature".to_owned(),
            d => format!("{} features", grouped(d as u64)),
        };
        let transitions = if self.seen {
            let count: u64 = self.visits.iter().sum();
            format!(" from {} transitions", grouped(count))
        } else {
            String::new()
        };
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
        if let Model::Projected { f, form, .. } = &self.model { Some((f, form)) } else { None }
    }

    /// The value of every state, zero where an episode ends.
    pub fn values(&self, theta: &[f64]) -> Vec<f64> {
        let described = match &self.model {
            Model::Dense(f, _) => f.values(theta),
            Model::Sparse(f, _) => f.values(theta),
            Model::Projected { features, .. } => features.values(theta),
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
            Model::Sparse(f, _) => {
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
            Model::Sparse(f, merit) => (&**f, merit),
            Model::Projected { f, form, .. } => (&**f, &**form),
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
        Ok(PolicyAnswer {
            states: self.states.clone(),
            values: self.values(&solution.theta),
            residuals: residuals.iter().map(|r| (!r.is_nan()).then_some(*r)).collect(),
            visits: self.seen.then(|| self.visits.clone()),
            mean_squared_residual: sum / count,
            closed_form: ClosedForm::new(self, &solution.theta),
        })
    }
}

/// Where nothing is said.
const DISCOUNT: f64 = 0.9;

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

/// What building takes.
struct Build<'a> {
    states: &'a [String],
    places: &'a [Option<u32>],
    discount: f64,
}

impl Build<'_> {
    fn bellman(&self, features: StateFeatures, moves: ProcessMoves) -> Result<Model, Error> {
        let square = Square::new(1.0)?;
        match (features, moves) {
            (StateFeatures::Rows { d, rows }, ProcessMoves::Matrix { probabilities, rewards }) => {
                if self.discount >= 1.0 {
                    return Err(self.endless(self.states[0].clone()).into());
                }
                let f = Bellman::new(d, rows, probabilities, rewards, self.discount)?;
                Ok(Model::Dense(Box::new(f), square))
            }
            (features, moves) => {
                let moves = self.described(moves.into_list(self.states.len()));
                let f = Transitions::new(features, moves, self.discount)
                    .map_err(|error| self.refused(error))?;
                Ok(Model::Sparse(Box::new(f), square))
            }
        }
    }

    fn projected(&self, features: StateFeatures, moves: ProcessMoves) -> Result<Model, Error> {
        let moves = self.described(moves.into_list(self.states.len()));
        let (d, transitions) = (features.d(), moves.from.len());
        if d * d > MOST_PROJECTED || transitions.saturating_mul(2 * d) > MOST_PROJECTED {
            return Err(PolicyError::TooLarge { d, transitions }.into());
        }
        if self.discount >= 1.0 && matches!(features, StateFeatures::OneHot { .. }) {
            // Where no end can be reached the equations of LSTD are singular, as those of the
            // Bellman error are.
            Transitions::new(features.clone(), moves.clone(), self.discount)
                .map_err(|error| self.refused(error))?;
        }
        let f = Mspbe::of_moves(&features, &moves, self.discount)
            .map_err(|error| self.refused(error))?;
        let Problem { inner, merit, .. } =
            f.problem(0.0).map_err(|_| PolicyError::DependentFeatures { d, transitions })?;
        Ok(Model::Projected { f: Box::new(inner), form: Box::new(merit), features, moves })
    }

    /// Transitions between the states that have features.
    fn described(&self, moves: Moves) -> Moves {
        let place = |s: u32| if s == END { END } else { self.places[s as usize].unwrap_or(END) };
        if self.places.iter().enumerate().all(|(s, place)| *place == Some(s as u32)) {
            return moves;
        }
        Moves {
            from: moves.from.iter().map(|&s| place(s)).collect(),
            next: moves.next.iter().map(|&s| place(s)).collect(),
            ..moves
        }
    }

    /// The library's reason with the names of states.
    fn refused(&self, error: InvalidSetting) -> Error {
        let state = |text: &str| {
            let place: u32 = text.rsplit("state ").next()?.parse().ok()?;
            let s = self.places.iter().position(|found| *found == Some(place))?;
            Some(self.states[s].clone())
        };
        match (error.name(), state(error.value())) {
            ("discount", Some(name)) => self.endless(name).into(),
            ("weights", Some(name)) => PolicyError::NoWeight(name).into(),
            ("from", Some(name)) => PolicyError::Unknown(name).into(),
            _ => error.into(),
        }
    }

    fn endless(&self, state: String) -> PolicyError {
        PolicyError::Endless { discount: self.discount, state }
    }
}
