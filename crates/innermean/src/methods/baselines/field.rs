//! What the methods for the projected Bellman error share: theta and w side by side, their two
//! steps, and the defaults of these.
//!
//! Saddle form: `min over theta, max over w of <fbar(theta), w> - w' C w / 2 + g(theta)`, `fbar =
//! (1/T) sum_t f_t` affine and `C = (1/T) sum_t c_t c_t'`. Its field of gradients is an average
//! over t of `G_t(theta, w) = ( f_t' w ; f_t(theta) - c_t c_t' w )`: theta descends along the first
//! part, w ascends along the second.

use serde::{Deserialize, Serialize};

use crate::linalg::vector::{Aligned, axpy};
use crate::methods::Guarded;
use crate::model::inner::jacobian_spread;
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, ChoiceError, Knob};
use crate::tuning::curvature;

/// What can be said about each of them.
pub(in crate::methods) const SETTINGS: &[Knob] = &[Knob::AlphaTheta, Knob::AlphaW];

/// The two steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FieldSteps {
    /// The step on theta.
    pub alpha_theta: f64,
    /// The step on w.
    pub alpha_w: f64,
    /// Whether no step was given: then the safeguard watches over them.
    pub guarded: bool,
}

/// Whose field a step follows: that of all samples or of single ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::methods) enum Follows {
    All,
    Single,
}

impl FieldSteps {
    /// Along the whole field, `alpha_w = 1/lambda_max(C)` and `alpha_theta = 1/(alpha_w |A|^2)`:
    /// then the steps of w alone are stable, and so is the coupling of the two, `alpha_theta
    /// alpha_w |A|^2 < 2`, whatever the unit of the features. On random chains both are within a
    /// factor of 3 of divergence and the best of their neighbours. Du et al. prove their linear
    /// rate with steps that are smaller by powers of the condition number of C.
    ///
    /// Along single samples, [`DUAL`] for 1, [`COUPLING`] for 1, the largest `|c_t|^2` for
    /// `lambda_max(C)` and the mean of `|A_t|^2` for `|A|^2`.
    pub(in crate::methods) fn choose(
        choice: &Choice,
        problem: Objective<'_>,
        theta: &[f64],
        follows: Follows,
    ) -> Result<Self, ChoiceError> {
        let form = problem.merit.quadratic_form().expect("asked for in the table's row");
        // of_mean is |A|^2 / gamma.
        let mean = curvature::of_mean(problem, theta) * problem.merit.gamma();
        let (dual, coupling, a_squared) = match follows {
            Follows::All => (1.0 / form.eigenvalues().1, 1.0, mean),
            Follows::Single => {
                let single = mean + jacobian_spread(problem.inner, theta);
                (DUAL / form.largest_sample(), COUPLING, single)
            }
        };
        let alpha_w = choice.alpha_w(dual)?;
        let alpha_theta =
            choice.alpha_theta(|| coupling / (alpha_w * a_squared.max(f64::MIN_POSITIVE)))?;
        Ok(FieldSteps { alpha_theta, alpha_w, guarded: choice.leaves_steps() })
    }

    /// What the safeguard may change, unless it was given.
    pub(in crate::methods) fn guarded<'m>(
        &'m mut self,
        inner_iterations: Option<&'m mut usize>,
        seed: &'m mut u64,
    ) -> Option<Guarded<'m>> {
        let FieldSteps { alpha_theta, alpha_w, guarded } = self;
        guarded.then_some(Guarded { alpha_theta, alpha_w: Some(alpha_w), inner_iterations, seed })
    }
}

/// `alpha_w max |c_t|^2` for steps along single samples. On five random chains (8 and 20 features,
/// normal or uniform, of equal or different scale) half and twice as much need at most twice the
/// calls, ten times as much diverges.
const DUAL: f64 = 0.3;
/// `alpha_theta alpha_w` times the mean of `|A_t|^2` for steps along single samples. On the same
/// chains, half as much is about as good, four times as much needs four times the calls, and 0.3
/// diverges.
const COUPLING: f64 = 0.015;

/// Where a method is: theta and w, and room for the two parts of an estimate of the field.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Saddle {
    pub(in crate::methods) theta: Aligned,
    pub(in crate::methods) w: Aligned,
    /// An estimate of `fbar' w`
    pub(in crate::methods) descent: Aligned,
    /// An estimate of `fbar(theta) - C w`
    pub(in crate::methods) ascent: Aligned,
}

impl Saddle {
    /// At theta, with w at zero.
    pub(in crate::methods) fn new(theta: &[f64], ell: usize) -> Self {
        Saddle {
            theta: theta.into(),
            w: Aligned::zeros(ell),
            descent: Aligned::zeros(theta.len()),
            ascent: Aligned::zeros(ell),
        }
    }

    /// `w <- w + alpha_w ascent`
    #[inline(always)]
    pub(in crate::methods) fn ascend(&mut self, alpha_w: f64) {
        axpy(alpha_w, &self.ascent, &mut self.w);
    }

    /// `theta <- prox_{alpha_theta g}(theta - alpha_theta descent)`
    #[inline(always)]
    pub(in crate::methods) fn descend(&mut self, oracle: &Oracle<'_>, alpha_theta: f64) {
        oracle.g().step(alpha_theta, &self.descent, &mut self.theta);
    }

    /// `ascent = f_t(theta) - c_t c_t' w`: one call.
    #[inline(always)]
    pub(in crate::methods) fn sample_ascent(&mut self, oracle: &mut Oracle<'_>, t: usize) {
        oracle.value(&self.theta, 0, t, &mut self.ascent);
        oracle.form().add_sample_product(t, &self.w, -1.0, &mut self.ascent);
    }

    /// `descent = f_t' w`: one call.
    #[inline(always)]
    pub(in crate::methods) fn sample_descent(&mut self, oracle: &mut Oracle<'_>, t: usize) {
        self.descent.fill(0.0);
        oracle.add_jac_t(&self.theta, 0, t, &self.w, 1.0, &mut self.descent);
    }

    /// `ascent = fbar(theta) - C w`: T calls.
    #[inline(always)]
    pub(in crate::methods) fn mean_ascent(&mut self, oracle: &mut Oracle<'_>, work: &mut [f64]) {
        oracle.mean(&self.theta, 0, work, &mut self.ascent);
        oracle.form().add_product(&self.w, -1.0, &mut self.ascent);
    }

    /// `descent = fbar' w`: T calls.
    #[inline(always)]
    pub(in crate::methods) fn mean_descent(&mut self, oracle: &mut Oracle<'_>) {
        self.descent.fill(0.0);
        oracle.add_mean_jac_t(&self.theta, 0, &self.w, 1.0, &mut self.descent);
    }
}
