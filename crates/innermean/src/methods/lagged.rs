//! Steps on a theta of which most coordinates are left for later.
//!
//! Between two looks at coordinate l the direction along l does not change, so that the k steps
//! which it has missed are `theta_l <- prox_{alpha g_l}(theta_l - alpha direction_l)`, k times, and
//! these have a closed form
//! ([`Coordinate::repeated_step`](crate::model::regularizer::Coordinate::repeated_step)). A clock
//! counts the steps and remembers for each coordinate when it was last brought up to date. So a
//! step costs as much as it looks at, whatever d is; see [`Oracle::lags`] for when that pays. Where
//! a method averages its iterates, every step looks at all of theta, and nothing lags.
//!
//! Whoever looks from outside gets a copy that is up to date, and the run goes on as if no one had
//! looked: rounding must not depend on when a user is curious.

use serde::{Deserialize, Serialize};

use crate::oracle::Oracle;

/// The clock of a theta that lags, or of one that does not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Lagged {
    /// Steps made.
    now: u64,
    /// Steps made on each coordinate; empty if none lags.
    #[serde(with = "crate::run::checkpoint::shape::sized")]
    made: Vec<u64>,
    /// theta as it was when last looked at, and when that was.
    shown: (Option<u64>, Vec<f64>),
}

impl Lagged {
    /// The clock for a problem on which `wanted` steps may lag.
    pub(super) fn new(oracle: &Oracle<'_>, wanted: bool) -> Self {
        let d = if wanted && oracle.lags() { oracle.d() } else { 0 };
        Lagged { now: 0, made: vec![0; d], shown: (None, vec![0.0; d]) }
    }

    /// Whether coordinates lag.
    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        !self.made.is_empty()
    }

    /// Brings some coordinates of theta up to date.
    #[inline(always)]
    pub(super) fn catch_up(
        &mut self,
        oracle: &Oracle<'_>,
        support: &[u32],
        alpha: f64,
        direction: &[f64],
        theta: &mut [f64],
    ) {
        for &l in support {
            let l = l as usize;
            let missed = self.missed(l);
            if missed > 0 {
                theta[l] = oracle.repeated_step(l, missed, alpha, direction[l], theta[l]);
            }
        }
    }

    /// How many steps coordinate l has missed; whoever asks makes them.
    #[inline(always)]
    pub(super) fn missed(&mut self, l: usize) -> u64 {
        self.now.saturating_sub(std::mem::replace(&mut self.made[l], self.now))
    }

    /// Whether coordinate l, which is up to date, has yet to make the coming step; whoever asks
    /// makes it. A coordinate may be in the supports of several terms of a step.
    #[inline(always)]
    pub(super) fn is_next(&mut self, l: usize) -> bool {
        std::mem::replace(&mut self.made[l], self.now + 1) == self.now
    }

    /// Makes the coming step at once on some coordinates, which are up to date, in a direction of
    /// their own. The direction is zero after it.
    #[inline(always)]
    pub(super) fn step_ahead(
        &mut self,
        oracle: &Oracle<'_>,
        support: &[u32],
        alpha: f64,
        direction: &mut [f64],
        theta: &mut [f64],
    ) {
        for &l in support {
            let l = l as usize;
            if self.is_next(l) {
                let direction = std::mem::take(&mut direction[l]);
                theta[l] = oracle.repeated_step(l, 1, alpha, direction, theta[l]);
            }
        }
    }

    /// A step has been made, of which most coordinates have heard nothing.
    #[inline(always)]
    pub(super) fn tick(&mut self) {
        self.now += 1;
    }

    /// Brings all of theta up to date.
    pub(super) fn catch_up_all(
        &mut self,
        oracle: &Oracle<'_>,
        alpha: f64,
        direction: &[f64],
        theta: &mut [f64],
    ) {
        for (l, theta) in theta.iter_mut().enumerate().take(self.made.len()) {
            let missed = self.missed(l);
            *theta = oracle.repeated_step(l, missed, alpha, direction[l], *theta);
        }
    }

    /// Makes a copy of theta that is up to date, for [`Self::shown`].
    pub(super) fn show(
        &mut self,
        oracle: &Oracle<'_>,
        alpha: f64,
        direction: &[f64],
        theta: &[f64],
    ) {
        let (when, shown) = &mut self.shown;
        *when = Some(self.now);
        for (l, shown) in shown.iter_mut().enumerate() {
            *shown = oracle.repeated_step(
                l,
                self.now.saturating_sub(self.made[l]),
                alpha,
                direction[l],
                theta[l],
            );
        }
    }

    /// The copy that is up to date if one has been made since the last step, otherwise theta
    /// itself.
    pub(super) fn shown<'s>(&'s self, theta: &'s [f64]) -> &'s [f64] {
        if self.shown.0 == Some(self.now) && !self.made.is_empty() { &self.shown.1 } else { theta }
    }
}
