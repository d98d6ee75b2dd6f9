//! The critical line: all minima between two of them, corner by corner.
//!
//! On a piece of the path of `path.rs` the weights F are between their bounds, with
//!
//! ```text
//! 2 S_FF theta_F' = m_F + lambda' 1,  <1, theta_F'> = 0
//! ```
//!
//! for the derivatives by tau. The piece ends where a weight of F reaches a bound, or where one at
//! its bound gains nothing any more by staying there; there F loses or gains one (Markowitz,
//! "Portfolio Selection", 1959, appendix A). `(S_FF)^-1` is brought up to date by a product of
//! vectors, so that a corner costs `|F|^2` and `d |F|` products, and a point of a piece is a mixture
//! of its ends.

use innermean::cholesky::Cholesky;
use innermean::vector::{axpy, dot, row_dots};

use super::path::Path;

/// A corner for each weight that comes or goes: this many for each asset.
const MOST_CORNERS: usize = 4;

/// Corners by growing tau.
pub(super) struct Line(Vec<(f64, Vec<f64>)>);

impl Line {
    /// The minimum at tau, if that is where the line is.
    pub(super) fn at(&self, tau: f64) -> Option<Vec<f64>> {
        let place = self.0.partition_point(|(corner, _)| *corner < tau);
        let (low, high) = (self.0.get(place.checked_sub(1)?)?, self.0.get(place)?);
        let share = (tau - low.0) / (high.0 - low.0);
        Some(low.1.iter().zip(&high.1).map(|(a, b)| a + share * (b - a)).collect())
    }

    /// From a minimum at one tau to another tau; as far as it gets.
    pub(super) fn walk(path: &Path, from: f64, theta: &[f64], to: f64) -> Option<Self> {
        let mut walker = Walker::new(path, theta)?;
        let mut corners = vec![(from, walker.settled(from)?)];
        for _ in 0..MOST_CORNERS * theta.len() {
            let tau = corners.last()?.0;
            let Some(next) = walker.advance(tau, to) else { break };
            if next > tau {
                corners.push((next, walker.x.clone()));
            }
            if next >= to {
                break;
            }
        }
        Some(Line(corners))
    }
}

/// What happens at a corner.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A weight of F, by its place there, reaches a bound.
    Rests(usize, f64),
    /// A weight leaves its bound.
    Moves(usize),
}

struct Walker<'p> {
    path: &'p Path,
    x: Vec<f64>,
    /// F
    free: Vec<usize>,
    /// `(S_FF)^-1`, row after row.
    inverse: Vec<f64>,
    /// What has just come or gone.
    last: Option<usize>,
}

impl<'p> Walker<'p> {
    fn new(path: &'p Path, theta: &[f64]) -> Option<Self> {
        let is_inside = |l: &usize| theta[*l] > path.ends[*l].0 && theta[*l] < path.ends[*l].1;
        let free: Vec<usize> = (0..theta.len()).filter(is_inside).collect();
        let m = free.len();
        let entry = |at: usize| path.row(free[at / m])[free[at % m]];
        let block: Vec<f64> = (0..m * m).map(entry).collect();
        let factor = Cholesky::new(&block, m).ok().filter(|_| m > 0)?;
        let mut inverse = vec![0.0; m * m];
        for (k, row) in inverse.chunks_exact_mut(m).enumerate() {
            row[k] = 1.0;
            factor.solve(row);
        }
        Some(Walker { path, x: theta.to_vec(), free, inverse, last: None })
    }

    /// x on the minimum of its face, but for rounding.
    fn settled(&mut self, tau: f64) -> Option<Vec<f64>> {
        self.correct(&self.path.slopes(tau, &self.x));
        self.x.iter().all(|x| x.is_finite()).then(|| self.x.clone())
    }

    /// `(S_FF)^-1 v / 2` less its sum along `(S_FF)^-1 1`, and the multiplier of that.
    fn along(&self, v: &[f64]) -> (Vec<f64>, f64) {
        let m = self.free.len();
        let (mut p, mut ones) = (vec![0.0; m], vec![0.0; m]);
        row_dots(&self.inverse, m, v, &mut p);
        row_dots(&self.inverse, m, &vec![1.0; m], &mut ones);
        let multiplier = -p.iter().sum::<f64>() / ones.iter().sum::<f64>();
        axpy(multiplier, &ones, &mut p);
        for p in &mut p {
            *p *= 0.5;
        }
        (p, multiplier)
    }

    /// Newton's step on F, which takes off what rounding has left.
    fn correct(&mut self, slopes: &[f64]) {
        let down: Vec<f64> = self.free.iter().map(|&l| -slopes[l]).collect();
        let (p, _) = self.along(&down);
        self.free.iter().zip(&p).for_each(|(&l, p)| self.x[l] += p);
    }

    /// To the next corner, at most to `to`; where that is.
    fn advance(&mut self, tau: f64, to: f64) -> Option<f64> {
        let slopes = self.path.slopes(tau, &self.x);
        self.correct(&slopes);
        let mean: Vec<f64> = self.free.iter().map(|&l| self.path.mean[l]).collect();
        let (velocity, multiplier) = self.along(&mean);
        let level = self.free.iter().map(|&l| slopes[l]).sum::<f64>() / self.free.len() as f64;
        // Of all slopes: 2 S theta' - m.
        let mut change: Vec<f64> = self.path.mean.iter().map(|m| -m).collect();
        for (&l, p) in self.free.iter().zip(&velocity) {
            axpy(2.0 * p, self.path.row(l), &mut change);
        }
        let (mut length, mut event) = (to - tau, None);
        let mut place = 0;
        for l in 0..self.x.len() {
            let (lo, hi) = self.path.ends[l];
            if self.free.get(place) == Some(&l) {
                let p = velocity[place];
                let end = if p < 0.0 { lo } else { hi };
                let own = if p == 0.0 { f64::INFINITY } else { ((end - self.x[l]) / p).max(0.0) };
                if own < length && self.last != Some(l) {
                    (length, event) = (own, Some(Event::Rests(place, end)));
                }
                place += 1;
            } else if lo < hi && self.last != Some(l) {
                // Above 0 as long as the weight stays.
                let side = if self.x[l] <= lo { 1.0 } else { -1.0 };
                let (worth, fall) = (side * (slopes[l] - level), -side * (change[l] - multiplier));
                let own = if fall > 0.0 { (worth / fall).max(0.0) } else { f64::INFINITY };
                if own < length {
                    (length, event) = (own, Some(Event::Moves(l)));
                }
            }
        }
        self.free.iter().zip(&velocity).for_each(|(&l, p)| self.x[l] += length * p);
        self.last = None;
        match event {
            Some(Event::Rests(place, end)) => self.rest(place, end)?,
            Some(Event::Moves(l)) => self.release(l)?,
            None => {}
        }
        let next = if event.is_some() { tau + length } else { to };
        next.is_finite().then_some(next)
    }

    /// The weight at a place of F stays at a bound: `A^-1 = H_rest - h h' / H_kk`.
    fn rest(&mut self, place: usize, end: f64) -> Option<()> {
        let m = self.free.len();
        let own = self.inverse[place * m..(place + 1) * m].to_vec();
        let pivot = own[place];
        if m == 1 || pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        let l = self.free.remove(place);
        (self.x[l], self.last) = (end, Some(l));
        let mut smaller = Vec::with_capacity((m - 1) * (m - 1));
        for (row, h) in self.inverse.chunks_exact(m).zip(&own) {
            let mut row = row.to_vec();
            axpy(-h / pivot, &own, &mut row);
            smaller.extend_from_slice(&row[..place]);
            smaller.extend_from_slice(&row[place + 1..]);
        }
        let at = place * (m - 1);
        smaller.drain(at..at + m - 1);
        self.inverse = smaller;
        Some(())
    }

    /// A weight joins F: with `u = H S_Fl` and `s = S_ll - <S_Fl, u>`, `H + u u' / s` with the border
    /// `-u / s` and `1 / s`.
    fn release(&mut self, l: usize) -> Option<()> {
        let m = self.free.len();
        let place = self.free.partition_point(|other| *other < l);
        let column: Vec<f64> = self.free.iter().map(|&k| self.path.row(l)[k]).collect();
        let mut u = vec![0.0; m];
        row_dots(&self.inverse, m, &column, &mut u);
        let left = self.path.row(l)[l] - dot(&column, &u);
        if left.is_nan() || left <= 0.0 {
            return None;
        }
        let mut larger = Vec::with_capacity((m + 1) * (m + 1));
        let mut border = u.clone();
        border.insert(place, -1.0);
        for u in &mut border {
            *u /= -left;
        }
        for (k, (row, u)) in self.inverse.chunks_exact(m).zip(&u).enumerate() {
            if k == place {
                larger.extend_from_slice(&border);
            }
            let start = larger.len();
            larger.extend_from_slice(&row[..place]);
            larger.push(0.0);
            larger.extend_from_slice(&row[place..]);
            axpy(-u, &border, &mut larger[start..]);
        }
        if place == m {
            larger.extend_from_slice(&border);
        }
        // The column of the border.
        for (k, entry) in larger.iter_mut().skip(place).step_by(m + 1).enumerate() {
            *entry = border[k];
        }
        self.inverse = larger;
        self.free.insert(place, l);
        self.last = Some(l);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use innermean_data::generate_factor_model;

    use super::*;
    use crate::portfolio::{PortfolioSettings, PortfolioTask};

    /// Between few risks and much return, on every piece, exactly at the bounds where it rests.
    #[test]
    fn the_line_leads_through_the_minima_of_every_tau() {
        for (d, constraint, corners) in
            [(20, "long-only", 15), (40, "long-only", 20), (20, "sum-to-one=-0.1,0.3", 15)]
        {
            let market = generate_factor_model(300, d, 7);
            let constraint_of = constraint.parse().expect("a constraint");
            let settings =
                PortfolioSettings { constraint: constraint_of, ..PortfolioSettings::default() };
            let task = PortfolioTask::new(market.names, market.values, &settings);
            let task = task.expect("settings").condensed().expect("many periods");
            let path = Path::new(&task).expect("bounds and a budget alone");
            let start = vec![1.0 / d as f64; d];
            let minimum = |tau: f64| path.minimum(tau, start.clone()).expect("a minimum").0;
            let (from, to) = (1e-3, 1e3);
            let line = Line::walk(&path, from, &minimum(from), to).expect("a line");
            let Line(all) = &line;
            assert!(all.len() >= corners, "{constraint}: {}", all.len());
            assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0), "{constraint}");
            assert!((all[all.len() - 1].0 - to).abs() <= 1e-12 * to, "{constraint}");
            for k in 1..100 {
                let tau = from * (to / from).powf(f64::from(k) / 100.0);
                let (found, expected) = (line.at(tau).expect("on the line"), minimum(tau));
                for (l, (a, b)) in found.iter().zip(&expected).enumerate() {
                    assert!((a - b).abs() <= 1e-9, "{constraint}, {tau}, {l}: {a} {b}");
                    assert!(path.ends[l].0 <= *a && *a <= path.ends[l].1, "{constraint}, {l}");
                }
                let rests =
                    |x: &[f64]| x.iter().zip(&path.ends).filter(|(x, e)| **x == e.0).count();
                assert!(rests(&found) >= rests(&expected), "{constraint}, {tau}");
            }
            assert!(line.at(0.9 * from).is_none() && line.at(1.1 * to).is_none());
        }
    }
}
