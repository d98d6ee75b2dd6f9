//! The step where d is large and g has kinks or bounds: quasi-Newton on the coordinates that are
//! free.
//!
//! The prox step by the diagonal says which coordinates stay at a bound or at 0, and on which side
//! of 0 the others are. There g is smooth; the step is that of L-BFGS from the diagonal, cut off
//! where a coordinate would pass a bound or 0 (Andrew and Gao, "Scalable Training of L1-Regularized
//! Log-Linear Models", 2007, for the l1 norm).

use crate::linalg::scalar::clamp;
use crate::methods::lbfgs::pairs::Pairs;
use crate::model::regularizer::Parts;

/// Replaces `target`, which comes in as the prox step by the diagonal from x, by the step that the
/// pairs make of it.
pub(super) fn improve(
    g: &Parts,
    diagonal: &[f64],
    pairs: &mut Pairs,
    (x, gradient): (&[f64], &[f64]),
    target: &mut [f64],
) {
    // The side of 0; none for what stays.
    let side = |l: usize, z: f64| {
        let (x, part) = (x[l], &g.parts[l]);
        let rests = x <= part.lo || x >= part.hi || part.l1 > 0.0 && x == 0.0;
        match (rests && z == x, part.l1 > 0.0) {
            (true, _) => None,
            (false, false) => Some(0.0),
            (false, true) if x == 0.0 => Some(z.signum()),
            (false, true) => Some(x.signum()),
        }
    };
    let sides: Vec<Option<f64>> = target.iter().enumerate().map(|(l, z)| side(l, *z)).collect();
    let slope = |l: usize, side: f64| {
        let part = &g.parts[l];
        gradient[l] + part.tilt + part.l1 * side + part.l2 * x[l]
    };
    let mut step: Vec<f64> =
        sides.iter().enumerate().map(|(l, side)| side.map_or(0.0, |side| slope(l, side))).collect();
    pairs.descend_from(&mut step, |q| {
        for ((q, bend), part) in q.iter_mut().zip(diagonal).zip(&g.parts) {
            *q /= bend + part.l2;
        }
    });
    for (l, target) in target.iter_mut().enumerate() {
        let (moved, part) = (x[l] + step[l], &g.parts[l]);
        *target = match sides[l] {
            None => x[l],
            Some(side) if moved * side < 0.0 => clamp(0.0, part.lo, part.hi),
            Some(_) => clamp(moved, part.lo, part.hi),
        };
    }
}
