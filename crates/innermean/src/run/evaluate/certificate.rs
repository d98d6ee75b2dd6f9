//! What is said of the best point so far.

use super::proven::{Proven, lower};
use super::{Evaluator, Way};
use crate::certificate::prover::{BEARABLE, WORTH_SAYING};
use crate::certificate::{Bound, Certificate, Measure, Reason};
use crate::run::scale::as_good_as_zero;

impl Evaluator<'_> {
    /// The best bound from below so far, with what this point brings: one among some theta alone
    /// belongs to its own point.
    pub(super) fn note(&mut self, here: &Proven) -> (f64, Measure) {
        let Bound { gap, within, .. } = here.bound;
        let below = lower(here.objective, gap);
        // A bound above a value that was found is none: whatever let it through, it is not
        // believed.
        let best = &self.memory.best;
        let refuted = below > best.objective + best.rounding + f64::EPSILON * best.magnitude;
        if within.is_none() && below > self.memory.below.0 && !refuted {
            self.memory.below = (below, here.measure);
        }
        self.memory.below
    }

    pub(super) fn certificate(&self, gained: Option<f64>) -> Certificate {
        let Proven { bound, measure, magnitude, .. } = self.memory.best;
        let mut scale = self.memory.scale.at(magnitude);
        // Where the objective is 0 at the origin and next to nothing here, its own size says nothing.
        let mut is_zero = scale == 0.0;
        if magnitude < bound.gap && bound.gap < f64::INFINITY && self.memory.scale.is_0_at_origin()
        {
            let nothing = as_good_as_zero(self.problem, &self.prover.ground);
            if scale > 0.0 && magnitude <= f64::EPSILON * nothing {
                (scale, is_zero) = (scale.max(nothing), true);
            }
        }
        let relative = relative(bound.gap, scale);
        if bound.within.is_some() && relative > WORTH_SAYING {
            return Certificate {
                measure,
                relative: Some(relative),
                reason: Some(Reason::Unbounded),
                ..Certificate::NONE
            };
        }
        if bound.gap < f64::INFINITY {
            // Nothing is left but rounding, or nothing that the tolerance asks for.
            let is_enough = relative > self.tolerance && bound.excess <= self.tolerance * scale;
            // Where the objective is 0 at the origin and nothing is better, rounding is all that is
            // left.
            let is_nothing =
                || is_zero && bound.excess <= as_good_as_zero(self.problem, &self.prover.ground);
            let is_bearable = || relative <= BEARABLE || is_nothing();
            let is_rounding = (bound.is_rounding() || is_enough) && is_bearable();
            return Certificate {
                measure,
                gap: Some(bound.gap),
                relative: Some(relative),
                within: bound.within,
                is_rounding,
                reason: self.out_of_time().filter(|_| !is_rounding && relative > self.tolerance),
            };
        }
        let reason = Some(Reason::NotConvex);
        match self.way {
            Way::Proof => Certificate {
                measure: if self.problem.inner.facts().affine {
                    Measure::DualityGap
                } else {
                    Measure::FenchelGap
                },
                relative: Some(f64::INFINITY),
                reason: Some(Reason::NotYet),
                ..Certificate::NONE
            },
            Way::NoMeasure => Certificate { reason, ..Certificate::NONE },
            // Not asked yet.
            Way::Linearised if gained.is_none() => Certificate { reason, ..Certificate::NONE },
            Way::Stationarity | Way::Linearised => Certificate {
                measure: Measure::Stationarity,
                relative: gained,
                reason,
                ..Certificate::NONE
            },
            Way::Unasked => Certificate::NONE,
        }
    }

    /// Whether a gap is larger than is wanted, and not for rounding alone.
    pub(crate) fn is_beyond(&self, certificate: Certificate) -> bool {
        let Certificate { relative, is_rounding, .. } = certificate;
        !is_rounding && relative.is_some_and(|relative| relative > self.tolerance)
    }
}

/// A gap over the objective's scale. Where the objective is 0 here and at the origin, a gap is as
/// large as all that is known of it.
pub(super) fn relative(gap: f64, scale: f64) -> f64 {
    match (gap, scale) {
        (0.0, _) => 0.0,
        (gap, scale) if scale > 0.0 => gap / scale,
        _ => 1.0,
    }
}
