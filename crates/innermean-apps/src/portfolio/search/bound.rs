//! What is proven about an objective that was searched for.
//!
//! Write `r(theta) = <m, theta> - g(theta)` for the return less costs and norms, `rho` for the risk
//! and f for the risk-free rate. A run at the weight C has proven a number L with `-r + C rho >= L`
//! for all theta: its objective less its gap.
//!
//! *Largest return.* `r <= g*(m)`, a linear program. With a largest risk R, weak duality: `r <= C
//! rho - L <= C R - L` for all theta that are allowed.
//!
//! *Largest ratio to rho.* Dinkelbach: `r - f <= C rho + e` with `e = -L - f`, so that no ratio is
//! above `C + max(e, 0) / rho_low`, where `rho_low` is below the risk of every theta with `r > f`:
//! a run at any weight C' proves `rho >= (L' + r) / C' > (L' + f) / C'` for these.
//!
//! *Largest ratio to sigma, the root of rho, a mean of squares.* Sigma is convex and homogeneous of
//! degree 1, so that `sigma(z) >= <s, z>` for all z with `s = rho'(theta) / (2 sigma(theta))`. With
//! the slope `S = 2 C sigma(theta)` and `u = C rho'(theta) = S s`,
//!
//! ```text
//! r(z) - f - S sigma(z) <= <m - u, z> - g(z) - f <= g*(m - u) - f =: k,
//! ```
//!
//! and no ratio is above `S + max(k, 0) / sigma_low`. Where g leaves theta free this is infinite,
//! and the parabola serves: let z have `r1 = r(z)` and `sigma1 = sigma(z)`, write `r0`, `sigma0` for
//! theta, `delta = r1 - r0`, `Delta = sigma1 - sigma0` and `eps` for the gap. At `theta + t (z -
//! theta)`, by convexity, r is at least `r0 + t delta` and sigma at most `sigma0 + t Delta`; with
//! `r <= C sigma^2 - L` and `r0 = C sigma0^2 - L - eps`,
//!
//! ```text
//! delta <= 2 C sigma0 Delta + eps / t + C t Delta^2   for all t in (0, 1]
//!       <= S Delta + 2 |Delta| sqrt(C eps) + 2 eps,
//! ```
//!
//! with the best t, or 1. For the ratio `q = (r0 - f) / sigma0` of theta,
//!
//! ```text
//! (r1 - f) / sigma1 - q = (delta - q Delta) / sigma1
//!                      <= (|S - q| + 2 sqrt(C eps)) |Delta| / sigma1 + 2 eps / sigma1,
//! ```
//!
//! where `|Delta| / sigma1` is at most 1 above `sigma0` and `sigma0 / sigma_low - 1` below.

use innermean::regularizer::Coordinate;
use innermean::{Inner, Polyhedral, Regularizer, Solution, Tilted};

use super::super::weights::reach;
use super::super::{Aim, PortfolioTask, Sought};
use crate::run::Task;

/// Half the distance from 1 to the next number.
const UNIT: f64 = f64::EPSILON / 2.0;

impl PortfolioTask {
    /// What was searched for, at the answer of a run, and what is proven of it.
    pub(in super::super) fn sought(&self, solution: &Solution, risk: f64) -> Option<Sought> {
        let found = self.found.as_ref()?;
        let settings = &self.settings;
        let weight = settings.risk_aversion;
        let net = weight * risk - solution.objective;
        let gap = solution.certificate.gap.unwrap_or(f64::INFINITY);
        // The objective as it was evaluated is off by the rounding of its terms.
        let size = weight * risk + net.abs();
        let gap = gap + 8.0 * UNIT * size;
        let (value, at_most) = if settings.aim == Aim::MaxSharpe {
            let risk_free = settings.risk_free.unwrap_or(0.0);
            let value = (net - risk_free) / settings.risk.in_units(risk);
            let most = if settings.risk.is_square() {
                self.largest_root_ratio(&solution.theta, risk, value, gap)
            } else {
                let excess = gap - solution.objective - risk_free;
                weight + excess.max(0.0) / found.least_risk
            };
            (value, most)
        } else {
            let capped = self
                .most_risk()
                .map_or(f64::INFINITY, |most| weight * most + gap - solution.objective);
            (net, capped.min(found.largest))
        };
        // A bound that is below what is there is rounding.
        let at_most = at_most.max(value);
        let max_risk = settings.max_risk;
        Some(Sought { objective: settings.aim, value, at_most, max_risk, tried: found.tried })
    }

    /// The bound on all ratios to the root of the risk.
    fn largest_root_ratio(&self, theta: &[f64], risk: f64, ratio: f64, gap: f64) -> f64 {
        let (root, weight) = (risk.sqrt(), self.settings.risk_aversion);
        let least = self.found.as_ref().map_or(0.0, |found| found.least_risk).max(0.0).sqrt();
        let slope = 2.0 * weight * root;
        let apart = (slope - ratio).abs() + 2.0 * (weight * gap).sqrt();
        let parabola = ratio + apart * (root / least - 1.0).max(1.0) + 2.0 * gap / least;
        let excess = self.linear_excess(theta, slope);
        let linear = slope + excess.max(0.0) / least;
        // Not f64::min, which would take a number for no number.
        if linear <= parabola { linear } else { parabola }
    }

    /// k: the most that `r - f` can be above `S sigma`, by the slopes at theta, with what rounding
    /// may have done.
    fn linear_excess(&self, theta: &[f64], slope: f64) -> f64 {
        let problem = self.problem();
        let d = theta.len();
        let mut u = vec![0.0; d];
        problem.gradient(theta, &mut u);
        let down: Vec<f64> = u.iter().map(|u| -u).collect();
        let most = self.conjugate(&down);
        if !most.is_finite() {
            return f64::INFINITY;
        }
        // Of u_l: `n` sums of products of w, whose mean square is S^2, and deviations.
        let (portfolio, mean) = (&self.portfolio, self.portfolio.mean_returns());
        let n = portfolio.n_x() as f64;
        let mut squares = vec![0.0; d];
        portfolio.returns().each_row(d, |i, row| {
            let share = portfolio.weights().map_or(1.0, |weights| weights[i]) / n;
            for ((sum, x), m) in squares.iter_mut().zip(row).zip(mean) {
                *sum += share * (x - m) * (x - m);
            }
        });
        let error = |l: usize| {
            let column = squares[l].sqrt() + 4.0 * UNIT * mean[l].abs();
            2.0 * (n + 8.0) * UNIT * slope * column + 4.0 * UNIT * (mean[l].abs() + u[l].abs())
        };
        let sizes: Vec<f64> = (0..d).map(error).collect();
        let risk_free = self.settings.risk_free.unwrap_or(0.0);
        most - risk_free + self.reach(&sizes) + 4.0 * UNIT * (most.abs() + risk_free.abs())
    }

    /// `sup over theta of <m, theta> - g(theta)`: no return is above it.
    pub(in super::super) fn largest_return(&self) -> f64 {
        let most = self.conjugate(&vec![0.0; self.names.len()]);
        if most.is_nan() { f64::INFINITY } else { most + 4.0 * f64::EPSILON * most.abs() }
    }

    /// `g*(v)` of the weights, with the tilt of the return in g. Where g has constraints on theta as
    /// a whole, a weight without a bound of its own gets the one that they imply: multipliers that
    /// are off by rounding then cost little, and not everything.
    pub(in super::super) fn conjugate(&self, v: &[f64]) -> f64 {
        let tilt = self.portfolio.mean_returns().iter().map(|m| -m).collect();
        let Ok(g) = Tilted::new(self.allowed.weights.clone(), tilt) else { return f64::INFINITY };
        let Some(constraints) = g.constraints() else { return g.conjugate(v) };
        let parts: Option<Vec<Coordinate>> =
            (0..v.len()).map(|l| g.constrained_coordinate(l)).collect();
        let Some(mut parts) = parts else { return g.conjugate(v) };
        let (below, above) = parts
            .iter()
            .fold((0.0, 0.0), |(below, above), part| (below + part.lo, above + part.hi));
        for (l, part) in parts.iter_mut().enumerate() {
            // What the others leave of the sum, at their bounds; no number where there are none.
            let left = (1.0 - (above - part.hi), 1.0 - (below - part.lo));
            let mut imply = |lo: f64, hi: f64| {
                part.lo = if lo > part.lo { lo } else { part.lo };
                part.hi = if hi < part.hi { hi } else { part.hi };
            };
            if self.has_budget() {
                imply(left.0, left.1);
            }
            for norm in &constraints.norms {
                if norm.limit.is_finite() && norm.weights[l] > 0.0 {
                    let reach = norm.limit / norm.weights[l];
                    imply(norm.center[l] - reach, norm.center[l] + reach);
                }
            }
        }
        // Bounds that clash by rounding are as good as those that were given.
        match Polyhedral::new(parts, (**constraints).clone()) {
            Ok(tight) => tight.conjugate(v).min(g.conjugate(v)),
            Err(_) => g.conjugate(v),
        }
    }

    /// A bound on `sum_l sizes_l |theta_l|` over all theta that are allowed.
    pub(in super::super) fn reach(&self, sizes: &[f64]) -> f64 {
        reach(&*self.allowed.weights, sizes, self.has_budget(), self.limits.gross)
    }
}
