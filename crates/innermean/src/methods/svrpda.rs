//! SVRPDA-I and SVRPDA-II: Algorithms 1 and 2 of Devraj and Chen, "Stochastic Variance Reduced
//! Primal Dual Algorithms for Empirical Composition Optimization", NIPS 2019, line by line. They
//! differ in the update of U alone.
//!
//! Saddle form: `min over theta, max over w of (1/n_X) sum_i [ <fbar_i(theta), w_i> - phi_i*(w_i)
//! ] + g(theta)`.
//!
//! Asks of the problem: a prox for each `phi_i*` and for g. Beside this page are the settings and
//! the state (`settings.rs`, `state.rs`), the same steps on rows in memory (`rows.rs`), in batches
//! (`batch.rs`), on few coordinates at a time (`lagged_step.rs`), plain ones before the first
//! snapshot (`warm_up.rs`), and steps that need not be chosen (`automatic.rs`); and what goes beyond
//! the paper where it is asked for: a leak in U (`leak.rs`), mixtures of snapshots (`anderson.rs`),
//! dual steps in another distance (`mirror.rs`).

use std::fmt::Debug;

pub(super) use self::settings::drifting_epoch;
pub use self::settings::{Pace, Settings};
pub use self::state::{Draws, PrimalDual};
use super::{Guarded, Method, Noise};
use crate::linalg::vector::{axpy, dispatch, prefetch, sparse_axpy};
use crate::oracle::Oracle;
use crate::tuning::choice::Knob;

mod anderson;
mod automatic;
mod batch;
mod forecast;
mod items;
mod lagged_step;
mod leak;
mod mirror;
mod rows;
mod settings;
mod state;
mod warm_up;

/// What can be said about SVRPDA-II.
pub(super) const SETTINGS_LEAKING: &[Knob] = &[
    Knob::Rule,
    Knob::AlphaTheta,
    Knob::AlphaW,
    Knob::InnerIterations,
    Knob::Reference,
    Knob::WarmupEpochs,
    Knob::Batch,
    Knob::OuterBatch,
    Knob::Anderson,
    Knob::Mirror,
    Knob::Leak,
];

/// What can be said about SVRPDA-I: all but the last.
pub(super) const SETTINGS: &[Knob] = match SETTINGS_LEAKING.split_last() {
    Some((_, without)) => without,
    None => &[],
};

/// SVRPDA-I or SVRPDA-II.
pub trait Variant: Clone + Debug {
    /// Whether the state holds the mean Jacobians, as that of SVRPDA-I does: `n_X d ell` numbers
    /// or, of an f that tells its supports, as many as these have.
    const STORES_JACOBIANS: bool;

    /// The settings.
    fn settings(&self) -> &Settings;

    /// The settings, to be changed by the safeguard.
    fn settings_mut(&mut self) -> &mut Settings;
}

impl PrimalDual {
    /// The head of the outer loop: the reference point `theta_ref`, then `U_0 = (1/n_X) sum_i
    /// fbar_i'(theta_ref) w_i^(0)`, `fbar_i(theta_ref)` and, in SVRPDA-I, `fbar_i'(theta_ref)` for
    /// all i.
    fn begin_outer(&mut self, oracle: &mut Oracle<'_>, settings: &Settings) {
        if let Some(theta) =
            self.next_reference.theta().filter(|_| self.outer > settings.warmup_epochs)
        {
            self.theta.copy_from_slice(theta);
        }
        self.outer += 1;
        self.k = 0;
        let first = self.outer == settings.warmup_epochs + 1;
        self.pace.warming_up = self.outer <= settings.warmup_epochs;
        if self.pace.warming_up || (settings.single_loop && !first) {
            return;
        }
        if settings.anderson > 0 {
            self.begin_anderson(oracle, settings);
        } else if settings.automatic {
            self.begin_automatic(oracle, settings);
        } else {
            self.theta_ref.copy_from_slice(&self.theta);
            // Differs: Algorithm 1 leaves w^(0) open. phi_i'(fbar_i(theta_ref)) is at hand after
            // the first snapshot.
            self.snapshot(oracle, first && settings.warmup_epochs == 0);
            if settings.guarded {
                self.pace = Pace::new(settings);
                if !first {
                    oracle.calls.merit += oracle.n_x() as u64;
                }
            }
        }
        self.next_reference.begin(self.pace.inner_iterations, &mut self.draws.reference);
    }

    /// Step k of the inner loop.
    fn step<V: Variant>(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        self.next_reference.before_step(self.k, &self.theta);
        // Sample i_k and j_k; delta^w_k; w_i^(k).
        let (i, j) = self.sample(oracle);
        self.dual_step(oracle, pace, i, j);
        self.next_reference.dual_changed(self.k, i, &self.change);
        // U_k.
        self.update_u::<V>(oracle, pace, i);
        // Sample i'_k and j'_k; delta^theta_k; theta^(k).
        self.primal_step(oracle, pace);
        self.k += 1;
        self.next_reference.after_step(
            oracle,
            self.k,
            pace.inner_iterations,
            &self.theta,
            &mut self.w,
        );
    }

    /// Samples `i_k` from the terms and `j_k` from the samples of that term.
    fn sample(&mut self, oracle: &Oracle<'_>) -> (usize, usize) {
        self.prefetch(oracle);
        let i = self.draws.dual_i.index(oracle.n_x());
        (i, self.draws.dual_j.index(oracle.n_y(i)))
    }

    /// ```text
    /// delta^w_k = f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij) + fbar_i(theta_ref)     for i = i_k, j = j_k
    /// w_i^(k)   = argmin over w of  -<delta^w_k, w> + phi_i*(w) + |w - w_i^(k-1)|^2 / (2 alpha_w)
    ///           = prox_{alpha_w phi_i*}( w_i^(k-1) + alpha_w delta^w_k )
    /// ```
    fn dual_step(&mut self, oracle: &mut Oracle<'_>, pace: &Pace, i: usize, j: usize) {
        let PrimalDual { theta, theta_ref, f_bar, delta_w, work, .. } = self;
        if pace.single_loop {
            // n_Y = 1: f_theta_ref and fbar_i(theta_ref) cancel.
            oracle.value(theta, i, j, delta_w);
        } else {
            oracle.difference(theta, theta_ref, i, j, work, delta_w);
            for (delta_w, f_bar) in delta_w.iter_mut().zip(&f_bar[i * work.len()..]) {
                *delta_w += f_bar;
            }
        }
        self.ascend(oracle, pace.alpha_w, i);
    }

    /// `w_i <- prox_{alpha_w phi_i*}(w_i + alpha_w delta_w)`; `change` is what that adds to `w_i`.
    fn ascend(&mut self, oracle: &mut Oracle<'_>, alpha_w: f64, i: usize) {
        if !self.points.is_empty() {
            // Differs: another distance than the Euclidean one, if that is asked for.
            return self.ascend_mirrored(oracle, alpha_w, i);
        }
        let PrimalDual { w, delta_w, work, change, .. } = self;
        let w_i = &mut w[i * work.len()..(i + 1) * work.len()];
        for ((new, w), delta_w) in work.iter_mut().zip(&*w_i).zip(&*delta_w) {
            *new = delta_w.mul_add(alpha_w, *w);
        }
        oracle.phi().prox_conjugate(i, alpha_w, work);
        for ((change, w), new) in change.iter_mut().zip(w_i).zip(&*work) {
            *change = *new - *w;
            *w = *new;
        }
    }

    /// ```text
    /// U_k = U_{k-1} + (1/n_X) fbar_i'(theta_ref) (w_i^(k) - w_i^(k-1))              SVRPDA-I
    /// U_k = U_{k-1} + (1/n_X) f'_theta_ref(x_i, y_ij'') (w_i^(k) - w_i^(k-1))       SVRPDA-II, j''_k sampled anew
    /// ```
    fn update_u<V: Variant>(&mut self, oracle: &mut Oracle<'_>, pace: &Pace, i: usize) {
        let share = oracle.one_over_n_x();
        if V::STORES_JACOBIANS {
            self.add_mean_jacobian(oracle, i, share);
        } else {
            let j = self.draws.u_j.index(oracle.n_y(i));
            // Differs: with a leak, the same sample and U_0 draw U back to the batch gradient.
            self.leak(pace.leak, share, i);
            oracle.add_jac_t(&self.theta_ref, i, j, &self.change, share, &mut self.u);
        }
    }

    /// `U += c fbar_i'(theta_ref) change`
    fn add_mean_jacobian(&mut self, oracle: &Oracle<'_>, i: usize, c: f64) {
        let PrimalDual { jac_bar, sparse_jac_bar, theta_ref, u, change, .. } = self;
        let d = u.len();
        if !jac_bar.is_empty() {
            for (r, change) in change.iter().enumerate() {
                let row = i * self.work.len() + r;
                axpy(c * change, &jac_bar[row * d..(row + 1) * d], u);
            }
        } else if let Some(jac_bar) = sparse_jac_bar {
            for (r, change) in change.iter().enumerate() {
                sparse_axpy(c * change, jac_bar.columns(i), jac_bar.values(i, r), u);
            }
        } else {
            // Those of f itself, where they are no averages.
            oracle.add_known_mean_jac_t(theta_ref, i, change, c, u);
        }
    }

    /// ```text
    /// delta^theta_k = ( f'_theta(x_i', y_i'j') - f'_theta_ref(x_i', y_i'j') ) w_i'^(k) + U_k    for i' = i'_k, j' = j'_k
    /// theta^(k)     = argmin over theta of  <delta^theta_k, theta> + g(theta) + |theta - theta^(k-1)|^2 / (2 alpha_theta)
    ///               = prox_{alpha_theta g}( theta^(k-1) - alpha_theta delta^theta_k )
    /// ```
    fn primal_step(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        if oracle.facts().affine {
            // The first two terms cancel: nothing is sampled and nothing is asked.
            return oracle.g().step(pace.alpha_theta, &self.u, &mut self.theta);
        }
        let i = self.draws.primal_i.index(oracle.n_x());
        let j = self.draws.primal_j.index(oracle.n_y(i));
        let w_i = &self.w[i * self.work.len()..(i + 1) * self.work.len()];
        self.delta_theta.copy_from_slice(&self.u);
        oracle.add_jac_t_difference(&self.theta, &self.theta_ref, i, j, w_i, &mut self.delta_theta);
        oracle.g().step(pace.alpha_theta, &self.delta_theta, &mut self.theta);
    }

    /// Brings near what the dual step will touch a few steps from now: random rows would each cost
    /// a wait.
    fn prefetch(&self, oracle: &Oracle<'_>) {
        let ell = oracle.ell();
        let i = self.draws.dual_i.ahead(AHEAD, oracle.n_x());
        let j = self.draws.dual_j.ahead(AHEAD, oracle.n_y(i));
        oracle.prefetch(i, j);
        prefetch(&self.jac_bar, i * ell * oracle.d(), ell * oracle.d());
        prefetch(&self.w, i * ell, ell);
        prefetch(&self.f_bar, i * ell, ell);
    }
}

/// How many steps ahead rows are prefetched: the time of a few steps covers a wait for memory.
const AHEAD: usize = 4;

impl<V: Variant> Method for V {
    type State = PrimalDual;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> PrimalDual {
        PrimalDual::new(oracle, self.settings(), theta, V::STORES_JACOBIANS)
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut PrimalDual) {
        s.begin_outer(oracle, self.settings());
    }

    fn fits(&self, oracle: &Oracle<'_>, s: &PrimalDual) -> bool {
        let (d, calls) = (oracle.d(), oracle.calls.total());
        (s.pace.leak == 0.0 || s.leaks.are_allowed())
            && s.automatic.as_ref().is_none_or(|automatic| automatic.is_of(d, calls))
            && s.anderson.as_ref().is_none_or(|anderson| anderson.is_of(d))
    }

    fn inner_iterations(&self, s: &PrimalDual) -> usize {
        s.pace.inner_iterations
    }

    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut PrimalDual) {
        self.inner_steps(oracle, s, 1);
    }

    fn inner_steps(&self, oracle: &mut Oracle<'_>, s: &mut PrimalDual, count: usize) {
        let pace = &{ s.pace };
        if s.lagged.is_on() {
            dispatch(|| (0..count).for_each(|_| s.lagged_step::<V>(oracle, pace)));
        } else if pace.is_batched() {
            (0..count).for_each(|_| s.batch_step::<V>(oracle, pace));
        } else if pace.warming_up {
            (0..count).for_each(|_| s.plain_step(oracle, pace));
        } else if !s.steps_on_rows::<V>(oracle, pace, count) {
            (0..count).for_each(|_| s.step::<V>(oracle, pace));
        }
    }

    fn show(&self, oracle: &Oracle<'_>, s: &mut PrimalDual) {
        s.lagged.show(oracle, s.pace.alpha_theta, &s.u, &s.theta);
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        let Settings { alpha_theta, inner_iterations, guarded, seed, .. } = self.settings_mut();
        let inner_iterations = Some(inner_iterations);
        guarded.then_some(Guarded { alpha_theta, alpha_w: None, inner_iterations, seed })
    }

    fn noise(&self) -> Noise {
        Noise::Circles
    }

    fn reference<'s>(&self, s: &'s PrimalDual) -> Option<(&'s [f64], &'s [f64])> {
        (!s.pace.warming_up).then_some((&s.theta_ref, &s.f_bar))
    }

    fn recovers(&self) -> bool {
        self.settings().automatic || self.settings().anderson > 0
    }

    fn theta<'s>(&self, s: &'s PrimalDual) -> &'s [f64] {
        s.output()
    }

    fn duals<'s>(&self, s: &'s PrimalDual) -> Option<&'s [f64]> {
        Some(&s.w)
    }
}
