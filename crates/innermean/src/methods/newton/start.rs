//! Where Newton's method begins: at the solution of the problem of a part of the data, with its
//! Hessian.
//!
//! That costs a fraction of a pass, and from there on F is close to its quadratic model. Of an
//! affine f, which is averaged once, one part is made of as many terms as the first Hessian; of any
//! other there are several (`parts.rs`).

use super::{Method, Model, Newton, has_matrix};
use crate::methods::parts::{self, GROWTH, Part};
use crate::model::regularizer::Parts;
use crate::model::sample::spread;
use crate::oracle::Oracle;

/// Steps on a part, at most, and the part of P that is not worth another.
const MOST_STEPS: usize = 20;
const PART_TOLERANCE: f64 = 1e-3;
/// Where to begin, and with what.
pub(super) struct Start {
    pub(super) x: Vec<f64>,
    pub(super) model: Model,
    /// From this many terms
    pub(super) terms: usize,
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
        if !oracle.facts().affine {
            return parts::of_terms_and_samples(oracle);
        }
        let terms = self.first_terms(oracle);
        let pays = GROWTH * terms < oracle.n_x();
        if pays { vec![Part { terms, samples: usize::MAX }] } else { Vec::new() }
    }
}
