//! The settings of SVRPDA-I and II, and what the steps of one outer iteration are made with.

use serde::{Deserialize, Serialize};

use crate::methods::reference::Reference;
use crate::model::setting::{InvalidSetting, at_least_one, positive};
use crate::tuning::choice::{Leak, Mirror};
use crate::tuning::steps::Steps;

/// The settings of SVRPDA-I and II; [`crate::tuning::steps`] finds them by rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The primal step `alpha_theta > 0`.
    pub alpha_theta: f64,
    /// The dual step `alpha_w > 0`.
    pub alpha_w: f64,
    /// M, the inner steps of an outer iteration.
    pub inner_iterations: usize,
    /// Option I, Option II or averages.
    pub reference: Reference,
    /// Outer iterations of M plain stochastic primal-dual steps before the first snapshot.
    pub warmup_epochs: usize,
    /// Theorem 3: `n_Y = 1` and affine f need no reference point, so only the first outer iteration
    /// takes a snapshot, and `inner_iterations` is merely how often the driver looks.
    pub single_loop: bool,
    /// Consecutive inner samples that a query of f averages; 1 in the paper. Automatic steps may
    /// take single ones instead.
    pub batch: usize,
    /// Duals that a step changes, and terms over which its primal direction averages; 1 in the
    /// paper.
    pub outer_batch: usize,
    /// Whether steps and M are found anew at each snapshot. Then those above are those of warm-up
    /// epochs alone.
    pub automatic: bool,
    /// Whether the steps are scaled ones that were not asked for, as where phi has kinks: then
    /// the safeguard watches over them.
    pub guarded: bool,
    /// Of SVRPDA-II: how fast U forgets its errors.
    pub leak: Leak,
    /// Outer iterations that Anderson's acceleration of snapshots remembers; 0 in the paper.
    pub anderson: usize,
    /// The distance of the dual step; the Euclidean one in the paper.
    pub mirror: Mirror,
    /// The seed of all random draws.
    pub seed: u64,
}

/// What the steps of an outer iteration are made with: the settings, or what has been found at the
/// snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// The primal step.
    pub alpha_theta: f64,
    /// The dual step.
    pub alpha_w: f64,
    /// M
    pub inner_iterations: usize,
    /// Samples that a query of f averages.
    pub batch: usize,
    /// Duals that a step changes.
    pub outer_batch: usize,
    /// p, the part of its errors that U forgets with each dual step; 0 in the paper.
    pub leak: f64,
    /// Whether there is no reference point.
    pub single_loop: bool,
    /// Whether steps are plain, before the first snapshot.
    pub warming_up: bool,
}

impl Pace {
    pub(super) fn new(settings: &Settings) -> Self {
        let Settings {
            alpha_theta,
            alpha_w,
            inner_iterations,
            batch,
            outer_batch,
            single_loop,
            leak,
            ..
        } = *settings;
        let leak = if let Leak::Part(p) = leak { p } else { 0.0 };
        Pace {
            alpha_theta,
            alpha_w,
            inner_iterations,
            batch,
            outer_batch,
            leak,
            single_loop,
            warming_up: false,
        }
    }
}

impl Settings {
    /// The paper's box with these steps: Option I from the first step on, single samples, a
    /// snapshot for each outer iteration and nothing beside.
    pub fn paper(steps: Steps, seed: u64) -> Self {
        let Steps { alpha_theta, alpha_w, inner_iterations } = steps;
        Settings {
            alpha_theta,
            alpha_w,
            inner_iterations,
            reference: Reference::Last,
            warmup_epochs: 0,
            single_loop: false,
            batch: 1,
            outer_batch: 1,
            automatic: false,
            guarded: false,
            leak: Leak::Off,
            anderson: 0,
            mirror: Mirror::Euclidean,
            seed,
        }
    }

    /// # Errors
    /// If a step or M is not above zero.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        positive("alpha_theta", self.alpha_theta)?;
        positive("alpha_w", self.alpha_w)?;
        at_least_one("inner_iterations", self.inner_iterations)?;
        at_least_one("batch", self.batch)?;
        at_least_one("outer_batch", self.outer_batch)?;
        if let Leak::Part(p) = self.leak
            && !(p > 0.0 && p < 1.0)
        {
            let expected = "a number above 0 and below 1";
            return Err(InvalidSetting::new("leak", format!("{p:?}"), expected));
        }
        if self.anderson > 0 && (self.single_loop || self.reference != Reference::Last) {
            let given = self.anderson.to_string();
            let expected = "0, or Option I and no single loop: it needs a map from a reference \
                            point to the last iterate";
            return Err(InvalidSetting::new("anderson", given, expected));
        }
        if self.mirror == Mirror::Conjugate && self.warmup_epochs > 0 {
            let expected = "euclidean, or no warm-up: a dual needs an average that phi allows";
            return Err(InvalidSetting::new("mirror", "conjugate", expected));
        }
        if self.single_loop && self.reference != Reference::Last {
            return Err(InvalidSetting::new(
                "reference",
                format!("{:?}", self.reference).to_lowercase(),
                "last: a single loop (Theorem 3) has no reference points to choose from",
            ));
        }
        Ok(())
    }
}

/// M where U follows single samples: it drifts from the batch gradient as a random walk does, the
/// faster the fewer terms there are. Where a pass over the data would pay for a long epoch of
/// SVRPDA-I, SVRPDA-II has the root of it.
pub(in crate::methods) fn drifting_epoch(inner_iterations: usize, n_x: usize) -> usize {
    inner_iterations.min(inner_iterations.isqrt().max(EPOCH * n_x))
}

/// `M / n_X` of it, at least.
const EPOCH: usize = 4;
