//! What ALEXR, SOX and MSVR share: mini-batches over i and j, estimates of `fbar_i` by few samples,
//! and a direction for theta that is a running average.

use serde::{Deserialize, Serialize};

use crate::draws::Stream;
use crate::linalg::vector::{Aligned, axpy, update_with};
use crate::model::inner::{
    Inner, jacobian_spread, mean_jacobian_norm, pieces, typical_mean_jacobian,
};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, ChoiceError};

/// The sizes of the mini-batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Batches {
    /// Outer terms that a step draws.
    pub outer_batch: usize,
    /// Inner samples that a step draws for each of them, and as many for its Jacobian.
    pub batch: usize,
}

impl Batches {
    /// One and one, unless said otherwise.
    pub(in crate::methods) fn choose(choice: &Choice) -> Result<Self, ChoiceError> {
        Ok(Batches { outer_batch: choice.outer_batch(1)?, batch: choice.batch(1)? })
    }

    /// Steps in which as many terms are drawn as there are and as many samples as a pass over the
    /// data has.
    pub(in crate::methods) fn pass(&self, f: &dyn Inner) -> usize {
        f.n_x().max(pieces(f).div_ceil(self.batch)).div_ceil(self.outer_batch)
    }
}

/// The curvature of a term as single samples show it: what the first steps on theta are measured
/// by. `(R^2 + spread of f') / gamma` with `R^2` the largest `|fbar_i'|` times the typical one, as
/// in [`crate::tuning::steps::accelerated`].
pub(in crate::methods) fn sampled_curvature(problem: Objective<'_>, theta: &[f64]) -> f64 {
    let f = problem.inner;
    let r_squared = mean_jacobian_norm(f, theta) * typical_mean_jacobian(f, theta);
    ((r_squared + jacobian_spread(f, theta)) / problem.gamma_at(theta)).max(f64::MIN_POSITIVE)
}

/// Theta, the direction in which it moves, and the draws.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Estimates {
    pub(in crate::methods) theta: Aligned,
    pub(in crate::methods) theta_before: Aligned,
    /// v, the running average of [`Self::gradient`]
    direction: Aligned,
    /// `(1/B) sum_{i in B} f'hat_i(theta) w_i` of this step
    gradient: Aligned,
    /// `fhat_i(theta)`, an average over few samples
    pub(in crate::methods) f_hat: Vec<f64>,
    /// `fhat_i(theta_before)` over the same samples
    pub(in crate::methods) f_hat_before: Vec<f64>,
    /// For a dual
    pub(in crate::methods) w: Vec<f64>,
    work: Vec<f64>,
    /// Steps made.
    pub(in crate::methods) k: u64,
    /// i, j for values, j for Jacobians
    draws: [Stream; 3],
}

impl Estimates {
    pub(in crate::methods) fn new(theta: &[f64], ell: usize, seed: u64) -> Self {
        let d = theta.len();
        Estimates {
            theta: theta.into(),
            theta_before: theta.into(),
            direction: Aligned::zeros(d),
            gradient: Aligned::zeros(d),
            f_hat: vec![0.0; ell],
            f_hat_before: vec![0.0; ell],
            w: vec![0.0; ell],
            work: vec![0.0; ell],
            k: 0,
            draws: [0, 1, 2].map(|number| Stream::new(seed, number)),
        }
    }

    /// Draws an outer term. Differs: the terms of a batch are drawn independently, so that one may
    /// come twice.
    #[inline(always)]
    pub(in crate::methods) fn draw_i(&mut self, n_x: usize) -> usize {
        self.draws[0].index(n_x)
    }

    /// `f_hat = (1/b) sum_j f_theta(x_i, y_ij)` over drawn j: b calls; if `both`, also
    /// `f_hat_before` at the point before: 2 b calls.
    #[inline(always)]
    pub(in crate::methods) fn estimate(
        &mut self,
        oracle: &mut Oracle<'_>,
        i: usize,
        batch: usize,
        both: bool,
    ) {
        let share = 1.0 / batch as f64;
        self.f_hat.fill(0.0);
        self.f_hat_before.fill(0.0);
        for k in 0..batch {
            if oracle.patience.ends_at(k) {
                break;
            }
            let j = self.draws[1].index(oracle.n_y(i));
            oracle.value(&self.theta, i, j, &mut self.work);
            axpy(share, &self.work, &mut self.f_hat);
            if both {
                oracle.value(&self.theta_before, i, j, &mut self.work);
                axpy(share, &self.work, &mut self.f_hat_before);
            }
        }
    }

    /// `u_i = fhat_i(theta)` for all i: `n_X b` calls.
    pub(in crate::methods) fn estimate_all(
        &mut self,
        oracle: &mut Oracle<'_>,
        batch: usize,
        u: &mut [f64],
    ) {
        for (i, u_i) in u.chunks_exact_mut(oracle.ell()).enumerate() {
            self.estimate(oracle, i, batch, false);
            u_i.copy_from_slice(&self.f_hat);
        }
    }

    /// `gradient += (1/(B b)) sum_j f'_theta(x_i, y_ij) w` over j drawn anew, for w in [`Self::w`]:
    /// b calls. Differs: SOX and MSVR take the samples of the value again, which biases the
    /// product.
    #[inline(always)]
    pub(in crate::methods) fn add_gradient(
        &mut self,
        oracle: &mut Oracle<'_>,
        i: usize,
        batches: Batches,
    ) {
        let share = 1.0 / (batches.outer_batch as f64 * batches.batch as f64);
        for k in 0..batches.batch {
            if oracle.patience.ends_at(k) {
                break;
            }
            let j = self.draws[2].index(oracle.n_y(i));
            oracle.add_jac_t(&self.theta, i, j, &self.w, share, &mut self.gradient);
        }
    }

    /// `v <- (1 - momentum) v + momentum gradient`, `theta <- prox_{alpha g}(theta - alpha v)`;
    /// ends the step.
    #[inline(always)]
    pub(in crate::methods) fn descend(&mut self, oracle: &Oracle<'_>, alpha: f64, momentum: f64) {
        update_with(&mut self.direction, &self.gradient, |v, new| v + momentum * (new - v));
        self.gradient.fill(0.0);
        self.theta_before.copy_from_slice(&self.theta);
        oracle.g().step(alpha, &self.direction, &mut self.theta);
        self.k += 1;
    }
}
