//! Standard errors in policy evaluation: the mean squared Bellman error, and values of states.

use super::bread::{Bread, add_penalty, loss_hessian, or_out_of_time, smooth_penalty};
use super::{Correction, Covariance, Dependence, InferenceError, Sandwich};
use crate::auto;
use crate::linalg::vector::{axpy, dot};
use crate::model::merit::Square;
use crate::model::problem::Problem;
use crate::model::regularizer::Regularizer;
use crate::problems::mspbe::Mspbe;
use crate::problems::transitions::{END, Moves, StateFeatures, Transitions};
use crate::run::{Driver, Stop};

/// The covariance of a theta-hat that minimises the mean squared Bellman error of a log,
/// `(1/n_X) sum_i u_i^2 + g(theta)` with the mean `u_i` over the transitions that leave state i of
/// `u_t = <a_t, theta> - r_t`, `a_t = Psi_i - discount Psi'_t`.
///
/// The states are fixed, what follows them is random: with the share `p_t` of a transition among
/// those of its state and the mean `a_i` of their `a_t`, its score is
/// `(2/n_X) p_t ((a_t - a_i) u_i + a_i (u_t - u_i))`. What follows a state does not depend on the
/// past if states are Markov, and [`Dependence::Independent`] is right even along one trajectory;
/// clusters of episodes guard against states that are not. The small-sample correction is
/// `n_i/(n_i - 1)` for the `n_i` transitions of a state, and `c/(c - 1)` for c clusters.
///
/// # Errors
/// See [`InferenceError`]; also as [`Transitions::new`], and if a state was left only once.
///
/// # Panics
/// Unless theta has the length of the features, and clusters are those of the transitions.
pub fn bellman(
    features: &StateFeatures,
    moves: &Moves,
    discount: f64,
    regularizer: &dyn Regularizer,
    theta: &[f64],
    sandwich: &Sandwich,
) -> Result<Covariance, InferenceError> {
    bellman_while(&|| true, features, moves, discount, regularizer, theta, sandwich)
}

/// [`bellman`] as long as `go_on` says so, which is asked a few times for each coordinate.
///
/// # Errors
/// As [`bellman`]; [`InferenceError::OutOfTime`] once it says no.
///
/// # Panics
/// As [`bellman`].
pub fn bellman_while(
    go_on: &(dyn Fn() -> bool + Sync),
    features: &StateFeatures,
    moves: &Moves,
    discount: f64,
    regularizer: &dyn Regularizer,
    theta: &[f64],
    sandwich: &Sandwich,
) -> Result<Covariance, InferenceError> {
    let go_on = &or_out_of_time(go_on);
    let (d, n) = (features.d(), moves.from.len());
    assert_eq!(theta.len(), d, "a theta of {d} coordinates");
    sandwich.dependence.assert_covers(n);
    let inner = Transitions::new(features.clone(), moves.clone(), discount)?;
    let problem = Problem { inner, merit: Square::new(1.0)?, regularizer };
    let objective = problem.erased();
    let f = objective.inner;
    let n_x = f.n_x();
    let mut term_of = vec![0; features.states()];
    for (i, &s) in problem.inner.states().iter().enumerate() {
        term_of[s as usize] = i;
    }
    let single = (0..n_x).filter(|&i| f.n_y(i) == 1).count();
    if single > 0 {
        return Err(InferenceError::SingleTransitions { states: single, of: n_x });
    }
    let g = smooth_penalty(objective, theta)?;
    let (mut u, mut w, mut slope) = (vec![0.0; n_x], vec![0.0; n_x], vec![0.0; d]);
    objective.loss_and_gradient(theta, &mut u, &mut w, &mut slope);
    let mut hessian = loss_hessian(objective, theta, &u, go_on)?;
    add_penalty(&g, &mut hessian);
    let bread = Bread::new(hessian, d)?;
    // Checks that there are enough units; the factor itself is replaced by that of the states.
    sandwich.dependence.factor(n, d, Correction::None)?;
    let corrected = sandwich.correction == Correction::SmallSample;
    let factor = match &sandwich.dependence {
        Dependence::Clustered(clusters) if corrected => {
            clusters.count() as f64 / (clusters.count() as f64 - 1.0)
        }
        _ => 1.0,
    };

    let mut rows = vec![0.0; n_x * d];
    f.mean_jacobians(theta, &mut rows);
    let weight = |t: usize| moves.weights.as_ref().map_or(1.0, |weights| weights[t]);
    let mut totals = vec![0.0; n_x];
    for (t, &s) in moves.from.iter().enumerate() {
        totals[term_of[s as usize]] += weight(t);
    }
    let add_score = |t: usize, out: &mut [f64]| {
        let i = term_of[moves.from[t] as usize];
        let row = &rows[i * d..(i + 1) * d];
        let mut own = vec![0.0; d];
        features.add(moves.from[t] as usize, 1.0, &mut own);
        if moves.next[t] != END {
            features.add(moves.next[t] as usize, -discount, &mut own);
        }
        let error = dot(&own, theta) - moves.rewards[t];
        let mut share = 2.0 * weight(t) / totals[i] / n_x as f64;
        if corrected {
            let n_i = f.n_y(i) as f64;
            share *= (n_i / (n_i - 1.0)).sqrt();
        }
        axpy(share * u[i], &own, out);
        axpy(share * (error - 2.0 * u[i]), row, out);
    };
    let middle = sandwich.dependence.sum_of_products(n, d, &add_score, go_on)?;
    let matrix = bread.around(middle, factor, go_on)?;
    g.add_gradient(theta, &mut slope);
    bread.check_minimum(objective, &g, theta, &slope, &matrix, &|_| f64::INFINITY)?;
    Ok(Covariance::new(d, matrix, sandwich.dependence.degrees_of_freedom(n, d)))
}

/// The mean value of some states, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MeanValue {
    /// `(1/K) sum_k <Psi_{s_k}, theta-hat>`
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// The mean value of the states in which episodes start. Start states that are given have the
/// error of theta-hat alone; start states that are a sample, as those of a log, add the variance of
/// their values over their number. That is right where the errors of theta-hat do not depend on
/// which start states were drawn.
///
/// # Panics
/// Unless there are start states, two at least where they are a sample, all among the features.
pub fn start_value(
    features: &StateFeatures,
    starts: &[u32],
    sampled: bool,
    theta: &[f64],
    covariance: &Covariance,
) -> MeanValue {
    let count = starts.len() as f64;
    assert!(starts.len() > usize::from(sampled), "{count} start states");
    let mut mean = vec![0.0; features.d()];
    for &s in starts {
        features.add(s as usize, 1.0 / count, &mut mean);
    }
    let value = dot(&mean, theta);
    let mut variance = covariance.of_combinations(&mean).matrix()[0];
    if sampled {
        let values = features.values(theta);
        let squares = starts.iter().map(|&s| (values[s as usize] - value).powi(2));
        variance += squares.sum::<f64>() / (count - 1.0) / count;
    }
    MeanValue { value, standard_error: variance.max(0.0).sqrt() }
}

/// The transitions of those numbers.
fn drawn_moves(moves: &Moves, drawn: &[usize]) -> Moves {
    Moves {
        from: drawn.iter().map(|&t| moves.from[t]).collect(),
        next: drawn.iter().map(|&t| moves.next[t]).collect(),
        rewards: drawn.iter().map(|&t| moves.rewards[t]).collect(),
        weights: moves.weights.as_ref().map(|weights| drawn.iter().map(|&t| weights[t]).collect()),
    }
}

/// A refit for [`bootstrap`](super::bootstrap()): the minimiser of the projected Bellman error of
/// the drawn transitions with the ridge `(rho/2) |theta|^2`, LSTD for `rho = 0`. None if their
/// features do not identify it.
pub fn refit_projected(
    features: &StateFeatures,
    moves: &Moves,
    discount: f64,
    rho: f64,
) -> impl Fn(&[usize]) -> Option<Vec<f64>> + Sync {
    move |drawn| {
        let f = Mspbe::of_moves(features, &drawn_moves(moves, drawn), discount).ok()?;
        if rho == 0.0 {
            return f.lstd();
        }
        let problem = f.problem(rho).ok()?;
        problem.inner.minimiser(&problem.merit, rho)
    }
}

/// A refit for [`bootstrap`](super::bootstrap()): the minimiser of `u' C^-1 u / 2 + g(theta)` with
/// the moments u and the C of the drawn transitions, which keep the traces, importance ratios and
/// weights that they have in `f`. In closed form for a `ridge`, otherwise solved from theta. None
/// if the transitions do not identify it, or it is not solved within the limits.
pub fn refit_drawn<'p>(
    f: &'p Mspbe,
    ridge: Option<f64>,
    regularizer: &'p dyn Regularizer,
    theta: &'p [f64],
    stop: Stop,
) -> impl Fn(&[usize]) -> Option<Vec<f64>> + Sync + 'p {
    move |drawn| {
        let Problem { inner, merit, .. } = f.drawn(drawn).problem(0.0).ok()?;
        if let Some(rho) = ridge {
            return inner.minimiser(&merit, rho);
        }
        let driver = Driver { stop: stop.clone(), ..Driver::default() };
        let problem = Problem { inner, merit, regularizer };
        let solution = auto::solve(&driver, &problem, theta, &mut (), 0).ok()?.solution;
        solution.status.is_solved().then_some(solution.theta)
    }
}

/// A refit for [`bootstrap`](super::bootstrap()): the minimiser of the mean squared Bellman error
/// of the drawn transitions, solved from theta. None unless it is solved within the limits.
pub fn refit_bellman<'p>(
    features: &'p StateFeatures,
    moves: &'p Moves,
    discount: f64,
    regularizer: &'p dyn Regularizer,
    theta: &'p [f64],
    stop: Stop,
) -> impl Fn(&[usize]) -> Option<Vec<f64>> + Sync + 'p {
    move |drawn| {
        let moves = drawn_moves(moves, drawn);
        let inner = Transitions::new(features.clone(), moves, discount).ok()?;
        let problem = Problem { inner, merit: Square::new(1.0).ok()?, regularizer };
        let driver = Driver { stop: stop.clone(), ..Driver::default() };
        let solution = auto::solve(&driver, &problem, theta, &mut (), 0).ok()?.solution;
        solution.status.is_solved().then_some(solution.theta)
    }
}
