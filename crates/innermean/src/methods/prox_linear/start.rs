//! Where a run begins: near the solution of a part of the data (`parts.rs`), which costs a fraction
//! of a pass.
//!
//! From there on the model of all is good, and its minimiser a step or two away: with small groups,
//! where a look at all phi costs as much as a part of a snapshot, that is most of the work.

use super::ProxLinear;
use super::state::State;
use crate::methods::parts::{self, Part};
use crate::model::sample::spread;
use crate::oracle::Oracle;

/// Models of a part, at most, and the part of P that is not worth another.
const MOST_MODELS: usize = 10;
const PART_TOLERANCE: f64 = 1e-2;

/// Solves the problems of parts of the data, roughly, each from the solution of the one before.
/// None where the data are so few that it does not pay, or where nothing came of it.
pub(super) fn on_parts(
    oracle: &mut Oracle<'_>,
    method: &ProxLinear,
    start: &[f64],
) -> Option<Vec<f64>> {
    if oracle.facts().affine {
        return None;
    }
    let mut found: Option<Vec<f64>> = None;
    for Part { terms, samples } in parts::of_terms_and_samples(oracle) {
        let picked = spread(oracle.n_x(), terms, method.seed);
        let end = oracle.on_part(&picked, samples, |oracle| {
            let mut part = State::new(oracle, found.as_deref().unwrap_or(start));
            for _ in 0..MOST_MODELS {
                part.compare(oracle, None);
                part.model(oracle, method);
                if part.promises_at_most(PART_TOLERANCE) {
                    break;
                }
            }
            part.promises().then(|| part.candidate().to_vec())
        });
        let Some(end) = end else { break };
        found = Some(end);
    }
    found
}
