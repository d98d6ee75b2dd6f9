//! Anderson's acceleration of snapshots: Scieur, d'Aspremont and Bach, "Regularized Nonlinear
//! Acceleration", 2016. An outer iteration is a map from the reference point to the iterate at its
//! end; near the optimum it is nearly affine, and of the last few ends that mixture is taken whose
//! residuals cancel best,
//!
//! ```text
//! r_s       = theta_s - theta_ref_s
//! gamma     = argmin over gamma of  |r_s - dR gamma|^2 + ridge |D gamma|^2
//! theta_ref = theta_s - dE gamma
//! ```
//!
//! where the columns of dR and dE are the differences of consecutive residuals and of consecutive
//! ends, and D holds the norms of those of dR: what the last columns add to the first is small,
//! and P is no quadratic, so that without the ridge a long memory is worse than a short one.
//!
//! The map has to be the same each time. Steps and M are found once, duals are renewed at each
//! snapshot, and each outer iteration draws the same samples: with its own ones it would be a map
//! with its own errors, of which differences of residuals are made. At the optimum itself no step
//! moves whatever samples are drawn, so that the mixture has nothing to be unbiased for. They are
//! drawn evenly.
//!
//! The safeguard: a mixture that is worse than the worst of the last three reference points is left
//! for `theta_s`. Where that is worse too, or where five reference points in turn were no better
//! than the best, steps are too large for a map that draws near: the memory is emptied, and the run
//! goes back to the best reference point with a quarter of the step.

use serde::{Deserialize, Serialize};

use super::automatic::{ROUNDING, STEP_REDUCTION, Terms};
use super::state::Draws;
use super::{Pace, PrimalDual, Settings};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::vector::{axpy, dot};
use crate::oracle::Oracle;
use crate::tuning::choice::{Leak, Mirror};
use crate::tuning::steps::Steps;

/// From 4e-3 to 4e-2 it takes the same number of calls.
const RIDGE: f64 = 1e-2;
/// `alpha_theta` times the mean of `c_i |fbar_i'|^2`, and `alpha_w` over c; of SVRPDA-II, whose U
/// adds up what single samples say. On groups with condition numbers from 10 to 1e5,
/// `experiments/src/bin/beyond.rs`.
const PRIMAL: f64 = 0.25;
const DUAL: f64 = 0.6;
const DRIFTING_PRIMAL: f64 = 0.15;
const DRIFTING_DUAL: f64 = 0.3;
/// M over the number of samples, and over `n_X` at least.
const EPOCH: f64 = 0.35;
const LEAST_EPOCH: usize = 4;
/// `n_X p` of SVRPDA-II, where terms have at least [`LEAKING`] samples on average.
const LEAK: f64 = 0.5;
const LEAKING: usize = 40;
/// Reference points in turn that are no better than the best.
const MOST_STALE: usize = 5;
/// A difference of residuals that is smaller tells nothing.
const LEAST: f64 = 1e-150;

/// The last few outer iterations, and what watches over them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Anderson {
    /// Columns at most
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    memory: usize,
    /// Columns ever made since the memory was emptied; the last `memory` are used
    columns: usize,
    /// dR and dE, in rings
    residuals: Vec<f64>,
    ends: Vec<f64>,
    /// `r_s` and `theta_s` of the last outer iteration, if there is one
    last: Option<(Vec<f64>, Vec<f64>)>,
    /// The best reference point and its objective
    best: (f64, Vec<f64>),
    /// The objectives of the last reference points, and how many since the best
    objectives: [f64; 3],
    stale: usize,
    steps: Option<Steps>,
    leak: f64,
}

impl Anderson {
    pub(super) fn new(settings: &Settings, d: usize) -> Option<Self> {
        let memory = settings.anderson;
        (memory > 0).then(|| Anderson {
            memory,
            columns: 0,
            residuals: vec![0.0; memory * d],
            ends: vec![0.0; memory * d],
            last: None,
            best: (f64::INFINITY, Vec::new()),
            objectives: [f64::INFINITY; 3],
            stale: 0,
            steps: (!settings.automatic).then_some(Steps {
                alpha_theta: settings.alpha_theta,
                alpha_w: settings.alpha_w,
                inner_iterations: settings.inner_iterations,
            }),
            leak: Pace::new(settings).leak,
        })
    }

    /// Whether all that it remembers is of a run in d coordinates.
    pub(super) fn is_of(&self, d: usize) -> bool {
        [0, d].contains(&self.best.1.len())
            && self.last.as_ref().is_none_or(|(r, end)| r.len() == d && end.len() == d)
            && self.columns < usize::MAX
    }

    fn empty(&mut self) {
        self.columns = 0;
        self.last = None;
    }

    /// Takes note of an outer iteration from `from` to `theta`, and mixes. False if theta is left
    /// as it is.
    fn mix(&mut self, from: &[f64], theta: &mut [f64]) -> bool {
        let d = theta.len();
        let residual: Vec<f64> = theta.iter().zip(from).map(|(end, from)| end - from).collect();
        let end = theta.to_vec();
        if let Some((last_residual, last_end)) = &self.last {
            let own = self.columns % self.memory * d;
            for l in 0..d {
                self.residuals[own + l] = residual[l] - last_residual[l];
                self.ends[own + l] = end[l] - last_end[l];
            }
            self.columns += 1;
        }
        let count = self.columns.min(self.memory);
        let mixed = count > 0 && self.add_mixture(count, &residual, theta);
        self.last = Some((residual, end));
        mixed
    }

    /// `theta -= dE gamma`
    fn add_mixture(&self, count: usize, residual: &[f64], theta: &mut [f64]) -> bool {
        let d = theta.len();
        let column = |k: usize| &self.residuals[k * d..(k + 1) * d];
        let scales: Vec<f64> =
            (0..count).map(|k| 1.0 / dot(column(k), column(k)).sqrt().max(LEAST)).collect();
        let mut gram = vec![0.0; count * count];
        for a in 0..count {
            for b in 0..a {
                gram[a * count + b] = scales[a] * scales[b] * dot(column(a), column(b));
                gram[b * count + a] = gram[a * count + b];
            }
            gram[a * count + a] = 1.0 + RIDGE;
        }
        let mut gamma: Vec<f64> =
            (0..count).map(|k| scales[k] * dot(column(k), residual)).collect();
        let Ok(factor) = Cholesky::new(&gram, count) else { return false };
        factor.solve(&mut gamma);
        gamma.iter_mut().zip(&scales).for_each(|(gamma, scale)| *gamma *= scale);
        if !gamma.iter().all(|gamma| gamma.is_finite()) {
            return false;
        }
        for (k, gamma) in gamma.iter().enumerate() {
            axpy(-gamma, &self.ends[k * d..(k + 1) * d], theta);
        }
        true
    }

    /// Whether an objective is no worse than another, but for rounding.
    fn no_worse((objective, magnitude): (f64, f64), than: f64) -> bool {
        objective.is_finite() && objective <= than + ROUNDING * magnitude
    }
}

impl PrimalDual {
    /// A snapshot at the mixture of the last ends or, if that has failed, at the last end or at the
    /// best reference point.
    pub(super) fn begin_anderson(&mut self, oracle: &mut Oracle<'_>, settings: &Settings) {
        let mut own = self.anderson.take().expect("the settings say so");
        let first = own.best.1.is_empty();
        let end = self.theta.clone();
        let mixed = !first
            && end.iter().all(|t| t.is_finite())
            && own.mix(&self.theta_ref, &mut self.theta);
        if mixed {
            // Mixtures may lie outside of constraints.
            oracle.problem().allow(&mut self.theta);
        }
        self.draws = Draws::new(settings);
        let mut seen = self.renew(oracle);
        let known = own.objectives.iter().copied().filter(|objective| objective.is_finite());
        let worst = known.fold(f64::NEG_INFINITY, f64::max);
        if mixed && !Anderson::no_worse(seen, worst) {
            self.theta.copy_from_slice(&end);
            seen = self.renew(oracle);
        }
        own.stale = if Anderson::no_worse(seen, own.best.0) { 0 } else { own.stale + 1 };
        if !first && (own.stale >= MOST_STALE || !Anderson::no_worse(seen, worst)) {
            own.empty();
            if let Some(steps) = &mut own.steps {
                steps.alpha_theta *= STEP_REDUCTION;
            }
            self.theta.copy_from_slice(&own.best.1);
            seen = self.renew(oracle);
            own.objectives = [f64::INFINITY; 3];
            own.stale = 0;
        }
        own.objectives.rotate_left(1);
        own.objectives[2] = seen.0;
        if first || seen.0 < own.best.0 {
            own.best = (seen.0, self.theta.to_vec());
        }
        if own.steps.is_none() {
            let (steps, leak) = self.steady_steps(oracle, settings);
            (own.steps, own.leak) = (Some(steps), leak);
        }
        let leak = own.leak;
        let Steps { alpha_theta, alpha_w, inner_iterations } = own.steps.expect("just found");
        self.pace = Pace { alpha_theta, alpha_w, inner_iterations, leak, ..self.pace };
        self.anderson = Some(own);
    }

    /// The snapshot at theta with its own duals; the objective there, and its size.
    fn renew(&mut self, oracle: &mut Oracle<'_>) -> (f64, f64) {
        if !self.theta.iter().all(|t| t.is_finite()) {
            return (f64::INFINITY, 0.0);
        }
        self.theta_ref.copy_from_slice(&self.theta);
        self.snapshot(oracle, true);
        oracle.problem().objective_at(&self.theta_ref, &self.f_bar)
    }

    /// Steps, M and leak for all outer iterations, in the units of the problem at the first
    /// snapshot.
    fn steady_steps(&self, oracle: &Oracle<'_>, settings: &Settings) -> (Steps, f64) {
        let n_x = oracle.n_x();
        let mut c = vec![0.0; n_x * oracle.ell()];
        oracle.problem().curvatures(&self.f_bar, &mut c);
        c.iter_mut().filter(|c| !c.is_finite()).for_each(|c| *c = 1.0);
        let mut jacobians = Vec::new();
        let sizes = Terms::new(self, oracle, &mut jacobians).sizes(&c);
        let size = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let largest = c.iter().copied().fold(0.0, f64::max);
        let unit =
            if settings.mirror == Mirror::Conjugate || largest == 0.0 { 1.0 } else { largest };
        let samples: usize = (0..n_x).map(|i| oracle.n_y(i)).sum();
        let (primal, dual) =
            if self.drifts { (DRIFTING_PRIMAL, DRIFTING_DUAL) } else { (PRIMAL, DUAL) };
        let at_once = settings.batch * settings.outer_batch;
        let epoch = (EPOCH * samples as f64 / at_once as f64).ceil() as usize;
        let steps = Steps {
            alpha_theta: primal / size.max(f64::MIN_POSITIVE),
            alpha_w: dual * unit,
            inner_iterations: epoch.max(LEAST_EPOCH * n_x.div_ceil(settings.outer_batch)),
        };
        let leaks = self.leaks.are_allowed() && samples >= LEAKING * n_x;
        let leak = match settings.leak {
            Leak::Part(p) => p,
            Leak::Automatic if leaks => LEAK / n_x as f64,
            _ => 0.0,
        };
        (steps, leak)
    }
}
