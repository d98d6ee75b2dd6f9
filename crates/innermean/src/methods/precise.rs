//! Newton's method in double-double arithmetic, for small problems whose columns double precision
//! cannot tell apart: twice the digits by Dekker, "A Floating-Point Technique for Extending the
//! Available Precision", 1971.
//!
//! ```text
//! H = (1/n_X) A' phi'' A + l2 + mu diag(H),   delta = H^-1 P'(theta),   theta <- theta - t delta
//! ```
//!
//! with t where the slope along delta vanishes, which costs no look at f. Averages, gradients and
//! the factor of H are found with 32 digits, phi and its derivatives with 16: their rounding moves
//! predictions by rounding alone, however theta must move for it. With columns that differ by 1e-12
//! the minimum is at coefficients of 1e12, which double precision takes for noise.
//!
//! Kinks of phi, and kinks and bounds of g, are smoothed around duals as the method of multipliers
//! does (`multipliers.rs`), those of g by
//!
//! ```text
//! m_l(x) = min over q of  k_l(q) + y_l (x - q) + (s_l/2) (x - q)^2,    k_l = l1 |.| between the bounds
//! ```
//!
//! with duals that are renewed, and penalties sigma and s that grow, whenever Newton's steps have
//! found the minimum.
//!
//! Asks of the problem: an affine f, a phi that knows its second derivatives or is a quadratic form
//! of one average, a g that is a sum over coordinates, with or without a budget, and few numbers.
//! Per step: `n_X ell d^2 + d^3 / 3` products, each of them twenty times as dear. Storage: `2 n_X
//! ell d`.

use serde::{Deserialize, Serialize};

use self::kinks::Kinks;
use super::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate, multipliers};
use crate::linalg::gram;
use crate::linalg::precise::{Double, Factor, Rows};
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;
use crate::oracle::Oracle;
use crate::tuning::choice::Choice;

mod kinks;

/// The first damping, by all rows with the most that phi bends, after a matrix without full rank;
/// by which it grows after short steps, and shrinks after long ones.
const FIRST_DAMPING: f64 = 1e-8;
const DAMP: f64 = 100.0;
const LEAST_DAMPING: f64 = 1e-28;
const MOST_DAMPING: f64 = 1e3;
/// A step is short if less than this part of it is taken.
const SHORT_STEP: f64 = 0.05;
/// The longest multiple of a step.
const LONGEST: f64 = 1e6;
/// The same along a direction in which P seems to fall for ever, in units of the largest coordinate:
/// so far out nothing is left of where the step began.
const ENDLESS: f64 = 1e30;
/// Halvings of the interval in which the slope along a step vanishes.
const HALVINGS: usize = 60;

/// Newton steps of an outer iteration where there are kinks.
const MOST_STEPS: usize = 10;
/// What may be left to gain of what is smoothed, for what the change of the duals is worth as 1;
/// and of the size of P, a gain that is rounding.
const LEFT_OF_SMOOTHED: f64 = 0.1;
const ROUNDING: f64 = 1e-20;
/// The method, which has no settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Precise;

/// Theta with twice its digits, and the problem's rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Vec<Double>,
    rounded: Vec<f64>,
    /// What the next inner iteration shows.
    shown: Vec<f64>,
    rows: Rows,
    f_bar: Vec<Double>,
    damping: f64,
    kinks: Kinks,
    /// `(1/n_X) A' A`
    gram: Vec<Double>,
    /// The direction in which P falls without end, once one has been found.
    endless: Vec<f64>,
}

impl Listed for Precise {
    const INFO: MethodInfo = MethodInfo {
        name: "precise",
        title: "Newton in twice the precision",
        family: Family::Batch,
        summary: "Newton steps with 32 digits, around duals where there are kinks, for small \
            problems with columns that are nearly the same",
        reference: "Dekker 1971 for the arithmetic",
        storage: "n_X ell d",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::SecondDerivatives, Ask::Small, Ask::Parts],
        settings: &[],
    };

    fn settings(_: &Choice, _: Objective<'_>, _: &[f64]) -> Chosen<Self> {
        Ok(Precise)
    }
}

impl Method for Precise {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let rows = oracle.pass().precise_rows();
        let mut allowed = theta.to_vec();
        oracle.problem().allow(&mut allowed);
        let mut exact: Vec<Double> = allowed.iter().map(|x| Double::from(*x)).collect();
        if oracle.problem().parts().is_some_and(|g| g.budget) {
            // To the last of its digits: steps add nothing to the sum.
            let sum = exact.iter().fold(Double::ZERO, |sum, x| sum + *x);
            let share = (Double::from(1.0) - sum) / Double::from(exact.len() as f64);
            for x in &mut exact {
                *x += share;
            }
        }
        let f_bar = rows.means(&exact);
        let gram = rows.gram(&vec![1.0; rows.len()]);
        let kinks = Kinks::new(oracle, &rounded(&f_bar), &gram);
        let (rounded, shown) = (theta.to_vec(), theta.to_vec());
        State {
            theta: exact,
            rounded,
            shown,
            rows,
            f_bar,
            damping: 0.0,
            kinks,
            gram,
            endless: Vec::new(),
        }
    }

    /// One step, or as many as it takes to the next duals.
    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let g = oracle.problem().parts().expect("the method has been chosen for this problem");
        for _ in 0..if s.kinks.are_none() { 1 } else { MOST_STEPS } {
            let settled = s.step(oracle, &g);
            if settled || !s.endless.is_empty() || oracle.patience.ends() {
                break;
            }
        }
        s.show(&g);
        if g.budget && s.endless.is_empty() {
            oracle.problem().allow(&mut s.shown);
        }
        // What is smoothed may be finite where P is not, as exponentials soon are next to a bound:
        // the point before stands until then.
        let may_jump = oracle.phi().gamma() == 0.0 && !oracle.phi().has_kinks();
        if may_jump && s.shown.iter().all(|x| x.is_finite()) {
            let mut f_bar = vec![0.0; s.f_bar.len()];
            oracle.pass().means(&s.shown, &mut f_bar);
            if !oracle.problem().loss(&f_bar).is_finite() {
                s.shown.copy_from_slice(&s.rounded);
            }
        }
    }

    /// Shows what the steps have found.
    fn inner(&self, _: &mut Oracle<'_>, s: &mut State) {
        s.rounded.copy_from_slice(&s.shown);
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.rounded
    }

    fn duals<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        s.kinks.duals()
    }

    fn endless<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        (!s.endless.is_empty()).then_some(&s.endless)
    }
}

/// To double precision.
fn rounded(x: &[Double]) -> Vec<f64> {
    x.iter().map(|x| x.value()).collect()
}

impl State {
    /// A Newton step. Whether it has found the minimum, and the duals are new ones.
    fn step(&mut self, oracle: &mut Oracle<'_>, g: &Parts) -> bool {
        let (w, curvatures) = self.kinks.merits(oracle, &rounded(&self.f_bar));
        let exact: Vec<Double> = w.iter().map(|w| Double::from(*w)).collect();
        let gradient: Vec<Double> = self
            .rows
            .weighted(&exact)
            .iter()
            .enumerate()
            .map(|(l, u)| *u + self.slope(g, l))
            .collect();
        let size = |l: usize| self.rows.size(l, &exact) + self.slope(g, l).hi.abs();
        let (delta, flat) = self.direction(oracle, g, &curvatures, gradient.clone(), size);
        let gain =
            gradient.iter().zip(&delta).fold(Double::ZERO, |sum, (u, delta)| sum + *u * *delta).hi;
        let along = self.rows.linear(&delta);
        let largest = self.theta.iter().fold(1.0, |most: f64, x| most.max(x.hi.abs()));
        let endless = ENDLESS * largest;
        let longest = if flat { endless } else { LONGEST };
        let t = self.length(oracle, g, &delta, &along, longest);
        if t >= endless && !g.parts.iter().zip(&delta).all(|(part, delta)| part.recedes(-delta.hi))
        {
            // A bound or a ridge ends it, further out than numbers tell.
            self.renew(oracle, g);
            return true;
        }
        if flat && t >= endless {
            self.endless = delta.iter().map(|delta| -delta.value()).collect();
            self.theta.fill(Double::from(f64::INFINITY));
            return false;
        }
        let step = Double::from(-t);
        self.theta.iter_mut().zip(&delta).for_each(|(theta, delta)| *theta += step * *delta);
        self.f_bar = self.rows.means(&self.theta);
        self.damping = match (self.damping, t) {
            (damping, t) if t < SHORT_STEP => (damping * DAMP).clamp(FIRST_DAMPING, MOST_DAMPING),
            (damping, _) if damping > LEAST_DAMPING => damping / DAMP,
            _ => 0.0,
        };
        if self.kinks.are_none() {
            return true;
        }
        let f_bar = rounded(&self.f_bar);
        let size: f64 =
            w.iter().zip(&f_bar).map(|(w, f)| (w * f).abs()).sum::<f64>() / oracle.n_x() as f64;
        self.kinks.look(oracle, &f_bar);
        let change = self.kinks.change(g, &self.theta, oracle.n_x());
        let settled =
            !flat && t > SHORT_STEP && gain <= (LEFT_OF_SMOOTHED * change).max(ROUNDING * size)
                || t == 0.0;
        if settled {
            self.renew(oracle, g);
        }
        settled
    }

    fn renew(&mut self, oracle: &Oracle<'_>, g: &Parts) {
        let least = multipliers::least_penalty(oracle, &rounded(&self.f_bar));
        self.kinks.renew(g, &self.theta, least);
    }

    /// Theta in double precision, so that the averages stay what they are: coordinate by
    /// coordinate, those first whose last digit moves them most, and what rounding one of them does
    /// to the averages is taken back by the others (Babai, "On Lovász' Lattice Reduction and the
    /// Nearest Lattice Point Problem", 1986).
    fn show(&mut self, g: &Parts) {
        let d = self.theta.len();
        let mut exact: Vec<Double> =
            (0..d).map(|l| self.kinks.shown(&g.parts[l], l, self.theta[l])).collect();
        let size = |l: usize| (exact[l].hi * self.gram[l * d + l].hi.sqrt()).abs();
        let is_free = |l: &usize| self.kinks.moves(&g.parts[*l], *l, self.theta[*l]);
        let mut free: Vec<usize> = (0..d).filter(is_free).collect();
        // Least first: the last of the list is rounded next.
        free.sort_by(|a, b| size(*a).total_cmp(&size(*b)));
        if g.budget || exact.iter().any(|x| !x.is_finite()) {
            free.clear();
        }
        while let Some(l) = free.pop() {
            let off = Double::from(exact[l].value()) - exact[l];
            exact[l] = Double::from(exact[l].value());
            let m = free.len();
            if off == Double::ZERO || m == 0 {
                continue;
            }
            let entry = |r: usize, c: usize| self.gram[r.max(c) * d + r.min(c)];
            let block: Vec<Double> =
                free.iter().flat_map(|&r| free.iter().map(move |&c| entry(r, c))).collect();
            let mut follow: Vec<Double> = free.iter().map(|&r| off * entry(r, l)).collect();
            Factor::new(&block, m).solve(&mut follow);
            for (&r, follow) in free.iter().zip(&follow) {
                let moved = exact[r] - *follow;
                let allowed = g.parts[r].lo <= moved.value() && moved.value() <= g.parts[r].hi;
                exact[r] = if allowed { moved } else { exact[r] };
            }
        }
        self.shown.iter_mut().zip(&exact).for_each(|(shown, x)| *shown = x.value());
    }

    /// `g_l'(theta_l)`, of what is smooth of it or smoothed.
    fn slope(&self, g: &Parts, l: usize) -> Double {
        self.slope_at(g, l, self.theta[l])
    }

    fn slope_at(&self, g: &Parts, l: usize, x: Double) -> Double {
        let part = &g.parts[l];
        Double::from(part.tilt)
            + self.rows.tilt_correction(l, part.tilt)
            + Double::from(part.l2) * x
            + self.kinks.slope(part, l, x).0
    }

    /// `H^-1 P'(theta)`, within the budget where there is one; or, where P has a slope along what H
    /// takes to zero, that. Whether it is the latter.
    fn direction(
        &self,
        oracle: &Oracle<'_>,
        g: &Parts,
        curvatures: &[f64],
        gradient: Vec<Double>,
        size: impl Fn(usize) -> f64,
    ) -> (Vec<Double>, bool) {
        let d = gradient.len();
        let mut matrix = self.rows.gram(curvatures);
        if self.damping > 0.0 {
            let most = Double::from(self.damping * self.kinks.bend(oracle, curvatures));
            matrix.iter_mut().zip(&self.gram).for_each(|(entry, gram)| *entry += most * *gram);
        }
        for (l, part) in g.parts.iter().enumerate() {
            let entry = &mut matrix[l * d + l];
            *entry += Double::from(part.l2);
            *entry += Double::from(self.kinks.slope(part, l, self.theta[l]).1);
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
        // What is flat with a budget is flat along it: it adds up to 0.
        if let Some(mut flat) = factor.flat_descent(&gradient, size) {
            // Of size 1, so that a step's length says how far out it ends.
            let size =
                Double::from(flat.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.hi.abs())));
            for flat in &mut flat {
                *flat = -*flat / size;
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
    fn length(
        &self,
        oracle: &mut Oracle<'_>,
        g: &Parts,
        delta: &[Double],
        along: &[Double],
        longest: f64,
    ) -> f64 {
        let share = Double::from(oracle.n_x() as f64);
        let mut slope_at = |t: f64| {
            let step = Double::from(-t);
            let there = |r: usize| (self.f_bar[r] + step * along[r]).value();
            let f_bar: Vec<f64> = (0..along.len()).map(there).collect();
            let (w, _) = self.kinks.merits(oracle, &f_bar);
            let mut slope = Double::ZERO;
            for (w, along) in w.iter().zip(along) {
                slope -= Double::from(*w) * *along;
            }
            slope = slope / share;
            for (l, delta) in delta.iter().enumerate() {
                slope -= self.slope_at(g, l, self.theta[l] + step * *delta) * *delta;
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
