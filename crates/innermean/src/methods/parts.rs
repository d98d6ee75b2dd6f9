//! Parts of the data whose problems are solved first, of an f that is not affine: each four times
//! as large as the one before, so that each needs a step or two, down to a few terms for each
//! coordinate and, of terms with very many samples, down to some hundred of them.

use crate::model::inner::Sample;
use crate::oracle::Oracle;

/// By which parts grow.
pub(super) const GROWTH: usize = 4;
/// Terms for each coordinate, at least, of a part of the terms.
const TERMS_PER_COORDINATE: usize = 4;
/// Samples of a term, at least, where not all are taken, and the number from which leaving out
/// samples is better than leaving out terms.
const FEW_SAMPLES: usize = 256;
const MANY_SAMPLES: usize = 1024;

/// This many terms, and this many samples of each at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) terms: usize,
    pub(super) samples: usize,
}

/// The parts, from the smallest on; none where the data are so few that it does not pay.
pub(super) fn of_terms_and_samples(oracle: &Oracle<'_>) -> Vec<Part> {
    let (n_x, mut parts) = (oracle.n_x(), Vec::new());
    if n_x == 0 || oracle.facts().sample != Sample::Own {
        return parts;
    }
    let least = (TERMS_PER_COORDINATE * oracle.d()).div_ceil(oracle.ell());
    let all = oracle.samples() / n_x;
    let (mut terms, mut samples) = (n_x, all);
    loop {
        if samples >= GROWTH * MANY_SAMPLES {
            samples /= GROWTH;
        } else if terms >= GROWTH * least {
            terms /= GROWTH;
        } else if samples >= GROWTH * FEW_SAMPLES {
            samples /= GROWTH;
        } else {
            break;
        }
        parts.push(Part { terms, samples: if samples < all { samples } else { usize::MAX } });
    }
    parts.reverse();
    parts
}
