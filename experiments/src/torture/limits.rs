//! Linear constraints and norms as the definition says, and their barrier.

use super::double_double::{Dd, dot};
use super::objective::rounded_kink;
use super::penalty::SLACK;

/// `lo <= <a, x> <= hi`
#[derive(Debug, Clone)]
pub struct Row {
    /// a
    pub a: Vec<Dd>,
    /// The lower end, or `-inf`.
    pub lo: f64,
    /// The upper end, or `inf`.
    pub hi: f64,
}

/// `price N(x)` where `N(x) = sum_l weights_l |x_l - center_l| <= limit`.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the formula says what each is")]
pub struct Norm {
    pub weights: Vec<Dd>,
    pub center: Vec<Dd>,
    pub limit: f64,
    pub price: f64,
}

/// What the coordinates must meet together.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Linear constraints.
    pub rows: Vec<Row>,
    /// Norms.
    pub norms: Vec<Norm>,
    /// A point within bounds, and at a distance from every end and limit here.
    pub inside: Vec<Dd>,
}

/// How far kinks of norms with a limit are rounded off at the start of the central path, of the
/// limit.
const WIDTH: f64 = 1e-3;

impl Norm {
    /// `N(x)`
    fn at(&self, x: &[Dd]) -> Dd {
        let terms = self.weights.iter().zip(&self.center).zip(x);
        terms.map(|((weight, center), x)| *weight * (*x - *center).abs()).sum()
    }

    /// A smooth function above N, `sum_l weights_l sqrt(width_l^2 + (x_l - center_l)^2)`, with its
    /// first and second derivatives by coordinate.
    fn above(&self, x: &[Dd], width: Dd) -> (Dd, Vec<(Dd, Dd)>) {
        let d = Dd::from(x.len());
        let mut sum = Dd::ZERO;
        let mut slope = |l: usize| {
            let weight = self.weights[l];
            if weight == Dd::ZERO {
                return (Dd::ZERO, Dd::ZERO);
            }
            let epsilon = width * Dd::from(self.limit) / (weight * d);
            let u = x[l] - self.center[l];
            let root = (epsilon * epsilon + u * u).sqrt();
            sum += weight * root;
            (weight * u / root, weight * epsilon * epsilon / (root * root * root))
        };
        let slopes = (0..x.len()).map(&mut slope).collect();
        (sum, slopes)
    }
}

impl Limits {
    /// What the norms cost.
    pub fn value(&self, x: &[Dd]) -> Dd {
        self.norms.iter().map(|norm| norm.at(x) * Dd::from(norm.price)).sum()
    }

    /// The same in units in which `x_l` is `z_l units_l`.
    #[must_use]
    pub fn in_units(&self, units: &[f64]) -> Self {
        let times = |numbers: &[Dd]| -> Vec<Dd> {
            numbers.iter().zip(units).map(|(a, unit)| *a * Dd::from(*unit)).collect()
        };
        let over = |numbers: &[Dd]| -> Vec<Dd> {
            numbers.iter().zip(units).map(|(x, unit)| *x / Dd::from(*unit)).collect()
        };
        let row = |row: &Row| Row { a: times(&row.a), ..row.clone() };
        let norm = |norm: &Norm| Norm {
            weights: times(&norm.weights),
            center: over(&norm.center),
            ..norm.clone()
        };
        Limits {
            rows: self.rows.iter().map(row).collect(),
            norms: self.norms.iter().map(norm).collect(),
            inside: over(&self.inside),
        }
    }

    /// x, or what rounding has taken it from: moved towards the inside as far as needed. None if it
    /// is further away than rounding explains.
    pub fn drawn_in(&self, x: &[Dd]) -> Option<Vec<Dd>> {
        let mut part = Dd::ZERO;
        let mut look = |at: Dd, inside: Dd, limit: f64, size: Dd| {
            let limit = Dd::from(limit);
            let over = at - limit;
            if over > Dd::ZERO {
                part = part.max(over / (at - inside));
            }
            over <= (size + limit.abs()) * Dd::from(SLACK)
        };
        for row in &self.rows {
            let size: Dd = row.a.iter().zip(x).map(|(a, x)| (*a * *x).abs()).sum();
            let (at, inside) = (dot(&row.a, x), dot(&row.a, &self.inside));
            if row.hi.is_finite() && !look(at, inside, row.hi, size)
                || row.lo.is_finite() && !look(-at, -inside, -row.lo, size)
            {
                return None;
            }
        }
        for norm in self.norms.iter().filter(|norm| norm.limit.is_finite()) {
            if !look(norm.at(x), norm.at(&self.inside), norm.limit, Dd::ZERO) {
                return None;
            }
        }
        let inside = self.inside.iter();
        Some(x.iter().zip(inside).map(|(x, inside)| *x + part * (*inside - *x)).collect())
    }

    /// The furthest step along p that meets the rows, if there is one that does not.
    pub fn room(&self, x: &[Dd], p: &[Dd]) -> Option<Dd> {
        let rows = self.rows.iter().filter_map(|row| {
            let (at, slope) = (dot(&row.a, x), dot(&row.a, p));
            let end = if slope < Dd::ZERO { row.lo } else { row.hi };
            (end.is_finite() && slope != Dd::ZERO).then(|| (Dd::from(end) - at) / slope)
        });
        rows.reduce(Dd::min)
    }

    /// Gradient of prices and barrier at x, and a Hessian as a diagonal and vectors v of `v v'`;
    /// none beyond a limit. Kinks are rounded off over `width` of a limit.
    #[expect(clippy::type_complexity, reason = "gradient, diagonal, vectors")]
    pub fn derivatives(
        &self,
        x: &[Dd],
        mu: Dd,
        width: Dd,
    ) -> Option<(Vec<Dd>, Vec<Dd>, Vec<Vec<Dd>>)> {
        let d = x.len();
        let (mut gradient, mut diagonal) = (vec![Dd::ZERO; d], vec![Dd::ZERO; d]);
        let mut vectors = Vec::new();
        let root = mu.sqrt();
        for row in &self.rows {
            let at = dot(&row.a, x);
            for end in [row.lo, row.hi].into_iter().filter(|end| end.is_finite()) {
                let inverse = Dd::ONE / (at - Dd::from(end));
                for (gradient, a) in gradient.iter_mut().zip(&row.a) {
                    *gradient -= mu * inverse * *a;
                }
                vectors.push(row.a.iter().map(|a| *a * root * inverse).collect());
            }
        }
        for norm in &self.norms {
            for l in (0..d).filter(|_| norm.price > 0.0) {
                let price = norm.weights[l] * Dd::from(norm.price);
                if price > Dd::ZERO {
                    let (first, second) = rounded_kink(x[l] - norm.center[l], mu / price);
                    gradient[l] += price * first;
                    diagonal[l] += price * second;
                }
            }
            if norm.limit.is_finite() {
                let (at, slopes) = norm.above(x, width * Dd::from(WIDTH));
                let room = Dd::from(norm.limit) - at;
                if room <= Dd::ZERO {
                    return None;
                }
                for (l, (first, second)) in slopes.iter().enumerate() {
                    gradient[l] += mu / room * *first;
                    diagonal[l] += mu / room * *second;
                }
                vectors.push(slopes.iter().map(|(first, _)| *first * root / room).collect());
            }
        }
        Some((gradient, diagonal, vectors))
    }
}
