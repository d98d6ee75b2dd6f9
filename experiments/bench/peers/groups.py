"""Groups of rows of equal size with one proportion each: the Bernoulli cross-entropy of the mean probability, plus a ridge.

(1/G) sum_i [-q_i log u_i - (1 - q_i) log(1 - u_i)] + (l2/2) |beta|^2,  u_i = mean over j of sigmoid(<y_ij, beta> + intercept)

theta is beta and the intercept; it begins at the intercept of the mean proportion, as ours does.
"""

import os

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from peer import Peer, iterations


class Case:
    def __init__(self, folder, case):
        self.x = np.load(os.path.join(folder, "rows.npy"))
        self.q = np.load(os.path.join(folder, "proportions.npy")).ravel()
        self.l2 = case["l2"]
        self.peers = [
            Peer("scipy L-BFGS", iterations(2000), self.by_lbfgs(10)),
            Peer("scipy L-BFGS, memory 30", iterations(2000), self.by_lbfgs(30)),
        ]
        self.reference = ["scipy L-BFGS, memory 30", 150]

    def loss(self, theta):
        groups = len(self.q)
        beta = theta[:-1]
        p = expit(self.x @ beta + theta[-1])
        size = len(p) // groups
        u = p.reshape(groups, size).mean(axis=1)
        value = -np.mean(self.q * np.log(u) + (1 - self.q) * np.log1p(-u)) + 0.5 * self.l2 * beta @ beta
        slope = (u - self.q) / (u * (1 - u)) / (groups * size)
        p *= 1 - p
        p.reshape(groups, size)[...] *= slope[:, None]
        return value, np.append(self.x.T @ p + self.l2 * beta, p.sum())

    def by_lbfgs(self, memory):
        def solve(count):
            mean = self.q.mean()
            start = np.append(np.zeros(self.x.shape[1]), np.log(mean / (1 - mean)))
            options = {"maxcor": memory, "gtol": 0.0, "ftol": 0.0, "maxiter": count, "maxfun": 10 * count}
            return minimize(self.loss, start, jac=True, method="L-BFGS-B", options=options).x

        return solve
