//! g along its coordinates, where it is a sum over them.

use std::sync::Arc;

use super::{Constraints, Coordinate, Regularizer};

/// `g(theta) = sum_l g_l(theta_l)`, with or without a budget `sum_l theta_l = 1`, but for a
/// constant: what second-order steps can be made with.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// `g_l`
    pub parts: Vec<Coordinate>,
    /// Whether `sum_l theta_l = 1`
    pub budget: bool,
    /// Coordinates at the end that are not part of the budget.
    pub outside: usize,
    /// What is asked of theta as a whole, if not a budget.
    pub constraints: Option<Arc<Constraints>>,
}

impl Parts {
    /// `g` of `d` coordinates, if it is such a sum, a budget is one of all coordinates, and there
    /// are no other constraints.
    pub fn of<G: Regularizer + ?Sized>(g: &G, d: usize) -> Option<Self> {
        Self::with_constraints(g, d).filter(|g| g.outside == 0 && g.constraints.is_none())
    }

    /// The same where a budget may leave out coordinates at the end, and with other constraints.
    pub fn with_constraints<G: Regularizer + ?Sized>(g: &G, d: usize) -> Option<Self> {
        let separate: Option<Vec<Coordinate>> = (0..d).map(|l| g.coordinate(l)).collect();
        if let Some(parts) = separate {
            return Some(Self::separate(parts));
        }
        let parts: Option<Vec<Coordinate>> = (0..d).map(|l| g.constrained_coordinate(l)).collect();
        let constraints = g.constraints().cloned();
        let budget = constraints.is_none();
        let outside = if budget { d - g.budgeted(d) } else { 0 };
        parts.map(|parts| Parts { parts, budget, outside, constraints })
    }

    /// A sum without a budget.
    pub fn separate(parts: Vec<Coordinate>) -> Self {
        Parts { parts, budget: false, outside: 0, constraints: None }
    }

    /// How many coordinates, the first ones, the budget sums up.
    pub fn budgeted(&self) -> usize {
        if self.budget { self.parts.len() - self.outside } else { 0 }
    }

    /// Whether g is a quadratic on all of `R^d`, with neither kink nor bound nor budget: `sum_l
    /// (l2_l/2) theta_l^2 + tilt_l theta_l`.
    pub fn are_smooth(&self) -> bool {
        !self.budget && self.constraints.is_none() && self.parts.iter().all(Coordinate::is_smooth)
    }

    /// `out += g'(theta)` where g is smooth.
    pub fn add_gradient(&self, theta: &[f64], out: &mut [f64]) {
        for ((part, theta), out) in self.parts.iter().zip(theta).zip(out) {
            *out += part.tilt + part.l2 * theta;
        }
    }

    /// The slope of g at `theta + tau direction` along the direction: to the right where it has a
    /// kink.
    pub fn slope_along(&self, theta: &[f64], direction: &[f64], tau: f64) -> f64 {
        let mut slope = 0.0;
        for ((part, theta), p) in self.parts.iter().zip(theta).zip(direction) {
            let x = theta + tau * p;
            let side = if x == 0.0 { p.signum() } else { x.signum() };
            slope += (part.tilt + part.l1 * side + part.l2 * x) * p;
        }
        let constraints = self.constraints.as_ref();
        slope + constraints.map_or(0.0, |all| all.slope_along(theta, direction, tau))
    }

    /// The diagonal of `g''`, where there is one.
    pub fn l2(&self) -> impl Iterator<Item = f64> {
        self.parts.iter().map(|part| part.l2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::regularizer::{
        ElasticNet, FreeTail, L1, Ridge, Ridged, Simplex, Tilted, Unregularized,
    };

    #[test]
    fn parts_that_are_quadratic_make_a_quadratic() {
        let ridge = Ridge::from_weight(0.5).expect("a weight");
        let tilted = Tilted::new(FreeTail::new(ridge, 2), vec![1.0, -2.0, 3.0]).expect("finite");
        let g = Parts::of(&tilted, 3).expect("parts");
        assert!(g.are_smooth());
        assert_eq!(g.l2().collect::<Vec<_>>(), [0.5, 0.5, 0.0]);
        let mut slope = vec![1.0; 3];
        g.add_gradient(&[2.0, 4.0, 6.0], &mut slope);
        assert_eq!(slope, [3.0, 1.0, 4.0]);
        let smooth = |g: &dyn Regularizer| Parts::of(g, 2).expect("parts").are_smooth();
        assert!(smooth(&Unregularized));
        assert!(smooth(&ElasticNet::from_weights(0.0, 1.0).expect("weights")));
        assert!(!smooth(&L1::new(1.0).expect("a weight")));
        assert!(!smooth(&Simplex));
    }

    #[test]
    fn a_budget_has_parts_of_its_own() {
        let g = Ridged::new(Simplex, 0.5).expect("a weight");
        let g = Parts::of(&g, 2).expect("parts");
        assert!(g.budget);
        assert_eq!(g.parts, [Coordinate { lo: 0.0, l2: 0.5, ..Coordinate::FREE }; 2]);
        // Neither the ridge nor the tilt hides what the budget leaves out.
        let tail = Tilted::new(FreeTail::new(Simplex, 2), vec![0.0, 1.0, 2.0]).expect("finite");
        let tail = Ridged::new(tail, 0.5).expect("a weight");
        assert_eq!(Parts::of(&tail, 3), None);
        let g = Parts::with_constraints(&tail, 3).expect("parts");
        assert_eq!((g.budgeted(), g.outside), (2, 1));
        assert_eq!(g.parts[2], Coordinate { l2: 0.5, tilt: 2.0, ..Coordinate::FREE });
    }
}
