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

/// How long one of the two goes on before the other is tried, in terms of what Newton's method
/// takes as a rule.
#[derive(Debug, Clone, Copy)]
struct Leash {
    /// What it has in any case.
    least: f64,
    /// What it must be expected to take beyond that.
    far: f64,
}

/// Steps of L-BFGS cost little, and where it needs many, Newton's method often needs as many: f
/// bends in ways that its matrix does not know.
const LBFGS: Leash = Leash { least: 2.0, far: 4.0 };
const NEWTON: Leash = Leash { least: 1.5, far: 1.0 };

/// What Newton's method costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Price {
    /// Passes that a Hessian and its Cholesky factor cost.
    pub(super) hessian: f64,
    /// And those of the factor alone, which a step that was refused asks for again.
    pub(super) factor: f64,
}

impl Price {
    /// Mean Jacobians, their Gram matrix and its Cholesky factor. A pass reads every row once, also
    /// where the samples of several terms share it; their Jacobians do not.
    pub(super) fn of(f: &dyn Inner) -> Self {
        let (d, ell, n_x, samples) = (f.d() as f64, f.ell() as f64, f.n_x() as f64, pieces(f));
        let jacobians = 2.0 * samples as f64 * ell * d;
        let rows = (n_x * ell).min(newton::rows_at_first(f.d(), samples) as f64);
        let (matrix, factor) = (rows * d * d, d * d * d / 3.0);
        let pass = (PASS * f.rows().all.max(1) as f64 * d).max(1.0);
        Price { hessian: (jacobians + matrix + factor) / pass, factor: factor / pass }
    }

    /// Passes that Newton's method takes, as a rule.
    fn all(self) -> f64 {
        GRADIENTS + HESSIANS * self.hessian
    }

    /// What was paid for these calls, in passes: a gradient asks for as many values as products, a
    /// Hessian for products alone, and a step that was refused for nothing.
    fn paid(self, f: &dyn Inner, Done { calls, refused, .. }: Done) -> f64 {
        let pass = gradient_calls(f);
        let of = |asked: u64, all: u64| asked as f64 / all.max(1) as f64;
        let gradients = of(calls.f, pass.f);
        let hessians = (of(calls.jacobian, pass.jacobian) - gradients).max(0.0);
        gradients + self.hessian * hessians + self.factor * refused as f64
    }
}

/// What has been done in an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) outer: u64,
    pub(super) calls: Calls,
    /// Outer iterations that left theta where it was.
    pub(super) refused: u64,
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

/// The logarithms of the measure where a run began, and of late.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fall {
    pub(super) first: f64,
    pub(super) now: f64,
}

impl Fall {
    /// The digits that were gained.
    fn gained(self) -> f64 {
        self.first - self.now
    }

    /// The digits that were gained with each of this many passes, if any.
    pub(super) fn rate(self, passes: f64) -> f64 {
        self.gained().max(0.0) / passes.max(1.0)
    }
}

impl Trial {
    /// Whether the other is likely to be faster from here on; the fall is none where nothing has
    /// been measured.
    pub(super) fn has_failed(&self, f: &dyn Inner, done: Done, fall: Option<Fall>) -> bool {
        match *self {
            Trial::Lbfgs { price, tolerance } => {
                LBFGS.is_over(done.outer as f64, price.all(), tolerance, fall)
            }
            Trial::Newton { price, tolerance } => {
                NEWTON.is_over(price.paid(f, done), price.all(), tolerance, fall)
            }
            Trial::After { price, rate } => {
                let paid = price.paid(f, done);
                paid > price.all() && fall.map_or(0.0, |fall| fall.rate(paid)) < rate
            }
        }
    }
}

impl Leash {
    /// Whether the other is likely to be faster, after passes in which the measure has fallen: as
    /// many more are to be expected as the digits left ask for at the same rate.
    fn is_over(self, passes: f64, usual: f64, tolerance: Option<f64>, fall: Option<Fall>) -> bool {
        if passes < self.least * usual {
            return false;
        }
        let (Some(fall), Some(tolerance)) = (fall, tolerance) else {
            return passes > (self.least + self.far) * usual;
        };
        let left = fall.now - tolerance.natural_log();
        // Also where nothing is gained, or no number.
        let (expected, far) = (passes * left, self.far * usual * fall.gained());
        expected > far || expected.is_nan() || far.is_nan()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 1 down by this many digits (to the base e).
    fn fall(digits: f64) -> Fall {
        Fall { first: 0.0, now: -digits }
    }

    #[test]
    fn a_trial_is_judged_by_the_digits_that_are_left() {
        let tolerance = (-14.0_f64).exp();
        let leash = Leash { least: 1.0, far: 2.0 };
        let over = |passes: f64, digits: f64| {
            leash.is_over(passes, 50.0, Some(tolerance), Some(fall(digits)))
        };
        // Within what it has, nothing is said.
        assert!(!over(49.0, 0.0));
        // 100 for 7 of 14 digits: 100 more are to be expected. For 3 of them, more than 360.
        assert!(!over(100.0, 7.0) && over(100.0, 3.0));
        // Where the measure has risen or is no number, as where nothing is measured.
        assert!(over(51.0, -1.0) && over(51.0, f64::NAN));
        assert!(leash.is_over(151.0, 50.0, Some(tolerance), None));
        assert!(!leash.is_over(149.0, 50.0, Some(tolerance), None));
    }

    #[test]
    fn what_was_refused_is_paid_for() {
        let f = crate::model::collapse::Collapsed::from_rows(2, vec![1.0; 6], vec![0.0; 3]);
        let price = Price { hessian: 5.0, factor: 2.0 };
        // Gradients ask for 3 values and 3 products, Hessians for 3 products.
        let done = |gradients: u64, hessians: u64, refused: u64| Done {
            outer: gradients,
            calls: Calls { f: 3 * gradients, jacobian: 3 * (gradients + hessians), merit: 0 },
            refused,
        };
        assert!((price.paid(&f, done(7, 2, 0)) - 17.0).abs() < 1e-12);
        assert!((price.paid(&f, done(7, 2, 3)) - 23.0).abs() < 1e-12);
        // Newton's method after L-BFGS goes on while it is faster.
        let fails = |gradients, rate| {
            let trial = Trial::After { price, rate };
            trial.has_failed(&f, done(gradients, 10, 0), Some(fall(6.0)))
        };
        // 70 passes are at most the 80 that it has; 110 for 6 digits are not.
        assert!(!fails(20, 1.0) && fails(60, 0.1) && !fails(60, 0.01));
    }
}
