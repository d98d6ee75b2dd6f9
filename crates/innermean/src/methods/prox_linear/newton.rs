//! Damped Newton steps to the minimum of the model, for a phi without kinks: the model is looked at
//! where a step ends, one query of each phi that gives value, slope and curvature.

use super::snapshot::Snapshot;
use super::system::System;
use crate::linalg::vector::{axpy, distance_squared, dot};
use crate::methods::newton::MOST;
use crate::methods::program;
use crate::model::inner::Fused;
use crate::model::regularizer::Parts;
use crate::oracle::Oracle;

/// The steps end where they promise this part of what the first did: the last is made without a
/// look, and leaves the square of that or so.
const LAST_PROMISE: f64 = 1e-4;
/// Of the model's value, a promise that is rounding.
const ROUNDING: f64 = 1e-15;
/// The least fall, for what the slope says.
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// A model of an f that is not affine whose steps have to be shortened, at the end of a logarithm,
/// is left once looks at it have cost this part of the next snapshot.
const PART_OF_SNAPSHOT: f64 = 0.25;
/// A step that gained what its parabola says up to this part of it: the curvature has hardly
/// changed, and the next is made with the same matrix.
const AS_FORETOLD: f64 = 0.05;
/// The shortest part of a step that is tried.
const SHORTEST: f64 = 1e-9;

/// Whether the steps can be solved for: g is quadratic, or d moderate.
pub(super) fn has_system(oracle: &Oracle<'_>, g: &Parts) -> bool {
    g.are_smooth() || oracle.d() <= MOST
}

/// Moves `x` to the minimiser of the model and `(rho/2) |. - theta_ref|^2`; returns `m(x)`, or
/// where the last step was not looked at what it promises.
pub(super) fn minimise(
    oracle: &mut Oracle<'_>,
    here: &Snapshot,
    g: &Parts,
    rho: f64,
    most: usize,
    x: &mut Vec<f64>,
) -> f64 {
    let d = oracle.d();
    let snapshot = oracle.snapshot.total() as f64 / oracle.n_x() as f64;
    let worthwhile =
        if oracle.facts().affine { f64::INFINITY } else { PART_OF_SNAPSHOT * snapshot };
    x.copy_from_slice(&here.theta);
    let (mut u, mut merits) = (here.f_bar.clone(), here.merits.clone());
    let ridge = |x: &[f64]| 0.5 * rho * distance_squared(x, &here.theta);
    let (mut value, mut first, mut looks) = (here.objective, 0.0_f64, 0);
    let (mut at, mut try_x, mut next) = (u.clone(), x.clone(), merits.clone());
    let mut kept: Option<System<'_>> = None;
    loop {
        if oracle.patience.ends() {
            return value - ridge(x);
        }
        // F' of the model, and rho (x - theta_ref)
        let mut gradient = vec![0.0; d];
        here.rows.f().add_weighted_jac_t(x, &merits.w, &mut gradient);
        for ((slope, x), center) in gradient.iter_mut().zip(&*x).zip(&here.theta) {
            *slope += rho * (x - center);
        }
        let system = kept.get_or_insert_with(|| System::new(oracle, here, &merits.hessians));
        let (step, slope) = if g.are_smooth() {
            g.add_gradient(x, &mut gradient);
            let diagonal: Vec<f64> = g.l2().map(|l2| l2 + rho).collect();
            let mut step = gradient.clone();
            system.solve(&diagonal, &oracle.patience, &mut step);
            for p in &mut step {
                *p = -*p;
            }
            let slope = dot(&gradient, &step);
            (step, slope)
        } else {
            let matrix = system.matrix(rho);
            let mut target = x.clone();
            let prox = |alpha: f64, v: &[f64], x: &mut [f64]| oracle.g().step(alpha, v, x);
            program::solve(matrix, &gradient, g, prox, &mut target);
            let step: Vec<f64> = target.iter().zip(&*x).map(|(to, from)| to - from).collect();
            let slope = dot(&gradient, &step) + oracle.g().value(&target) - oracle.g().value(x);
            (step, slope)
        };
        let size = merits.loss.abs() + (value - merits.loss).abs();
        if slope.is_nan() || slope >= 0.0 {
            return value - ridge(x);
        }
        first = first.max(-slope);
        // What is lost in the rounding of values is not in that of slopes.
        if -slope <= (LAST_PROMISE * first).max(ROUNDING * size) {
            axpy(1.0, &step, x);
            oracle.problem().allow(x);
            return value + 0.5 * slope - ridge(x);
        }
        let mut along = vec![0.0; u.len()];
        here.rows.f().means(&step, &mut along);
        let mut tau = 1.0;
        loop {
            at.copy_from_slice(&u);
            axpy(tau, &along, &mut at);
            try_x.copy_from_slice(x);
            axpy(tau, &step, &mut try_x);
            if tau == 1.0 {
                // Exactly there: rounding must not carry it out of a constraint.
                oracle.problem().allow(&mut try_x);
            }
            oracle.merits(&at, &mut next);
            looks += 1;
            let there = next.loss + oracle.g().value(&try_x) + ridge(&try_x);
            if there <= value + SUFFICIENT_DECREASE * tau * slope + ROUNDING * size {
                let off = (value + 0.5 * slope - there).abs();
                if tau < 1.0 || off > AS_FORETOLD * -0.5 * slope {
                    kept = None;
                }
                value = there;
                break;
            }
            tau *= 0.5;
            if tau < SHORTEST || looks >= most {
                return value - ridge(x);
            }
        }
        std::mem::swap(&mut u, &mut at);
        std::mem::swap(x, &mut try_x);
        std::mem::swap(&mut merits, &mut next);
        if looks >= most || tau < 1.0 && looks as f64 >= worthwhile {
            return value - ridge(x);
        }
    }
}
