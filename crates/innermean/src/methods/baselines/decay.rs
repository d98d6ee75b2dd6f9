//! Steps that fall with time, for methods whose noise does not vanish.

use crate::linalg::elementary::Elementary;
use serde::{Deserialize, Serialize};

/// `alpha_k = alpha / (1 + k / period)^power`
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Decay {
    /// Iterations until a step has fallen by the factor `2^-power`.
    #[serde(rename = "decay_period")]
    pub period: f64,
    /// How fast steps fall in the long run.
    #[serde(rename = "decay_power")]
    pub power: f64,
}

impl Decay {
    /// The factor on a step in iteration k, from 0.
    #[inline(always)]
    pub fn at(&self, k: u64) -> f64 {
        (1.0 + k as f64 / self.period).to_power(-self.power)
    }
}
