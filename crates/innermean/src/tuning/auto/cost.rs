//! What Newton's method costs beside passes over the data, in counted products, and how L-BFGS and
//! Newton's method take turns by it. Times would differ from machine to machine, and answers with
//! them.

use crate::linalg::elementary::Elementary;
use crate::methods::newton;
use crate::model::inner::{Inner, pieces};
use crate::oracle::{Calls, gradient_calls};

/// Products of a pass for each row and coordinate: the value of f and a product with its
/// Jacobian.
const PASS: f64 = 4.0;
/// Passes and Hessians that Newton's method takes, as a rule; see `experiments/results/auto.md`.
const GRADIENTS: f64 = 40.0;
const HESSIANS: f64 = 8.0;
/// How many times as much one of the two must still be expected to take before the other is tried.
const FAR: f64 = 2.0;
/// How many times what it takes as a rule Newton's method may take where it comes first.
const AT_FIRST: f64 = 3.0;

/// What Newton's method costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Price {
    /// Passes that a Hessian and its Cholesky factor cost.
    pub(super) hessian: f64,
}

impl Price {
    /// Mean Jacobians, their Gram matrix and its Cholesky factor. A pass reads every row once, also
    /// where the samples of several terms share it; their Jacobians do not.
    pub(super) fn of(f: &dyn Inner) -> Self {
        let (d, ell, n_x, samples) = (f.d() as f64, f.ell() as f64, f.n_x() as f64, pieces(f));
        let jacobians = 2.0 * samples as f64 * ell * d;
        let rows = (n_x * ell).min(newton::rows_at_first(f.d(), samples) as f64);
        let matrix = rows * d * d + d * d * d / 3.0;
        let pass = PASS * f.rows().all.max(1) as f64 * d;
        Price { hessian: (jacobians + matrix) / pass.max(1.0) }
    }

    /// Passes that Newton's method takes, as a rule.
    fn all(self) -> f64 {
        GRADIENTS + HESSIANS * self.hessian
    }

    /// What was paid for these calls, in passes: a gradient asks for as many values as products, a
    /// Hessian for products alone.
    fn paid(self, f: &dyn Inner, calls: Calls) -> f64 {
        let pass = gradient_calls(f);
        let of = |asked: u64, all: u64| asked as f64 / all.max(1) as f64;
        let gradients = of(calls.f, pass.f);
        gradients + self.hessian * (of(calls.jacobian, pass.jacobian) - gradients).max(0.0)
    }
}

/// What L-BFGS or Newton's method is held to before the other takes its turn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trial {
    /// L-BFGS first: it has as many passes as Newton's method would take, and goes on where the
    /// digits left take not many more.
    Lbfgs { price: Price, tolerance: Option<f64> },
    /// Newton's method first, likewise.
    Newton { price: Price, tolerance: Option<f64> },
    /// Newton's method after L-BFGS: it has what it takes as a rule, and goes on where it is faster
    /// than L-BFGS was, in digits (to the base e) for each pass.
    After { price: Price, rate: f64 },
}

/// The measure where a run began, and the least so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fall {
    pub(super) first: Option<f64>,
    pub(super) now: f64,
}

impl Fall {
    /// The digits that were gained.
    fn gained(self) -> Option<f64> {
        self.first.map(|first| (first / self.now).natural_log())
    }

    /// The digits that were gained with each of so many passes, if any.
    pub(super) fn rate(self, passes: f64) -> f64 {
        self.gained().filter(|gained| *gained > 0.0).map_or(0.0, |gained| gained / passes.max(1.0))
    }
}

impl Trial {
    /// Whether the other is likely to be faster from here on, after so many outer iterations and
    /// calls.
    pub(super) fn has_failed(&self, f: &dyn Inner, outer: u64, calls: Calls, fall: Fall) -> bool {
        match *self {
            Trial::Lbfgs { price, tolerance } => {
                is_slow(outer as f64, price.all(), tolerance, fall)
            }
            Trial::Newton { price, tolerance } => {
                is_slow(price.paid(f, calls), AT_FIRST * price.all(), tolerance, fall)
            }
            Trial::After { price, rate } => {
                let paid = price.paid(f, calls);
                paid > price.all() && fall.rate(paid) < rate
            }
        }
    }
}

/// Whether the other is likely to be faster: after at least `most` passes, in which the measure has
/// fallen, as many more are to be expected as the digits left ask for at the same rate.
fn is_slow(passes: f64, most: f64, tolerance: Option<f64>, fall: Fall) -> bool {
    if passes < most {
        return false;
    }
    let (Some(gained), Some(tolerance)) = (fall.gained(), tolerance) else {
        return passes > FAR * most;
    };
    let left = (fall.now / tolerance).natural_log();
    // Also where nothing is gained, or no number.
    let (expected, far) = (passes * left, FAR * most * gained);
    expected > far || expected.is_nan() || far.is_nan()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_judged_by_the_digits_that_are_left() {
        let slow = |passes: f64, now: f64| {
            is_slow(passes, 50.0, Some(1e-6), Fall { first: Some(1.0), now })
        };
        // Too early.
        assert!(!slow(49.0, 1.0));
        // Half of the digits after 60 passes: another 60.
        assert!(!slow(60.0, 1e-3));
        // Two of six: another 120.
        assert!(slow(60.0, 1e-2));
        assert!(slow(60.0, 1.0));
        assert!(slow(60.0, f64::INFINITY));
        let blind = |passes| is_slow(passes, 50.0, None, Fall { first: None, now: 1.0 });
        assert!(!blind(100.0) && blind(101.0));
    }

    #[test]
    fn a_rate_is_digits_for_each_pass() {
        let fall = Fall { first: Some(1.0), now: (-6.0_f64).exp() };
        assert!((fall.rate(12.0) - 0.5).abs() < 1e-12);
        assert_eq!(Fall { first: Some(1.0), now: 2.0 }.rate(12.0), 0.0);
        assert_eq!(Fall { first: None, now: 0.1 }.rate(12.0), 0.0);
    }

    /// Of 3 predictors for 2 coordinates with one sample each.
    #[test]
    fn newton_after_lbfgs_goes_on_while_it_is_faster() {
        let f = crate::model::collapse::Collapsed::from_rows(2, vec![1.0; 6], vec![0.0; 3]);
        let price = Price { hessian: 5.0 };
        // Gradients ask for 3 values and 3 products, Hessians for 3 products.
        let calls = |gradients: u64, hessians: u64| Calls {
            f: 3 * gradients,
            jacobian: 3 * (gradients + hessians),
            merit: 0,
        };
        assert!((price.paid(&f, calls(7, 2)) - 17.0).abs() < 1e-12);
        let fall = Fall { first: Some(1.0), now: (-6.0_f64).exp() };
        let fails = |gradients, rate| {
            Trial::After { price, rate }.has_failed(&f, 1, calls(gradients, 10), fall)
        };
        // 70 passes are at most the 80 that it has; 110 for 6 digits are not.
        assert!(!fails(20, 1.0) && fails(60, 0.1) && !fails(60, 0.01));
    }
}
