//! `F_i(theta) = phi_i(fbar_i(theta))` as one component of a finite sum: what SVRG and SAGA share.

use serde::{Deserialize, Serialize};

use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::curvature;

/// Room for the averages and duals of one component.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::methods) struct Component {
    f_bar: Vec<f64>,
    w: Vec<f64>,
    work: Vec<f64>,
}

impl Component {
    pub(in crate::methods) fn new(ell: usize) -> Self {
        let zeros = vec![0.0; ell];
        Component { f_bar: zeros.clone(), w: zeros.clone(), work: zeros }
    }

    /// `w = phi_i'(fbar_i(theta))`, so that `F_i'(theta) = fbar_i'(theta) w`.
    #[inline(always)]
    pub(in crate::methods) fn dual(
        &mut self,
        oracle: &mut Oracle<'_>,
        theta: &[f64],
        i: usize,
    ) -> &[f64] {
        oracle.mean(theta, i, &mut self.work, &mut self.f_bar);
        oracle.merit_gradient(i, &self.f_bar, &mut self.w);
        &self.w
    }

    /// `w - old`: for affine f, `fbar_i'` times it is the change of `F_i'`.
    #[inline(always)]
    pub(in crate::methods) fn dual_change(
        &mut self,
        oracle: &mut Oracle<'_>,
        theta: &[f64],
        i: usize,
        old: &[f64],
    ) -> &[f64] {
        self.dual(oracle, theta, i);
        for (w, old) in self.w.iter_mut().zip(old) {
            *w -= old;
        }
        &self.w
    }
}

/// How many steps ahead rows are prefetched.
pub(in crate::methods) const AHEAD: usize = 4;

/// The default step, `1 / (3 L)`, where L is [`curvature::of_draws`]; half of it where f is not
/// affine: its own curvature is not in the estimate of L.
///
/// Defazio et al. have the largest `L_i` for L, with which the paper's 18 portfolios take four
/// times as many passes; there, steps twice as long are slower, and about three times as long
/// diverge on some.
pub(in crate::methods) fn step(problem: Objective<'_>, theta: &[f64]) -> f64 {
    let safety = if problem.inner.facts().affine { 1.0 } else { 0.5 };
    let curvature = curvature::of_draws(problem, theta);

    if curvature > 0.0 { safety / (3.0 * curvature) } else { 1.0 }
}
