//! What a run at the weight that was found says of what was asked for: which portfolio is the
//! answer, and whether it is solved.

use innermean::{Solution, Status};

use super::super::{Aim, PortfolioTask};
use super::{CLOSE, Found};
use crate::run::Task;

/// What can be proven of anything, of the size of what is compared.
const PROVABLE: f64 = 1e-9;
/// The same of a ratio to a root, once that much is proven of the objective: its bound has the root
/// of what is left of that.
const PROVABLE_OF_ROOT: f64 = 3e-5;

impl PortfolioTask {
    /// Takes what the search has found in the place of what a run has, unless that is better and
    /// within the risk, with as much as is proven of it; and calls it solved only if what was asked
    /// for is proven to this tolerance.
    pub(in super::super) fn settle(&self, tolerance: f64, solution: &mut Solution) {
        let Some(found) = &self.found else { return };
        if self.most_risk().is_some() {
            self.take_found(found, solution);
        }
        let Ok(risk) = self.risk_of(&solution.theta) else { return };
        let Some(sought) = self.sought(solution, risk) else { return };
        let is_ratio = self.settings.aim == Aim::MaxSharpe;
        let size = if is_ratio { 0.0 } else { self.settings.risk_aversion * risk.abs() };
        let size = size + sought.value.abs();
        let is_of_root = is_ratio && self.settings.risk.is_square();
        let is_near = solution.certificate.relative.is_some_and(|off| off <= PROVABLE);
        let least = if is_of_root && is_near { PROVABLE_OF_ROOT } else { PROVABLE };
        // Nor where it is no number.
        let is_proven = sought.at_most - sought.value <= tolerance.max(least) * size;
        if solution.status == Status::Solved && !is_proven {
            solution.status = Status::Stalled;
        }
    }

    /// The largest risk that is allowed, as the measure has it.
    pub(super) fn most_risk(&self) -> Option<f64> {
        let is_square = self.settings.risk.is_square();
        self.settings.max_risk.map(|most| if is_square { most * most } else { most })
    }

    fn take_found(&self, found: &Found, solution: &mut Solution) {
        let objective = self.problem().objective(&self.scaled(found.theta.clone()));
        let risks = (self.risk_of(&found.theta), self.risk_of(&solution.theta));
        let ((Ok(own), Ok(other)), Some(most)) = (risks, self.most_risk()) else { return };
        let net = |risk: f64, objective: f64| self.settings.risk_aversion * risk - objective;
        let is_within = other <= most * (1.0 + 2.0 * CLOSE);
        let is_better = is_within && net(other, solution.objective) >= net(own, objective);
        if !objective.is_finite() || is_better {
            return;
        }
        let certificate = &mut solution.certificate;
        if let Some(gap) = &mut certificate.gap {
            let lower = (solution.objective - *gap).max(found.lower);
            let wider = (objective - lower).max(0.0) + 4.0 * f64::EPSILON * objective.abs();
            let size = objective.abs().max(f64::MIN_POSITIVE);
            let scaled =
                |relative| if *gap > 0.0 { relative * (wider / *gap) } else { wider / size };
            certificate.relative = certificate.relative.map(scaled);
            certificate.is_rounding &= wider <= 2.0 * *gap;
            *gap = wider;
        }
        solution.theta.clone_from(&found.theta);
        solution.objective = objective;
    }
}
