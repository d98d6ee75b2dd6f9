//! What an outer iteration of SVRPDA-I or II will do to the gap, before it is made: the steps that
//! promise the most are taken.
//!
//! Near the optimum P is a quadratic with the Hessian `H = (1/n_X) sum_i c_i fbar_i' fbar_i'^T +
//! g''`, `c_i = phi_i''(fbar_i)`. There, with `a = alpha_w / c` and `beta = a / (1 + a)`, a dual
//! step is an average: `w_i / c <- (1 - beta) w_i / c + beta f_i`. In expectation, the distance x
//! from the optimum along an eigenvector of H and U along it follow
//!
//! ```text
//! x' = -alpha_theta u,   u' = Gamma (lambda x - u),   Gamma = B beta / n_X for B duals changed in a step
//! ```
//!
//! an oscillator that is damped by Gamma: overdamped for `4 alpha_theta lambda < Gamma`, where x
//! falls at the rate of gradient descent, and otherwise swinging, with an envelope that falls at
//! the rate `Gamma / 2`. It starts with `u = lambda x`, as duals are renewed at a snapshot.
//!
//! Samples that scatter around their mean shake it: `delta^w` has the variance `s_i = mean_j
//! <f'_ij - fbar_i', theta - theta_ref>^2` (1/b of that in blocks of b), which the oscillator turns
//! into a variance `alpha_theta nu / 2` of x in every direction, `nu = mean_i c_i s_i`, whatever
//! beta is as long as it is small; a dual that follows single samples (beta near 1) doubles it. In
//! the objective that is a floor of `alpha_theta tr(H) nu / (2 (2 - beta))`. U of SVRPDA-II adds up
//! Jacobians of single samples, and their errors with them: with `rho = nu / (2 gap)`, the scatter
//! in units of H, those of the way to the optimum leave about `d rho Gamma` of the gap, and those
//! of duals that are shaken all the time `d rho^2 Gamma^2 M`. Only small dual steps keep that
//! small; or a leak p, which forgets what is older than `1/p` steps and leaves `d (1 + rho) p / 2`
//! itself.

use crate::linalg::elementary::Elementary;
use serde::{Deserialize, Serialize};

use crate::tuning::spectrum::Mode;
use crate::tuning::steps::Steps;

/// A problem as seen from a reference point, in the units of the oscillator.
#[derive(Debug, Clone)]
pub(super) struct View {
    /// `n_X / B`
    pub(super) steps_to_renew: f64,
    /// What the snapshot costs, in oracle calls.
    pub(super) snapshot: f64,
    /// What a step costs.
    pub(super) step: f64,
    /// Eigenvalues of H and the part of the gap that belongs to each; these add up to 1.
    pub(super) modes: Vec<Mode>,
    /// `tr(H) nu / 2` over the gap.
    pub(super) noise: f64,
    /// `rho`, the scatter in units of H, and `d rho` where U drifts, otherwise zero.
    pub(super) scatter: f64,
    pub(super) drift: f64,
    /// p of a step that are tried, and what a leak of 1 would leave.
    pub(super) leaks: Vec<f64>,
    pub(super) leaves: f64,
    /// No `alpha_theta` is larger.
    pub(super) largest: f64,
    /// `c`, the unit of `alpha_w`.
    pub(super) dual: f64,
}

/// What has been learned about the difference between forecasts and what came of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Experience {
    /// How many times the floor is what was forecast.
    pub(super) floor: f64,
    /// How many times the eigenvalues are.
    pub(super) rate: f64,
    /// The part of [`View::largest`] that has been found safe.
    pub(super) safe: f64,
}

/// What is expected of an outer iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Forecast {
    pub(super) steps: Steps,
    /// Oracle calls for each factor of e of the gap.
    pub(super) price: f64,
    /// p of a step
    pub(super) leak: f64,
    /// What the modes leave of the gap.
    decay: f64,
    /// What the noise leaves of it.
    floor: f64,
    beta: f64,
    steps_to_renew: f64,
    modes: Vec<Mode>,
}

/// What is tried.
#[derive(Debug, Clone, Copy)]
struct At {
    alpha_theta: f64,
    /// `alpha_w / c`
    dual_step: f64,
    /// M
    epoch: f64,
    /// p of a step
    leak: f64,
}

/// `alpha_w / c` that are tried, and where U drifts.
const DUAL_STEPS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 8.0];
const DRIFTING_DUAL_STEPS: [f64; 6] = [1.0 / 256.0, 1.0 / 64.0, 1.0 / 16.0, 0.25, 1.0, 4.0];
/// `alpha_theta` are tried from the largest down, in steps of two.
const PRIMAL_STEPS: i32 = 24;
/// M are tried from `n_X` up, in steps of one and a half, and then a little to either side of the
/// best.
const EPOCHS: usize = 40;
const EPOCH_RATIO: f64 = 1.5;
const FINE_RATIO: f64 = 1.2;
/// A forecast is not believed beyond that: P is no quadratic, and a run may end before. Of 0.002,
/// 0.01 and 0.03 the middle one needed the fewest calls on the processes, groups and regressions of
/// `experiments/src/bin/grid.rs`.
const FORECAST_ERROR: f64 = 0.01;
/// What leaves more than that is no progress.
const NO_PROGRESS: f64 = 0.95;
/// M is at most that many snapshots' worth of calls, and that many times what renews the duals.
const MOST_SNAPSHOTS: f64 = 20.0;
const MOST_RENEWALS: f64 = 40.0;

impl Forecast {
    /// The best steps, if any promise progress.
    pub(super) fn best(view: &View, experience: &Experience) -> Option<Forecast> {
        let n = view.steps_to_renew;
        let slowed = |mode: &Mode| Mode { eigenvalue: mode.eigenvalue * experience.rate, ..*mode };
        let modes: Vec<Mode> = view.modes.iter().map(slowed).collect();
        // Small dual steps renew the duals slowly.
        let most_renewals = if view.drift > 0.0 { 100.0 * MOST_RENEWALS } else { MOST_RENEWALS };
        let longest = (MOST_SNAPSHOTS * view.snapshot / view.step).max(most_renewals * n);
        let dual_steps: &[f64] = if view.drift > 0.0 { &DRIFTING_DUAL_STEPS } else { &DUAL_STEPS };
        let mut best: Option<Forecast> = None;
        // Whether a longer outer iteration could leave less.
        let consider = |best: &mut Option<Forecast>,
                        leak: f64,
                        alpha_theta: f64,
                        dual_step: f64,
                        epoch: f64| {
            let at = At { alpha_theta, dual_step, epoch, leak };
            let forecast = Forecast::of(view, experience, &modes, at);
            let goes_on = forecast.decay > 0.1 * forecast.floor;
            if forecast.price < best.as_ref().map_or(f64::INFINITY, |best| best.price) {
                *best = Some(forecast);
            }
            goes_on
        };
        for &leak in &view.leaks {
            for halvings in 0..PRIMAL_STEPS {
                let alpha_theta = experience.safe * view.largest * 0.5_f64.powi(halvings);
                for &dual_step in dual_steps {
                    let mut epoch = n;
                    for _ in 0..EPOCHS {
                        let goes_on = consider(&mut best, leak, alpha_theta, dual_step, epoch);
                        if !goes_on || epoch > longest {
                            break;
                        }
                        epoch *= EPOCH_RATIO;
                    }
                }
            }
        }
        let Forecast { steps: Steps { alpha_theta, alpha_w, inner_iterations }, leak, .. } =
            best.clone()?;
        let (dual_step, epoch) = (alpha_w / view.dual, inner_iterations as f64);
        for by in [0.7, 1.0, 1.4] {
            let nearby = (alpha_theta * by).min(experience.safe * view.largest);
            for by in [1.0 / FINE_RATIO, 1.0, FINE_RATIO] {
                consider(&mut best, leak, nearby, dual_step, epoch * by);
            }
        }
        best.map(|best| Forecast { modes, ..best })
    }

    fn of(view: &View, experience: &Experience, modes: &[Mode], at: At) -> Forecast {
        let At { alpha_theta, dual_step, epoch, leak } = at;
        let beta = dual_step / (1.0 + dual_step);
        let m = epoch.max(1.0).ceil();
        let oscillator = Oscillator { alpha_theta, gamma: beta / view.steps_to_renew };
        let decay: f64 =
            modes.iter().map(|mode| mode.weight * oscillator.left(mode.eigenvalue, m)).sum();
        let gamma = oscillator.gamma;
        // The number of steps for which errors are remembered.
        let remembered = if leak > 0.0 { m.min(0.5 / leak) } else { m };
        let drift = view.drift * gamma * (1.0 + remembered * gamma * view.scatter)
            + 0.5 * leak * view.leaves;
        let floor = experience.floor * (alpha_theta * view.noise / (2.0 - beta) + drift);
        let left = decay + floor + FORECAST_ERROR;
        let price = if left < NO_PROGRESS {
            (view.snapshot + view.step * m) / -left.natural_log()
        } else {
            f64::INFINITY
        };
        let steps =
            Steps { alpha_theta, alpha_w: dual_step * view.dual, inner_iterations: m as usize };
        let modes = Vec::new();
        let steps_to_renew = view.steps_to_renew;
        Forecast { steps, price, leak, decay, floor, beta, steps_to_renew, modes }
    }

    /// Corrects the experience by what was left of the gap: what was thought to leave the most is
    /// held responsible.
    pub(super) fn compare(&self, left: f64, experience: &mut Experience) {
        if !left.is_finite() {
            return;
        }
        let expected = self.decay + self.floor + FORECAST_ERROR;
        if self.floor > self.decay {
            let factor = (left / expected).clamp(0.1, 10.0).sqrt();
            experience.floor = (experience.floor * factor).clamp(1e-2, 1e6);
        } else {
            // The factor of all eigenvalues with which the forecast would have been right.
            let oscillator = Oscillator {
                alpha_theta: self.steps.alpha_theta,
                gamma: self.beta / self.steps_to_renew,
            };
            let m = self.steps.inner_iterations as f64;
            let with = |factor: f64| {
                let decay =
                    |mode: &Mode| mode.weight * oscillator.left(mode.eigenvalue * factor, m);
                self.floor + self.modes.iter().map(decay).sum::<f64>()
            };
            let (mut slow, mut fast) = (0.1_f64, 3.0_f64);
            for _ in 0..20 {
                let middle = (slow * fast).sqrt();
                if with(middle) > left {
                    slow = middle;
                } else {
                    fast = middle;
                }
            }
            experience.rate = (experience.rate * (slow * fast).sqrt().sqrt()).clamp(1e-3, 1.0);
        }
        // A success: larger steps may be safe again.
        if left <= 2.0 * expected {
            experience.safe = (experience.safe * REGAIN).min(1.0);
        }
    }
}

/// What [`Experience::safe`] regains with each success.
const REGAIN: f64 = 1.2;

/// x and u along one eigenvector.
struct Oscillator {
    alpha_theta: f64,
    gamma: f64,
}

impl Oscillator {
    /// `lambda x^2 / 2` after m steps from `x = 1`, `u = lambda`, relative to its start; where it
    /// oscillates, its envelope.
    fn left(&self, lambda: f64, m: f64) -> f64 {
        let Oscillator { alpha_theta, gamma } = *self;
        let pull = alpha_theta * lambda;
        let square = gamma * gamma / 4.0 - pull * gamma;
        if square > 0.0 {
            let root = square.sqrt();
            // Near the critical damping the formula is a difference of two large numbers.
            let apart = root.max(0.05 * gamma);
            let part = ((gamma / 2.0 + apart - pull) / (2.0 * apart)).clamp(0.0, 10.0);
            part * part * (-2.0 * (gamma / 2.0 - root).max(0.0) * m).exponential()
        } else {
            let swing = (-square).sqrt().max(0.1 * gamma);
            let push = (gamma / 2.0 - pull) / swing;
            (1.0 + push * push) * (-gamma * m).exponential()
        }
    }
}
