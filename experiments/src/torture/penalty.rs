//! g as the definition says: a sum over coordinates, with or without a budget and other limits.

use super::double_double::{Dd, Real};
use super::limits::Limits;

/// `tilt x + l1 |x| + (l2/2) x^2 - log ln x` on `lo <= x <= hi`.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// The slope of the linear term.
    pub tilt: Dd,
    /// The weight of `|x|`.
    pub l1: f64,
    /// The weight of `x^2 / 2`.
    pub l2: f64,
    /// The weight of the logarithm.
    pub log: f64,
    /// The least x.
    pub lo: f64,
    /// The largest x.
    pub hi: f64,
    /// Where scales are measured, if the bounds allow it.
    pub around: f64,
}

impl Part {
    /// 0 everywhere.
    pub const FREE: Part = Part {
        tilt: Dd::ZERO,
        l1: 0.0,
        l2: 0.0,
        log: 0.0,
        lo: f64::NEG_INFINITY,
        hi: f64::INFINITY,
        around: 0.0,
    };

    /// `-log ln x`
    fn barrier(&self, x: Dd) -> Dd {
        if self.log == 0.0 {
            Dd::ZERO
        } else if x > Dd::ZERO {
            -(x.ln() * Dd::from(self.log))
        } else {
            Dd::from(OUTSIDE)
        }
    }
}

/// The parts of all coordinates.
#[derive(Debug, Clone)]
pub struct Penalty {
    /// One for each coordinate.
    pub parts: Vec<Part>,
    /// This many coordinates, the first ones, sum to 1; 0 if there is no such budget.
    pub budget: usize,
    /// What the coordinates must meet together beyond that.
    pub limits: Option<Limits>,
}

/// As good as infinite, in numbers that a sum takes.
pub(super) const OUTSIDE: f64 = 1e200;
/// How far, relative to their size, numbers may be beyond a constraint and still be repaired.
pub(super) const SLACK: f64 = 1e-9;

impl Penalty {
    /// `g(theta)`, the constraints left out.
    pub fn value(&self, theta: &[Dd]) -> Dd {
        let half = Dd::from(0.5);
        let part = |(part, &x): (&Part, &Dd)| {
            let norms = x.abs() * Dd::from(part.l1) + x * x * Dd::from(part.l2) * half;
            x * part.tilt + norms + part.barrier(x)
        };
        let limits = self.limits.as_ref().map_or(Dd::ZERO, |limits| limits.value(theta));
        self.parts.iter().zip(theta).map(part).sum::<Dd>() + limits
    }

    /// The sum of the sizes of all that the value is made of.
    pub fn size(&self, theta: &[Dd]) -> Dd {
        let size = |(part, x): (&Part, &Dd)| (*x * part.tilt).abs() + part.barrier(*x).abs();
        self.parts.iter().zip(theta).map(size).sum::<Dd>() + self.value(theta).abs()
    }

    /// How far below 0 the value is where it is least along one coordinate, the constraint on their
    /// sum left out: infinite where nothing holds it.
    pub fn depth(&self) -> f64 {
        let depth = |part: &Part| {
            let Part { l1, l2, lo, hi, .. } = *part;
            let tilt = part.tilt.rounded();
            let slope = (tilt.abs() - l1).max(0.0);
            let most = if tilt > 0.0 { -lo } else { hi };
            if slope == 0.0 {
                return 0.0;
            }
            let x = if l2 > 0.0 { (slope / l2).min(most) } else { most };
            (slope * x - 0.5 * l2 * x * x).max(0.0)
        };
        self.parts.iter().map(depth).fold(0.0, f64::max)
    }

    /// theta, or what rounding has taken it from: within bounds and limits, and with a sum of
    /// exactly 1 where there is a budget. None if it is further away than rounding explains.
    pub fn repaired(&self, theta: &[Dd]) -> Option<Vec<Dd>> {
        let theta = self.within_bounds(theta)?;
        match &self.limits {
            Some(limits) => limits.drawn_in(&theta),
            None => Some(theta),
        }
    }

    fn within_bounds(&self, theta: &[Dd]) -> Option<Vec<Dd>> {
        let mut theta = theta.to_vec();
        for (x, part) in theta.iter_mut().zip(&self.parts) {
            let (lo, hi) = (Dd::from(part.lo), Dd::from(part.hi));
            let room = Dd::from(SLACK * (1.0 + x.rounded().abs()));
            if !x.is_finite() || *x < lo - room || *x > hi + room {
                return None;
            }
            *x = x.max(lo).min(hi);
        }
        if self.budget == 0 {
            return Some(theta);
        }
        let spent = &theta[..self.budget];
        let size: Dd = spent.iter().map(|x| x.abs()).sum();
        let excess = spent.iter().copied().sum::<Dd>() - Dd::ONE;
        if excess.abs() > (size + Dd::ONE) * Dd::from(SLACK) {
            return None;
        }
        // What is too much is taken from the coordinate with the most room.
        let room = |l: usize| {
            let Part { lo, hi, .. } = self.parts[l];
            if excess > Dd::ZERO { theta[l] - Dd::from(lo) } else { Dd::from(hi) - theta[l] }
        };
        let most = (0..self.budget).reduce(|a, b| if room(b) > room(a) { b } else { a })?;
        let fits = room(most) >= excess.abs();
        theta[most] -= excess;
        fits.then_some(theta)
    }

    /// A point that lies within all bounds, and not on one: the nearest to the origin that is at a
    /// distance of 1 or in the middle.
    pub fn inside(&self) -> Vec<Dd> {
        if let Some(limits) = &self.limits {
            return limits.inside.clone();
        }
        let inside = |part: &Part| match (part.lo.is_finite(), part.hi.is_finite()) {
            (true, true) => {
                let margin = 0.01 * (part.hi - part.lo);
                0.0_f64.clamp(part.lo + margin, part.hi - margin)
            }
            (true, false) if part.around > part.lo => part.around,
            (true, false) => 0.0_f64.max(part.lo + 1.0),
            (false, true) => 0.0_f64.min(part.hi - 1.0),
            (false, false) => 0.0,
        };
        let mut point: Vec<Dd> = self.parts.iter().map(|part| Dd::from(inside(part))).collect();
        self.spend(&mut point);
        point
    }

    /// Spends the budget evenly.
    fn spend(&self, point: &mut [Dd]) {
        point[..self.budget].fill(Dd::ONE / Dd::from(self.budget.max(1)));
    }

    /// The point that scales are measured at: the origin, or the one next to it that the
    /// constraints allow.
    pub fn origin(&self) -> Vec<Dd> {
        if let Some(limits) = &self.limits {
            return limits.inside.clone();
        }
        let nearest = |part: &Part| Dd::from(part.around.clamp(part.lo, part.hi));
        let mut point: Vec<Dd> = self.parts.iter().map(nearest).collect();
        self.spend(&mut point);
        point
    }
}
