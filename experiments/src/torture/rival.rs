//! An independent solver: Newton's method in double-double numbers, along the central path where
//! there are bounds, kinks or an l1 norm.
//!
//! It shares no line with the library. Columns are brought to one size first. Kinks are rounded off
//! over a width mu and bounds kept by `-mu log(distance)`, with mu going to zero; both are the
//! barrier of the program in which `|u| <= s`. Directions come from Cholesky's factor of the
//! Hessian and a damping that grows where a step does nothing; steps go to the minimum along the
//! direction, found by its slope. So coefficients of `1e12`, as nearly equal columns have them, are
//! no obstacle: 32 digits are left.

use super::double_double::{Dd, dot};
use super::limits::Limits;
use super::objective::{Affine, rounded_kink};
use super::penalty::Part;

/// What the solver has seen.
#[derive(Debug, Clone)]
pub struct Path {
    /// All points on the way, the last the best.
    pub points: Vec<Vec<Dd>>,
    /// A direction along which the objective falls for ever.
    pub recession: Option<Vec<Dd>>,
}

/// Of the scale of the objective: where the central path begins and ends.
const MU: (f64, f64) = (1.0, 1e-22);
/// Each mu is this many times the last.
const MU_FALLS: f64 = 0.1;
/// Newton's steps for a mu, and where there is none.
const STEPS: (usize, usize) = (6, 300);
/// Damping, relative to the diagonal: the least and the most.
const DAMPING: (f64, f64) = (1e-30, 1e2);
/// Slopes that are looked at for a step.
const SEARCHES: usize = 90;
/// A step along which the objective still falls at this many times its length has no end.
const ENDLESS: f64 = 1e45;
/// The slope beyond a limit.
const BEYOND: f64 = 1e200;

/// The problem in units in which columns have one size, and where the solver stands.
struct Solver<'p> {
    problem: &'p Affine,
    /// Powers of two: `theta_l = z_l units_l`.
    units: Vec<f64>,
    rows: Vec<Dd>,
    parts: Vec<Part>,
    limits: Option<Limits>,
    mu: Dd,
    /// mu over the scale of the objective.
    width: Dd,
}

/// Minimises from `start`, which must lie within the bounds.
pub fn minimise(problem: &Affine, start: &[Dd]) -> Path {
    let mut solver = Solver::new(problem);
    let mut z: Vec<Dd> =
        start.iter().zip(&solver.units).map(|(x, unit)| *x / Dd::from(*unit)).collect();
    let mut path = Path { points: Vec::new(), recession: None };
    let (f, g) = problem.parts(start);
    let scale = (f.abs() + g.abs()).rounded().max(solver.size());
    let mut mu = if problem.is_free() { 0.0 } else { MU.0 * scale };
    loop {
        (solver.mu, solver.width) = (Dd::from(mu), Dd::from(mu / scale));
        let last = mu <= MU.1 * scale;
        let steps = if last { STEPS.1 } else { STEPS.0 };
        let endless = solver.newton(&mut z, steps, &mut path);
        path.points.push(solver.theta(&z));
        if endless {
            return path;
        }
        if last {
            // What falls for ever may have ended where nothing is left of 32 digits.
            let origin = problem.penalty.origin();
            let end = solver.theta(&z);
            let direction: Vec<Dd> = end.iter().zip(&origin).map(|(x, o)| *x - *o).collect();
            path.recession = problem.falls_for_ever(&origin, &direction).then_some(direction);
            return path;
        }
        mu *= MU_FALLS;
    }
}

impl<'p> Solver<'p> {
    fn new(problem: &'p Affine) -> Self {
        let d = problem.d;
        let sizes = problem.column_sizes();
        let size = |l: usize| {
            let most = sizes[l];
            let part = &problem.penalty.parts[l];
            if most > 0.0 {
                most
            } else {
                part.l2.sqrt().max(part.l1).max(part.tilt.abs().rounded())
            }
        };
        // A budget is a sum in the units of theta.
        let unit = |l: usize| {
            let size = size(l);
            if size > 0.0 && l >= problem.penalty.budget {
                2.0_f64.powi(-(size.log2().round() as i32))
            } else {
                1.0
            }
        };
        let units: Vec<f64> = (0..d).map(unit).collect();
        let rows =
            problem.rows.iter().enumerate().map(|(k, a)| *a * Dd::from(units[k % d])).collect();
        let parts = problem.penalty.parts.iter().zip(&units);
        let parts = parts
            .map(|(part, &c)| Part {
                tilt: part.tilt * Dd::from(c),
                l1: part.l1 * c,
                l2: part.l2 * c * c,
                lo: part.lo / c,
                hi: part.hi / c,
                ..*part
            })
            .collect();
        let limits = problem.penalty.limits.as_ref().map(|limits| limits.in_units(&units));
        Solver { problem, units, rows, parts, limits, mu: Dd::ZERO, width: Dd::ZERO }
    }

    /// What the objective is made of at a distance of 1: where all is zero at the start, the size
    /// of things to come.
    fn size(&self) -> f64 {
        let one = |part: &Part| part.tilt.abs().rounded() + part.l1 + part.l2;
        let g: f64 = self.parts.iter().map(one).sum();
        let most = |i: usize| self.row(i).iter().map(|a| a.abs()).fold(Dd::ZERO, Dd::max);
        let losses = self.problem.losses.iter().enumerate();
        let f: Dd = losses.map(|(i, loss)| loss.size(most(i))).sum();
        (g + f.rounded() / self.problem.terms() as f64).max(f64::MIN_POSITIVE.sqrt())
    }

    fn theta(&self, z: &[Dd]) -> Vec<Dd> {
        z.iter().zip(&self.units).map(|(z, unit)| *z * Dd::from(*unit)).collect()
    }

    fn row(&self, i: usize) -> &[Dd] {
        &self.rows[i * self.problem.d..(i + 1) * self.problem.d]
    }

    /// `<a_i, z>` for all i.
    fn along(&self, z: &[Dd]) -> Vec<Dd> {
        (0..self.problem.terms()).map(|i| dot(self.row(i), z)).collect()
    }

    /// First and second derivative of `g_l` and its barrier.
    fn part_slopes(&self, l: usize, z: Dd) -> (Dd, Dd) {
        let part = &self.parts[l];
        let (mut first, mut second) = (part.tilt + z * Dd::from(part.l2), Dd::from(part.l2));
        if part.l1 > 0.0 {
            let l1 = Dd::from(part.l1);
            let (slope, bend) = rounded_kink(z, self.mu / l1);
            first += l1 * slope;
            second += l1 * bend;
        }
        if part.log > 0.0 {
            let share = Dd::from(part.log) / z;
            first -= share;
            second += share / z;
        }
        for bound in [part.lo, part.hi] {
            if bound.is_finite() {
                let inverse = Dd::ONE / (z - Dd::from(bound));
                first -= self.mu * inverse;
                second += self.mu * inverse * inverse;
            }
        }
        (first, second)
    }

    /// The slope at `z + tau p` along p.
    fn slope(&self, z: &[Dd], p: &[Dd], u: &[Dd], change: &[Dd], tau: Dd) -> Dd {
        let losses = self.problem.losses.iter().zip(u).zip(change);
        let f: Dd = losses.map(|((loss, u), v)| loss.slopes(*u + tau * *v, self.mu).0 * *v).sum();
        let g: Dd = (0..z.len()).map(|l| self.part_slopes(l, z[l] + tau * p[l]).0 * p[l]).sum();
        f / Dd::from(u.len()) + g + self.limits_slope(z, p, tau)
    }

    /// What the limits and their barrier add to it; beyond a limit, as good as infinite.
    fn limits_slope(&self, z: &[Dd], p: &[Dd], tau: Dd) -> Dd {
        let Some(limits) = &self.limits else { return Dd::ZERO };
        let there: Vec<Dd> = z.iter().zip(p).map(|(z, p)| *z + tau * *p).collect();
        let derivatives = limits.derivatives(&there, self.mu, self.width);
        derivatives.map_or(Dd::from(BEYOND), |(gradient, ..)| dot(&gradient, p))
    }

    /// The furthest step that stays within the bounds, or 0 for none.
    fn room(&self, z: &[Dd], p: &[Dd]) -> Dd {
        let mut room = Dd::ZERO;
        for ((part, z), p) in self.parts.iter().zip(z).zip(p) {
            let bound = if *p < Dd::ZERO { part.lo } else { part.hi };
            if bound.is_finite() && *p != Dd::ZERO {
                let here = (Dd::from(bound) - *z) / *p;
                room = if room == Dd::ZERO { here } else { room.min(here) };
            }
        }
        if let Some(here) = self.limits.as_ref().and_then(|limits| limits.room(z, p)) {
            room = if room == Dd::ZERO { here } else { room.min(here) };
        }
        room
    }

    /// Steps until none of any damping lowers the objective; true if a direction was met in which
    /// it falls for ever.
    fn newton(&self, z: &mut [Dd], steps: usize, path: &mut Path) -> bool {
        let mut damping = DAMPING.0;
        for step in 0..steps {
            let mut u = self.along(z);
            u.iter_mut().zip(&self.problem.offsets).for_each(|(u, b)| *u += *b);
            let (gradient, hessian, curvature) = self.derivatives(z, &u);
            let mut gain = Dd::ZERO;
            while damping <= DAMPING.1 {
                let p = self.direction(&gradient, &hessian, &curvature, damping);
                let Some(p) = p.filter(|p| p.iter().all(|x| x.is_finite())) else {
                    damping *= 100.0;
                    continue;
                };
                let change = self.along(&p);
                let slope = self.slope(z, &p, &u, &change, Dd::ZERO);
                if slope >= Dd::ZERO {
                    damping *= 100.0;
                    continue;
                }
                match self.search(z, &p, &u, &change, slope) {
                    None => {
                        let direction = self.theta(&p);
                        if self.problem.falls_for_ever(&self.theta(z), &direction) {
                            path.recession = Some(direction);
                            return true;
                        }
                        // The slope is nothing but rounding.
                    }
                    Some(tau) if tau > Dd::ZERO => {
                        gain = -(slope * tau);
                        z.iter_mut().zip(&p).for_each(|(z, p)| *z += tau * *p);
                        break;
                    }
                    Some(_) => {}
                }
                damping *= 100.0;
            }
            if damping > DAMPING.1 || gain == Dd::ZERO {
                return false;
            }
            damping = (damping / 10.0).max(DAMPING.0);
            if self.mu == Dd::ZERO && step % 8 == 0 {
                path.points.push(self.theta(z));
            }
            let size: Dd = gradient.iter().zip(z.iter()).map(|(g, z)| (*g * *z).abs()).sum();
            let floor = self.mu.rounded() * 1e-3 + size.rounded() * 1e-30;
            if gain.rounded() <= floor && step > 0 {
                return false;
            }
        }
        false
    }

    /// Gradient, Hessian row by row, and the diagonal of the largest Hessian there could be.
    fn derivatives(&self, z: &[Dd], u: &[Dd]) -> (Vec<Dd>, Vec<Dd>, Vec<Dd>) {
        let d = z.len();
        let share = Dd::ONE / Dd::from(u.len());
        let (mut gradient, mut hessian) = (vec![Dd::ZERO; d], vec![Dd::ZERO; d * d]);
        let mut curvature = vec![Dd::ZERO; d];
        for (i, (loss, u)) in self.problem.losses.iter().zip(u).enumerate() {
            let (first, second) = loss.slopes(*u, self.mu);
            let (first, second, most) = (first * share, second * share, loss.curvature() * share);
            let row = self.row(i);
            for k in 0..d {
                gradient[k] += first * row[k];
                curvature[k] += most * row[k] * row[k];
                if second != Dd::ZERO {
                    let scaled = second * row[k];
                    for l in 0..=k {
                        hessian[k * d + l] += scaled * row[l];
                    }
                }
            }
        }
        for (l, z) in z.iter().enumerate() {
            let (first, second) = self.part_slopes(l, *z);
            gradient[l] += first;
            hessian[l * d + l] += second;
            curvature[l] += second;
        }
        let limits = self.limits.as_ref();
        let limits = limits.and_then(|limits| limits.derivatives(z, self.mu, self.width));
        if let Some((first, second, vectors)) = limits {
            for k in 0..d {
                gradient[k] += first[k];
                let bend = second[k] + vectors.iter().map(|v| v[k] * v[k]).sum::<Dd>();
                curvature[k] += bend;
                hessian[k * d + k] += second[k];
                for l in 0..=k {
                    hessian[k * d + l] += vectors.iter().map(|v| v[k] * v[l]).sum::<Dd>();
                }
            }
        }
        // Along a column of zeros nothing bends; the damping does.
        let most = curvature.iter().copied().fold(Dd::ZERO, Dd::max);
        let least = if most > Dd::ZERO { most * Dd::from(1e-6) } else { Dd::ONE };
        for c in &mut curvature {
            *c = c.max(least);
        }
        (gradient, hessian, curvature)
    }

    /// `-(H + damping diag)^-1 gradient`, with a sum of 0 where there is a budget.
    fn direction(
        &self,
        gradient: &[Dd],
        hessian: &[Dd],
        diagonal: &[Dd],
        damping: f64,
    ) -> Option<Vec<Dd>> {
        let d = gradient.len();
        let mut factor = hessian.to_vec();
        for l in 0..d {
            factor[l * d + l] += diagonal[l] * Dd::from(damping);
        }
        cholesky(&mut factor, d)?;
        let mut p: Vec<Dd> = gradient.iter().map(|g| -*g).collect();
        solve(&factor, d, &mut p);
        let budget = self.problem.penalty.budget;
        if budget > 0 {
            let mut normal = vec![Dd::ZERO; d];
            normal[..budget].fill(Dd::ONE);
            solve(&factor, d, &mut normal);
            let sum = |x: &[Dd]| x[..budget].iter().copied().sum::<Dd>();
            let share = sum(&p) / sum(&normal);
            p.iter_mut().zip(&normal).for_each(|(p, normal)| *p -= share * *normal);
            // What rounding leaves of the sum would take the point off the budget.
            let rest = sum(&p) / Dd::from(budget);
            p[..budget].iter_mut().for_each(|p| *p -= rest);
        }
        Some(p)
    }

    /// The step to the minimum along p, where the slope at 0 is given; none if there is no minimum.
    fn search(&self, z: &[Dd], p: &[Dd], u: &[Dd], change: &[Dd], slope: Dd) -> Option<Dd> {
        let at = |tau: Dd| self.slope(z, p, u, change, tau);
        let room = self.room(z, p);
        let bounded = room > Dd::ZERO;
        let most = room * Dd::from(0.995);
        let (mut low, mut low_slope) = (Dd::ZERO, slope);
        let mut high = if bounded { most.min(Dd::ONE) } else { Dd::ONE };
        let mut high_slope = at(high);
        while high_slope < Dd::ZERO {
            if high_slope.abs() <= slope.abs() * Dd::from(1e-3) || (bounded && high >= most) {
                return Some(high);
            }
            (low, low_slope) = (high, high_slope);
            high = high * Dd::from(10.0);
            if bounded {
                high = high.min(most);
            } else if high.rounded() > ENDLESS {
                return None;
            }
            high_slope = at(high);
        }
        // Between the two: where slopes of unlike signs cross, in the middle or, as long as nothing
        // is known of small steps, far below.
        for step in 0..SEARCHES {
            let share = match step % 3 {
                2 if low == Dd::ZERO => Dd::from(1e-3),
                2 => Dd::from(0.5),
                _ => low_slope / (low_slope - high_slope),
            };
            let middle = low + (high - low) * share;
            let here = at(middle);
            if here.abs() <= slope.abs() * Dd::from(1e-3) {
                return Some(middle);
            }
            if here < Dd::ZERO {
                (low, low_slope) = (middle, here);
            } else {
                (high, high_slope) = (middle, here);
            }
        }
        Some(low)
    }
}

/// `L` with `L L' = A`, in the lower half of A; none if A is not positive definite.
fn cholesky(a: &mut [Dd], d: usize) -> Option<()> {
    for k in 0..d {
        for l in 0..=k {
            let known: Dd = (0..l).map(|m| a[k * d + m] * a[l * d + m]).sum();
            let rest = a[k * d + l] - known;
            if k > l {
                a[k * d + l] = rest / a[l * d + l];
            } else if rest > Dd::ZERO {
                a[k * d + k] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(())
}

/// `x = (L L')^-1 x`
fn solve(factor: &[Dd], d: usize, x: &mut [Dd]) {
    for k in 0..d {
        let known: Dd = (0..k).map(|l| factor[k * d + l] * x[l]).sum();
        x[k] = (x[k] - known) / factor[k * d + k];
    }
    for k in (0..d).rev() {
        let known: Dd = (k + 1..d).map(|l| factor[l * d + k] * x[l]).sum();
        x[k] = (x[k] - known) / factor[k * d + k];
    }
}
