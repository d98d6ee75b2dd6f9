//! The state of SVRPDA-I and II.

use serde::{Deserialize, Serialize};

use super::anderson::Anderson;
use super::automatic::Automatic;
use super::leak::Leaks;
use super::settings::{Pace, Settings};
use crate::draws::Stream;
use crate::linalg::vector::Aligned;
use crate::methods::lagged::Lagged;
use crate::methods::reference::{NextReference, Reference};
use crate::model::collapse::SparseRows;
use crate::oracle::Oracle;
use crate::tuning::choice::Mirror;

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
    pub(super) fn new(settings: &Settings) -> Self {
        let Settings { seed, anderson, .. } = *settings;
        let stream = |number, ratio| {
            // Differs: where outer iterations are mixed, they are the more alike the more evenly
            // each of them looks at all samples.
            if anderson > 0 { Stream::even(seed, number, ratio) } else { Stream::new(seed, number) }
        };
        Draws {
            dual_i: stream(0, 0),
            dual_j: stream(1, 1),
            primal_i: stream(2, 0),
            primal_j: stream(3, 1),
            u_j: stream(4, 2),
            reference: Stream::new(seed, 5),
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
    /// With the conjugate mirror, the `u_i` with `w_i = phi_i'(u_i)`, flat
    #[serde(with = "crate::run::checkpoint::shape::sized")]
    pub(super) points: Vec<f64>,
    /// `fbar_i(theta_ref)`, flat
    pub f_bar: Vec<f64>,
    /// `fbar_i'(theta_ref)`, ell rows of d for each i; empty in SVRPDA-II, and where f tells its
    /// supports
    #[serde(with = "crate::run::checkpoint::shape::sized")]
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
    pub(super) automatic: Option<Automatic>,
    /// What mixes the ends of outer iterations, where that is asked for
    pub(super) anderson: Option<Anderson>,
    /// Whether U adds up Jacobians of single samples, as in SVRPDA-II
    pub(super) drifts: bool,
    /// What draws it back
    pub(super) leaks: Leaks,
    pub(super) next_reference: NextReference,
    /// Whether the Jacobians are those of an affine f, good for ever
    pub(super) jac_bar_known: bool,
    /// Which coordinates of theta are behind, if f and g allow it
    pub(super) lagged: Lagged,
    /// `delta^w_k`, of length ell
    pub(super) delta_w: Vec<f64>,
    /// `w_i^(k) - w_i^(k-1)`
    pub(super) change: Vec<f64>,
    /// Scratch of the same length
    pub(super) work: Vec<f64>,
    /// `delta^theta_k`
    pub(super) delta_theta: Aligned,
    pub(super) draws: Draws,
}

impl PrimalDual {
    /// Everything allocated, nothing queried; duals at zero.
    pub(super) fn new(
        oracle: &Oracle<'_>,
        settings: &Settings,
        theta: &[f64],
        stores_jacobians: bool,
    ) -> Self {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        assert_eq!(theta.len(), d, "the start has the problem's dimension");
        let sparse = oracle.facts().affine && oracle.support(0).is_some();
        let jacobians = if stores_jacobians && !sparse { n_x * d * ell } else { 0 };
        let averaged = (0..n_x).any(|i| oracle.n_y(i) > 1);
        let lagged = Lagged::new(
            oracle,
            settings.reference != Reference::Average
                && !Pace::new(settings).is_batched()
                && Pace::new(settings).leak == 0.0,
        );
        // A leak would move every coordinate in every step.
        let leaks = !stores_jacobians && !lagged.is_on();
        let mirrored = settings.mirror == Mirror::Conjugate;
        PrimalDual {
            theta: theta.into(),
            w: vec![0.0; n_x * ell],
            points: vec![0.0; if mirrored { n_x * ell } else { 0 }],
            theta_ref: theta.into(),
            f_bar: vec![0.0; n_x * ell],
            jac_bar: vec![0.0; jacobians],
            sparse_jac_bar: (stores_jacobians && sparse && averaged)
                .then(|| SparseRows::mean_jacobians(oracle.problem().inner, theta))
                .flatten(),
            u: Aligned::zeros(d),
            k: 0,
            outer: 0,
            pace: Pace::new(settings),
            automatic: settings.automatic.then(Automatic::new),
            anderson: Anderson::new(settings, d),
            drifts: !stores_jacobians,
            leaks: Leaks::new(settings, leaks, n_x * ell, d),
            next_reference: NextReference::new(settings.reference, theta, n_x * ell),
            jac_bar_known: false,
            lagged,
            delta_w: vec![0.0; ell],
            change: vec![0.0; ell],
            work: vec![0.0; ell],
            delta_theta: Aligned::zeros(d),
            draws: Draws::new(settings),
        }
    }

    /// `U_0`, `fbar_i(theta_ref)` and, where they are stored, `fbar_i'(theta_ref)`; duals start
    /// anew if asked for.
    pub(super) fn snapshot(&mut self, oracle: &mut Oracle<'_>, starting: bool) {
        let PrimalDual { theta_ref, w, f_bar, jac_bar, u, .. } = self;
        if !jac_bar.is_empty() && !oracle.facts().affine {
            oracle.pass().snapshot_with_jacobians(theta_ref, starting, w, f_bar, jac_bar, u);
        } else if starting {
            oracle.pass().snapshot_with_duals(theta_ref, w, f_bar, u);
        } else {
            oracle.pass().snapshot(theta_ref, w, f_bar, u);
        }
        self.leaks.remember(&self.w, &self.u);
        if starting && !self.points.is_empty() {
            self.points.copy_from_slice(&self.f_bar);
        }
        if !self.jac_bar.is_empty() && oracle.facts().affine && !self.jac_bar_known {
            oracle.pass().mean_jacobians(&self.theta_ref, &mut self.jac_bar);
            self.jac_bar_known = true;
        }
    }

    /// The current iterate or, at the end of an outer iteration, the next reference point.
    pub(super) fn output(&self) -> &[f64] {
        let ended = self.k == self.pace.inner_iterations && !self.pace.warming_up;
        self.next_reference
            .theta()
            .filter(|_| ended)
            .unwrap_or_else(|| self.lagged.shown(&self.theta))
    }
}
