//! The flags that make up g: a constraint, an l1 norm, a ridge.

use clap::Args;
use innermean_apps::penalty::{Bounds, Constraint, Penalty};

use crate::flags::number;

/// What is asked of theta beside a small loss.
#[derive(Debug, Clone, Args)]
pub(crate) struct RegularizerFlags {
    /// What theta may be: anything; at least 0 with sum 1 (long-only); of sum 1, and if said so LO
    /// <= theta <= HI; or LO <= theta <= HI alone, where either may be -inf or inf
    #[arg(
        long,
        value_name = "none|long-only|sum-to-one[=LO,HI]|box=LO,HI",
        default_value = "none"
    )]
    pub(crate) constraint: Constraint,

    #[command(flatten)]
    pub(crate) penalty: PenaltyFlags,
}

/// Norms of theta.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PenaltyFlags {
    /// The weight of |theta|_1, which makes coordinates exactly zero
    #[arg(long, value_name = "WEIGHT", default_value = "0", value_parser = number::non_negative)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) l1: f64,

    /// The weight of |theta|^2 / 2, which keeps theta small and the problem strongly convex
    #[arg(long, value_name = "WEIGHT", default_value = "0", value_parser = number::non_negative)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) l2: f64,
}

impl From<PenaltyFlags> for Penalty {
    fn from(PenaltyFlags { l1, l2 }: PenaltyFlags) -> Self {
        Penalty { l1, l2 }
    }
}

impl From<&RegularizerFlags> for Bounds {
    fn from(flags: &RegularizerFlags) -> Self {
        Bounds { constraint: flags.constraint, penalty: flags.penalty.into() }
    }
}
