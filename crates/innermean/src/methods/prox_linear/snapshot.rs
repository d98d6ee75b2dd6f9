//! What a snapshot leaves behind: a point, the averages and Jacobians there, and what phi says of
//! them.

use serde::{Deserialize, Serialize};

use crate::model::collapse::Collapsed;
use crate::model::inner::Fused;
use crate::oracle::{Merits, Oracle};

/// The linear model of all averages at a point.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Snapshot {
    /// `theta_ref`
    pub(super) theta: Vec<f64>,
    /// `fbar_i'`, with offsets of 0
    pub(super) rows: Collapsed,
    /// `fbar_i`, flat
    pub(super) f_bar: Vec<f64>,
    pub(super) merits: Merits,
    /// `P(theta_ref)`; infinite before there is one
    pub(super) objective: f64,
}

impl Snapshot {
    /// Room for one.
    pub(super) fn room(oracle: &Oracle<'_>, theta: &[f64]) -> Self {
        let problem = oracle.problem();
        Snapshot {
            theta: theta.to_vec(),
            rows: Collapsed::room_for(problem.inner),
            f_bar: vec![0.0; oracle.n_x() * oracle.ell()],
            merits: Merits::room(problem),
            objective: f64::INFINITY,
        }
    }

    /// Of averages and Jacobians at hand: `n_X` phi.
    pub(super) fn of(
        oracle: &mut Oracle<'_>,
        theta: &[f64],
        rows: Collapsed,
        f_bar: Vec<f64>,
    ) -> Self {
        let merits = Merits::room(oracle.problem());
        let theta = theta.to_vec();
        let mut own = Snapshot { theta, rows, f_bar, merits, objective: f64::INFINITY };
        own.look(oracle);
        own
    }

    /// At theta, from at most this many samples of each term if not from all: a snapshot's calls of
    /// these, and `n_X` phi.
    pub(super) fn take(&mut self, oracle: &mut Oracle<'_>, theta: &[f64], most: Option<usize>) {
        self.theta.copy_from_slice(theta);
        oracle.pass().rows_and_means(theta, most, &mut self.rows, &mut self.f_bar);
        self.look(oracle);
    }

    /// At another point of an affine f, whose Jacobians stay: `n_X` phi.
    pub(super) fn move_to(&mut self, oracle: &mut Oracle<'_>, theta: &[f64]) {
        let along = self.along(theta);
        self.theta.copy_from_slice(theta);
        for (f_bar, along) in self.f_bar.iter_mut().zip(&along) {
            *f_bar += along;
        }
        self.look(oracle);
    }

    fn look(&mut self, oracle: &mut Oracle<'_>) {
        if oracle.phi().has_kinks() {
            self.merits.loss = oracle.loss(&self.f_bar);
        } else {
            oracle.merits(&self.f_bar, &mut self.merits);
        }
        self.objective = self.merits.loss + oracle.g().value(&self.theta);
    }

    /// `fbar_i'^T (theta - theta_ref)` for all i.
    pub(super) fn along(&self, theta: &[f64]) -> Vec<f64> {
        let step: Vec<f64> = theta.iter().zip(&self.theta).map(|(x, here)| x - here).collect();
        let mut along = vec![0.0; self.f_bar.len()];
        self.rows.f().means(&step, &mut along);
        along
    }
}
