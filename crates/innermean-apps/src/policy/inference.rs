//! How sure the values of states are. Transitions of a log are the observations, and its episodes
//! the independent ones; within an episode whose states are Markov, so are the transitions.

use innermean::inference::policy::{bellman_while, refit_bellman, refit_drawn, start_value};
use innermean::inference::{
    Clusters, Covariance, Dependence, InferenceError, Replicates, Resampling, Sandwich,
    bootstrap_while,
};
use innermean::{Moves, Solution, StateFeatures};

use super::model::Model;
use super::{Episodes, PolicyError, PolicyObjective, PolicyTask};
use crate::error::Error;
use crate::penalty::Constraint;
use crate::run::Task;
use crate::run::inference::{
    ErrorKind, Inference, InferenceSettings, NO_TIME, SMALL, TimeLeft, is_over, refit_stop,
};
use crate::wording::Named;

/// The log of a task.
#[derive(Clone, Copy)]
struct Log<'a> {
    features: &'a StateFeatures,
    /// Between states with features, in the order of the rows.
    moves: &'a Moves,
}

impl PolicyTask {
    /// The kind of errors that suits: by episode where there are several.
    pub fn usual_errors(&self) -> ErrorKind {
        let several = self.episodes.as_ref().is_some_and(|episodes| episodes.count() > 1);
        if several { ErrorKind::Clustered } else { ErrorKind::Robust }
    }

    /// Whether the log allows for what is asked, as far as that is known before it is solved.
    ///
    /// # Errors
    /// If the process is known by its probabilities, the penalty has a kink, states were left
    /// once, there are too few transitions, or episodes are needed and there is one.
    pub fn check_inference(&self, settings: &InferenceSettings) -> Result<(), Error> {
        if !settings.is_on() {
            return Ok(());
        }
        settings.check_level()?;
        let parameter = settings.parameter();
        if self.is_of_moments() {
            return Err(PolicyError::NotKept(parameter).into());
        }
        let Some(episodes) = self.episodes.as_ref().filter(|_| self.log().is_some()) else {
            return Err(PolicyError::NothingEstimated(parameter).into());
        };
        let (count, d) = (episodes.order.len(), self.coordinates.len());
        let (left, once) = self.visits.iter().fold((0, 0), |(left, once), &visits| {
            (left + usize::from(visits > 0), once + usize::from(visits == 1))
        });
        let bellman = self.settings.objective == Some(PolicyObjective::Bellman);
        let refused = |reason| Err(Error::Inference { parameter, reason });
        if self.settings.penalty.l1 > 0.0 {
            return refused(InferenceError::PenaltyKink);
        }
        if once > 0 && self.one_hot {
            return Err(PolicyError::LeftOnce { parameter, states: once, of: left }.into());
        }
        if once > 0 && bellman {
            return refused(InferenceError::SingleTransitions { states: once, of: left });
        }
        if count <= d {
            return refused(InferenceError::TooFewUnits { units: count, d });
        }
        let traces = self.settings.lambda > 0.0;
        let by_episode = traces || settings.standard_errors == Some(ErrorKind::Clustered);
        if by_episode && episodes.count() < 2 {
            return Err(PolicyError::OneEpisode { parameter, traces }.into());
        }
        if traces && settings.standard_errors == Some(ErrorKind::Robust) {
            return Err(PolicyError::TiedByTraces.into());
        }
        Ok(())
    }

    /// How sure the answer of a run is: theta, the values of states that have names, and the mean
    /// value of the initial states. Without an answer the reason is in [`Inference::refused`].
    /// Draws of the bootstrap after the time is up have no estimate.
    pub fn infer(
        &self,
        settings: &InferenceSettings,
        solution: &Solution,
        seed: u64,
        time_left: &TimeLeft<'_>,
    ) -> Inference {
        let theta = &solution.theta;
        let robust = settings.standard_errors == Some(ErrorKind::Robust);
        let clusters = self.clusters().filter(|_| !robust);
        let log = self.log();
        let n = log.map_or(0, |log| log.moves.from.len());
        let of = |estimates| Inference::of(estimates, n, clusters.as_ref(), settings.level);
        let mut found = of(theta.clone());
        let Some(log) = log.filter(|_| solution.status.is_solved()) else {
            found.refused = Some("the run did not end at a minimum".to_owned());
            return found;
        };
        if is_over(time_left()) {
            found.refused = Some(NO_TIME.to_owned());
            return found;
        }
        let mut values = (!self.states.is_empty()).then(|| of(self.values(theta)));
        let mut initial = self.initial.as_ref().map(|initial| of(vec![initial.value(theta).value]));
        let wanted = settings.standard_errors;
        if wanted.is_some() || theta.len() <= SMALL {
            match (self.covariance(log, theta, clusters.as_ref(), time_left), wanted) {
                (Ok(covariance), Some(kind)) => {
                    found.add_covariance(&covariance, kind.name());
                    if let Some(values) = &mut values {
                        values.add_variances(&self.variances(log, &covariance), &covariance, kind);
                    }
                    if let (Some(found), Some(initial)) = (&mut initial, &self.initial) {
                        let variance = match &initial.first {
                            Some(first) if first.len() > 1 => {
                                let mean =
                                    start_value(log.features, first, true, theta, &covariance);
                                mean.standard_error.powi(2)
                            }
                            _ => covariance.of_combinations(&initial.features).matrix()[0],
                        };
                        found.add_variances(&[variance], &covariance, kind);
                    }
                }
                (Ok(_) | Err(InferenceError::NotSolved(_)), None) => {}
                (Err(reason), _) => {
                    found.refused = Some(reason.to_string());
                    return found;
                }
            }
        }
        if let Some(draws) = settings.bootstrap {
            let drawn = self.drawn(log, theta, clusters, draws, seed, time_left);
            let d = theta.len();
            found.add_replicates(&drawn.map(|both| both[..d].to_vec()), draws, seed);
            if found.bootstrap.is_some() {
                if let Some(values) = &mut values {
                    values.add_replicates(&drawn.map(|both| self.values(&both[..d])), draws, seed);
                }
                if let Some(initial) = &mut initial {
                    initial.add_replicates(&drawn.map(|both| both[d..].to_vec()), draws, seed);
                }
            }
        }
        let is_known = |one: &Inference| one.standard_errors.is_some() || one.bootstrap.is_some();
        found.values = values.filter(is_known).map(Box::new);
        found.initial = initial.filter(is_known).map(Box::new);
        found
    }

    /// The episode of each transition, where there are several.
    fn clusters(&self) -> Option<Clusters> {
        let episodes = self.episodes.as_ref().filter(|episodes| episodes.count() > 1)?;
        let of = episodes.of_transitions().into_iter().map(|episode| episode as u32).collect();
        Clusters::new(of).ok()
    }

    fn log(&self) -> Option<Log<'_>> {
        match &self.model {
            Model::Dense(..) | Model::Condensed { .. } => None,
            Model::Sparse(f, _, moves) => {
                moves.as_ref().map(|moves| Log { features: f.features(), moves })
            }
            Model::Projected { features, moves, .. } => {
                self.episodes.as_ref().map(|_| Log { features, moves })
            }
        }
    }

    fn covariance(
        &self,
        log: Log<'_>,
        theta: &[f64],
        clusters: Option<&Clusters>,
        time_left: &TimeLeft<'_>,
    ) -> Result<Covariance, InferenceError> {
        let go_on = || !is_over(time_left());
        let dependence = clusters.cloned().map_or(Dependence::Independent, Dependence::Clustered);
        let sandwich = Sandwich::new(dependence);
        if matches!(self.model, Model::Projected { .. }) {
            return sandwich.of_samples_while(&go_on, self.problem(), theta);
        }
        let (discount, g) = (self.discount, &self.regularizer);
        bellman_while(&go_on, log.features, log.moves, discount, g, theta, &sandwich)
    }

    /// The variance of the value of each state: `<Psi_s, Cov Psi_s>`, zero where episodes end.
    fn variances(&self, log: Log<'_>, covariance: &Covariance) -> Vec<f64> {
        let d = self.coordinates.len();
        let variance = |place: u32| match log.features {
            StateFeatures::OneHot { .. } => covariance.matrix()[place as usize * (d + 1)],
            StateFeatures::Rows { rows, .. } => {
                let row = &rows[place as usize * d..(place as usize + 1) * d];
                covariance.of_combinations(row).matrix()[0]
            }
        };
        self.places.iter().map(|place| place.map_or(0.0, variance)).collect()
    }

    /// Estimates from episodes drawn anew, or from transitions of one episode: theta, and behind it
    /// the mean value of the initial states. Where these are the first of every episode, they are
    /// those of the episodes that were drawn.
    fn drawn(
        &self,
        log: Log<'_>,
        theta: &[f64],
        clusters: Option<Clusters>,
        draws: usize,
        seed: u64,
        time_left: &TimeLeft<'_>,
    ) -> Replicates {
        let bounds = self.settings.bounds();
        let ridge = (bounds.constraint == Constraint::None).then_some(bounds.penalty.l2);
        let Log { features, moves } = log;
        let n = moves.from.len();
        let clustered = clusters.is_some();
        let units = Resampling::Clusters(clusters.unwrap_or_else(|| Clusters::singletons(n)));
        let mut is_first = vec![false; n];
        let episodes = self.episodes.iter().flat_map(Episodes::iter);
        episodes.for_each(|steps| is_first[steps[0]] = true);
        let with_initial = |mut theta: Vec<f64>, drawn: &[usize]| {
            if let Some(initial) = &self.initial {
                let value = if initial.first.is_some() && clustered {
                    let values = features.values(&theta);
                    let first = drawn.iter().filter(|&&t| is_first[t]);
                    let (sum, count) = first.fold((0.0, 0.0), |(sum, count), &t| {
                        (sum + values[moves.from[t] as usize], count + 1.0)
                    });
                    sum / count
                } else {
                    initial.value(&theta).value
                };
                theta.push(value);
            }
            theta
        };
        let g = &self.regularizer;
        let go_on = || !is_over(time_left());
        bootstrap_while(&go_on, &units, draws, seed, |drawn| {
            let stop = refit_stop(time_left)?;
            let theta = match &self.model {
                Model::Projected { f, .. } => refit_drawn(f, ridge, g, theta, stop)(drawn),
                _ => refit_bellman(features, moves, self.discount, g, theta, stop)(drawn),
            };
            Some(with_initial(theta?, drawn))
        })
    }
}
