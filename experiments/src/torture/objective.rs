//! The objective of an affine f as its definition says, in double-double numbers: `P(theta) = (1/n)
//! sum_i phi_i(<a_i, theta> + b_i) + g(theta)`.
//!
//! `a_i` and `b_i` are found from the data in these numbers, and from nothing that the library has
//! rounded.

use super::double_double::{Dd, Real, dot};
use super::penalty::{OUTSIDE, Part, Penalty};

/// In units in which columns have size 1: further out than any minimum that doubles can tell.
const OUT: f64 = 1e10;
/// And this many times as far.
const FURTHER: f64 = 1e10;

/// A loss of one number, of the term with label or target given.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the formula says what each is")]
pub enum Loss {
    /// `c u^2`
    Square { c: Dd },
    /// `c min(u, 0)^2`
    Downside { c: Dd },
    /// `c |u|`
    Absolute { c: Dd },
    /// `c u^2 / (2h)` up to h, `c (|u| - h/2)` beyond
    Huber { c: Dd, h: Dd },
    /// `c log(1 + e^(-y u))`
    Logistic { c: Dd, y: Dd },
    /// `c max(1 - y u, 0)^2`
    SquaredHinge { c: Dd, y: Dd },
    /// c times `0` from `y u = 1` on, `(1 - y u)^2 / (2h)` from `1 - h` on, `1 - y u - h/2` below
    SmoothedHinge { c: Dd, y: Dd, h: Dd },
    /// `c max(u, 0)`
    Excess { c: Dd },
    /// `c (e^(r u) - 1) / r`
    Exponential { c: Dd, r: Dd },
    /// `-c log u`
    NegativeLog { c: Dd },
}

/// The largest power of e that is taken of a slope, whose squares must be numbers.
const STEEP: f64 = 300.0;
/// And of a value: what is beyond it is as good as infinite.
const STEEPEST: f64 = 600.0;

/// `log(1 + e^t)`
fn softplus(t: Dd) -> Dd {
    let rest = ((-t.abs()).exp() + Dd::ONE).ln();
    if t > Dd::ZERO { t + rest } else { rest }
}

impl Loss {
    /// `phi(u)`
    pub fn value(self, u: Dd) -> Dd {
        let half = Dd::from(0.5);
        match self {
            Loss::Square { c } => c * u * u,
            Loss::Downside { c } => {
                let below = u.min(Dd::ZERO);
                c * below * below
            }
            Loss::Absolute { c } => c * u.abs(),
            Loss::Huber { c, h } => {
                if u.abs() <= h {
                    c * u * u * half / h
                } else {
                    c * (u.abs() - h * half)
                }
            }
            Loss::Logistic { c, y } => c * softplus(-y * u),
            Loss::SquaredHinge { c, y } => {
                let short = (Dd::ONE - y * u).max(Dd::ZERO);
                c * short * short
            }
            Loss::SmoothedHinge { c, y, h } => {
                let short = Dd::ONE - y * u;
                if short <= Dd::ZERO {
                    Dd::ZERO
                } else if short <= h {
                    c * short * short * half / h
                } else {
                    c * (short - h * half)
                }
            }
            Loss::Excess { c } => c * u.max(Dd::ZERO),
            Loss::Exponential { c, r } => c * ((r * u).min(Dd::from(STEEPEST)).exp() - Dd::ONE) / r,
            Loss::NegativeLog { c } if u > Dd::ZERO => -(c * u.ln()),
            Loss::NegativeLog { .. } => Dd::from(OUTSIDE),
        }
    }

    /// How large it is between `-u` and u, or where it bends if it has no bound there.
    pub fn size(self, u: Dd) -> Dd {
        match self {
            Loss::Exponential { c, r } => c / r,
            Loss::NegativeLog { c } => c,
            _ => self.value(u).max(self.value(-u)),
        }
    }

    /// The same of a term with a weight.
    #[must_use]
    pub fn times(mut self, weight: Dd) -> Self {
        let (Loss::Square { c }
        | Loss::Downside { c }
        | Loss::Absolute { c }
        | Loss::Huber { c, .. }
        | Loss::Logistic { c, .. }
        | Loss::SquaredHinge { c, .. }
        | Loss::SmoothedHinge { c, .. }
        | Loss::Excess { c }
        | Loss::Exponential { c, .. }
        | Loss::NegativeLog { c }) = &mut self;
        *c = *c * weight;
        self
    }

    /// `phi'(u)` and `phi''(u)`; a kink is rounded off over a width of mu, as [`rounded_kink`]
    /// does.
    pub fn slopes(self, u: Dd, mu: Dd) -> (Dd, Dd) {
        let (two, zero) = (Dd::from(2.0), Dd::ZERO);
        match self {
            Loss::Square { c } => (two * c * u, two * c),
            Loss::Downside { c } if u < zero => (two * c * u, two * c),
            Loss::Downside { .. } => (zero, zero),
            Loss::Absolute { c } => {
                let (first, second) = rounded_kink(u, mu / c);
                (c * first, c * second)
            }
            Loss::Huber { c, h } if u.abs() <= h => (c * u / h, c / h),
            Loss::Huber { c, .. } => (if u < zero { -c } else { c }, zero),
            Loss::Logistic { c, y } => {
                let e = (-(y * u).abs()).exp();
                let p = (if y * u > zero { e } else { Dd::ONE }) / (Dd::ONE + e);
                (-y * c * p, c * e / ((Dd::ONE + e) * (Dd::ONE + e)))
            }
            Loss::SquaredHinge { c, y } => {
                let short = Dd::ONE - y * u;
                if short > zero { (-two * c * y * short, two * c) } else { (zero, zero) }
            }
            Loss::SmoothedHinge { c, y, h } => {
                let short = Dd::ONE - y * u;
                if short <= zero {
                    (zero, zero)
                } else if short <= h {
                    (-y * c * short / h, c / h)
                } else {
                    (-y * c, zero)
                }
            }
            Loss::Excess { c } => {
                // (c/2) (u + |u|)
                let half = c * Dd::from(0.5);
                let (first, second) = rounded_kink(u, mu / half);
                (half + half * first, half * second)
            }
            Loss::Exponential { c, r } => {
                let slope = c * (r * u).min(Dd::from(STEEP)).exp();
                (slope, r * slope)
            }
            Loss::NegativeLog { c } if u > zero => (-c / u, c / (u * u)),
            Loss::NegativeLog { .. } => (Dd::from(-OUTSIDE), zero),
        }
    }

    /// The largest `phi''` that there is, kinks left out: what may be in where there is none.
    pub fn curvature(self) -> Dd {
        match self {
            Loss::Square { c } | Loss::Downside { c } => Dd::from(2.0) * c,
            Loss::Absolute { c } | Loss::Excess { c } | Loss::NegativeLog { c } => c,
            Loss::Exponential { c, r } => c * r,
            Loss::Huber { c, h } | Loss::SmoothedHinge { c, h, .. } => c / h,
            Loss::Logistic { c, .. } => c * Dd::from(0.25),
            Loss::SquaredHinge { c, .. } => c * Dd::from(2.0),
        }
    }

    /// The most by which slopes differ.
    fn largest_turn(self) -> f64 {
        match self {
            Loss::Square { .. }
            | Loss::Downside { .. }
            | Loss::SquaredHinge { .. }
            | Loss::Exponential { .. }
            | Loss::NegativeLog { .. } => f64::INFINITY,
            Loss::Absolute { c }
            | Loss::Excess { c }
            | Loss::Huber { c, .. }
            | Loss::SmoothedHinge { c, .. }
            | Loss::Logistic { c, .. } => 2.0 * c.rounded(),
        }
    }

    /// Whether it has a kink.
    pub fn has_kink(self) -> bool {
        matches!(self, Loss::Absolute { .. } | Loss::Excess { .. })
    }
}

/// First and second derivative of `min over s of s - mu log(s^2 - u^2)`, a smooth function above
/// `|u|` by about mu: `u/s` with `s = mu + sqrt(mu^2 + u^2)`, and `1/s - u^2 / (s^2 sqrt(mu^2 +
/// u^2))`.
pub fn rounded_kink(u: Dd, mu: Dd) -> (Dd, Dd) {
    let root = (mu * mu + u * u).sqrt();
    let s = mu + root;
    if s == Dd::ZERO {
        return (Dd::ZERO, Dd::ZERO);
    }
    // u^2 = s (root - mu), so that the second is (1/s) (mu/root).
    (u / s, mu / (s * root))
}

/// An objective of linear predictors.
#[derive(Debug, Clone)]
pub struct Affine {
    /// The length of a row.
    pub d: usize,
    /// `a_i`, row by row.
    pub rows: Vec<Dd>,
    /// `b_i`
    pub offsets: Vec<Dd>,
    /// `phi_i`
    pub losses: Vec<Loss>,
    /// g
    pub penalty: Penalty,
    /// What `<a_i, theta>` is summed up from may be larger than its terms: by this factor, column
    /// by column, if the means of columns were taken off.
    pub uncentred: Vec<f64>,
    /// What rounding of the data is multiplied by on the way to the rows: the condition of a matrix
    /// that is divided by, 1 if there is none.
    pub condition: f64,
}

/// The mean of rows of d numbers.
pub fn mean(rows: &[f64], d: usize) -> Vec<Dd> {
    let n = Dd::from(rows.len() / d);
    (0..d).map(|l| rows.iter().skip(l).step_by(d).map(|x| Dd::from(*x)).sum::<Dd>() / n).collect()
}

/// The largest number of each column of rows of d.
pub fn largest(rows: &[f64], d: usize) -> Vec<f64> {
    (0..d)
        .map(|l| rows.iter().skip(l).step_by(d).fold(0.0, |most: f64, x| most.max(x.abs())))
        .collect()
}

fn dd(numbers: &[f64]) -> Vec<Dd> {
    numbers.iter().map(|x| Dd::from(*x)).collect()
}

impl Affine {
    /// Linear predictors: `phi_i(<x_i, theta> + b_i)`.
    pub fn predictors(
        d: usize,
        rows: &[f64],
        offsets: &[f64],
        losses: Vec<Loss>,
        penalty: Penalty,
    ) -> Self {
        Affine {
            d,
            rows: dd(rows),
            offsets: dd(offsets),
            losses,
            penalty,
            uncentred: vec![0.0; d],
            condition: 1.0,
        }
    }

    /// A portfolio: `-<m, theta> + (1/n) sum_i phi(<x_i - m, theta>)` with the mean m of the rows.
    pub fn portfolio(d: usize, rows: &[f64], loss: Loss, mut penalty: Penalty) -> Self {
        let (means, n) = (mean(rows, d), rows.len() / d);
        penalty.parts.iter_mut().zip(&means).for_each(|(part, m)| part.tilt = -*m);
        // Doubles differ by 1e-16 of their size or not at all: what is left of equal ones is the
        // rounding of their mean.
        let deviation = |(k, x): (usize, &f64)| {
            let deviation = Dd::from(*x) - means[k % d];
            if deviation.abs().rounded() <= 1e-26 * x.abs() { Dd::ZERO } else { deviation }
        };
        Affine {
            d,
            rows: rows.iter().enumerate().map(deviation).collect(),
            offsets: vec![Dd::ZERO; n],
            losses: vec![loss; n],
            penalty,
            uncentred: largest(rows, d),
            condition: 1.0,
        }
    }

    /// n
    pub fn terms(&self) -> usize {
        self.offsets.len()
    }

    /// `a_i`
    pub fn row(&self, i: usize) -> &[Dd] {
        &self.rows[i * self.d..(i + 1) * self.d]
    }

    /// `<a_i, theta> + b_i` for all i.
    pub fn predictions(&self, theta: &[Dd]) -> Vec<Dd> {
        (0..self.terms()).map(|i| dot(self.row(i), theta) + self.offsets[i]).collect()
    }

    /// F and g.
    pub fn parts(&self, theta: &[Dd]) -> (Dd, Dd) {
        let losses = self.losses.iter().zip(self.predictions(theta)).map(|(loss, u)| loss.value(u));
        (losses.sum::<Dd>() / Dd::from(self.terms()), self.penalty.value(theta))
    }

    /// `P(theta)`, the constraints left out.
    pub fn objective(&self, theta: &[Dd]) -> Dd {
        let (f, g) = self.parts(theta);
        f + g
    }

    /// Whether there is neither a bound nor a kink anywhere: then a search may begin at any point.
    pub fn is_free(&self) -> bool {
        let straight =
            |part: &Part| part.l1 == 0.0 && part.lo.is_infinite() && part.hi.is_infinite();
        self.penalty.parts.iter().all(straight)
            && self.penalty.limits.is_none()
            && !self.losses.iter().any(|loss| loss.has_kink())
    }

    /// The largest `|a_il|` of each column.
    pub fn column_sizes(&self) -> Vec<f64> {
        let size = |l: usize| {
            (0..self.terms()).map(|i| self.row(i)[l].abs().rounded()).fold(0.0, f64::max)
        };
        (0..self.d).map(size).collect()
    }

    /// The root mean square of each column.
    pub fn mean_squares(&self) -> Vec<f64> {
        let size = |l: usize| {
            let squares: Dd = (0..self.terms()).map(|i| self.row(i)[l] * self.row(i)[l]).sum();
            (squares / Dd::from(self.terms())).sqrt().rounded()
        };
        (0..self.d).map(size).collect()
    }

    /// Whether P falls without end in a direction: `FURTHER` times as far from the origin as `OUT`,
    /// it is about this many times as deep.
    pub fn falls_for_ever(&self, origin: &[Dd], direction: &[Dd]) -> bool {
        let direction = &self.bearable(&self.unridged(direction))[..];
        // A column of zeros counts by its tilt alone: nothing else looks at it.
        let unit = |size: f64, tilt: Dd| if size == 0.0 && tilt != Dd::ZERO { 1.0 } else { size };
        let sizes = direction.iter().zip(self.column_sizes()).zip(&self.penalty.parts);
        let length = sizes.map(|((v, size), part)| v.abs() * Dd::from(unit(size, part.tilt)));
        let length = length.fold(Dd::ZERO, Dd::max);
        // No loss is below 0, and no norm.
        let tilted = self.penalty.parts.iter().any(|part| part.tilt != Dd::ZERO);
        if !tilted || length == Dd::ZERO || !length.is_finite() {
            return false;
        }
        let at = |times: f64| -> Option<Dd> {
            let step = Dd::from(times) / length;
            let out: Vec<Dd> = origin.iter().zip(direction).map(|(o, v)| *o + *v * step).collect();
            self.penalty.repaired(&out).map(|out| self.objective(&out))
        };
        let (Some(start), Some(here), Some(far)) = (at(0.0), at(OUT), at(OUT * FURTHER)) else {
            return false;
        };
        // Returns of which one takes what the other brings leave a slope of rounding.
        let parts = self.penalty.parts.iter().zip(direction);
        let slopes: Dd = parts.map(|(part, v)| (part.tilt * *v).abs()).sum();
        let fall = start - here;
        fall > slopes * Dd::from(OUT * 1e-18) / length
            && start - far > fall * Dd::from(0.5 * FURTHER)
    }

    /// The part of a direction that no ridge stops: far out, any other one rises.
    fn unridged(&self, direction: &[Dd]) -> Vec<Dd> {
        let parts = direction.iter().zip(&self.penalty.parts);
        parts.map(|(v, part)| if part.l2 > 0.0 { Dd::ZERO } else { *v }).collect()
    }

    /// Whether a coordinate that no term looks at has a logarithm, which grows without end.
    pub fn rises_by_logarithms(&self) -> bool {
        let sizes = self.column_sizes();
        self.penalty.parts.iter().zip(sizes).any(|(part, size)| part.log > 0.0 && size == 0.0)
    }

    /// The direction with the least threshold, which is its last coordinate and counts -1
    /// everywhere, along which no exponential grows; others as they are.
    fn bearable(&self, direction: &[Dd]) -> Vec<Dd> {
        let mut direction = direction.to_vec();
        if let (Some(Loss::Exponential { .. }), Some(last)) =
            (self.losses.first(), direction.len().checked_sub(1))
        {
            let most = (0..self.terms()).map(|i| dot(self.row(i), &direction)).reduce(Dd::max);
            direction[last] += most.unwrap_or(Dd::ZERO);
        }
        direction
    }

    /// The size of all that a sum for P in doubles goes through, each rounded by `2^-53` or so:
    /// terms of the predictions times slopes, and the terms of g.
    pub fn rounding_size(&self, theta: &[Dd]) -> Dd {
        let predictions = self.predictions(theta);
        let mut sum = Dd::ZERO;
        for (i, u) in predictions.iter().enumerate() {
            let terms = self.row(i).iter().zip(theta).zip(&self.uncentred);
            let size: Dd = terms.map(|((a, x), most)| a.abs().max(Dd::from(*most)) * x.abs()).sum();
            let (slope, second) = self.losses[i].slopes(*u, Dd::ZERO);
            let moved = (size + self.offsets[i].abs()) * Dd::from(f64::EPSILON);
            // In doubles: a width of 1e-300 has a curvature that cannot be split into halves.
            let turn = (second.rounded() * moved.rounded()).min(self.losses[i].largest_turn());
            sum += slope.abs() * (size + self.offsets[i].abs())
                + Dd::from(turn) * moved / Dd::from(f64::EPSILON);
            sum += self.losses[i].value(*u).abs();
        }
        sum * Dd::from(self.condition) / Dd::from(self.terms()) + self.penalty.size(theta)
    }
}
