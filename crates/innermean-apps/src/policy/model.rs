//! f and phi of a process whose states have features.

use innermean::problems::transitions::END;
use innermean::{
    Bellman, InvalidSetting, Moves, Mspbe, Problem, QuadraticForm, Square, StateFeatures, Traces,
    Transitions,
};

use super::{Episodes, PolicyError, ProcessMoves};
use crate::error::Error;

/// f and phi.
pub(super) enum Model {
    /// All pairs of states.
    Dense(Box<Bellman>, Square),
    /// Few successors for each state, and the transitions of a log in the order of its rows.
    Sparse(Box<Transitions>, Square, Option<Moves>),
    /// The projected error, with what it takes to see residuals.
    Projected { f: Box<Mspbe>, form: Box<QuadraticForm>, features: StateFeatures, moves: Moves },
    /// The same of transitions that were read once and not kept: their number, and that of their
    /// episodes.
    Condensed { f: Box<Mspbe>, form: Box<QuadraticForm>, transitions: usize, episodes: usize },
}

/// Of a dense matrix: d x d, and two rows of d for each transition.
pub(super) const MOST_PROJECTED: usize = 500_000_000;

/// What building takes.
pub(super) struct Build<'a> {
    pub(super) states: &'a [String],
    pub(super) places: &'a [Option<u32>],
    pub(super) discount: f64,
    pub(super) lambda: f64,
    /// The importance ratios of transitions.
    pub(super) ratios: Option<&'a [f64]>,
    pub(super) episodes: Option<&'a Episodes>,
}

impl Build<'_> {
    pub(super) fn bellman(
        &self,
        features: StateFeatures,
        moves: ProcessMoves,
    ) -> Result<Model, Error> {
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
                let moves = self.weighted(self.described(moves.into_list(self.states.len())));
                let seen = self.episodes.map(|_| moves.clone());
                let f = Transitions::new(features, moves, self.discount)
                    .map_err(|error| self.refused(error))?;
                Ok(Model::Sparse(Box::new(f), square, seen))
            }
        }
    }

    pub(super) fn projected(
        &self,
        features: StateFeatures,
        moves: ProcessMoves,
    ) -> Result<Model, Error> {
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
        let f = if self.lambda == 0.0 && self.ratios.is_none() {
            Mspbe::of_moves(&features, &moves, self.discount)
        } else {
            let Some(Episodes { order, starts }) = self.episodes else {
                return Err(PolicyError::NoOrder("`lambda`").into());
            };
            let traces = Traces { lambda: self.lambda, order, starts, ratios: self.ratios };
            Mspbe::of_episodes(&features, &moves, self.discount, &traces)
        };
        let f = f.map_err(|error| self.refused(error))?;
        let moves = self.weighted(moves);
        let Problem { inner, merit, .. } =
            f.problem(0.0).map_err(|_| PolicyError::DependentFeatures { d, transitions })?;
        Ok(Model::Projected { f: Box::new(inner), form: Box::new(merit), features, moves })
    }

    /// Importance ratios count as weights where steps are looked at one by one.
    fn weighted(&self, mut moves: Moves) -> Moves {
        if let Some(ratios) = self.ratios {
            moves.weights = Some(match moves.weights.take() {
                None => ratios.to_vec(),
                Some(weights) => weights.iter().zip(ratios).map(|(w, ratio)| w * ratio).collect(),
            });
        }
        moves
    }

    /// Transitions between the states that have features.
    fn described(&self, moves: Moves) -> Moves {
        if self.states.is_empty() {
            return moves;
        }
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
            self.states.get(s).cloned()
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
