//! A convex quadratic program, written down row by row and solved by Clarabel, an interior-point
//! solver.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, SecondOrderConeT,
    SolverStatus, ZeroConeT,
};

/// Terms of a sum, and what it is compared with.
type Row = (Vec<(usize, f64)>, f64);

/// `min over x of  (1/2) sum_v p_v x_v^2 + sum_v q_v x_v` under equations, inequalities and bounds
/// on exponentials.
#[derive(Debug, Default)]
pub(crate) struct Program {
    p: Vec<f64>,
    q: Vec<f64>,
    equations: Vec<Row>,
    inequalities: Vec<Row>,
    /// For each cone, the terms of its entries, the bound first.
    cones: Vec<Vec<Row>>,
    /// Rows of three: the exponent, 1, and what is above.
    exponentials: Vec<Row>,
}

impl Program {
    /// A new variable x with the cost `(1/2) square x^2 + linear x`; returns its number.
    pub(crate) fn variable(&mut self, square: f64, linear: f64) -> usize {
        self.p.push(square);
        self.q.push(linear);
        self.p.len() - 1
    }

    /// `sum a_v x_v = b`
    pub(crate) fn equal(&mut self, terms: Vec<(usize, f64)>, b: f64) {
        self.equations.push((terms, b));
    }

    /// `sum a_v x_v <= b`
    pub(crate) fn at_most(&mut self, terms: Vec<(usize, f64)>, b: f64) {
        self.inequalities.push((terms, b));
    }

    /// The norm of sums `a_k' x` is at most a number.
    #[allow(dead_code, reason = "not every program of tests has norms")]
    pub(crate) fn norm_at_most(&mut self, sums: &[Vec<(usize, f64)>], bound: f64) {
        let entry =
            |sum: &Vec<(usize, f64)>| (sum.iter().map(|(v, a)| (*v, -a)).collect::<Vec<_>>(), 0.0);
        let entries = sums.iter().map(entry);
        self.cones.push(std::iter::once((Vec::new(), bound)).chain(entries).collect());
    }

    /// `exp(sum a_v x_v + b) <= x_above`
    #[allow(dead_code, reason = "the tests of the library have none")]
    pub(crate) fn exponential(&mut self, terms: &[(usize, f64)], b: f64, above: usize) {
        let turned = terms.iter().map(|(v, a)| (*v, -a)).collect();
        self.exponentials.extend([(turned, b), (Vec::new(), 1.0), (vec![(above, -1.0)], 0.0)]);
    }

    /// A new variable `t >= |x_v|` with the cost `linear t`.
    #[allow(dead_code, reason = "not every program of tests has one")]
    pub(crate) fn absolute_value(&mut self, v: usize, linear: f64) {
        let t = self.variable(0.0, linear);
        self.at_most(vec![(v, 1.0), (t, -1.0)], 0.0);
        self.at_most(vec![(v, -1.0), (t, -1.0)], 0.0);
    }

    /// The minimiser.
    pub(crate) fn solve(&self) -> Vec<f64> {
        let size = self.p.len();
        let all: Vec<usize> = (0..size).collect();
        let p = CscMatrix::new_from_triplets(size, size, all.clone(), all, self.p.clone());
        let rows = self.equations.iter().chain(&self.inequalities);
        let rows = rows.chain(self.cones.iter().flatten()).chain(&self.exponentials);
        let (mut i, mut j, mut v, mut b) = (vec![], vec![], vec![], vec![]);
        for (row, (terms, right)) in rows.enumerate() {
            for &(column, value) in terms {
                i.push(row);
                j.push(column);
                v.push(value);
            }
            b.push(*right);
        }
        let a = CscMatrix::new_from_triplets(b.len(), size, i, j, v);
        let mut cones =
            vec![ZeroConeT(self.equations.len()), NonnegativeConeT(self.inequalities.len())];
        cones.extend(self.cones.iter().map(|entries| SecondOrderConeT(entries.len())));
        cones.extend((0..self.exponentials.len() / 3).map(|_| ExponentialConeT()));
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-13,
            tol_gap_rel: 1e-13,
            tol_feas: 1e-11,
            max_iter: 500,
            ..DefaultSettings::default()
        };
        let mut solver =
            DefaultSolver::new(&p, &self.q, &a, &b, &cones, settings).expect("a valid program");
        solver.solve();
        let status = solver.solution.status;
        assert!(
            matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved),
            "Clarabel: {status:?}"
        );
        solver.solution.x
    }
}
