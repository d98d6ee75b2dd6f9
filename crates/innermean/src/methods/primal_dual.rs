//! SVRPDA-I and SVRPDA-II: the box of Algorithms 1 and 2 (Devraj and Chen 2019), their settings and their state. The one line
//! in which the two differ, the update of U, is in `svrpda1.rs` and `svrpda2.rs`.
//!
//! Saddle form: `min over theta, max over w of (1/n_X) sum_i [ <fbar_i(theta), w_i> - phi_i*(w_i) ] + g(theta)`.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use self::automatic::Automatic;
use super::lagged::Lagged;
use super::reference::{NextReference, Reference};
use super::{Method, Noise, Tempo};
use crate::choice::Knob;
use crate::collapse::SparseRows;
use crate::draws::Stream;
use crate::oracle::Oracle;
use crate::setting::{InvalidSetting, at_least_one, positive};
use crate::vector::Aligned;

mod automatic;
mod batch;
mod forecast;
mod items;
mod lagged_step;
mod step;

/// The settings of SVRPDA-I and II; [`crate::steps`] finds them by rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The primal step `alpha_theta > 0`.
    pub alpha_theta: f64,
    /// The dual step `alpha_w > 0`.
    pub alpha_w: f64,
    /// M, the inner steps of an outer iteration.
    pub inner_iterations: usize,
    /// Option I, Option II or averages.
    pub reference: Reference,
    /// Outer iterations of M plain stochastic primal-dual steps before the first snapshot.
    pub warmup_epochs: usize,
    /// Theorem 3: `n_Y = 1` and affine f need no reference point, so only the first outer iteration takes a snapshot,
    /// and `inner_iterations` is merely how often the driver looks.
    pub single_loop: bool,
    /// Consecutive inner samples that a query of f averages; 1 in the paper. Automatic steps may take single ones instead.
    pub batch: usize,
    /// Duals that a step changes, and terms over which its primal direction averages; 1 in the paper.
    pub outer_batch: usize,
    /// Whether steps and M are found anew at each snapshot. Then those above are those of warm-up epochs alone.
    pub automatic: bool,
    /// Whether the steps are scaled ones that nobody has asked for, as where phi has kinks: then the safeguard watches over them.
    pub guarded: bool,
    /// The seed of all random draws.
    pub seed: u64,
}

/// What the steps of an outer iteration are made with: the settings, or what has been found at the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// The primal step.
    pub alpha_theta: f64,
    /// The dual step.
    pub alpha_w: f64,
    /// M
    pub inner_iterations: usize,
    /// Samples that a query of f averages.
    pub batch: usize,
    /// Duals that a step changes.
    pub outer_batch: usize,
    /// Whether there is no reference point.
    pub single_loop: bool,
    /// Whether steps are plain, before the first snapshot.
    pub warming_up: bool,
}

impl Pace {
    fn new(settings: &Settings) -> Self {
        let Settings { alpha_theta, alpha_w, inner_iterations, batch, outer_batch, single_loop, .. } =
            *settings;
        Pace { alpha_theta, alpha_w, inner_iterations, batch, outer_batch, single_loop, warming_up: false }
    }
}

impl Settings {
    /// # Errors
    /// If a step or M is not above zero.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        positive("alpha_theta", self.alpha_theta)?;
        positive("alpha_w", self.alpha_w)?;
        at_least_one("inner_iterations", self.inner_iterations)?;
        at_least_one("batch", self.batch)?;
        at_least_one("outer_batch", self.outer_batch)?;
        if self.single_loop && self.reference != Reference::Last {
            return Err(InvalidSetting::new(
                "reference",
                format!("{:?}", self.reference).to_lowercase(),
                "last: a single loop (Theorem 3) has no reference points to choose from",
            ));
        }
        Ok(())
    }
}

/// What can be said about SVRPDA-I and II.
pub(super) const SETTINGS: &[Knob] = &[
    Knob::Rule,
    Knob::AlphaTheta,
    Knob::AlphaW,
    Knob::InnerIterations,
    Knob::Reference,
    Knob::WarmupEpochs,
    Knob::Batch,
    Knob::OuterBatch,
];

/// The one line in which SVRPDA-I and II differ: how U follows the duals.
pub trait UpdateU: Debug {
    /// Whether the state holds the mean Jacobians: `n_X d ell` numbers or, of an f that tells its supports, as many as these have.
    const STORES_JACOBIANS: bool;

    /// The settings.
    fn settings(&self) -> &Settings;

    /// The method with others.
    fn with(settings: Settings) -> Self;

    /// Updates U after `change` has been added to `w_i`. Where it asks for samples, it takes `batch` at once.
    fn update_u(state: &mut PrimalDual, oracle: &mut Oracle<'_>, i: usize, batch: usize, change: &[f64]);

    /// [`Self::update_u`] for one sample, and the primal step of this k after it.
    #[inline(always)]
    fn update_u_and_theta(
        state: &mut PrimalDual,
        oracle: &mut Oracle<'_>,
        pace: &Pace,
        i: usize,
        change: &[f64],
    ) {
        Self::update_u(state, oracle, i, 1, change);
        state.primal_step(oracle, pace);
    }
}

/// Algorithms 1 and 2, box and all.
impl<V: UpdateU> Method for V {
    type State = PrimalDual;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> PrimalDual {
        PrimalDual::new(oracle, self.settings(), theta, V::STORES_JACOBIANS)
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut PrimalDual) {
        // theta_ref; U_0, fbar_i(theta_ref), fbar_i'(theta_ref)
        s.begin_outer(oracle, self.settings());
    }

    fn fits(&self, oracle: &Oracle<'_>, s: &PrimalDual) -> bool {
        s.automatic.as_ref().is_none_or(|automatic| automatic.is_of(oracle.d(), oracle.calls.total()))
    }

    fn inner_iterations(&self, s: &PrimalDual) -> usize {
        s.pace.inner_iterations
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut PrimalDual) {
        self.inner_steps(oracle, s, 1);
    }

    #[inline(always)]
    fn inner_steps(&self, oracle: &mut Oracle<'_>, s: &mut PrimalDual, count: usize) {
        let pace = &{ s.pace };
        if pace.is_batched() || pace.warming_up || s.lagged.is_on(oracle) {
            s.other_steps::<V>(oracle, pace, count);
        } else if s.next_reference.is_last() {
            for _ in 0..count {
                s.step::<V, true>(oracle, pace);
            }
        } else {
            for _ in 0..count {
                s.step::<V, false>(oracle, pace);
            }
        }
    }

    fn show(&self, oracle: &Oracle<'_>, s: &mut PrimalDual) {
        s.lagged.show(oracle, s.pace.alpha_theta, &s.u, &s.theta);
    }

    fn at_tempo(&self, tempo: Tempo) -> Option<Self> {
        let settings = self.settings();
        settings.guarded.then(|| {
            V::with(Settings {
                alpha_theta: tempo.steps * settings.alpha_theta,
                inner_iterations: tempo.inner_iterations(settings.inner_iterations),
                seed: tempo.seed(settings.seed),
                ..*settings
            })
        })
    }

    fn noise(&self) -> Noise {
        Noise::Circles
    }

    fn reference<'s>(&self, s: &'s PrimalDual) -> Option<(&'s [f64], &'s [f64])> {
        (!s.pace.warming_up).then_some((&s.theta_ref, &s.f_bar))
    }

    fn recovers(&self) -> bool {
        self.settings().automatic
    }

    fn theta<'s>(&self, s: &'s PrimalDual) -> &'s [f64] {
        s.output()
    }

    fn duals<'s>(&self, s: &'s PrimalDual) -> Option<&'s [f64]> {
        Some(&s.w)
    }
}

/// M where U follows single samples: it drifts from the batch gradient as a random walk does, the faster the fewer terms there are. Where
/// a pass over the data would pay for a long epoch of SVRPDA-I, SVRPDA-II has the root of it.
pub(super) fn drifting_epoch(inner_iterations: usize, n_x: usize) -> usize {
    inner_iterations.min(inner_iterations.isqrt().max(EPOCH * n_x))
}

/// `M / n_X` of it, at least.
const EPOCH: usize = 4;

/// One stream for each random variable of the boxes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Draws {
    /// `i_k`
    pub(super) dual_i: Stream,
    /// `j_k`
    pub(super) dual_j: Stream,
    /// `i'_k`
    pub(super) primal_i: Stream,
    /// `j'_k`
    pub(super) primal_j: Stream,
    /// `j''_k`
    pub(super) u_j: Stream,
    /// t of Option II
    pub(super) reference: Stream,
}

impl Draws {
    fn new(seed: u64) -> Self {
        let stream = |number| Stream::new(seed, number);
        Draws {
            dual_i: stream(0),
            dual_j: stream(1),
            primal_i: stream(2),
            primal_j: stream(3),
            u_j: stream(4),
            reference: stream(5),
        }
    }
}

/// The state of SVRPDA-I and II.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PrimalDual {
    /// `theta^(k)`
    pub theta: Aligned,
    /// `w^(k)`, flat: i owns `[i * ell..(i + 1) * ell]`
    pub w: Vec<f64>,
    /// The reference point
    pub theta_ref: Aligned,
    /// `fbar_i(theta_ref)`, flat
    pub f_bar: Vec<f64>,
    /// `fbar_i'(theta_ref)`, ell rows of d for each i; empty in SVRPDA-II, and where f tells its supports
    pub jac_bar: Vec<f64>,
    /// The same at the supports of f, if it tells them and some `n_Yi` is above 1
    pub(super) sparse_jac_bar: Option<SparseRows>,
    /// `U_k`
    pub u: Aligned,
    /// k, counted from 0 at each snapshot
    pub k: usize,
    /// Outer iterations begun
    pub outer: usize,
    /// What the steps of this outer iteration are made with
    pub pace: Pace,
    /// What finds it, where steps are automatic
    automatic: Option<Automatic>,
    /// Whether U adds up Jacobians of single samples, as in SVRPDA-II
    drifts: bool,
    next_reference: NextReference,
    /// Whether the Jacobians are those of an affine f, good for ever
    jac_bar_known: bool,
    /// Which coordinates of theta are behind, if f and g allow it
    lagged: Lagged,
    /// Three vectors of length ell, for the dual step
    scratch: Vec<f64>,
    delta_theta: Aligned,
    pub(super) draws: Draws,
}

impl PrimalDual {
    /// Everything allocated, nothing queried; duals at zero.
    fn new(oracle: &Oracle<'_>, settings: &Settings, theta: &[f64], stores_jacobians: bool) -> Self {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        assert_eq!(theta.len(), d, "the start has the problem's dimension");
        let sparse = oracle.affine() && oracle.support(0).is_some();
        let jacobians = if stores_jacobians && !sparse { n_x * d * ell } else { 0 };
        let averaged = (0..n_x).any(|i| oracle.n_y(i) > 1);
        PrimalDual {
            theta: theta.into(),
            w: vec![0.0; n_x * ell],
            theta_ref: theta.into(),
            f_bar: vec![0.0; n_x * ell],
            jac_bar: vec![0.0; jacobians],
            sparse_jac_bar: (stores_jacobians && sparse && averaged)
                .then(|| oracle.sparse_mean_jacobians(theta))
                .flatten(),
            u: Aligned::zeros(d),
            k: 0,
            outer: 0,
            pace: Pace::new(settings),
            automatic: settings.automatic.then(Automatic::new),
            drifts: !stores_jacobians,
            next_reference: NextReference::new(settings.reference, theta, n_x * ell),
            jac_bar_known: false,
            lagged: Lagged::new(
                oracle,
                settings.reference != Reference::Average && !Pace::new(settings).is_batched(),
            ),
            scratch: vec![0.0; 3 * ell],
            delta_theta: Aligned::zeros(d),
            draws: Draws::new(settings.seed),
        }
    }

    /// The head of the outer loop: choose `theta_ref` and compute `U_0`, `fbar_i(theta_ref)` and, where they are stored,
    /// `fbar_i'(theta_ref)`.
    fn begin_outer(&mut self, oracle: &mut Oracle<'_>, settings: &Settings) {
        if let Some(theta) = self.next_reference.theta().filter(|_| self.outer > settings.warmup_epochs) {
            self.theta.copy_from_slice(theta);
        }
        self.outer += 1;
        self.k = 0;
        let first = self.outer == settings.warmup_epochs + 1;
        self.pace.warming_up = self.outer <= settings.warmup_epochs;
        if self.pace.warming_up || (settings.single_loop && !first) {
            return;
        }
        if settings.automatic {
            self.begin_automatic(oracle, settings);
        } else {
            self.theta_ref.copy_from_slice(&self.theta);
            // Differs: Algorithm 1 leaves w_0 open. phi_i'(fbar_i(theta_0)) is at hand after the first snapshot.
            self.snapshot(oracle, first && settings.warmup_epochs == 0);
            if settings.guarded {
                self.pace = Pace::new(settings);
                if !first {
                    oracle.ask_all_merits();
                }
            }
        }
        self.next_reference.begin(self.pace.inner_iterations, &mut self.draws.reference);
    }

    /// `U_0`, `fbar_i(theta_ref)` and, where they are stored, `fbar_i'(theta_ref)`; duals start anew if asked for.
    fn snapshot(&mut self, oracle: &mut Oracle<'_>, starting: bool) {
        let PrimalDual { theta_ref, w, f_bar, jac_bar, u, .. } = self;
        if !jac_bar.is_empty() && !oracle.affine() {
            oracle.snapshot_with_jacobians(theta_ref, starting, w, f_bar, jac_bar, u);
        } else if starting {
            oracle.snapshot_with_duals(theta_ref, w, f_bar, u);
        } else {
            oracle.snapshot(theta_ref, w, f_bar, u);
        }
        if !self.jac_bar.is_empty() && oracle.affine() && !self.jac_bar_known {
            oracle.mean_jacobians(&self.theta_ref, &mut self.jac_bar);
            self.jac_bar_known = true;
        }
    }

    /// The current iterate or, at the end of an outer iteration, the next reference point.
    fn output(&self) -> &[f64] {
        let ended = self.k == self.pace.inner_iterations && !self.pace.warming_up;
        self.next_reference.theta().filter(|_| ended).unwrap_or_else(|| self.lagged.shown(&self.theta))
    }
}
