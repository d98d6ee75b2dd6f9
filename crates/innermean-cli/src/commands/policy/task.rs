//! What is known of a process made into a problem: states that end are set apart, features are
//! found, f is built.

use anyhow::{Result, anyhow, bail};
use innermean::problems::transitions::END;
use innermean::{
    AnyRegularizer, Bellman, Fused, Inner, Merit, Moves, Mspbe, Problem, QuadraticForm, Ridged,
    Square, StateFeatures, Transitions,
};

use super::features::{self, Described};
use super::flags::{Objective, PolicyFlags};
use super::known::{Known, KnownMoves, some_of};
use crate::output::human::grouped;

/// The problem, seen through pointers.
pub(crate) type PolicyProblem<'a> = innermean::Objective<'a>;

/// A policy to be evaluated.
pub(crate) struct Task {
    pub(crate) source: String,
    pub(crate) notes: Vec<String>,
    /// The names of all states.
    pub(crate) states: Vec<String>,
    /// Where each state stands among those that have features; none if its value is zero.
    places: Vec<Option<u32>>,
    /// The names of theta's coordinates.
    pub(crate) coordinates: Vec<String>,
    pub(crate) one_hot: bool,
    pub(crate) discount: f64,
    /// Whether transitions were seen, rather than known by their probabilities.
    pub(crate) seen: bool,
    /// For each state, the transitions that leave it.
    pub(crate) visits: Vec<u64>,
    model: Model,
    regularizer: Ridged<AnyRegularizer>,
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

impl Task {
    /// Reads, checks and builds.
    pub(crate) fn new(flags: &PolicyFlags) -> Result<Self> {
        flags.check()?;
        let mut known = Known::new(flags)?;
        let mut notes = std::mem::take(&mut known.notes);
        let discount = flags.discount.or(known.discount).unwrap_or(DISCOUNT);
        if flags.discount.is_none() {
            notes.push(format!("The discount is {discount}, as none was given (--discount)."));
        }
        let described = features::describe(flags, &mut known)?;
        notes.extend(described.notes.iter().cloned());
        let Known { source, moves, seen, .. } = known;
        let Described { names: states, places, coordinates, features, .. } = described;
        let visits = visits(&moves, states.len());
        let one_hot = matches!(features, StateFeatures::OneHot { .. });
        let d = features.d();
        let regularizer = flags.regularizer.regularizer(d)?;
        let build = Build { states: &states, places: &places, discount };
        let model = match flags.objective {
            Objective::Bellman => build.bellman(features, moves)?,
            Objective::Projected => build.projected(features, moves)?,
        };
        Ok(Task {
            source,
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

    /// How large it is: so many states, features and transitions, and the discount.
    pub(crate) fn size(&self) -> String {
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

    /// The objective in words.
    pub(crate) fn formula(&self, flags: &PolicyFlags) -> String {
        let half = if self.projected().is_some() { " / 2" } else { "" };
        let mut terms = vec![flags.objective.title().to_owned() + half];
        terms.extend(flags.regularizer.penalty.terms("theta"));
        terms.join(" + ")
    }

    /// f, phi and g.
    pub(crate) fn problem(&self) -> PolicyProblem<'_> {
        let (inner, merit): (&dyn Inner, &dyn Merit) = match &self.model {
            Model::Dense(f, merit) => (&**f, merit),
            Model::Sparse(f, merit) => (&**f, merit),
            Model::Projected { f, form, .. } => (&**f, &**form),
        };
        innermean::Objective { inner, merit, regularizer: &self.regularizer }
    }

    /// The f of the mean squared Bellman error with all pairs, for which the paper has settings.
    pub(crate) fn bellman(&self) -> Option<&Bellman> {
        if let Model::Dense(f, _) = &self.model { Some(f) } else { None }
    }

    /// The f and phi of the projected error.
    pub(crate) fn projected(&self) -> Option<(&Mspbe, &QuadraticForm)> {
        if let Model::Projected { f, form, .. } = &self.model { Some((f, form)) } else { None }
    }

    /// The value of every state, zero where an episode ends.
    pub(crate) fn values(&self, theta: &[f64]) -> Vec<f64> {
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
    pub(crate) fn residuals(&self, theta: &[f64]) -> Vec<f64> {
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

/// Where nothing is said.
const DISCOUNT: f64 = 0.9;

/// The transitions that leave each state.
fn visits(moves: &KnownMoves, states: usize) -> Vec<u64> {
    match moves {
        KnownMoves::List(moves) => {
            let mut visits = vec![0; states];
            moves.from.iter().for_each(|&s| visits[s as usize] += 1);
            visits
        }
        KnownMoves::Matrix { probabilities, .. } => {
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
    fn bellman(&self, features: StateFeatures, moves: KnownMoves) -> Result<Model> {
        let square = Square::new(1.0)?;
        match (features, moves) {
            (StateFeatures::Rows { d, rows }, KnownMoves::Matrix { probabilities, rewards }) => {
                if self.discount >= 1.0 {
                    bail!("{}", self.endless(None));
                }
                let f = Bellman::new(d, rows, probabilities, rewards, self.discount)?;
                Ok(Model::Dense(Box::new(f), square))
            }
            (features, moves) => {
                let moves = self.described(moves.into_list(self.states.len()));
                let f = Transitions::new(features, moves, self.discount)
                    .map_err(|error| self.refused(&error))?;
                Ok(Model::Sparse(Box::new(f), square))
            }
        }
    }

    fn projected(&self, features: StateFeatures, moves: KnownMoves) -> Result<Model> {
        let moves = self.described(moves.into_list(self.states.len()));
        let (d, t) = (features.d(), moves.from.len());
        if d * d > MOST_PROJECTED || t.saturating_mul(2 * d) > MOST_PROJECTED {
            bail!(
                "--objective projected keeps {d} x {d} numbers and two rows of {d} for each of {t} transitions; expected fewer features or transitions, or --objective bellman"
            );
        }
        if self.discount >= 1.0 && matches!(features, StateFeatures::OneHot { .. }) {
            // Where no end can be reached the equations of LSTD are singular, as those of the
            // Bellman error are.
            Transitions::new(features.clone(), moves.clone(), self.discount)
                .map_err(|error| self.refused(&error))?;
        }
        let f = Mspbe::of_moves(&features, &moves, self.discount)
            .map_err(|error| self.refused(&error))?;
        let Problem { inner, merit, .. } = f.problem(0.0).map_err(|_| {
            anyhow!(
                "--objective projected: the {d} features of the states in {t} transitions are linearly dependent; expected fewer features, or transitions through more states"
            )
        })?;
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

    /// The library's reason with the names of states, and the flags that help.
    fn refused(&self, error: &innermean::InvalidSetting) -> anyhow::Error {
        let state = |text: &str| {
            let place: u32 = text.rsplit("state ").next()?.parse().ok()?;
            let s = self.places.iter().position(|found| *found == Some(place))?;
            Some(self.states[s].clone())
        };
        match (error.name(), state(error.value())) {
            ("discount", Some(name)) => anyhow!("{}", self.endless(Some(&name))),
            ("weights", Some(name)) => {
                anyhow!(
                    "the weights of the transitions from state '{name}' are all zero; expected one above 0"
                )
            }
            ("from", Some(name)) => anyhow!(
                "no transition leaves state '{name}', so that nothing says what its value is; expected --terminal {name}, or features that describe it"
            ),
            _ => anyhow!("{error}"),
        }
    }

    fn endless(&self, from: Option<&str>) -> String {
        let from = from.map_or_else(|| some_of(&self.states[..1]), str::to_owned);
        format!(
            "--discount {}: from state '{from}' no end can be reached, so that its value need not be finite; expected a discount below 1, or --terminal NAME for the states that end an episode",
            self.discount
        )
    }
}
