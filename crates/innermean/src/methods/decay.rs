//! Steps that fall with time, for methods whose noise does not vanish.

use serde::{Deserialize, Serialize};

/// `alpha_k = alpha / (1 + k / period)^power`
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Decay {
    /// The first step.
    pub alpha: f64,
    /// Iterations until it has fallen by the factor `2^-power`.
    pub period: f64,
    /// How fast it falls in the long run.
    pub power: f64,
}

impl Decay {
    /// Step number k, from 0.
    #[inline(always)]
    pub fn at(&self, k: u64) -> f64 {
        self.alpha * (1.0 + k as f64 / self.period).powf(-self.power)
    }
}
