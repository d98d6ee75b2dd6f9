//! A convex quadratic program, written down row by row and solved by Clarabel, an interior-point
//! solver.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};

/// `min over x of  (1/2) sum_v p_v x_v^2 + sum_v q_v x_v` under equations and inequalities.
#[derive(Debug, Default)]
pub(crate) struct Program {
    p: Vec<f64>,
    q: Vec<f64>,
    equations: Vec<(Vec<(usize, f64)>, f64)>,
    inequalities: Vec<(Vec<(usize, f64)>, f64)>,
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

    /// A new variable `t >= |x_v|` with the cost `linear t`.
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
        let cones = [ZeroConeT(self.equations.len()), NonnegativeConeT(self.inequalities.len())];
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
