//! A convex quadratic program of moderate size, by a primal-dual interior-point method with
//! predictor and corrector: Mehrotra, "On the Implementation of a Primal-Dual Interior Point
//! Method", 1992.
//!
//! ```text
//! min over x, t of  (1/2) x' B x + <q, x> + sum_k cost_k t_k
//! with  lo <= x <= hi,  row_lo <= A x <= row_hi,  t_k >= |x_l(k) - center_k|,
//!       sum over k of group j of weight_k t_k <= limit_j
//! ```
//!
//! Every inequality `c_i(x, t) >= 0` has a slack `s_i` and a multiplier `z_i`, both above 0. A step
//! solves the linearised conditions of optimality,
//!
//! ```text
//! (B + sum_i (z_i / s_i) c_i' c_i'^T) (dx, dt) - E' dy = -r_d + sum_i c_i' (r_c,i - z_i r_i) / s_i,   E dx = -r_e
//! ds_i = <c_i', (dx, dt)> + r_i,   dz_i = (r_c,i - z_i ds_i) / s_i
//! ```
//!
//! with the residuals `r_d` of the gradient of the Lagrangian, `r_e` of the equations `E x = e`
//! (rows whose bounds are equal), `r_i = c_i - s_i`, and `r_c,i = sigma mu - s_i z_i - ds_i dz_i`
//! (with the predictor's ds and dz). The `t_k` are eliminated by hand: each meets one coordinate of
//! x, and a group adds a matrix of rank one. What is left is one Cholesky factor of d columns per
//! step. In the end the active constraints are met exactly (`interior/face.rs`).

use super::vector::dot;

mod face;
mod implied;
mod reduced;
mod steps;
mod system;
mod units;

use self::reduced::Reduced;
use self::units::Units;

/// B.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Curvature<'a> {
    /// A diagonal matrix: a projection, or a linear program.
    Diagonal(&'a [f64]),
    /// `d x d`, symmetric.
    Dense(&'a [f64]),
}

/// `t >= |x_l - center|`
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kink {
    /// l
    pub(crate) coordinate: usize,
    pub(crate) center: f64,
    pub(crate) cost: f64,
    /// The group whose limit it counts for, and its weight there.
    pub(crate) group: Option<(usize, f64)>,
}

/// `lo <= <a, x> <= hi`
#[derive(Debug, Clone, Copy)]
pub(crate) struct Band<'a> {
    /// a
    pub(crate) coefficients: &'a [f64],
    pub(crate) lo: f64,
    pub(crate) hi: f64,
}

/// The program.
#[derive(Debug, Clone)]
pub(crate) struct Program<'a> {
    pub(crate) curvature: Curvature<'a>,
    /// q
    pub(crate) linear: Vec<f64>,
    pub(crate) lo: Vec<f64>,
    pub(crate) hi: Vec<f64>,
    pub(crate) rows: Vec<Band<'a>>,
    pub(crate) kinks: Vec<Kink>,
    /// `limit_j`
    pub(crate) limits: Vec<f64>,
}

/// Where the program is least, and the multipliers that prove it: `B x + q + A' y + z + s = 0` with
/// z at bounds alone.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) x: Vec<f64>,
    /// y: above 0 for a row at its upper end, below at its lower one.
    pub(crate) rows: Vec<f64>,
    /// For every kink, the subgradient of its cost and of what its group charges.
    pub(crate) kinks: Vec<f64>,
    /// Whether the steps have converged.
    pub(crate) converged: bool,
}

impl Program<'_> {
    /// Solves it; `start` need not be feasible.
    pub(crate) fn solve(&self, start: &[f64]) -> Answer {
        let moving: Vec<usize> = (0..start.len()).filter(|&l| self.lo[l] < self.hi[l]).collect();
        if moving.len() == start.len() {
            return Units::of(self).solve(self, start);
        }
        if moving.is_empty() {
            return self.resting();
        }
        let reduced = Reduced::new(self, &moving);
        reduced.solve(self, &moving, start)
    }

    /// The constraints as they are for `p = x - center`; the objective is left alone.
    pub(crate) fn around(mut self, center: &[f64]) -> Self {
        for (l, x) in center.iter().enumerate() {
            self.lo[l] -= x;
            self.hi[l] -= x;
        }
        for row in &mut self.rows {
            let at = dot(row.coefficients, center);
            let size: f64 = row.coefficients.iter().zip(center).map(|(a, x)| (a * x).abs()).sum();
            // What is left of an end that is met is rounding, and no size of anything.
            let left = |end: f64| {
                let left = end - at;
                if left.abs() <= 4.0 * f64::EPSILON * size { 0.0 } else { left }
            };
            (row.lo, row.hi) = (left(row.lo), left(row.hi));
        }
        self.kinks.iter_mut().for_each(|kink| kink.center -= center[kink.coordinate]);
        self
    }

    /// The only point there is, where no coordinate can move: bounds alone hold it.
    fn resting(&self) -> Answer {
        let side = |kink: &Kink| kink.cost * (self.lo[kink.coordinate] - kink.center).signum();
        Answer {
            x: self.lo.clone(),
            rows: vec![0.0; self.rows.len()],
            kinks: self.kinks.iter().map(side).collect(),
            converged: true,
        }
    }

    /// `B x`
    fn times(&self, x: &[f64]) -> Vec<f64> {
        match self.curvature {
            Curvature::Diagonal(bends) => x.iter().zip(bends).map(|(x, bend)| bend * x).collect(),
            Curvature::Dense(matrix) => {
                matrix.chunks_exact(x.len()).map(|row| dot(row, x)).collect()
            }
        }
    }

    fn bend(&self, l: usize) -> f64 {
        match self.curvature {
            Curvature::Diagonal(bends) => bends[l],
            Curvature::Dense(matrix) => matrix[l * (self.linear.len() + 1)],
        }
    }

    /// `sum over k of the group of weight_k t_k`
    fn spent(&self, group: usize, t: &[f64]) -> f64 {
        let own = |(kink, t): (&Kink, &f64)| kink.group.filter(|g| g.0 == group).map(|g| g.1 * t);
        self.kinks.iter().zip(t).filter_map(own).sum()
    }
}
