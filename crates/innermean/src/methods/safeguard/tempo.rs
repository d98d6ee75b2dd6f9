//! What the safeguard changes about a method, and what it must know of its noise.

use serde::{Deserialize, Serialize};

/// What the safeguard makes of a method's own steps and loops.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tempo {
    /// The factor of the steps.
    pub steps: f64,
    /// The factor of M.
    pub epoch: f64,
    /// How often the run has gone back.
    pub returns: u64,
}

impl Tempo {
    /// That of the rule.
    pub const RULE: Tempo = Tempo { steps: 1.0, epoch: 1.0, returns: 0 };

    /// M at this tempo.
    pub(in crate::methods) fn inner_iterations(&self, rule: usize) -> usize {
        ((self.epoch * rule as f64).round() as usize).max(1)
    }

    /// A seed of its own for each return: what led away from the best point would do so again.
    pub(super) fn seed(&self, seed: u64) -> u64 {
        seed.wrapping_add(self.returns.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// The settings of a method that the safeguard may change: those that its rule has found.
#[derive(Debug)]
pub struct Guarded<'m> {
    /// The step on theta.
    pub alpha_theta: &'m mut f64,
    /// The step on the duals, where it goes along with that on theta.
    pub alpha_w: Option<&'m mut f64>,
    /// M, where that is more than how often the driver looks.
    pub inner_iterations: Option<&'m mut usize>,
    /// The seed of all random draws.
    pub seed: &'m mut u64,
}

impl<'m> Guarded<'m> {
    /// The step on theta alone, and the seed.
    pub fn new(alpha_theta: &'m mut f64, seed: &'m mut u64) -> Self {
        Guarded { alpha_theta, alpha_w: None, inner_iterations: None, seed }
    }

    /// M as well.
    #[must_use]
    pub fn with_loop(self, inner_iterations: &'m mut usize) -> Self {
        Guarded { inner_iterations: Some(inner_iterations), ..self }
    }

    /// From the rule's settings to those at this tempo.
    pub(crate) fn set(self, tempo: Tempo) {
        *self.alpha_theta *= tempo.steps;
        if let Some(alpha_w) = self.alpha_w {
            *alpha_w *= tempo.steps;
        }
        if let Some(rule) = self.inner_iterations {
            *rule = tempo.inner_iterations(*rule);
        }
        *self.seed = tempo.seed(*self.seed);
    }
}

/// What becomes of the noise of a method's steps as it comes near the optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Noise {
    /// It vanishes: variance is reduced.
    Vanishes,
    /// It stays, and steps fall.
    Stays,
    /// Where phi has kinks, iterates circle around the optimum, and their averages rise and fall on
    /// the way: only a return towards the start counts.
    Circles,
}
