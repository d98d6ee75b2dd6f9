"""Portfolios: minus expected return plus risk, over several files of returns, one after the other.

`task` is `free` (variance, theta unconstrained), `long-only` (variance, theta >= 0 with sum 1), `absolute` (mean absolute deviation,
theta >= 0 with sum 1) or `cvar` (the mean of the largest losses, 1 - `level` of all, theta >= 0 with sum 1).
"""

import os

import clarabel
import cvxpy as cp
import numpy as np
from scipy import sparse

from peer import Peer, tolerances

try:
    import piqp
except ImportError:
    piqp = None
try:
    import proxsuite
except ImportError:
    proxsuite = None
try:
    import highspy
except ImportError:
    highspy = None


class Case:
    def __init__(self, folder, case):
        self.aversion = case["aversion"]
        self.returns = [np.load(os.path.join(folder, f"part{k}.npy")) for k in range(case["parts"])]
        all_parts = lambda solve: lambda setting: np.concatenate([solve(x, setting) for x in self.returns])
        tols = tolerances(-4, -13)
        if case["task"] == "free":
            self.peers = [
                Peer("numpy cov + solve", [None], all_parts(self.covariance_and_solve)),
                Peer("numpy by hand", [None], all_parts(self.by_hand)),
            ]
            self.reference = ["numpy cov + solve", None]
        elif case["task"] == "long-only":
            self.peers = [
                Peer("cvxpy + Clarabel", tols, all_parts(self.long_only_by_cvxpy)),
                Peer("Clarabel alone", tols, all_parts(self.long_only_by_clarabel)),
            ]
            if piqp:
                self.peers.append(Peer("PIQP", tols, all_parts(self.long_only_by_piqp)))
            if proxsuite:
                self.peers.append(Peer("ProxQP", tols, all_parts(self.long_only_by_proxqp)))
            self.reference = ["Clarabel alone", 1e-12]
        else:
            program = self.absolute_program if case["task"] == "absolute" else self.tail_program
            self.level = case["level"]
            self.peers = [Peer("Clarabel alone", tols, all_parts(self.by_clarabel(program)))]
            if case["task"] == "absolute":
                self.peers.append(Peer("cvxpy + Clarabel", tols, all_parts(self.absolute_by_cvxpy)))
            if highspy:
                self.peers += [
                    Peer("HiGHS simplex", tols[2:7], all_parts(self.by_highs(program, "simplex"))),
                    Peer("HiGHS interior point", tols[2:7], all_parts(self.by_highs(program, "ipm"))),
                ]
            self.reference = ["Clarabel alone", 1e-10]

    def covariance_and_solve(self, x, _):
        covariance = np.cov(x, rowvar=False, bias=True)
        return np.linalg.solve(2 * self.aversion * covariance, x.mean(axis=0))

    def by_hand(self, x, _):
        mean = x.mean(axis=0)
        gram = x.T @ x / len(x) - np.outer(mean, mean)
        return np.linalg.solve(2 * self.aversion * gram, mean)

    def long_only_by_cvxpy(self, x, tol):
        covariance = np.cov(x, rowvar=False, bias=True)
        theta = cp.Variable(x.shape[1])
        risk = cp.quad_form(theta, cp.psd_wrap(covariance))
        problem = cp.Problem(
            cp.Minimize(self.aversion * risk - x.mean(axis=0) @ theta), [theta >= 0, cp.sum(theta) == 1]
        )
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
        return theta.value

    def long_only_by_clarabel(self, x, tol):
        mean, quadratic = self.quadratic(x)
        d = x.shape[1]
        rows = sparse.vstack([np.ones((1, d)), -sparse.identity(d)], format="csc")
        bounds = np.concatenate([[1.0], np.zeros(d)])
        cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(d)]
        quadratic = sparse.csc_matrix(np.triu(quadratic))
        return clarabel.DefaultSolver(quadratic, -mean, rows, bounds, cones, self.within(tol)).solve().x

    def quadratic(self, x):
        """The covariance by numpy's matrix product: a third of numpy.cov's time."""
        mean = x.mean(axis=0)
        apart = x - mean
        return mean, (2 * self.aversion / len(x)) * (apart.T @ apart)

    def long_only_by_piqp(self, x, tol):
        mean, quadratic = self.quadratic(x)
        d = x.shape[1]
        solver = piqp.DenseSolver()
        solver.settings.eps_abs, solver.settings.eps_rel = tol, 0.0
        solver.settings.check_duality_gap, solver.settings.eps_duality_gap_abs = True, tol
        solver.settings.eps_duality_gap_rel = 0.0
        solver.setup(np.asfortranarray(quadratic), -mean, np.ones((1, d), order="F"), np.ones(1), x_l=np.zeros(d))
        solver.solve()
        return solver.result.x

    def long_only_by_proxqp(self, x, tol):
        mean, quadratic = self.quadratic(x)
        d = x.shape[1]
        solver = proxsuite.proxqp.dense.QP(d, 1, 0, True)
        solver.settings.eps_abs, solver.settings.eps_rel = tol, 0.0
        solver.init(quadratic, -mean, np.ones((1, d)), np.ones(1), l_box=np.zeros(d), u_box=np.ones(d))
        solver.solve()
        return solver.results.x

    def within(self, tol):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        return settings

    def absolute_program(self, x):
        """Over (theta, e): e_i at least +-<x_i - mean, theta>."""
        n, d = x.shape
        mean = x.mean(axis=0)
        apart, one = sparse.csc_matrix(x - mean), sparse.identity(n, format="csc")
        cost = np.concatenate([-mean, np.full(n, self.aversion / n)])
        return cost, sparse.bmat([[apart, -one], [-apart, -one]], format="csc"), n + d

    def tail_program(self, x):
        """Over (theta, e, t): e_i at least -<x_i, theta> - t, e at least 0."""
        n, d = x.shape
        weight = self.aversion / ((1 - self.level) * n)
        cost = np.concatenate([-x.mean(axis=0), np.full(n, weight), [self.aversion]])
        rows = [-sparse.csc_matrix(x), -sparse.identity(n), -np.ones((n, 1))]
        return cost, sparse.hstack(rows, format="csc"), n + d

    def by_clarabel(self, program):
        """<cost, v> least where rows v <= 0, the first of v are at least 0, and theta has sum 1."""

        def solve(x, tol):
            cost, rows, signed = program(x)
            d, count = x.shape[1], len(cost)
            budget = sparse.csc_matrix((np.ones(d), (np.zeros(d, int), np.arange(d))), shape=(1, count))
            at_least = -sparse.eye(signed, count, format="csc")
            rows = sparse.vstack([budget, rows, at_least], format="csc")
            bounds = np.concatenate([[1.0], np.zeros(rows.shape[0] - 1)])
            cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(rows.shape[0] - 1)]
            nothing = sparse.csc_matrix((count, count))
            found = clarabel.DefaultSolver(nothing, cost, rows, bounds, cones, self.within(tol)).solve()
            return np.asarray(found.x)[:d]

        return solve

    def by_highs(self, program, kind):
        """The same by HiGHS."""

        def solve(x, tol):
            cost, rows, signed = program(x)
            d, count = x.shape[1], len(cost)
            budget = sparse.csc_matrix((np.ones(d), (np.zeros(d, int), np.arange(d))), shape=(1, count))
            rows = sparse.vstack([rows, budget], format="csc")
            many = rows.shape[0]
            linear = highspy.HighsLp()
            linear.num_col_, linear.num_row_, linear.col_cost_ = count, many, cost
            free = count - signed
            linear.col_lower_ = np.concatenate([np.zeros(signed), np.full(free, -highspy.kHighsInf)])
            linear.col_upper_ = np.full(count, highspy.kHighsInf)
            linear.row_lower_ = np.concatenate([np.full(many - 1, -highspy.kHighsInf), [1.0]])
            linear.row_upper_ = np.concatenate([np.zeros(many - 1), [1.0]])
            linear.a_matrix_.format_ = highspy.MatrixFormat.kColwise
            linear.a_matrix_.start_, linear.a_matrix_.index_ = rows.indptr, rows.indices
            linear.a_matrix_.value_ = rows.data
            highs = highspy.Highs()
            highs.setOptionValue("output_flag", False)
            highs.setOptionValue("solver", kind)
            if kind == "ipm":
                highs.setOptionValue("run_crossover", "off")
                highs.setOptionValue("ipm_optimality_tolerance", tol)
            for name in ["primal_feasibility_tolerance", "dual_feasibility_tolerance"]:
                highs.setOptionValue(name, max(tol, 1e-10))
            highs.passModel(linear)
            highs.run()
            return np.asarray(highs.getSolution().col_value)[:d]

        return solve

    def absolute_by_cvxpy(self, x, tol):
        mean = x.mean(axis=0)
        theta = cp.Variable(x.shape[1])
        risk = cp.norm1((x - mean) @ theta) / len(x)
        problem = cp.Problem(
            cp.Minimize(self.aversion * risk - mean @ theta), [theta >= 0, cp.sum(theta) == 1]
        )
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
        return theta.value
