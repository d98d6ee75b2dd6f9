//! What SCGD and ASC-PG share: theta, and an average y that follows `fbar(theta)` by single
//! samples. Form: a sample shared by all terms, where f does not depend on i.

use serde::{Deserialize, Serialize};

use crate::draws::Stream;
use crate::linalg::vector::{Aligned, update_with};
use crate::oracle::Oracle;

/// The state of SCGD and ASC-PG.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tracking {
    /// The iterate.
    pub theta: Aligned,
    /// y, which follows `fbar(theta)`
    pub y: Vec<f64>,
    /// Where f is looked at: in ASC-PG, ahead of theta.
    pub(in crate::methods) z: Aligned,
    value: Vec<f64>,
    slope: Vec<f64>,
    direction: Aligned,
    /// Steps made.
    k: u64,
    /// n, the steps of about a pass over the data.
    pub(in crate::methods) pass: usize,
    /// The outer term, the sample for f', and in ASC-PG another for f.
    i: Stream,
    j: Stream,
    other_j: Stream,
}

impl Tracking {
    /// Everything allocated, nothing asked.
    pub(in crate::methods) fn new(oracle: &Oracle<'_>, theta: &[f64], seed: u64) -> Self {
        let (d, ell) = (oracle.d(), oracle.ell());
        Tracking {
            theta: theta.into(),
            y: vec![0.0; ell],
            z: theta.into(),
            value: vec![0.0; ell],
            slope: vec![0.0; ell],
            direction: Aligned::zeros(d),
            k: 0,
            pass: oracle.n_x().max(oracle.n_y(0)),
            i: Stream::new(seed, 0),
            j: Stream::new(seed, 1),
            other_j: Stream::new(seed, 2),
        }
    }

    /// Goes on from theta; steps and weights fall on from where they were. By now a weight is so
    /// small that y must begin at the average itself: `n_Y` calls.
    pub(in crate::methods) fn restart(&mut self, oracle: &mut Oracle<'_>, theta: &[f64]) {
        self.theta.copy_from_slice(theta);
        self.z.copy_from_slice(theta);
        oracle.mean(theta, 0, &mut self.value, &mut self.y);
    }

    /// Whether no step has been made.
    #[inline(always)]
    pub(in crate::methods) fn at_start(&self) -> bool {
        self.k == 0
    }

    /// `1 + k/n`, the passes begun, for a step or a weight that falls like a power of it.
    #[inline(always)]
    pub(in crate::methods) fn passes(&self) -> f64 {
        1.0 + self.k as f64 / self.pass as f64
    }

    /// Draws i and j.
    #[inline(always)]
    pub(in crate::methods) fn draw(&mut self, oracle: &Oracle<'_>) -> (usize, usize) {
        (self.i.index(oracle.n_x()), self.j.index(oracle.n_y(0)))
    }

    /// Draws a j of its own.
    #[inline(always)]
    pub(in crate::methods) fn draw_other(&mut self, oracle: &Oracle<'_>) -> usize {
        self.other_j.index(oracle.n_y(0))
    }

    /// `y <- (1 - b) y + b f_z(y_j)`
    #[inline(always)]
    pub(in crate::methods) fn follow(&mut self, oracle: &mut Oracle<'_>, j: usize, b: f64) {
        oracle.value(&self.z, 0, j, &mut self.value);
        update_with(&mut self.y, &self.value, |y, value| (1.0 - b) * y + b * value);
    }

    /// `theta <- prox_{a g}(theta - a f'_theta(y_j) phi_i'(y))`
    #[inline(always)]
    pub(in crate::methods) fn descend(
        &mut self,
        oracle: &mut Oracle<'_>,
        i: usize,
        j: usize,
        a: f64,
    ) {
        oracle.merit_gradient(i, &self.y, &mut self.slope);
        self.direction.fill(0.0);
        oracle.add_jac_t(&self.theta, 0, j, &self.slope, 1.0, &mut self.direction);
        oracle.g().step(a, &self.direction, &mut self.theta);
        self.k += 1;
    }
}
