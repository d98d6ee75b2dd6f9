//! The reference point, the candidate, and what rho learns from them.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::snapshot::Snapshot;
use super::{ProxLinear, first_order, kinks, newton, samples, start};
use crate::linalg::vector::distance_squared;
use crate::model::regularizer::Parts;
use crate::oracle::Oracle;

/// Where P falls by less than this part of what the model promised, rho is at least what it missed;
/// where by more than the second, it falls.
const POOR_FALL: f64 = 0.75;
const GOOD: f64 = 0.95;
/// By which rho falls and, after a refusal, grows at least.
const CHANGE_OF_RHO: f64 = 4.0;
/// A rho whose part of a step is this of what the model promised is nothing.
const NOTHING: f64 = 1e-6;
/// Of the objective's parts, what is lost in rounding.
const SLACK: f64 = 1e-13;

/// Where a run of the prox-linear method is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    /// At `theta_ref`
    here: Snapshot,
    /// At the candidate; none where f is affine
    there: Option<Snapshot>,
    candidate: Vec<f64>,
    /// `m(candidate)`
    predicted: f64,
    rho: f64,
    /// Snapshots so far
    snapshots: u64,
    /// Where the run began
    start: Vec<f64>,
    /// Duals of a phi with kinks, and their penalty
    around: Option<kinks::Around>,
}

impl State {
    pub(super) fn new(oracle: &Oracle<'_>, theta: &[f64]) -> Self {
        let mut theta = theta.to_vec();
        oracle.problem().allow(&mut theta);
        let affine = oracle.facts().affine;
        State {
            here: Snapshot::room(oracle, &theta),
            there: (!affine).then(|| Snapshot::room(oracle, &theta)),
            start: theta.clone(),
            candidate: theta,
            predicted: f64::INFINITY,
            rho: 0.0,
            snapshots: 0,
            around: oracle.phi().has_kinks().then(|| kinks::Around::nothing(oracle)),
        }
    }

    pub(super) fn candidate(&self) -> &[f64] {
        &self.candidate
    }

    /// At the candidate, which becomes the reference point unless P rose; the first at the solution
    /// of a part of the data where that pays, unless samples grow in any case.
    pub(super) fn take_snapshot(&mut self, oracle: &mut Oracle<'_>, method: &ProxLinear) {
        if self.snapshots == 0
            && method.growing == 0
            && let Some(near) = start::on_parts(oracle, method, &self.start)
        {
            self.candidate = near;
        }
        let growing = method.growing;
        let most = samples::looked_at(oracle, growing, self.snapshots);
        let before = self.snapshots.checked_sub(1);
        let before = before.map(|k| samples::looked_at(oracle, growing, k));
        self.snapshots += 1;
        if before == Some(most) {
            return self.compare(oracle, most);
        }
        // Another P than before: nothing to compare with.
        let State { here, candidate, start, .. } = self;
        here.take(oracle, candidate, most);
        if !here.objective.is_finite() && candidate != start {
            candidate.copy_from_slice(start);
            here.take(oracle, candidate, most);
        }
    }

    /// A snapshot at the candidate, from at most this many samples of each term if not from all:
    /// the first, or one that is compared with the last.
    pub(super) fn compare(&mut self, oracle: &mut Oracle<'_>, most: Option<usize>) {
        let State { here, there, candidate, .. } = self;
        if here.objective == f64::INFINITY {
            return here.take(oracle, candidate, most);
        }
        let Some(there) = there else { return here.move_to(oracle, candidate) };
        there.take(oracle, candidate, most);
        if self.judge() {
            let there = self.there.as_mut().expect("it has just been taken");
            std::mem::swap(&mut self.here, there);
        }
    }

    /// Whether the last model had a minimiser.
    pub(super) fn promises(&self) -> bool {
        self.predicted.is_finite() && self.candidate.iter().all(|x| x.is_finite())
    }

    /// Whether the last model promised a fall of at most this part of P, or of nothing.
    pub(super) fn promises_at_most(&self, part: f64) -> bool {
        let State { here, predicted, .. } = self;
        let g = here.objective - here.merits.loss;
        let most = part * (here.merits.loss.abs() + g.abs());
        (here.objective - predicted).partial_cmp(&most).is_none_or(Ordering::is_le)
    }

    /// Whether P has not risen from the reference point to the candidate. rho learns from it.
    fn judge(&mut self) -> bool {
        let State { here, there, predicted, rho, .. } = self;
        let there = there.as_ref().expect("it has just been taken");
        let (expected, fall) = (here.objective - *predicted, here.objective - there.objective);
        let slack = SLACK * (here.objective.abs() + here.merits.loss.abs());
        let fell = fall >= -slack;
        let length = distance_squared(&here.theta, &there.theta);
        // A fall that is lost in rounding says nothing.
        if length == 0.0 || fell && expected <= 10.0 * slack {
            return fell;
        }
        let miss = 2.0 * (there.objective - *predicted) / length;
        if !fell {
            // At least so much that the step gets shorter.
            let least = (CHANGE_OF_RHO * *rho).max(2.0 * expected.abs() / length);
            *rho = if miss.is_finite() { miss.max(least) } else { CHANGE_OF_RHO * least };
        } else if fall < POOR_FALL * expected {
            *rho = rho.max(miss);
        } else if fall > GOOD * expected {
            *rho /= CHANGE_OF_RHO;
            *rho = if 0.5 * *rho * length < NOTHING * expected { 0.0 } else { *rho };
        }
        fell
    }

    /// The minimiser of the model and `(rho/2) |. - theta_ref|^2`.
    pub(super) fn model(&mut self, oracle: &mut Oracle<'_>, method: &ProxLinear) {
        let State { here, candidate, predicted, rho, around, .. } = self;
        if here.objective.is_finite() {
            *predicted = minimise(oracle, here, method, (*rho, around.as_mut()), candidate);
        }
    }

    /// Corrects the model at its minimiser, and minimises it once more; where all samples are
    /// looked at.
    pub(super) fn correct(&mut self, oracle: &mut Oracle<'_>, method: &ProxLinear) {
        let State { here, candidate, predicted, rho, around, snapshots, .. } = self;
        let is_part = samples::looked_at(oracle, method.growing, *snapshots - 1).is_some();
        if !here.objective.is_finite() || is_part {
            return;
        }
        for k in 0..method.correction as u64 {
            if !samples::can_correct(oracle, here) || oracle.patience.ends() {
                break;
            }
            let draws = (method.seed, *snapshots * method.correction as u64 + k);
            let mut model = samples::corrected(oracle, here, candidate, draws);
            if model.objective.is_finite() {
                let near = (*rho, around.as_mut());
                *predicted = minimise(oracle, &mut model, method, near, candidate);
            }
        }
    }
}

/// Moves `x` to the minimiser of a model and `(rho/2) |. - theta_ref|^2`, of a phi with kinks
/// around duals; returns the model's value there.
fn minimise(
    oracle: &mut Oracle<'_>,
    model: &mut Snapshot,
    method: &ProxLinear,
    (rho, around): (f64, Option<&mut kinks::Around>),
    x: &mut Vec<f64>,
) -> f64 {
    let most = method.inner_iterations;
    let g = Parts::with_constraints(oracle.g(), oracle.d());
    match (around, g.as_ref().filter(|g| newton::has_system(oracle, g))) {
        (Some(around), _) => kinks::minimise(oracle, model, rho, around, x),
        (None, Some(g)) => newton::minimise(oracle, model, g, rho, most, x),
        (None, None) => first_order::minimise(oracle, model, rho, most, x),
    }
}
