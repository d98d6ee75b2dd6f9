//! g as a quadratic, where it is one.

use serde::{Deserialize, Serialize};

use super::{Coordinate, Regularizer};

/// `g(theta) = sum_l (l2_l/2) theta_l^2 + <tilt, theta>` on all of `R^d`, but for a constant: nothing, a ridge, a linear term, each for all
/// coordinates or for some.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quadratic {
    /// The diagonal of `g''`.
    pub l2: Vec<f64>,
    /// `g'(0)`
    pub tilt: Vec<f64>,
}

impl Quadratic {
    /// `g` of `d` coordinates, if each of its parts is quadratic.
    pub fn of<G: Regularizer + ?Sized>(g: &G, d: usize) -> Option<Self> {
        let mut quadratic = Quadratic { l2: Vec::with_capacity(d), tilt: Vec::with_capacity(d) };
        for l in 0..d {
            let Coordinate { tilt, l1, l2, lo, hi } = g.coordinate(l)?;
            if l1 > 0.0 || lo > f64::NEG_INFINITY || hi < f64::INFINITY {
                return None;
            }
            quadratic.l2.push(l2);
            quadratic.tilt.push(tilt);
        }
        Some(quadratic)
    }

    /// `out += g'(theta)`
    pub fn add_gradient(&self, theta: &[f64], out: &mut [f64]) {
        for (((out, theta), l2), tilt) in out.iter_mut().zip(theta).zip(&self.l2).zip(&self.tilt) {
            *out += l2 * theta + tilt;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regularizer::{ElasticNet, FreeTail, L1, Ridge, Simplex, Tilted, Unregularized};

    #[test]
    fn parts_that_are_quadratic_make_a_quadratic() {
        let ridge = Ridge::from_weight(0.5).expect("a weight");
        let tilted = Tilted::new(FreeTail::new(ridge, 2), vec![1.0, -2.0, 3.0]).expect("finite");
        let g = Quadratic::of(&tilted, 3).expect("a quadratic");
        assert_eq!(g, Quadratic { l2: vec![0.5, 0.5, 0.0], tilt: vec![1.0, -2.0, 3.0] });
        let mut slope = vec![1.0; 3];
        g.add_gradient(&[2.0, 4.0, 6.0], &mut slope);
        assert_eq!(slope, [3.0, 1.0, 4.0]);
        assert!(Quadratic::of(&Unregularized, 2).is_some());
        assert!(Quadratic::of(&ElasticNet::from_weights(0.0, 1.0).expect("weights"), 2).is_some());
        assert_eq!(Quadratic::of(&L1::new(1.0).expect("a weight"), 2), None);
        assert_eq!(Quadratic::of(&Simplex, 2), None);
    }
}
