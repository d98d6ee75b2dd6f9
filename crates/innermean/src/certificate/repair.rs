//! Duals that meet g exactly, next to some that nearly do.
//!
//! Where `g*` is infinite at `-u`, by an excess `rho_l` on some coordinates B that may be no more
//! than rounding, duals without an excess lie nearby: with weights `W_r >= 0` and `H = (1/n) A_B' W
//! A_B`, those of `w - W A_B H^-1 rho`. They need not be computed. With `q^2 = rho' H^-1 rho`, and
//! because `(1/n) W_r a_r a_r' <= H`,
//!
//! ```text
//! |change of w_r| <= sqrt(n W_r) q,      |change of u_l| <= sqrt(H_ll) q  for l outside of B
//! ```
//!
//! so that it is enough to know that H is positive definite (`definite.rs`). A budget is one more
//! row of ones, of any weight, whose dual is its multiplier.

use super::definite::Definite;
use super::ground::Ground;
use super::newton::VANISHING;
use super::sizes::mean_square;
use crate::linalg::gram;
use crate::model::collapse::Collapsed;
use crate::model::problem::Objective;

/// The change of duals that takes an excess away, as far as it must be known.
pub(crate) struct Repair {
    /// `sqrt(n W_r)`, by which `w_r` may change for q = 1
    of_dual: Vec<f64>,
    /// `sqrt(H_ll)`, by which `u_l` may change for q = 1
    of_sum: Vec<f64>,
    q: f64,
    /// What phi's part of the gap grows by, where that is known for all duals together.
    added: Option<f64>,
}

/// Room that a dual needs on both sides, of its size, to be moved.
const ROOM: f64 = 1e-7;

/// Of the size of a column: what of it may be rounding if it is to be divided by.
const ROUNDING_OF_COLUMN: f64 = 0.1;

/// `phi_r''`; None where phi has kinks or no second derivatives.
pub(crate) fn bend(problem: Objective<'_>, f_bar: &[f64]) -> Option<Vec<f64>> {
    let mut bend = vec![0.0; f_bar.len()];
    let known = !problem.merit.has_kinks()
        && problem.merit.hessian_diagonal(0..problem.inner.n_x(), f_bar, &mut bend);
    // Not f64::max, which would drop a NaN.
    bend.iter_mut().filter(|x| **x < 0.0).for_each(|x| *x = 0.0);
    known.then_some(bend)
}

/// `W_r`: `phi_r''` or, where phi has kinks, 1; 0 for duals at an edge of the domain of `phi_r*`,
/// which stay there. None where phi has no second derivatives.
pub(crate) fn weights(ground: &Ground<'_>, f_bar: &[f64], w: &[f64]) -> Option<Vec<f64>> {
    let (merit, f) = (ground.problem.merit, ground.problem.inner);
    let (n_x, ell) = (f.n_x(), f.ell());
    let mut weights =
        if merit.has_kinks() { vec![1.0; w.len()] } else { bend(ground.problem, f_bar)? };
    let omega = mean_square(w, n_x);
    for sign in [-1.0, 1.0] {
        let moved: Vec<f64> =
            w.iter().map(|w| w + sign * ROOM * (w.abs() + ROOM * omega)).collect();
        let mut inside = moved.clone();
        merit.prox_conjugates(0..n_x, VANISHING, &mut inside);
        let terms = moved.chunks_exact(ell).zip(inside.chunks_exact(ell)).zip(w.chunks_exact(ell));
        for (((moved, inside), w), weights) in terms.zip(weights.chunks_exact_mut(ell)) {
            let stays = |k: usize| (inside[k] - moved[k]).abs() <= 0.5 * (moved[k] - w[k]).abs();
            if !(0..ell).all(stays) {
                weights.fill(0.0);
            }
        }
    }
    for weight in &mut weights {
        *weight = if *weight > 0.0 { *weight } else { 0.0 };
    }
    Some(weights)
}

/// `(1/n) A' W A`, d rows of length d.
pub(crate) fn gram(ground: &Ground<'_>, weight: &gram::Weight<'_>) -> Vec<f64> {
    let f = ground.problem.inner;
    let share = 1.0 / f.n_x() as f64;
    let weight = |r: usize| share * weight(r);
    f.gram(&weight)
        .unwrap_or_else(|| gram::weighted(&Collapsed::new(f, &vec![0.0; f.d()]), &weight))
}

impl Repair {
    /// For an excess, with a matrix as [`gram`] made it; None where it is not certain that there
    /// are such duals.
    pub(crate) fn new(
        ground: &Ground<'_>,
        weights: &[f64],
        matrix: &[f64],
        excess: &[f64],
        budget: bool,
    ) -> Option<Self> {
        let d = excess.len();
        let beyond: Vec<usize> = (0..d).filter(|l| excess[*l] != 0.0).collect();
        let m = beyond.len();
        if m == 0 {
            return None;
        }
        let mut block = Vec::with_capacity(m * m);
        for &r in &beyond {
            block.extend(beyond.iter().map(|&c| matrix[r.max(c) * d + r.min(c)]));
        }
        let mut of_sum: Vec<f64> =
            matrix.iter().step_by(d + 1).map(|entry| entry.max(0.0).sqrt()).collect();
        if budget {
            let weight = gram::size_across(m, &block);
            for entry in &mut block {
                *entry += weight;
            }
            for root in &mut of_sum {
                *root += weight.sqrt();
            }
        }
        let most = weights.iter().fold(0.0_f64, |most, weight| most.max(*weight));
        let definite = Definite::new(block, m, ground.gram_error(most, &beyond, matrix))?;
        let rho: Vec<f64> = beyond.iter().map(|l| excess[*l]).collect();
        // Its signs are not known: all of it is error.
        let (q, _) = definite.norm(&vec![0.0; m], &rho);
        let n_x = ground.problem.inner.n_x() as f64;
        q.is_finite().then(|| Repair {
            of_dual: weights.iter().map(|weight| (n_x * weight).sqrt()).collect(),
            of_sum,
            q,
            added: None,
        })
    }

    /// For an excess of one coordinate, along its column alone; None where that may be rounding, as
    /// the deviations of a constant from its mean are.
    pub(crate) fn along(
        ground: &Ground<'_>,
        weights: &[f64],
        (coordinate, column): (usize, &[f64]),
        excess: f64,
    ) -> Option<Self> {
        let (n_x, sizes) = (ground.n_x() as f64, ground.sizes());
        let bend: f64 =
            weights.iter().zip(column).map(|(weight, z)| weight * z * z).sum::<f64>() / n_x;
        let most = weights.iter().fold(0.0_f64, |most, weight| most.max(*weight)).sqrt();
        let lost = sizes.of_entry * most * sizes.columns[coordinate] / bend.sqrt();
        // Twice the excess for what rounding did to the sum.
        let q = 2.0 * excess / bend.sqrt();
        (q.is_finite() && lost < ROUNDING_OF_COLUMN).then(|| Repair {
            of_dual: weights.iter().map(|weight| (n_x * weight).sqrt()).collect(),
            of_sum: sizes.columns.iter().map(|size| most * size).collect(),
            q,
            added: None,
        })
    }

    /// For duals of classes, see `class_balance.rs`.
    pub(crate) fn of_classes(of_sum: Vec<f64>, spread: f64, added: f64) -> Self {
        Repair { of_dual: Vec::new(), of_sum, q: spread, added: Some(added) }
    }

    /// What phi's part of the gap grows by at most, where that is known for all duals together and
    /// not by how much each may change.
    pub(crate) fn added(&self) -> Option<f64> {
        self.added
    }

    /// By how much `w_r` may change.
    pub(crate) fn of_dual(&self, r: usize) -> f64 {
        self.of_dual[r] * self.q
    }

    /// By how much `u_l` may change.
    pub(crate) fn of_sum(&self, l: usize) -> f64 {
        self.of_sum[l] * self.q
    }
}
