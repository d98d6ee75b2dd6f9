//! The last digits of an objective: those that double precision loses on the way are found again
//! before it is printed.

use super::proven::lower;
use super::{Evaluator, Room, Way};
use crate::certificate::Certificate;
use crate::certificate::dual::Point;
use crate::certificate::prover::BEARABLE;

/// Of the objective: what its printed digits may be off by before they are found in twice the
/// precision.
pub(super) const DIGITS: f64 = 1e-12;
/// Of an average: what rounding may do to it, as a guess.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

impl Evaluator<'_> {
    /// The objective at the answer, with as many digits as are printed, and the certificate with
    /// the bound from below that it had.
    pub(crate) fn settle(
        &mut self,
        theta: &[f64],
        objective: f64,
        certificate: Certificate,
    ) -> (f64, Certificate) {
        if self.way != Way::Proof || !objective.is_finite() {
            if self.has_all_digits(theta, objective) {
                return (objective, certificate);
            }
            let exact = self
                .mirrored(theta)
                .filter(|exact| (exact - objective).abs() > DIGITS * exact.abs());
            return (exact.unwrap_or(objective), certificate);
        }
        // What the best point was found to be rounded by.
        let best = &self.memory.best;
        let is_exact = best.objective == objective && best.rounding <= DIGITS * best.magnitude;
        if is_exact || !self.prover.is_small {
            return (objective, certificate);
        }
        let Evaluator { problem, room, .. } = self;
        room.fit(problem.inner);
        let Room { f_bar, w, .. } = room;
        problem.inner.means(theta, f_bar);
        problem.duals(f_bar, w);
        let (loss, g) = (problem.loss(f_bar), problem.regularizer.value(theta));
        let point = Point { theta, loss, g, f_bar };
        let bearable = DIGITS * (loss.abs() + g.abs());
        let rounding = self.prover.ground.objective_error(point, w);
        let exact = self.prover.objective(theta, rounding, bearable);
        let Some(exact) = exact.filter(|exact| (exact - objective).abs() > bearable) else {
            return (objective, certificate);
        };
        // The size of what was found, not of what double precision took it for.
        let scale = self.memory.scale.at((exact - g).abs() + g.abs());
        let gap = certificate
            .gap
            .map(|gap| (exact - lower(objective, gap)).max(f64::EPSILON * exact.abs()));
        let relative = match gap {
            Some(gap) if scale > 0.0 && scale.is_finite() => Some(gap / scale),
            _ => certificate.relative,
        };
        // What the digits show to be large was not rounding alone.
        let is_bearable = relative.is_some_and(|relative| relative <= BEARABLE)
            || gap.is_some_and(|gap| certificate.gap.is_some_and(|before| gap <= before));
        let is_rounding = certificate.is_rounding && is_bearable;
        (exact, Certificate { gap, relative, is_rounding, ..certificate })
    }

    /// Whether rounding of averages does less to the objective than shows, as far as slopes at hand
    /// say: `(1/n_X) sum_r |w_r fbar_r|` times what an average is rounded by.
    fn has_all_digits(&self, theta: &[f64], objective: f64) -> bool {
        if self.room.slopes_at != theta {
            return false;
        }
        let products = self.room.w.iter().zip(&self.room.f_bar).map(|(w, f_bar)| (w * f_bar).abs());
        let size = products.sum::<f64>() / self.problem.inner.n_x() as f64;
        size * ROUNDING <= DIGITS * objective.abs()
    }

    /// The objective of averages that may be so close to 1 that their distance from it has lost
    /// its digits.
    fn mirrored(&mut self, theta: &[f64]) -> Option<f64> {
        let Evaluator { problem, room, .. } = self;
        let f = problem.inner;
        if !f.facts().mirrored {
            return None;
        }
        room.fit(f);
        let Room { f_bar, w, .. } = room;
        let mirrored: Vec<f64> = theta.iter().map(|x| -x).collect();
        f.means(theta, f_bar);
        f.means(&mirrored, w);
        let terms = f_bar.chunks_exact(f.ell()).zip(w.chunks_exact(f.ell())).enumerate();
        let loss: f64 = terms.map(|(i, (u, rest))| problem.merit.value_beside(i, u, rest)).sum();
        let exact = loss / f.n_x() as f64 + problem.regularizer.value(theta);
        exact.is_finite().then_some(exact)
    }
}
