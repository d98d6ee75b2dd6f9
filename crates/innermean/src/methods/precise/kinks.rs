//! Kinks of phi, and kinks and bounds of g, smoothed around duals.

use serde::{Deserialize, Serialize};

use crate::linalg::precise::{Double, Factor};
use crate::methods::multipliers;
use crate::model::regularizer::{Coordinate, Parts};
use crate::oracle::Oracle;

/// By which penalties grow when duals are renewed, and how often they do at most.
const GROWTH: f64 = 10.0;
const MOST_GROWTHS: u32 = 10;
/// Penalty times theta, for a dual as 1, up to which a dual is found to ten digits or more.
const MOST_PENALTY: f64 = 1e20;

/// The duals and their penalties.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Kinks {
    /// `w_i`, flat, and those that come next; none for a phi without kinks
    w: Vec<f64>,
    next: Vec<f64>,
    sigma: f64,
    /// `y_l` and `s_l`, which is 0 where `g_l` has neither kink nor bound
    y: Vec<Double>,
    penalties: Vec<f64>,
    growths: u32,
}

impl Kinks {
    /// At averages, with the Gram matrix of the rows.
    pub(super) fn new(oracle: &mut Oracle<'_>, f_bar: &[f64], gram: &[Double]) -> Self {
        let g = oracle.problem().parts().expect("the method has been chosen for this problem");
        let d = g.parts.len();
        let mut kinks = Kinks {
            w: Vec::new(),
            next: Vec::new(),
            sigma: multipliers::first_penalty(oracle, f_bar),
            y: vec![Double::ZERO; d],
            penalties: vec![0.0; d],
            growths: 0,
        };
        if oracle.phi().gamma() <= 0.0 {
            // Where phi* is finite.
            let zeros = vec![0.0; f_bar.len()];
            kinks.w.clone_from(&zeros);
            oracle.problem().envelope(f64::MIN_POSITIVE, &zeros, f_bar, &mut kinks.w);
            kinks.next.clone_from(&kinks.w);
            // A ridge that outweighs the envelopes would hide where they lead.
            for (l, part) in g.parts.iter().enumerate() {
                let stiff = part.l2 / gram[l * d + l].hi;
                kinks.sigma = if stiff.is_finite() { kinks.sigma.max(stiff) } else { kinks.sigma };
            }
        }
        let bend = kinks.bend(oracle, &[1.0]);
        let factor = Factor::new(gram, d);
        for (l, part) in g.parts.iter().enumerate().filter(|(_, part)| !part.is_smooth()) {
            // How far F bends along l where the others follow, 1 / (H^-1)_ll.
            let mut unit = vec![Double::ZERO; d];
            unit[l] = Double::from(1.0);
            factor.solve(&mut unit);
            let alone = if unit[l].hi > 0.0 { 1.0 / unit[l].hi } else { gram[l * d + l].hi };
            let size = bend * alone + part.l2;
            kinks.penalties[l] = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        }
        if g.budget {
            // What adds up has one unit, and a multiplier for all.
            let most = kinks.penalties.iter().copied().fold(0.0, f64::max);
            kinks
                .penalties
                .iter_mut()
                .filter(|penalty| **penalty > 0.0)
                .for_each(|penalty| *penalty = most);
        }
        kinks
    }

    /// Whether there is nothing to smooth.
    pub(super) fn are_none(&self) -> bool {
        self.w.is_empty() && self.penalties.iter().all(|penalty| *penalty == 0.0)
    }

    /// The most that phi bends, as it is smoothed; of these second derivatives, where that has no
    /// bound.
    pub(super) fn bend(&self, oracle: &Oracle<'_>, curvatures: &[f64]) -> f64 {
        let gamma = oracle.phi().gamma();
        if !self.w.is_empty() {
            self.sigma
        } else if oracle.phi().quadratic_form().is_some() {
            1.0
        } else if gamma > 0.0 && gamma.is_finite() {
            1.0 / gamma
        } else {
            curvatures.iter().copied().fold(0.0, f64::max)
        }
    }

    /// `phi_i'` and `phi_i''` at averages, of phi as it is smoothed.
    pub(super) fn merits(&self, oracle: &mut Oracle<'_>, f_bar: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut first, mut second) = (vec![0.0; f_bar.len()], vec![0.0; f_bar.len()]);
        if self.w.is_empty() {
            oracle.pass().merits(f_bar, &mut first, &mut second);
        } else {
            oracle.problem().envelope(self.sigma, &self.w, f_bar, &mut first);
            oracle.problem().envelope_slopes(self.sigma, &self.w, f_bar, &mut second);
            for second in &mut second {
                *second *= self.sigma;
            }
        }
        (first, second)
    }

    /// The q of `m_l(x)`, and whether it stays there as x moves.
    fn nearest(&self, part: &Coordinate, l: usize, x: Double) -> (Double, bool) {
        let s = Double::from(self.penalties[l]);
        let p = x + self.y[l] / s;
        let threshold = Double::from(part.l1) / s;
        let (above, below) = (p - threshold, p + threshold);
        let (q, rests) = match (above.hi > 0.0, below.hi < 0.0) {
            (true, _) => (above, false),
            (_, true) => (below, false),
            _ => (Double::ZERO, part.l1 > 0.0),
        };
        let q = if part.l1 > 0.0 { q } else { p };
        if (q - Double::from(part.lo)).hi < 0.0 {
            (Double::from(part.lo), true)
        } else if (q - Double::from(part.hi)).hi > 0.0 {
            (Double::from(part.hi), true)
        } else {
            (q, rests)
        }
    }

    /// `m_l'(x)` and `m_l''(x)`
    pub(super) fn slope(&self, part: &Coordinate, l: usize, x: Double) -> (Double, f64) {
        let s = self.penalties[l];
        if s == 0.0 {
            return (Double::ZERO, 0.0);
        }
        let (q, rests) = self.nearest(part, l, x);
        if rests {
            (self.y[l] + Double::from(s) * (x - q), s)
        } else {
            let side = if q.hi > 0.0 { part.l1 } else { -part.l1 };
            (Double::from(side), 0.0)
        }
    }

    /// `theta_l` with the kinks and bounds that it rests at.
    pub(super) fn shown(&self, part: &Coordinate, l: usize, x: Double) -> Double {
        if self.penalties[l] == 0.0 || !x.is_finite() {
            return x;
        }
        let (q, rests) = self.nearest(part, l, x);
        let inside = |x: Double| Double::from(x.value().clamp(part.lo, part.hi));
        if rests { q } else { inside(x) }
    }

    /// Whether `theta_l` is at no kink and no bound.
    pub(super) fn moves(&self, part: &Coordinate, l: usize, x: Double) -> bool {
        self.penalties[l] == 0.0 || !self.nearest(part, l, x).1
    }

    /// The duals to show, of a phi with kinks.
    pub(super) fn duals(&self) -> Option<&[f64]> {
        (!self.next.is_empty()).then_some(&self.next)
    }

    /// Finds those that come next.
    pub(super) fn look(&mut self, oracle: &Oracle<'_>, f_bar: &[f64]) {
        if !self.w.is_empty() {
            oracle.problem().envelope(self.sigma, &self.w, f_bar, &mut self.next);
        }
    }

    /// What the change of the duals is worth, `|next - w|^2 / (2 sigma)` and the same of y.
    pub(super) fn change(&self, g: &Parts, theta: &[Double], n_x: usize) -> f64 {
        let squares: f64 =
            self.next.iter().zip(&self.w).map(|(next, w)| (next - w) * (next - w)).sum();
        let of_part = |(l, part): (usize, &Coordinate)| {
            let moved = (self.slope(part, l, theta[l]).0 - self.y[l]).hi;
            if self.penalties[l] > 0.0 { moved * moved / (2.0 * self.penalties[l]) } else { 0.0 }
        };
        squares / (2.0 * self.sigma * n_x as f64)
            + g.parts.iter().enumerate().map(of_part).sum::<f64>()
    }

    /// Takes the next duals, and larger penalties, that of averages at least so large.
    pub(super) fn renew(&mut self, g: &Parts, theta: &[Double], least: f64) {
        self.w.copy_from_slice(&self.next);
        for (l, part) in g.parts.iter().enumerate().filter(|(_, part)| !part.is_smooth()) {
            self.y[l] = self.slope(part, l, theta[l]).0;
        }
        if self.growths < MOST_GROWTHS {
            self.growths += 1;
            self.sigma *= GROWTH;
            for (l, penalty) in self.penalties.iter_mut().enumerate() {
                // Beyond, what rounds theta would move the duals.
                let most = MOST_PENALTY * (self.y[l].hi.abs() + g.parts[l].l1) / theta[l].hi.abs();
                let grown = GROWTH * *penalty;
                *penalty = if grown > most { penalty.max(most) } else { grown };
            }
        }
        self.sigma = self.sigma.max(least);
    }
}
