//! The inner step of SVRPDA-I and II in batches: every query of f is an average over a block of b
//! consecutive samples, and a step changes B duals before theta moves along a direction that is
//! averaged over B terms.
//!
//! With b = B = 1 this is the paper's step, draw by draw. The sample that the paper draws tells the
//! block that holds it, so that averages over blocks have the same expectations; of samples in
//! random order, their variance is 1/b of that of one sample. Duals of one step see the same theta;
//! a term that is drawn twice is changed twice.

use super::{Pace, PrimalDual, Variant};
use crate::draws::Stream;
use crate::model::inner::block_of;
use crate::oracle::Oracle;

impl Pace {
    /// Whether a step is not the paper's.
    pub(super) fn is_batched(&self) -> bool {
        self.batch > 1 || self.outer_batch > 1
    }
}

impl PrimalDual {
    /// A step of either kind.
    pub(super) fn batch_step<V: Variant>(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        if pace.warming_up {
            return self.plain_batch_step(oracle, pace);
        }
        self.next_reference.before_step(self.k, &self.theta);
        for k in 0..pace.outer_batch {
            if oracle.patience.ends_at(k) {
                break;
            }
            self.dual_batch_step::<V>(oracle, pace);
        }
        self.primal_batch_step(oracle, pace);
        self.k += 1;
        self.next_reference.after_step(
            oracle,
            self.k,
            pace.inner_iterations,
            &self.theta,
            &mut self.w,
        );
    }

    /// Draws `i_k` and a block of its samples and updates `w_i` and U, with `delta^w_k` averaged
    /// over the block.
    fn dual_batch_step<V: Variant>(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        self.prefetch(oracle);
        self.prefetch_primal(oracle, pace.batch);
        let (i, j) = draw(&mut self.draws.dual_i, &mut self.draws.dual_j, oracle);
        let js = block_of(j, oracle.n_y(i), pace.batch);
        let PrimalDual { theta, theta_ref, f_bar, delta_w, work, .. } = self;
        if pace.single_loop {
            // n_Y = 1: f_theta_ref and fbar_i(theta_ref) cancel.
            oracle.block().mean(theta, i, js, work, delta_w);
        } else {
            oracle.block().difference(theta, theta_ref, i, js, work, delta_w);
            for (delta_w, f_bar) in delta_w.iter_mut().zip(&f_bar[i * work.len()..]) {
                *delta_w += f_bar;
            }
        }
        self.ascend(oracle, pace.alpha_w, i);
        self.next_reference.dual_changed(self.k, i, &self.change);
        self.update_u_by_block::<V>(oracle, pace, i);
    }

    /// The update of U, in SVRPDA-II by a block of samples.
    fn update_u_by_block<V: Variant>(&mut self, oracle: &mut Oracle<'_>, pace: &Pace, i: usize) {
        let share = oracle.one_over_n_x();
        if V::STORES_JACOBIANS {
            return self.add_mean_jacobian(oracle, i, share);
        }
        let j = self.draws.u_j.index(oracle.n_y(i));
        let js = block_of(j, oracle.n_y(i), pace.batch);
        self.leak(pace.leak, share, i);
        oracle.block().add_jac_t(&self.theta_ref, i, js, &self.change, share, &mut self.u);
    }

    /// Draws B times `i'_k` and a block of its samples; moves theta along `delta^theta_k`, averaged
    /// over these.
    fn primal_batch_step(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        if oracle.facts().affine {
            return oracle.g().step(pace.alpha_theta, &self.u, &mut self.theta);
        }
        let ell = oracle.ell();
        let share = 1.0 / pace.outer_batch as f64;
        self.delta_theta.copy_from_slice(&self.u);
        for k in 0..pace.outer_batch {
            if oracle.patience.ends_at(k) {
                break;
            }
            let (i, j) = draw(&mut self.draws.primal_i, &mut self.draws.primal_j, oracle);
            let js = block_of(j, oracle.n_y(i), pace.batch);
            let PrimalDual { theta, theta_ref, w, delta_theta, .. } = self;
            let w_i = &w[i * ell..(i + 1) * ell];
            oracle.block().add_jac_t_difference(theta, theta_ref, i, js, w_i, share, delta_theta);
        }
        oracle.g().step(pace.alpha_theta, &self.delta_theta, &mut self.theta);
    }

    /// Brings near where the block of the coming primal step begins.
    fn prefetch_primal(&self, oracle: &Oracle<'_>, batch: usize) {
        if !oracle.facts().affine {
            let i = self.draws.primal_i.ahead(1, oracle.n_x());
            let j = self.draws.primal_j.ahead(1, oracle.n_y(i));
            oracle.prefetch(i, block_of(j, oracle.n_y(i), batch).start);
        }
    }

    /// A warm-up step in batches: like `plain_step`, with the same blocks for duals and theta.
    fn plain_batch_step(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        let ell = oracle.ell();
        let share = 1.0 / pace.outer_batch as f64;
        self.delta_theta.fill(0.0);
        for k in 0..pace.outer_batch {
            if oracle.patience.ends_at(k) {
                break;
            }
            let (i, j) = draw(&mut self.draws.dual_i, &mut self.draws.dual_j, oracle);
            let js = block_of(j, oracle.n_y(i), pace.batch);
            oracle.block().mean(&self.theta, i, js.clone(), &mut self.work, &mut self.delta_w);
            self.ascend(oracle, pace.alpha_w, i);
            let PrimalDual { theta, w, delta_theta, .. } = self;
            oracle.block().add_jac_t(theta, i, js, &w[i * ell..(i + 1) * ell], share, delta_theta);
        }
        oracle.g().step(pace.alpha_theta, &self.delta_theta, &mut self.theta);
        self.k += 1;
    }
}

/// A term and a sample of it.
#[inline(always)]
fn draw(terms: &mut Stream, samples: &mut Stream, oracle: &Oracle<'_>) -> (usize, usize) {
    let i = terms.index(oracle.n_x());
    (i, samples.index(oracle.n_y(i)))
}
