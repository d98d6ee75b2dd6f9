//! What Newton's method costs beside passes over the data, in counted products. Times would differ
//! from machine to machine, and answers with them.

use crate::linalg::elementary::Elementary;
use crate::methods::newton;
use crate::model::inner::{Inner, pieces};

/// Products of a pass for each row and coordinate: the value of f and a product with its
/// Jacobian.
const PASS: f64 = 4.0;
/// Steps that Newton's method takes, as a rule.
const STEPS: f64 = 10.0;
/// Passes that L-BFGS has before it is judged, at least, and as a part of what Newton's method
/// would take in all.
const LEAST: f64 = 30.0;
const PART: f64 = 0.25;

/// Passes over the data that a Newton step on all terms costs, where f is not affine: mean
/// Jacobians, their Gram matrix and its Cholesky factor. A pass reads every row once, also where
/// the samples of several terms share it; their Jacobians do not.
pub(super) fn newton_step(f: &dyn Inner) -> f64 {
    let (d, ell, n_x, samples) = (f.d() as f64, f.ell() as f64, f.n_x() as f64, pieces(f));
    let jacobians = 2.0 * samples as f64 * ell * d;
    let rows = (n_x * ell).min(newton::rows_at_first(f.d(), samples) as f64);
    let factor = d * d * d / 3.0;
    let pass = PASS * f.rows().all.max(1) as f64 * d;
    1.0 + (jacobians + rows * d * d + factor) / pass.max(1.0)
}

/// L-BFGS on trial before Newton's method.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    /// Passes that Newton's method would take.
    newton: f64,
    /// The measure to be reached.
    tolerance: Option<f64>,
}

impl Trial {
    pub(super) fn new(f: &dyn Inner, tolerance: Option<f64>) -> Self {
        Trial { newton: STEPS * newton_step(f), tolerance }
    }

    /// Whether Newton's method is likely to be faster from here on: after so many passes, in which
    /// the measure has fallen from `first` to `now`, as many more are to be expected as the digits
    /// left ask for at the same rate.
    pub(super) fn has_failed(&self, passes: u64, first: Option<f64>, now: f64) -> bool {
        let passes = passes as f64;
        if passes < LEAST.max(PART * self.newton) {
            return false;
        }
        let (Some(first), Some(tolerance)) = (first, self.tolerance) else {
            return passes > self.newton;
        };
        let (gained, left) = ((first / now).natural_log(), (now / tolerance).natural_log());
        // Also where nothing is gained, or no number.
        let (expected, newton) = (passes * left, self.newton * gained);
        expected > newton || expected.is_nan() || newton.is_nan()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_judged_by_the_digits_that_are_left() {
        let trial = Trial { newton: 200.0, tolerance: Some(1e-6) };
        // Too early.
        assert!(!trial.has_failed(49, Some(1.0), 1.0));
        // Half of the digits after 60 passes: another 60.
        assert!(!trial.has_failed(60, Some(1.0), 1e-3));
        // One of six: another 300.
        assert!(trial.has_failed(60, Some(1.0), 0.1));
        assert!(trial.has_failed(60, Some(1.0), 1.0));
        assert!(trial.has_failed(60, Some(1.0), f64::INFINITY));
        let blind = Trial { tolerance: None, ..trial };
        assert!(!blind.has_failed(200, None, 1.0) && blind.has_failed(201, None, 1.0));
    }
}
