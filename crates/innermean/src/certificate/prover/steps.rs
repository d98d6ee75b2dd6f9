//! Bounds that cost a matrix: by the duals after a Newton step, and in twice the precision.

use std::cell::OnceCell;

use super::{Evidence, Prover, REACH, REACH_OF_PRECISE};
use crate::certificate::repair::{self, Repair};
use crate::certificate::{Bound, bracket, class_repair, hessian, newton, precise_proof, quadratic};
use crate::model::regularizer::Parts;

/// How many times the answer theta may be, as far as the duals of double-double numbers prove it.
const REACHES: [f64; 3] = [REACH_OF_PRECISE, 1e6, REACH];

impl Prover<'_> {
    /// After a Newton step of the duals, with what is left repaired. First with all of `phi''`;
    /// where that leaves the domain of `phi*`, duals near its edge stay.
    pub(super) fn by_newton_step(&self, evidence: &Evidence<'_>) -> Bound {
        let ground = &self.ground;
        let (Some(g), true) = (&ground.parts, quadratic::is_affordable(ground.problem.inner))
        else {
            return Bound::NONE;
        };
        if self.patience.ends() {
            return Bound::NONE;
        }
        if hessian::ties_classes(ground.problem) {
            return self.by_classes(evidence, g);
        }
        if let Some(bend) = repair::bend(ground.problem, evidence.point.f_bar) {
            let bound = self.after_step(evidence, g, &bend);
            if bound.gap < f64::INFINITY {
                return bound;
            }
        }
        let weights = repair::weights(ground, evidence.point.f_bar, evidence.w);
        weights.map_or(Bound::NONE, |weights| self.after_step(evidence, g, &weights))
    }

    /// By duals of classes as they are, repaired along the columns that g leaves free.
    fn by_classes(&self, evidence: &Evidence<'_>, g: &Parts) -> Bound {
        let excess = bracket::excess(
            g,
            evidence.u,
            &self.ground.errors(evidence.point.theta, evidence.w),
            0.0,
        );
        let repair = class_repair::along_columns(&self.ground, g, evidence, &excess);
        repair.map_or(Bound::NONE, |repair| {
            self.by_duals(evidence, &OnceCell::new(), Some(&repair), None)
        })
    }

    /// The same with given weights.
    fn after_step(&self, evidence: &Evidence<'_>, g: &Parts, weights: &[f64]) -> Bound {
        let ground = &self.ground;
        let given = |r: usize| weights[r];
        let d = ground.problem.inner.d();
        let matrix = self.patience.within(d, &given, |weight| repair::gram(ground, weight));
        if self.patience.is_over() {
            return Bound::NONE;
        }
        let prove = |w: &[f64], u: &[f64]| {
            let rounding = ground.objective_error(evidence.point, w);
            let moved = Evidence { w, u, matched: false, rounding, ..*evidence };
            let beyond = bracket::excess(
                g,
                u,
                &ground.errors(evidence.point.theta, w),
                ground.multiplier(g, evidence.point, w, u),
            );
            if beyond.iter().all(|excess| *excess == 0.0) {
                return self.by_duals(&moved, &OnceCell::new(), None, None);
            }
            let repair = Repair::new(ground, weights, &matrix, &beyond, g.budget);
            repair.map_or(Bound::NONE, |repair| {
                self.by_duals(&moved, &OnceCell::new(), Some(&repair), None)
            })
        };
        let Some((mut w, u)) = newton::moved(ground, g, evidence, weights, &matrix) else {
            return prove(evidence.w, evidence.u);
        };
        let bound = prove(&w, &u);
        if bound.gap < f64::INFINITY {
            return bound;
        }
        let u = newton::projected(ground, evidence.point, &mut w);
        prove(&w, &u)
    }

    /// In twice the precision, if there is time for it.
    pub(super) fn precisely(&mut self, evidence: &Evidence<'_>) -> Bound {
        let found = self.ground.parts.as_ref().and_then(|g| {
            precise_proof::gap(&self.ground, g, evidence, (&REACHES, &self.patience))
        });
        // Numbers near the largest there are overflow in twice the precision.
        let Some((bound, exact)) = found.filter(|(_, exact)| exact.is_finite()) else {
            return Bound::NONE;
        };
        self.exact = Some((exact, bound));
        bound
    }

    /// The same where g is a sum of logarithms.
    pub(super) fn precisely_by_conjugate(&mut self, evidence: &Evidence<'_>) -> Bound {
        let (bound, exact) = precise_proof::gap_of_logarithms(&self.ground, evidence.point);
        if exact.is_finite() && bound.gap < f64::INFINITY {
            self.exact = Some((exact, bound));
            return bound;
        }
        Bound::NONE
    }
}
