//! Newton's method in double-double arithmetic, for small problems whose columns double precision cannot tell apart: twice the
//! digits by Dekker, "A Floating-Point Technique for Extending the Available Precision", 1971.
//!
//! ```text
//! H = (1/n_X) A' phi'' A + l2 + mu diag(H),   delta = H^-1 P'(theta),   theta <- theta - t delta
//! ```
//!
//! with t where the slope along delta vanishes, which costs no look at f. Averages, gradients and the factor of H are
//! found with 32 digits, phi and its derivatives with 16: their rounding moves predictions by rounding alone, however theta must move for it.
//! With columns that differ by 1e-12 the minimum is at coefficients of 1e12, which double precision takes for noise.
//!
//! Asks of the problem: an affine f, a smooth phi that knows its second derivatives, a g that is quadratic, with or without a
//! budget, and few numbers. Per step: `n_X ell d^2 + d^3 / 3` products, each of them twenty times as dear. Storage: `2 n_X ell d`.

use serde::{Deserialize, Serialize};

use super::{Ask, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::choice::{Choice, ChoiceError};
use crate::gram;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::oracle::Oracle;
use crate::precise::{Double, Factor, Rows};
use crate::problem::Problem;
use crate::regularizer::{Parts, Regularizer};

/// The table's row.
pub const INFO: MethodInfo = MethodInfo {
    name: "precise",
    title: "Newton in twice the precision",
    family: Family::Batch,
    summary: "Newton steps with 32 digits, for small problems with columns that are nearly the same",
    reference: "Dekker 1971 for the arithmetic",
    storage: "n_X ell d",
    rate: Rate::Linear,
    form: Form::Given,
    asks: &[Ask::SmoothMerit, Ask::SecondDerivatives, Ask::Small, Ask::Unbounded],
    settings: &[],
};

/// The first damping, of the diagonal, after a matrix without full rank; by which it grows after short steps, and shrinks after long ones.
const FIRST_DAMPING: f64 = 1e-8;
const DAMP: f64 = 100.0;
const LEAST_DAMPING: f64 = 1e-28;
const MOST_DAMPING: f64 = 1e3;
/// A step is short if less than this part of it is taken.
const SHORT: f64 = 0.05;
/// The longest multiple of a step.
const LONGEST: f64 = 1e6;
/// The same along a direction in which P seems to fall for ever.
const ENDLESS: f64 = 1e30;
/// Halvings of the interval in which the slope along a step vanishes.
const HALVINGS: usize = 60;

/// The method, which has no settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Precise;

/// Theta with twice its digits, and the problem's rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Vec<Double>,
    rounded: Vec<f64>,
    rows: Rows,
    f_bar: Vec<Double>,
    damping: f64,
    /// The direction in which P falls without end, once one has been found.
    endless: Vec<f64>,
}

impl Listed for Precise {
    const INFO: MethodInfo = INFO;

    fn settings<F: Inner, P: Merit, G: Regularizer>(
        _: &Choice,
        _: &Problem<F, P, G>,
        _: &[f64],
    ) -> Result<Self, ChoiceError> {
        Ok(Precise)
    }
}

impl<F: Inner, P: Merit, G: Regularizer> Method<F, P, G> for Precise {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_, F, P, G>, theta: &[f64]) -> State {
        let rows = oracle.precise_rows();
        let exact: Vec<Double> = theta.iter().map(|x| Double::from(*x)).collect();
        let f_bar = rows.means(&exact);
        State { theta: exact, rounded: theta.to_vec(), rows, f_bar, damping: 0.0, endless: Vec::new() }
    }

    /// One step.
    fn outer(&self, oracle: &mut Oracle<'_, F, P, G>, s: &mut State) {
        let g = oracle.parts().expect("the method has been chosen for this problem");
        let f_bar: Vec<f64> = s.f_bar.iter().map(|f| f.value()).collect();
        let (mut w, mut seconds) = (vec![0.0; f_bar.len()], vec![0.0; f_bar.len()]);
        oracle.merits(&f_bar, &mut w, &mut seconds);
        let w: Vec<Double> = w.iter().map(|w| Double::from(*w)).collect();
        let gradient: Vec<Double> =
            s.rows.weighted(&w).iter().enumerate().map(|(l, u)| *u + s.slope(&g, l)).collect();
        let size = |l: usize| s.rows.size(l, &w) + s.slope(&g, l).hi.abs();
        let (delta, flat) = s.direction(&g, &seconds, gradient, size);
        let along = s.rows.linear(&delta);
        let longest = if flat { ENDLESS } else { LONGEST };
        let t = s.length(oracle, &g, &delta, &along, longest);
        if flat && t >= ENDLESS {
            s.endless = delta.iter().map(|delta| -delta.value()).collect();
            s.theta.fill(Double::from(f64::INFINITY));
            return;
        }
        let step = Double::from(-t);
        s.theta.iter_mut().zip(&delta).for_each(|(theta, delta)| *theta += step * *delta);
        s.f_bar = s.rows.means(&s.theta);
        s.damping = match (s.damping, t) {
            (damping, t) if t < SHORT => (damping * DAMP).clamp(FIRST_DAMPING, MOST_DAMPING),
            (damping, _) if damping > LEAST_DAMPING => damping / DAMP,
            _ => 0.0,
        };
    }

    fn inner_iterations(&self, _: &State) -> usize {
        1
    }

    /// Shows what the step has found.
    fn inner(&self, _: &mut Oracle<'_, F, P, G>, s: &mut State) {
        for (rounded, theta) in s.rounded.iter_mut().zip(&s.theta) {
            *rounded = theta.value();
        }
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.rounded
    }

    fn endless<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        (!s.endless.is_empty()).then_some(&s.endless)
    }
}

impl State {
    /// `g_l'(theta_l)`
    fn slope(&self, g: &Parts, l: usize) -> Double {
        let part = &g.parts[l];
        Double::from(part.tilt)
            + self.rows.tilt_correction(l, part.tilt)
            + Double::from(part.l2) * self.theta[l]
    }

    /// `H^-1 P'(theta)`, within the budget where there is one; or, where P has a slope along what H takes to zero, that. Whether it is the latter.
    fn direction(
        &self,
        g: &Parts,
        seconds: &[f64],
        gradient: Vec<Double>,
        size: impl Fn(usize) -> f64,
    ) -> (Vec<Double>, bool) {
        let d = gradient.len();
        let mut matrix = self.rows.gram(seconds);
        for (l, part) in g.parts.iter().enumerate() {
            let entry = &mut matrix[l * d + l];
            *entry += Double::from(part.l2);
            *entry += *entry * Double::from(self.damping);
        }
        if g.budget {
            // Within the budget `c (sum_l p_l)^2 / 2` adds nothing, and H may be singular along it.
            let diagonal: Vec<f64> = matrix.iter().map(|entry| entry.hi).collect();
            let c = Double::from(gram::size_across(d, &diagonal));
            for entry in &mut matrix {
                *entry += c;
            }
        }
        let factor = Factor::new(&matrix, d);
        if !g.budget
            && let Some(mut flat) = factor.flat_descent(&gradient, size)
        {
            for flat in &mut flat {
                *flat = -*flat;
            }
            return (flat, true);
        }
        let mut delta = gradient;
        factor.solve(&mut delta);
        if g.budget {
            let mut ones = vec![Double::from(1.0); d];
            factor.solve(&mut ones);
            let sum = |x: &[Double]| x.iter().fold(Double::ZERO, |sum, x| sum + *x);
            let multiplier = sum(&delta) / sum(&ones);
            delta.iter_mut().zip(&ones).for_each(|(delta, one)| *delta -= multiplier * *one);
        }
        (delta, false)
    }

    /// t at which the slope of `P(theta - t delta)` vanishes.
    fn length<F: Inner, P: Merit, G: Regularizer>(
        &self,
        oracle: &mut Oracle<'_, F, P, G>,
        g: &Parts,
        delta: &[Double],
        along: &[Double],
        longest: f64,
    ) -> f64 {
        let share = 1.0 / oracle.n_x() as f64;
        let size = self.f_bar.len();
        let (mut f_bar, mut w, mut seconds) = (vec![0.0; size], vec![0.0; size], vec![0.0; size]);
        let mut slope_at = |t: f64| {
            let step = Double::from(-t);
            for (r, f) in f_bar.iter_mut().enumerate() {
                *f = (self.f_bar[r] + step * along[r]).value();
            }
            oracle.merits(&f_bar, &mut w, &mut seconds);
            let mut slope = Double::ZERO;
            for (w, along) in w.iter().zip(along) {
                slope -= Double::from(*w) * *along;
            }
            slope = slope * Double::from(share);
            for (l, delta) in delta.iter().enumerate() {
                let bend = Double::from(g.parts[l].l2) * *delta * step;
                slope -= (self.slope(g, l) + bend) * *delta;
            }
            slope.value()
        };
        let first = slope_at(0.0);
        // Not downwards: nothing is left but rounding.
        if first.is_nan() || first >= 0.0 {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while high < longest && slope_at(high) < SMALL * first {
            (low, high) = (high, 4.0 * high);
        }
        if high >= longest {
            return high;
        }
        if low == 0.0 && slope_at(1.0).abs() <= -SMALL * first {
            return 1.0;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let slope = slope_at(middle);
            if slope.abs() <= -SMALL * first {
                return middle;
            }
            if slope < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// What may be left of the slope along a step.
const SMALL: f64 = 1e-2;
