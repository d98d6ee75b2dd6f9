//! Where Newton's method begins: at the solution of the problem of a part of the data, with its
//! Hessian.
//!
//! That costs a fraction of a pass, and from there on F is close to its quadratic model. Of an
//! affine f, which is averaged once, one part is made of as many terms as the first Hessian. Where
//! f is not affine there are several parts, each four times as large as the one before, so that
//! each needs a step or two: down to a few terms for each coordinate and, of terms with very many
//! samples, down to some hundred of them.

use super::{Method, Model, Newton, has_matrix};
use crate::model::inner::Sample;
use crate::model::regularizer::Parts;
use crate::model::sample::spread;
use crate::oracle::Oracle;

/// Steps on a part, at most, and the part of P that is not worth another.
const MOST_STEPS: usize = 20;
const PART_TOLERANCE: f64 = 1e-3;
/// By which parts grow.
const GROWTH: usize = 4;
/// Terms for each coordinate, at least, of a part of the terms.
const TERMS_PER_COORDINATE: usize = 4;
/// Samples of a term, at least, where not all are taken, and the number from which leaving out
/// samples is better than leaving out terms.
const FEW_SAMPLES: usize = 256;
const MANY_SAMPLES: usize = 1024;

/// Where to begin, and with what.
pub(super) struct Start {
    pub(super) x: Vec<f64>,
    pub(super) model: Model,
    /// From this many terms
    pub(super) terms: usize,
}

/// This many terms, and this many samples of each at most.
#[derive(Debug, Clone, Copy)]
struct Part {
    terms: usize,
    samples: usize,
}

impl Newton {
    /// Solves the problems of parts of the data, roughly, each from the solution of the one before.
    /// None where the data are so few that it does not pay.
    pub(super) fn start_on_a_part(
        &self,
        oracle: &mut Oracle<'_>,
        g: &Parts,
        start: &[f64],
    ) -> Option<Start> {
        if self.whole || !has_matrix(oracle, g) || oracle.problem().quadratic() {
            return None;
        }
        let newton = Newton { whole: true, ..self.clone() };
        let mut found: Option<Start> = None;
        for Part { terms, samples } in self.parts_of_the_data(oracle) {
            let begin = found.as_ref().map_or(start, |found| &found.x);
            let picked = spread(oracle.n_x(), terms, self.seed);
            let end = oracle.on_part(&picked, samples, |oracle| {
                let mut part = newton.init(oracle, begin);
                newton.begin(oracle, &mut part);
                for _ in 1..MOST_STEPS {
                    if -part.slope <= PART_TOLERANCE * (part.here.loss.abs() + part.here.g.abs()) {
                        break;
                    }
                    newton.outer(oracle, &mut part);
                    newton.inner(oracle, &mut part);
                }
                part
            });
            if !end.here.objective().is_finite() {
                break;
            }
            found = Some(Start { x: end.trial.x, model: end.model, terms });
        }
        found
    }

    /// The parts, from the smallest on.
    fn parts_of_the_data(&self, oracle: &Oracle<'_>) -> Vec<Part> {
        let (n_x, mut parts) = (oracle.n_x(), Vec::new());
        if oracle.facts().affine {
            let part = Part { terms: self.first_terms(oracle), samples: usize::MAX };
            return if GROWTH * part.terms < n_x { vec![part] } else { parts };
        }
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
}
