"""Portfolios: minus expected return plus risk, over several files of returns, one after the other.

`task` is `free` (variance, theta unconstrained), `long-only` (variance, theta >= 0 with sum 1) or `absolute` (mean absolute deviation,
theta >= 0 with sum 1).
"""

import os

import clarabel
import cvxpy as cp
import numpy as np
from scipy import sparse

from peer import Peer, tolerances


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
            self.reference = ["Clarabel alone", 1e-12]
        else:
            self.peers = [Peer("cvxpy + Clarabel", tols, all_parts(self.absolute_by_cvxpy))]
            self.reference = ["cvxpy + Clarabel", 1e-10]

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
        covariance = np.cov(x, rowvar=False, bias=True)
        d = x.shape[1]
        quadratic = sparse.csc_matrix(np.triu(2 * self.aversion * covariance))
        rows = sparse.vstack([np.ones((1, d)), -sparse.identity(d)], format="csc")
        bounds = np.concatenate([[1.0], np.zeros(d)])
        cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(d)]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        return clarabel.DefaultSolver(quadratic, -x.mean(axis=0), rows, bounds, cones, settings).solve().x

    def absolute_by_cvxpy(self, x, tol):
        mean = x.mean(axis=0)
        theta = cp.Variable(x.shape[1])
        risk = cp.norm1((x - mean) @ theta) / len(x)
        problem = cp.Problem(
            cp.Minimize(self.aversion * risk - mean @ theta), [theta >= 0, cp.sum(theta) == 1]
        )
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
        return theta.value
