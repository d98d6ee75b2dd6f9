//! Accelerated proximal steps on the model, for a g of which nothing is known but its prox, and for
//! corners in many coordinates: as accurate as their number allows.

use super::snapshot::Snapshot;
use crate::linalg::vector::{distance_squared, update_with_both};
use crate::methods::backtracking::Backtracking;
use crate::methods::momentum::Momentum;
use crate::model::inner::Fused;
use crate::oracle::{Curvature, Merits, Oracle};

/// Steps for each point at which a Newton step would look: they are so much cheaper.
const STEPS: usize = 2;

/// Moves `x` from `theta_ref` towards the minimiser of the model and `(rho/2) |. - theta_ref|^2`;
/// returns `m(x)`.
pub(super) fn minimise(
    oracle: &mut Oracle<'_>,
    here: &Snapshot,
    rho: f64,
    most: usize,
    x: &mut [f64],
) -> f64 {
    let d = oracle.d();
    let tied = Curvature::of(oracle.problem()) == Curvature::Tied;
    // A first step from the curvature of the largest term, which proves itself later.
    let ell = oracle.ell();
    let bend = |i: usize| -> f64 {
        let size = |r: usize| {
            let mut row = vec![0.0; d];
            here.rows.row(i, r).add_to(1.0, &mut row);
            row.iter().map(|a| a * a).sum::<f64>()
        };
        let of = |r: usize| if tied { i * ell * ell + r * (ell + 1) } else { i * ell + r };
        (0..ell).map(|r| here.merits.hessians[of(r)].abs() * size(r)).sum()
    };
    let mean = (0..oracle.n_x()).map(bend).sum::<f64>() * oracle.one_over_n_x();
    let mut step = Backtracking::new(d, if mean > 0.0 { 1.0 / mean } else { 1.0 });
    let mut inner = Momentum::new(&here.theta);
    let (mut loss, mut w) = (here.merits.loss, here.merits.w.clone());
    let mut gradient = vec![0.0; d];
    let mut direction = vec![0.0; d];
    let look = |oracle: &mut Oracle<'_>, y: &[f64], w: &mut Vec<f64>| {
        let mut u = here.along(y);
        u.iter_mut().zip(&here.f_bar).for_each(|(u, f_bar)| *u += f_bar);
        let mut merits = Merits { loss: 0.0, w: std::mem::take(w), hessians: Vec::new() };
        oracle.merits(&u, &mut merits);
        *w = merits.w;
        merits.loss
    };
    for k in 0..STEPS * most {
        if k > 0 {
            loss = look(oracle, &inner.y, &mut w);
        }
        gradient.fill(0.0);
        here.rows.f().add_weighted_jac_t(&inner.y, &w, &mut gradient);
        if !step.accepts(&mut inner.y, &mut gradient, &mut loss) {
            inner.step_back();
        }
        // The prox of g + (rho/2) |. - theta_ref|^2 at y - alpha F'(y) is that of g with the step
        // tau: prox_{tau g}(y - tau (F'(y) + rho (y - theta_ref))), 1/tau = 1/alpha + rho.
        let tau = 1.0 / (1.0 / step.alpha + rho);
        direction.copy_from_slice(&gradient);
        update_with_both(&mut direction, &inner.y, &here.theta, |slope, y, center| {
            slope + rho * (y - center)
        });
        inner.step(true, |y| oracle.g().step(tau, &direction, y));
        if oracle.patience.ends() {
            break;
        }
    }
    let mut slopes = w;
    let m = look(oracle, &inner.theta, &mut slopes) + oracle.g().value(&inner.theta);
    let whole = m + 0.5 * rho * distance_squared(&inner.theta, &here.theta);
    if whole <= here.objective {
        x.copy_from_slice(&inner.theta);
        return m;
    }
    x.copy_from_slice(&here.theta);
    here.objective
}
