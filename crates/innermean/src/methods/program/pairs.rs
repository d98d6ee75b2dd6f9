//! Steps within a budget: what one coordinate gains, another gives.
//!
//! The pair is the one whose slopes are farthest apart, among those that can move (Keerthi,
//! Shevade, Bhattacharyya and Murthy, "Improvements to Platt's SMO Algorithm for SVM Classifier
//! Design", 2001); the step is that to the minimum along it, or to the first bound or kink. One
//! costs two rows of B. A step of all coordinates together would be as short as the largest
//! eigenvalue of B is large, which pairs hardly see where all coordinates have much in common.

use super::{MOVED, Program};

/// Steps for each coordinate of the budget, before others are tried.
const STEPS: usize = 4;
/// Of the size of the slopes: less than what rounding makes of those that are equal.
const VISIBLE: f64 = 1e-14;

/// A coordinate, the slope in the direction in which it moves, and how far it can.
#[derive(Debug, Clone, Copy)]
struct Mover {
    l: usize,
    slope: f64,
    /// The next bound or kink.
    end: f64,
}

impl Program<'_> {
    /// Whether anything moved.
    pub(super) fn pair_steps(&mut self) -> bool {
        let budgeted = self.g.budgeted();
        let size = self.v[..budgeted].iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let mut moved = false;
        for _ in 0..STEPS * budgeted {
            let (Some(up), Some(down)) = self.movers() else { break };
            let rate = down.slope - up.slope;
            if rate.is_nan() || rate <= VISIBLE * size {
                break;
            }
            let (i, j) = (up.l, down.l);
            let l2 = self.g.parts[i].l2 + self.g.parts[j].l2;
            let bend = self.row(i)[i] + self.row(j)[j] - 2.0 * self.row(i)[j] + l2;
            let best = if bend > 0.0 { rate / bend } else { f64::INFINITY };
            let room = [up.end - self.x[i], self.x[j] - down.end];
            let tau = best.min(room[0]).min(room[1]);
            if !tau.is_finite() {
                break;
            }
            self.change(i, tau);
            self.change(j, -tau);
            // Exactly there: bounds and kinks are met by comparison.
            self.x[i] = if tau == room[0] { up.end } else { self.x[i] };
            self.x[j] = if tau == room[1] { down.end } else { self.x[j] };
            moved |= tau > MOVED * (1.0 + self.x[i].abs());
        }
        moved
    }

    /// The coordinate that gains most by growing, and the one that gains most by falling.
    fn movers(&self) -> (Option<Mover>, Option<Mover>) {
        let none = f64::INFINITY;
        let (mut up, mut down) = ((none, usize::MAX), (none, usize::MAX));
        let parts = &self.g.parts[..self.g.budgeted()];
        for (l, ((part, x), v)) in parts.iter().zip(&*self.x).zip(&self.v).enumerate() {
            let slope = v + part.tilt + part.l2 * x;
            let right = if *x < 0.0 { slope - part.l1 } else { slope + part.l1 };
            let left = if *x > 0.0 { slope + part.l1 } else { slope - part.l1 };
            if right < up.0 && *x < part.hi {
                up = (right, l);
            }
            if -left < down.0 && *x > part.lo {
                down = (-left, l);
            }
        }
        let mover = |(slope, l): (f64, usize), end: fn(f64, bool, (f64, f64)) -> f64| {
            let part = parts.get(l)?;
            let end = end(self.x[l], part.l1 > 0.0, (part.lo, part.hi));
            Some(Mover { l, slope, end })
        };
        let above = |x: f64, kink: bool, (_, hi): (f64, f64)| {
            if kink && x < 0.0 { hi.min(0.0) } else { hi }
        };
        let below = |x: f64, kink: bool, (lo, _): (f64, f64)| {
            if kink && x > 0.0 { lo.max(0.0) } else { lo }
        };
        (mover(up, above), mover((-down.0, down.1), below))
    }
}
